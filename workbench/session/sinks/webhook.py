"""A webhook: each batch is a POST of JSON. Only an answer of success to the POST itself counts."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Sequence
from urllib.parse import urlsplit

import pyarrow as pa

from workbench.arrow.stored_values import as_rows
from workbench.session.sinks.json_rows import to_json
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType
from workbench.streams.addresses.address import kept_address
from workbench.streams.addresses.requests import send

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
        """None: a webhook keeps no number of a batch."""
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
        send(self._address, body=body, headers=headers, timeout=TIMEOUT).close()
