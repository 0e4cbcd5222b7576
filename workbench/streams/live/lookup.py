"""A remote table that is asked by key, as a live source (TelegraphCQ 4.2.3, a lookup by binding).

The keys are the values of a column of another stream. Each is asked for once, and again when its answer has become too
old. Answers are rows that the log keeps, with when each key was asked. So batches, replays and recovery see what was
answered then, and nothing is asked a second time for them. A key that cannot be asked now is asked later; others go on.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote

import pyarrow as pa

from workbench.errors import StreamError, UnexpectedError, WorkbenchError, nearest
from workbench.errors.secrets import hide_secrets
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.windows.stream_time import short_duration
from workbench.streams.addresses.address import kept_address
from workbench.streams.addresses.requests import send
from workbench.streams.corrections.declared import Changes, Corrections
from workbench.streams.files.json_records import as_record, rows_of
from workbench.streams.live.reader import Fetched, NothingYet, OffsetMark, Offsets, TypedReader

if TYPE_CHECKING:
    from workbench.streams.stream import Stream

LOOKUP_SCHEMES = ("lookup+http://", "lookup+https://")
ASKED_AT = "asked_at"
"""The column, where the stream has one, that says when the key was asked for."""
_OWN = ("of", "ttl")
"""Options of the address that are none of the server's."""
_AT_A_TIME, _PATIENCE, _AGAIN, _ANSWER = 8, 2.0, 5.0, 30.0
"""Keys that are asked for at the same time; and seconds that batches wait for answers, after which a key is asked again
that could not be asked, and that a server has."""
_LARGEST = 1_000_000
"""Bytes of an answer."""


class RemoteLookup:
    """A remote table, as the source of ``add_stream``.

    Args:
        ask: gives the row of a key, by names of columns, and None where there is none. It is called by several threads.
        of: the stream and the column that have the keys, ``"trades.currency"``.
        key: the column that has the key; that of the same name, unless given.
        ttl: how long an answer holds, ``"1h"``; ``None``: for ever.
        description: what is asked, to show.

    Raises:
        StreamError: ``of`` is no stream and column, or ``ttl`` no length of time.

    Example:
        >>> RemoteLookup({"EUR": {"rate": "1.08"}}.get, of="trades.currency", ttl="1h").key
        'currency'
    """

    def __init__(
        self,
        ask: Callable[[Any], Mapping[str, Any] | None],
        of: str,
        key: str | None = None,
        ttl: str | None = None,
        description: str = "a lookup",
    ) -> None:
        self.stream, _, self.column = of.partition(".")
        if not (self.stream and self.column):
            what = f"of={of} is no column of a stream" if of else "of= is missing, which says whose keys are asked for"
            raise StreamError(what, hint="a stream and its column, as in of=trades.currency")
        seconds = math.inf if ttl is None else short_duration(ttl)
        if not seconds or seconds < 0:
            raise StreamError(f"ttl={ttl} is no length of time", hint="as in ttl=1h")
        self.ask, self.key, self.seconds, self.description = ask, key or self.column, seconds, description

    @staticmethod
    def at(given: str) -> RemoteLookup:
        """The lookup at an address, ``lookup+https://host/rates/{currency}?of=trades.currency&ttl=1h``.

        The name in braces is that of the key's column. A row is an object of JSON; the status 404 says that there is
        none.

        Raises:
            StreamError: the address is invalid.
        """
        address = kept_address(given)
        before, _, rest = address.path.partition("{")
        key, closed, after = rest.partition("}")
        if not closed or not key.isidentifier():
            hint = "name the key's column in braces: lookup+https://host/rates/{currency}?of=trades.currency"
            raise StreamError(f"{given} has no key in its path", hint=hint)

        def ask(value: Any) -> Mapping[str, Any] | None:
            asked = replace(address, path=before + quote(str(value), safe="") + after)
            try:
                with send(asked, *_OWN, timeout=_ANSWER) as answer:
                    content = answer.read(_LARGEST + 1)
            except HTTPError as refusal:
                with refusal:
                    if refusal.code == 404:
                        return None
                raise
            record = as_record(content) if len(content) <= _LARGEST else f"it has more than {_LARGEST:,} bytes"
            if isinstance(record, str):
                raise StreamError(f"the answer is no row: {record}")
            return record

        options = address.options
        return RemoteLookup(ask, options.get("of", ""), key, options.get("ttl"), address.text())


class LookupReader(TypedReader):
    """Asks for the keys that a stream has.

    Args:
        lookup: what is asked.
        schema: the columns; ``None``: they are not known.

    Raises:
        NothingYet: the columns are not known, since nothing was asked yet.
        StreamError: the key is none of them.
    """

    def __init__(self, lookup: RemoteLookup, schema: pa.Schema | None = None) -> None:
        if schema is None:
            raise NothingYet(f"{lookup.description} is asked when {lookup.stream} has rows")
        if stored_name(lookup.key) not in map(stored_name, schema.names):
            hint = nearest(lookup.key, schema.names) or "the key is one of its columns"
            raise StreamError(f"{lookup.description} has no column {lookup.key}", hint=hint)
        super().__init__(schema, f"{lookup.description} (asked for {lookup.stream}.{lookup.column})")
        self._lookup = lookup
        self._asking = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="argus-lookup")
        self._asked: dict[str, tuple[dt.datetime, Future[Mapping[str, Any] | None]]] = {}
        self._keys: dict[str, Any] = {}
        self._not_before: dict[str, float] = {}
        self._read, self._missing = 0, f"it waits for {lookup.stream}"

    @property
    def follows(self) -> str:
        """The stream whose keys it asks for."""
        return self._lookup.stream

    def follow(self, stream: Stream | None) -> None:
        """Take in the keys of rows that have come, and of those that come with the next batch.

        Args:
            stream: that has them; ``None``: there is none.
        """
        if stream is None or stored_name(self._lookup.column) not in dict(stream.stored_columns):
            self._missing = f"there is no {self._lookup.stream}.{self._lookup.column}"
            return
        live = stream.log.is_live
        until = stream.rows if live else min(stream.rows, stream.position + stream.due(stream.boundary()))
        if until < self._read:
            self._read = 0  # the stream took the place of another one
        if until > self._read:
            column = stream.log.read(self._read, until, [stored_name(self._lookup.column)]).column(0)
            self._keys |= {str(value): value for value in column.unique().to_pylist() if value is not None}
            self._read = until
        self._missing = ""

    def corrections(self, key: Sequence[str]) -> Corrections:
        """A row replaces the one of its key.

        Raises:
            StreamError: another key was declared.
        """
        if key and [*map(stored_name, key)] != [stored_name(self._lookup.key)]:
            raise StreamError(f"its key is {self._lookup.key}", hint="leave the key out")
        return Corrections(Changes.UPSERT, (stored_name(self._lookup.key),))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The answers that have come, in the order in which they were asked for."""
        self._ask(offsets, most)
        wait([future for _, future in self._asked.values()], _PATIENCE)
        records, after, problem = list[tuple[int, str, Any]](), dict[str, str](), self._missing
        count = int(offsets.get("", "0"))
        for text, (asked_at, future) in [*self._asked.items()]:
            if not future.done():
                continue
            del self._asked[text]
            try:
                found = future.result()
            except Exception as failure:  # of a server, of the way to it, or of a function of the analyst
                said = failure if isinstance(failure, WorkbenchError) else UnexpectedError.of(failure)
                problem = hide_secrets(f"{self._lookup.key} {text} cannot be asked: {said.message}; it is asked again")
                self._not_before[text] = time.monotonic() + _AGAIN
                continue
            after[_entry(text)] = asked_at.isoformat()
            if found is not None or _entry(text) in offsets:
                record = self._row(self._keys[text], found, asked_at)
                records.append((count + len(records) + 1, text, record))
        chunk = rows_of(records, self._schema)
        if after:
            after[""] = str(count + len(records))
        return Fetched(chunk.rows, after, chunk.quarantined, problem=problem, found=chunk.found)

    def close(self) -> None:
        """Ask for nothing more."""
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _ask(self, offsets: Offsets, most: int) -> None:
        """Ask for keys that were never asked for, and for those whose answers are too old."""
        now, clock = dt.datetime.now(dt.UTC), time.monotonic()
        for text, value in self._keys.items():
            if len(self._asked) >= max(1, most):
                return
            before = offsets.get(_entry(text))
            fresh = (
                before is not None and (now - dt.datetime.fromisoformat(before)).total_seconds() < self._lookup.seconds
            )
            if not fresh and text not in self._asked and self._not_before.get(text, clock) <= clock:
                self._asked[text] = now, self._asking.submit(self._lookup.ask, value)

    def _row(self, key: Any, found: Mapping[str, Any] | None, asked_at: dt.datetime) -> dict[str, Any]:
        """The row of an answer; of one without a row the key alone, which takes an earlier row back."""
        own = {stored_name(name): name for name in self._schema.names}
        row = (
            {}
            if found is None
            else {name: v for name, v in found.items() if stored_name(name) != stored_name(self._lookup.key)}
        )
        if found is not None and ASKED_AT in own:
            row[own[ASKED_AT]] = asked_at.replace(tzinfo=None).isoformat(" ")
        return {own[stored_name(self._lookup.key)]: key, **row}


def _entry(key: str) -> str:
    return f"{OffsetMark.NOTE}{key}"
