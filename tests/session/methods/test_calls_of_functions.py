"""How often functions of the analyst are called: as the best order needs, and once for each argument."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.reports import ticket_shares
from workbench.engine.spark.in_process import InProcess

ROWS, HISTORY, BATCH = 1_200, 300, 300
COUNTRIES = pa.table({"k": list(range(30)), "w": [k % 7 for k in range(30)]})


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(InProcess()) as made:
        stream = pa.table({"id": list(range(ROWS)), "k": [id % 30 for id in range(ROWS)]})
        made.add_stream("t", stream, history=HISTORY, batch=BATCH)
        made.add_table("r", COUNTRIES)
        yield made


def counting(file: Path, value: Callable[[int], int]) -> Callable[[int], int]:
    """A function that leaves a mark for each call."""
    path = str(file)

    def called(id: int) -> int:
        with open(path, "a", encoding="ascii") as marks:
            marks.write(".")
        return value(id)

    return called


def calls(file: Path) -> int:
    return os.path.getsize(file) if file.exists() else 0


@pytest.mark.parametrize("half", ["aa", "zz"])
@pytest.mark.parametrize("test", ["{}(id) = 1", "{}(id + 1) - 1 = 0", "({}(id) = 1 OR k < 0)"])
def test_the_order_of_calls_does_not_follow_names(session: Session, tmp_path: Path, half: str, test: str) -> None:
    tenth = {"aa": "zz", "zz": "aa"}[half]
    session.add_function(half, counting(tmp_path / half, lambda id: int(id * 7 % 10 < 5)), returns="bigint")
    session.add_function(tenth, counting(tmp_path / tenth, lambda id: int(id * 3 % 10 < 1)), returns="bigint")
    query = session.register(f"SELECT id FROM t WHERE {test.format('aa')} AND {test.format('zz')}", name="q")
    session.run(2)
    before = calls(tmp_path / half), calls(tmp_path / tenth)
    session.run(1)
    made = calls(tmp_path / half) - before[0] + calls(tmp_path / tenth) - before[1]
    assert made <= 1.1 * (BATCH + BATCH / 10)
    shift = 1 if "+ 1" in test else 0
    ids = [id + shift for id in range(ROWS)]
    assert len(query.result()) == sum(id * 7 % 10 < 5 and id * 3 % 10 < 1 for id in ids)


def test_a_join_that_is_restructured_calls_a_function_once_for_each_argument(session: Session, tmp_path: Path) -> None:
    """Nor do a later query, another tree over the same rows, or a query that is dropped and comes again."""
    session.add_function("aa", counting(tmp_path / "aa", lambda id: id % 2), returns="bigint")
    joined = "SELECT t.id, r.w FROM t JOIN r ON t.k = r.k WHERE aa(t.id) = 1"
    session.register(f"{joined} AND r.w > 2", name="first")
    session.register("SELECT t.id, r.w FROM t JOIN r ON t.k = r.k AND t.id > r.w", name="restructured")
    session.register(f"{joined} AND r.w < 4", name="more")
    session.register("SELECT id FROM t WHERE aa(id) = 1", name="alone")
    session.register("SELECT k, SUM(aa(id)) AS n FROM t GROUP BY k", name="summed")
    session.run(1)
    assert calls(tmp_path / "aa") == HISTORY + BATCH
    session.drop("first")
    session.register(f"{joined} AND r.w > 2", name="first")
    assert calls(tmp_path / "aa") == HISTORY + BATCH


@pytest.mark.parametrize("guard", ["aa", "zz"])
def test_a_function_does_not_fail_for_rows_that_another_test_drops(session: Session, guard: str) -> None:
    """The one that lets few rows through is called second by its name, or first: the other is never told to fail."""
    guarded = {"aa": "zz", "zz": "aa"}[guard]

    def divides(id: int) -> int:
        return 1 // (id % 3)

    session.add_function(guard, lambda id: int(id % 3 > 0), returns="bigint")
    session.add_function(guarded, divides, returns="bigint")
    query = session.register("SELECT id FROM t WHERE aa(id) = 1 AND zz(id) = 1", name="q")
    session.run(2)
    assert query.status == "active"
    assert len(query.result()) == sum(id % 3 == 1 for id in range(HISTORY + 2 * BATCH))
    alone = session.register(f"SELECT id FROM t WHERE {guarded}(id) = 1", name="alone")
    assert "ZeroDivisionError" in alone.status


def test_batches_report_what_tests_did_and_the_panel_shows_their_tickets(session: Session, tmp_path: Path) -> None:
    session.add_function("aa", lambda id: id % 2, returns="bigint")
    session.add_function("zz", lambda id: int(id % 10 == 1), returns="bigint")
    session.register("SELECT id FROM t WHERE aa(id) = 1 AND zz(id) = 1", name="q")
    session.run(3)
    shares = ticket_shares(session.reports)
    assert set(shares) == {"aa(id)", "zz(id)"}
    assert shares["zz(id)"][-1] > 0.9
    assert all(sum(batch) == pytest.approx(1) for batch in zip(*shares.values(), strict=True))
    session.save(tmp_path / "s")
    with Session.open(tmp_path / "s", spark=InProcess()) as again:
        assert ticket_shares(again.reports) == shares
