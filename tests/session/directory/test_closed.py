"""Whatever is asked of a session that is closed says so; what it left behind is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine import selection
from workbench.engine.answers import Answers
from workbench.engine.storage.segments import open_segment
from workbench.errors import SessionError, WorkbenchError
from workbench.explain.describe import NetworkView
from workbench.limits import Limits
from workbench.network.network import Network
from workbench.session.query import Query
from workbench.session.session import Session

SQL = "SELECT id FROM t WHERE id > 3"
ROWS = pa.table({"id": range(40), "d": range(40)})

OF_A_SESSION: dict[str, Callable[[Session], object]] = {
    "add_stream": lambda s: s.add_stream("u", ROWS),
    "add_table": lambda s: s.add_table("u", ROWS),
    "add_column": lambda s: s.add_column("t", "note"),
    "widen_column": lambda s: s.widen_column("t", "id", "double"),
    "forget_problems": lambda s: s.forget_problems(),
    "errors": lambda s: s.errors,
    "dismiss_errors": lambda s: s.dismiss_errors(),
    "retry": lambda s: s.retry("t"),
    "update_table": lambda s: s.update_table("u", ROWS),
    "drop_stream": lambda s: s.drop_stream("t"),
    "attach": lambda s: s.attach("t", iter([])),
    "sources": lambda s: s.sources,
    "add_sink": lambda s: s.add_sink("q", print),
    "drop_sink": lambda s: s.drop_sink("q"),
    "sinks": lambda s: s.sinks,
    "subscribe": lambda s: next(s.subscribe("q")),
    "serve": lambda s: s.serve(),
    "served": lambda s: s.served,
    "ports": lambda s: s.ports,
    "close_with": lambda s: s.close_with(s),
    "as_of": lambda s: s.as_of("q"),
    "ask": lambda s: s.ask("SELECT 1"),
    "compare": lambda s: s.compare("SELECT 1", "q"),
    "run_live": lambda s: s.run_live(until=1),
    "catch_up": lambda s: s.catch_up(),
    "live": lambda s: s.live("1s"),
    "suspend": lambda s: s.suspend("q"),
    "resume": lambda s: s.resume("q"),
    "prioritize": lambda s: s.prioritize("q", -1),
    "set_batch": lambda s: s.set_batch("t", 3),
    "add_function": lambda s: s.add_function("f", lambda x: x),
    "add_aggregate": lambda s: s.add_aggregate("rms", ("x",), {"n": "COUNT(x)"}, "n"),
    "register": lambda s: s.register(SQL),
    "request": lambda s: s.request(SQL),
    "register_many": lambda s: s.register_many({"a": SQL}),
    "preview": lambda s: s.preview(SQL, "a"),
    "timezone": lambda s: s.timezone,
    "set_timezone": lambda s: s.set_timezone("Europe/Berlin"),
    "reoptimize": lambda s: s.reoptimize(),
    "compare_strategies": lambda s: s.compare_strategies(),
    "drop": lambda s: s.drop("q"),
    "run": lambda s: s.run(1),
    "seek": lambda s: s.seek(0),
    "back_in": lambda s: s.back_in(0),
    "save": lambda s: s.save("elsewhere"),
    "check": lambda s: s.check(),
    "query": lambda s: s.query("q"),
    "results": lambda s: s.results(["q"]),
    "verify": lambda s: s.verify("q"),
    "queries": lambda s: s.queries,
    "streams": lambda s: s.streams,
    "views": lambda s: s.views,
    "functions": lambda s: s.functions,
    "network": lambda s: s.network,
    "reports": lambda s: s.reports,
    "observed": lambda s: s.observed(),
    "memory": lambda s: s.memory("q"),
    "batch": lambda s: s.batch,
    "now": lambda s: s.now,
    "clocks": lambda s: s.clocks,
    "batch_cost": lambda s: s.batch_cost(NetworkView(Network())),
    "keep": lambda s: s.keep(),
    "kept": lambda s: s.kept("x"),
    "catalog": lambda s: s.catalog("SELECT * FROM queries"),
    "catalog_tables": lambda s: s.catalog_tables(),
    "player": lambda s: s.player.play(),
}
OF_A_QUERY: dict[str, Callable[[Query], object]] = {
    "diff": lambda q: q.diff(0, 1),
    "result of a batch": lambda q: q.result(batch=0),
    "answers": lambda q: q.answers().__enter__(),
    "result": lambda q: q.result(),
    "arrow_result": lambda q: q.arrow_result(),
    "why": lambda q: q.why(),
    "why_not": lambda q: q.why_not({}),
    "result at": lambda q: q.result(at="2020-01-01"),
    "windows": lambda q: q.windows(),
    "head": lambda q: q.head(),
    "dataframe": lambda q: q.dataframe(),
    "save": lambda q: q.save("rows.csv"),
    "count": lambda q: q.count(),
    "estimate": lambda q: q.estimate(),
    "changes": lambda q: q.changes(),
    "arrow_changes": lambda q: q.arrow_changes(),
    "batch_before": lambda q: q.batch_before("2020-01-01"),
    "explain": lambda q: q.explain(),
}


@pytest.fixture(scope="module", params=["temporary", "kept"])
def closed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Query]:
    path = tmp_path_factory.mktemp("closed") / "s" if request.param == "kept" else None
    with Session(spark, path) as session:
        session.add_stream("t", ROWS, history=10, batch=10)
        query = session.register(SQL, name="q")
        session.run(1)
    assert session.closed and session.path.exists() == (path is not None)
    query.session = session  # type: ignore[attr-defined]
    yield query


@pytest.mark.parametrize("method", OF_A_SESSION)
def test_a_closed_session_says_so(closed: Query, method: str) -> None:
    with pytest.raises(SessionError, match="the session is closed"):
        OF_A_SESSION[method](closed.session)  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", OF_A_QUERY)
def test_so_do_its_queries(closed: Query, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SessionError, match="the session is closed"):
        OF_A_QUERY[method](closed)
    assert not any(tmp_path.iterdir())


def test_no_method_is_left_out() -> None:
    public = {name for name in dir(Session) if not name.startswith("_")}
    plain = {
        "open",
        "close",
        "closed",
        "leave",
        "rest",
        "temporary",
        "read_only",
        "progress",
        "verifying",
        "arriving",
        "stop_playing",
        "interrupt",
        "spark",
    }
    shown = {name for name in public if name.endswith("_view")} | {"panel"}  # all begin with the player
    assert public - plain - shown == set(OF_A_SESSION)
    asked = {name for name in vars(Query) if callable(getattr(Query, name)) and not name.startswith("_")}
    of_plain_data = {"check_active", "refinement"}
    assert asked - of_plain_data == {name.split()[0] for name in OF_A_QUERY}


def test_what_is_plain_data_can_still_be_read(closed: Query) -> None:
    assert (closed.name, closed.sql, closed.status) == ("q", SQL, "the session is closed")
    closed.session.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("by_spark", [True, False])
def test_who_reads_while_it_is_closed_is_told_that(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, by_spark: bool
) -> None:
    session = Session(spark)
    session.add_stream("t", ROWS, history=10, batch=10)
    query = session.register(SQL, name="q")
    result = Answers.result

    def closing(path: str) -> pa.RecordBatch:
        session.close()
        return open_segment(path)

    def closing_before_a_job(answers: Answers) -> object:
        session.close()
        return result(answers)

    if by_spark:
        session.parts.jobs.limits = Limits(rows_scanned_in_process=-1)
        monkeypatch.setattr(Answers, "result", closing_before_a_job)
    else:
        monkeypatch.setattr(selection, "open_segment", closing)
    with pytest.raises(WorkbenchError, match="the session is closed"):
        query.result()


def test_threads_and_folders_go_with_their_sessions(spark: SparkSession, tmp_path: Path) -> None:
    def threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("argus")} - of_others

    of_others: set[threading.Thread] = set()
    of_others = threads()
    left, folders = [], []
    for _ in range(3):
        with Session(spark) as session:
            session.add_stream("t", ROWS, history=10, batch=10)
            session.register("SELECT a.id FROM t a JOIN t b ON a.id = b.id", name="q")
            session.player.play(2)
            assert session.player.wait(60)
            session.query("q").save(tmp_path / "rows.parquet")
            folders.append(session.path)
        left.append(threads())
    assert left == [set(), set(), set()] and not any(folder.exists() for folder in folders)
