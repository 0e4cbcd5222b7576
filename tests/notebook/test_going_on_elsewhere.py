"""``%argus open``: what the session before did by itself is done by the one that was opened, or by none."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.monitoring.metrics import serve_metrics
from workbench.notebook.context import NotebookContext

ROWS = pd.DataFrame({"id": range(1_000), "at": pd.date_range("2026-01-01", periods=1_000, freq="h")})


def a_free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def first() -> Iterator[Session]:
    with Session(InProcess()) as session:
        session.add_stream("s", ROWS, history=10, batch=10, time="at")
        session.register("SELECT COUNT(*) AS n FROM s", name="q")
        yield session


def gone_on(first: Session, folder: Path) -> NotebookContext:
    """A notebook that saved its session and opened the copy."""
    context = NotebookContext({}, lambda: first, lambda path: Session.open(path, spark=InProcess()))
    context.session.save(str(folder))
    assert context.open(str(folder)) is not first
    return context


def is_answered(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return bool(answer.read())
    except OSError:
        return False


def test_rows_that_programs_send_come_to_the_session_that_was_opened(first: Session, tmp_path: Path) -> None:
    address = f"127.0.0.1:{a_free_port()}/rows"
    first.add_stream("sent", f"listen://{address}", columns={"id": "integer"})
    context = gone_on(first, tmp_path / "copy")
    try:
        body, kind = json.dumps([{"id": 1}]).encode(), {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"http://{address}", body, kind), timeout=20) as answer:
            assert json.load(answer)["records"] == 1
        assert (context.session.streams["sent"].rows, first.streams["sent"].rows) == (1, 0)
        assert not context.session.sources["sent"].problem and not context.session.sources["sent"].earlier
    finally:
        context.close()


@pytest.mark.parametrize("serve", [lambda session: session.serve().url + "/q", lambda s: serve_metrics(s).url])
def test_ports_are_free_for_the_session_that_was_opened(
    first: Session, tmp_path: Path, serve: Callable[[Session], str]
) -> None:
    url = serve(first)
    assert is_answered(url)
    context = gone_on(first, tmp_path / "copy")
    assert not is_answered(url)
    context.close()


def test_metrics_end_with_their_session(first: Session) -> None:
    url = serve_metrics(first).url
    first.close()
    assert not is_answered(url)


def test_the_session_before_plays_no_more_and_can_be_read(first: Session, tmp_path: Path) -> None:
    first.player.speed = 3_600.0
    first.player.play(50)
    context = gone_on(first, tmp_path / "copy")
    batch = first.batch
    time.sleep(1.2)
    assert first.batch == batch and first.query("q").result().n[0] == 10 * (batch + 1)
    first.run(1)
    assert first.batch == batch + 1
    context.close()
