"""Which sources are live, and the reader of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import IOBase
from pathlib import Path

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import STRING, DataType
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.csv_source import stored_options
from workbench.streams.files.formats import FileFormat
from workbench.streams.files.json_values import as_texts
from workbench.streams.files.partitions import is_pattern
from workbench.streams.guessing import Guess
from workbench.streams.ingest import declared_types
from workbench.streams.live.delta_feed import DELTA_SCHEME, DeltaFeedReader, delta_source
from workbench.streams.live.folder import FolderReader
from workbench.streams.live.iterator import IteratorReader
from workbench.streams.live.kafka.address import KAFKA_SCHEME, with_registry
from workbench.streams.live.kafka.reader import TopicReader
from workbench.streams.live.lookup import LOOKUP_SCHEMES, LookupReader, RemoteLookup
from workbench.streams.live.polled_document import POLL_SCHEMES, DocumentReader
from workbench.streams.live.polled_query import PolledQuery, QueryReader
from workbench.streams.live.posted_rows import FIRST_REQUEST, LISTEN_SCHEME, PostedRows
from workbench.streams.live.postgres.address import POSTGRES_SCHEMES
from workbench.streams.live.postgres.reader import TableReader
from workbench.streams.live.reader import NothingYet, Reader
from workbench.streams.live.socket_lines import SOCKET_SCHEME, SocketReader
from workbench.streams.live.spark_stream import SparkStreamReader, is_streaming
from workbench.streams.live.stored_objects import is_object_pattern, with_any_signs
from workbench.streams.readers import check_no_options


def named_source(source: object, changes: str | None, since: int | None, registry: str | None) -> object:
    """A source with what else is said of it, as it is kept with the session.

    Args:
        source: as it was given.
        changes: how it says what changes.
        since: the version of a Delta table to begin with.
        registry: the URL of the schemas of a topic.

    Raises:
        StreamError: something does not go with the source.
    """
    return delta_source(with_registry(with_any_signs(source), registry), changes, since)


def open_live(
    source: object,
    schema: pa.Schema | None = None,
    folder: Path | None = None,
    options: CsvOptions | None = None,
    columns: Mapping[str, str] | None = None,
) -> Reader | None:
    """The reader of a live source; ``None`` for one that is copied as a whole.

    Args:
        source: the address of a topic (``kafka://…``), a table (``postgresql://…``), a socket (``socket://…``), a port
            that rows are sent to (``listen://…``), a document that is polled (``poll+https://…``), a remote table that
            is asked by key (``lookup+https://…`` or a ``RemoteLookup``), the change data feed of a Delta table
            (``delta:…``), a pattern of paths or of objects (``s3://bucket/in/*.csv``), a ``PolledQuery``, an iterator
            or generator, or a streaming DataFrame of Spark.
        schema: its columns, where they are known.
        folder: for what a source writes that cannot be asked twice.
        options: what is declared of how CSV files are written.
        columns: types that are declared, of all columns where nothing is there yet that says which there are.

    Raises:
        StreamError: it cannot be read, or nothing says what columns it has.
    """
    try:
        reader = _reader(source, schema, folder, options, patience=0.0 if columns else FIRST_REQUEST)
    except NothingYet:
        if not columns:
            raise
        types = {name: next(iter(declared_types({name: text}).values())) for name, text in columns.items()}
        if isinstance(source, str | Path) and _is_live_pattern(source):
            return _files_of_columns(str(source), types, options or CsvOptions())
        declared = pa.schema([(name, to_arrow(type_)) for name, type_ in types.items()])
        reader = _reader(source, declared, folder, options)
    if reader is not None and not isinstance(reader, FolderReader | DocumentReader):
        check_no_options(options, reader.description)
    return reader


def _reader(
    source: object,
    schema: pa.Schema | None,
    folder: Path | None,
    options: CsvOptions | None,
    patience: float = FIRST_REQUEST,
) -> Reader | None:
    match source:
        case IOBase():
            path = getattr(source, "name", None)
            read = "pandas.read_csv(file) reads it, and the DataFrame is a source"
            raise StreamError("an open file is no source", hint=f"give its path: {path!r}" if path else read)
        case str() if source.startswith(KAFKA_SCHEME):
            return TopicReader(source, schema)
        case str() if source.startswith(DELTA_SCHEME):
            return DeltaFeedReader(source, schema)
        case str() if source.startswith(POSTGRES_SCHEMES):
            return TableReader(source, schema)
        case str() if source.startswith(SOCKET_SCHEME):
            return SocketReader(source, schema)
        case str() if source.startswith(LISTEN_SCHEME):
            return PostedRows(source, schema, patience)
        case str() if source.startswith(POLL_SCHEMES):
            return DocumentReader(source, schema, options)
        case _ if is_streaming(source) and folder is not None:
            return SparkStreamReader(source, folder)
        case str() if source.startswith(LOOKUP_SCHEMES):
            return LookupReader(RemoteLookup.at(source), schema)
        case RemoteLookup():
            return LookupReader(source, schema)
        case PolledQuery():
            return QueryReader(source, schema)
        case str() | Path() if _is_live_pattern(source):
            return FolderReader(str(source), schema, options)
        case pa.RecordBatchReader():
            return None
        case Iterator():
            return IteratorReader(source, schema)
    return None


def _is_live_pattern(source: str | Path) -> bool:
    """Whether a source stands for the files or objects that match it, also those that come."""
    return is_object_pattern(source) or (is_pattern(source) and not Path(source).exists())


def _files_of_columns(pattern: str, declared: Mapping[str, DataType], options: CsvOptions) -> FolderReader:
    """Reads the files of a folder in which there is none yet.

    Args:
        pattern: of paths, which says what files they are.
        declared: all columns, as they are spelled.
        options: what is declared of how CSV files are written.

    Raises:
        NothingYet: the pattern does not say what files they are.
    """
    kind = FileFormat.named(pattern)
    if kind in (FileFormat.PARQUET, FileFormat.ARROW, FileFormat.ORC):
        return FolderReader(pattern, pa.schema([(column, to_arrow(type_)) for column, type_ in declared.items()]))
    texts = pa.schema([(column, pa.string()) for column in declared], stored_options(options))
    if kind is FileFormat.JSON:
        by_stored = {stored_name(column): type_ for column, type_ in declared.items()}
        return FolderReader(pattern, as_texts(texts, by_stored))
    if kind is not FileFormat.CSV:
        raise NothingYet(f"no file matches {pattern}, and it does not end as one of files, such as *.csv")
    reader = FolderReader(pattern, texts)
    if options.decimal == ",":
        reader.inferred = {column: Guess(column, STRING, "numbers as 1.234,5", form=",.") for column in declared}
    return reader
