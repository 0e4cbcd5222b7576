"""A profiled batch: every node is evaluated once more, alone, and finds the same rows as in its shared operator."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench.engine.incremental_step import IncrementalStep
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.state import Deltas
from workbench.engine.tree import Tree
from workbench.network.nodes import NodeId
from workbench.notebook.commands.timings import nodes_table
from workbench.session.session import Session

CASES = [
    "selection_or",
    "selection_between",
    "join_self",
    "join_or_join_nulls",
    "join_days_or_group",
    "join_theta",
    "join_over_aggregate",
    "aggregate_by_group",
    "aggregate_by_month",
    "aggregate_counts",
    "aggregate_median",
    "set_distinct",
    "set_union_all",
    "set_except_all",
]


def semijoined(tree: Tree) -> Collection[NodeId]:
    """The nodes of a join of which only some pairs are stored."""
    return tree.plan.semijoins if isinstance(tree.plan, JoinPlan) else ()


def test_a_node_alone_finds_what_it_finds_in_its_operator(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[NodeId, set[int]] = {}
    shared = IncrementalStep.delta

    def told(self: IncrementalStep, tree: Tree, deltas: dict[str, Deltas]) -> Deltas:
        made = shared(self, tree, deltas)
        if len(tree.plan.nodes) == 1 and tree.plan.roots[0] not in semijoined(tree):
            (node,) = tree.plan.nodes
            found.setdefault(node, set()).add(made[0].count(tree.plan.bits[node]))
        return made

    monkeypatch.setattr(IncrementalStep, "delta", told)
    feeds = {
        "t": Feed(stream(120, seed=20), history=40, batch=30),
        "u": Feed(stream(80, seed=21), history=0, batch=40),
        "names": Feed(names(20), static=True),
    }
    with Oracle(spark, feeds) as oracle:
        oracle.register({name: ALL[name] for name in CASES}, check=False)
        oracle.run(1, check=False)
        found.clear()
        (report,) = oracle.session.run(1, profile=True)
        oracle.catch_up()
        oracle.check_results()
        some = frozenset(id_ for tree in oracle.session.parts.engine.state.trees.values() for id_ in semijoined(tree))
        alone = {id_: seconds for operator in report.operators for id_, seconds in operator.alone.items()}
        assert len(alone) > 20
        assert all(report.node(id_).seconds == seconds > 0 for id_, seconds in alone.items())
        told_together = {id_: {report.node(id_).rows_out} for id_ in alone if id_ not in some}
        assert told_together == {id_: found[id_] for id_ in told_together}


def test_a_profile_is_shown_and_opened_again(spark: SparkSession, tmp_path: Path) -> None:
    with Session(spark, path=tmp_path / "kept") as session:
        session.add_stream("t", stream(60, seed=4), history=10, batch=25)
        session.register("SELECT * FROM t WHERE k > 0", "some")
        session.register("SELECT * FROM t WHERE k > 3", "fewer")
        (report,) = session.run(1, profile=True)
        assert "as if the others had no readers" in nodes_table(report, session.network).text
        assert " alone" in session.network.to_dot()
    with Session.open(tmp_path / "kept", spark) as session:
        assert session.reports[0].operators == report.operators
        assert all(o.together > 0 for o in report.operators)
        assert " alone" in session.network.to_dot()
        session.run(1)
        assert " alone" not in session.network.to_dot()
