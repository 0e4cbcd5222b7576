"""Joins by a foreign key that are made simpler, as plans; the oracle's classes compare their answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from workbench.catalog.catalog import Catalog
from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.planner import Planned, Planner
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.constraints import ForeignKey
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {
        "f": (("id", INTEGER), ("tail", STRING), ("v", INTEGER)),
        "p": (("tail", STRING), ("model", STRING), ("w", INTEGER)),
        "m": (("model", STRING), ("maker", STRING)),
    }
)
KEYS = {"f": (ForeignKey("f", ("tail",), "p", ("tail",)),), "p": (ForeignKey("p", ("model",), "m", ("model",)),)}


def planned(sql: str, dialect: str = "spark", constraints: Mapping[str, tuple[ForeignKey, ...]] = KEYS) -> Planned:
    planner, query = Planner(Options(), Catalog(), constraints=constraints), bind(sql, dialect, SCHEMA).query
    assert query is not None
    made = planner.register(Network(), "q", query)
    assert planner.catalog.network() == made.network
    return made


def kinds(sql: str, dialect: str = "spark") -> str:
    return " ".join(sorted(node.kind for node in planned(sql, dialect).network.nodes.values() if node.kind != "source"))


LATE = {"f": (ForeignKey("f", ("tail",), "p", ("tail",), late=5),)}


DROPPED = [
    "select f.id from f join p on f.tail = p.tail",
    "select f.id, p.tail from f join p using (tail)",
    "select f.v, count(*) from p join f on p.tail = f.tail group by f.v",
    "select f.id from f where exists (select 1 from p where p.tail = f.tail)",
    "select id from f where tail in (select tail from p)",
    "select f.id from f left semi join p on f.tail = p.tail",
    "select f.id from f left anti join p on f.tail = p.tail",
    "select id from f where not exists (select 1 from p where p.tail = f.tail)",
    "select f.id, p.tail from f left join p on f.tail = p.tail",
    "select f.id from p right join f on f.tail = p.tail",
    "select f.id from f left join p on f.tail = p.tail where p.tail is null",
    "with j as (select f.id, f.v, p.model from f join p on f.tail = p.tail) select id from j",
]


@pytest.mark.parametrize("sql", DROPPED)
def test_a_join_of_which_nothing_is_read_is_dropped(sql: str) -> None:
    made = planned(sql)
    assert {node.kind for node in made.network.nodes.values()} <= {"source", "selection", "aggregate"}
    assert "join with p dropped: f.tail references p.tail, and nothing else is read of it" in made.explanation.notes


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select f.id, p.model from f left join p on f.tail = p.tail", "join selection set operator"),
        ("select f.id, p.model from f left join p on f.tail = p.tail where f.tail > 'a'", "join selection selection"),
        ("select f.id, p.w from f left join p on f.tail = p.tail where f.tail is not null", "join"),
        ("select f.id, p.w, m.maker from f join p on f.tail = p.tail join m on m.model = p.model", "join join"),
        ("select f.id, p.w from f join p on f.tail = p.tail join m on m.model = p.model", "join selection"),
        # Of the other side rows without partner are looked for as before.
        ("select f.id, p.w from f right join p on f.tail = p.tail", "join set operator set operator"),
    ],
)
def test_an_outer_join_needs_no_antijoin(sql: str, expected: str) -> None:
    assert kinds(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "select f.id from f join p on f.tail = p.tail and p.w > 3",
        "select f.id from f join p on f.tail = p.model",
        "select f.id from f join p on f.tail < p.tail",
        "select f.id from f join p on f.tail = p.tail where f.v < p.w",
        "select f.id, p.w from f left join p on f.tail = p.tail and f.v > 3",
        "select p.w from p where exists (select 1 from f where p.tail = f.tail)",
        "select a.id from f a join f b on a.tail = b.tail",
        "select f.id, p.w from f left join p on coalesce(f.tail, 'x') = p.tail",
    ],
)
def test_other_joins_stay(sql: str) -> None:
    assert not planned(sql).explanation.notes or "references" not in str(planned(sql).explanation.notes)
    assert "join" in kinds(sql)


@pytest.mark.parametrize("sql", DROPPED)
def test_a_join_whose_target_may_be_late_stays(sql: str) -> None:
    """It says which rows have found theirs."""
    kinds_of = [node.kind for node in planned(sql, constraints=LATE).network.nodes.values()]
    assert {"join", "semijoin", "antijoin"} & {*kinds_of}
