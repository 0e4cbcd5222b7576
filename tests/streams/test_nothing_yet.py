"""Live sources that have nothing yet when they are added: declared columns say what will come."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from servers import Broker

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live, stored_schema
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.ingest import declared_types, ingest
from workbench.streams.live import file_notes
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource

COLUMNS = {"Id": "integer", "fee": "decimal(10,2)", "day": "date", "note": "string"}
ROWS = [(1, Decimal("1234.50"), date(2026, 1, 31), "007"), (2, None, None, None)]
JSON = b'{"id":1,"fee":1234.50,"day":"2026-01-31","note":"007"}\n{"id":2}\n'
CSV = b"ID,fee,day,note\n1,1234.50,2026-01-31,007\n2,,,\n"


def parquet() -> bytes:
    data = pa.BufferOutputStream()
    pq.write_table(pa.table([*map(list, zip(*ROWS, strict=True))], ["id", "fee", "day", "note"]), data)
    return data.getvalue().to_pybytes()


FILES = {"csv": CSV, "csv.gz": gzip.compress(CSV), "jsonl": JSON, "jsonl.gz": gzip.compress(JSON), "parquet": parquet()}


def added(source: object, folder: Path, options: CsvOptions | None = None) -> tuple[StreamLog, Any]:
    reader = open_live(source, options=options, columns=COLUMNS)
    assert reader is not None
    reader.declare(declared_types(COLUMNS))
    copied = OpenedSource(reader.schema, iter(()), reader.inferred)
    log = ingest("x", copied, folder / "log", columns=COLUMNS)
    assert [str(type_) for _, type_ in log.columns] == [*COLUMNS.values()]
    return begin_live(log, reader, source, 5, durable=False), reader


def rows_of(log: StreamLog) -> list[tuple[object, ...]]:
    assert not log.quarantined, log.quarantined
    return [tuple(row.values()) for row in log.read(0, log.rows).to_pylist()]


@pytest.mark.parametrize("ending", FILES)
def test_a_folder(ending: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pattern = f"{tmp_path}/in/*.{ending}"
    log, reader = added(pattern, tmp_path)
    assert not take_in(log, reader, 9) and not log.rows
    (tmp_path / f"in/1.{ending}").write_bytes(FILES[ending])
    take_in(log, reader, 9)
    assert rows_of(log) == ROWS
    log = open_log(log.folder)
    (tmp_path / f"in/2.{ending}").write_bytes(FILES[ending])
    take_in(log, open_live(pattern, stored_schema(log.tail)), 9)  # type: ignore[arg-type]
    assert rows_of(log) == [*ROWS, *ROWS]


@pytest.mark.parametrize("ending", FILES)
def test_a_folder_whose_first_file_is_being_written(ending: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / f"in/1.{ending}").write_bytes(FILES[ending][:12])
    log, _ = added(f"{tmp_path}/in/*.{ending}", tmp_path)
    (tmp_path / f"in/1.{ending}").write_bytes(FILES[ending])
    take_in(log, open_live(f"{tmp_path}/in/*.{ending}", stored_schema(log.tail)), 9)  # type: ignore[arg-type]
    assert [tuple(row.values()) for row in log.read(0, 9).to_pylist()] == ROWS


def test_a_folder_of_csv_in_another_form(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    log, reader = added(f"{tmp_path}/in/*.csv", tmp_path, CsvOptions(decimal=",", sep=";"))
    (tmp_path / "in/1.csv").write_text("ID;fee;day;note\n1;1.234,50;2026-01-31;007\n2;;;\n")
    take_in(log, reader, 9)
    assert rows_of(log) == ROWS


def test_a_folder_of_whatever_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(StreamError, match=r"no file matches .* does not end as one of files"):
        added(f"{tmp_path}/in/*", tmp_path)
    with pytest.raises(StreamError, match=r"no file matches .*in/x(.|\n)*say all its columns"):
        open_live(f"{tmp_path}/in/x*.csv")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=r"no file matches .*gone/\*.csv: its folder cannot be read: No such file"):
        added(f"{tmp_path}/gone/*.csv", tmp_path)
    (tmp_path / "in").mkdir()
    with pytest.raises(StreamError, match=r"the pattern of files that will come, as .*in/\*.csv"):
        ingest("x", tmp_path / "in", tmp_path / "log")


def test_a_query_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (Id INTEGER, fee, day, note)")
        query = PolledQuery(lambda: sqlite3.connect(path), "SELECT * FROM t", by="Id")
        log, reader = added(query, tmp_path)
        values = [(1, "1234.50", "2026-01-31", "007"), (2, None, None, None)]
        with database:
            database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", values)
        take_in(log, reader, 9)
    assert rows_of(log) == ROWS


def test_a_topic_without_messages(tmp_path: Path) -> None:
    broker = Broker()
    broker.put("nothing-yet", b"no record")
    log, reader = added(broker.url("nothing-yet"), tmp_path)
    broker.put("nothing-yet", {"id": 1, "fee": 1234.5, "day": "2026-01-31", "note": "007"}, {"id": 2})
    take_in(log, reader, 9)
    assert [tuple(row.values()) for row in log.read(0, 9).to_pylist()] == ROWS and log.misfits == 1


def test_half_a_line_of_csv_waits_for_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a number is a number, too."""
    (tmp_path / "in").mkdir()
    file = tmp_path / "in/1.csv"
    log, reader = added(f"{tmp_path}/in/*.csv", tmp_path)
    some, written = CSV + b"3,5,2026-01-01,x\n" * 3, 0
    for end in [5, *range(18, len(some), 7)]:
        with file.open("ab") as opened:
            opened.write(some[written:end])
        written = end
        whole = not some[:end].rpartition(b"\n")[2]
        if whole:
            take_in(log, reader, 9)
        else:
            with pytest.raises(StreamError, match="its last line has no end"):
                take_in(log, reader, 9)
        assert log.rows == max(0, some[:end].count(b"\n") - 1)
    with file.open("ab") as opened:
        opened.write(some[written:].rstrip(b"\n"))
    with pytest.raises(StreamError, match="its last line has no end"):
        take_in(log, reader, 9)
    assert log.rows == 4
    monkeypatch.setattr(file_notes, "LINE_WAITS", 0.0)  # a file whose last line never gets an end
    take_in(log, reader, 9)
    assert rows_of(log) == [*ROWS, *[(3, Decimal(5), date(2026, 1, 1), "x")] * 3]


def test_a_first_line_without_an_end_names_no_columns(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(CSV[:12])
    with pytest.raises(StreamError, match="its first line has no end yet"):
        open_live(f"{tmp_path}/*.csv")
