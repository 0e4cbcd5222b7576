"""Queries of every function: pairs that must share their nodes, and pairs that must not.

The calls are those of the table of functions, which has one of each in each dialect: what is added there is tested
here. Of each call a query reads the call in WHERE and is registered; another query writes the same in another way, and
needs no node of its own, or another thing, and has one. A run takes some of the calls, by its seed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from random import Random

import pytest

from workbench.errors import WorkbenchError
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import TABLE
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
CALLS = 60
TYPES = {"a": INTEGER, "m": decimal(15, 2), "x": DOUBLE, "s": STRING, "d": DATE, "ts": TIMESTAMP, "p": BOOLEAN}
COLUMNS = (*TYPES.items(), *((f"{name}_2", type_) for name, type_ in TYPES.items()))
SCHEMA = Schema(streams={"t": COLUMNS})
_COLUMN = re.compile(rf"\b({'|'.join(TYPES)})\b(?!\()")
_QUOTED = re.compile(r"('[^']*')")
Form = Callable[[str], str]


def outside_of_quotes(call: str, change: Callable[[str], str]) -> str:
    return "".join(part if part.startswith("'") else change(part) for part in _QUOTED.split(call))


def of_others(call: str) -> str:
    """The call with other columns of the same types."""
    return outside_of_quotes(call, lambda part: _COLUMN.sub(r"\1_2", part))


def of_alias(call: str) -> str:
    return outside_of_quotes(call, lambda part: _COLUMN.sub(r"y.\1", part))


def _where(call: str) -> str:
    return f"SELECT a, s FROM t WHERE ({call}) IS NOT NULL AND a_2 > 3"


ALIKE: dict[str, Form] = {
    "conditions in another order": lambda call: f"SELECT a, s FROM t WHERE a_2 > 3 AND ({call}) IS NOT NULL",
    "NOT and IS NULL": lambda call: f"SELECT a, s FROM t WHERE NOT (({call}) IS NULL OR NOT a_2 > 3)",
    "an alias of the stream": lambda call: (
        f"SELECT y.a, y.s FROM t AS y WHERE ({of_alias(call)}) IS NOT NULL AND y.a_2 > 3"
    ),
    "a column of a subquery": lambda call: (
        f"SELECT a, s FROM (SELECT a, s, a_2, {call} AS v FROM t) AS w WHERE v IS NOT NULL AND a_2 > 3"
    ),
    "a subquery that has tested the rest": lambda call: (
        f"SELECT a, s FROM (SELECT * FROM t WHERE a_2 > 3) AS w WHERE ({call}) IS NOT NULL"
    ),
    "blanks and lines": lambda call: _where(outside_of_quotes(call, lambda part: part.replace("(", "(\n  "))),
}
OTHER: dict[str, Form] = {
    "other columns": lambda call: _where(of_others(call)),
    "the rows without a value": lambda call: f"SELECT a, s FROM t WHERE ({call}) IS NULL AND a_2 > 3",
    "another bound": lambda call: f"SELECT a, s FROM t WHERE ({call}) IS NOT NULL AND a_2 > 4",
    "a condition less": lambda call: f"SELECT a, s FROM t WHERE ({call}) IS NOT NULL",
    "either condition": lambda call: f"SELECT a, s FROM t WHERE ({call}) IS NOT NULL OR a_2 > 3",
}


def bound(sql: str, dialect: str) -> LogicalQuery | None:
    try:
        return bind(sql, dialect, SCHEMA).query
    except WorkbenchError:
        return None


@cache
def calls() -> list[tuple[str, str]]:
    """Calls that may stand in WHERE, over columns, and may be NULL; each with a dialect."""
    rows = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    scalar = {(row["call"], row["dialects"][SEED % len(row["dialects"])]) for row in rows if row["dialects"]}
    return sorted(scalar)


def usable(call: str, dialect: str) -> bool:
    """Whether the call reads columns, and its value may be there or not: neither all rows pass nor none."""
    query, other = bound(_where(call), dialect), bound("SELECT a, s FROM t WHERE a_2 > 3", dialect)
    return query is not None and query != other and bound(_where(of_others(call)), dialect) not in (None, query)


def some() -> list[tuple[str, str]]:
    return Random(SEED).sample(calls(), CALLS)


def new_nodes(first: LogicalQuery, second: LogicalQuery) -> int:
    """How many nodes the second query needs beside those of the first; -1 where both read the same ones."""
    planner = Planner()
    before = planner.register(Network(), "first", first).network
    after = planner.register(before, "second", second).network
    if set(after.queries["first"].nodes) == set(after.queries["second"].nodes):
        return -1
    return len(after.nodes.keys() - before.nodes.keys())


@pytest.mark.parametrize(("call", "dialect"), some(), ids=[f"{call} in {dialect}" for call, dialect in some()])
def test_what_queries_of_a_function_share(call: str, dialect: str) -> None:
    if not usable(call, dialect):
        pytest.skip("it is no value of the row that may be missing")
    first = bound(_where(call), dialect)
    assert first is not None
    alike = {title: bound(form(call), dialect) for title, form in ALIKE.items()}
    other = {title: bound(form(call), dialect) for title, form in OTHER.items()}
    assert not [title for title, query in alike.items() if query is not None and new_nodes(first, query) != -1]
    assert not [title for title, query in other.items() if query is not None and new_nodes(first, query) == -1]
    assert sum(query is not None for query in alike.values()) >= 5
