"""Values that a function of the analyst has given, by its arguments: no worker of a machine asks for them twice.

A function gives equal values for equal arguments: the engine relies on it wherever rows are taken back. So when a join
is restructured, when another tree calls the function over the same rows, or when a query is registered again, the
values are carried along. The workers of a machine share them through files, of which each worker reads the new ones.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.engine.spark.user_functions.child import from_bytes, to_bytes
from workbench.files.writing import replacing

MOST_VALUES = 200_000
"""The most values of a function that a worker keeps; beyond, it begins anew."""
MOST_BYTES = 8_000_000
"""Values of one request that are larger than this are not kept."""
MOST_VALUE_FILES = 32
"""With more files, a worker writes all that it knows as one."""
_SUFFIX = ".values"

Keys = Sequence[Hashable]


@dataclass
class Memo:
    """The known values of one function.

    Attributes:
        folder: where workers share them; one that is missing is no error, then nothing is shared.
    """

    folder: Path
    _values: dict[Hashable, Any] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def known(self, keys: Keys) -> dict[Hashable, Any]:
        """The values of those keys that have a known one."""
        known = self._of(keys)
        return self._of(keys) if len(known) < len(set(keys)) and self._read_new() else known

    def _of(self, keys: Keys) -> dict[Hashable, Any]:
        return {key: self._values[key] for key in keys if key in self._values}

    def add(self, arguments: Sequence[pa.Array], values: pa.Array) -> None:
        """Keep the values of some arguments, for all workers."""
        rows = pa.RecordBatch.from_arrays([*arguments, values], [f"_{at}" for at in range(len(arguments) + 1)])
        if not rows.num_rows or rows.nbytes > MOST_BYTES:
            return
        self._keep(rows)
        with suppress(OSError):  # the session may have ended, and its folder with it
            self._write(rows)
            if len(self._read) > MOST_VALUE_FILES:
                self._merge(rows.schema)

    def _keep(self, rows: pa.RecordBatch) -> None:
        if len(self._values) + rows.num_rows > MOST_VALUES:
            self._values.clear()
        *arguments, values = rows.columns
        self._values.update(zip(keys_of(arguments), values.to_pylist(), strict=True))

    def _read_new(self) -> bool:
        """Read the files that other workers wrote since; whether there were any."""
        with suppress(OSError):
            new = {file.name for file in self.folder.iterdir() if file.suffix == _SUFFIX} - self._read
            for name in sorted(new):
                with suppress(FileNotFoundError):  # merged into another one, which is read the next time
                    self._keep(from_bytes((self.folder / name).read_bytes()))
            self._read |= new
            return bool(new)
        return False

    def _write(self, rows: pa.RecordBatch) -> None:
        name = f"{uuid.uuid4().hex}{_SUFFIX}"
        with replacing(self.folder / name) as file:
            file.write(to_bytes(rows))
        self._read.add(name)

    def _merge(self, schema: pa.Schema) -> None:
        """Write all that this worker knows to one file, and remove the files that it has read."""
        merged, self._read = self._read, set()
        *types, returned = schema.types
        arguments = [
            _column(list(bits), type_) for bits, type_ in zip(zip(*self._values, strict=True), types, strict=True)
        ]
        values = pa.array(self._values.values(), returned)
        self._write(pa.RecordBatch.from_arrays([*arguments, values], schema=schema))
        for name in merged:
            (self.folder / name).unlink(missing_ok=True)


def keys_of(arguments: Sequence[pa.Array]) -> list[Hashable]:
    """One key for each row of arguments; rows have the same where their bits are: -0.0 is another one than 0.0."""
    return list(zip(*(_bits(column).to_pylist() for column in arguments), strict=True))


def can_be_kept(types: Iterable[pa.DataType]) -> bool:
    """Whether arguments and values of these types are kept: those that are one number, text or time."""
    return not any(pa.types.is_nested(type_) or pa.types.is_binary(type_) for type_ in types)


def _bits(column: pa.Array) -> pa.Array:
    return column.view(_plain(column.type))


def _column(bits: list[Any], type_: pa.DataType) -> pa.Array:
    return pa.array(bits, _plain(type_)).view(type_)


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type of the bits of values that Python takes for equal, or for invalid, where their bits are other ones."""
    if pa.types.is_float64(type_) or pa.types.is_timestamp(type_):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(type_) else type_
