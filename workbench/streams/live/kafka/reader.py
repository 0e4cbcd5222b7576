"""A topic as a live source: its partitions are read from the offsets in the stream's log, without a consumer group.

Offsets are logged with the rows, so the broker is asked to remember nothing. Only committed messages are read. Between
partitions the order is that in which the broker sends them; the log keeps it, so a replay has the same order. Where
many messages wait, on a cluster, tasks read them by ranges of offsets, and the driver asks for offsets alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError
from workbench.sql.algebra.types import DataType
from workbench.streams.files.envelopes import ENVELOPES, MEMBERS
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import FoundTimes
from workbench.streams.files.json_values import JsonRecord, as_texts
from workbench.streams.live.kafka.address import kafka_client, parse_topic
from workbench.streams.live.kafka.client_errors import ClientErrors
from workbench.streams.live.kafka.records import OPTIONS, KafkaRecords, Message
from workbench.streams.live.kafka.registry import RegistryError
from workbench.streams.live.reader import (
    LARGEST_PART,
    Fetched,
    OffsetMark,
    Offsets,
    ReadInParts,
    SourcePart,
    TypedReader,
)
from workbench.streams.source import QuarantinedRow

METADATA_ANSWER = 3.0
"""Seconds that a broker has to answer."""
_PAUSE = 5.0
"""Seconds after which a broker that did not answer is asked again: batches in between do not wait for it."""
_SILENCE = 1.0
"""Seconds without a message after which the rest is left for the next batch."""
_LONG_POLL = 100
"""Milliseconds that a broker keeps a request for messages that are not there yet."""
_SAMPLE = 1_000
_BYTES = 200.0
"""What a message has, before one was seen."""
_LEAST_RANGE = 2_000_000
"""Bytes of a partition's messages for which there is a task of their own: a multiple of what it takes to connect."""
_CHECK = 10.0
"""Seconds after which it is looked again whether the topic is the one that was read."""


class TopicReader(ReadInParts, TypedReader):
    """Reads a topic.

    Args:
        given: its address.
        schema: the columns, where the stream has been added before; ``None``: those of the first messages.

    Raises:
        StreamError: confluent-kafka is not installed, the broker cannot be reached, there is no such topic, or no
            message says what columns there are.
    """

    def __init__(self, given: str, schema: pa.Schema | None = None) -> None:
        self._address = parse_topic(given, OPTIONS)
        self._records = KafkaRecords(self._address.usable_options())
        self._skips = self._address.options.get("gone") == "skip"
        self._positions: dict[int, int] = {}
        self._ended_at: dict[int, int] = {}
        self._checked = -_CHECK
        self._errors = ClientErrors()
        self._down: tuple[float, StreamError | None] = (0.0, None)
        self._consumer = self._connected()
        # Questions have a connection of their own, on which no answer waits behind messages that are not there yet.
        self._questions = self._connected()
        self._bytes_each = _BYTES
        first = self._received(self._resumed({}, {}, []), _SAMPLE)[0] if schema is None else []
        found = self._records.infer(first) if schema is None else FoundTimes(schema)
        super().__init__(found.schema, given, found.seen, found.said)
        self.gives_records = self._address.options.get("format") != "csv"

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read values of JSON as texts, where their types are declared; what else is asked is told in every format."""
        super().declare(types)
        self._schema = as_texts(self._schema, {name: types[name] for name in (MEMBERS, ENVELOPES) if name in types})

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The messages that are there by now."""
        gone: list[QuarantinedRow] = []
        starts = {int(place): int(at) for place, at in offsets.items() if not place.startswith(OffsetMark.NOTE)}
        notes = {int(place[1:]): note for place, note in offsets.items() if place.startswith(OffsetMark.NOTE)}
        ends = self._resumed(starts, notes, gone)
        if landed := self._landed(self._parts(ends, most), partial(read_range, self.description, self._schema)):
            self._let_go()
            return Fetched(rows_of([], self._schema).rows, {}, tuple(gone), landed=landed)
        return self._fetched(ends, most, offsets, gone)

    def fetch_range(self, partition: int, first: int, end: int) -> Fetched | None:
        """The messages of one partition that are between two offsets; ``None`` where some of them cannot be had now."""
        messages, after, problem = self._received({partition: (first, end)}, sys.maxsize)
        if after[partition] < end:
            return None
        # Where offsets have no message, as after compaction, the next one may be of the range that follows.
        within = [message for message in messages if message.offset < end]
        fetched = self._of_messages(within, {partition: end}, problem, {}, [])
        return None if fetched.problem else fetched

    def _fetched(
        self, ends: Mapping[int, tuple[int, int]], most: int, offsets: Offsets, gone: Sequence[QuarantinedRow]
    ) -> Fetched:
        """Messages of partitions.

        Args:
            ends: where each resumes, and where it ends by now.
            most: the number of messages that is enough.
            offsets: where partitions resumed before.
            gone: what is gone from the topic.
        """
        messages, after, problem = self._received(ends, most)
        return self._of_messages(messages, after, problem, offsets, gone)

    def _of_messages(
        self,
        messages: Sequence[Message],
        after: dict[int, int],
        problem: str,
        offsets: Offsets,
        gone: Sequence[QuarantinedRow],
    ) -> Fetched:
        """The rows of messages.

        Args:
            messages: that were read.
            after: where partitions resume.
            problem: why one cannot.
            offsets: where partitions resumed before.
            gone: what is gone from the topic.
        """
        records, waits = self._recorded(messages, after)
        chunk = rows_of(records, self._schema)
        quarantined = [*gone, *(_at(messages[entry.line], entry) for entry in chunk.quarantined)]
        read = [messages[number] for number in chunk.lines.tolist()]
        places = tuple((str(message.partition), message.offset) for message in read)
        changed = {str(p): str(at) for p, at in after.items() if str(at) != offsets.get(str(p))}
        last = {messages[number].partition: messages[number] for number, *_ in records}
        changed |= {f"{OffsetMark.NOTE}{partition}": message.note for partition, message in last.items()}
        problem = problem or waits
        return Fetched(chunk.rows, changed, tuple(quarantined), places=places, problem=problem, found=chunk.found)

    def _recorded(
        self, messages: Sequence[Message], after: dict[int, int]
    ) -> tuple[list[tuple[int, bytes | None, JsonRecord | str]], str]:
        """The numbers, values and records of messages, and why others wait: their schema cannot be had now.

        Args:
            messages: that were read.
            after: where partitions resume; one with messages that wait resumes at the first of them.
        """
        records, waiting, problem = list[tuple[int, bytes | None, JsonRecord | str]](), set[int](), ""
        for number, message in enumerate(messages):
            if message.partition in waiting:
                continue
            try:
                records.append((number, message.value, self._records.record(message, self._schema)))
            except RegistryError as error:
                waiting.add(message.partition)
                after[message.partition], problem = message.offset, str(error)
        if waiting:
            self._positions = {}
        return records, problem

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()
        self._questions.close()

    def _resumed(
        self, offsets: Mapping[int, int], notes: Mapping[int, str], gone: list[QuarantinedRow]
    ) -> dict[int, tuple[int, int]]:
        """Where each partition resumes, and where it ends by now; what is gone is added."""
        ends: dict[int, tuple[int, int]] = self._ask(lambda: self._ends(offsets, gone))
        self._ask(lambda: self._check_identity(offsets, notes))
        return ends

    def _parts(self, ends: Mapping[int, tuple[int, int]], most: int) -> list[SourcePart]:
        """Messages that wait, of each partition about as many, those first of which most do: none is left behind.

        Where these are fewer than the parts that are read at once, each is several ranges, in their order.
        """
        waiting = sorted(((end - at, partition, at) for partition, (at, end) in ends.items() if end > at), reverse=True)
        each = min(-(-most // max(1, len(waiting))), int(LARGEST_PART / self._bytes_each))
        parts, for_each = list[SourcePart](), max(1, self._at_once // max(1, len(waiting)))
        for waits, partition, at in waiting:
            number = min(waits, each)
            ranges = max(1, min(number, for_each, int(number * self._bytes_each / _LEAST_RANGE)))
            for first, end in pairwise(at + number * cut // ranges for cut in range(ranges + 1)):
                parts.append(SourcePart(str(partition), int((end - first) * self._bytes_each), [partition, first, end]))
        return parts

    def _let_go(self) -> None:
        """Receive no more messages meanwhile, which the client keeps."""
        if self._positions:
            self._consumer.unassign()
        self._positions = {}

    def _received(self, ends: Mapping[int, tuple[int, int]], most: int) -> tuple[list[Message], dict[int, int], str]:
        """Messages of partitions, where these resume then, and why one cannot. Arguments as ``_fetched``."""
        after = {partition: start for partition, (start, _) in ends.items()}
        if after != self._positions:
            self._assign(after)
        messages: list[Message] = []
        problems: dict[int, str] = {}
        while len(messages) < most and any(
            after[partition] < end for partition, (_, end) in ends.items() if partition not in problems
        ):
            received = self._consumer.poll(_SILENCE)
            if received is None:
                break
            partition = received.partition()
            if (error := received.error()) is not None:
                if error.name() != "_PARTITION_EOF":
                    problems[partition] = f"{self._where}, partition {partition}: {error.str()}"
                    continue
                # Marks of transactions take offsets, and are no messages.
                after[partition] = max(after[partition], received.offset())
                continue
            messages.append(_message(received))
            after[partition] = received.offset() + 1
        self._positions = dict(after) if not problems else {}
        if messages:
            self._bytes_each = max(1.0, sum(message.bytes for message in messages) / len(messages))
        return messages, after, next(iter(problems.values()), "")

    def _assign(self, starts: Mapping[int, int]) -> None:
        topic = self._address.topic
        self._consumer.assign([kafka_client().TopicPartition(topic, partition, at) for partition, at in starts.items()])

    def _ends(self, offsets: Mapping[int, int], gone: list[QuarantinedRow]) -> dict[int, tuple[int, int]]:
        """Where each partition resumes, and where it ends by now."""
        topic = self._questions.list_topics(self._address.topic, timeout=METADATA_ANSWER).topics[self._address.topic]
        if topic.error is not None:
            message = f"{self._where}: {topic.error.str()}"
            raise StreamError(message, hint="check its name, and that the client may read it")
        found: dict[int, tuple[int, int]] = {}
        if vanished := sorted(offsets.keys() - topic.partitions.keys()):
            raise self._recreated(f"it has no partition {vanished[0]} any more")
        for partition in sorted(topic.partitions):
            asked = kafka_client().TopicPartition(self._address.topic, partition)
            low, high = self._questions.get_watermark_offsets(asked, timeout=METADATA_ANSWER)
            start = offsets.get(partition, low)
            if start > high or high < self._ended_at.get(partition, 0):
                raise self._recreated(f"partition {partition} ends at {high}, and the log goes on at {start}")
            if start < low:
                lost = f"partition {partition}, offsets {start} to {low - 1} are gone from the topic (retention)"
                if not self._skips:
                    hint = "gone=skip in the address goes on after them, and counts them as quarantined: attach it"
                    raise StreamError(f"{self._where}, {lost}", hint=hint)
                gone.append(QuarantinedRow(start, "", lost))
            found[partition] = (max(start, low), high)
            self._ended_at[partition] = high
        return found

    def _check_identity(self, starts: Mapping[int, int], notes: Mapping[int, str]) -> None:
        """Read the last messages again, from time to time: a topic that was created again has others in their places.

        Raises:
            StreamError: a message is another than was read.
        """
        last = {partition: note for partition, note in notes.items() if note.startswith(f"{starts[partition] - 1} ")}
        if not last or time.monotonic() < self._checked + _CHECK:
            return
        client, topic = kafka_client(), self._address.topic
        self._questions.assign([client.TopicPartition(topic, partition, starts[partition] - 1) for partition in last])
        until = time.monotonic() + METADATA_ANSWER
        while last and time.monotonic() < until:
            if (received := self._questions.poll(_SILENCE)) is None:
                continue
            note = last.pop(received.partition(), None)
            # Retention and compaction take messages, and then others come; that says nothing.
            if note and received.error() is None and received.offset() == starts[received.partition()] - 1:
                message = _message(received)
                if message.note != note:
                    where = f"partition {message.partition}, offset {message.offset}"
                    raise self._recreated(f"{where}: there is another message than was read")
        self._questions.unassign()
        self._checked = time.monotonic()

    def _recreated(self, why: str) -> StreamError:
        return StreamError(f"{self._where}, {why}", hint="it was made anew: add it as another stream")

    def _connected(self) -> Any:
        settings = {
            "group.id": "argus",  # asked for by the client; no group is joined, as partitions are assigned
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "error_cb": self._errors.remember,
        }
        try:
            return kafka_client().Consumer({"fetch.wait.max.ms": _LONG_POLL, **self._address.client(), **settings})
        except kafka_client().KafkaException as error:
            raise StreamError(f"{self._where}: {error.args[0].str()}", hint="check the settings") from error

    def _ask(self, question: Any) -> Any:
        """The broker's answer; a broker that does not answer is not asked again for a while."""
        until, problem = self._down
        if problem is not None and time.monotonic() < until:
            raise problem.with_traceback(None)
        try:
            answer = question()
        except kafka_client().KafkaException as error:
            self._questions.poll(0)  # the client's own words for it come to the callback
            problem = self._errors.unreachable(self._where, error)
            self._down = (time.monotonic() + _PAUSE, problem)
            self._positions = {}
            raise problem from error
        self._errors.forget()
        return answer

    @property
    def _where(self) -> str:
        return f"topic {self._address.topic} at {self._address.servers}"


def read_range(address: str, schema: pa.Schema, part: SourcePart) -> Fetched | None:
    """Messages of a partition of a topic, in a task; ``None`` where some of them cannot be had now."""
    with closing(TopicReader(address, schema)) as reader:
        return reader.fetch_range(*part.told)


def _message(received: Any) -> Message:
    kind, timestamp = received.timestamp()
    at = timestamp if kind else None
    headers: Sequence[tuple[str, bytes | None]] = received.headers() or ()
    return Message(received.partition(), received.offset(), received.key(), received.value(), at, headers)


def _at(message: Message, entry: QuarantinedRow) -> QuarantinedRow:
    reason = f"partition {message.partition}, offset {message.offset}: {entry.reason}"
    text = entry.text if message.value is not None else ""
    return replace(entry, line=message.offset, text=text, reason=reason)
