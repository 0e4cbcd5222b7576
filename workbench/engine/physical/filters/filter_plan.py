"""Compile a tree's selections into a grouped filter: which expressions Spark must evaluate, and their tables.

Exact for every type: constants that fall between two values of the expression's type are moved to the next value with
the operator adjusted. A condition without a total order of 64-bit numbers or strings (a comparison of two columns,
LIKE, a user function) is evaluated to true, false or NULL and looked up like any other value: by the filter where it
follows from stored columns (``engine.physical.stored``), and by Spark elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from workbench.engine.physical.filters.grouped_filter import GroupedFilter, columns_read
from workbench.engine.physical.filters.guards import CostClass, cost_class, guard_of
from workbench.engine.physical.filters.range_tables import Disjunction, RangeTable
from workbench.engine.physical.stored.calls import StoredCall
from workbench.engine.physical.stored.expressions import plain_comparison
from workbench.engine.physical.stored.values import Computed, computed_value, with_call_columns
from workbench.engine.storage.comparable import comparable_constant
from workbench.engine.storage.lineage import WORD_BITS, Bits, mask
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.expressions import text as text_of
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import BOOLEAN, Kind
from workbench.sql.functions.calls import calls_functions
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet
from workbench.sql.render.spark_sql import literal_to_spark, predicates_to_spark, to_spark

_LIMIT = 2**62


@dataclass(frozen=True)
class Test:
    """One literal as a test of ranks: of a value, satisfied where ``operator`` holds against ``point``.

    ``sql`` is the value as Spark evaluates it, and ``stored`` the same where it follows from stored columns and the
    values of ``calls``. ``label`` is the value in words.
    """

    sql: str
    operator: Operator
    point: int | float | str | None
    stored: Computed | None = None
    calls: tuple[StoredCall, ...] = ()
    label: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """The stored columns that are read, where it is computed from these."""
        assert self.stored is not None
        return columns_read(self.stored, self.calls)

    def satisfied(self, points: list[int | float | str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """For every range over the sorted points (and NULL, last), whether the literal is true there."""
        out = np.zeros(2 * len(points) + 2, dtype=bool)
        if self.operator is Operator.IS_NULL:
            out[-1] = True
        elif self.operator is Operator.IS_NOT_NULL:
            out[:-1] = True
        else:
            assert self.point is not None
            at = 2 * points.index(self.point) + 1
            below, equal, above = _SIDES[self.operator]
            out[:at], out[at], out[at + 1 : -1] = below, equal, above
        return out


_SIDES = {
    Operator.EQ: (False, True, False),
    Operator.NE: (True, False, True),
    Operator.LT: (True, False, False),
    Operator.LE: (True, True, False),
    Operator.GT: (False, False, True),
    Operator.GE: (False, True, True),
}


@dataclass(frozen=True)
class CompiledFilter:
    """A grouped filter and the expressions it reads.

    Attributes:
        filter: the selections.
        tests: Spark SQL of the expressions that are evaluated first, by the name of their column in the filter. What
            is read from columns that rows have anyway, or computed from them by the filter, is not among them.
    """

    filter: GroupedFilter
    tests: Mapping[str, str]


def compile_filter(
    selections: Mapping[int, PredSet],
    bits: Iterable[int],
    keep: Iterable[frozenset[int]],
    columns: Collection[str] = (),
) -> CompiledFilter:
    """Compile selections.

    Args:
        selections: for the bit of each selection node, its PredSet over the root's columns.
        bits: all bits in use, also those without a PredSet (the root).
        keep: a row is stored if it has all the bits of one of these sets.
        columns: those of the root that rows have when they are tested.
    """
    used = list(bits)
    words = max(used, default=0) // WORD_BITS + 1
    tested: dict[ORPred, list[int]] = {}
    for bit, predicates in selections.items():
        for predicate in predicates:
            tested.setdefault(predicate, []).append(bit)
    compiled = {predicate: [_test(literal) for literal in predicate.literals] for predicate in tested}
    asked = _asked_by(compiled, {predicate: [selections[bit] for bit in bits_] for predicate, bits_ in tested.items()})
    sql = sorted({test.sql for tests in compiled.values() for test in tests})
    stored = {_over_root(column): column for column in columns}
    names = {text: stored.get(text, f"_t{i}") for i, text in enumerate(sql)}

    single: dict[str, list[tuple[list[Test], list[int]]]] = {}
    disjunctions: list[Disjunction] = []
    for predicate, with_bits in tested.items():
        by_sql: dict[str, list[Test]] = {}
        for test in compiled[predicate]:
            by_sql.setdefault(test.sql, []).append(test)
        if len(by_sql) == 1:
            single.setdefault(next(iter(by_sql)), []).append((compiled[predicate], with_bits))
        else:
            tables = tuple(_table(names[text], [(tests, [0])], 1, mask([], 1)) for text, tests in by_sql.items())
            disjunctions.append(Disjunction(tables, ~mask(with_bits, words)))
    tables = tuple(
        _table(names[text], groups, words, ~mask([b for _, bits_ in groups for b in bits_], words))
        for text, groups in single.items()
    )
    bit_sets = sorted(keep, key=sorted)
    single_bits = mask([bit for some in bit_sets if len(some) == 1 for bit in some], words)
    combined = tuple(tuple(sorted(some)) for some in bit_sets if len(some) > 1)
    here: dict[str, Computed] = {}
    called: dict[str, tuple[StoredCall, ...]] = {}
    labels: dict[str, str] = {}
    for test in (test for tests in compiled.values() for test in tests):
        if test.stored is None or not test.columns <= set(columns):
            continue
        here[names[test.sql]] = test.stored
        if test.calls:
            called[names[test.sql]], labels[names[test.sql]] = test.calls, test.label
    grouped = GroupedFilter(
        tables,
        tuple(disjunctions),
        mask(used, words),
        single_bits,
        combined,
        computed=here,
        called=called,
        labels=labels,
    )
    known = {*stored, *(text for text in sql if names[text] in here)}
    tests = {names[text]: _evaluated(text, *asked[text]) for text in sql if text not in known}
    return CompiledFilter(grouped, tests)


_Asked = Mapping[str, tuple[Literal, Sequence[PredSet]]]
"""By what Spark evaluates for a test: a literal that has it, and the selections that ask for it."""


def _asked_by(compiled: Mapping[ORPred, Sequence[Test]], selections: Mapping[ORPred, Sequence[PredSet]]) -> _Asked:
    asked: dict[str, tuple[Literal, list[PredSet]]] = {}
    for predicate, tests in compiled.items():
        for literal, test in zip(predicate.literals, tests, strict=True):
            asked.setdefault(test.sql, (literal, []))[1].extend(selections[predicate])
    return asked


def _evaluated(text: str, literal: Literal, selections: Sequence[PredSet]) -> str:
    """What Spark evaluates, an expensive test only where its guard holds."""
    cost = cost_class(literal)
    guard = guard_of(cost, selections) if cost else None
    if guard is None:
        return text
    wanted = " or ".join(f"({predicates_to_spark(one, _over_root)})" for one in guard)
    if cost is CostClass.USER_FUNCTION:
        return _test(literal, wanted).sql
    return f"case when {wanted} then {text} end"


def _table(column: str, groups: list[tuple[list[Test], list[int]]], words: int, free: Bits) -> RangeTable:
    """The table of one expression: each group of tests is an ORPred and the bits that need it; ``free`` need none.

    A bit may need several ORPreds on one expression (a range): it is set where all of them are satisfied.
    """
    points = sorted({t.point for tests, _ in groups for t in tests if t.point is not None})
    rows = 2 * len(points) + 2
    by_bit: dict[int, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    for tests, with_bits in groups:
        satisfied = np.logical_or.reduce([t.satisfied(points) for t in tests])
        for bit in with_bits:
            by_bit[bit] = by_bit[bit] & satisfied if bit in by_bit else satisfied
    table = np.broadcast_to(free, (rows, words)).copy()
    for bit, satisfied in by_bit.items():
        table[:, bit // WORD_BITS] |= np.where(satisfied, np.uint64(1 << (bit % WORD_BITS)), np.uint64(0))
    kind: type = object if points and isinstance(points[0], str) else (float if _any_float(points) else np.int64)
    return RangeTable(column, np.array(points, dtype=kind), table)


def _any_float(points: list[int | float | str]) -> bool:
    return any(isinstance(p, float) for p in points)


def _over_root(column: Column | str) -> str:
    return f"`{column if isinstance(column, str) else column.name}`"


@cached(50_000)
def _test(literal: Literal, wanted: str | None = None) -> Test:
    """The literal as a test on ranks, or, where ranks cannot decide it exactly, on Spark's answer to it.

    Args:
        literal: over the root's columns.
        wanted: where functions of the analyst are called (``to_spark``).
    """
    over, calls = _with_call_columns(literal)
    known = None if over is None else _value(over.left, calls)
    ranked = _ranked(literal, wanted) if isinstance(literal.right, Constant) else None
    if literal.operator in (Operator.IS_NULL, Operator.IS_NOT_NULL):
        ranked = Test(to_spark(literal.left, _over_root, wanted), literal.operator, None)
    if ranked is not None:
        return replace(ranked, stored=known, calls=calls, label=text_of(literal.left))
    holds = None if over is None else _holds(over, known)
    return Test(literal_to_spark(literal, _over_root, wanted), Operator.EQ, 1, holds, calls, str(literal))


def _with_call_columns(literal: Literal) -> tuple[Literal | None, tuple[StoredCall, ...]]:
    """The literal with values of calls as columns, ``None`` where Spark must make one; and the calls."""
    if not any(map(calls_functions, literal.expressions)):
        return literal, ()
    sides = [with_call_columns(side) for side in literal.expressions]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None, ()
    over = replace(literal, left=known[0][0], right=known[1][0] if len(known) > 1 else None)
    return over, tuple(dict.fromkeys(call for _, calls in known for call in calls))


def _value(expression: Expression, calls: Sequence[StoredCall]) -> Computed | None:
    """The value of an expression, if the filter computes it; a column is read as it is, unless a call's values are."""
    if isinstance(expression, Column) and expression.name not in {call.name for call in calls}:
        return None
    return computed_value(expression)


def _holds(literal: Literal, known: Computed | None) -> Computed | None:
    """Whether a literal over columns holds, as the filter computes it."""
    if literal.right is None:
        return known if literal.operator is Operator.HOLDS else None
    compared = Call(literal.operator.value, (literal.left, literal.right), BOOLEAN)
    return computed_value(plain_comparison(literal) or compared)


def _ranked(literal: Literal, wanted: str | None) -> Test | None:
    assert isinstance(literal.right, Constant)
    value, left = literal.right.value, literal.left
    if value is None or value != value:
        return None  # NULL and NaN have no place among sorted points
    sql = to_spark(left, _over_root, wanted)
    kind, constant_kind = left.type.kind, literal.right.type.kind
    if kind is Kind.DOUBLE and literal.right.type.numeric:
        return Test(sql, literal.operator, float(value))  # type: ignore[arg-type]
    if kind in (Kind.INTEGER, Kind.DECIMAL) and constant_kind in (Kind.INTEGER, Kind.DECIMAL):
        return _exact_number(sql, literal.operator, Decimal(str(value)), left.type.scale)
    if kind is constant_kind and kind in (Kind.STRING, Kind.DATE, Kind.TIMESTAMP):
        return Test(sql, literal.operator, comparable_constant(value, 0))
    return None


def _exact_number(sql: str, operator: Operator, value: Decimal, scale: int) -> Test | None:
    """An exact comparison in unscaled integers; a constant between two of them becomes the upper one."""
    scaled = value.scaleb(scale)
    if abs(scaled) >= _LIMIT:
        return None
    point = math.floor(scaled)
    if point == scaled:
        return Test(sql, operator, point)
    match operator:
        case Operator.LT | Operator.LE:
            return Test(sql, Operator.LT, point + 1)
        case Operator.GT | Operator.GE:
            return Test(sql, Operator.GE, point + 1)
        case Operator.NE:
            return Test(sql, Operator.IS_NOT_NULL, None)
        case _:
            # Equal to a value the type cannot hold: Spark's answer is false or NULL, never true.
            return None
