"""Whatever the source, the log holds its rows in order, with the workbench's types, and says what it quarantined."""

from __future__ import annotations

import datetime
import itertools
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import StreamError
from workbench.streams import log_writer
from workbench.streams.ingest import Arriving, ingest
from workbench.streams.log import CHUNK_ROWS, StreamLog, open_log
from workbench.streams.log_writer import FILE_ROWS
from workbench.streams.row_groups import ROW_GROUP_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INT_MAX, INT_MIN = 2**63 - 1, -(2**63)
NINES = Decimal("9" * 38)


def boundary_table() -> pa.Table:
    """NULLs, duplicates and the extremes of every type, in columns of the types the workbench itself has."""
    return pa.table(
        {
            "i": pa.array([INT_MAX, INT_MIN, None, 0, 0], pa.int64()),
            "d": pa.array([NINES, NINES.copy_negate(), None, Decimal(0), Decimal(0)], pa.decimal128(38, 0)),
            "f": pa.array([1e308, -0.0, None, float("inf"), float("inf")], pa.float64()),
            "s": pa.array(["", "null", None, "naïve 金\n", "naïve 金\n"], pa.string()),
            "day": pa.array(
                [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None, datetime.date(1582, 10, 10)] * 1
                + [datetime.date(1582, 10, 10)],
                pa.date32(),
            ),
            "at": pa.array(
                [
                    datetime.datetime(1, 1, 1),
                    datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999),
                    None,
                    datetime.datetime(1582, 10, 10, 1),
                    datetime.datetime(1582, 10, 10, 1),
                ],
                pa.timestamp("us"),
            ),
            "b": pa.array([True, False, None, True, True], pa.bool_()),
        }
    )


def numbered(rows: int) -> pa.Table:
    numbers = np.arange(rows)
    return pa.table({"n": numbers, "odd": pa.array(numbers % 7, mask=numbers % 5 == 0)})


def all_of(log: StreamLog) -> pa.Table:
    return log.read(0, log.rows)


def types_of(log: StreamLog) -> dict[str, str]:
    return {name: str(type_) for name, type_ in log.columns}


# Sources


def as_parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "one.parquet")
    return folder / "one.parquet"


def as_parquet_folder(table: pa.Table, folder: Path) -> Path:
    (folder / "many").mkdir()
    (folder / "many" / "_SUCCESS").touch()
    for number in range(table.num_rows):
        pq.write_table(table.slice(number, 1), folder / "many" / f"part-{number:05d}.parquet")
    return folder / "many"


@pytest.mark.parametrize(
    "make",
    [
        as_parquet,
        as_parquet_folder,
        lambda table, folder: str(as_parquet(table, folder)),
        lambda table, folder: table,
        lambda table, folder: table.to_reader(max_chunksize=2),
        lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    ],
    ids=["parquet", "parquet folder", "path as text", "arrow table", "arrow reader", "pandas"],
)
def test_boundary_values_arrive_unchanged_and_in_order(make: Any, tmp_path: Path) -> None:
    table = boundary_table()
    log = ingest("x", make(table, tmp_path), tmp_path / "log")
    assert all_of(log).equals(table)
    assert (log.rows, log.misfits, log.quarantined) == (5, 0, ())


def test_boundary_values_from_spark_arrive_unchanged_and_in_order(spark: SparkSession, tmp_path: Path) -> None:
    table = boundary_table()
    pq.write_table(table, tmp_path / "in.parquet")
    frame = spark.read.parquet(str(tmp_path / "in.parquet"))
    log = ingest("x", frame, tmp_path / "log")
    assert all_of(log).equals(table)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "log"]
    assert not (log.folder / "spark").exists()


def test_partitions_of_spark_keep_their_order_and_zoned_timestamps_become_utc(
    spark: SparkSession, tmp_path: Path
) -> None:
    columns = ["id", "timestamp_seconds(id) AS at", "CAST(id % 100 AS tinyint) AS tiny"]
    frame = spark.range(0, 10_000, 1, 12).selectExpr(*columns)
    log = ingest("x", frame, tmp_path / "log")
    assert all_of(log)["id"].to_pylist() == list(range(10_000))
    assert log.read(7, 8)["at"].to_pylist() == [datetime.datetime(1970, 1, 1, 0, 0, 7)]
    assert types_of(log) == {"id": "integer", "at": "timestamp", "tiny": "integer"}


def test_an_empty_spark_frame_is_an_empty_log(spark: SparkSession, tmp_path: Path) -> None:
    log = ingest("x", spark.range(0).selectExpr("id", "CAST(id AS decimal(15,2)) AS m"), tmp_path / "log")
    assert (log.rows, types_of(log)) == (0, {"id": "integer", "m": "decimal(15,2)"})


def test_a_frame_spark_cannot_compute_is_a_stream_error_without_a_java_stack(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.range(1).selectExpr("raise_error('no such thing') AS x")
    with pytest.raises(StreamError, match="Spark could not write") as raised:
        ingest("x", frame, tmp_path / "log")
    assert "\tat " not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_pandas_nan_and_none_are_null_and_the_index_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"F": [1.5, np.nan], "S": ["a", None], "D": [Decimal("1.25"), None], "C": pd.Categorical(["x", None])},
        index=["p", "q"],
    )
    log = ingest("x", frame, tmp_path / "log")
    assert types_of(log) == {"f": "double", "s": "string", "d": "decimal(3,2)", "c": "string"}
    assert all_of(log).to_pylist() == [
        {"f": 1.5, "s": "a", "d": Decimal("1.25"), "c": "x"},
        {"f": None, "s": None, "d": None, "c": None},
    ]


def test_pandas_slices_all_have_the_types_of_the_whole(tmp_path: Path) -> None:
    values: list[object] = [None] * (CHUNK_ROWS + 1)
    values[-1] = datetime.date(2005, 1, 1)
    log = ingest("x", pd.DataFrame({"d": values}), tmp_path / "log")
    assert types_of(log) == {"d": "date"}
    assert log.read(CHUNK_ROWS, log.rows)["d"].to_pylist() == [datetime.date(2005, 1, 1)]


def test_pandas_columns_of_mixed_values_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="column mixed_up"):
        ingest("x", pd.DataFrame({"mixed_up": [1, "a"]}), tmp_path / "log")


def test_something_else_is_refused_by_its_type(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="from a dict"):
        ingest("x", {"a": [1]}, tmp_path / "log")


# Types


@pytest.mark.parametrize(
    ("arrow", "value", "type_", "expected"),
    [
        (pa.int8(), -128, "integer", -128),
        (pa.uint32(), 2**32 - 1, "integer", 2**32 - 1),
        (pa.uint64(), 2**64 - 1, "decimal(20,0)", Decimal(2**64 - 1)),
        (pa.float32(), 0.5, "double", 0.5),
        (pa.float16(), np.float16(0.5), "double", 0.5),
        (pa.decimal128(38, 38), Decimal("0." + "1" * 38), "decimal(38,38)", Decimal("0." + "1" * 38)),
        (pa.decimal256(38, 2), Decimal("1.25"), "decimal(38,2)", Decimal("1.25")),
        (pa.large_string(), "", "string", ""),
        (pa.string_view(), "x", "string", "x"),
        (pa.dictionary(pa.int8(), pa.int32()), 7, "integer", 7),
        (pa.null(), None, "string", None),
        (pa.date64(), datetime.date(1582, 10, 10), "date", datetime.date(1582, 10, 10)),
        (pa.timestamp("s"), datetime.datetime(9999, 12, 31), "timestamp", datetime.datetime(9999, 12, 31)),
        (
            pa.timestamp("ms", "America/New_York"),
            datetime.datetime(2005, 1, 1, tzinfo=datetime.UTC),
            "timestamp with time zone",
            datetime.datetime(2005, 1, 1),
        ),
        (pa.time32("s"), datetime.time(0, 1, 2), "time", 62_000_000),
        (pa.time32("ms"), datetime.time(0, 0, 0, 7_000), "time", 7_000),
        (pa.time64("us"), datetime.time(23, 59, 59, 999_999), "time", 86_399_999_999),
        (pa.time64("ns"), 1_999, "time", 1),
        (pa.duration("s"), -5, "interval", -5_000_000),
        (pa.duration("ms"), 5, "interval", 5_000),
        (pa.duration("us"), datetime.timedelta(days=1), "interval", 86_400_000_000),
        (pa.duration("ns"), -1_999, "interval", -2),
        (pa.struct([("a", pa.time64("us"))]), {"a": datetime.time(0, 0, 1)}, "struct<a:time>", '{"f0":1000000}'),
        (pa.list_(pa.duration("s")), [2], "array<interval>", "[2000000]"),
    ],
    ids=str,
)
def test_arrow_types_become_kinds_of_values(
    arrow: pa.DataType, value: object, type_: str, expected: object, tmp_path: Path
) -> None:
    log = ingest("x", pa.table({"X": pa.array([value, None], arrow)}), tmp_path / "log")
    assert types_of(log) == {"x": type_}
    assert all_of(log)["x"].to_pylist() == [expected, None]


def test_nanoseconds_are_rounded_down_before_and_after_1970(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([1_999, -1, None], pa.timestamp("ns"))})
    values = all_of(ingest("x", table, tmp_path / "log"))["t"]
    assert values.cast(pa.int64()).to_pylist() == [1, -1, None]


@pytest.mark.parametrize(
    "arrow",
    [
        pa.map_(pa.float64(), pa.int64()),
        pa.map_(pa.time64("us"), pa.int64()),
        pa.struct([]),
        pa.struct([("a", pa.struct([]))]),
        pa.month_day_nano_interval(),
        pa.decimal256(39, 0),
    ],
    ids=str,
)
def test_other_types_are_refused_with_column_type_and_what_to_try(arrow: pa.DataType, tmp_path: Path) -> None:
    with pytest.raises(StreamError) as raised:
        ingest("x", pa.table({"ok": [1], "odd": pa.nulls(1, arrow)}), tmp_path / "log")
    assert "column odd" in raised.value.message
    assert str(arrow) in raised.value.message
    assert raised.value.hint
    assert list(tmp_path.iterdir()) == []


def test_durations_beyond_64_bits_of_microseconds_are_quarantined(tmp_path: Path) -> None:
    log = ingest("x", pa.table({"d": pa.array([1, 2**62, None], pa.duration("s"))}), tmp_path / "log")
    assert all_of(log)["d"].to_pylist() == [1_000_000, None]
    assert [entry.line for entry in log.quarantined] == [2]


def test_durations_of_pandas_keep_their_unit(tmp_path: Path) -> None:
    frame = pd.DataFrame({"d": pd.to_timedelta(["1 day", None, "-00:00:00.5"])})
    assert all_of(ingest("x", frame, tmp_path / "log"))["d"].to_pylist() == [86_400_000_000, None, -500_000]


@pytest.mark.parametrize(("arrow", "given"), [(pa.date32(), "time"), (pa.timestamp("us"), "interval")], ids=str)
def test_times_are_not_read_as_what_they_are_not(arrow: pa.DataType, given: str, tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=f"cannot be read as {given}"):
        ingest("x", pa.table({"t": pa.nulls(1, arrow)}), tmp_path / "log", columns={"t": given})


def test_texts_are_times_of_a_day_where_the_column_says_so(tmp_path: Path) -> None:
    texts = ["10:30", "23:59:59.9999999999", " 01:02:03.5 ", None, "", "x", "24:00:00", "00:00:60", "1:00"]
    log = ingest("x", pa.table({"t": texts}), tmp_path / "log", columns={"t": "time"})
    assert all_of(log)["t"].to_pylist() == [37_800_000_000, 86_399_999_999, 3_723_500_000, None, None]
    assert [entry.reason for entry in log.quarantined] == [f"t: {text!r} is no time" for text in texts[5:]]


def test_texts_are_not_read_as_intervals(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="column t of type string cannot be read as interval"):
        ingest("x", pa.table({"t": ["1 day"]}), tmp_path / "log", columns={"t": "interval"})


def test_a_time_of_day_can_be_read_as_string(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([datetime.time(1, 2, 3), None])})
    assert all_of(ingest("x", table, tmp_path / "log", columns={"T": "string"}))["t"].to_pylist() == [
        "01:02:03.000000",
        None,
    ]


def test_given_types_quarantine_what_does_not_fit_them(tmp_path: Path) -> None:
    table = pa.table({"f": [1.0, 2.5, None, float("nan"), 2.0**63], "s": ["1", "2", "x", None, "5"]})
    log = ingest("x", table, tmp_path / "log", columns={"f": "bigint", "s": "decimal(3,1)"})
    assert all_of(log).to_pylist() == [{"f": 1, "s": Decimal("1.0")}]
    assert [(entry.line, entry.reason) for entry in log.quarantined] == [
        (2, "f: '2.5' is no integer"),
        (3, "s: 'x' is no decimal(3,1)"),
        (4, "f: 'nan' is no integer"),
        (5, "f: '9.223372036854776e+18' is no integer"),
    ]


def test_dates_outside_the_years_of_sql_are_quarantined(tmp_path: Path) -> None:
    days = pa.array([2_932_896, 2_932_897, -719_162, -719_163, None], pa.int32()).cast(pa.date32())
    log = ingest("x", pa.table({"d": days}), tmp_path / "log")
    assert all_of(log)["d"].to_pylist() == [datetime.date(9999, 12, 31), datetime.date(1, 1, 1), None]
    assert [entry.line for entry in log.quarantined] == [2, 4]


# Names, time and given columns


def test_names_are_folded_and_alike_ones_refused(tmp_path: Path) -> None:
    assert list(types_of(ingest("x", pa.table({"Tran_Date": [1]}), tmp_path / "a"))) == ["tran_date"]
    with pytest.raises(StreamError, match="Amount and AMOUNT"):
        ingest("x", pa.table({"Amount": [1], "AMOUNT": [2]}), tmp_path / "b")
    with pytest.raises(StreamError, match="called a"):
        ingest("x", pd.DataFrame([[1, 2]], columns=["a", "a"]), tmp_path / "c")
    with pytest.raises(StreamError, match="column 2 has no name"):
        ingest("x", pa.table({"a": [1], " ": [2]}), tmp_path / "d")


@pytest.mark.parametrize(
    ("time", "message", "hint"),
    [
        ("tran_dat", "no column tran_dat", "did you mean tran_date?"),
        ("zzz", "no column zzz", "one of tran_date, n"),
        ("amount", "column amount is double", "one of tran_date, n"),
        ("name", "column name is string", 'say --type name=timestamp, columns={"name": "timestamp"} in Python'),
    ],
)
def test_time_must_name_a_column_that_holds_time(time: str, message: str, hint: str, tmp_path: Path) -> None:
    table = pa.table({"Tran_Date": [datetime.date(2005, 1, 1)], "n": [1], "amount": [1.5], "name": ["x"]})
    with pytest.raises(StreamError, match=message) as raised:
        ingest("x", table, tmp_path / "log", time=time)
    assert raised.value.hint and hint in raised.value.hint
    ingest("x", table, tmp_path / "log", time="TRAN_DATE")


def test_texts_become_event_times_by_their_type(tmp_path: Path) -> None:
    table = pa.table({"at": ["2005-01-01 10:30"]})
    assert ingest("x", table, tmp_path / "log", time="at", columns={"at": "timestamp"}).rows == 1


def test_where_no_column_can_be_event_time_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="column amount is double") as raised:
        ingest("x", pa.table({"amount": [1.5]}), tmp_path / "log", time="amount")
    assert raised.value.hint == "no column holds such values; convert one in the source"


def test_given_columns_must_exist_and_have_a_type(tmp_path: Path) -> None:
    table = pa.table({"amount": [1]})
    with pytest.raises(StreamError) as raised:
        ingest("x", table, tmp_path / "log", columns={"amout": "double"})
    assert raised.value.hint == "did you mean amount?"
    with pytest.raises(StreamError) as raised:
        ingest("x", table, tmp_path / "log", columns={"amount": "dobule"})
    assert raised.value.hint == "did you mean double?"
    for wrong in ("decimal(39,0)", "decimal(2,3)", "integer(3)", "", "decimal("):
        with pytest.raises(StreamError):
            ingest("x", table, tmp_path / "log", columns={"amount": wrong})
    with pytest.raises(StreamError, match="has numbers without a unit"):
        ingest("x", table, tmp_path / "log", columns={"amount": "date"})


# Files that are missing or damaged


def test_a_missing_file_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    pq.write_table(numbered(1), tmp_path / "fed.parquet")
    with pytest.raises(StreamError, match="no file") as raised:
        ingest("x", tmp_path / "fd.parquet", tmp_path / "log")
    assert raised.value.hint == f"did you mean {tmp_path / 'fed.parquet'}?"
    with pytest.raises(StreamError, match="no file"):
        ingest("x", tmp_path / "nowhere" / "fed.parquet", tmp_path / "log")


def test_an_index_without_a_name_is_no_column(tmp_path: Path) -> None:
    chosen = pd.DataFrame({"a": [1, 2, 3]}).iloc[[0, 2]]
    chosen.to_parquet(tmp_path / "chosen.parquet")
    chosen.set_index(pd.Index([5, 6], name="code")).to_parquet(tmp_path / "named.parquet")
    found = [ingest("x", tmp_path / f"{name}.parquet", tmp_path / name) for name in ("chosen", "named")]
    assert [[name for name, _ in stream.columns] for stream in found] == [["a"], ["a", "code"]]


def test_a_declared_column_that_no_value_fits_is_refused_beside_a_row_without_one(tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text("day,n\n01.02.2026,1\n02.02.2026,2\n,3\n")
    with pytest.raises(StreamError, match=r"no value fits day; line 2: day: '01\.02\.2026' is no date"):
        ingest("x", tmp_path / "days.csv", tmp_path / "log", columns={"day": "date yyyy-MM-dd"})


@pytest.mark.parametrize("keep", [0, 3, 4, 100])
def test_a_truncated_parquet_file_is_named(keep: int, tmp_path: Path) -> None:
    path = as_parquet(numbered(1000), tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StreamError, match=r"one\.parquet") as raised:
        ingest("x", path, tmp_path / "log")
    assert raised.value.hint


def test_damaged_pages_are_a_stream_error_and_leave_nothing(tmp_path: Path) -> None:
    path = as_parquet(numbered(1000), tmp_path)
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(data)
    with pytest.raises(StreamError, match=r"one\.parquet is damaged"):
        ingest("x", path, tmp_path / "log")
    assert [other.name for other in tmp_path.iterdir()] == ["one.parquet"]


def test_folders_without_files_or_with_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StreamError, match="no Parquet files"):
        ingest("x", tmp_path / "empty", tmp_path / "log")
    (tmp_path / "parts" / "day=1").mkdir(parents=True)
    with pytest.raises(StreamError, match="no Parquet files"):
        ingest("x", tmp_path / "parts", tmp_path / "log")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "parts" / "a.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "parts" / "b.parquet")
    with pytest.raises(StreamError, match=r"b\.parquet has none of the columns of a\.parquet: b"):
        ingest("x", tmp_path / "parts", tmp_path / "log")


def test_a_folder_of_files_whose_columns_differ(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(
        pa.table({"a": [1, 2**53 + 1], "s": pa.nulls(2), "n": pa.array([1, 2], pa.int8())}), folder / "1.parquet"
    )
    pq.write_table(pa.table({"note": ["x"], "a": [2.5], "s": ["t"]}), folder / "2.parquet")
    pq.write_table(pa.table({"a": pa.array([3], pa.int32()), "n": [2**40]}), folder / "3.parquet")
    log = ingest("x", folder, tmp_path / "log")
    assert log.read(0, 9).to_pylist() == [
        {"a": 1.0, "s": None, "n": 1, "note": None},
        {"a": 2.5, "s": "t", "n": None, "note": "x"},
        {"a": 3.0, "s": None, "n": 2**40, "note": None},
    ]
    assert [(row.line, row.reason) for row in log.quarantined] == [(2, f"a: '{2**53 + 1}' is no double")]
    assert log.notes == ("s: 2 of 3 files have it", "n: 2 of 3 files have it", "note: 1 of 3 files have it")


def test_a_source_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from numbered(10).to_batches()
        raise pa.ArrowInvalid("the line went dead")

    reader = pa.RecordBatchReader.from_batches(numbered(0).schema, batches())
    with pytest.raises(StreamError, match="the line went dead"):
        ingest("x", reader, tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_never_overwritten(tmp_path: Path) -> None:
    log = ingest("x", numbered(3), tmp_path / "log")
    with pytest.raises(StreamError, match="not empty"):
        ingest("x", numbered(4), tmp_path / "log")
    assert open_log(tmp_path / "log") == log
    (tmp_path / "empty").mkdir()
    assert ingest("x", numbered(4), tmp_path / "empty").rows == 4


# The log


@pytest.mark.slow
def test_rows_across_files_and_row_groups_equal_the_original(tmp_path: Path) -> None:
    rows = FILE_ROWS + CHUNK_ROWS + 17
    table = numbered(rows)
    # Chunks that line up with nothing.
    log = ingest("x", table.to_reader(max_chunksize=50_021), tmp_path / "log")
    assert [(file.start, file.rows) for file in log.files] == [(0, FILE_ROWS), (FILE_ROWS, rows - FILE_ROWS)]
    edges = [0, 1, ROW_GROUP_ROWS, CHUNK_ROWS, FILE_ROWS, FILE_ROWS + CHUNK_ROWS, rows]
    places = sorted({edge + step for edge in edges for step in (-1, 0, 1)})
    for start, stop in itertools.combinations_with_replacement(places, 2):
        expected = table.slice(max(0, start), max(0, stop) - max(0, start))
        assert log.read(start, stop).equals(expected), (start, stop)
    assert log.read(5, 2).num_rows == 0


def test_row_groups_may_have_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of earlier versions have larger ones."""
    table = numbered(2 * CHUNK_ROWS + 17)
    for size in (CHUNK_ROWS, ROW_GROUP_ROWS // 4):
        monkeypatch.setattr(log_writer, "ROW_GROUP_ROWS", size)
        log = ingest("x", table, tmp_path / str(size))
        for start in (0, 1, size - 1, size, CHUNK_ROWS + size - 1, 2 * CHUNK_ROWS, table.num_rows - 1):
            assert log.read(start, start + 5).equals(table.slice(start, 5)), (size, start)


def test_a_file_that_lost_its_rows_is_damaged(tmp_path: Path) -> None:
    log = ingest("x", numbered(5), tmp_path / "log")
    pq.ParquetWriter(log.files[0].path, numbered(5).schema).close()
    with pytest.raises(StreamError, match="stream x: its stored rows cannot be read"):
        log.read(0, 5)


def test_reading_touches_only_the_files_needed(tmp_path: Path) -> None:
    log = ingest("x", numbered(FILE_ROWS + 10), tmp_path / "log")
    log.files[0].path.unlink()
    assert log.read(FILE_ROWS, FILE_ROWS + 10)["n"].to_pylist() == list(range(FILE_ROWS, FILE_ROWS + 10))
    with pytest.raises(StreamError, match="stream x: its stored rows cannot be read"):
        log.read(FILE_ROWS - 1, FILE_ROWS)


@pytest.mark.parametrize("table", [boundary_table(), boundary_table().slice(0, 0), numbered(0)], ids=str)
def test_a_reopened_log_is_the_same(table: pa.Table, tmp_path: Path) -> None:
    log = ingest("Fed", table, tmp_path / "log")
    again = open_log(tmp_path / "log")
    assert again == log
    assert again.name == "Fed"
    assert again.read(0, 100).equals(table)
    assert again.read(0, 100).schema == again.schema


def test_a_folder_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="holds no stored stream"):
        open_log(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(StreamError, match="another version"):
        open_log(tmp_path)


def test_a_stream_larger_than_memory_is_never_held_whole(tmp_path: Path) -> None:
    """Every batch is made when asked for; what Arrow holds at any time stays far below the 80 MB that pass through."""
    rows, count = 100_000, 50
    held = []
    before = pa.total_allocated_bytes()

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(count):
            held.append(pa.total_allocated_bytes() - before)
            start = number * rows
            yield pa.record_batch({"n": np.arange(start, start + rows), "m": np.arange(start, start + rows)})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64()), ("m", pa.int64())]), batches())
    log = ingest("x", reader, tmp_path / "log")
    assert log.rows == rows * count
    assert max(held) < 20_000_000
    assert log.read(log.rows - 1, log.rows).to_pylist() == [{"n": log.rows - 1, "m": log.rows - 1}]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id\n" + "1\n" * 100_000)

    def interrupt(arriving: Arriving) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest("x", path, tmp_path / "log", progress=interrupt)
    assert [one.name for one in tmp_path.iterdir()] == ["x.csv"]
    assert ingest("x", path, tmp_path / "log").rows == 100_000


@pytest.mark.parametrize(
    ("text", "type_", "read_as"),
    [
        ("05.01.2026 08:03", "timestamp", "timestamp d.M.yyyy H:mm"),
        ("31/01/2026", "date", "date d/M/yyyy"),
        ("2026/01/31", "date", "date yyyy/M/d"),
        ("2026-01-31T08:03:00Z", "timestamp", "timestamp"),
    ],
)
@pytest.mark.parametrize("source", ["csv", "jsonl", "frame", "records", "parquet"])
def test_texts_of_event_times_are_read_as_times(
    tmp_path: Path, source: str, text: str, type_: str, read_as: str
) -> None:
    file, records = tmp_path / f"a.{source}", [{"The day": text, "n": 1}, {"The day": text, "n": 2}]
    match source:
        case "csv":
            file.write_text("The day,n\n" + "".join(f"{text},{row['n']}\n" for row in records))
        case "jsonl":
            file.write_text("".join(json.dumps(row) + "\n" for row in records))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(records), file)
    given = {"frame": pd.DataFrame(records), "records": records}.get(source, file)
    log = ingest("a", given, tmp_path / "log", time="the DAY")
    assert [str(kind) for _, kind in log.columns] == [type_, "integer"] and log.rows == 2
    if source not in ("csv", "jsonl"):  # in which any column is read so
        assert f"The day: its texts are read as {read_as}, since it is the event time" in log.notes
    with pytest.raises(StreamError, match="event time is a date"):
        ingest("a", given, tmp_path / "declared", time="The day", columns={"The day": "string"})


@pytest.mark.parametrize("texts", [["3/4/2026"], ["monday"], ["2026", "x"], [None], []])
def test_texts_that_could_be_several_times_or_none_are_asked_about(tmp_path: Path, texts: list[str | None]) -> None:
    with pytest.raises(StreamError, match="event time is a date") as caught:
        ingest("a", pa.table({"Day": pa.array(texts, pa.string())}), tmp_path / "log", time="Day")
    assert "--type Day=timestamp" in (caught.value.hint or "")


def test_a_file_of_days_in_two_ways_says_how_each_is_declared(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Day,n\n3/4/2026,1\n")
    with pytest.raises(StreamError, match="event time is a date") as caught:
        ingest("a", tmp_path / "a.csv", tmp_path / "log", time="Day")
    assert '--type "Day=date d/M/yyyy" or --type "Day=date M/d/yyyy"' in (caught.value.hint or "")


def test_texts_of_one_file_are_not_the_numbers_of_another(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"zip": [7, 8], "n": [1, 2]}), tmp_path / "in" / "1.parquet")
    pq.write_table(pa.table({"zip": ["07", "9"], "n": [3, 4]}), tmp_path / "in" / "2.parquet")
    log = ingest("a", tmp_path / "in", tmp_path / "log")
    assert log.read(0, log.rows).column("zip").to_pylist() == [7, 8]
    assert [(row.line, row.reason.partition(";")[0]) for row in log.quarantined] == [
        (3, "zip: '07' is no integer"), (4, "zip: '9' is no integer"),
    ]  # fmt: skip
    as_text = ingest("a", tmp_path / "in", tmp_path / "text", columns={"zip": "string"})
    assert as_text.read(0, 4).column("zip").to_pylist() == ["7", "8", "07", "9"]


@pytest.mark.parametrize(
    ("source", "message", "tried"),
    [
        ({"a": [1]}, "cannot be read from a dict", "give [record]"),
        (pa.table({}), "the source has no columns", "give one that has some"),
        ("book.xlsx", "is of a kind that is not read", "pandas.read_excel('book.xlsx')"),
    ],
)
def test_what_is_no_source_says_what_to_give(tmp_path: Path, source: object, message: str, tried: str) -> None:
    if isinstance(source, str):
        source = tmp_path / source
        source.write_bytes(b"PK and more")
    with pytest.raises(StreamError, match=message) as caught:
        ingest("a", source, tmp_path / "log")
    assert tried in (caught.value.hint or "")


def test_a_time_inside_a_struct_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"obs": {"time": "2026-02-01T00:00"}}\n')
    with pytest.raises(StreamError, match=r"no column obs\.time") as caught:
        ingest("a", tmp_path / "a.jsonl", tmp_path / "log", time="obs.time")
    assert "json_normalize" in (caught.value.hint or "")
