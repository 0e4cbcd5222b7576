"""Flink's functions of windows in FROM: the rows of a table, each with the start and end of its windows.

RisingWave writes ``TUMBLE(bid, t, size)`` and ``HOP(bid, t, slide, size)``, which are the same.

::

    TABLE(TUMBLE(TABLE bid, DESCRIPTOR(t), size))             a row once
    TABLE(HOP(TABLE bid, DESCRIPTOR(t), slide, size))         a row once for each window that it is in
    TABLE(SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(t), gap))      below GROUP BY k, window_start, window_end

Where windows are only grouped by, the start is a call that stands for all windows of a row, as of ``window(…)`` in
GROUP BY, so that both spellings are one query. Otherwise rows of HOP are repeated by UNION ALL.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.binder.aggregates.aggregation import is_aggregate
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.window_functions import start_of_window
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, LogicalQuery, Output, output_columns, unordered
from workbench.sql.predicates.cnf import TRUE, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.schema import Schema
from workbench.sql.syntax.table_functions import DESCRIPTOR, HOP, PARTITION_BY, SESSION, WINDOWS
from workbench.sql.windows.overlapping import for_each_window
from workbench.sql.windows.stream_time import SLIDING

START, END = "window_start", "window_end"
TABLE_FUNCTIONS = "TUMBLE, HOP and SESSION are, as in Flink"
"""Which functions may stand in FROM."""


def rows_with_windows(table: exp.Table, context: QueryContext) -> LogicalQuery:
    """The rows of a function of windows in FROM, with the columns ``window_start`` and ``window_end``.

    Rows without a time are in no window.

    Raises:
        SqlError: arguments are missing or wrong.
        UnsupportedError: another function, or SESSION that is not grouped by its partition.
    """
    source, node = context.source, table.this
    name = node.name.lower()
    if name not in WINDOWS:
        source.refuse("a table function", table, TABLE_FUNCTIONS)
    given = _arguments(node, context)
    time = given.time
    query = unordered(context.query(exp.select("*").from_(given.table)))
    rows = query if isinstance(query, Block) and query.is_plain else _around(query)
    values = {output.name.lower(): output.expression for output in rows.outputs}
    if time.name.lower() not in values:
        hint = nearest(time.name, values) or f"there are {', '.join(values)}"
        raise source.error(f"unknown column {time.name}", time, hint)
    b = ScalarBinder(Scope(source), context.schema)
    try:
        start = start_of_window(b, name, values[time.name.lower()], time, given.lengths)
    except TypeClash as clash:
        raise source.error(clash.message, time, clash.hint) from None
    assert isinstance(start, Call)
    timed = normal_form(call("not", call("is_null", start.arguments[0])))
    rows = replace(rows, where=conjunction(rows.where, timed))
    partition = [key.name.lower() for key in given.keys] if name == SESSION else None
    if _is_only_grouped(table, partition, context.schema):
        return _with_window(rows, rows.outputs, start, start)
    if name == SESSION:
        hint = "GROUP BY what it is partitioned by, window_start and window_end"
        source.refuse("SESSION that is not grouped by its sessions", table, hint)
    if start.function != SLIDING:
        return _with_window(rows, rows.outputs, start, start)
    names = [f"c{i}" for i, _ in enumerate(rows.outputs, start=1)]
    union = for_each_window(rows, start, start.arguments[0], [o.expression for o in rows.outputs], names)
    outputs = [Output(o.name, Column(name, o.type)) for o, name in zip(rows.outputs, names, strict=True)]
    return _with_window(Block((union,), TRUE, ()), outputs, start, Column("start", start.type))


@dataclass(frozen=True)
class _Arguments:
    """The table, the keys of PARTITION BY, the column of times, and lengths of time."""

    table: exp.Expr
    keys: list[exp.Expr]
    time: exp.Column
    lengths: list[exp.Expr]


def _arguments(node: exp.Anonymous, context: QueryContext) -> _Arguments:
    source, parts = context.source, node.expressions
    calls = {p.name.lower(): p.expressions for p in parts if isinstance(p, exp.Anonymous)}
    described, rest = calls.get(DESCRIPTOR, []), parts[1:]
    if DESCRIPTOR not in calls and rest and isinstance(rest[0], exp.Column):  # as RisingWave names the times
        described, rest = rest[:1], rest[1:]
    takes = "INTERVAL '2' SECOND, INTERVAL '10' SECOND" if node.name.lower() == HOP else "INTERVAL '10' SECOND"
    hint = f"write TABLE({node.name.upper()}(TABLE name, DESCRIPTOR(time), {takes}))"
    lengths = [p for p in rest if not isinstance(p, exp.Anonymous)]
    if len(described) != 1 or not isinstance(described[0], exp.Column) or len(lengths) != takes.count(",") + 1:
        raise source.error(f"{node.name.upper()} takes a table, its times and lengths", node, hint)
    keys = calls.get(PARTITION_BY, [])
    if keys and node.name.lower() != SESSION:
        source.refuse("PARTITION BY of windows that do not depend on it", node, "leave it out")
    data = parts[0]
    if isinstance(data, exp.Column):
        source.refuse_others(data, {"this"}, "a table")
        data = exp.Table(this=data.this)
    elif isinstance(data, exp.Subquery):
        data = data.copy()
        data.set("alias", exp.TableAlias(this=exp.to_identifier("rows")))
    else:
        raise source.error("a table is needed", data, hint)
    return _Arguments(data, keys, described[0], lengths)


def _around(query: LogicalQuery) -> Block:
    outputs = tuple(Output(name, Column(stored_name(name), type_)) for name, type_ in output_columns(query))
    return Block((query,), TRUE, outputs)


def _with_window(rows: Block, outputs: Iterable[Output], start: Call, begin: Expression) -> Block:
    size = start.arguments[1]
    assert isinstance(size, Constant)
    return replace(rows, outputs=(*outputs, Output(START, begin), Output(END, call("add_seconds", begin, size))))


def _is_only_grouped(table: exp.Table, partition: list[str] | None, schema: Schema) -> bool:
    """Whether the SELECT around groups by the start of windows and reads them nowhere but above its groups.

    Args:
        table: the item of FROM, which must be the only one.
        partition: what else it must group by, and nothing besides; ``None``: anything.
        schema: the analyst's aggregates.
    """
    select = table.find_ancestor(exp.Select)
    group = select.args.get("group") if select is not None else None
    if select is None or group is None or select.args.get("joins") or table.args.get("joins"):
        return False
    names = [g.name.lower() for g in group.expressions if isinstance(g, exp.Column)]
    if START not in names or set(group.args) - {"expressions"} or len(names) < len(group.expressions):
        return False
    if partition is not None and set(names) - {START, END} != set(partition):
        return False
    roots = [*select.expressions, *(select.args.get(part) for part in ("where", "having", "order", "qualify"))]
    read = (column for root in roots if root for column in root.find_all(exp.Column))
    return not any(_is_read_below_groups(c, select, schema) for c in read if c.name.lower() in (START, END))


def _is_read_below_groups(column: exp.Column, select: exp.Select, schema: Schema) -> bool:
    inside = column.parent
    while inside is not None and inside is not select:
        if isinstance(inside, (exp.Where, exp.Window, exp.Select)) or is_aggregate(inside, schema):
            return True
        inside = inside.parent
    return False
