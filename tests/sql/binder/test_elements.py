"""EXPLODE and UNNEST in FROM: every spelling is one query, and an array of any length has a check."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of
from workbench.sql.logical import Block, LogicalQuery, SetQuery, output_columns
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={
        "T": (("id", INTEGER), ("a", INTEGER), ("b", INTEGER), ("s", STRING)),
        "U": (("k", INTEGER), ("n", STRING)),
    },
    times={},
)


def query(sql: str, dialect: str = "spark") -> LogicalQuery:
    bound = bind(sql, dialect, SCHEMA).query
    assert bound is not None
    return bound


def names(sql: str, dialect: str = "spark") -> list[str]:
    return [name for name, _ in output_columns(query(sql, dialect))]


VIEW = "SELECT id, v FROM T LATERAL VIEW EXPLODE(ARRAY(a, b)) e AS v"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "SELECT id, v FROM T LATERAL VIEW OUTER EXPLODE(ARRAY(a, b)) AS v"),
        ("spark", "SELECT id, v FROM T LATERAL VIEW EXPLODE_OUTER(ARRAY(a, b)) e AS v"),
        ("spark", "SELECT id, v FROM T, LATERAL EXPLODE(ARRAY(a, b)) AS e(v)"),
        ("spark", "SELECT id, col AS v FROM T, LATERAL EXPLODE(ARRAY(a, b))"),
        ("spark", "SELECT id, v FROM T LATERAL VIEW POSEXPLODE(ARRAY(a, b)) e AS p, v"),
        ("spark", "SELECT id, v FROM T CROSS JOIN UNNEST(ARRAY(a, b)) AS e(v)"),
    ],
)
def test_every_spelling_is_one_query(dialect: str, sql: str) -> None:
    assert query(sql, dialect) == query(VIEW)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, v FROM T, UNNEST(ARRAY[a, b]) AS v",
        "SELECT id, v FROM T CROSS JOIN LATERAL UNNEST(ARRAY[a, b]) AS e(v)",
        "SELECT id, v FROM T CROSS JOIN UNNEST(ARRAY[a, b]) WITH ORDINALITY AS e(v, n)",
        "SELECT id, v FROM T LEFT JOIN UNNEST(ARRAY[a, b]) AS e(v) ON TRUE",
    ],
)
def test_every_spelling_of_postgres_is_one_query(sql: str) -> None:
    assert query(sql, "postgres") == query("SELECT id, unnest AS v FROM T, UNNEST(ARRAY[a, b])", "postgres")


def test_columns_are_called_as_in_the_dialect() -> None:
    assert names("SELECT e.* FROM T LATERAL VIEW POSEXPLODE(ARRAY(a, b)) e") == ["pos", "col"]
    assert names("SELECT e.* FROM T, UNNEST([a, b]) AS e", "duckdb") == ["unnest"]
    assert names("SELECT e.* FROM T, UNNEST(ARRAY[a, b]) WITH ORDINALITY AS e", "postgres") == ["e", "ordinality"]
    assert names("SELECT v LATERAL VIEW EXPLODE(ARRAY(1, 2)) e AS v") == ["v"]


PARTS = "SELECT id, v FROM T LATERAL VIEW EXPLODE(SPLIT(s, ',', 3)) e AS v"
KEPT = "SELECT id, p, v FROM T LATERAL VIEW OUTER POSEXPLODE(SPLIT(s, ',', 3)) e AS p, v"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PARTS, "SELECT id, v FROM T, LATERAL EXPLODE(SPLIT(s, ',', 3)) AS e(v)"),
        (PARTS, "SELECT id, v FROM T CROSS JOIN UNNEST(SPLIT(s, ',', 3)) AS e(v)"),
        (PARTS, "SELECT id, v FROM T LATERAL VIEW POSEXPLODE(SPLIT(s, ',', 3)) e AS p, v"),
        (KEPT, "SELECT id, p, v FROM T LATERAL VIEW POSEXPLODE_OUTER(SPLIT(s, ',', 3)) e AS p, v"),
        (KEPT, "SELECT id, p, v FROM T LEFT JOIN LATERAL POSEXPLODE(SPLIT(s, ',', 3)) AS e(p, v) ON TRUE"),
    ],
)
def test_every_spelling_of_a_computed_array_is_one_query(first: str, second: str) -> None:
    assert query(first) == query(second)


def test_outer_keeps_rows_without_elements() -> None:
    assert query(PARTS) != query(PARTS.replace("VIEW", "VIEW OUTER"))


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [
        ("spark", PARTS, "SELECT id, EXPLODE(SPLIT(s, ',', 3)) AS v FROM T"),
        ("spark", KEPT, "SELECT id, POSEXPLODE_OUTER(SPLIT(s, ',', 3)) AS (p, v) FROM T"),
        ("spark", PARTS.replace("v F", "v AS col F"), "SELECT id, EXPLODE(SPLIT(s, ',', 3)) FROM T"),
        ("spark", f"{PARTS} WHERE a > 1 ORDER BY v LIMIT 2",
         "SELECT id, EXPLODE(SPLIT(s, ',', 3)) AS v FROM T WHERE a > 1 ORDER BY v LIMIT 2"),
        ("spark", "SELECT v LATERAL VIEW EXPLODE(ARRAY(1, 2)) e AS v", "SELECT EXPLODE(ARRAY(1, 2)) AS v"),
        ("postgres", "SELECT id, v FROM T, UNNEST(ARRAY[a, b]) AS e(v)", "SELECT id, UNNEST(ARRAY[a, b]) AS v FROM T"),
        ("duckdb", "SELECT id, v FROM T, UNNEST([a, b]) AS e(v)", "SELECT id, UNNEST([a, b]) AS v FROM T"),
    ],
)  # fmt: skip
def test_in_the_select_list_it_is_a_lateral_view(dialect: str, first: str, second: str) -> None:
    assert query(first, dialect) == query(second, dialect)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_series_of_numbers_are_sequences(dialect: str) -> None:
    series = query("SELECT id, generate_series AS v FROM T, generate_series(1, a)", dialect)
    for sql in (
        "SELECT id, v FROM T CROSS JOIN generate_series(1, a, 1) AS g(v)",
        "SELECT id, generate_series.generate_series AS v FROM T, LATERAL generate_series(1, a)",
    ):
        assert query(sql, dialect) == series
    assert checks_of(series) and not checks_of(query("SELECT 1 FROM generate_series(1, 9)", dialect))


def rows(numbers: range) -> str:
    """Numbers as rows of VALUES."""
    return ", ".join(f"({number})" for number in numbers)


@pytest.mark.parametrize(
    ("dialect", "series", "value", "places"),
    [
        ("duckdb", "generate_series(2, 7, 2) AS s(v)", "2 + (n - 1) * 2", 3),
        ("duckdb", "range(2, 8, 2) AS s(v)", "2 + (n - 1) * 2", 3),
        ("duckdb", "range(3) AS s(v)", "0 + (n - 1) * 1", 3),
        ("postgres", "generate_series(5, 1, -2) AS s(v)", "5 + (n - 1) * -2", 3),
        ("spark", "EXPLODE(SEQUENCE(3, 1)) AS s(v)", "3 + (n - 1) * -1", 3),
        ("spark", "EXPLODE(SEQUENCE(DATE '2020-01-01', DATE '2020-01-03')) AS s(v)", "DATE '2020-01-01' + (n - 1)", 3),
        ("spark", "EXPLODE(SEQUENCE(DATE '2020-01-09', DATE '2020-03-08', INTERVAL 1 MONTH)) AS s(v)",
         "ADD_MONTHS(DATE '2020-01-09', n - 1)", 2),
        ("duckdb", "range(DATE '2020-01-01', DATE '2020-03-01', INTERVAL 1 MONTH) AS s(v)",
         "DATE '2020-01-01' + INTERVAL (n - 1) MONTH", 2),
        ("postgres", "generate_series(TIMESTAMP '2020-01-01', '2020-01-02', '9 hours') AS s(v)",
         "TIMESTAMP '2020-01-01' + (n - 1) * INTERVAL '9 hours'", 3),
    ],
)  # fmt: skip
def test_series_of_constants_are_their_places(dialect: str, series: str, value: str, places: int) -> None:
    item = f"LATERAL {series}" if dialect == "spark" else series
    expected = query(f"SELECT id, {value} AS v FROM T, (VALUES {rows(range(1, places + 1))}) AS p(n)", dialect)
    assert query(f"SELECT id, v FROM T, {item}", dialect) == expected


def test_many_places_are_those_of_two_values() -> None:
    many = query("SELECT v FROM range(250) AS s(v)", "duckdb")
    expected = "SELECT 0 + (hundreds.n + ones.n - 1) * 1 AS v FROM"
    tables = f"(VALUES {rows(range(1, 101))}) AS ones(n), (VALUES (0), (100), (200)) AS hundreds(n)"
    assert many == query(f"{expected} {tables} WHERE hundreds.n + ones.n <= 250", "duckdb")
    assert query("SELECT v FROM range(300) AS s(v)", "duckdb") == query(f"{expected} {tables}", "duckdb")


def test_a_step_of_ages_leaves_the_first_value() -> None:
    long = query(
        "SELECT v FROM generate_series(DATE '2020-01-01', DATE '2020-09-01', '9999999999 days') AS s(v)", "duckdb"
    )
    assert isinstance(long, Block) and not long.where.or_preds


def test_series_between_a_date_and_a_number_are_none() -> None:
    with pytest.raises(SqlError, match="timestamp is needed, not integer"):
        query("SELECT * FROM generate_series(DATE '2020-01-01', 7, '1 day')", "postgres")


def test_series_are_called_as_in_postgres() -> None:
    assert names("SELECT * FROM generate_series(1, 3)", "postgres") == ["generate_series"]
    assert names("SELECT g, g.g FROM generate_series(3, 1, -1) AS g", "postgres") == ["g", "g_2"]
    selected = query("SELECT id, generate_series(1, 3) AS v FROM T", "postgres")
    assert selected == query("SELECT id, v FROM T, generate_series(1, 3) AS v", "postgres")
    assert names("SELECT *, generate_series(1, 3) FROM T", "postgres")[-1] == "generate_series"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM generate_series(1, 20000)", "a series of more than 10,000 values is not supported"),
        ("SELECT * FROM T, generate_series(1, a, b)", "a step that is no constant, or 0, is not supported"),
        ("SELECT * FROM generate_series(1, 9, 0)", "a step that is no constant, or 0, is not supported"),
        ("SELECT * FROM generate_series(DATE '2020-01-31', DATE '2020-09-01', '1 month')", "a series of months from"),
        ("SELECT * FROM generate_series(DATE '2020-01-01', DATE '2020-09-01')", "a series of times by this step"),
        (
            "SELECT * FROM generate_series(DATE '2020-01-01', '2020-09-01', make_interval(months => 1, days => 2))",
            "a series of times by",
        ),
        ("SELECT * FROM generate_series(DATE '2020-01-01', DATE '2020-09-01', '0 days')", "a series of times by this"),
        (
            "SELECT * FROM T, generate_series(DATE '2020-01-01' + a, DATE '2020-09-01', '1 month')",
            "a series of times by months, as a value",
        ),
    ],
)
def test_series_that_are_refused(sql: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        query(sql, "postgres")
    assert caught.value.message.startswith(message) and caught.value.hint


def test_the_columns_are_seen_by_the_select_list_only() -> None:
    assert names("SELECT *, EXPLODE(ARRAY(a, b)) AS v FROM T") == ["id", "a", "b", "s", "v"]
    with pytest.raises(SqlError, match="unknown column v"):
        query("SELECT EXPLODE(ARRAY(a, b)) AS v FROM T WHERE v > 1")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT EXPLODE(ARRAY(a, b)) + 1 FROM T",
        "SELECT EXPLODE(ARRAY(a, b)), EXPLODE(ARRAY(a, b)) FROM T",
        "SELECT *, EXPLODE(ARRAY(a, b)), COUNT(*) OVER () FROM T",
        "SELECT EXPLODE(ARRAY(a, b)) AS v, COUNT(*) FROM T GROUP BY v",
    ],
)
def test_what_is_refused_in_the_select_list(sql: str) -> None:
    with pytest.raises(UnsupportedError, match="EXPLODE or UNNEST"):
        query(sql)


@pytest.mark.parametrize(
    ("array", "elements"),
    [
        ("SPLIT(s, ',', 7)", 7),
        ("SLICE(SPLIT(s, ','), 2, 4)", 4),
        ("SLICE(SPLIT(s, ',', 3), 1, 9)", 3),
        ("SLICE(SPLIT(s, ','), 1, 0)", 1),
        ("SEQUENCE(5, 1)", 5),
        ("SEQUENCE(1, 10, 3)", 4),
        ("ARRAY_REPEAT(a, 3)", 3),
        ("FILTER(ARRAY(a, b, 1), v -> v > 2)", 3),
        ("ARRAY_DISTINCT(ARRAY_APPEND(ARRAY(a, b), 1))", 3),
        ("ARRAY_UNION(ARRAY(a, b), SEQUENCE(1, 3))", 5),
    ],
)
def test_places_are_as_many_as_the_array_has_at_most(array: str, elements: int) -> None:
    bound = query(f"SELECT v FROM T LATERAL VIEW EXPLODE({array}) e AS v")
    assert isinstance(bound, Block)
    assert elements == next((len(i.branches) for i in bound.inputs if isinstance(i, SetQuery)), 1)


@pytest.mark.parametrize("array", ["SPLIT(s, ',')", "SPLIT(s, ',', a)", "SEQUENCE(1, a)", "ARRAY_REPEAT(a, b)",
                                   "ARRAY_UNION(SPLIT(s, ','), ARRAY(s))", "SLICE(SPLIT(s, ','), 1, a)"])  # fmt: skip
def test_an_array_of_any_length_has_a_check(array: str) -> None:
    bound = query(f"SELECT v FROM T LATERAL VIEW EXPLODE({array}) e AS v")
    (check,) = checks_of(bound)
    assert check.reason == "an array in FROM has more than 10,000 elements"
    assert isinstance(bound, Block)
    (places,) = (i for i in bound.inputs if isinstance(i, Block))
    assert places.distinct and [len(i.branches) for i in places.inputs if isinstance(i, SetQuery)] == [100, 100]


def test_a_check_reads_the_rows_that_the_query_reads_whatever_it_asks_of_elements() -> None:
    bound = query("SELECT COUNT(*) FROM T, LATERAL EXPLODE(SPLIT(s, ',')) AS e(v) WHERE a > 1 AND v = 'x' AND b < id")
    (check,) = checks_of(bound)
    assert isinstance(check.query, Block)
    assert sorted(map(str, check.query.where)) == [
        "1:place = 1", "a > 1", "array_size(split(s, ',')) > 10000", "b < id"
    ]  # fmt: skip
    assert check.query.grouping is None


def test_an_array_that_says_how_long_it_is_has_no_check() -> None:
    assert not checks_of(query("SELECT v FROM T LATERAL VIEW EXPLODE(SLICE(SPLIT(s, ','), 1, 100)) e AS v"))


@pytest.mark.parametrize(
    ("dialect", "sql", "message", "hint"),
    [
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(s) e AS v", "an array is needed, not string", "SPLIT(s, ',')"),
        ("spark", "SELECT POSEXPLODE(ARRAY(a)) AS v FROM T", "2 columns have 1 names", "write AS (pos, col)"),
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(ARRAY()) e AS v", "an array without elements in FROM", "name"),
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(ARRAY(a, s)) e AS v", "type clash", "convert with CAST"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(ARRAY(ARRAY(a))) e AS v", "an array of arrays", "write"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(SEQUENCE(1, 10001, 1)) e AS v",
         "a series of more than 10,000 values is not supported", "add_table"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(SLICE(SPLIT(s, ','), 1, 10001)) e AS v",
         "rows of more than 10,000 elements is not supported", "add_table"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(ARRAY(a, b)) e AS v, w", "e has 1 column, not 2", ""),
        ("spark", "SELECT 1 FROM T LATERAL VIEW INLINE(ARRAY(a)) e AS v", "INLINE needs an array of struct", "EXPLODE"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW STACK(a, b) e AS v", "LATERAL of that function", "FROM takes"),
        ("postgres", "SELECT * FROM T FULL JOIN UNNEST(ARRAY[a, b]) AS e(v) ON v > 1",
         "UNNEST in a FULL JOIN that reads its other side is not supported", "write a CROSS JOIN"),
    ],
)  # fmt: skip
def test_what_is_refused(dialect: str, sql: str, message: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        query(sql, dialect)
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)
