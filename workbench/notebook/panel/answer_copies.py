"""Copies of a whole answer: in a variable of the notebook, or in a file."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from workbench.explain.text import counted
from workbench.session.query import Query


def _to_pandas(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    variables[target] = rows = query.result()
    return f"{target}: a pandas DataFrame of {counted(len(rows), 'row')}"


def _to_spark(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    variables[target] = query.dataframe()
    return f"{target}: a Spark DataFrame"


def _to_file(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    return f"{target}: {counted(query.save(target), 'row')}"


COPIES: dict[str, tuple[str, Callable[[Query, str, MutableMapping[str, Any]], str]]] = {
    "pandas DataFrame": ("name of a variable", _to_pandas),
    "Spark DataFrame": ("name of a variable", _to_spark),
    "Parquet file": ("path, such as rows.parquet", _to_file),
    "CSV file": ("path, such as rows.csv", _to_file),
}
"""The kinds of copies of an answer: what the analyst gives, and the function that copies."""
