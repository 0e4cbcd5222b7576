"""Constants that functions read as patterns, paths, formats, zones or units: bad ones are refused, or NULL."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from long import LONG
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError, UnexpectedError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import all_help

BAD = (
    "'$..a'",
    "'$[*].a[?(@.b>1)]'",
    "'('",
    "'[z-a]'",
    "'QQQQQQ'",
    "'%q%'",
    "'Mars/Phobos'",
    "'fortnight'",
    "NULL",
    "''",
)
ARGUMENTS = ("{0}", "s, {0}", "ts, {0}", "{0}, s", "{0}, ts", "a, {0}", "s, s, {0}", "s, {0}, s")
SEED = int(os.environ["ARGUS_SEED"])
DIALECTS = ("spark", "duckdb", "postgres", "oracle")


def _calls() -> Iterator[tuple[str, str]]:
    for number, (dialect, name) in enumerate(sorted({(d, f.name) for f in all_help() for d in f.dialects})):
        if dialect in DIALECTS:
            # Of each function another share of the calls, and another one in each run.
            some = [(bad, arguments) for bad in BAD for arguments in ARGUMENTS]
            for bad, arguments in some if LONG else some[(number + SEED) % 32 :: 32]:
                yield f"SELECT {name}({arguments.format(bad)}) AS x FROM T", dialect


@pytest.mark.parametrize("sign", ["{", "}", "#", "["])
def test_signs_that_java_reads_are_no_part_of_a_format(sign: str) -> None:
    with pytest.raises(SqlError, match="date format"):
        bind(f"SELECT DATE_FORMAT(ts, 'yyyy{sign}') AS x FROM T", "spark", SCHEMA)


@pytest.mark.slow
def test_bad_constants_are_refused_by_name() -> None:
    for sql, dialect in _calls():
        try:
            bind(sql, dialect, SCHEMA)
        except SqlError as refused:
            assert not isinstance(refused, UnexpectedError)
        except Exception as defect:
            raise AssertionError(f"{dialect}: {sql}") from defect
