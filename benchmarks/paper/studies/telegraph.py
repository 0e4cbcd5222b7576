"""TelegraphCQ's texts (TelegraphCQ 4.1.1): its four examples run as they are printed, and every set of every instant is
compared with what its window says, computed in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.spark.in_process import InProcess
from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.session.session import Session

STOCKS = ("MSFT", "ORCL", "IBM", "SUNW")

Price = tuple[int, str, float]
"""A closing price: the day, the stock, the price."""
InstantRows = list[tuple[object, ...]]


def _prices(text: str) -> str:
    return f"SELECT closingPrice, timestamp FROM ClosingStockPrices WHERE stockSymbol = 'MSFT'{text}"


WINDOW_LOOPS: Mapping[str, str] = {
    "snapshot": _prices("") + " for (; t = 0; t = -1) { Windows(ClosingStockPrices, 1, 5); }",
    "landmark": _prices(" AND closingPrice > 50.00")
    + " for (t = 101; t <= 1000; t++) { Windows(ClosingStockPrices, 101, t); }",
    "sliding": "SELECT AVG(closingPrice) FROM ClosingStockPrices WHERE stockSymbol = 'MSFT'"
    " for (t = ST; t < ST + 50; t += 5) { Windows(ClosingStockPrices, t - 4, t); }",
    "band join": "SELECT c2.* FROM ClosingStockPrices AS c1, ClosingStockPrices AS c2"
    " WHERE c1.stockSymbol = 'MSFT' AND c2.stockSymbol != 'MSFT' AND c2.closingPrice > c1.closingPrice"
    " AND c2.timestamp = c1.timestamp"
    " for (t = ST; t < ST + 20; t++) { Windows(c1, t - 4, t); Windows(c2, t - 4, t); }",
}
"""The examples."""


def _ours(rows: list[Price], low: int, high: int) -> list[Price]:
    return [row for row in rows if row[1] == "MSFT" and low <= row[0] <= high]


def _average(rows: list[Price], now: int) -> InstantRows:
    prices = [price for _, _, price in _ours(rows, now - 4, now)]
    return [(sum(prices) / len(prices) if prices else None,)]


def _higher(rows: list[Price], now: int) -> InstantRows:
    ours = {day: price for day, _, price in _ours(rows, now - 4, now)}
    return [row for row in rows if row[1] != "MSFT" and row[0] in ours and row[2] > ours[row[0]]]


MEANT: Mapping[str, Callable[[list[Price], int], InstantRows]] = {
    "snapshot": lambda rows, now: [(price, day) for day, _, price in _ours(rows, 1, 5)],
    "landmark": lambda rows, now: [(price, day) for day, _, price in _ours(rows, 101, now) if price > 50],
    "sliding": _average,
    "band join": _higher,
}
"""What each asks for, of all rows and an instant."""


@dataclass(frozen=True)
class WindowLoops(Study):
    """The four examples over a stream of closing prices, one row a day and stock."""

    name, needs = "telegraph-texts", ()
    summary = "the four window loops of TelegraphCQ 4.1.1 as printed, each instant compared with plain Python"

    days: int = option(300, "days of trading")
    history: int = option(100, "days that are there when the queries come")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        table = _table(self.days)
        rows: list[Price] = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        figures: dict[str, dict[str, int]] = {}
        with Session(InProcess()) as session:
            a_day = len(STOCKS)
            session.add_stream(
                "ClosingStockPrices", table, history=self.history * a_day, batch=10 * a_day, time="timestamp"
            )
            queries = {name: session.register(text) for name, text in WINDOW_LOOPS.items()}
            while session.run(1):
                pass
            for name, query in queries.items():
                instants = query.windows().instant.unique().tolist()
                equal = sum(
                    _same(list(query.result(at=at).itertuples(index=False, name=None)), MEANT[name](rows, int(at)))
                    for at in instants
                )
                figures[name] = {"instants": len(instants), "equal": equal}
                progress(f"{name}: {equal} of {len(instants)} instants")
        text = text_table(["", "instants", "equal"], [[name, *of.values()] for name, of in figures.items()])
        return text, figures, ()


def _table(days: int) -> pa.Table:
    """Prices that wander around 50."""
    rng = np.random.default_rng(11)
    steps = rng.integers(-200, 201, (days, len(STOCKS))) / 100
    prices = np.round(50 + np.cumsum(steps, axis=0), 2)
    return pa.table(
        {
            "timestamp": pa.array(np.repeat(np.arange(1, days + 1), len(STOCKS))),
            "stockSymbol": pa.array(list(STOCKS) * days),
            "closingPrice": pa.array(prices.reshape(-1)),
        }
    )


def _same(got: InstantRows, meant: InstantRows) -> bool:
    return sorted(map(_rounded, got), key=str) == sorted(map(_rounded, meant), key=str)


def _rounded(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(round(value, 6) if isinstance(value, float) else value for value in row)
