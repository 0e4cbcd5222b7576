"""Metrics of a session over the loopback interface, and the log of what happens in it."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import SessionError
from workbench.monitoring.batch_log import LOGGER, log_to
from workbench.monitoring.metrics import metrics_text, serve_metrics

Labels = tuple[tuple[str, str], ...]


def numbers(text: str) -> dict[tuple[str, Labels], float]:
    """The metrics of a text, as Prometheus' own parser reads them."""
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def clicks() -> Iterator[dict[str, object]]:
    yield from ({"id": number, "page": "abc"[number % 3]} for number in range(10))
    raise OSError("the shop is closed")


def test_a_session_is_watched(spark: SparkSession, tmp_path: Path) -> None:
    handler = log_to(tmp_path / "argus.jsonl")
    try:
        with Session(spark) as session:
            days = pd.to_datetime(["2020-01-01", "2020-01-02", "2019-12-31"])
            session.add_stream("Old", pd.DataFrame({"day": days}), 1, 1, "day", lateness="12 hours")
            session.add_stream("Clicks", clicks(), batch=5)
            session.register("SELECT page, COUNT(*) AS n FROM Clicks GROUP BY page", name="pages")
            session.register("SELECT day, (SELECT page FROM Clicks) AS page FROM Old", name="risky")
            session.add_sink("pages", lambda batch, rows: {}[batch], name="broken")
            endpoint = serve_metrics(session)
            with pytest.raises(SessionError, match=f"nothing can listen at port {endpoint.port}"):
                serve_metrics(session, endpoint.port)
            session.run(3)
            with urllib.request.urlopen(endpoint.url, timeout=60) as answer:
                found = numbers(answer.read().decode())
            assert found["argus_batches_total", ()] == 2
            assert found["argus_batch_rows", ()] == session.reports[-1].rows
            assert found["argus_queries", (("state", "active"),)] == 1
            assert found["argus_queries", (("state", "stopped"),)] == 1
            assert found["argus_rows_total", (("stream", "Clicks"),)] == 10
            assert found["argus_quarantined_rows_total", (("stream", "Old"),)] == 1
            assert found["argus_event_time_seconds", (("stream", "Old"),)] == 1577923200
            assert found["argus_source_up", (("stream", "Clicks"),)] == 0
            assert found["argus_waiting_rows", (("stream", "Clicks"),)] == 0
            assert ("argus_sink_behind_batches", (("query", "pages"), ("sink", "broken"))) in found
            endpoint.close()
        assert metrics_text(session) == ""
    finally:
        handler.close()
    assert handler not in LOGGER.handlers and LOGGER.level == logging.NOTSET
    lines = [json.loads(line) for line in (tmp_path / "argus.jsonl").read_text().splitlines()]
    batches = [line for line in lines if line["event"] == "batch"]
    assert [line["batch"] for line in batches] == [1, 2]
    assert batches[0]["arrived"] == {"Old": 1, "Clicks": 5} and batches[1]["late_rows"] == {"Old": 1}
    problems = {line["event"]: line for line in lines if line["level"] == "WARNING"}
    assert "the shop is closed" in problems["source"]["problem"]
    assert "row" in problems["queries disabled"]["reasons"]["risky"]
    assert problems["sink"]["query"] == "pages" and "KeyError" in problems["sink"]["problem"]
    assert len([line for line in lines if line["event"] == "source"]) == 1


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be written"):
        log_to(tmp_path / "no" / "such" / "file")
