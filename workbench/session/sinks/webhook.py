"""A webhook: each batch is a POST of JSON. Only an answer of success to the POST itself counts."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Sequence
from urllib.parse import urljoin, urlsplit, urlunsplit

import pyarrow as pa

from workbench.arrow.stored_values import as_rows
from workbench.errors import SessionError
from workbench.session.sinks.json_rows import to_json
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType
from workbench.streams.addresses.address import kept_address

WEBHOOKS = ("http://", "https://")
TIMEOUT = 10
"""Seconds that a webhook has to answer."""


class WebhookTarget(Target):
    """Posts JSON: ``{"query": …, "batch": …, "changes": [{"weight": 1, …}, …]}``.

    Raises:
        StreamError: the address cannot be read, or has a secret.
    """

    def __init__(self, url: str) -> None:
        self._url, self._address = url, kept_address(url)
        self._sink = ""

    @property
    def description(self) -> str:
        """The address."""
        return self._url

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """It keeps no number."""
        self._sink = sink
        return None

    def claim(self, query: str) -> None:
        """Check that a server takes connections; several sinks may have one, since the body names the query."""
        parts = urlsplit(self._url)
        if parts.scheme not in urllib.request.getproxies():
            port = parts.port or (443 if parts.scheme == "https" else 80)
            socket.create_connection((parts.hostname, port), TIMEOUT).close()

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Post the batch.

        Raises:
            SessionError: the address sends to another one.
            OSError: it cannot be reached, or its answer is no success.
        """
        body = to_json({"query": query, "batch": batch, "changes": as_rows(changes)})
        headers = {"Content-Type": "application/json", "Argus-Sink": self._sink, "Argus-Batch": str(batch)}
        address = self._address.with_environment()
        if address.user:
            who = b64encode(f"{address.user}:{address.password}".encode()).decode()
            headers["Authorization"] = f"Basic {who}"
        request = urllib.request.Request(address.text(user=False), body, headers, method="POST")
        try:
            with _opener().open(request, timeout=TIMEOUT):
                pass
        except urllib.error.HTTPError as answer:
            with answer:
                if 300 <= answer.code < 400:
                    raise _redirected(self._url, answer) from None
                raise


def _opener() -> urllib.request.OpenerDirector:
    """One that refuses redirects: they would make a GET without rows of the POST, or give rows to another server."""
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler,
                    urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPErrorProcessor):  # fmt: skip
        opener.add_handler(handler())
    return opener


def _redirected(url: str, answer: urllib.error.HTTPError) -> SessionError:
    there = urlsplit(urljoin(url, answer.headers.get("Location", "")))
    address = urlunsplit((there.scheme, there.netloc.rpartition("@")[2], there.path, "", ""))
    hint = f"rows are posted only to the address that was given; give {address} if it is to have them"
    return SessionError(f"the answer is {answer.code}, a redirect to {address}", hint=hint)
