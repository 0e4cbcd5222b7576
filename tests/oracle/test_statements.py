"""Random statements, everything nested in everything, batch by batch against three databases by the same text.

The streams are corrected, rows are alike, and half of the statements come late. ``ARGUS_FUZZ=400`` writes 400
statements from the run's seed on.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from random import Random

import duckdb
import psycopg
import pyarrow as pa
import pytest
import servers
from oracle.bags import Row
from oracle.bags import rows as bag_rows
from oracle.harness import Case, Feed, Oracle
from oracle.statements.writing import STREAMS, Writer
from oracle.test_corrections import corrected
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.errors import SqlError
from workbench.limits import LIMITS

SEED = int(os.environ["ARGUS_SEED"])
STATEMENTS = 16
"""Of a session."""
SEEDS = range(SEED, SEED + max(1, int(os.environ.get("ARGUS_FUZZ", "0")) // STATEMENTS))
IN_PROCESS = replace(
    LIMITS,
    **{
        f"{what}_{of}_in_process": 1_000_000_000
        for what in ("rows", "bytes", "milliseconds")
        for of in ("stepped", "hydrated")
    },
)
"""What joins give in between, and takes long on a busy machine, is left to no Spark."""
FEW = 400
"""Rows of an answer at first; there may be ten times as many in the end."""
_START = dt.datetime(2002, 10, 31)
_VALUES: Mapping[str, tuple[pa.DataType, str, list[object]]] = {
    "a": (pa.int64(), "bigint", [0, 1, 2, 3, -1]),
    "b": (pa.int64(), "bigint", [1, 2, 3, 5, 8, 13]),
    "m": (pa.decimal128(10, 2), "numeric(10, 2)", [Decimal(n).scaleb(-2) for n in (0, 150, -225, 1000, 999)]),
    "x": (pa.float64(), "double precision", [0.0, 0.5, -1.25, 2.0, 8.0]),
    "s": (pa.string(), "text", ["a", "b", "ab", "", "A", " b"]),
    "d": (pa.date32(), "date", [dt.date(2002, 11, 1) + dt.timedelta(days) for days in range(-3, 4)]),
    "at": (pa.timestamp("us"), "timestamp", [_START + dt.timedelta(hours=hours) for hours in range(0, 80, 9)]),
    "p": (pa.bool_(), "boolean", [True, False]),
}
"""Few values, so that rows meet and are alike. Sums of the binary numbers are exact in every order."""


def rows(number: int, chosen: Random) -> pa.Table:
    made = list[tuple[object, ...]]()
    for _ in range(number):
        if made and chosen.random() < 0.2:
            made.append(chosen.choice(made))
        else:
            made.append(tuple(None if chosen.random() < 0.1 else chosen.choice(of) for *_, of in _VALUES.values()))
    columns = zip(*made, strict=True)
    return pa.table(
        {name: pa.array(column, of[0]) for (name, of), column in zip(_VALUES.items(), columns, strict=True)}
    )


def feeds(seed: int) -> dict[str, Feed]:
    """Two streams are corrected, one of them from nothing, and the third only grows."""
    t, u, v = (rows(number, Random(seed + i)) for i, number in enumerate((70, 40, 40)))
    return dict(zip(STREAMS, (corrected(t, 30, 25, seed), corrected(u, 0, 20, seed), Feed(v, 12, 8)), strict=True))


class OtherOracle(Oracle):
    """A session beside another database that has the same rows."""

    def __init__(self, seed: int) -> None:
        self.copied = -1
        super().__init__(InProcess(), feeds(seed), limits=IN_PROCESS)

    def answer(self, question: str) -> list[Row]:
        """The database's answer over the same rows."""
        if self.copied != self.known:
            self.copied = self.known
            for name in self.feeds:
                self.copy(name)
        return bag_rows(self.ask(question))

    def copy(self, name: str) -> None:
        """Replace a table of the database by what DuckDB has."""
        raise NotImplementedError

    def ask(self, question: str) -> Iterable[Iterable[object]]:
        """Rows of the database."""
        raise NotImplementedError


class PostgresOracle(OtherOracle):
    """A session beside a PostgreSQL."""

    def __init__(self, address: str, seed: int) -> None:
        self.postgres = psycopg.connect(address, autocommit=True)
        self.columns = ", ".join(f"{name} {of}" for name, (_, of, _) in _VALUES.items())
        super().__init__(seed)

    def __exit__(self, *problem: object) -> None:
        super().__exit__(*problem)
        self.postgres.close()

    def copy(self, name: str) -> None:
        self.postgres.execute(f"DROP TABLE IF EXISTS {name}; CREATE TEMPORARY TABLE {name} ({self.columns})")
        with self.postgres.cursor() as cursor:
            there = self.duck.execute(f"SELECT * FROM {name}").fetchall()
            cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(_VALUES))})", there)

    def ask(self, question: str) -> Iterable[Iterable[object]]:
        return self.postgres.execute(question).fetchall()


class SparkOracle(OtherOracle):
    """A session without Spark beside Spark SQL."""

    def __init__(self, spark: SparkSession, seed: int) -> None:
        self.sql = spark.newSession()  # its views are its own
        super().__init__(seed)

    def copy(self, name: str) -> None:
        there = self.duck.sql(f"SELECT * FROM {name}").to_arrow_table()
        self.sql.createDataFrame(there).createOrReplaceTempView(name)

    def ask(self, question: str) -> Iterable[Iterable[object]]:
        return self.sql.sql(question).collect()


def registered(oracle: Oracle, texts: Iterable[tuple[str, str]], dialect: str) -> int:
    """Register statements of few rows that the database takes and that need no Spark; the number of them."""
    number = 0
    for name, text in texts:
        try:
            if len(oracle.answer(text)) > FEW:
                continue
            oracle.register({name: Case(text, dialect=dialect)})
            number += 1
        except (duckdb.Error, psycopg.Error, PySparkException, SqlError):
            continue
        except NeedsSparkError:
            if oracle.watched.pop(name, None) is not None:
                oracle.session.drop(name)
    return number


def check(oracle: Oracle, seed: int, dialect: str, statements: int = STATEMENTS) -> None:
    """Statements from the start and late ones, which answer as the database does after each batch."""
    writer = Writer(Random(seed), dialect)
    texts = [(f"q{number}", writer.statement().text) for number in range(statements)]
    taken = registered(oracle, texts[::2], dialect)
    oracle.run(2)
    taken += registered(oracle, texts[1::2], dialect)
    oracle.run(2)
    oracle.check_changes()
    assert taken >= statements // 2


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_of_duckdb(seed: int) -> None:
    with Oracle(InProcess(), feeds(seed), limits=IN_PROCESS) as oracle:
        check(oracle, seed, "duckdb")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with servers.postgres_by_bytes() as address:
        yield address


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_of_postgres(address: str, seed: int) -> None:
    with PostgresOracle(address, seed) as oracle:
        check(oracle, seed, "postgres")


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_of_spark(spark: SparkSession, seed: int) -> None:
    with SparkOracle(spark, seed) as oracle:
        check(oracle, seed, "spark", STATEMENTS // 2)  # a job for each of them after each batch
