"""A Kafka broker in the process, on the loopback interface: librdkafka's own mock cluster. Topics make themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest


class Broker:
    """A broker; its topics have four partitions.

    Attributes:
        address: ``host:port``.
    """

    def __init__(self) -> None:
        kafka = pytest.importorskip("confluent_kafka")
        mock = {"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 0}
        self._cluster: Any = kafka.Producer(mock)
        (broker,) = self._cluster.list_topics(timeout=10).brokers.values()
        self.address = f"{broker.host}:{broker.port}"

    def url(self, topic: str, more: str = "") -> str:
        """The address of a topic."""
        return f"kafka://{self.address}/{topic}{'?' if more else ''}{more}"

    def put(
        self, topic: str, *values: object, key: object = None, partition: int = 0, headers: dict[str, str] | None = None
    ) -> None:
        """Put messages there: bytes as they are, ``None`` for none, others as JSON."""
        for value in values:
            self._cluster.produce(topic, _bytes(value), _bytes(key), partition, headers=headers)
        self._cluster.flush(10)


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
