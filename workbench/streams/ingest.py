"""Any source, copied once into the session's folder, in row order and in bounded memory."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.arrow.types import Mask, to_column_type, to_data_type
from workbench.errors import SqlError, StreamError, nearest
from workbench.errors.surroundings import reason
from workbench.files.writing import make_folder
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import convert, is_numeric, is_text
from workbench.streams.corrections.current_rows import CurrentRows, current_rows_in
from workbench.streams.corrections.debezium import unfold
from workbench.streams.corrections.declared import DEBEZIUM_CHANGE, Corrections
from workbench.streams.declared_times import declaration, split_form, unit_of
from workbench.streams.drift import Differences, drifts_of
from workbench.streams.drifting_types import with_records
from workbench.streams.event_time import check_time, read_as_times
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.json_values import MORE, MORE_FIELD
from workbench.streams.files.undeclared import notes_of_untyped
from workbench.streams.guessing import FIRST_VALUES, Guess, declared, read
from workbench.streams.lateness import Lateness, LateRows, lateness_of
from workbench.streams.log import StreamLog, log_schema, open_log
from workbench.streams.log_writer import LogWriter
from workbench.streams.nan_values import KEEP, reads_nan_as_null, with_finer_times, without_nan
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow
from workbench.streams.tail import TAIL
from workbench.streams.transactions import Transactions, transactions_of


@dataclass(frozen=True)
class Arriving:
    """A source that is being copied.

    Attributes:
        name: of the stream.
        rows: that are copied.
        share: of the source that is read, of 1; 0 where that is unknown.
    """

    name: str
    rows: int
    share: float


def ingest(
    name: str,
    source: object,
    folder: Path,
    *,
    columns: Mapping[str, str] | None = None,
    time: str | None = None,
    lateness: object = None,
    corrections: Corrections | None = None,
    growing: bool = False,
    options: CsvOptions | None = None,
    progress: Callable[[Arriving], object] = lambda arriving: None,
    transactions: Transactions | str | None = None,
    nan: str = KEEP,
) -> StreamLog:
    """Copies a stream's or table's rows into ``folder`` as Parquet, in row order, with types queries can use.

    Columns get stored names (``workbench.sql.algebra.column_names``), for which upper and lower case are one. Integers
    become INTEGER (64 bits; unsigned 64 bits decimal(20,0)), binary floats DOUBLE, timestamps UTC without a zone in
    microseconds. In pandas, NaN is NULL and the index is no column. CSV types are guessed from the first 4 MB
    (``guessing``) where ``columns`` does not give them. A row that does not fit is quarantined with its line number and
    the reason, and never stops the rest.

    Args:
        name: the stream's name, used in messages and kept in the log.
        source: the path of a Parquet file, of a folder of Parquet files (read in name order) or of a CSV file
            (``.csv``, ``.csv.gz``) or JSON lines (``.jsonl``, ``.ndjson``); a list of dicts; a pandas or Spark
            DataFrame; an Arrow Table or RecordBatchReader, or whatever else offers Arrow's C stream interface.
        folder: where the log goes; must not exist, or be empty.
        columns: types of some columns, as SQL type names, instead of those the source has.
        time: the column that holds event time; it must be a DATE, TIMESTAMP or INTEGER.
        lateness: how late rows may come (``workbench.streams.lateness``); a row that comes
            later is in the log, and is quarantined when it arrives. ``None``: there is no limit.
        corrections: how the source says that rows are changed or taken back. A row that takes back what is not there,
            or whose key is NULL, is quarantined.
        growing: whether there will be more changes, for which the current rows must stay.
        options: what is declared of how a CSV file is written.
        progress: called after each chunk.
        transactions: the column that says which transaction of the source a row is of, or what the source says of it.
        nan: whether NaN stays a number (``KEEP``) or is read as ``NULL``.

    Raises:
        StreamError: the source cannot be read, a column cannot be used, ``columns``, ``time`` or ``lateness`` do not
            fit it, or there are rows and none of them fits. The folder is then as it was before.

    Example:
        >>> import tempfile
        >>> where = Path(tempfile.mkdtemp()) / "zips"
        >>> log = ingest("zips", pa.table({"Zip": ["02139", None], "Pop": pa.array([1, 2], pa.int8())}), where)
        >>> [(column, str(type_)) for column, type_ in log.columns], log.rows
        ([('zip', 'string'), ('pop', 'integer')], 2)
    """
    if folder.exists() and any(folder.iterdir()):
        raise StreamError(f"stream {name}: the folder {folder} is not empty", hint="give a folder of its own")
    nan_is_null = reads_nan_as_null(nan)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    make_folder(partial)
    try:
        with ExitStack() as stack:
            read_as = declared_types(columns or {}) | ({} if corrections is None else corrections.asked)
            opened = open_source(source, partial / "spark", stack, options, read_as)
            share = opened.share
            plain = {name: text for name, text in (columns or {}).items() if not split_form(text)[1]}
            opened = unfold(opened, corrections, declared_types(plain))
            opened, columns = read_as_times(time, columns or {}, opened)
            opened = _with_units(opened, columns)
            types = column_types(opened, columns)
            if not types:
                raise StreamError(f"stream {name}: the source has no columns", hint="give one that has some")
            own = types if corrections is None else corrections.without_control(types)
            guesses = guesses_of(opened, columns)
            check_time(time, own, [*opened.notes, *(f"{guess.column}: {guess.why}" for guess in guesses.values())])
            allowed = None if lateness is None else lateness_of(lateness, time, own.get(stored_name(time or "")))
            if corrections is not None and allowed is not None:
                hint = "leave lateness out: a late change would have to be made, and its row left out"
                raise StreamError("lateness does not go with corrections", hint=hint)
            if isinstance(transactions, str):
                transactions = transactions_of(transactions, types)
            schema = log_schema(own.items(), corrections is not None, transactions)
            untyped = notes_of_untyped(opened.schema, columns) if corrections is None else ()
            said = (_spelled(opened), guesses, (*opened.notes, *untyped), transactions, nan_is_null)
            log = LogWriter(name, partial, schema, allowed, corrections, *said)
            with current_rows_in(partial / TAIL, log_schema(own.items()), corrections, growing) as current:
                read = (without_nan(one, types) if nan_is_null else one for one in opened.chunks)
                chunks = (with_finer_times(one) for one in read)
                fitting = _some_fit(name, chunks, types, guesses)
                _copy(log, fitting, current, allowed, own, lambda: progress(Arriving(name, log.rows, share())))
        shutil.rmtree(partial / "spark", ignore_errors=True)
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except (pa.ArrowException, OSError) as error:
        raise StreamError(
            f"stream {name} could not be copied: {reason(error)}",
            hint="check the source, and the space left for the session",
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return open_log(folder)


def column_types(source: OpenedSource, given: Mapping[str, str]) -> dict[str, DataType]:
    """The type of each column, by its stored name, in the source's order."""
    given_types = declared_types(given)
    types: dict[str, DataType] = {}
    origin: dict[str, str] = {}
    for number, field in enumerate(source.schema, 1):
        stored = stored_name(field.name)
        if not field.name.strip():
            raise StreamError(f"column {number} has no name", hint="name it in the source, or leave it out")
        if stored in origin:
            raise StreamError(
                f"columns {origin[stored]} and {field.name} have the same name, as case does not count",
                hint="rename one of them in the source",
            )
        origin[stored] = field.name
        guess = source.inferred.get(field.name)
        types[stored] = given_types.get(stored) or (guess.type if guess is not None else _type_of(field))
        if not (is_numeric(field.type) and _is_time(types[stored])):  # numbers of a unit are read as texts
            _check_convertible(field, types[stored])
    for name in (display_name(stored) for stored in given_types if stored not in types):
        known, whole = [*map(display_name, types)], name.partition(".")[0]
        hint = nearest(name, known) or _listing(known)
        if stored_name(whole) in types and whole != name:
            hint = (
                f"{name} is inside {whole}: a query converts it, as TO_DATE({name}, 'd.M.yyyy') or CAST({name} AS INT)"
            )
        raise StreamError(f"no column {name} in the source", hint=hint)
    return types


def declared_types(columns: Mapping[str, str]) -> dict[str, DataType]:
    """The types that are declared of columns, by their stored names.

    Raises:
        StreamError: there is no such type.
    """
    return {stored_name(name): _given_type(name, text) for name, text in columns.items()}


def guesses_of(source: OpenedSource, given: Mapping[str, str]) -> dict[str, Guess]:
    """How the columns are read that are not declared, or in a form, by their stored names."""
    found = {stored_name(name): guess for name, guess in source.inferred.items()}
    said = {stored_name(name): (name, _given_type(name, text), split_form(text)[1]) for name, text in given.items()}
    forms = {stored: declared(*one, found.get(stored)) for stored, one in said.items()}
    guesses = {name: guess for name, guess in found.items() if name not in said}
    return guesses | {name: form for name, form in forms.items() if form is not None}


def _with_units(source: OpenedSource, given: Mapping[str, str]) -> OpenedSource:
    """The source, with what the first numbers are of columns that have numbers and are declared to be times.

    Raises:
        StreamError: neither the declaration says in which unit they are, nor these numbers.
    """
    types, seen = declared_types(given), dict(source.inferred)
    forms = {stored_name(name): split_form(text)[1] for name, text in given.items()}
    fields = [field for field in source.schema if field.name not in seen and is_numeric(field.type)]
    fields = [field for field in fields if _is_time(types.get(stored_name(field.name)))]
    if not fields:
        return source
    first = next(source.chunks, None)
    for field in fields:
        column = pa.nulls(0, field.type) if first is None else first.rows.column(field.name)
        examples = tuple(column.drop_null()[:FIRST_VALUES].cast(pa.string()).to_pylist())
        if not forms[stored_name(field.name)] and not unit_of(examples):
            message = (
                f"column {field.name} is declared {types[stored_name(field.name)]}, and has numbers without a unit"
            )
            hint = f'--type "{field.name}={types[stored_name(field.name)]} s" says it, or ms, us or ns'
            raise StreamError(message + (f": {', '.join(examples)}" if examples else ""), hint=hint)
        seen[field.name] = Guess(field.name, _type_of(field), "", examples)
    return replace(source, chunks=chain([] if first is None else [first], source.chunks), inferred=seen)


def _is_time(type_: DataType | None) -> bool:
    return type_ is not None and type_.kind in (Kind.DATE, Kind.TIMESTAMP)


def _type_of(field: pa.Field) -> DataType:
    try:
        return to_data_type(field.type)
    except StreamError as error:
        raise StreamError(f"column {field.name}: {error.message}", hint=error.hint) from error


def _given_type(column: str, text: str) -> DataType:
    try:
        return to_column_type(split_form(text)[0])
    except (SqlError, StreamError) as error:
        raise StreamError(f"column {column}: {error.message}", hint=error.hint) from error


def _check_convertible(field: pa.Field, type_: DataType) -> None:
    try:
        convert(pa.array([], field.type), type_)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise StreamError(
            f"column {field.name} of type {field.type} cannot be read as {type_}", hint="convert it in the source"
        ) from error


def _listing(names: Iterable[str]) -> str:
    return "one of " + ", ".join(names)


def _copy(
    log: LogWriter,
    source: Iterable[tuple[Fitting, Differences]],
    current: CurrentRows | None,
    lateness: Lateness | None,
    columns: Container[str],
    said: Callable[[], object],
) -> None:
    """Copy rows to the log, and apply changes to the current rows."""
    late_rows = None if lateness is None else LateRows(lateness)
    with log:
        for (rows, lines, quarantined), found in source:
            late = {} if late_rows is None else late_rows.among(rows)
            if current is not None:  # rows of envelopes are without their records
                current.rejects_for_good = stored_name(DEBEZIUM_CHANGE) in rows.column_names
            changes, rejected = (rows, {}) if current is None else current.apply(rows, lines, quarantined)
            quarantined += with_records(quarantined_rows(rows, lines, rejected), Chunk(as_batch(rows), lines))
            if log.transactions is not None:
                changes = log.transactions.marked(changes, rows, lines)
            late_rows_of = [*quarantined_rows(rows, lines, late, log.rows)]
            log.append(changes, quarantined, late_rows_of, drifts_of(changes, found, columns, log.rows))
            said()
        log.finish()


def as_batch(rows: pa.Table) -> pa.RecordBatch:
    """A table in one piece."""
    return pa.RecordBatch.from_arrays([column.combine_chunks() for column in rows.columns], schema=rows.schema)


def _some_fit(
    name: str,
    chunks: Iterable[Chunk],
    types: Mapping[str, DataType],
    guesses: Mapping[str, Guess],
) -> Iterator[tuple[Fitting, Differences]]:
    """What of each chunk fits, and what of it drifts.

    Raises:
        StreamError: there are rows, and none of all of them fits, or fewer than those with a value that does not fit
            a column of which no value fits.
    """
    schema = log_schema(types.items())
    first: QuarantinedRow | None = None
    fitting, with_values, misfits = 0, set[str](), Counter[str]()
    for chunk in chunks:
        rows, lines, quarantined = fit(chunk, types, schema, guesses)
        quarantined = with_records(quarantined, chunk)
        fitting += rows.num_rows
        with_values |= {field for field in rows.column_names if rows[field].null_count < rows.num_rows}
        misfits.update(stored_name(row.reason.partition(": ")[0]) for row in quarantined)
        first = first or next(iter(quarantined), None)
        yield (rows, lines, quarantined), chunk.found
    misfit = "" if first is None else first.reason.partition(": ")[0]
    is_unfit = stored_name(misfit) in types.keys() - with_values and misfits[stored_name(misfit)] > fitting
    if first is not None and (not fitting or is_unfit):
        what = f"no value fits {misfit}" if fitting else "no row fits its columns"
        message = f"stream {name}: {what}; line {first.line}: {first.reason}"
        column = misfit if stored_name(misfit) in types else display_name(next(iter(types), "fee"))
        hint = f"say what the columns are: {_declare(column, 'string')}" + "; left out, its type is guessed" * is_unfit
        hint = "--sep says what separates values" if "fields instead" in message else hint
        if re.search(r": '[+-]?\d{1,3}(\.\d{3})+' is no integer", first.reason):
            hint = "--decimal , says that its point stands between thousands, and a comma before a fraction"
        encoding = "--encoding cp1252, or what it is, says how its texts are written"
        hint = encoding if "not UTF-8" in message else hint
        raise StreamError(message, hint="its texts are in UTF-16: leave --encoding out" if "\0" in first.text else hint)


def _declare(column: str, type_: str) -> str:
    """How a column is declared."""
    return f'{declaration(column, type_)}, columns={{"{column}": "{type_}"}} in Python'


def _spelled(source: OpenedSource) -> dict[str, str]:
    """The names of columns with capital letters, by their stored names."""
    return {stored_name(name): name for name in source.schema.names if name != name.lower()}


def quarantined_rows(
    rows: pa.Table, lines: NDArray[np.int64], reasons: Mapping[int, str], before: int | None = None
) -> Iterator[QuarantinedRow]:
    """The entries of rows that are quarantined, with the reasons by their places.

    Args:
        before: how many rows the log had before these, where they are in the log: they are late.
    """
    places = sorted(reasons)
    texts = (_texts(column.combine_chunks()) for column in rows.take(pa.array(places, pa.int64())).columns)
    for at, text in zip(places, zip(*texts, strict=True), strict=True):
        row = None if before is None else before + at
        yield QuarantinedRow(int(lines[at]), _as_line(text), reasons[at], row)


Fitting = tuple[pa.Table, NDArray[np.int64], list[QuarantinedRow]]
"""Rows, the line of each, and the rows that do not fit."""


def fit(
    chunk: Chunk, types: Mapping[str, DataType], schema: pa.Schema, guesses: Mapping[str, Guess] | None = None
) -> Fitting:
    """The chunk's rows that fit the types, the line of each, and the rows that do not fit.

    Args:
        chunk: of the source.
        types: of its columns, in their order, by their stored names.
        schema: of the log.
        guesses: of the columns whose texts are read as what was guessed.
    """
    guesses = guesses or {}
    columns: list[pa.Array] = []
    misfits: dict[str, Mask] = {}
    given = dict(zip(chunk.rows.schema.names, chunk.rows.columns, strict=True))
    more = given.pop(MORE, None)
    for values, (name, type_) in zip(given.values(), types.items(), strict=True):
        guessed = guesses.get(name)
        if guessed is not None and guessed.declared and not (is_text(values.type) or pa.types.is_temporal(values.type)):
            values = values.cast(pa.string())  # numbers that are declared to be times in a unit
        if guessed is not None and is_text(values.type):
            fitting, misfit = read(values, guessed)
        else:
            fitting, misfit = convert(values, type_)
        columns.append(fitting)
        if misfit is not None:
            misfits[name] = misfit
    rows = pa.Table.from_arrays(columns, schema=schema)
    if more is not None:
        rows = rows.append_column(MORE_FIELD, more)
    if not misfits:
        return rows, chunk.lines, list(chunk.quarantined)
    bad = np.logical_or.reduce(list(misfits.values()))
    quarantined = [*chunk.quarantined, *_misfits(chunk, np.flatnonzero(bad), types, misfits, guesses)]
    return rows.filter(pc.invert(pa.array(bad))), chunk.lines[~bad], quarantined


def _misfits(
    chunk: Chunk,
    bad: NDArray[np.int64],
    types: Mapping[str, DataType],
    misfits: Mapping[str, Mask],
    guesses: Mapping[str, Guess],
) -> Iterator[QuarantinedRow]:
    columns = chunk.rows.take(pa.array(bad)).columns
    texts = {name: _texts(column) for name, column in zip(types, columns, strict=False)}  # MORE stands last
    for place, row in enumerate(bad):
        name = next(name for name, misfit in misfits.items() if misfit[row])
        text = _as_line(column[place] for column in texts.values())
        reason = f"{display_name(name)}: {texts[name][place]!r:.60} is no {types[name]}"
        if name in guesses and not guesses[name].declared:
            reason += f", as was guessed; {declaration(display_name(name), 'string')} keeps it"
        if types[name].kind in (Kind.DATE, Kind.TIMESTAMP) and re.fullmatch(r"\d{9,}(\.\d+)?", texts[name][place]):
            reason += f"; {types[name]} ms, or s, us or ns, declares the unit of a number"
        yield QuarantinedRow(int(chunk.lines[row]), text, reason)


def _as_line(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _texts(column: pa.Array) -> list[str]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return list(column.cast(pa.string()).fill_null("").to_pylist())
    except pa.ArrowException:  # bytes that are no text
        return [str(value) for value in column.to_pylist()]
