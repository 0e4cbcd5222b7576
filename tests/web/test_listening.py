"""What listens: on the loopback interface, or for requests with a token alone; and nothing else in the package."""

from __future__ import annotations

import ast
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from python_sources import parsed

from workbench.errors import SessionError
from workbench.web.listening import Endpoint, listen

PACKAGE = Path(__file__).parents[2] / "workbench"
TOKEN = "0123456789abcdefg"
LISTENERS = re.compile(
    "create_server|start_(unix_|http_|wsgi_)?server|make_server|serve_forever|runserver|run_app|Listener|BaseManager"
    "|(Threading)?(HTTP|WSGI|TCP|UDP|UnixStream|SimpleXMLRPC)Server|AnswerFlights|FlightServerBase|uvicorn|Flask|Starlette|FastAPI"
)
"""What makes a server of Python's library or of a known package."""


def hello(request: object, start: object) -> list[bytes]:
    start("200 OK", [("Content-Type", "text/plain")])  # type: ignore[operator]
    return [b"hello"]


def asked(endpoint: Endpoint, query: str = "", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"http://127.0.0.1:{endpoint.port}{endpoint.path}{query}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=named), timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", socket.gethostname(), "192.168.0.1", "127.0.0.1.example.org"])
def test_beyond_the_loopback_interface_a_token_is_needed(host: str) -> None:
    with pytest.raises(SessionError, match="it needs a token there"):
        listen(hello, "/x", host=host)
    with pytest.raises(SessionError, match="too short"):
        listen(hello, "/x", host=host, token="short")


def test_a_request_needs_the_token() -> None:
    endpoint = listen(hello, "/x", host="0.0.0.0", token=TOKEN)
    try:
        assert TOKEN not in endpoint.url and TOKEN not in repr(endpoint)
        assert asked(endpoint) == asked(endpoint, "?token=no") == asked(endpoint, Authorization="Bearer no") == 403
        assert asked(endpoint, Authorization=f"Basic {TOKEN}") == asked(endpoint, Host="localhost") == 403
        assert asked(endpoint, f"?token={TOKEN}") == asked(endpoint, Authorization=f"Bearer {TOKEN}") == 200
    finally:
        endpoint.close()


def test_a_page_that_calls_this_machine_by_another_name_gets_nothing() -> None:
    endpoint = listen(hello, "/x")
    try:
        assert asked(endpoint) == asked(endpoint, Host="localhost:1") == asked(endpoint, Host="[::1]:1") == 200
        assert asked(endpoint, Host="evil.example.org") == asked(endpoint, Host="[") == 403
    finally:
        endpoint.close()


@pytest.mark.slow
def test_nothing_else_of_the_package_listens() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if not module.startswith("workbench"):
                    called = {name.name for name in names}
                case ast.Call(func=ast.Attribute(attr="bind" | "listen", value=of)) if "sock" in ast.unparse(of):
                    called = {"make_server"}
                case ast.Call(func=ast.Attribute(attr=name)):
                    called = {name}
                case ast.Call(func=ast.Name(id=name)):
                    called = {name}
                case _:
                    continue
            if any(map(LISTENERS.fullmatch, called)):
                found.add(str(path.relative_to(PACKAGE)))
    assert found == {"web/listening.py", "session/subscriptions/service.py", "agents/server.py"}
