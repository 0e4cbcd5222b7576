"""Addresses of topics: ``kafka://host:port[,host:port]/topic?key=id&security.protocol=SSL``.

Names with a dot are settings of the client (librdkafka's ``CONFIGURATION.md``). An address is kept with the session and
shown, so no password may stand in it: a value ``$NAME`` is read from the environment whenever a connection is opened.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workbench.errors import StreamError, nearest

SCHEME = "kafka://"
_SECRET = ("password", "secret", ".pem", "oauthbearer.config")


@dataclass(frozen=True)
class Address:
    """Where a topic is.

    Attributes:
        servers: brokers to ask first, as ``host:port,host:port``.
        topic: its name.
        options: what the address says besides, without the client's settings.
        settings: of the client, as they are written.
    """

    servers: str
    topic: str
    options: Mapping[str, str]
    settings: Mapping[str, str]

    def client(self) -> dict[str, object]:
        """The client's settings, with what the environment says.

        Raises:
            StreamError: a variable is not set.
        """
        values = {name: _from_environment(name, value) for name, value in self.settings.items()}
        # What the client would write to the standard error is in the errors that it raises.
        return {"bootstrap.servers": self.servers, "log_level": 0, **values}


def parse_address(text: str, known: Collection[str]) -> Address:
    """The parts of an address.

    Args:
        text: as it was given.
        known: the options that there are.

    Raises:
        StreamError: it lacks a broker or a topic, has an unknown option, or a secret.

    Example:
        >>> parse_address("kafka://localhost:9092/trades?key=id&fetch.min.bytes=1", ["key"]).settings
        {'fetch.min.bytes': '1'}
    """
    parts = urlsplit(text)
    servers, topic = parts.netloc, parts.path.strip("/")
    if not servers or not topic or "/" in topic or "@" in servers:
        raise StreamError(f"{text} names no broker and topic", hint="it is like kafka://localhost:9092/trades?key=id")
    values = dict(parse_qsl(parts.query, keep_blank_values=True))
    settings = {name: value for name, value in values.items() if "." in name}
    options = {name: value for name, value in values.items() if "." not in name}
    for name in options:
        if name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}; the client's settings have a dot"
            raise StreamError(f"{SCHEME} has no option {name}", hint=hint)
    for name, value in settings.items():
        if name.endswith(_SECRET) and not value.startswith("$"):
            hint = f"{name}=$KAFKA_SECRET takes it from the environment whenever a connection is opened"
            raise StreamError(f"{name} would be kept with the session and shown", hint=hint)
    return Address(servers, topic, options, settings)


def _from_environment(name: str, value: str) -> str:
    if not value.startswith("$"):
        return value
    if (found := os.environ.get(value[1:])) is None:
        raise StreamError(f"{name}: the environment has no variable {value[1:]}", hint="set it, and try again")
    return found


def kafka_client() -> Any:
    """The module ``confluent_kafka``.

    Raises:
        StreamError: it is not installed.
    """
    try:
        import confluent_kafka
    except ImportError as error:
        hint = "pip install 'argus-workbench[kafka]'"
        raise StreamError("topics need confluent-kafka, which is not installed", hint=hint) from error
    return confluent_kafka
