"""The generated query sets: sizes, turns, texts that bind, and the same answers in every hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import duckdb
import pytest
from duckdb.func import SPECIAL
from long import one_in

from workbench.arrow.types import to_data_type
from workbench.errors import WorkbenchError
from workbench.experiments.query_sets import QUERY_SETS, GeneratedQuery, query_set
from workbench.experiments.query_sets.chains import CONFINEMENTS, DIRECTIONS, Chain, Hand, variants, write
from workbench.experiments.query_sets.fed import AMOUNTS, FED_WINDOWS, RATIOS
from workbench.experiments.query_sets.generated import turns
from workbench.experiments.sample_streams.schemas import SCHEMAS, STREAM_NAMES
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.studies.network_size import CONFIGURATIONS
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DOUBLE
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema, UserFunction

SAMPLES = Path(__file__).parents[3] / "sample_data"
SCHEMA = Schema(
    streams={
        name: tuple((field.name, to_data_type(field.type)) for field in SCHEMAS[file])
        for file, name in STREAM_NAMES.items()
    },
    functions={"zipdistance": UserFunction("zipdistance", DOUBLE)},
)

SIZES = {
    "fed-manual": (768, 16),
    "fed-uniform": (1000, 16),
    "fed-normal": (1000, 16),
    "fed-gaussian": (1000, 16),
    "med": (565, 8),
    "aggregate-fed": (350, 21),
    "aggregate-med": (450, 3),
}
RANDOM_SETS = ("fed-uniform", "fed-normal", "fed-gaussian")
CHAIN_SETS = ("fed-manual", *RANDOM_SETS)
STEPS = {**dict.fromkeys(CHAIN_SETS, 12), "med": 1, "aggregate-fed": 4, "aggregate-med": 3}
"""Of how many queries one is evaluated over the samples."""


@cache
def queries_of(name: str) -> Mapping[str, GeneratedQuery]:
    """A set, generated when a test asks for it."""
    return query_set(name)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.create_function("zipdistance", zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE", null_handling=SPECIAL)
        for file, name in STREAM_NAMES.items():
            connection.execute(f"CREATE TABLE {name} AS FROM '{SAMPLES / f'{file}.parquet'}'")
        yield connection


def by_variant(queries: dict[str, GeneratedQuery]) -> dict[str, list[GeneratedQuery]]:
    grouped: dict[str, list[GeneratedQuery]] = {}
    for query in queries.values():
        grouped.setdefault(query.variant, []).append(query)
    return grouped


def answers(duck: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(duck.execute(sql).fetchall())


# -- sets --------------------------------------------------------------------------------------------------------


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(WorkbenchError, match="there is no query set fed-manuel") as caught:
        query_set("fed-manuel")
    assert caught.value.hint == "did you mean fed-manual?"


@pytest.mark.parametrize("name", QUERY_SETS)
def test_sizes_are_those_of_table_10_1(name: str) -> None:
    assert (len(queries_of(name)), len(by_variant(queries_of(name)))) == SIZES[name]
    assert [query.name for query in queries_of(name).values()] == list(queries_of(name))


@pytest.mark.parametrize("name", QUERY_SETS)
def test_texts_are_distinct(name: str) -> None:
    queries = list(queries_of(name).values())
    repeated = 36 if name == "aggregate-med" else 0
    assert len({query.sql for query in queries}) == len(queries) - repeated
    assert len({query.duckdb_sql for query in queries}) == len(queries) - repeated


def test_the_first_36_come_again_at_the_end() -> None:
    queries = list(queries_of("aggregate-med").values())
    assert [query.sql for query in queries[414:]] == [query.sql for query in queries[:36]]


@pytest.mark.parametrize("name", QUERY_SETS)
def test_a_seed_gives_one_set(name: str) -> None:
    assert query_set(name, seed=0) == queries_of(name)
    assert [query.sql for query in query_set(name, seed=1).values()] != [
        query.sql for query in queries_of(name).values()
    ]


@pytest.mark.parametrize("name", QUERY_SETS)
def test_variants_take_turns(name: str) -> None:
    """The variants of each round are those of the round before that have queries left, in the same order."""
    distinct = list(queries_of(name).values())[: 414 if name == "aggregate-med" else None]
    rounds: list[list[str]] = []
    for query in distinct:
        if not rounds or query.variant in rounds[-1]:
            rounds.append([])
        rounds[-1].append(query.variant)
    assert len(rounds[0]) == SIZES[name][1]
    for before, after in pairwise(rounds):
        assert after == [variant for variant in before if variant in after]


def test_turns_of_none_one_and_more() -> None:
    nothing: dict[str, list[int]] = {}
    assert list(turns(nothing)) == []
    lists: dict[str, list[int | None]] = {"a": [1], "b": [], "c": [2, None, 3]}
    taken = [(variant, item) for variant, _, item in turns(lists)]
    assert taken == [("a", 1), ("c", 2), ("c", None), ("c", 3)]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERY_SETS)
def test_texts_bind(name: str) -> None:
    """A share of each variant, whose texts differ in constants and hands."""
    for queries in by_variant(queries_of(name)).values():
        for query in one_in(min(24, len(queries)), queries):
            assert bind(query.sql, query.dialect, SCHEMA).query is not None


# -- parameters --------------------------------------------------------------------------------------------------


def test_manual_parameters_are_all_combinations_in_the_order_of_the_table_or_shuffled() -> None:
    expected = list(product(AMOUNTS, FED_WINDOWS, RATIOS))
    for seed in (0, 1):
        for variant, queries in by_variant(query_set("fed-manual", seed)).items():
            values = [tuple(query.parameters[key] for key in ("amount", "window", "ratio")) for query in queries]
            assert sorted(values) == sorted(expected)
            assert (values == expected) == (seed == 0), variant


@pytest.mark.parametrize("name", RANDOM_SETS)
def test_drawn_parameters_lie_in_their_ranges(name: str) -> None:
    for key, values in (("amount", AMOUNTS), ("window", FED_WINDOWS), ("ratio", RATIOS)):
        drawn = [query.parameters[key] for query in queries_of(name).values()]
        assert all(isinstance(value, int) and min(values) <= value <= max(values) for value in drawn)


@pytest.mark.parametrize(
    ("name", "low", "middle", "high"),
    [("fed-uniform", 0.4, 0.2, 0.4), ("fed-normal", 0.16, 0.68, 0.16), ("fed-gaussian", 0.5, 0.02, 0.5)],
)
def test_draws_follow_their_distribution(name: str, low: float, middle: float, high: float) -> None:
    """Shares of amounts below, between and above 40 % and 60 % of the range, which are μ - σ and μ + σ when normal."""
    amounts = [int(query.parameters["amount"]) for query in queries_of(name).values()]  # type: ignore[call-overload]
    found = [sum(a < 70_000 for a in amounts), sum(70_000 <= a <= 80_000 for a in amounts)]
    found.append(len(amounts) - sum(found))
    assert [count / 1000 for count in found] == pytest.approx([low, middle, high], abs=0.05)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("name", "questions"), [("med", "again far near"), ("aggregate-med", "distinct far near")])
def test_all_questions_about_a_disease_come_in_one_round(name: str, questions: str, seed: int) -> None:
    variants = by_variant(query_set(name, seed))
    asked = [[query.parameters for query in variants[question]][:138] for question in questions.split()]
    assert asked[0] == asked[1] == asked[2]
    assert len({str(parameters) for parameters in asked[0]}) == 138


def test_a_query_over_the_same_codes_asks_for_less() -> None:
    """Of histories, which the thesis varies so that queries subsume others (T10.1.2)."""
    for variant in ("operated_twice", "complications", "development"):
        asked = by_variant(queries_of("med"))[variant]
        assert all(
            weak.parameters["codes"] == strong.parameters["codes"]
            for weak, strong in zip(asked[::2], asked[1::2], strict=True)
        )


@pytest.mark.slow
def test_med_is_shared_from_the_first_queries_on() -> None:
    """Without restructuring, as in Table C.9; nor is ``again`` confined, so it subsumes the others of its disease."""
    first = list(queries_of("med").values())[:24]
    sizes = {}
    for name in ("NonJoinS", "NonCanon", "AllSharing"):
        planner, network = Planner(CONFIGURATIONS[name]), Network()
        for query in first:
            logical = bind(query.sql, query.dialect, SCHEMA).query
            assert logical is not None
            network = planner.register(network, query.name, logical, query.sql, query.dialect).network
        sizes[name] = NetworkView(network).weighted_size()
        if name == "AllSharing":
            of = {query.name: query.variant for query in first}
            joins = [node for node in NetworkView(network).nodes if node.kind == "join"]
            readers = [{of[reader] for reader in node.queries} for node in joins]
            assert readers.count({"again", "far", "near"}) == 3
    assert sizes["AllSharing"] < sizes["NonCanon"] < 0.8 * sizes["NonJoinS"]


# -- texts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    [
        "r2.tran_date <= r1.tran_date + 20", "r1.tran_date + 20 >= r2.tran_date", "r2.tran_date - 20 <= r1.tran_date",
        "r2.tran_date - r1.tran_date <= 20", "0.2 * r1.amount <= r2.amount", "r2.amount * 5 >= r1.amount",
        "50000 < r1.amount", "1000 = r1.type_code", "FROM   FedWireTrans r2, FedWireTrans r1", "a.amount > 50000",
    ],
)  # fmt: skip
def test_hands_write_in_many_ways(way: str) -> None:
    chain = Chain(2, "forward", "account", 50_000, 20, 5)
    assert any(way in write(chain, Hand(number)).body for number in range(200))


@pytest.mark.parametrize(("ratio", "ends"), [(2, True), (3, False), (7, False), (8, True), (9, False), (10, True)])
def test_only_exact_shares_are_multiplied(ratio: int, ends: bool) -> None:
    bodies = [write(Chain(2, "forward", "bank", 50_000, 20, ratio), Hand(number)).body for number in range(60)]
    assert any("0." in body for body in bodies) == ends


def test_the_pivot_is_the_first_record_forward_and_the_last_one_backward() -> None:
    for variant, (tables, direction, confinement) in variants().items():
        body = write(Chain(tables, direction, confinement, 50_000, 20, 5), Hand()).body
        pivot, neighbour = ("r1", "r2") if direction == "forward" else (f"r{tables}", f"r{tables - 1}")
        assert f"{pivot}.amount > 50000" in body, variant
        assert f"{neighbour}.amount * 5 >= {pivot}.amount" in body, variant
        assert body.count(".type_code = 1000") == tables, variant


def test_boundaries_nulls_and_duplicates(duck: duckdb.DuckDBPyConnection) -> None:
    """Amounts at the bound and at the share, days at the window, a NULL account, and a record that comes twice."""
    duck.execute("BEGIN")
    duck.execute("DELETE FROM FedWireTrans")
    rows = [
        (1, 0, 50_000, "a0", "b1"),  # not above the amount
        (2, 0, "50000.01", "a0", "b1"),
        (3, 0, 90_000, "a0", None),  # nothing can follow
        (4, 20, "10000.01", "b1", "c2"),  # the last day, and more than a fifth of 2
        (4, 20, "10000.01", "b1", "c2"),
        (5, 21, 40_000, "b1", "c2"),  # a day late
        (6, 5, 10_000, "b1", "c2"),  # less than a fifth of 2
        (7, 3, 40_000, None, "c2"),
    ]
    for number, day, amount, sender, receiver in rows:
        duck.execute(
            "INSERT INTO FedWireTrans BY NAME SELECT ? AS tranid, 1000 AS type_code, 1 AS sbank_aba, 1 AS rbank_aba,"
            " DATE '2002-10-01' + ? AS tran_date, ?::DECIMAL(15, 2) AS amount, ? AS orig_account, ? AS benef_account",
            [number, day, amount, sender, receiver],
        )
    chain = Chain(2, "forward", "account", 50_000, 20, 5)
    for number in (None, *range(40)):
        written = write(chain, Hand(number))
        columns = ", ".join(f"{record}.tranid" for record in written.records)
        assert answers(duck, f"SELECT {columns} {written.body}") == {(2, 4): 2}, written.body
    duck.execute("ROLLBACK")


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERY_SETS)
def test_both_texts_have_the_same_answers(name: str, duck: duckdb.DuckDBPyConnection) -> None:
    """Three queries of each variant: as an analyst wrote them, and in DuckDB's plain words."""
    for queries in by_variant(queries_of(name)).values():
        for query in queries[:3]:
            asked = query.sql.replace("\nMINUS\n", "\nEXCEPT\n")
            assert answers(duck, asked) == answers(duck, query.duckdb_sql), query.sql


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [*((name, 1.0) for name in CHAIN_SETS), ("med", 0.25), ("aggregate-fed", 0.9), ("aggregate-med", 0.3)],
)
def test_enough_queries_have_answers(name: str, least: float, duck: duckdb.DuckDBPyConnection) -> None:
    """On the samples: no variant is without any, and of every few queries at least a share."""
    sample = [query for queries in by_variant(queries_of(name)).values() for query in queries[:: STEPS[name]]]
    found = {
        query.name: bool(duck.execute(f"SELECT 1 FROM ({query.duckdb_sql}) LIMIT 1").fetchall()) for query in sample
    }
    assert {query.variant for query in sample if found[query.name]} == set(by_variant(queries_of(name)))
    assert sum(found.values()) >= least * len(sample)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("confinement", CONFINEMENTS)
def test_weaker_constants_have_more_answers(direction: str, confinement: str, duck: duckdb.DuckDBPyConnection) -> None:
    """The implication that sharing looks for: what a strong query finds, a weak one finds too."""

    def found(*values: int) -> Counter[tuple[object, ...]]:
        written = write(Chain(3, direction, confinement, *values), Hand())
        return answers(duck, f"SELECT {', '.join(f'{r}.tranid' for r in written.records)} {written.body}")

    weakest, strongest = found(50_000, 60, 10), found(100_000, 5, 1)
    assert strongest < weakest
    for values in ((100_000, 60, 10), (50_000, 5, 10), (50_000, 60, 1)):
        assert strongest <= found(*values) <= weakest
