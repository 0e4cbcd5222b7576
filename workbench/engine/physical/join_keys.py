"""Keys by which rows are looked up: in a join an expression of one side that must equal one of the other side.

A computed key is stored with the rows, as Spark computes it, so that it can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.sql.algebra.expressions import (
    Call,
    Column,
    Expression,
    digest,
    identity,
    map_columns,
    sources,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType, Kind, as_decimal, common_type
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet

Ends = tuple[Expression, Expression]
"""Two expressions that are compared, the left side's first, each over the columns of its side."""


def join_keys(tested: PredSet) -> Iterator[Ends]:
    """The equalities that predicates require of a pair.

    Only where equal values look alike: of one type, and not DOUBLE, of which 0.0 and -0.0 are equal.
    """
    yield from (ends for predicate in tested if (ends := ends_of(predicate)) is not None)


@cached(50_000)
def ends_of(predicate: ORPred) -> Ends | None:
    """The equality that is all that a predicate tests, if it is one."""
    return _equality(predicate.literals[0]) if len(predicate.literals) == 1 else None


def either_keys(tested: PredSet) -> tuple[Ends, ...]:
    """The equalities of which one is required: a disjunction of equalities, the shortest one if there are several.

    Example:
        Records of one patient have the same day of birth, or one that is known to the month only:
        ``l.bdate = r.bdate OR l.bym = r.bym``. Either is worth looking up; all of one town is not.
    """
    disjunctions: list[tuple[Ends, ...]] = []
    for predicate in tested:
        ends = [_equality(literal) for literal in predicate.literals]
        if len(ends) > 1 and None not in ends:
            disjunctions.append(tuple(e for e in ends if e is not None))
    return min(disjunctions, key=len, default=())


def key_column(key: Expression) -> str:
    """The stored column that has a key's values.

    Example:
        >>> from workbench.sql.algebra.types import STRING
        >>> key_column(Column("account", STRING))
        'account'
    """
    return key.name if isinstance(key, Column) else f"_key_{digest(identity(key))}"


def in_one_type(left: Expression, right: Expression) -> Ends | None:
    """Two values so that they are of one type where they can be: exact numbers become decimals of one scale.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> from workbench.sql.algebra.types import INTEGER, decimal
        >>> [text(value) for value in in_one_type(Column("n", INTEGER), Column("price", decimal(10, 2))) or ()]
        ['cast(n as decimal(21,2))', 'price']
    """
    kinds = {left.type.kind, right.type.kind}
    if len(kinds) == 1 and left.type.scale == right.type.scale:
        return left, right
    common = common_type(left.type, right.type)
    if common is None or not kinds <= {Kind.INTEGER, Kind.DECIMAL} or not _holds(common, left, right):
        return None
    return _of_scale(left, common), _of_scale(right, common)


def _holds(common: DataType, *values: Expression) -> bool:
    """Whether a decimal has the digits of all values before and behind the point, which are never more than 38."""
    return all(
        common.scale >= value.type.scale
        and common.precision - common.scale >= as_decimal(value.type).precision - value.type.scale
        for value in values
    )


def _of_scale(value: Expression, common: DataType) -> Expression:
    same = value.type.kind is common.kind and value.type.scale == common.scale
    return value if same else Call("cast", (value,), common)


def _equality(literal: Literal) -> Ends | None:
    """The two sides of an equality between the inputs of a join, if rows can be found by it."""
    if literal.operator is not Operator.EQ or literal.right is None:
        return None
    return _ends(literal.left, literal.right)


def _ends(one: Expression, other: Expression) -> Ends | None:
    ends = {sources(end): end for end in (one, other)}
    left, right = ends.get(frozenset([0])), ends.get(frozenset([1]))
    if left is None or right is None or left.type.kind is Kind.DOUBLE or (found := in_one_type(left, right)) is None:
        return None
    return _own(found[0]), _own(found[1])


def _own(expression: Expression) -> Expression:
    return map_columns(expression, lambda column: replace(column, source=0))
