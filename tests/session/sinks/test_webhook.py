"""Webhooks: what is posted has every digit, and only an answer of success to the POST itself counts."""

from __future__ import annotations

import datetime as dt
import json
import math
import threading
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pytest
from typed_values import TYPES, Values, in_json

from workbench.arrow.types import to_shown
from workbench.errors import SessionError
from workbench.session.sinks.targets import target_of
from workbench.sql.algebra.types import INTEGER, STRING, DataType


class Hook(ThreadingHTTPServer):
    """Answers with one status, and keeps every request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.status, self.requests = 200, list[tuple[str, str, bytes]]()
        self.address = f"http://127.0.0.1:{self.server_port}/changes"


class Answer(BaseHTTPRequestHandler):
    server: Hook

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, body))
        self.send_response(self.server.status if self.path == "/changes" else 200)
        if 300 <= self.server.status < 400:
            self.send_header("Location", "/other?token=x")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET = do_HEAD = _answer

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


IN_JSON: list[tuple[object, object]] = [
    (True, True),
    (2**63 - 1, 2**63 - 1),
    (Decimal("9007199254740993.07"), "9007199254740993.07"),
    (-0.0, -0.0),
    (5e-324, 5e-324),
    (math.nan, None),
    (-math.inf, "-inf"),
    ('é\u2028"\\\x00', 'é\u2028"\\\x00'),
    (dt.date(1, 1, 1), "0001-01-01"),
    (dt.datetime(1, 1, 1), "0001-01-01T00:00:00"),
    (dt.datetime(2024, 1, 1, 10, 0, 0, 123456), "2024-01-01T10:00:00.123456"),
    (dt.timedelta(days=1, microseconds=1), "INTERVAL '1 00:00:00.000001' DAY TO SECOND"),
    (b"\xff\x00", "FF00"),
    ([0.1, None, math.inf], [0.1, None, "inf"]),
    ({"m": Decimal("1.50"), "b": b"a"}, {"m": "1.50", "b": "61"}),
    ({dt.date(2024, 2, 29): None}, {"2024-02-29": None}),
]


@pytest.mark.parametrize(("value", "json_"), IN_JSON, ids=lambda each: repr(each)[:20])
def test_what_a_value_is_in_json(value: object, json_: object) -> None:
    """Written out, so that the other tests compare with what is right."""
    assert repr(in_json(value)) == repr(json_)


@pytest.mark.parametrize(("type_", "values"), [*TYPES, (STRING, ["a\x00"])], ids=lambda each: str(each)[:20])
def test_a_body_has_every_digit(hook: Hook, type_: DataType, values: Values) -> None:
    target = target_of(hook.address)
    target.begin("s", (type_,))
    rows = [*values, None]
    changes = pa.table({"weight": [1] * len(rows), "v": pa.array(rows, to_shown(type_))})
    target.write("q", 7, changes)
    ((method, _, body),) = hook.requests
    posted = json.loads(body)
    assert (method, posted["query"], posted["batch"]) == ("POST", "q", 7)
    assert repr([row["v"] for row in posted["changes"]]) == repr([in_json(value) for value in rows])


@pytest.mark.parametrize("status", [200, 201, 202, 204, 300, 301, 302, 303, 304, 307, 308, 400, 404, 500, 503])
def test_only_success_of_the_post_counts(hook: Hook, status: int) -> None:
    hook.status = status
    target = target_of(hook.address)
    target.begin("s", (INTEGER,))
    changes = pa.table({"weight": [1], "v": [1]})
    if status < 300:
        target.write("q", 1, changes)
    elif status < 400:
        with pytest.raises(
            SessionError, match=rf"{status}, a redirect to http://127.0.0.1:\d+/(other|changes)"
        ) as raised:
            target.write("q", 1, changes)
        assert "token" not in str(raised.value)
    else:
        with pytest.raises(OSError, match=str(status)):
            target.write("q", 1, changes)
    assert [(method, path) for method, path, _ in hook.requests] == [("POST", "/changes")]
