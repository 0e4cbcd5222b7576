"""Several notions of time in one statement (TelegraphCQ 4.1.1): random windows at random instants, by hand and by us.

``ARGUS_LONG=all`` tries 520 statements.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pandas as pd
import pytest
from long import some

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError, SqlError

STATEMENTS = 20
"""Of a seed."""
START = dt.date(2024, 1, 1)
HISTORY, BATCH, BATCHES = 12, 4, 6
STREAMS = {"d": "day", "n": "number", "p": None, "q": None}
"""By name the column of event times: of days, of numbers, and none, so that rows are counted."""


def rows_of(random: Random) -> dict[str, pd.DataFrame]:
    """Rows whose times come in no order, and twice."""
    count = HISTORY + BATCH * BATCHES
    numbers = {name: range(count) for name in STREAMS}
    days = [START + dt.timedelta(days=i // 2 + random.randint(-3, 3)) for i in range(count)]
    times = [i + random.randint(-4, 4) for i in range(count)]
    return {name: pd.DataFrame({"i": numbers[name], "day": days, "number": times}) for name in STREAMS}


@dataclass(frozen=True)
class Window:
    """One stream's window: from ``t - behind`` to ``t - ahead``, by its event time or by the numbers of its rows."""

    stream: str
    alias: str
    counted: bool
    behind: int
    ahead: int

    @property
    def unit(self) -> str:
        return "rows" if self.counted or STREAMS[self.stream] is None else str(STREAMS[self.stream])

    def sql(self) -> str:
        rows = "ROWS " if self.counted else ""
        return f"WindowIs({rows}{self.alias}, t - {self.behind}, t - {self.ahead});"


@dataclass(frozen=True)
class Loop:
    """``for (t = ST + first; …; t += step)`` over windows of one unit; without a step it follows now."""

    windows: tuple[Window, ...]
    first: int
    step: int

    def sql(self) -> str:
        return f"for (t = ST + {self.first}; ; t += {self.step}) {{ {' '.join(w.sql() for w in self.windows)} }}"


def random_loops(random: Random) -> list[Loop]:
    """One to three loops, of windows of streams of a unit each; units may come twice."""
    windows: list[Window] = []
    for name in random.sample([*STREAMS], random.randint(1, 3)):
        ahead = random.randint(0, 3)
        counted = random.random() < 0.4
        alias = random.choice([name, f"{name}{name}"])
        windows.append(Window(name, alias, counted, ahead + random.randint(0, 8), ahead))
    by_unit: dict[str, list[Window]] = {}
    for window in windows:
        by_unit.setdefault(window.unit, []).append(window)
    return [Loop(tuple(of), random.randint(-2, 3), random.randint(1, 4)) for of in by_unit.values()]


def arrived(rows: dict[str, pd.DataFrame], stream: str, batch: int) -> pd.DataFrame:
    return rows[stream][: HISTORY + BATCH * batch]


def clock(rows: dict[str, pd.DataFrame], loops: list[Loop], unit: str, batch: int) -> object:
    """Now of the statement's streams of a unit."""
    seen = [(w.stream, w.unit) for loop in loops for w in loop.windows if w.unit == unit]
    tables = [arrived(rows, stream, batch) for stream, _ in seen]
    return max(len(table) if unit == "rows" else table[unit].max() for table in tables)


def added(time: object, units: int) -> object:
    return time + (dt.timedelta(days=units) if isinstance(time, dt.date) else units)  # type: ignore[operator]


def expected(rows: dict[str, pd.DataFrame], loops: list[Loop], registered: int, batch: int) -> Counter[tuple[int, ...]]:
    """The pairs of rows in the windows of the last instants, by plain loops."""
    answers: list[tuple[int, ...]] = [()]
    for loop in loops:
        unit = loop.windows[0].unit
        now = clock(rows, loops, unit, batch)
        t, last = added(clock(rows, loops, unit, registered), loop.first), None
        while t <= now:  # type: ignore[operator]
            last, t = t, added(t, loop.step)
        for window in loop.windows:
            table = arrived(rows, window.stream, batch)
            times = [*range(1, len(table) + 1)] if unit == "rows" else [*table[unit]]
            inside = [
                int(i)
                for i, time in zip(table["i"], times, strict=True)
                if last is not None and added(last, -window.behind) <= time <= added(last, -window.ahead)  # type: ignore[operator]
            ]
            answers = [(*answer, i) for answer in answers for i in inside]
    return Counter(answers)


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(InProcess()) as session:
        yield session


def add_streams(session: Session, rows: dict[str, pd.DataFrame]) -> None:
    for name, time in STREAMS.items():
        session.add_stream(name, rows[name], history=HISTORY, batch=BATCH, time=time)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(26), 2))
def test_random_statements(session: Session, seed: int) -> None:
    random = Random(seed)
    rows = rows_of(random)
    add_streams(session, rows)
    known: dict[str, tuple[list[Loop], int]] = {}
    for batch in range(BATCHES):
        for _ in range(STATEMENTS // BATCHES + (batch < STATEMENTS % BATCHES)):
            loops = random_loops(random)
            windows = [window for loop in loops for window in loop.windows]
            columns = ", ".join(f"{w.alias}.i AS i{at}" for at, w in enumerate(windows))
            sources = ", ".join(w.stream if w.alias == w.stream else f"{w.stream} {w.alias}" for w in windows)
            name = f"q{len(known)}"
            session.register(f"SELECT {columns} FROM {sources} {' '.join(loop.sql() for loop in loops)}", name)
            known[name] = (loops, session.batch)
        session.run(1)
        for name, (loops, registered) in known.items():
            got = Counter(tuple(map(int, row)) for row in session.query(name).result().itertuples(index=False))
            assert got == expected(rows, loops, registered, session.batch), (session.query(name).sql, session.batch)


@pytest.mark.parametrize("last", [1, 5, 30])
def test_the_last_rows_of_a_stream_with_event_times(session: Session, last: int) -> None:
    rows = rows_of(Random(1))
    add_streams(session, rows)
    query = session.register(f"SELECT i FROM d BEGIN ROWS NOW - {last - 1} END NOW", "lately")
    for batch in range(4):
        assert sorted(query.result()["i"]) == sorted(arrived(rows, "d", batch)["i"][-last:])
        session.run(1)
    assert sorted(query.result(batch=1)["i"]) == sorted(arrived(rows, "d", 1)["i"][-last:])
    with pytest.raises(QueryError, match="counts the d rows, and its instants are event times"):
        query.result(at="2024-01-05")


def test_every_loop_has_its_instants(session: Session) -> None:
    add_streams(session, rows_of(Random(2)))
    query = session.register(
        "SELECT d.i, p.i j FROM d, p for (t = ST; ; t += 1) { WindowIs(d, t - 1, t); }"
        " for (t = ST; ; t += 4) { WindowIs(p, t - 3, t); }",
        "two",
    )
    session.run(2)
    windows = query.windows()
    assert [*windows[windows.stream == "p"].instant] == [12, 16, 20]
    assert all(isinstance(instant, dt.date) for instant in windows[windows.stream == "d"].instant)
    with pytest.raises(QueryError, match="two has several loops"):
        query.result(at=16)


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("for (t = ST; ; t++) { WindowIs(d, t, t); WindowIs(p, t, t); }", "the rows of p are counted, and d has event"),
        ("for (t = ST; ; t++) { WindowIs(d, t, t); WindowIs(n, t, t); }", "the times of n and d do not compare"),
        ("for (t = ST; ; t++) { WindowIs(d, t, t); } for (t = ST; ; t++) { WindowIs(d, t, t); }", "d has two windows"),
        ("BEGIN NOW - 5 END NOW", "is counted|are counted"),
        ("for (t = ST; ; t++) { WindowIs(d, t, t); } BEGIN NOW END NOW", "a statement has one window clause"),
    ],
)
def test_what_is_refused(session: Session, clause: str, message: str) -> None:
    add_streams(session, rows_of(Random(3)))
    with pytest.raises(SqlError, match=message) as caught:
        session.register(f"SELECT d.i FROM d, n, p {clause}", "refused")
    assert caught.value.hint
