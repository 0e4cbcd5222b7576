"""An answer taken along, as a Spark DataFrame, Parquet or CSV, is DuckDB's, with its types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from oracle.bags import Row, difference, rows
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyarrow import parquet
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError
from workbench.sql.algebra.types import DataType

LATEST = "(SELECT max(d) FROM w)"
CASES = {
    "all_types": Case("SELECT * FROM t"),
    "groups": Case("SELECT g, d, COUNT(*) AS n, SUM(amount) AS total, MIN(ts) AS lowest FROM t GROUP BY g, d"),
    "nothing": Case("SELECT d, wide FROM t WHERE k = 12345678"),
    "window": Case(
        "SELECT g, d, amount FROM w WHERE d > now() - 20", f"SELECT g, d, amount FROM w WHERE d > {LATEST} - 20"
    ),
    "of_window": Case(
        "SELECT g, MAX(amount) AS most, COUNT(*) AS n FROM w WHERE d > now() - 9 GROUP BY g",
        f"SELECT g, MAX(amount), COUNT(*) FROM w WHERE d > {LATEST} - 9 GROUP BY g",
    ),
    "called": Case("SELECT id, doubled(k) AS twice FROM w"),
}
FUNCTIONS = {"doubled": (lambda k: None if k is None else 2.0 * k, ["BIGINT"], "DOUBLE")}


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    feeds = {
        "t": Feed(stream(160, seed=81), history=60, batch=50),
        "w": Feed(stream(160, seed=82, extremes=0), history=60, batch=50, time="d"),
    }
    with Oracle(spark, feeds, functions=FUNCTIONS) as made:
        made.register(CASES, check=False)
        made.register({"computed": CASES["of_window"]}, check=False, results="off")
        made.run(1, check=False)
        yield made


def check(oracle: Oracle, name: str, found: list[Row]) -> None:
    """Rows are the answer after the first batch."""
    assert difference(rows(found), oracle.watched[name].expected[1]) == ([], []), name


def arrow_name(type_: DataType) -> str:
    names = {"integer": "int64", "date": "date32[day]", "timestamp": "timestamp[us]", "boolean": "bool"}
    return names.get(str(type_), str(type_).replace("decimal(", "decimal128(").replace(",", ", "))


def test_a_parquet_file_is_the_answer_with_its_types(oracle: Oracle, tmp_path: Path) -> None:
    for name, query in oracle.session.queries.items():
        file = tmp_path / f"{name}.parquet"
        saved = query.save(file)
        found = duckdb.sql(f"FROM '{file}'").fetchall()
        check(oracle, name, found)
        assert saved == len(found)
        assert [(f.name, str(f.type)) for f in parquet.read_schema(file)] == [
            (column, arrow_name(type_)) for column, type_ in query.columns
        ]


def test_a_csv_file_is_the_answer(oracle: Oracle, tmp_path: Path) -> None:
    """A NULL is nothing and an empty text is quoted, so they can be told apart."""
    duck = {"integer": "bigint", "string": "varchar"}
    for name, query in oracle.session.queries.items():
        file = tmp_path / f"{name}.csv"
        saved = query.save(str(file))
        columns = {column: duck.get(str(type_), str(type_)) for column, type_ in query.columns}
        told = f"header = true, columns = {columns}, nullstr = '', allow_quoted_nulls = false"
        found = duckdb.sql(f"FROM read_csv('{file}', {told})").fetchall()
        check(oracle, name, found)
        assert saved == len(found)


def test_what_is_gone_cannot_be_taken_along(oracle: Oracle, tmp_path: Path) -> None:
    session: Session = oracle.session
    dropped = session.register("SELECT g FROM t", name="dropped")
    with pytest.raises(QueryError, match="neither Parquet nor CSV"):
        dropped.save(tmp_path / "rows.xlsx")
    session.drop("dropped")
    for take in (dropped.dataframe, lambda: dropped.save(tmp_path / "rows.csv")):
        with pytest.raises(QueryError, match="query dropped does not run: dropped"):
            take()
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_raises_is_told_and_no_file_is_written(oracle: Oracle, tmp_path: Path) -> None:
    session: Session = oracle.session
    session.add_function("picky", lambda k: [][0], returns="double")
    for number, take in enumerate((lambda q: q.dataframe(), lambda q: q.save(tmp_path / "rows.parquet"))):
        failing = session.register("SELECT picky(k) AS p FROM t", name=f"failing{number}")
        with pytest.raises(QueryError, match="function picky raised IndexError"):
            take(failing)
    assert list(tmp_path.iterdir()) == []


def test_a_dataframe_is_the_analysts_own_and_outlives_batches_and_the_session(
    oracle: Oracle, spark: SparkSession
) -> None:
    taken = {name: oracle.session.query(name).dataframe() for name in oracle.watched}
    for name, frame in taken.items():
        columns = oracle.session.query(name).columns
        assert [(f.name, f.dataType.simpleString()) for f in frame.schema] == [(n, t.spark) for n, t in columns]
        assert frame.sparkSession is spark
    oracle.run(1, check=False)
    oracle.session.close()
    for name, frame in taken.items():
        frame.createOrReplaceTempView("taken_along")
        check(oracle, name, [tuple(row) for row in spark.table("taken_along").collect()])
    spark.catalog.dropTempView("taken_along")
