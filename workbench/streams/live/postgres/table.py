"""What a table is that is to be followed, and what its publication gives of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError, nearest
from workbench.streams.live.postgres.address import TableAddress, message_of, postgres_client
from workbench.streams.live.postgres.replication import lsn_of
from workbench.streams.live.postgres.texts import arrow_type_of

_PUBLISHED = """
SELECT to_jsonb(t) FROM pg_publication_tables t
WHERE pubname = %s AND (tablename = %s OR schemaname || '.' || tablename = %s)
ORDER BY coalesce(array_position(current_schemas(false), schemaname), 1000), schemaname"""
_OTHERS = "SELECT schemaname || '.' || tablename FROM pg_publication_tables WHERE pubname = %s"
_ACTIONS = """
SELECT concat_ws(', ', CASE WHEN NOT pubinsert THEN 'inserts' END, CASE WHEN NOT pubupdate THEN 'updates' END,
                 CASE WHEN NOT pubdelete THEN 'deletes' END, CASE WHEN NOT pubtruncate THEN 'truncates' END)
FROM pg_publication WHERE pubname = %s"""
_COLUMNS = """
WITH RECURSIVE based AS (
    SELECT attnum, attname, atttypid AS base, atttypmod AS modifier
    FROM pg_attribute WHERE attrelid = %(table)s AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    UNION ALL
    SELECT attnum, attname, typbasetype, coalesce(nullif(typtypmod, -1), modifier)
    FROM based JOIN pg_type ON pg_type.oid = base WHERE typtype = 'd')
SELECT attname, format_type(base, modifier)
FROM based JOIN pg_type ON pg_type.oid = base WHERE typtype <> 'd' ORDER BY attnum"""
_NOW = """
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END::text, found,
    coalesce(found, 0) || ' ' || (SELECT coalesce(string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod), ', '
                                  ORDER BY attnum), '')
                                  FROM pg_attribute WHERE attrelid = found AND attnum > 0 AND NOT attisdropped)
FROM (SELECT CASE WHEN EXISTS (SELECT FROM pg_class WHERE oid = %s::oid) THEN %s::oid
                  ELSE to_regclass(%s::text)::oid END) t(found)"""
_DATABASE = "SELECT system_identifier || '/' || current_database() FROM pg_control_system()"
_IDENTITY = """
SELECT relreplident, ARRAY(
    SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
    WHERE indrelid = pg_class.oid AND CASE relreplident WHEN 'i' THEN indisreplident ELSE indisprimary END
    ORDER BY array_position(indkey::int2[], attnum))
FROM pg_class WHERE oid = %s"""


@dataclass(frozen=True)
class Table:
    """A table as its publication has it.

    Attributes:
        id: its number (OID).
        name: with its schema, as an identifier of SQL.
        columns: the name and type of each, in the words of PostgreSQL.
        condition: of the rows that are published; "" for all.
        identity: the columns by which changes say which row is meant; none where they have whole rows.
        whole: whether changes have whole rows (REPLICA IDENTITY FULL).
        unpublished: the kinds of changes that the publication does not give, in words.
        database: in which it is, also as other servers tell it.
    """

    id: int
    name: str
    columns: tuple[tuple[str, str], ...]
    condition: str
    identity: tuple[str, ...]
    whole: bool
    unpublished: str
    database: str

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return pa.schema([(name, arrow_type_of(written)) for name, written in self.columns])

    @property
    def select(self) -> str:
        """The query of its published rows."""
        columns = ", ".join(_quoted(name) for name, _ in self.columns)
        return f"SELECT {columns} FROM {self.name}" + (f" WHERE {self.condition}" if self.condition else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the analyst."""
        loose = [name for name, written in self.columns if written == "numeric"]
        notes = [f"{name} is numeric without digits, and so a text; --type {name}='decimal(20,4)'" for name in loose]
        notes += [f"the publication does not give {self.unpublished}"] * bool(self.unpublished)
        return tuple(notes)

    def key_of(self, given: Sequence[str]) -> tuple[str, ...]:
        """The key of its stream.

        Args:
            given: what was declared; none: what its changes are identified by.

        Raises:
            StreamError: changes do not have what was declared.
        """
        if not given or self.whole or {name.lower() for name in given} == {name.lower() for name in self.identity}:
            return tuple(given) or self.identity
        hint = f"key={[*self.identity]}; or ALTER TABLE {self.name} REPLICA IDENTITY FULL"
        raise StreamError(f"updates and deletes of {self.name} are not identified by {', '.join(given)}", hint=hint)


def described_table(connection: Any, address: TableAddress) -> Table:
    """The present columns and key of a table.

    Raises:
        StreamError: there is no such table in the publication, or none that can be followed.
    """
    wanted, publication = address.table, address.publication
    try:
        found = connection.execute(_PUBLISHED, [publication, wanted, wanted]).fetchone()
        if found is None:
            raise _not_published(connection, address)
        schema, name, condition = (found[0].get(part) for part in ("schemaname", "tablename", "rowfilter"))
        quoted = f"{_quoted(schema)}.{_quoted(name)}"
        (number,) = connection.execute("SELECT %s::regclass::oid", [quoted]).fetchone()
        columns = connection.execute(_COLUMNS, {"table": number}).fetchall()
        chosen = found[0].get("attnames") or [column for column, *_ in columns]
        kind, identity = connection.execute(_IDENTITY, [number]).fetchone()
        (unpublished,) = connection.execute(_ACTIONS, [publication]).fetchone()
        (database,) = connection.execute(_DATABASE).fetchone()
    except postgres_client().Error as error:
        raise StreamError(f"{address.where} cannot be read: {message_of(error)}") from error
    if kind != "f" and not identity:
        hint = f"give it a primary key, or ALTER TABLE {quoted} REPLICA IDENTITY FULL"
        raise StreamError(f"changes of {address.where} do not say which row they mean", hint=hint)
    own = tuple(tuple(column) for column in columns if column[0] in chosen)
    return Table(number, quoted, own, condition or "", tuple(identity), kind == "f", unpublished, database)


def table_now(connection: Any, table: Table) -> tuple[int, int | None, str]:
    """How far the server's log is written, the number of the table, and what its columns are.

    A table that was renamed is the same. What the columns are begins with the number.

    Raises:
        StreamError: the table is not there any more.
    """
    log, found, signature = connection.execute(_NOW, [table.id, table.id, table.name]).fetchone()
    if found is None:
        raise StreamError(f"there is no table {table.name} any more", hint="its rows stay in the stream as they were")
    return lsn_of(log), found, signature


def _not_published(connection: Any, address: TableAddress) -> StreamError:
    names = [name for (name,) in connection.execute(_OTHERS, [address.publication]).fetchall()]
    plain = [name.removeprefix("public.") for name in names]
    if plain:
        hint = nearest(address.table, plain) or f"it has {', '.join(plain)}"
        return StreamError(f"publication {address.publication} has no table {address.table}", hint=hint)
    make = f"CREATE PUBLICATION {address.publication} FOR TABLE {address.table}"
    known = [name for (name,) in connection.execute("SELECT pubname FROM pg_publication").fetchall()]
    hint = nearest(address.publication, known) or f"{make} makes one"
    return StreamError(f"there is no publication {address.publication} with a table", hint=hint)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
