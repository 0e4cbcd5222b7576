"""SEARCH and CYCLE of recursive queries, written out as columns, as PostgreSQL does.

::

    SEARCH DEPTH FIRST BY a SET o         o: a text that orders rows as they are found when each way is gone to its end
    SEARCH BREADTH FIRST BY a SET o       … or when all ways are gone a step at a time
    CYCLE a, b SET c USING path           c: whether the row has been on the way; no step goes on from one that has

PostgreSQL's columns are arrays of records, which have no order here. So ``o`` is a text that orders as its array does,
and ``path`` is an array of texts of the rows on the way, ``(1,2)``, ``(2,3)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.binder.fixpoint import BindStep
from workbench.sql.logical import LogicalQuery, output_columns
from workbench.sql.syntax.source_text import SourceText

_ESCAPED = "REPLACE(REPLACE(x, '\\', '\\\\'), ',', '\\1')"
_TEXTS = {Kind.INTEGER: "COALESCE(CAST(x AS TEXT), '')", Kind.STRING: f"COALESCE({_ESCAPED}, '\\0')"}
"""A value on the way, which tells NULL and commas from those between values."""
_ZEROS = " ".join(f"WHEN {{0}} < 1{'0' * digits} THEN '{'0' * (19 - digits)}'" for digits in range(1, 19))
_PADDED = f"CASE {_ZEROS} ELSE '' END"
_NUMBER = (
    f"CASE WHEN x >= 0 THEN '1' || {_PADDED.format('x')} || CAST(x AS TEXT) WHEN x < -9223372036854775807 THEN '0'"
    f" ELSE '0' || {_PADDED.format('(x + 9223372036854775807)')} || CAST(x + 9223372036854775807 AS TEXT) END"
)
_ORDERS = {
    Kind.INTEGER: f"COALESCE({_NUMBER}, '~')",
    Kind.STRING: "COALESCE('0' || x || '\x01', '~')",
}
"""A value as a text that orders as it does, with NULL last; what ends a text comes before all characters."""
_DEPTH = "__depth"


def with_search_columns(
    cte: exp.CTE, first: LogicalQuery, selects: Sequence[exp.Expr], over: BindStep, source: SourceText
) -> tuple[LogicalQuery, list[exp.Expr]]:
    """The first rows and the SELECTs of a recursive query, with the columns that SEARCH and CYCLE set.

    Args:
        cte: the query of WITH.
        first: its first rows, by the names of its columns.
        selects: of its recursive part.
        over: binds a syntax node in which its name means a query.
        source: the text, for errors.
    """
    search, cycle = cte.args.get("search"), cte.args.get("cycle")
    types = {name.lower(): type_ for name, type_ in output_columns(first)}
    begin = exp.select("*").from_(exp.to_table(cte.alias))
    own = [exp.column(name) for name in types]
    for added in _first_columns(search, cycle, types, own, source):
        begin = begin.select(added)
    listed = [_listed(select, first, over) for select in selects]
    return over(first, begin), [_extended(select, cte, types, source) for select in listed]


def _listed(select: exp.Expr, first: LogicalQuery, over: BindStep) -> exp.Expr:
    """A SELECT of the recursive part with the columns of ``*`` and ``t.*`` by name."""
    inner = select.unnest()
    joins = inner.args.get("joins") or ()
    if not isinstance(inner, exp.Select) or any(join.args.get("using") or join.args.get("method") for join in joins):
        return select
    inner = inner.copy()
    tables = [item.this for item in (inner.args.get("from_"), *(inner.args.get("joins") or ())) if item is not None]
    items: list[exp.Expr] = []
    for item in inner.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star) or any(star.args.values()):
            items.append(item)
            continue
        for table in tables:
            name = table.alias_or_name
            if item is star or item.table.lower() == name.lower():
                shown = output_columns(over(first, exp.select("*").from_(table.copy())))
                items += [exp.column(column, table=name, quoted=True) for column, _ in shown]
    inner.set("expressions", items)
    return inner


def with_order(
    cte: exp.CTE, rows: LogicalQuery, columns: Sequence[str], over: BindStep, source: SourceText
) -> LogicalQuery:
    """The rows of a recursive query, with the column that SEARCH BREADTH FIRST sets of their steps.

    Args:
        cte: the query of WITH.
        rows: its rows.
        columns: those of them that it has without SEARCH and CYCLE.
        over: see ``with_search_columns``.
        source: the text, for errors.
    """
    search = cte.args.get("search")
    if search is None or search.args["kind"] == "DEPTH":
        return rows
    types = dict(output_columns(rows))
    own = [exp.column(name) for name in types]
    order = _element(search, _ORDERS, {name.lower(): type_ for name, type_ in types.items()}, own, source)
    depth = _template(_ORDERS[Kind.INTEGER], exp.column(_DEPTH))
    shown = [exp.column(name) for name in columns]
    rest = [exp.column(name) for name in [*types][len(columns) + 1 :]]
    select = exp.select(*shown, exp.alias_(_joined(depth, order), search.expression.name), *rest)
    return over(rows, select.from_(exp.to_table(cte.alias)))


def _first_columns(
    search: exp.Expr | None,
    cycle: exp.Expr | None,
    types: dict[str, DataType],
    own: Sequence[exp.Expr],
    source: SourceText,
) -> list[exp.Expr]:
    added: list[exp.Expr] = []
    if search is not None:
        order = _element(search, _ORDERS, types, own, source)
        depth = exp.alias_(exp.Literal.number(0), _DEPTH)
        added.append(exp.alias_(order, _name(search, types, source)) if search.args["kind"] == "DEPTH" else depth)
    if cycle is not None:
        added.append(exp.alias_(_mark(cycle, "default"), _name(cycle, types, source)))
        way = exp.Array(expressions=[_path_entry(cycle, types, own, source)])
        added.append(exp.alias_(way, cycle.args["using"].name))
    return added


def _extended(select: exp.Expr, cte: exp.CTE, types: dict[str, DataType], source: SourceText) -> exp.Expr:
    """A SELECT of the recursive part, with the columns of its rows."""
    search, cycle = cte.args.get("search"), cte.args.get("cycle")
    inner = select.unnest().copy()
    own = [item.unalias() for item in inner.expressions] if isinstance(inner, exp.Select) else []
    tables = [table for table in inner.find_all(exp.Table) if table.name.lower() == cte.alias.lower()]
    if not isinstance(inner, exp.Select) or len(own) != len(types) or any(i.is_star for i in own) or len(tables) != 1:
        hint = f"SELECT its {len(types)} columns by name, and read {cte.alias} once"
        source.refuse("SEARCH and CYCLE of a step of another form", select, hint)
    step = tables[0].alias_or_name
    added: list[exp.Expr] = []
    if search is not None:
        if search.args["kind"] == "DEPTH":
            before = exp.column(search.expression.name, step)
            added.append(_joined(before, _element(search, _ORDERS, types, own, source)))
        else:
            added.append(exp.Add(this=exp.column(_DEPTH, step), expression=exp.Literal.number(1)))
    if cycle is not None:
        way, here = exp.column(cycle.args["using"].name, step), _path_entry(cycle, types, own, source)
        known: exp.Expr = exp.ArrayContains(this=way.copy(), expression=here.copy())
        if source.rules.places_from_one:
            known = exp.EQ(this=here.copy(), expression=exp.Any(this=exp.Paren(this=way.copy())))
        mark = exp.Case(ifs=[exp.If(this=known, true=_mark(cycle, "to"))], default=_mark(cycle, "default"))
        added += [mark, _joined(way, exp.Array(expressions=[here]))]
        goes_on = exp.NEQ(this=exp.column(cycle.expression.name, step), expression=_mark(cycle, "to"))
        inner = inner.where(goes_on, copy=False)
    return inner.select(*added, copy=False)


def _path_entry(cycle: exp.Expr, types: dict[str, DataType], own: Sequence[exp.Expr], source: SourceText) -> exp.Expr:
    return _joined(exp.Literal.string("("), _element(cycle, _TEXTS, types, own, source, ","), exp.Literal.string(")"))


def _element(
    clause: exp.Expr,
    by_kind: dict[Kind, str],
    types: dict[str, DataType],
    own: Sequence[exp.Expr],
    source: SourceText,
    between: str = "",
) -> exp.Expr:
    """The text that identifies a row by its values of some columns."""
    names, parts = [*types], list[exp.Expr]()
    for column in clause.this.expressions:
        name = column.name.lower()
        if name not in types:
            hint = f"it has {', '.join(names)}"
            raise source.error(f"{column.name} is no column of the recursive query", clause, hint)
        if types[name].kind not in by_kind:
            of = f"{clause.args['kind']} by a column of type {types[name]}"
            source.refuse(of, clause, "by integers and texts it is evaluated")
        if parts and between:
            parts.append(exp.Literal.string(between))
        parts.append(_template(by_kind[types[name].kind], own[names.index(name)]))
    return _joined(*parts)


def _name(clause: exp.Expr, types: dict[str, DataType], source: SourceText) -> str:
    name = clause.expression.name
    if name.lower() in types:
        raise source.error(f"{name} is a column of the recursive query", clause, "set a column of another name")
    return str(name)


def _mark(cycle: exp.Expr, which: str) -> exp.Expr:
    """What marks a row that has been on the way, or one that has not."""
    given = cycle.args.get(which)
    return given.copy() if isinstance(given, exp.Expr) else exp.Boolean(this=which == "to")


def _template(text: str, value: exp.Expr) -> exp.Expr:
    parsed = sqlglot.parse_one(text, read="postgres")
    return parsed.transform(lambda node: exp.Paren(this=value.copy()) if isinstance(node, exp.Column) else node)


def _joined(*parts: exp.Expr) -> exp.Expr:
    first, *others = parts
    for part in others:
        first = exp.DPipe(this=first, expression=part)
    return first
