"""Rows that are equal in most columns, below analytic functions, first rows and collected values, stacked at random.

SQL leaves open which of equal rows gets which value, so answers are checked in two ways: they are *consistent* (changes
sum up to the answer after every batch, nothing is taken back that was not there, and the same rows loaded at once, row
by row, or inserted, deleted and inserted again give the same answer), and they are *allowed*: the values of each single
function are DuckDB's, whose OVER says the order of peers. Many with ``ARGUS_FUZZ=200``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from long import LONG
from oracle.bags import difference, frame_rows, rows
from oracle.equal_rows import Question, Questions, accepted, random_table
from oracle.loads import Load, check_changes
from pyspark.sql import SparkSession

from workbench import Options, Session
from workbench.limits import Limits

SEEDS = int(os.environ.get("ARGUS_FUZZ", "4" if LONG else "1"))
QUERIES = 8 if SEEDS > 1 else 5
"""Queries of a seed, each over three streams."""

BATCHES = 3
STREAMS = ("at_once", "by_row", "and_back")


def check(session: Session, names: Sequence[str], asked: Mapping[str, Question], so_far: pa.Table) -> None:
    """The answers are the sums of their changes; values of each function are those that SQL allows."""
    duck = duckdb.connect()
    duck.register("t", so_far)
    for name in names:
        question, query = asked[name.rpartition("_of_")[0]], session.query(name)
        found = frame_rows(query.result())
        check_changes(query, found)
        columns = len(query.columns) - len(question.allowed)
        for at, allowed in enumerate(question.allowed):
            if not allowed:
                continue
            expected = rows(duck.execute(allowed.format(t="t")).fetchall())
            of_function = [(*row[:columns], row[columns + at]) for row in found]
            missing, more = difference(of_function, expected)
            assert not missing and not more, f"{name}: {query.sql}\nf{at}: missing {missing}, too many {more}"
    duck.close()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_equal_rows_in_any_history(spark: SparkSession, seed: int) -> None:
    chosen = random.Random(seed)
    limits = Limits(rows_of_large_partition=chosen.choice((1, 4, 4_096)))
    table = random_table(chosen)
    questions = Questions(chosen, table.columns)
    asked = {f"q{at}": question for at, question in enumerate(accepted(questions, QUERIES))}
    back, weights = Load("and back", order=seed, back=True).arriving(table.rows)
    size = -(-len(back) // BATCHES)
    by_row = -(-len(table.rows) // BATCHES)
    with Session(spark, limits=limits) as session:
        session.add_stream("at_once", table.arrow(table.rows), history=len(table.rows))
        session.add_stream("by_row", table.arrow(table.rows), history=0, batch=by_row)
        session.add_stream("and_back", table.arrow(back, weights), history=0, batch=size, weight="w")
        names = {of: [f"{name}_of_{of}" for name in asked] for of in STREAMS}
        for of in STREAMS:
            texts = {name: q.sql.format(t=of) for name, q in zip(names[of], asked.values(), strict=True)}
            session.register_many(texts, dialect="duckdb")
        for batch in range(1, BATCHES + 1):
            session.run(1)
            check(session, names["by_row"], asked, table.arrow(table.rows[: batch * by_row]))
        for of in STREAMS:
            check(session, names[of], asked, table.arrow(table.rows))
        for at, name in enumerate(asked):
            answers = [frame_rows(session.query(names[of][at]).result()) for of in STREAMS]
            for other, answer in pairwise(answers):
                missing, more = difference(answer, other)
                assert not missing and not more, f"{asked[name].sql}: {answers}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_equal_rows_whatever_else_happens(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    """Nodes get and lose readers, are hydrated anew, and come from the disk; a session that shares nothing agrees."""
    chosen = random.Random(-1 - seed)
    table = random_table(chosen)
    asked = [question.sql.format(t="t") for question in accepted(Questions(chosen, table.columns), QUERIES)]
    back, weights = Load("and back", order=seed, back=True).arriving(table.rows)
    rows_, size = table.arrow(back, weights), -(-len(back) // (BATCHES + 1))
    with Session(spark, options=Options(sharing=False)) as alone:
        alone.add_stream("t", rows_, history=len(back), weight="w")
        expected = alone.register_many({f"q{at}": sql for at, sql in enumerate(asked)}, dialect="duckdb")
        answers = {name: frame_rows(query.result()) for name, query in expected.items()}
    session = Session(spark, tmp_path / "s")
    session.add_stream("t", rows_, history=size, batch=size, weight="w")
    waiting, there = list(answers), list[str]()
    for batch in range(BATCHES):
        for name in waiting[: -(-len(answers) // BATCHES)]:
            session.register(asked[int(name[1:])], name, dialect="duckdb")
            there.append(waiting.pop(0))
        session.run(1)
        if batch == 1:
            session.drop(dropped := chosen.choice(there))
            there.remove(dropped)
        if batch == 2:
            session.close()
            session = Session.open(tmp_path / "s", spark)
        if chosen.random() < 0.2:
            session.seek(1)
            session.run(batch)
    with session:
        assert session.batch == BATCHES
        for name in there:
            found = frame_rows(session.query(name).result())
            check_changes(session.query(name), found)
            missing, more = difference(found, answers[name])
            assert not missing and not more, f"{session.query(name).sql}: missing {missing}, too many {more}"
