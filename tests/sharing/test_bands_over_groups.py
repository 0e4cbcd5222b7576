"""Joins of rows with values of their groups: a batch that moves a value brings what crosses it, not the group."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess

AVERAGE = "(SELECT AVG(x) FROM t AS o WHERE o.k = t.k)"
COMPARED = [f"SELECT i FROM t WHERE x > 3 * {AVERAGE}", f"SELECT i, x FROM t WHERE x < {AVERAGE} / 4"]
SHOWN = f"SELECT i, x - {AVERAGE} AS apart FROM t"


def joins(session: Session) -> list[str]:
    """What joins of the network test, each in a word or two."""
    lines = (line for line in session.network.to_text().splitlines() if line.lstrip().startswith("⋈"))
    return sorted("compared" if " < " in line or " > " in line else "all rows" for line in lines)


@pytest.mark.parametrize(
    ("groups", "queries", "kept"),
    [
        (5, COMPARED, ["compared", "compared"]),
        (5, [COMPARED[0], SHOWN], ["all rows", "compared"]),
        (5, [f"{COMPARED[0]} OR i > (SELECT MAX(i) FROM t AS o WHERE o.k = t.k) / 2"], ["compared"] * 2),
        (100, COMPARED, ["all rows"]),
    ],
)
def test_a_comparison_with_a_value_of_many_rows_stays_in_its_join(
    groups: int, queries: list[str], kept: list[str]
) -> None:
    rows = pa.table(
        {"i": range(200), "k": [i % groups for i in range(200)], "x": [float(i * i % 97) for i in range(200)]}
    )
    with Session(InProcess()) as session:
        session.add_stream("t", rows, history=100, batch=50)
        for sql in queries:
            session.register(sql)
        assert joins(session) == kept
