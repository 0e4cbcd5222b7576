"""Files in folders whose names are values of columns, as Hive writes them: ``day=2026-01-31/0.parquet``.

A folder ``name=value`` below the one that was given, or below the first wildcard of a pattern, gives each row of its
files the column ``name``, unless the files have it themselves. Its type is found as DuckDB finds it: whole numbers,
dates, or else texts, as of ``01``.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path, PurePath
from urllib.parse import unquote

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.source import Chunk, OpenedSource

FolderValues = Mapping[str, str | None]
"""The columns of a file's folders, outer ones first, each with its text; ``None`` where the folder says NULL."""
MOST_ENTRIES = 200_000
"""Files and folders in a folder that is read as a whole; to look at more takes seconds, and of ``/`` has no end."""
_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WILD = re.compile(r"[*?[]")


def is_pattern(path: str | PurePath) -> bool:
    """Whether a path is a pattern of files; the options of an address are no pattern.

    Example:
        >>> is_pattern("in/*.csv"), is_pattern("in.csv"), is_pattern("https://example.org/fees?year=2026")
        (True, False, False)
    """
    return "://" not in str(path) and bool(_WILD.search(str(path)))


def split_pattern(pattern: str | PurePath) -> tuple[Path, str]:
    """The folder of a pattern in front of its first wildcard, and what follows.

    Example:
        >>> split_pattern("events/day=*/*.parquet")
        (PosixPath('events'), 'day=*/*.parquet')
        >>> split_pattern("in.csv")
        (PosixPath('.'), 'in.csv')
    """
    parts = Path(pattern).parts
    wild = next((place for place, part in enumerate(parts) if _WILD.search(part)), len(parts) - 1)
    return Path(*parts[:wild]), "/".join(parts[wild:])


_HIDDEN = re.compile(r"(?:^|/)(?:\.|_[^=/]*(?:/|$))")


def is_hidden(below: str | PurePath) -> bool:
    """Whether a file is passed over, as Spark does: its name, or a folder's, begins with ``_`` or ``.``.

    Example:
        >>> is_hidden("_temporary/0/part-0.parquet"), is_hidden(PurePath("_day=1/part-0.parquet"))
        (True, False)
    """
    return _HIDDEN.search(str(below)) is not None


def files_in_folders(folder: Path, ending: str, most: int = MOST_ENTRIES) -> list[Path]:
    """The files of a folder and of those in it, in the order of their paths; numbers in these count as numbers.

    Args:
        folder: of which a link leads to another once, so that one that leads into itself has an end.
        ending: of the files' names.
        most: files and folders that are looked at.

    Raises:
        StreamError: it is a table of Iceberg, some of whose files are no longer part of it; or too much is in it, as in
            ``/``.
    """
    if any((folder / "metadata").glob("*.metadata.json")):
        what = f"{folder} is a table of Iceberg, whose files say only together with its metadata which rows it has"
        raise StreamError(what, hint="pyiceberg reads it: give table.scan().to_arrow()")
    found, seen, walked = list[Path](), 0, {os.path.realpath(folder)}
    for at, folders, names in os.walk(folder, followlinks=True):
        if (seen := seen + len(folders) + len(names)) > most:
            hint = f"give the folder that has the files, or a pattern: {folder / f'sales/*{ending}'}"
            raise StreamError(f"more than {most:,} files and folders are in {folder}", hint=hint)
        real = {name: os.path.realpath(Path(at, name)) for name in folders if not is_hidden(PurePath(name))}
        folders[:] = [name for name, place in real.items() if place not in walked]
        walked.update(real.values())
        found += [Path(at, name).relative_to(folder) for name in names if name.endswith(ending)]
    return _in_their_order(folder, found)


def files_of_pattern(pattern: Path) -> list[Path]:
    """The files that a pattern matches, in the order of their paths, as above."""
    root, rest = split_pattern(pattern)
    return _in_their_order(root, map(Path, glob(rest, root_dir=root, recursive=True)))


def _in_their_order(root: Path, below: Iterable[Path]) -> list[Path]:
    found = [path for path in below if not is_hidden(path) and (root / path).is_file()]
    return [root / path for path in sorted(found, key=lambda path: [*map(_in_order, path.parts)])]


def _in_order(name: str) -> list[tuple[str, int]]:
    """A key by which 2 is before 10."""
    texts, numbers = re.split(r"\d+", name), [*map(int, re.findall(r"\d+", name)), -1]
    return [*zip(texts, numbers, strict=True), (name, -1)]


def folder_values(below: PurePath) -> FolderValues:
    """The columns that the folders of a file give.

    Args:
        below: its path below the folder that was given.

    Example:
        >>> folder_values(PurePath("day=2026-01-31/city=Sankt%20Gallen/part-0.parquet"))
        {'day': '2026-01-31', 'city': 'Sankt Gallen'}
    """
    pairs = [part.partition("=") for part in below.parent.parts]
    return {unquote(name): None if text == _NULL else unquote(text) for name, sign, text in pairs if sign and name}


def folder_fields(files: Iterable[FolderValues], texts: Collection[str] = ()) -> list[pa.Field]:
    """The columns that the folders of some files give, each with the type of all of its values.

    Args:
        files: of each the columns of its folders.
        texts: columns that are texts in any case.

    Example:
        >>> folder_fields([{"year": "2026", "month": "01"}, {"year": "2026", "month": "10"}])
        [pyarrow.Field<year: int64>, pyarrow.Field<month: string>]
    """
    found: dict[str, set[str]] = {}
    for values in files:
        for name, text in values.items():
            found.setdefault(name, set()).update([] if text is None else [text])
    return [pa.field(name, pa.string() if name in texts else _type(some)) for name, some in found.items()]


def _type(texts: Collection[str]) -> pa.DataType:
    if texts and all(map(_INTEGER.fullmatch, texts)):
        return pa.int64()
    return pa.date32() if texts and all(map(_is_day, texts)) else pa.string()


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text) and dt.date.fromisoformat(text))
    except ValueError:
        return False


def folder_columns(values: FolderValues, fields: Sequence[pa.Field], rows: int) -> list[pa.Array]:
    """Columns of folders for a number of rows of one file; texts where a value is none of the column's type."""
    return [pa.repeat(_scalar(values.get(field.name), field.type), rows) for field in fields]


def _scalar(text: str | None, type_: pa.DataType) -> pa.Scalar:
    if text is None or pa.types.is_string(type_):
        return pa.scalar(text, type_ if text is None else pa.string())
    if pa.types.is_date(type_) and _is_day(text):
        return pa.scalar(dt.date.fromisoformat(text), type_)
    return pa.scalar(int(text), type_) if pa.types.is_integer(type_) and _INTEGER.fullmatch(text) else pa.scalar(text)


def with_folder_columns(opened: OpenedSource, values: FolderValues, fields: Sequence[pa.Field]) -> OpenedSource:
    """A file with the columns that its folders give.

    Args:
        opened: the file.
        values: of its folders.
        fields: the columns with their types; those that the file has itself are left out.
    """
    names = {name.lower() for name in opened.schema.names}
    fields = [field for field in fields if field.name.lower() not in names]
    if not fields:
        return opened

    def chunks() -> Iterator[Chunk]:
        for chunk in opened.chunks:
            more = folder_columns(values, fields, chunk.rows.num_rows)
            all_names = [*chunk.rows.schema.names, *(field.name for field in fields)]
            yield replace(chunk, rows=pa.RecordBatch.from_arrays([*chunk.rows.columns, *more], names=all_names))

    schema = pa.schema([*opened.schema, *fields], opened.schema.metadata)
    return replace(opened, schema=schema, chunks=chunks(), notes=(*opened.notes, said_of_folders(fields)))


def said_of_folders(fields: Iterable[pa.Field]) -> str:
    """The lines about columns of folders, when a stream is added."""
    return f"{', '.join(field.name for field in fields)}: from the names of folders"
