"""Expressions as JSON: exact there and back, and different for different ones."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pytest
from catalog.random_networks import VALUES

from workbench.catalog.codec import (
    expression_json,
    expression_of,
    expressions_json,
    expressions_of,
    statistic_json,
    statistic_of,
    type_of,
)
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, text
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, decimal

CONSTANTS = [Constant(value, type_) for type_, values in VALUES.items() for value in (*values, None)]


@pytest.mark.parametrize("constant", CONSTANTS, ids=text)
def test_constants_keep_value_spelling_and_type(constant):
    again = expression_of(expression_json(constant))
    assert again == constant
    assert (repr(again), text(again), type(again.value)) == (repr(constant), text(constant), type(constant.value))


def test_a_nan_of_any_making_is_the_one_of_the_process():
    assert expression_of(expression_json(Constant(float("nan"), DOUBLE))) == Constant(math.nan, DOUBLE)


def test_different_constants_have_different_texts():
    alike = [
        Constant(1, INTEGER), Constant(True, BOOLEAN), Constant(1.0, DOUBLE), Constant(1, DOUBLE),
        Constant("1", STRING), Constant(Decimal("1"), decimal(15, 2)), Constant(Decimal("1.0"), decimal(15, 2)),
        Constant(Decimal("1"), decimal(3, 0)), Constant(None, INTEGER), Constant(None, STRING),
    ]  # fmt: skip
    assert len({expression_json(c) for c in alike}) == len(alike)


@pytest.mark.parametrize(
    "expression",
    [
        Column("a", INTEGER),
        Column('quo"ted', STRING, 1),
        Column("a", decimal(38, 38), 7),
        Call("pi", (), DOUBLE),
        Call("+", (Column("a", INTEGER, 1), Call("abs", (Constant(-1, INTEGER),), INTEGER)), INTEGER),
    ],
    ids=text,
)
def test_expressions_are_the_same_afterwards(expression):
    stored = expression_json(expression)
    assert expression_of(stored) == expression
    assert json.loads(stored)["type"] == str(expression.type)


def test_several_expressions_keep_their_order():
    several = (Constant(2, INTEGER), Column("a", STRING), Constant(2, INTEGER))
    assert expressions_of(expressions_json(several)) == several
    assert expressions_of(expressions_json(())) == ()


@pytest.mark.parametrize(
    "statistic",
    [
        AggregateCall("count", (), INTEGER),
        AggregateCall("count", (Column("a", STRING),), INTEGER, distinct=True),
        AggregateCall("percentile", (Column("a", DOUBLE), Constant(0.5, DOUBLE)), DOUBLE),
    ],
    ids=text,
)
def test_statistics_are_the_same_afterwards(statistic):
    assert statistic_of(statistic_json(statistic)) == statistic


@pytest.mark.parametrize("type_", [*VALUES, decimal(38, 0)], ids=str)
def test_types_are_told_by_their_names(type_):
    assert type_of(str(type_)) == type_
