"""The shape of FED, and its last six records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest

from workbench.experiments.query_sets.appendix_b import load
from workbench.experiments.sample_streams import fed as fed_module
from workbench.experiments.sample_streams.fed import banks, fed

Connect = Callable[[Mapping[str, pa.Table]], duckdb.DuckDBPyConnection]


def share(connect: Connect, transfers: pa.Table, condition: str) -> float:
    """The share of all rows for which ``condition`` is true."""
    query = f"SELECT COUNT(*) FILTER ({condition}) / COUNT(*) FROM FedWireTrans"
    [(found,)] = connect({"FedWireTrans": transfers}).sql(query).fetchall()
    return float(found)


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("amount > 50000", 0.05, 0.12),
        ("amount > 500000", 0.007, 0.013),
        ("amount > 1000000", 0.003, 0.007),
        ("amount > 10000000", 0.0001, 0.001),
        ("amount < 1500", 0.4, 0.6),
        ("amount <= 0", 0.0, 0.0),
        ("type_code = 1000", 0.88, 0.92),
        ("sbank_name = 'Citibank (New York State)'", 0.02, 0.1),
        ("sbank_name = 'Fleet Bank'", 0.01, 0.05),
        ("benef_account IS NULL", 0.005, 0.02),
        ("rbank_name IS NULL", 0.005, 0.02),
        ("amount IS NULL", 0.0001, 0.001),
        ("type_code IS NULL", 0.0005, 0.002),
        ("tranid IS NULL OR tran_date IS NULL", 0.0, 0.0),
        ("orig_account = benef_account", 0.0, 0.0),
    ],
)
def test_distribution(connect: Connect, transfers: pa.Table, condition: str, low: float, high: float) -> None:
    assert low <= share(connect, transfers, condition) <= high


def test_an_account_determines_its_bank(connect: Connect, transfers: pa.Table) -> None:
    connection = connect({"FedWireTrans": transfers})
    violations = connection.sql("""
        WITH seen AS (
          SELECT orig_account AS account, sbank_aba AS aba, sbank_name AS name FROM FedWireTrans
          UNION ALL SELECT benef_account, rbank_aba, rbank_name FROM FedWireTrans
        )
        SELECT account FROM seen WHERE account IS NOT NULL
        GROUP BY account HAVING COUNT(DISTINCT aba) > 1 OR COUNT(DISTINCT name) > 1
    """).fetchall()
    assert violations == []
    found = connection.sql("SELECT DISTINCT sbank_aba, sbank_name FROM FedWireTrans WHERE sbank_aba + 0 > 0").fetchall()
    names, abas = banks()
    assert {pair for pair in found if pair[1]} <= set(zip(abas.tolist(), names.tolist(), strict=True))


def test_banks_are_distinct_and_their_numbers_valid() -> None:
    names, abas = banks()
    assert len(set(names.tolist())) == len(set(abas.tolist())) == 200
    assert {"Citibank (New York State)", "Fleet Bank"} <= set(names.tolist())
    for aba in abas.tolist():
        digits = [int(digit) for digit in f"{aba:09}"]
        assert len(digits) == 9
        assert sum(weight * digit for weight, digit in zip((3, 7, 1) * 3, digits, strict=True)) % 10 == 0


def test_the_dates_are_business_days_of_two_months_and_end_on_the_day_of_b7(transfers: pa.Table) -> None:
    days = sorted(set(transfers.column("tran_date").to_pylist()))
    assert (days[0], days[-1]) == (date(2002, 9, 30), date(2002, 11, 27))
    assert len(days) == 43
    assert max(day.weekday() for day in days) == 4


def test_some_rows_repeat_the_row_before_them(transfers: pa.Table) -> None:
    # NULLs are put in afterwards and may tell a repeat from its original; the columns below have very few.
    columns = ["tran_date", "amount", "orig_account", "benef_account"]
    rows = list(zip(*(transfers.column(name).to_pylist() for name in columns), strict=True))
    repeats = sum(one == other for one, other in pairwise(rows))
    assert 50 <= repeats <= 200


def test_money_is_forwarded_whole_and_in_parts(connect: Connect, transfers: pa.Table) -> None:
    """Among big transfers whose money moves on within ten days, some go on in one transfer and some in several."""
    ways = Counter(
        connect({"FedWireTrans": transfers})
        .sql("""
        SELECT CASE WHEN COUNT(*) = 1 AND MAX(s.amount) = r.amount THEN 'whole'
                    WHEN COUNT(*) > 1 AND SUM(s.amount) BETWEEN 0.5 * r.amount AND r.amount THEN 'parts' END
        FROM FedWireTrans r JOIN FedWireTrans s ON r.benef_account = s.orig_account AND s.amount <= r.amount
         AND s.tran_date BETWEEN r.tran_date AND r.tran_date + 10 AND s.amount > 0.05 * r.amount
        WHERE r.amount > 100000 GROUP BY r.tranid, r.amount
    """)
        .fetchall()
    )
    assert ways[("whole",)] > 100
    assert ways[("parts",)] > 50


@pytest.mark.parametrize("name", [f"B{number:02}" for number in range(1, 8)])
@pytest.mark.parametrize("rows", [6, 1_000, 20_000])
@pytest.mark.parametrize("seed", [2002, 1])
def test_the_last_six_records_bring_new_answers(connect: Connect, name: str, rows: int, seed: int) -> None:
    table = fed(rows=rows, seed=seed)
    query = load()[name].duckdb_sql
    before = connect({"FedWireTrans": table.slice(0, rows - 6)}).sql(query).fetchall()
    after = connect({"FedWireTrans": table}).sql(query).fetchall()
    assert Counter(after) - Counter(before)


def test_the_last_six_records_have_no_nulls() -> None:
    for seed in range(20):
        assert fed(rows=200, seed=seed).slice(194).to_pandas().notna().all(axis=None)


def test_more_rows_are_older_ones_and_not_more_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fed_module, "FULL_ROWS", 2_000)
    two_months, longer = fed(rows=2_000), fed(rows=20_000)
    days = [len(set(table["tran_date"].to_pylist())) for table in (two_months, longer)]
    assert days[0] == fed_module.BUSINESS_DAYS and days[1] == 10 * days[0]
    assert two_months["tran_date"][-1] == longer["tran_date"][-1]
