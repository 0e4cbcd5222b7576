"""Whatever is shared, every query's plan gives its answer, and every node what its very original form says.

Random networks, evaluated in plain Python after every registration and every drop, under every option.
"""

from __future__ import annotations

import random
from dataclasses import fields, replace
from functools import lru_cache

import pytest
from sharing.evaluation import Evaluation
from sharing.random_queries import Writer
from sharing.small_streams import Data, data, query, statistics
from sharing.soundness import check

from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.planner import Planner

SWITCHES = [f.name for f in fields(Options) if f.type == "bool"]
OPTIONS = {
    "all on": Options(),
    **{f"no {name}": replace(Options(), **{name: False}) for name in SWITCHES},
    "match-plan": Options(strategy="match-plan"),
    "match-plan in the order of FROM": Options(strategy="match-plan", join_order=False),
    "nothing materialized": Options(materialize_below=0),
    "everything materialized": Options(materialize_below=1),
    "all off": replace(Options(strategy="match-plan", materialize_below=0), **dict.fromkeys(SWITCHES, False)),
}
NETWORKS = 20
"""Random networks for each setting of the options, without and with statistics of the streams."""
DATA = 8
LENGTHS = (4, 5, 6, 7, 8, 9, 20)
"""How many queries are registered; in long networks queries combine the same few conditions."""


@lru_cache
def rows(seed: int) -> Data:
    return data(seed)


def run(options: Options, seed: int, known: bool) -> set[str]:
    """Register some queries, drop some, register some more, and look after every step; the rules that were used."""
    chosen, seen, rules = random.Random(seed), rows(seed % DATA), set()
    evaluation = Evaluation(seen)
    planner = Planner(options, streams=statistics(seen) if known else {})
    network, queries = Network(), {}
    for number, text in enumerate(Writer(seed).texts(chosen.choice(LENGTHS))):
        name = f"q{number}"
        queries[name] = query(text)
        planned = planner.register(network, name, queries[name])
        rules |= {d.rule for d in planned.explanation.decisions}
        network = planned.network
        check(network, evaluation, queries)
        if chosen.random() < 0.3:
            gone = chosen.sample(sorted(queries), chosen.randint(1, min(2, len(queries))))
            queries = {name: asked for name, asked in queries.items() if name not in gone}
            network = planner.drop(network, gone)
            check(network, evaluation, queries)
        assert planner.catalog.network() == network
    while queries:
        gone = chosen.choice(sorted(queries))
        del queries[gone]
        network = planner.drop(network, [gone])
        check(network, evaluation, queries)
    assert not network.nodes
    return rules


@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "statistics known"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_every_query_answers_as_if_it_were_alone(options: Options, known: bool) -> None:
    start = 1000 * list(OPTIONS.values()).index(options)
    for seed in range(start, start + NETWORKS):
        run(options, seed, known)
