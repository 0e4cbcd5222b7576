"""A session and a PostgreSQL side by side over one stream, compared after every batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
from pyspark.sql import SparkSession

from workbench import Session

Values = tuple[Any, ...]


def compare(
    address: str,
    spark: SparkSession,
    types: Mapping[str, tuple[str, pa.DataType]],
    rows: Sequence[Values],
    asked: Mapping[str, str],
    history: int,
    batch: int,
) -> None:
    """Assert that both give the same bags, by the same texts.

    Args:
        address: of the server.
        spark: what the session runs on.
        types: the columns of ``t``, each with its type there and in Arrow.
        rows: of the stream, each with its weight last.
        asked: the queries by name; rows of those whose name begins with "ordered" are compared in their order.
        history: how many rows are there from the start.
        batch: how many come with each batch.
    """
    columns = {**types, "w": ("", pa.int64())}
    table = pa.table({name: pa.array([r[i] for r in rows], columns[name][1]) for i, name in enumerate(columns)})
    insert = f"INSERT INTO t VALUES ({', '.join(['%s'] * len(types))})"
    with Session(spark=spark, dialect="postgres") as session, psycopg.connect(address) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE t ({', '.join(f'{name} {of}' for name, (of, _) in types.items())})")
        session.add_stream("t", table, history=history, batch=batch, weight="w")
        queries = session.register_many(dict(asked))
        for number in range((len(rows) - history) // batch + 1):
            if number:
                session.run(1)
            there: Counter[Values] = Counter()
            for *row, weight in rows[: history + number * batch]:
                there[tuple(row)] += weight
            connection.execute("TRUNCATE t")
            with connection.cursor() as cursor:
                cursor.executemany(insert, list(there.elements()))
            for name, sql in asked.items():
                expected = connection.execute(sql).fetchall()
                answer = queries[name].result().astype(object)
                found = list(answer.where(answer.notna(), None).itertuples(index=False, name=None))
                ours, theirs = Counter(map(_hashable, found)), Counter(map(_hashable, expected))
                assert ours == theirs, (name, number, list(ours - theirs)[:5], list(theirs - ours)[:5])
                if name.startswith("ordered"):
                    assert found == expected, (name, number)


def drawn(rows: int, random: Random, text: Callable[[], str]) -> list[Values]:
    """Rows of a key, a number and a text, with NULLs and duplicates, some of which take back an earlier one.

    Args:
        rows: how many.
        random: chooses.
        text: gives one.

    Returns:
        The rows, each with its weight last.
    """
    made, there = list[Values](), list[Values]()
    while len(made) < rows:
        if there and random.random() < 0.15:
            made.append((*there.pop(random.randrange(len(there))), -1))
            continue
        there.append((random.randint(1, 4), len(made), None if random.random() < 0.05 else text()))
        made.append((*there[-1], 1))
    return made


def _hashable(row: Values) -> Values:
    return tuple(map(_nested, row))


def _nested(value: Any) -> Any:
    """A value, arrays of any depth as tuples."""
    return tuple(map(_nested, value)) if isinstance(value, (list, np.ndarray)) else value
