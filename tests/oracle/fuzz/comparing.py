"""Compares the answers of live queries with the model's, in every way in which they can be asked for."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

import pandas as pd
from oracle.bags import Row, difference, frame_rows, is_beyond_python, rows
from oracle.fuzz.model import Model
from oracle.fuzz.questions import Question
from oracle.fuzz.steps import AddFunction, AddInput, Register, Run, Seek, SetBatch, Step

from workbench import Session
from workbench.session.query import Query
from workbench.sql.algebra.types import DataType, Kind

_PYTHON = {
    Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.DECIMAL: Decimal, Kind.DOUBLE: float, Kind.STRING: str,
    Kind.DATE: dt.date, Kind.TIMESTAMP: dt.datetime,
}  # fmt: skip


class Wrong(Exception):
    """An answer is not what the model says."""


SECONDS = 60
"""In which a sink has caught up."""


@dataclass
class WatchedSink:
    """What a callable was given of a query's changes."""

    name: str
    bag: Counter[Row] = field(default_factory=Counter)

    def take(self, batch: int, changes: pd.DataFrame) -> None:
        """Be the sink's target."""
        weights = changes["weight"].tolist()
        for row, weight in zip(frame_rows(changes.drop(columns=["weight"])), weights, strict=True):
            self.bag[row] += weight


@dataclass
class Watched:
    """A live query: its question, its handle, its sink if it has one, and what it had to answer after each batch."""

    question: Question
    query: Query
    results: str
    expected: dict[int, list[Row]] = field(default_factory=dict)
    sought: bool = False
    sink: WatchedSink | None = None


@dataclass
class Comparing:
    """The live queries of a session beside the model.

    Args:
        model: says what the answers must be.
        chosen: makes the choices of what to look at.
        dataframes: whether to look at ``Query.dataframe`` too.
    """

    model: Model
    chosen: Random
    dataframes: bool = True
    watched: dict[str, Watched] = field(default_factory=dict)
    compared: int = 0

    def after(self, step: Step) -> None:
        """What a step may have changed: the answers of all live queries where rows came or went.

        Other steps change what is registered: then those of the new queries, and of another one. What a step did to
        the rest shows at the end, when all are compared. Now and then one is also looked at in another way.
        """
        names = list(self.watched)
        if isinstance(step, SetBatch | AddInput | AddFunction) or not names:
            return
        if not isinstance(step, Run | Seek):
            new = {str(name).lower() for name, _ in step.questions} if isinstance(step, Register) else set()
            names = [n for n in names if n.lower() in new] or self.chosen.sample(names, 1)
        for name in names:
            self._compare(name)
        if self.chosen.random() < 0.3:
            self._look(self.chosen.choice(names))

    def at_the_end(self) -> None:
        """All answers, and that the changes of some accumulate to them."""
        for name in self.watched:
            self._compare(name)
        for name in self.chosen.sample(list(self.watched), min(2, len(self.watched))):
            self.check_changes(name)

    def _compare(self, name: str) -> None:
        watched = self.watched[name]
        frame = watched.query.result()
        names = [column for column, _ in watched.query.columns]
        if list(frame.columns) != names:
            raise Wrong(f"columns {list(frame.columns)}, not {names}")
        for place, (column, type_) in enumerate(watched.query.columns):
            _check_values(f"{name}.{column}", frame.iloc[:, place].tolist(), type_)
        self._same(name, "result", frame_rows(frame), self._expected(name))

    def _expected(self, name: str) -> list[Row]:
        watched = self.watched[name]
        if self.model.batch not in watched.expected:
            watched.expected[self.model.batch] = self.model.answer(watched.question)
        return watched.expected[self.model.batch]

    def _same(self, name: str, what: str, found: list[Row], expected: list[Row]) -> None:
        self.compared += 1
        missing, too_many = difference(found, expected)
        if missing or too_many:
            question = self.watched[name].question
            raise Wrong(
                f"{what} differs\nquery {name!r} after batch {self.model.batch} in {question.dialect}: {question.sql}\n"
                f"DuckDB: {question.duck}\n"
                f"missing {len(missing)}: {missing[:5]}\ntoo many {len(too_many)}: {too_many[:5]}"
            )

    def _look(self, name: str) -> None:
        """One other thing that can be asked of a query."""
        query, expected = self.watched[name].query, self._expected(name)
        choice = self.chosen.randrange(6)
        if choice == 0 and query.count() != len(expected):
            raise Wrong(f"count of {name!r} is {query.count()}, not {len(expected)}\n{query.sql}")
        if choice == 1:
            found = frame_rows(query.head(3, 1))
            if len(found) != max(0, min(3, len(expected) - 1)):
                raise Wrong(f"head of {name!r} has {len(found)} rows of {len(expected)}\n{query.sql}")
            surplus = difference(found, expected)[1]
            if surplus:
                raise Wrong(f"head of {name!r} has rows that are in no answer: {surplus}\n{query.sql}")
        if choice == 2 and self.watched[name].results != "off":
            self.check_changes(name)
        if choice == 3 and self.dataframes:
            self._same(name, "dataframe", rows(map(tuple, query.dataframe().collect())), expected)
        if choice == 4:
            str(query.explain())

    def check_sinks(self, session: Session) -> None:
        """What sinks were given accumulates to the answers."""
        for name, watched in self.watched.items():
            if watched.sink is None:
                continue
            until = time.monotonic() + SECONDS
            while (status := session.sinks[watched.sink.name]).behind and time.monotonic() < until:
                time.sleep(0.01)
            if status.behind or status.problem:
                raise Wrong(f"the sink of {name!r} is behind: {status}\n{watched.question.sql}")
            if min(watched.sink.bag.values(), default=0) < 0:
                raise Wrong(f"the sink of {name!r} was told to take back what it was not given\n{watched.question.sql}")
            self._same(name, "what its sink was given", list(watched.sink.bag.elements()), self._expected(name))

    def check_columns(self, name: str) -> None:
        """The query has the names and kinds of columns that the question says."""
        watched = self.watched[name]
        columns = [(n, t.kind) for n, t in watched.query.columns]
        expected = [(f.name, f.type.kind) for f in watched.question.fields]
        if columns != expected:
            raise Wrong(f"columns {columns}, not {expected}\n{watched.question.sql}")

    def check_changes(self, name: str) -> None:
        """Changes accumulate to the answers after each batch."""
        watched = self.watched[name]
        if watched.results == "off":
            return
        frame = watched.query.changes()
        bag: Counter[Row] = Counter()
        by_batch: dict[int, list[tuple[Row, int]]] = {}
        values = frame_rows(frame.iloc[:, 2:])
        for batch, weight, row in zip(frame.iloc[:, 0].tolist(), frame.iloc[:, 1].tolist(), values, strict=True):
            if weight == 0:
                raise Wrong(f"a change of weight 0 of {name!r}: {row}\n{watched.question.sql}")
            by_batch.setdefault(batch, []).append((row, weight))
        if any(batch > self.model.batch for batch in by_batch):
            raise Wrong(f"changes of batches {sorted(by_batch)} after batch {self.model.batch}")
        for batch in range(self.model.batch + 1):
            for row, weight in by_batch.get(batch, []):
                bag[row] += weight
            if batch in watched.expected:
                if min(bag.values(), default=0) < 0:
                    gone = [row for row, weight in bag.items() if weight < 0]
                    raise Wrong(f"changes of {name!r} take back what was not there: {gone[:5]}\n{watched.question.sql}")
                self._same(name, f"changes to batch {batch}", list(bag.elements()), watched.expected[batch])


def _check_values(column: str, values: list[object], type_: DataType) -> None:
    """Every value is of the Python type that the column's type stands for."""
    for value in values:
        if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
            continue
        kind = _PYTHON[type_.kind]
        fits = type(value) is kind or (type_.kind is Kind.TIMESTAMP and isinstance(value, dt.datetime))
        fits = fits or (type_.kind in (Kind.DATE, Kind.TIMESTAMP) and is_beyond_python(value))
        if isinstance(value, Decimal):
            fits = fits and -value.as_tuple().exponent == type_.scale  # type: ignore[operator]
        if not fits:
            raise Wrong(f"{column} of type {type_} holds {value!r} of type {type(value).__name__}")
