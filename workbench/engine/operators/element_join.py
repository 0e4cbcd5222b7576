"""The pairs of rows and the places of their arrays' elements, found by making the places that an array has.

EXPLODE is a join with a table of places 1, 2, … (``sql/binder/joins/elements.py``), of which a row finds the first
ones. Comparing every row with every place would take an array's size a hundred times a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, sources
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.arrays.arrays import HAS_PLACE
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet
from workbench.sql.render.spark_sql import value_to_spark

PLACE = "_place"
"""The column of the places that an array has."""


@dataclass(frozen=True)
class ArrayPlaces:
    """The places of an array on one side of a join, which are rows of the other side.

    Attributes:
        array: over the columns of its side.
        place: the column of the other side.
        limit: how many places there are, where the array may have more elements.
        outer: whether a row finds the place 1 also where its array is empty or NULL.
        test: what tests it of a pair.
    """

    array: Expression
    place: Column
    limit: Constant | None
    outer: bool
    test: ORPred

    @property
    def side(self) -> int:
        """The side of the array."""
        return 1 - self.place.source

    def rows(self, rows: str, alias: str, spell: Callable[[Column], str]) -> str:
        """SQL of the array's side with a row for each place; ``spell`` names columns of ``alias``."""
        size = f"coalesce(array_size({value_to_spark(self.array, spell)}), 0)"
        if self.limit is not None:
            size = f"least({size}, {int(str(self.limit.value))})"
        last = f"greatest({size}, 1)" if self.outer else size
        # SEQUENCE(1, 0) goes down.
        return f"SELECT *, explode(case when {last} > 0 then sequence(1, {last}) end) AS {PLACE} FROM ({rows}) {alias}"


def places(tested: PredSet) -> ArrayPlaces | None:
    """The places by which a join finds its pairs, if it is one of rows and places.

    Example:
        >>> places(PredSet()) is None
        True
    """
    for predicate in tested:
        for literal in predicate.literals:
            match literal.left:
                case Call(function, (array, Column() as place, *limits)) if function == HAS_PLACE:
                    first = Literal(place, Operator.EQ, Constant(1, INTEGER))
                    others = [other for other in predicate.literals if other != literal]
                    of_other_side = sources(array) == {1 - place.source}
                    if literal.operator is Operator.HOLDS and of_other_side and others in ([], [first]):
                        limit = next((each for each in limits if isinstance(each, Constant)), None)
                        return ArrayPlaces(array, place, limit, bool(others), predicate)
    return None
