"""What is read in a dialect though its database does not have it is said; what it refuses is refused."""

from __future__ import annotations

import re
import warnings

import duckdb
import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import functions
from workbench.sql.functions.lacking_names import LACKING_FUNCTIONS, LACKING_TYPES
from workbench.sql.schema import Schema, UserFunction

SCHEMA = Schema({"Jobs": (("id", INTEGER), ("team", STRING), ("at", TIMESTAMP))}, times={"Jobs": "at"})
OWN = {"classifier", "match_number", "next", "prev", "interpolate", "locf", "session_window", "current_timestamp"}
"""Functions of clauses that the workbench adds to a dialect."""
NOTED = {
    ("postgres", "SELECT MEDIAN(id) FROM Jobs"): ("MEDIAN", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)"),
    ("duckdb", "SELECT TO_CHAR(at, 'YYYY') FROM Jobs"): ("TO_CHAR", "STRFTIME(t, '%Y-%m-%d')"),
    ("postgres", "SELECT month(at) FROM Jobs"): ("MONTH", "EXTRACT(MONTH FROM t)"),
    ("postgres", "SELECT team::datetime FROM Jobs"): ("DATETIME", "TIMESTAMP"),
    ("postgres", "SELECT CAST(team || (CAST(id AS TEXT)) AS string) FROM Jobs"): ("STRING", "TEXT"),
    ("spark", "SELECT id::VARCHAR FROM Jobs"): ("VARCHAR", "STRING"),
    ("spark", "SELECT DISTINCT ON (team) team, id FROM Jobs ORDER BY team, id"): ("DISTINCT ON", "QUALIFY"),
    ("postgres", "SELECT team FROM Jobs QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1"): ("QUALIFY", "a query around it"),
    ("postgres", "SELECT team, COUNT(*) AS n FROM Jobs GROUP BY team HAVING n > 1"): ("alias in HAVING", "repeats"),
}
SILENT = (
    ("spark", "SELECT CAST(id AS INT) AS number, CAST(id AS VARCHAR(9)) AS text, id AS varchar FROM Jobs"),
    ("postgres", "SELECT CAST(id AS INT) AS double, (SELECT MAX(id) AS string FROM Jobs) AS string FROM Jobs"),
    (
        "postgres",
        "WITH mean (a) AS (SELECT id FROM Jobs) SELECT CAST(a AS DOUBLE PRECISION) AS b FROM mean AS m",
    ),
    ("postgres", "SELECT MAX(id) AS id FROM Jobs HAVING MAX(id) > 3"),
    ("duckdb", "SELECT team, COUNT(*) AS n FROM Jobs GROUP BY team HAVING n > 1"),
    ("duckdb", "CREATE MACRO std(x) AS x + 1; SELECT id FROM Jobs"),
)


@pytest.mark.parametrize(("dialect", "sql"), NOTED)
def test_what_the_database_lacks_is_said(dialect: str, sql: str) -> None:
    name, there = NOTED[dialect, sql]
    with pytest.warns(UserWarning, match=rf"{name}(.|\n)*\^(.|\n)*hint: there (.|\n)*{re.escape(there)}"):
        bind(sql, dialect, SCHEMA)


@pytest.mark.parametrize(("dialect", "sql"), SILENT)
def test_names_that_are_no_types_and_no_calls(dialect: str, sql: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind(sql, dialect, SCHEMA)


def test_a_function_of_ones_own_is_not_the_databases() -> None:
    own = {"nullifzero": UserFunction("nullifzero", INTEGER)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind("SELECT nullifzero(id) FROM Jobs", "postgres", Schema(SCHEMA.streams, functions=own))


def test_what_duckdb_lacks_is_listed() -> None:
    with duckdb.connect() as database:
        columns = "a BIGINT, b BIGINT, x DOUBLE, s VARCHAR, d DATE, ts TIMESTAMP, p BOOLEAN, amount DECIMAL(15, 2)"
        database.execute(f"CREATE TABLE t ({columns})").fetchall()
        there = {name for (name,) in database.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
        lacking = set()
        for name, known in functions("duckdb").items():
            try:
                database.execute(f"EXPLAIN SELECT {known.call} FROM t").fetchall()
            except duckdb.CatalogException:
                lacking |= {name} - there
            except duckdb.Error:
                continue
        for name in LACKING_TYPES["duckdb"]:
            with pytest.raises(duckdb.CatalogException):
                database.execute(f"SELECT CAST(NULL AS {name})")
    assert lacking - OWN == set(LACKING_FUNCTIONS["duckdb"].split())


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM Jobs GROUP BY {}", "SELECT id FROM Jobs ORDER BY {} DESC"])
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_a_text_is_no_column(dialect: str, sql: str) -> None:
    is_refused = dialect == "postgres" or (dialect == "duckdb" and "ORDER BY" in sql)
    told = pytest.raises(SqlError) if is_refused else pytest.warns(UserWarning)
    with told as said:
        bind(sql.format("'team'"), dialect, SCHEMA)
    message = str(said.value if is_refused else said[0].message)  # type: ignore[union-attr]
    assert message.startswith("'team' is a text") and "the column is team, without quotes" in message


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_a_text_in_a_partition_is_told(dialect: str) -> None:
    with pytest.warns(UserWarning, match="'team' is a text"):
        bind("SELECT SUM(id) OVER (PARTITION BY 'team' ORDER BY at) FROM Jobs", dialect, SCHEMA)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_count_takes_one_value(dialect: str) -> None:
    with pytest.raises(SqlError, match="COUNT takes one value") as refused:
        bind("SELECT COUNT(id, team) FROM Jobs", dialect, SCHEMA)
    assert refused.value.hint == "write COUNT(*) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)"
    bind("SELECT COUNT(*) FILTER (WHERE id IS NOT NULL AND team IS NOT NULL) FROM Jobs", dialect, SCHEMA)
    bind("SELECT COUNT(id, team) FROM Jobs", "spark", SCHEMA)
