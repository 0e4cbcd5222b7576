"""Generated queries, and the order in which queries of several variants take turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class GeneratedQuery:
    """One query of a set.

    Attributes:
        name: what it is registered as: its variant and a number.
        sql: the text to register, in ``dialect``.
        duckdb_sql: the same question in DuckDB's SQL: the same columns in the same order.
        variant: the form of the text; queries of one variant differ in constants, and in how an analyst writes.
        parameters: the constants, by name.
        dialect: of ``sql``; that of the thesis.
    """

    name: str
    sql: str
    duckdb_sql: str
    variant: str
    parameters: Mapping[str, object]
    dialect: str = "oracle"


def turns(variants: Mapping[str, Sequence[T]]) -> Iterator[tuple[str, str, T]]:
    """One item of each variant in turn until all have ended (T10.1.4), each with its variant and a name.

    Example:
        >>> list(turns({"a": [10, 20], "b": [30]}))
        [('a', 'a_001', 10), ('b', 'b_001', 30), ('a', 'a_002', 20)]
    """
    rounds = zip_longest(*([(item,) for item in items] for items in variants.values()))
    for number, taken in enumerate(rounds, start=1):
        for variant, item in zip(variants, taken, strict=True):
            if item is not None:
                yield variant, f"{variant}_{number:03}", item[0]
