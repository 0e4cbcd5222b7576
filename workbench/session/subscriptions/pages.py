"""Answers and changes over HTTP, read-only: JSON, and server-sent events, which a browser's ``EventSource`` reads.

``/queries`` lists the queries, ``/queries/NAME`` is an answer, ``/queries/NAME/changes`` the answer and what follows.
An event has the place as its id, which a client that comes again sends as ``Last-Event-ID``; ``?since=K`` is a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

from workbench.arrow.stored_values import as_rows
from workbench.errors import WorkbenchError
from workbench.errors.secrets import hide_secrets
from workbench.session.query import Query
from workbench.session.sinks.json_rows import to_json
from workbench.session.state import OFF
from workbench.session.subscriptions.events import AnswerEvent, AnswerPlace, Subscriptions

QUERIES_PATH = "/queries"
ROWS_AT_ONCE = 10_000
"""Rows of an event; more are several events, of which the last alone has an id."""
MOST_SUBSCRIBERS = 64
_JSON, _EVENTS = "application/json", "text/event-stream"


class AnswerPages:
    """The application that answers requests.

    Args:
        subscriptions: of the session.
    """

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions
        self._free = threading.Semaphore(MOST_SUBSCRIBERS)

    def __call__(self, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, as WSGI calls it."""
        if request["REQUEST_METHOD"] != "GET":
            return _refused(start, "405 Method Not Allowed", "answers are read by GET", ("Allow", "GET"))
        path = (
            request.get("PATH_INFO", "")
            .encode("latin-1")
            .decode(errors="replace")
            .removeprefix(QUERIES_PATH)
            .strip("/")
        )
        try:
            if not path:
                body = to_json([_about(query) for query in self._subscriptions.queries()])
            elif path.endswith("/changes"):
                return self._events(path.removesuffix("/changes"), request, start)
            else:
                event = self._subscriptions.answer(path)
                columns = _about(self._subscriptions.query(path))["columns"]
                about = {"query": path, "batch": event.batch, "place": event.place.text, "columns": columns}
                body = to_json({**about, "rows": as_rows(event.rows)})
        except WorkbenchError as problem:
            return _refused(start, "404 Not Found", str(problem))
        start("200 OK", [("Content-Type", _JSON), ("Cache-Control", "no-store")])
        return [body]

    def _events(self, name: str, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        asked = parse_qs(request.get("QUERY_STRING", "")).get("since", [""])[0]
        place = AnswerPlace.read(text) if (text := request.get("HTTP_LAST_EVENT_ID") or asked) else None
        events = self._subscriptions.follow(name, place)
        first = next(events, None)  # what cannot be followed is refused
        if not self._free.acquire(blocking=False):
            return _refused(start, "503 Service Unavailable", "too many subscribers", ("Retry-After", "5"))
        start("200 OK", [("Content-Type", _EVENTS), ("Cache-Control", "no-store")])
        return self._sent(name, first, events)

    def _sent(self, name: str, first: AnswerEvent | None, events: Iterator[AnswerEvent | None]) -> Iterator[bytes]:
        try:
            yield from _texts(name, first)
            for event in events:
                yield from _texts(name, event)
        except WorkbenchError as problem:  # it was dropped, or the session is closed
            yield b"event: ended\ndata: " + to_json({"query": name, "problem": hide_secrets(str(problem))}) + b"\n\n"
        finally:
            self._free.release()


def _texts(name: str, event: AnswerEvent | None) -> Iterator[bytes]:
    """An event as text; an empty text becomes a comment, by which a lost subscriber is noticed."""
    if event is None:
        yield b":\n\n"
        return
    kind, rows = ("answer", "rows") if event.whole else ("changes", "changes")
    for at in range(0, max(1, event.rows.num_rows), ROWS_AT_ONCE):
        more = at + ROWS_AT_ONCE < event.rows.num_rows
        about = {"query": name, "batch": event.batch, "first": not at, "more": more}
        data = to_json({**about, rows: as_rows(event.rows.slice(at, ROWS_AT_ONCE))})
        known = b"" if more else b"id: " + event.place.text.encode() + b"\n"
        yield b"event: " + kind.encode() + b"\n" + known + b"data: " + data + b"\n\n"


def _about(query: Query) -> dict[str, object]:
    columns = [{"name": column, "type": str(type_)} for column, type_ in query.columns]
    return {"query": query.name, "batch": query.batch, "columns": columns, "changes": query.kept_as != OFF}


def _refused(start: Callable[..., Any], status: str, why: str, *headers: tuple[str, str]) -> list[bytes]:
    start(status, [("Content-Type", _JSON), *headers])
    return [to_json({"problem": hide_secrets(why)}) + b"\n"]
