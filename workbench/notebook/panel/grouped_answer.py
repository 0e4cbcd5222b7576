"""Shows an answer in groups, or as a pivot table, and makes a query of that view that can be registered."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
from sqlglot import exp

from workbench.arrow.frames import frame_of
from workbench.errors import MagicError

GROUP_FUNCTIONS = {"COUNT": "count", "SUM": "sum", "AVG": "mean", "MIN": "min", "MAX": "max"}
MOST_ACROSS = 50
"""Columns of a pivot table."""


@dataclass(frozen=True)
class AnswerGroups:
    """How an answer is grouped.

    Attributes:
        by: the column of the groups.
        across: the column whose values become columns; empty: none.
        function: one of ``GROUP_FUNCTIONS``.
        of: the column that is aggregated; empty: rows are counted.
    """

    by: str
    across: str = ""
    function: str = "COUNT"
    of: str = ""

    def sql(self, query: str, dialect: str) -> str:
        """The query over another one that has these groups; a pivot's columns are its second group.

        Example:
            >>> AnswerGroups("bank", function="SUM", of="amount").sql("big", "spark")
            'SELECT bank, SUM(amount) AS sum_amount FROM big GROUP BY bank'
        """
        groups = [sql_column(name) for name in dict.fromkeys([self.by, self.across]) if name]
        value = sql_column(self.of) if self.of else exp.Star()
        name = f"{self.function.lower()}_{self.of or 'rows'}"
        aggregate = exp.func(self.function, value, dialect=dialect).as_(name)
        return exp.select(*groups, aggregate).from_(exp.to_identifier(query)).group_by(*groups).sql(dialect=dialect)


def sql_column(name: str) -> exp.Column:
    """A column by its name, in quotes where it needs them."""
    return exp.column(exp.to_identifier(name))


def grouped(rows: pa.Table, groups: AnswerGroups) -> pd.DataFrame:
    """An answer in groups.

    Args:
        rows: as answers show them.
        groups: by what, and what of them.

    Raises:
        MagicError: the column cannot be aggregated so, or a pivot table has too many columns.

    Example:
        >>> rows = pa.table({"bank": ["x", "x", "y"], "n": [1, 2, 5]})
        >>> grouped(rows, AnswerGroups("bank", function="SUM", of="n")).to_dict("list")
        {'bank': ['x', 'y'], 'SUM(n)': [3, 5]}
    """
    keys = list(dict.fromkeys([groups.by, *filter(None, [groups.across])]))
    title = f"{groups.function}({groups.of or '*'})"
    if groups.of:
        names = [*keys, "value"]
        columns = [*(rows.column(key) for key in keys), rows.column(groups.of)]
        asked: list[tuple[str | list[str], str]] = [("value", GROUP_FUNCTIONS[groups.function])]
    else:
        names, columns, asked = keys, [rows.column(key) for key in keys], [([], "count_all")]
    try:
        found = (
            pa.table(columns, names=names).group_by(keys).aggregate(asked).sort_by([(key, "ascending") for key in keys])
        )
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        hint = "choose another column, or COUNT"
        raise MagicError(f"{title} cannot be computed by {' and '.join(keys)}", hint=hint) from error
    frame = frame_of(found.rename_columns([*keys, title]))
    if len(keys) == 1:
        return frame
    return _across(frame, keys[0], keys[1], title)


def _across(frame: pd.DataFrame, by: str, across: str, title: str) -> pd.DataFrame:
    if (number := frame[across].nunique(dropna=False)) > MOST_ACROSS:
        hint = f"choose a column with at most {MOST_ACROSS} values"
        raise MagicError(f"{across} has {number:,} values, too many for columns", hint=hint)
    text = frame.assign(**{across: frame[across].map(lambda value: "NULL" if pd.isna(value) else str(value))})
    pivot = text.astype({by: object}).pivot(index=by, columns=across, values=title)
    return pivot.astype(object).where(pivot.notna(), None).rename_axis(columns=None).reset_index()
