"""Going back to a batch: every query then answers as it would have done, also when opened again."""

from __future__ import annotations

from pathlib import Path

from oracle.harness import Case, Feed, Oracle
from oracle.test_windows import CASES as WINDOWS
from oracle.test_windows import F
from pyspark.sql import SparkSession
from session.directory.survival import stray_files, what_survives

from workbench import Session

FEEDS = {"f": Feed(F, 30, 20, time="d")}
LANDMARK = "WITH w AS (SELECT max(d) now FROM f) SELECT id FROM f, w WHERE d BETWEEN DATE '2002-01-05' AND now"
CASES = {
    "last days": WINDOWS["last days"],
    "by bank": WINDOWS["by bank"],
    "joined": WINDOWS["joined"],
    "landmark": Case("SELECT id FROM f BEGIN '2002-01-05' END NOW", LANDMARK),
    "called": Case("SELECT id, plus_one(amount) AS a FROM f WHERE plus_one(amount) > 4"),
}
HOW = {"eager": "last days", "off": "by bank"}
LATE = {"joined": "lazy", "called": "lazy", "eager": "eager"}
"""Queries that are registered again, after two batches."""
FUNCTIONS = {"plus_one": (lambda a: None if a is None else a + 1, ["BIGINT"], "DOUBLE")}


def test_windows_functions_and_late_queries_go_back_and_survive(spark: SparkSession, tmp_path: Path) -> None:
    with Oracle(spark, FEEDS, functions=FUNCTIONS, path=tmp_path / "s") as oracle:
        oracle.register(CASES, check=False)
        for results, name in HOW.items():
            oracle.register({results: CASES[name]}, check=False, results=results)
        oracle.foresee(4)
        session = oracle.session
        session.run(2)
        for name, results in LATE.items():
            session.register(CASES[HOW.get(name, name)].sql, name, results=results)
        session.run(1)
        reports = session.reports
        shown = {name: session.query(name).windows() for name in ("last days", "landmark")}
        with Session.open(session.path, spark) as reading:
            before = reading.query("joined")
            session.seek(1)
            assert [r.arrived for r in session.reports] == [r.arrived for r in reports[:1]]
            oracle.follow(session)
            oracle.check_results()
            check_changes(oracle)
            assert what_survives(reading) == what_survives(session)
            assert reading.query("joined") is before and before.registered == 1
        survives = what_survives(session)
        assert {name: q.registered for name, q in session.queries.items()} == {
            **dict.fromkeys(session.queries, 0),
            **dict.fromkeys(LATE, 1),
        }
        oracle.reopen()
        assert what_survives(oracle.session) == survives
        oracle.run(1, check=False)
        oracle.run(1)
        check_changes(oracle)
        for name, windows in shown.items():
            assert oracle.session.query(name).windows().head(len(windows)).equals(windows)
        assert stray_files(oracle.session) == set()


def check_changes(oracle: Oracle) -> None:
    oracle.check_changes([name for name in oracle.watched if name != "off"])
