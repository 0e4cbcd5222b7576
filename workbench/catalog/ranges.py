"""Predicates as ranges of values, in the form in which SQLite can order and search them.

Algorithm 6.3 finds the literals on the same left expression and compares their constants one by one. Here the bounds of
every test are in an ordered index, so that only those on the right side of the wanted bounds are looked at. A range is
the hull of a set of values (``sql/predicates/value_sets.py``): one set can contain another only if its hull does.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.sql.predicates.cnf import ORPred, PredSet
from workbench.sql.predicates.implication import facts
from workbench.sql.predicates.literal_sets import Subject, subject_and_values
from workbench.sql.predicates.value_sets import BOTTOM, EMPTY, TOP, Cut, ValueSet

SqlValue = float | str | bytes
Range = tuple[str, SqlValue, SqlValue]
"""The tested subject, and the lower and upper bound."""

LOWEST: SqlValue = float("-inf")
_HIGHEST: SqlValue = b""
"""SQLite orders numbers before texts before blobs."""
IMPOSSIBLE: Range = ("", LOWEST, LOWEST)
"""The range of a PredSet that no row satisfies: it implies everything, whatever it tests."""
_WHOLE = 2**63


def admitted_ranges(predicate: ORPred) -> list[Range]:
    """Between which values each expression that an ORPred tests satisfies it.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, Constant
        >>> from workbench.sql.predicates.cnf import Literal, Operator, or_pred
        >>> from workbench.sql.algebra.types import INTEGER
        >>> admitted_ranges(or_pred([Literal(Column("a", INTEGER), Operator.GT, Constant(5, INTEGER))]))
        [('0"a":integer', 6, b'')]
    """
    sets: dict[Subject, ValueSet] = {}
    for subject, values in map(subject_and_values, predicate.literals):
        sets[subject] = sets.get(subject, EMPTY).union(values)
    return [_range(subject, values) for subject, values in sets.items()]


def stated_ranges(predicates: PredSet) -> list[Range]:
    """Between which values a PredSet says that each expression is, in any case or in a branch of a disjunction."""
    known = facts(predicates)
    if not known.satisfiable:
        return [IMPOSSIBLE]
    return _distinct([*known.sets.items(), *(item for a in known.alternatives for item in a.items())])


def required_ranges(predicates: PredSet) -> list[Range]:
    """The ranges of which an ORPred must contain one to be implied by predicates that some row may satisfy.

    Of a disjunction one branch is enough, since all of them must be contained.
    """
    known = facts(predicates)
    return _distinct([*known.sets.items(), *(next(iter(a.items())) for a in known.alternatives)])


def _distinct(items: Iterable[tuple[Subject, ValueSet]]) -> list[Range]:
    return list(dict.fromkeys(_range(subject, values) for subject, values in items))


def _range(subject: Subject, values: ValueSet) -> Range:
    """The range of an empty set of values, which every range contains."""
    low, high = (values.intervals[0][0], values.intervals[-1][1]) if values.intervals else (TOP, BOTTOM)
    return subject.identity, _ordered(low), _ordered(high)


def _ordered(cut: Cut) -> SqlValue:
    """A cut as a value that SQLite orders as cuts are ordered."""
    if cut in (BOTTOM, TOP):
        return LOWEST if cut == BOTTOM else _HIGHEST
    value = cut[1]
    return float(value) if isinstance(value, int) and not -_WHOLE <= value < _WHOLE else value
