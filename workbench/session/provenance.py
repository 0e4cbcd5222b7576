"""Why a row is in an answer: the rows of the streams that it is computed from, with the batch that brought each.

The questions of ``sql/provenance`` are answered one after the other from the rows that are stored, in a network of
their own, all as of one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.frames import as_shown_table, frame_of
from workbench.arrow.stored_values import as_python
from workbench.engine.answers import Answers, Refinement
from workbench.engine.fetching import fetch_arrived, fetch_count, fetch_first, fetch_results, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.engine.storage.grouping import Positions, group_numbers, group_rows, matching_rows, occurrences
from workbench.explain.cells import frame_text
from workbench.explain.text import counted
from workbench.session.answer_reader import AnswerReader
from workbench.session.answering import Answering
from workbench.session.state import QueryRecord, State
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import INTEGER
from workbench.sql.logical import Block, Input, LogicalQuery, Ordered, SetQuery, StreamInput, parts_of
from workbench.sql.narrowing import Finder, with_inner_tests
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.provenance import (
    MOST_LOOKED_UP,
    Stage,
    StepBack,
    comes_from_rows,
    having_values,
    in_partitions,
    only_stream,
    picked,
    possible_partitions,
    renamed,
    searched_branches,
    step_back,
    whole_inputs,
)

EXPLAINED, SHOWN = 100, 20
"""Rows of an answer that are explained at a time, and rows of a stream that are shown of what explains them."""


@dataclass(frozen=True, repr=False)
class Provenance:
    """The rows that some rows of an answer are computed from.

    Attributes:
        query: the answer's query.
        rows: the rows that are explained.
        total: how many rows were asked for, of which the first are explained.
        tables: for each stream its rows, with the ``batch`` that brought them, as Arrow.
    """

    query: str
    rows: pd.DataFrame
    total: int
    tables: Mapping[str, pa.Table]

    @property
    def streams(self) -> dict[str, pd.DataFrame]:
        """For each stream its rows, with the ``batch`` that brought them."""
        return {name: frame_of(rows) for name, rows in self.tables.items()}

    def __repr__(self) -> str:
        missing = "" if self.total else "; why_not(…) says what keeps it out"
        return f"{self}{missing}"

    def __str__(self) -> str:
        parts = [self.title]
        for stream, rows in self.streams.items():
            first = f", the first {SHOWN}" if len(rows) > SHOWN else ""
            parts.append(f"{counted(len(rows), 'row')} of {stream}{first}\n{frame_text(rows.head(SHOWN))}")
        return "\n\n".join(parts)

    @property
    def title(self) -> str:
        """How many rows are explained, and by how many."""
        if not self.total:
            return f"{self.query} has no such row"
        of = f"{len(self.rows):,} of {self.total:,} rows" if len(self.rows) < self.total else counted(self.total, "row")
        by = " and ".join(f"{counted(rows.num_rows, 'row')} of {name}" for name, rows in self.tables.items())
        return f"{of} of {self.query} {'is' if self.total == 1 else 'are'} computed from {by or 'no row'}"


def provenance(
    reader: AnswerReader, query: QueryRecord, refinement: Refinement, timezone: str, limit: int = EXPLAINED
) -> Provenance:
    """Find the rows that rows of an answer are computed from.

    Of MIN and MAX alone, also with OVER, these are the rows that have the value, of other aggregates the whole group,
    of other functions with OVER the whole partition.

    Args:
        reader: of the session's answers.
        query: whose answer.
        refinement: which rows of it.
        timezone: in which instants are shown.
        limit: of how many of these rows at most.

    Raises:
        QueryError: the query does not run.
        EngineError: Spark could not read or compute the rows.
    """
    with reader.reading([query]) as state, translate_errors(f"explain rows of {query.name}"):
        with reader.answers_in(state, query) as answers:
            rows = fetch_first(answers, 0, limit, refinement)
            total = fetch_count(answers, refinement) if rows.num_rows == limit else rows.num_rows
            shown = frame_of(to_shown_table(rows, answers.plan, timezone))
        columns = [column.combine_chunks() for column in rows.columns]
        tables = rows_behind(reader, state, query.logical, columns, timezone, query.name)
    return Provenance(query.name, shown, total, tables)


def rows_behind(
    reader: AnswerReader, state: State, query: LogicalQuery, columns: list[pa.Array], timezone: str, known: str = ""
) -> dict[str, pa.Table]:
    """For each stream, the rows from which rows of a query were computed, with the batch of each, as they are shown.

    Args:
        reader: of the session's answers, which is reading (``AnswerReader.reading``).
        state: the state that is read.
        query: what the rows are of.
        columns: the rows, as they are stored.
        timezone: in which instants are shown.
        known: the name of the query whose rows are kept; of another one all is computed from the streams' rows.
    """
    with reader.asking(state, known) as kept, reader.asking(state) as answering:
        return _Search(kept, answering).stream_rows(query, columns, timezone)


class _Search:
    """The steps back from rows to the streams, in one state; what can be asked at the same time is one network."""

    def __init__(self, kept: Answering, answering: Answering) -> None:
        self._kept, self._answering = kept, answering
        self._waiting: dict[tuple[object, ...], _Known] = {}
        self._of_streams: list[_Known] = []
        self._values: dict[Block, list[list[Any] | None]] = {}
        self._finder = Finder(self._partners)

    def stream_rows(self, part: LogicalQuery, columns: list[pa.Array], timezone: str) -> dict[str, pa.Table]:
        """What ``rows_behind`` gives."""
        self._add(_Known(part, Stage.ROWS, len(columns[0]) if columns else 0, _different(columns)))
        while due := self._due():
            asked = self._asked(due)
            found = fetch_results([answers for _, _, answers in asked])
            for (known, step, _), rows in zip(asked, found, strict=True):
                self._go_on(step, *_meant(rows, step, known))
        streams = dict[str, _StreamRows]()
        whole = [known.part for known in self._waiting.values() if not known.columns]
        some = [known for known in self._of_streams if known.stream not in whole]
        for known, step, answers in self._asked([*(known.once() for known in self._waiting.values()), *some]):
            rows = _stream_rows(fetch_arrived(answers), step, known)
            streams[rows.stream.stream] = rows.and_(streams.get(rows.stream.stream))
        return {name: rows.shown(timezone) for name, rows in streams.items() if len(rows.batches)}

    def _asked(self, known: Iterable[_Known]) -> list[tuple[_Known, StepBack, Answers]]:
        """The answers to the steps back from all that is known, of one network."""
        steps = [(one, step_back(one.part, one.stage, one.values)) for one in known]
        answers = self._kept.answers_of_few([step.query for _, step in steps])
        if answers is None:
            answers = self._answering.answers([with_inner_tests(step.query, self._finder) for _, step in steps])
        return [(*asked, answer) for asked, answer in zip(steps, answers, strict=True)]

    def _partners(self, rows: Block, columns: Sequence[Expression]) -> PredSet:
        """What is known of columns that have the values of some rows."""
        if rows not in self._values:
            (found,) = fetch_results(self._answering.answers([rows]))
            self._values[rows] = [_looked_up(column.combine_chunks()) for column in found.columns]
        return having_values(columns, self._values[rows])

    def _in_partitions(self, known: Sequence[_Known]) -> list[_Known]:
        """What is known, of the partitions alone that it may belong to, where functions with OVER are computed."""
        asked = [(one, possible_partitions(one.part, one.stage, one.values)) for one in known]
        found = iter(fetch_results(self._answering.answers([query for _, query in asked if query is not None])))
        narrow = []
        for one, query in asked:
            if query is not None and isinstance(one.part, Block) and (rows := next(found)).num_rows:
                values = [_looked_up(column.combine_chunks()) for column in rows.columns]
                one = replace(one, part=in_partitions(one.part, values))
            narrow.append(one)
        return narrow

    def _add(self, known: _Known) -> None:
        """Follow rows of a part later, with those that it is found to have by then, however often it is read.

        What is written out, as the places of UNNEST are, comes from none.
        """
        if not known.rows or not comes_from_rows(known.part):
            return
        match known.part:
            case Ordered(query=inner) if known.columns:
                self._add(replace(known, part=inner))
                if known.part.offset:  # without the rows before them they would be those that are skipped
                    self._add(_Known(known.part, Stage.ROWS, 1, []))
            case SetQuery(rules=rules) as query if rules:
                for branch in query.branches:
                    # By which rows a recursion came to a row no condition tells: they are among all that it reads.
                    self._add(_Known(branch, Stage.ROWS, 1, []))
            case SetQuery() as query:
                possible = [*filter(None, (_in_branch(known, branch) for branch in searched_branches(query)))]
                is_sure = known.is_sure and (query.operator != "union" or len(possible) == 1)
                for one in possible:
                    self._add(replace(one, is_sure=is_sure))
            case Block() as block if known.is_sure and (pick := picked(block, known.stage, len(known.columns))):
                stage, places = pick
                self._add(_Known(block, stage, known.rows, [known.columns[place] for place in places]))
            case Block() as block if (named := renamed(block, known.stage, len(known.columns))) is not None:
                self._add(replace(known, part=block.inputs[0], columns=[known.columns[place] for place in named]))
            case Block() as block if sources := whole_inputs(block, known.stage, len(known.columns)):
                for source in sources:
                    self._add(_Known(source, Stage.ROWS, 1, []))
            case part:
                name = part.stream if isinstance(part, StreamInput) else id(part)
                whole, key = (name, known.stage), (name, known.stage, *(column.type for column in known.columns))
                if whole in self._waiting:
                    return
                if key == whole:
                    self._waiting = {other: one for other, one in self._waiting.items() if other[:2] != whole}
                columns = known.columns
                if (before := self._waiting.get(key)) is not None:
                    columns = [*map(pa.concat_arrays, zip(before.columns, columns, strict=True))]
                self._waiting[key] = replace(known, rows=len(columns[0]) if columns else 1, columns=columns)

    def _due(self) -> list[_Known]:
        """What waits and can be found in no other part that waits any more, but for streams; it waits no longer."""
        inside = {
            id(inner) for known in self._waiting.values() for inner in parts_of(known.part) if inner is not known.part
        }
        due = {
            key: known
            for key, known in self._waiting.items()
            if not isinstance(known.part, StreamInput) and id(known.part) not in inside
        }
        for key in due:
            del self._waiting[key]
        parts = self._in_partitions([known.once() for known in due.values()])
        self._of_streams += [known for known in parts if known.stream]
        return [known for known in parts if not known.stream]

    def _go_on(self, step: StepBack, rows: int, columns: list[pa.Array]) -> None:
        for part, stage, width in step.parts:
            own, columns = columns[:width], columns[width:]
            self._add(_Known(part, stage, rows, own))


@dataclass(frozen=True)
class _Known:
    """What is known of rows of a part of a query at a stage; without columns all its rows are meant.

    ``is_sure`` is false where some may be rows of another branch of a set operator, and not of this part.
    """

    part: Input
    stage: Stage
    rows: int
    columns: list[pa.Array]
    is_sure: bool = True

    @property
    def values(self) -> list[list[Any] | None]:
        """For each column its different values, as ``_looked_up``."""
        return [*map(_looked_up, self.columns)]

    def once(self) -> _Known:
        """The same rows without duplicates."""
        columns = _different(self.columns)
        return replace(self, rows=len(columns[0]) if columns else self.rows, columns=columns)

    @property
    def stream(self) -> StreamInput | None:
        """The stream of which rows are asked for next, where a block reads one alone."""
        return only_stream(self.part, self.stage) if isinstance(self.part, Block) else None


@dataclass(frozen=True)
class _StreamRows:
    """Rows of a stream, with the batch that brought each."""

    stream: StreamInput
    batches: pa.Array
    values: list[pa.Array]

    def and_(self, other: _StreamRows | None) -> _StreamRows:
        """These rows and others: what one has of rows that are alike are all that are there."""
        if other is None or all(map(pa.Array.equals, self.values, other.values)):
            return self
        new = pa.array(matching_rows(self.values, other.values, (len(self.batches), len(other.batches))) < 0)
        added = (column.filter(new) for column in (self.batches, *self.values))
        both = [pa.concat_arrays(pair) for pair in zip((other.batches, *other.values), added, strict=True)]
        at = pa.array(np.argsort(both[0].to_numpy(), kind="stable"))
        batches, *values = (column.take(at) for column in both)
        return _StreamRows(self.stream, batches, values)

    def shown(self, timezone: str) -> pa.Table:
        """The rows as an analyst sees them."""
        names, types = zip(*self.stream.columns, strict=True)
        rows = pa.table([self.batches, *self.values], names=["batch", *map(display_name, names)])
        return as_shown_table(rows, [INTEGER, *types], timezone)


def _in_branch(known: _Known, branch: LogicalQuery) -> _Known | None:
    """Which of the known rows of a set operator a branch may have: where it writes NULL the others have no value."""
    own = replace(known, part=branch)
    if not known.columns or not isinstance(branch, Block):
        return own
    written = [
        pc.is_null(column) if output.expression.value is None else pc.is_valid(column)
        for column, output in zip(known.columns, branch.outputs, strict=False)
        if isinstance(output.expression, Constant)
    ]
    if not written:
        return own
    kept = reduce(pc.and_, written)
    columns = [column.filter(kept) for column in known.columns]
    return replace(own, rows=len(columns[0]), columns=columns) if len(columns[0]) else None


def _looked_up(column: pa.Array) -> list[Any] | None:
    """The different values of a column, as Python has them; ``None`` where they are too many to be looked for."""
    for rows in (column.slice(0, 10 * MOST_LOOKED_UP), column):  # the first ones are mostly too many already
        (different,) = _different([rows])
        if len(different) > MOST_LOOKED_UP:
            return None
    return as_python(different)


def _meant(found: pa.Table, step: StepBack, known: _Known) -> tuple[int, list[pa.Array]]:
    """Of the rows that a step finds how many are meant, and their columns that it asks for."""
    columns = [column.combine_chunks() for column in found.columns]
    kept = pa.array(_is_alike([columns[place] for place in step.compared], step, known, found.num_rows))
    return kept.true_count, [column.filter(kept) for column in columns[: step.width]]


def _is_alike(compared: Sequence[pa.Array], step: StepBack, known: _Known, rows: int) -> npt.NDArray[np.bool_]:
    """Which rows are alike a known one in all columns of one of the step's sets."""
    alike = np.zeros(rows, dtype=bool)
    for places in step.alike:
        own, of_known = ([columns[place] for place in places] for columns in (compared, known.columns))
        if all(map(pa.Array.equals, own, of_known)):  # where all rows are meant they are found in their order
            return np.ones(rows, dtype=bool)
        alike |= matching_rows(own, of_known, (rows, known.rows)) >= 0
    return alike


def _stream_rows(changes: pa.Table, step: StepBack, known: _Known) -> _StreamRows:
    """The stream's rows for a step, each repeated by its multiplicity."""
    ((stream, _, width),) = step.parts
    assert isinstance(stream, StreamInput)
    batches, weights, *columns = (column.combine_chunks() for column in changes.columns)
    kept = pa.array(_is_alike([columns[place] for place in step.compared], step, known, changes.num_rows))
    batches, weights, *values = (column.filter(kept) for column in (batches, weights, *columns[:width]))
    at = pa.array(_there(batches.to_numpy(), weights.to_numpy(), values))
    batches, *values = (column.take(at) for column in (batches, *values))
    return _StreamRows(stream, batches, values)


def _different(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """The columns of the distinct rows."""
    if not columns:
        return []
    order, starts = group_rows(columns, len(columns[0]))
    at = pa.array(np.sort(order[starts]))
    return [column.take(at) for column in columns]


def _there(batches: Positions, weights: Positions, values: Sequence[pa.Array]) -> Positions:
    """Of what came and went the rows that are there, by batch; of those that are alike the ones that came last."""
    if not len(batches):
        return np.empty(0, dtype=np.int64)
    at = np.repeat(np.arange(len(batches)), np.maximum(weights, 0))
    if (weights < 0).any():
        group = group_numbers(values, len(batches))
        left = np.bincount(group, weights=weights).astype(np.int64)
        at = at[np.argsort(-batches[at], kind="stable")]
        at = at[occurrences(group[at]) < left[group[at]]]
    return at[np.argsort(batches[at], kind="stable")]
