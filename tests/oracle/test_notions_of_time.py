"""Loops that move streams of several notions of time, of which the ends of windows convert the instant (TelegraphCQ
4.1.1), beside DuckDB over each prefix: days, timestamps, seconds as numbers, and the numbers of rows."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.test_windows import events

from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError

EPOCH = dt.date(1970, 1, 1)


def streams(seed: int) -> dict[str, Feed]:
    """``f`` has days, ``g`` timestamps, ``s`` seconds since 1970, and the rows of ``r`` are counted."""
    days, times, seconds, rows = (events(rows, seed + i) for i, rows in enumerate((130, 160, 160, 90)))
    whole = pc.cast(pc.divide(pc.cast(seconds["ts"], pa.int64()), 1_000_000), pa.int64())
    seconds = seconds.drop_columns(["ts", "d"]).append_column("s", whole)
    return {
        "f": Feed(days.drop_columns(["ts"]), 30, 20, time="d"),
        "g": Feed(times.drop_columns(["d"]), 40, 20, time="ts"),
        "s": Feed(seconds, 40, 20, time="s"),
        "r": Feed(rows.drop_columns(["ts", "d"]), 20, 10),
    }


COLUMNS = {"f": "d", "g": "ts", "s": "s", "r": "n"}
NUMBERED = "(SELECT *, row_number() OVER () AS n FROM r)"
# From the notion of the first stream to that of the second: SQL and DuckDB's, of an instant {t}; a unit of the second.
CONVERSIONS = {
    ("f", "s"): ("UNIX_SECONDS(CAST({t} AS TIMESTAMP))", "CAST(epoch(CAST({t} AS TIMESTAMP)) AS BIGINT)", 20_000),
    ("g", "s"): ("UNIX_SECONDS({t})", "CAST(floor(epoch_us({t}) / 1000000) AS BIGINT)", 100),
    ("s", "g"): ("TIMESTAMP_SECONDS({t})", "make_timestamp({t} * 1000000::BIGINT)", 1),
    ("s", "f"): ("CAST(TIMESTAMP_SECONDS({t}) AS DATE)", "CAST(make_timestamp({t} * 1000000::BIGINT) AS DATE)", 1),
    ("f", "r"): ("DATEDIFF({t}, DATE '2002-01-01')", "({t} - DATE '2002-01-01')", 5),
    ("r", "f"): ("DATE '2002-01-01' + {t} DIV 6", "(DATE '2002-01-01' + CAST({t} // 6 AS INTEGER))", 2),
}
STEPS = {"f": (1, 2, 5), "g": ("INTERVAL '1' MINUTE", "INTERVAL '7' MINUTE"), "s": (40, 100, 333), "r": (1, 7, 10)}
SIZES = {"f": (0, 3, 9), "g": ("INTERVAL '5' MINUTE", "INTERVAL '1' HOUR"), "s": (50, 600), "r": (0, 9, 30)}


def start(first: str, feeds: dict[str, Feed]) -> object:
    """Now as the query is registered."""
    history = feeds[first].table.slice(0, feeds[first].history)
    return feeds[first].history if first == "r" else pc.max(history[COLUMNS[first]]).as_py()


def literal(value: object) -> str:
    kind = {dt.date: "DATE ", dt.datetime: "TIMESTAMP "}.get(type(value))
    return str(value) if kind is None else f"{kind}'{value}'"


def loop(chosen: Random, first: str, second: str, feeds: dict[str, Feed]) -> tuple[Case, Callable[[str], str]]:
    """A loop over two streams with the question of its latest instant, and that of any instant."""
    written, known, unit = CONVERSIONS[first, second]
    step, size = chosen.choice(STEPS[first]), chosen.choice(SIZES[first])
    back = unit * chosen.randrange(1, 9)
    back = f"INTERVAL '{back * 60}' SECOND" if second == "g" else back
    begin = start(first, feeds)
    now = "(SELECT COUNT(*) FROM r)" if first == "r" else f"(SELECT MAX({COLUMNS[first]}) FROM {first})"
    began = literal(begin)
    if first == "g":
        minutes = int(str(step).split("'")[1])
        hops = f"(date_diff('second', {began}, {now}) // {60 * minutes})"
        instant = f"({began} + {hops} * {step})"
    else:
        instant = f"({began} + CAST({step} * (({now} - {began}) // {step}) AS INTEGER))"
    text = {1: "SELECT a.id, b.id AS other FROM {a} JOIN {b} ON a.bank = b.bank AND a.amount <= b.amount",
            2: "SELECT a.bank, COUNT(*) AS n, SUM(b.amount) AS s FROM {a} JOIN {b} ON a.bank = b.bank GROUP BY a.bank",
            3: "SELECT COUNT(*) AS n FROM {a}, {b}"}[chosen.randrange(1, 4)]  # fmt: skip
    names = [f"{NUMBERED if name == 'r' else name} {alias}" for name, alias in ((first, "a"), (second, "b"))]
    till = written.format(t="t")
    head, grouped, tail = text.format(a=names[0], b=names[1]).partition(" GROUP BY")

    def question(instant: str) -> str:
        ends = known.format(t=instant)
        window = (
            f"a.{COLUMNS[first]} BETWEEN {instant} - {size} AND {instant}"
            f" AND b.{COLUMNS[second]} BETWEEN {ends} - {back} AND {ends}"
        )
        return f"{head} WHERE {window}{grouped}{tail}"

    clause = f"for (t = ST; ; t += {step}) {{ WindowIs(a, t - {size}, t); WindowIs(b, {till} - {back}, {till}); }}"
    return Case(f"{text.format(a=f'{first} a', b=f'{second} b')} {clause}", question(instant)), question


SEED = int(os.environ["ARGUS_SEED"])


@pytest.mark.parametrize("seed", range(SEED, SEED + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_one_loop_moves_streams_of_two_notions(seed: int) -> None:
    chosen, feeds = Random(seed), streams(seed)
    loops = {f"{a}_{b}": loop(chosen, a, b, feeds) for a, b in CONVERSIONS}
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register({name: case for name, (case, _) in loops.items()})
        oracle.run(4)
        oracle.check_changes()
        for name, (_, question) in loops.items():
            query = oracle.session.query(name)
            instant = chosen.choice([*query.windows()["instant"]])
            instant = instant.to_pydatetime() if isinstance(instant, pd.Timestamp) else instant
            oracle.compare(name, query.result(at=instant), question(literal(instant)))


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("f", "s", "the times of s and f do not compare"),
        ("s", "f", "the times of f and s do not compare"),
        ("f", "r", "the rows of r are counted, and f has event times"),
        ("s", "r", "the rows of r are counted, and s has event times"),
    ],
)
def test_an_instant_that_is_not_converted_is_refused(first: str, second: str, says: str) -> None:
    clause = "for (t = ST; ; t += 1) { WindowIs(a, t - 1, t); WindowIs(b, t - 1, t); }"
    with Oracle(InProcess(), streams(1)) as oracle, pytest.raises(SqlError, match=says) as refused:
        oracle.session.register(f"SELECT a.id FROM {first} a, {second} b {clause}")
    assert ("Or convert t" in refused.value.hint) == ("f" in (first, second))
