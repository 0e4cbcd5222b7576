"""Statistics that follow from the values of a group and how often each is there, without its rows.

How often a value is in a group is a sum, so it is additive also where rows are retracted, and one count of each value
serves all statistics of an expression: MEDIAN, PERCENTILE, MODE, those of DISTINCT values, MIN and MAX of retractable
rows, and lists. The state of a group has a row of
its own for each value (``VALUES`` says of which expression it is), so a batch changes the values that it has.

Source: counts of values are the auxiliary views that make such statistics self-maintainable (Palpanas, Sidle, Cochrane,
Pirahesh, Incremental maintenance for non-distributive aggregate functions, VLDB 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from workbench.engine.physical.accumulators import Final, StatePart, additive
from workbench.engine.physical.moments import Moments
from workbench.engine.physical.row_inputs import RowInput, TupleInput, content_id, row_input
from workbench.engine.storage.reduction import Combine
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression
from workbench.sql.algebra.types import STRING, DataType
from workbench.sql.functions.aggregate_rules import DESCENDING

VALUES = "_values"
"""Column of a state: 0 in the row of a group; in the row of a value the number of the expression that it is of."""


@dataclass(frozen=True)
class CountedValues:
    """An expression whose values are counted in every group; NULL is not counted.

    Attributes:
        number: what ``VALUES`` is in the rows of its values.
        column: of the state, with the values.
        type: of the values.
        value: the expression over the parent's rows.
    """

    number: int
    column: str
    type: DataType
    value: RowInput

    @staticmethod
    def of_tuples(
        expressions: Sequence[Expression], known: Sequence[int], where: Expression | None = None
    ) -> CountedValues:
        """The values of several expressions together; see ``TupleInput``."""
        every = expressions if where is None else (*expressions, where)
        key = content_id(*every, how=f"{len(expressions)} of {len(every)}, known {', '.join(map(str, known))}")
        value = TupleInput.of_expressions(expressions, known, where)
        return CountedValues(int(key, 16), f"_value {key}", STRING, value)

    @staticmethod
    def of(expression: Expression) -> CountedValues:
        """The values of an expression over the parent's rows."""
        key = content_id(expression)
        return CountedValues(int(key, 16), f"_value {key}", expression.type, row_input(expression))


@dataclass(frozen=True)
class DistinctPart:
    """A stored column of a group to which each of its values adds once: when it comes into the group, or leaves it.

    Attributes:
        part: the column, and what a value adds to it.
        of: the values.
    """

    part: StatePart
    of: CountedValues

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.part.name

    @property
    def type(self) -> DataType:
        """The type of the column."""
        return self.part.type

    @property
    def combine(self) -> Combine:
        """How several parts become one."""
        return self.part.combine


@dataclass(frozen=True)
class ValueStatistic:
    """A statistic that is computed from all values of a group, in their order.

    Attributes:
        function: ``entropy, frequencies, mad, max, median, min, mode, percentile, percentile_disc, product,
            quantile_cont, listagg, array_agg`` or ``array_agg_limit``; with ``_desc`` in the other order.
        of: the values.
        type: of the statistic.
        fraction: of a percentile.
        distinct: whether each value counts once.
        last_of: the types of a ``TupleInput``, where the values are such and the statistic is made of their last
            values.
        separator: what stands between the texts of LISTAGG.
        limit: how many elements an array has at most, where that is limited.
    """

    function: str
    of: CountedValues
    type: DataType
    fraction: Decimal = Decimal("0.5")
    distinct: bool = False
    last_of: tuple[DataType, ...] = ()
    separator: str = ""
    limit: int | None = None

    @property
    def ends(self) -> tuple[int, bool] | None:
        """How many values at an end of the order give it, and whether they are the last ones; see ``limit``."""
        if self.function in ("min", "max"):
            return 1, self.function == "max"
        return None if self.limit is None else (self.limit, self.function.endswith(DESCENDING))


@dataclass(frozen=True)
class DistinctStatistic:
    """A statistic of DISTINCT values that is kept in parts of the group."""

    parts: tuple[DistinctPart, ...]
    final: Final | Moments


def by_values(statistic: AggregateCall) -> ValueStatistic | DistinctStatistic:
    """The statistic from counts of values; of DISTINCT values, where parts of the group can keep it, from these.

    Raises:
        ValueError: these do not give it; no SQL means such a statistic.
    """
    match statistic.function, statistic.arguments:
        case (("count" | "sum"), (argument,)) if statistic.distinct:
            return _once(statistic, CountedValues.of(argument))
        case "count", arguments if statistic.distinct:
            return _once(statistic, CountedValues.of_tuples(arguments, range(len(arguments))))
        case _:
            return statistic_of_values(statistic)


def _once(statistic: AggregateCall, of: CountedValues) -> DistinctStatistic:
    """A statistic that takes each value once, as it is kept of rows."""
    name, value = f"{of.column} {statistic.function}", Column(of.column, of.type)
    kept = additive(name, AggregateCall(statistic.function, (value,), statistic.type), monotone=True)
    assert kept is not None  # counts and sums are
    return DistinctStatistic(tuple(DistinctPart(part, of) for part in kept.parts), kept.final)


def statistic_of_values(statistic: AggregateCall) -> ValueStatistic:
    """The statistic from all values in their order.

    Raises:
        ValueError: these do not give it; no SQL means such a statistic.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> statistic_of_values(AggregateCall("mode", (Column("bank", INTEGER),), INTEGER)).of.value.columns
        ('bank',)
    """
    match statistic.function, statistic.arguments:
        case ("min_by" | "max_by") as function, (value, key):
            of = CountedValues.of_tuples((key, value), known=[0])
            return ValueStatistic(function.removesuffix("_by"), of, statistic.type, last_of=(key.type, value.type))
        case (("listagg" | "listagg_desc"), (value, Constant(str() as separator), *order)):
            of = CountedValues.of_tuples((*order, value), known=[len(order)])
            return _list_of(statistic, of, (*order, value), separator)
        case (("array_agg" | "array_agg_desc"), (counts, value, *order)):
            return _list_of(statistic, CountedValues.of_tuples((*order, value), (), counts), (*order, value))
        case (("array_agg_limit" | "array_agg_limit_desc"), (Constant(int() as limit), counts, value, *order)):
            of = CountedValues.of_tuples((*order, value), (), counts)
            return replace(_list_of(statistic, of, (*order, value)), limit=limit)
        case (
            ("percentile" | "quantile_cont" | "percentile_disc" | "percentile_disc_desc"),
            (argument, Constant(Decimal() as fraction)),
        ):
            return ValueStatistic(statistic.function, CountedValues.of(argument), statistic.type, fraction)
        case (("entropy" | "frequencies" | "mad" | "median" | "mode" | "min" | "max" | "product"), (argument,)):
            return ValueStatistic(statistic.function, CountedValues.of(argument), statistic.type)
        case function, _:
            raise ValueError(f"{function} has no form that is kept")


def _list_of(
    statistic: AggregateCall, of: CountedValues, values: Sequence[Expression], separator: str = ""
) -> ValueStatistic:
    types = tuple(value.type for value in values)
    function, distinct = statistic.function, statistic.distinct
    return ValueStatistic(function, of, statistic.type, distinct=distinct, last_of=types, separator=separator)
