"""JSON has no dates: a note says which columns of texts are dates or times, and how they are declared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.streams.ingest import ingest

TIMES = "2026-03-01T10:30:00.5Z", "2026-03-01T11:30:00Z"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (TIMES, ["at: texts, of times: --type at=timestamp reads them"]),
        (("2026-03-01", None), ["at: texts, of dates: --type at=date reads them"]),
        (("13.01.2026", "02.03.2026"), ['at: texts, of dates: --type "at=date d.M.yyyy" reads them']),
        (("Ulm", "2026-03-01"), []),
        ((20260301, 1), []),
        (({"x": TIMES[0]}, None), []),
        (("02139", "10001"), []),
    ],
)
def test_columns_of_times_are_said(tmp_path: Path, values: tuple[object, ...], said: list[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"id": n, "at": value}) for n, value in enumerate(values)))
    assert [*ingest("t", source, tmp_path / "log").notes] == said


def test_what_is_declared_is_not_said(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"At": value}) for value in TIMES))
    log = ingest("t", source, tmp_path / "log", columns={"at": "timestamp"})
    assert not log.notes and str(dict(log.columns)["at"]) == "timestamp"
