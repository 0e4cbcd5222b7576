"""Pairs of queries: what the second shares with the first, once the first is registered.

``reads`` says how the node the second query reads stands to the one the first reads:

* ``SAME``: it is the same node.
* ``BELOW``: it is a selection below it, which tests the rest.
* ``ABOVE``: the first query's selection is now computed from the second's.
* ``BESIDE``: another node of the same local tree; the tree's root is shared.
* ``FROM``: another tree, computed from the first query's nodes.
* ``GIVES``: another tree, from which the first query's nodes are computed now.
* ``APART``: neither is computed from the other.

``new`` is the number of nodes made for the second query, ``rule`` a rule its explanation names for one of its nodes,
``says`` a text that stands in the explanation. Of most pairs the nodes and answers are ``evaluated``
in plain Python; those of other functions by the engine's tests alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sharing.decisions import Rule

SAME, BELOW, ABOVE, BESIDE, FROM, GIVES, APART = "same", "below", "above", "beside", "from", "gives", "apart"


@dataclass(frozen=True)
class Pair:
    """Two queries and what the second shares with the first; see above."""

    title: str
    first: str
    second: str
    reads: str
    new: int
    rule: Rule | None = None
    says: str = ""
    evaluated: bool = True
    dialect: str = "spark"


def same(title: str, first: str, second: str, says: str = "", dialect: str = "spark") -> Pair:
    """The second query needs no node of its own."""
    return Pair(title, first, second, SAME, 0, Rule.EQUAL, says, dialect=dialect)
