"""The system catalog: the one truth about the network, in SQLite (T3.6, T6.2.7, T7.1, T7.2.1, T8.1).

Nodes and queries are rows of normalized relations, which are also the index that planning searches (``search``). What
is read is remembered as objects, and forgotten when it changes or a change is undone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.catalog import columns
from workbench.catalog.codec import decode_once, encode
from workbench.catalog.database import CatalogError, Database
from workbench.catalog.node_rows import NodeRows
from workbench.catalog.predicate_index import Predicates
from workbench.catalog.records import Settings
from workbench.catalog.search import Search
from workbench.files.journal import Fenced
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Node, NodeId, Read
from workbench.sql.algebra.expressions import Expression, text
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.logical import Output

_NODE, _QUERY = "node", "query"
"""The kinds of readers."""


@dataclass(frozen=True)
class QueryText:
    """The text of a query, its dialect, and its meaning."""

    sql: str
    dialect: str
    logical: str


class Catalog(Search):
    """A catalog in a file or in memory; also a context manager that closes it.

    One thread at a time may use it.

    Args:
        path: the file, made when it is not there; ``None`` for memory.
        durable: whether what is committed must survive that the machine loses its power.
        copied: whether to work on a copy in memory of what was committed last; the file stays as it is.
        inspected: whether the file has no writer; then all of it is looked at while it is copied.

    Raises:
        CatalogError: the file is no catalog, or one of another version.

    Example:
        >>> from workbench.network.nodes import Source
        >>> catalog = Catalog()
        >>> catalog.put_node(Source("F"))
        >>> catalog.query("SELECT kind, stream FROM nodes JOIN sources ON node = id")
        (('kind', 'stream'), [('source', 'F')])
        >>> catalog.close()
    """

    def __init__(
        self, path: Path | None = None, *, durable: bool = True, copied: bool = False, inspected: bool = False
    ) -> None:
        if path is not None and (copied or inspected):
            database = Database.inspected(path) if inspected else Database.copied(path)
        else:
            database = Database(path, durable)
        super().__init__(database, Predicates(database))
        self.database = database
        """The relations; those that hold a session are read and written by the session itself."""
        self.settings = Settings(database)
        self._rows = NodeRows(database, self._predicates)
        self._nodes_read: dict[NodeId, Node] = {}
        self._plans_read: dict[str, QueryPlan] = {}
        self._changed: set[str] = set()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @property
    def commits(self) -> int:
        """How often the session was committed."""
        return int(self.settings.get("commits", 0))

    @property
    def identity(self) -> str | None:
        """Which session this is the catalog of; ``None`` in catalogs of older versions."""
        identity: str | None = self.settings.get("session")
        return identity

    def copy_to(self, path: Path) -> None:
        """Write the catalog to a new file.

        Raises:
            CatalogError: SQLite cannot write it.
        """
        try:
            self.database.copy_to(path)
        except sqlite3.Error as error:
            raise CatalogError(f"{path} cannot be written: {error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction: the changes inside are kept as a whole, or undone when an error is raised; may be nested.

        Raises:
            CatalogError: SQLite cannot write.
        """
        with self._undoable(keep=True):
            yield

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """A transaction whose changes are always undone at the end."""
        with self._undoable(keep=False):
            yield

    def put_node(self, node: Node) -> None:
        """Add a node, or replace the one with its id, which keeps its place in the order."""
        with self.transaction():
            self._changed.add(node.id)
            found = self.database.first("SELECT kind FROM nodes WHERE id = ?", node.id)
            before = self._take_out(node.id, found[0]) if found else set()
            if not found:
                self.database.run(
                    "INSERT INTO nodes SELECT ?, ?, coalesce(max(position), 0) + 1 FROM nodes", (node.id, node.kind)
                )
            self._rows.insert(node)
            self._insert_reads(_NODE, node.id, node.reads)
            self._predicates.sweep(before)
            self._nodes_read[node.id] = node

    def put_order(self, ids: Iterable[NodeId]) -> None:
        """Give all nodes their places in the order."""
        self._put_places("nodes", "id", ids)

    def put_query_order(self, names: Iterable[str]) -> None:
        """Give all queries their places in the order."""
        self._put_places("queries", "name", names)

    def _put_places(self, table: str, key: str, order: Iterable[NodeId] | Iterable[str]) -> None:
        with self.transaction():
            before = dict(self.database.rows(f"SELECT {key}, position FROM {table}"))
            moved = [(place, name) for place, name in enumerate(order, start=1) if before.get(name) != place]
            # No place is taken twice on the way.
            there = [(name,) for _, name in moved]
            self.database.run_many(f"UPDATE {table} SET position = -position WHERE {key} = ?", there)
            self.database.run_many(f"UPDATE {table} SET position = ? WHERE {key} = ?", moved)

    def remove_node(self, id_: NodeId) -> None:
        """Remove a node, and the predicates and expressions that only it had; nothing happens if there is none."""
        with self.transaction():
            found = self.database.first("SELECT kind FROM nodes WHERE id = ?", id_)
            if found is None:
                return
            self._changed.add(id_)
            before = self._take_out(id_, found[0])
            self.database.run("DELETE FROM nodes WHERE id = ?", [id_])
            self.database.run("DELETE FROM serves WHERE node = ?", [id_])
            columns.forget(self.database, id_)
            self._predicates.sweep(before)
            self._nodes_read.pop(id_, None)

    def node(self, id_: NodeId) -> Node | None:
        """The node of an id, if there is one."""
        if id_ not in self._nodes_read:
            found = self.database.first("SELECT kind FROM nodes WHERE id = ?", id_)
            if found is None:
                return None
            self._nodes_read[id_] = self._rows.read(id_, found[0])
        return self._nodes_read[id_]

    def put_query(self, plan: QueryPlan, query_text: QueryText) -> None:
        """Add a query, or replace the one of its name, which keeps its place in the order.

        Args:
            plan: where its answer is found.
            query_text: its text.
        """
        with self.transaction():
            name, place = plan.name, self.database.first("SELECT position FROM queries WHERE name = ?", plan.name)
            before = self._take_out_query(name)
            (position,) = place or self.database.rows("SELECT coalesce(max(position), 0) + 1 FROM queries")[0]
            required, window = map(self._predicates.put, (plan.read.required, plan.window))
            order = encode(plan.order, tuple[SortKey, ...])
            text_columns = (order, query_text.sql, query_text.dialect, query_text.logical)
            self.database.insert("queries", [(name, position, plan.read.root, required, window, *text_columns)])
            self.database.insert(
                "query_outputs",
                (
                    (name, i, o.name, text(o.expression), str(o.type), encode(o.expression, Expression))
                    for i, o in enumerate(plan.outputs)
                ),
            )
            self.database.insert("query_nodes", ((name, i, id_) for i, id_ in enumerate(plan.nodes)))
            self._insert_reads(_QUERY, name, [plan.read])
            self._predicates.sweep(before)
            self._plans_read[name] = plan

    def put_read(self, plan: QueryPlan) -> None:
        """Change the root and the nodes that a query of the catalog reads."""
        query_text = self.query_text(plan.name)
        assert query_text is not None
        self.put_query(plan, query_text)

    def put_plan(self, plan: QueryPlan) -> None:
        """Change the nodes that a query of the catalog reads."""
        with self.transaction():
            self._changed.add(plan.name)
            self.database.run("DELETE FROM query_nodes WHERE query = ?", [plan.name])
            self.database.insert("query_nodes", ((plan.name, i, id_) for i, id_ in enumerate(plan.nodes)))
            self._plans_read[plan.name] = plan

    def remove_query(self, name: str) -> None:
        """Remove a query with its decisions; its nodes stay. Nothing happens if there is none."""
        with self.transaction():
            before = self._take_out_query(name)
            self.set_serves(name, ())
            self.database.run("DELETE FROM decisions WHERE query = ?", [name])
            self._predicates.sweep(before)

    def plan(self, name: str) -> QueryPlan | None:
        """The plan of a query, if there is one."""
        if name not in self._plans_read:
            found = self.database.first("SELECT root, predicates, window, ordering FROM queries WHERE name = ?", name)
            if found is None:
                return None
            outputs = self.database.rows("SELECT name, json FROM query_outputs WHERE query = ? ORDER BY position", name)
            nodes = self.database.column("SELECT node FROM query_nodes WHERE query = ? ORDER BY position", name)
            self._plans_read[name] = QueryPlan(
                name,
                Read(found[0], self._predicates.predicate_set(found[1])),
                tuple(Output(title, decode_once(stored, Expression)) for title, stored in outputs),
                tuple(nodes),
                self._predicates.predicate_set(found[2]),
                decode_once(found[3], tuple[SortKey, ...]),
            )
        return self._plans_read[name]

    def query_text(self, name: str) -> QueryText | None:
        """How a query was written, if there is one of that name."""
        found = self.database.first("SELECT sql, dialect, logical FROM queries WHERE name = ?", name)
        return QueryText(*found) if found else None

    def set_serves(self, query: str, nodes: Iterable[NodeId]) -> None:
        """Say which nodes serve a query."""
        with self.transaction():
            self.database.run("DELETE FROM serves WHERE query = ?", [query])
            self.database.insert("serves", ((id_, query) for id_ in set(nodes)))

    def network(self) -> Network:
        """The network of all nodes and queries, in their order."""
        ids = self.database.column("SELECT id FROM nodes ORDER BY position")
        names = self.database.column("SELECT name FROM queries ORDER BY position")
        nodes = {id_: node for id_ in ids if (node := self.node(id_)) is not None}
        return Network(nodes, {name: plan for name in names if (plan := self.plan(name)) is not None})

    def put_network(self, network: Network) -> None:
        """Add all nodes and queries of a network, without the texts of these."""
        with self.transaction():
            for node in network.nodes.values():
                self.put_node(node)
            for plan in network.queries.values():
                self.put_query(plan, QueryText("", "", ""))

    def put_decisions(self, query: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep the decisions of a query's registration, in place of those it had.

        Args:
            query: its name.
            rows: what JSON can hold; ``node``, ``rule``, ``operator``, ``created``, ``cost`` and ``reason`` become
                columns.
        """
        with self.transaction():
            self.database.run("DELETE FROM decisions WHERE query = ?", [query])
            self.database.run_many(
                "INSERT INTO decisions VALUES (?, ?, ?, ?, ?)",
                [
                    (query, step, row.get("node"), row.get("rule"), json.dumps(row, allow_nan=False))
                    for step, row in enumerate(rows, start=1)
                ],
            )

    def decisions(self, query: str) -> list[dict[str, Any]]:
        """The decisions of a query's registration, in order."""
        return list(
            map(json.loads, self.database.column("SELECT decision FROM decisions WHERE query = ? ORDER BY step", query))
        )

    def refresh_columns(self, network: Network, carried: columns.Carried) -> None:
        """Rewrite the column maps (T8.1).

        Args:
            network: the network of this catalog.
            carried: the columns of every root.
        """
        with self.transaction():
            columns.refresh(self.database, network, carried)

    def query(self, sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """A SELECT over the relations of the catalog: column names and rows.

        Raises:
            CatalogError: it does something else than reading, or SQLite does not understand it.
        """
        return self.database.read(sql)

    def tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        """The relations: name, columns, rows."""
        found = []
        for name in self.database.relations:
            columns_of = tuple(self.database.column("SELECT name FROM pragma_table_xinfo(?) ORDER BY cid", name))
            found.append((name, columns_of, int(self.database.rows(f'SELECT count(*) FROM "{name}"')[0][0])))
        return found

    @contextmanager
    def _undoable(self, *, keep: bool) -> Iterator[None]:
        done = False
        try:
            with self.database.savepoint(keep=keep):
                yield
                done = keep
        except sqlite3.Error as error:
            done = False
            room = "nothing was lost: make room on the disk of the session's folder and try again"
            hint = room if "full" in str(error) else None
            raise CatalogError(f"the catalog cannot be used: {error}", hint=hint) from error
        except OSError as error:
            if not done:  # of what was done within
                raise
            done = False
            hint = "open the session again" if isinstance(error, Fenced) else "try again when its store answers"
            raise CatalogError(f"the commit failed: {error}", hint=hint) from error
        finally:
            if not done:
                self._forget(self._changed)
            if self.database.outermost:
                self._changed.clear()

    def _forget(self, changed: Iterable[str]) -> None:
        for id_ in changed:
            self._nodes_read.pop(id_, None)
            self._plans_read.pop(id_, None)

    def _take_out(self, id_: NodeId, kind: str) -> set[str]:
        """Remove what a node's rows say; ids of the PredSets they had."""
        before = self._rows.predicate_sets(id_, kind) | self._delete_reads(_NODE, id_)
        self._rows.delete(id_, kind)
        return before

    def _take_out_query(self, name: str) -> set[str]:
        self._changed.add(name)
        self._plans_read.pop(name, None)
        before = self._delete_reads(_QUERY, name)
        before |= set(self.database.column("SELECT window FROM queries WHERE name = ?", name))
        self.database.run("DELETE FROM queries WHERE name = ?", [name])
        for table in ("query_outputs", "query_nodes"):
            self.database.run(f"DELETE FROM {table} WHERE query = ?", [name])
        return before

    def _insert_reads(self, kind: str, reader: str, reads: Iterable[Read]) -> None:
        rows = [(kind, reader, side, r.root, self._predicates.put(r.required)) for side, r in enumerate(reads)]
        self.database.insert("reads", rows)

    def _delete_reads(self, kind: str, reader: str) -> set[str]:
        """Remove the reads of a reader; ids of the PredSets it wanted."""
        of = (reader, kind)
        before = self.database.column("SELECT predicate_set FROM reads WHERE reader = ? AND kind = ?", *of)
        self.database.run("DELETE FROM reads WHERE reader = ? AND kind = ?", of)
        return set(before)
