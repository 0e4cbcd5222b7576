"""What a session observes of its batches, and that a session that is opened again has observed the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workbench.session.learning.observing import q_error
from workbench.session.session import Session

PAIRS = "SELECT a.n FROM T a, T b WHERE a.src = b.src AND a.n = 1 AND b.n > 1"


def rows(number: int) -> pd.DataFrame:
    """Rows of which few are tied to each other in the history, and many later."""
    late = 200
    return pd.DataFrame(
        {"n": [1 + i % 2 for i in range(number)], "src": [i if i < late else i % 5 for i in range(number)]}
    )


def test_the_q_error_is_a_ratio_of_at_least_a_row() -> None:
    assert q_error(8, 2) == q_error(2, 8) == 4
    assert q_error(0, 0) == q_error(0.5, 1) == 1


def test_a_join_that_grows_is_learnt_and_not_forgotten(spark, tmp_path: Path) -> None:
    with Session(spark=spark, path=tmp_path / "s") as session:
        session.add_stream("T", rows(500), history=200, batch=50)
        session.register(PAIRS, name="pairs")
        assert session.observed().empty
        session.run(1)
        first = session.observed()
        session.run(4)
        last = session.observed()
        [join] = last[last.kind == "join"].itertuples()
        assert join.inputs == 2 and join.actual == session.reports[-1].node(join.node).rows_out > 0
        assert join.q_learnt < 3 < 10 < join.q_predicted
        assert first[first.kind == "join"].q_learnt.item() > 3
        # A stream that has grown is looked at again, and a query over what was seen is planned with it.
        session.register(PAIRS.replace("> 1", "= 2"), name="more")
        assert session.parts.planner.streams["t"].rows == 450
        assert session.parts.planner.observed.changes[join.node] == pytest.approx(join.actual, rel=3)
    with Session.open(tmp_path / "s", spark) as session:
        again = session.observed()
        again = again[again.node.isin(last.node)]
        assert dict(zip(again.node, again.actual, strict=True)) == dict(zip(last.node, last.actual, strict=True))
        assert again.learnt.median() == pytest.approx(last.learnt.median(), rel=1)
