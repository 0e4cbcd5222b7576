"""What of every tree's rows is still needed, from the windows of queries down to the streams, without Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pytest
from sharing.test_windows import planned

from workbench.engine.physical.looked_up import LookedUp
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.retention import may_expire, retention_bounds
from workbench.engine.storage.retention import RetentionBound
from workbench.sql.windows.bounds import MOST, Interval
from workbench.sql.windows.stream_time import as_number

NOW = dt.date(2002, 3, 1)
TIMES = {"f": NOW, "g": dt.datetime(2002, 3, 1, 12)}


def days(ago: int) -> Interval:
    low = as_number(NOW - dt.timedelta(days=ago))
    assert low is not None
    return Interval(low, MOST)


def needed(texts: Sequence[str], eager: bool = False) -> dict[str, set[tuple[tuple[str, Interval], ...]]]:
    """The times that are needed, by kind of tree."""
    _, network = planned(texts, eager)
    found: dict[str, set[tuple[tuple[str, Interval], ...]]] = {}
    plans = plan_trees(network, {})
    for name, needs in retention_bounds(network, plans, LookedUp(network, TIMES), TIMES).stored.items():
        for need in needs:
            found.setdefault(network.nodes[plans[name].roots[0]].kind, set()).add(need.times)
    return found


@pytest.mark.parametrize("eager", [False, True])
def test_the_largest_window_counts(eager: bool) -> None:
    texts = ["select id from F where d >= now() - 3", "select id from F where d >= now() - 30"]
    assert needed(texts, eager) == {"source": {(("d", days(30)),)}}
    assert needed([*texts, "select id from F"], eager) == {"source": {()}}


def test_each_selection_needs_its_own_rows() -> None:
    _, network = planned(["select id from F where d >= now() - 3", "select id from F where amount > 9"])
    plans = plan_trees(network, {})
    ((root, needs),) = retention_bounds(network, plans, LookedUp(network, TIMES), TIMES).stored.items()
    (rich,) = (n for n in network.nodes if n != root)
    assert {(need.bits, need.times) for need in needs} == {
        (frozenset([plans[root].bits[root]]), (("d", days(3)),)),
        (frozenset([plans[root].bits[rich]]), ()),
    }


JOINED = "select a.id from F a join F b on a.bank = b.bank where a.amount > b.amount and a.d >= now() - 3"


def test_a_join_needs_of_a_side_what_is_asked_of_it() -> None:
    both = needed([f"{JOINED} and b.d >= now() - 5"])
    assert both["join"] == {(("d_1", days(3)), ("d_2", days(5)))}
    assert both["source"] == {(("d", days(5)),)}
    # Of one side nothing is said: a new row of the other finds any of its rows.
    assert needed([JOINED])["source"] == {()}
    assert needed([f"{JOINED} and a.d = b.d"])["source"] == {(("d", days(3)),)}


def test_days_are_compared_with_timestamps() -> None:
    text = (
        "select F.id from F join G on F.id = G.id"
        " where F.d > now() - interval '3' day and G.ts > now() - interval '1' day"
    )
    found = needed([text])["source"]
    assert (("d", days(3)),) in found and len(found) == 2 and () not in found


def test_slices_are_needed_as_long_as_their_rows() -> None:
    text = "select bank, count(*) from F where d >= now() - {} group by bank"
    found = needed([text.format(3), text.format(30)])
    assert found["source"] == {(("d", days(30)),)}
    assert (("d", days(30)),) in found["aggregate"]


def test_what_does_not_follow_from_a_time_is_needed_as_a_whole() -> None:
    above = "select count(*) from (select bank, min(d) first from F group by bank) v where first >= now() - 40"
    assert needed([above])["source"] == {()}
    assert needed(["select id from F where d < now() - 3"])["source"] == {()}
    assert needed(["select count(*) from F"])["source"] == {()}


def test_set_operators_are_looked_through() -> None:
    union = "select bank from (select bank, d from F union select bank, d from F where amount > 3) v"
    found = needed([f"{union} where d >= now() - 3"])
    assert found["source"] == {(("d", days(3)),)}
    assert found["set operator"] == {(("c2", days(3)),)}


def test_there_are_windows_or_not() -> None:
    assert may_expire(planned(["select id from F where d >= now() - 3"])[1])
    assert may_expire(planned(["select median(amount) from F where d >= now() - 3"])[1])
    assert not may_expire(planned(["select id from F where amount > 3"])[1])


def test_covering() -> None:
    week, month = RetentionBound(frozenset([1]), (("d", days(7)),)), RetentionBound(frozenset([1]), (("d", days(30)),))
    narrow = RetentionBound(frozenset([1, 2]), (("d", days(7)), ("e", days(1))))
    assert month.covers(week) and month.covers(narrow) and week.covers(week)
    assert not week.covers(month) and not narrow.covers(week)
    assert RetentionBound(frozenset()).covers(month) and not month.covers(RetentionBound(frozenset([1])))
