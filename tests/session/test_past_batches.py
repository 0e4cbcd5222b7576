"""Answers after past batches: what ``result()`` gave then, of every kind of query, however it is kept, and when."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from long import some
from oracle.bags import rows

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError
from workbench.session.query import Query

DAY = dt.date(2024, 1, 1)
QUERIES = {
    "selection": "SELECT id, v FROM f WHERE v > 1",
    "groups": "SELECT v, COUNT(*) n, SUM(x) s, MAX(id) m FROM f GROUP BY v",
    "having": "SELECT v FROM f GROUP BY v HAVING COUNT(*) BETWEEN 3 AND 6",
    "one group": "SELECT COUNT(*) n, MIN(x) least FROM f",
    "distinct": "SELECT DISTINCT v FROM f WHERE v > 1",
    "join": "SELECT f.id, g.id o FROM f JOIN g ON f.v = g.v",
    "left join": "SELECT f.id, g.id o FROM f LEFT JOIN g ON f.id = g.id",
    "table": "SELECT f.id, r.name FROM f JOIN r ON f.v = r.v",
    "except": "SELECT v FROM f EXCEPT SELECT v FROM g",
    "first rows": "SELECT id, v FROM f ORDER BY v DESC, id LIMIT 3",
    "in order": "SELECT id, v FROM f WHERE v < 4 ORDER BY v, id DESC",
    "number": "SELECT id, ROW_NUMBER() OVER (PARTITION BY v ORDER BY id) n FROM f",
    "window": "SELECT id FROM f WHERE t > now() - 3",
    "window of groups": "SELECT v, COUNT(*) n FROM f WHERE t > now() - 3 GROUP BY v",
    "clause": "SELECT id FROM f BEGIN NOW - 3 END NOW",
    "corrected": "SELECT k, COUNT(*) n, SUM(x) s FROM c GROUP BY k",
    "corrected rows": "SELECT id, x FROM c WHERE x > 2",
    "of groups": "SELECT n, COUNT(*) times FROM (SELECT v, COUNT(*) n FROM f GROUP BY v) q GROUP BY n",
}
LATE = list(dict.fromkeys(["groups", "join", "window of groups", "corrected", "first rows", "table", *QUERIES]))
BATCHES = 3


def events(seed: int, number: int) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "id": list(range(number)),
            "v": [draw.choice([1, 2, 3, 4, 5, None]) for _ in range(number)],
            "x": [draw.choice([0.1, 0.25, 3.0, None]) for _ in range(number)],
            "t": [DAY + dt.timedelta(days=at // 4) for at in range(number)],
        }
    )


def corrections(number: int) -> pa.Table:
    """Rows that come, and some of them that go again."""
    draw, there, made = random.Random(5), [], []
    for id in range(number):
        if there and draw.random() < 0.4:
            made.append((*there.pop(draw.randrange(len(there))), -1))
        else:
            there.append((id, id % 3, draw.randrange(9)))
            made.append((*there[-1], 1))
    return pa.table(dict(zip(("id", "k", "x", "w"), map(list, zip(*made, strict=True)), strict=True)))


def opened(path: Path | None = None) -> Session:
    session = Session(InProcess(), path)
    session.add_stream("f", events(1, 48), history=8, batch=9, time="t")
    session.add_stream("g", events(2, 30), history=4, batch=5, time="t")
    session.add_stream("c", corrections(40), history=10, batch=7, weight="w")
    session.add_table("r", pa.table({"v": [1, 2, 3], "name": ["a", "b", "c"]}), key=["v"])
    return session


def answer(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return rows(list(frame.itertuples(index=False, name=None)))


def in_order(name: str, frame: pd.DataFrame) -> object:
    found = answer(frame)
    return found if name in ("first rows", "in order") else Counter(found)


@pytest.mark.slow
@pytest.mark.parametrize("kept", some(["lazy", "off", "eager"]))
def test_an_answer_after_a_past_batch_is_what_it_was(kept: str, tmp_path: Path) -> None:
    with opened(tmp_path / "s") as session:
        queries = {name: session.register(sql, name=name, results=kept) for name, sql in QUERIES.items()}
        seen = {0: {name: in_order(name, query.result()) for name, query in queries.items()}}
        for batch in range(1, BATCHES + 1):
            if batch == 2:
                session.update_table("r", pa.table({"v": [2, 4], "name": ["B", "d"]}))
                session.register("SELECT v, AVG(x) a FROM f GROUP BY v", name="another")  # shares, and hydrates anew
            (report,) = session.run(1)
            seen[report.batch] = {name: in_order(name, query.result()) for name, query in queries.items()}
        session.drop("another")
        check(queries, seen)
    with Session.open(tmp_path / "s", InProcess()) as again:
        check({name: again.query(name) for name in queries}, seen)
        late = {name: again.register(QUERIES[name], name=f"late {name}", results=kept) for name in some(LATE, 6)}
        check(late, seen)


def check(queries: Mapping[str, Query], seen: Mapping[int, Mapping[str, object]]) -> None:
    wrong = [
        (name, batch)
        for batch, then in seen.items()
        for name, query in queries.items()
        if in_order(name, query.result(batch=batch)) != then[name]
    ]
    assert not wrong


def test_a_difference_leads_from_one_answer_to_another() -> None:
    with opened() as session:
        queries = [session.register(QUERIES[name], name=name) for name in some(LATE, 6)]
        session.run(BATCHES)
        for query in queries:
            for first, last in ((0, BATCHES), (3, 1), (2, None)):
                difference = query.diff(first, last)
                changed = Counter(answer(query.result(batch=first)))
                for weight, *values in answer(difference):
                    changed[tuple(values)] += weight
                assert +changed == Counter(answer(query.result(batch=BATCHES if last is None else last))), query.name
                assert 0 not in list(difference["weight"])


@pytest.mark.parametrize("batch", [-1, 3])
def test_batches_that_were_not_run_are_refused(batch: int) -> None:
    with opened() as session:
        query = session.register(QUERIES["groups"], name="q")
        session.run(2)
        with pytest.raises(QueryError, match=f"there is no batch {batch} of q"):
            query.result(batch=batch)
        with pytest.raises(QueryError, match="at an instant and after a batch"):
            query.result(at=DAY, batch=1)
