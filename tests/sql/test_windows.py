"""Windows in SQL: one form for all spellings, clauses that SQL does not have, loops, and what is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import Bound, bind
from workbench.sql.logical import Block
from workbench.sql.schema import Schema
from workbench.sql.windows.bounds import Interval, intervals, window_text
from workbench.sql.windows.evaluation import sequence, value_at
from workbench.sql.windows.stream_time import now_of

SCHEMA = Schema(
    streams={
        "T": (("a", INTEGER), ("d", DATE), ("x", DOUBLE), ("s", STRING)),
        "U": (("a", INTEGER), ("ts", TIMESTAMP)),
        "P": (("a", INTEGER), ("day", INTEGER), ("price", DOUBLE)),
        "Z": (("a", INTEGER),),
        "K": (("a", INTEGER),),
    },
    times={"T": "d", "U": "ts", "P": "day"},
    tables=frozenset(["K"]),
    event_times={"p": 120, "z rows": 50, "t": dt.date(2002, 1, 5)},
)


def bound(sql: str, dialect: str = "spark") -> Bound:
    return bind(sql, dialect, SCHEMA)


def block(sql: str, dialect: str = "spark") -> Block:
    query = bound(sql, dialect).query
    assert isinstance(query, Block)
    return query


SPELLINGS = {
    "d > (now('t') - 5)": [
        "select a from T where d > now() - 5",
        "select a from T where now() - d < 5",
        "select a from T where not d <= now() - 5",
        "select a from T where d > now - interval '5' day",
        "select a from T where d + 5 > current_timestamp and d <= now()",
    ],
    "d >= (now('t') - 5)": [
        "select a from T where d between now() - 5 and now()",
        "select a from T begin now - 5 end now",
        "select T.a from T, K where T.a = K.a begin now - 5 end now",
    ],
    "ts > add_seconds(now('u'), -3900)": [
        "select a from U where ts > now() - interval '65' minute",
        "select a from U where ts + interval '5' minute > now() - interval '1' hour",
    ],
    "d > add_months(now('t'), -1)": ["select a from T where d > now() - interval '1' month"],
    "d = now('t')": ["select a from T where d = current_date"],
    "_row >= (now('z rows') - 99)": ["select a from Z begin now - 99 end now"],
    "cast(d as timestamp) > add_seconds(now('t', 'u'), -3600) and 1:ts <= now('t', 'u')": [
        "select T.a from T join U on d > now() - interval '1' hour and ts <= now()"
    ],
    "": ["select a from T begin '2002-01-01' end now", "select a from T begin '2002-01-01' end '2002-02-01'"],
}


@pytest.mark.parametrize(("window", "sql"), [(w, sql) for w, texts in SPELLINGS.items() for sql in texts])
def test_windows_have_one_form(window: str, sql: str) -> None:
    found = {window_text(e) for e in [block(sql).window]}
    assert {" and ".join(sorted(w.split(" and "))) for w in found} == {" and ".join(sorted(window.split(" and ")))}


def test_sysdate_is_now_and_having_has_windows() -> None:
    assert window_text(block("select a from T where sysdate - d <= 5", "oracle").window) == "d >= (now('t') - 5)"
    silent = block("select a from T group by a having max(d) < now() - 5")
    assert window_text(silent.having_window).endswith(" < (now('t') - 5)")
    assert not silent.having and not silent.window


def test_a_view_keeps_the_now_of_its_own_text() -> None:
    query = bound(
        "create view v as select a, d from T where d > now() - 9; select v.a from v, U where ts > now()"
    ).query
    assert isinstance(query, Block)
    assert window_text(query.window) == "1:ts > now('t', 'u') and d > (now('t') - 9)"


def test_a_column_called_now_is_no_now_among_streams_whose_times_do_not_compare() -> None:
    query = bound("select x.now from T, P, (select a as now from K) x where x.now = T.a and now > 1").query
    assert isinstance(query, Block) and not query.window


REFUSED = {
    "select a from T where d > now() - 5 or a > 3": ("now inside OR is not supported", "now()"),
    "select now() from T": ("NOW outside of a condition is not supported", "now()"),
    "select a, count(now()) from T group by a": ("NOW outside of a condition is not supported", "now()"),
    "select a from Z where a > now()": ("there is no now: no stream of this query has a time", "now()"),
    "select a from T where d <> now()": ("this condition on now is not supported", "now()"),
    "select a from T where now() is null": ("this condition on now is not supported", "now()"),
    "select T.a from T, P where d > now()": ("now is no one time here: P integer, T date", "now()"),
    "select T.a from T, P for (t = 1; t < 5; t++) { WindowIs(P, t, t) }": (
        "now is no one time here: P integer, T date",
        "for",
    ),
    "select a from T where year(d) = year(now())": ("this function of now is not supported", "now()"),
    "select a from T begin now": ("syntax error: BEGIN without END", "begin"),
    "select a from T begin 1 end 5": ("type clash: date cannot be compared with integer", "1"),
    "select a from T begin now - 5 end": ("syntax error: an expression is missing in the window", ""),
    "select a from P for (t = 1; t < 5; t++) { WindowIs(Q, 1, t) }": ("Q is not in FROM", "Q"),
    "select a from K for (t = 1; t < 5; t++) { WindowIs(K, 1, t) }": ("K is a table, and has no windows", "K"),
    "select a from P for (t = ST; ; t--) { WindowIs(P, 1, t) }": ("the loop does not end", ""),
    "select a from P for (t = 1; t < 5) { WindowIs(P, 1, t) }": ("syntax error: the loop is not complete", "for"),
    "select a from P for (t = 1; t < 5; t++) { }": ("syntax error: the loop is not complete", "for"),
    "select a from P for (t = 1; t < 5; t++) { x }": ("syntax error: only windows stand in a loop", "x"),
    "select a from P for (t = 1; t; t++) { WindowIs(P, 1, t) }": ("a condition is needed, not integer", "t"),
    "select a from P for (t = 1; t < 5; t++) { WindowIs(P, 1) }": (
        "WindowIs takes a stream and two ends, not 2 arguments", "WindowIs"),
    "select session_window(d, '5 days') from T": ("session_window(...) outside of GROUP BY is not supported", None),
    "select count(*) from T group by session_window(d)": ("session_window takes a time and a gap, not 1 arguments", ""),
    "select window(d, '5 days').start from T": ("window(...) outside of GROUP BY is not supported", None),
    "select count(*) from T group by window(d, '5 parsecs')": ("a length of time is needed", "'5 parsecs'"),
    "select count(*) from T group by window(d, '1 day', '2 days')": (
        "the slide of a window is not longer than its size", "'2 days'"),
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_refused_by_name_and_place(sql: str) -> None:
    message, word = REFUSED[sql]
    with pytest.raises(SqlError) as caught:
        bound(sql)
    assert caught.value.message == message
    if word:
        assert caught.value.position is not None
        assert sql[caught.value.position :].lower().startswith(word.lower())


LOOPS = {
    "t = ST; t < ST + 50; t += 5": ([120, 125, 130], 130, 133),
    "t = 101; t <= 103; t++": ([101, 102, 103], 103, 200),
    "; t = 0; t = -1": ([0], 0, 120),
    "t = ST; t > ST - 30; t -= 10": ([120, 110, 100], 100, 120),
    "t = ST + 7; ; t += 7": ([127, 134], 134, 140),
    "t = 200; t < 300; t++": ([], None, 120),
    "t = 1; t < 100 and t <> 8; t = t * 2": ([1, 2, 4], 4, 120),
}


@pytest.mark.parametrize("head", LOOPS)
def test_the_instants_of_a_loop(head: str) -> None:
    due, last, now = LOOPS[head]
    found = bound(f"select a from P for ({head}) {{ WindowIs(P, t - 4, t); }}")
    (window,) = found.windows
    assert window.loop is not None and window.stream == "P"
    assert sequence(window.loop).due({"p": now}) == due
    assert isinstance(found.query, Block)
    (where,) = intervals(found.query.window, {"p": now}).values()
    assert where == (Interval(last - 4, last) if last is not None else Interval(1, 0)) or where.empty


def test_a_loop_of_days_and_of_aliases() -> None:
    days = bound("select a from T for (t = ST; ; t += interval '1' day) { WindowIs(T, t - interval '4' day, t) }")
    assert isinstance(days.query, Block)
    (where,) = intervals(days.query.window, {"t": dt.date(2002, 1, 9)}).values()
    assert (where.high - where.low, dt.date(1970, 1, 1) + dt.timedelta(where.high)) == (4, dt.date(2002, 1, 9))
    both = bound(
        "select c2.a from P c1, P c2, K for (t = ST; ; t++) { WindowIs(c1, 1, t); -- one\n Windows(c2, t, t) }"
    )
    assert [w.stream for w in both.windows] == ["c1", "c2"]


NOW = now_of(["t"], DATE)
SHIFTS = [
    ("now() - 31", dt.date(2002, 2, 28)),
    ("now() - interval '1' month", dt.date(2002, 2, 28)),
    ("trunc(now(), 'MM')", dt.date(2002, 3, 1)),
    ("trunc(now(), 'Q')", dt.date(2002, 1, 1)),
    ("trunc(now(), 'WEEK')", dt.date(2002, 3, 25)),
    ("last_day(now())", dt.date(2002, 3, 31)),
]


@pytest.mark.parametrize(("end", "value"), SHIFTS)
def test_ends_at_a_moment(end: str, value: dt.date) -> None:
    (predicate,) = block(f"select a from T where d >= {end}").window
    (literal,) = predicate.literals
    assert literal.right is not None
    assert value_at(literal.right, {"t": dt.date(2002, 3, 31)}) == value
    assert value_at(literal.right, {}) is None
    assert value_at(Constant(None, DATE), {}) is None


def test_intervals_change_by_what_is_in_one_of_them() -> None:
    assert list(Interval(0, 5).changes_to(Interval(2, 7))) == [Interval(0, 1), Interval(6, 7)]
    assert list(Interval(0, 5).changes_to(Interval(8, 9))) == [Interval(0, 5), Interval(8, 9)]
    assert list(Interval(0, 5).changes_to(Interval(1, 0))) == [Interval(0, 5)]
    assert list(Interval(0, 9).changes_to(Interval(2, 3))) == [Interval(0, 1), Interval(4, 9)]
    assert not list(Interval(0, 5).changes_to(Interval(0, 5)))
