"""The queries of every class that need no Spark, in this process: with fresh streams in each run, in milliseconds.

Which need none is seen as they are registered and read; ``test_query_classes`` has all of them, some in each run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from random import Random

import pytest
from long import one_in
from oracle.class_queries import ALL, CLASSES
from oracle.harness import Case, Oracle
from oracle.test_query_classes import feeds

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.explain.relaxation import conditions_of

SEED = int(os.environ["ARGUS_SEED"])
LEAST = {
    "selection": 37, "join": 21, "aggregate": 33, "set": 20, "view": 7, "grouping": 14, "outer": 47, "statistic": 13,
    "subquery": 30, "correlated": 15, "shape": 14, "array": 30, "collected": 21, "struct": 17, "map": 14,
    "database": 17, "alias": 21, "list": 17, "pivot": 10, "recursion": 11, "gap": 5, "json": 10,
    "pattern": 9,
}  # fmt: skip
"""How many queries of a class need no Spark, at least: there may come to be more."""
OF_PLANS = re.compile(r"_of_\w+|min\(0\)|has_place|k\d = \(.* is null\)", re.I)
"""What plans call what they add."""


def registered(oracle: Oracle, names: Iterable[str], cases: Mapping[str, Case] = ALL) -> list[str]:
    """Register queries one by one; those of them that need no Spark."""
    found = []
    for name in names:
        try:
            oracle.register({name: cases[name]})
            found.append(name)
        except NeedsSparkError:
            if oracle.watched.pop(name, None) is not None:
                oracle.session.drop(name)
    return found


@pytest.mark.parametrize("kind", one_in(2, [*LEAST]))
def test_a_class(kind: str) -> None:
    """Nor does why-not offer a condition in words of a plan."""
    with Oracle(InProcess(), feeds(SEED)) as oracle:
        found = registered(oracle, [name for name in ALL if name.startswith(f"{kind}_")])
        assert len(found) >= LEAST[kind], found
        conditions = {name: [*map(str, conditions_of(oracle.session.query(name).logical))] for name in found}
        assert not {name: texts for name, texts in conditions.items() if any(map(OF_PLANS.search, texts))}
        oracle.run(4)
        oracle.check_changes(since=True)


@pytest.mark.parametrize("seed", range(SEED, SEED + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_random_orders_with_late_comers_and_drops(seed: int) -> None:
    chosen = Random(seed)
    order = chosen.sample([name for name in ALL if name.partition("_")[0] in LEAST], 60)
    # Of no rows CUBE has a total in DuckDB, and none in Spark.
    streams = feeds(seed, history=chosen.randrange(1, 60), batch=chosen.randrange(15, 40))
    with Oracle(InProcess(), streams) as oracle:
        early = registered(oracle, order[:40])
        oracle.run(2)
        for name in chosen.sample(early, len(early) // 3):
            oracle.drop(name)
        registered(oracle, order[40:])
        oracle.run(2)
        oracle.check_changes()


def test_every_class_is_known() -> None:
    assert LEAST.keys() <= CLASSES.keys()
