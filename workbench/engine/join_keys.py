"""By what rows are found: of a join equalities of an expression of one side with one of the other, of a window times.

A key or a time that is computed is stored with the rows, as Spark computes it, so that it can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.network.nodes import Join, NodeId
from workbench.optimizer.estimates import is_key
from workbench.sql.expressions import Column, Expression, digest, map_columns, sources, text
from workbench.sql.types import Kind


def join_keys(join: Join) -> Iterator[tuple[Expression, Expression]]:
    """What must be equal, the left side's first, each over the columns of its side.

    Only where equal values look alike: of one type, and not DOUBLE, of which 0.0 and -0.0 are equal.
    """
    for predicate in filter(is_key, join.tested):
        (literal,) = predicate.literals
        assert literal.right is not None
        ends = {sources(end): end for end in (literal.left, literal.right)}
        left, right = ends.get(frozenset([0])), ends.get(frozenset([1]))
        if left is None or right is None or left.type.kind is Kind.DOUBLE:
            continue
        if left.type.kind is right.type.kind and left.type.scale == right.type.scale:
            yield _own(left), _own(right)


def looked_up(join: Join) -> Iterator[tuple[NodeId, Expression]]:
    """By what a join looks up the rows of its parents."""
    for ends in join_keys(join):
        yield from zip(join.parents, ends, strict=True)


def key_column(key: Expression) -> str:
    """The stored column that has a key's values.

    Example:
        >>> from workbench.sql.types import STRING
        >>> key_column(Column("account", STRING))
        'account'
    """
    return key.name if isinstance(key, Column) else f"_key_{digest(text(key))}"


def _own(expression: Expression) -> Expression:
    return map_columns(expression, lambda column: replace(column, source=0))
