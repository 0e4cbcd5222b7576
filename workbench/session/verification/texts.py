"""The texts that an answer follows from: the query's, and those of the views and queries that it names."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from workbench.errors import UnsupportedError, WorkbenchError
from workbench.session.state import QueryRecord, State
from workbench.session.verification.report import NotVerifiable
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery, streams_of
from workbench.sql.spark_text import SparkText, spark_text
from workbench.sql.windows.stream_time import as_number


@dataclass(frozen=True)
class Texts:
    """The text of a query, and before it the texts of the views and queries that it names."""

    own: SparkText
    before: tuple[tuple[str, SparkText], ...]

    @property
    def words(self) -> frozenset[str]:
        """The names in all of them."""
        return self.own.words.union(*(text.words for _, text in self.before))

    @property
    def stars(self) -> bool:
        """Whether one has a ``*``."""
        return self.own.stars or any(text.stars for _, text in self.before)

    @property
    def left_open(self) -> tuple[str, ...]:
        """What SQL leaves open of one of them."""
        return tuple(
            dict.fromkeys(open_ for text in (*(t for _, t in self.before), self.own) for open_ in text.left_open)
        )


def own_texts(state: State, query: QueryRecord) -> Texts:
    """The texts that a query's answer follows from.

    Raises:
        NotVerifiable: Spark SQL has nothing for a part of one, or it does not mean any more what it did.
    """
    texts: dict[str, SparkText] = {}
    try:
        own = _read_text(state, query, texts, (query.name.lower(),))
    except UnsupportedError as problem:
        raise NotVerifiable(problem.message) from None
    return Texts(own, tuple(texts.items()))


def _read_text(state: State, query: QueryRecord, texts: dict[str, SparkText], inside: tuple[str, ...]) -> SparkText:
    """The text of a query for Spark; those of the views that it names are added to ``texts``."""
    try:
        bound = bind(query.sql, query.dialect, replace(state.schema, timezone=query.timezone))
    except WorkbenchError as problem:
        raise NotVerifiable(f"its text no longer means what it was registered with: {problem.message}") from None
    means = bound.query if bound.query is not None else bound.views[-1][1]
    if means != query.logical:
        raise NotVerifiable("a query, stream or function that its text names was replaced since it was registered")
    text = spark_text(query.sql, query.dialect, bound, lambda logical: _now(state, logical))
    if added := sorted(text.words & state.aggregates.keys()):
        raise NotVerifiable(f"Spark has no aggregate {added[0]}, which was added")
    own = {statement.view.lower() for statement in text.statements if statement.view}
    views = {name.lower(): name for name in state.views}
    for name in sorted(frozenset().union(*(s.tables for s in text.statements)) & views.keys() - own):
        if name not in texts and name not in inside:
            record = _query_of_view(state, name)
            texts[name] = _read_text(state, record, texts, (*inside, name))
    return text


def _query_of_view(state: State, view: str) -> QueryRecord:
    """The query of which a text makes a view."""
    if names := state.same_names([view]):
        return state.queries[names[0]]
    raise NotVerifiable(f"the text of the view {view} is part of another query's")


def _now(state: State, query: LogicalQuery) -> str | None:
    """What now is for a query, as a literal of Spark."""
    clock = state.engine.clock
    times = [clock.now.get(name.lower()) for name in streams_of(query) if name.lower() in clock.times]
    match max((time for time in times if time is not None), key=lambda time: as_number(time) or 0, default=None):
        case None:
            return None
        case dt.datetime() as time:
            return f"TIMESTAMP_NTZ'{time}'"
        case dt.date() as day:
            return f"DATE'{day}'"
        case number:
            return str(number)
