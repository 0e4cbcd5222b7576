"""The one place where the package listens: on the loopback interface, or with a token that every request must have.

A program that reaches a port can read what it shows. On the loopback interface that are this machine's programs, and a
page in a browser that calls this machine by a name of its own (DNS rebinding), so the name is looked at. Elsewhere it
is everybody in the network.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from workbench.errors import SessionError
from workbench.errors.secrets import remember_secret

LOOPBACK = "127.0.0.1"
SHORTEST_TOKEN = 16
"""Characters of a token."""
Application = Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that is listening.

    Attributes:
        host, port: where.
        path: what is asked there.
    """

    host: str
    port: int
    path: str
    _server: WSGIServer
    _thread: Thread

    @property
    def url(self) -> str:
        """The address for a browser, or Prometheus, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.path}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def listen(
    application: Application, path: str, port: int = 0, host: str = LOOPBACK, token: str | None = None
) -> Endpoint:
    """Answer requests by a WSGI application until the endpoint is closed.

    Args:
        application: what answers.
        path: what is asked there, for the address.
        port: 0 takes one that is free.
        host: the address of the interface.
        token: what a request must have, as ``Authorization: Bearer TOKEN`` or ``?token=TOKEN``.

    Raises:
        SessionError: nothing can listen there; or it is beyond the loopback interface, and there is no token, or a
            short one.
    """
    if not is_loopback(host) and token is None:
        hint = f"give a token, such as {secrets.token_urlsafe(SHORTEST_TOKEN)}, or listen at {LOOPBACK}"
        raise SessionError(f"what can reach {host} could read all of it: it needs a token there", hint=hint)
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise SessionError("the token is too short", hint=f"at least {SHORTEST_TOKEN} signs")
    if token is not None:
        remember_secret(token)
    try:
        server = make_server(host, port, _Guarded(application, token), _Server, _Silent)
    except (OSError, OverflowError) as error:
        raise SessionError(f"nothing can listen at port {port}: {error}", hint="0 takes a port that is free") from error
    thread = Thread(target=server.serve_forever, name=f"argus-listen-{server.server_port}", daemon=True)
    thread.start()
    return Endpoint(host, server.server_port, path, server, thread)


def is_loopback(host: str) -> bool:
    """Whether an interface is reached from this machine alone.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Guarded:
    """An application that answers who has the token; without one, who calls this machine by a name of its own."""

    def __init__(self, application: Application, token: str | None) -> None:
        self._application, self._token = application, token

    def __call__(self, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if self._may(request):
            return self._application(request, start)
        start("403 Forbidden", [("Content-Type", "text/plain")])
        return [b"a token is needed: Authorization: Bearer TOKEN\n"]

    def _may(self, request: Mapping[str, Any]) -> bool:
        if self._token is None:
            return is_loopback(_name_of(request.get("HTTP_HOST", "")))
        kind, _, header = request.get("HTTP_AUTHORIZATION", "").partition(" ")
        given = header if kind.lower() == "bearer" else parse_qs(request.get("QUERY_STRING", "")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self._token.encode())


def _name_of(host: str) -> str:
    """The name in a request's header, without its port; "" where it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    """Writes no line for each request, which would be in a notebook's cell."""

    def log_message(self, format: str, *args: Any) -> None:
        return None
