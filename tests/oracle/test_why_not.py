"""Why a row is not in an answer: without a condition that is named DuckDB has it, without others it has not."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb
import pandas as pd
import pytest

from workbench.session.session import Session

ROUNDS = int(os.environ.get("ARGUS_WHY_NOT", "1"))
"""Queries of each shape."""
LIMIT = re.compile(r" LIMIT \d+")


@dataclass(frozen=True)
class Asked:
    """A query in parts, each of which can be left out.

    Attributes:
        select: what it begins with, up to FROM.
        sources: its first stream, and the other one.
        on: how these are joined; empty: there is one.
        where: conditions by the clause and text that name them.
        rest: what follows WHERE: GROUP BY, ORDER BY.
        last: HAVING, QUALIFY or LIMIT by the clause and text that name it, and its SQL.
    """

    select: str
    on: tuple[str, str] | None
    where: dict[str, str]
    rest: str = ""
    last: dict[str, str] = field(default_factory=dict)

    def sql(self, left_out: frozenset[str] = frozenset()) -> str:
        """The text without some conditions."""
        kept = [sql for name, sql in self.where.items() if name not in left_out]
        joined = ""
        if self.on is not None:
            name, on = self.on
            of_u = [sql for sql in kept if "u." in sql]
            joined = f" JOIN u ON {on}"
            if name in left_out:  # its row, which need not be there, is all that its conditions are on
                joined, kept = f" LEFT JOIN u ON {' AND '.join([on, *of_u])}", [sql for sql in kept if sql not in of_u]
        where = f" WHERE {' AND '.join(kept)}" if kept else ""
        last = "".join(f" {sql}" for name, sql in self.last.items() if name not in left_out)
        return f"{self.select} FROM t{joined}{where}{self.rest}{last}"

    @property
    def conditions(self) -> list[str]:
        """What names them."""
        return [*self.where, *([self.on[0]] if self.on else []), *self.last]


def shapes(draw: random.Random) -> Iterator[tuple[Asked, str]]:
    """A query of each shape, and what is expected of it."""
    k, n, number, city = draw.randrange(1, 9), draw.randrange(2, 8), draw.randrange(40), draw.choice("xyz")
    group = draw.choice("abcd")
    where = {f"WHERE t.k > {k}": f"t.k > {k}", f"WHERE t.s = '{city}'": f"t.s = '{city}'"}
    alone = {name.replace("t.", ""): sql for name, sql in where.items()}
    yield Asked("SELECT t.id, t.g", None, alone), f"id = {number}"
    yield Asked("SELECT t.id, t.g", None, alone), f"id = {number} AND g = '{group}'"
    on = ("a row of u ON u.g = t.g", "t.g = u.g")
    of_u = {f"WHERE u.c <> '{city}'": f"u.c <> '{city}'"}
    yield Asked("SELECT t.id, u.c", on, where | of_u), f"id = {number}"
    having = {f"HAVING COUNT(*) > {n}": f"HAVING COUNT(*) > {n}"}
    yield Asked("SELECT t.g, COUNT(*) AS n", None, alone, " GROUP BY t.g", having), f"g = '{group}'"
    yield Asked("SELECT t.g, COUNT(*) AS n", on, where, " GROUP BY t.g", having), f"g = '{group}'"
    limit = {f"LIMIT {n}": f"LIMIT {n}"}
    yield Asked("SELECT t.id, t.k", None, alone, " ORDER BY k DESC NULLS LAST, id", limit), f"id = {number}"
    first = "ROW_NUMBER() OVER (PARTITION BY g ORDER BY k DESC NULLS LAST, id) <= 2"
    qualify = {"QUALIFY ROW_NUMBER() <= 2": f"QUALIFY {first}"}
    yield Asked("SELECT t.id, t.k", None, alone, "", qualify), f"id = {number}"
    name = "EXCEPT, NOT IN, NOT EXISTS or LEFT JOIN … IS NULL, rows of u"
    taken = {name: f"t.g NOT IN (SELECT g FROM u WHERE c = '{city}' AND g IS NOT NULL)"}
    yield Asked("SELECT t.id", None, {f"WHERE k > {k}": f"t.k > {k}"} | taken), f"id = {number}"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    draw = random.Random(5)

    def some(values: str) -> str | None:
        return draw.choice([*values, None])

    rows = [{"id": i, "g": some("abcd"), "k": draw.choice([*range(10), None]), "s": some("xyz")} for i in range(40)]
    with Session() as made:
        made.add_stream("t", pd.DataFrame(rows).astype({"k": "Int64"}), history=30, batch=10)
        made.add_stream(
            "u", pd.DataFrame([{"g": some("abce"), "c": some("xyz")} for _ in range(9)]), history=5, batch=4
        )
        made.run(1)
        yield made


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_conditions_that_keep_rows_out(session: Session, seed: int) -> None:
    duck = duckdb.connect()
    for name in ("t", "u"):
        rows = session.register(f"SELECT * FROM {name}", name=f"all_{name}").arrow_result()
        duck.register("rows", rows)
        duck.execute(f"CREATE TABLE {name} AS FROM rows")

    def there(asked: Asked, expected: str, left_out: frozenset[str]) -> bool:
        return bool(duck.execute(f"FROM ({asked.sql(left_out)}) q WHERE {expected}").fetchall())

    for asked, expected in shapes(random.Random(seed)):
        found = session.register(asked.sql(), name="q").why_not(expected)
        assert bool(found.there) == there(asked, expected, frozenset()), f"{asked.sql()} | {expected}"
        if found.there:
            assert not found.causes
            continue
        alone = {name for name in asked.conditions if there(asked, expected, frozenset([name]))}
        causes = [frozenset(map(str, cause.conditions)) for cause in found.causes]
        if alone:
            assert set().union(*causes) == alone, f"{asked.sql()} | {expected}: {causes}, and not {alone}"
        for cause in found.causes:
            names = frozenset(map(str, cause.conditions))
            about = f"{asked.sql()} | {expected}: {cause.title}"
            own = frozenset(name for name in names if not name.startswith("expected"))
            left = " AND ".join(t for t in expected.split(" AND ") if f"expected {t}" not in names) or "TRUE"
            assert own <= set(asked.conditions), about
            assert there(asked, left, own), about
            if own == names:
                assert not any(there(asked, expected, names - {name}) for name in names), about
            assert cause.total and len(cause.rows) and cause.tables, about
