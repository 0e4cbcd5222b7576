"""Streams that say which rows belong together: no answer ever sees a part of a transaction, whatever batches are."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError

BALANCE = "SELECT k, SUM(amount) AS s FROM (SELECT * FROM Debit UNION ALL SELECT * FROM Credit) x GROUP BY k"


def sides(ids: list[Any], seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of both sides of transfers; some are within one side, and some have many rows."""
    chosen, debit, credit = random.Random(seed), list[dict[str, Any]](), list[dict[str, Any]]()
    for one in ids:
        for _ in range(chosen.choice((1, 1, 1, 2, 9))):
            amount, kind = chosen.randrange(1, 100), chosen.random()
            from_, to = (debit, credit) if kind < 0.6 else (credit, debit) if kind < 0.8 else (debit, debit)
            from_.append({"tx": one, "amount": -amount, "k": 1})
            to.append({"tx": one, "amount": amount, "k": 1})
    return debit, credit


def balances(session: Session, runs: int = 10_000) -> list[int]:
    query, seen = session.register(BALANCE, name="balance"), list[int]()
    for _ in range(runs):
        if not session.run(1):
            break
        seen.append(int(query.result()["s"].sum()))
    return seen


KINDS = {
    "whole numbers": [*range(95, 112)],
    "times": [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=7 * one) for one in range(17)],
    "texts": [f"{hash(one) % 97}-{one}" for one in range(17)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("live", [False, True])
def test_both_halves_arrive_in_one_batch(kind: str, live: bool) -> None:
    """Replayed or live; all of both sides arrives in the end."""
    debit, credit = sides(KINDS[kind], 3)

    def source(rows: list[dict[str, Any]]) -> Any:
        return iter(rows) if live else rows

    with Session(InProcess()) as session:
        session.add_stream("Debit", source(debit), batch=7, transaction="tx")
        session.add_stream("Credit", source(credit), batch=5, transaction="TX")
        seen = balances(session)
        assert not any(seen) and len(seen) > 2
        assert {name: stream.position for name, stream in session.streams.items()} == {
            "Debit": len(debit),
            "Credit": len(credit),
        }
        batches = session.batch
        session.seek(batches // 2)
        assert int(session.query("balance").result()["s"].sum()) == 0
        assert len(session.run(batches)) == batches - batches // 2


def test_a_side_that_is_late_is_waited_for(tmp_path: Path) -> None:
    """Files of two folders: a half whose other half is not there yet is not seen."""
    for side in ("d", "c"):
        (tmp_path / side).mkdir()

    def put(side: str, name: str, rows: list[tuple[int, int]]) -> None:
        pd.DataFrame(rows, columns=["tx", "amount"]).assign(k=1).to_parquet(tmp_path / side / f"{name}.parquet")

    put("d", "1", [(1, -5), (2, -6), (2, -1)])
    put("c", "1", [(1, 5)])
    with Session(InProcess()) as session:
        session.add_stream("Debit", str(tmp_path / "d" / "*.parquet"), batch=1, transaction="tx")
        session.add_stream("Credit", str(tmp_path / "c" / "*.parquet"), batch=1, transaction="tx")
        assert balances(session) == [0]
        assert "as Credit may have it" in session.sources["Debit"].problem and session.sources["Debit"].waiting == 2
        put("c", "2", [(2, 7)])
        query = session.query("balance")
        assert [len(session.run(1)), int(query.result()["s"].sum()), session.run(1)] == [1, 0, []]
        assert not session.sources["Debit"].problem
        put("d", "3", [(4, -1)])
        put("c", "3", [(5, 1), (5, -1)])
        assert (
            len(session.run(9)) == 1 and int(query.result()["s"].sum()) == -1
        )  # 4 has no other side, 5 waits for nothing


def test_a_history_ends_with_a_transaction_and_corrections_have_them_too() -> None:
    rows = [{"id": one // 2, "tx": one // 3, "v": one, "k": 1} for one in range(30)]
    with Session(InProcess()) as session:
        stream = session.add_stream("T", rows, history=4, batch=1, key=["id"], changes="upsert", transaction="tx")
        assert stream.history == 4  # the first transaction: two rows come, and one of them is replaced
        query = session.register("SELECT k, COUNT(*) AS n, SUM(v) AS s FROM T GROUP BY k", name="q")
        for last in range(5, 30, 3):
            session.run(1)
            current = {row["id"]: row["v"] for row in rows[: last + 1]}
            assert query.result().values.tolist() == [[1, len(current), sum(current.values())]]
        assert session.run(1) == []


@pytest.mark.slow
def test_an_open_transaction_of_a_generator_is_not_seen() -> None:
    def given() -> Iterator[dict[str, int]]:
        for one in range(1, 40):
            yield from ({"tx": one, "amount": amount, "k": 1} for amount in (one, 1, -one, -1))

    with Session(InProcess()) as session:
        session.add_stream("Debit", given(), batch=1, transaction="tx")
        session.add_stream("Credit", [{"tx": 0, "amount": 0, "k": 1}], batch=1)
        assert balances(session, 20) == [0] * 20


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with Session(InProcess()) as session:
        with pytest.raises(StreamError, match="no column ty for transactions"):
            session.add_stream("T", [{"tx": 1, "at": 1}], transaction="ty")
        with pytest.raises(StreamError, match="cannot leave rows out"):
            session.add_stream("T", [{"tx": 1, "at": 1}], transaction="tx", time="at", shed="oldest")


@pytest.mark.parametrize("ids", ["{}:{}", "{}", "gtid-{}"])
def test_transactions_of_debezium_are_those_of_their_envelopes(ids: str) -> None:
    """Two topics of one connector; PostgreSQL's ids have the place of each change after the number."""
    debit, credit, place = list[dict[str, Any]](), list[dict[str, Any]](), 0
    for one in range(30):
        for side, sign in ((debit, -1), (credit, 1), (debit, -2), (credit, 2)):
            place += 1
            row = {"id": place, "amount": sign * one, "k": 1}
            block = {"id": ids.format(one * 7 % 31, place), "total_order": 1}
            side.append({"op": "c", "before": None, "after": row, "transaction": block})
    with Session(InProcess()) as session:
        for name, rows, batch in (("Debit", debit, 7), ("Credit", credit, 5)):
            session.add_stream(name, iter(rows), batch=batch, key=["id"], changes="debezium", transaction="transaction")
        seen = balances(session)
        assert not any(seen) and len(seen) > 5
        assert [stream.position for stream in session.streams.values()] == [60, 60]
