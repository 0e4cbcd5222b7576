"""Functions of other systems: what a hint names is accepted where it is named."""

from __future__ import annotations

import pytest

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.schema import Schema

SCHEMA = Schema({"T": (("x", INTEGER), ("y", INTEGER), ("s", STRING), ("t", TIMESTAMP))}, times={"T": "t"})
BROUGHT = """
    strftime date_format formatdatetime format_date epoch unixepoch unix_timestamp to_unixtime getdate sysdatetime
    today time_bucket date_bin tostartofhour datetrunc eomonth weeknum todate datefromparts list collect_list
    grouparray textjoin nunique uniq count_distinct countifs sumif averageif stdevp varp quantile_cont
    ratio_to_report choose switch iferror square tostring to_int tofloat64 find patindex indexof strlen mid
    regexp_contains json_value string_split splitbychar unnest regexp_split_to_table list_contains has
"""


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres", "databricks", "oracle"])
@pytest.mark.parametrize("name", BROUGHT.split())
def test_what_a_hint_names_is_accepted(name: str, dialect: str) -> None:
    hint = usual_call(name, dialect)
    if hint is not None:
        form = hint.removeprefix("the same is written as in ")
        bind(f"SELECT x FROM T WHERE {form}" if "CURRENT" in form else f"SELECT {form} FROM T", dialect, SCHEMA)


@pytest.mark.parametrize("call", ["STRFTIME(t, '%Y')", "LIST(x)", "GETDATE()", "nunique(x)", "TextJoin(',', s)"])
def test_an_unknown_function_is_refused_with_the_call_that_is_meant(call: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        bind(f"SELECT {call} FROM T", "spark", SCHEMA)
    assert refused.value.hint == usual_call(call.split("(")[0], "spark")
