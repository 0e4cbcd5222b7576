"""A sequence as a Python script that runs by itself, with nothing but the workbench."""

from __future__ import annotations

import dataclasses

from oracle.fuzz.columns import InputColumn
from oracle.fuzz.steps import (
    WEIGHT,
    AddFunction,
    AddInput,
    AddSink,
    CloseAndOpen,
    Drop,
    Preview,
    Register,
    Reoptimize,
    Run,
    SaveAndOpen,
    Seek,
    Sequence_,
    SetBatch,
    Step,
)

from workbench.sql.algebra.types import DataType, Kind

_HEAD = """\
import datetime, tempfile
from decimal import Decimal
import pyarrow as pa
from workbench import Options, Session

nan, inf = float("nan"), float("inf")
folder = tempfile.mkdtemp()
session = Session(path=folder + "/0", options=Options({options}))
"""


def script(sequence: Sequence_, last: int | None = None) -> str:
    """The steps up to one of them, and all answers after each registration and at the end."""
    options = ", ".join(f"{name}={value!r}" for name, value in sequence.options)
    steps = sequence.steps if last is None else sequence.steps[: last + 1]
    lines = [_HEAD.format(options=options)]
    for place, step in enumerate(steps):
        lines += _lines(step, place + 1)
    lines.append("for name, query in session.queries.items():\n    print(name, query.result(), sep='\\n')")
    return "\n".join(lines)


def _lines(step: Step, place: int) -> list[str]:
    match step:
        case AddInput():
            arrays = ", ".join(_array(column, [row[i] for row in step.rows]) for i, column in enumerate(step.columns))
            made = f"pa.Table.from_arrays([{arrays}], names={[c.name for c in step.columns]!r})"
            more = ""
            if step.takes:
                weights = [1 if taken < 0 else -1 for taken in step.takes]
                made += f".append_column({WEIGHT!r}, pa.array({weights}, pa.int64()))"
                more += f", weight={WEIGHT!r}"
            if step.lateness is not None:
                more += f", lateness={step.lateness!r}"
            note = "" if step.form == "arrow" else f"  # it was read from {step.form}"
            if step.table:
                return [f"session.add_table({step.name!r}, {made}){note}"]
            about = f"{step.history}, {step.batch}, {step.time!r}{more}"
            return [f"session.add_stream({step.name!r}, {made}, {about}){note}"]
        case AddFunction():
            return [f"session.add_function({step.name!r}, {step.text}, returns={str(step.returns)!r})"]
        case Register(questions, results) if len(questions) == 1:
            name, question = questions[0]
            how = "" if results == "lazy" else f", results={results!r}"
            return [
                f"session.register({question.sql!r}, {name!r}, {question.dialect!r}{how})",
                f"# DuckDB: {question.duck}",
            ]
        case Register(questions):
            texts = {name: question.sql for name, question in questions}
            return [f"session.register_many({texts!r}, {questions[0][1].dialect!r})"]
        case Preview(question):
            return [f"session.preview({question.sql!r}, 'previewed', {question.dialect!r})"]
        case Drop(name):
            return [f"session.drop({name!r})"]
        case Run(batches):
            return [f"session.run({batches})"]
        case SetBatch(name, rows):
            return [f"session.set_batch({name!r}, {rows})"]
        case Seek(back):
            return [f"session.seek(max(0, session.batch - {back}))"]
        case AddSink(name):
            return [f"session.add_sink({name!r}, lambda batch, changes: print(batch, changes), name='sink {place}')"]
        case Reoptimize():
            return ["session.reoptimize()"]
        case SaveAndOpen():
            copy = f"folder + '/{place}'"
            return [f"session.save({copy}); session.close(); session = Session.open({copy})"]
        case CloseAndOpen():
            return ["session.close(); session = Session.open(session.path)"]


def _array(column: InputColumn, values: list[object]) -> str:
    return f"pa.array({values!r}, {_arrow(column.type)})"


def _arrow(type_: DataType) -> str:
    if type_.kind is Kind.DECIMAL:
        return f"pa.decimal128({type_.precision}, {type_.scale})"
    return {
        Kind.BOOLEAN: "pa.bool_()", Kind.INTEGER: "pa.int64()", Kind.DOUBLE: "pa.float64()", Kind.STRING: "pa.string()",
        Kind.DATE: "pa.date32()", Kind.TIMESTAMP: "pa.timestamp('us')",
    }[type_.kind]  # fmt: skip


def rows_of(sequence: Sequence_) -> int:
    """How many rows a sequence has in all its inputs."""
    return sum(len(step.rows) for step in sequence.steps if isinstance(step, AddInput))


def without_rows(step: AddInput, start: int, number: int) -> AddInput:
    """An input without some of its rows, and without those that take them back."""
    gone = set(range(start, start + number))
    gone |= {place for place, taken in enumerate(step.takes) if taken in gone}
    left = [place for place in range(len(step.rows)) if place not in gone]
    after = {place: new for new, place in enumerate(left)}
    takes = tuple(after.get(step.takes[place], -1) for place in left) if step.takes else ()
    return dataclasses.replace(step, rows=tuple(step.rows[place] for place in left), takes=takes)
