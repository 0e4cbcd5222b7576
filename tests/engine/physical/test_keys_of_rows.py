"""Keys that are stored with rows are computed from columns that the rows have, whatever of them is read."""

from __future__ import annotations

import pytest
from sharing.planned import planned

from workbench.sql.algebra.types import BOOLEAN, DATE, INTEGER, STRING
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("a", INTEGER), ("b", INTEGER), ("s", STRING), ("d", DATE), ("p", BOOLEAN))})
FUNCTIONS = ("BOOL_AND(p)", "SUM(a + b)", "COUNT(NULLIF(a, b))", "MAX(a * b)", "LAG(a + 1)", "LAST_VALUE(s || 'x')")
READ = ("", ", f", ", g", ", f, g")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("read", READ)
def test_functions_that_nothing_reads(function: str, read: str) -> None:
    for over in ("ORDER BY b, s", "PARTITION BY d ORDER BY b", "PARTITION BY d + 1 ORDER BY a - b"):
        inner = (
            f"SELECT t.d, {function} OVER ({over}) AS f, MAX(d) OVER (PARTITION BY s) AS g"
            " FROM t LEFT SEMI JOIN t AS u ON t.a = u.a QUALIFY FIRST_VALUE(b) OVER (ORDER BY b DESC) <> 1"
        )
        planned(f"WITH r AS ({inner}) SELECT d{read} FROM r", SCHEMA)
