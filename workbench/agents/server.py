"""The verbs as tools of a server of the Model Context Protocol: over HTTP on the loopback interface, or over stdio."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import wraps
from threading import Thread
from typing import Any

from workbench.agents.verbs import Allowance, Verbs
from workbench.errors import SessionError, WorkbenchError
from workbench.errors.extras import optional_module
from workbench.errors.secrets import hide_secrets
from workbench.errors.surroundings import reason
from workbench.session.session import Session
from workbench.web.listening import LOOPBACK, SHORTEST_TOKEN, check_token, has_token

_PATH = "/mcp"
_INSTRUCTIONS = (
    "Continuous SQL queries over streams: each answer follows every batch of new rows. List the queries and the schema "
    "first. Answers are read with conditions and limits; preview says what a query would cost."
)
_READING = ("list_queries", "schema", "ask", "changes_since", "explain", "why", "why_not", "preview")
_STARTS_WITHIN = 10.0
"""Seconds."""

_Scope = MutableMapping[str, Any]
_Asgi = Callable[[_Scope, Any, Any], Awaitable[None]]


def agent_server(session: Session, allowance: Allowance | None = None) -> Any:
    """A server with the verbs of a session as its tools, which no port or pipe has yet.

    Args:
        session: that is asked.
        allowance: what agents may register; ``None``: there is no such tool.

    Raises:
        StreamError: the package ``mcp`` is not installed.
    """
    mcp = optional_module("mcp", "agents", "a server for agents needs mcp", "server", "types", "server.mcpserver")
    verbs = Verbs(session, allowance)
    server = mcp.server.MCPServer("argus", instructions=_INSTRUCTIONS, log_level="ERROR")
    for name in (*_READING, *(["register"] if allowance is not None else [])):
        hints = mcp.types.ToolAnnotations(read_only_hint=name != "register", destructive_hint=False)
        tool = _as_text(getattr(verbs, name), mcp.server.mcpserver.exceptions.ToolError)
        server.add_tool(tool, annotations=hints, structured_output=False)
    return server


def _as_text(verb: Callable[..., object], failed: type[Exception]) -> Callable[..., str]:
    """A verb whose answer is JSON, and whose errors an agent reads with their hints."""

    @wraps(verb)
    def tool(*args: Any, **given: Any) -> str:
        try:
            return json.dumps(verb(*args, **given), ensure_ascii=False)
        except WorkbenchError as problem:
            raise failed(hide_secrets(str(problem))) from None

    tool.__annotations__ = {**verb.__annotations__, "return": str}
    return tool


@dataclass(frozen=True)
class ServedAgents:
    """A port at which agents ask, until it is closed.

    Attributes:
        url: of the server.
        token: that each request must have.
    """

    url: str
    token: str
    _session: Session
    _server: Any
    _thread: Thread

    def close(self) -> None:
        """Serve no more."""
        self._session.leave(self)
        self._server.should_exit = True
        self._thread.join(_STARTS_WITHIN)


def serve_agents(
    session: Session,
    port: int = 0,
    host: str = LOOPBACK,
    token: str | None = None,
    allowance: Allowance | None = None,
) -> ServedAgents:
    """Let agents ask a session over HTTP, until that is closed, the session is, or this process ends.

    Args:
        session: that is asked.
        port: where to listen; 0 takes a port that is free.
        host: the address of the interface.
        token: what a request must have, as ``Authorization: Bearer TOKEN``; ``None``: a new one.
        allowance: what agents may register; ``None``: nothing.

    Raises:
        SessionError: nothing can listen there, or the token is short; beyond the loopback interface one must be given.
        StreamError: the package ``mcp`` is not installed.

    Example:
        >>> served = serve_agents(session, port=8092)  # doctest: +SKIP
        >>> served.url  # doctest: +SKIP
        'http://127.0.0.1:8092/mcp'
    """
    check_token(host, token)
    token = token or secrets.token_urlsafe(SHORTEST_TOKEN)
    server = agent_server(session, allowance)
    uvicorn = optional_module("uvicorn", "agents", "a server for agents needs uvicorn")
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        hint = "0 takes a port that is free"
        raise SessionError(f"nothing can listen at port {port}: {reason(error)}", hint=hint) from error
    application = _guarded(server.streamable_http_app(streamable_http_path=_PATH, host=host), token)
    running = uvicorn.Server(uvicorn.Config(application, log_level="error", timeout_graceful_shutdown=1))
    thread = Thread(target=running.run, args=([listening],), name="argus-agents", daemon=True)
    thread.start()
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listening.getsockname()[1]}{_PATH}"
    served = ServedAgents(url, token, session, running, thread)
    session.close_with(served)
    return served


def _guarded(application: _Asgi, token: str) -> _Asgi:
    """The application, behind a check that refuses requests without the token."""

    async def guarded(scope: _Scope, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode("latin-1")
        if scope["type"] != "http" or has_token(given, token):
            await application(scope, receive, send)
            return
        refused = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": refused})
        await send({"type": "http.response.body", "body": b"a request needs the token\n"})

    return guarded
