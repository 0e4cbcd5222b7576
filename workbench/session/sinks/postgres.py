"""A table of PostgreSQL: ``postgresql://user@host/database?table=fees&key=state``.

Without a key it has the changes, each with ``batch`` and ``weight``. With one it has the answer: rows are inserted,
updated and deleted. The number of the batch is written to the table ``argus_sinks`` in the same transaction, so each
batch is there exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from workbench.arrow.stored_values import as_rows, json_value
from workbench.errors import SessionError
from workbench.session.sinks.rows import Row, numbered_changes, upserts
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import INSTANT, INTEGER, DataType, Kind
from workbench.streams.addresses.address import kept_address
from workbench.streams.live.postgres.address import postgres_client

_PROGRESS = "CREATE TABLE IF NOT EXISTS argus_sinks (sink text PRIMARY KEY, batch bigint NOT NULL, target text)"
_HAS_TARGET = "SELECT FROM pg_attribute WHERE attrelid = 'argus_sinks'::regclass AND attname = 'target'"
"""An earlier version has made the table without it."""
_KEEP = """
INSERT INTO argus_sinks (sink, batch) VALUES (%s, %s)
ON CONFLICT (sink) DO UPDATE SET batch = excluded.batch WHERE argus_sinks.batch < excluded.batch"""
_CLAIM = """
INSERT INTO argus_sinks VALUES (%s, -1, %s) ON CONFLICT (sink) DO UPDATE SET target = excluded.target"""
_OTHERS = "SELECT FROM argus_sinks WHERE target = %s AND sink <> %s"
_MAY_WRITE = """
SELECT CASE WHEN to_regclass(%(table)s) IS NULL THEN has_schema_privilege(%(schema)s, 'CREATE')
       ELSE has_table_privilege(to_regclass(%(table)s), 'INSERT') END"""
_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
_WHOLE = re.compile(r"smallint|integer|bigint|numeric\(\d+(,0)?\)")
_SCALE = re.compile(r"numeric\(\d+,(\d+)\)")
_TYPES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "bigint",
    Kind.DOUBLE: "double precision",
    Kind.STRING: "text",
    Kind.BINARY: "bytea",
    Kind.STRUCT: "jsonb",
    Kind.MAP: "jsonb",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.INTERVAL: "interval",
    Kind.MONTHS: "interval",
    Kind.TIME: "time",
}
_ANSWER_SECONDS = 10


class PostgresTarget(Target):
    """Writes to a table, which is made where there is none.

    Args:
        url: as libpq takes it, and ``table`` (the query's name unless given) and ``key`` (columns, with commas).

    Raises:
        StreamError: psycopg is not installed, or the address cannot be read, has an option that libpq is not given, or
            a secret.
    """

    keeps_numbers = True

    def __init__(self, url: str) -> None:
        postgres_client()
        self._description, self._address = url, kept_address(url)
        self._table = self._address.options.get("table", "")
        self._key = [name for name in self._address.options.get("key", "").split(",") if name]
        self._connection: Any = None
        self._sink, self._types, self._is_checked = "", tuple[DataType, ...](), False

    @property
    def description(self) -> str:
        """The address."""
        return self._description

    def where(self, query: str) -> str:
        """Host, database and table."""
        given = postgres_client().conninfo.conninfo_to_dict(self._address.text("table", "key"))
        place = [given.get(part, "") for part in ("host", "hostaddr", "port", "dbname")]
        return " ".join(map(str, [*filter(None, place), self._table or query]))

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """The batch that the database has of this sink."""
        self.close()
        self._sink, self._types, self._is_checked = sink, tuple(types), False
        address = self._address.with_environment().text("table", "key")
        self._connection = postgres_client().connect(address, connect_timeout=_ANSWER_SECONDS)
        with self._connection.transaction():
            self._connection.execute(_PROGRESS)
            if not self._connection.execute(_HAS_TARGET).rowcount:
                self._connection.execute("ALTER TABLE argus_sinks ADD COLUMN IF NOT EXISTS target text")
            found = self._connection.execute("SELECT batch FROM argus_sinks WHERE sink = %s", [sink]).fetchone()
        return found[0] if found is not None else None

    def claim(self, query: str) -> None:
        """Have the table for this sink; one that is empty, or not there any more, is free."""
        table = self._table or query
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute("LOCK TABLE argus_sinks IN SHARE ROW EXCLUSIVE MODE")
            target, name, schema = self._target(cursor, table)
            (may_write,) = cursor.execute(_MAY_WRITE, {"table": name, "schema": schema}).fetchone()
            if not may_write:
                raise PermissionError(f"the user may not write to the table {target}")
            exists = cursor.execute("SELECT to_regclass(%s)", [name]).fetchone() != (None,)
            if (
                not exists
                or not cursor.execute(
                    postgres_client().sql.SQL("SELECT FROM {} LIMIT 1").format(_identifier(table))
                ).rowcount
            ):
                cursor.execute("DELETE FROM argus_sinks WHERE target = %s AND sink <> %s", [target, self._sink])
            self._check_alone(cursor, target)
            cursor.execute(_CLAIM, [self._sink, target])

    def _check_columns(self, cursor: Any, query: str, names: Sequence[str]) -> None:
        """Check that no column of the table would round the answer, which PostgreSQL does without a word."""
        target, name, _ = self._target(cursor, self._table or query)
        there = dict(cursor.execute(_COLUMNS, [name]).fetchall())
        for column, type_ in zip(names, self._types, strict=True):
            if _rounds(known := there.get(column, ""), type_):
                message = f"column {column} of the table {target} is {known}, and the answer has {_written(type_)}"
                hint = f"ALTER TABLE {target} ALTER COLUMN {column} TYPE {_written(type_)}"
                raise SessionError(message, hint=hint)
        self._is_checked = True

    def _target(self, cursor: Any, table: str) -> tuple[str, str, str]:
        """The full name of a table, its name as an identifier, and its schema."""
        (schema,) = cursor.execute("SELECT current_schema()").fetchone()
        parts = table.split(".")
        schema = parts[0] if len(parts) > 1 else schema
        name = ".".join(part.replace('"', '""').join('""') for part in parts)
        return f"{schema}.{parts[-1]}", name, schema

    def _check_alone(self, cursor: Any, target: str) -> None:
        if cursor.execute(_OTHERS, [target, self._sink]).rowcount:
            hint = "of another session maybe, or one that was dropped: give another table, or empty it"
            raise SessionError(f"the table {target} has what another sink has sent", hint=hint)

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """The batch and its number, in one transaction."""
        rows = changes if self._key else numbered_changes(batch, changes)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(_KEEP, [self._sink, batch])
            if not cursor.rowcount:
                raise SessionError(f"batch {batch} is there already", hint="another copy of this session has sent it")
            table = _Table(cursor, self._table or query, rows, self._key, self._types)
            if not self._is_checked:
                self._check_columns(cursor, query, rows.column_names[-len(self._types) :])
            if not self._key:
                table.insert(as_rows(rows))
            else:
                by_key = upserts(rows, self._key)
                table.delete(by_key.removed)
                table.update(by_key.changed)
                table.insert(list(by_key.added.values()))
            self._check_alone(cursor, self._target(cursor, self._table or query)[0])

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class _Table:
    """The statements of one batch."""

    def __init__(self, cursor: Any, name: str, rows: pa.Table, key: Sequence[str], types: Sequence[DataType]) -> None:
        sql = postgres_client().sql
        self._sql, self._cursor, self._key = sql, cursor, key
        self._name = _identifier(name)
        self._columns = rows.column_names[1:] if key else rows.column_names
        self._create(types if key else [INTEGER, INTEGER, *types])

    def insert(self, rows: Sequence[Row]) -> None:
        text = self._sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            self._name, self._names(self._columns), self._sql.SQL(", ").join([self._sql.Placeholder()] * self._width)
        )
        try:
            self._many(text, [[_value(row[name]) for name in self._columns] for row in rows])
        except postgres_client().errors.UniqueViolation as error:
            hint = "the key must be unique in the answer, and the table empty at first"
            raise SessionError(f"two rows of one key: {error.diag.message_detail}", hint=hint) from error

    def update(self, rows: Mapping[tuple[object, ...], Row]) -> None:
        others = [name for name in self._columns if name not in self._key]
        if others:
            text = self._sql.SQL("UPDATE {} SET {} WHERE {}").format(
                self._name, self._each(others, ", "), self._each(self._key, " AND ")
            )
            self._many(text, [[*(_value(row[name]) for name in others), *key] for key, row in rows.items()])

    def delete(self, keys: Sequence[tuple[object, ...]]) -> None:
        text = self._sql.SQL("DELETE FROM {} WHERE {}").format(self._name, self._each(self._key, " AND "))
        self._many(text, [list(key) for key in keys])

    def _create(self, types: Sequence[DataType]) -> None:
        parts = [
            self._sql.SQL("{} {}").format(self._sql.Identifier(name), self._sql.SQL(_written(type_)))
            for name, type_ in zip(self._columns, types, strict=True)
        ]
        if self._key:
            parts.append(self._sql.SQL("PRIMARY KEY ({})").format(self._names(self._key)))
        text = self._sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})")
        self._cursor.execute(text.format(self._name, self._sql.SQL(", ").join(parts)))

    @property
    def _width(self) -> int:
        return len(self._columns)

    def _names(self, names: Sequence[str]) -> Any:
        return self._sql.SQL(", ").join(map(self._sql.Identifier, names))

    def _each(self, names: Sequence[str], between: str) -> Any:
        return self._sql.SQL(between).join(self._sql.SQL("{} = %s").format(self._sql.Identifier(n)) for n in names)

    def _many(self, text: Any, values: Sequence[Sequence[object]]) -> None:
        if values:
            self._cursor.executemany(text, values)


def _rounds(known: str, type_: DataType) -> bool:
    """Whether a column of a type of PostgreSQL has not all values of a type.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, decimal
        >>> _rounds("bigint", DOUBLE), _rounds("numeric(9,2)", decimal(9, 3)), _rounds("numeric", decimal(9, 3))
        (True, True, False)
    """
    scale = int(found[1]) if (found := _SCALE.fullmatch(known)) else 0 if _WHOLE.fullmatch(known) else None
    if type_.kind is Kind.TIMESTAMP:
        return known == "date"
    return scale is not None and (type_.kind is Kind.DOUBLE or (type_.kind is Kind.DECIMAL and type_.scale > scale))


def _identifier(name: str) -> Any:
    sql = postgres_client().sql
    return sql.SQL(".").join(map(sql.Identifier, name.split(".")))


def _written(type_: DataType) -> str:
    if type_.element is not None and type_.kind is Kind.ARRAY:
        return f"{_written(type_.element)}[]"
    if type_ == INSTANT:
        return "timestamptz"
    return _TYPES.get(type_.kind) or f"numeric({type_.precision}, {type_.scale})"


def _value(value: object) -> object:
    """A value as psycopg takes it: structs and maps are JSON, also in arrays."""
    if isinstance(value, list):
        if any(isinstance(each, list) for each in value):
            _check_lengths(value)
        if any(isinstance(each, pa.MonthDayNano) for each in value):
            return f"{{{','.join('NULL' if each is None else f'{each.months} months' for each in value)}}}"
        return [_value(each) for each in value]
    if isinstance(value, pa.MonthDayNano):
        return f"{value.months} months"
    return postgres_client().types.json.Jsonb(json_value(value)) if isinstance(value, dict) else value


def _check_lengths(arrays: Sequence[object]) -> None:
    """PostgreSQL has arrays of several dimensions, and no arrays of arrays: one that is empty would be gone."""
    lengths = {len(each) if isinstance(each, list) else 0 for each in arrays}
    if len(lengths) > 1 or 0 in lengths:
        message = f"PostgreSQL has no arrays of arrays that differ in length, are empty or NULL: {arrays!r:.60}"
        raise SessionError(message, hint="leave the column out, or select elements of it")
