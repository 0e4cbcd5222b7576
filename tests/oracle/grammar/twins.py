"""Queries that must answer alike: a query beside others that mean the same (metamorphic testing).

Whatever a query means, its rows where a condition is true, false and NULL together are all its rows (ternary logic
partitioning: Rigger and Su, *Finding bugs in database systems via query partitioning*, OOPSLA 2020), and it means the
same as a derived table, as a view, beside itself, and in every dialect that reads its words alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from oracle.grammar.writing import Query, Writer


def partitions(query: Query, chosen: Random) -> tuple[str, ...]:
    """The rows where a condition is true, where it is false, and where it is NULL."""
    condition = Writer(chosen, {}).condition(query.columns("z"), 0)
    tests = (condition, f"NOT {condition}", f"{condition} IS NULL")
    return tuple(f"SELECT * FROM ({query.text}) z WHERE {test}" for test in tests)


def twins(query: Query) -> Iterator[tuple[str, str]]:
    """Texts that mean the same, each with what was done to the query."""
    names = ", ".join(f"c{i}" for i in range(len(query.types)))
    yield "a derived table", f"SELECT {names} FROM ({query.text}) z"
    yield "a common table expression", f"WITH z AS ({query.text}) SELECT {names} FROM z"
    whole = f"SELECT {names} FROM ({query.text}) z"
    yield "beside itself, less itself", f"SELECT {names} FROM ({whole} UNION ALL {whole}) y EXCEPT ALL {whole}"
    yield "within itself", f"{whole} INTERSECT ALL {whole}"
    yield "beside nothing", f"{whole} UNION ALL SELECT {names} FROM ({query.text}) y WHERE FALSE"
