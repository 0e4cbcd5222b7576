"""Whatever a function is called with, wherever, the call is read or refused with an error for an analyst."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path
from random import Random

import pytest
from long import LONG, PATIENCE
from sql.bind_schema import SCHEMA

import workbench.sql
from workbench.errors import UnexpectedError, WorkbenchError
from workbench.sql.binder.pipeline import bind

HELP = Path(workbench.sql.__file__).parent / "function_help.jsonl"
NAMES = sorted({json.loads(line)["name"] for line in HELP.read_text(encoding="utf-8").splitlines()})
ARGUMENTS = [
    "a", "x", "s", "d", "ts", "m", "p", "NULL", "'x'", "''", "1", "-1", "1.5", "1e400", "99999999999999999999", "*",
    "ARRAY[1, 2]", "ARRAY[]", "a, b", "DISTINCT a", "(a, b)", "s ORDER BY a", "x -> x", "T", "T.a", "COUNT(*)",
    "INTERVAL '1' DAY", "DATE '2024-01-01'", "(SELECT 1)", "CAST(s AS JSON)", "a := 1", "a => 1",
]  # fmt: skip
BEHIND = [
    "",
    "",
    "",
    " OVER ()",
    " OVER (ORDER BY a ROWS 2 PRECEDING)",
    " FILTER (WHERE p)",
    " WITHIN GROUP (ORDER BY x)",
]
AROUND = [
    "SELECT {} AS v FROM T", "SELECT a FROM T WHERE {}", "SELECT b, {} AS v FROM T GROUP BY b",
    "SELECT * FROM {} AS q", "SELECT a FROM T ORDER BY {}",
]  # fmt: skip


@pytest.mark.timeout(PATIENCE)
def test_a_call_is_read_or_refused() -> None:
    random, crashed = Random(f"calls {os.environ['ARGUS_SEED']}"), []
    for _ in range(100_000 if LONG else 200):
        name, dialect = random.choice(NAMES), random.choice(["spark", "duckdb", "postgres"])
        arguments = ", ".join(random.choices(ARGUMENTS, k=random.randrange(5)))
        sql = random.choice(AROUND).format(f"{name}({arguments}){random.choice(BEHIND)}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bind(sql, dialect, SCHEMA)
        except UnexpectedError as error:
            crashed.append(f"{dialect}: {sql}: {error}")
        except WorkbenchError:
            continue
        except Exception as error:
            crashed.append(f"{dialect}: {sql}: {error!r}")
    assert crashed == []


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("spark", "select datediff(1) as v from T", "a date or timestamp is needed, not integer"),
        ("duckdb", "select era() as v from T", "ERA takes 1 argument, not 0"),
        ("duckdb", "select constant_or_null() as v from T", "CONSTANT_OR_NULL takes at least 2 arguments, not 0"),
        ("duckdb", "select json_keys(s, 1e400) as v from T", "this path of JSON is not supported"),
        ("duckdb", "select * from timestamp() as q", "a table function is not supported"),
        ("duckdb", "select b, grouping(count(*)) over (order by a) as v from T group by b", "GROUPING with OVER"),
        ("duckdb", "select percentile() within group (order by a) as v from T", "a share is missing"),
        ("postgres", "select array_cat(a) as v from T", "ARRAY_CAT takes 2 arrays, not 1"),
    ],
)
def test_calls_that_lack_what_they_need(dialect: str, sql: str, message: str) -> None:
    with pytest.raises(WorkbenchError, match=re.escape(message)):
        bind(sql, dialect, SCHEMA)


def test_nothing_is_written_on_the_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WorkbenchError, match="neither in GROUP BY"):
        bind("select a, approx_count_distinct(b, 0.01) as n from T", "duckdb", SCHEMA)
    assert capfd.readouterr().err == ""
