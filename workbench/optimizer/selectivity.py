"""Which fraction of the rows satisfies a PredSet, estimated from statistics.

Tests of one column are estimated together: their constants cut the column's values into ranges, as in the grouped
filter, each range has a share of the rows, and the ranges that pass all tests are summed up. So ``a > 5 and a < 7`` is
a range and not a product. Columns that are equal by several equalities are counted once. All else is independent, and
what statistics do not tell is guessed, as in System R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.optimizer.statistics import ColumnStatistics, ValueOrder, sort_key
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Value, sources, text
from workbench.sql.algebra.types import BOOLEAN, common_type
from workbench.sql.functions.arrays.arrays import HAS_PLACE
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet
from workbench.sql.predicates.linear import linear

Statistics = Callable[[Expression], ColumnStatistics | None]
"""Gives what is known of a column, or of a value computed from columns of one input; ``None`` when nothing is."""

FLOOR = 1e-9
"""The least estimate for what may hold at all: the next rows may differ from those seen."""

DEFAULTS = {
    Operator.EQ: 0.1,
    Operator.NE: 0.9,
    Operator.LT: 1 / 3,
    Operator.LE: 1 / 3,
    Operator.GT: 1 / 3,
    Operator.GE: 1 / 3,
    Operator.IS_NULL: 0.1,
    Operator.IS_NOT_NULL: 0.9,
    Operator.HOLDS: 0.5,
}
"""The guesses for what has no statistics: computed values that are compared with constants, order or difference of two
columns, user functions."""

LIKE = 0.1
"""The guess for LIKE, ILIKE and RLIKE."""
ELEMENTS_GUESSED = 5
"""The guess for the elements of an array, which has as many of all places."""

_COMPARE: dict[Operator, Callable[[npt.NDArray[np.int64], int], Any]] = {
    Operator.EQ: np.equal,
    Operator.NE: np.not_equal,
    Operator.LT: np.less,
    Operator.LE: np.less_equal,
    Operator.GT: np.greater,
    Operator.GE: np.greater_equal,
}


def selectivity(predicates: PredSet, columns: Statistics) -> float:
    """The estimated fraction of rows for which a PredSet is true (T5.3, T5.5).

    It is 0 only for what no row can satisfy, and otherwise at least ``FLOOR``.

    Args:
        predicates: over one input, or over the product of several.
        columns: the statistics of the columns.

    Example:
        >>> from workbench.sql.predicates.cnf import or_pred, pred_set
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> is_one = pred_set([or_pred([Literal(a, Operator.EQ, Constant(1, INTEGER))])])
        >>> selectivity(is_one, lambda column: ColumnStatistics(nulls=0.5, distinct=2, common=((1, 0.3), (2, 0.2))))
        0.3
        >>> selectivity(is_one, lambda column: None)
        0.1
    """
    parts = factors(predicates, columns)
    return max(FLOOR, prod(parts)) if all(parts) else 0.0


def factors(predicates: PredSet, columns: Statistics) -> list[float]:
    """The fractions of independent parts of a PredSet, each 0 or at least ``FLOOR``.

    The product of all is not bounded below: a join of many inputs multiplies it with the product of their sizes, which
    is large.
    """
    tests: dict[Column, list[ORPred]] = {}
    known: dict[Column, ColumnStatistics] = {}
    alone: list[Literal] = []
    others: list[ORPred] = []
    for p in (ORPred(tuple(map(_plain, p.literals))) for p in predicates):
        alone += p.literals if len(p.literals) == 1 else ()
        column = _tested_column(p)
        if column and (statistics := _described(columns, column)):
            known[column] = statistics
            tests.setdefault(column, []).append(p)
        elif len(p.literals) > 1 or not equal_values(p.literals[0]):
            others.append(p)
    return [
        *(_of_column(known[column], tests_of_it) for column, tests_of_it in tests.items()),
        *_of_equalities(alone, columns),
        *(_of_or_pred(p, columns) for p in others),
    ]


def join_rows(left_rows: float, right_rows: float, predicates: PredSet, columns: Statistics) -> float:
    """The estimated number of rows of a join of two inputs; its predicates name them 0 and 1.

    Example:
        >>> from workbench.sql.predicates.cnf import or_pred, pred_set
        >>> from workbench.sql.algebra.types import INTEGER
        >>> same = Literal(Column("a", INTEGER, 0), Operator.EQ, Column("b", INTEGER, 1))
        >>> join_rows(1000, 50, pred_set([or_pred([same])]), lambda column: ColumnStatistics(nulls=0.0, distinct=100))
        500.0
    """
    return left_rows * right_rows * prod(factors(predicates, columns))


def _plain(literal: Literal) -> Literal:
    """A condition that is a comparison in other words, as a comparison."""
    match literal:
        case Literal(Column() as column, Operator.HOLDS):
            return Literal(column, Operator.EQ, Constant(True, BOOLEAN))
        case Literal(Call("not", (Column() as column,)), Operator.HOLDS):
            return Literal(column, Operator.EQ, Constant(False, BOOLEAN))
        case Literal(Call("<=>", (left, right)), Operator.HOLDS):
            return Literal(left, Operator.EQ, right)
        case _:
            return literal


def _column(expression: Expression | None) -> Column | None:
    """The column an expression is, seen through conversions that lose nothing."""
    match expression:
        case Column():
            return expression
        case Call("cast", (inner,), to) if common_type(inner.type, to) == to:
            return _column(inner)
        case _:
            return None


def _tested_column(predicate: ORPred) -> Column | None:
    """The one column that all literals compare with constants or test for NULL."""
    tested = {_column(x.left) if _is_test(x) else None for x in predicate.literals}
    return tested.pop() if len(tested) == 1 else None


def _is_test(literal: Literal) -> bool:
    null_test = literal.operator in (Operator.IS_NULL, Operator.IS_NOT_NULL)
    return _column(literal.left) is not None and (null_test or isinstance(literal.right, Constant))


def _described(columns: Statistics, column: Column) -> ColumnStatistics | None:
    """The statistics of a column, where they say how its values are distributed: not before the first row."""
    statistics = columns(column)
    return statistics if statistics and (statistics.common or statistics.quantiles or statistics.nulls) else None


def compared_columns(literal: Literal) -> tuple[Column, Column] | tuple[()]:
    """The two columns a literal says to be equal; none where it says something else."""
    match equal_values(literal):
        case (Column() as left, Column() as right):
            return left, right
        case _:
            return ()


def equal_values(literal: Literal) -> tuple[Expression, Expression] | tuple[()]:
    """The two values a literal says to be equal, each a column or computed from columns of one input.

    Nothing where it says something else, or where one of the values is a constant. Of ``a.n - b.n = 1`` the terms are
    the values: a number that is added changes nothing about how many there are.
    """
    if literal.operator is not Operator.EQ or literal.right is None:
        return ()
    values = _column(literal.left) or literal.left, _column(literal.right) or literal.right
    if isinstance(values[1], Constant) and values[0].type.exact and len(sources(values[0])) > 1:
        terms = [_column(term) or term for term, _ in linear(values[0]).terms]
        if len(terms) == 2:
            values = terms[0], terms[1]
    return values if all(len(sources(value)) == 1 for value in values) else ()


def _of_column(statistics: ColumnStatistics, predicates: Sequence[ORPred]) -> float:
    """The fraction of rows whose value passes all tests of their column; 0 when no value can."""
    tests = [p.literals for p in predicates]
    values = {sort_key(v): v for literals in tests for x in literals for v in _constants(x)}
    keys = sorted(values)
    shares = _shares(statistics, [values[key] for key in keys])
    places = {key: 2 * i + 1 for i, key in enumerate(keys)}
    passed = np.ones(len(shares), dtype=bool)
    for literals in tests:
        passed &= np.logical_or.reduce([_passes(x, places, len(shares)) for x in literals])
    return min(1.0, max(FLOOR, float(shares[passed].sum()))) if passed.any() else 0.0


def _constants(literal: Literal) -> tuple[Value, ...]:
    return (literal.right.value,) if isinstance(literal.right, Constant) else ()


def _shares(statistics: ColumnStatistics, points: Sequence[Value]) -> npt.NDArray[np.float64]:
    """The shares of all rows: below the first point, at it, between it and the next, …, above the last, and NULL."""
    at = np.array([statistics.equal(point) for point in points])
    below = np.array([statistics.below(point) for point in points])
    shares = np.empty(2 * len(points) + 2)
    shares[1:-1:2] = at
    shares[:-1:2] = np.maximum(0.0, np.append(below, 1 - statistics.nulls) - np.append(0.0, below + at))
    shares[-1] = statistics.nulls
    return shares


def _passes(literal: Literal, places: Mapping[ValueOrder, int], count: int) -> npt.NDArray[np.bool_]:
    """Which of the shares pass a literal; the last one is that of NULL, which no comparison passes."""
    place = np.arange(count)
    match literal:
        case Literal(_, Operator.IS_NULL):
            return place == count - 1
        case Literal(_, operator, Constant(value)):
            return _COMPARE[operator](place, places[sort_key(value)]) & (place < count - 1)
        case _:
            return place < count - 1


def _of_equalities(literals: Sequence[Literal], columns: Statistics) -> Iterator[float]:
    """The fractions of equalities of two values, leaving out those that follow from others.

    Of ``a = b and b = c and a = c`` two count, whichever are written; of ``a = 1 and b = 1 and a = b`` the last does
    not. Of several ways to tie the same columns the least selective is taken: the larger column then holds the values
    of all.
    """
    classes: dict[Expression, frozenset[Expression]] = {}
    for x in literals:
        if x.operator is Operator.EQ and isinstance(x.right, Constant) and (column := _column(x.left)):
            _unite(classes, column, x.right)
    pairs = [(_of_pair(*pair, columns), pair) for x in literals if (pair := equal_values(x))]
    for fraction, pair in sorted(pairs, key=lambda p: (-p[0], *map(text, p[1]))):
        if _unite(classes, *pair):
            yield fraction


def _unite(classes: dict[Expression, frozenset[Expression]], left: Expression, right: Expression) -> bool:
    """Makes the classes of two expressions one; whether they were not one before."""
    ours, theirs = (classes.get(x, frozenset({x})) for x in (left, right))
    classes.update(dict.fromkeys(ours | theirs, ours | theirs))
    return ours != theirs


def _of_pair(left: Expression, right: Expression, columns: Statistics) -> float:
    """Two values are equal: the one with fewer is taken to have only values of the other (System R)."""
    known = [statistics for value in (left, right) if (statistics := columns(value)) is not None]
    if not known:
        return DEFAULTS[Operator.EQ]
    matched = prod(1 - statistics.nulls for statistics in known) / max(1.0, *(s.distinct for s in known))
    return max(FLOOR, matched)


def _of_literal(literal: Literal, columns: Statistics) -> float:
    alone = ORPred((literal,))
    column = _tested_column(alone)
    if column and (statistics := _described(columns, column)):
        return _of_column(statistics, [alone])
    if pair := equal_values(literal):
        return _of_pair(*pair, columns)
    match literal:
        case Literal(left, Operator.HOLDS):
            return _of_condition(left)
        case Literal(Column() as one, Operator.EQ, Constant()) if (found := columns(one)) and found.distinct > 1:
            return max(FLOOR, min(DEFAULTS[Operator.EQ], 1 / found.distinct))
        case Literal(Call("array_size"), Operator.GT | Operator.GE as operator, Constant(int() as size)) if size > 0:
            return min(DEFAULTS[operator], ELEMENTS_GUESSED / size)  # no more can have as many, by their mean
        case _:
            return DEFAULTS[literal.operator]


def _of_or_pred(predicate: ORPred, columns: Statistics) -> float:
    first, *more = (_of_literal(x, columns) for x in predicate.literals)
    return 1 - prod(1 - fraction for fraction in (first, *more)) if more else first


def _of_condition(condition: Expression) -> float:
    match condition:
        case Constant(value):
            return float(bool(value))
        case Call("not", (inner,)):
            return 1 - _of_condition(inner)
        case Call("like" | "ilike" | "rlike"):
            return LIKE
        case Call(function, (_, _, Constant(int() as places))) if function == HAS_PLACE:
            return min(1.0, ELEMENTS_GUESSED / places)
        case _:
            return DEFAULTS[Operator.HOLDS]
