"""The network as views: over all query classes DuckDB, PostgreSQL and Spark give from them the answers that DuckDB
gives to the queries, or they are refused by what cannot be written."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import psycopg
import pytest
from long import one_in, rare
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
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

TABLES = {"t": stream(150, 3, extremes=0.0), "u": stream(90, 4, extremes=0.0), "names": names(5)}
"""Without the ends of ranges: PostgreSQL stops at what overflows."""
SCHEMA = Schema({name: tuple((f.name, to_data_type(f.type)) for f in table.schema) for name, table in TABLES.items()})
CASES = one_in(16, sorted(ALL))
WRITTEN = {"duckdb": 251, "postgres": 248, "spark": 250, "flink": 251}
"""At least so many of all queries are written."""

FROM_TEXT: dict[str, Callable[[str], object]] = {
    "BIGINT": int, "HUGEINT": int, "INTEGER": int, "DOUBLE": float, "DECIMAL": Decimal, "BOOLEAN": "TRUE".__eq__,
    "DATE": dt.date.fromisoformat, "TIMESTAMP": dt.datetime.fromisoformat,
}  # fmt: skip
"""How a text of Flink is read, by DuckDB's type."""

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

    def script(sql: str) -> object:
        """DuckDB plans a view anew wherever it is read: ten over each other, each read twice, take it minutes."""
        return duck.execute(sql.replace("CREATE VIEW", "CREATE TABLE"))

    duck.execute("BEGIN")
    try:
        check(network, duck, "duckdb", CASES, script, ask)
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

        def script(sql: str) -> object:
            """Compute each view once: one of views over views, each read several times, takes PostgreSQL minutes."""
            return connection.execute(sql.replace("CREATE VIEW", "CREATE MATERIALIZED VIEW"))

        check(network, duck, "postgres", CASES, script, ask)


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


@rare
@pytest.mark.timeout(7_200)
@pytest.mark.skipif("ARGUS_FLINK" not in os.environ, reason="ARGUS_FLINK names a Python that has apache-flink 2.1")
def test_flink_gives_the_same_answers(network: NetworkView, duck: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Flink runs in an environment of its own, and gives its answers as texts."""
    types = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP(6)"}
    answers, described = dict[str, list[list[str | None]] | str](), dict[str, list[str]]()

    def run(script: str) -> None:
        statements = list[str]()
        for name in TABLES:
            columns = ", ".join(
                f"`{c}` {types.get(of, of)}" for c, of, *_ in duck.execute(f"DESCRIBE {name}").fetchall()
            )
            options = "FORMAT csv, HEADER false, NULLSTR '\\N', TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%f'"
            duck.execute(f"COPY {name} TO '{tmp_path / name}.csv' ({options})")
            files = (
                f"'connector'='filesystem', 'path'='{tmp_path / name}.csv', 'format'='csv', 'csv.null-literal'='\\N'"
            )
            statements.append(f"CREATE TABLE `{name}` ({columns}) WITH ({files})")
        for statement in script.split(";\n"):
            lines = (line for line in statement.splitlines() if not line.startswith("--"))
            statements.append("\n".join(lines).strip().removesuffix(";"))
        queries = dict[str, list[str]]()
        for name in (
            name for name in CASES if f"CREATE VIEW {name} AS" in script or f"CREATE VIEW `{name}` AS" in script
        ):
            names = unique_names([output.name for output in network.network.queries[name].outputs])
            queries[name] = [f"`{each}`" for each in (name, *(n.replace("`", "``") for n in names))]
            described[name] = [of for _, of, *_ in duck.execute(f"DESCRIBE {ALL[name].asked}").fetchall()]
        task = {"statements": list(filter(None, statements)), "queries": queries}
        (tmp_path / "task.json").write_text(json.dumps(task))
        program = Path(__file__).with_name("flink_views.py")
        subprocess.run([os.environ["ARGUS_FLINK"], program, tmp_path], check=True)
        answers.update(json.loads((tmp_path / "answers.json").read_text())["answers"])

    def ask(name: str) -> list[Row]:
        found = answers[name]
        assert not isinstance(found, str), (name, found)
        read = [FROM_TEXT.get(of.partition("(")[0], str) for of in described[name]]
        return rows((None if v is None else of(v) for of, v in zip(read, row, strict=True)) for row in found)

    check(network, duck, "flink", CASES, run, ask)


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


def test_fractions_have_no_digit_before_the_point() -> None:
    """Flink counts a zero there as one of the digits, which are too many then."""
    query = bind("SELECT amount - 0.005 AS b, amount + -0.01 AS c, amount * 10.5 AS d FROM t", "spark", SCHEMA).query
    assert query is not None
    written = NetworkView(Planner().register(Network(), "fractions", query).network).to_sql("flink")
    assert "CAST('.005' AS DECIMAL(3, 3))" in written and "CAST('10.5' AS DECIMAL(3, 1))" in written


def test_a_constant_that_rows_are_grouped_by_is_no_place_of_select(duck: duckdb.DuckDBPyConnection) -> None:
    text = "SELECT two, COUNT(*) AS n FROM (SELECT 2 AS two, id FROM t) AS q GROUP BY two"
    query = bind(text, "duckdb", SCHEMA).query
    assert query is not None
    view = NetworkView(Planner().register(Network(), "q", query).network)
    for dialect in WRITTEN.keys() - {"flink"}:
        assert re.search(r"GROUP BY CAST\(2L? AS \w+\)", view.to_sql(dialect))
    duck.execute("BEGIN")
    try:
        duck.execute(view.to_sql("duckdb"))
        assert duck.execute("SELECT * FROM q").fetchall() == duck.execute(text).fetchall()
    finally:
        duck.execute("ROLLBACK")


def test_an_offset_is_an_int_as_spark_takes_it() -> None:
    query = bind("SELECT id, LEAD(g, 2, 'none') OVER (ORDER BY id) AS g FROM t", "spark", SCHEMA).query
    assert query is not None
    written = NetworkView(Planner().register(Network(), "neighbours", query).network).to_sql("spark")
    assert "LEAD(`g`, 2, 'none') OVER (" in written


def test_flink_compares_all_columns_of_rows_that_are_counted() -> None:
    """It leaves out columns that are not read before EXCEPT ALL and INTERSECT ALL, which then compare the others."""
    for operator in ("EXCEPT", "INTERSECT"):
        query = bind(
            f"SELECT COUNT(*) AS n FROM (SELECT k, g FROM t {operator} ALL SELECT k, g FROM u) a", "spark", SCHEMA
        )
        assert query.query is not None
        view = NetworkView(Planner().register(Network(), "counted", query.query).network)
        written = view.to_sql("flink")
        assert "ROW_NUMBER() OVER (PARTITION BY `" in written and f"\n{operator}\n" in written
        assert f"\n{operator} ALL\n" in view.to_sql("postgres")


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
