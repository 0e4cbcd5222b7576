"""A damaged pack: who has rows in the damaged part of it is told and computed anew, and nobody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.files.packs import extent_of

ROWS = pa.table({"id": range(60), "g": [i % 5 for i in range(60)]})
QUERIES = {
    "sums": "SELECT g, SUM(id) AS s FROM t GROUP BY g",
    "pairs": "SELECT a.id, b.g FROM t a JOIN t b ON a.id = b.id AND a.g > 1",
    "some": "SELECT id FROM t WHERE g = 3",
}
Damage = Callable[[Path, int, int], None]


def flipped(file: Path, first: int, size: int) -> None:
    whole = bytearray(file.read_bytes())
    whole[first + size // 2] ^= 1
    file.write_bytes(whole)


def cut(file: Path, first: int, size: int) -> None:
    file.write_bytes(file.read_bytes()[: first + size // 2])


def missing(file: Path, first: int, size: int) -> None:
    file.unlink()


@pytest.mark.parametrize("damage", [flipped, cut, missing])
@pytest.mark.parametrize("name", [*QUERIES])
def test_a_damaged_part(tmp_path: Path, damage: Damage, name: str) -> None:
    folder = tmp_path / "s"
    with Session(InProcess(), folder) as session:
        session.add_stream("t", ROWS, history=20, batch=4)
        for query, sql in QUERIES.items():
            session.register(sql, query)
        session.run(3)
        answers = {query: answer(session, query) for query in QUERIES}
        trees = session.parts.engine.state.by_root
        of_query = {query: trees[read.read.root] for query, read in session.parts.store.state.network.queries.items()}
        (file, first, size) = extent_of(of_query[name].relation.segments[-1].path)
        assert size is not None
        hit = {
            query
            for query, tree in of_query.items()
            for part in tree.segments
            if part.file == file and reaches(damage, extent_of(part.path), first)
        }
    damage(Path(file), first, size)
    with Session.open(folder, InProcess()) as reading:
        assert file in str(reading.read_only)
        broken = {query for query in QUERIES if reading.query(query).status != "active"}
        assert name in broken and hit <= broken
        assert damage is not flipped or broken == {name}
        assert all(answer(reading, query) == answers[query] for query in set(QUERIES) - broken)
    with Session.open(folder, InProcess(), repair=True) as session:
        assert session.read_only is None
        assert {query: answer(session, query) for query in QUERIES} == answers
        session.run(2)
        assert session.check().whole


def reaches(damage: Damage, part: tuple[str, int, int | None], first: int) -> bool:
    """Whether a damage of the part from ``first`` on is one of this part, too."""
    return {flipped: part[1] == first, cut: part[1] >= first, missing: True}[damage]


def answer(session: Session, name: str) -> list[tuple[int, ...]]:
    return sorted(map(tuple, session.query(name).result().to_numpy().tolist()))
