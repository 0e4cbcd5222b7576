"""Networks that are planned anew while batches arrive: every answer and every change stays what its SQL gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from long import LONG
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files

from workbench.errors import EngineError
from workbench.session import transitions
from workbench.session.directory.stored_session import StoredSession
from workbench.session.learning.forecast import Forecast
from workbench.session.learning.reoptimizing import Accept, Reoptimization
from workbench.session.session import Session

CHAINS = {
    "chain": Case("SELECT a.id, b.id, c.id FROM t a, t b, t c WHERE a.k = 3 AND a.g = b.g AND b.d = c.d AND b.k < c.k"),
    "grouped_chain": Case(
        "SELECT a.g, COUNT(*) FROM t a, t b, t c WHERE a.k = 3 AND a.g = b.g AND b.d = c.d AND b.k < c.k GROUP BY a.g"
    ),
    "pair": Case("SELECT b.id, c.id FROM t b, t c WHERE b.d = c.d AND b.k < c.k"),
    "narrow": Case("SELECT b.id, c.id FROM t b, t c WHERE b.d = c.d AND b.k < c.k AND b.g = 'a'"),
    "union": Case("SELECT id FROM t WHERE k = 3 UNION ALL SELECT b.id FROM t b, t c WHERE b.d = c.d AND b.k < c.k"),
}
MIXED = ["join_over_aggregate", "aggregate_by_group", "set_except_all"]


def feeds() -> dict[str, Feed]:
    return {
        "t": Feed(stream(90, seed=15), history=20, batch=12),
        "u": Feed(stream(40, seed=16), history=0, batch=8),
        "names": Feed(names(5), static=True),
    }


def anyway(forecast: Forecast) -> bool:
    return True


def replanned(session: Session, accept: Accept = anyway) -> Reoptimization:
    """Planned anew, whatever it costs."""
    with session.parts.store.changing() as change:
        change.state, outcome = transitions.reoptimize(session.parts.runtime, change.state, accept)
    return outcome


@pytest.mark.timeout(2400 if LONG else 300)
def test_at_any_moment(spark: SparkSession, tmp_path: Path) -> None:
    """First a chain that was there before its pair; then the pair goes, and an aggregate holds on to its join."""
    with Oracle(spark, feeds(), path=tmp_path / "s") as oracle:
        oracle.register({"chain": CHAINS["chain"]})
        oracle.run()
        oracle.register({name: CHAINS[name] for name in ("pair", "narrow", "union")}, one_by_one=True)
        oracle.register({name: ALL[name] for name in (ALL if LONG else MIXED)}, results="eager")
        ids = {name: query.registered for name, query in oracle.session.queries.items()}
        dry = oracle.session.reoptimize(dry_run=True)
        assert not dry.applied and "chain" in dry.moved
        assert dry.forecast.hydration > 0 and dry.forecast.saving != 0 and str(dry.forecast) in str(dry)
        oracle.run()
        outcome = replanned(oracle.session)
        assert outcome.applied and outcome.moved == dry.moved and outcome.added
        oracle.check_results()
        explained = str(oracle.session.query("chain").explain())
        assert "planned anew after batch 2" in explained and str(outcome.forecast) in explained
        oracle.register({"grouped_chain": CHAINS["grouped_chain"]})
        oracle.run()
        for name in ("pair", "set_except_all"):
            oracle.drop(name)
        outcome = replanned(oracle.session)
        assert "grouped_chain" not in outcome.moved
        oracle.run()
        oracle.reopen()
        oracle.check_results()
        oracle.check_changes(since=True)
        assert ids.items() <= {"pair": 1, "set_except_all": 1}.items() | {
            (name, query.registered) for name, query in oracle.session.queries.items()
        }


def test_a_crash_loses_nothing(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine fails when the new trees are there: network, catalog and answers are as before."""
    with Oracle(spark, feeds(), path=tmp_path / "s") as oracle:
        oracle.register({"chain": CHAINS["chain"]})
        oracle.register({"pair": CHAINS["pair"]})
        before = oracle.session.network.nodes
        with monkeypatch.context() as patch:
            patch.setattr(StoredSession, "write", failing)
            with pytest.raises(EngineError, match="no room"):
                replanned(oracle.session)
        assert oracle.session.network.nodes == before and not stray_files(oracle.session)
        oracle.run()
        assert replanned(oracle.session).applied
        oracle.run()
        oracle.check_changes()


def failing(*arguments: object) -> None:
    raise OSError("no room")
