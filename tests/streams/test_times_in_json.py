"""JSON has no dates: texts that can be read as dates or times in one way are, and a note says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.streams.ingest import ingest

TIMES = "2026-03-01T10:30:00.5Z", "2026-03-01T11:30:00Z"


@pytest.mark.parametrize(
    ("values", "said", "expected"),
    [
        (TIMES, "at: texts, read as times, in UTC; --type at=string keeps them", "2026-03-01 10:30:00.500000"),
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


def test_times_within_a_struct_stay_texts(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"at": {"x": value}}) for value in TIMES))
    assert not ingest("t", source, tmp_path / "log").notes


def test_what_is_declared_is_not_said(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"At": value}) for value in TIMES))
    log = ingest("t", source, tmp_path / "log", columns={"at": "timestamp"})
    assert not log.notes and str(dict(log.columns)["at"]) == "timestamp"
