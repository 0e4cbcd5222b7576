"""Streams with constraints, kept and broken at any moment, against DuckDB: plans rely on them, answers are right."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from long import LONG, rare, some
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess
from workbench.errors import ConstraintWarning
from workbench.explain.kept_state import memory_text

SEEDS = int(os.environ.get("ARGUS_SEEDS", "1"))
BATCHES, CHILDREN, PARENTS = 6, 24, 8
"""How many batches there are, the history among them, and rows of each in every batch."""

ON = "ON f.tail = p.tail AND f.year = p.year"
EXISTS = "EXISTS (SELECT 1 FROM p WHERE p.tail = f.tail AND p.year = f.year)"
JOINS = {
    "inner": f"SELECT f.id, p.model FROM f JOIN p {ON}",
    "left": f"SELECT f.id, p.model, p.tail FROM f LEFT JOIN p {ON}",
    "right": f"SELECT p.model, f.id FROM p RIGHT JOIN f {ON} WHERE f.v > 3",
    "full": f"SELECT f.id, p.model FROM f FULL JOIN p {ON}",
    "unread": f"SELECT f.id FROM f JOIN p {ON} WHERE f.v < 9",
    "left unread": f"SELECT f.v, p.tail, count(*) n FROM f LEFT JOIN p {ON} GROUP BY f.v, p.tail",
    "exists": f"SELECT id FROM f WHERE {EXISTS}",
    "not exists": f"SELECT id FROM f WHERE NOT {EXISTS}",
    "groups": f"SELECT p.model, count(*) n, sum(f.v) v FROM f JOIN p {ON} GROUP BY p.model",
    "selected": f"SELECT f.id, p.model FROM f JOIN p {ON} WHERE p.model > 'm2' AND f.v > 2",
    "partly": f"SELECT f.id, p.model FROM f LEFT JOIN p {ON} AND p.model > 'm1'",
    "pairs": f"SELECT a.id, f.id j, p.model FROM f a JOIN f ON a.id = f.v JOIN p {ON}",
    "of the day": f"SELECT p.model, n FROM (SELECT tail, year, count(*) n FROM f GROUP BY tail, year) f JOIN p {ON}",
    "without promise": "SELECT v, count(*) n FROM f GROUP BY v",
    "other columns": "SELECT f.id, p.model FROM f JOIN p ON f.v = p.year",
}


LATE_JOINS = ("inner", "left", "unread", "exists", "not exists", "groups", "partly", "pairs", "without promise")
"""Those that are asked where parents may be late."""


def parents(seed: int) -> list[list[object]]:
    chosen = random.Random(seed)
    return [[f"N{i // 2}", i % 2, f"m{chosen.randrange(5)}"] for i in range(BATCHES * PARENTS)]


def children(seed: int) -> list[list[object]]:
    """Rows of which each refers to a parent that has come by the end of its batch, or to none."""
    chosen, rows = random.Random(seed), list[list[object]]()
    for at in range(BATCHES * CHILDREN):
        parent = chosen.randrange((at // CHILDREN + 1) * PARENTS)
        tail, year = (None if chosen.random() < 0.1 else value for value in (f"N{parent // 2}", parent % 2))
        rows.append([at, tail, year, chosen.randrange(12)])
    return rows


def table(rows: list[list[object]], names: Mapping[str, pa.DataType]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(list(c), t) for (n, t), c in zip(names.items(), columns, strict=True)})


def feeds(of_parents: list[list[object]], of_children: list[list[object]]) -> dict[str, Feed]:
    """The parents, and the children, which refer to them."""
    keys = {"tail": pa.string(), "year": pa.int64()}
    p = table(of_parents, {**keys, "model": pa.string()})
    f = table(of_children, {"id": pa.int64(), **keys, "v": pa.int64()})
    constraints = {"references": {"tail, year": "p(tail, year)"}}
    return {"p": Feed(p, PARENTS, PARENTS), "f": Feed(f, CHILDREN, CHILDREN, constraints=constraints)}


def kept(p: list[list[object]], f: list[list[object]]) -> None:
    pass


def early_child(p: list[list[object]], f: list[list[object]]) -> None:
    """A child comes two batches before its parent."""
    f[2 * CHILDREN + 5][1:3] = p[4 * PARENTS + 3][:2]


def orphan(p: list[list[object]], f: list[list[object]]) -> None:
    f[3 * CHILDREN + 1][1:3] = ["nowhere", 1]


def two_parents(p: list[list[object]], f: list[list[object]]) -> None:
    """A parent is there twice, and so are its children's pairs."""
    at = 3 * PARENTS + 2
    for child in (child for child in f if child[1:3] == p[at][:2]):
        child[1] = None
    p[at][:2] = p[1][:2]


def orphan_in_history(p: list[list[object]], f: list[list[object]]) -> None:
    f[7][1:3] = ["nowhere", 1]


def parent_later_in_batch(p: list[list[object]], f: list[list[object]]) -> None:
    """The parent is the last row of its batch, and its child the first: that is in time."""
    f[2 * CHILDREN][1:3] = p[3 * PARENTS - 1][:2]


BREACHES: list[tuple[Callable[[list[list[object]], list[list[object]]], None], str]] = [
    (early_child, "row 54 of f has tail 'N17' and year 1, and p has no such row (batch 2)"),
    (two_parents, "row 27 of p is another one with tail 'N0' and year 1 (batch 3)"),
    (parent_later_in_batch, ""),
    (kept, ""),
    (orphan, "row 74 of f has tail 'nowhere'"),
    (orphan_in_history, "row 8 of f has tail 'nowhere'"),
]


@contextmanager
def told(how: str) -> Iterator[None]:
    """Within the context a constraint is broken in one way, or none is."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ConstraintWarning)
        yield
    texts = [str(w.message) for w in found if w.category is ConstraintWarning]
    assert len(texts) == bool(how) and all(how in text for text in texts), texts


def check(spark: SparkSession, path: Path, fed: Mapping[str, Feed], cases: Mapping[str, str], seed: int) -> None:
    """Half of some queries from the start, half after two batches; opened again, and gone back."""
    names = random.Random(seed).sample(sorted(cases), len(cases) if LONG else min(7, len(cases)))
    with Oracle(spark, fed, path=path / "s") as oracle:
        oracle.register({name: Case(cases[name]) for name in names[::2]}, check=False)
        oracle.run(2, check=False)
        oracle.register({name: Case(cases[name]) for name in names[1::2]})
        oracle.run(2)
        oracle.reopen()
        oracle.run(1)
        oracle.check_changes()
        oracle.session.seek(1)
        oracle.session.run(1)
        oracle.follow(oracle.session)
        oracle.check_results()


@pytest.mark.parametrize(("breach", "how"), some(BREACHES, 2), ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_foreign_key(spark: SparkSession, tmp_path: Path, breach: Callable[..., None], how: str, seed: int) -> None:
    p, f = parents(seed), children(seed)
    breach(p, f)
    with told(how):
        check(spark, tmp_path, feeds(p, f), JOINS, seed)


@pytest.mark.parametrize("corrects", some(["both", "f", "p"]))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_foreign_key_under_corrections(spark: SparkSession, tmp_path: Path, corrects: str, seed: int) -> None:
    """Rows are taken back on one side, or both: also parents that have children."""
    fed = feeds(parents(seed), children(seed))
    p, f = fed["p"], fed["f"]
    if corrects != "f":
        p = corrected(p.table, 2 * PARENTS, PARENTS + 4, seed)
    if corrects != "p":
        f = replace(corrected(f.table, CHILDREN, CHILDREN, seed), constraints=f.constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)
        check(spark, tmp_path, {"p": p, "f": f}, JOINS, seed)


@rare
def test_batches_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    """All children are there before the last parents come, and all parents at once before the last children."""
    p, f = parents(3), children(3)
    with told(""):
        fed = feeds(p, f[: 2 * CHILDREN])
        check(spark, tmp_path / "children", fed, dict(list(JOINS.items())[:6]), 3)
        fed = feeds(p, f)
        check(spark, tmp_path / "parents", {**fed, "p": replace(fed["p"], history=len(p))}, JOINS, 4)


LATE = 2 * CHILDREN
"""How many further children may come before a parent."""


def late_feeds(p: list[list[object]], f: list[list[object]]) -> dict[str, Feed]:
    fed = feeds(p, f)
    references = {"tail, year": f"p(tail, year) within {LATE} rows"}
    return {**fed, "f": replace(fed["f"], constraints={"references": references})}


def late_children(seed: int) -> list[list[object]]:
    """Children of which some come a batch or two before their parents."""
    chosen, rows = random.Random(seed), children(seed)
    for at, row in enumerate(rows):
        ahead = at // CHILDREN + chosen.choice([0, 0, 1, 2])
        # Parents of the last batches would come after the last children.
        if row[1] is not None and row[2] is not None and ahead < BATCHES and chosen.random() < 0.5:
            parent = ahead * PARENTS + chosen.randrange(PARENTS)
            row[1:3] = f"N{parent // 2}", parent % 2
    return rows


def overdue(p: list[list[object]], f: list[list[object]]) -> None:
    """A parent comes three batches after its child: a row too late."""
    f[CHILDREN + 3][1:3] = p[4 * PARENTS + 3][:2]


def never(p: list[list[object]], f: list[list[object]]) -> None:
    f[2 * CHILDREN - 1][1:3] = ["nowhere", 1]


LATE_BREACHES: list[tuple[Callable[[list[list[object]], list[list[object]]], None], str]] = [
    (kept, ""),
    (overdue, f"row 28 of f has tail 'N17' and year 1, and p has no such row, {LATE} rows later (batch 3)"),
    (never, f"row 48 of f has tail 'nowhere' and year 1, and p has no such row, {LATE} rows later (batch 3)"),
    (two_parents, "row 27 of p is another one with tail 'N0' and year 1 (batch 3)"),
]


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(("breach", "how"), LATE_BREACHES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_partner_that_comes_late(
    tmp_path: Path, breach: Callable[[list[list[object]], list[list[object]]], None], how: str, seed: int
) -> None:
    """It is waited for as long as the constraint says; what comes later is found again once that is broken."""
    p, f = parents(seed), late_children(seed)
    breach(p, f)
    with told(how):
        check(InProcess(), tmp_path, late_feeds(p, f), {n: JOINS[n] for n in LATE_JOINS}, seed)


def test_rows_wait_for_a_late_partner_and_no_longer() -> None:
    with Oracle(InProcess(), late_feeds(parents(1), late_children(1))) as oracle:
        session = oracle.session
        oracle.register({"inner": Case(JOINS["inner"])})
        assert "f (tail, year) references p (tail, year) within 48 rows" in {s.bound for s in session.memory("inner")}
        oracle.run(4)
        source = next(node.id for node in session.network.nodes if node.kind == "source" and node.sql.endswith(" f"))
        assert LATE <= session.kept(source)[0] <= 2 * LATE
        oracle.check_changes()


ORDERED = {
    "equal": "SELECT a.id, b.id j FROM a JOIN b ON a.t = b.t",
    "band": "SELECT a.id, b.id j FROM a JOIN b ON a.k = b.k AND b.t BETWEEN a.t - {5} AND a.t + {3}",
    "before": "SELECT a.id, b.id j FROM a JOIN b ON a.k = b.k AND a.t < b.t AND a.t > b.t - {9}",
    "counts": "SELECT a.k, count(*) n FROM a JOIN b ON a.t = b.t AND a.k = b.k GROUP BY a.k",
}
UNBOUNDED = {
    "after": "SELECT a.id, b.id j FROM a JOIN b ON a.k = b.k AND a.t > b.t",
    "left": "SELECT a.id, b.id j FROM a LEFT JOIN b ON a.k = b.k AND b.t >= a.t AND b.t <= a.t + {4}",
    "three": "SELECT a.id, b.id j, c.id l FROM a JOIN b ON a.t = b.t JOIN a c ON c.k = b.k AND c.t > b.t - {6}",
    "other columns": "SELECT a.id, b.id j FROM a JOIN b ON a.k = b.id",
}
KINDS: dict[str, tuple[pa.DataType, Callable[[int], object], str, object]] = {
    "date": (pa.date32(), lambda t: dt.date(2024, 1, 1) + dt.timedelta(days=t), "INTERVAL '{}' DAY", "4 days"),
    "timestamp": (
        pa.timestamp("us"),
        lambda t: dt.datetime(2024, 1, 1) + dt.timedelta(hours=t),
        "INTERVAL '{}' HOUR",
        "4 hours",
    ),
    "integer": (pa.int64(), lambda t: t, "{}", 4),
}


@pytest.mark.parametrize("kind", some([*KINDS]))
@pytest.mark.parametrize("breaks", some(["a", "b", "", "history"]))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_order_of_arrival(spark: SparkSession, tmp_path: Path, kind: str, breaks: str, seed: int) -> None:
    """Values that fall by at most 4, and one that falls by more."""
    chosen, (type_, value, length, within) = random.Random(seed), KINDS[kind]
    fed = {}
    for name in ("a", "b"):
        times = [None if chosen.random() < 0.05 else at // 2 - chosen.randrange(5) // 2 for at in range(120)]
        if name == {"history": "a"}.get(breaks, breaks):
            times[9 if breaks == "history" else 87] = -10 if breaks == "history" else 11
        rows = [[at, chosen.randrange(3), None if t is None else value(t)] for at, t in enumerate(times)]
        ordered = table(rows, {"id": pa.int64(), "k": pa.int64(), "t": type_})
        fed[name] = Feed(ordered, 20, 20, constraints={"ordered": {"t": within}})
    asked = ORDERED if breaks else ORDERED | UNBOUNDED
    texts = {n: re.sub(r"\{(\d)\}", lambda m: length.format(m[1]), sql) for n, sql in asked.items()}
    with told("before one that came earlier" if breaks else ""):
        check(spark, tmp_path, fed, texts, seed)


def test_what_is_not_looked_up_again_is_not_stored(spark: SparkSession) -> None:
    """The rows that are kept do not grow with the streams, which is said before: until a constraint is broken."""
    fed = feeds(parents(1), children(1))
    times = [at // 2 for at in range(120)]
    ordered = pa.table({"id": range(120), "t": times})
    clocks = Feed(ordered, 20, 20, constraints={"ordered": {"t": 4}})
    late = Feed(pa.table({"id": range(120), "t": [*times[:90], 3, *times[91:]]}), 20, 20, time="t", lateness=4)
    models = "SELECT p.model, count(*) n FROM f JOIN p ON f.tail = p.tail AND f.year = p.year GROUP BY p.model"
    with Oracle(spark, {"p": replace(fed["p"], static=True), "f": fed["f"], "a": clocks, "b": late}) as oracle:
        session = oracle.session
        preview, _ = session.preview(models, "models")
        assert memory_text(session.memory("models", preview)).startswith("memory: bounded;")
        pairs = "SELECT a.id, count(*) n FROM a JOIN b ON a.t = b.t GROUP BY a.id"
        oracle.register({"models": Case(models), "pairs": Case(pairs)})
        assert {s.bound for s in session.memory("pairs")} >= {"a.t is ordered, within 4", "b.t is ordered, within 4"}
        sources = {node.sql.split()[-1]: node.id for node in session.network.nodes if node.kind == "source"}
        oracle.run(4)
        kept = {name: session.kept(id_)[0] for name, id_ in sources.items()}
        assert kept["f"] == 0 and kept["p"] == fed["p"].table.num_rows and kept["a"] < 40 and kept["b"] < 40
        # Who comes later sees all rows, and is looked up in them.
        oracle.register({"all": Case("SELECT count(*) n, sum(v) v FROM f"), "joined": Case(JOINS["inner"])})
        assert not any(declared.broken for stream in session.streams.values() for declared in stream.constraints)
        oracle.check_changes()
