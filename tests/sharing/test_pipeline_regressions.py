"""What random sequences found, each made small: plans that could not be made, and plans that were not those stored."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from effort import calls
from sharing.evaluation import Evaluation
from sharing.small_streams import Data, statistics
from sharing.soundness import check

from workbench.catalog.catalog import Catalog, QueryText
from workbench.network.network import Network
from workbench.network.nodes import SetOperation
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.statistics import StreamStatistics
from workbench.options import Options
from workbench.sharing import translate
from workbench.sharing.draft import Draft
from workbench.sharing.pipeline import register_query
from workbench.sharing.planner import Planner
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import BOOLEAN, INTEGER, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery
from workbench.sql.schema import Schema

Streams = dict[str, tuple[tuple[str, DataType], ...]]


def planned(streams: Streams, texts: Sequence[str], data: Data, planner: Planner | None = None) -> Network:
    """The network of some texts, checked after each."""
    planner, network = planner or Planner(), Network()
    queries: dict[str, LogicalQuery] = {}
    for i, sql in enumerate(texts):
        query = bind(sql, "spark", Schema(streams=streams)).query
        assert query is not None
        queries[f"q{i}"] = query
        network = planner.register(network, f"q{i}", query).network
        check(network, Evaluation(data), queries)
        assert planner.catalog.network() == network
    return network


def test_a_column_of_a_part_is_not_looked_up_in_its_first_input() -> None:
    streams = {"r": (("a", INTEGER), ("b", INTEGER)), "s": (("d", INTEGER), ("e", INTEGER))}
    data = {"r": [{"a": 1, "b": 2}, {"a": 1, "b": 3}], "s": [{"d": 1, "e": 1}, {"d": 1, "e": 2}]}
    counts = "SELECT a, COUNT(*) AS n FROM r GROUP BY a"
    planned(streams, [f"SELECT q.n FROM ({counts}) q JOIN s y ON q.a = y.d JOIN s w ON y.e = w.e"], data)


def test_columns_of_one_name_and_two_types_in_one_part() -> None:
    streams = {
        "r": (("a", INTEGER), ("x", BOOLEAN)),
        "s": (("b", INTEGER), ("c", INTEGER), ("x", TIMESTAMP)),
        "t": (("d", INTEGER), ("e", INTEGER)),
    }
    data: Data = {
        "r": [{"a": 1, "x": True}, {"a": 2, "x": False}],
        "s": [{"b": 1, "c": 1, "x": dt.datetime(2020, 1, 1)}, {"b": 1, "c": 2, "x": dt.datetime(2020, 1, 2)}],
        "t": [{"d": 1, "e": 3}, {"d": 2, "e": 4}],
    }
    texts = [
        "SELECT r.a FROM r JOIN s ON r.a = s.b",
        "SELECT r.a FROM r JOIN s ON r.a = s.b JOIN t ON s.c = t.d"
        " WHERE s.x >= TIMESTAMP '2020-01-01 01:00:00' OR t.e = 3",
    ]
    planned(streams, texts, data, Planner(streams=statistics(data)))


def test_a_join_that_a_query_is_about_to_read_is_not_taken_away() -> None:
    """The second self-join of the last query comes to have all rows of the first one, which the query reads itself."""
    streams = {"r": (("k", INTEGER), ("v", INTEGER), ("x", INTEGER))}
    data = {"r": [{"k": k, "v": v, "x": x} for k, v, x in ((1, 1, 5), (2, 1, 5), (1, 2, 3))]}
    texts = [
        "SELECT a.k FROM r a JOIN r b ON a.k = b.v WHERE a.x = 5",
        "SELECT a.k FROM r a JOIN r b ON a.k = b.v WHERE a.v = 1",
        "SELECT a.k FROM r a JOIN r b ON a.k = b.v JOIN r c ON b.v < c.v JOIN r d ON c.k = d.v WHERE a.v = 1",
    ]
    planned(streams, texts, data, Planner(Options(restructure=False)))


def test_what_a_set_operator_is_computed_from_is_stored(tmp_path: Path) -> None:
    streams = {"r": (("a", INTEGER), ("b", INTEGER))}
    data = {"r": [{"a": 1, "b": 2}, {"a": 1, "b": 3}]}
    pair = "SELECT a AS c FROM r WHERE b = 1 UNION SELECT a AS c FROM r WHERE b = 2"
    planner = Planner()
    network = planned(streams, [pair, f"{pair} UNION SELECT a AS c FROM r WHERE b = 3"], data, planner)
    assert any(isinstance(node, SetOperation) and node.base for node in network.nodes.values())
    planner.catalog.copy_to(tmp_path / "catalog")
    assert Catalog(tmp_path / "catalog").network() == network


@pytest.mark.parametrize("name", ["line\nbreak", "k_1", "a.b"])
def test_joins_of_joins_of_columns_of_any_name(name: str) -> None:
    streams = {"r": ((name, INTEGER), ("v", INTEGER))}
    data = {"r": [{stored_name(name): 1, "v": 1}, {stored_name(name): 2, "v": 1}]}
    planned(streams, [f"SELECT a.`{name}` FROM r a JOIN r b ON a.`{name}` = b.v JOIN r c ON b.`{name}` = c.v"], data)


def test_sums_that_may_overflow_are_not_made_of_sums_of_finer_groups() -> None:
    """A sum that overflows is NULL, and a sum of sums would pass over it."""
    wide = decimal(38, 0)
    streams = {"r": (("a", INTEGER), ("b", INTEGER), ("m", wide))}
    largest = Decimal(10**38 - 1)
    data = {"r": [{"a": 1, "b": 1, "m": largest}, {"a": 1, "b": 1, "m": largest}, {"a": 1, "b": 2, "m": Decimal(1)}]}
    fine = "SELECT a, b, SUM(m) AS o FROM r GROUP BY a, b"
    planned(streams, [fine, "SELECT a, SUM(m) AS o FROM r GROUP BY a"], data)


def stacked(text: str, levels: int) -> LogicalQuery:
    """A query over a view over a view and so on."""
    schema, source = Schema(streams={"r": (("k", INTEGER), ("v", INTEGER))}), "r"
    for level in range(levels):
        query = bind(text.format(source), "spark", schema).query
        assert query is not None
        source = f"v{level}"
        schema = replace(schema, views={**schema.views, source: query})
    return query


COUNTED = "SELECT a.k, COUNT(*) AS v FROM {0} a JOIN {0} b ON a.k = b.v GROUP BY a.k"
PLAIN = "SELECT a.k, b.v FROM {0} a JOIN {0} b ON a.k = b.v"


def test_views_over_views_are_translated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    translated = []
    place = translate.windows_around_joins
    monkeypatch.setattr(
        translate, "windows_around_joins", lambda block, where: translated.append(block) or place(block, where)
    )
    network = Planner().register(Network(), "q", stacked(COUNTED, 9)).network
    assert len(translated) == 9
    assert len(network.nodes) == 19


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "statistics known"])
def test_planning_stacked_self_joins_takes_calls_in_proportion_to_their_nodes(known: bool) -> None:
    """Each level reads the one below twice: two to the power of levels paths, and two nodes a level."""
    bound = stacked(COUNTED, 1)
    assert isinstance(bound, Block)
    spent = []
    for levels in (7, 14):
        query: LogicalQuery = bound
        for _ in range(levels - 1):
            query = replace(bound, inputs=(query, query))
        streams = {"r": StreamStatistics(1000, {})} if known else {}
        draft = Draft.of(Network(), Catalog(), Options(), Estimates(streams), "q")
        _, count = calls(lambda: register_query(draft, "q", query, QueryText("", "", ""), eager=False))  # noqa: B023
        assert len(draft.nodes) == 2 * levels + 1
        spent.append(count)
    assert spent[1] < 4 * spent[0]
