"""PSoup's BEGIN and END, and TelegraphCQ's loops, against DuckDB over each window of each prefix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle.bags import frame_rows
from oracle.harness import Case, Feed, Oracle
from oracle.test_windows import FEEDS, asked
from pyarrow import parquet
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError

PRICES = parquet.read_table(Path(__file__).parents[2] / "sample_data" / "prices.parquet").slice(0, 20 * 160)
LAST = 110
"""The last trading day of the history."""
DAYS = 4
"""Days that a batch brings."""


@pytest.fixture(scope="module")
def market(spark: object) -> Iterator[Oracle]:
    with Oracle(spark, {"ClosingStockPrices": Feed(PRICES, 20 * LAST, 20 * DAYS, time="timestamp")}) as oracle:
        yield oracle


SNAPSHOT = """
SELECT closingPrice, timestamp
FROM ClosingStockPrices
WHERE stockSymbol = 'MSFT'
for (; t=0; t = -1){
    Windows(ClosingStockPrices, 1, 5);
}"""
LANDMARK = """
SELECT closingPrice, timestamp
FROM ClosingStockPrices
WHERE stockSymbol = 'MSFT' and
      closingPrice > 50.00
for (t = 101; t <= 1000; t++){
    Windows(ClosingStockPrices, 101, t);
}"""
SLIDING = """
Select AVG(closingPrice)
From ClosingStockPrices
Where stockSymbol = 'MSFT'
for (t = ST; t < ST + 50; t +=5){
    Windows(ClosingStockPrices, t - 4, t);
}"""
BAND_JOIN = """
Select c2.*
FROM ClosingStockPrices as c1,
      ClosingStockPrices as c2
WHERE c1.stockSymbol = 'MSFT' and
      c2.stockSymbol != 'MSFT' and
      c2.closingPrice > c1.closingPrice and
      c2.timestamp = c1.timestamp
for (t = ST; t < ST + 20; t++){
    Windows(c1, t - 4, t);
    Windows(c2, t - 4, t);
}"""
HOPPING = """
SELECT COUNT(*) n, MIN(closingPrice) low FROM ClosingStockPrices
for (t = ST - 7; t < ST + 50; t += 7) { WindowIs(ClosingStockPrices, t - 1, t) }"""
BACKWARD = """
SELECT stockSymbol, closingPrice FROM ClosingStockPrices WHERE closingPrice > 60
for (t = ST; t > ST - 30; t -= 10) { WindowIs(ClosingStockPrices, t - 9, t); }"""
FROM = "FROM ClosingStockPrices WHERE"
WITHIN = "timestamp BETWEEN {begin} AND {end}"
LOOPS = {
    "snapshot": (SNAPSHOT, f"SELECT closingPrice, timestamp {FROM} stockSymbol = 'MSFT' AND {WITHIN}"),
    "landmark": (
        LANDMARK,
        f"SELECT closingPrice, timestamp {FROM} stockSymbol = 'MSFT' AND closingPrice > 50 AND {WITHIN}",
    ),
    "sliding": (SLIDING, f"SELECT AVG(closingPrice) {FROM} stockSymbol = 'MSFT' AND {WITHIN}"),
    "band join": (
        BAND_JOIN,
        "SELECT c2.* FROM ClosingStockPrices c1, ClosingStockPrices c2 WHERE c1.stockSymbol = 'MSFT'"
        " AND c2.stockSymbol <> 'MSFT' AND c2.closingPrice > c1.closingPrice AND c2.timestamp = c1.timestamp"
        " AND c1.timestamp BETWEEN {begin} AND {end} AND c2.timestamp BETWEEN {begin} AND {end}",
    ),
    "hopping": (HOPPING, f"SELECT COUNT(*), MIN(closingPrice) {FROM} {WITHIN}"),
    "backward": (BACKWARD, f"SELECT stockSymbol, closingPrice {FROM} closingPrice > 60 AND {WITHIN}"),
}


def instants(name: str, now: int) -> list[tuple[int, int, int]]:
    """The instants that are due, worked out by hand, each with the window's ends."""
    match name:
        case "snapshot":
            return [(0, 1, 5)]
        case "landmark":
            return [(t, 101, t) for t in range(101, now + 1)]
        case "sliding":
            return [(t, t - 4, t) for t in range(LAST, min(now + 1, LAST + 50), 5)]
        case "band join":
            return [(t, t - 4, t) for t in range(LAST, min(now + 1, LAST + 20))]
        case "hopping":
            return [(t, t - 1, t) for t in range(LAST - 7, min(now + 1, LAST + 50), 7)]
        case _:
            return [(t, t - 9, t) for t in range(LAST, LAST - 30, -10)]


def test_window_sequences(market: Oracle) -> None:
    """The sets of the latest instants and those of earlier ones, while the loops go on."""
    market.register({name: Case(sql, "SELECT 1 WHERE false") for name, (sql, _) in LOOPS.items()}, check=False)
    for batch in range(4):
        now = LAST + DAYS * batch
        for name, (_, question) in LOOPS.items():
            _, begin, end = instants(name, now)[-1]
            market.watched[name].expected[market.batch] = market.answer(question.format(begin=begin, end=end))
        if batch == 3:
            continue
        market.run(1, check=False)
    market.check_results()
    market.check_changes()
    now = LAST + DAYS * market.batch
    for name in LOOPS:
        query, due = market.watched[name].query, instants(name, now)
        windows = query.windows()
        own = windows[windows["stream"] != "c2"]
        assert list(own[["instant", "begin", "end"]].itertuples(index=False, name=None)) == due
    for name, which in (("landmark", 3), ("sliding", 1), ("band join", 0), ("backward", 0)):
        instant, begin, end = instants(name, now)[which]
        found = market.watched[name].query.result(at=instant)
        market.compare(name, found, LOOPS[name][1].format(begin=begin, end=end))
    with pytest.raises(QueryError, match="111 is no instant of sliding so far"):
        market.watched["sliding"].query.result(at=111)


def test_begin_and_end(spark: object) -> None:
    """PSoup's clause over event times and over row numbers; streams without times, tables and joins."""
    rows = {"r": Feed(FEEDS["f"].table, 30, 20), "t": Feed(FEEDS["g"].table.slice(0, 20), static=True)}
    rows["q"] = Feed(FEEDS["g"].table, 20, 15)
    numbered, others = (f"(SELECT *, row_number() OVER () n FROM {name})" for name in "rq")
    cases = {
        "days": Case(
            "SELECT id FROM f WHERE amount > 2 BEGIN NOW - 4 END NOW - 1",
            asked("SELECT id FROM f WHERE amount > 2 AND d BETWEEN now() - 4 AND now() - 1", "f"),
        ),
        "landmark": Case(
            "SELECT id FROM f BEGIN '2002-01-08' END NOW", "SELECT id FROM f WHERE d >= DATE '2002-01-08'"
        ),
        "rows": Case(
            "SELECT id, bank FROM r BEGIN NOW - 24 END NOW",
            f"SELECT id, bank FROM {numbered} WHERE n >= (SELECT COUNT(*) FROM r) - 24",
        ),
        "rows at first": Case(
            "SELECT id FROM r BEGIN 10 END 40", f"SELECT id FROM {numbered} WHERE n BETWEEN 10 AND 40"
        ),
        "nothing equal": Case(
            "SELECT r.id, q.id other FROM r JOIN q ON r.amount < q.amount BEGIN NOW - 9 END NOW - 2",
            f"SELECT r.id, q.id FROM {numbered} r JOIN {others} q ON r.amount < q.amount"
            " WHERE r.n BETWEEN (SELECT COUNT(*) FROM r) - 9 AND (SELECT COUNT(*) FROM r) - 2"
            " AND q.n BETWEEN (SELECT COUNT(*) FROM q) - 9 AND (SELECT COUNT(*) FROM q) - 2",
        ),
        "with a table": Case(
            "SELECT bank, COUNT(*) n FROM (SELECT r.bank FROM r JOIN t ON r.amount = t.amount) v GROUP BY bank"
            " BEGIN NOW - 9 END NOW",
            f"SELECT r.bank, COUNT(*) FROM {numbered} r JOIN t ON r.amount = t.amount"
            " WHERE n >= (SELECT COUNT(*) FROM r) - 9 GROUP BY r.bank",
        ),
    }
    with Oracle(spark, {"f": FEEDS["f"], **rows}) as oracle:
        oracle.register(cases, check=False)
        oracle.register({"asked": cases["days"], "groups asked": cases["with a table"]}, check=False, results="off")
        assert len(oracle.session.network.results) == len(cases)
        oracle.run(3, check=False)
        oracle.check_changes(cases)
        oracle.check_results(["days", "rows", "asked", "groups asked"])
        with pytest.raises(QueryError, match="computed when it is asked"):
            oracle.session.query("asked").changes()


def test_windows_go_on_when_a_session_is_opened_again(spark: SparkSession, tmp_path: Path) -> None:
    """The clock, loops and how answers are kept survive; the same run without a break has the same changes."""
    texts = {
        "sliding": (SLIDING, "lazy"),
        "backward": (BACKWARD, "eager"),
        "lately": ("SELECT closingPrice FROM ClosingStockPrices WHERE timestamp > now() - 3", "lazy"),
        "asked": (LANDMARK, "off"),
    }

    def begun(path: Path | None) -> Session:
        session = Session(spark, path=path)
        session.add_stream("ClosingStockPrices", PRICES, history=20 * LAST, batch=20 * DAYS, time="timestamp")
        for name, (text, results) in texts.items():
            session.register(text, name, results=results)
        session.run(1)
        return session

    with begun(None) as whole:
        whole.run(1)
        begun(tmp_path / "kept").close()
        with Session.open(tmp_path / "kept", spark) as again:
            again.run(1)
            for name, (_, results) in texts.items():
                there, here = whole.query(name), again.query(name)
                assert (here.status, here.kept_as) == ("active", results)
                assert here.windows().equals(there.windows())
                assert sorted(frame_rows(here.result()), key=repr) == sorted(frame_rows(there.result()), key=repr)
                if results != "off":
                    found, expected = (sorted(frame_rows(q.changes()), key=repr) for q in (here, there))
                    assert found == expected
