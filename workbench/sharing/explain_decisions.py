"""The explanation of a registration: for each node of the query whether it is shared, with whom, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.network.network import ancestors, constant_nodes, streams_of_work, working_nodes
from workbench.network.nodes import Aggregate, NodeId, Selection, SetOperation
from workbench.network.sql_text import or_pred_sql
from workbench.network.wording import Wording
from workbench.sharing.aggregates import missed_roll_ups
from workbench.sharing.decisions import NEAR_MISS, Candidate, Choice, Decision, Explanation, Rule
from workbench.sharing.draft import Draft
from workbench.sql.algebra.expressions import Column
from workbench.sql.predicates.cnf import ORPred, predicate_columns

_COMPARED = 200
"""The latest selections of the network that a new one is compared with; hundreds may read one stream."""
NEAREST = 2
"""Near misses that are told of a new selection."""
CHAIN = 20
"""Old selections of one local tree that are explained; hundreds may hang one below the other."""


def explain_decisions(draft: Draft, name: str) -> Explanation:
    """The nodes that serve a query that was just registered, explained; the catalog keeps it."""
    needed = ancestors(draft.nodes, draft.queries[name].nodes)
    wording = Wording({**draft.before.nodes, **draft.nodes}, draft.views)
    read = draft.queries[name].nodes
    work = working_nodes(draft.nodes, read)
    shown = work.union(read, streams_of_work(draft.nodes, work))
    decisions = tuple(
        replace(_decision(draft, id_, wording), constant=id_ not in shown)
        for id_ in _without_long_chains(draft, needed)
    )
    notes = tuple(map(wording.sentence, (*draft.record.notes, *_combined(draft, name, needed), *_reconnections(draft))))
    explanation = Explanation(name, decisions, notes)
    draft.catalog.put_decisions(name, explanation.rows())
    return explanation


def _decision(draft: Draft, id_: NodeId, wording: Wording) -> Decision:
    node, created = draft.nodes[id_], id_ not in draft.before.nodes
    choice = draft.record.choices.get(id_, Choice(Rule.NEW if created else Rule.EQUAL))
    rule, reason = choice.rule, choice.reason
    if isinstance(node, Aggregate) and node.finer is not None:
        rule, reason = Rule.DIMENSIONS, f"computed from the finer groups of {node.parents[0]}"
    if isinstance(node, SetOperation) and node.base is not None:
        rule, reason = Rule.BRANCHES, f"computed from {node.base}, which has some of the branches"
    shared_with = draft.before.served.get(id_, ())
    sql, reason = wording.sql(id_), wording.sentence(reason)
    missed: Iterable[Candidate] = ()
    if created and isinstance(node, Selection):
        missed = near_selections(draft, node, wording)
    elif created and isinstance(node, Aggregate) and node.finer is None:
        missed = missed_roll_ups(draft, node)
    candidates = tuple(_named(draft, candidate, wording) for candidate in (*choice.candidates, *missed))
    return Decision(id_, sql, created, str(rule), shared_with, reason, candidates, wording.name(id_))


def near_selections(draft: Draft, new: Selection, wording: Wording) -> Iterator[Candidate]:
    """Selections of the same rows that a new one would be with one other condition, or one more.

    A condition is another in place of one that reads the same columns: with ``amount > 500`` instead of
    ``amount > 400`` the node would be shared.
    """
    read, wanted = new.read.root, set(new.read.required)
    found: list[tuple[NodeId, ORPred, ORPred | None]] = []
    for id_ in reversed(draft.catalog.selections_of(read)[-_COMPARED:]):
        old = draft.before.nodes.get(id_)
        theirs = set(old.read.required) if isinstance(old, Selection) else wanted
        lacking, mine = theirs - wanted, wanted - theirs
        if len(lacking) == 1 and len(mine) <= 1 and (not mine or _columns(mine) == _columns(lacking)):
            found.append((id_, lacking.pop(), mine.pop() if mine else None))
    # Those that most queries read are the ones worth another condition; of equal ones the latest.
    found.sort(key=lambda each: -len(draft.before.served.get(each[0], ())))
    names = wording.columns(read)
    for id_, other, own in found[:NEAREST]:
        instead = f" instead of {or_pred_sql(own, names)}" if own is not None else " too"
        reason = f"with {or_pred_sql(other, names)}{instead} this would be the same node"
        yield Candidate(id_, NEAR_MISS, None, False, reason)


def _columns(predicates: Iterable[ORPred]) -> frozenset[Column]:
    return frozenset(column for predicate in predicates for column in predicate_columns(predicate))


def _named(draft: Draft, candidate: Candidate, wording: Wording) -> Candidate:
    """A candidate whose ids are replaced by operations and queries."""
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


def _combined(draft: Draft, name: str, needed: Iterable[NodeId]) -> Iterator[str]:
    """Which conditions a query and its aggregates combine that others combine otherwise."""
    groups = (node for node in map(draft.nodes.__getitem__, needed) if isinstance(node, Aggregate))
    read = {"the answer is": draft.queries[name].nodes}
    read |= {f"{node.id} groups": node.parents for node in groups if node.id not in draft.before.nodes}
    for what, nodes in read.items():
        if len(nodes) > 1:
            yield f"combined: {what} what {' and '.join(nodes)} have in common; other queries combine these otherwise"


def _reconnections(draft: Draft) -> Iterator[str]:
    """Which old nodes are computed from other parents for the sake of the registration."""
    known = [id_ for id_ in draft.reconnected if id_ in draft.before.nodes and id_ in draft.nodes]
    constant = constant_nodes(draft.nodes, ancestors(draft.nodes, known))
    for id_ in known:
        if id_ not in constant:
            old, new = draft.before.nodes[id_].parents, draft.nodes[id_].parents
            if old != new:
                yield f"rerouted: {id_} is now computed from {_listed(new)} instead of {_listed(old)}"


def _listed(parents: tuple[NodeId, ...]) -> str:
    """The first parents of a node, each once; a set operator may have a hundred."""
    first, rest = tuple(dict.fromkeys(parents))[:3], len(set(parents)) - 3
    return ", ".join(first) + (f" and {rest} more" if rest > 0 else "")
