"""The answers of several queries in one chart: each answer is a series, or each of its series is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.errors import MagicError
from workbench.explain.cells import column_texts
from workbench.explain.text import listed
from workbench.notebook.chart import ChartColumns
from workbench.notebook.chart_series import total_columns
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.types import Kind

if TYPE_CHECKING:
    from workbench.session.query import Query

_ALONG = {Kind.DATE: "times", Kind.TIMESTAMP: "times"} | dict.fromkeys(
    (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE), "numbers"
)


@dataclass(frozen=True)
class DrawnRows:
    """The rows and columns that a chart draws.

    Attributes:
        name: of the query.
        rows: those that are drawn.
        columns: which columns of them, and how.
        total: how many rows the answer has.
    """

    name: str
    rows: pd.DataFrame
    columns: ChartColumns
    total: int


def drawn_rows(query: Query, asked: Mapping[str, str], limit: int | None = None, **refined: Any) -> DrawnRows:
    """The rows of an answer that a chart draws; of many over time the newest.

    Args:
        query: whose answer.
        asked: what ``ChartColumns.of`` takes.
        limit: how many rows; ``None``: as many as suit.
        refined: which rows, as ``Query.head`` takes it.

    Raises:
        MagicError: the answer has no such columns.
    """
    try:
        columns = ChartColumns.of(query.columns, asked, total_columns(query.logical))
    except MagicError as error:
        raise MagicError(f"{query.name}: {error.message}", hint=error.hint) from error
    total = query.count(**{name: refined[name] for name in refined.keys() - {"sort", "descending"}})
    most = columns.most if limit is None else limit
    if columns.over_time and total > most and refined.get("sort") is None:
        refined |= {"sort": columns.x, "descending": True}
        columns = replace(columns, latest=True)
    return DrawnRows(query.name, query.head(most, **refined), columns, total)


def drawn_columns(
    query: Query, asked: Sequence[Mapping[str, str]], limit: int | None = None, **refined: Any
) -> DrawnRows:
    """Several columns of numbers of an answer, each a series.

    Args:
        query: whose answer.
        asked: for each what ``drawn_rows`` takes.
        limit, refined: as there.

    Raises:
        MagicError: the answer has no such columns.
    """
    drawn = [drawn_rows(query, parts, limit, **refined) for parts in asked]
    if len(drawn) == 1:
        return drawn[0]
    series = [replace(one, name=one.columns.y, columns=replace(one.columns, by_itself=False)) for one in drawn]
    made = joint(series, "column")
    return DrawnRows(query.name, made.rows, replace(made.columns, of_each=len(drawn)), drawn[0].total)


def joint(drawn: Sequence[DrawnRows], called: str = "query") -> DrawnRows:
    """Combine the rows of several answers; a column names the series of each row.

    Args:
        drawn: the rows of each.
        called: the name of that column.

    Raises:
        MagicError: one has names where another has times or numbers.

    Example:
        >>> columns = ChartColumns("day", "n", x_kind=Kind.INTEGER)
        >>> a = DrawnRows("a", pd.DataFrame({"day": [1], "n": [5]}), columns, 1)
        >>> both = joint([a, DrawnRows("b", pd.DataFrame({"day": [2], "n": [6]}), columns, 9)])
        >>> both.rows.to_dict("list"), both.total
        ({'day': [1, 2], 'n': [5, 6], 'query': ['a', 'b']}, 10)
    """
    kinds = [one.columns.x_kind if one.columns.x is not None else Kind.INTEGER for one in drawn]
    along = [_ALONG.get(kind, "names") for kind in kinds if kind is not None]
    if len({*along}) > 1:
        said = listed([f"{one.name} has {what}" for one, what in zip(drawn, along, strict=True)])
        raise MagicError(f"one chart has one kind of values along it: {said}", hint="x= names the column to draw along")
    x, y, by = unique_names(
        [_names([one.columns.x or "row" for one in drawn]), _names([one.columns.y for one in drawn]), called]
    )
    rows = pd.DataFrame(
        {
            x: [value for one in drawn for value in _along(one)],
            y: [value for one in drawn for value in one.rows[one.columns.y]],
            by: [series for one in drawn for series in _series(one)],
        },
        dtype=object,
    )
    kind = Kind.TIMESTAMP if Kind.TIMESTAMP in kinds else kinds[0]
    cut = [one for one in drawn if len(one.rows) < one.total]
    latest = len(cut) > 0 and all(one.columns.latest for one in cut)
    columns = replace(drawn[0].columns, x=x, y=y, by=by, x_kind=kind, by_itself=False, latest=latest)
    return DrawnRows(listed([one.name for one in drawn]), rows, columns, sum(one.total for one in drawn))


def _names(names: Sequence[str]) -> str:
    return " / ".join(dict.fromkeys(names))


def _along(one: DrawnRows) -> list[Any]:
    return [*one.rows[one.columns.x]] if one.columns.x is not None else [*range(1, len(one.rows) + 1)]


def _series(one: DrawnRows) -> list[str]:
    """The name of a row's series: the query's, with the value of the column that was asked for."""
    if one.columns.by is None or one.columns.by_itself:
        return [one.name] * len(one.rows)
    return [f"{one.name}, {text}" for text in column_texts(list(one.rows[one.columns.by]))]
