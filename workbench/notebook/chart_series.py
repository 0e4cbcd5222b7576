"""What of an answer a chart draws first: counts and sums before other numbers, and the series with the largest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbench.explain.cells import column_texts
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.expressions import Call, Column, Expression, column_name
from workbench.sql.logical import Block, Grouping, LogicalQuery, Ordered

SERIES = 10
"""Series that are drawn, each with a colour of its own."""


def largest_series(names: pd.Series, values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.bool_], int]:
    """Which rows are of a series that is drawn, and how many series there are.

    Args:
        names: the series of each row.
        values: the number of each row, NaN where there is none.

    Example:
        >>> names, values = pd.Series([*"abcdefghijkl"]), np.arange(12.0)
        >>> kept, count = largest_series(names, values)
        >>> "".join(names[kept]), count
        ('cdefghijkl', 12)
    """
    texts = pd.Series(column_texts(list(names)), dtype=object)
    largest = pd.Series(values).groupby(texts, sort=False).max()
    kept = largest.sort_values(ascending=False, kind="stable", na_position="last").index[:SERIES]
    return texts.isin(kept).to_numpy(dtype=bool), len(largest)


def total_columns(query: LogicalQuery | None) -> tuple[str, ...]:
    """The columns of an answer that are counts and sums of groups, which say how much there is, and may be stacked.

    Args:
        query: whose answer; ``None``: nothing is known of it.
    """
    match query:
        case Ordered(query=inner):
            return total_columns(inner)
        case Block(grouping=Grouping(statistics=statistics), outputs=outputs):
            totals = {column_name(one) for one in statistics if one.function in ("count", "sum") and not one.distinct}
            names = unique_names([output.name for output in outputs])
            is_total = [_without_casts(output.expression) in totals for output in outputs]
            return tuple(name for name, total in zip(names, is_total, strict=True) if total)
    return ()


def _without_casts(expression: Expression) -> str | None:
    while isinstance(expression, Call) and expression.function == "cast":
        expression = expression.arguments[0]
    return expression.name if isinstance(expression, Column) else None
