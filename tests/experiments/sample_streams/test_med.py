"""The shape of MED, and the courses of illness in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

import duckdb
import pyarrow as pa
import pytest

from workbench.experiments.query_sets.appendix_b import load
from workbench.experiments.sample_streams.med import med
from workbench.experiments.sample_streams.zipcodes import massachusetts

Connect = Callable[[Mapping[str, pa.Table]], duckdb.DuckDBPyConnection]


def share(connect: Connect, stays: pa.Table, condition: str) -> float:
    """The share of all rows for which ``condition`` is true."""
    query = f"SELECT COUNT(*) FILTER ({condition}) / COUNT(*) FROM MHDCFY01A"
    [(found,)] = connect({"MHDCFY01A": stays}).sql(query).fetchall()
    return float(found)


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("recid IS NULL OR adate IS NULL OR dxs_01 IS NULL OR hospid IS NULL", 0.0, 0.0),
        ("bdate IS NULL", 0.05, 0.12),
        ("bym IS NULL", 0.02, 0.06),
        ("bdate IS NULL AND bym IS NULL", 0.001, 0.01),
        ("race IS NULL", 0.04, 0.08),
        ("zip IS NULL", 0.003, 0.02),
        ("(zip IS NULL) <> (townid IS NULL)", 0.0, 0.0),
        ("patorg IS NULL", 0.005, 0.02),
        ("patorg = '1'", 0.85, 0.97),
        ("patorg = '9'", 0.02, 0.06),
        ("patorg = '7'", 0.005, 0.02),
        ("ops_01 IS NULL", 0.3, 0.5),
        ("dxs_05 IS NULL", 0.2, 0.6),
        ("disp = '02'", 0.015, 0.04),
        ("disp = '20'", 0.015, 0.04),
        ("dxs_01 = 'V3000'", 0.09, 0.11),
        ("dxs_01 >= '4800' AND dxs_01 < '5200'", 0.05, 0.2),
        ("ops_01 LIKE '361%'", 0.005, 0.03),
        ("ops_01 LIKE '556%'", 0.0003, 0.005),
        ("dxs_01 LIKE '155%'", 0.0005, 0.006),
        ("sex = 'M' AND dxs_01 IN ('650', '66401')", 0.0, 0.0),
        ("ddate <> adate + los OR los < 0", 0.0, 0.0),
        ("bym <> date_trunc('month', bdate) OR byear <> date_trunc('year', bdate)", 0.0, 0.0),
        ("age <> date_diff('year', bdate, adate) AND age <> date_diff('year', bdate, adate) - 1", 0.0, 0.001),
    ],
)
def test_distribution(connect: Connect, stays: pa.Table, condition: str, low: float, high: float) -> None:
    assert low <= share(connect, stays, condition) <= high


def test_admissions_fill_the_fiscal_year(stays: pa.Table) -> None:
    days = set(stays.column("adate").to_pylist())
    assert days == {date(2000, 10, 1) + timedelta(days=number) for number in range(365)}


def test_most_zip_codes_have_a_centre_and_some_are_out_of_state(stays: pa.Table) -> None:
    codes = set(stays.column("zip").to_pylist()) - {None}
    known = codes & set(massachusetts())
    assert len(known) > 400
    assert codes - known


def test_a_town_has_one_id_whatever_the_zip_code(connect: Connect, stays: pa.Table) -> None:
    query = "SELECT zip FROM MHDCFY01A WHERE zip IS NOT NULL GROUP BY zip HAVING COUNT(DISTINCT townid) <> 1"
    assert connect({"MHDCFY01A": stays}).sql(query).fetchall() == []


@pytest.mark.parametrize(("rows", "least", "most"), [(200, 12, 12), (20_000, 12, 12), (100_000, 24, 24)])
def test_anthrax_is_rare_and_only_where_placed(rows: int, least: int, most: int) -> None:
    codes = med(rows=rows, seed=6).column("dxs_01").to_pylist()
    assert least <= sum(code.startswith("022") for code in codes) <= most


@pytest.mark.parametrize(("name", "answers"), [("B14", 4), ("B15", 3), ("B16", 4)])
@pytest.mark.parametrize("seed", [2001, 1, 2])
def test_anthrax_cases_fall_within_and_beyond_the_window_and_the_radius(
    connect: Connect, name: str, answers: int, seed: int
) -> None:
    """Of the twelve cases of a code all but the first follow another: 4 are distinct, 3 far and 4 near."""
    connection = connect({"MHDCFY01A": med(rows=1_000, seed=seed)})
    assert len(connection.sql(load()[name].duckdb_sql).fetchall()) == answers


def test_a_case_exactly_forty_days_after_another_is_distinct(connect: Connect) -> None:
    connection = connect({"MHDCFY01A": med(rows=1_000, seed=1)})
    distinct = {row[2] for row in connection.sql(load()["B14"].duckdb_sql).fetchall()}
    first_day = date(2000, 10, 1)
    cases = connection.sql("SELECT adate FROM MHDCFY01A WHERE dxs_01 = '0221' ORDER BY adate").fetchall()
    days = {(day - first_day).days for (day,) in cases}
    assert {312, 352} <= days
    assert first_day + timedelta(days=352) in distinct


@pytest.mark.parametrize("name", [f"B{number}" for number in range(17, 22)])
@pytest.mark.parametrize("seed", [2001, 1])
def test_courses_of_illness_are_tens_and_end_with_the_stream(connect: Connect, name: str, seed: int) -> None:
    table = med(rows=20_000, seed=seed)
    query = load()[name].duckdb_sql
    answers = [
        len(connect({"MHDCFY01A": part}).sql(query).fetchall())
        for part in (table.slice(0, 10_000), table.slice(0, 19_000), table)
    ]
    assert answers == sorted(answers)
    assert len(set(answers)) == 3, "both the replayed half and its last batch bring answers"
    assert 10 <= answers[-1] <= 200
