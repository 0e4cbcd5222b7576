"""Names in FROM, resolved: a query of WITH, a view, a stream, or a function of a stream's windows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DataType
from workbench.sql.binder.joins.one_row import NO_STREAM_HINT
from workbench.sql.binder.joins.table_functions import TABLE_FUNCTIONS, rows_with_windows
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Scope
from workbench.sql.dialects import DIALECTS
from workbench.sql.logical import Block, LogicalQuery, Output, StreamInput, output_columns, parts_of
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.windows.past import as_of_rows
from workbench.sql.windows.stream_time import EventTimeVector

_FILES = re.compile(r"(read_)?(csv|json|parquet|orc|text|delta)", re.IGNORECASE)
"""What other databases read files by, in FROM."""
_FILE_FIRST = "a file is read as a stream or table first, as in %argus stream NAME {}"
NamedColumns = Sequence[tuple[str, DataType]]


def relation_of(
    table: exp.Table, context: QueryContext, scope: Scope
) -> tuple[LogicalQuery | StreamInput, NamedColumns]:
    """The query or stream that a name in FROM means, and its columns.

    Args:
        table: the name.
        context: the statement.
        scope: the names that a version of the table may read.

    Raises:
        SqlError: nothing has that name.
        UnsupportedError: a function that makes no rows here, or a version of rows that change.
    """
    name, schema, source = table.name, context.schema, context.source
    if isinstance(table.this, exp.Anonymous):
        windows = rows_with_windows(table, context)
        return windows, _lower_columns(windows)
    if not isinstance(table.this, exp.Identifier):
        of_files = isinstance(table.this, exp.Func) and _FILES.match(table.this.sql_name())
        source.refuse("a table function", table, _FILE_FIRST.format("FILE") if of_files else TABLE_FUNCTIONS)
    if table.args.get("db") is not None:
        file = name if _FILES.match(table.db) else f"{table.db}.{name}" if _FILES.match(name) else ""
        hint = _FILE_FIRST.format(file) if file else "streams have names of one part"
        raise source.error(f"unknown stream {table.db}.{name}", table, hint)
    query = context.local.get(name.lower()) or schema.view(name)
    moment = _moment(table, context)
    if query is not None:
        if moment is None:
            _check_version(table, name, context, scope)
            return query, _lower_columns(query)
        if any(isinstance(part, Block) and (part.window or part.having_window) for part in parts_of(query)):
            hint = f"result(batch=…) and diff of {name} answer with the now of then"
            source.refuse("AS OF BATCH of a query that follows now", table, hint)
        return as_of_rows(query, moment), _lower_columns(query)
    stream = schema.stream(name)
    if stream is not None:
        stored = tuple((stored_name(column), type_) for column, type_ in stream[1])
        rows = StreamInput(stream[0], stored, stream[0] not in schema.corrected)
        if moment is None:
            _check_version(table, stream[0], context, scope)
            return rows, stream[1]
        outputs = tuple(Output(column, Column(column, type_)) for column, type_ in stored)
        return as_of_rows(Block((rows,), TRUE, outputs), moment), stream[1]
    known = [*schema.streams, *schema.views, *context.local]
    if "/" in name or name.lower().endswith((".parquet", ".csv", ".json", ".jsonl", ".gz")):
        raise source.error(f"unknown stream {name}", table, _FILE_FIRST.format(name))
    hint = (
        _of_with(table)
        or _of_column(table, scope, source.dialect)
        or _of_word(table, known)
        or nearest(name, known)
        or (f"there are {', '.join(known[:8])}" if known else NO_STREAM_HINT)
    )
    raise source.error(f"unknown stream {name}", table, hint)


def _of_column(table: exp.Table, scope: Scope, dialect: str) -> str | None:
    """A hint for an array in the place of a stream: a function makes rows of its elements."""
    if not any(table.name.lower() in map(str.lower, item.columns) for item in scope.items):
        return None
    is_spark = DIALECTS[dialect].explodes
    elements = "LATERAL VIEW EXPLODE({}) e AS x" if is_spark else "CROSS JOIN UNNEST({}) AS u(x)"
    return f"{table.name} is a column: write {elements.format(table.name)}"


def _of_word(table: exp.Table, known: Sequence[str]) -> str | None:
    """A hint for a word before the name of a stream, which the parser takes for its alias: FROM STREAM trades."""
    is_known = table.alias.lower() in {name.lower() for name in known}
    return f"leave {table.name} out: FROM {table.alias}" if is_known else None


def _of_with(table: exp.Table) -> str | None:
    """A hint for the name of a query of WITH that is not known yet; ``None`` where no WITH around it has the name."""
    around = table.parent
    while around is not None:
        named = around.args.get("with_")
        for query in named.expressions if isinstance(named, exp.With) else ():
            if query.alias.lower() == table.name.lower():
                own = table.find_ancestor(exp.CTE)
                reads_itself = own is not None and own.alias.lower() == table.name.lower()
                return "WITH RECURSIVE lets it read itself" if reads_itself else "put it before what reads it in WITH"
        around = around.parent
    return None


def _lower_columns(query: LogicalQuery) -> NamedColumns:
    return tuple((name.lower(), type_) for name, type_ in output_columns(query))


def _moment(table: exp.Table, context: QueryContext) -> EventTimeVector | None:
    """How many rows there were after the batch of FOR SYSTEM_TIME AS OF BATCH k; ``None`` without it."""
    version = table.args.get("version")
    called = None if version is None else version.expression
    if not isinstance(called, exp.Anonymous) or called.name.upper() != "BATCH":
        return None
    number = called.expressions[0] if len(called.expressions) == 1 else None
    if not isinstance(number, exp.Literal) or not number.name.isdecimal():
        raise context.source.error("AS OF BATCH takes the number of a batch", called, "0 is the history")
    moment = context.schema.after_batch(int(number.name))
    if moment is None:
        raise context.source.error(f"batch {number.name} was not run yet", called, "%argus timings lists the batches")
    return moment


def _check_version(table: exp.Table, name: str, context: QueryContext, scope: Scope) -> None:
    """FOR SYSTEM_TIME AS OF is allowed of a table of which no row is taken back, which is the same at all times."""
    version = table.args.get("version")
    if version is None:
        return
    known = context.schema
    if name not in known.tables or name in known.corrected or version.args["this"] != "TIMESTAMP":
        hint = "AS OF BATCH 3 is as it was after a batch; without it the rows that are there now are joined"
        context.source.refuse("time travel, but to a table without a key,", table, hint)
    ScalarBinder(scope, known, now_at=context.now_at).bind(version.expression)
