"""What is said of a source that is added: also where none of its columns was guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.notebook.commands import add, define
from workbench.notebook.context import NotebookContext
from workbench.notebook.session import Session


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Orders {}",
            "placed: texts, read as times, in UTC; --type placed=timestamptz keeps the instants, "
            "--type placed=string the texts",
        ),
        ("Orders {} --time placed", "id integer, placed timestamp, ms integer"),
        ('Orders {} --type "ms=timestamp ms"', "id      integer"),
    ],
)
def test_what_is_noted_of_json_lines_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    rows = [{"id": place, "placed": f"2026-03-0{place}T10:00:00Z", "ms": 1_767_592_816_000} for place in (1, 2, 3)]
    (tmp_path / "orders.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Session(InProcess()) as session:
        add.add_stream.run(
            NotebookContext({}, lambda: session), add.add_stream.parse(line.format(tmp_path / "orders.jsonl"))
        )
    assert said in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "line",
    ["Orders {}/a.jsonl", "Orders {}/a.jsonl --history 1 --batch 1", "Orders {}/*.jsonl", "Orders rows"],
    ids=["a file", "a file in batches", "a folder", "rows of a variable"],
)
def test_what_is_dropped_says_how_many_rows_it_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    rows = [{"id": place} for place in (1, 2, 3)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Session(InProcess()) as session:
        context = NotebookContext({"rows": rows}, lambda: session)
        add.add_stream.run(context, add.add_stream.parse(line.format(tmp_path)))
        session.run(3)
        define.drop.run(context, define.drop.parse("Orders"))
        assert not session.streams
    assert "stream Orders dropped, with its 3 rows" in capsys.readouterr().out.splitlines()


def test_a_table_says_how_many_rows_later_ones_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    shops = [{"Shop": "a", "n": 1}, {"Shop": "b", "n": 2}, {"Shop": "a", "n": 3}, {"Shop": "a", "n": 4}]
    with Session(InProcess()) as session:
        context = NotebookContext({"shops": shops}, lambda: session)
        add.add_table.run(context, add.add_table.parse("Shops shops --key shop"))
        add.add_table.run(context, add.add_table.parse("Once shops --key shop,n"))
    said = capsys.readouterr().out.splitlines()
    assert "table Shops: 2 rows; 2 rows were replaced by later ones of the same shop, its key" in said
    assert "table Once: 4 rows" in said
