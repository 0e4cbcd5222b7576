"""SQL one edit from a valid text: refused with its place and what to try, and not taken where DuckDB refuses it."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator

import duckdb
import pytest

from workbench.arrow.types import to_column_type
from workbench.errors import SqlError
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

MILK = (
    ("id", INTEGER), ("farm", STRING), ("ts", TIMESTAMP), ("day", DATE), ("kg", DOUBLE), ("price", INTEGER),
    ("ok", BOOLEAN), ("tags", to_column_type("array<string>")),
)  # fmt: skip
FARMS = (("farm", STRING), ("village", STRING), ("cows", INTEGER))
SCHEMA = Schema({"Milk": MILK, "Farms": FARMS}, times={"Milk": "ts"})
VALID = (
    "SELECT farm, SUM(kg) AS kg FROM Milk WHERE price > 40 GROUP BY farm HAVING COUNT(*) > 2 ORDER BY kg DESC LIMIT 5",
    "SELECT m.farm, f.village, m.kg FROM Milk m JOIN Farms f ON m.farm = f.farm WHERE m.kg BETWEEN 10 AND 20",
    "SELECT m.farm FROM Milk m LEFT JOIN Farms f ON m.farm = f.farm WHERE f.farm IS NULL",
    "SELECT farm, CASE WHEN kg > 1000 THEN 'big' WHEN kg > 10 THEN 'mid' ELSE 'small' END AS size FROM Milk",
    "SELECT farm, kg, LAG(kg) OVER (PARTITION BY farm ORDER BY ts) AS before FROM Milk",
    "SELECT AVG(kg) OVER (PARTITION BY farm ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM Milk",
    "WITH big AS (SELECT farm, SUM(kg) AS kg FROM Milk GROUP BY farm) SELECT farm FROM big WHERE kg > 100",
    "SELECT farm FROM Milk WHERE farm IN (SELECT farm FROM Farms WHERE cows > 20)",
    "SELECT farm FROM Milk m WHERE EXISTS (SELECT 1 FROM Farms f WHERE f.farm = m.farm)",
    "SELECT COUNT(DISTINCT farm) AS n, MIN(kg), MAX(kg) FROM Milk WHERE ok AND farm LIKE 'A%'",
    "SELECT farm FROM Milk UNION ALL SELECT farm FROM Farms",
    "SELECT DISTINCT farm, EXTRACT(YEAR FROM day) AS y FROM Milk WHERE day >= DATE '2026-01-01'",
    "SELECT CAST(kg AS INTEGER) AS k, COALESCE(farm, 'none') AS f FROM Milk WHERE NOT ok OR price IS NOT NULL",
    "SELECT farm, COUNT(*) FILTER (WHERE ok) AS n FROM Milk GROUP BY farm",
    "SELECT DATE_TRUNC('month', ts) AS m, ROUND(AVG(kg), 2) AS a FROM Milk GROUP BY DATE_TRUNC('month', ts)",
    "SELECT kg::INTEGER + 1 AS k, price - 1 AS p, -kg AS n FROM Milk WHERE day > '2026-01-01' AND ts > '2026-01-01'",
    "SELECT farm || '-' || price::VARCHAR AS name, (kg + 1) * -1 AS m FROM Milk WHERE farm > 'A' OR -price < -(40 - 2)",
)
WORDS = re.compile(r"'[^']*'|[A-Za-z_]\w*|\d+(?:\.\d+)?|::|<=|>=|<>|[^\s]")
DRAWN = 220
"""Texts of a dialect."""
SIGNS = {
    "=": ("==", ":=", "=<", "eq", "equals"), ">": ("=>", "!>", "gt", "is more than"), "AND": ("&&", ",", "WHERE"),
    "NOT": ("!",), "OR": ("|", "or else"), ",": ("|", ", ,"),
}  # fmt: skip
"""What other languages write in the place of a word."""
NAMED = ("{0}?", "@{0}", "{0}@v1", "[{0}]", "{{{0}}}", "{0} y z", "{0}.sum()")
LENGTHS = ("2026-01-01", "7/2", "'a' 'b'", "$5")
TAILS = (
    "FETCH FIRST 3", "FETCH NEXT 2 ROWS", "LIMIT 3 ROWS", "LIMIT 1,", "TOP 3", "ORDER", "WITH TIES", "| head", "AS x",
    "EMIT CHANGES", "WHERE kg > 3 WHERE ok", "GROUP BY farm GROUP BY kg", "HAVING ok HAVING ok", ", GROUP BY farm",
)  # fmt: skip
HABITS = 600
VAGUE = ("something is missing, or too much", "try it part by part")


def edits(sql: str) -> Iterator[str]:
    """The texts that are one edit away: a word left out, doubled, misspelt, exchanged, a bracket or a comma wrong."""
    places = [found.span() for found in WORDS.finditer(sql)]
    for (begin, end), following in zip(places, [*places[1:], None], strict=True):
        before, word, after = sql[:begin], sql[begin:end], sql[end:]
        yield before + after
        yield f"{before}{word} {word}{after}"
        if word.isalpha() and len(word) > 3:
            half = len(word) // 2
            yield before + word[:half] + word[half + 1 :] + after
        if word in "()":
            yield before + {"(": "[", ")": "]"}[word] + after
        if word == ",":
            yield before + ";" + after
        if word == "(":
            yield f"{before}(, {after}"
            yield f"{before}(farm, {after}"
        if word[0] == "'":
            yield f'{before}"{word[1:-1]}"{after}'
        if following is not None:
            yield f"{before}{sql[following[0] : following[1]]} {word} {sql[following[1] :]}"


def habits(sql: str) -> Iterator[str]:
    """The texts as somebody writes them who knows other languages: their signs, names, numbers, and clauses."""
    for found in WORDS.finditer(sql):
        begin, end = found.span()
        before, word, after = sql[:begin], sql[begin:end], sql[end:]
        is_name = word.isalpha() and word in ("Milk", "Farms", "farm", "kg", "ok", "day")
        forms = SIGNS.get(word, ()) if not is_name else (form.format(word) for form in NAMED)
        yield from (before + form + after for form in forms)
        if word[0].isdigit() or word[0] == "'":
            yield from (before + form + after for form in LENGTHS)
    clauses = re.split(r"\s(?=(?:FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT)\b)", sql)
    for at in range(1, len(clauses)):
        yield " ".join([*clauses[: at - 1], clauses[at], clauses[at - 1], *clauses[at + 1 :]])
        yield " ".join([*clauses[: at + 1], *clauses[at:]])
    yield from (f"{sql} {tail}" for tail in TAILS)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE Milk (id BIGINT, farm VARCHAR, ts TIMESTAMP, day DATE, kg DOUBLE, price BIGINT, ok BOOLEAN,"
            " tags VARCHAR[]); CREATE TABLE Farms (farm VARCHAR, village VARCHAR, cows BIGINT)"
        ).fetchall()
        yield connection


def takes(database: duckdb.DuckDBPyConnection, sql: str, unbound: bool = True) -> bool:
    """Whether DuckDB reads a text; names and types, which are compared elsewhere, may be wrong where ``unbound``."""
    try:
        database.execute(f"EXPLAIN {sql}").fetchall()
    except duckdb.ParserException:
        return False
    except duckdb.Error:
        return unbound
    return True


@pytest.mark.parametrize("dialect", ["duckdb", "spark", "postgres"])
def test_each_is_refused_with_its_place_and_a_hint(dialect: str, database: duckdb.DuckDBPyConnection) -> None:
    drawn, unclear, vague = random.Random(47), list[str](), 0
    for sql in drawn.sample([text for valid in VALID for text in edits(valid)], DRAWN):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                bind(sql, dialect, SCHEMA)
            except SqlError as error:
                vague += any(word in str(error.hint) for word in VAGUE)
                if error.position is None or not error.hint:
                    unclear.append(f"{sql}\n{error}")
                continue
        if dialect == "duckdb" and not told and not takes(database, sql):
            unclear.append(f"taken: {sql}")
    assert not unclear, "\n\n".join(unclear)
    assert vague <= DRAWN // 40


@pytest.mark.slow
def test_habits_of_other_languages_are_refused_as_duckdb_does(database: duckdb.DuckDBPyConnection) -> None:
    drawn, unlike, vague = random.Random(71), list[str](), 0
    texts = drawn.sample([text for valid in VALID for text in habits(valid)], HABITS)
    for sql in texts:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                bind(sql, "duckdb", SCHEMA)
            except SqlError as error:
                vague += any(word in str(error.hint) for word in VAGUE)
                if (
                    error.position is None
                    or not error.hint
                    or ("syntax error" in str(error) and takes(database, sql, False))
                ):
                    unlike.append(f"{sql}\n{error}")
                continue
        if not told and not takes(database, sql):
            unlike.append(f"taken: {sql}")
    assert not unlike, "\n\n".join(unlike)
    assert vague <= HABITS // 40


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT m.farm FROM Milk m WHERE m m.kg > 3", "m stands twice: leave one out"),
        ("SELECT farm FROM Milk WHERE kg > 3 price > 4", "AND or OR is missing between 3 and price"),
        ("SELECT farm FROM Milk WHERE kg 3", "a sign is missing between kg and 3"),
        ("SELECT farm FROM Milk price > 3", "WHERE, or ON, is missing before price"),
        ("SELECT farm, MAX(kg] FROM Milk", "( is closed by ), not by ]"),
        ("SELECT farm, MAX[kg) FROM Milk", "write ( in the place of ["),
        ("SELECT farm; MAX(kg) FROM Milk", "; ends a statement"),
        ("SELECT m. FROM Milk m WHERE m.kg > 3 AND m.ok", "a name is missing behind m."),
        ("SELECT farm FROM Milk ORDER BY DESC kg", "write kg before DESC"),
        ("SELECT MIN(kg) MAX(kg) FROM Milk", "is a comma missing"),
        ("SELECT farm, (kg) OVER (ORDER BY ts) FROM Milk", "OVER stands behind a function"),
        ("farm, kg FROM Milk", "a query begins with SELECT"),
        ("SELECT SUM(kg)) AS s FROM Milk WHERE ok", "it closes nothing"),
        ("SELECT price - 1 AS p -kg AS n FROM Milk", "is a comma missing between p and -?"),
        ("SELECT farm AS name (kg + 1) * 2 AS n FROM Milk", "is a comma missing"),
    ],
)
def test_the_change_that_makes_it_readable_is_said(sql: str, hint: str) -> None:
    with pytest.raises(SqlError) as told:
        bind(sql, "spark", SCHEMA)
    assert str(told.value.hint).startswith(hint) and told.value.position is not None
