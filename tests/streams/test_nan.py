"""NaN in a column of numbers is said, of each way in, since which row and in how many; NULL and texts are no NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streams.odd_sources import Generated, Reading

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.streams.corrections.declared import Changes, Corrections
from workbench.streams.drift import NAN, NAN_AS_NULL, Drift
from workbench.streams.ingest import ingest

ROWS = {"id": [1, 2, 3, 4], "Fee": [1.0, math.nan, None, math.nan], "s": ["NaN", None, "", "nan"], "ok": [0.5] * 4}


def test_nan_of_a_stream_that_is_copied(tmp_path: Path) -> None:
    log = ingest("t", pa.table(ROWS), tmp_path / "log")
    assert log.drifts == (Drift("fee", NAN, 1, 2),)
    assert log.read(0, 4, ["fee"])["fee"].null_count == 1
    assert ingest("u", pa.table(ROWS).slice(0, 1), tmp_path / "other").drifts == ()


def test_nan_that_is_taken_back_is_said_once(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 1], "fee": [math.nan, 2.0]})
    log = ingest("t", rows, tmp_path / "log", corrections=Corrections(Changes.UPSERT, ("id",)))
    assert [(drift.name, drift.rows) for drift in log.drifts] == [("fee", 1)]


class Numbers(Generated):
    def good(self, number: int) -> None:
        self.put({"id": number, "fee": 1.5})


class Tables(Numbers):
    def put(self, record: object) -> None:
        super().put(pa.Table.from_pylist([record]))


@pytest.mark.parametrize("kind", [Numbers, Tables])
def test_nan_of_a_stream_that_is_live(tmp_path: Path, kind: type[Generated]) -> None:
    source = kind()
    reading = Reading(tmp_path, source)
    reading.until(lambda: 0 in reading.ids)
    assert reading.log.drifts == ()
    for number in (1, 2):
        source.put({"id": number, "fee": math.nan})
        reading.until(lambda number=number: number in reading.ids)
        reading.reopen()
    assert [(drift.name, drift.type, drift.first, drift.rows) for drift in reading.log.drifts] == [("fee", NAN, 1, 2)]
    reading.close()


def of_csv(folder: Path) -> object:
    (folder / "t.csv").write_text("id,fee,n,s\n1,1.5,1,NaN\n2,NaN,NaN,x\n3,,3,\n4, nan ,4,nan\n")
    return str(folder / "t.csv")


def of_json_lines(folder: Path) -> object:
    rows = [
        '"fee": 1.5, "n": 1, "s": "NaN"',
        '"fee": NaN, "n": NaN, "s": "x"',
        '"n": 3',
        '"fee": NaN, "n": 4, "s": "nan"',
    ]
    (folder / "t.jsonl").write_text("".join(f'{{"id": {at}, {row}}}\n' for at, row in enumerate(rows, 1)))
    return str(folder / "t.jsonl")


def of_arrow(folder: Path) -> object:
    types = [("id", pa.int64()), ("fee", pa.float32()), ("n", pa.float64()), ("s", pa.string())]
    return pa.Table.from_pylist(of_dicts(folder), pa.schema(types))


def of_parquet(folder: Path) -> object:
    pq.write_table(of_arrow(folder), folder / "t.parquet")
    return str(folder / "t.parquet")


def of_dicts(folder: Path) -> object:
    return [
        {"id": 1, "fee": 1.5, "n": 1, "s": "NaN"},
        {"id": 2, "fee": math.nan, "n": math.nan, "s": "x"},
        {"id": 3, "fee": None, "n": 3, "s": None},
        {"id": 4, "fee": math.nan, "n": 4, "s": "nan"},
    ]


def of_iterator(folder: Path) -> object:
    return iter(of_dicts(folder))


def of_growing_folder(folder: Path) -> object:
    of_csv(folder)
    return str(folder / "*.csv")


SOURCES = (of_csv, of_json_lines, of_arrow, of_parquet, of_dicts, of_iterator, of_growing_folder)


@pytest.mark.parametrize("source", SOURCES)
def test_nan_is_read_as_null_where_that_is_declared(tmp_path: Path, source: Callable[[Path], object]) -> None:
    (tmp_path / "in").mkdir()
    types = {"id": "integer", "fee": "double", "n": "integer", "s": "string"}
    with Session(InProcess(), tmp_path / "session") as session:
        session.add_stream("t", source(tmp_path / "in"), columns=types, nan="null", history=0)
        query = session.register("SELECT COUNT(*), COUNT(fee), SUM(fee), COUNT(n), COUNT(s) FROM t", name="q")
        session.run(1)
        assert query.result().to_numpy().tolist() == [[4, 1, 1.5, 3, 3]]
        stream = session.streams["t"]
        assert stream.quarantined_rows == 0
        assert {(d.name, d.type, d.rows) for d in stream.drifts} >= {("fee", NAN_AS_NULL, 2), ("n", NAN_AS_NULL, 1)}
        assert "NaN: fee, read as NULL, since row 2, 2 rows" in stream.notes


UPSERTS = [{"id": 1, "fee": math.nan}, {"id": 2, "fee": 2.0}, {"id": 1, "fee": 5.0}, {"id": 2, "fee": math.nan}]
WEIGHTED = [{"fee": math.nan, "w": 2}, {"fee": 1.0, "w": 1}, {"fee": None, "w": -1}, {"fee": math.nan, "w": -1}]


def test_nan_that_is_null_in_rows_that_are_corrected(tmp_path: Path) -> None:
    with Session(InProcess(), tmp_path / "session") as session:
        session.add_stream("u", UPSERTS, key=["id"], changes="upsert", columns={"fee": "double"}, nan="NULL", batch=1)
        session.add_stream("w", WEIGHTED, weight="w", columns={"fee": "double"}, nan="null", batch=1)
        session.add_table("k", UPSERTS[:2], key=["id"], columns={"fee": "double"}, nan="null")
        counted = {
            name: session.register(f"SELECT COUNT(*), COUNT(fee), SUM(fee) FROM {name}", name=f"of_{name}")
            for name in ("u", "w", "k")
        }
        session.run(9)
        session.update_table("k", [{"id": 2, "fee": math.nan}])
        answers = {name: query.result().astype(object).to_numpy().tolist() for name, query in counted.items()}
        assert answers["u"] == [[2, 1, 5.0]]
        assert answers["w"] == [[1, 1, 1.0]], "NULL takes back what was NaN"
        assert answers["k"][0][:2] == [2, 0]
        assert session.streams["w"].quarantined_rows == 0


def test_columns_that_come_later_have_null_for_nan_too(tmp_path: Path) -> None:
    with Session(InProcess(), tmp_path / "session") as session:
        session.add_stream("t", [{"id": 1}, {"id": 2, "fee": "NaN"}, {"id": 3, "fee": "2"}], columns={"id": "integer"},
                           nan="null", batch=1)  # fmt: skip
        if "fee" not in dict(session.streams["t"].columns):
            session.add_column("t", "fee", "double")
        else:
            session.widen_column("t", "fee", "double")
        query = session.register("SELECT COUNT(fee), SUM(fee) FROM t", name="q")
        session.run(3)
        assert query.result().to_numpy().tolist() == [[1, 2.0]]
    with Session.open(tmp_path / "session", InProcess()) as again:
        assert again.queries["q"].result().to_numpy().tolist() == [[1, 2.0]]


def test_another_word_for_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="nan is keep or null, not zero"):
        ingest("t", pa.table(ROWS), tmp_path / "log", nan="zero")
