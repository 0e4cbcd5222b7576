"""Why a row is not in an answer of rows without a partner: what is named is enough, and each of it is needed."""

from __future__ import annotations

from itertools import combinations, product

import duckdb
import pandas as pd
import pytest
from long import LONG

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session

T = pd.DataFrame({"id": [1, 2, 3, 4], "d": [1, 9, 2, 1], "m": [1, 1, 2, 3]})
R = pd.DataFrame({"k": [2, 3]})
M = pd.DataFrame({"m": [1, 2, 3], "name": ["a", "b", "c"]})
JOINED = "FROM t JOIN m ON m.m = t.m LEFT JOIN r ON r.k = t.id"
ALONE = {"r.k IS NULL": "r.k IS NULL", "t.d < 5": "t.d < 5"}
TAKING = "EXCEPT, NOT IN, NOT EXISTS or LEFT JOIN … IS NULL"
PARTS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "outer join": ("SELECT t.id FROM t LEFT JOIN r ON r.k = t.id", ALONE, {}),
    "beside a join": (f"SELECT t.id, m.name {JOINED}", ALONE, {}),
    "first rows": (
        f"SELECT t.id, m.name {JOINED}",
        ALONE,
        {"LIMIT 1": "ORDER BY t.d, t.id LIMIT 1"},
    ),
    "not exists": (
        "SELECT t.id FROM t",
        {
            f"{TAKING}, rows of r": "NOT EXISTS (SELECT 1 FROM r WHERE r.k = t.id)",
            "d < 5": "t.d < 5",
        },
        {},
    ),
}  # fmt: skip


def text(shape: str, left_out: frozenset[str] = frozenset()) -> str:
    begin, where, last = PARTS[shape]
    kept = [sql for name, sql in where.items() if name not in left_out]
    rest = [sql for name, sql in last.items() if name not in left_out]
    return " ".join([begin, *(["WHERE " + " AND ".join(kept)] if kept else []), *rest])


ALL = [(a, b) for a, b in product([None, *PARTS], PARTS) if a != b]
SHAPES = [*PARTS]
AFTER_ONE = [*zip([None] * len(SHAPES) + SHAPES, SHAPES + SHAPES[1:] + SHAPES[:1], strict=True)]
"""Each alone, and after one other."""


@pytest.mark.slow
@pytest.mark.parametrize(("earlier", "shape"), ALL if LONG else AFTER_ONE)
def test_what_is_named_is_enough_and_needed(earlier: str | None, shape: str) -> None:
    """Also after another query was asked, as what equal inputs are of several queries is one."""
    duck = duckdb.connect()
    for name, rows in (("t", T), ("r", R), ("m", M)):
        duck.register(name, rows)

    def there(number: int, left_out: frozenset[str]) -> bool:
        return (number,) in duck.sql(f"SELECT id FROM ({text(shape, left_out)})").fetchall()

    own = frozenset((PARTS[shape][1] | PARTS[shape][2]).keys())
    with Session(InProcess()) as session:
        session.add_stream("t", T, history=9)
        session.add_stream("r", R, history=9)
        session.add_table("m", M)
        if earlier is not None:
            session.register(text(earlier), name="earlier").why_not("id = 2")
        query = session.register(text(shape), name="q")
        for number in (1, 2, 3):
            found = query.why_not(f"id = {number}")
            assert bool(found.there) == there(number, frozenset())
            named = [frozenset(str(c).removeprefix("WHERE ") for c in cause.conditions) for cause in found.causes]
            assert not any("expected" in name for names in named for name in names), named
            least = [
                names
                for size in range(1, len(own) + 1)
                for names in map(frozenset, combinations(sorted(own), size))
                if there(number, names) and not any(there(number, names - {name}) for name in names)
            ]
            for names in named:
                assert not names <= own or names in least, (number, names, least)
            assert found.there or any(names in named for names in least), (number, named, least)
