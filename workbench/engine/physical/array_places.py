"""The places of arrays' elements: a join of arrays with a table of places makes the places that each array has.

EXPLODE is a join with a table of places 1, 2, … (``sql/binder/joins/elements.py``), of which a row finds the first
ones. Comparing every row with every place would take an array's size a hundred times a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.row_inputs import over_stored
from workbench.engine.physical.stored.kernels.lists import element_at
from workbench.engine.physical.stored.kernels.table import as_stored, evaluate, nested_values
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, map_columns, sources
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.arrays.arrays import HAS_PLACE
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet

PLACE = "_place"
"""The column of the places that an array has."""
ELEMENT = "_element"
"""The column of the element at such a place."""


@dataclass(frozen=True)
class ArrayPlaces:
    """The places of an array on one side of a join, which are rows of the other side.

    Attributes:
        array: over the columns of its side.
        size: how many places a row finds, over the columns of its side; NULL is none.
        place: the column of the other side.
        test: what tests it of a pair.
    """

    array: Expression
    size: Expression
    place: Column
    test: ORPred

    @property
    def side(self) -> int:
        """The side of the array."""
        return 1 - self.place.source

    @property
    def path(self) -> AccessPath:
        """The access path from rows with ``PLACE`` to places."""
        own, other = Column(PLACE, INTEGER), Column(self.place.name, INTEGER)
        return AccessPath(((own, other) if self.side == 0 else (other, own),))

    @property
    def stored(self) -> dict[str, Expression]:
        """What no kernel evaluates of the array and of its size, by the column of its side that has the values."""
        return {key_column(part): part for e in (over_side(self.array), self.size) for part in over_stored(e)[1]}

    @property
    def stored_element(self) -> Call:
        """``element``, of which ``stored`` has what no kernel evaluates."""
        array = map_columns(over_stored(over_side(self.array))[0], lambda c: replace(c, source=self.side))
        return replace(self.element, arguments=(array, self.place))

    @property
    def element(self) -> Call:
        """The element of a pair."""
        assert self.array.type.element is not None
        return Call("element_at", (self.array, self.place), self.array.type.element)

    def each(self, rows: pa.RecordBatch, names: Sequence[str], most: int) -> Iterator[pa.RecordBatch]:
        """A row for each place that a row finds; about ``most`` bytes at a time.

        Args:
            rows: those that have arrays.
            names: the columns that each row is to have beside ``PLACE``, maybe with ``ELEMENT``.
            most: bytes. Rows that have the whole array have far more together than an array of Arrow may have.

        Example:
            >>> from workbench.sql.functions.arrays.arrays import TEXTS
            >>> places = ArrayPlaces(Column("a", TEXTS), Column("n", INTEGER), Column("p", INTEGER, 1), ORPred(()))
            >>> rows = pa.RecordBatch.from_pydict({"n": [2, None, 1], "a": ['["x","y"]', None, '["z"]']})
            >>> [each.to_pydict() for each in places.each(rows, ["n", ELEMENT], most=1_000)]
            [{'n': [2, 2, 1], '_place': [1, 2, 1], '_element': ['x', 'y', 'z']}]
        """
        sizes = np.maximum(evaluate(over_stored(self.size)[0], rows).fill_null(0).to_numpy(zero_copy_only=False), 0)
        if not (total := int(sizes.sum())):
            return
        place = np.arange(1, total + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        of = np.repeat(np.arange(rows.num_rows), sizes)
        # An array's bytes are taken to be as its elements are: rows of long ones come in smaller parts.
        end = np.cumsum(rows.nbytes / total * sizes[of])
        lists = nested_values(over_stored(over_side(self.array))[0], rows) if ELEMENT in names else None
        rows = rows.select([name for name in names if name != ELEMENT])
        for part in np.split(np.arange(total), np.flatnonzero(np.diff(end // most)) + 1):
            each = rows.take(pa.array(of[part])).append_column(PLACE, pa.array(place[part], pa.int64()))
            if lists is not None:
                shared = pa.DictionaryArray.from_arrays(pa.array(of[part]), lists)
                values = element_at(shared, pc.list_flatten(lists), place[part] - 1)
                each = each.append_column(ELEMENT, as_stored(values, self.element.type))
            yield each


def array_places(tested: PredSet) -> ArrayPlaces | None:
    """The places by which a join finds its pairs, if it is one of rows and places.

    Example:
        >>> array_places(PredSet()) is None
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
                        return ArrayPlaces(array, _size(array, limits, bool(others)), place, predicate)
    return None


def _size(array: Expression, limits: list[Expression], outer: bool) -> Expression:
    """The number of places.

    Args:
        array: whose elements have them.
        limits: how many places there are, where the array may have more elements.
        outer: whether a row finds the place 1 also where its array is empty or NULL.
    """
    size: Expression = Call(
        "coalesce", (Call("array_size", (over_side(array),), INTEGER), Constant(0, INTEGER)), INTEGER
    )
    for limit in limits:
        size = Call("least", (size, limit), INTEGER)
    return Call("greatest", (size, Constant(1, INTEGER)), INTEGER) if outer else size


def over_side(array: Expression) -> Expression:
    """An array over the columns of its side alone."""
    return map_columns(array, lambda column: Column(column.name, column.type))
