"""Values of matches, and percentiles in descending order, in the words of SQL."""

from __future__ import annotations

import pytest

from workbench.network.matched import matched_sql
from workbench.network.sql_text import expression_sql
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant
from workbench.sql.algebra.patterns import MatchPattern, Navigation
from workbench.sql.algebra.types import DOUBLE, INTEGER

PATTERN = MatchPattern(("A", "B"), (), (), (), "past", (), False, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Navigation("state", INTEGER), "MATCH_RECOGNIZE(A, B)"),
        (Navigation("number", INTEGER), "MATCH_NUMBER()"),
        (Navigation("classifier", INTEGER), "CLASSIFIER()"),
        (Navigation("last", INTEGER, 0, (1,)), "LAST(B.id)"),
        (Navigation("first", INTEGER, 0, (0, 1), 2), "FIRST(id, 2)"),
        (Navigation("count", INTEGER), "COUNT(*)"),
    ],
)
def test_values_of_matches(value: Navigation, expected: str) -> None:
    assert matched_sql(PATTERN, value, ["id"]) == expected


def test_a_percentile_from_above_says_its_order() -> None:
    call = AggregateCall("percentile_disc_desc", (Column("k", INTEGER), Constant(0.75, DOUBLE)), INTEGER)
    assert expression_sql(call) == "PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY k DESC)"
