"""All pairs of types that compare, in all that compares or joins them: DuckDB's answers, and no error while they run.

A ninth of the pairs of columns run, and days beside times; with ``ARGUS_LONG=all`` all, those with constants too.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
from long import LONG
from oracle.harness import Case, Feed, Oracle
from sql.type_pairs import QUERIES, SCHEMA, VALUES, operands, written

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind

_TIME = dt.datetime
_ROWS: dict[str, tuple[pa.DataType, list[object]]] = {
    "id": (pa.int64(), [1, 2, 3, 4, 5, 6]),
    "i": (pa.int64(), [1, 2, None, -3, 2**53 + 1, 0]),
    "x": (pa.float64(), [1.0, 2.5, None, -0.0, 2.0**53, float("inf")]),
    "m": (pa.decimal128(9, 2), [Decimal(n) / 100 for n in (100, 150, 0, -300, 250, 0)]),
    "s": (pa.string(), ["a", "b", None, "", "B", "1"]),
    "p": (pa.bool_(), [True, False, None, True, False, True]),
    "d": (pa.date32(), [dt.date(2024, 1, day) for day in (1, 2, 2, 4, 6)] + [None]),
    "t": (pa.timestamp("us"), [_TIME(2024, 1, 1), _TIME(2024, 1, 2, 3), None, _TIME(2024, 1, 4), _TIME(2023, 1, 1),
                               _TIME(2024, 1, 3, 0, 0, 0, 1)]),
    "z": (pa.timestamp("us", "UTC"), [_TIME(2024, 1, 2, 3), _TIME(2024, 1, 1), None, _TIME(2024, 1, 4, 1),
                                      _TIME(2023, 1, 1), _TIME(2024, 1, 2)]),
    "b": (pa.binary(), [b"\x01\xff", b"", None, b"a", b"\x00", b"b"]),
    "a": (pa.list_(pa.int64()), [[1, 2], [], None, [None], [1, None], [2]]),
    "r": (pa.struct([("u", pa.int64()), ("v", pa.string())]),
          [{"u": 1, "v": "a"}, {"u": None, "v": "a"}, None, {"u": 1, "v": None}, {"u": 2, "v": "b"}, None]),
    "h": (pa.map_(pa.string(), pa.int64()), [[("k", 1)], [], None, [("k", None)], [("j", 2), ("k", 1)], []]),
}  # fmt: skip
M = pa.table({name: pa.array(values, type_) for name, (type_, values) in _ROWS.items()})
N = pa.table({"id": M["id"]} | {f"{n}2": pa.array(v[2:] + v[:2], t) for n, (t, v) in list(_ROWS.items())[1:]})
OTHERWISE = ("max by", "sum", "difference")
"""Forms that do not compare, of which MAX_BY chooses among equals, and DuckDB adds no BIGINT to a day."""
AT_ONCE = 40


def accepted(form: str) -> Iterator[str]:
    """The texts of a form that are not refused, over the pairs that are run."""
    for constants in (False, True) if LONG else (False,):
        for place, (a, b) in enumerate(operands(constants)):
            text = written(form, a, b, "duckdb")
            sql = text if form in QUERIES else f"SELECT M.id, {text} AS v FROM M"
            if LONG or (place + len(form)) % 9 == 0 or {a.type, b.type} == {"d", "t"}:
                try:
                    bind(sql, "duckdb", SCHEMA)
                except SqlError:
                    continue
                yield text


def test_types_that_compare_compare_as_in_duckdb(spark: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = [text for form in VALUES if form not in OTHERWISE for text in accepted(form)]
        queries = [text for form in QUERIES if form not in OTHERWISE for text in accepted(form)]
        for first in range(0, len(values), AT_ONCE):
            some = (f"{text} AS v{place}" for place, text in enumerate(values[first : first + AT_ONCE]))
            queries.append(f"SELECT M.id, {', '.join(some)} FROM M")
        with Oracle(spark, {"M": Feed(M, 4, 2), "N": Feed(N, 3, 3)}) as oracle:
            for first in range(0, len(queries), AT_ONCE):
                texts = {f"q{first + n}": sql for n, sql in enumerate(queries[first : first + AT_ONCE])}
                oracle.register({name: Case(sql, dialect="duckdb") for name, sql in texts.items()}, check=False)
            oracle.run(1)
            oracle.check_changes()
