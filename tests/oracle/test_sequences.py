"""Random sequences of register, replace, drop, run and reopen, against recomputation (hypothesis, stateful)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files, what_survives

CASES = [
    "selection_or",
    "selection_case",
    "join_self",
    "join_over_aggregate",
    "aggregate_by_group",
    "aggregate_extremes",
    "aggregate_median",
    "aggregate_of_aggregates",
    "set_distinct",
    "set_union",
    "set_except_all",
    "set_aggregate_of_except",
    "view_view",
]
NAMES = ["a", "b", "c", "d", "e"]


class Analyst(RuleBasedStateMachine):
    """A user who registers, replaces and drops queries while batches arrive."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        feeds = {
            "t": Feed(stream(90, seed=5), history=20, batch=12),
            "u": Feed(stream(40, seed=6), history=0, batch=8),
            "names": Feed(names(5), static=True),
        }
        self.folder = Path(tempfile.mkdtemp(prefix="argus-test-"))
        self.oracle = Oracle(spark, feeds, path=self.folder)

    @rule(name=st.sampled_from(NAMES), case=st.sampled_from(CASES))
    def register(self, name: str, case: str) -> None:
        """A name that is there is replaced."""
        before = self.oracle.watched.get(name)
        self.oracle.register({name: ALL[case]})
        assert before is None or before.query.status == "replaced"

    @rule(cases=st.lists(st.sampled_from(CASES), min_size=2, max_size=3))
    def register_together(self, cases: list[str]) -> None:
        self.oracle.register({name: ALL[case] for name, case in zip(NAMES, cases, strict=False)})

    @precondition(lambda self: self.oracle.watched)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        self.oracle.drop(data.draw(st.sampled_from(sorted(self.oracle.watched))))
        if not self.oracle.watched:
            assert not self.oracle.session.network.nodes

    @precondition(lambda self: self.oracle.watched)
    @rule(batches=st.integers(1, 2))
    def run(self, batches: int) -> None:
        self.oracle.run(batches)

    @rule()
    def reopen(self) -> None:
        before = what_survives(self.oracle.session)
        self.oracle.reopen()
        assert what_survives(self.oracle.session) == before
        assert stray_files(self.oracle.session) == set()

    def teardown(self) -> None:
        try:
            self.oracle.reopen()
            self.oracle.check_results()
            self.oracle.check_changes()
        finally:
            self.oracle.session.close()
            shutil.rmtree(self.folder)


def test_sequences(spark: SparkSession) -> None:
    bounded = settings(
        max_examples=4,
        stateful_step_count=9,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: Analyst(spark), settings=bounded)
