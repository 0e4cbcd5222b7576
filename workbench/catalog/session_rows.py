"""What a session consists of beside its network, as rows of the catalog, and back (design 5, *Commits*).

Streams and how far they have arrived, functions, views, registered queries, reports of batches, and the manifest: the
files that hold the rows of every tree. Planning does not look at any of this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.catalog.codec import type_of
from workbench.catalog.database import Database
from workbench.catalog.logical_codec import logical_json, logical_of, windows_json, windows_of
from workbench.catalog.schema import PLAN_ANEW
from workbench.sql.logical import LogicalQuery, StreamWindow
from workbench.sql.schema import UserAggregate, UserFunction


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream or table, how many rows of its log have arrived, and the checksum of the log's manifest."""

    name: str
    folder: str
    is_table: bool
    time: str | None
    history: int
    batch: int
    arrived: int
    checksum: int | None


@dataclass(frozen=True, slots=True)
class StoredFunction:
    """A Python function as bytes, the version of Python that wrote them, its limits (``Limits``), and who added it.

    ``signature``: of whoever did, if that is known (``recovery.signing``).
    """

    python: str
    pickled: bytes
    seconds: float
    memory: int
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Registration:
    """A query as it was registered, and what became of it."""

    name: str
    sql: str
    dialect: str
    registered: int
    status: str
    logical: LogicalQuery
    results: str
    windows: tuple[StreamWindow, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One shared operator in one batch; rows by node, in the order of the nodes, and seconds of those profiled."""

    operator: str
    rows_in: int
    rows_out: int
    seconds: float
    node_rows: Mapping[str, int]
    alone: Mapping[str, float]
    together: float


@dataclass(frozen=True, slots=True)
class BatchRow:
    """The report of one batch."""

    batch: int
    rows: int
    seconds: float
    arrived: Mapping[str, int]
    changes: Mapping[str, int]
    operators: tuple[OperatorRow, ...]
    late_rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of rows, its path seen from the session's folder, and the checksum of its bytes, if it is known."""

    file: str
    rows: int
    bytes: int
    checksum: int | None


Run = tuple[FileRow, ...]
"""Files that were written together."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """One entry of a tree's log of changes."""

    batch: int
    whole: bool
    files: Run


@dataclass(frozen=True, slots=True)
class NeedRow:
    """Rows that are there of a tree whose past rows were freed: those with some bits, and times between two each."""

    bits: tuple[int, ...]
    times: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class TreeRows:
    """A tree: the bit of every node, where its rows, its state and its log are, and which rows these are if not all."""

    bits: Mapping[str, int]
    rows: tuple[Run, ...]
    state: tuple[Run, ...]
    log: tuple[LogRow, ...]
    needed: tuple[NeedRow, ...] | None

    @property
    def files(self) -> Iterable[FileRow]:
        """All its files."""
        runs = (*self.rows, *self.state, *(entry.files for entry in self.log))
        return (file for run in runs for file in run)


class SessionRows:
    """Reads and writes them; writing belongs inside a transaction of the catalog."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- settings ------------------------------------------------------------------------------------------------

    def put_made(self, dialect: str, options: Mapping[str, object]) -> None:
        """Say how the session was made."""
        self._put_setting("dialect", dialect)
        self._put_setting("options", dict(options))

    def made(self) -> tuple[str, dict[str, Any]]:
        """The dialect and the options with which the session was made."""
        return self._setting("dialect", "spark"), self._setting("options", {})

    def put_identity(self, session: str) -> None:
        """Say which session this is the catalog of."""
        self._put_setting("session", session)

    @property
    def identity(self) -> str | None:
        """Which session this is the catalog of; ``None`` in catalogs of older versions."""
        found = self._setting("session", None)
        return None if found is None else str(found)

    def put_commit(self, named: int) -> None:
        """Count a commit, and say how many queries the session has named."""
        self._put_setting("commits", self.commits + 1)
        self._put_setting("named", named)

    @property
    def plan_anew(self) -> bool:
        """Whether an older workbench wrote the catalog, so that what is planned is to be planned and computed anew."""
        return bool(self._setting(PLAN_ANEW, False))

    def has_plan(self) -> None:
        """Say that what is planned is there again."""
        self._database.run("DELETE FROM settings WHERE name = ?", [PLAN_ANEW])

    @property
    def commits(self) -> int:
        """How often the session was committed."""
        return int(self._setting("commits", 0))

    @property
    def named(self) -> int:
        """How many queries got their name from the session."""
        return int(self._setting("named", 0))

    def _put_setting(self, name: str, value: object) -> None:
        self._database.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))

    def _setting(self, name: str, default: Any) -> Any:
        found = self._database.first("SELECT value FROM settings WHERE name = ?", name)
        return json.loads(found[0]) if found else default

    # -- streams, functions, aggregates --------------------------------------------------------------------------

    def put_stream(self, row: StreamRow) -> None:
        """Add a stream, or say how far it has come."""
        about = (row.folder, int(row.is_table), row.time, row.history, row.batch, row.arrived, row.checksum)
        self._put("streams", row.name, about)

    def streams(self) -> list[StreamRow]:
        """All streams and tables, in the order in which they were added."""
        rows = self._database.rows(
            "SELECT name, folder, is_table, time, history, batch, arrived, checksum FROM streams ORDER BY position"
        )
        return [StreamRow(name, folder, bool(table), *rest) for name, folder, table, *rest in rows]

    def put_function(self, function: UserFunction, stored: StoredFunction) -> None:
        """Add a version of a function of the analyst, or sign it anew."""
        about = (str(function.returns), stored.python, stored.pickled, stored.seconds, stored.memory, *function.takes)
        self._put("user_functions", function.id, (*about, stored.signature))

    def functions(self) -> list[tuple[UserFunction, StoredFunction]]:
        """All versions of the analyst's functions, each with what Python makes it of."""
        rows = self._database.rows(
            "SELECT name, returns, least, most, python, pickled, seconds, memory, signature FROM user_functions"
            " ORDER BY position"
        )
        return [
            (UserFunction.of(id_, type_of(returns), (least, most)), StoredFunction(*stored))
            for id_, returns, least, most, *stored in rows
        ]

    def put_aggregate(self, aggregate: UserAggregate) -> None:
        """Add an aggregate of the analyst, or replace it."""
        about = (json.dumps(aggregate.parameters), json.dumps(dict(aggregate.statistics)), aggregate.rule)
        self._put("user_aggregates", aggregate.name, about)

    def aggregates(self) -> list[UserAggregate]:
        """The analyst's aggregates."""
        rows = self._database.rows("SELECT name, parameters, statistics, rule FROM user_aggregates ORDER BY position")
        return [UserAggregate(n, tuple(json.loads(p)), json.loads(s), rule) for n, p, s, rule in rows]

    # -- views and queries ---------------------------------------------------------------------------------------

    def put_view(self, name: str, query: LogicalQuery) -> None:
        """Say what a name in FROM stands for."""
        self._put("views", name, (logical_json(query),))

    def remove_view(self, name: str) -> None:
        """Forget a name."""
        self._database.run("DELETE FROM views WHERE name = ?", [name])

    def views(self) -> dict[str, LogicalQuery]:
        """All views and queries that can stand in FROM."""
        rows = self._database.rows("SELECT name, logical FROM views ORDER BY position")
        return {name: logical_of(stored) for name, stored in rows}

    def put_registration(self, row: Registration) -> None:
        """Add a query, or say what became of it."""
        about = (row.sql, row.dialect, row.registered, row.status, logical_json(row.logical), row.results)
        self._put("registrations", row.name, (*about, windows_json(row.windows)))

    def remove_registration(self, name: str) -> None:
        """Forget a query."""
        self._database.run("DELETE FROM registrations WHERE name = ?", [name])

    def registrations(self) -> list[Registration]:
        """All registered queries, in the order of registration."""
        rows = self._database.rows(
            "SELECT name, sql, dialect, registered, status, logical, results, windows FROM registrations"
            " ORDER BY position"
        )
        return [
            Registration(name, sql, dialect, at, status, logical_of(query), kept, windows_of(on))
            for name, sql, dialect, at, status, query, kept, on in rows
        ]

    # -- batches -------------------------------------------------------------------------------------------------

    def put_batch(self, row: BatchRow) -> None:
        """Keep the report of a batch."""
        told = [json.dumps(dict(counts)) for counts in (row.arrived, row.changes, row.late_rows)]
        self._database.insert("batches", [(row.batch, row.rows, row.seconds, *told)])
        self._database.insert(
            "operator_timings",
            (
                (row.batch, i, o.operator, o.rows_in, o.rows_out, o.seconds, *by_node, o.together)
                for i, o in enumerate(row.operators)
                for by_node in [[json.dumps(dict(numbers)) for numbers in (o.node_rows, o.alone)]]
            ),
        )

    def remove_batches(self, after: int) -> None:
        """Forget the reports of later batches."""
        for table in ("batches", "operator_timings"):
            self._database.run(f"DELETE FROM {table} WHERE batch > ?", [after])

    def batches(self) -> list[BatchRow]:
        """The reports of all batches, in order."""
        operators: dict[int, list[OperatorRow]] = {}
        for batch, name, rows_in, rows_out, seconds, *by_node, together in self._database.rows(
            "SELECT batch, operator, rows_in, rows_out, seconds, node_rows, alone, together FROM operator_timings"
            " ORDER BY batch, position"
        ):
            node_rows, alone = map(json.loads, by_node)
            row = OperatorRow(name, rows_in, rows_out, seconds, node_rows, alone, together)
            operators.setdefault(batch, []).append(row)
        found = self._database.rows(
            "SELECT batch, rows, seconds, arrived, changes, set_aside FROM batches ORDER BY batch"
        )
        return [
            BatchRow(b, rows, seconds, arrived, changes, tuple(operators.get(b, ())), late)
            for b, rows, seconds, *told in found
            for arrived, changes, late in [map(json.loads, told)]
        ]

    # -- the manifest --------------------------------------------------------------------------------------------

    def put_bits(self, tree: str, bits: Mapping[str, int]) -> None:
        """Say which bit each node of a tree has."""
        self._database.run("DELETE FROM lineage_bits WHERE tree = ?", [tree])
        self._database.insert("lineage_bits", ((tree, node, bit) for node, bit in bits.items()))

    def put_runs(self, owner: str, part: str, runs: Sequence[Run]) -> None:
        """Say which files hold a part of what an owner has."""
        self._database.run("DELETE FROM segments WHERE owner = ? AND part = ?", (owner, part))
        self._database.insert("segments", _file_rows(owner, part, runs, first=0))

    def put_log(self, tree: str, entries: Sequence[LogRow], first: int) -> None:
        """Say what a tree's log is from its entry ``first`` on."""
        self._database.run("DELETE FROM log_entries WHERE tree = ? AND entry >= ?", (tree, first))
        self._database.run("DELETE FROM segments WHERE owner = ? AND part = 'log' AND run >= ?", (tree, first))
        self._database.insert(
            "log_entries", ((tree, i, entry.batch, int(entry.whole)) for i, entry in enumerate(entries, first))
        )
        self._database.insert("segments", _file_rows(tree, "log", [entry.files for entry in entries], first))

    def put_needed(self, tree: str, needed: Sequence[NeedRow] | None) -> None:
        """Say which rows of a tree are there for certain; ``None``: all of them."""
        self._database.run("DELETE FROM pruned WHERE tree = ?", [tree])
        rows = enumerate(needed or ())
        self._database.insert("pruned", ((tree, i, json.dumps(n.bits), json.dumps(n.times)) for i, n in rows))

    def remove_tree(self, tree: str) -> None:
        """Forget a tree."""
        owned = (("lineage_bits", "tree"), ("log_entries", "tree"), ("segments", "owner"), ("pruned", "tree"))
        for table, column in owned:
            self._database.run(f"DELETE FROM {table} WHERE {column} = ?", [tree])

    def trees(self) -> dict[str, TreeRows]:
        """All trees by their root."""
        bits: dict[str, dict[str, int]] = {}
        for tree, node, bit in self._database.rows("SELECT tree, node, bit FROM lineage_bits"):
            bits.setdefault(tree, {})[node] = bit
        logs: dict[str, list[tuple[int, int]]] = {}
        for tree, batch, whole in self._database.rows(
            "SELECT tree, batch, whole FROM log_entries ORDER BY tree, entry"
        ):
            logs.setdefault(tree, []).append((batch, whole))
        needed: dict[str, list[NeedRow]] = {}
        for tree, own, times in self._database.rows("SELECT tree, bits, times FROM pruned ORDER BY tree, position"):
            needed.setdefault(tree, []).append(NeedRow(tuple(json.loads(own)), tuple(map(tuple, json.loads(times)))))
        files = self._files()
        found = {}
        for tree, of_nodes in bits.items():
            rows, state, logged = (files.get((tree, part), {}) for part in ("rows", "state", "log"))
            log = tuple(LogRow(b, bool(w), logged.get(i, ())) for i, (b, w) in enumerate(logs.get(tree, ())))
            there = tuple(needed[tree]) if tree in needed else None
            found[tree] = TreeRows(of_nodes, tuple(rows.values()), tuple(state.values()), log, there)
        return found

    def arrived(self) -> dict[str, tuple[Run, ...]]:
        """For every stream the files of the rows that have arrived."""
        found = {owner: tuple(runs.values()) for (owner, part), runs in self._files().items() if part == "arrived"}
        return {row.name: found.get(row.name, ()) for row in self.streams()}

    def _files(self) -> dict[tuple[str, str], dict[int, Run]]:
        found: dict[tuple[str, str], dict[int, Run]] = {}
        for owner, part, run, *about in self._database.rows(
            "SELECT owner, part, run, file, rows, bytes, checksum FROM segments ORDER BY owner, part, run, position"
        ):
            runs = found.setdefault((owner, part), {})
            runs[run] = (*runs.get(run, ()), FileRow(*about))
        return found

    def _put(self, table: str, name: str, about: tuple[object, ...]) -> None:
        """Add a row, or replace the one of its name, which keeps its place."""
        place = self._database.first(f"SELECT position FROM {table} WHERE name = ?", name)
        (position,) = place or self._database.rows(f"SELECT coalesce(max(position), 0) + 1 FROM {table}")[0]
        self._database.run(f"DELETE FROM {table} WHERE name = ?", [name])
        self._database.insert(table, [(name, position, *about)])


def _file_rows(owner: str, part: str, runs: Sequence[Run], first: int) -> Iterable[tuple[object, ...]]:
    return (
        (owner, part, number, position, file.file, file.rows, file.bytes, file.checksum)
        for number, run in enumerate(runs, first)
        for position, file in enumerate(run)
    )
