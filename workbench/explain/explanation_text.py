"""How an explanation reads: the same content as text, for a terminal or a diff, and as an HTML table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from workbench.explain.captions import SYMBOLS
from workbench.explain.monospace import monospace
from workbench.sharing.rules import IN_WORDS, NEAR_MISS

if TYPE_CHECKING:
    from workbench.sharing.decisions import Candidate, Decision, Explanation

NAMES = 5
"""Query names listed before *and N more*."""

_KINDS = {"F": "source", "S": "selection", "J": "join", "G": "aggregate", "W": "window"}
"""The kind of a node by the first letter of its id."""
_SET_OPERATOR = re.compile(r" FROM \w+ (UNION|INTERSECT|EXCEPT)\b")
_COLUMNS = ("", "node", "", "computes", "why", "shared with")


def as_text(explanation: Explanation) -> str:
    """First what is shared, then every node with what was considered for it, then the notes."""
    rows = [_row(decision) for decision in explanation.decisions]
    width = max((len(row.node) for row in rows), default=0)
    lines = [headline(explanation)]
    for row in rows:
        told = "; ".join(filter(None, [row.why, f"with {row.whom}" if row.whom else ""]))
        lines.append(f"  {row.sign} {row.node:{width}}  {row.status:6}  {row.sql}" + (f"  ({told})" if told else ""))
        lines += [f"      {detail}" for detail in row.details]
    return "\n".join([*lines, *(f"  · {note}" for note in explanation.notes)])


def as_html(explanation: Explanation) -> str:
    """The same as a table, everything escaped."""
    head = "".join(f'<th style="text-align:left">{escape(column)}</th>' for column in _COLUMNS)
    rows = "".join(_html_row(_row(decision)) for decision in explanation.decisions)
    notes = "".join(f"<li>{escape(note)}</li>" for note in explanation.notes)
    return (
        monospace(headline(explanation))
        + f'<div style="overflow-x:auto"><table class="dataframe"><tr>{head}</tr>{rows}</table></div>'
        + (f"<ul>{notes}</ul>" if notes else "")
    )


def headline(explanation: Explanation) -> str:
    """What a query shares, in one line."""
    decisions = explanation.decisions
    whom = dict.fromkeys(name for decision in decisions for name in decision.shared_with)
    shared, new = (sum(decision.created is created for decision in decisions) for created in (False, True))
    told = f"{_nodes(new)} new"
    if shared:
        how_many = f"all {_nodes(shared)}" if not new else f"{shared} of {_nodes(shared + new)}"
        told = f"{how_many} shared" + (f" with {names(tuple(whom))}" if whom else "") + (f", {new} new" if new else "")
    return f"{explanation.query}: {told if shared else 'nothing shared, ' + told}"


def names(whom: Sequence[str]) -> str:
    """The names of some queries, not too many.

    Example:
        >>> names(["a", "b", "c", "d", "e", "f", "g"])
        'a, b, c, d, e and 2 more'
    """
    more = len(whom) - NAMES
    return ", ".join(whom[:NAMES]) + (f" and {more} more" if more > 0 else "")


def sign(node: str, sql: str) -> str:
    """The sign of relational algebra for a node, by its id and its SQL.

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


@dataclass(frozen=True)
class _Row:
    """A node as it is told."""

    sign: str
    node: str
    status: str
    sql: str
    why: str
    whom: str
    details: tuple[str, ...]


def _row(decision: Decision) -> _Row:
    return _Row(
        sign(decision.node, decision.operator),
        decision.node,
        "new" if decision.created else "shared",
        decision.operator,
        IN_WORDS.get(decision.rule, decision.rule),
        "" if decision.created else names(decision.shared_with),
        tuple(dict.fromkeys(_details(decision))),
    )


def _details(decision: Decision) -> Iterator[str]:
    """What remains to be tested, what lost and why, and what looked as if it could serve."""
    if decision.reason:
        yield decision.reason + _about(c for c in decision.candidates if c.chosen)
    for candidate in decision.candidates:
        if candidate.rule == NEAR_MISS:
            yield f"{NEAR_MISS} {candidate.node}: {candidate.reason}"
        elif not candidate.chosen:
            considered = IN_WORDS.get(candidate.rule, candidate.rule) + _about([candidate])
            yield f"not {candidate.node} ({considered}): {candidate.reason}"


def _about(candidates: Iterable[Candidate]) -> str:
    """How many rows have to be tested, where some have."""
    rows = sum(candidate.cost or 0 for candidate in candidates)
    return f", on about {rows:,.0f} rows" if rows >= 1 else ""


def _html_row(row: _Row) -> str:
    why = "".join(f"<div>{escape(part)}</div>" for part in (row.why, *row.details) if part)
    cells = (row.sign, row.node, row.status, row.sql)
    plain = "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in cells)
    wide = "".join(f'<td style="text-align:left">{cell}</td>' for cell in (why, escape(row.whom)))
    return f'<tr style="vertical-align:top">{plain}{wide}</tr>'


def _nodes(number: int) -> str:
    return f"{number} node" + ("" if number == 1 else "s")
