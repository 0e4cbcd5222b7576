"""Hints for expressions in a place where they are not allowed, from the tree around them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product

from sqlglot import exp

from workbench.errors import SqlError, WorkbenchError
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Column, Expression, columns
from workbench.sql.syntax.source_text import SourceText

_OF_SIGNS: dict[type[exp.Expr], str] = {
    exp.BitwiseRightShift: "write > for greater than; >> shifts the bits of integers",
    exp.BitwiseLeftShift: "write < for less than; << shifts the bits of integers",
    exp.BitwiseAnd: "write AND between conditions; & is of the bits of integers",
    exp.BitwiseOr: "write OR between conditions; | is of the bits of integers",
    exp.ArrayOverlaps: "write AND between conditions; && is of arrays",
    exp.BitwiseXor: "write POWER(x, y) for a power; ^ is of the bits of integers",
}  # fmt: skip
"""What signs of other languages, which are of bits here, are meant for."""
_EXAMPLE = "2002-11-20"
"""The date of hints."""
_MILLIS = 10**11
"""Numbers from here on are milliseconds since 1970."""
_DAY = re.compile(r"\b(\d{4}) ?[-/] ?0?(\d{1,2}) ?[-/] ?0?(\d{1,2})\b")
"""A date without quotes, as SQL is written."""
_OF_DAYS = (exp.Sub, exp.Div, exp.Literal, exp.Paren)
_OR = "OR is between conditions"
WITH_OVER = (
    *(exp.Rank, exp.DenseRank, exp.RowNumber, exp.Ntile, exp.PercentRank, exp.CumeDist),
    *(exp.Lag, exp.Lead, exp.NthValue),
)
"""Functions that stand with OVER alone."""
MAKES_ROWS = (
    "in the select list it makes rows: SELECT x FROM (SELECT UNNEST(xs) AS x FROM t) q WHERE x > 3, in spark EXPLODE"
)
"""The hint for UNNEST and EXPLODE elsewhere."""
_MOST_LACKING = 2
"""Arguments that are put in where a call lacks some."""


def of_sign(node: exp.Expr) -> str | None:
    """A hint for a sign of another language; ``None`` where none is near.

    Example:
        >>> import sqlglot
        >>> of_sign(sqlglot.parse_one("a > 1 || b"))
        'OR is between conditions'
    """
    sides = (node.args.get("this"), node.args.get("expression")) if isinstance(node, exp.Predicate) else ()
    return _OF_SIGNS.get(type(node)) or (_OR if any(isinstance(side, exp.DPipe) for side in sides) else None)


def of_all_rows(node: exp.Expr) -> str | None:
    """A hint for an aggregate that a column of WHERE is compared with; ``None`` elsewhere.

    Example:
        >>> import sqlglot
        >>> of_all_rows(sqlglot.parse_one("SELECT a FROM t WHERE a = MAX(a)").find(exp.Max))
        'an aggregate of all rows is a query: (SELECT MAX(a) FROM t)'
    """
    select, test = node.find_ancestor(exp.Select), node.parent
    if select is None or not isinstance(test, exp.Predicate) or not isinstance(test, exp.Binary):
        return None
    other = test.this if test.expression is node else test.expression
    source = select.args.get("from_")
    if source is None or not isinstance(other, exp.Column) or node.find_ancestor(exp.Where) is None:
        return None
    return f"an aggregate of all rows is a query: (SELECT {node.sql()} FROM {source.this.name})"


def of_qualify(select: exp.Select) -> str:
    """A hint for a QUALIFY without OVER.

    Example:
        >>> import sqlglot
        >>> of_qualify(sqlglot.parse_one("SELECT a FROM t QUALIFY a = MAX(a)", dialect="duckdb"))
        'write MAX(a) OVER ()'
    """
    whole = next(select.args["qualify"].find_all(exp.AggFunc), None)
    if select.args.get("group") is not None or whole is None:
        return "use WHERE or HAVING"
    return f"write {whole.sql()} OVER ()"


def of_window(name: str, named: Mapping[str, exp.Expr], bind: Callable[[exp.Expr], object]) -> str:
    """A hint for OVER with the name of a window that there is not.

    Args:
        name: the name.
        named: the windows of the SELECT.
        bind: binds an expression; raises an error for a name that is no column.
    """
    if named:
        return f"WINDOW names {', '.join(named)}"
    with suppress(WorkbenchError):
        bind(exp.column(name))
        return f"write OVER (PARTITION BY {name})"
    return f"name it behind FROM: WINDOW {name} AS (…)"


def as_called(message: str, called: str | None) -> str:
    """A message of how many arguments a function takes, by the word by which the text calls it.

    Example:
        >>> as_called("bucket_of_doubles takes 4 arguments, not 3", "width_bucket")
        'width_bucket takes 4 arguments, not 3'
    """
    name, takes, count = message.partition(" takes ")
    is_other = called is not None and name.lower() != called.lower()
    return f"{called} takes {count}" if takes and is_other else message


def as_spelt(hint: str | None, node: exp.Expr) -> str | None:
    """A hint about a number with the zeros before it that the text has, as of a code; about a date with that date.

    Example:
        >>> import sqlglot
        >>> as_spelt("write '1' in quotes", sqlglot.parse_one("farm = 00001"))
        "write '00001' in quotes"
        >>> as_spelt("write DATE '2002-11-20'; it is a subtraction", sqlglot.parse_one("day > 2026-1-5"))
        "write DATE '2026-01-05'; it is a subtraction"
    """
    numbers = (one for one in node.find_all(exp.Sub, exp.Div) if all(isinstance(part, _OF_DAYS) for part in one.walk()))
    day = next(filter(None, (_DAY.search(one.sql()) for one in numbers)), None)
    if hint and f"DATE '{_EXAMPLE}'" in hint and day is not None:
        return hint.replace(_EXAMPLE, "{}-{:0>2}-{:0>2}".format(*day.groups()))
    since = next(
        (int(n.name) for n in node.find_all(exp.Literal) if n.name.isdigit() and len(n.name) in (10, 13)), None
    )
    if hint and _EXAMPLE in hint and since is not None:
        at = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=since if since < _MILLIS else since / 1000)
        return f"write TIMESTAMP '{at:%Y-%m-%d %H:%M:%S}', which is so long after 1970"
    hint = hint and hint.removesuffix("; without quotes it is a subtraction")
    for number in node.find_all(exp.Literal):
        if hint and not number.is_string and number.name.startswith("0") and number.name.isdigit():
            hint = hint.replace(f"'{int(number.name)}'", f"'{number.name}'")
    return hint


def not_grouped(
    column: Column, known: Sequence[tuple[exp.Column, Expression]], select: exp.Select, source: SourceText
) -> SqlError:
    """The error for a column that is neither grouped nor aggregated.

    Args:
        column: which one.
        known: the names that were bound, with their meanings.
        select: the SELECT.
        source: the text.
    """
    node = next((n for n, e in known if column in columns(e)), None)
    group, name = select.args.get("group"), column.name if node is None else node.sql()
    item = name if node is None else _item_of(node, select).sql(source.dialect)
    place, over = node or group or select, f"of all rows there is SUM({name}) OVER (); or take MIN({name})"
    hint = over if group is None and place.parent is not select else f"add {item} to GROUP BY, or take MIN({item})"
    whole = next((one for item in select.expressions for one in item.find_all(exp.AggFunc)), None)
    if group is None and place.parent is select and whole is not None:
        hint += f"; {whole.sql(source.dialect)} OVER () stands beside each row"
    if group is None and whole is None and select.args.get("having") is not None:
        hint = "HAVING is of groups: a condition on rows stands in WHERE"
    hint = (_selected_aggregate(node, select, source.dialect) if node else None) or hint
    return source.error(f"column {name} is neither in GROUP BY nor in an aggregate", place, hint)


def _item_of(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """The select item around a column, where it has no aggregate, as DATE(at); else the column."""
    item = next((item.unalias() for item in select.expressions if any(part is node for part in item.walk())), node)
    return node if item.find(exp.AggFunc, exp.Window, exp.Subquery) else item


def _selected_aggregate(column: exp.Expr, select: exp.Select, dialect: str) -> str | None:
    """A hint for a plain column of HAVING or ORDER BY of which an aggregate is selected."""
    if column.find_ancestor(exp.Having, exp.Order) is None:
        return None
    taken = (one for item in select.expressions for one in item.find_all(exp.AggFunc) if one.this == column)
    return next((f"write {one.sql(dialect)}, or add {column.sql(dialect)} to GROUP BY" for one in taken), None)


def whole_call(bind: Callable[[exp.Expr], object], node: exp.Expr, called: str | None, dialect: str) -> str:
    """A hint for a call that lacks arguments: how it is bound with constants in their places.

    Args:
        bind: binds a call.
        node: the call.
        called: the word by which the text calls it, if that is known.
        dialect: of the text.
    """
    lacking = [key for key in node.arg_types if node.args.get(key) is None]
    constants = (exp.Literal.string(","), exp.Literal.number(1))
    for count, constant in product(range(1, _MOST_LACKING + 1), constants):
        whole = node.copy()
        for key in lacking[:count]:
            whole.set(key, constant.copy())
        with suppress(WorkbenchError, TypeClash):
            bind(whole)
            parts = [part.sql(dialect) for key in whole.arg_types if (part := whole.args.get(key))]
            return f"as in {called or whole.key.upper()}({', '.join(parts)})"
    return "write it into the parentheses"
