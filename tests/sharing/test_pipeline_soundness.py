"""Whatever is shared, every query's plan gives its answer, and every node what its very original form says.

Random networks, evaluated in plain Python after every registration and every drop, under every option.
"""

from __future__ import annotations

import random
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import pytest
from sharing.evaluation import Evaluation
from sharing.random_queries import Writer
from sharing.small_streams import Data, data, query, statistics
from sharing.soundness import check

from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.decisions import Rule
from workbench.sharing.planner import Planner
from workbench.sql.logical import LogicalQuery

pytestmark = pytest.mark.slow

SWITCHES = [f.name for f in fields(Options) if f.type == "bool"]
OFF: dict[str, Any] = dict.fromkeys(SWITCHES, False)
OPTIONS = {
    "all on": Options(),
    **{f"no {name}": replace(Options(), **{name: off}) for name, off in OFF.items()},
    "match-plan": Options(strategy="match-plan"),
    "match-plan in the order of FROM": Options(strategy="match-plan", join_order=False),
    "nothing materialized": Options(materialize_below=0),
    "everything materialized": Options(materialize_below=1),
    "all off": Options(strategy="match-plan", materialize_below=0, **OFF),
}
NETWORKS = 7
"""Random networks for each setting of the options, without and with statistics of the streams."""
DATA = 8
LENGTHS = (3, 5, 7, 9, 12)
"""How many queries are registered; in long networks queries combine the same few conditions."""


@lru_cache
def rows(seed: int) -> Data:
    return data(seed)


@lru_cache
def parsed(text: str) -> LogicalQuery:
    return query(text)


def run(options: Options, seed: int, known: bool) -> set[str]:
    """Register some queries, drop some, register some more, and look after every step; the rules that were used."""
    chosen, seen, rules = random.Random(seed), rows(seed % DATA), set[str]()
    evaluation = Evaluation(seen)
    planner = Planner(options, streams=statistics(seen) if known else {})
    network, queries = Network(), dict[str, LogicalQuery]()
    for number, text in enumerate(Writer(seed).texts(chosen.choice(LENGTHS))):
        name = f"q{number}"
        queries[name] = parsed(text)
        planned = planner.register(network, name, queries[name])
        rules |= {d.rule for d in planned.explanation.decisions}
        network = planned.network
        check(network, evaluation, queries)
        if chosen.random() < 0.3:
            gone = chosen.sample(sorted(queries), chosen.randint(1, min(2, len(queries))))
            queries = {name: asked for name, asked in queries.items() if name not in gone}
            network = planner.drop(network, gone)
            check(network, evaluation, queries)
        stored = planner.catalog.network()
        assert stored == network
        assert list(stored.nodes) == list(network.nodes), "another order, and so another drawing"
    while queries:
        last = chosen.choice(sorted(queries))
        del queries[last]
        network = planner.drop(network, [last])
        check(network, evaluation, queries)
    assert not network.nodes
    return rules


@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "statistics known"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_every_query_answers_as_if_it_were_alone(options: Options, known: bool) -> None:
    start = 1000 * list(OPTIONS.values()).index(options)
    for seed in range(start, start + NETWORKS):
        run(options, seed, known)


SRC, DST = "SELECT src, {} FROM F GROUP BY src", "SELECT dst, {} FROM F GROUP BY dst"
BOTH, ALL = "SELECT src, dst, {} FROM F GROUP BY src, dst", "SELECT src, dst, code, {} FROM F GROUP BY src, dst, code"
CHAINS = {
    "two coarse ones bring two statistics": [
        SRC.format("COUNT(code)"), DST.format("COUNT(*)"), BOTH.format("COUNT(*)"),
    ],
    "one without statistics between": [
        DST.format("AVG(amount)"), "SELECT DISTINCT src FROM F", "SELECT DISTINCT src, dst FROM F",
    ],
    "a statistic goes down two levels": [ALL.format("COUNT(*)"), BOTH.format("COUNT(*)"), SRC.format("SUM(amount)")],
    "and when the level between comes last": [
        SRC.format("SUM(amount)"), ALL.format("COUNT(*)"), BOTH.format("COUNT(*)"),
    ],
    "the finest goes, and was read on two levels": [
        ALL.format("COUNT(*)"), SRC.format("COUNT(*)"), BOTH.format("COUNT(*)"),
    ],
    "what does not follow comes to the level between": [
        ALL.format("COUNT(*)"), BOTH.format("COUNT(*)"), SRC.format("COUNT(*)"), BOTH.format("AVG(x)"),
    ],
    "what does not follow comes to the coarse one": [
        BOTH.format("COUNT(*)"), SRC.format("COUNT(*)"), SRC.format("MEDIAN(amount), SUM(x)"),
    ],
}  # fmt: skip
"""Groups of groups of groups: each level must have the statistics that all coarser ones are computed from."""


@pytest.mark.parametrize("texts", CHAINS.values(), ids=CHAINS.keys())
@pytest.mark.parametrize("options", [OPTIONS["all on"], OPTIONS["no reroute"]], ids=["rerouted", "as they came"])
def test_groups_of_groups_have_the_statistics_they_need(options: Options, texts: list[str]) -> None:
    planner, evaluation = Planner(options), Evaluation(rows(0))
    network, queries = Network(), dict[str, LogicalQuery]()
    for number, text in enumerate(texts):
        queries[f"q{number}"] = query(text)
        network = planner.register(network, f"q{number}", queries[f"q{number}"]).network
        check(network, evaluation, queries)
    for name in list(queries):
        del queries[name]
        network = planner.drop(network, [name])
        check(network, evaluation, queries)


def test_the_random_networks_are_shared_by_every_rule() -> None:
    """Of some hundred networks; those after the one that completes the rules are not made."""
    used = set[str]()
    for seed in range(50_000, 50_100):
        used |= run(Options(), seed, known=False)
        if used == {*Rule}:
            return
    assert used == {*Rule}
