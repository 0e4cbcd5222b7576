"""How the sharing decisions of a query read: the same content as text, for a terminal or a diff, and as HTML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape

from workbench.explain.node_view import SYMBOLS
from workbench.explain.text import counted, listed, monospace
from workbench.sharing.decisions import NEAR_MISS, Candidate, Decision, Explanation, Rule

RULE_TEXTS: Mapping[str, str] = {
    Rule.EQUAL: "the same computation",
    Rule.SUBSUMES: "all rows wanted are among its rows",
    Rule.WEAKER: "it now tests less, as this query does; its other readers test the rest below it",
    Rule.COVER: "it now tests only what all its readers have in common; each tests the rest below it",
    Rule.DIMENSIONS: "its groups are unions of finer groups",
    Rule.STATISTICS: "the same groups; it now computes more statistics",
    Rule.BRANCHES: "some of its branches are already put together",
    Rule.NEW: "",
}
"""Rules as an analyst reads them; that a node is new is said already."""

_KINDS = {"F": "source", "S": "selection", "J": "join", "G": "aggregate", "W": "window", "A": "analytic"}
"""The kind of a node by the first letter of its id."""
_SET_OPERATOR = re.compile(r" FROM (?:\w+|`[^`]*`|«[^»]*») (UNION|INTERSECT|EXCEPT|SEMIJOIN|ANTIJOIN)\b")


class ExplanationView(Explanation):
    """An ``Explanation`` that an analyst can print, and a notebook displays as a table."""

    @staticmethod
    def of(explanation: Explanation) -> ExplanationView:
        """The same decisions, to be shown; of rows of constants there is nothing to share."""
        decisions = tuple(decision for decision in explanation.decisions if not decision.constant)
        return ExplanationView(explanation.query, decisions, explanation.notes)

    def among(self, queries: Container[str]) -> ExplanationView:
        """The same, with no query that others than these were: what was dropped shares nothing any more."""
        decisions = (
            replace(decision, shared_with=tuple(name for name in decision.shared_with if name in queries))
            for decision in self.decisions
        )
        return replace(self, decisions=tuple(decisions))

    def __str__(self) -> str:
        """First what is shared, then every node with what was considered for it, then the notes."""
        lines = [headline(self)]
        for decision in self.decisions:
            shared = f"with {listed(decision.shared_with)}" if is_shared(decision) and decision.shared_with else ""
            reasons = "; ".join(filter(None, [why(decision), shared]))
            lines.append(
                f"  {_sign(decision)}  {status(decision):6}  {decision.operator}"
                + (f"  ({reasons})" if reasons else "")
            )
            lines += [f"      {detail}" for detail in _details(decision)]
        return "\n".join([*lines, *(f"  · {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        titles = ("", "", "computes", "why", "shared with")
        head = "".join(f'<th style="text-align:left">{title}</th>' for title in titles)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f'{monospace(headline(self))}<div style="overflow-x:auto"><table class="dataframe"><tr>{head}</tr>'
            f"{''.join(map(_html_row, self.decisions))}</table></div>" + (f"<ul>{notes}</ul>" if notes else "")
        )


def rule_text(rule: str) -> str:
    """A rule in words; one that is not known, as of an older version, as it is."""
    return RULE_TEXTS.get(rule, rule)


def node_title(node: Decision | Candidate) -> str:
    """A node in words; an explanation of an older version has its id alone."""
    return node.name or node.node


def is_source(decision: Decision) -> bool:
    """Whether the node is a stream: its readers share no work by that."""
    return decision.node.startswith("F")


def is_shared(decision: Decision) -> bool:
    """Whether the node is work that was done already for other queries."""
    return not decision.created and not is_source(decision)


def status(decision: Decision) -> str:
    """The role of the node for the query, in a word."""
    if is_source(decision):
        return "stream"
    return "new" if decision.created else "shared"


def why(decision: Decision) -> str:
    """The rule by which a node serves, in words; a stream needs none."""
    return "" if is_source(decision) else rule_text(decision.rule)


def headline(explanation: Explanation) -> str:
    """How much of the work of a query is shared, in one line; streams are no work."""
    work = [decision for decision in explanation.decisions if not is_source(decision)]
    if explanation.decisions and not work:
        return f"{explanation.query}: reads its stream as it is, with no node of its own"
    owners = dict.fromkeys(name for decision in work if is_shared(decision) for name in decision.shared_with)
    shared = sum(map(is_shared, work))
    new = len(work) - shared
    if not shared:
        return f"{explanation.query}: nothing shared, {counted(new, 'node')} new"
    how_many = f"{shared} of {counted(shared + new, 'node')}" if new else f"all {counted(shared, 'node')}"
    others = f" with {listed(tuple(owners))}" if owners else ""
    return f"{explanation.query}: {how_many} shared{others}" + (f", {new} new" if new else "")


def sign(node: str, sql: str) -> str:
    """The sign of relational algebra for a node, by its id and its SQL; ``?`` for an unknown kind.

    Example:
        >>> sign("S13d0943d", "SELECT * FROM F8a9fe7da WHERE amount > 500"), sign("G1", "SELECT DISTINCT city FROM F1")
        ('σ', 'δ')
    """
    kind = _KINDS.get(node[:1])
    if kind == "aggregate" and sql.startswith("SELECT DISTINCT "):
        kind = "distinct"
    if kind is None and (operator := _SET_OPERATOR.search(sql)):
        kind = operator[1].lower()
    return SYMBOLS.get(kind or "", "?")


def _sign(decision: Decision) -> str:
    return sign(decision.node, decision.operator)


def _details(decision: Decision) -> Iterable[str]:
    """What remains to be tested, which candidates lost and why, and near misses; each once."""

    def details() -> Iterator[str]:
        if decision.reason:
            yield decision.reason + _rows_to_test(c for c in decision.candidates if c.chosen)
        for candidate in decision.candidates:
            if candidate.rule == NEAR_MISS:
                yield f"{NEAR_MISS}: {_phrase(candidate)}: {candidate.reason}"
            elif not candidate.chosen:
                considered = rule_text(candidate.rule) + _rows_to_test([candidate])
                yield f"not {_phrase(candidate)} ({considered}): {candidate.reason}"

    return dict.fromkeys(details())


def _phrase(candidate: Candidate) -> str:
    return f"the {candidate.name}" if candidate.name else candidate.node


def _rows_to_test(candidates: Iterable[Candidate]) -> str:
    """How many rows have to be tested, where some have."""
    rows = sum(candidate.cost or 0 for candidate in candidates)
    return f", on about {rows:,.0f} rows" if rows >= 1 else ""


def _html_row(decision: Decision) -> str:
    reasons = "".join(f"<div>{escape(part)}</div>" for part in (why(decision), *_details(decision)) if part)
    shared_with = listed(decision.shared_with) if is_shared(decision) else ""
    wrapped = (escape(decision.operator), reasons, escape(shared_with))  # in the panel, too, whose cells do not wrap
    cells = (_sign(decision), status(decision), *(f'<div style="white-space:normal">{c}</div>' for c in wrapped))
    return '<tr style="vertical-align:top">' + "".join(f'<td style="text-align:left">{c}</td>' for c in cells) + "</tr>"
