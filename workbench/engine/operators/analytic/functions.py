"""Analytic functions as Spark SQL over rows that are numbered already, where ``frame_values`` has no step for one.

Rows come with the marks of ``ordered_rows``: ranks are arithmetic on these. Spark evaluates what
needs values of other rows, over ``_part`` in the order of ``_row``; a frame of groups of peers is a range of
``_group``.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.engine.operators.analytic.frame_values import NUMBERS
from workbench.engine.operators.analytic.ordered_rows import prefix_columns
from workbench.engine.physical.accumulators import holistic
from workbench.engine.physical.analytic.reach import running, summed_expression
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.row_inputs import over_rows
from workbench.sql.algebra.analytic import NEIGHBOURS, AnalyticCall, Frame
from workbench.sql.algebra.expressions import AggregateCall, Constant, Expression
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.aggregates import HOLISTIC
from workbench.sql.functions.holistic import HOLISTIC_CALLS

_SHARES = {
    "percent_rank": "if(_rows = 1, 0D, (_rank - 1) / cast(_rows - 1 AS double))",
    "cume_dist": "_last / cast(_rows AS double)",
}
_IN_NO_ORDER = "PARTITION BY _part"
_BY_ROW = "PARTITION BY _part ORDER BY _row"
_BY_GROUP = "PARTITION BY _part ORDER BY _group"
_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def numbered_sql(function: AnalyticCall, summed_columns: Sequence[str] = ()) -> str:
    """A function over numbered rows.

    Args:
        function: which one.
        summed_columns: those that rows come with the sums of that stand before their partition's rows.
    """
    value = _value(function)
    argument = summed_expression(function) if running(function) else None
    if argument is not None and (column := key_column(argument)) in summed_columns:
        count, total = prefix_columns(summed_columns.index(column))
        frame = f"OVER ({_frame(function, function.frame)})"
        counted = f"({count} + count(`{column}`) {frame})"
        value = counted if function.function == "count" else f"if({counted} = 0, NULL, {total} + coalesce({value}, 0))"
    elif function.function == "count" and not function.arguments and running(function):
        # The rows before have numbers, too.
        value = f"max(_row) OVER ({_frame(function, function.frame)})"
    return f"cast({value} AS {function.type.stored})"


def _exact(value: Expression) -> str:
    """A whole number with as many digits as its sums may need."""
    return f"cast({over_rows(value)} AS decimal(19,0))" if value.type.kind is Kind.INTEGER else over_rows(value)


def _value(function: AnalyticCall) -> str:
    name, arguments = function.function, [over_rows(argument) for argument in function.arguments]
    nulls = " IGNORE NULLS" if function.ignore_nulls else ""
    if name in NUMBERS:
        return NUMBERS[name]
    if name in _SHARES:
        return _SHARES[name]
    if name == "ntile":
        large = f"(_rows % {arguments[0]})"
        size = f"(_rows div {arguments[0]})"
        return (
            f"if(_row <= {large} * ({size} + 1), (_row - 1) div ({size} + 1) + 1,"
            f" {large} + (_row - 1 - {large} * ({size} + 1)) div greatest({size}, 1L) + 1)"
        )
    if name in NEIGHBOURS:
        value, _, *default = arguments
        offset = function.arguments[1]
        assert isinstance(offset, Constant)
        number = f"{_whole_number(offset)}"
        return f"{name}({', '.join([value, number, *default])}){nulls} OVER ({_BY_ROW})"
    frame = function.frame
    if name in ("first_value", "last_value"):
        best = "min_by" if name == "first_value" else "max_by"
        place = f"if({arguments[0]} IS NULL, NULL, _row)" if function.ignore_nulls else "_row"
        return f"{best}({arguments[0]}, {place}) OVER ({_frame(function, frame)})"
    if name == "nth_value":
        counted = arguments[0] if function.ignore_nulls else "1"
        nth = function.arguments[1]
        assert isinstance(nth, Constant)
        call = f"nth_value({arguments[0]}, {_whole_number(nth)}){nulls}"
        if frame is not None and frame.unit == "rows":
            return f"{call} OVER ({_frame(function, frame)})"
        # Peers are in order among the rows of a partition, and not in a frame of groups.
        whole = f"{call} OVER ({_BY_ROW} {_WHOLE})"
        if frame is None or frame.end is None:
            return whole
        return f"if(count({counted}) OVER ({_frame(function, frame)}) >= {_whole_number(nth)}, {whole}, NULL)"
    if name == "sum":
        return f"sum({_exact(function.arguments[0])}) OVER ({_frame(function, frame)})"
    statistic = AggregateCall(name, function.arguments, function.type)
    return holistic(statistic, f" OVER ({_frame(function, frame)})")


def _frame(function: AnalyticCall, frame: Frame | None) -> str:
    """Which rows a value is computed of."""
    if frame is None:
        # In order, since the last digits of a sum of DOUBLE depend on it; Spark has no order for what needs all values.
        return _IN_NO_ORDER if function.function in (*HOLISTIC, *HOLISTIC_CALLS) else f"{_BY_ROW} {_WHOLE}"
    if frame.unit == "rows":
        return f"{_BY_ROW} {frame.text}"
    by_peers = frame.unit == "groups" or all(e is None or float(e.by) == 0 for e in (frame.start, frame.end))
    if by_peers:
        return f"{_BY_GROUP} {Frame('range', frame.start, frame.end).text}"
    (key,) = function.over.order
    value = over_rows(key.expression)
    if (distances := frame.distances(key.expression.type)) is not None:
        if distances.farthest is not None:  # others disable the query (``sql/checks.py``)
            value = f"if({value} BETWEEN -{distances.farthest}BD AND {distances.farthest}BD, {value}, NULL)"
        value, frame = f"try_cast({value} AS {distances.key.spark})", distances.frame
    return f"PARTITION BY _part ORDER BY {value}{key.direction} {frame.text}"


def _whole_number(constant: Constant) -> int:
    """A constant that stands in SQL as it is; a stored one may be any text."""
    return int(str(constant.value))
