"""Which predicates imply which: literals, ORPreds and PredSets (T6.1, T6.2.3, T6.2.4, T6.2.6).

A PredSet is read as *facts*: for each expression it tests the set of values that its tests leave together, and the
disjunctions over several expressions. One PredSet implies another when its facts lie within the other's tests. The
answers concern rows for which the predicates are true. ``True`` is a proof; ``False`` is only "not proved" (T6.1.1),
though for tests of single expressions nothing is missed. What follows for an expression from tests of others is
``entailed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.functions.calls import is_strict
from workbench.sql.predicates.cnf import FALSE, ORPred, PredSet, or_pred, pred_set
from workbench.sql.predicates.entailment import Combinations, SetsBySubject, combinations, entailed
from workbench.sql.predicates.literal_sets import Subject, subject_and_values, to_literals, to_or_preds
from workbench.sql.predicates.value_sets import EMPTY, EVERYTHING, NOT_NULL, ValueSet

MAX_INTERVALS = 16
MAX_POINTS = 32
"""In a cover of more intervals or single values than these narrow gaps are closed."""

_CACHED = 2**16


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that hold for every row for which a PredSet is true.

    Attributes:
        sets: the values each expression can have, also those that follow from others not being NULL.
        derived: what is not NULL because something computed from it is not.
        alternatives: disjunctions: of each, some expression has one of its values; none follows from the rest.
        satisfiable: whether a row can satisfy it, as far as that is seen; if not, the rest is empty.
        combined: the sums among what has known values, from which more follows.
    """

    sets: SetsBySubject
    derived: frozenset[Subject]
    alternatives: tuple[SetsBySubject, ...]
    satisfiable: bool = True
    combined: Combinations = ()

    def known(self, subject: Subject) -> ValueSet:
        """The values that ``subject`` can have; a comparison is not NULL when its sides are not."""
        if subject in self.sets:
            return self.sets[subject]
        if subject.right is not None and not any(self.known(side).null for side in _parts(subject)):
            return NOT_NULL
        return EVERYTHING


_UNSATISFIABLE = Facts({}, frozenset(), (), satisfiable=False)


@cached(_CACHED)
def facts(predicates: PredSet) -> Facts:
    """The facts of a PredSet.

    A disjunction loses the branches that contradict what else is known; when one is left, it is a fact itself.
    """
    stated: dict[Subject, ValueSet] = {}
    alternatives: list[SetsBySubject] = [_branches(p) for p in predicates]
    while True:
        known = _with_derived(stated)
        if not all(known.sets.values()):
            return _UNSATISFIABLE
        possible = [{s: v for s, v in a.items() if known.known(s).intersect(v)} for a in alternatives]
        if not all(possible):
            return _UNSATISFIABLE
        unsettled = [a for a in possible if not _follows(known, a)]
        alternatives = [a for a in unsettled if len(a) > 1]
        if len(alternatives) == len(unsettled):
            strongest = _strongest(alternatives)
            return Facts(known.sets, known.derived, strongest, combined=combinations(known.sets))
        for subject, values in (item for a in unsettled if len(a) == 1 for item in a.items()):
            # That two sides compare in some way says only that neither is NULL.
            both_not_null = subject.right is not None and values == NOT_NULL
            for part in _parts(subject) if both_not_null else (subject,):
                stated[part] = stated.get(part, EVERYTHING).intersect(values)


@cached(_CACHED)
def _branches(predicate: ORPred) -> SetsBySubject:
    """For each expression an ORPred tests, the values that satisfy it."""
    sets: dict[Subject, ValueSet] = {}
    for subject, values in map(subject_and_values, predicate.literals):
        sets[subject] = sets.get(subject, EMPTY).union(values)
    return {subject: values for subject, values in sets.items() if values}


def _with_derived(stated: SetsBySubject) -> Facts:
    """The stated facts, and what is not NULL because something computed from it is not."""
    derived = frozenset(part for subject, values in stated.items() if not values.null for part in _all_parts(subject))
    sets = {s: values.intersect(NOT_NULL) if s in derived else values for s, values in stated.items()}
    return Facts(dict.fromkeys(derived, NOT_NULL) | sets, derived, ())


@cached(_CACHED)
def _parts(subject: Subject) -> tuple[Subject, ...]:
    """The direct parts that are not NULL when the whole is not."""
    sides: tuple[Expression, ...] = ()
    if subject.right is not None:
        sides = (subject.left, subject.right)
    elif isinstance(subject.left, Call) and is_strict(subject.left.function):
        sides = subject.left.arguments
    return tuple(Subject(side) for side in sides if not isinstance(side, Constant))


@cached(_CACHED)
def _all_parts(subject: Subject) -> frozenset[Subject]:
    parts = _parts(subject)
    return frozenset(parts).union(*map(_all_parts, parts))


def _follows(known: Facts, branches: SetsBySubject) -> bool:
    """Whether one branch of a disjunction is satisfied in any case."""
    return any(values.contains(known.known(subject)) for subject, values in branches.items())


def _within(branches: SetsBySubject, others: SetsBySubject) -> bool:
    """Whether each branch lies within one of another disjunction (the condition of Algorithm 6.3)."""
    return all(others.get(subject, EMPTY).contains(values) for subject, values in branches.items())


def _strongest(alternatives: Sequence[SetsBySubject]) -> tuple[SetsBySubject, ...]:
    """The disjunctions that no other one implies."""
    distinct = [a for i, a in enumerate(alternatives) if a not in alternatives[:i]]
    return tuple(a for a in distinct if not any(b is not a and _within(b, a) for b in distinct))


@cached(_CACHED)
def implies(p: PredSet, q: PredSet) -> bool:
    """Whether q is true for every row for which p is; q then subsumes p (Definitions 6.5 and 6.7).

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.normal_form import normal_form
        >>> from workbench.sql.functions.calls import call
        >>> from workbench.sql.algebra.types import INTEGER
        >>> p, q = (normal_form(call(">", Column("a", INTEGER), Constant(n, INTEGER))) for n in (10, 5))
        >>> implies(p, q), implies(q, p)
        (True, False)
    """
    return all(implies_or_pred(p, predicate) for predicate in q)


@cached(_CACHED)
def implies_or_pred(p: PredSet, q: ORPred) -> bool:
    """Whether an ORPred is true for every row for which p is (Definition 6.5)."""
    known, branches = facts(p), _branches(q)
    if not known.satisfiable or _follows(known, branches) or any(_within(a, branches) for a in known.alternatives):
        return True
    return any(values.contains(_entailed(p, subject)) for subject, values in branches.items())


@cached(_CACHED)
def _entailed(p: PredSet, subject: Subject) -> ValueSet:
    """What follows for an expression; it is asked for again for each constant that the expression is compared with."""
    known = facts(p)
    return entailed(known.sets, known.combined, subject)


@cached(_CACHED)
def normalized(p: PredSet) -> PredSet:
    """The same without redundancy (T6.2.4): ``a > 100 and a > 500`` is ``a > 500``.

    What can never be true becomes the single ORPred ``false``. PredSets on one expression that are true for the same
    rows are equal afterwards.
    """
    known = facts(p)
    if not known.satisfiable:
        return FALSE
    return pred_set([*map(_disjunction, known.alternatives), *_stated(known)])


def _stated(known: Facts) -> list[ORPred]:
    """The tests of single expressions, without those that others make redundant."""
    return [
        predicate
        for subject, values in known.sets.items()
        if not (values == NOT_NULL and subject in known.derived)
        for predicate in _or_preds(subject, values)
    ]


@cached(_CACHED)
def _or_preds(subject: Subject, values: ValueSet) -> tuple[ORPred, ...]:
    return tuple(to_or_preds(subject, values))


def _disjunction(branches: SetsBySubject) -> ORPred:
    return or_pred(literal for subject, values in branches.items() for literal in to_literals(subject, values) or ())


@cached(_CACHED)
def difference(p: PredSet, q: PredSet) -> PredSet:
    """The predicates of p beyond q: ``a >= 5 and a <= 9`` beyond ``a >= 5`` is ``a <= 9`` (Algorithm 6.5).

    When p implies q, the difference and q together are equivalent to p.
    """
    return PredSet(tuple(predicate for predicate in normalized(p) if not implies_or_pred(q, predicate)))


def common_predicate(sets: Sequence[PredSet]) -> PredSet:
    """The common predicate of several PredSets: the strongest we can state that every one implies, in any order.

    For each expression that all of them test, the union of their values, or a few intervals around them when they are
    many (the range cover of T10.3.2), and the disjunctions over several expressions that all imply: of ``a > 10``,
    ``a > 5`` and ``a > 20`` it is ``a >= 6``.
    """
    known = [f for f in map(facts, sets) if f.satisfiable]
    if not known:
        return FALSE
    shared = [subject for subject in known[0].sets if all(subject in f.sets for f in known)]
    covers = [p for subject in shared for p in _or_preds(subject, _cover_of(subject, [f.sets[subject] for f in known]))]
    candidates = {_disjunction(branches) for f in known for branches in f.alternatives}
    # What one of them tests and the others only entail.
    candidates |= {predicate for f in known for predicate in _stated(f)}
    return normalized(pred_set([*covers, *(c for c in candidates if all(implies_or_pred(p, c) for p in sets))]))


def _cover_of(subject: Subject, sets: Sequence[ValueSet]) -> ValueSet:
    """The union of sets, exact where it is one of them or small."""
    joined = EMPTY
    for values in sets:
        joined = joined.union(values)
    if joined in sets or subject.right is not None:
        return joined
    single = [ValueSet((interval,)).points(subject.left.type, limit=1) is not None for interval in joined.intervals]
    few = single.count(True) <= MAX_POINTS and single.count(False) <= MAX_INTERVALS
    return joined if few else joined.cover(subject.left.type, MAX_INTERVALS)
