"""A roll-up that is not taken says why; one of sums of DOUBLE is taken, since these are exact."""

from __future__ import annotations

import pytest

from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.decisions import NEAR_MISS, Decision, Rule
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DOUBLE, INTEGER, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema, UserFunction

COLUMNS = (
    ("a", INTEGER),
    ("b", INTEGER),
    ("x", DOUBLE),
    ("m", decimal(15, 2)),
    ("w", decimal(30, 2)),
    ("ts", TIMESTAMP),
)
SCHEMA = Schema({"t": COLUMNS}, functions={"f": UserFunction("f", INTEGER)})


def decided(fine: str, coarse: str, options: Options | None = None) -> Decision:
    """What was decided of the aggregate of the second query."""
    planner, network = Planner(options or Options()), Network()
    for name, sql in (("fine", fine), ("coarse", coarse)):
        logical = bind(sql, "spark", SCHEMA).query
        assert logical is not None
        planned = planner.register(network, name, logical)
        network = planned.network
    return planned.explanation.decisions[-1]


@pytest.mark.parametrize(
    "statistic", ["SUM(x)", "AVG(x)", "SUM(m)", "AVG(m)", "COUNT(*)", "COUNT(x)", "MIN(x)", "MAX(m)", "BOOL_AND(a > 1)"]
)
def test_taken(statistic: str) -> None:
    decision = decided("SELECT a, b, SUM(a) FROM t GROUP BY a, b", f"SELECT a, {statistic} v FROM t GROUP BY a")
    assert decision.rule == Rule.DIMENSIONS
    assert not [each for each in decision.candidates if each.rule == NEAR_MISS]


@pytest.mark.parametrize(
    ("statistic", "why"),
    [
        ("MEDIAN(x)", "MEDIAN(x) does not follow from it: it needs the values"),
        ("COUNT(DISTINCT b)", "COUNT(DISTINCT b) does not follow from it: it needs the values"),
        ("SUM(a), MODE(b)", "MODE(b) does not follow from it: it needs the values"),
        ("LISTAGG(CAST(b AS STRING), ',')", "it needs the values"),
        ("CORR(x, a)", "it is made of exact sums of products"),
        ("VAR_POP(x)", "VAR_POP(x) does not follow from it: it is made of exact sums of products"),
        ("MIN_BY(a, x)", "MIN_BY(a, x) does not follow from it: it follows from a value and its key"),
        ("SUM(w)", "SUM(w) does not follow from it: a sum that has more than 38 digits is NULL"),
    ],
)
def test_a_statistic_that_is_in_the_way(statistic: str, why: str) -> None:
    decision = decided("SELECT a, b, SUM(a) FROM t GROUP BY a, b", f"SELECT a, {statistic} v FROM t GROUP BY a")
    (missed,) = decision.candidates
    assert (decision.rule, missed.rule, missed.chosen) == (Rule.NEW, NEAR_MISS, False)
    assert missed.reason.startswith("its groups are finer, but ")
    assert why in missed.reason
    assert missed.name.endswith("of fine")


@pytest.mark.parametrize(
    ("fine", "coarse", "options", "why"),
    [
        ("a, b", "a", Options(vertical_expansion=False), "Options.vertical_expansion is off"),
        ("a, f(b)", "a", Options(), "its groups call f, which may fail or take long"),
        ("a, SESSION_WINDOW(ts, '1 hour')", "a", Options(), "sessions are put together from rows"),
    ],
)
def test_groups_or_options_that_are_in_the_way(fine: str, coarse: str, options: Options, why: str) -> None:
    decision = decided(
        f"SELECT COUNT(*) n FROM t WHERE ts IS NOT NULL GROUP BY {fine}",
        f"SELECT COUNT(*) n FROM t WHERE ts IS NOT NULL GROUP BY {coarse}",
        options,
    )
    (missed,) = decision.candidates
    assert why in missed.reason


@pytest.mark.parametrize(
    "fine", ["SELECT b, SUM(a) FROM t GROUP BY b", "SELECT a, b, SUM(a) FROM t WHERE a > 1 GROUP BY a, b"]
)
def test_nothing_is_told_of_other_groups_or_rows(fine: str) -> None:
    assert decided(fine, "SELECT a, MEDIAN(x) v FROM t GROUP BY a").candidates == ()
