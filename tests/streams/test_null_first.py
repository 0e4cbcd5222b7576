"""A column that has only NULL at first: what comes later is kept as it stands in the source, and no row is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.streams.files import json_lines

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
    source: Any = records(value)
    if way != "iterator":
        source = tmp_path / "in" / ("*.jsonl" if way == "folder" else "a.jsonl")
        source.parent.mkdir()
        (source.parent / "a.jsonl").write_text(lines(value, 0, FIRST if way == "folder" else ROWS))
    with Session(InProcess(), tmp_path / "session") as session:
        stream = session.add_stream("t", source if way == "iterator" else str(source), batch=5)
        assert [note for note in stream.notes if note.startswith("a: nothing says its type so far")]
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
