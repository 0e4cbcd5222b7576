"""Look-ups while a query is folded into the network: who reads what, and which nodes have more or fewer rows.

Every one starts at an index, so it costs what it finds and not what the catalog holds. A search by implication
first finds the ORPreds that the wanted bounds may imply, wherever they are used, so it costs their number. Nodes come
in the order in which they were added.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.catalog.database import Database
from workbench.catalog.predicate_index import Predicates, predicate_id
from workbench.catalog.ranges import IMPOSSIBLE, LOWEST, Range, admitted_ranges, required_ranges
from workbench.network.nodes import NodeId, Read
from workbench.sql.predicates.cnf import TRUE, PredSet
from workbench.sql.predicates.implication import facts, implies

FEW_SETS = 8
"""PredSets up to this number are compared one by one, which is faster than the index over the predicates of all."""
_LIST = "(SELECT value FROM json_each(?))"


@dataclass(frozen=True)
class _Scope:
    """The nodes to search: the nodes of one relation over the same root or roots."""

    table: str
    predicates: str
    where: str
    roots: tuple[NodeId, ...]


class Search:
    """The look-ups of a catalog (Algorithm 6.3 and its counterpart, T7.1, T7.2.2)."""

    def __init__(self, database: Database, predicates: Predicates) -> None:
        self.database = database
        self._predicates = predicates

    def joins_between(self, left_root: NodeId, right_root: NodeId) -> list[NodeId]:
        """All joins of two roots."""
        return self._nodes(_joins(left_root, right_root))

    def joins_subsuming(self, left_root: NodeId, right_root: NodeId, required: PredSet) -> list[NodeId]:
        """The joins of two roots that have all rows that ``required`` asks for, since it implies their tests."""
        return self._subsuming(_joins(left_root, right_root), required)

    def joins_subsumed(self, left_root: NodeId, right_root: NodeId, required: PredSet) -> list[NodeId]:
        """The joins of two roots all whose rows satisfy ``required``."""
        return self._subsumed(_joins(left_root, right_root), required)

    def selections_perhaps_subsuming(self, root: NodeId, required: PredSet) -> list[NodeId]:
        """Selections of a root, among which are all that have all rows that ``required`` asks for.

        The caller compares the likeliest first, since there may be hundreds.
        """
        return self._nodes(_selections(root), self._perhaps_implied(_selections(root), required))

    def selections_subsumed(self, root: NodeId, required: PredSet) -> list[NodeId]:
        """The selections of a root all whose rows satisfy ``required``."""
        return self._subsumed(_selections(root), required)

    def selections_of(self, root: NodeId) -> list[NodeId]:
        """All selections of a root's tree."""
        return self._nodes(_selections(root))

    def selections_below(self, parent: NodeId) -> list[NodeId]:
        """The selections evaluated from a node."""
        return self._ordered("SELECT node FROM selection_topology WHERE direct_parent = ?", parent)

    def reads_of(self, root: NodeId, kind: str | None = None) -> list[tuple[str, PredSet]]:
        """The readers of a root, each with the rows it requires; once for each side or branch.

        Args:
            root: the root that is read.
            kind: ``query`` or ``node`` for readers of this kind only.
        """
        rows = self.database.rows(
            "SELECT reader, predicate_set FROM reads WHERE root = ?1 AND kind = coalesce(?2, kind)"
            " ORDER BY kind, reader, side",
            root,
            kind,
        )
        return [(reader, self._predicates.predicate_set(required)) for reader, required in rows]

    def required_of(self, root: NodeId) -> list[PredSet]:
        """The different PredSets that are read from a root."""
        ids = self.database.column("SELECT DISTINCT predicate_set FROM reads WHERE root = ? ORDER BY 1", root)
        return list(map(self._predicates.predicate_set, ids))

    def aggregates_of(self, read: Read) -> list[NodeId]:
        """The aggregates of just these rows."""
        return self._ordered(
            "SELECT node FROM aggregate_topology WHERE origin_root = ? AND origin_predicates = ?",
            read.root,
            predicate_id(read.required),
        )

    def set_operations_reading(self, read: Read) -> list[NodeId]:
        """The set operators with just these rows as a branch."""
        return self._ordered(
            "SELECT node FROM set_operation_branches WHERE root = ? AND predicates = ? AND kind = 'veryorig'",
            read.root,
            predicate_id(read.required),
        )

    def _subsuming(self, scope: _Scope, required: PredSet) -> list[NodeId]:
        candidates = self._perhaps_implied(scope, required)
        if candidates is None:
            return self._nodes(scope)
        return self._nodes(scope, [id_ for id_ in candidates if implies(required, self._predicates.predicate_set(id_))])

    def _perhaps_implied(self, scope: _Scope, required: PredSet) -> list[str] | None:
        """PredSets of a scope among which are all that are implied; ``None`` where nothing satisfies ``required``."""
        if not facts(required).satisfiable:
            return None
        few = self._few(scope)
        return self._implied(scope, required_ranges(required)) if few is None else few

    def _subsumed(self, scope: _Scope, required: PredSet) -> list[NodeId]:
        if not required:
            return self._nodes(scope)
        few = self._few(scope)
        candidates = self._implying(scope, required) if few is None else few
        return self._nodes(scope, [id_ for id_ in candidates if implies(self._predicates.predicate_set(id_), required)])

    def _few(self, scope: _Scope) -> list[str] | None:
        """The PredSets of a scope, if they are few."""
        some = self.database.column(
            f"SELECT DISTINCT {scope.predicates} FROM {scope.table} WHERE {scope.where} LIMIT ?",
            *scope.roots,
            FEW_SETS + 1,
        )
        return some if len(some) <= FEW_SETS else None

    def _implied(self, scope: _Scope, ranges: list[Range]) -> list[str]:
        """The PredSets all of whose ORPreds may be implied: as many such as members (the check of Algorithm 6.3)."""
        complete = f"""SELECT m.predicate_set FROM json_each(?) implied
            CROSS JOIN predicate_set_members m ON m.or_predicate = implied.value
            CROSS JOIN predicate_sets s ON s.id = m.predicate_set
            GROUP BY m.predicate_set HAVING COUNT(*) = s.size
            AND EXISTS (SELECT 1 FROM {scope.table} WHERE {scope.where} AND {scope.predicates} = m.predicate_set)"""
        implied = json.dumps(self._or_predicates(ranges))
        return [*self.database.column(complete, implied, *scope.roots), predicate_id(TRUE)]

    def _or_predicates(self, ranges: list[Range]) -> list[str]:
        """The ORPreds that let some expression have all the values of a range."""
        or_predicates: dict[str, None] = {}
        for subject, low, high in ranges:
            rows = self.database.column(
                """SELECT or_predicate FROM or_predicate_ranges WHERE subject = ?1 AND low = ?4 AND high >= ?3
                UNION ALL SELECT or_predicate FROM or_predicate_ranges
                WHERE subject = ?1 AND low > ?4 AND low <= ?2 AND high >= ?3""",
                subject, low, high, LOWEST,
            )  # fmt: skip
            or_predicates.update(dict.fromkeys(rows))
        return list(or_predicates)

    def _implying(self, scope: _Scope, required: PredSet) -> list[str]:
        """The PredSets that say enough of some expression of every wanted ORPred, and those nothing satisfies."""
        stating = [self._stating([*admitted_ranges(predicate), IMPOSSIBLE]) for predicate in required]
        used = f"SELECT DISTINCT {scope.predicates} FROM {scope.table} WHERE {scope.where}"
        candidates = json.dumps([*set.intersection(*stating)])
        return self.database.column(f"{used} AND {scope.predicates} IN {_LIST}", *scope.roots, candidates)

    def _stating(self, ranges: list[Range]) -> set[str]:
        """The PredSets that say of some expression that it is within a range."""
        return {
            id_
            for subject, low, high in ranges
            for id_ in self.database.column(
                "SELECT predicate_set FROM predicate_set_ranges WHERE subject = ? AND low >= ? AND high <= ?",
                subject,
                low,
                high,
            )
        }

    def _nodes(self, scope: _Scope, ids: Sequence[str] | None = None) -> list[NodeId]:
        """The nodes of a scope, all or those with one of some PredSets."""
        select = f"SELECT node FROM {scope.table} WHERE {scope.where}"
        if ids is None:
            return self._ordered(select, *scope.roots)
        if not ids:
            return []
        return self._ordered(f"{select} AND {scope.predicates} IN {_LIST}", *scope.roots, json.dumps(ids))

    def _ordered(self, select: str, *values: object) -> list[NodeId]:
        return self.database.column(f"SELECT id FROM nodes WHERE id IN ({select}) ORDER BY position", *values)


def _joins(left_root: NodeId, right_root: NodeId) -> _Scope:
    return _Scope("join_topology", "jvoa_predicates", "jvoa_left = ? AND jvoa_right = ?", (left_root, right_root))


def _selections(root: NodeId) -> _Scope:
    return _Scope("selection_topology", "svoa_predicates", "svoa = ?", (root,))
