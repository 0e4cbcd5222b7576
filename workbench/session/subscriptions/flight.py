"""Answers and changes over Arrow Flight, read-only: as Arrow has them, for other programs of any language.

A ticket is JSON: ``{"query": "big"}`` is its answer; with ``"since": 7``, or the place of an earlier record batch, its
changes since then; with ``"follow": true`` the stream goes on, beginning with the answer unless ``since`` is given. The
metadata of each record batch has its batch, the place, and whether it is of the whole answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight

from workbench.arrow.frames import shown_schema
from workbench.errors import QueryError, UnexpectedError, WorkbenchError
from workbench.errors.secrets import hide_secrets
from workbench.session.query import Query
from workbench.session.state import OFF
from workbench.session.subscriptions.events import AnswerEvent, AnswerPlace, Subscriptions
from workbench.web.listening import check_token, has_token


class AnswerFlights(flight.FlightServerBase):
    """Listens for flight clients.

    Args:
        subscriptions: of the session.
        host, port: the address to listen at; port 0 takes a free one.
        token: calls must have it as ``authorization: Bearer TOKEN``; required beyond the loopback interface.

    Raises:
        SessionError: a token is missing or short.
    """

    def __init__(self, subscriptions: Subscriptions, host: str, port: int, token: str | None) -> None:
        check_token(host, token)
        where = f"grpc://[{host}]:{port}" if ":" in host else f"grpc://{host}:{port}"
        guards = {} if token is None else {"token": _Guard(token)}
        super().__init__(where, middleware=guards)
        self._subscriptions = subscriptions
        self.url = f"{where.rpartition(':')[0]}:{self.port}"

    def list_flights(self, context: Any, criteria: bytes) -> Iterator[flight.FlightInfo]:
        """A flight for each query."""
        for query in self._subscriptions.queries():
            yield self._info(query)

    def get_flight_info(self, context: Any, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
        """The flight of the query that a path of one step names."""
        with _ErrorsForClients():
            return self._info(self._subscriptions.query(b"/".join(descriptor.path or []).decode()))

    def do_get(self, context: Any, ticket: flight.Ticket) -> flight.RecordBatchStream | flight.GeneratorStream:
        """The rows that a ticket asks for."""
        with _ErrorsForClients():
            asked = _ticket(ticket.ticket)
            name, since = str(asked["query"]), asked.get("since")
            place = None if since is None else AnswerPlace.read(str(since))
            if place is None and not asked.get("follow"):
                answer = self._subscriptions.answer(name)
                return flight.GeneratorStream(answer.rows.schema, _batches(answer))
            events = self._subscriptions.follow(name, place)
            first = next(events, None)
            schema = _weighted(_schema_of(self._subscriptions.query(name)))
            return flight.GeneratorStream(
                schema, self._followed(context, first, events, schema, bool(asked.get("follow")))
            )

    def _followed(
        self,
        context: Any,
        first: AnswerEvent | None,
        events: Iterator[AnswerEvent | None],
        schema: pa.Schema,
        goes_on: bool,
    ) -> Iterator[tuple[pa.RecordBatch, bytes]]:
        event = first
        with _ErrorsForClients():
            while not context.is_cancelled():
                if event is None and not goes_on:
                    return
                if event is not None:
                    yield from _batches(event, schema)
                event = next(events, None)

    def _info(self, query: Query) -> flight.FlightInfo:
        ticket = flight.Ticket(json.dumps({"query": query.name}).encode())
        endpoints = [] if query.kept_as == OFF else [flight.FlightEndpoint(ticket, [self.url])]
        descriptor = flight.FlightDescriptor.for_path(query.name)
        return flight.FlightInfo(_schema_of(query), descriptor, endpoints, -1, -1)


def _ticket(text: bytes) -> dict[str, Any]:
    """The query and the options that a ticket asks for.

    Raises:
        QueryError: it is no ticket.
    """
    try:
        asked = json.loads(text)
    except ValueError:
        asked = None
    if not isinstance(asked, dict) or "query" not in asked or asked.keys() - {"query", "since", "follow"}:
        raise QueryError(f"{text[:100]!r} is no ticket", hint='as in {"query": "big", "since": 7, "follow": true}')
    return asked


def _schema_of(query: Query) -> pa.Schema:
    return shown_schema(query.columns, query.timezone)


def _weighted(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field("weight", pa.int64()), *schema], schema.metadata)


def _batches(event: AnswerEvent, schema: pa.Schema | None = None) -> Iterator[tuple[pa.RecordBatch, bytes]]:
    """The rows of an event; with a schema that has weights, those of an answer come once each."""
    rows, about = event.rows, {"batch": event.batch, "place": event.place.text, "whole": event.whole}
    if schema is not None and event.whole:
        rows = rows.add_column(0, schema.field(0), pa.array([1] * rows.num_rows, pa.int64()))
    batches = (rows if schema is None else rows.cast(schema)).combine_chunks().to_batches()
    for batch in batches or [pa.RecordBatch.from_pylist([], rows.schema if schema is None else schema)]:
        yield batch, json.dumps(about).encode()


class _Guard(flight.ServerMiddlewareFactory):
    """Refuses calls without the token."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def start_call(self, info: Any, headers: dict[str, list[str]]) -> None:
        """Look for the token."""
        if not has_token("".join(headers.get("authorization", [""])[:1]), self._token):
            raise flight.FlightUnauthenticatedError("a token is needed: authorization: Bearer TOKEN")


class _ErrorsForClients:
    """A context whose errors reach the client with the workbench's message, and without a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, at: object) -> None:
        if isinstance(problem, Exception) and not isinstance(problem, flight.FlightError):
            known = problem if isinstance(problem, WorkbenchError) else UnexpectedError.of(problem)
            raise flight.FlightServerError(hide_secrets(str(known))) from None
