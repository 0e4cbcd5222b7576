"""Going back from kept states: answers and changes are those of the batch, few batches run again, and files go."""

from __future__ import annotations

import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import duckdb
import pandas as pd
import pytest
from session.directory.survival import stray_files

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import InputError, QueryError
from workbench.limits import Limits

ROWS = pd.DataFrame({"id": range(600), "k": [n * 7 % 5 for n in range(600)], "v": [n * n % 101 for n in range(600)]})
HISTORY, BATCH = 40, 10
TEXTS = {
    "rows": "SELECT id, v FROM s WHERE v > 50",
    "sums": "SELECT k, SUM(v) t, COUNT(*) n FROM s GROUP BY k",
    "most": "SELECT k, MAX(v) m FROM s WHERE v < 90 GROUP BY k",
    "pairs": "SELECT a.id, b.id other FROM s a, s b WHERE a.v = b.v AND a.id < b.id",
}


@cache
def expected(kind: str, rows: int) -> Counter[tuple[object, ...]]:
    """The answer by DuckDB."""
    s = ROWS[:rows]
    return Counter(duckdb.query_df(s, "s", TEXTS[kind]).fetchall())


def bag(frame: pd.DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(int, row)) for row in frame.itertuples(index=False))


def check(session: Session) -> None:
    """Every answer, and what its changes lead to, is that of the rows so far."""
    for name, query in session.queries.items():
        wanted = expected(name.split("_")[0], HISTORY + BATCH * session.batch)
        assert bag(query.result()) == wanted, (name, session.batch)
        total: Counter[tuple[object, ...]] = Counter()
        for row in query.changes().itertuples(index=False):
            total[tuple(map(int, row[2:]))] += row[1]
        assert {row: n for row, n in total.items() if n} == wanted, (name, session.batch)
    check_files(session)


def check_files(session: Session) -> None:
    """No file is left over, but for those that the thread that compares checksums still reads."""
    ends = time.monotonic() + 10
    while stray_files(session) and time.monotonic() < ends:
        session.parts.directory.collector.collect(())
        time.sleep(0.01)
    assert stray_files(session) == set()


def session_of(path: Path | None = None, limits: Limits | None = None) -> Session:
    session = Session(InProcess(), path, limits=limits or Limits())
    session.add_stream("s", ROWS, history=HISTORY, batch=BATCH)
    return session


@pytest.mark.slow
def test_steps_back_run_no_batch_again() -> None:
    with session_of() as session:
        session.register_many(TEXTS)
        session.run(20)
        again: list[object] = []
        for batch in (19, 18, 15, 13):
            assert session.back_in(batch) == (0, 0.0)
            session.seek(batch, again.append)
            check(session)
        assert not again
        session.run(9)
        check(session)
        # What is not kept is computed from the nearest state before it.
        runs, seconds = session.back_in(3)
        assert 0 <= runs <= 3
        session.seek(3, again.append)
        assert len(again) == runs
        assert (seconds > 0) == (runs > 0)
        check(session)
        with pytest.raises(QueryError, match="cannot go back to batch 4"):
            session.back_in(4)


def test_a_query_that_came_later_answers_too_and_one_that_went_is_gone(tmp_path: Path) -> None:
    with session_of(tmp_path / "s") as session:
        session.register(TEXTS["sums"], "sums")
        session.register(TEXTS["rows"], "rows")
        session.run(4)
        session.register(TEXTS["pairs"], "pairs")
        session.drop("rows")
        session.run(2)
        runs, seconds = session.back_in(3)
        assert runs == 0 and seconds > 0  # pairs is hydrated, which no state of that time has
        session.seek(3)
        assert {name: query.registered for name, query in session.queries.items()} == {"sums": 0, "pairs": 3}
        check(session)
        session.register(TEXTS["rows"], "rows")
        session.seek(2)
        check(session)
        session.run(2)
        check(session)
        path = session.path
    with Session.open(path, InProcess()) as session:
        check_files(session)
        runs, seconds = session.back_in(3)
        assert runs == 3 and seconds > sum(report.seconds for report in session.reports[:3])  # with all hydrated anew
        session.seek(3)
        check(session)


@pytest.mark.parametrize("seed", range(3))
def test_random_ways(seed: int) -> None:
    random = Random(seed)
    with session_of(limits=Limits(states_kept=random.choice([1, 3, 6]), runs_per_merge=2)) as session:
        names = iter(range(100))
        for _ in range(14):
            match random.choice(["run", "run", "back", "back", "register", "drop"]):
                case "run":
                    session.run(random.randint(1, 4))
                case "back":
                    session.seek(random.randint(0, session.batch))
                case "register":
                    kind = random.choice([*TEXTS])
                    session.register(TEXTS[kind], f"{kind}_{next(names)}")
                case "drop" if session.queries:
                    session.drop(random.choice([*session.queries]))
            check(session)
        assert len(session.parts.store.kept) <= session.limits.states_kept


def test_a_failure_keeps_what_is_kept() -> None:
    with session_of(limits=Limits(states_kept=2)) as session:
        session.register(TEXTS["sums"], "sums")
        session.run(6)

        def interrupted(report: object) -> None:
            raise ValueError

        with pytest.raises(InputError):
            session.seek(2, interrupted)
        check(session)
        assert session.back_in(5)[0] == 0
        session.seek(5)
        check(session)


def test_bytes_are_bounded() -> None:
    with session_of(limits=Limits(bytes_kept=1)) as session:
        session.register(TEXTS["sums"], "sums")
        session.run(6)
        assert session.back_in(1)[0] == 1
        session.seek(1)
        check(session)
