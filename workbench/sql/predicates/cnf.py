"""Predicates in conjunctive normal form: literal, ORPred, PredSet (T6.1).

A PredSet is a conjunction of ORPreds, an ORPred a disjunction of literals, and a literal compares a left expression
with a right one, a constant wherever possible (the triple of T6.2.1). A row satisfies a PredSet when it is *true*:
unknown counts as not satisfied. So ``normal_form`` pushes NOT into the literals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from workbench.sql.algebra.expressions import (
    Column,
    Constant,
    Expression,
    columns,
    identity,
    map_columns,
    reading_order,
    sources,
    text,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.interning import Interned

P = TypeVar("P", bound="Literal | ORPred")
_READING_ORDER = attrgetter("reading_order")


class Operator(StrEnum):
    """How a literal tests its left expression. ``HOLDS`` takes a boolean expression as it is."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IS_NULL = "is null"
    IS_NOT_NULL = "is not null"
    HOLDS = "holds"


FLIPPED = {
    Operator.EQ: Operator.EQ,
    Operator.NE: Operator.NE,
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
"""The operator after the sides are swapped."""

NEGATED = {
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
    Operator.LT: Operator.GE,
    Operator.LE: Operator.GT,
    Operator.GT: Operator.LE,
    Operator.GE: Operator.LT,
    Operator.IS_NULL: Operator.IS_NOT_NULL,
    Operator.IS_NOT_NULL: Operator.IS_NULL,
}
"""The operator of NOT literal: exact in three-valued logic, since both are unknown for the same rows."""


@dataclass(frozen=True, eq=False)
class Literal(Interned):
    """One test. ``right`` is ``None`` for IS NULL, IS NOT NULL and HOLDS."""

    left: Expression
    operator: Operator
    right: Expression | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Its sides."""
        return (self.left,) if self.right is None else (self.left, self.right)

    @cached_property
    def identity(self) -> str:
        """The canonical form, with all types; see ``expressions.identity``."""
        return f"[{self.operator} {' '.join(map(identity, self.expressions))}]"

    @cached_property
    def _text(self) -> str:
        if self.operator is Operator.HOLDS:
            return text(self.left)
        right = "" if self.right is None else f" {text(self.right)}"
        return f"{text(self.left)} {self.operator}{right}"

    @cached_property
    def reading_order(self) -> tuple[str, str]:
        """A key to sort by: texts may be equal where types differ, and an order must not depend on that of a set."""
        return self._text, self.identity

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True, eq=False)
class ORPred(Interned):
    """A disjunction of literals, without duplicates, in reading order. Make one with ``or_pred``."""

    literals: tuple[Literal, ...]

    @cached_property
    def identity(self) -> str:
        """The canonical form, with all types."""
        return f"({'|'.join(literal.identity for literal in self.literals)})"

    @cached_property
    def _text(self) -> str:
        inner = " or ".join(map(str, self.literals))
        return f"({inner})" if len(self.literals) > 1 else inner

    @cached_property
    def reading_order(self) -> tuple[str, str]:
        """A key to sort by, as that of a literal."""
        return self._text, self.identity

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True, eq=False)
class PredSet(Interned):
    """A conjunction of ORPreds, without duplicates, in reading order. Make one with ``pred_set``.

    The empty PredSet is true.

    Example:
        >>> str(PredSet(()))
        'true'
    """

    or_preds: tuple[ORPred, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.or_preds)

    def __iter__(self) -> Iterator[ORPred]:
        return iter(self.or_preds)

    @cached_property
    def identity(self) -> str:
        """The canonical form, with all types."""
        return f"{{{'&'.join(predicate.identity for predicate in self.or_preds)}}}"

    @cached_property
    def _text(self) -> str:
        return " and ".join(map(str, self.or_preds)) or "true"

    def __str__(self) -> str:
        return self._text


ALWAYS, NEVER = (Literal(Constant(truth, BOOLEAN), Operator.HOLDS) for truth in (True, False))
"""The literals that every row and no row satisfies."""
TRUE, FALSE = PredSet(), PredSet((ORPred((NEVER,)),))
"""The PredSets that every row and no row satisfies."""


def or_pred(literals: Iterable[Literal]) -> ORPred:
    """A disjunction in its normal order."""
    return ORPred(_ordered(literals))


def pred_set(or_preds: Iterable[ORPred]) -> PredSet:
    """A conjunction in its normal order."""
    return PredSet(_ordered(or_preds))


def _ordered(predicates: Iterable[P]) -> tuple[P, ...]:
    """Without duplicates, in reading order."""
    given = tuple(predicates)
    return given if len(given) < 2 else tuple(sorted(set(given), key=_READING_ORDER))


def conjunction(*sets: PredSet) -> PredSet:
    """The conjunction of PredSets."""
    return pred_set(p for s in sets for p in s)


def predicate_expressions(predicates: PredSet | ORPred) -> Iterator[Expression]:
    """Every side of every literal."""
    for p in predicates if isinstance(predicates, PredSet) else (predicates,):
        for literal in p.literals:
            yield from literal.expressions


@cached(100_000)
def predicate_columns(predicates: PredSet | ORPred) -> frozenset[Column]:
    """Every column read."""
    return frozenset(c for e in predicate_expressions(predicates) for c in columns(e))


@cached(100_000)
def predicate_sources(predicates: PredSet | ORPred) -> frozenset[int]:
    """Positions of all inputs read."""
    return frozenset(s for e in predicate_expressions(predicates) for s in sources(e))


def equated(
    predicate: ORPred, is_own: Callable[[Column], bool], is_other: Callable[[Column], bool]
) -> tuple[Expression, Expression] | None:
    """The sides of an equality of which one reads own columns alone, it first, and one others; else ``None``."""
    literal = predicate.literals[0]
    if len(predicate.literals) > 1 or literal.operator is not Operator.EQ or literal.right is None:
        return None
    for one, other in ((literal.left, literal.right), (literal.right, literal.left)):
        if columns(one) and columns(other) and all(map(is_own, columns(one))) and all(map(is_other, columns(other))):
            return one, other
    return None


def map_literal(literal: Literal, change: Callable[[Column], Expression]) -> Literal:
    """The literal over other columns, turned so that a constant stays on the right and text order decides otherwise."""
    left = map_columns(literal.left, change)
    right = None if literal.right is None else map_columns(literal.right, change)
    return orient(Literal(left, literal.operator, right))


def orient(literal: Literal) -> Literal:
    """Of the two ways to write a comparison, the one with the constant right, or else the smaller text left."""
    if literal.right is None or isinstance(literal.right, Constant):
        return literal
    swapped = isinstance(literal.left, Constant) or reading_order(literal.right) < reading_order(literal.left)
    return Literal(literal.right, FLIPPED[literal.operator], literal.left) if swapped else literal


def map_predicates(predicates: PredSet, change: Callable[[Column], Expression]) -> PredSet:
    """The PredSet over other columns (the conversions of T6.2.6 are column maps)."""
    return pred_set(_mapped(p, change) for p in predicates)


def map_expressions(predicates: PredSet, change: Callable[[Expression], Expression]) -> PredSet:
    """The PredSet of other expressions."""

    def changed(literal: Literal) -> Literal:
        right = None if literal.right is None else change(literal.right)
        return orient(Literal(change(literal.left), literal.operator, right))

    return pred_set(or_pred(map(changed, p.literals)) for p in predicates)


@dataclass(frozen=True)
class OnSide:
    """The renaming that moves every column to one input of a join, or with 0 to that of a single input."""

    source: int

    def __call__(self, column: Column) -> Column:
        """The column of that input."""
        return Column(column.name, column.type, self.source)


def rename_predicates(predicates: PredSet, renaming: Callable[[Column], Column]) -> PredSet:
    """As ``map_predicates``, cached for each ORPred; equal renamings must do the same."""
    return pred_set(_renamed(p, renaming) for p in predicates)


@cached(200_000)
def _renamed(predicate: ORPred, renaming: Callable[[Column], Column]) -> ORPred:
    return _mapped(predicate, renaming)


def _mapped(predicate: ORPred, change: Callable[[Column], Expression]) -> ORPred:
    return or_pred(map_literal(x, change) for x in predicate.literals)
