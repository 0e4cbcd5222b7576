"""A column that has only NULL at first: what comes later is kept as it stands in the source, and no row is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.streams.files import json_lines
from workbench.streams.live import iterator

LATER: dict[str, Any] = {
    "whole": 5,
    "digits": 12345678901234567890123,
    "fraction": 0.1,
    "truth": True,
    "text": "a",
    "list": [1, None],
    "object": {"b": 1.5},
    "day": "2026-01-01",
}
FIRST, ROWS = 4, 12


def records(value: Any) -> Iterator[dict[str, Any]]:
    for at in range(ROWS):
        yield {"id": at, "a": None if at < FIRST else value, "s": {"n": None if at < FIRST else value, "k": at}}


def lines(value: Any, first: int, after: int) -> str:
    return "".join(json.dumps(record) + "\n" for record in [*records(value)][first:after])


@pytest.mark.parametrize("way", ["iterator", "file", "folder"])
@pytest.mark.parametrize("kind", LATER)
def test_values_that_come_later_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: str) -> None:
    value = LATER[kind]
    expected = [value if isinstance(value, str) else json.dumps(value)] * (ROWS - FIRST)
    monkeypatch.setattr(json_lines, "SAMPLE_LINES", FIRST)
    monkeypatch.setattr(iterator, "LOOKED_AT", FIRST)
    source: Any = records(value)
    if way != "iterator":
        source = tmp_path / "in" / ("*.jsonl" if way == "folder" else "a.jsonl")
        source.parent.mkdir()
        (source.parent / "a.jsonl").write_text(lines(value, 0, FIRST if way == "folder" else ROWS))
    with Session(InProcess(), tmp_path / "session") as session:
        stream = session.add_stream("t", source if way == "iterator" else str(source), batch=5)
        assert [note for note in stream.notes if note.startswith("a: its first values are NULL or of several types")]
    if way == "folder":
        (source.parent / "b.jsonl").write_text(lines(value, FIRST, ROWS))
    with Session.open(tmp_path / "session", InProcess()) as session:
        if way == "iterator":
            session.attach("t", records(value))
        query = session.register("SELECT id, a, s FROM t WHERE a IS NOT NULL ORDER BY id", name="q")
        session.run(4)
        stream, rows = session.streams["t"], query.result()
        assert stream.rows == ROWS and not stream.quarantined_rows
        assert rows["a"].tolist() == [row["n"] for row in rows["s"]] == expected


FIRST_TABLES: dict[str, tuple[list[Any], list[Any]]] = {
    "NULL, then a fraction": ([None], [1.5]),
    "whole, then a fraction": ([1, None], [None, 1.5]),
    "digits, then a fraction": ([D("1.5")], [D("22.75")]),
    "NULL, then a text": ([None], ["a"]),
}


@pytest.mark.parametrize("form", ["records", "tables", "frames", "parquet"])
@pytest.mark.parametrize("kind", FIRST_TABLES)
def test_values_that_come_at_once_say_the_type(tmp_path: Path, form: str, kind: str) -> None:
    parts = FIRST_TABLES[kind]
    tables = [pa.table({"id": range(len(part)), "a": part}) for part in parts]
    made: dict[str, Any] = {
        "records": lambda: (row for table in tables for row in table.to_pylist()),
        "tables": lambda: iter(tables),
        "frames": lambda: (table.to_pandas() for table in tables),
        "parquet": lambda: str(tmp_path / "*.parquet"),
    }
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    expected = [value for part in parts for value in part]
    untyped = form == "parquet" and parts[0] == [None]  # other files come when there are rows already
    with Session(InProcess()) as session:
        session.add_stream("t", made[form]())
        session.run(2)
        values = session.streams["t"].log.read(0, 9)["a"].to_pylist()
    if form == "parquet" and parts[0] != [None]:  # the first file says the type
        assert values == [value for value in expected if value != expected[-1]]
    else:
        assert values == ([*expected[:-1], expected[-1] if expected[-1] == "a" else "1.5"] if untyped else expected)


def test_a_key_that_only_later_records_have_is_kept(tmp_path: Path) -> None:
    with Session(InProcess()) as session:
        stream = session.add_stream("t", iter([{"id": 1}, {"id": 2, "fee": 1.5}]))
        session.run(1)
        assert [name for name, _ in stream.columns] == ["id"]
        assert "new: fee (double), since row 2, 1 row" in session.streams["t"].notes
        assert session.add_column("t", "fee").kept == 1
