"""CNF: its text for cases from a file, its exactness under NULLs by trying all rows, and its bounds."""

from __future__ import annotations

import itertools
import random

import pytest
from sql.bind_schema import SCHEMA
from sql.fixtures import pairs, parse_pairs
from three_valued import satisfied, value

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import Operator
from workbench.sql.predicates.normal_form import MAX_LITERALS, MAX_OR_PREDS, normal_form

A, B, C = (Column(name, INTEGER) for name in "abc")
DOMAIN = (None, 0, 1, 2)


@pytest.mark.parametrize(("title", "sql", "expected"), pairs("normal_form.sql"))
def test_text_of_the_normal_form(title: str, sql: str, expected: str) -> None:
    query = bind(f"SELECT a FROM T WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    assert str(query.where) == expected, title


def test_a_file_with_an_odd_number_of_statements_is_refused() -> None:
    with pytest.raises(ValueError, match="odd number"):
        parse_pairs("a = 1;\n\na = 1;\n\nb = 2;\n", "some.sql")


def _call(name: str, *arguments: Expression) -> Expression:
    return Call(name, arguments, BOOLEAN)


def _random(rng: random.Random, depth: int) -> Expression:
    if depth == 0 or rng.random() < 0.2:
        left = rng.choice([A, B, C])
        right = rng.choice([A, B, C, *(Constant(v, INTEGER) for v in (0, 1, 2, None))])
        match rng.randrange(8):
            case 0:
                return _call("is_null", left)
            case 1:
                return _call("in", left, *(Constant(v, INTEGER) for v in rng.sample([0, 1, 2, None], 2)))
            case 2:
                return _call("<=>", left, right)
            case 3:
                return Constant(rng.choice([True, False, None]), BOOLEAN)
            case _:
                return _call(rng.choice(["=", "<>", "<", "<=", ">", ">="]), left, right)
    name = rng.choice(["and", "or", "not"])
    return _call(name, *(_random(rng, depth - 1) for _ in range(1 if name == "not" else rng.randint(2, 3))))


@pytest.mark.parametrize("part", range(10))
def test_true_for_exactly_the_same_rows(part: int) -> None:
    for seed in range(part, 300, 10):
        expression = _random(random.Random(seed), 4)
        predicates = normal_form(expression)
        for values in itertools.product(DOMAIN, repeat=3):
            row = dict(zip("abc", values, strict=True))
            assert satisfied(predicates, row) == (value(expression, row) is True), (seed, str(predicates), row)


def _terms(count: int) -> Expression:
    pair = [
        _call("and", _call("=", A, Constant(i, INTEGER)), _call("=", B, Constant(i, INTEGER))) for i in range(count)
    ]
    return _call("or", *pair)


def test_a_disjunction_of_twenty_conjunctions_stays_whole() -> None:
    predicates = normal_form(_call("and", _terms(20), _call("=", C, Constant(1, INTEGER))))
    assert [p.literals[0].operator for p in predicates] == [Operator.EQ, Operator.HOLDS]
    for a, b in itertools.product((None, 0, 7, 19, 20), repeat=2):
        row = {"a": a, "b": b, "c": 1}
        assert satisfied(predicates, row) == (value(_terms(20), row) is True)


def test_what_stays_whole_under_not_is_negated() -> None:
    predicates = normal_form(_call("not", _call("and", *(_call("or", *t.arguments) for t in _terms(20).arguments))))
    assert str(predicates).startswith("not(and(")


@pytest.mark.parametrize("negated", [False, True])
def test_what_all_alternatives_have_stands_beside_what_stays_whole(negated: bool) -> None:
    """As in Q19 of TPC-H, whose alternatives all have the equality by which the join finds its pairs."""
    shared = _call("=", A, C)
    alternatives = [_call("and", shared, *term.arguments) for term in _terms(20).arguments]
    expression = _call("or", *alternatives, Constant(False, BOOLEAN))
    if negated:
        expression = _call(
            "not", _call("and", *(_call("not", each) for each in (*alternatives, Constant(None, BOOLEAN))))
        )
    predicates = normal_form(expression)
    assert [p.literals[0].operator for p in predicates] == [Operator.EQ, Operator.HOLDS]
    for a, b, c in itertools.product((None, 0, 7, 20), repeat=3):
        row = {"a": a, "b": b, "c": c}
        assert satisfied(predicates, row) == (value(expression, row) is True)


def test_up_to_the_bounds_it_is_distributed() -> None:
    predicates = normal_form(_terms(6))
    assert len(predicates.or_preds) == 2**6 == MAX_OR_PREDS
    assert sum(len(p.literals) for p in predicates) <= MAX_LITERALS
    assert len(normal_form(_terms(7)).or_preds) == 1


def test_a_long_list_is_one_disjunction() -> None:
    (predicate,) = normal_form(_call("in", A, *(Constant(i, INTEGER) for i in range(2000))))
    assert len(predicate.literals) == 2000
