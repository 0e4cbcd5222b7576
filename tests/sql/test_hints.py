"""Hints say what to write: fields of structs, OVER, and dates, numbers and intervals that are written as people do."""

from __future__ import annotations

import itertools

import pytest

from workbench.arrow.types import to_column_type
from workbench.errors import SqlError, SqlWarning
from workbench.sql.algebra.types import DATE, DOUBLE, INSTANT, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

STRUCT, STRUCTS = to_column_type("struct<no:string,kg:double>"), to_column_type("array<struct<hub:string>>")
SCHEMA = Schema(
    {
        "T": (
            *(("n", INTEGER), ("x", DOUBLE), ("s", STRING), ("d", DATE), ("t", TIMESTAMP), ("at", INSTANT)),
            *(("p", STRUCT), ("l", STRUCTS)),
        )
    }
)
FIELDS = "it is a struct, of which s.no is a field; there are no, kg"
OF_STRUCTS = {
    "spark": (
        *("p->>'no'", "p->'no'", "JSON_VALUE(p, '$.no')", "GET_JSON_OBJECT(p, '$.no')", "JSON_EXTRACT(p, '$.no')"),
        *("JSON_OBJECT_KEYS(p)", "FROM_JSON(p, 'no string')", "EXPLODE(p)", "SIZE(p)", "UPPER(p)", "CAST(p AS STRING)"),
        *("p LIKE 'a%'", "TO_DATE(p)"),
    ),
    "duckdb": ("p->>'no'", "p->'no'", "JSON_EXTRACT_STRING(p, '$.no')", "JSON_VALUE(p, '$.no')", "UNNEST(p)", "LEN(p)"),
    "postgres": ("p->>'no'", "p->'no'", "JSONB_EXTRACT_PATH_TEXT(p, 'no')", "UNNEST(p)", "UPPER(p)"),
}
WITH_OVER = (
    *("LAG(n)", "LEAD(n)", "NTH_VALUE(n, 2)", "NTILE(4)"),
    *("RANK()", "DENSE_RANK()", "ROW_NUMBER()", "PERCENT_RANK()", "CUME_DIST()"),
)
WRITTEN = {
    "d > '31.12.2025'": "write '2025-12-31'",
    "d = '3/4/2026'": "write '2026-03-04' or '2026-04-03'",
    "d = '12/31/2025'": "write '2025-12-31'",
    "d IN ('2025-12-31', '5 Jan 2026')": "write '2026-01-05'",
    "d < 'Jan 5, 2026'": "write '2026-01-05'",
    "d BETWEEN '1.1.2025' AND '2025-02-01'": "write '2025-01-01'",
    "d > 31.12.2025": "write '2025-12-31'",
    "t > '31.12.2025 9:05'": "write '2025-12-31 09:05'",
    "at > '31.12.2025, 10:00:30'": "write '2025-12-31 10:00:30'",
    "d > '1 day'": "write INTERVAL '1' DAY",
    "t > '2 hours'": "write INTERVAL '2' HOUR",
    "x > '1,50'": "write 1.50, without quotes",
    "x = '1.234,5'": "write 1234.5, without quotes",
    "n = '1,500'": "write 1.500 or 1500, without quotes",
    "n > '1 000'": "write 1000, without quotes",
    "x > '10 %'": "write 10, without quotes",
    "x > 'viel'": "'viel' is no number, and a number is needed there",
    "d = '31.02.2025'": "dates are year-month-day, as in 2002-11-20; TO_DATE reads other formats",
}


def hint_of(sql: str, dialect: str = "spark") -> str | None:
    with pytest.raises(SqlError) as caught:
        bind(sql, dialect, SCHEMA)
    return caught.value.hint


@pytest.mark.parametrize(("dialect", "call"), [(name, call) for name, calls in OF_STRUCTS.items() for call in calls])
def test_a_call_that_is_given_a_struct_names_its_fields(dialect: str, call: str) -> None:
    assert hint_of(f"SELECT {call} FROM T", dialect) == FIELDS


@pytest.mark.parametrize(("dialect", "call"), [*itertools.product(OF_STRUCTS, WITH_OVER)])
def test_a_call_that_lacks_over_says_so(dialect: str, call: str) -> None:
    name = call.partition("(")[0]
    assert hint_of(f"SELECT {call} FROM T", dialect) == f"it needs OVER, as in {name}(…) OVER (ORDER BY amount DESC)"


@pytest.mark.parametrize(("condition", "hint"), [*WRITTEN.items()])
def test_a_value_that_is_written_as_people_do_is_written_as_sql_does(condition: str, hint: str) -> None:
    assert hint_of(f"SELECT n FROM T WHERE {condition}") == hint


@pytest.mark.parametrize("dialect", OF_STRUCTS)
def test_what_is_hinted_of_days_of_instants_is_accepted(dialect: str) -> None:
    sql = "SELECT TIME_BUCKET_GAPFILL(INTERVAL '1' DAY, {}) AS day, COUNT(*) AS n FROM T GROUP BY day"
    berlin = Schema(SCHEMA.streams, timezone="Europe/Berlin")
    with pytest.raises(SqlError) as caught:
        bind(sql.format("at"), dialect, berlin)
    hint = str(caught.value.hint).partition(" has")[0]
    bind(sql.format(hint.replace("x", "at")), dialect, berlin)


def test_a_pivot_without_a_list_says_so() -> None:
    assert hint_of("SELECT * FROM T PIVOT (SUM(x) FOR s)") == "list the values, as in FOR s IN ('a', 'b')"


def test_a_call_with_the_arguments_of_another_database_says_how_it_is_written_here() -> None:
    assert hint_of("SELECT ISNULL(x, 0) FROM T") == "the same is written as in COALESCE(x, 0)"


def test_a_name_with_a_dot_at_its_end_is_no_stream_before_from() -> None:
    assert str(hint_of("SELECT Loan-Nr. FROM T")).endswith("a name with a dot at its end stands in quotes")
    assert str(hint_of("SELECT number")).endswith("FROM says which stream has it")


@pytest.mark.parametrize("difference", ["TIMESTAMPDIFF(SECOND, at, at2)", "DATEDIFF(HOUR, at, at2)", "at2 - at"])
def test_a_difference_of_what_clocks_show_says_so(difference: str) -> None:
    instants = {"T": (("at", INSTANT), ("at2", INSTANT))}
    bind(f"SELECT {difference} AS d FROM T", "spark", Schema(instants))
    with pytest.warns(SqlWarning, match="what clocks in Europe/Berlin show, also where these were changed"):
        bind(f"SELECT {difference} AS d FROM T", "spark", Schema(instants, timezone="Europe/Berlin"))
    passes = "UNIX_MICROS(at2) - UNIX_MICROS(at)"
    bind(f"SELECT {passes} AS d FROM T", "spark", Schema(instants, timezone="Europe/Berlin"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT n FROM T a JOIN T b ON a.n = b.n", "write a.n or b.n"),
        ("SELECT n FROM T LATERAL VIEW EXPLODE(SPLIT(s, ',')) AS n", "write T.n, or give the table without a name one"),
        ("SELECT n FROM T LATERAL VIEW EXPLODE(l) v AS n", "write T.n or v.n"),
    ],
)
def test_an_ambiguous_column_says_what_can_be_written(text: str, hint: str) -> None:
    with pytest.raises(SqlError) as raised:
        bind(text, "spark", SCHEMA)
    assert raised.value.hint == hint
