"""The planner: folds queries into the shared network one at a time, and takes them out again (T6, T7, T9).

It plans without Spark. The catalog is what it searches and where every change is written; a transaction around a
registration makes it all or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from workbench.catalog.catalog import Catalog, QueryText
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, NodeId, Selection, SetOperation
from workbench.network.projection import carried_columns
from workbench.network.reads import reads
from workbench.network.sql_text import node_sql
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.statistics import StreamStatistics
from workbench.options import Options
from workbench.sharing.decisions import Decision, Explanation, Record, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.fold import Fold
from workbench.sharing.place_selections import arrange, narrow
from workbench.sql.logical import LogicalQuery
from workbench.sql.predicates.cnf import TRUE

CHAIN = 20
"""So many old selections of one local tree are explained; hundreds may hang one below the other."""


@dataclass(frozen=True)
class Planned:
    """A network with a query in it, and how that came about."""

    network: Network
    explanation: Explanation


@dataclass
class Planner:
    """Plans a session's network.

    Args:
        options: which means of sharing and optimization are on.
        catalog: what is planned so far; a new one in memory unless given.
        streams: what is known of the data of each stream, by name in lower case.

    Example:
        >>> planner = Planner()
        >>> planned = planner.register(Network(), "big", query)  # doctest: +SKIP
        >>> print(planned.explanation)  # doctest: +SKIP
    """

    options: Options = field(default_factory=Options)
    catalog: Catalog = field(default_factory=Catalog)
    streams: Mapping[str, StreamStatistics] = field(default_factory=dict)
    _estimated: Estimates | None = field(default=None, repr=False)

    def _estimates(self) -> Estimates:
        if self._estimated is None or self._estimated.streams is not self.streams:
            self._estimated = Estimates(self.streams)
        return self._estimated

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Several changes that happen together or, when one fails, not at all."""
        with self.catalog.transaction():
            yield

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Changes that are planned, looked at, and undone."""
        with self.catalog.rehearsal():
            yield

    def refresh(self, network: Network) -> None:
        """Bring what the catalog derives from the whole network up to date: column maps (T8.1) and who is served."""
        with self.catalog.transaction():
            self.catalog.refresh_columns(network, carried_columns(network))
            of_query: dict[str, list[NodeId]] = {name: [] for name in network.queries}
            for id_, names in network.served.items():
                for name in names:
                    of_query[name].append(id_)
            for name, ids in of_query.items():
                self.catalog.set_serves(name, ids)

    def register(
        self, network: Network, name: str, query: LogicalQuery, sql: str = "", dialect: str = "", eager: bool = False
    ) -> Planned:
        """Fold a query into the network.

        Args:
            network: what the catalog holds.
            name: of the query; it must be new.
            query: what it asks.
            sql: its text, for the catalog.
            dialect: of the text.
            eager: whether a window that is the last thing of the query becomes a node too, which keeps the answer as it
                is now (PSoup-C); otherwise it is imposed on the rows when the answer is read (PSoup-P).
        """
        with self.catalog.transaction():
            draft = Draft.of(network, self.catalog, self.options, self._estimates())
            record = Record()
            fold = Fold(draft, name, record)
            folded = fold.query(query)
            read, window = folded.read, folded.window
            if eager or not draft.monotone(read.root):
                read, window = fold.windowed(read, window), TRUE
            plan = QueryPlan(name, read, folded.outputs, (), window)
            draft.queries[name] = plan
            self.catalog.put_query(plan, QueryText(sql, dialect, str(query)))
            draft.touch(read.root)
            draft.remove_abandoned()
            arrange(draft)
            needed = _needed(draft, name)
            explanation = _explained(network, draft, name, needed, record)
            self.catalog.put_decisions(name, explanation.rows())
        return Planned(draft.frozen(), explanation)

    def drop(self, network: Network, names: Iterable[str]) -> Network:
        """Take queries out, and with them exactly the nodes nobody else needs (T11.1.2).

        Names that are not in the network are passed over: those of queries that were disabled.
        """
        gone = [name for name in names if name in network.queries]
        if not gone:
            return network
        with self.catalog.transaction():
            draft = Draft.of(network, self.catalog, self.options, self._estimates())
            for name in gone:
                draft.touch(draft.queries.pop(name).read.root)
                self.catalog.remove_query(name)
            _release(draft)
            narrow(draft)
            arrange(draft)
            return draft.frozen()


def _needed(draft: Draft, name: str) -> list[NodeId]:
    """The nodes that work for a query, in the order of evaluation."""
    # Not recursive: selections that tighten one bound after another hang in chains as long as there are queries.
    needed: dict[NodeId, None] = {}
    waiting = list(reversed(draft.queries[name].nodes))
    while waiting:
        missing = [p for p in draft.nodes[waiting[-1]].parents if p not in needed]
        if missing:
            waiting.extend(reversed(missing))
        else:
            needed[waiting.pop()] = None
    return list(needed)


def _explained(before: Network, draft: Draft, name: str, needed: list[NodeId], record: Record) -> Explanation:
    made = []
    for id_ in _told_of(before, draft, needed, record):
        created = id_ not in before.nodes
        rule, reason, candidates = record.chosen.get(id_, (Rule.NEW if created else Rule.EQUAL, "", ()))
        node = draft.nodes[id_]
        if isinstance(node, Aggregate) and node.finer is not None:
            rule, reason = Rule.DIMENSIONS, f"computed from the finer groups of {node.parent}"
        if isinstance(node, SetOperation) and node.base is not None:
            rule, reason = Rule.BRANCHES, f"computed from {node.base}, which has some of the branches"
        shared_with = before.served.get(id_, ())
        made.append(Decision(id_, node_sql(node), created, str(rule), shared_with, reason, tuple(candidates)))
    return Explanation(name, tuple(made), (*record.notes, *_rerouted(before, draft)))


def _told_of(before: Network, draft: Draft, needed: list[NodeId], record: Record) -> list[NodeId]:
    """The nodes an explanation speaks of: of a long chain of old selections the last, which the query reads."""
    passed_by = [id_ for id_ in needed if isinstance(draft.nodes[id_], Selection) and id_ in before.nodes]
    trees: dict[NodeId, list[NodeId]] = {}
    for id_ in passed_by:
        if id_ not in record.chosen:
            trees.setdefault(_root(draft, id_), []).append(id_)
    left_out = {id_ for chain in trees.values() for id_ in chain[:-CHAIN]}
    return [id_ for id_ in needed if id_ not in left_out]


def _rerouted(before: Network, draft: Draft) -> Iterator[str]:
    """What was connected anew for the sake of a registration."""
    for id_ in draft.moved:
        if id_ in before.nodes and id_ in draft.nodes:
            old, new = before.nodes[id_].parents, draft.nodes[id_].parents
            if old != new:
                yield f"rerouted: {id_} is now computed from {', '.join(new)} instead of {', '.join(old)}"


def _release(draft: Draft) -> None:
    """Remove the roots no query needs, in their very original form, and remember what they read."""
    needed: set[NodeId] = set()
    waiting = [plan.read.root for plan in draft.queries.values()]
    while waiting:
        root = waiting.pop()
        if root not in needed:
            needed.add(root)
            waiting.extend(read.root for read in reads(draft.nodes[root]))
    dead = [id_ for id_, node in draft.nodes.items() if _root(draft, id_) not in needed]
    lost = {id_ for id_ in dead if not isinstance(draft.nodes[id_], Selection)}
    for id_ in dead:
        draft.touch(*(read.root for read in reads(draft.nodes[id_]) if read.root in needed))
    for id_ in reversed(dead):
        draft.remove(id_)
    # What was computed from an aggregate or set operator that is gone must be computed from something else.
    draft.touch(*(id_ for id_, node in draft.nodes.items() if lost.intersection(node.parents)))


def _root(draft: Draft, id_: NodeId) -> NodeId:
    node = draft.nodes[id_]
    return node.read.root if isinstance(node, Selection) else id_
