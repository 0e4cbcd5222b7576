"""Plays a sequence: a session and the model side by side, and all answers compared after every step."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
from oracle.fuzz.columns import arrow_table
from oracle.fuzz.comparing import Comparing, Watched, WatchedSink, Wrong
from oracle.fuzz.model import Model
from oracle.fuzz.questions import Question
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
from pyspark.sql import SparkSession

from workbench import Options, Session
from workbench.errors import InputError, SqlError, StreamError, WorkbenchError

_REFUSABLE = (AddInput, Register, Preview)


@dataclass
class Outcome:
    """How a sequence went: what was refused, how much was compared, and what failed, if anything did."""

    sequence: Sequence_
    refused: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    step: int = -1
    failure: BaseException | None = None
    doing: str = ""

    @property
    def kind(self) -> str:
        """The failure in a few words, the same for the same defect."""
        if self.failure is None:
            return "equal"
        message = re.sub(r"\d+", "#", str(self.failure).strip().split("\n")[0])[:90]
        return f"{type(self.failure).__name__} in {self.doing}: {message}"


class Player:
    """Plays one sequence.

    Args:
        spark: the Spark to use.
        sequence: what to do.
        dataframes: whether to look at ``Query.dataframe`` too.
    """

    def __init__(self, spark: SparkSession, sequence: Sequence_, dataframes: bool = True) -> None:
        self.spark = spark
        self.sequence = sequence
        self.model = Model()
        self.comparing = Comparing(self.model, Random(sequence.seed), dataframes)
        self.outcome = Outcome(sequence)
        self.visible: dict[str, str] = {}
        self.moving = set[str]()
        self.functions: dict[str, str] = {}

    def play(self) -> Outcome:
        """Do all steps, and compare after each that changes something."""
        self.folder = Path(tempfile.mkdtemp(prefix="argus-fuzz-"))
        self.session: Session | None = None
        try:
            self.outcome.doing = "Session"
            self.session = Session(self.spark, self.folder / "0", options=Options(**dict(self.sequence.options)))  # type: ignore[arg-type]
            for place, step in enumerate(self.sequence.steps):
                self.outcome.step = place
                self.outcome.doing = type(step).__name__
                if self._do(step):
                    self.comparing.after(step)
                    self.comparing.check_sinks(self.session)
            self.outcome.doing = "the end"
            self.comparing.at_the_end()
        except Exception as failure:
            self.outcome.failure = failure
        finally:
            try:
                if self.session is not None:
                    self.session.close()
            except Exception as failure:
                self.outcome.failure = self.outcome.failure or failure
            self.outcome.compared = self.comparing.compared
            self.model.close()
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.outcome

    # -- steps ---------------------------------------------------------------------------------------------------

    def _do(self, step: Step) -> bool:
        """Do a step; whether it has done anything that is to be looked at."""
        assert self.session is not None
        before = self.model.batch
        try:
            self._dispatch(step, self.session)
        except WorkbenchError as error:
            if not isinstance(step, _REFUSABLE) or not isinstance(error, SqlError | StreamError | InputError):
                raise
            self.outcome.refused[_refusal(error)] += 1
        return not isinstance(step, Run) or self.model.batch > before

    def _dispatch(self, step: Step, session: Session) -> None:
        match step:
            case AddInput():
                self._add_input(step, session)
            case AddFunction():
                session.add_function(step.name, eval(step.text), returns=str(step.returns))
                self.model.add_function(step)
                self.functions[step.name] = step.duck
            case Register():
                self._register(step, session)
            case Preview(question) if self._understood(question):
                session.preview(question.sql, "previewed", question.dialect)
            case Drop(name) if name in self.comparing.watched:
                self.comparing.check_changes(name)
                session.drop(name)
                self._forget(name, session)
                self.visible.pop(name.lower(), None)
            case Run(batches):
                self._run(session, batches)
            case SetBatch(name, number) if name in self.model.inputs and not self.model.inputs[name].table:
                session.set_batch(name, number)
                self.model.inputs[name].batch = number
            case Seek(back):
                batch = max(0, self.model.batch - back)
                session.seek(batch)
                self.model.seek(batch)
                for watched in self.comparing.watched.values():
                    watched.expected, watched.sought = {}, True
            case AddSink(name) if name in self.comparing.watched:
                self._add_sink(name, session)
            case Reoptimize():
                session.reoptimize()
            case SaveAndOpen():
                copy = self.folder / str(self.outcome.step + 1)
                session.save(copy)
                session.close()
                for watched in self.comparing.watched.values():
                    watched.sink = None  # a copy has none
                self._open(copy)
            case CloseAndOpen():
                session.close()
                self._open(session.path)

    def _add_input(self, step: AddInput, session: Session) -> None:
        table = arrow_table(step.columns, step.rows, [c.name for c in step.columns])
        if step.takes:
            weights = [1 if taken < 0 else -1 for taken in step.takes]
            table = table.append_column(WEIGHT, pa.array(weights, pa.int64()))
        source = self._written(step, table)
        options: dict[str, object] = {}
        if step.form == "csv":
            options["columns"] = {c.name: str(c.type) for c in step.columns} | (
                {WEIGHT: "integer"} if step.takes else {}
            )
        options |= ({"weight": WEIGHT} if step.takes else {}) | ({"lateness": step.lateness} if step.lateness else {})
        if step.table:
            session.add_table(step.name, source, **options)  # type: ignore[arg-type]
        else:
            session.add_stream(step.name, source, step.history, step.batch, step.time, **options)  # type: ignore[arg-type]
        self.model.add_input(step)
        self.visible[step.name.lower()] = step.duck

    def _written(self, step: AddInput, table: pa.Table) -> object:
        """The table in the step's form; pandas holds Arrow's columns, which tell NaN from NULL."""
        path = self.folder / f"{step.duck}.{step.form}"
        match step.form:
            case "parquet":
                pq.write_table(table, path)
                return path
            case "csv":
                pc_csv.write_csv(table, path)
                return path
            case "pandas":
                return table.to_pandas(types_mapper=pd.ArrowDtype)
        return table

    def _register(self, step: Register, session: Session) -> None:
        if not all(self._understood(question) for _, question in step.questions):
            return
        before = {name.lower(): name for name in self.comparing.watched}
        if len(step.questions) == 1:
            name, question = step.questions[0]
            made = session.register(question.sql, name, question.dialect, step.results)
            registered = {made.name: (made, question)}
        else:
            texts = {str(name): question.sql for name, question in step.questions}
            together = session.register_many(texts, step.questions[0][1].dialect, step.results)
            registered = {str(name): (together[str(name)], question) for name, question in step.questions}
        for name, (query, question) in registered.items():
            if name.lower() in before:
                self._forget(before[name.lower()], session)
            self.comparing.watched[name] = Watched(question, query, step.results)
            self.comparing.watched[name].expected[self.model.batch] = self.model.answer(question)
            self.visible[name.lower()] = question.duck
            if question.moves or any(used.lower() in self.moving for used in question.uses):
                self.moving.add(name.lower())
            else:
                self.moving.discard(name.lower())
            self.comparing.check_columns(name)
            for view in question.views:
                self.visible[view.lower()] = ""

    def _add_sink(self, name: str, session: Session) -> None:
        watched = self.comparing.watched[name]
        if watched.sink is None and watched.results != "off" and name.lower() not in self.moving:
            watched.sink = WatchedSink(f"sink {self.outcome.step}")
            session.add_sink(name, watched.sink.take, name=watched.sink.name)

    def _forget(self, name: str, session: Session) -> None:
        """A query goes; its sink went with it, or is with the one that replaced it."""
        watched = self.comparing.watched.pop(name)
        if watched.sink is not None and watched.sink.name in session.sinks:
            session.drop_sink(watched.sink.name)

    def _understood(self, question: Question) -> bool:
        """Whether names and functions mean what they meant when the question was written, if none was refused."""
        there = {arriving.duck for arriving in self.model.inputs.values()}
        return (
            set(re.findall(r"\bt\d+\b", question.duck)) <= there
            and all(name.lower() in self.visible and self._meant(name, question) for name in question.uses)
            and all(duck in self.functions.values() for duck in question.calls)
        )

    def _meant(self, name: str, question: Question) -> bool:
        return bool(self.visible[name.lower()]) and self.visible[name.lower()] in question.duck

    def _run(self, session: Session, batches: int) -> None:
        for _ in range(batches):
            ended = self.model.finished
            reports = session.run(1)
            if ended:
                if reports:
                    raise Wrong("a batch was run after the streams' end")
                return
            if len(reports) != 1:
                raise Wrong("no batch was run before the streams' end")
            self.model.run()
            if dict(reports[0].arrived) != self.model.arrived[-1]:
                raise Wrong(f"arrived {dict(reports[0].arrived)}, not {self.model.arrived[-1]}")
            for watched in self.comparing.watched.values():
                watched.expected[self.model.batch] = self.model.answer(watched.question)

    def _open(self, path: Path) -> None:
        self.session = None
        self.session = Session.open(path, self.spark)
        if self.session.read_only is not None:
            raise Wrong(f"read-only: {self.session.read_only}")
        if set(self.session.queries) != set(self.comparing.watched):
            raise Wrong(f"queries {sorted(self.session.queries)}, not {sorted(self.comparing.watched)}")
        for name, watched in self.comparing.watched.items():
            watched.query = self.session.query(name)
            if watched.sink is not None:
                self.session.add_sink(name, watched.sink.take, name=watched.sink.name)


def _refusal(error: WorkbenchError) -> str:
    """A refusal without what differs from case to case."""
    first = str(error.message).split("\n")[0]
    return f"{type(error).__name__}: {first}"[:140]
