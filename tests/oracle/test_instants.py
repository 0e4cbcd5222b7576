"""Answers at instants of the past, of all forms of windows: DuckDB's over the rows up to then, with now there.

Event times are numbers, days and times of day, or rows are counted; some are late, equal or NULL. An answer is kept by
each mode. All forms with all times and modes run with ``ARGUS_LONG=all``; else each form meets one time and mode.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle

from workbench.errors import QueryError, SqlError

Instant = int | dt.date
DAY = dt.date(2024, 1, 1)
TIMES = {"i": "integer", "d": "date", "s": "timestamp"}
MODES = ("lazy", "eager", "off")
FORMS = {
    "begin and end": "SELECT id, t FROM f BEGIN NOW - 3 END NOW",
    "between": "SELECT id, t FROM f WHERE t BETWEEN now() - 3 AND now()",
    "without an end": "SELECT id, t FROM f WHERE t > now() - 3",
    "without a begin": "SELECT id FROM f WHERE t < now() - 3",
    "the instant": "SELECT id FROM f WHERE t = now()",
    "long ago": "SELECT id FROM f BEGIN NOW - 6 END NOW - 2",
    "landmark": "SELECT id FROM f BEGIN {first} END NOW",
    "landmark in WHERE": "SELECT id FROM f WHERE t BETWEEN {first} AND now() AND v > 1",
    "snapshot": "SELECT id FROM f BEGIN {first} END {last}",
    "sum": "SELECT SUM(id) a, COUNT(*) n FROM f WHERE t > now() - 3",
    "sum of a clause": "SELECT SUM(id) a, MAX(v) m FROM f BEGIN NOW - 3 END NOW",
    "groups": "SELECT v, COUNT(*) n, MIN(t) a FROM f WHERE t > now() - 4 GROUP BY v",
    "silent groups": "SELECT v FROM f GROUP BY v HAVING MAX(t) < now() - 1",
    "distinct": "SELECT DISTINCT v FROM f WHERE t >= now() - 2",
    "median": "SELECT MEDIAN(id) m FROM f WHERE t > now() - 5",
    "join": "SELECT a.id, b.id o FROM f a JOIN f b ON a.v = b.v WHERE a.t > now() - 2",
    "join of two windows": "SELECT a.id, b.id o FROM f a JOIN f b ON a.v = b.v BEGIN NOW - 2 END NOW",
    "nothing equal": "SELECT a.id, b.id o FROM f a JOIN f b ON a.id < b.id - 20 WHERE a.t > now() - 3",
    "left join": "SELECT a.id, b.id o FROM f a LEFT JOIN f b ON a.v = b.v AND b.t > now() - 2 AND b.id > 9",
    "not exists": "SELECT a.id FROM f a WHERE NOT EXISTS (SELECT 1 FROM f b WHERE b.v = a.v AND b.t > now() - 2)",
    "scalar": "SELECT id FROM f WHERE t > now() - 6 AND id > (SELECT AVG(id) FROM f WHERE t > now() - 6)",
    "union": "SELECT id FROM f WHERE t > now() - 2 UNION ALL SELECT id FROM f WHERE v = 2",
    "except": "SELECT v FROM f EXCEPT SELECT v FROM f WHERE t > now() - 2",
    "of groups": "SELECT COUNT(*) n FROM (SELECT v, MAX(t) m FROM f GROUP BY v) q WHERE m > now() - 2",
    "window of a window": "SELECT v, SUM(n) s FROM (SELECT v, t, id n FROM f WHERE t > now() - 6) q"
    " WHERE t < now() - 2 GROUP BY v",
    "analytic": "SELECT id, COUNT(*) OVER (PARTITION BY v ORDER BY id) n FROM f WHERE t > now() - 4",
    "first rows": "SELECT id, v FROM f WHERE t > now() - 5 ORDER BY v DESC, id LIMIT 3",
    "no window": "SELECT v, COUNT(*) n FROM f GROUP BY v",
    "two streams": "SELECT f.id, g.id o FROM f JOIN g ON f.v = g.v WHERE f.t > now() - 2",
}  # fmt: skip
OF_DAYS = {
    "tumbling": Case(
        "SELECT window.start b, COUNT(*) n FROM s GROUP BY window(t, '2 days')",
        "SELECT time_bucket(INTERVAL '2 days', t, TIMESTAMP '1970-01-01') b, COUNT(*) FROM f WHERE t IS NOT NULL"
        " GROUP BY b",
    ),
    "hopping": Case(
        "SELECT window.start b, MAX(id) m FROM s WHERE t > now() - 3 GROUP BY window(t, '2 days', '1 day')",
        "SELECT date_trunc('day', t) - k * INTERVAL '1 day' b, MAX(id) FROM f, range(2) r(k) WHERE t > now() - 3"
        " GROUP BY b",
    ),
}
OF_ROWS = {
    "rows": Case("SELECT id FROM r BEGIN NOW - 4 END NOW", "SELECT id FROM r WHERE n >= now() - 4"),
    "first rows": Case("SELECT id FROM r BEGIN 3 END NOW", "SELECT id FROM r WHERE n >= 3"),
    "sum of rows": Case("SELECT SUM(id) a FROM r BEGIN NOW - 9 END NOW - 2",
                        "SELECT SUM(id) FROM r WHERE n BETWEEN now() - 9 AND now() - 2"),
}  # fmt: skip


def events(kind: str, seed: int, rows: int = 60) -> pa.Table:
    chosen = random.Random(seed)
    numbers = [i // 5 - (chosen.choice([1, 3]) if chosen.random() < 0.2 else 0) for i in range(rows)]
    times = [None if chosen.random() < 0.06 else time_of(kind, n, chosen.randrange(24)) for n in numbers]
    types = {"integer": pa.int64(), "date": pa.date32(), "timestamp": pa.timestamp("us")}
    values = [None if chosen.random() < 0.1 else chosen.randrange(5) for _ in range(rows)]
    return pa.table({"id": range(rows), "t": pa.array(times, types[kind]), "v": pa.array(values, pa.int64())})


def time_of(kind: str, number: int, hour: int = 0) -> Instant:
    if kind == "integer":
        return number
    day = DAY + dt.timedelta(days=number)
    return day if kind == "date" else dt.datetime.combine(day, dt.time(hour))


def literal(instant: Instant) -> str:
    if isinstance(instant, int):
        return str(instant)
    return f"{'TIMESTAMP' if isinstance(instant, dt.datetime) else 'DATE'} '{instant}'"


def case(form: str, stream: str) -> Case:
    """A form over a stream, and the same in WHERE for DuckDB."""
    kind = TIMES[stream]
    named = FORMS[form].format(first=literal(time_of(kind, 3)), last=literal(time_of(kind, 6)))
    asked = re.sub(r"\bf\b(?!\.)", stream, named)
    asked = re.sub(r"\bg\b(?!\.)", f"{stream}2", asked)
    asked = asked.replace("f.", f"{stream}.").replace("g.", f"{stream}2.")
    begin_and_end = re.search(r" BEGIN (.+) END (.+)", named)
    if begin_and_end is None:
        return Case(asked, named)
    begin, end = (re.sub(r"\bNOW\b", "now()", part) for part in begin_and_end.groups())
    names = ("a.t", "b.t") if "JOIN" in named else ("t",)
    windows = " AND ".join(f"{time} BETWEEN {begin} AND {end}" for time in names)
    return Case(asked, f"{named[: begin_and_end.start()]} WHERE {windows}")


def up_to(question: str, stream: str, instant: Instant) -> str:
    """A question of DuckDB over the rows up to an instant, with now there."""
    now = literal(instant)
    if isinstance(instant, dt.datetime):
        question = re.sub(r"now\(\) - (\d+)", r"now() - INTERVAL '\1 days'", question)
    there = f"t IS NULL OR t <= {now}"
    rows = {"f": f"SELECT * FROM {stream} WHERE {there}", "g": f"SELECT * FROM {stream}2 WHERE {there}"}
    if stream == "r":
        rows = {"r": f"SELECT * FROM (SELECT *, row_number() OVER () n FROM main.r) q WHERE n <= {now}"}
    tables = ", ".join(f"{name} AS ({sql})" for name, sql in rows.items())
    return f"WITH {tables} {question.replace('now()', now)}"


@pytest.fixture(scope="module")
def oracle(spark: object) -> Iterator[Oracle]:
    feeds = {name: Feed(events(kind, 1), 30, 10, time="t") for name, kind in TIMES.items()}
    feeds |= {f"{name}2": Feed(events(kind, 2), 20, 12, time="t") for name, kind in TIMES.items()}
    feeds["r"] = Feed(events("integer", 3), 20, 10)
    with Oracle(spark, feeds) as oracle:
        oracle.run(1, check=False)
        yield oracle


def test_answers_at_instants_of_the_past(oracle: Oracle) -> None:
    chosen = random.Random(11)
    names = [(form, stream, mode) for form in FORMS for stream, mode in itertools.product(TIMES, MODES)]
    if not LONG:
        names = [names[9 * place + place % 9] for place in range(len(FORMS))]
    cases = {(f"{form} {stream} {mode}", stream, mode): case(form, stream) for form, stream, mode in names}
    cases |= {(form, "s", "lazy"): of_days for form, of_days in OF_DAYS.items()}
    cases |= {(f"{form} r", "r", MODES[place]): rows for place, (form, rows) in enumerate(OF_ROWS.items())}
    for mode in MODES:
        kept = {name: Case(c.sql, "SELECT 1") for (name, _, results), c in cases.items() if results == mode}
        oracle.register(kept, check=False, results=mode)
    oracle.run(2, check=False)
    for (name, stream, _), each in cases.items():
        for number in chosen.sample(range(-1, 10), 3 if LONG else 1):
            instant = number + 10 if stream == "r" else time_of(TIMES[stream], number, chosen.randrange(24))
            found = oracle.session.query(name).result(at=instant)
            oracle.compare(name, found, up_to(each.asked, stream, instant))


def test_an_instant_is_given_as_windows_lists_it(oracle: Oracle) -> None:
    query = oracle.session.register("SELECT id FROM i WHERE t BETWEEN 2 AND now()", "given")
    first = oracle.answer("SELECT id FROM i WHERE t BETWEEN 2 AND 5")
    for at in (5, "5", np.int64(5)):
        assert len(query.result(at=at)) == len(first)
    moments = oracle.session.register("SELECT id FROM s WHERE t > now() - 2", "moments")
    with pytest.raises(QueryError, match="is no instant of moments, which are timestamps"):
        moments.result(at=pd.Timestamp("2024-01-05", tz="UTC"))
    for wrong in (True, 5.5, pd.NaT, "soon", dt.date(2024, 1, 1)):
        with pytest.raises(QueryError, match="is no instant of given, which are integers"):
            query.result(at=wrong)


@pytest.mark.parametrize(("sql", "what"), [
    ("SELECT i.id FROM i JOIN r ON i.v = r.v BEGIN NOW - 2 END NOW", "the rows of r are counted, and i has event"),
    ("SELECT s.id FROM r JOIN s ON s.v = r.v BEGIN 3 END NOW", "the rows of r are counted, and s has event times"),
    ("SELECT i.id FROM i JOIN r ON i.v = r.v for (t = ST; t < ST + 9; t++) { Windows(i, t, t); Windows(r, t, t); }",
     "the rows of r are counted, and i has event times"),
    ("SELECT i.id FROM i JOIN s ON i.v = s.v BEGIN NOW - 2 END NOW", "now is no one time here"),
    ("SELECT id FROM s BEGIN 3 END NOW", "timestamp cannot be compared with integer"),
])  # fmt: skip
def test_a_window_clause_has_one_notion_of_time(oracle: Oracle, sql: str, what: str) -> None:
    with pytest.raises(SqlError, match=what) as refused:
        oracle.session.preview(sql, "mixed")
    assert refused.value.position


def test_an_instant_needs_one_notion_of_time(oracle: Oracle) -> None:
    beside = oracle.session.register("SELECT s.id FROM s JOIN r ON s.v = r.v WHERE s.t > now() - 2", "beside")
    with pytest.raises(QueryError, match="s has event times, and the rows of r are only counted"):
        beside.result(at=dt.datetime(2024, 1, 3))
