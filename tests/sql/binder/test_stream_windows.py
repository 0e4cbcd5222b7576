"""Window clauses and functions, loops, and what is refused about now."""

from __future__ import annotations

import datetime as dt

import pytest
from sql.window_schema import bound

from workbench.errors import SqlError
from workbench.sql.logical import Block
from workbench.sql.windows.bounds import Interval, intervals
from workbench.sql.windows.evaluation import loop_instants

REFUSED = {
    "begin now - 5 end now; select a from T": ("a window clause stands behind a query", "begin"),
    "select a from P for (t = 9; t > 1; t--5) { WindowIs(P, 1, t) }": ("syntax error: the loop is not complete", "for"),
    "select a from P for (t = 1; t < 5; t++) { WindowIs(P, 1, t) } begin 1 end 2": (
        "a statement has one window clause", "begin"),
    "select a from T where d > now() - 5 or a > 3": ("now inside OR is not supported", "now()"),
    "select now() from T": ("NOW outside of a condition is not supported", "now()"),
    "select a, count(now()) from T group by a": ("NOW outside of a condition is not supported", "now()"),
    "select a from Z where a > now()": ("there is no now: no stream of this query has a time", "now()"),
    "select a from T where d <> now()": ("this condition on now is not supported", "now()"),
    "select a from T where now() is null": ("this condition on now is not supported", "now()"),
    "select T.a from T, P where d > now()": ("now is no one time here: P integer, T date", "now()"),
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
    assert loop_instants(window.loop).due({"p": now}) == due
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


@pytest.mark.parametrize(
    "inner",
    [
        "select a, count(*) n from P group by a",
        "select distinct a from P",
        "select a from P union select day from P",
        "select a from P where a > 3",
    ],
)
def test_a_query_of_with_has_the_window_inside_as_a_subquery_has(inner: str) -> None:
    named = bound(f"with w as ({inner}) select a from w begin now - 3 end now")
    assert named.query == bound(f"select a from ({inner}) w begin now - 3 end now").query
    assert "P" in {window.stream for window in named.windows}


def test_a_recursive_query_has_the_window_on_the_streams_of_each_step() -> None:
    steps = (
        "with recursive r as (select a, 1 n from P where price = 0 union all"
        " select P.a, r.n + 1 from P join r on P.day = r.a where r.n < 3) select a, n from r"
    )
    clause = bound(f"{steps} begin now - 3 end now")
    assert isinstance(clause.query, Block) and "P" in {window.stream for window in clause.windows}


def test_a_view_of_the_text_is_no_query_of_with() -> None:
    text = "create view w as select a, count(*) n from P group by a; select a from w begin now - 3 end now"
    with pytest.raises(SqlError, match="w has groups"):
        bound(text)
