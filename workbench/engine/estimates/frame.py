"""Estimates of a query as a table: a row for each group and aggregate."""

from __future__ import annotations

import pandas as pd

from workbench.arrow.stored_values import as_python, as_shown
from workbench.engine.estimates.horvitz_thompson import Totals
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.estimates import Estimable

_COLUMNS = ("column", "value", "low", "high")


def estimate_frame(asked: Estimable, totals: Totals) -> pd.DataFrame:
    """The groups that the query shows, then ``_COLUMNS``.

    Args:
        asked: the query.
        totals: of its groups.
    """
    groups = _shown_groups(asked, totals)
    parts = []
    for statistic in asked.statistics:
        found = totals.estimate(statistic.function, statistic.argument)
        values = {"column": statistic.name, "value": found.value, "low": found.low, "high": found.high}
        parts.append(pd.concat([groups, pd.DataFrame(values)], axis="columns"))
    frame = pd.concat(parts, ignore_index=True) if parts else groups
    names = [name for name, _ in asked.groups]
    frame.columns = pd.Index(unique_names([*names, *_COLUMNS] if parts else names), dtype=object)
    return frame


def _shown_groups(asked: Estimable, totals: Totals) -> pd.DataFrame:
    """The groups as answers show them."""
    stored = totals.groups.select([f"g{place}" for _, place in asked.groups])
    groups = stored.to_pandas(integer_object_nulls=True)
    for at, (_, place) in enumerate(asked.groups):
        type_ = asked.rows.outputs[place].expression.type
        if type_.is_text_when_stored:
            groups.isetitem(at, pd.Series(as_python(as_shown(stored.column(at), type_)), dtype=object))
    return groups
