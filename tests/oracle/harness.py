"""The oracle: a session and DuckDB side by side, compared after every batch (contract 3.1 of the design).

Whatever the engine does incrementally, shared with other queries, DuckDB computes anew from the same prefix. Checked:

- ``result()`` is DuckDB's answer, as a bag;
- changes accumulate to DuckDB's answer at *every* batch, so each delta is result(k) − result(k−1);
- changes are in normal form: a row at most once in a batch, and never with weight 0;
- ``changes(since)`` is the tail of all changes.

Answers of DuckDB are kept for every batch, so that one call of ``changes()`` at the end checks all batches.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
from oracle.bags import Row, difference, frame_rows, rows

from workbench import Options, Session
from workbench.engine.reports import BatchReport
from workbench.limits import LIMITS, Limits
from workbench.session.query import Query
from workbench.session.verification.report import Outcome

SPARK_DEVIATES = {
    "selection_whole_quotients": "wraps a quotient of 64 bits, and divides by zero beside it",
    "selection_cast_beyond": "takes a DOUBLE of 2^63 for 2^63 - 1",
    "selection_signs": "rounds the negative of a DECIMAL beyond 34 digits",
}
"""Queries of which Spark SQL says something else than the reference, and what."""
FEW_ARE_MANY = Limits(rows_of_large_partition=6)
"""Partitions of a few rows are read as large ones are."""
SHOWN = 8
"""Rows shown of each side of a difference."""


@dataclass(frozen=True)
class Feed:
    """Rows of a stream: the first ``history`` are there from the start, then ``batch`` with each batch.

    ``static``: a table, all of it there from the start. ``time``: the column with event times. ``lateness``: by how
    much their rows may be late; rows that are later count as arrived and are in no answer. ``takes``: of a stream whose
    rows have weights in the column ``w``, for each row that takes one back the place of that one, else -1. ``stops``:
    of a stream whose batches are cut by event time, how many rows are there after each. ``constraints``: what is
    declared of its rows, as ``add_stream`` takes it.
    """

    table: pa.Table
    history: int = 0
    batch: int | str = 100
    static: bool = False
    time: str | None = None
    lateness: dt.timedelta | int | None = None
    takes: tuple[int, ...] = ()
    stops: tuple[int, ...] = ()
    constraints: Mapping[str, object] = field(default_factory=dict)

    def stop(self, batch: int) -> int:
        """How many rows there are after a batch."""
        if batch == 0 or not isinstance(self.batch, int):
            return (self.history, *self.stops)[min(batch, len(self.stops))]
        return self.history + batch * self.batch

    def current(self, stop: int) -> pa.Table:
        """What is left of the first rows of a stream with weights."""
        gone = {taken for taken in self.takes[:stop] if taken >= 0}
        left = [place for place, taken in enumerate(self.takes[:stop]) if taken < 0 and place not in gone]
        return self.table.drop_columns(["w"]).take(pa.array(left, pa.int64()))

    def on_time(self, start: int, rows: int) -> pa.Table:
        """Some of the rows, without those that are too late."""
        return self.table.slice(start, rows).filter(pa.array(self._on_time[start : start + rows], pa.bool_()))

    @cached_property
    def _on_time(self) -> list[bool]:
        if self.lateness is None or self.time is None:
            return [True] * self.table.num_rows
        kept, latest = [], None
        for time in self.table.column(self.time).to_pylist():
            kept.append(time is None or latest is None or latest - time <= self.lateness)
            latest = latest if time is None else time if latest is None else max(latest, time)
        return kept


@dataclass(frozen=True)
class Case:
    """A query and the same question for DuckDB (``None``: in the same words).

    Attributes:
        zero: binary numbers not farther apart are equal: what is left of sums that cancel out follows their order.
    """

    sql: str
    duckdb: str | None = None
    dialect: str = "spark"
    zero: float = 0.0

    @property
    def asked(self) -> str:
        """The text for DuckDB."""
        return self.sql if self.duckdb is None else self.duckdb


@dataclass
class Watched:
    """A registered query: when, and DuckDB's answers since then by batch."""

    case: Case
    query: Query
    expected: dict[int, list[Row]] = field(default_factory=dict)


class Oracle:
    """A session and a DuckDB over the same rows.

    Example:
        >>> with Oracle(spark, {"f": Feed(table, history=50, batch=10)}) as oracle:  # doctest: +SKIP
        ...     oracle.register({"big": Case("SELECT id FROM f WHERE amount > 5")})
        ...     oracle.run(3)
        ...     oracle.check_changes()
    """

    def __init__(
        self,
        spark: object,
        feeds: Mapping[str, Feed],
        options: Options | None = None,
        functions: Mapping[str, tuple[Callable[..., object], list[str], str]] | None = None,
        path: Path | str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.spark, self.limits = spark, limits
        self.session = Session(spark, path, options=options, limits=limits)  # type: ignore[arg-type]
        self.duck = duckdb.connect()
        self.duck.execute("SET TimeZone = 'UTC'; SET threads = 1")  # a second one costs more than few rows take
        self.feeds = dict(feeds)
        self.watched: dict[str, Watched] = {}
        self.batch = self.known = 0
        for name, (function, parameters, returns) in (functions or {}).items():
            self.session.add_function(name, function, returns=returns.lower())
            self.duck.create_function(name, function, parameters, returns, null_handling="special")  # type: ignore
        for name, feed in self.feeds.items():
            self._add(name, feed)

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *problem: object) -> None:
        self.session.close()
        self.duck.close()

    def _add(self, name: str, feed: Feed) -> None:
        first = feed.table if feed.static else feed.on_time(0, feed.history)
        if feed.takes:
            self._replace_current(name, feed, feed.history)
            first = feed.current(feed.history)
            self.duck.execute(f"DROP TABLE {name}")
        self.duck.register("arriving", first)
        self.duck.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        if feed.static:
            self.session.add_table(name, feed.table)
        else:
            about = {"history": feed.history, "batch": feed.batch, "time": feed.time, "lateness": feed.lateness}
            about |= {"weight": "w"} if feed.takes else {}
            self.session.add_stream(name, feed.table, **about, **feed.constraints)  # type: ignore[arg-type]

    # -- steps ---------------------------------------------------------------------------------------------------

    def register(
        self, cases: Mapping[str, Case], one_by_one: bool = False, check: bool = True, results: str = "lazy"
    ) -> None:
        """Register queries, together or one after the other; each answers over all data so far at once."""
        by_dialect: dict[str, dict[str, str]] = {}
        for name, case in cases.items():
            by_dialect.setdefault(case.dialect, {})[name] = case.sql
        for dialect, texts in by_dialect.items():
            if one_by_one:
                made = {n: self.session.register(sql, n, dialect, results) for n, sql in texts.items()}
            else:
                made = self.session.register_many(texts, dialect, results)
            for name, query in made.items():
                self.watched[name] = Watched(cases[name], query)
        for name in cases:
            self._ask_duckdb(name)
        if check:
            self.check_results(cases)

    def drop(self, name: str) -> None:
        """Drop a query, after a last look at its changes."""
        self.check_changes([name])
        self.session.drop(name)
        del self.watched[name]

    def reopen(self) -> None:
        """Close the session and open it again; what others ran meanwhile has arrived."""
        self.session.close()
        self.session = Session.open(self.session.path, self.spark, limits=self.limits)  # type: ignore[arg-type]
        assert self.session.read_only is None
        self.follow(self.session)

    def follow(self, session: Session) -> None:
        """Go on with a session of the same queries, and stand where it stands."""
        self.session = session
        assert set(session.queries) == set(self.watched)
        for name, watched in self.watched.items():
            watched.query = session.query(name)
        self.catch_up()

    def catch_up(self) -> None:
        """Let the rows of batches that the session has run arrive here too."""
        for report in self.session.reports[self.known :]:
            self._arrive(report.batch)
        self.batch = self.session.batch
        for report in self.session.reports:
            for name, feed in self.feeds.items():
                late = report.late_rows.get(name, 0)
                assert feed.static or report.arrived[name] - late == self._arriving(report.batch, feed).num_rows

    def foresee(self, batches: int) -> None:
        """Ask DuckDB for the answers of batches to come, for sessions that run them later."""
        for batch in range(self.known + 1, self.known + batches + 1):
            self._arrive(batch)

    def run(self, batches: int = 1, check: bool | Iterable[str] = True) -> list[BatchReport]:
        """Let batches arrive and compare results after each: of all queries, or of those named in ``check``."""
        reports = []
        wanted = self.watched if check is True else check or ()
        for _ in range(batches):
            arrived = self.session.run(1)
            if not arrived:
                break
            reports += arrived
            self.catch_up()
            self.check_results(wanted)
        return reports

    def _arrive(self, batch: int) -> None:
        self.known = batch
        for name, feed in self.feeds.items():
            if feed.takes:
                self._replace_current(name, feed, feed.stop(batch))
            elif not feed.static:
                self.duck.register("arriving", self._arriving(batch, feed))
                self.duck.execute(f"INSERT INTO {name} SELECT * FROM arriving")
        for name in self.watched:
            self._ask_duckdb(name)

    def _replace_current(self, name: str, feed: Feed, stop: int) -> None:
        """What is left of the rows so far; all of them, also those that were taken back, are in ``…_brought``."""
        for table, there in ((name, feed.current(stop)), (f"{name}_brought", feed.table.slice(0, stop))):
            self.duck.register("arriving", there)
            self.duck.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM arriving")

    @staticmethod
    def _arriving(batch: int, feed: Feed) -> pa.Table:
        start = feed.stop(batch - 1)
        return feed.on_time(start, feed.stop(batch) - start)

    def _ask_duckdb(self, name: str) -> None:
        watched = self.watched[name]
        watched.expected[self.known] = self.answer(watched.case.asked)

    def answer(self, question: str) -> list[Row]:
        """DuckDB's answer to a question over the same rows."""
        return rows(self.duck.execute(question).fetchall())

    # -- checks --------------------------------------------------------------------------------------------------

    def check_results(self, names: Iterable[str] | None = None) -> None:
        """``result()`` is DuckDB's answer over the same rows."""
        for name in names if names is not None else self.watched:
            watched = self.watched[name]
            frame = watched.query.result()
            assert list(frame.columns) == [column for column, _ in watched.query.columns]
            self._compare(name, self.batch, frame_rows(frame), "result")

    def check_verified(self, names: Iterable[str]) -> None:
        """Spark SQL gives no other answers to the queries' own texts over all stored rows (``Session.verify``)."""
        for name in names:
            found = self.session.verify(name)
            assert found.outcome is not Outcome.DIFFERS or name in SPARK_DEVIATES, str(found)

    def check_changes(self, names: Iterable[str] | None = None, since: bool = False) -> None:
        """The changes of every batch lead from DuckDB's answer before it to the one after it."""
        for name in list(names if names is not None else self.watched):
            watched = self.watched[name]
            frame = watched.query.changes()
            deltas = _by_batch(name, frame)
            batches = [b for b in sorted(watched.expected) if watched.query.registered <= b <= self.batch]
            assert set(deltas) <= set(batches), f"{name}: changes of batches {sorted(deltas)}"
            bag: Counter[Row] = Counter()
            for batch in batches:
                for row, weight in deltas.get(batch, {}).items():
                    bag[row] += weight
                negative = [row for row, weight in bag.items() if weight < 0]
                assert not negative, f"{name}, batch {batch}: retracted, but was not there: {negative[:SHOWN]}"
                bag = +bag
                self._compare(name, batch, bag.elements(), "changes")
            if since:
                self._check_since(name, deltas)

    def _check_since(self, name: str, deltas: Mapping[int, Mapping[Row, int]]) -> None:
        last = _by_batch(name, self.watched[name].query.changes(since=self.batch - 1))
        assert last == {batch: delta for batch, delta in deltas.items() if batch >= self.batch}, name

    def compare(self, name: str, found: pd.DataFrame, question: str) -> None:
        """Rows that a query gave are DuckDB's answer to a question over the same rows."""
        self._compare(name, self.batch, frame_rows(found), "rows", self.answer(question))

    def _compare(
        self, name: str, batch: int, found: Iterable[Row], what: str, expected: list[Row] | None = None
    ) -> None:
        watched = self.watched[name]
        missing, too_many = difference(
            found, watched.expected[batch] if expected is None else expected, watched.case.zero
        )
        if missing or too_many:
            lines = [f"{what} of {name} after batch {batch} (registered after {watched.query.registered})"]
            lines += [f"{watched.case.sql}", f"missing: {len(missing)}", *_shown(missing)]
            lines += [f"too many: {len(too_many)}", *_shown(too_many)]
            raise AssertionError("\n".join(lines))


def _by_batch(name: str, frame: pd.DataFrame) -> dict[int, dict[Row, int]]:
    """Changes as a Z-set for each batch, in normal form."""
    assert list(frame.columns[:2]) == ["batch", "weight"]
    deltas: dict[int, dict[Row, int]] = {}
    values = frame_rows(frame.iloc[:, 2:])
    for batch, weight, row in zip(frame.iloc[:, 0].tolist(), frame.iloc[:, 1].tolist(), values, strict=True):
        delta = deltas.setdefault(batch, {})
        assert weight != 0, f"{name}, batch {batch}: weight 0 for {row}"
        assert row not in delta, f"{name}, batch {batch}: twice in one batch: {row}"
        delta[row] = weight
    return deltas


def _shown(found: list[Row]) -> list[str]:
    more = [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [*(f"  {row}" for row in sorted(found, key=repr)[:SHOWN]), *more]
