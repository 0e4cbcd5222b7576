"""The network as views: over all query classes DuckDB, PostgreSQL and Spark give from them the answers that DuckDB
gives to the queries, or they are refused by what cannot be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import duckdb
import psycopg
import pytest
from long import LONG, rare
from oracle.bags import Row, difference, rows
from oracle.class_queries import ALL
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from servers import postgres

from workbench.arrow.types import to_data_type
from workbench.errors import QueryError, UnsupportedError
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

TABLES = {"t": stream(150, 3, extremes=0.0), "u": stream(90, 4, extremes=0.0), "names": names(5)}
"""Without the ends of ranges: PostgreSQL stops at what overflows."""
SCHEMA = Schema({name: tuple((f.name, to_data_type(f.type)) for f in table.schema) for name, table in TABLES.items()})
EVERY = 1 if LONG else 16
CASES = sorted(ALL)[int(os.environ["ARGUS_SEED"]) % EVERY :: EVERY]
WRITTEN = {"duckdb": 251, "postgres": 248, "spark": 250}
"""At least so many of all queries are written."""

Run = Callable[[str], list[Row]]


@pytest.fixture(scope="module")
def network() -> NetworkView:
    """One shared network of the queries."""
    planner, network = Planner(), Network()
    for name in CASES:
        bound = bind(ALL[name].sql, ALL[name].dialect, SCHEMA)
        query = bound.query if bound.query is not None else bound.views[-1][1]
        network = planner.register(network, name, query).network
    return NetworkView(network)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, table in TABLES.items():
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        yield connection


def check(
    network: NetworkView,
    duck: duckdb.DuckDBPyConnection,
    dialect: str,
    cases: list[str],
    script: Callable[[str], object],
    ask: Run,
) -> None:
    """Run one script of all that can be written, and compare each answer."""
    written, refused = list[str](), dict[str, str]()
    for name in cases:
        try:
            network.to_sql(dialect, [name])
            written.append(name)
        except UnsupportedError as problem:
            refused[name] = problem.message
    assert all(name in why or "cannot be written" in why for name, why in refused.items())
    assert len(written) >= 0.5 * WRITTEN[dialect] * len(cases) / len(ALL)
    right = {name: rows(duck.execute(ALL[name].asked).fetchall()) for name in written}
    script(network.to_sql(dialect, written))
    wrong = dict[str, tuple[list[Row], list[Row]]]()
    for name in written:
        missing, more = difference(ask(name), right[name], zero=max(ALL[name].zero, 1e-9))
        if missing or more:
            wrong[name] = (missing[:3], more[:3])
    assert not wrong, wrong
    if len(cases) == len(ALL):
        assert len(written) >= WRITTEN[dialect]


def test_duckdb_gives_the_same_answers(network: NetworkView, duck: duckdb.DuckDBPyConnection) -> None:
    def ask(name: str) -> list[Row]:
        return rows(duck.execute(f'SELECT * FROM "{name}"').fetchall())

    duck.execute("BEGIN")
    try:
        check(network, duck, "duckdb", CASES, duck.execute, ask)
    finally:
        duck.execute("ROLLBACK")


def test_postgres_gives_the_same_answers(network: NetworkView, duck: duckdb.DuckDBPyConnection) -> None:
    types = {"BIGINT": "BIGINT", "VARCHAR": "TEXT", "DOUBLE": "DOUBLE PRECISION"}
    with postgres() as address, psycopg.connect(address) as connection:
        for name in TABLES:
            about = duck.execute(f"DESCRIBE {name}").fetchall()
            columns = ", ".join(f"{column} {types.get(of, of)}" for column, of, *_ in about)
            connection.execute(f"CREATE TABLE {name} ({columns})")
            with connection.cursor() as cursor:
                marks = ", ".join(["%s"] * len(about))
                cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", duck.table(name).fetchall())

        def ask(name: str) -> list[Row]:
            return rows(connection.execute(f'SELECT * FROM "{name}"').fetchall())

        check(network, duck, "postgres", CASES, connection.execute, ask)


@rare
@pytest.mark.timeout(3_000)
def test_spark_gives_the_same_answers(
    network: NetworkView, duck: duckdb.DuckDBPyConnection, spark: SparkSession
) -> None:
    for name, table in TABLES.items():
        spark.createDataFrame(table).createOrReplaceTempView(name)
    made = list[str]()

    def run(script: str) -> None:
        """As a pipeline does, compute each view once: a view of views would be planned with all of them, as often as it
        reads them, which is 2^10 times for a recursion of ten steps."""
        for statement in script.split(";\n"):
            if text := "\n".join(line for line in statement.splitlines() if not line.startswith("--")).strip():
                name, _, query = text.removeprefix("CREATE MATERIALIZED VIEW ").partition(" AS\n")
                made.append(name.strip("`"))
                spark.sql(query).localCheckpoint().createOrReplaceTempView(name)

    def ask(name: str) -> list[Row]:
        return rows(spark.sql(f"SELECT * FROM `{name}`").collect())

    try:
        check(network, duck, "spark", CASES, run, ask)
    finally:
        for name in (*made, *TABLES):
            spark.catalog.dropTempView(name)


def test_what_cannot_be_written_is_named(network: NetworkView) -> None:
    planner = Planner()
    query = bind("SELECT MEDIAN(x) AS m, COUNT(*) AS n FROM t", "spark", SCHEMA).query
    assert query is not None
    view = NetworkView(planner.register(Network(), "middle", query).network)
    with pytest.raises(UnsupportedError, match="query middle: the aggregate median cannot be written for postgres"):
        view.to_sql("postgres")
    with pytest.raises(UnsupportedError, match="a network is not written for oracle"):
        network.to_sql("oracle")
    with pytest.raises(QueryError, match="there is no query nothing"):
        network.to_sql("duckdb", ["nothing"])


def test_nodes_are_called_by_what_they_do() -> None:
    planner, network = Planner(), Network()
    for name, sql in {
        "big": "SELECT id FROM t WHERE amount > 1000",
        "order": "SELECT g, COUNT(*) AS n FROM t WHERE amount > 1000 GROUP BY g",
    }.items():
        query = bind(sql, "spark", SCHEMA).query
        assert query is not None
        network = planner.register(network, name, query).network
    assert (
        NetworkView(network).to_sql("postgres")
        == """\
-- for big, order
CREATE VIEW selection_amount_1000 AS
SELECT * FROM t
WHERE ("amount" > 1000);

-- for order
CREATE VIEW groups_by_g AS
SELECT "g" AS "g", COUNT(*) AS "count_6930009f"
FROM selection_amount_1000
GROUP BY "g";

CREATE VIEW big AS
SELECT "id" AS "id"
FROM selection_amount_1000;

CREATE VIEW "order" AS
SELECT "g" AS "g", "count_6930009f" AS "n"
FROM groups_by_g;
"""
    )
