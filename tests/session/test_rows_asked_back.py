"""How many rows are read to say why a row is there: those of its partitions, groups and partners, and not all."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from workbench.engine.engine import Engine
from workbench.engine.hydration import Hydration
from workbench.engine.spark.in_process import InProcess
from workbench.engine.tree import Tree
from workbench.limits import Limits
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.session.session import Session
from workbench.sharing import planner
from workbench.sharing.planner import Planned, Planner
from workbench.sql.logical import LogicalQuery
from workbench.sql.provenance import Stage, step_back

ROWS, GROUPS = 8_000, 400
SHAPES = {
    "join": "SELECT t.id, u.v FROM t JOIN u ON t.k = u.k WHERE t.id = 7",
    "left_join": "SELECT t.id, t.g, u.v FROM t LEFT JOIN u ON t.k = u.k AND u.v > 5",
    "full_join": "SELECT t.id, u.v FROM t FULL JOIN u ON t.k = u.k AND u.v > 5",
    "not_exists": "SELECT id, k FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.v > 7)",
    "except": "SELECT id, k FROM t EXCEPT SELECT id, k FROM t WHERE x < 0.5",
    "of_groups": "WITH q AS (SELECT k, COUNT(*) AS n FROM t GROUP BY k UNION ALL SELECT k, v FROM u) "
                 "SELECT k, n FROM q WHERE n > 2",
    "groups_of_outer_values": "SELECT t.id, (SELECT MAX(v.x) FROM t v WHERE v.h = t.h AND v.k > t.k) AS m FROM t",
    "lateral": "SELECT v.id, v.n FROM t x, LATERAL (SELECT x.*, COUNT(*) AS n FROM u WHERE u.k = x.k AND u.v > 3) v",
    "partition_shown": "SELECT k, id, SUM(x) OVER (PARTITION BY k) AS s FROM t",
    "partition_not_shown": "SELECT id, SUM(x) OVER (PARTITION BY k ORDER BY id) AS s FROM t",
    "two_partitions": "SELECT id, COUNT(*) OVER (PARTITION BY k) AS a, MAX(x) OVER (PARTITION BY h) AS b FROM t",
    "first_of_partition": "SELECT id, x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC, id) = 1",
    "elements": "SELECT v, COUNT(*) AS n FROM t LATERAL VIEW EXPLODE(ARRAY(k, h)) e AS v GROUP BY v",
    "parts": "SELECT v, COUNT(*) AS n FROM t "
             "LATERAL VIEW EXPLODE(SLICE(SPLIT(k || '_' || h, '_'), 1, 2)) e AS v GROUP BY v",
    "exists_nested": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND EXISTS "
                     "(SELECT 1 FROM u w WHERE w.v = u.v % 5 AND w.k > t.h))",
    "structs": "SELECT v.s.k AS k, v.n FROM (SELECT STRUCT(k, h) AS s, COUNT(*) AS n FROM t GROUP BY STRUCT(k, h)) v",
    "places_of_all": "SELECT id, RANK() OVER (ORDER BY h, id) AS r, SUM(x) OVER (PARTITION BY k) AS s FROM t",
    "rank_of_groups": "SELECT k, RANK() OVER (PARTITION BY g ORDER BY COUNT(*) DESC) AS r FROM t GROUP BY k, g",
}  # fmt: skip
MOST = {
    "rank_of_groups": ROWS // 10, "lateral": ROWS + GROUPS, "groups_of_outer_values": ROWS + ROWS // 40,
    "places_of_all": ROWS, "structs": ROWS + ROWS // 40, "exists_nested": ROWS // 4,
}  # fmt: skip
"""Of these the partition itself has many rows, or a stream is joined with few keys or with few rows."""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    draw, n = np.random.default_rng(5), ROWS
    rows = {"id": range(n), "k": draw.integers(0, GROUPS, n), "h": draw.integers(0, GROUPS, n), "x": draw.random(n)}
    t = pd.DataFrame(rows).assign(g=lambda f: f.k % 20)
    t.loc[draw.random(n) < 0.01, "k"] = None
    u = pd.DataFrame({"k": range(GROUPS), "v": draw.integers(0, 10, GROUPS)})
    with Session(InProcess(), limits=Limits(rows_asked_directly=0)) as session:
        session.add_stream("t", t.convert_dtypes(), history=n - 20, batch=20)
        session.add_stream("u", u, history=GROUPS)
        session.register_many(SHAPES)
        session.run(1)
        yield session


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The rows that are kept to answer what is asked, whenever something more is asked."""
    rows, adopt = list[int](), Engine.adopt

    def counting(engine: Engine, *arguments: object) -> object:
        hydrated = adopt(engine, *arguments)
        rows.append(sum(tree.relation.rows for tree in engine.state.by_root.values()))
        return hydrated

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "adopt", counting)
        yield rows


@pytest.mark.parametrize("name", SHAPES)
def test_few_rows_are_read(session: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = session.query(name).head(1).to_dict("records")[0]
    exact = {column: None if pd.isna(v) else v for column, v in row.items() if not isinstance(v, float)}
    with counted(monkeypatch) as rows:
        found = session.query(name).why(exact)
    assert len(found.rows) >= 1 and found.tables
    assert max(rows, default=0) <= MOST.get(name, ROWS // 40), (rows, str(found)[:500])


def test_the_nearest_row_explains_an_asof_join_by_an_inequality_alone(session: Session) -> None:
    sql = "SELECT t.id, v.x FROM t ASOF JOIN (SELECT id, MAX(x) AS x FROM t GROUP BY id) v ON v.id > t.id"
    (rows,) = session.register(sql, "nearest", "duckdb").why({"id": 7}).streams.values()
    assert [*rows.id] == [7, 8]


def test_of_an_asof_join_no_other_rows_are_asked_for(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    query = session.register("SELECT t.id, u.v FROM t ASOF JOIN u ON u.k > t.id", "asof", "duckdb")
    with counted(monkeypatch) as rows:
        found = query.why({"id": 7})
    assert {name: len(rows) for name, rows in found.streams.items()} == {"t": 1, "u": 1}
    assert rows and max(rows) <= 8 * GROUPS, rows


def test_places_of_elements_are_not_asked_for(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, register = list[str](), Planner.register

    def counting(own: Planner, network: Network, name: str, logical: LogicalQuery) -> Planned:
        asked.append(name)
        return register(own, network, name, logical)

    query = session.register("SELECT id, v FROM t, UNNEST(SPLIT(CAST(k AS STRING), '1')) AS e(v)", "places")
    monkeypatch.setattr(Planner, "register", counting)
    (rows,) = query.why({"id": 7}).streams.values()
    assert {*rows.id} == {7}
    assert len(asked) <= 4


def test_groups_that_are_kept_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY CUBE (k, h) HAVING COUNT(*) > 1"
    computed, hydrate = list[NodeId](), Hydration.hydrate_all

    def counting(hydration: Hydration, *arguments: Any) -> dict[str, Tree]:
        computed.extend(root for roots in hydration.operators for root in roots)
        return hydrate(hydration, *arguments)

    with Session(InProcess()) as session:
        t = pd.DataFrame({"k": [n % 7 for n in range(600)], "h": [n % 5 for n in range(600)]})
        session.add_stream("t", t, history=600)
        query = session.register(sql, "kept")
        monkeypatch.setattr(Hydration, "hydrate_all", counting)
        assert len(query.why(limit=1).streams["t"]) == 600
    assert not [root for root in computed if root.startswith("G")]


def test_rows_of_streams_that_take_none_back_are_told_apart_by_their_numbers() -> None:
    for weight, width in ((None, 1), ("w", 2)):
        with Session(InProcess()) as session:
            rows = pd.DataFrame({"k": [1, 2], "x": [3.0, 4.0], "w": [1, 1]})
            session.add_stream("t", rows if weight else rows[["k", "x"]], history=2, weight=weight)
            logical = session.register("SELECT a.k, b.x FROM t a JOIN t b ON a.k = b.k", "q").logical
            step = step_back(logical, Stage.ROWS, [[1], [3.0]])
            assert [own for _, _, own in step.parts] == [width, width]


def test_how_questions_are_planned_is_not_explained(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    explained = list[str]()
    monkeypatch.setattr(planner, "explain_decisions", lambda draft, name: explained.append(name))
    assert session.query("left_join").why({"id": 7}).tables
    assert not explained


def test_a_row_of_one_branch_is_not_explained_by_a_group_of_another() -> None:
    of_t = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    of_u = "SELECT g, COUNT(*) AS n FROM u GROUP BY g"
    with Session(InProcess()) as session:
        session.add_stream("t", [{"g": "a"}, {"g": "a"}, {"g": "b"}, {"g": None}], history=4)
        session.add_stream("u", [{"g": "a"}, {"g": "b"}, {"g": "b"}], history=3)
        both = session.register(f"{of_t} UNION ALL {of_u}", name="both")
        for g, n, stream in [("a", 2, "t"), ("a", 1, "u"), ("b", 1, "t"), ("b", 2, "u")]:
            assert {name: len(rows) for name, rows in both.why({"g": g, "n": n}).streams.items()} == {stream: n}
        total = session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)", name="total")
        for g, n in [("a", 2), ("b", 1), (None, 1), (None, 4)]:
            assert len(total.why({"g": g, "n": n}).streams["t"]) == n


def test_rows_are_found_by_all_kinds_of_values_that_they_are_shown_with() -> None:
    rows = {
        "d": [dt.date(1, 1, 1), dt.date(2024, 5, 6)],
        "at": [dt.datetime(1, 1, 1, 2), dt.datetime(2024, 5, 6, 7, 8, 9, 10)],
        "o": [dt.time(0, 0), dt.time(23, 5, 6, 70)],
        "s": ['{"d": 1}', 'it\'s "d"'],
    }
    for dialect in ("spark", "duckdb"):
        with Session(InProcess(), dialect=dialect) as session:
            session.add_stream("t", pa.table(rows), history=2)
            query = session.register("SELECT d, at, o, s, at - CAST(d AS TIMESTAMP) AS i FROM t", name="q")
            for row in query.result().to_dict("records"):
                for name, value in row.items():
                    assert query.why({name: value}).total == 1, (dialect, name)


def test_rows_that_explode_makes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told, adopt = list[bool](), Engine.adopt_of_few

    def adopted(engine: Engine, network: Network, batch: int, rows: int) -> bool:
        told.append(adopt(engine, network, batch, rows))
        return told[-1]

    monkeypatch.setattr(Engine, "adopt_of_few", adopted)
    numbers = np.random.default_rng(7).integers(0, 10**9, 40_000)
    with Session(InProcess(), limits=Limits(rows_asked_directly=1_000)) as session:
        session.add_stream("S", pd.DataFrame({"g": np.arange(40_000) % 20, "x": numbers}), history=40_000)
        lists = "SELECT g, LIST(x) AS xs FROM S GROUP BY g"
        query = session.register(f"SELECT g, u.x AS v FROM ({lists}) t, UNNEST(t.xs) AS u(x)", "q", dialect="duckdb")
        found = query.why({"g": 3, "v": int(numbers[3])})
        assert numbers[3] in found.streams["S"]["x"].tolist()
    assert told[0] is False
