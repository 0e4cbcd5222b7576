"""Times of nodes, shared out of their operator's: they add up to it, and go where work was seen."""

from __future__ import annotations

import time

import pytest

from workbench import Session
from workbench.engine.reports import BatchReport, OperatorReport
from workbench.engine.spark.in_process import InProcess
from workbench.notebook.commands.timings import show_timings

ROWS = 400
SLEEP = 0.0005


def slow(value: int) -> bool:
    time.sleep(SLEEP)
    return value >= 0


@pytest.fixture(scope="module")
def session() -> Session:
    import pyarrow as pa

    session = Session(InProcess())
    session.add_function("slow", slow, returns="boolean")
    session.add_stream("t", pa.table({"id": range(6 * ROWS), "v": [n % 10 for n in range(6 * ROWS)]}), 0, ROWS)
    session.register_many(
        {
            "cheap": "SELECT id FROM t WHERE v > 3",
            "both": "SELECT id FROM t WHERE v > 3 AND v < 6",
            "dear": "SELECT id FROM t WHERE slow(id)",
        }
    )
    return session


def shared(report: BatchReport) -> OperatorReport:
    return max(report.operators, key=lambda operator: len(operator.nodes))


def test_they_add_up_to_the_operator(session: Session) -> None:
    operator = shared(session.run(1)[0])
    assert len(operator.nodes) > 3
    assert sum(operator.microseconds.values()) == pytest.approx(1e6 * operator.seconds, abs=len(operator.nodes))
    assert all(share > 0 for share in operator.microseconds.values())


def test_calls_go_to_the_node_that_asks(session: Session) -> None:
    report = session.run(1)[0]
    operator = shared(report)
    of = {name: report.node(session.network.results[name][0]) for name in ("cheap", "dear")}
    assert of["dear"].estimated and of["cheap"].estimated
    calls = sum(test.seconds for test in operator.tests.values())
    assert calls > ROWS * SLEEP / 2
    assert (of["dear"].seconds or 0) >= min(calls, operator.seconds) > 5 * (of["cheap"].seconds or 1)


def test_a_node_of_its_own_is_measured(session: Session) -> None:
    report = session.run(1)[0]
    alone = [operator for operator in report.operators if len(operator.nodes) == 1]
    for operator in alone:
        assert report.node(operator.root).seconds == operator.seconds
        assert not report.node(operator.root).estimated


def test_the_timings_mark_estimates_and_check_them(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.run(1)
    show_timings(session, 1)
    shown = capsys.readouterr().out
    assert "shared out by the rows" in shown and "≈" in shown
    session.run(1, profile=True)
    show_timings(session, 1)
    assert "off what was measured by a factor of" in capsys.readouterr().out
