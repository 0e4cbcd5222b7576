"""Statistics that follow from the values of a group and how often each is there, without its rows.

How often a value is in a group is a sum, so it is additive also where rows are retracted, and one count of each value
serves all statistics of an expression: MEDIAN, PERCENTILE, MODE, those of DISTINCT values, MIN and MAX of retractable
rows, and sums and variances of DOUBLE, which must not be added up and taken back. The state of a group has a row of
its own for each value (``VALUES`` says of which expression it is), so a batch changes the values that it has.

Source: counts of values are the auxiliary views that make such statistics self-maintainable (Palpanas, Sidle, Cochrane,
Pirahesh, Incremental maintenance for non-distributive aggregate functions, VLDB 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from workbench.engine.physical.accumulators import Final, RowInput, is_wide, row_input
from workbench.engine.storage.reduction import Combine
from workbench.sql.algebra.coercion import as_string
from workbench.sql.algebra.expressions import AggregateCall, Constant, Expression, digest, identity
from workbench.sql.algebra.types import INTEGER, STRING, DataType, Kind, decimal
from workbench.sql.functions.calls import call

VALUES = "_values"
"""Column of a state: 0 in the row of a group; in the row of a value the number of the expression that it is of."""

_DIGITS = 12
"""Hexadecimal digits that tell expressions apart, as in the ids of nodes."""


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
    def of(expression: Expression) -> CountedValues:
        """The values of an expression over the parent's rows."""
        key = digest(identity(expression), _DIGITS)
        return CountedValues(int(key, 16), f"_value {key}", expression.type, row_input(expression))


@dataclass(frozen=True)
class DistinctPart:
    """A stored column of a group: the number or the sum of its values, each taken once.

    It changes when a value comes into the group or leaves it.
    """

    name: str
    type: DataType
    of: CountedValues
    summed: bool
    combine: Combine = Combine.SUM


@dataclass(frozen=True)
class ValueStatistic:
    """A statistic that is computed from all values of a group, in their order.

    Attributes:
        function: ``median, percentile, mode, min, max, sum, bit_and, bit_or, bit_xor`` or a variance.
        of: the values.
        type: of the statistic.
        fraction: of a percentile.
        distinct: whether each value counts once.
    """

    function: str
    of: CountedValues
    type: DataType
    fraction: float = 0.5
    distinct: bool = False


@dataclass(frozen=True)
class DistinctStatistic:
    """A statistic of DISTINCT values that is kept in parts of the group."""

    parts: tuple[DistinctPart, ...]
    final: Final


def by_values(statistic: AggregateCall) -> ValueStatistic | DistinctStatistic | None:
    """The statistic from counts of values; ``None`` when these do not give it.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> by_values(AggregateCall("mode", (Column("bank", INTEGER),), INTEGER)).of.value
        StoredColumn(column='bank')
    """
    match statistic.function, statistic.arguments:
        case "count", (argument,) if statistic.distinct:
            count = _count_of(CountedValues.of(argument))
            return DistinctStatistic((count,), Final(count.name, INTEGER, zero=True))
        case "count", arguments if statistic.distinct and (tuples := _as_text(arguments)) is not None:
            count = _count_of(CountedValues.of(tuples))
            return DistinctStatistic((count,), Final(count.name, INTEGER, zero=True))
        case "sum", (argument,) if (
            statistic.distinct and argument.type.kind is not Kind.DOUBLE and not is_wide(argument.type)
        ):
            of = CountedValues.of(argument)
            total = DistinctPart(f"{of.column} sum", decimal(38, argument.type.scale), of, summed=True)
            return DistinctStatistic((total, _count_of(of)), Final(total.name, statistic.type, _count_of(of).name))
        case (("sum" | "var_samp" | "var_pop" | "stddev_samp" | "stddev_pop"), (argument,)):
            if argument.type.kind is not Kind.DOUBLE:
                return None
            of = CountedValues.of(argument)
            return ValueStatistic(statistic.function, of, statistic.type, distinct=statistic.distinct)
        case (("bit_and" | "bit_or" | "bit_xor"), (argument,)):
            of = CountedValues.of(argument)
            return ValueStatistic(statistic.function, of, statistic.type, distinct=statistic.distinct)
        case (("median" | "mode" | "min" | "max"), (argument,)) if not statistic.distinct:
            return ValueStatistic(statistic.function, CountedValues.of(argument), statistic.type)
        case "percentile", (argument, Constant(Decimal() as fraction)) if not statistic.distinct:
            return ValueStatistic("percentile", CountedValues.of(argument), statistic.type, float(fraction))
        case _:
            return None


def _as_text(arguments: Sequence[Expression]) -> Expression | None:
    """Several values as one text, NULL where one of them is; different values have different texts.

    Each value but the last one is preceded by its length: ``1:abc`` is ``a`` and ``bc``, and ``2:abc`` is ``ab`` and
    ``c``. ``None`` where there are fewer than two, one is a DOUBLE, of which 0.0 and -0.0 are equal and have two texts,
    or an ARRAY, STRUCT or BINARY, of which a cast does not make texts.
    """
    if len(arguments) < 2 or any(a.type.kind is Kind.DOUBLE or a.type.is_text_when_stored for a in arguments):
        return None
    texts = [as_string(argument) for argument in arguments]
    parts: list[Expression] = []
    for text in texts[:-1]:
        parts += [as_string(call("length", text)), Constant(":", STRING), text]
    together = texts[-1]
    for part in reversed(parts):
        together = call("||", part, together)
    return together


def _count_of(values: CountedValues) -> DistinctPart:
    return DistinctPart(f"{values.column} count", INTEGER, values, summed=False)
