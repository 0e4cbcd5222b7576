"""Which nodes serve a query, by which rule, and what was considered and rejected: data that ``explain`` shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from workbench.catalog.codec import CONVERTER
from workbench.network.nodes import NodeId

_NAMED = 20
"""Queries that share a node that are named in the catalog; all would be the square of their number."""

NEAR_MISS = "near miss"
"""The mark of a candidate, in place of a rule, when it could not have served."""


class Rule(StrEnum):
    """How a node of the network serves a query, or why a new one was created."""

    EQUAL = "equal computation"
    SUBSUMES = "subsumes, with a residual test"
    WEAKER = "weaker: the join now tests just this, and its old readers the rest"
    COVER = "restructured: one join with a common cover"
    DIMENSIONS = "superset of dimensions"
    STATISTICS = "same groups, statistics added"
    BRANCHES = "subset of branches"
    NEW = "new"


@dataclass(frozen=True)
class Candidate:
    """A node that could have served.

    Attributes:
        node: its id.
        rule: by which rule (``Rule``).
        cost: estimated rows that remain to be tested, ``None`` where it is unfit.
        chosen: whether it was taken.
        reason: why not.
        name: what it does and for whom; empty until the registration is explained.
    """

    node: NodeId
    rule: str
    cost: float | None
    chosen: bool
    reason: str
    name: str = ""


@dataclass(frozen=True)
class Decision:
    """The sharing decision for one node of a query.

    Attributes:
        node: its id.
        operator: what it computes, as SQL.
        created: whether it was created for this query.
        rule: by which rule it serves (``Rule``).
        shared_with: queries that already used it.
        reason: what remains to be tested, or what was changed for it.
        candidates: what else was considered in its place, the chosen one included.
        name: what it does, in a few words.
        constant: whether it makes rows of constants for another node, as the places of arrays are.
    """

    node: NodeId
    operator: str
    created: bool
    rule: str
    shared_with: tuple[str, ...]
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()
    name: str = ""
    constant: bool = False


@dataclass(frozen=True)
class Explanation:
    """The decisions of one registration, in the order in which the nodes are computed.

    ``notes``: what was inferred, what was changed for other queries, and near misses: what looks as if it could be
    shared, and why it cannot.
    """

    query: str
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """The decisions as plain data, as the catalog keeps them; the last row has the notes.

        Of many queries that share a node the first are named.
        """
        named = (replace(decision, shared_with=decision.shared_with[:_NAMED]) for decision in self.decisions)
        return [*map(CONVERTER.unstructure, named), {"notes": list(self.notes)}]

    @staticmethod
    def from_rows(query: str, rows: Iterable[Mapping[str, Any]]) -> Explanation:
        """The inverse of ``rows``.

        Raises:
            Exception: it is not what ``rows`` gives.
        """
        *decisions, last = rows
        known = tuple(CONVERTER.structure(decision, Decision) for decision in decisions)
        return Explanation(query, known, tuple(map(str, last["notes"])))


@dataclass(frozen=True)
class Choice:
    """How a node came to serve the query that is registered: see the fields of ``Decision``."""

    rule: Rule
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()


@dataclass
class Record:
    """The decisions of one registration, by node; a node that is not in it is an equal computation or new."""

    choices: dict[NodeId, Choice] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, node: NodeId, rule: Rule, reason: str = "", candidates: Iterable[Candidate] = ()) -> None:
        """Record how a node came to serve; a later choice for the same node adds its candidates."""
        before = self.choices.get(node, Choice(rule, reason))
        if rule in (Rule.EQUAL, Rule.NEW):
            rule, reason = before.rule, before.reason or reason
        self.choices[node] = Choice(rule, reason, (*before.candidates, *candidates))

    def note(self, text: str) -> None:
        """Record something worth knowing, once."""
        if text not in self.notes:
            self.notes.append(text)
