"""The columns of the example streams: FED, MED and the imaginary patient visits (thesis, Appendix A and B.12-B.13), and
the closing prices of stocks that TelegraphCQ's examples are about.

Oracle's ``NUMBER(10)`` ids are ``int64``, small numbers ``int32``, ``CHAR`` and ``VARCHAR2`` are strings, ``DATE`` is a
day (``date32``), and money is exact: ``DECIMAL(15,2)``. Column names are in lower case.

Example:
    >>> FED.field("amount").type
    Decimal128Type(decimal128(15, 2))
    >>> STREAM_NAMES["med"]
    'MHDCFY01A'
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

MONEY = pa.decimal128(15, 2)
"""Amounts and fees in dollars, exact to the cent."""

FED = pa.schema(
    [
        pa.field("tranid", pa.int64(), nullable=False),
        ("type_code", pa.int32()),
        pa.field("tran_date", pa.date32(), nullable=False),
        ("amount", MONEY),
        *(("sbank_aba", pa.int64()), ("sbank_name", pa.string())),
        *(("rbank_aba", pa.int64()), ("rbank_name", pa.string())),
        *((f"{side}_account", pa.string()) for side in ("orig", "benef")),
    ]
)
"""Money transfers, one row each; event time ``tran_date``. ``s…`` is the sending and ``r…`` the receiving bank."""

MED = pa.schema(
    [
        pa.field("recid", pa.int64(), nullable=False),
        *((name, pa.string()) for name in ("providerid", "dischargeid", "hospid", "sex")),
        ("age", pa.int32()),
        ("payor", pa.string()),
        ("bdate", pa.date32()),
        pa.field("adate", pa.date32(), nullable=False),
        ("ddate", pa.date32()),
        *(("zip", pa.string()), ("los", pa.int32()), ("disp", pa.string()), ("race", pa.string())),
        *((f"{code}_{number:02}", pa.string()) for code in ("dxs", "ops") for number in range(1, 6)),
        *(("patorg", pa.string()), ("townid", pa.string()), ("byear", pa.date32()), ("bym", pa.date32())),
    ]
)
"""Hospital stays, one row each; event time ``adate``.

``dxs_01`` is the principal diagnosis (ICD-9-CM, no dot), ``ops_01`` the principal procedure, ``byear`` and ``bym`` the
first day of the year and month of birth. Appendix A prints ``PAYORG``; its queries call the column ``patorg``.
"""

VISITS = pa.schema(
    [
        pa.field("visit_id", pa.int64(), nullable=False),
        ("disease", pa.string()),
        ("hospital", pa.string()),
        pa.field("visit_date", pa.timestamp("us"), nullable=False),
        ("fee", MONEY),
    ]
)
"""Visits of patients, one row each; event time ``visit_date``, which has a time of day."""

PRICES = pa.schema(
    [
        pa.field("timestamp", pa.int64(), nullable=False),
        pa.field("stocksymbol", pa.string()),
        ("closingprice", pa.float64()),
    ]
)
"""Closing prices of stocks, one row a symbol and trading day; event time ``timestamp``, the number of the day."""

STREAM_NAMES: Mapping[str, str] = {
    "fed": "FedWireTrans",
    "med": "MHDCFY01A",
    "visits": "Med",
    "prices": "ClosingStockPrices",
}
"""The name by which the papers' queries call each stream: those of Appendix B, and TelegraphCQ's."""

SCHEMAS: Mapping[str, pa.Schema] = {"fed": FED, "med": MED, "visits": VISITS, "prices": PRICES}
