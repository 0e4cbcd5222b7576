"""Metrics of a session in Prometheus' text format, over an endpoint (``listening``).

Metrics are read off the session at each request, so a batch does no work for them. Names end in their units,
and in ``_total`` where they only grow; going back to an earlier batch looks like a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from workbench.session.query import Query
from workbench.session.session import Session
from workbench.session.state import ACTIVE
from workbench.web.listening import LOOPBACK, Endpoint, listen

Family = CounterMetricFamily | GaugeMetricFamily


def serve_metrics(session: Session, port: int = 0, host: str = LOOPBACK, token: str | None = None) -> Endpoint:
    """Let a session be watched at ``http://127.0.0.1:PORT/metrics``, until the endpoint or the session is closed.

    Args:
        session: whose batches, streams, sources, sinks and queries are shown.
        port: 0 takes one that is free.
        host: the address of the interface to listen at; beyond the loopback interface there must be a token.
        token: what a request must have, as ``Authorization: Bearer TOKEN`` or ``?token=TOKEN``.

    Raises:
        SessionError: the port is taken or invalid; or there is no token beyond the loopback interface.

    Example:
        >>> with Session() as session:  # doctest: +SKIP
        ...     endpoint = serve_metrics(session, port=9095)
        ...     session.run_live(latency="1s")
    """
    endpoint = listen(make_wsgi_app(_registry(session)), "/metrics", port, host, token)
    session.close_with(endpoint)
    return endpoint


def metrics_text(session: Session) -> str:
    """The metrics as they are now, as the endpoint gives them."""
    return generate_latest(_registry(session)).decode()


def _registry(session: Session) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_SessionMetrics(session))
    return registry


class _SessionMetrics(Collector):
    def __init__(self, session: Session) -> None:
        self._session = session

    def describe(self) -> Iterable[Family]:
        return ()

    def collect(self) -> Iterator[Family]:
        """The metrics; a session that was closed has none."""
        if not self._session.closed:
            yield from _of_batches(self._session)
            yield from _of_streams(self._session)
            yield from _of_sources(self._session)
            yield from _of_sinks(self._session)


def _of_batches(session: Session) -> Iterator[Family]:
    reports = session.reports
    states = [_state(query) for query in session.queries.values()]
    yield CounterMetricFamily("argus_batches", "batches that were run", session.batch)
    if reports:
        yield GaugeMetricFamily("argus_batch_seconds", "wall time of the last batch", reports[-1].seconds)
        yield GaugeMetricFamily("argus_batch_rows", "rows that the last batch brought", reports[-1].rows)
    counts = {(state,): states.count(state) for state in sorted(set(states))}
    yield _gauge("argus_queries", "registered queries by state", ("state",), counts)
    yield GaugeMetricFamily("argus_nodes", "nodes of the shared network", len(session.network.nodes))


def _state(query: Query) -> str:
    if query.status != ACTIVE:
        return "stopped"
    return "active" if query.suspended is None else "suspended"


def _of_streams(session: Session) -> Iterator[Family]:
    streams, clocks = session.streams, session.clocks
    yield _counter("argus_rows", "rows that have arrived", {(n,): s.position for n, s in streams.items()})
    yield _counter(
        "argus_quarantined_rows", "rows in no answer", {(name,): s.quarantined_rows for name, s in streams.items()}
    )
    left_out = {(name,): s.left_out for name, s in streams.items() if s.shed is not None}
    yield _gauge("argus_left_out_rows", "rows that were left out and not caught up", ("stream",), left_out)
    times = {(name,): clock.timestamp() for name, clock in clocks.items() if clock is not None}
    yield _gauge("argus_event_time_seconds", "latest event time, since 1970", ("stream",), times)


def _of_sources(session: Session) -> Iterator[Family]:
    sources = {(name,): source for name, source in session.sources.items()}
    for name, what, values in (
        ("argus_waiting_rows", "rows that no batch has taken", {key: s.waiting for key, s in sources.items()}),
        ("argus_logged_rows_per_second", "rows that came", {key: s.rate for key, s in sources.items()}),
        ("argus_lag_seconds", "how long the first waiting row has", {key: s.lag for key, s in sources.items()}),
        ("argus_source_up", "0: it could not be read", {key: not s.problem for key, s in sources.items()}),
    ):
        yield _gauge(name, what, ("stream",), values)


def _of_sinks(session: Session) -> Iterator[Family]:
    sinks = {(name, sink.query): sink for name, sink in session.sinks.items()}
    for name, what, values in (
        ("argus_sink_behind_batches", "batches that the target lacks", {key: s.behind for key, s in sinks.items()}),
        ("argus_sink_up", "0: it refused what it was given", {key: not s.problem for key, s in sinks.items()}),
    ):
        yield _gauge(name, what, ("sink", "query"), values)


def _gauge(name: str, what: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Family:
    family = GaugeMetricFamily(name, what, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _counter(name: str, what: str, values: Mapping[Any, float]) -> Family:
    family = CounterMetricFamily(name, what, labels=("stream",))
    for key, value in values.items():
        family.add_metric(key, value)
    return family
