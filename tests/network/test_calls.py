"""Blame: a query depends on a call only where it reads what the call gives, whatever it shares with the caller."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sharing import evaluation, scalars
from sharing.evaluation import Evaluation
from sharing.expression_values import forget

from workbench.network.calls import functions_of
from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import calls_of
from workbench.sql.schema import Schema, UserFunction

BOOM = "user_boom@1"
SCHEMA = Schema(
    streams={"s": (("id", INTEGER), ("k", INTEGER), ("v", INTEGER)), "r": (("k", INTEGER), ("w", INTEGER))},
    functions={"boom": UserFunction("user_boom", INTEGER)},
)
GUILTY = {
    "a filter": "SELECT id, k FROM s WHERE boom(id) > 3",
    "a filter beside another": "SELECT id, k FROM s WHERE v > 3 AND boom(id) > 3",
    "an output": "SELECT id, k, boom(id) AS b FROM s",
    "a join's condition": "SELECT s.id, r.w FROM s JOIN r ON s.k = r.k AND boom(s.id) > r.w",
    "a join's key": "SELECT s.id, r.w FROM s JOIN r ON boom(s.k) = r.k",
    "an outer join": "SELECT s.id, r.w FROM s LEFT JOIN r ON s.k = r.k AND boom(s.id) > 3",
    "an argument": "SELECT k, SUM(boom(id)) AS b FROM s GROUP BY k",
    "an argument beside others": "SELECT k, COUNT(*) AS n, MAX(v) AS m, MIN(boom(id)) AS b FROM s GROUP BY k",
    "FILTER": "SELECT k, COUNT(*) FILTER (WHERE boom(id) > 3) AS n FROM s GROUP BY k",
    "a group": "SELECT boom(id) AS b, COUNT(*) AS n FROM s GROUP BY boom(id)",
    "a finer group": "SELECT k, boom(id) AS b, COUNT(*) AS n FROM s GROUP BY k, boom(id)",
    "HAVING": "SELECT k, COUNT(*) AS n FROM s GROUP BY k HAVING MAX(boom(id)) > 3",
    "HAVING of a group": "SELECT k, COUNT(*) AS n FROM s GROUP BY k HAVING boom(k) > 3",
    "a total": "SELECT COUNT(*) AS n, SUM(boom(id)) AS b FROM s",
    "OVER's argument": "SELECT id, SUM(boom(id)) OVER (PARTITION BY k ORDER BY id) AS b FROM s",
    "OVER's partition": "SELECT id, ROW_NUMBER() OVER (PARTITION BY boom(k) ORDER BY id) AS b FROM s",
    "OVER's order": "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY boom(id), id) AS b FROM s",
    "QUALIFY": "SELECT id FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY boom(id), id) = 1",
    "ORDER BY": "SELECT id, k FROM s ORDER BY boom(id)",
    "first rows": "SELECT id, k FROM s ORDER BY boom(id), id LIMIT 3",
    "first rows of DISTINCT": "SELECT DISTINCT v AS b FROM s ORDER BY boom(b) LIMIT 4",
    "DISTINCT": "SELECT DISTINCT k, boom(k) AS b FROM s",
    "UNION": "SELECT k FROM s UNION SELECT boom(k) FROM s",
    "UNION ALL": "SELECT k, v FROM s UNION ALL SELECT k, boom(v) FROM s",
    "EXCEPT": "SELECT k FROM s EXCEPT SELECT boom(w) FROM r",
    "a subquery": "SELECT id, (SELECT MAX(boom(w)) FROM r WHERE r.k = s.k) AS b FROM s",
    "IN": "SELECT id FROM s WHERE k IN (SELECT boom(w) FROM r)",
    "an aggregate of an aggregate": "SELECT MAX(b) AS m FROM (SELECT k, SUM(boom(id)) AS b FROM s GROUP BY k) x",
}
INNOCENT = {
    "rows": "SELECT id, k FROM s",
    "filtered": "SELECT id, k FROM s WHERE v > 3",
    "joined": "SELECT s.id, r.w FROM s JOIN r ON s.k = r.k",
    "joined outside": "SELECT s.id, r.w FROM s LEFT JOIN r ON s.k = r.k",
    "counted": "SELECT k, COUNT(*) AS n FROM s GROUP BY k",
    "summed": "SELECT k, SUM(v) AS n, MAX(v) AS m FROM s GROUP BY k",
    "few": "SELECT k, COUNT(*) AS n FROM s GROUP BY k HAVING COUNT(*) > 1",
    "all": "SELECT COUNT(*) AS n, SUM(v) AS m FROM s",
    "numbered": "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS b FROM s",
    "running": "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY id) AS b FROM s",
    "first": "SELECT id FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) = 1",
    "distinct": "SELECT DISTINCT k FROM s",
    "united": "SELECT k FROM s UNION SELECT w FROM r",
    "united all": "SELECT k FROM s UNION ALL SELECT k FROM s",
    "without": "SELECT k FROM s EXCEPT SELECT w FROM r",
    "largest": "SELECT MAX(b) AS m FROM (SELECT k, SUM(v) AS b FROM s GROUP BY k) x",
}


def _network(texts: Mapping[str, str], options: Options) -> Network:
    planner, network = Planner(options), Network()
    for name, sql in texts.items():
        network = planner.register(network, name, bind(sql, "spark", SCHEMA).named(name)[name]).network
    return network


def _options(chosen: random.Random) -> Options:
    return Options(vertical_expansion=chosen.random() < 0.8, restructure=chosen.random() < 0.8)


@pytest.mark.parametrize("place", GUILTY)
def test_only_the_caller_depends_on_the_function(place: str) -> None:
    seed = os.environ["ARGUS_SEED"]
    for drawn in (False, True):
        chosen = random.Random(f"{place} {drawn} {seed}")
        texts = [*INNOCENT.items(), ("guilty", GUILTY[place])]
        chosen.shuffle(texts)
        network = _network(dict(texts), _options(chosen) if drawn else Options())
        depend = {name for name, plan in network.queries.items() if BOOM in functions_of(network, plan)}
        assert depend == {"guilty"}, texts


def test_a_query_calls_what_its_text_calls() -> None:
    for sql in GUILTY.values():
        assert BOOM in calls_of(bind(sql, "spark", SCHEMA).named("q")["q"]), sql


def _with_null(function: Callable[..., Any]) -> Callable[..., Any]:
    """Functions of calls, those of the analyst's failing for all values."""

    def failing(call: Call, now: Any = None) -> Callable[..., Any]:
        return (lambda *values: None) if call.function == BOOM else function(call, now)  # type: ignore[no-any-return]

    return failing


@pytest.mark.slow
def test_what_does_not_depend_is_as_if_the_function_gave_null(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random pairs of callers among innocents, computed with the function and with NULL for all its values."""
    for seed in range(12):
        chosen = random.Random(seed)
        texts = [*INNOCENT.items(), *chosen.sample([*GUILTY.items()], 4)]
        chosen.shuffle(texts)
        network = _network(dict(texts), _options(chosen))
        rows = {
            "s": [{"id": i, "k": chosen.choice([1, 2, None]), "v": chosen.choice([1, 4, 5])} for i in range(8)],
            "r": [{"k": chosen.choice([1, 2, 3]), "w": chosen.choice([1, 4])} for _ in range(4)],
        }
        answers = []
        for null in (False, True):
            forget()
            if null:
                monkeypatch.setattr(scalars, "function", _with_null(scalars.function))
            evaluated = Evaluation(rows).nodes(network)
            answers.append({name: evaluation.result(plan, evaluated) for name, plan in network.queries.items()})
        monkeypatch.undo()
        for name, plan in network.queries.items():
            if BOOM not in functions_of(network, plan):
                assert answers[0][name] == answers[1][name], (seed, name)
    forget()
