"""The change data feed of a Delta table as a live source: the rows of each version's changes, from a version on.

Its offset is the next version. A version is read as a whole, so its rows arrive once, and both images of an update are
in one batch. Without a first version the stream begins with the table's rows as inserts. The table's id is stored, so
that another table at the same place is refused.
Source: Delta Lake, protocol specification, "Change Data Files".
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import StreamError
from workbench.streams.corrections.declared import Changes
from workbench.streams.drift import Differences, folded, joined
from workbench.streams.drifting_types import fitted
from workbench.streams.files.delta_table import delta_table, is_delta_table
from workbench.streams.files.json_schema import widest_field
from workbench.streams.live.reader import Fetched, OffsetMark, Offsets, TypedReader
from workbench.streams.source import QuarantinedRow

DELTA_SCHEME = "delta:"
_SINCE = "?since="
_CHANGE, _VERSION, _TIME = "_change_type", "_commit_version", "_commit_timestamp"
_WHOLE = ""
_CHECK = 10.0
"""Seconds after which a table without a newer version is opened again, to check its id."""
_TAKES_BACK = pa.array(["delete", "update_preimage"])
_ENABLE = "ALTER TABLE … SET TBLPROPERTIES (delta.enableChangeDataFeed = true), then since= a version after it"


def delta_source(source: object, changes: str | None, since: int | None) -> object:
    """A source with the address of a change data feed, if it is a Delta table whose changes are asked for.

    Args:
        source: as it was given.
        changes: the form of its corrections.
        since: the first version.

    Raises:
        StreamError: a version is given, and the source is no Delta table.

    Example:
        >>> delta_source("delta:orders", "cdf", 3)
        'delta:orders?since=3'
    """
    is_path = isinstance(source, str | Path)
    is_named = isinstance(source, str) and source.startswith(DELTA_SCHEME)
    is_delta = is_named or (is_path and changes == Changes.CDF and is_delta_table(str(source)))
    if not is_delta:
        if since is not None:
            hint = "the folder of a table, and changes='cdf'"
            raise StreamError("since goes with a Delta table", hint=hint)
        return source
    if changes != Changes.CDF:
        raise StreamError(f"{source} is followed as a change data feed", hint="changes='cdf' says so")
    path = str(source) if is_named else f"{DELTA_SCHEME}{Path(str(source)).absolute()}"
    return path if since is None else f"{path.partition(_SINCE)[0]}{_SINCE}{since}"


class DeltaFeedReader(TypedReader):
    """Reads the feed.

    Args:
        source: ``delta:`` and the folder or URL of the table, with ``?since=`` and a version.
        schema: the columns, where the stream has been added before.

    Raises:
        StreamError: deltalake is not installed, there is no such table, or it has no such version.
    """

    gives_records = False

    def __init__(self, source: str, schema: pa.Schema | None = None) -> None:
        self._path, _, since = source.removeprefix(DELTA_SCHEME).partition(_SINCE)
        if since and not since.isdecimal():
            raise StreamError(f"since={since}", hint="the number of a version of the table")
        self._since = int(since) if since else None
        self._table, self._opened = delta_table(self._path), time.monotonic()
        if self._since is not None and self._since > self._table.version() + 1:
            message = f"{self._path} has no version {self._since}: its last one is {self._table.version()}"
            raise StreamError(message, hint="since= the first version whose changes are to be read")
        super().__init__(_feed_schema(self._table) if schema is None else schema, source)

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The changes of the next versions, until there are enough rows."""
        table = self._refreshed()
        identity, last = table.metadata().id, table.version()
        known, begin = offsets.get(OffsetMark.NOTE.value, identity), offsets.get(_WHOLE)
        if known != identity or (begin is not None and int(begin) > last + 1):
            raise StreamError(f"{self._path} is another table than was read", hint="add it as another stream")
        taken, problem = _Taken(self._schema), ""
        if begin is None and self._since is None:
            taken.add(_inserts(table.to_pyarrow_table(), last), last)
            following = last + 1
        else:
            following = int(begin) if begin is not None else self._since or 0
            try:
                while following <= last and taken.count < most:
                    taken.add(self._changes(table, following), following)
                    following += 1
            except StreamError as error:  # the versions before it are logged
                problem = str(error)
        after = {_WHOLE: str(following), OffsetMark.NOTE.value: identity} if str(following) != begin else {}
        rows = joined(taken.rows, self._schema)
        return Fetched(rows, after, tuple(taken.quarantined), problem=problem, found=taken.found)

    def _refreshed(self) -> Any:
        """The table with its newest version; it is opened again where it has one, since only that reads its id."""
        if time.monotonic() < self._opened + _CHECK:
            version = self._table.version()
            self._table.update_incremental()
            if self._table.version() == version:
                return self._table
        self._table, self._opened = delta_table(self._path), time.monotonic()
        return self._table

    def _changes(self, table: Any, version: int) -> pa.Table:
        """The rows of the changes of a version."""
        try:
            feed = table.load_cdf(starting_version=version, ending_version=version)
            rows = pa.RecordBatchReader.from_stream(feed).read_all()
        except Exception as error:  # deltalake raises errors of its own, of Arrow's and of the store's
            if "change data enabled" in str(error):
                raise StreamError(f"{self._path}: version {version} has no change data feed", hint=_ENABLE) from error
            message = f"{self._path}: the changes of version {version} cannot be read, as after VACUUM: {error}"
            raise StreamError(message, hint="add the table as another stream, which begins with its rows") from error
        gone = [name for name in self._schema.names if name not in rows.column_names]
        if gone and pc.any(pc.is_in(rows[_CHANGE].cast(pa.string()), _TAKES_BACK)).as_py():
            message = f"{self._path}, version {version}: rows are taken back that had {', '.join(gone)}, which is gone"
            raise StreamError(message, hint="add the table as another stream, which begins with its rows")
        return rows.drop_columns([_TIME, _VERSION]).append_column(_VERSION, pa.repeat(version, len(rows)))


class _Taken:
    """The rows of versions, one after the other.

    Args:
        schema: the columns of the stream's source.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self.rows, self.quarantined = list[pa.RecordBatch](), list[QuarantinedRow]()
        self.found, self.count = Differences(), 0

    def add(self, rows: pa.Table, version: int) -> None:
        """Add the rows of a version; columns that the stream does not have are kept as new members."""
        for batch in rows.to_batches():
            some, found = folded(batch, self._schema)
            fitting, misfits = fitted(some, np.arange(1, len(batch) + 1), self._schema)
            before = sum(map(len, self.rows))
            self.rows.append(fitting)
            self.quarantined += [
                replace(one, reason=f"version {version}: {one.reason}", number=before + one.number) for one in misfits
            ]
            self.found, self.count = self.found.and_then(found), self.count + len(batch)


def _inserts(rows: pa.Table, version: int) -> pa.Table:
    """The rows of a table as inserts of its last version."""
    kinds, versions = (pa.repeat(value, len(rows)) for value in ("insert", version))
    return rows.append_column(_CHANGE, kinds).append_column(_VERSION, versions)


def _feed_schema(table: Any) -> pa.Schema:
    """The columns of the feed: the table's, the kind of a change, and its version."""
    own = pa.schema(table.schema().to_arrow())
    return pa.schema([*map(widest_field, own), pa.field(_CHANGE, pa.string()), pa.field(_VERSION, pa.int64())])
