"""Commands that add streams and tables, replace them, and change their columns."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from workbench.errors import MagicError, StreamError
from workbench.explain.text import counted, listed
from workbench.notebook.command_line import argument, batch_size, command, several
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import rows_to_come, show
from workbench.notebook.named_source import find_source
from workbench.notebook.quarantine import by_reason
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DATE, TIMESTAMP
from workbench.sql.logical import streams_of
from workbench.sql.syntax.quoted_names import name_in_sql
from workbench.streams.stream import DEFAULT_BATCH

if TYPE_CHECKING:
    from workbench.session.session import Session
    from workbench.streams.stream import Stream

QUARANTINED_SHOWN = 3
"""Quarantined rows that are shown one by one when a stream is added; more are, by their reasons."""
TIMES_SHOWN = 3
"""Columns that are proposed as event time."""
_OPTIONS = "batch|changes|decimal|encoding|history|key|lateness|nan|ordered|references|registry|sep|shed|time|weight"
_IN_PYTHON = re.compile(
    rf"(?<![\w-])(?P<name>{_OPTIONS})=(?:\['(?P<listed>[^']*)'\]|'(?P<text>[^']*)'|\[?(?P<rest>…)\]?)"
)
"""An option as Python calls it."""

SOURCE = argument(
    "source",
    nargs="?",
    metavar="SOURCE",
    completes="path",
    help="a Parquet or CSV file, a DataFrame's name, or a live source: kafka://…, postgresql://…, socket://…, in/*.csv",
)
TYPE = argument(
    "--type",
    action="append",
    default=[],
    metavar="COLUMN=TYPE",
    help="the SQL type of a column, instead of the guess from its values; may be given several times",
)
REFERENCES = argument(
    "--references",
    action="append",
    metavar="COLUMN=STREAM.COLUMN",
    help="a foreign key, of several columns 'a,b=t(x,y)': after each batch STREAM has exactly one row for each value;"
    " with 'a=t.x within 100 rows' that row may come later",
)
CSV = (
    argument("--sep", metavar="SIGN", help="the separator of a CSV file's values (default: found out)"),
    argument("--decimal", metavar="SIGN", help="the decimal point of a CSV file's numbers: , or ."),
    argument("--no-header", action="store_true", help="the CSV file has no line with the names of its columns"),
    argument("--encoding", metavar="NAME", help="the encoding of a CSV file, such as cp1252"),
)
NAN = argument("--nan", metavar="keep|null", help="null reads NaN in columns of numbers as NULL (default: keep NaN)")
KEY = argument(
    "--key",
    action="extend",
    type=several,
    metavar="COLUMN",
    help="the key column, by which a later row replaces an earlier one; several as 'a,b', or an option for each",
)
REPLACE = argument(
    "--replace",
    action="store_true",
    help="replace the stream or table of this name; queries over it are computed again",
)


@command(
    "stream",
    argument("name", metavar="NAME", help="its name in queries"),
    SOURCE,
    argument("--history", type=int, metavar="N", help="rows that are there from the start (default: none)"),
    argument(
        "--batch",
        type=batch_size,
        metavar="SIZE",
        help=f"rows of a batch (default: {DEFAULT_BATCH:,}), or a length of event time: 1h",
    ),
    argument(
        "--time",
        metavar="COLUMN",
        help="the column with the event time, from which now() in queries follows, and the pace of play",
    ),
    TYPE,
    *CSV,
    NAN,
    argument(
        "--lateness",
        metavar="LENGTH",
        help="how late rows may be, as '2 days'; later ones are quarantined (default: no limit)",
    ),
    KEY,
    argument("--changes", metavar="FORM", help="how rows are corrected: upsert, cdf or debezium (default: not at all)"),
    argument(
        "--shed",
        metavar="WHICH",
        help="the rows to leave out when rows keep coming too fast: oldest, sample, 'sample by COLUMN'",
    ),
    argument(
        "--weight",
        metavar="COLUMN",
        help="instead of --changes: the column with the number of copies of the row to add, or, if negative, to remove",
    ),
    argument("--registry", metavar="URL", help="the schema registry of a topic's messages in Avro or Protobuf"),
    argument("--since", type=int, metavar="VERSION", help="the first version of a Delta table's changes, with cdf"),
    argument("--transaction", metavar="COLUMN", help="the column whose equal values mark rows of one batch"),
    REFERENCES,
    argument(
        "--ordered",
        action="append",
        metavar="COLUMN[=LENGTH]",
        help="a column whose values arrive in order; with a length, a value may be that much less than an earlier one:"
        " 'ts=1 hour'",
    ),
    REPLACE,
    argument(
        "--add",
        action="extend",
        type=several,
        default=[],
        metavar="COLUMN",
        help="add a new member of the rows of a stream or table as a column; --type gives its type",
    ),
    argument(
        "--widen",
        action="append",
        default=[],
        metavar="COLUMN[=TYPE]",
        help="widen the type of a column to the values for which rows were quarantined, and take in these rows",
    ),
    examples=(
        "%argus stream FedWireTrans ../sample_data/fed.parquet --history 10000 --batch 1000 --time tran_date",
        "%argus stream Trades kafka://localhost:9092/trades --time ts",
        "%argus stream weather weather.csv --batch 1h --time observed",
        "%argus stream orders orders.parquet --key id --changes upsert",
        "%argus stream orders orders_delta --key id --changes cdf --since 3",
        "%argus stream orders postgresql://localhost/shop?table=orders&publication=shop",
        "%argus stream weather weather_2026.csv --batch 1h --time observed --replace",
        "%argus stream sensors sensors.parquet --nan null",
        "%argus stream flights flights.parquet --references tailnum=planes.tailnum --ordered 'departed=1 hour'",
        "%argus stream orders --add note --type note=string",
        "%argus stream orders --widen 'amount=decimal(12,2)'",
    ),
)
def add_stream(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Add a stream: a file or DataFrame that is replayed in batches, or a live source. Or change a stream's columns."""
    if arguments.add:
        add_columns(context, arguments)
        return
    if arguments.widen:
        widen_columns(context, arguments)
        return
    _check_source(arguments, "stream", "%argus stream Trades trades.csv --history 1000")
    with as_typed():
        stream = context.session.add_stream(
            arguments.name,
            find_source(arguments.source, context.user_variables),
            history=arguments.history,
            batch=arguments.batch,
            time=arguments.time,
            columns=_column_types(arguments.type),
            lateness=arguments.lateness,
            key=arguments.key,
            changes=arguments.changes,
            weight=arguments.weight,
            shed=arguments.shed,
            registry=arguments.registry,
            since=arguments.since,
            transaction=arguments.transaction,
            references=arguments.references,
            ordered=arguments.ordered,
            replace=arguments.replace,
            **_reading_options(arguments),
        )
    lines = [
        f"{rows_to_come(stream)} in batches of {stream.batch_text}",
        describe_rows(stream, _column_types(arguments.type)),
        event_time_hint(stream),
    ]
    lines += (str(declared) for declared in stream.constraints if declared.constraint.declared)
    lines += [_readers(context.session, stream)] if arguments.replace else []
    show("\n".join(filter(None, lines)))


def _check_source(arguments: argparse.Namespace, command: str, example: str) -> None:
    """Refuse a line without a source, or with a file in the place of the name.

    Raises:
        MagicError: there is none.
    """
    if arguments.source is not None:
        return
    word = arguments.name
    if apart := re.fullmatch(r"([A-Za-z]\w*)=(.+)", word):
        message = f"%argus {command}: a name and its source stand apart, without ="
        raise MagicError(message, hint=f"%argus {command} {apart[1]} {apart[2]}")
    if re.search(r"[./\\]", word):
        name = re.sub(r"\W", "_", re.split(r"[/\\]", word.rstrip("/\\"))[-1].partition(".")[0]) or "rows"
        message = f"%argus {command}: {word} is a source, and the name that queries call it comes first"
        raise MagicError(message, hint=f"%argus {command} {name} {word}")
    hint = f"as in {example}; %argus help {command}"
    raise MagicError(f"%argus {command}: nothing says where the rows of {word} come from", hint=hint)


@contextmanager
def as_typed() -> Iterator[None]:
    """Within the context, errors call options as they are typed in a cell: ``--key id`` and not ``key=['id']``."""
    try:
        yield
    except StreamError as error:
        hint = None if error.hint is None else _IN_PYTHON.sub(_typed, error.hint)
        raise StreamError(_IN_PYTHON.sub(_typed, error.message), hint=hint) from error


def _typed(option: re.Match[str]) -> str:
    return f"--{option['name']} {option['listed'] or option['text'] or option['rest']}"


def add_columns(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Make members that are new in the rows of a stream columns."""
    types = _column_types(arguments.type)
    if given := _given_besides(arguments, "add", "type"):
        raise MagicError(f"--add goes with --type alone, not with {', '.join(given)}", hint="leave the others out")
    if unknown := types.keys() - {*arguments.add}:
        raise MagicError(
            f"--type {min(unknown)} is no column that is added",
            hint=f"%argus stream {arguments.name} --widen {min(unknown)}=… changes the type of one that is there",
        )
    for column in arguments.add:
        show(str(context.session.add_column(arguments.name, column, types.get(column))))


def widen_columns(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Give columns of a stream other types, and take in the rows that were quarantined for them."""
    if given := _given_besides(arguments, "widen"):
        raise MagicError(f"--widen stands alone, not with {', '.join(given)}", hint="leave the others out")
    for asked in arguments.widen:
        column, _, type_ = asked.partition("=")
        show(str(context.session.widen_column(arguments.name, column, type_ or None)))


def _given_besides(arguments: argparse.Namespace, *names: str) -> list[str]:
    """The arguments that are given besides the name, and some."""
    flags = {flag: getattr(arguments, flag) or None for flag in ("no_header", "replace")}
    defaults = {**flags, "name": None, **dict.fromkeys(names)}
    return [name for name, value in {**vars(arguments), **defaults}.items() if value not in (None, [])]


@command(
    "table",
    argument("name", metavar="NAME", help="what queries call it"),
    SOURCE,
    TYPE,
    KEY,
    REFERENCES,
    *CSV,
    NAN,
    REPLACE,
    examples=(
        "%argus table zips zips.csv --type zip=string",
        "%argus table planes planes.parquet --key tailnum",
    ),
)
def add_table(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Add a static table."""
    _check_source(arguments, "table", "%argus table zips zips.csv")
    with as_typed():
        table = context.session.add_table(
            arguments.name,
            find_source(arguments.source, context.user_variables),
            _column_types(arguments.type),
            key=arguments.key,
            replace=arguments.replace,
            references=arguments.references,
            **_reading_options(arguments),
        )
    lines = [_rows_of_table(table), describe_rows(table, _column_types(arguments.type))]
    lines += [_readers(context.session, table)] if arguments.replace else []
    show("\n".join(filter(None, lines)))


def _rows_of_table(table: Stream) -> str:
    """How many rows a table has, and how many of its source have the key of a later one."""
    rows = f"table {table.name}: {counted(table.current_rows, 'row')}"
    if (replaced := (table.rows - table.current_rows) // 2) == 0:
        return rows
    key = listed([display_name(column) for column in table.key])
    which = "1 row was replaced by a later one" if replaced == 1 else f"{replaced:,} rows were replaced by later ones"
    return f"{rows}; {which} of the same {key}, its key"


def _readers(session: Session, stream: Stream) -> str:
    """A line with the queries that were computed again, since they read the replaced stream."""
    readers = [name for name, query in session.queries.items() if stream.name in streams_of(query.logical)]
    return f"computed anew over it: {listed(readers)}" if readers else ""


def describe_rows(stream: Stream, declared: Iterable[str] = ()) -> str:
    """The columns of a stream, and its quarantined rows so far: each of a few, or many by their reasons.

    Args:
        stream: as it was added.
        declared: the columns whose types were.
    """
    lines = [described_columns(stream, {*map(stored_name, declared)})]
    lines += filter(None, [quotes_hint([stream.name, *(name for name, _ in stream.columns)])])
    if count := stream.quarantined_rows:
        misfits = count - stream.late_rows
        rows = "1 row that does" if misfits == 1 else f"{misfits:,} rows that do"
        kinds = [f"{rows} not fit"] * (misfits > 0)
        kinds += [counted(stream.late_rows, "late row")] * (stream.late_rows > 0)
        lines.append(f"quarantined, {' and '.join(kinds)}:")
        if count > QUARANTINED_SHOWN:
            lines += by_reason(stream.quarantined, count)
        else:
            lines += [f"  line {row.line}: {row.reason}" for row in stream.quarantined]
    return "\n".join(lines)


def described_columns(stream: Stream, declared: Container[str]) -> str:
    """The columns and their types; in a table with the reasons where the first values of some are known."""
    guesses = stream.guesses
    if not any(guess.first for guess in guesses.values()):
        columns = textwrap.fill(", ".join(f"{name} {type_}" for name, type_ in stream.columns), 110)
        return "\n".join([columns, *stream.notes])
    cells = [("column", "type", "why", "first values")]
    for name, type_ in stream.columns:
        guess = guesses.get(name)
        said = "declared" if stored_name(name) in declared else ""  # a DataFrame, and JSON, have types of their own
        why, first = (guess.why, ", ".join(guess.first)) if guess is not None else (said, "")
        cells.append((name, str(type_), why, textwrap.shorten(first, 40, placeholder="…")))
    widths = [max(len(row[place]) for row in cells) for place in range(3)]
    table = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() for row in cells]
    return "\n".join([*table, *stream.notes])


def quotes_hint(names: Sequence[str]) -> str:
    """How the first of some names is written that needs quotes in a query; empty where none does.

    Example:
        >>> quotes_hint(["rides", "started at"])
        'names that are no plain word stand in quotes: `started at`, in other dialects "started at"'
    """
    quoted = ((name, name_in_sql(name, "spark"), name_in_sql(name, "oracle")) for name in names)
    spark, others = next(((spark, others) for name, spark, others in quoted if name != spark), ("", ""))
    what = "names that are no plain word stand in quotes"
    return f"{what}: {spark}, in other dialects {others}" if spark else ""


def event_time_hint(stream: Stream) -> str:
    """Which columns could say when a row happened, where none was named; empty where one was, or there are none."""
    times = [name for name, type_ in stream.columns if type_ in (DATE, TIMESTAMP)]
    if stream.time is not None or not times:
        return ""
    words = (name if name.isidentifier() else f'"{name}"' for name in times[:TIMES_SHOWN])
    options = " or ".join(f"--time {word}" for word in words)
    return f"no event time: now() needs one, and play goes by it; {options}"


def _reading_options(arguments: argparse.Namespace) -> dict[str, Any]:
    sep = "\t" if arguments.sep in ("\\t", "tab") else arguments.sep
    given = {"sep": sep, "decimal": arguments.decimal, "encoding": arguments.encoding, "nan": arguments.nan}
    header = {"header": False} if arguments.no_header else {}
    return {name: value for name, value in given.items() if value is not None} | header


def _column_types(words: Sequence[str]) -> dict[str, str]:
    """The types of columns by their names, as ``--type`` gives them.

    Raises:
        MagicError: a word is no COLUMN=TYPE.

    Example:
        >>> _column_types(["zip=string", "fee=decimal(8, 2)"])
        {'zip': 'string', 'fee': 'decimal(8, 2)'}
        >>> _column_types(["zip=string,fee=decimal(8,2)"])
        {'zip': 'string', 'fee': 'decimal(8,2)'}
    """
    pairs = {}
    for word in chain.from_iterable(re.split(r",(?=[^,()<>=]+=)", word) for word in words):
        name, equals, type_ = word.partition("=")
        if not (name and equals and type_):
            raise MagicError(f"--type {word} names no column and type", hint="--type zip=string --type opened=date")
        pairs[name.strip()] = type_
    return pairs
