"""Random sequences of steps: the same seed gives the same sequence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from oracle.fuzz.columns import FLAVOURS, InputColumn, alike_rows, random_rows, taken_back
from oracle.fuzz.expressions import CallableFunction
from oracle.fuzz.names import (
    HOSTILE_COLUMNS,
    HOSTILE_INPUTS,
    HOSTILE_QUERIES,
    PLAIN_COLUMNS,
    PLAIN_INPUTS,
    PLAIN_QUERIES,
    pick,
    quoted,
)
from oracle.fuzz.parts import Field, Source
from oracle.fuzz.questions import Question
from oracle.fuzz.steps import (
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
from oracle.fuzz.wider import WiderWriter

from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING


@dataclass(frozen=True)
class Switches:
    """What the sequences hold.

    Attributes:
        hostile: the share of hostile names.
        mixed: whether two inputs may have a column of one name and different types.
        functions: whether the analyst adds functions.
        again: whether functions are added again with another meaning.
        windows: whether there are windows.
        dataframes: whether ``Query.dataframe`` is looked at too.
        corrections: whether streams take rows back or leave out what is late.
        sinks: whether what sinks are given is compared.
    """

    hostile: float = 0.25
    mixed: bool = True
    functions: bool = True
    again: bool = True
    windows: bool = True
    dataframes: bool = True
    corrections: bool = True
    sinks: bool = True


# No function gives NaN: DuckDB takes it for NULL.
_FUNCTIONS = {
    "f": (
        (INTEGER,),
        INTEGER,
        ("lambda i: None if i is None else i % 7", "lambda i: 5 if i is None else -(i % 5)", "lambda i: 1"),
    ),
    "g": (
        (STRING,),
        STRING,
        ("lambda s: None if s is None else s[::-1]", "lambda s: 'none' if s is None else s[:1]", "lambda s: ''"),
    ),
    "h": (
        (DOUBLE,),
        DOUBLE,
        ("lambda x: None if x is None or x != x else -x", "lambda x: 0.5 if x is None or x != x else x"),
    ),
}
_NOT_IN_CSV = frozenset({"text", "wild", "rate", "dust"})
"""Flavours with values that Arrow writes into CSV files in a form that is set aside, such as 1E-8 for a decimal."""
_OPTIONS: dict[str, tuple[object, ...]] = {
    "sharing": (False,),
    "join_sharing": (False,),
    "canonicalize": (False,),
    "strategy": ("match-plan",),
    "transitivity": (False,),
    "join_order": (False,),
    "materialize_below": (0.0, 1.0),
    "incremental_aggregates": (False,),
    "vertical_expansion": (False,),
    "reroute": (False,),
    "restructure": (False,),
}


def random_sequence(seed: int, switches: Switches) -> Sequence_:
    """The sequence of a seed."""
    author = _Author(Random(seed), switches)
    chosen = author.chosen
    options: tuple[tuple[str, object], ...] = ()
    if chosen.random() < 0.35:
        options = tuple(
            (o, chosen.choice(_OPTIONS[o])) for o in sorted(chosen.sample(list(_OPTIONS), chosen.randint(1, 3)))
        )
    return Sequence_(seed, options, tuple(author.steps()))


@dataclass
class _Author:
    """Writes a sequence step by step, and knows what there is after each, if none is refused."""

    chosen: Random
    switches: Switches
    sources: dict[str, Source] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    functions: dict[str, CallableFunction] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    versions: int = 0

    def steps(self) -> Iterator[Step]:
        for _ in range(self.chosen.choice((1, 2, 2, 3))):
            yield self._input()
        if self.switches.functions and self.chosen.random() < 0.3:
            yield self._function()
        yield self._register()
        kinds = {
            self._register: 8, self._run: 6, self._drop: 1.5, self._replace: 2, self._together: 1.5, self._view: 1.5,
            self._seek: 0.8, self._open: 1, self._input: 0.4, self._set_batch: 0.4, self._preview: 0.4,
            self._function: 3 if self.functions else 0, self._add_sink: 1 if self.switches.sinks else 0,
            self._reoptimize: 0.6,
        }  # fmt: skip
        for _ in range(self.chosen.randint(3, 7)):
            yield self.chosen.choices(list(kinds), list(kinds.values()))[0]()
        yield self._run()

    def _input(self) -> AddInput:
        number = len(self.inputs)
        name = pick(self.chosen, PLAIN_INPUTS, HOSTILE_INPUTS, self.switches.hostile, {n.lower() for n in self.sources})
        columns = self._columns()
        form = self.chosen.choice(("arrow", "arrow", "parquet", "pandas", "csv"))
        if form == "csv" and (len(columns) < 2 or any(c.flavour in _NOT_IN_CSV for c in columns)):
            form = "arrow"
        draw = alike_rows if self.chosen.random() < 0.25 else random_rows
        rows = draw(self.chosen, columns, self.chosen.choice((0, 5, 12, 20, 30, 40)))
        table = number > 0 and self.chosen.random() < 0.25
        takes: tuple[int, ...] = ()
        if not table and self.switches.corrections and self.chosen.random() < 0.25:
            rows, takes = taken_back(self.chosen, rows)
        history = None if table or self.chosen.random() < 0.3 else self.chosen.choice((0, 3, 8, 60))
        batch = None if table else self.chosen.randint(1, 8)
        timed = [c for c in columns if c.flavour in ("day", "moment", "small")]
        time = self.chosen.choice(timed) if timed and not table and self.chosen.random() < 0.6 else None
        duck = f"t{number}"
        fields = tuple(
            Field(c.name.lower(), f"c{i}", c.type, FLAVOURS[c.flavour].tame, c.flavour) for i, c in enumerate(columns)
        )
        when = fields[columns.index(time)] if time else None
        times = ((f"SELECT max({when.duck}) FROM {duck}_brought", when.type),) if when else ()
        lateness = None
        if time is not None and not takes and self.switches.corrections and self.chosen.random() < 0.25:
            lateness = 10 if time.type == INTEGER else dt.timedelta(days=7)
        self.sources[name] = Source(name, duck, fields, times=times, time=when)
        self.inputs.append(name)
        timed_by = time.name if time else None
        return AddInput(name, duck, columns, rows, table, history, batch, timed_by, form, takes, lateness)

    def _columns(self) -> tuple[InputColumn, ...]:
        taken: set[str] = set()
        usual = ["key", "letter", "money", "small", "eighths", "day", "moment", "flag"]
        flavours = self.chosen.choices(usual, k=self.chosen.randint(1, 3)) + self.chosen.choices(
            list(FLAVOURS), k=self.chosen.randint(1, 3)
        )
        columns = []
        for flavour in flavours:
            name = pick(self.chosen, PLAIN_COLUMNS, HOSTILE_COLUMNS, self.switches.hostile, taken)
            if not self.switches.mixed:
                type_ = str(FLAVOURS[flavour].type)
                while self.typed.setdefault(name.lower(), type_) != type_:
                    name = pick(self.chosen, PLAIN_COLUMNS, (f"z{len(taken)}{flavour}",), 0.5, taken)
            columns.append(InputColumn(name, flavour))
        return tuple(columns)

    def _writer(self, sources: dict[str, Source] | None = None) -> WiderWriter:
        return WiderWriter(
            self.chosen,
            self.sources if sources is None else sources,
            tuple(self.functions.values()),
            hostile=self.switches.hostile,
            windows=self.switches.windows,
        )

    def _name(self) -> str:
        return pick(
            self.chosen, PLAIN_QUERIES, HOSTILE_QUERIES, self.switches.hostile, {n.lower() for n in self.sources}
        )

    def _take(self, name: str | None, question: Question) -> None:
        if name is None:
            return
        key = next((known for known in self.sources if known.lower() == name.lower()), name)
        self.sources.pop(key, None)
        self.sources[name] = question.source(name)
        if name not in self.queries:
            self.queries.append(name)

    def _register(self) -> Register:
        chance = self.chosen.random()
        question = self._writer().with_view() if chance < 0.08 else self._writer().question()
        name = None if chance > 0.95 else self._name()
        results = self.chosen.choice(("lazy", "eager", "off", "lazy")) if question.moves or chance < 0.2 else "lazy"
        self._take(name, question)
        return Register(((name, question),), results)

    def _replace(self) -> Register:
        live = [q for q in self.queries if q in self.sources]
        if not live:
            return self._register()
        name = self.chosen.choice(live)
        sources = {n: s for n, s in self.sources.items() if n != name}
        question = self._writer(sources).question()
        self._take(name, question)
        return Register(((name, question),))

    def _together(self) -> Register:
        made: list[tuple[str | None, Question]] = []
        first = self._writer().question()
        for _ in range(self.chosen.randint(2, 3)):
            name = self._name()
            question = first if not made else self._writer().question()
            if question.dialect != first.dialect:
                continue
            self._take(name, question)
            made.append((name, question))
        return Register(tuple(made))

    def _view(self) -> Register:
        writer = self._writer()
        question = writer.exact_question()
        name = self._name()
        made = Question(
            f"CREATE VIEW {quoted(name, question.dialect)} AS {question.sql}", question.duck, question.dialect,
            question.fields, question.uses, question.calls, question.times,
        )  # fmt: skip
        self._take(name, made)
        return Register(((None, made),))

    def _preview(self) -> Preview:
        return Preview(self._writer().question())

    def _drop(self) -> Step:
        live = [q for q in self.queries if q in self.sources]
        if len(live) < 2:
            return self._register()
        name = self.chosen.choice(live)
        self.sources.pop(name)
        return Drop(name)

    def _add_sink(self) -> Step:
        live = [q for q in self.queries if q in self.sources]
        return AddSink(self.chosen.choice(live)) if live else self._register()

    def _reoptimize(self) -> Reoptimize:
        return Reoptimize()

    def _run(self) -> Run:
        return Run(self.chosen.choice((1, 1, 2)))

    def _seek(self) -> Seek:
        return Seek(self.chosen.randint(0, 3))

    def _open(self) -> Step:
        return SaveAndOpen() if self.chosen.random() < 0.5 else CloseAndOpen()

    def _set_batch(self) -> SetBatch:
        return SetBatch(self.chosen.choice(self.inputs), self.chosen.randint(1, 6))

    def _function(self) -> AddFunction:
        again = [n for n in _FUNCTIONS if n in self.functions]
        name = self.chosen.choice(again if again and self.chosen.random() < 0.7 else list(_FUNCTIONS))
        parameters, returns, texts = _FUNCTIONS[name]
        text = self.chosen.choice(texts) if self.switches.again else texts[0]
        self.versions += 1
        made = AddFunction(name, f"{name}_{self.versions}", text, parameters, returns)
        self.functions[name] = CallableFunction(name, made.duck, parameters, returns)
        return made
