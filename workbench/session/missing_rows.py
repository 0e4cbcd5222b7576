"""Why a row is not in an answer: the conditions without which it would be, and the stored rows that come nearest.

Each condition of the query is left out by itself, all of these questions in one network; where no single one is enough,
what is needed is found by leaving out all and taking back one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa

from workbench.arrow.frames import frame_of
from workbench.engine.fetching import fetch_count, fetch_first, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.explain.cells import frame_text
from workbench.explain.relaxation import (
    Condition,
    conditions_of,
    node_testing,
    partners_kept,
    relaxed_query,
    rows_that_satisfy,
)
from workbench.explain.text import counted
from workbench.network.sql_text import or_pred_sql
from workbench.session.answer_reader import AnswerReader
from workbench.session.provenance import SHOWN, rows_behind
from workbench.session.state import QueryRecord, State
from workbench.sql.logical import Block, streams_of
from workbench.sql.predicates.cnf import PredSet, pred_set

_NEAREST = 5
"""Rows that are shown of what would be there without a condition."""
_EXPECTED = "expected"
"""The clause of conditions that are not the query's but the analyst's."""


@dataclass(frozen=True)
class Cause:
    """Conditions that keep rows out of an answer: without all of them rows would be there.

    Attributes:
        conditions: which; each of them is needed.
        nodes: for each the node of the network that tests it; empty where none does alone.
        total: how many rows would be there.
        rows: the first of these.
        tables: for each stream its rows that these are computed from, with the ``batch`` that brought them, as Arrow.
    """

    conditions: tuple[Condition, ...]
    nodes: tuple[str, ...]
    total: int
    rows: pd.DataFrame
    tables: Mapping[str, pa.Table]

    @property
    def streams(self) -> dict[str, pd.DataFrame]:
        """For each stream its rows, with the ``batch`` that brought them."""
        return {name: frame_of(rows) for name, rows in self.tables.items()}

    @property
    def title(self) -> str:
        """What would be there without which conditions, or that no stored row is as expected."""
        own = [str(condition) for condition in self.conditions if condition.clause != _EXPECTED]
        other = " and ".join(condition.text for condition in self.conditions if condition.clause == _EXPECTED)
        found = counted(self.total, "row")
        if not own:
            return f"no stored row gives {other}: {found} with other values"
        return f"without {' and '.join(own)}: {found}" + (f" with other values than {other}" if other else "")


@dataclass(frozen=True)
class MissingRows:
    """Why an answer has no rows that satisfy a condition.

    Attributes:
        query: the answer's query.
        expected: the condition, as SQL.
        there: how many rows satisfy it, so that nothing is missing where it is not 0.
        causes: each by itself is enough; what is nearest to the answer first. Empty where no stored row comes near.
        passed_over: conditions without which joins would look at too many pairs of rows, which were not counted.
        quarantined: for each stream of the query that lacks rows how many were quarantined, and how many as late ones:
            the expected rows may need them.
    """

    query: str
    expected: str
    there: int
    causes: tuple[Cause, ...]
    passed_over: tuple[tuple[Condition, ...], ...] = ()
    quarantined: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The expected rows, whether causes were found, what was not checked, and which streams lack rows."""
        lacking = [] if self.there else [_lacking(stream, *rows) for stream, rows in self.quarantined.items()]
        return "\n".join([self._headline, *lacking])

    @property
    def _headline(self) -> str:
        if self.there:
            has = f"{counted(self.there, 'row')} of {self.query} {'has' if self.there == 1 else 'have'} {self.expected}"
            return f"{has}: nothing is missing; %argus why {self.query} says what it is computed from"
        if self.passed_over:
            without = "; ".join(" and ".join(map(str, conditions)) for conditions in self.passed_over)
            many = "its joins would look at too many pairs of rows (pairs_compared_per_question)"
            return f"no row of {self.query} has {self.expected}; not looked at, since {many}: without {without}"
        if not self.causes:
            return f"no row of {self.query} has {self.expected}, and no stored row comes near"
        return f"no row of {self.query} has {self.expected}"

    def __str__(self) -> str:
        parts = [self.title]
        for cause in self.causes:
            parts += [cause.title, frame_text(cause.rows)]
            for stream, rows in cause.streams.items():
                parts.append(f"{counted(len(rows), 'row')} of {stream}\n{frame_text(rows.head(SHOWN))}")
        return "\n\n".join(parts)


def _lacking(stream: str, number: int, late: int) -> str:
    """The line that says that rows of a stream are quarantined.

    Example:
        >>> _lacking("Trips", 3, 1).partition(", which")[0]
        '3 rows of Trips are quarantined, 1 of them late, and in no answer'
    """
    which = f", {late:,} of them late," if late else ""
    are = "is" if number == 1 else "are"
    of_stream = f"{counted(number, 'row')} of {stream} {are} quarantined{which} and in no answer"
    return f"{of_stream}, which may be what is missing; %argus errors says where they are"


def missing_rows(reader: AnswerReader, query: QueryRecord, expected: PredSet, timezone: str) -> MissingRows:
    """Find out why an answer has no rows that satisfy predicates over its columns, by their stored names.

    Args:
        reader: of the session's answers.
        query: whose answer.
        expected: what its rows are to satisfy.
        timezone: in which instants are shown.

    Raises:
        QueryError: the query does not run.
        EngineError: Spark could not read or compute the rows.
    """
    text = " and ".join(map(or_pred_sql, expected)) or "no condition"
    with reader.reading([query]) as state, translate_errors(f"explain rows that {query.name} lacks"):
        search = _Search(reader, state, query, expected, timezone)
        there = search.counts([()])[0]
        causes = () if there else tuple(map(search.cause, search.smallest()))
        lacking = {
            stream.name: (stream.quarantined_rows, stream.late_rows)
            for stream in state.streams.values()
            if stream.quarantined_rows and stream.name.lower() in {s.lower() for s in streams_of(query.logical)}
        }
    return MissingRows(query.name, text, there, causes, tuple(search.passed_over), lacking)


class _Search:
    """Looks for the conditions without which expected rows would be there, in one state."""

    def __init__(
        self, reader: AnswerReader, state: State, query: QueryRecord, expected: PredSet, timezone: str
    ) -> None:
        self._reader, self._state, self._query, self._timezone = reader, state, query, timezone
        self._own = conditions_of(query.logical, state.view_names)
        self.passed_over: dict[tuple[Condition, ...], None] = {}
        """What ``counts`` did not look at."""
        self._expected = {Condition(_EXPECTED, or_pred_sql(p), (_EXPECTED, p.identity)): p for p in expected}

    def counts(self, left_out: Sequence[tuple[Condition, ...]]) -> list[int]:
        """The numbers of expected rows without each of some sets of conditions; 0 for sets that are skipped."""
        most = self._reader.jobs.limits.pairs_compared_per_question
        with self._reader.asking(self._state) as answering:
            asked = {conditions: self._without(conditions) for conditions in left_out}
            large = {conditions for conditions in asked if conditions and answering.pairs_of(asked[conditions]) > most}
            self.passed_over |= {conditions: None for conditions in left_out if conditions in large}
            looked_at = [conditions for conditions in asked if conditions not in large]
            answers = answering.answers([asked[conditions] for conditions in looked_at])
            found = dict(zip(looked_at, map(fetch_count, answers), strict=True))
        return [found.get(conditions, 0) for conditions in left_out]

    def smallest(self) -> list[tuple[Condition, ...]]:
        """Sets of conditions of which none can be kept: of one condition of the query all, else one of several."""
        single: list[tuple[Condition, ...]] = [(condition,) for condition in self._own]
        enough = [one for one, found in zip(single, self.counts(single), strict=True) if found]
        if enough:
            return enough
        together = partners_kept(self._own)
        widest = [*together, *((*own, *self._expected) for own in together)]
        needed = next((own for own, found in zip(widest, self.counts(widest), strict=True) if found), ())
        # What the analyst expects is kept if it can be, then what is applied first.
        for condition in reversed(needed):
            rest = tuple(other for other in needed if other is not condition)
            if self.counts([rest])[0]:
                needed = rest
        return [needed] if needed else []

    def cause(self, conditions: tuple[Condition, ...]) -> Cause:
        """What would be there without some conditions, and the stored rows behind it."""
        asked = self._without(conditions)
        with self._reader.computed([asked], self._state) as (answers,):
            total, rows = fetch_count(answers), fetch_first(answers, 0, _NEAREST)
            shown = frame_of(to_shown_table(rows, answers.plan, self._timezone))
        columns = [column.combine_chunks() for column in rows.columns]
        tables = rows_behind(self._reader, self._state, asked, columns, self._timezone)
        nodes = tuple(node_testing(condition, self._state.network, self._query.name) for condition in conditions)
        return Cause(conditions, nodes, total, shown, tables)

    def _without(self, conditions: Collection[Condition]) -> Block:
        kept = pred_set(p for condition, p in self._expected.items() if condition not in conditions)
        return rows_that_satisfy(relaxed_query(self._query.logical, conditions), kept)
