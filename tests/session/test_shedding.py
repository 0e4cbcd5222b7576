"""Live running that leaves rows out: which, when, and that answers are exact again when these were caught up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engine.estimates.keyed_reference import reference
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine.estimates.horvitz_thompson import NORMAL_95
from workbench.errors import QueryError
from workbench.limits import LIMITS, Limits
from workbench.session.live.overload import Overload
from workbench.session.live.sources import SourceStatus
from workbench.session.session import Session as PlainSession
from workbench.streams.cut import BatchCut
from workbench.streams.ingest import ingest
from workbench.streams.stream import replayed

ROWS = pa.table({"id": [*range(4_000)], "k": [n * 7 % 5 for n in range(4_000)], "v": [n % 97 for n in range(4_000)]})
QUERIES = {
    "groups": "SELECT k, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS m FROM Clicks GROUP BY k",
    "pairs": "SELECT c.id, p.name FROM Clicks c JOIN Pages p ON c.k = p.k WHERE c.v > 90",
    "none": "SELECT p.k FROM Pages p WHERE NOT EXISTS (SELECT 1 FROM Clicks c WHERE c.k = p.k AND c.v = 96)",
}
ESTIMATED = "SELECT k, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a FROM Clicks WHERE v > 10 GROUP BY k"
PAGES = pa.table({"k": [0, 1, 2, 9], "name": ["a", "b", "c", "z"]})


def is_behind(lag: float) -> dict[str, SourceStatus]:
    return {"s": SourceStatus("in", {}, 0, 0.0, lag, "", False)}


@pytest.mark.parametrize(
    ("shed", "cut"), [("oldest", BatchCut(10, 890)), ("sample", BatchCut(0, 900, 10 / 900)), (None, 10)]
)
def test_it_is_shed_when_a_stream_is_behind_for_long(tmp_path: Path, shed: str | None, cut: int | BatchCut) -> None:
    log = ingest("s", ROWS.slice(0, 1_000), tmp_path / "log")
    streams, overload = {"s": replayed(log, 100, time="id", shed=shed)}, Overload(1.0)
    for lag in (9.0, 9.0, 0.5, *[9.0] * (LIMITS.batches_behind - 1)):  # once it had caught up by itself
        assert overload.cuts({"s": 10}, streams, is_behind(lag)) == {"s": 10}
    assert overload.cuts({"s": 10}, streams, is_behind(9.0)) == {"s": cut}
    assert overload.cuts({"s": 10}, streams, is_behind(9.0)) == {"s": 10}  # it begins to count anew
    few = {"s": replace(streams["s"], position=995)}
    for _ in range(2 * LIMITS.batches_behind):
        assert overload.cuts({"s": 10}, few, is_behind(9.0)) == {"s": 10}  # nothing would be left out


def answers(session: PlainSession) -> dict[str, list[tuple[object, ...]]]:
    return {name: sorted(session.query(name).result().itertuples(index=False, name=None)) for name in QUERIES}


def expected(ids: list[int]) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect() as database:
        database.register("clicks", ROWS.take(pa.array(ids)))
        database.register("pages", PAGES)
        return {name: sorted(database.execute(sql).fetchall()) for name, sql in QUERIES.items()}


def check_estimate(session: PlainSession, ids: list[int]) -> None:
    """An id is a position, so the chance of each row that was drawn is that of its gap."""
    chance = np.ones(len(ROWS))
    for gap in session.streams["Clicks"].gaps:
        chance[gap.start : gap.stop] = gap.kept
    drawn = ROWS.to_pandas().take(sorted(ids)).assign(weight=lambda rows: 1 / chance[rows["id"]]).query("v > 10")
    drawn["total"] = drawn["v"] * drawn["weight"]
    sums = drawn.groupby("k")[["weight", "total"]].sum()
    found = session.query("estimated").estimate().pivot(index="k", columns="column", values="value")
    assert found["n"].tolist() == pytest.approx(sums["weight"].tolist())
    assert found["s"].tolist() == pytest.approx(sums["total"].tolist())
    assert found["a"].tolist() == pytest.approx((sums["total"] / sums["weight"]).tolist())
    if session.streams["Clicks"].shed == "sample by v":
        check_bounds(session, drawn)


def check_bounds(session: PlainSession, drawn: pd.DataFrame) -> None:
    """Rows that were drawn by v: all rows of one v are one value."""
    found = session.query("estimated").estimate().set_index(["k", "column"])
    reach = (found["high"] - found["value"]) / NORMAL_95
    assert reach.max() > 0
    for k, rows in drawn.groupby("k"):
        of_gaps = rows.groupby(["v", "weight"])["v"].agg(["size", "sum"])
        keys: dict[object, list[tuple[float, float, float]]] = {}
        for (key, weight), size, total in of_gaps.itertuples():
            keys.setdefault(key, []).append((1 / weight, size, total))
        for name, (_, variance) in zip("nsa", reference(keys).values(), strict=True):
            assert reach[k, name] == pytest.approx(variance**0.5), (k, name)


@pytest.mark.parametrize("shed", ["oldest", "sample", "sample by v"])
def test_answers_are_exact_over_what_arrived_and_then_over_all(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shed: str
) -> None:
    # It is behind as soon as a row waits.
    limits = Limits(latencies_behind=0, batches_behind=1, rows_caught_up_together=1_500)
    with Session(spark, tmp_path / "s", limits=limits) as session:
        session.add_stream("Clicks", iter(ROWS.to_batches(500)), time="id", shed=shed)
        session.add_table("Pages", PAGES)
        session.register(QUERIES["groups"], name="groups", results="eager")
        session.register("SELECT id FROM Clicks", name="ids")
        session.run_live(latency="20s")
        session.register(QUERIES["pairs"], name="pairs")  # also over what was left out: over the rows that arrived
        session.register(QUERIES["none"], name="none")
        left_out = session.streams["Clicks"].left_out
        assert 0 < left_out < 4_000 and session.query("pairs").left_out == {"Clicks": left_out}
        ids = session.query("ids").result()["id"].tolist()
        assert len(ids) == 4_000 - left_out == sum(report.rows for report in session.reports)
        assert answers(session) == expected(ids)
        session.register(ESTIMATED, name="estimated", results="off")
        if shed == "oldest":
            with pytest.raises(QueryError, match="no sample was taken of what was left out of Clicks"):
                session.query("estimated").estimate()
        else:
            check_estimate(session, ids)
        last = session.batch
    with Session.open(tmp_path / "s", spark, limits=limits) as session:
        assert session.streams["Clicks"].left_out == left_out and session.streams["Clicks"].shed == shed
        assert len(session.catch_up()) == 3
        assert session.query("pairs").left_out == {} and session.catch_up() == []
        found = session.query("estimated").estimate()  # nothing is left out, so it is the answer
        assert found["value"].equals(found["low"]) and found["value"].equals(found["high"])
        with duckdb.connect() as database:
            rows = database.register("clicks", ROWS).execute(ESTIMATED).fetchall()
        assert sorted(found["value"]) == pytest.approx(sorted(value for _, *row in rows for value in row))
        assert answers(session) == expected([*range(4_000)])
        changes = session.query("groups").changes()
        assert changes["weight"].sum() == len(expected([*range(4_000)])["groups"])
        # Gone back, the same rows are left out by the same batches, and some are caught up.
        session.seek(last)
        assert session.streams["Clicks"].left_out == left_out and answers(session) == expected(ids)
        assert sorted(session.query("ids").result()["id"]) == sorted(ids)


def test_groups_of_estimates_are_shown_as_those_of_answers(spark: SparkSession) -> None:
    rows = pa.table({"code": [b"a", b"\xff", b"a"], "place": [{"x": 0.1}, None, {"x": 0.1}]})
    with Session(spark) as session:
        session.add_stream("Rows", rows, history=3)
        query = session.register("SELECT code, place, COUNT(*) AS n FROM Rows GROUP BY code, place", name="q")
        found = query.estimate()[["code", "place", "value"]].to_numpy().tolist()
        assert sorted(found, key=repr) == [[b"\xff", None, 1.0], [b"a", {"x": 0.1}, 2.0]]
