"""What aggregates compute by themselves of stored columns: what they group by, and what they add up or compare."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from workbench.engine.physical.stored.calls import CALLED, StoredCall, stored_call
from workbench.engine.physical.stored.decimals import StoredDecimal, stored_decimal
from workbench.engine.physical.stored.expressions import DaysBetween, Substring, dates_subtracted, substring
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.arrow_types import to_arrow

_FIRST_YEAR = 1970


@dataclass(frozen=True)
class StoredColumn:
    """The values of a column as they are."""

    column: str

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The column."""
        return rows.column(self.column)


@dataclass(frozen=True)
class StoredConstant:
    """The same value in every row; ``None`` is NULL."""

    value: object
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return pa.repeat(pa.scalar(self.value, to_arrow(self.type)), rows.num_rows)


@dataclass(frozen=True)
class DatePart:
    """The ``year`` or the ``month`` of a date."""

    part: str
    column: str

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A whole number or NULL for each row. Python and Arrow know no dates beyond some year, and numpy all.

        Example:
            >>> import datetime as dt
            >>> rows = pa.RecordBatch.from_pydict({"d": [dt.date(1969, 12, 31), None]})
            >>> [DatePart(part, "d").values(rows).to_pylist() for part in ("year", "month")]
            [[1969, None], [12, None]]
        """
        column = rows.column(self.column)
        days = column.cast(pa.int32()).fill_null(0).to_numpy().astype("datetime64[D]")
        missing = np.asarray(column.is_null()) if column.null_count else None
        if self.part == "year":
            return pa.array(days.astype("datetime64[Y]").astype(np.int64) + _FIRST_YEAR, mask=missing)
        return pa.array(days.astype("datetime64[M]").astype(np.int64) % 12 + 1, mask=missing)


StoredValue = StoredColumn | StoredConstant | DatePart | DaysBetween | StoredCall | StoredDecimal | Substring


def stored_value(expression: Expression) -> StoredValue | None:
    """An expression as aggregates compute it; ``None`` where Spark must evaluate it."""
    match expression:
        case Column(name):
            return StoredColumn(name)
        case Constant(Decimal() as value, type) if type.kind is Kind.DOUBLE:
            return StoredConstant(float(value), type)
        case Constant(value, type) if type.kind in CALLED or type.kind is Kind.TIMESTAMP:
            return StoredConstant(value, type)
        case Call("year" | "month" as part, (Column(name, type),)) if type.kind is Kind.DATE:
            return DatePart(part, name)
    if (dates := dates_subtracted(expression)) is not None:
        return DaysBetween((dates[0].name, dates[1].name))
    return stored_decimal(expression) or stored_call(expression) or substring(expression)
