"""Captions, statements and explanations of the queries of all classes, and of the recipes, are in the words of SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pandas as pd
import pytest
from doc_pages import DOCS, FENCE
from oracle.class_queries import ALL
from oracle.random_streams import NAMES_SCHEMA, T_SCHEMA

from workbench.arrow.types import to_data_type
from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.network.network import Network
from workbench.session.session import Session
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import all_help
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.schema import Schema

STREAMS = {"t": T_SCHEMA, "u": T_SCHEMA, "names": NAMES_SCHEMA}
SCHEMA = Schema({name: tuple((f.name, to_data_type(f.type)) for f in schema) for name, schema in STREAMS.items()})

ODD = {
    "a column that is numbered inside": r"\b[cdk]\d+\b|(?<![\w`])_[a-z]\w*",
    "a generated name": r"_[0-9a-f]{8}\b|\b[A-Z][0-9a-f]{12}\b",
    "two qualifiers": r"\b\w+\.[lr]\.|\b[lr]\.\w+\.",
    "a value of Python": r"\bNone\b|\bTrue\b|\bFalse\b|\bDecimal\('|datetime|Kind\.|frozenset|<\w+ |\x00",
    "NULL beside NULL": r"COALESCE\([^()]*\) = COALESCE\([^()]*\)|IS NULL\)? = \(",
    "a time bucket": r"TIMESTAMP_MICROS\(UNIX_MICROS",
}
CALLED = {help.name.lower() for help in all_help()}.union(*(function.names for function in FUNCTIONS.values())) | {
    "as", "by", "in", "on", "over", "and", "or", "not", "when", "then", "else", "case", "where", "having", "from",
    "key", "values", "select", "union", "distinct", "array", "map", "struct", "cast", "explode", "decimal", "exists",
    "within", "time_bucket", "step", "extract", "list_histogram", "generate_series", "date_trunc", "unique", "measures",
    "define", "session_start", "window_start", "window",
}  # fmt: skip
"""Words before a parenthesis that SQL has in some dialect."""


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_query_of_a_class(name: str) -> None:
    case = ALL[name]
    planned = Planner().register(Network(), name, bind(case.sql, case.dialect, SCHEMA).named(name)[name])
    texts = [*shown(NetworkView(planned.network)), *str(ExplanationView.of(planned.explanation)).splitlines()]
    assert odd(texts, case.sql) == []


def test_the_recipes(in_process: InProcess) -> None:
    page = (DOCS / "how-to" / "recipes.md").read_text(encoding="utf-8")
    cells = [found["code"] for found in FENCE.finditer(page)]
    names: dict[str, object] = {}
    exec(cells[0], names)
    with Session(in_process) as session:
        visits = names["visits"]
        assert isinstance(visits, pd.DataFrame)
        session.add_stream("Visits", visits, history=10, batch=2, time="at")
        session.add_table("Costs", pd.DataFrame({"item": ["tea"], "cost": [1.5]}))
        texts, asked = list[str](), 0
        for cell in cells:
            head, _, sql = cell.partition("\n")
            if head.startswith("%%argus ") and "Orders" not in sql:
                try:
                    texts += str(session.register(sql, head.split()[1]).explain()).splitlines()
                    asked += 1
                except NeedsSparkError:
                    pass
        texts += shown(session.network)
    assert asked >= 10
    assert odd(texts, page) == []


def shown(view: NetworkView) -> Iterator[str]:
    """What a drawing and its tooltips say."""
    for node in view.nodes:
        yield from (node.sql, node.name, *node.label, *node.caption, *view.columns(node.id))


def odd(texts: Iterable[str], written: str) -> list[tuple[str, str]]:
    """Texts with something that neither SQL has nor the analyst has written, each with what it is."""
    words = {*re.findall(r"\w+", written.lower())}
    found = [
        (what, text)
        for text in dict.fromkeys(texts)
        for what, pattern in ODD.items()
        if any(match[0].lower() not in words for match in re.finditer(pattern, text))
    ]
    return found + [
        (f"a call of {function}", text)
        for text in dict.fromkeys(texts)
        for function in re.findall(r"\b([A-Za-z_]\w*)\(", text)
        if function.lower() not in CALLED | words
    ]
