"""Where the package listens: on the loopback interface, or with a token that every request must have.

A program that reaches a port can read what it shows. On the loopback interface that are this machine's programs, and a
page in a browser that calls this machine by a name of its own (DNS rebinding) or sends it something, so the names of
both are looked at. Elsewhere it is everybody in the network. Several applications share a port, each under a path of
its own and with its own token.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from workbench.errors import SessionError
from workbench.errors.secrets import remember_secret

LOOPBACK = "127.0.0.1"
SHORTEST_TOKEN = 16
"""Characters of a token."""
SILENCE = 30.0
"""Seconds for which a connection may be silent before its request has come."""
Application = Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]

_LOCK = Lock()
_SERVERS: dict[tuple[str, int], _Server] = {}
"""The servers that are listening, by host and port."""


@dataclass(frozen=True)
class Endpoint:
    """An application that is listening.

    Attributes:
        host, port: where.
        path: what is asked there.
    """

    host: str
    port: int
    path: str
    _server: _Server

    @property
    def url(self) -> str:
        """The address for a browser, or another program, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.path}"

    def close(self) -> None:
        """Stop listening."""
        with _LOCK:
            is_last = self._server.applications.pop(self.path, None) is not None and not self._server.applications
            if is_last:
                del _SERVERS[self.host, self.port]
        if is_last:
            self._server.stop()


def listen(
    application: Application, path: str, port: int = 0, host: str = LOOPBACK, token: str | None = None
) -> Endpoint:
    """Answer requests by a WSGI application until the endpoint is closed.

    Args:
        application: what answers.
        path: what is asked there, and all paths below it.
        port: 0 takes one that is free; one where this process listens already may have another path, too.
        host: the address of the interface.
        token: what a request must have, as ``Authorization: Bearer TOKEN`` or ``?token=TOKEN``.

    Raises:
        SessionError: nothing can listen there; or it is beyond the loopback interface, and there is no token, or a
            short one.
    """
    check_token(host, token)
    with _LOCK:
        server = _SERVERS.get((host, port))
        if server is not None and path in server.applications:
            hint = "0 takes a port that is free"
            raise SessionError(f"nothing can listen at port {port}: {path} is answered there already", hint=hint)
        if server is None:
            try:
                server = _Server(host, port)
            except (OSError, OverflowError) as error:
                hint = "0 takes a port that is free"
                why = getattr(error, "strerror", None) or str(error)
                raise SessionError(f"nothing can listen at port {port}: {why}", hint=hint) from error
            _SERVERS[host, server.server_port] = server
        server.applications[path] = _Guarded(application, token)
    return Endpoint(host, server.server_port, path, server)


def check_token(host: str, token: str | None) -> None:
    """Check that what listens at an interface has the token that it needs there.

    Raises:
        SessionError: it has none, or a short one.
    """
    if not is_loopback(host) and token is None:
        hint = f"give a token, such as {secrets.token_urlsafe(SHORTEST_TOKEN)}, or listen at {LOOPBACK}"
        raise SessionError(f"what can reach {host} could use it: it needs a token there", hint=hint)
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise SessionError("the token is too short", hint=f"at least {SHORTEST_TOKEN} signs")
    if token is not None:
        remember_secret(token)


def has_token(header: str, token: str) -> bool:
    """Whether a header ``Authorization`` has a token.

    Example:
        >>> has_token("Bearer 0123456789abcdef", "0123456789abcdef"), has_token("Basic x", "0123456789abcdef")
        (True, False)
    """
    kind, _, given = header.partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(given.encode(), token.encode())


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
            origin = request.get("HTTP_ORIGIN", "//localhost").partition("//")[2]
            return all(is_loopback(_name_of(host)) for host in (request.get("HTTP_HOST", ""), origin))
        in_query = parse_qs(request.get("QUERY_STRING", "")).get("token", [""])[0]
        return has_token(request.get("HTTP_AUTHORIZATION") or f"Bearer {in_query}", self._token)


def _name_of(host: str) -> str:
    """The name in a request's header, without its port; "" where it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class _Server(ThreadingMixIn, WSGIServer):
    """Listens at a port, and hands each request to the application of its path; others are answered by 404."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = _family(host)
        super().__init__((host, port), _Silent)
        self.applications: dict[str, Application] = {}
        self.set_app(self._answer)
        self._thread = Thread(target=self.serve_forever, name=f"argus-listen-{self.server_port}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening at the port."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away or says nothing is no error of this process."""
        logging.getLogger("workbench").debug("a connection broke off", exc_info=True)

    def _answer(self, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        asked = request.get("PATH_INFO", "")
        with _LOCK:  # a server listens before it has its application
            under = [path for path in self.applications if asked == path or asked.startswith(f"{path.rstrip('/')}/")]
            application = self.applications.get(max(under, key=len, default=""))
        if application is not None:
            return application(request, start)
        start("404 Not Found", [("Content-Type", "text/plain")])
        return [b"nothing is answered here\n"]


def _family(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class _Silent(WSGIRequestHandler):
    """Writes no line for each request, which would be in a notebook's cell."""

    timeout = SILENCE

    def log_message(self, format: str, *args: Any) -> None:
        return None
