"""Digests of answers: equal for equal bags of rows of any engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NEAR = 1e-9
"""How far apart two numbers may be, as a part of them."""

Digest = tuple[int, int]
"""How many rows an answer has, and a sum of hashes."""


def connect(**config: Any) -> DuckDBPyConnection:
    """A new database of DuckDB, which is imported where it is used: planning needs none."""
    import duckdb

    return duckdb.connect(config=config)


def answer_digest(database: DuckDBPyConnection, answer: str) -> Digest:
    """Rows of a relation, and the sum of their hashes: of values, floats to nine digits."""
    columns = database.execute(f"DESCRIBE FROM {answer}").fetchall()
    texts = [_text(f'"{name}"', type_) for name, type_, *_ in columns]
    row = ", ".join(f"coalesce({text}, chr(30))" for text in texts)
    counts = database.execute(
        f"SELECT count(*), coalesce(sum(hash(concat_ws(chr(31), {row}))), 0) FROM {answer}"
    ).fetchone()
    assert counts is not None
    return int(counts[0]), int(counts[1])


def _text(column: str, type_: str) -> str:
    """SQL of a value as text: the same for equal values of two types."""
    if type_ in ("DOUBLE", "FLOAT"):
        return f"printf('%.9g', {column})"
    text = f"{column}::VARCHAR"
    exact = type_.startswith("DECIMAL") and not type_.endswith(",0)")
    return f"rtrim(rtrim({text}, '0'), '.')" if exact else text


def digest_of(answer: pa.Table) -> Digest:
    """The digest of rows this process has; what the columns are called does not count.

    Example:
        >>> left, right = pa.table({"a": [1, 2], "b": ["x", None]}), pa.table({"c": [2, 1], "d": [None, "x"]})
        >>> digest_of(left) == digest_of(right), digest_of(left)[0]
        (True, 2)
    """
    with connect() as database:
        database.register("answer", answer.rename_columns([f"c{i}" for i in range(answer.num_columns)]))
        return answer_digest(database, "answer")


def are_near(ours: pa.Table, theirs: pa.Table) -> bool:
    """Whether two answers are equal bags but for the last digits of DOUBLE: a digest tells these apart now and then.

    Example:
        >>> left, right = pa.table({"a": [1, 2], "b": [0.1, 0.3]}), pa.table({"c": [2, 1], "d": [0.1 + 0.2, 0.1]})
        >>> are_near(left, right), are_near(left, left.slice(1))
        (True, False)
    """
    left, right = (side.rename_columns([f"c{i}" for i in range(side.num_columns)]) for side in (ours, theirs))
    doubles = [field.name for field in right.schema if pa.types.is_floating(field.type)]
    exact = [name for name in right.column_names if name not in doubles]
    if left.column_names != right.column_names or digest_of(left.select(exact)) != digest_of(right.select(exact)):
        return False
    order = [(name, "ascending") for name in (*exact, *doubles)]
    pairs = [[side.sort_by(order).column(name).to_numpy() for side in (left, right)] for name in doubles]
    return all(np.allclose(one, other, rtol=_NEAR, atol=0, equal_nan=True) for one, other in pairs)


def check_digests(who: str, got: Mapping[str, Digest], expected: Mapping[str, Digest]) -> int:
    """Compare answers with DuckDB's before any figure is given.

    Args:
        who: whose answers ``got`` are.
        got: digests by query.
        expected: DuckDB's; queries that it has not are passed over.

    Returns:
        How many were compared.

    Raises:
        WorkbenchError: some are not equal.
    """
    wrong = [query for query, answer in got.items() if query in expected and answer != expected[query]]
    if wrong:
        shown = ", ".join(f"{query} ({got[query][0]:,} rows, not {expected[query][0]:,})" for query in wrong[:5])
        answers = f"{len(wrong)} answers" if len(wrong) > 1 else "1 answer"
        raise WorkbenchError(f"{who}: {answers} differ from DuckDB's: {shown}", hint="no time is given for them")
    return sum(query in expected for query in got)
