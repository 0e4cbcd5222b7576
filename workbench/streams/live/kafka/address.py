"""Addresses of topics: ``kafka://host:port[,host:port]/topic?key=id&security.protocol=SSL``.

Names with a dot are settings of the client (librdkafka's ``CONFIGURATION.md``), of which ``addresses.kinds`` lists
those that there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from workbench.errors import StreamError, nearest
from workbench.errors.extras import optional_module
from workbench.streams.addresses.address import Address, kept_address

KAFKA_SCHEME = "kafka://"
_SECRETS = {"registry_password"}


@dataclass(frozen=True)
class TopicAddress:
    """Where a topic is.

    Attributes:
        address: as it was given.
        topic: its name.
    """

    address: Address
    topic: str

    @property
    def servers(self) -> str:
        """Brokers to ask first, as ``host:port,host:port``."""
        return self.address.hosts

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The other options of the address, without the client's settings."""
        return {name: value for name, value in self.address.options.items() if "." not in name}

    def usable_options(self) -> dict[str, str]:
        """The options, with variables of the environment filled in.

        Raises:
            StreamError: a variable is not set.
        """
        options = self.address.with_environment().options if self.options.keys() & _SECRETS else self.options
        return {name: value for name, value in options.items() if "." not in name}

    def client(self) -> dict[str, object]:
        """The client's settings, with variables of the environment filled in.

        Raises:
            StreamError: a variable is not set.
        """
        settings = {name: value for name, value in self.address.with_environment().options.items() if "." in name}
        # What the client would write to the standard error is in the errors that it raises.
        return {"bootstrap.servers": self.servers, "log_level": 0, **settings}


def parse_topic(text: str, known: Collection[str]) -> TopicAddress:
    """The parts of an address.

    Args:
        text: as it was given.
        known: the options that there are.

    Raises:
        StreamError: it lacks a broker or a topic, has an unknown option, or a secret.

    Example:
        >>> parse_topic("kafka://localhost:9092/trades?key=id&fetch.min.bytes=1", ["key"]).options
        {'key': 'id'}
    """
    address = kept_address(text)
    topic = address.path.strip("/")
    if not address.hosts or not topic or "/" in topic:
        what = f"{address.without_secrets().text()} names no broker and topic"
        raise StreamError(what, hint="it is like kafka://localhost:9092/trades?key=id")
    for name in address.options:
        if "." not in name and name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}; the client's settings have a dot"
            raise StreamError(f"{KAFKA_SCHEME} has no option {name}", hint=hint)
    return TopicAddress(address, topic)


def with_registry(source: object, registry: str | None) -> object:
    """The address of a topic with the one of the registry that has its schemas.

    Raises:
        StreamError: the source is no topic.

    Example:
        >>> with_registry("kafka://localhost:9092/trades?key=id", "http://localhost:8081")
        'kafka://localhost:9092/trades?key=id&registry=http://localhost:8081'
    """
    if registry is None:
        return source
    if not isinstance(source, str) or not source.startswith(KAFKA_SCHEME):
        raise StreamError("registry goes with a topic", hint="kafka://localhost:9092/trades")
    return f"{source}{'&' if '?' in source else '?'}registry={quote(registry, safe=':/')}"


def kafka_client() -> Any:
    """The module ``confluent_kafka``.

    Raises:
        StreamError: it is not installed.
    """
    return optional_module("confluent_kafka", "kafka", "topics need confluent-kafka")
