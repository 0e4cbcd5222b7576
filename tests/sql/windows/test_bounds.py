"""Windows in WHERE: one form for all spellings, and their ends at a time."""

from __future__ import annotations

import datetime as dt

import pytest
from sql.window_schema import block, bound, window_text

from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import DATE
from workbench.sql.logical import Block
from workbench.sql.windows.bounds import Interval
from workbench.sql.windows.evaluation import value_at

SPELLINGS = {
    "d > (now('t') - 5)": [
        "select a from T where d > now() - 5",
        "select a from T where now() - d < 5",
        "select a from T where not d <= now() - 5",
        "select a from T where d > now() - interval '5' day",
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
