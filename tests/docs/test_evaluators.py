"""The table in the page of a batch that says who evaluates a condition says what the planner does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.schema import Schema

PAGE = Path(__file__).parents[2] / "docs" / "design" / "batch.md"
MONEY = decimal(15, 2)
TYPES = {"a": INTEGER, "b": INTEGER, "x": DOUBLE, "amount": MONEY, "fee": MONEY, "s": STRING, "d": DATE}
SCHEMA = Schema({"t": tuple(TYPES.items())})
TABLE = PAGE.read_text(encoding="utf-8").partition("| condition | evaluated by |")[2].partition("\n\n")[0]
ROWS = [row.strip("| ").split(" | ") for row in TABLE.splitlines()[2:]]
SAID = [(condition, who) for conditions, who in ROWS for condition in re.findall(r"`([^`]+)`", conditions)]


@pytest.mark.parametrize(("condition", "who"), SAID)
def test_who_evaluates_a_condition(condition: str, who: str) -> None:
    query = bind(f"SELECT a FROM t WHERE {condition}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    compiled = compile_filter({0: query.where}, [0], [frozenset([0])], TYPES)
    assert bool(compiled.tests) == (who == "Spark")
    assert bool(compiled.filter.computed) == (who.startswith("the filter") and who != "the filter, by rank")


def test_there_are_conditions_of_each_kind() -> None:
    assert len(SAID) > 12 and {who for _, who in SAID} >= {"Spark", "the filter"}
