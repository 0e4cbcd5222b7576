"""Why rows are in an answer and others are not, over a real session: what is said where nothing is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import WorkbenchError
from workbench.notebook.commands import origins
from workbench.notebook.context import NotebookContext
from workbench.notebook.session import Session

ROWS = pd.DataFrame({
    "parcel": ["P1", "P1", "P2", "P2", "P3"], "depot": ["Ulm", "Graz", "Ulm", "Graz", "Ulm"],
    "kg": [1.5, 2.5, 3.5, 4.5, 5.5], "at": [1, 5, 2, 3, 4], "ok": [True, False, True, True, False],
})  # fmt: skip


@pytest.fixture
def context() -> Iterator[NotebookContext]:
    with Session(InProcess()) as session:
        session.add_stream("Scans", ROWS, history=5, batch=1, time="at")
        session.register("SELECT depot, COUNT(*) AS n FROM Scans WHERE kg < 5 GROUP BY depot", name="per_depot")
        session.register("SELECT * FROM Scans", name="all_scans")
        session.register(
            "SELECT a.parcel, b.at - a.at AS took FROM Scans a JOIN Scans b ON a.parcel = b.parcel "
            "WHERE a.depot = 'Ulm' AND b.depot = 'Graz' AND b.at > a.at + 3",
            name="slow",
        )
        yield NotebookContext({}, lambda: session)


def said(context: NotebookContext, capsys: pytest.CaptureFixture[str], command: str, line: str) -> str:
    one = {"why": origins.why, "why-not": origins.why_not}[command]
    one.run(context, one.parse(line))
    return capsys.readouterr().out


def test_a_row_that_is_not_there_is_not_explained_by_nothing(context, capsys):
    assert said(context, capsys, "why", "per_depot WHERE depot = 'P99'") == (
        "per_depot has no such row; %argus why-not per_depot depot = 'P99'  says what keeps it out\n"
    )
    assert said(context, capsys, "why", "slow took > 100").startswith("slow has no such row; %argus why-not slow")


def test_what_no_stored_row_has_is_no_condition_of_the_query(context, capsys):
    told = said(context, capsys, "why-not", "per_depot depot = 'P99'")
    assert "no stored row gives depot = 'P99': 2 rows with other values" in told and "expected" not in told
    told = said(context, capsys, "why-not", "slow parcel = 'P2' AND took > 90")
    assert "without WHERE Scans_1.at + 3 < Scans_2.at: 1 row with other values than took > 90" in told
    told = said(context, capsys, "why-not", "per_depot depot = 'Graz' AND n = 9")
    assert "no stored row gives" in told


def test_a_stream_that_is_joined_with_itself_has_numbers(context, capsys):
    told = said(context, capsys, "why-not", "slow parcel = 'P2'")
    assert "without WHERE Scans_1.at + 3 < Scans_2.at: 1 row\n" in told
    assert "without a row of Scans_2 ON" in told and "Scans." not in told


def test_two_conditions_that_each_keep_a_joined_row_out_are_named(context, capsys):
    session = context.session
    session.add_table("Depots", pd.DataFrame({"depot": ["Ulm", "Graz"], "area": [1.0, 5.0]}))
    session.register(
        "SELECT s.parcel, d.area FROM Scans s JOIN Depots d ON s.depot = d.depot AND d.area > 2 WHERE s.kg < 2",
        name="near",
    )
    told = said(context, capsys, "why-not", "near parcel = 'P3'")
    assert "no stored row" not in told
    assert "without WHERE Depots.area > 2 and WHERE Scans.kg < 2: 1 row\n" in told
    session.register(
        "SELECT s.parcel FROM Scans s JOIN Depots d ON s.parcel = d.depot WHERE s.kg < 2 AND d.area > 2", name="none"
    )
    told = said(context, capsys, "why-not", "none parcel = 'P3'")
    assert "no stored row" not in told and "a row of Depots" in told and "kg < 2" in told


def test_a_stream_without_rows_behind_an_answer_is_not_shown(context, capsys):
    context.session.add_table("Depots", pd.DataFrame({"depot": ["Ulm", "Graz"], "area": [1.0, 5.0]}))
    context.session.register(
        "SELECT parcel FROM Scans WHERE kg > 5 UNION SELECT depot FROM Depots WHERE area > 3", name="either"
    )
    told = said(context, capsys, "why-not", "either parcel = 'P1'")
    assert "0 rows of" not in told and "Empty DataFrame" not in told


def test_titles_say_how_many_rows_once(context, capsys):
    told = said(context, capsys, "why", "per_depot depot = 'Ulm'")
    assert told.splitlines()[0] == "1 row of per_depot is computed from 2 rows of Scans"
    told = said(context, capsys, "why-not", "per_depot n = 3")
    assert "without WHERE kg < 5: 1 row\n" in told


@pytest.mark.parametrize(
    ("condition", "message", "tried"),
    [
        ("'P99'", "'P99' is a value alone", "parcel = 'P99'"),
        ("P99", "'P99' is a value alone", "parcel = 'P99'"),
        ("42", "42 is a value alone", "kg = 42"),
        ("4.5", "4.5 is a value alone", "kg = 4.5"),
        ("depot 'Ulm'", "there is no sign between depot and 'Ulm'", "depot = 'Ulm'"),
        ("depot Ulm", "there is no sign between depot and 'Ulm'", "depot = 'Ulm'"),
        ("KG 4", "there is no sign between kg and 4", "kg = 4"),
        ("depot = Ulm", "unknown column Ulm", "if it is a text, write 'Ulm'"),
    ],
)
@pytest.mark.parametrize("command", ["why", "why-not"])
def test_a_value_alone_is_no_condition(context, capsys, command, condition, message, tried):
    with pytest.raises(WorkbenchError, match=message) as caught:
        said(context, capsys, command, f"all_scans {condition}")
    assert tried in (caught.value.hint or "")


@pytest.mark.parametrize("condition", ["ok", "OK", "true", "NOT ok", "kg IS NULL", "(kg) > 4", "all_scans.kg > 3"])
def test_columns_that_are_true_are_conditions(context, capsys, condition):
    condition = condition.replace("all_scans", "answer")
    assert "all_scans" in said(context, capsys, "why", f"all_scans {condition}")


@pytest.mark.parametrize("read", ["t", "other", "T JOIN other USING (day)"])
@pytest.mark.parametrize(("late", "bad"), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)])
def test_why_not_says_that_rows_were_quarantined(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, read: str, late: int, bad: int
) -> None:
    """Of streams that the query reads, late ones once they have arrived; not where nothing is missing."""
    (tmp_path / "t.csv").write_text("day,n\n10,1\n20,2\n" + "3,4\n" * late + "21,x\n" * bad + "30,5\n")
    with Session(InProcess()) as session:
        session.add_stream("t", tmp_path / "t.csv", 2, 9, time="day", lateness=5, columns={"day": "int", "n": "int"})
        session.add_stream("other", pd.DataFrame({"day": [10]}), history=1, batch=1)
        session.register(f"SELECT day FROM {read}", name="q")
        session.run(1)
        context = NotebookContext({}, lambda: session)
        told = said(context, capsys, "why-not", "q day = 3")
        number = late + bad if "t" in read.lower().split() else 0
        assert ("quarantined" in told) == bool(number)
        if number:
            rows = f"{number} row{'s' * (number > 1)} of t {'is' if number == 1 else 'are'} quarantined"
            assert f"{rows}{f', {late} of them late,' if late else ''} and in no answer" in told
        assert "quarantined" not in said(context, capsys, "why-not", "q day = 10")
