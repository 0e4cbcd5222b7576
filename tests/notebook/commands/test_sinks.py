"""Sending the changes of a query on, by a line."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from workbench.engine.spark.in_process import InProcess
from workbench.errors import MagicError, QueryError, SessionError
from workbench.notebook.commands.define import register_and_describe
from workbench.notebook.context import NotebookContext
from workbench.notebook.extension import install
from workbench.session.failures.error_log import ErrorPlace, KeptError
from workbench.session.session import Session


@pytest.fixture
def big(run: Any, session: Any) -> Any:
    run("%%argus big\nSELECT big")
    return session


def test_a_folder_is_named_with_its_whole_path(run: Any, big: Any) -> None:
    cell = run("%argus sink big out/big")
    assert big.sinks == {"big": str(Path("out/big").resolve())}
    assert f"the changes of big go to {Path('out/big').resolve()}" in cell.text and "after batch 0" in cell.text


@pytest.mark.parametrize("address", ["kafka://localhost:9092/big", "delta:out/big", "http://localhost:1/x"])
def test_an_address_stays_as_it_is(run: Any, big: Any, address: str) -> None:
    assert run(f"%argus sink big {address} --name topic").error is None
    assert big.sinks == {"topic": address}


def test_an_address_that_does_not_answer_is_said_at_once(run: Any, big: Any) -> None:
    assert (
        "cannot be reached, and is tried again: Connection refused" in run("%argus sink big http://localhost:9/").text
    )


def test_a_function_of_the_notebook(run: Any, big: Any) -> None:
    run("def take(batch, changes): pass\nfive = 5")
    assert "go to take()" in run("%argus sink big take").text
    assert callable(big.sinks["big"])
    assert "the variable five is no function" in str(run("%argus sink big five --name other").error)


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("big out", MagicError, "there is already a sink called big\nhint: --name"),
        ("big --name bigg", MagicError, "there is no sink bigg\nhint: did you mean big"),
        ("big --name other --stop", MagicError, "there is no sink other"),
        ("bag out", QueryError, "there is no query bag"),
        ("big out --mode changes", MagicError, "there is no option --mode\nhint: it has --name, --stop;"),
    ],
)
def test_what_is_wrong_is_said(run: Any, big: Any, line: str, error: type, message: str) -> None:
    run("%argus sink big first")
    found = run(f"%argus sink {line}").error
    assert isinstance(found, error) and message in str(found)
    assert list(big.sinks) == ["big"]


def test_a_file_is_no_folder(run: Any, big: Any, tmp_path: Path) -> None:
    (tmp_path / "out.csv").touch()
    assert "out.csv is a file" in str(run(f"%argus sink big {tmp_path / 'out.csv'}").error)
    assert run(f"%argus sink big {tmp_path}").error is None


def test_it_stops(run: Any, big: Any) -> None:
    run("%argus sink big out")
    assert "big gets no more" in run("%argus sink big --stop").text
    assert not big.sinks


@pytest.mark.spark
def test_a_folder_gets_a_file_for_each_batch(spark, tmp_path: Path) -> None:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False

    def run(cell: str) -> str:
        with capture_output() as captured:
            assert shell.run_cell(cell).error_in_exec is None
        return "\n".join(output.data.get("text/plain", "") for output in captured.outputs)

    with Session(spark=spark) as session:
        install(shell, NotebookContext(shell.user_ns, lambda: session))
        session.add_stream("T", pd.DataFrame({"n": range(10)}), history=4, batch=2)
        session.register("SELECT n FROM T", name="big")
        run(f"%argus sink big {tmp_path / 'out'}")
        session.run(2)
        while session.sinks["big"].behind:
            pass
        assert "batches behind" in run("%argus sink big")
        with pytest.raises(SessionError):
            session.add_sink("big", "nowhere://x", name="other")
        run("%argus sink big --stop")
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    assert len(pd.read_parquet(tmp_path / "out")) == 8
    assert len(list((tmp_path / "out").glob("batch-*.parquet"))) == 3


def test_errors_are_listed_tried_again_and_dismissed(run, session):
    assert run("%argus errors").text == "no errors of sources or sinks"
    stream = session.add_stream("Late", None, None, None, None)
    stream.quarantined_rows = 1234
    assert run("%argus errors").texts[-1] == (
        'Late: 1,234 rows quarantined, in no answer; session.streams["Late"].quarantined has the first of them'
    )
    assert run("%argus errors late").texts[-1].startswith("Late: 1,234 rows")
    session.errors = (
        KeptError("2026-01-01 10:00:00", ErrorPlace.SINK, "q1", "no room", '{"id": 7}'),
        KeptError("2026-01-01 10:00:01", ErrorPlace.SOURCE, "Fed", "<b> is no integer", "2,<b>"),
    )
    listed = run("%argus errors")
    assert "&lt;b&gt; is no integer" in listed.htmls[0] and listed.text.index("Fed") < listed.text.index("q1")
    assert "Fed" not in run("%argus errors Q1").text
    assert "nothing is wrong with it now" in run("%argus errors q1 --retry").text and ("retry", "q1") in session.added
    assert "--retry needs the name" in str(run("%argus errors --retry").error)
    assert run("%argus errors --dismiss").text == "2 errors dismissed"


def rows_sent(folder: Path, batches: int) -> list[int]:
    """The values of the rows that a sink has written to a folder, once it has written so many batches."""
    deadline = time.monotonic() + 30
    while len(files := sorted(folder.glob("*.parquet"))) < batches + 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    return sorted(pd.concat(map(pd.read_parquet, files))["a"])


def test_what_a_new_text_does_not_take_over_is_said(tmp_path):
    with Session(InProcess()) as session:
        session.add_stream("T", [{"a": 1}, {"a": 5}, {"a": 7}], history=2)
        session.register("SELECT a FROM T WHERE a > 0", name="big")
        session.register("SELECT * FROM big WHERE a > 3", name="best")
        session.add_sink("big", str(tmp_path / "out"))
        _, same = register_and_describe(session, "SELECT a FROM T WHERE a > 0", "big", "spark")
        session.run(1)
        assert rows_sent(tmp_path / "out", batches=1) == [1, 5, 7], "a cell that is run again changes nothing"
        _, said = register_and_describe(session, "SELECT a FROM T WHERE a > 1", "big", "spark")
    assert "--move" not in same
    assert said.splitlines()[1:] == [
        "best still reads the earlier big; run again, its cell reads this one",
        "1 sink of it gets no more: big; add it again",
        "%%argus big --move  takes all of this along, the next time",
    ]


def test_an_alert_that_a_new_text_leaves_behind_is_said_with_the_line_that_goes_on(run, shell):
    """It stayed with the earlier text, and "register them again" was no line to type."""
    with Session(InProcess()) as session:
        session.add_stream("T", [{"a": 1}, {"a": 5}, {"a": 7}], history=2)
        shell.magics_manager.registry["ArgusMagics"].context.use(session)
        run("%%argus big\nSELECT a FROM T WHERE a > 0")
        run("%argus notify big a > 6 AND a < 9")
        said = run("%%argus big\nSELECT a FROM T WHERE a > 1").text.splitlines()
        line = "%argus notify big a > 6 AND a < 9"
        assert f"its alert still watches the earlier big; {line}  watches this one" in said
        assert run(line).error is None
        said = run("%%argus big --move\nSELECT a FROM T WHERE a > 2").text
        assert "earlier" not in said and "--move" not in said
