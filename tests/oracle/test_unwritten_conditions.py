"""Conditions that why-not offers are those of the text: of every class of queries, no word is the plan's own."""

from __future__ import annotations

import re

import pytest
from oracle.class_queries import ALL
from oracle.harness import Oracle
from oracle.test_query_classes import feeds
from oracle.test_without_spark import LEAST, registered

from workbench.engine.spark.in_process import InProcess
from workbench.explain.relaxation import conditions_of

INTERNAL = re.compile(r"_of_\w+|min\(0\)|has_place|k\d = \(.* is null\)", re.I)
"""What plans call what they add."""


@pytest.mark.parametrize("kind", LEAST)
def test_no_condition_is_the_plans_own(kind: str) -> None:
    found = {}
    with Oracle(InProcess(), feeds(1)) as oracle:
        for name in registered(oracle, [name for name in ALL if name.startswith(f"{kind}_")]):
            query = oracle.session.query(name)
            for condition in conditions_of(query.logical):
                if own := INTERNAL.findall(str(condition)):
                    found[name] = own, str(condition)
    assert found == {}


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
