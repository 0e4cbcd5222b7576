"""Queries go and are replaced while batches arrive: what no other query needs goes with them, and nothing else does."""

from __future__ import annotations

from pathlib import Path

from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files

COUNTED = Case("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
MORE = Case("SELECT g, SUM(big) AS s, MIN(k) AS lowest, COUNT(s) AS c FROM t GROUP BY g")
PAIRS = Case("SELECT a.id, b.id AS other FROM t a, t b WHERE a.k = b.k AND a.amount > b.amount AND a.g = 'a'")
FEWER = Case("SELECT a.id, b.id AS other FROM t a, t b WHERE a.k = b.k AND a.amount > b.amount AND a.g = 'b'")


def test_others_go_on_and_what_only_one_needed_goes(spark: SparkSession, tmp_path: Path) -> None:
    feeds = {"t": Feed(stream(170, seed=71), history=30, batch=9), "names": Feed(names(72), static=True)}
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        oracle.register({"counted": COUNTED, "pairs": PAIRS}, check=False)
        alone = network_of(oracle)
        state = stored_columns(oracle)
        oracle.register({"more": MORE, "fewer": FEWER}, check=False)
        oracle.run(1, check=False)
        assert len(stored_columns(oracle)) > len(state)
        oracle.drop("more")
        oracle.drop("fewer")
        assert network_of(oracle) == alone
        assert stored_columns(oracle) == state
        # Enough batches that segments from before and after become one.
        oracle.run(7, check=False)
        oracle.check_results()
        oracle.register({"counted": MORE}, check=False)
        oracle.run(1, check=False)
        oracle.register({"counted": COUNTED}, check=False)
        assert (network_of(oracle), stored_columns(oracle)) == (alone, state)
        oracle.run(2)
        assert stray_files(oracle.session) == set()
        oracle.check_changes()
        oracle.drop("counted")
        oracle.drop("pairs")
        assert not oracle.session.network.nodes and not oracle.session.parts.engine.state.trees
        assert not oracle.session.catalog("SELECT * FROM segments WHERE part <> 'arrived'").size
        assert not oracle.session.catalog("SELECT * FROM lineage_bits").size
        assert stray_files(oracle.session) == set()


def network_of(oracle: Oracle) -> set[tuple[str, tuple[str, ...]]]:
    return {(node.id, node.parents) for node in oracle.session.network.nodes}


def stored_columns(oracle: Oracle) -> set[tuple[str, str, str]]:
    """The columns of rows and states that trees say they have."""
    found = set()
    for root, tree in oracle.session.parts.engine.state.trees.items():
        found |= {(root, "rows", name) for name in tree.relation.layout.columns}
        found |= {(root, "state", name) for name in (tree.state.layout.columns if tree.state else ())}
    return found
