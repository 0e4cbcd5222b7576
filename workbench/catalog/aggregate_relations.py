"""AggreRules and AggreBasics as relations: what the declarations of aggregates say, the analyst's among them.

An aggregate is made of its statistics over formal arguments, as the binder makes it of actual ones, and their rules
tell the rest (T4.2, Tables 4.1 and 4.2). Nothing of it is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import sqlglot
from sqlglot import exp

from workbench.network.sql_text import expression_sql
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Expression, column_name, map_columns, text
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, DataType, decimal
from workbench.sql.functions.aggregate_calls import aggregate_name
from workbench.sql.functions.aggregate_rules import category, part_of, rule_of, why_not_from_parts
from workbench.sql.functions.aggregates import AGGREGATES, expand

_NUMBERS: Mapping[str, DataType] = {"exact numbers": decimal(15, 2), "DOUBLE": DOUBLE}
_FORMAL: Mapping[str, tuple[DataType, ...]] = {
    **dict.fromkeys(("count_if", "bool_and", "bool_or"), (BOOLEAN,)),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), (INTEGER,)),
    "listagg": (STRING, STRING),
    "array_agg": (BOOLEAN, STRING),
    "array_agg_limit": (INTEGER, BOOLEAN, STRING),
}
"""The types of formal arguments, where they are not any numbers."""


class _Aggregate(NamedTuple):
    """The row of AggreRules and the rows of AggreBasics of one aggregate."""

    rule: tuple[str, str | None, str | None, str | None]
    """Category, incremental rule, rule of vertical expansion, and why there is none."""
    basics: tuple[tuple[str, str, str], ...]
    """Statistic, its id, and what is kept of it."""


def aggregate_relations(users: str) -> str:
    """The rows of both relations as JSON; a function of SQL.

    Args:
        users: the analyst's aggregates, as JSON: name, statistics by name, rule.

    Example:
        >>> rows = json.loads(aggregate_relations('[["rms", {"n": "COUNT(x)", "q": "SUM(x * x)"}, "SQRT(q / n)"]]'))
        >>> rows["rules"][-1]
        ['rms', 'any', 'algebraic', 'SQRT(q / n)', 'SQRT(q / n)', None]
    """
    own = [(name, "any", _of_user(statistics, rule)) for name, statistics, rule in json.loads(users)]
    every = [*_built_in(), *own]
    return json.dumps(
        {
            "rules": [(name, over, *aggregate.rule) for name, over, aggregate in every],
            "basics": [(name, over, *basic) for name, over, aggregate in every for basic in aggregate.basics],
        }
    )


@cache
def _built_in() -> tuple[tuple[str, str, _Aggregate], ...]:
    return tuple(
        (f"{name.upper()}{' DISTINCT' if distinct else ''}", over, aggregate)
        for name in AGGREGATES
        for distinct in (False, True)[: 1 + AGGREGATES[name].distinct]
        for over, aggregate in _kinds(name, distinct)
    )


def _kinds(name: str, distinct: bool) -> Iterator[tuple[str, _Aggregate]]:
    """The aggregate over each kind of values that it has other rules for; of DISTINCT ones where that matters."""
    number = max(AGGREGATES[name].takes[0], 1)
    kinds = {"any": _FORMAL[name]} if name in _FORMAL else {over: (it,) * number for over, it in _NUMBERS.items()}
    try:
        made = {over: _statistics_of(name, types, distinct) for over, types in kinds.items()}
    except TypeClash:  # variances of DISTINCT values
        return
    if distinct and made == {over: _statistics_of(name, types, False) for over, types in kinds.items()}:
        return
    rules = [[(s.function, rule_of(s)) for s in statistics] for _, statistics in made.values()]
    for over, found in list(made.items())[-1:] if rules[0] == rules[-1] else made.items():
        yield "any" if rules[0] == rules[-1] else over, _composed(*found)


def _statistics_of(
    name: str, types: tuple[DataType, ...], distinct: bool
) -> tuple[Expression, tuple[AggregateCall, ...]]:
    """An aggregate over formal arguments, and its statistics."""
    statistics: dict[AggregateCall, None] = {}
    arguments = tuple(Column(formal, type_) for formal, type_ in zip("xyz", types, strict=False))
    value = expand(name, arguments, distinct, lambda statistic: statistics.update({statistic: None}))
    return value, tuple(statistics)


def _composed(value: Expression, statistics: tuple[AggregateCall, ...]) -> _Aggregate:
    """An aggregate from its value over its statistics."""
    ids = {column_name(statistic): _id(statistic) for statistic in statistics}
    basics = tuple((_text(statistic), _id(statistic), str(rule_of(statistic).kept)) for statistic in statistics)
    reason = next(filter(None, map(why_not_from_parts, statistics)), None)
    if any(category(statistic) == "holistic" for statistic in statistics):
        return _Aggregate(("holistic", None, None, reason), basics)
    while isinstance(value, Call) and value.function == "cast":
        (value,) = value.arguments
    if not isinstance(value, Column):
        rule = text(map_columns(value, lambda column: replace(column, name=ids[column.name], source=0)))
        return _Aggregate(("algebraic", rule, None if reason else rule, reason), basics)
    (statistic,) = statistics
    rule_ = rule_of(statistic)
    vertical = None if reason else f"{rule_.roll_up}({_id(part_of(statistic))})"
    return _Aggregate((category(statistic), rule_.merged(_id(statistic)), vertical, reason or rule_.note), basics)


def _of_user(statistics: Mapping[str, str], rule: str) -> _Aggregate:
    """An aggregate of the analyst's, whose statistics are made of aggregates of the workbench's."""
    basics, reasons, categories = [], [], set()
    for own, sql in statistics.items():
        for node in sqlglot.parse_one(sql, "spark", error_level=sqlglot.ErrorLevel.IGNORE).walk():
            if name := aggregate_name(node):
                (_, made), *_ = _kinds(name, node.find(exp.Distinct) is not None)
                categories.add(made.rule[0])
                reasons.append(made.rule[3])
                basics += [(sql, own, kept) for _, _, kept in made.basics]
    reason = next(filter(None, reasons), None)
    whole = None if "holistic" in categories else rule
    category = "holistic" if whole is None else "algebraic"
    return _Aggregate((category, whole, None if reason else whole, reason), tuple(dict.fromkeys(basics)))


def _text(statistic: AggregateCall) -> str:
    return expression_sql(statistic, lambda part: part.name if isinstance(part, Column) else "")


def _id(statistic: AggregateCall) -> str:
    """The thesis's name of a statistic: its function and its argument, as in SUMX."""
    shown = re.sub(r"[^a-z0-9]+", "_", _text(replace(statistic, function="f")).removeprefix("F(").lower()).strip("_")
    return "_".join(filter(None, (statistic.function, shown)))
