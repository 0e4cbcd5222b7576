"""Deliveries to the target of a sink: their sum, and the last of them as it was sent.

A delivery is written here, and forced to the disk, before the target gets it. So one of which it is unknown whether the
target took it is sent again with the same rows, whatever the session has done since; and where the session has gone
back, what the target has beyond the present answer is known without asking it. Files of like sizes are put
together, equal rows summed, so that there are few of them and no more rows than the answer has, twice over.
Source: Bentley and Saxe 1980, the logarithmic method.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.frames import as_shown_table
from workbench.engine.selection import summed_weights
from workbench.files.shared import remove_small, write_small
from workbench.files.writing import force_to_disk, make_folder
from workbench.session.sinks.rows import stored_changes
from workbench.session.sinks.target import Delivery
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.streams.widened_columns import as_field

MOST = 32
"""The most files there are; then some are put together."""
_DELIVERY = b"argus.delivery"


@dataclass(frozen=True)
class _File:
    first: int
    last: int
    rows: int
    path: Path

    @staticmethod
    def of(path: Path) -> _File:
        first, _, last = path.stem.partition("-")
        return _File(int(first), int(last), _read(path).num_rows, path)


class Sent:
    """The deliveries of one sink.

    Args:
        folder: with their files; it is made when there is one.
        types: of the query's columns.

    Attributes:
        last: the last delivery, whether or not the target took it.
    """

    def __init__(self, folder: Path, types: Sequence[DataType]) -> None:
        self._folder, self._types = folder, tuple(types)
        self._files: list[_File] = []
        self.last: Delivery | None = None
        found = [_File.of(path) for path in folder.glob("*.arrow")]
        for file in sorted(found, key=lambda file: (file.last, -file.first), reverse=True):
            if self._files and file.first >= self._files[-1].first:
                remove_small(file.path)  # it was put together with others when the process ended
            else:
                self._files.append(file)
        self._files.reverse()
        self._read_last()

    def is_of(self, types: Sequence[DataType]) -> bool:
        """Whether the query's columns have these types."""
        return self._types == tuple(types)

    def add(self, delivery: Delivery, changes: pa.Table) -> None:
        """Note the rows that the target is to get: the column ``weight``, then the query's."""
        rows = stored_changes(changes, self._types)
        self._write(delivery.number, delivery, rows)
        self.last = delivery

    def take_back(self) -> None:
        """The target has not got the last delivery, and is not to get it."""
        remove_small(self._files.pop().path)
        self._read_last()

    def changes(self) -> pa.Table:
        """The last delivery, as it was given; it belongs before ``compact``."""
        return self._shown(_read(self._files[-1].path))

    def compact(self) -> None:
        """Put files together if there are many; the target has all of them."""
        if len(self._files) < MOST:
            return
        begin = len(self._files) - 2
        while begin and self._files[begin - 1].rows <= 2 * sum(file.rows for file in self._files[begin:]):
            begin -= 1
        together, self._files = self._files[begin:], self._files[:begin]
        assert self.last is not None
        self._write(together[0].first, self.last, _sum([_read(file.path) for file in together]), soon=True)
        for file in together:
            remove_small(file.path)

    def changes_to(self, answer: pa.Table) -> pa.Table:
        """The changes from all that was delivered to an answer, given as the changes that accumulate to it."""
        there = [_negated(_read(file.path)) for file in self._files]
        return self._shown(_sum([stored_changes(answer, self._types), *there]))

    def _shown(self, rows: pa.Table) -> pa.Table:
        return as_shown_table(rows, [INTEGER, *self._types])

    def _write(self, first: int, last: Delivery, rows: pa.Table, soon: bool = False) -> None:
        make_folder(self._folder)
        path = self._folder / f"{first:012d}-{last.number:012d}.arrow"
        rows = rows.replace_schema_metadata({_DELIVERY: json.dumps(asdict(last))})
        data = pa.BufferOutputStream()
        with pa.ipc.new_file(data, rows.schema) as writer:
            writer.write_table(rows)
        write_small(path, data.getvalue().to_pybytes(), soon)
        force_to_disk([str(path)])
        self._files.append(_File(first, last.number, rows.num_rows, path))

    def _read_last(self) -> None:
        self.last = None
        if self._files:
            metadata = _read(self._files[-1].path).schema.metadata
            self.last = Delivery(**json.loads(metadata[_DELIVERY]))


def _read(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def _negated(rows: pa.Table) -> pa.Table:
    return rows.set_column(0, rows.schema.field(0), pc.negate(rows.column(0)))


def _sum(parts: Sequence[pa.Table]) -> pa.Table:
    """Rows with the sums of their weights; none has the weight 0."""
    schema = parts[0].schema.remove_metadata()
    rows = pa.concat_tables([_cast(part, schema) for part in parts]).combine_chunks()
    weights, *values = [column.combine_chunks() for column in rows.columns]
    values, weights = summed_weights(values, weights)
    return pa.Table.from_arrays([weights, *values], schema=schema)


def _cast(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the types that a query's columns have now, also where they were delivered with others."""
    columns = zip(rows.columns, schema, strict=True)
    values = [c if c.type == f.type else as_field(c.combine_chunks(), f)[0] for c, f in columns]
    return pa.Table.from_arrays(values, schema=schema)
