"""A change that takes back what was never emitted is found where it is written, and the operator is computed anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine import incremental_step
from workbench.engine.operators.operator_input import Prepared
from workbench.engine.operators.runner import Runner
from workbench.engine.state import Deltas
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.segments import open_segment, write_segments

FRAME = pd.DataFrame({"c": [2, 2, 3, 3, 3, 4], "d": [1, 1, 2, 2, 2, 1]})
QUERIES = {
    "numbered": "SELECT c, ROW_NUMBER() OVER (ORDER BY c DESC) AS n FROM t",
    "above": "SELECT n % 2 AS odd, COUNT(*) AS k FROM numbered GROUP BY n % 2",
    "beside": "SELECT d, COUNT(*) AS k FROM t GROUP BY d",
}


ANSWERS = {
    "numbered": [(4, 1), (3, 2), (3, 3), (3, 4), (2, 5), (2, 6)],
    "above": [(0, 3), (1, 3)],
    "beside": [(1, 3), (2, 3)],
}


def rows(session: Session, name: str) -> Counter[tuple[object, ...]]:
    return Counter(session.query(name).result().itertuples(index=False, name=None))


def changes(session: Session, name: str) -> Counter[tuple[object, ...]]:
    summed: Counter[tuple[object, ...]] = Counter()
    for _, weight, *row in session.query(name).changes().itertuples(index=False, name=None):
        summed[tuple(row)] += weight
    assert not -summed
    return +summed


def test_an_operator_that_takes_back_what_it_never_emitted(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, batches = incremental_step.run_prepared, Counter[str]()

    def wrong(runner: Runner, prepared: Mapping[str, Prepared], threads: Executor | None = None) -> dict[str, Deltas]:
        """The first change of the numbered rows takes back rows that are other than those it emitted."""
        deltas = run(runner, prepared, threads)
        for name in deltas:
            batches[name] += 1
            if name.startswith("A") and batches[name] == 1:
                delta, of_state = deltas[name]
                written = pa.Table.from_batches([open_segment(s.path) for s in delta.segments])
                leaving = pc.less(written[WEIGHT], 0)
                assert pc.any(leaving).as_py()
                at = written.schema.get_field_index("c")
                other = written.set_column(at, "c", pc.if_else(leaving, 7, written["c"]))
                segments = write_segments(other, runner.folder(name))
                deltas[name] = replace(delta, segments=segments), of_state
        return deltas

    with Session(spark) as session:
        session.add_stream("t", FRAME, history=3, batch=1)
        session.register_many(QUERIES)
        node = next(view.id for view in session.network.nodes if view.kind == "analytic")
        monkeypatch.setattr(incremental_step, "run_prepared", wrong)
        with pytest.warns(UserWarning, match=f"node {node} takes back in batch 1 were never emitted"):
            session.run(1)
        assert batches[node] == 1
        session.run(2)
        assert all(session.query(name).status == "active" for name in QUERIES)
        for name in QUERIES:
            assert rows(session, name) == changes(session, name) == Counter(ANSWERS[name]), name
