"""Streams replayed in step by their event times, against DuckDB: opened again, gone back, beside batches of rows."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from oracle.harness import Case, Feed, Oracle
from pyspark.sql import SparkSession

START = dt.datetime(2013, 1, 1, 22, 10)
HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)


def times(seed: int, rows: int, minutes: int) -> list[dt.datetime | None]:
    """Times in a rough order, with gaps, steps back and some missing."""
    chosen, at, made = random.Random(seed), START, list[dt.datetime | None]()
    for _ in range(rows):
        at += dt.timedelta(minutes=chosen.choice((0, minutes, minutes, 2 * minutes)))
        at += 5 * HOUR if chosen.random() < 0.04 else dt.timedelta()
        early = dt.timedelta(minutes=chosen.choice((0, 0, 0, 50)))
        made.append(None if chosen.random() < 0.1 else at - early)
    return made


def rows(seed: int, moments: list[dt.datetime | None]) -> pa.Table:
    chosen = random.Random(seed)
    numbers = [chosen.choice((None, 0, 1, 2, 3)) for _ in moments]
    return pa.table({"id": [*range(len(moments))], "k": pa.array(numbers, pa.int64()), "ts": moments})


def cut(feeds: dict[str, tuple[Feed, dt.timedelta]]) -> dict[str, Feed]:
    """The feeds with the places where their batches end, row by row as it is written down in the documentation."""
    places = {name: [feed.history] for name, (feed, _) in feeds.items()}
    moments = {name: feed.table["ts"].to_pylist() for name, (feed, _) in feeds.items()}
    moments = {n: [t if t is None or isinstance(t, dt.datetime) else dt.datetime.combine(t, dt.time()) for t in column]
               for n, column in moments.items()}  # fmt: skip
    while any(places[name][-1] < len(moments[name]) for name in feeds):
        ends = []
        for name, (_, span) in feeds.items():
            following = next((t for t in moments[name][places[name][-1] :] if t is not None), None)
            if following is not None:
                epoch = dt.datetime(1970, 1, 1)
                ends.append(epoch + ((following - epoch) // span + 1) * span)
        for name in feeds:
            stop = places[name][-1]
            while stop < len(moments[name]) and ((t := moments[name][stop]) is None or not ends or t < min(ends)):
                stop += 1
            places[name].append(stop)
    return {name: replace(feed, stops=tuple(places[name][1:])) for name, (feed, _) in feeds.items()}


def test_streams_are_in_step(spark: SparkSession, tmp_path: Path) -> None:
    dates = rows(5, times(6, 40, 90))
    dates = dates.set_column(2, "ts", dates["ts"].cast(pa.date32(), safe=False))
    feeds = cut(
        {
            "flights": (Feed(rows(1, times(2, 300, 3)), 30, "1h", time="ts"), HOUR),
            "weather": (Feed(rows(3, times(4, 60, 30)), 0, "1h", time="ts"), HOUR),
            "days": (Feed(dates, 2, "1 day", time="ts"), DAY),
        }
    ) | {"other": Feed(rows(7, times(8, 40, 60)), 3, 4, time="ts")}
    cases = {
        "groups": Case("SELECT k, COUNT(*) AS n, MAX(ts) AS m FROM flights GROUP BY k"),
        "pairs": Case("SELECT f.id, w.id AS other FROM flights f JOIN weather w ON f.k = w.k AND f.id % 7 = w.id % 7"),
        "all": Case("SELECT id FROM days UNION ALL SELECT id FROM other"),
    }
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        oracle.register(cases)
        oracle.run(5)
        oracle.reopen()
        oracle.run(4)
        stream = oracle.session.streams["flights"]
        assert stream.position == feeds["flights"].stop(9) and stream.batch == HOUR
        brought = [t for t in feeds["weather"].table["ts"][: feeds["weather"].stop(9)].to_pylist() if t is not None]
        assert oracle.session.clocks["weather"] == max(brought)
        oracle.session.seek(3)
        assert oracle.session.streams["days"].position == feeds["days"].stop(3)
        oracle.session.run(6)
        oracle.check_results()
        oracle.check_changes()
