"""What the answers must be: DuckDB over the rows that have arrived, asked anew each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
from oracle.bags import Row, rows
from oracle.fuzz.columns import arrow_table
from oracle.fuzz.expressions import duck_type
from oracle.fuzz.questions import Question
from oracle.fuzz.steps import AddFunction, AddInput


@dataclass
class ArrivingInput:
    """How much of an input is there, and what arrives with a batch."""

    duck: str
    total: int
    there: int
    batch: int
    history: int
    table: bool

    def next(self) -> int:
        """How many rows the next batch brings."""
        return 0 if self.table else min(self.batch, self.total - self.there)


@dataclass
class Model:
    """Inputs in DuckDB, each seen up to the rows that have arrived.

    Attributes:
        inputs: by the analyst's name.
        arrived: for each batch that was run, how many rows of each input it brought.
    """

    inputs: dict[str, ArrivingInput] = field(default_factory=dict)
    arrived: list[dict[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": "1"})
        self.connection.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        """Let go of DuckDB."""
        self.connection.close()

    def add_input(self, step: AddInput) -> None:
        """Take in an input with its history."""
        table = arrow_table(step.columns, step.rows, [f"c{i}" for i in range(len(step.columns))])
        gone = {taken: place for place, taken in enumerate(step.takes) if taken >= 0}
        dropped = [late or (bool(step.takes) and step.takes[place] >= 0) for place, late in enumerate(late_rows(step))]
        numbered = table.append_column("n", pa.array(range(len(step.rows)), pa.int64()))
        numbered = numbered.append_column("dropped", pa.array(dropped, pa.bool_()))
        numbered = numbered.append_column("gone", pa.array(map(gone.get, range(len(step.rows))), pa.int64()))
        self.connection.register("arriving", numbered)
        self.connection.execute(f"CREATE OR REPLACE TABLE all_{step.duck} AS SELECT * FROM arriving")
        self.connection.unregister("arriving")
        history = len(step.rows) if step.table else min(step.history or 0, len(step.rows))
        batch = step.batch or 4_000
        self.inputs[step.name] = ArrivingInput(step.duck, len(step.rows), history, batch, history, step.table)
        self._show(step.name)

    def add_function(self, step: AddFunction) -> None:
        """Make one meaning of a function callable."""
        made: Callable[..., object] = eval(step.text)
        parameters = [duck_type(p) for p in step.parameters]
        self.connection.create_function(step.duck, made, parameters, duck_type(step.returns), null_handling="special")  # type: ignore[arg-type]

    @property
    def finished(self) -> bool:
        """Whether no stream has rows to come."""
        return all(i.table or i.there >= i.total for i in self.inputs.values())

    @property
    def batch(self) -> int:
        """How many batches have been run."""
        return len(self.arrived)

    def run(self) -> None:
        """Let a batch arrive."""
        brought = {name: i.next() for name, i in self.inputs.items() if not i.table}
        self.arrived.append(brought)
        for name, count in brought.items():
            self.inputs[name].there += count
            self._show(name)

    def seek(self, batch: int) -> None:
        """Go back to what was after a batch."""
        del self.arrived[batch:]
        for name, i in self.inputs.items():
            if not i.table:
                i.there = i.history + sum(brought.get(name, 0) for brought in self.arrived)
                self._show(name)

    def answer(self, question: Question) -> list[Row]:
        """The answer of a question."""
        return rows(self.connection.execute(question.duck).fetchall())

    def _show(self, name: str) -> None:
        i = self.inputs[name]
        brought = f"SELECT * EXCLUDE (n, dropped, gone) FROM all_{i.duck} WHERE n < {i.there} AND NOT dropped"
        self.connection.execute(f"CREATE OR REPLACE VIEW {i.duck}_brought AS {brought}")
        left = f"{brought} AND (gone IS NULL OR gone >= {i.there})"
        self.connection.execute(f"CREATE OR REPLACE VIEW {i.duck} AS {left}")


def late_rows(step: AddInput) -> list[bool]:
    """Which rows are too late to be in any answer."""
    if step.lateness is None or step.time is None:
        return [False] * len(step.rows)
    place, latest, late = [c.name for c in step.columns].index(step.time), None, []
    for row in step.rows:
        time: Any = row[place]
        late.append(time is not None and latest is not None and latest - time > step.lateness)
        latest = latest if time is None else time if latest is None else max(latest, time)
    return late
