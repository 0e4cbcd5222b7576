"""No garbage is collected while a batch is evaluated, and as before afterwards."""

from __future__ import annotations

import gc

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.operators.runner import Runner
from workbench.engine.spark.in_process import InProcess
from workbench.garbage import nothing_collected


@pytest.fixture(autouse=True)
def collecting() -> None:
    assert gc.isenabled()


def test_garbage_is_collected_again_after_the_outermost_context() -> None:
    with pytest.raises(KeyError), nothing_collected():
        with nothing_collected():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with nothing_collected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("fails", [False, True])
def test_a_batch_is_evaluated_without(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    collects: list[bool] = []

    def noted(runner: Runner, *given: object) -> object:
        collects.append(gc.isenabled())
        if fails:
            raise OSError("no room")
        return original(runner, *given)  # type: ignore[arg-type]

    with Session(InProcess()) as session:
        session.add_stream("t", pa.table({"x": [1, 2, 3]}), history=1, batch=1)
        session.register("SELECT COUNT(*) AS n FROM t")
        original = Runner.run_here
        monkeypatch.setattr(Runner, "run_here", noted)
        if fails:
            with pytest.raises(Exception, match="no room"):
                session.run(1)
        else:
            session.run(2)
        assert collects and not any(collects) and gc.isenabled()
