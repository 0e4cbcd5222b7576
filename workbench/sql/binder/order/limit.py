"""LIMIT, OFFSET and FETCH: how many of the ordered rows a query keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Origin
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DOUBLE, INTEGER
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import QUERIES
from workbench.sql.logical import Analyzed, Block, LogicalQuery, Ordered, Output, output_columns
from workbench.sql.predicates.canonical import canonical_expression
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.source_text import SourceText

CLAUSES = frozenset({"order", "limit", "offset"})
"""The parts of a syntax node that put rows in order and count them."""
BindConstant = Callable[[exp.Expr], Expression]


@dataclass(frozen=True)
class Limit:
    """At most ``rows`` rows (``None``: all) after ``offset`` others; with ties also those equal to the last one.

    ``share``: at most this part of all rows, of 1.
    """

    rows: int | None = None
    offset: int = 0
    with_ties: bool = False
    share: float | None = None


def limit_of(node: exp.Expr, source: SourceText, bind: BindConstant) -> Limit:
    """The limit and the offset of a query, of LIMIT, FETCH and OFFSET.

    Args:
        node: the query.
        source: the text, for errors.
        bind: binds an expression that reads no columns.

    Raises:
        SqlError: a number of rows is no constant, or WITH TIES stands without ORDER BY.
        UnsupportedError: FETCH asks for a share of the rows.
    """
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if offset is not None:
        source.refuse_others(offset, {"expression"}, "OFFSET")
    skipped = 0 if offset is None else _number(offset.expression, "OFFSET", source, bind) or 0
    if limit is None:
        return Limit(None, skipped)
    if limit.expressions:
        first = f"ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) <= {limit.expression.sql()}"
        source.refuse("LIMIT … BY", limit, f"QUALIFY {first} has the first rows of each a")
    source.refuse_others(limit, {"expression", "count", "direction", "limit_options"}, "LIMIT")
    options = limit.args.get("limit_options")
    if options is not None and options.args.get("percent"):
        if isinstance(limit, exp.Fetch):
            source.refuse("FETCH of a share of the rows", limit, "give a number of rows")
        if not source.rules.limits_shares:
            share = f"{limit.expression.sql()} / 100.0"
            kept = f"QUALIFY PERCENT_RANK() OVER (ORDER BY …) < {share} keeps that share"
            source.refuse("LIMIT of a share of the rows", limit, f"LIMIT has a number of rows; {kept}")
        return Limit(None, skipped, share=_share(limit.expression, source, bind))
    with_ties = options is not None and bool(options.args.get("with_ties"))
    if with_ties and node.args.get("order") is None:
        raise source.error("WITH TIES needs ORDER BY", limit, "say by what rows are equal")
    if isinstance(limit, exp.Fetch) and limit.args.get("count") is None:
        return Limit(1, skipped, with_ties)
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
    return Limit(None if count is None else _number(count, "LIMIT", source, bind), skipped, with_ties)


def limited(query: LogicalQuery, shown: int, keys: Sequence[SortKey], limit: Limit) -> Ordered:
    """The first rows of a query in an order.

    Args:
        query: the rows.
        shown: how many of its outputs are.
        keys: the order; they name outputs of the query by their stored names.
        limit: how many rows.
    """
    if limit.share is not None:
        return Ordered(_share_of(query, keys, limit), shown, tuple(keys))
    return Ordered(query, shown, tuple(keys), limit.rows, limit.offset, limit.with_ties)


def _share_of(query: LogicalQuery, keys: Sequence[SortKey], limit: Limit) -> Block:
    """The rows of a query whose number in an order is no more than a share of their count."""
    columns = [(name, Column(stored_name(name), type_)) for name, type_ in output_columns(query)]
    numbers = AnalyticCall("row_number", (), INTEGER, Over.of((), keys))
    counts = AnalyticCall("count", (), INTEGER, Over.of((), ()))
    number, count = (Column(c.name, INTEGER, Origin.ANALYTIC) for c in (numbers, counts))
    place = call("-", number, Constant(limit.offset, INTEGER)) if limit.offset else number
    most = call("*", Constant(limit.share, DOUBLE), cast(count, DOUBLE))
    kept = call("and", call("<=", cast(place, DOUBLE), most), call(">", place, Constant(0, INTEGER)))
    outputs = tuple(Output(name, column) for name, column in columns)
    analytics = tuple(Analyzed(c.name, c) for c in (numbers, counts))
    return Block((query,), TRUE, outputs, analytics=analytics, qualify=normal_form(kept))


def _number(node: exp.Expr, clause: str, source: SourceText, bind: BindConstant) -> int | None:
    """A number of rows; ``None`` for ALL and NULL."""
    node = node.unnest()
    if isinstance(node, exp.Null) or (isinstance(node, (exp.Column, exp.Var)) and node.name.upper() == "ALL"):
        return None
    value = _constant(node, bind)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**17:
        return value
    raise source.error(f"{clause} takes a number of rows, 0 or more", node, f"as in {clause} 10")


def _share(node: exp.Expr, source: SourceText, bind: BindConstant) -> float:
    value = _constant(node, bind)
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool) or not 0 <= value <= 100:
        raise source.error("LIMIT takes a constant share of the rows, of 0 to 100 percent", node, "as in LIMIT 10%")
    return float(value) / 100.0


def _constant(node: exp.Expr, bind: BindConstant) -> object:
    if node.find(exp.Column, *QUERIES) is not None:
        return None
    bound = canonical_expression(bind(node))
    return bound.value if isinstance(bound, Constant) else None
