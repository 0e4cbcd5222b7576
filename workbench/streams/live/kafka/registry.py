"""A schema registry: the schemas of messages, by the numbers that their values begin with.

A message begins with a zero and the number of its schema in four bytes. Schemas of a number never change, so each is
asked for once. What a registry does not answer is asked again after some seconds; the messages wait for it.
Source: Confluent Schema Registry, "Wire format" and the reference of its REST interface, which others implement too.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from workbench.errors import StreamError

WIRE_FRAME = 5
"""Bytes before a value."""
_ANSWER = 3.0
"""Seconds that a registry has to answer."""
_PAUSE = 5.0
_FORBIDDEN = (401, 403)


class RegistryError(StreamError):
    """A schema cannot be had now, so messages wait for it."""


class UnknownSchemaError(RegistryError):
    """The registry has no such schema."""


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema.

    Attributes:
        kind: ``AVRO``, ``PROTOBUF`` or ``JSON``.
        text: of the schema.
        references: the schemas that it names, by the names by which it does, those first that others name.
    """

    kind: str
    text: str
    references: Mapping[str, str]


class SchemaRegistry:
    """A client of a registry.

    Args:
        url: of it.
        user: ``""`` without one.
        password: of the user.
    """

    def __init__(self, url: str, user: str = "", password: str = "") -> None:
        self._url = url.rstrip("/")
        self._headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if user or password:
            self._headers["Authorization"] = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._down: tuple[float, RegistryError | None] = (0.0, None)

    def schema(self, number: int) -> RegisteredSchema:
        """The schema of a number.

        Raises:
            RegistryError: the registry has none, refuses to say it, or cannot be reached.
        """
        found = self._get(f"schemas/ids/{number}")
        references = dict(self._referenced(found))
        return RegisteredSchema(found.get("schemaType") or "AVRO", str(found.get("schema")), references)

    def _referenced(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for one in schema.get("references") or ():
            found = self._get(f"subjects/{quote(str(one['subject']), safe='')}/versions/{one['version']}")
            yield from self._referenced(found)
            yield str(one["name"]), str(found.get("schema"))

    def _get(self, path: str) -> Any:
        until, problem = self._down
        if problem is not None and time.monotonic() < until:
            raise problem.with_traceback(None)
        where = f"the schema registry {self._url}"
        request = urllib.request.Request(f"{self._url}/{path}", headers=self._headers)
        try:
            with self._opener.open(request, timeout=_ANSWER) as answer:
                found = json.load(answer)
                if not isinstance(found, dict):
                    raise ValueError("it is no object")
                return found
        except urllib.error.HTTPError as error:
            with error:
                said = _said(error)
            if error.code == 404 and "404" in said:
                hint = "gone=skip in the address quarantines its messages; or register it, they wait"
                raise UnknownSchemaError(f"{where} has no {path}: {said}", hint=hint) from None
            refused = error.code in _FORBIDDEN
            hint = "registry_user=… and registry_password=$NAME in the address say who asks" if refused else _WAIT
            problem = RegistryError(f"{where} answers {error.code} to {path}: {said}", hint=hint)
        except (OSError, ValueError) as error:
            problem = RegistryError(f"{where} cannot be reached: {getattr(error, 'reason', error)}", hint=_WAIT)
        self._down = (time.monotonic() + _PAUSE, problem)
        raise problem


_WAIT = "check registry=…; it is asked again, and messages wait"


def _said(error: urllib.error.HTTPError) -> str:
    """The registry's own number and message of an error, where it has any."""
    try:
        found = json.loads(error.read(10_000))
        return f"{found['error_code']} {found['message']}"
    except (OSError, ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}" if error.code != 404 else str(error.reason)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would give the password to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
