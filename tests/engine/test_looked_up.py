"""Which trees are known to have rows that are looked up: their runs are merged also where they have many rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits

LIMITS = Limits(rows_stepped_in_process=10, runs_per_merge=2, runs_merged_later=1)
LINES = pa.table({"id": [*range(120)], "k": [n % 7 for n in range(120)]})
NAMES = pa.table({"k": [*range(7)], "name": list("abcdefg")})


def looked_up(session: Session) -> dict[str, tuple[bool, int]]:
    """By the stream, or by the kind of an operator, whether its rows are looked up, and how many runs it has."""
    trees = session.parts.engine.state.trees.values()
    named = ((getattr(tree.plan, "stream", type(tree.plan).__name__), tree.relation) for tree in trees)
    return {name: (relation.looked_up, len(relation.runs)) for name, relation in named}


@pytest.mark.parametrize("names_change", [False, True])
def test_a_side_is_looked_up_where_the_other_one_changes(names_change: bool) -> None:
    with Session(InProcess(), limits=LIMITS) as session:
        session.add_stream("lines", LINES, history=20, batch=20)
        session.add_stream("names", NAMES, history=5 if names_change else 7, batch=1)
        query = session.register("SELECT id, name FROM lines JOIN names USING (k)")
        session.run(2)
        known = looked_up(session)
        # Runs that were due before the last batch are one.
        assert known["lines"] == (names_change, 2 if names_change else 3)
        assert known["names"][0] and known["JoinPlan"] == (False, 3)
        session.run(3)
        assert looked_up(session)["JoinPlan"] == (False, 6)
        assert len(query.result()) == len([k for k in LINES["k"].to_pylist() if names_change or k < 7])


def test_all_rows_of_a_group_are_looked_up_where_statistics_have_no_parts() -> None:
    with Session(InProcess(), limits=LIMITS) as session:
        session.add_stream("lines", LINES, history=20, batch=20)
        session.register("SELECT k, COUNT(*) AS n FROM lines GROUP BY k")
        session.run(1)
        assert looked_up(session)["lines"] == (False, 2)
        session.register("SELECT k, id, LAG(id) OVER (PARTITION BY k ORDER BY id) AS before FROM lines")
        session.run(1)
        assert looked_up(session)["lines"][0]
