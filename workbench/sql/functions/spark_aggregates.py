"""The Spark SQL of aggregates that need the values of a group, where it is not a call of the same name.

All are total, and depend on the bag of rows alone: where Spark would take any of several values, these take the one
that is said here.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.stored_values import from_stored, to_stored


def _by(function: str) -> str:
    """MIN_BY and MAX_BY: of rows with equal keys MIN_BY takes the smallest value, NULL first, MAX_BY the largest."""
    return f"({function}(if({{1}} IS NULL, NULL, named_struct('y', {{1}}, 'x', {{0}}))){{over}}).x"


def _at_share(ascending: str) -> str:
    """PERCENTILE_DISC: the first value in order up to which there is at least the share of all values."""
    values = f"sort_array(collect_list({{0}}){{over}}, {ascending})"
    return f"try_element_at({values}, greatest(1, cast(ceil({{1}} * count({{0}}){{over}}) AS int)))"


def _joined(ascending: str, collect: str, keys: int) -> str:
    """LISTAGG: the texts in the order of the keys, those of equal keys in their own."""
    fields = "".join(f"'y{i}', {{{i + 2}}}, " for i in range(keys))
    rows = f"{collect}(if({{0}} IS NULL, NULL, named_struct({fields}'x', {{0}}))){{over}}"
    return f"if(count({{0}}){{over}} = 0, NULL, array_join(sort_array({rows}, {ascending}).x, {{1}}))"


def _collected(ascending: str, collect: str, type_: DataType, keys: int) -> str:
    """ARRAY_AGG: the values of the rows that count in the order of the keys, those of equal keys in their own."""
    assert type_.element is not None
    value = "({1} + 0D)" if type_.element.kind is Kind.DOUBLE else "{1}"  # -0.0 is 0.0, also to DISTINCT
    fields = "".join(f"'y{i}', {{{i + 2}}}, " for i in range(keys))
    rows = f"{collect}(if({{0}}, named_struct({fields}'x', {value}), NULL)){{over}}"
    values = f"sort_array({rows}, {ascending}).x"
    if type_.element.is_text_when_stored:
        values = f"transform({values}, `e0` -> {from_stored('`e0`', type_.element)})"
    return to_stored(values, type_)


_TEMPLATES = {
    "min_by": _by("min"),
    "max_by": _by("max"),
    "percentile_disc": _at_share("true"),
    "percentile_disc_desc": _at_share("false"),
}


def holistic_sql(function: str, distinct: bool, arguments: Sequence[str], type_: DataType, over: str = "") -> str:
    """An aggregate over the rows of a group, as it is stored.

    Args:
        function: its name.
        distinct: whether each value counts once.
        arguments: their SQL, as they are stored.
        type_: of the result.
        over: which rows, where these are not a group: OVER and what follows it.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> holistic_sql("corr", False, ["a", "b"], DOUBLE)
        'corr(a, b)'
    """
    ascending = "false" if function.endswith("_desc") else "true"
    collect, keys = "collect_set" if distinct else "collect_list", len(arguments) - 2
    if function in ("listagg", "listagg_desc"):
        return _joined(ascending, collect, keys).format(*arguments, over=over)
    if function in ("array_agg", "array_agg_desc"):
        return _collected(ascending, collect, type_, keys).format(*arguments, over=over)
    if function in _TEMPLATES:
        return _TEMPLATES[function].format(*arguments, over=over)
    # Of equally frequent values the smallest, so that the answer does not depend on the order of rows.
    tie = ", true" if function == "mode" else ""
    # COUNT(*) has no arguments; every row counts.
    return f"{function}({'DISTINCT ' * distinct}{', '.join(arguments) or 1}{tie}){over}"
