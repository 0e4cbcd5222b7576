"""The nearest row before or after each row: found by its time, and not among all rows on that side.

``(SELECT … FROM u WHERE u.k = t.k AND u.ts <= t.ts ORDER BY u.ts DESC LIMIT 1)``, which ASOF JOIN is too, would join
each row of ``t`` with all earlier ones of ``u``. The latest time of ``u`` so far is carried from row to row over the
rows of both in one order, so it changes only up to the next row of ``u`` when one comes or goes. By it, rows are found
as by a key:

    u.k = d.k AND u.ts = d.latest     d: k, ts, LAST_VALUE(u.ts IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts) of both
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.sql.algebra.analytic import AnalyticCall, Frame, FrameEnd, Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Origin, columns
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.joins.trees import COMPUTED
from workbench.sql.functions.calls import call
from workbench.sql.logical import Analyzed, Block, Input, Ordered, Output, SetQuery
from workbench.sql.predicates.cnf import FLIPPED, TRUE, Operator, ORPred, conjunction, pred_set, predicate_columns
from workbench.sql.predicates.normal_form import normal_form

_TIME, _SIDE, _NEAREST = (f"{COMPUTED}{name}" for name in ("time", "side", "nearest"))
_EARLIER = (Operator.LT, Operator.LE)
_SO_FAR = Frame("rows", None, FrameEnd("0"))
_DOMAIN_SIDE = 1
"""The side of the rows of the domain; those of the subquery come before it, or after it where times must differ."""


@dataclass(frozen=True)
class Nearest:
    """A subquery whose first row is found by its time.

    Attributes:
        block: the rows of the subquery that have the nearest time, over its inputs and then the domain.
        domain: with the nearest time beside its columns.
    """

    block: Block
    domain: Input


@dataclass(frozen=True)
class _Comparison:
    """A value of the subquery's row compared with a column of the outer one."""

    own: Expression
    operator: Operator
    outer: Column


def nearest_of(query: Ordered, read: Sequence[Column], names: Sequence[str], domain: Input) -> Nearest | None:
    """The rows of which the first one of a query is one; ``None`` where the query is no search for the nearest row.

    Args:
        query: of a row of the domain.
        read: the columns of the outer query that stand for the domain's, as the query sees them.
        names: what the domain's are called.
        domain: distinct values of these columns.
    """
    block, one = query.query, query.limit == 1 and not query.offset and not query.with_ties and not query.on
    if not one or len(query.keys) != 1 or not isinstance(block, Block) or not block.is_plain:
        return None
    free = [predicate for predicate in block.where if any(c.level for c in predicate_columns(pred_set([predicate])))]
    compared = [comparison for predicate in free if (comparison := _comparison(predicate, read)) is not None]
    keys = [comparison for comparison in compared if comparison.operator is Operator.EQ]
    times = [comparison for comparison in compared if comparison.operator is not Operator.EQ]
    if len(compared) < len(free) or len(times) != 1 or not _is_by(query, block, times[0]):
        return None
    own = replace(block, where=pred_set(predicate for predicate in block.where if predicate not in free))
    running = _running(own, domain, dict(zip(read, names, strict=True)), keys, times[0])
    nearest = Column(stored_name(_NEAREST), times[0].own.type, len(block.inputs))
    has_nearest = normal_form(call("=", times[0].own, nearest))
    return Nearest(replace(block, where=conjunction(block.where, has_nearest)), running)


def _comparison(predicate: ORPred, read: Sequence[Column]) -> _Comparison | None:
    """The comparison that a predicate is, if it is one by which rows are in order or equal."""
    (literal, *others) = predicate.literals
    if others or literal.right is None or literal.operator not in FLIPPED or literal.operator is Operator.NE:
        return None
    sides = ((literal.left, literal.operator, literal.right), (literal.right, FLIPPED[literal.operator], literal.left))
    for own, operator, outer in sides:
        of_row = bool(columns(own)) and not any(column.level for column in columns(own))
        if of_row and isinstance(outer, Column) and outer in read and outer.type == own.type:
            return _Comparison(own, operator, outer)
    return None


def _is_by(query: Ordered, block: Block, time: _Comparison) -> bool:
    """Whether the first row of a query is the one with the nearest time."""
    (key,) = query.keys
    shown = {Column(stored_name(output.name), output.expression.type): output.expression for output in block.outputs}
    return isinstance(key.expression, Column) and (
        shown.get(key.expression) == time.own and key.descending == (time.operator in _EARLIER)
    )


def _running(
    rows: Block, domain: Input, names: Mapping[Column, str], keys: Sequence[_Comparison], time: _Comparison
) -> Block:
    """The domain, and beside each of its rows the nearest time among rows with equal keys, carried from row to row."""
    latest, is_strict = time.operator in _EARLIER, time.operator in (Operator.LT, Operator.GT)
    known = {comparison.outer: comparison.own for comparison in (*keys, time)}
    of_domain: list[Expression] = [Column(name, column.type) for column, name in names.items()]
    of_rows = [known.get(column, Constant(None, column.type)) for column in names]
    nothing, domain_side = Constant(None, time.own.type), Constant(_DOMAIN_SIDE, INTEGER)
    side = Constant(_DOMAIN_SIDE + 1 if is_strict else _DOMAIN_SIDE - 1, INTEGER)
    called = (*names.values(), _TIME, _SIDE)
    branches = (
        Block((domain,), TRUE, _named(called, [*of_domain, nothing, domain_side])),
        replace(rows, outputs=_named(called, [*of_rows, time.own, side])),
    )
    types = (*(column.type for column in names), time.own.type, INTEGER)
    by = {name: Column(stored_name(name), type_) for name, type_ in zip(called, types, strict=True)}
    order = (SortKey(by[names[time.outer]], not latest, False), SortKey(by[_SIDE]))
    over = Over.of(tuple(by[names[key.outer]] for key in keys), order)
    function = AnalyticCall("last_value", (by[_TIME],), time.own.type, over, _SO_FAR, ignore_nulls=True)
    found = Column(function.name, time.own.type, Origin.ANALYTIC)
    return Block(
        (SetQuery("union", True, branches, called, types),),
        TRUE,
        _named((*names.values(), _NEAREST), [*(by[name] for name in names.values()), found]),
        analytics=(Analyzed(function.name, function),),
        qualify=normal_form(call("=", by[_SIDE], domain_side)),
    )


def _named(names: Iterable[str], values: Iterable[Expression]) -> tuple[Output, ...]:
    return tuple(Output(name, value) for name, value in zip(names, values, strict=True))
