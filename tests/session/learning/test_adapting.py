"""When a session re-optimises its network by itself: neither at once, nor for little, nor at any price."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench import Options
from workbench.errors import EngineError
from workbench.limits import LIMITS, Limits
from workbench.session.learning import reoptimizing
from workbench.session.learning.adapting import REPLAN_PATIENCE, Hysteresis, Reoptimizer
from workbench.session.learning.forecast import LEAST, Forecast
from workbench.session.session import Session

CHAIN = "SELECT a.i, c.i FROM T a, T b, T c WHERE a.k = 3 AND a.g = b.g AND b.d = c.d AND b.k < c.k"
PAIR = "SELECT b.i, c.i FROM T b, T c WHERE b.d = c.d AND b.k < c.k"

REPLAN_PAUSE, SHARE = LIMITS.batches_between_looks, LIMITS.percent_looking / 100


def looks(
    hysteresis: Hysteresis, batches: int, seconds: float, before: float, after: float, hydration: float = 0.0
) -> list[bool]:
    """Whether it acts, at each look in a number of batches that take some seconds."""
    forecast = Forecast(before, after, hydration, seconds * (1 - after / before))
    return [hysteresis.acts(forecast) for _ in range(batches) if hysteresis.is_due(seconds)]


def test_it_acts_when_looks_in_a_row_say_so() -> None:
    hysteresis = Hysteresis()
    assert looks(hysteresis, REPLAN_PAUSE * REPLAN_PATIENCE, 1, 100, 50) == [False] * (REPLAN_PATIENCE - 1) + [True]


def test_what_swings_or_is_little_is_left_alone() -> None:
    hysteresis = Hysteresis()
    for _ in range(5):
        assert looks(hysteresis, REPLAN_PAUSE, 1, 100, 50) == [False]
        assert looks(hysteresis, REPLAN_PAUSE, 1, 100, 120) == [False]
    assert not any(looks(hysteresis, 30, 1, 100, 95))


def test_what_pays_within_the_batches_that_are_expected_is_done_soon() -> None:
    """Half of a second is saved a batch, and hydrating takes 10 s: 20 batches."""
    assert looks(Hysteresis(), REPLAN_PAUSE * REPLAN_PATIENCE, 1, 100, 50, hydration=10) == [False] * (
        REPLAN_PATIENCE - 1
    ) + [True]


def test_a_dearer_hydration_is_done_when_it_would_have_paid_already() -> None:
    """Half of a second is saved a batch, and hydrating takes 60 s: 120 batches, and a look more."""
    acts = looks(Hysteresis(), 150, 1, 100, 50, hydration=60)
    assert acts.index(True) == 120 // REPLAN_PAUSE + REPLAN_PATIENCE - 1


def test_what_turned_after_a_long_time_is_followed_soon() -> None:
    hysteresis = Hysteresis()
    looks(hysteresis, 60, 1, 100, 120, hydration=10)
    assert looks(hysteresis, REPLAN_PAUSE * REPLAN_PATIENCE, 1, 100, 50, hydration=10) == [False] * (
        REPLAN_PATIENCE - 1
    ) + [True]


def test_what_turns_to_and_fro_is_not_followed_to_and_fro() -> None:
    """Nine batches long the other network is better, and then the one that runs; it takes 20 to pay."""
    hysteresis = Hysteresis()
    followed = []
    for _ in range(10):
        followed.append(any(looks(hysteresis, 3 * REPLAN_PAUSE, 1, 100, 50, hydration=10)))
        assert not any(looks(hysteresis, 3 * REPLAN_PAUSE, 1, 100, 200, hydration=10))
    assert followed == [True] * 2 + [False] * 8, "until turns have shown that it will not last"
    assert any(looks(hysteresis, 40, 1, 100, 50, hydration=10)), "what stays at last is followed"


def test_a_look_that_took_long_is_waited_for() -> None:
    hysteresis = Hysteresis()
    assert looks(hysteresis, REPLAN_PAUSE, 1, 100, 95)
    hysteresis.spent(10)
    due = [hysteresis.is_due(1) for _ in range(round(20 / SHARE))]
    assert 9 / SHARE < due.index(True) < 11 / SHARE


def rows(number: int) -> pd.DataFrame:
    return pd.DataFrame({"i": range(number), "k": [i % 7 for i in range(number)], "g": [i % 20 for i in range(number)],
                         "d": [i % 60 for i in range(number)]})  # fmt: skip


def test_a_session_does_it_by_itself(spark, monkeypatch: pytest.MonkeyPatch) -> None:
    eager = Limits(percent_replanned=100, batches_between_looks=1, percent_looking=10_000)
    with Session(spark=spark, options=Options(adaptive=True), limits=eager) as session:
        session.add_stream("T", rows(300), history=150, batch=20)
        for name, sql in (("chain", CHAIN), ("pair", PAIR)):
            session.register(sql, name=name)
        trees, answers = set(session.network.edges), []
        with monkeypatch.context() as patch:
            patch.setattr(reoptimizing, "predicted_seconds", lambda past, work: 1000.0)
            session.run(REPLAN_PATIENCE)
            assert set(session.network.edges) == trees
            assert session.reoptimize(dry_run=True).forecast.pays_after > LEAST
        monkeypatch.setattr(reoptimizing, "predicted_seconds", lambda past, work: 0.001 * work.operators)
        with monkeypatch.context() as patch:
            patch.setattr(Reoptimizer, "act", _fails)
            with pytest.warns(UserWarning, match="not re-optimised: no Spark"):
                session.run(REPLAN_PATIENCE)
        assert session.batch == 2 * REPLAN_PATIENCE and set(session.network.edges) == trees
        session.run(1)
        assert set(session.network.edges) != trees
        assert f"planned anew after batch {session.batch}" in str(session.query("chain").explain())
        answers = [session.query(name).result() for name in ("chain", "pair")]
        session.run(1)
        data = rows(150 + 20 * session.batch)
        pairs = data.merge(data, on="d", suffixes=("_b", "_c")).query("k_b < k_c")
        assert session.query("pair").count() == len(pairs) > len(answers[1])
        chain = data[data.k == 3].merge(pairs, left_on="g", right_on="g_b")
        assert session.query("chain").count() == len(chain) > len(answers[0])


def _fails(*arguments: object) -> None:
    raise EngineError("no Spark")
