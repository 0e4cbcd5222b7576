"""A query whose text is edited: what that would change, and how all that reads it goes over to the new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import pandas as pd

from workbench.arrow.frames import frame_of
from workbench.engine.fetching import fetch_difference, fetch_results, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.errors import QueryError, WorkbenchError
from workbench.explain.cells import frame_text
from workbench.explain.describe import NetworkView
from workbench.explain.text import counted, listed
from workbench.session import transitions
from workbench.session.adding_column import means_same, schema_before
from workbench.session.answer_reader import AnswerReader
from workbench.session.readers_anew import as_registered
from workbench.session.state import ACTIVE, QueryRecord, State
from workbench.session.transitions import BoundText, Runtime
from workbench.sql.algebra.types import DataType
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery, identifying_columns, output_columns

DIFFERING_ROWS = 5
"""Rows that are shown of those that an edited query would add, remove or change."""


@dataclass(frozen=True)
class AnswerDifference:
    """How two answers over the same rows differ.

    Attributes:
        rows: how many rows the answers have.
        added, removed, changed: how many rows one has and the other has not; changed are those of the same groups.
        first: the first of each, with ``weight``: 1 of the new answer, -1 of the old one.
        columns: how their columns differ, where rows cannot be compared; "" where they can.
    """

    rows: tuple[int, int]
    added: int = 0
    removed: int = 0
    changed: int = 0
    first: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: str = ""

    def __str__(self) -> str:
        before, after = (f"{number:,}" for number in self.rows)
        if self.columns:
            return f"the answer has other columns: {self.columns}; {before} rows before, {after} now"
        if not (self.added or self.removed or self.changed):
            return f"the answer is the same over the stored rows: {counted(self.rows[0], 'row')}"
        counts = f"{self.added:,} added, {self.removed:,} removed, {self.changed:,} changed"
        return f"over the stored rows: {counts}; {before} rows before (weight -1), {after} now (1)"


@dataclass(frozen=True)
class Replacement:
    """The effects of replacing a query by another one.

    Attributes:
        query: the name.
        reused, hydrated, dropped: nodes that stay, that are computed, and that go, in words.
        followers: the queries that read it, alerts among them, and would read the new one.
        answers: how the answers differ.
    """

    query: str
    reused: tuple[str, ...]
    hydrated: tuple[str, ...]
    dropped: tuple[str, ...]
    followers: tuple[str, ...]
    answers: AnswerDifference

    def __str__(self) -> str:
        parts = (("reused", self.reused), ("hydrated", self.hydrated), ("dropped", self.dropped))
        nodes = [f"{what}: {'; '.join(names) or 'none'}" for what, names in parts]
        readers = [f"goes over with it: {listed(self.followers, 20)}"] if self.followers else []
        rows = [] if self.answers.first.empty else [frame_text(self.answers.first)]
        return "\n".join([*nodes, *readers, str(self.answers), *rows])


def followers(state: State, changed: Mapping[str, LogicalQuery]) -> dict[str, BoundText]:
    """The queries that read some names, also through each other, bound to what these mean then.

    Args:
        state: with what they mean now.
        changed: what they will mean.

    Raises:
        QueryError: a query cannot read the new one.
    """
    after, found = state.with_views(changed), dict[str, BoundText]()
    names = {name.lower() for name in changed}
    for name, query in state.queries.items():
        if name.lower() in names or query.status != ACTIVE or not any(word in query.sql.lower() for word in names):
            continue
        if not means_same(query, state):
            continue  # it keeps the meaning that a view had when it was registered
        try:
            bound = bind(query.sql, query.dialect, schema_before(after, query))
        except WorkbenchError as problem:
            hint = f"register the new one under another name, and change {name} first"
            raise QueryError(f"query {name}, which reads it, cannot then: {problem.message}", hint=hint) from problem
        views = bound.named(name)
        if repr(views[name]) != repr(query.logical):
            found[name] = BoundText(query.sql, query.dialect, bound, query.results)
            after = after.with_views(views)
            names.add(name.lower())
    return found


def replace_query(runtime: Runtime, state: State, old: QueryRecord, text: BoundText, force: bool) -> State:
    """Replace the text of a query; everything that reads it, also handles and sinks, continues with the new one."""
    texts = {old.name: text, **followers(state, text.bound.named(old.name))}
    after = transitions.register(runtime, state, texts, force)
    queries = {name: as_registered(runtime, after, query) for name, query in state.queries.items()}
    return replace(after, queries=queries, line=state.line + 1)


def compare_answers(
    reader: AnswerReader, old: QueryRecord, new: LogicalQuery, networks: tuple[NetworkView, NetworkView]
) -> Replacement:
    """The effects of replacing a query by another one.

    Args:
        reader: of the session's answers.
        old: the query that there is.
        new: what would take its place.
        networks: those before and after.

    Raises:
        QueryError: the query does not run, or a reader of it cannot read the new one.
        EngineError: an answer could not be computed.
    """
    with reader.reading([old]) as state, translate_errors(f"compare answers of {old.name}"):
        moved = followers(state, {old.name: new})
        answers = _difference(reader, state, old, new)
    before, after = ({node.id: node.sql for node in network.nodes if node.kind != "source"} for network in networks)
    own = {node: text for node, text in after.items() if node in networks[1].ancestors(old.name)}
    reused = tuple(text for node, text in own.items() if node in before)
    hydrated = tuple(text for node, text in after.items() if node not in before)
    dropped = tuple(text for node, text in before.items() if node not in after)
    return Replacement(old.name, reused, hydrated, dropped, tuple(moved), answers)


def _other_columns(before: Sequence[tuple[str, DataType]], after: Sequence[tuple[str, DataType]]) -> str:
    """How the columns of two answers differ, in words."""
    was, now = dict(before), dict(after)
    new = [f"{name} {type_} is new" for name, type_ in now.items() if name not in was]
    gone = [f"{name} {type_} goes" for name, type_ in was.items() if name not in now]
    typed = [f"{name} is {type_} and was {was[name]}" for name, type_ in now.items() if was.get(name, type_) != type_]
    return ", ".join([*new, *gone, *typed]) or "they stand in another order"


def _difference(reader: AnswerReader, state: State, old: QueryRecord, new: LogicalQuery) -> AnswerDifference:
    with ExitStack() as stack:
        before = stack.enter_context(reader.answers_in(state, old))
        (after,) = stack.enter_context(reader.computed([new], state))
        tables = [fetch_results([answers])[0] for answers in (before, after)]
        rows = tables[0].num_rows, tables[1].num_rows
        shapes = [output_columns(query) for query in (old.logical, new)]
        if shapes[0] != shapes[1]:
            return AnswerDifference(rows, columns=_other_columns(*shapes))
        found = fetch_difference(*tables)
        shown = frame_of(to_shown_table(found, after.plan, old.timezone, ("weight",)))
    groups = identifying_columns(new) if identifying_columns(old.logical) == identifying_columns(new) else None
    keys = [shown.columns[place + 1] for place in groups or ()]
    changed = shown.duplicated(keys, keep=False) if keys else pd.Series(False, shown.index)
    kinds = (shown[~changed & (shown.weight > 0)], shown[~changed & (shown.weight < 0)])
    pairs = shown[changed].sort_values([*keys, "weight"], kind="stable")
    first = pd.concat([*(kind.head(DIFFERING_ROWS) for kind in kinds), pairs.head(2 * DIFFERING_ROWS)])
    added, removed = (int(kind.weight.abs().sum()) for kind in kinds)
    return AnswerDifference(rows, added, removed, len(pairs) // 2, first)
