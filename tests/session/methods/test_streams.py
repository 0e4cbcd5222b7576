"""Streams are added, read and dropped one at a time, whatever thread asks; the update of a table is a batch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.live.sources import LiveSources
from workbench.session.session import Session

ROWS = pa.table({"id": range(10)})


def source() -> Any:
    return iter(ROWS.to_batches(5))


def others_wait(session: Session) -> bool:
    """Whether another thread that wants to change the session has to wait now."""

    def change() -> None:
        with session.parts.store.exclusively():
            pass

    other = threading.Thread(target=change, daemon=True)
    other.start()
    other.join(0.1)
    return other.is_alive()


OPERATIONS: dict[str, Callable[[Session], object]] = {
    "add_stream": lambda s: s.add_stream("u", source()),
    "attach": lambda s: s.attach("t", source()),
    "drop_stream": lambda s: s.drop_stream("t"),
    "run": lambda s: s.run(1),
    "live": lambda s: s.live("1s").ready(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_live_sources_are_used_by_one_thread_at_a_time(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = list[bool]()
    with Session(spark=InProcess()) as session:  # type: ignore[arg-type]
        session.add_stream("t", source(), history=2, batch=2)

        def watched(method: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **kwargs: object) -> object:
                waited.append(others_wait(session))
                return method(*args, **kwargs)

            return call

        for name in ("attach", "detach", "take_in"):
            monkeypatch.setattr(LiveSources, name, watched(getattr(LiveSources, name)))
        OPERATIONS[operation](session)
        assert waited and all(waited)
        monkeypatch.undo()


def test_the_update_of_a_table_is_logged_as_every_batch(caplog: pytest.LogCaptureFixture) -> None:
    with Session(spark=InProcess()) as session:  # type: ignore[arg-type]
        session.add_table("t", ROWS, key=["id"])
        session.add_stream("s", ROWS, history=2, batch=2)
        with caplog.at_level(logging.INFO, logger="workbench"):
            session.update_table("t", [{"id": 100}])
            session.run(1)
    batches = [record.about for record in caplog.records if record.getMessage() == "batch"]  # type: ignore[attr-defined]
    assert [(about["batch"], about["rows"]) for about in batches] == [(1, 1), (2, 2)]
