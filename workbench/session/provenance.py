"""Why a row is in an answer: the rows of the streams that it is computed from, with the batch that brought each.

The questions of ``sql/provenance`` are answered one after the other from the rows that are stored, in a network of
their own, all as of one commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrow.frames import as_shown_table, frame_of
from workbench.arrow.stored_values import as_python
from workbench.engine.answers import Refinement
from workbench.engine.fetching import fetch_changes, fetch_count, fetch_first, fetch_results, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.engine.storage.grouping import Positions, group_rows, not_distinct
from workbench.explain.text import counted
from workbench.session.answer_reader import AnswerReader
from workbench.session.state import QueryRecord, State
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.types import INTEGER
from workbench.sql.logical import Block, Input, Ordered, SetQuery, StreamInput
from workbench.sql.provenance import StepBack, searched_branches, to_groups, to_inputs, to_stream

EXPLAINED, SHOWN = 100, 20
"""Rows of an answer that are explained at a time, and rows of a stream that are shown of what explains them."""


@dataclass(frozen=True)
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

    def __str__(self) -> str:
        parts = [self.title]
        for stream, rows in self.streams.items():
            first = f", the first {SHOWN}" if len(rows) > SHOWN else ""
            parts.append(f"{counted(len(rows), 'row')} of {stream}{first}\n{rows.head(SHOWN).to_string(index=False)}")
        return "\n\n".join(parts)

    @property
    def title(self) -> str:
        """How many rows are explained, and by how many."""
        of = f"{len(self.rows):,} of {self.total:,} rows" if len(self.rows) < self.total else counted(self.total, "row")
        by = " and ".join(f"{counted(rows.num_rows, 'row')} of {name}" for name, rows in self.tables.items())
        return f"{of} of {self.query} {'is' if self.total == 1 else 'are'} computed from {by or 'no row'}"


def provenance(
    reader: AnswerReader, query: QueryRecord, refinement: Refinement, timezone: str, limit: int = EXPLAINED
) -> Provenance:
    """Find the rows that rows of an answer are computed from.

    Of MIN and MAX alone these are the rows that have the value, of other aggregates the whole group, of functions with
    OVER the whole partition.

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
        search = _Search(reader, state, query)
        search.back(query.logical, [column.combine_chunks() for column in rows.columns])
        tables = {name: search.stream_rows(item, known, timezone) for name, (item, known) in search.found.items()}
    return Provenance(query.name, shown, total, tables)


class _Search:
    """The steps back from rows to the streams, in one state."""

    def __init__(self, reader: AnswerReader, state: State, query: QueryRecord) -> None:
        self._reader, self._state, self._query = reader, state, query
        self.found: dict[str, tuple[StreamInput, list[pa.Array]]] = {}

    def back(self, part: Input, known: list[pa.Array]) -> None:
        """Follow the rows of a part of the query, of which the first columns are known, to the streams."""
        if not known or not len(known[0]):
            return
        match part:
            case StreamInput():
                _, before = self.found.get(part.stream, (part, [column.slice(0, 0) for column in known]))
                both = [pa.concat_arrays(columns) for columns in zip(before, known, strict=True)]
                self.found[part.stream] = part, _different(both)
            case Ordered(query=inner):
                self.back(inner, known)
            case SetQuery():
                for branch in searched_branches(part):
                    self.back(branch, known)
            case Block():
                grouped = to_groups(part, list(map(as_python, known)))
                if grouped is not None:
                    known = self._asked(grouped, known)
                step = to_inputs(part, list(map(as_python, known)))
                columns = self._asked(step, known)
                for item, width in step.inputs:
                    own, columns = columns[:width], columns[width:]
                    self.back(item, _different(own))

    def stream_rows(self, stream: StreamInput, known: list[pa.Array], timezone: str) -> pa.Table:
        """The rows of a stream that are alike known ones, each as often as it is there, with the batch of each."""
        step = to_stream(stream, list(map(as_python, known)))
        with self._reader.computed(self._query, step.query, self._state) as answers:
            changes = fetch_changes(answers, None)
        columns = [column.combine_chunks() for column in changes.columns]
        kept = pa.array(_matches(columns[2 + step.alike :], known) >= 0)
        batches, weights, *values = (column.filter(kept) for column in columns[: 2 + step.alike])
        at = pa.array(_there(batches.to_numpy(), weights.to_numpy(), values))
        names = ["batch", *(display_name(name) for name, _ in stream.columns)]
        rows = pa.Table.from_arrays([column.take(at) for column in (batches, *values)], names=names)
        return as_shown_table(rows, [INTEGER, *(type_ for _, type_ in stream.columns)], timezone)

    def _asked(self, step: StepBack, known: list[pa.Array]) -> list[pa.Array]:
        """The columns that a step asks for, of the rows that are meant, each row once."""
        with self._reader.computed(self._query, step.query, self._state) as answers:
            columns = [column.combine_chunks() for column in fetch_results([answers])[0].columns]
        wanted = len(columns) - step.alike - step.deciding
        compared = columns[wanted : wanted + step.alike]
        at = _matches(compared, known[: step.alike]) if compared else np.zeros(len(columns[0]), dtype=np.int64)
        kept = at >= 0
        if step.deciding:
            decides = np.zeros(len(at), dtype=bool)
            own = columns[wanted + step.alike :]
            for value, of_group in zip(own, known[step.alike :], strict=True):
                decides |= not_distinct(value, of_group.take(pa.array(np.maximum(at, 0))))
            kept &= decides
        return _different([column.filter(pa.array(kept)) for column in columns[:wanted]])


def _matches(columns: Sequence[pa.Array], known: Sequence[pa.Array]) -> Positions:
    """For each row the known one that it is alike, or -1."""
    wanted = len(known[0])
    group = _groups([_together(k, c) for c, k in zip(columns, known, strict=True)])
    of_group = np.full(len(group) + 1, -1, dtype=np.int64)
    of_group[group[:wanted]] = np.arange(wanted)
    return of_group[group[wanted:]]


def _together(known: pa.Array, column: pa.Array) -> pa.Array:
    """Known values and those of a column, which may be a branch of a set operator with a narrower type."""
    try:
        return pa.concat_arrays([known.cast(column.type), column])
    except pa.ArrowInvalid:
        return pa.concat_arrays([known, column.cast(known.type)])


def _groups(columns: Sequence[pa.Array]) -> Positions:
    """For each row the number of the rows that are alike."""
    order, starts = group_rows(columns, len(columns[0]))
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return group


def _different(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Each row once."""
    if not columns or not len(columns[0]):
        return list(columns)
    order, starts = group_rows(columns, len(columns[0]))
    at = pa.array(np.sort(order[starts]))
    return [column.take(at) for column in columns]


def _there(batches: Positions, weights: Positions, values: Sequence[pa.Array]) -> Positions:
    """Of what came and went the rows that are there, by batch; of those that are alike the ones that came last."""
    if not len(batches):
        return np.empty(0, dtype=np.int64)
    at = np.repeat(np.arange(len(batches)), np.maximum(weights, 0))
    if (weights < 0).any():
        group = _groups(values)
        left = np.bincount(group, weights=weights, minlength=group.max() + 1).astype(np.int64)
        at = at[np.lexsort((-batches[at], group[at]))]
        first = np.flatnonzero(np.append(True, np.diff(group[at]) != 0))
        place = np.arange(len(at)) - np.repeat(first, np.diff(np.append(first, len(at))))
        at = at[place < left[group[at]]]
    return at[np.argsort(batches[at], kind="stable")]
