"""A function of duckdb takes as many arguments as DuckDB's own list of functions says, of columns of every kind."""

from __future__ import annotations

import itertools
import warnings

import duckdb
import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import functions
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("a", INTEGER), ("s", STRING), ("ts", TIMESTAMP))}, times={"t": "ts"})
ARGUMENTS = ("a", "s", "ts", "STR_SPLIT(s, ',')")
OF_THREE = ("a, a, a", "s, s, s", "ts, a, a", "STR_SPLIT(s, ','), a, a")
LISTED_OTHERWISE = {
    "approx_count_distinct",  # its second argument, the error it may have in other dialects, changes nothing
    "to_base",  # the list has only the form with all arguments
}


def _counts() -> dict[str, set[int]]:
    """How many arguments a function may have, but for those that take any number."""
    found = duckdb.sql(
        "SELECT function_name, list(DISTINCT len(parameters)) FROM duckdb_functions()"
        " WHERE function_type IN ('scalar', 'aggregate') GROUP BY ALL HAVING count(varargs) = 0"
    ).fetchall()
    return {name: {*counts} for name, counts in found}


def _count(given: str) -> int:
    return len(given.replace("(s, ','", "").split(",")) if given else 0


def _is_read(call: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bind(f"SELECT {call} AS v FROM t", "duckdb", SCHEMA)
    except SqlError as error:
        return error.message.startswith("the array v as a column")
    return True


@pytest.mark.slow
def test_calls_of_another_number_of_arguments_are_refused() -> None:
    of = {name: counts for name, counts in _counts().items() if name in functions("duckdb")}
    assert len(of) > 200
    lists = [", ".join(given) for n in range(3) for given in itertools.product(ARGUMENTS, repeat=n)] + [*OF_THREE]
    wrong = [
        f"{name}({given})"
        for name, counts in of.items()
        for given in lists
        if _count(given) not in counts and name not in LISTED_OTHERWISE
        if _is_read(f"{name}({given})")
    ]
    assert not wrong
