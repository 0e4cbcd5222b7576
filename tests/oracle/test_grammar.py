"""Random queries by a grammar of all functions and operators, which must answer alike however their rows came.

What a query answers is not known here; what must agree is. A failure names its seed: ``ARGUS_SEED=17`` plays that one
again, and ``ARGUS_FUZZ=500`` 500 from there on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from oracle.bags import difference
from oracle.grammar.loading import STREAMS, alike_rows, answers, loaded, registered
from oracle.grammar.productions import DIALECTS, productions
from oracle.grammar.twins import partitions, twins
from oracle.grammar.writing import Query, Writer
from oracle.loads import LOADS, Load
from pyspark.sql import SparkSession

from workbench.errors import WorkbenchError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import all_help
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
"""A fresh one in every run."""
SESSIONS = max(1, int(os.environ.get("ARGUS_FUZZ", "1")) // 4)
SEEDS = range(SEED, SEED + SESSIONS)
SCHEMA = Schema(STREAMS)


def accepted(text: str, dialect: str = "spark") -> bool:
    try:
        bind(text, dialect, SCHEMA)
    except WorkbenchError:
        return False
    return True


def written(writer: Writer, depth: int, dialects: tuple[str, ...] = ("spark",)) -> Iterator[Query]:
    """Queries that are read in the dialects, without an end."""
    while True:
        query = writer.query(depth)
        if all(accepted(query.text, dialect) for dialect in dialects):
            yield query


def test_every_function_is_in_the_grammar() -> None:
    """But what gives several rows or columns, or is said of groups or of the time of a stream."""
    names = {help_.name for help_ in all_help() if "spark" in help_.dialects}
    calls = " ".join(
        "".join(production.parts).lower()
        for kind in ("function", "aggregate", "analytic")
        for found in productions(kind).values()
        for production in found
    )
    elsewhere = {"now", "current_date", "current_timestamp", "window", "session_window"}  # of the time of a stream
    elsewhere |= {"interpolate", "locf"}  # of groups with gaps
    elsewhere |= {"prev", "next", "classifier", "match_number"}  # of patterns
    elsewhere |= {"grouping", "grouping_id", "inline", "inline_outer", "posexplode", "posexplode_outer"}
    missing = {name for name in names - elsewhere if name not in calls}
    assert not missing, sorted(missing)


def test_most_of_what_is_written_is_accepted() -> None:
    writer = Writer(Random(0), STREAMS)
    texts = [writer.query().text for _ in range(200)]
    assert sum(map(accepted, texts)) > 160


def test_no_random_text_ends_in_an_error_of_no_kind() -> None:
    """A text is accepted or refused by name, also where it is nested deeply."""
    for seed in range(SEED, SEED + 15):
        writer = Writer(Random(seed), STREAMS)
        for _ in range(10):
            accepted(writer.query(3).text)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_do_not_depend_on_how_rows_came(spark: SparkSession, seed: int) -> None:
    chosen = Random(seed)
    written_ = written(Writer(chosen, STREAMS), 2)
    texts = {f"q{i}": next(written_).text for i in range(4)}
    rows = {"t": alike_rows(chosen, 8), "u": alike_rows(chosen, 4)}
    found = {}
    for load in LOADS:
        with loaded(spark, load, rows) as session:
            found[load.name] = answers(session, registered(session, texts))
    for name, text in texts.items():
        for load in LOADS[1:]:
            if name in found[LOADS[0].name] and name in found[load.name]:
                check(f"seed {seed}, {load.name}: {text}", found[load.name][name], found[LOADS[0].name][name])


@pytest.mark.parametrize("seed", SEEDS)
def test_twins_and_the_parts_of_three_valued_logic_answer_alike(spark: SparkSession, seed: int) -> None:
    chosen = Random(seed)
    written_ = written(Writer(chosen, STREAMS), 1)
    queries = {f"q{i}": next(written_) for i in range(2)}
    texts = {name: query.text for name, query in queries.items()}
    groups: list[tuple[str, tuple[str, ...]]] = []
    for name, query in queries.items():
        for about, text in twins(query):
            if accepted(text):
                texts[f"{name}: {about}"] = text
                groups.append((name, (f"{name}: {about}",)))
        parts = partitions(query, chosen)
        if all(map(accepted, parts)):
            names = tuple(f"{name}: part {i}" for i in range(3))
            texts |= dict(zip(names, parts, strict=True))
            groups.append((name, names))
    rows = {"t": alike_rows(chosen, 10), "u": alike_rows(chosen, 6)}
    with loaded(spark, Load("some", history=5, batch=3), rows) as session:
        found = answers(session, registered(session, texts))
    for name, members in groups:
        if name in found and all(member in found for member in members):
            together = [row for member in members for row in found[member]]
            check(f"seed {seed}, {members}: {texts[name]}; {texts[members[0]]}", together, found[name])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_answers_alike_in_three_dialects(spark: SparkSession, seed: int) -> None:
    chosen = Random(seed)
    orders = (" NULLS LAST", " DESC NULLS FIRST", " ASC NULLS FIRST", " DESC NULLS LAST")
    one = ("{}",)  # of no rows several groupings have a row in databases, and none in Spark
    writer = Writer(chosen, STREAMS, lambda production: production.common, orders, one)
    written_ = written(writer, 1, ("spark", *DIALECTS))
    texts = {f"q{i}": next(written_).text for i in range(4)}
    rows = {"t": alike_rows(chosen, 10), "u": alike_rows(chosen, 6)}
    with loaded(spark, Load("some", history=5, batch=3), rows) as session:
        queries = {
            f"{name} {dialect}": session.register(text, f"{name} {dialect}", dialect)
            for name, text in texts.items()
            for dialect in ("spark", *DIALECTS)
        }
        found = answers(session, queries)
    for name, text in texts.items():
        for dialect in DIALECTS:
            check(f"seed {seed}, {dialect}: {text}", found[f"{name} {dialect}"], found[f"{name} spark"])


def check(about: str, found: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> None:
    missing, too_many = difference(found, expected)
    assert not missing and not too_many, f"{about}\nmissing {missing[:5]}\ntoo many {too_many[:5]}"
