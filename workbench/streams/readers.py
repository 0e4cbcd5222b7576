"""Opens a file, a DataFrame or Arrow data as a source: a schema, and chunks of which one is in memory at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
from pandas.api.types import infer_dtype

from workbench.arrow.encodings import plain_batches
from workbench.errors import StreamError, nearest, shown, with_article
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.addresses.address import check_no_connection_string, shown_address
from workbench.streams.convert import is_text
from workbench.streams.drifting_types import common_field, fitted
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.csv_source import open_csv
from workbench.streams.files.delta_table import delta_table, is_delta_table
from workbench.streams.files.formats import FileFormat, format_of, what_is_read
from workbench.streams.files.json_lines import open_json_lines
from workbench.streams.files.json_records import rows_of, within_depth
from workbench.streams.files.json_schema import schema_of, texts_seen
from workbench.streams.files.json_values import JsonRecord, as_texts, has_texts
from workbench.streams.files.log_lines import open_log_lines
from workbench.streams.files.partitions import (
    FolderValues,
    files_in_folders,
    files_of_pattern,
    folder_columns,
    folder_fields,
    folder_values,
    is_hidden,
    is_pattern,
    said_of_folders,
    split_pattern,
)
from workbench.streams.files.urls import UrlFile, is_url, url_files
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.source import Chunk, OpenedSource

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_MAGIC, _ARROW = b"PAR1", b"ARROW1"
_BUFFER = 1 << 20
"""Bytes of each column of a Parquet file that are read at a time."""
Declared = Mapping[str, DataType] | None
"""Types of columns, by their stored names."""
_DECLARE = "say which it is to have: columns={'fee': 'string'}, in a cell --type fee=string"


def open_source(
    source: object,
    scratch: Path,
    stack: ExitStack,
    options: CsvOptions | None = None,
    declared: Declared = None,
) -> OpenedSource:
    """Opens a path, a DataFrame or Arrow data for reading in row order.

    Args:
        source: see `workbench.streams.ingest.ingest`.
        scratch: a folder that does not exist yet, for what Spark writes; the caller removes it.
        stack: closes the files that were opened.
        options: what is declared of how a CSV file is written.
        declared: types of columns, by their stored names.

    Raises:
        StreamError: no such file, not a format the workbench reads, damaged at its beginning, or no CSV file although
            there are options for one.
    """
    if isinstance(source, OpenedSource):
        return source
    if isinstance(source, UrlFile):
        return _open_file(source, stack, options, declared)
    if isinstance(source, str) and is_url(source):
        return _open_url(source, stack, options, declared)
    if isinstance(source, str | Path):
        return _open_path(Path(source), stack, options, declared)
    check_no_options(options, with_article(type(source).__name__))
    if isinstance(source, list) and all(isinstance(row, dict) for row in source):
        return _open_records(source, declared)
    if isinstance(source, pd.DataFrame):
        return _open_pandas(source)
    if hasattr(source, "sparkSession") and hasattr(source, "write"):
        return _open_spark(source, scratch)
    if isinstance(source, pa.RecordBatchReader):
        return _open_reader(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _open_reader(pa.RecordBatchReader.from_stream(source))
    if isinstance(source, list) and (odd := _odd_record(source)) is not None:
        what = f"record {odd + 1} of the list is {shown(source[odd])}, and others are dicts"
        raise StreamError(what, hint="leave it out, or give a dict of its values")
    raise StreamError(f"a stream cannot be read from {with_article(type(source).__name__)}", hint=_as_frame(source))


def _odd_record(rows: Sequence[object]) -> int | None:
    """The place of the first of some records that is none; ``None`` where all are, or none is."""
    odd = next((place for place, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    return odd if any(isinstance(row, Mapping) for row in rows) else None


def _as_frame(source: object) -> str:
    """What makes a source of an object that is none."""
    if isinstance(source, dict):
        return "a dict is one record: give [record], or pandas.DataFrame(record) where its values are columns"
    if isinstance(source, pd.Series):
        return "give column.to_frame(), a DataFrame with this one column"
    if isinstance(source, list | tuple | np.ndarray):
        return "pandas.DataFrame(rows, columns=['id', 'name']) makes a source of rows; so is a list of dicts"
    return "give the path of a Parquet, CSV or JSON lines file, a list of dicts, a pandas, Arrow or Spark DataFrame"


def check_no_options(options: CsvOptions | None, what: str) -> None:
    """Check that nothing is declared that would not be obeyed.

    Raises:
        StreamError: something is.
    """
    if options is not None and options.declared:
        names = ", ".join(options.declared)
        raise StreamError(f"{what} is no CSV file: {names} would say nothing", hint="leave it out")


def _open_url(url: str, stack: ExitStack, options: CsvOptions | None, declared: Declared) -> OpenedSource:
    files = url_files(url)
    if len(files) == 1 and not ("*" in url and files[0].name.endswith(".parquet")):
        return _open_file(files[0], stack, options, declared)
    if other := next((file.name for file in files if not file.name.endswith(".parquet")), None):
        what = f"{shown_address(url)} matches {len(files)} files, {other} among them"
        raise StreamError(what, hint="only of Parquet there may be many")
    check_no_options(options, shown_address(url))
    return _open_parquet(files, declared, [folder_values(file.below(url)) for file in files])


def nearest_file(path: Path) -> str | None:
    """A hint that names the file that may be meant by a path at which there is none; ``None`` where none is near.

    Of files that are called alike it is the one with the same ending, or else one that can be read.
    """
    if not path.parent.is_dir():
        return f"did you mean {path.name}?" if Path(path.name).exists() else None
    by_ending = sorted(path.parent.iterdir(), key=lambda other: (
        other.suffix == path.suffix, FileFormat.named(other.name) is not None, other.name,
    ))  # fmt: skip
    names = {_stem(other): other for other in by_ending}
    return nearest(_stem(path), names, shown=lambda stem: str(names[stem]))


def _stem(path: Path) -> str:
    """The name of a file without its endings."""
    return path.name.partition(".")[0] or path.name


def _open_path(path: Path, stack: ExitStack, options: CsvOptions | None, declared: Declared) -> OpenedSource:
    if not path.exists() and is_pattern(path) and (files := files_of_pattern(path)):
        if any(FileFormat.named(file.name) is not FileFormat.PARQUET for file in files):
            what = f"{path} matches {len(files)} files, which are not all of Parquet"
            raise StreamError(what, hint="a table is read from one file then; a stream reads such files as they come")
        check_no_options(options, str(path))
        root, _ = split_pattern(path)
        return _open_parquet(files, declared, [folder_values(file.relative_to(root)) for file in files])
    if not path.exists():
        check_no_connection_string(str(path))
        where = f"paths are seen from {Path.cwd()}" if path.parent.is_dir() else f"there is no folder {path.parent}"
        if re.match(r"\s*SELECT\s", str(path), re.IGNORECASE):
            hint = "register(sql, name) registers a query; pandas.read_sql(sql, connection) reads one of a database"
            raise StreamError("a query is no source", hint=hint)
        is_name = str(path).isidentifier()
        hint = f"{nearest_file(path) or where}{'; a variable is given without quotes' * is_name}"
        raise StreamError(f"there is no file {path}", hint=hint)
    if path.is_dir():
        check_no_options(options, str(path))
        if is_delta_table(path):
            return _open_reader(delta_table(path).to_pyarrow_dataset().scanner().to_reader())
        return _open_folder(path, declared)
    return _open_file(path, stack, options, declared)


def _open_file(file: Path | UrlFile, stack: ExitStack, options: CsvOptions | None, declared: Declared) -> OpenedSource:
    kind = format_of(file)
    if kind is FileFormat.CSV:
        return open_csv(file, stack, options or CsvOptions())
    check_no_options(options, str(file))
    match kind:
        case FileFormat.LOG:
            return open_log_lines(file, stack, options is not None and options.growing)
        case FileFormat.JSON:
            return open_json_lines(file, stack, None, declared)
        case FileFormat.ARROW | FileFormat.ORC:
            return _open_tables(file, kind, stack)
    return _open_parquet([file], declared)


def _open_tables(file: Path | UrlFile, kind: FileFormat, stack: ExitStack) -> OpenedSource:
    """Opens a file of Arrow's IPC, which Feather is, too, or of ORC."""
    opened = stack.enter_context(_opened(file))
    try:
        if kind is FileFormat.ORC:
            stripes = orc.ORCFile(opened)
            return _of_rows(stripes.schema, map(stripes.read_stripe, range(stripes.nstripes)), stripes.nrows)
        if opened.read(len(_ARROW)) == _ARROW:
            batches = pa.ipc.open_file(opened)
            return _of_rows(batches.schema, map(batches.get_batch, range(batches.num_record_batches)))
        opened.seek(0)
        return _open_reader(pa.ipc.open_stream(opened))
    except (OSError, pa.ArrowException) as error:
        raise StreamError(f"{file} is cut short or damaged: {error}", hint="copy or write the file again") from error


def _open_folder(folder: Path, declared: Declared) -> OpenedSource:
    """Opens the Parquet files of a folder in name order, which is row order in what Spark wrote, or those below it."""
    files = sorted(path for path in folder.glob("*.parquet") if path.is_file() and not is_hidden(Path(path.name)))
    files = files or files_in_folders(folder, ".parquet")
    if files:
        return _open_parquet(files, declared, [folder_values(file.relative_to(folder)) for file in files])
    others = (path for path in files_in_folders(folder, "") if FileFormat.named(path.name) is not None)
    other = min(others, key=lambda path: len(path.parts), default=folder / "first.csv")
    pattern = (folder if other.parent == folder else folder / "**") / f"*{other.suffix}"
    raise StreamError(
        f"no Parquet files (*.parquet) in the folder {folder}",
        hint=f"give the path of one file, or the pattern of files that will come, as {pattern}",
    )


def _open_parquet(
    paths: Sequence[Path | UrlFile], declared: Declared, folders: Sequence[FolderValues] = ()
) -> OpenedSource:
    """Opens Parquet files as one source; the columns that their folders give come last."""
    found = [_parquet_schema(path) for path in paths]
    schemas, rows = [schema for schema, _ in found], sum(count for _, count in found)
    for path, schema in zip(paths, schemas, strict=True):
        if not {*schema.names} & {*schemas[0].names}:
            message = f"{path} has none of the columns of {paths[0].name}: {', '.join(schema.names):.200}"
            raise StreamError(message, hint="add them as separate streams")
    names = dict.fromkeys(name for schema in schemas for name in schema.names)
    common = pa.schema([common_field([s.field(name) for s in schemas if name in s.names]) for name in names])
    some = {name: sum(name in schema.names for schema in schemas) for name in names}
    notes = (f"{n}: {count:,} of {len(paths):,} files have it" for n, count in some.items() if count < len(paths))
    of_folders = folder_fields(
        folders, {name for values in folders for name in values if stored_name(name) in (declared or {})}
    )
    of_folders = [field for field in of_folders if stored_name(field.name) not in {*map(stored_name, names)}]
    batches = _parquet_batches(paths, common.names, folders or [{}] * len(paths), of_folders)
    said = [said_of_folders(of_folders)] if of_folders else []
    whole = pa.schema([*common, *of_folders], common.metadata)
    opened = replace(_of_rows(whole, batches, rows), notes=(*said, *notes))
    clashes = {
        name
        for name in names
        if stored_name(name) not in (declared or {}) and not is_text(common.field(name).type)
        if any(name in schema.names and is_text(schema.field(name).type) for schema in schemas)
    }
    return replace(opened, chunks=_of_one_type(opened.chunks, whole, clashes)) if clashes else opened


def _of_one_type(chunks: Iterable[Chunk], schema: pa.Schema, strict: Collection[str]) -> Iterator[Chunk]:
    """Chunks of files, some of which have texts where others have none: 03 is not 3, so their rows are quarantined."""
    for chunk in chunks:
        fields = [schema.field(own.name) if own.name in strict else own for own in chunk.rows.schema]
        rows, misfits = fitted(chunk.rows, chunk.lines, pa.schema(fields))
        good = ~np.isin(chunk.lines, [entry.line for entry in misfits])
        yield replace(chunk, rows=rows, lines=chunk.lines[good], quarantined=tuple(misfits))


def _parquet_schema(path: Path | UrlFile) -> tuple[pa.Schema, int]:
    """The columns of a file, and how many rows it has."""
    with _opened(path) as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise StreamError(f"{path} is not a Parquet file", hint=what_is_read())
        try:
            with _parquet_file(opened) as file:
                return without_index(file.schema_arrow), file.metadata.num_rows
        except (OSError, pa.ArrowException) as error:
            raise StreamError(
                f"{path} is cut short or damaged: the footer that says where its rows are cannot be read",
                hint="copy or write the file again; nothing of it can be used",
            ) from error


def without_index(schema: pa.Schema) -> pa.Schema:
    """The columns of a file without those that pandas has written for an index without a name.

    Example:
        >>> import pandas as pd
        >>> table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2, 3]}).iloc[[0, 2]])
        >>> table.schema.names, without_index(table.schema).names
        (['a', '__index_level_0__'], ['a'])
    """
    index = [name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    unnamed = {name for name in index if _UNNAMED_INDEX.fullmatch(name)}
    kept = [field for field in schema if field.name not in unnamed]
    return pa.schema(kept, schema.metadata) if kept else schema


def _parquet_batches(
    paths: Sequence[Path | UrlFile], names: list[str], folders: Sequence[FolderValues], of_folders: Sequence[pa.Field]
) -> Iterator[pa.RecordBatch]:
    all_names = [*names, *(field.name for field in of_folders)]
    for path, values in zip(paths, folders, strict=True):
        with _opened(path) as opened, _parquet_file(opened) as file:
            try:
                for batch in file.iter_batches(CHUNK_ROWS, use_threads=False):
                    there = {*batch.schema.names}
                    columns = [batch.column(name) if name in there else pa.nulls(batch.num_rows) for name in names]
                    columns += folder_columns(values, of_folders, batch.num_rows)
                    yield pa.RecordBatch.from_arrays(columns, names=all_names)
            except (OSError, pa.ArrowException) as error:
                raise StreamError(f"{path} is damaged: {error}", hint="copy or write the file again") from error


def _opened(path: Path | UrlFile) -> IO[bytes]:
    return path.open_anywhere() if isinstance(path, UrlFile) else path.open("rb")


def _parquet_file(opened: IO[bytes]) -> pq.ParquetFile:
    # Spark writes timestamps in 96 bits unless told otherwise; as nanoseconds, Arrow's default, year 9999 overflows.
    # Arrow would have all row groups in memory that it is about to read, which are those of the whole file.
    return pq.ParquetFile(opened, coerce_int96_timestamp_unit="us", pre_buffer=False, buffer_size=_BUFFER)


def _open_pandas(frame: pd.DataFrame) -> OpenedSource:
    """Goes through the frame in slices, all with the types of the whole; the index is not a column."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    for name, count in frame.columns.value_counts().items():
        if count > 1:
            raise StreamError(f"{count} columns are called {name}", hint="rename them")
    schema = pa.schema([_pandas_field(frame, name) for name in frame.columns])
    return _of_rows(schema, _pandas_batches(frame, schema), len(frame))


def _of_one_kind(column: pd.Series) -> str:
    """How to make a column of a DataFrame one of a type that there is in SQL."""
    if isinstance(column.dtype, pd.SparseDtype):
        return "make it dense: frame[column].sparse.to_dense()"
    if column.dtype.kind == "c":
        return "have two columns: its .real and its .imag"
    return "give it one type first, for example with .astype('string') or pandas.to_numeric"


def _without_objects(problem: str) -> str:
    """Arrow's words, where they say something of values that an analyst knows."""
    return "" if "object at 0x" in problem or "numpy type" in problem else f": {problem}"


def _pandas_field(frame: pd.DataFrame, name: str) -> pa.Field:
    """The column's name and the type that all of its values have."""
    if reason := too_deep(frame[[name]]):
        raise StreamError(f"column {name} of the DataFrame cannot be read: {reason}")
    try:
        return pa.Schema.from_pandas(frame[[name]], preserve_index=False).field(0)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise StreamError(
            f"column {name} of the DataFrame has values of no single type" + _without_objects(str(error)),
            hint=_of_one_kind(frame[name]),
        ) from error


def too_deep(frame: pd.DataFrame) -> str:
    """Why a frame is rejected: a value is nested too deep (``within_depth``); "" where none is."""
    objects = (frame[name] for name in frame.columns if frame[name].dtype == object)
    # pandas looks at texts, decimals and dates faster; they have no parts.
    nested = {str(values.name): values.tolist() for values in objects if infer_dtype(values).startswith("mixed")}
    reason = within_depth(nested)
    return reason if isinstance(reason, str) else ""


def _pandas_batches(frame: pd.DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(frame), CHUNK_ROWS):
        part = frame.iloc[start : start + CHUNK_ROWS]
        yield pa.RecordBatch.from_pandas(part, schema=schema, preserve_index=False, nthreads=1)


def _open_spark(frame: Any, scratch: Path) -> OpenedSource:
    """Lets Spark write the rows itself, so they never pass through the driver; its part files keep their order."""
    try:
        frame.write.parquet(scratch.absolute().as_uri())
    except Exception as error:
        # Every Spark error is shown by its first line; the rest is a Java stack.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise StreamError(
            f"Spark could not write the DataFrame: {reason}", hint="check that df.write.parquet(...) works"
        ) from error
    return _open_folder(scratch, None)


def _mixed(records: Sequence[JsonRecord], schema: pa.Schema) -> str:
    """The name of the column that has values of several types."""
    for field in schema:
        try:
            pa.array([record.get(field.name) for record in records], field.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return f"column {field.name}"
    return "a column"


def _open_records(records: Sequence[JsonRecord], declared: Declared) -> OpenedSource:
    if not records:
        raise StreamError("a list without rows says nothing of its columns", hint="give an Arrow or pandas table")
    if reasons := [reason for record in records if isinstance(reason := within_depth(record), str)]:
        raise StreamError(f"a row of the list cannot be read: {reasons[0]}")
    schema = as_texts(schema_of(records), declared or {})
    if declared or has_texts(schema):
        chunk = rows_of([(number, row, row) for number, row in enumerate(records, 1)], schema)
        return OpenedSource(schema, iter([chunk]), texts_seen(records, schema))
    try:
        rows = pa.Table.from_pylist(list(records), schema=schema)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise StreamError(
            f"{_mixed(records, schema)} of the list has values of no single type: {error}", hint=_DECLARE
        ) from error
    return _open_reader(rows.to_reader())


def _open_reader(reader: pa.RecordBatchReader) -> OpenedSource:
    return _of_rows(reader.schema, reader)


def _of_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], rows: int = 0) -> OpenedSource:
    """A source of blocks, in chunks that are numbered from 1; with the number of its rows, where it is known."""
    given = 0
    schema, batches = plain_batches(schema, batches)

    def chunks() -> Iterator[Chunk]:
        nonlocal given
        for batch in batches:
            for start in range(0, batch.num_rows, CHUNK_ROWS):
                part = batch.slice(start, CHUNK_ROWS)
                numbers = np.arange(given + 1, given + 1 + part.num_rows)
                given += part.num_rows
                yield Chunk(part, numbers)

    return OpenedSource(schema, chunks(), share=lambda: given / rows if rows else 0.0)
