"""The planner: adds queries to the shared network one at a time, and takes them out again (T6, T7, T9).

It plans without Spark. The catalog is what it searches and where every change is written; a transaction around a
registration makes it all or nothing. What happens in which order is in ``pipeline``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from workbench.catalog.catalog import Catalog, QueryText
from workbench.network.network import Network
from workbench.network.nodes import NodeId, Source
from workbench.network.projection import carried_columns
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.network_cost import batch_cost
from workbench.optimizer.observed import NOTHING, Observed
from workbench.optimizer.statistics import Evaluate, StreamStatistics
from workbench.options import Options
from workbench.sharing.decisions import Explanation
from workbench.sharing.draft import Draft
from workbench.sharing.explain_decisions import explain_decisions
from workbench.sharing.late_semijoins import with_late_semijoins
from workbench.sharing.magic_sets import with_magic_sets
from workbench.sharing.pipeline import drop_queries, register_query
from workbench.sql.algebra.planning_cache import active_planning_cache
from workbench.sql.constraints import StreamConstraints
from workbench.sql.logical import LogicalQuery, listing, streams_of


@dataclass(frozen=True)
class Planned:
    """A network with a query added, and the decisions that led to it."""

    network: Network
    explanation: Explanation


class _Form(NamedTuple):
    """A query in one of several forms, and what this form does otherwise than the text."""

    query: LogicalQuery
    notes: tuple[str, ...]


_FORMS: tuple[tuple[Callable[[LogicalQuery], LogicalQuery], str, int], ...] = (
    (with_late_semijoins, "partners are looked for after the joins, which leave fewer rows", 0),
    (with_magic_sets, "groups are computed of the keys alone that are joined with them (magic sets)", 100_000),
)
"""Changes of form, what they do, and the rows of a stream below which they save less than to compare forms takes."""


@dataclass
class Planner:
    """Plans a session's network.

    Args:
        options: which means of sharing and optimization are on.
        catalog: what is planned so far; a new one in memory unless given. Its ``transaction`` makes several changes all
            or nothing, its ``rehearsal`` undoes them.
        streams: what is known of the data of each stream, by name in lower case.
        observed: what batches have shown of the network.
        constraints: those of each stream's rows that hold; plans rely on them.
        views: what the columns of views are called in explanations.
        evaluate: gives the computed values of a stream's sample, by which they are counted.
        explains: whether it says what it decided.

    Example:
        >>> planner = Planner()
        >>> planned = planner.register(Network(), "big", query)  # doctest: +SKIP
        >>> print(planned.explanation)  # doctest: +SKIP
    """

    options: Options = field(default_factory=Options)
    catalog: Catalog = field(default_factory=Catalog)
    streams: Mapping[str, StreamStatistics] = field(default_factory=dict)
    observed: Observed = NOTHING
    constraints: StreamConstraints = field(default_factory=dict)
    views: ViewNames = UNNAMED
    evaluate: Evaluate | None = None
    explains: bool = True
    _estimated: Estimates | None = field(default=None, repr=False)

    @property
    def estimates(self) -> Estimates:
        """Estimates of rows, from the statistics of streams and the observations of batches."""
        known = self._estimated
        if known is None or known.streams is not self.streams or known.observed is not self.observed:
            self._estimated = known = Estimates(self.streams, observed=self.observed, evaluate=self.evaluate)
        return known

    def know(
        self,
        streams: Mapping[str, StreamStatistics],
        observed: Observed,
        constraints: StreamConstraints = MappingProxyType({}),
    ) -> None:
        """Use these statistics, observations and constraints in planning from now on."""
        self.streams, self.observed, self.constraints = streams, observed, constraints

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
        """Add a query to the network.

        Args:
            network: the present one, as the catalog has it.
            name: of the query; it must be new.
            query: bound, not yet planned.
            sql, dialect: its text, which the catalog keeps.
            eager: whether a window at the top of the query becomes a node too, which keeps the answer as it
                is now (PSoup-C); otherwise it is applied when the answer is read (PSoup-P).
        """
        meaning = listing(query) if self.explains else ""
        placed, notes = self._cheapest(network, name, query, eager)
        with self.catalog.transaction():
            draft = self._draft(network, name)
            for note in notes:
                draft.record.note(note)
            register_query(draft, name, placed, QueryText(sql, dialect, meaning), eager)
            # After all of it: explained is what came out, which a pass may have changed after it was decided.
            explanation = explain_decisions(draft, name) if self.explains else Explanation(name, ())
        return Planned(draft.frozen(), explanation)

    def _cheapest(self, network: Network, name: str, query: LogicalQuery, eager: bool) -> _Form:
        """The form of a query whose additional cost in the network is least, and its difference from the text."""
        forms = [_Form(query, ())]
        known = (self.streams.get(stream.lower()) for stream in streams_of(query))
        most = max((statistics.rows for statistics in known if statistics), default=0)
        for change, note in (form[:2] for form in _FORMS if most >= form[2]):
            forms += [_Form(form, (*notes, note)) for of, notes in forms if (form := change(of)) != of]
        if len(forms) == 1:
            return forms[0]

        def cost(form: _Form) -> float:
            with self.catalog.rehearsal():
                draft = self._draft(network, name)
                register_query(draft, name, form.query, QueryText("", "", ""), eager)
                return batch_cost(self.estimates, draft.frozen())

        return min(forms, key=cost)

    def drop(self, network: Network, names: Iterable[str]) -> Network:
        """Take queries out, and with them exactly the nodes that no other query needs (T11.1.2).

        Names that are not in the network are passed over: those of queries that were disabled.
        """
        gone = [name for name in names if name in network.queries]
        if not gone:
            return network
        left = self.without(network, gone)
        active_planning_cache().count_dropped(len(gone), len(left.queries))
        return left

    def without(self, network: Network, names: Iterable[str]) -> Network:
        """The network without some queries that may be registered again: their results stay in the planning cache."""
        with self.catalog.transaction():
            draft = self._draft(network)
            drop_queries(draft, names)
            return draft.frozen()

    def with_present_constraints(self, network: Network) -> Network:
        """The network whose sources have the constraints that hold by now."""
        with self.catalog.transaction():
            draft = self._draft(network)
            for node in network.nodes.values():
                if isinstance(node, Source):
                    draft.put(replace(node, constraints=self.constraints.get(node.stream, ())))
            return draft.frozen()

    def _draft(self, network: Network, owner: str = "") -> Draft:
        return Draft.of(network, self.catalog, self.options, self.estimates, owner, self.constraints, self.views)
