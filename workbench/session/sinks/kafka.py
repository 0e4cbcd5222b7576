"""The sink of a Kafka topic: ``kafka://host:port/topic``; ``?key=id`` sends rows by key, for a compacted topic.

A batch is one transaction with its rows and, in the topic ``NAME-argus``, its number. So a reader of committed
messages sees each batch exactly once. Without a key a message is a change, JSON with ``weight``, and changes of equal
rows are in one partition, in their order; with one it is the row of its key, or has no value where the key has no row
any more. The number is in the header ``argus-batch`` only, so that a topic of changes is itself a source,
``add_stream(…, weight="weight")``.
Source: KIP-98, exactly once delivery and transactions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import pyarrow as pa

from workbench.arrow.stored_values import as_rows
from workbench.errors import SessionError
from workbench.session.sinks.json_rows import to_json
from workbench.session.sinks.rows import upserts
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType
from workbench.streams.live.kafka.address import kafka_client, parse_topic
from workbench.streams.live.kafka.client_errors import ClientErrors

BROKER_ANSWER = 10.0
"""Seconds to wait for an answer of a broker."""
_MADE = 2.0
"""Seconds to wait until a broker has made a topic."""
_RECENT = 1_000
"""The last messages, which are searched first for numbers of batches."""


class TopicTarget(Target):
    """Writes to a topic.

    Args:
        given: its address.

    Raises:
        StreamError: confluent-kafka is not installed, or the address cannot be followed.
    """

    keeps_numbers = True

    def __init__(self, given: str) -> None:
        kafka_client()
        self._given, self._address = given, parse_topic(given, ["key"])
        self._address.client()
        self._progress = f"{self._address.topic}-argus"
        self._key = [name for name in self._address.options.get("key", "").split(",") if name]
        self._producer: Any = None
        self._errors = ClientErrors()
        self._sink = ""
        self._numbers = dict[str, int]()

    @property
    def description(self) -> str:
        """The address."""
        return self._given

    def where(self, query: str) -> str:
        """The brokers and the topic."""
        return f"{self._address.servers}/{self._address.topic}"

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """The last number of a batch in the topic of numbers."""
        self.close()
        self._sink = sink
        # What an earlier process left unfinished under this id is ended by this, and does not count below.
        settings = {**self._address.client(), "transactional.id": f"argus-{sink}", "error_cb": self._errors.remember}
        producer = kafka_client().Producer(settings)
        try:
            producer.init_transactions(BROKER_ANSWER)
        except kafka_client().KafkaException as error:
            producer.poll(0)  # the client's own words for it come to the callback
            raise self._errors.unreachable(f"topic {self._address.topic} at {self._address.servers}", error) from error
        self._errors.forget()
        self._producer = producer
        self._numbers = self._last_batches()
        return self._numbers.get(sink)

    def claim(self, query: str) -> None:
        """Check that no other sink has written to the topic, unless this one has, too."""
        topic = self._address.topic
        until = time.monotonic() + _MADE
        while (error := self._producer.list_topics(topic, BROKER_ANSWER).topics[topic].error) is not None:
            if time.monotonic() > until:
                raise kafka_client().KafkaException(error)
            time.sleep(0.1)  # a broker that makes topics by itself takes a moment
        if self._numbers and self._sink not in self._numbers:
            hint = f"of another session, or one that was dropped: give another topic, or remove also {self._progress}"
            raise SessionError(f"the topic {topic} has what another sink has sent", hint=hint)

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """The batch and its number, in one transaction."""
        messages = [*(self._by_key(changes) if self._key else _changes(changes))]
        self._producer.begin_transaction()
        try:
            for key, value in messages:
                self._produce(self._address.topic, key, value, headers={"argus-batch": str(batch)})
            self._produce(self._progress, self._sink.encode(), str(batch).encode(), partition=0)
            self._producer.commit_transaction(BROKER_ANSWER)
        except Exception:
            with suppress(kafka_client().KafkaException):  # where even that fails, the next beginning ends it
                self._producer.abort_transaction(BROKER_ANSWER)
            raise

    def close(self) -> None:
        """Drop the producer, which closes its connection."""
        self._producer = None

    def _by_key(self, rows: pa.Table) -> Iterator[tuple[bytes, bytes | None]]:
        found = upserts(rows, self._key)
        for key in found.removed:
            yield self._key_bytes(key), None
        for key, row in [*found.changed.items(), *found.added.items()]:
            yield self._key_bytes(key), to_json(row)

    def _key_bytes(self, key: Sequence[object]) -> bytes:
        """A key of one column as its value, one of several as JSON, as ``kafka://…?key=id`` and ``key=*`` read them."""
        if len(key) > 1:
            return to_json(dict(zip(self._key, key, strict=True)))
        return key[0].encode() if isinstance(key[0], str) else to_json(key[0])

    def _produce(self, topic: str, key: bytes | None, value: bytes | None, **more: Any) -> None:
        while True:
            try:
                self._producer.produce(topic, value, key, **more)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _last_batches(self) -> dict[str, int]:
        """The last number of each sink that has written to the topic."""
        kafka = kafka_client()
        settings = {"group.id": "argus", "isolation.level": "read_committed", "enable.partition.eof": True}
        consumer = kafka.Consumer({"enable.auto.commit": False, **self._address.client(), **settings})
        try:
            listed = consumer.list_topics(self._progress, timeout=BROKER_ANSWER).topics[self._progress]
            if listed.error is not None or 0 not in listed.partitions:
                return {}
            numbers = kafka.TopicPartition(self._progress, 0)
            low, high = consumer.get_watermark_offsets(numbers, timeout=BROKER_ANSWER)
            for start in dict.fromkeys([max(low, high - _RECENT), low]):
                found = self._read_numbers(consumer, start, high)
                if self._sink in found:
                    return found
            return found
        finally:
            consumer.close()

    def _read_numbers(self, consumer: Any, start: int, end: int) -> dict[str, int]:
        consumer.assign([kafka_client().TopicPartition(self._progress, 0, start)])
        found: dict[str, int] = {}
        while start < end:
            message = consumer.poll(BROKER_ANSWER)
            if message is None:
                raise TimeoutError(f"{self._progress} did not answer within {BROKER_ANSWER:g} s")
            if (error := message.error()) is not None:
                if error.name() != "_PARTITION_EOF":
                    raise kafka_client().KafkaException(error)
                break
            start = message.offset() + 1
            sink = message.key().decode()
            found[sink] = max(int(message.value()), found.get(sink, -1))
        return found


def _changes(rows: pa.Table) -> Iterator[tuple[bytes, bytes]]:
    """Write changes as messages. Messages of equal rows have one key, so they are in one partition, which keeps their
    order.

    Partitions have no common order: in two of them, a reader could see the removal of a row before its insertion.
    """
    for row in as_rows(rows):
        own = {name: value for name, value in row.items() if name != "weight"}
        yield sha256(to_json(own)).hexdigest()[:16].encode(), to_json(row)
