"""BEGIN and END behind a recursive query: each step reads the rows of the window, as with the window in its WHERE."""

from __future__ import annotations

import pyarrow as pa

from workbench import Session
from workbench.engine.spark.in_process import InProcess

PATHS = (
    "WITH RECURSIVE r AS (SELECT id, 1 AS d FROM f WHERE p = 0 {0} UNION ALL"
    " SELECT f.id, r.d + 1 FROM f JOIN r ON f.p = r.id WHERE r.d < 4 {0}) SELECT id, d FROM r {1}"
)


def test_a_window_clause_behind_a_recursive_query() -> None:
    ids = list(range(1, 25))
    rows = pa.table({"id": ids, "p": [0 if id % 4 == 1 else id - 1 for id in ids], "t": ids})
    with Session(InProcess()) as session:
        session.add_stream("f", rows, history=6, batch=3, time="t")
        behind = session.register(PATHS.format("", "BEGIN NOW - 9 END NOW"), name="behind")
        inside = session.register(PATHS.format("AND t >= now() - 9", ""), name="inside")
        for _ in range(6):
            found, expected = (sorted(query.result().itertuples(index=False)) for query in (behind, inside))
            assert found == expected and found
            session.run(1)
