"""Which predicates imply which, at the layers of literals, ORPreds and PredSets (T6.1, T6.2.3, T6.2.4, T6.2.6).

A PredSet is read as *facts*: for each expression it tests, the set of values that its tests leave together, and the
disjunctions over several expressions. One PredSet implies another when its facts lie within the other's tests. All
answers are about rows for which the predicates are true. They are incomplete, as in T6.1.1: a yes is certain, a no may
be a missed chance. For tests of single expressions they are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import ORPred, PredSet, conjunction, or_pred, pred_set
from workbench.sql.predicates.literal_sets import NEVER, Subject, subject_and_values, to_literals, to_or_preds
from workbench.sql.predicates.value_sets import EMPTY, EVERYTHING, NOT_NULL, ValueSet

MAX_INTERVALS = 16
MAX_POINTS = 32
"""A cover of more intervals or single values than these becomes one interval."""

_CACHED = 2**16
_STRICT = frozenset(("+", "-", "*", "/", "neg", "cast", "like", "ilike", "rlike"))
"""Functions that give NULL when an argument is NULL."""

Sets = Mapping[Subject, ValueSet]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a PredSet says of a row it is true for.

    Attributes:
        sets: the values each expression can have, also those that follow from others not being NULL.
        derived: what is not NULL because something computed from it is not.
        alternatives: of each, some expression has one of its values; none of them follows from the rest.
        satisfiable: whether a row can satisfy it at all, as far as that is seen; if not, the rest is empty.
    """

    sets: Sets
    derived: frozenset[Subject]
    alternatives: tuple[Sets, ...]
    satisfiable: bool = True

    def known(self, about: Subject) -> ValueSet:
        """The values that ``about`` can have; a comparison is not NULL when its sides are not."""
        found = self.sets.get(about)
        if found is not None:
            return found
        if about.right is not None and not any(self.known(side).null for side in _parts(about)):
            return NOT_NULL
        return EVERYTHING


_NEVER = Facts({}, frozenset(), (), satisfiable=False)


@cached(_CACHED)
def facts(predicates: PredSet) -> Facts:
    """What a PredSet says.

    A disjunction loses the branches that contradict what else is known; when one is left, it is a fact itself.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.cnf import Literal, Operator
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> p, q = (or_pred([Literal(a, op, Constant(5, INTEGER))]) for op in (Operator.LT, Operator.GT))
        >>> facts(pred_set([p, q])).satisfiable
        False
    """
    stated: dict[Subject, ValueSet] = {}
    alternatives: list[Sets] = [_branches(p) for p in predicates]
    while True:
        found = _closed(stated)
        if any(values.is_empty for values in found.sets.values()):
            return _NEVER
        possible = [{s: v for s, v in a.items() if not found.known(s).intersect(v).is_empty} for a in alternatives]
        if not all(possible):
            return _NEVER
        open_ = [a for a in possible if not _follows(found, a)]
        alternatives = [a for a in open_ if len(a) > 1]
        if len(alternatives) == len(open_):
            return Facts(found.sets, found.derived, _strongest(alternatives))
        for about, values in (item for a in open_ if len(a) == 1 for item in a.items()):
            _state(stated, about, values)


@cached(_CACHED)
def _branches(predicate: ORPred) -> Sets:
    """For each expression an ORPred tests, the values that satisfy it."""
    out: dict[Subject, ValueSet] = {}
    for about, values in map(subject_and_values, predicate.literals):
        out[about] = out.get(about, EMPTY).union(values)
    return {about: values for about, values in out.items() if not values.is_empty}


def _state(stated: dict[Subject, ValueSet], about: Subject, values: ValueSet) -> None:
    """Add a fact. That two sides compare in some way says only that neither is NULL."""
    both = about.right is not None and values.is_all_but_null
    for known in _parts(about) if both else (about,):
        stated[known] = stated.get(known, EVERYTHING).intersect(values)


def _closed(stated: Sets) -> Facts:
    """With what is not NULL because something computed from it is not."""
    derived = frozenset(part for about, values in stated.items() if not values.null for part in _all_parts(about))
    sets = {about: values.intersect(NOT_NULL) if about in derived else values for about, values in stated.items()}
    return Facts(dict.fromkeys(derived, NOT_NULL) | sets, derived, ())


@cached(_CACHED)
def _parts(about: Subject) -> tuple[Subject, ...]:
    """The direct parts that are not NULL when the whole is not."""
    sides: tuple[Expression, ...] = ()
    if about.right is not None:
        sides = (about.left, about.right)
    elif isinstance(about.left, Call) and about.left.function in _STRICT:
        sides = about.left.arguments
    return tuple(Subject(side) for side in sides if not isinstance(side, Constant))


@cached(_CACHED)
def _all_parts(about: Subject) -> frozenset[Subject]:
    parts = _parts(about)
    return frozenset(parts).union(*map(_all_parts, parts))


def _follows(known: Facts, branches: Sets) -> bool:
    """Whether one branch of a disjunction is satisfied in any case."""
    return any(values.contains(known.known(about)) for about, values in branches.items())


def _within(branches: Sets, others: Sets) -> bool:
    """Whether each branch lies within one of another disjunction (the condition of Algorithm 6.3)."""
    return all(others.get(about, EMPTY).contains(values) for about, values in branches.items())


def _strongest(alternatives: Sequence[Sets]) -> tuple[Sets, ...]:
    """Without those that another one implies."""
    distinct = [a for i, a in enumerate(alternatives) if a not in alternatives[:i]]
    return tuple(a for a in distinct if not any(b is not a and _within(b, a) for b in distinct))


@cached(_CACHED)
def implies(p: PredSet, q: PredSet) -> bool:
    """Whether q is true for every row for which p is; q then subsumes p (Definitions 6.5 and 6.7).

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.cnf import Literal, Operator
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> p, q = (pred_set([or_pred([Literal(a, Operator.GT, Constant(n, INTEGER))])]) for n in (10, 5))
        >>> implies(p, q), implies(q, p)
        (True, False)
    """
    return all(implies_or_pred(p, predicate) for predicate in q)


def implies_or_pred(p: PredSet, q: ORPred) -> bool:
    """Whether an ORPred is true for every row for which p is (Definition 6.5)."""
    known, branches = facts(p), _branches(q)
    return not known.satisfiable or _follows(known, branches) or any(_within(a, branches) for a in known.alternatives)


def equivalent(p: PredSet, q: PredSet) -> bool:
    """Whether two PredSets are true for the same rows (Definition 6.6)."""
    return implies(p, q) and implies(q, p)


@cached(_CACHED)
def normalized(p: PredSet) -> PredSet:
    """The same without redundancy (T6.2.4): in canonical text, and without what follows from the rest.

    What can never be true becomes the single ORPred ``false``. PredSets on one expression that are true for the same
    rows are equal afterwards.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.cnf import Literal, Operator
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> str(normalized(pred_set(or_pred([Literal(a, Operator.GT, Constant(n, INTEGER))]) for n in (100, 500))))
        'a > 500'
    """
    known = facts(p)
    if not known.satisfiable:
        return pred_set([NEVER])
    return pred_set(
        [
            *(_written(branches) for branches in known.alternatives),
            *(
                predicate
                for about, values in known.sets.items()
                if not (values.is_all_but_null and about in known.derived)
                for predicate in _or_preds(about, values)
            ),
        ]
    )


@cached(_CACHED)
def _or_preds(about: Subject, values: ValueSet) -> tuple[ORPred, ...]:
    return tuple(to_or_preds(about, values))


def _written(branches: Sets) -> ORPred:
    return or_pred(literal for about, values in branches.items() for literal in to_literals(about, values) or ())


def union(p: PredSet, q: PredSet) -> PredSet:
    """The predicates of both without redundancy: true where both are (Algorithm 6.4)."""
    return normalized(conjunction(p, q))


@cached(_CACHED)
def difference(p: PredSet, q: PredSet) -> PredSet:
    """What p says beyond q: when p implies q, this and q are equivalent to p (Algorithm 6.5).

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.cnf import Literal, Operator
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a, tests = Column("a", INTEGER), ((Operator.GE, 5), (Operator.LE, 9))
        >>> low, high = (or_pred([Literal(a, op, Constant(n, INTEGER))]) for op, n in tests)
        >>> str(difference(pred_set([low, high]), pred_set([low])))
        'a <= 9'
    """
    return pred_set(predicate for predicate in normalized(p) if not implies_or_pred(q, predicate))


def explication(p: PredSet, on: PredSet) -> PredSet:
    """Equivalent to p, with the predicates of ``on`` that p implies written out (Definition 6.11).

    Each predicate is in canonical text, but nothing is left out for being redundant.
    """
    return conjunction(_each(p), pred_set(predicate for predicate in _each(on) if implies_or_pred(p, predicate)))


def _each(p: PredSet) -> PredSet:
    """Every ORPred in canonical text, by itself."""
    return conjunction(*(normalized(PredSet((predicate,))) for predicate in p))


def semantic_intersection(p: PredSet, q: PredSet) -> PredSet:
    """What both p and q say, as far as one of them says it literally, without redundancy (Definition 6.12)."""
    return normalized(pred_set(set(explication(p, q)) & set(explication(q, p))))


def cover(sets: Sequence[PredSet]) -> PredSet:
    """The strongest PredSet we can state that every one of several implies; their order does not matter.

    For each expression that all of them test, the union of their values, or one interval around them when they are many
    (the range cover of T10.3.2), and the disjunctions over several expressions that all imply.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.predicates.cnf import Literal, Operator
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> lows = [pred_set([or_pred([Literal(a, Operator.GT, Constant(n, INTEGER))])]) for n in (10, 5, 20)]
        >>> str(cover(lows))
        'a >= 6'
    """
    known = [f for f in map(facts, sets) if f.satisfiable]
    if not known:
        return pred_set([NEVER])
    shared = [about for about in known[0].sets if all(about in f.sets for f in known)]
    covers = [p for about in shared for p in _or_preds(about, _cover_of(about, [f.sets[about] for f in known]))]
    candidates = {_written(branches) for f in known for branches in f.alternatives}
    return normalized(pred_set([*covers, *(c for c in candidates if all(implies_or_pred(p, c) for p in sets))]))


def _cover_of(about: Subject, sets: Sequence[ValueSet]) -> ValueSet:
    """The union of sets, exact where it is one of them or small."""
    joined = EMPTY
    for values in sets:
        joined = joined.union(values)
    if joined in sets or about.right is not None:
        return joined
    single = [ValueSet((interval,)).points(about.left.type, limit=1) is not None for interval in joined.intervals]
    few = single.count(True) <= MAX_POINTS and single.count(False) <= MAX_INTERVALS
    return joined if few else joined.hull()
