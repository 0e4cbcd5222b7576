"""Columns with blanks, signs and letters beyond ASCII: all that is asked of them is answered as of plain names."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.query import Query
from workbench.session.session import Session

PLAIN = {"k": "k", "n": "n", "c": "c"}
ODD = {"k": "Über fahrt", "n": "Preis (EUR)", "c": "a.b"}
QUERIES = {
    "joined": ("SELECT u.{c}, COUNT(*) AS m, SUM(t.{n}) AS s FROM t JOIN u ON t.{k} = u.{k} GROUP BY u.{c}", "m = 99"),
    "kept side": ("SELECT u.{c}, COUNT(t.{n}) AS m FROM u LEFT JOIN t ON t.{k} = u.{k} AND t.{n} > 50 GROUP BY 1",
                  "m = 9"),
    "in": ("SELECT {n} FROM t WHERE {k} IN (SELECT {k} FROM u WHERE {c} = 'x')", "{n} = 3"),
    "not in": ("SELECT {n} FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.{k} = t.{k} AND u.{c} = 'x')", "{n} = 1"),
    "nested": ("SELECT {c}, m FROM (SELECT u.{c}, MAX(t.{n}) AS m FROM t JOIN u USING ({k}) GROUP BY 1) WHERE m > 20",
               "{c} = 'q'"),
    "ranked": ("SELECT {k}, {n} FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY {k} ORDER BY {n} DESC) = 1", "{n} = 2"),
    "union": ("SELECT {k} AS {c} FROM t EXCEPT SELECT {k} FROM u", "{c} = 3"),
    "grouped twice": ("SELECT {k}, {c}, SUM({n}) AS s FROM t JOIN u USING ({k}) GROUP BY ROLLUP ({k}, {c})", "s = -1"),
}  # fmt: skip


def session_of(names: dict[str, str]) -> Session:
    draw = random.Random(3)
    rows = [{names["k"]: draw.randrange(6), names["n"]: draw.randrange(40)} for _ in range(60)]
    pairs = [{names["k"]: k, names["c"]: draw.choice("xyz")} for k in range(4)]
    made = Session(InProcess())
    made.add_stream("t", rows, history=40, batch=10)
    made.add_stream("u", pairs, history=3, batch=1)
    return made


@pytest.fixture(scope="module")
def sessions() -> Iterator[list[tuple[Session, dict[str, str]]]]:
    made = [(session_of(names), names) for names in (PLAIN, ODD)]
    for session, _ in made:
        session.run(1)
    yield made
    for session, _ in made:
        session.close()


@pytest.mark.parametrize("name", QUERIES)
def test_names_change_no_answer(sessions: list[tuple[Session, dict[str, str]]], name: str) -> None:
    plain, odd = (of_names(session, names, name) for session, names in sessions)
    assert plain == odd


def of_names(session: Session, names: dict[str, str], name: str) -> list[object]:
    """All that is said of a query over columns of some names, without the names."""
    sql, expected = (of.format(**{short: f"`{called}`" for short, called in names.items()}) for of in QUERIES[name])
    query = session.register(sql, name=re.sub(r"\W", "_", name))
    assert isinstance(query, Query)
    answer, changes, why, why_not = query.result(), query.changes(since=0), query.why(), query.why_not(expected)
    return [
        sorted(map(repr, answer.to_numpy().tolist())),
        sorted(map(repr, changes.to_numpy().tolist())),
        {stream: len(rows) for stream, rows in why.streams.items()},
        [(cause.total, [len(rows) for rows in cause.streams.values()]) for cause in why_not.causes],
    ]
