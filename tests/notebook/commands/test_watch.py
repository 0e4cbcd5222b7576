"""Watching a query below its cell."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import MagicError, QueryError, SqlError
from workbench.notebook import notification
from workbench.notebook.commands import sessions as sessions_module
from workbench.notebook.commands import watch
from workbench.notebook.context import NotebookContext
from workbench.notebook.notification import newly, noticed
from workbench.notebook.session import Session
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import identifying_columns
from workbench.sql.schema import Schema


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    class Line:
        def __init__(self, text: str) -> None:
            texts.append(text)

        def update(self, output: object) -> None:
            texts.append(str(output))

    monkeypatch.setattr(notification, "ProgressLine", Line)
    return texts


def test_new_rows_are_said_below_the_cell(run: Any, session: Any, shown: list[str]) -> None:
    run("%%argus big\nSELECT big")
    session.reports += [None, None]
    assert run("%argus notify big").error is None
    target = session.sinks["notify big"]
    target(2, pd.DataFrame({"weight": [1], "tranid": [1]}))  # was there when the line was
    assert shown == ["big: nothing new since batch 2"]
    for batch in range(3, 3 + notification.LINES + 1):
        target(batch, pd.DataFrame({"weight": [1, 2, -1], "tranid": [batch, None, 8]}))
    first, *lines = shown[-1].splitlines()
    assert first == "big: newest first"
    assert lines[0].endswith("batch 8: 3 rows new, 1 gone") and "batch 4:" in lines[notification.LINES - 1]
    names, *rows = (line.split() for line in lines[notification.LINES :])
    assert names == ["batch", "tranid"] and rows[:3] == [["8", "8.0"], ["8", "NaN"], ["7", "7.0"]]
    target(9, pd.DataFrame({"weight": [-1], "tranid": [8]}))
    assert shown[-1].splitlines()[1].endswith("batch 9: 1 row gone")
    run("%argus notify big")
    assert session.sinks["notify big"] is not target
    run("%argus notify big --stop")
    assert not session.sinks
    assert isinstance(run("%argus notify big --stop").error, MagicError)
    assert isinstance(run("%argus notify bag").error, QueryError)


def test_more_new_rows_than_are_shown_are_said_to_be_more(run: Any, session: Any, shown: list[str]) -> None:
    run("%%argus big\nSELECT big")
    run("%argus notify big")
    target = session.sinks["notify big"]
    target(1, pd.DataFrame({"weight": [1, 1, 1], "tranid": [1, 2, 3]}))
    assert shown[-1].splitlines()[1].endswith("batch 1: 3 rows new")
    target(2, pd.DataFrame({"weight": [1] * 5 + [-1], "tranid": range(6)}))
    assert shown[-1].splitlines()[1].endswith("batch 2: 5 rows new, 1 gone, 3 of them below")


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_an_alert_has_the_names_of_the_answer(dialect: str, run: Any, shell: Any, tmp_path: Path) -> None:
    """It had them in lower case; two columns of one name have no others."""
    quoted = "`Gebühr (€)`" if dialect == "spark" else '"Gebühr (€)"'
    with Session(InProcess(), tmp_path / "session") as session:
        session.add_stream("loans", pd.DataFrame({"Zweig": ["Süd"], "Gebühr (€)": [2.5]}), history=1)
        shell.magics_manager.registry["ArgusMagics"].context.use(session)
        run(f"%%argus fees --dialect {dialect}\nSELECT Zweig, {quoted}, {quoted} * 2 AS twice FROM loans")
        assert run("%argus notify fees twice > 4").error is None
        assert [name for name, _ in session.query("fees_alert").columns] == ["Zweig", "Gebühr (€)", "twice"]
        run("%%argus fees\nSELECT Zweig, Zweig FROM loans")
        assert run("%argus notify fees zweig = 'Süd'").error is None
        assert len(session.query("fees_alert").columns) == 2


def test_an_alert_says_what_newly_satisfies_its_condition(run: Any, session: Any, shown: list[str]) -> None:
    run("%%argus big\nSELECT big")
    assert run("%argus notify big 'tranid > 5' --least 2").error is None
    assert session.queries["big_alert"].sql == "SELECT * FROM big WHERE (tranid > 5)"
    target = session.sinks["alert big"]
    target(1, pd.DataFrame({"weight": [1, -1], "tranid": [6, 7]}))
    assert shown == ["big where tranid > 5: nothing new since batch 0"], "one row is not two"
    target(2, pd.DataFrame({"weight": [1, 1, -1], "tranid": [8, 9, 6]}))
    assert shown[-1].splitlines()[1].endswith("batch 2: 2 rows new")
    line = noticed(session.player).lines[0]
    assert line.startswith("big where tranid > 5: ") and line.endswith("2 rows new · tranid 8 · tranid 9")
    run("%argus notify big 'tranid > 50'")
    assert session.sinks["alert big"] is not target and "50" in session.queries["big_alert"].sql
    run("%argus notify big --stop")
    assert not session.sinks and list(session.queries) == ["big"]


@pytest.mark.parametrize(
    ("typed", "condition"),
    [
        ("tranid > 5", "tranid > 5"),
        ("'tranid > 5'", "tranid > 5"),
        ("\"city = 'Rome'\"", "city = 'Rome'"),
        ("city = 'New  York' AND tranid>5", "city = 'New  York' AND tranid>5"),
        ("city='Rome'", "city='Rome'"),
        ("tranid > -5 --least 2", "tranid > -5"),
        ("--least 2 tranid > 5 AND city = 'A B'", "tranid > 5 AND city = 'A B'"),
    ],
)
def test_a_condition_needs_no_quotes(run: Any, session: Any, shown: list[str], typed: str, condition: str) -> None:
    session.frame = pd.DataFrame({"tranid": range(3), "city": "Rome"})
    run("%%argus big\nSELECT big")
    session.queries["big"].columns = (("tranid", INTEGER), ("city", STRING))
    assert run(f"%argus notify big {typed}").error is None
    assert session.queries["big_alert"].sql == f"SELECT * FROM big WHERE ({condition})"


def test_an_alert_that_is_wrong_leaves_nothing(run: Any, session: Any) -> None:
    run("%%argus big\nSELECT big")
    assert isinstance(run("%argus notify big 'tranidd > 5'").error, SqlError)
    assert isinstance(run("%argus notify big 'tranid > (SELECT 1)'").error, SqlError)
    run("%%argus big_alert\nSELECT huge")
    assert isinstance(run("%argus notify big 'tranid > 5'").error, MagicError), "a query of the analyst is not replaced"
    assert not session.sinks and session.queries["big_alert"].sql.strip() == "SELECT huge"


def test_a_group_is_new_once() -> None:
    changes = pd.DataFrame({"weight": [-1, 1, 1, 1], "bank": [None, None, "y", "x"], "n": [6, 7, 8, 9]})
    assert newly(changes, [0])["n"].to_list() == [8, 9]
    assert newly(changes, None)["n"].to_list() == [7, 8, 9]
    assert newly(changes, [])["n"].to_list() == [], "the one row of a total was there"


@pytest.mark.parametrize(
    ("sql", "places"),
    [
        ("SELECT COUNT(*) n, city FROM t GROUP BY city", (1,)),
        ("SELECT city, COUNT(*) n FROM t GROUP BY city ORDER BY n DESC LIMIT 3", (0,)),
        ("SELECT COUNT(*) n FROM t", ()),
        ("SELECT COUNT(*) n FROM t GROUP BY city", None),
        ("SELECT city FROM t", None),
        ("SELECT UPPER(city), COUNT(*) FROM t GROUP BY city", None),
    ],
)
def test_what_tells_rows_of_an_answer_apart(sql: str, places: tuple[int, ...] | None) -> None:
    schema = Schema({"t": (("city", STRING), ("amount", INTEGER))})
    assert identifying_columns(bind(sql, "spark", schema).query) == places


def wait_until_told(session: Session, sink: str) -> None:
    """Wait until a sink has had all changes, for two minutes at most."""
    until = time.monotonic() + 120
    while session.sinks[sink].behind and time.monotonic() < until:
        time.sleep(0.05)


def test_alerts_of_a_session_are_the_groups_that_came_to_satisfy_the_condition(
    spark: Any, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, set[str]]] = []

    def line(batch: int, changes: pd.DataFrame, at: object) -> str:
        told.append((batch, set(changes["city"].fillna("none"))))
        return "said"

    monkeypatch.setattr(notification, "change_line", line)
    rows = pd.DataFrame(
        {"city": ["x", "y", None, "x", "y", "x", None, "y"], "n": [9, 1, 4, 1, 10, 1, 3, 5]}
    )  # two a batch
    with Session(spark=spark) as session:
        session.add_stream("T", rows, history=2, batch=2)
        session.register("SELECT city, SUM(n) AS total FROM T GROUP BY city", name="by_city")
        watch.notify.run(NotebookContext({}, lambda: session), watch.notify.parse("by_city 'total > 6'"))
        session.run(3)
        wait_until_told(session, "alert by_city")
        assert told == [(2, {"y"}), (3, {"none"})], "x was there, and y and x only grew afterwards"
        watch.notify.run(NotebookContext({}, lambda: session), watch.notify.parse("by_city --stop"))
        assert [*session.queries] == ["by_city"] and not session.sinks


@pytest.mark.parametrize("watched", ["touched", "untouched"])
def test_an_alert_says_the_batch_of_the_session(spark: Any, shown: list[str], watched: str) -> None:
    """Also once an answer was computed anew: sinks of that query count one delivery more, all others count batches."""
    rows = pd.DataFrame({"n": range(8)})
    numbers: list[int] = []
    with Session(spark=spark) as session:
        session.add_stream("T", rows, history=1, batch=1)
        session.register("SELECT n FROM T", name="touched")
        session.register("SELECT n + 1 AS n FROM T", name="untouched")
        watch.notify.run(NotebookContext({}, lambda: session), watch.notify.parse(watched))
        session.add_sink(watched, lambda batch, changes: numbers.append(batch), name="numbers")

        def settle() -> None:
            for sink in session.sinks:
                wait_until_told(session, sink)

        for times in (2, 3, None):
            session.run(1)
            settle()
            if times is not None:
                session.register(f"SELECT n * {times} AS n FROM T", name="touched", move=True)
                settle()  # one delivery would bring what was computed anew and the next batch
        assert f"batch {session.batch}:" in shown[-1] and f"batch {session.batch + 1}:" not in shown[-1]
        assert sorted(set(numbers)) == numbers and (numbers == [0, 1, 2, 3]) == (watched == "untouched")


def test_an_alert_of_a_windowed_answer_is_told(spark: Any, shown: list[str]) -> None:
    rows = pd.DataFrame({"at": [1, 2, 10, 11], "n": [1, 9, 8, 1]})
    with Session(spark=spark) as session:
        session.add_stream("T", rows, history=1, batch=1, time="at")
        session.register("SELECT at, n FROM T WHERE at > now() - 3", name="latest")
        watch.notify.run(NotebookContext({}, lambda: session), watch.notify.parse("latest 'n > 5'"))
        session.run(3)
        wait_until_told(session, "alert latest")
        lines = [line.split() for line in shown[-1].splitlines()[1:]]
        assert [line[1:4] for line in lines[:2]] == [["batch", "2:", "1"], ["batch", "1:", "1"]]
        assert lines[2:] == [["batch", "at", "n"], ["2", "10", "8"], ["1", "2", "9"]]


def test_what_was_watched_is_watched_again_after_the_session_is_opened(tmp_path: Path, shown: list[str]) -> None:
    """The cell of the kernel that ended says that it has stopped; batches that ran meanwhile are said."""
    rows = pd.DataFrame({"city": ["x", "y", "x", "y", "z", "x"], "n": [1, 2, 9, 3, 8, 9]})

    def sessions(command: str, context: NotebookContext) -> None:
        sessions_module.open_session.run(context, sessions_module.open_session.parse(command))

    context = NotebookContext({}, lambda: Session(InProcess(), tmp_path / "s"))
    session = context.session
    session.add_stream("T", rows, history=1, batch=1)
    session.register("SELECT city, n FROM T", name="all_rows")
    watch.notify.run(context, watch.notify.parse("all_rows"))
    watch.notify.run(context, watch.notify.parse("all_rows n > 5 --least 1"))
    session.run(1)
    wait_until_told(session, "notify all_rows")
    wait_until_told(session, "alert all_rows")
    context.close()
    stopped = [text for text in shown if f"stopped; %argus open {tmp_path / 's'} goes on" in text]
    assert sorted(text.split(":")[0] for text in stopped) == ["all_rows", "all_rows where n > 5"]
    with Session.open(tmp_path / "s", InProcess()) as elsewhere:
        elsewhere.run(1)
    del shown[:]
    context = NotebookContext({}, lambda: session, lambda path, trust=None: Session.open(path, InProcess()))
    sessions(f"{tmp_path / 's'}", context)
    assert sorted(text.split(":")[0] for text in shown[:2]) == ["all_rows", "all_rows where n > 5"]
    context.session.run(9)
    wait_until_told(context.session, "notify all_rows")
    wait_until_told(context.session, "alert all_rows")
    told = {text.split(":")[0]: text for text in shown}
    assert all(f"batch {batch}:" in told["all_rows"] for batch in (2, 3, 4, 5))
    assert [f"batch {batch}:" in told["all_rows where n > 5"] for batch in (2, 3, 4, 5)] == [True, False, True, True]
    context.close()


def test_how_many_rows_are_said_at_least_is_kept(tmp_path: Path, shown: list[str]) -> None:
    rows = pd.DataFrame({"n": [1, 9, 2, 9, 9, 8, 3, 7]})  # of each batch of two: one above 5, two, one
    context = NotebookContext(
        {}, lambda: Session(InProcess(), tmp_path / "s"), lambda path, trust=None: Session.open(path, InProcess())
    )
    context.session.add_stream("T", rows, history=2, batch=2)
    context.session.register("SELECT n FROM T", name="all_rows")
    for line in ("all_rows n > 5 --least 2", "all_rows --least 3"):
        watch.notify.run(context, watch.notify.parse(line))
    for _ in range(2):
        context.close()
        del shown[:]
        sessions_module.open_session.run(context, sessions_module.open_session.parse(f"{tmp_path / 's'} --leave"))
    context.session.run(9)
    wait_until_told(context.session, "notify all_rows")
    wait_until_told(context.session, "alert all_rows")
    told = {text.split(":")[0]: text for text in shown}
    assert [f"batch {batch}:" in told["all_rows where n > 5"] for batch in (1, 2, 3)] == [False, True, False]
    assert "batch 1:" not in told["all_rows"]
    context.close()


@pytest.mark.parametrize("copied", ["saved", "copied by hand", "a copy of a copy"])
def test_what_is_watched_goes_along_with_a_copy(tmp_path: Path, shown: list[str], copied: str) -> None:
    rows = pd.DataFrame({"city": ["x", "y", "x", "y"], "n": [1, 9, 2, 9]})
    context = NotebookContext(
        {}, lambda: Session(InProcess(), tmp_path / "s"), lambda path, *_: Session.open(path, InProcess())
    )
    session = context.session
    session.add_stream("T", rows, history=1, batch=1)
    session.register("SELECT city, n FROM T", name="all_rows")
    session.add_sink("all_rows", str(tmp_path / "folder"), name="kept")
    watch.notify.run(context, watch.notify.parse("all_rows"))
    watch.notify.run(context, watch.notify.parse("all_rows n > 5"))
    session.run(1)
    wait_until_told(session, "alert all_rows")
    if copied == "copied by hand":
        context.close()
        shutil.copytree(tmp_path / "s", tmp_path / "copy")
        (tmp_path / "s").rename(tmp_path / "gone")
    else:
        session.save(tmp_path / "copy")
        context.close()
    if copied == "a copy of a copy":
        with Session.open(tmp_path / "copy", InProcess()) as between:
            between.save(tmp_path / "second")
        (tmp_path / "second").rename(tmp_path / "copy2")
    del shown[:]
    place = tmp_path / ("copy2" if copied == "a copy of a copy" else "copy")
    sessions_module.open_session.run(context, sessions_module.open_session.parse(str(place)))
    assert sorted(text.split(":")[0] for text in shown[:2]) == ["all_rows", "all_rows where n > 5"]
    assert ("kept" in context.session.sinks) == (copied == "copied by hand"), "two sessions would write to its folder"
    context.session.run(2)
    for sink in ("notify all_rows", "alert all_rows"):
        wait_until_told(context.session, sink)
    told = {text.split(":")[0]: text for text in shown}
    assert all(f"batch {batch}:" in told["all_rows"] for batch in (2, 3)) and "batch 1:" not in told["all_rows"]
    assert [f"batch {batch}:" in told["all_rows where n > 5"] for batch in (1, 2, 3)] == [False, False, True]
    context.close()


def test_answers_are_served_until_they_are_stopped(run: Any, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERS_TOKEN", "0123456789abcdef")
    run("%%argus big\nSELECT big")
    assert "no query small" in str(run("%argus subscribe small").error)
    first = "\n".join(run("%argus subscribe big").texts)
    assert "http://127.0.0.1:1/queries" in first and "curl -N 'http://127.0.0.1:1/queries/big/changes'" in first
    assert "\n".join(run("%argus subscribe").texts) == first.replace("/big/", "/QUERY/")
    more = "\n".join(run("%argus subscribe big --flight 0 --token-from ANSWERS_TOKEN").texts)
    assert "with the token" in more and "grpc://127.0.0.1:2" in more and "0123456789abcdef" not in more
    assert "no variable" in str(run("%argus subscribe big --token-from NOTHING").error)
    assert run("%argus subscribe --stop").error is None and session.served == ()
    assert "nothing is served" in str(run("%argus subscribe --stop").error)


def test_agents_are_served_with_both_limits_or_none(run, session, monkeypatch):
    pytest.importorskip("mcp")
    assert "registering needs both limits" in str(run("%argus agents --may-register 3").error)
    shown = "\n".join(run("%argus agents").texts)
    assert "agents may ask at http://127.0.0.1:" in shown and "Bearer" in shown and "they read only" in shown
    monkeypatch.setenv("TOKEN_OF_AGENTS", "0123456789abcdef")
    shown = "\n".join(run("%argus agents --token-from TOKEN_OF_AGENTS --may-register 2 --rows-per-batch 5000").texts)
    assert "0123456789abcdef" not in shown and "register 2 queries of at most 5,000 rows" in shown
    assert len(session.ports) == 2
    assert run("%argus agents --stop").error is None and not session.ports
    assert "no agents are served" in str(run("%argus agents --stop").error)


KINDS = {
    "notify": lambda context, folder: watch.notify.run(context, watch.notify.parse("q")),
    "alert": lambda context, folder: watch.notify.run(context, watch.notify.parse("q n > 5")),
    "folder": lambda context, folder: context.session.add_sink("q", str(folder), name="out"),
    "function": lambda context, folder: context.session.add_sink("q", lambda batch, changes: None, name="f"),
    "reader": lambda context, folder: context.session.register("SELECT n FROM q WHERE n > 3", name="r"),
}
"""What refers to a query by its name."""
ENDED = {"notify": "sink notify q", "alert": "query q_alert, sink alert q", "folder": "sink out", "function": "sink f"}


@pytest.mark.parametrize("done", ["dropped", "replaced"])
@pytest.mark.parametrize("opened", ["again", "a copy"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_refers_to_a_query_ends_or_goes_on_with_it_also_when_opened(
    tmp_path: Path, shown: list[str], capsys: pytest.CaptureFixture[str], kind: str, opened: str, done: str
) -> None:
    """Dropped: it ends and is named, and neither a copy nor a session that is opened says more of it."""
    context = NotebookContext(
        {}, lambda: Session(InProcess(), tmp_path / "s"), lambda path, *_: Session.open(path, InProcess())
    )
    session = context.session
    session.add_stream("T", pd.DataFrame({"n": [1, 9, 2, 8]}), history=1, batch=1)
    session.register("SELECT n FROM T", name="q")
    KINDS[kind](context, tmp_path / "out")
    session.run(1)
    if done == "dropped":
        told = watch.drop_query(session, "q")
        assert told.partition("; with it ended ")[2] == ENDED.get(kind, "")
        left = {"queries": ["r"] if kind == "reader" else [], "sinks": []}
    else:
        session.register("SELECT n FROM T WHERE n > 0", name="q", move=True)
        left = {"queries": [*session.queries], "sinks": [*session.sinks]}
    assert {"queries": [*session.queries], "sinks": [*session.sinks]} == left
    place = tmp_path / "s"
    if opened == "a copy":
        place = tmp_path / "copy"
        sessions_module.save.run(context, sessions_module.save.parse(str(place)))
        watching = kind in ("notify", "alert") and done == "replaced"
        assert ("it goes on to say below a cell" in capsys.readouterr().out) == watching
        left["sinks"] = [name for name in left["sinks"] if name != "out"]
    context.close()
    sessions_module.open_session.run(context, sessions_module.open_session.parse(str(place)))
    (line, *more) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{place}: after batch 1")
    assert [each.partition(":")[0] for each in more] == (["f"] if kind == "function" and left["sinks"] else [])
    assert {"queries": [*context.session.queries], "sinks": [*context.session.sinks]} == left
    context.session.run(2)
    for sink in left["sinks"]:
        if sink != "f":
            wait_until_told(context.session, sink)
            assert not context.session.sinks[sink].problem
    context.close()


def test_an_alert_whose_query_was_dropped_from_python_goes_on(
    tmp_path: Path, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    context = NotebookContext(
        {}, lambda: Session(InProcess(), tmp_path / "s"), lambda path, *_: Session.open(path, InProcess())
    )
    context.session.add_stream("T", pd.DataFrame({"n": [1, 9, 2, 8]}), history=1, batch=1)
    context.session.register("SELECT n FROM T", name="q")
    watch.notify.run(context, watch.notify.parse("q n > 5"))
    context.session.drop("q")
    context.session.run(1)
    context.close()
    sessions_module.open_session.run(context, sessions_module.open_session.parse(str(tmp_path / "s")))
    assert len(capsys.readouterr().out.splitlines()) == 1
    context.session.run(2)
    wait_until_told(context.session, "alert q")
    assert "batch 3:" in shown[-1] and not context.session.sinks["alert q"].problem
    context.close()
