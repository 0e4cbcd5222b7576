"""What the analyst asks the results view to show."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.notebook.display import as_of
from workbench.notebook.panel.grouped_answer import AnswerGroups
from workbench.session.held_answer import AnswerOrder
from workbench.session.query import Query

ANSWER, CHART, GROUPS, COLUMNS, CHANGES = "whole answer", "chart", "groups", "columns", "new in the last batch"


@dataclass(frozen=True)
class ResultsRequest:
    """A request for rows of an answer.

    Attributes:
        query: of which query; another one of its name is not equal.
        what: one of ``ANSWER``, ``CHART``, ``GROUPS``, ``COLUMNS`` and ``CHANGES``.
        start, rows: how many rows come before those that are wanted, and how many these are.
        batch: the last one that was run.
        sort, descending: the column to sort by; empty: the query's own order.
        where: a condition on the rows; empty: all.
        since: the batch up to which the query was looked at before; rows that came later are marked.
        past: the batch after which the answer is to be seen; ``None``: the last one.
        drawn: what a chart draws, as ``ChartColumns.of`` takes it.
        others: the names of further queries that the chart draws.
        groups: how the answer is grouped.
    """

    query: Query
    what: str
    start: int
    rows: int
    batch: int
    sort: str
    descending: bool
    where: str
    since: int
    past: int | None
    drawn: tuple[tuple[str, str], ...]
    others: tuple[str, ...]
    groups: AnswerGroups | None

    @property
    def when(self) -> str:
        """After which batch the answer is."""
        return as_of(self.query, self.batch) if self.past is None else f"as it was after batch {self.past}"

    @property
    def title(self) -> str:
        """The title of the shown rows."""
        return f"{self.query.name}, {self.what} {self.when}" + (f", where {self.where}" if self.where else "")

    @property
    def order(self) -> AnswerOrder | None:
        """The order that is asked for; ``None`` where the answer has no such column."""
        names = [name for name, _ in self.query.columns]
        return (names.index(self.sort), self.descending) if self.sort in names else None
