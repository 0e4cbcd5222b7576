"""Before a query is registered it is said whether its memory is bounded, by what, and how large it is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError
from workbench.explain.kept_state import memory_text


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    days = [dt.date(2024, 1, 1) + dt.timedelta(n // 10) for n in range(400)]
    rows = {"id": range(400), "k": [n % 7 for n in range(400)], "flag": [n % 2 == 0 for n in range(400)], "day": days}
    table = pa.table({name: pa.array(list(values)) for name, values in rows.items()})
    with Session(InProcess()) as session:
        session.add_stream("t", table, history=200, batch=20, time="day")
        session.add_stream("u", table, history=100, batch=10, time="day")
        session.add_table("z", pa.table({"k": [1, 2, 3], "name": ["a", "b", "c"]}))
        yield session


LAST = "day > now() - INTERVAL '5' DAY"


@pytest.mark.parametrize(
    ("sql", "grows", "by"),
    [
        ("SELECT COUNT(*) FROM t", "", "one row"),
        ("SELECT flag, COUNT(*) FROM t GROUP BY flag", "", "true and false"),
        ("SELECT k, COUNT(*) FROM t GROUP BY k", "t", ""),
        ("SELECT id FROM t WHERE k = 1", "t", ""),
        ("SELECT k, name FROM z", "", "a table"),
        ("SELECT z.name, COUNT(*) AS n FROM t JOIN z ON t.k = z.k GROUP BY z.name", "t", ""),
        ("SELECT DISTINCT k % 3 FROM z", "", "values of tables"),
        ("SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k", "t u", ""),
        (f"SELECT id FROM t WHERE {LAST}", "", "rows leave it with the window"),
        (f"SELECT day, COUNT(*) FROM t WHERE {LAST} GROUP BY day", "", "rows leave it with the window"),
        (
            f"SELECT t.id, u.id AS uid FROM t JOIN u ON t.day = u.day WHERE t.{LAST} AND u.{LAST}",
            "",
            "rows leave it with the window",
        ),
        (f"SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k WHERE t.{LAST}", "u", "rows leave it with the window"),
        ("SELECT id, k FROM t ORDER BY k LIMIT 3", "t", "the first rows alone"),
        ("SELECT id FROM t WHERE k NOT IN (SELECT k FROM z WHERE k IS NOT NULL)", "t", ""),
    ],
)
def test_it_is_said_what_bounds_the_memory(session: Session, sql: str, grows: str, by: str) -> None:
    network, _ = session.preview(sql, "q")
    states = session.memory("q", network)
    text = memory_text(states)
    assert " ".join(sorted(frozenset().union(*(state.grows_with for state in states)))) == grows, text
    assert by in text
    assert text.startswith(
        f"memory: not bounded, it grows with {grows.replace(' ', ', ')};" if grows else "memory: bounded;"
    )
    assert all(state.rows >= 0 and state.bytes >= state.rows for state in states)
    assert any("the answer" in state.what for state in states)


def test_what_is_said_is_what_happens(session: Session) -> None:
    """Rows that a window leaves are kept no more; others stay: so it is said of each before."""
    sqls = {
        "all_pairs": "SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k AND t.id = u.id",
        "newest": f"SELECT COUNT(*) AS n FROM t WHERE {LAST}",
    }
    bounded = {}
    for name, sql in sqls.items():
        network, _ = session.preview(sql, name)
        bounded[name] = not any(state.grows_with for state in session.memory(name, network))
        session.register(sql, name=name, results="eager")
    assert bounded == {"all_pairs": False, "newest": True}
    assert [bool(state.grows_with) for state in session.memory("all_pairs")]
    kept = {name: list[int]() for name in sqls}
    for _ in range(8):
        session.run(1)
        for name in sqls:
            roots = {session.network.node(id_).root for id_ in session.network.ancestors(name)}
            sources = {id_ for id_ in roots if session.network.node(id_).kind == "source"}
            kept[name].append(sum(session.kept(root)[0] for root in roots - sources))
    assert kept["all_pairs"] == sorted(kept["all_pairs"]) and kept["all_pairs"][-1] > kept["all_pairs"][0]
    assert max(kept["newest"]) <= 100
    with pytest.raises(QueryError, match="there is no query nothing"):
        session.memory("nothing")
