"""Conditions that why-not offers are those of the text; ``test_without_spark`` has those of all classes of queries."""

from __future__ import annotations

from oracle.harness import Oracle
from oracle.test_query_classes import feeds

from workbench.engine.spark.in_process import InProcess
from workbench.explain.relaxation import conditions_of


def test_a_series_and_asof_are_named_by_what_is_written() -> None:
    texts = {
        "SELECT t.id, u.id AS o FROM t ASOF JOIN u ON t.g = u.g AND t.k >= u.k": "a row of u ON ",
        "SELECT t.id FROM t JOIN (VALUES (1, 'a'), (2, 'b')) v(n, s) ON t.k = v.n": "a row of constants",
    }
    with Oracle(InProcess(), feeds(1)) as oracle:
        for number, (text, named) in enumerate(texts.items()):
            query = oracle.session.register(text, f"q{number}", dialect="duckdb")
            conditions = [str(condition) for condition in conditions_of(query.logical)]
            assert any(named in condition for condition in conditions), conditions
            assert not any("_of_" in condition or "LAST_VALUE" in condition for condition in conditions)
