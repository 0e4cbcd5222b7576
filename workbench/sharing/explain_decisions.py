"""The explanation of a registration: for each node of the query whether it is shared, with whom, and by which rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.network.network import ancestors
from workbench.network.nodes import Aggregate, NodeId, Selection, SetOperation
from workbench.network.wording import Wording
from workbench.sharing.decisions import Candidate, Choice, Decision, Explanation, Rule
from workbench.sharing.draft import Draft

CHAIN = 20
"""So many old selections of one local tree are explained; hundreds may hang one below the other."""


def explain_decisions(draft: Draft, name: str) -> Explanation:
    """What serves a query that was just registered; it is kept in the catalog."""
    needed = ancestors(draft.nodes, draft.queries[name].nodes)
    wording = Wording({**draft.before.nodes, **draft.nodes})
    decisions = tuple(_decision(draft, id_, wording) for id_ in _without_long_chains(draft, needed))
    notes = tuple(map(wording.sentence, (*draft.record.notes, *_reconnections(draft))))
    explanation = Explanation(name, decisions, notes)
    draft.catalog.put_decisions(name, explanation.rows())
    return explanation


def _decision(draft: Draft, id_: NodeId, wording: Wording) -> Decision:
    node, created = draft.nodes[id_], id_ not in draft.before.nodes
    choice = draft.record.choices.get(id_, Choice(Rule.NEW if created else Rule.EQUAL))
    rule, reason = choice.rule, choice.reason
    if isinstance(node, Aggregate) and node.finer is not None:
        rule, reason = Rule.DIMENSIONS, f"computed from the finer groups of {node.parent}"
    if isinstance(node, SetOperation) and node.base is not None:
        rule, reason = Rule.BRANCHES, f"computed from {node.base}, which has some of the branches"
    shared_with = draft.before.served.get(id_, ())
    sql, reason = wording.sql(id_), wording.sentence(reason)
    candidates = tuple(_named(draft, candidate, wording) for candidate in choice.candidates)
    return Decision(id_, sql, created, str(rule), shared_with, reason, candidates, wording.name(id_))


def _named(draft: Draft, candidate: Candidate, wording: Wording) -> Candidate:
    """A candidate with what it does and for whom in the place of ids."""
    first, *others = draft.before.served.get(candidate.node, ()) or ("",)
    of = f" of {first}{f' and {len(others)} more' if others else ''}" if first else ""
    return replace(candidate, name=wording.name(candidate.node) + of, reason=wording.sentence(candidate.reason))


def _without_long_chains(draft: Draft, needed: list[NodeId]) -> list[NodeId]:
    """The nodes without the first of a long chain of old selections; the query reads the last of it."""
    chains: dict[NodeId, list[NodeId]] = {}
    for id_ in needed:
        node = draft.nodes[id_]
        if isinstance(node, Selection) and id_ in draft.before.nodes and id_ not in draft.record.choices:
            chains.setdefault(node.read.root, []).append(id_)
    left_out = {id_ for chain in chains.values() for id_ in chain[:-CHAIN]}
    return [id_ for id_ in needed if id_ not in left_out]


def _reconnections(draft: Draft) -> Iterator[str]:
    """Which old nodes are computed from other parents for the sake of the registration."""
    for id_ in draft.reconnected:
        if id_ in draft.before.nodes and id_ in draft.nodes:
            old, new = draft.before.nodes[id_].parents, draft.nodes[id_].parents
            if old != new:
                yield f"rerouted: {id_} is now computed from {_listed(new)} instead of {_listed(old)}"


def _listed(parents: tuple[NodeId, ...]) -> str:
    """The first parents of a node, each once; a set operator may have a hundred."""
    first, rest = tuple(dict.fromkeys(parents))[:3], len(set(parents)) - 3
    return ", ".join(first) + (f" and {rest} more" if rest > 0 else "")
