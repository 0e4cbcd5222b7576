"""JSON has no dates: texts that can be read as dates or times in one way are, and a note says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.arrow.stored_values import as_shown
from workbench.streams.ingest import ingest

TIMES = "2026-03-01T10:30:00.5Z", "2026-03-01T11:30:00Z"


@pytest.mark.parametrize(
    ("values", "said", "expected"),
    [
        (
            TIMES,
            "at: texts, read as times, in UTC; --type at=timestamptz keeps the instants, --type at=string the texts",
            "2026-03-01 10:30:00.500000",
        ),
        (("2026-03-01", None), "at: texts, read as dates; --type at=string keeps them", "2026-03-01"),
        (
            ("13.01.2026", "02.03.2026"),
            "at: texts, read as dates as d.M.yyyy; --type at=string keeps them",
            "2026-01-13",
        ),
        (
            ("3/4/2026", "5/6/2026"),
            'at: texts, of dates: --type "at=date d/M/yyyy" or --type "at=date M/d/yyyy" says which they are',
            "3/4/2026",
        ),
        (("Ulm", "2026-03-01"), "", "Ulm"),
        ((20260301, 1), "", "20260301"),
        (("02139", "10001"), "", "02139"),
    ],
)
def test_columns_of_times_are_read_and_said(
    tmp_path: Path, values: tuple[object, ...], said: str, expected: str
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"id": n, "at": value}) for n, value in enumerate(values)))
    log = ingest("t", source, tmp_path / "log")
    assert [*log.notes] == [said] * bool(said)
    assert str(log.read(0, 1).column("at")[0].as_py()) == expected


WRITTEN = [
    (TIMES, "read as times, in UTC", "2026-03-01 10:30:00.500000"),
    (("2026-03-01", None), "read as dates", "2026-03-01"),
    (("13.01.2026", "02.03.2026"), "read as dates as d.M.yyyy", "2026-01-13"),
    (("5 Jan 2026", "31 Dec 2025"), "read as dates as d MMM yyyy", "2026-01-05"),
    (("05.01.2026 6:00", "13.01.2026 17:30"), "read as times as d.M.yyyy H:mm", "2026-01-05 06:00:00"),
    (
        ("3/4/2026", "5/6/2026"),
        "of dates: TO_DATE(…, 'd/M/yyyy') or TO_DATE(…, 'M/d/yyyy') in a query reads them",
        "3/4/2026",
    ),
    (
        ("1/2/2026 9:05", None),
        "of dates: TO_TIMESTAMP(…, 'd/M/yyyy H:mm') or TO_TIMESTAMP(…, 'M/d/yyyy H:mm') in a query reads them",
        "1/2/2026 9:05",
    ),
    (("31.12.25", "1.1.26"), "of dates: TO_DATE(…, 'd.M.yy') in a query reads them", "31.12.25"),
    (("2026-03-01", "soon"), "", "2026-03-01"),
    (("Ulm", "2026-03-01"), "", "Ulm"),
]
NESTED: list[tuple[str, Callable[[object], object], Callable[[Any], Any]]] = [
    ("at.x", lambda value: {"x": value}, lambda at: at["x"]),
    ("at.x.y", lambda value: {"n": 1, "x": {"y": value}}, lambda at: at["x"]["y"]),
    ("at", lambda value: [value], lambda at: at[0]),
    ("at.x", lambda value: [{"x": value, "ok": True}] * 2, lambda at: at[1]["x"]),
]


@pytest.mark.parametrize(("values", "why", "expected"), WRITTEN)
@pytest.mark.parametrize(("path", "within", "inner"), NESTED)
def test_times_within_structs_and_arrays_are_read_and_said(
    tmp_path: Path,
    path: str,
    within: Callable[[object], object],
    inner: Callable[[Any], Any],
    values: tuple[object, ...],
    why: str,
    expected: str,
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"id": n, "at": within(value)}) for n, value in enumerate(values)))
    log = ingest("t", source, tmp_path / "log")
    assert [note.partition(";")[0] for note in log.notes] == [f"{path}: texts, {why}"] * bool(why)
    shown = as_shown(log.read(0, 1).column("at"), dict(log.columns)["at"])
    assert str(inner(shown[0].as_py())) == expected


def test_a_text_within_a_struct_that_is_no_date_is_said(tmp_path: Path) -> None:
    records = [{"id": n, "at": {"x": "31.12.2025"}} for n in range(10_000)]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, [*records, {"id": -1, "at": {"x": "bald"}}])))
    log = ingest("t", source, tmp_path / "log")
    assert log.rows == 10_000 and [one.reason for one in log.quarantined] == ["at.x: 'bald' is no date"]


def test_a_declared_struct_keeps_its_texts(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"at": {"x": "31.12.2025"}}))
    log = ingest("t", source, tmp_path / "log", columns={"at": "struct<x:string>"})
    shown = as_shown(log.read(0, 1).column("at"), dict(log.columns)["at"])
    assert not log.notes and shown.to_pylist() == [{"x": "31.12.2025"}]


def test_what_is_declared_is_not_said(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"At": value}) for value in TIMES))
    log = ingest("t", source, tmp_path / "log", columns={"at": "timestamp"})
    assert not log.notes and str(dict(log.columns)["at"]) == "timestamp"
