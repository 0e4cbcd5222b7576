"""A benchmark of sharing: queries over any table that overlap as much as is asked for.

The thesis draws the constants of its query sets evenly, from a normal distribution and from a mixture of two, or takes
them from a grid (T10.1.3); how much queries can share follows from how close their constants are (T10.4.2). Here the
distribution is one of these four, and a knob moves all constants towards the middle: at 0 they are spread as drawn, at
1 all queries of a form are the same. A form is a selection, an aggregate of one, or a join of the table with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import WorkbenchError
from workbench.experiments.query_sets import GeneratedQuery

_NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
GRID = 4
"""Values of a constant in a grid."""

Spread = Callable[[Random, int], float]
"""A part of a range, from 0 to 1, for a query of a number."""

SPREADS: Mapping[str, Spread] = {
    "manual": lambda random, number: (number % GRID + 0.5) / GRID,
    "uniform": lambda random, number: random.random(),
    "normal": lambda random, number: random.gauss(0.5, 0.1),
    "mixture": lambda random, number: random.gauss(random.choice((0.2, 0.8)), 0.1),
}
"""The distributions of T10.1.3."""


@dataclass(frozen=True)
class TableRoles:
    """What the columns of a table are good for.

    Attributes:
        numbers: columns whose constants are drawn, each with sorted values of a sample.
        groups: columns of few values.
        keys: columns of many values, which joins meet in; a column of unique values is none.
    """

    numbers: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
    groups: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, table: pa.Table, sample: int = 10_000) -> TableRoles:
        """The roles by the first rows.

        Raises:
            WorkbenchError: no column has numbers, so there is nothing to draw.
        """
        rows = table.slice(0, sample)
        numbers, groups, keys = {}, [], []
        for name in rows.column_names:
            column = rows.column(name)
            values = pc.count_distinct(column).as_py()
            if 1 < values <= 100:
                groups.append(name)
            elif values < 0.9 * len(column):
                keys.append(name)
            if any(is_kind(column.type) for is_kind in _NUMERIC):
                numbers[name] = np.sort(column.cast(pa.float64()).drop_null().to_numpy())
        if not numbers:
            raise WorkbenchError("no column of the table has numbers", hint="the constants of queries are drawn of one")
        return cls(numbers, tuple(groups), tuple(keys))


def sharable(
    table: pa.Table, name: str, queries: int, spread: str = "uniform", sharability: float = 0.5, seed: int = 0
) -> tuple[GeneratedQuery, ...]:
    """Queries over a table, in SQL that DuckDB and Spark read alike.

    Args:
        table: a sample of the rows, from which constants are taken.
        name: of the table.
        queries: how many.
        spread: one of ``SPREADS``.
        sharability: from 0, constants as drawn, to 1, equal constants.
        seed: of the draws.

    Raises:
        WorkbenchError: there is no such spread, the knob is out of its range, or no column has numbers.

    Example:
        >>> rows = pa.table({"k": [n % 7 for n in range(500)], "v": range(500)})
        >>> len({query.sql for query in sharable(rows, "t", 30, sharability=0.0)}) > 10
        True
        >>> len({query.sql for query in sharable(rows, "t", 30, sharability=1.0)})
        2
    """
    if spread not in SPREADS or not 0 <= sharability <= 1:
        raise WorkbenchError(
            f"no queries of spread {spread!r} and sharability {sharability}",
            hint=f"spreads are {', '.join(SPREADS)}; sharability is from 0 to 1",
        )
    roles, random = TableRoles.of(table), Random(f"{spread}:{seed}")
    forms = ["selection", *(["aggregate"] if roles.groups else []), *(["join"] if roles.keys else [])]
    columns = list(roles.numbers)
    made = []
    for number in range(queries):
        form = forms[number % len(forms)]
        column = columns[number // len(forms) % min(len(columns), 2)] if sharability < 1 else columns[0]
        drawn = min(max(SPREADS[spread](random, number // len(forms)), 0.0), 1.0)
        at = 0.5 + (drawn - 0.5) * (1 - sharability)
        values = roles.numbers[column]
        limit = f"{values[min(int((0.7 + 0.3 * at) * len(values)), len(values) - 1)]:.6g}"
        sql = _text(form, name, column, limit, roles)
        made.append(GeneratedQuery(f"{form}_{number:04}", sql, sql, form, {"limit": limit, "column": column}, "spark"))
    return tuple(made)


def _text(form: str, name: str, column: str, limit: str, roles: TableRoles) -> str:
    if form == "selection":
        return f"SELECT * FROM {name} WHERE {column} > {limit}"
    if form == "aggregate":
        group = roles.groups[0]
        return f"SELECT {group}, COUNT(*) AS n FROM {name} WHERE {column} > {limit} GROUP BY {group}"
    key = roles.keys[0]
    return (
        f"SELECT a.{column} AS left_value, b.{column} AS right_value FROM {name} a, {name} b"
        f" WHERE a.{key} = b.{key} AND a.{column} > {limit} AND b.{column} > {limit}"
    )
