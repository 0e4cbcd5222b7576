"""What a second query shares with a first, pair by pair (``sharing/pairs``)."""

from __future__ import annotations

import pytest
from sharing.evaluation import Evaluation
from sharing.pairs.every import PAIRS, read
from sharing.pairs.pair import ABOVE, APART, BELOW, BESIDE, FROM, GIVES, SAME, Pair
from sharing.small_streams import data
from sharing.soundness import check

from workbench.network.network import Network
from workbench.sharing.planner import Planner

DATA = data(1)


def relation(network: Network) -> str:
    """How the node the second query reads stands to the one the first reads."""
    first, second = (set(network.queries[name].nodes) for name in ("first", "second"))
    if first == second:
        return SAME
    in_one_tree = len({network.roots[id_] for id_ in first | second}) == 1
    if first <= network.ancestors(second):
        return BELOW if in_one_tree else FROM
    if second <= network.ancestors(first):
        return ABOVE if in_one_tree else GIVES
    return BESIDE if in_one_tree else APART


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_what_the_second_query_shares(pair: Pair) -> None:
    planner = Planner()
    queries = {name: read(sql) for name, sql in (("first", pair.first), ("second", pair.second))}
    before = planner.register(Network(), "first", queries["first"]).network
    planned = planner.register(before, "second", queries["second"])
    after, told = planned.network, planned.explanation
    made = [d for d in told.decisions if d.created]
    assert relation(after) == pair.reads
    assert (len(made), {d.node for d in made}) == (pair.new, {d.node for d in told.decisions} - before.nodes.keys())
    assert pair.rule is None or pair.rule in {d.rule for d in told.decisions}
    reasons = [c.reason for d in told.decisions for c in d.candidates] + [d.reason for d in told.decisions]
    assert any(pair.says in text for text in ["", *told.notes, *reasons, *(str(d) for d in told.decisions)])
    if pair.evaluated:
        check(after, Evaluation(DATA), queries)


def test_no_title_twice() -> None:
    assert len({pair.title for pair in PAIRS}) == len(PAIRS)
