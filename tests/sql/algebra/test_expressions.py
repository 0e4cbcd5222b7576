"""The canonical form of expressions and predicates: equal exactly for equal ones, whatever an analyst names."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from workbench.network.nodes import Aggregate, Branch, Join, Read, Selection, SetOperation, SetOperator, Source, Window
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    column_name,
    identity,
    text,
)
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.predicates.implication import implies
from workbench.sql.predicates.literal_sets import Subject
from workbench.sql.schema import UserFunction

TYPES = (BOOLEAN, INTEGER, DOUBLE, STRING, DATE, TIMESTAMP, decimal(5, 2), decimal(5, 0))
K = Column("k", INTEGER)

LOOK_ALIKES: tuple[tuple[Expression | AggregateCall, ...], ...] = (
    tuple(Column("v", type_) for type_ in TYPES),
    (Column("a", INTEGER), Column("a", INTEGER, 1), Column("1:a", INTEGER), Column("A", INTEGER)),
    (Call("upper", (Column("s", STRING),), STRING), Column("upper(s)", STRING)),
    (Call("*", (Column("a", INTEGER), K), INTEGER), Column("(a * k)", INTEGER)),
    tuple(Call("*", (K, Constant(two, type_)), type_) for two, type_ in ((2, INTEGER), (Decimal(2), decimal(1, 0)))),
    (Constant("x", STRING), Column("'x'", STRING), Constant("'x'", STRING)),
    (Constant(None, INTEGER), Constant(None, STRING), Constant("null::integer", STRING)),
    (Constant(0.0, DOUBLE), Constant(-0.0, DOUBLE), Constant(0, INTEGER), Constant(False, BOOLEAN)),
    (Constant(1, INTEGER), Constant(True, BOOLEAN), Constant(1.0, DOUBLE), Constant(Decimal(1), decimal(1, 0))),
    (Constant(dt.date(2020, 1, 1), DATE), Constant(dt.datetime(2020, 1, 1), TIMESTAMP), Constant("2020-01-01", STRING)),
    (
        Call("f", (Constant("a', 'b", STRING),), STRING),
        Call("f", (Constant("a", STRING), Constant("b", STRING)), STRING),
    ),
    (Call("neg", (K,), INTEGER), Call(UserFunction("neg", INTEGER).id, (K,), INTEGER)),
    tuple(Call(UserFunction("f", INTEGER, version=version).id, (K,), INTEGER) for version in (1, 2)),
    (AggregateCall("sum", (K,), INTEGER), AggregateCall("sum", (K,), INTEGER, True), Call("sum", (K,), INTEGER)),
    (AggregateCall("count", (), INTEGER), AggregateCall("count", (Column("*", INTEGER),), INTEGER)),
)


def test_what_looks_alike_has_identities_of_its_own():
    for alike in LOOK_ALIKES:
        for one, other in combinations(alike, 2):
            assert one != other
            assert identity(one) != identity(other)
            assert column_name(one) != column_name(other) or isinstance(one, Column)


def test_a_decimal_has_one_zero() -> None:
    negative = Constant(Decimal("-0.0"), decimal(1, 1))
    assert negative is Constant(Decimal("0.0"), decimal(1, 1))
    assert str(negative.value) == "0.0"


def test_equal_constants_have_one_identity_however_they_were_written():
    money = decimal(15, 2)
    half = Constant(Decimal("1.50"), money)
    assert half == Constant(Decimal("1.5"), money) and identity(half) == identity(Constant(Decimal("1.5"), money))
    assert identity(Constant(Decimal("-0.00"), money)) == identity(Constant(Decimal(0), money))
    assert identity(Constant(Decimal("1E+3"), money)) == identity(Constant(Decimal(1000), money))
    nan = float("nan")
    assert Constant(nan, DOUBLE) == Constant(math.nan, DOUBLE) and hash(Constant(nan, DOUBLE)) == hash(
        Constant(math.nan, DOUBLE)
    )


NAMES = st.sampled_from(["a", "k", "(a + k)", '0"a":integer', "upper(s)", "'a'", "=1:integer", "a\n", "é", "\\", '"'])
VALUES = st.sampled_from(["a", "'", "(a + k)", '","', None])
EXPRESSIONS = st.recursive(
    st.builds(Column, NAMES, st.sampled_from(TYPES), st.integers(0, 1))
    | st.builds(Constant, VALUES, st.just(STRING))
    | st.builds(Constant, st.integers(0, 2), st.just(INTEGER)),
    lambda parts: st.builds(
        Call, st.sampled_from(["+", "upper", "f@1"]), st.lists(parts, min_size=1, max_size=2).map(tuple),
        st.sampled_from(TYPES[:4]),
    ),
    max_leaves=4,
)  # fmt: skip


@given(EXPRESSIONS, EXPRESSIONS)
def test_identities_are_equal_exactly_where_expressions_are(one, other):
    assert (identity(one) == identity(other)) == (one == other)
    assert (Subject(one) == Subject(other)) == (one == other)


def equal_to_one(expression: Expression) -> PredSet:
    return pred_set([or_pred([Literal(expression, Operator.EQ, Constant(1, INTEGER))])])


def test_nodes_that_look_alike_have_ids_of_their_own():
    fed = Source("f")
    kinds: list[list[str]] = []
    for one in LOOK_ALIKES:
        expressions = [e for e in one if not isinstance(e, AggregateCall)]
        reads = [Read(fed.id, equal_to_one(e)) for e in expressions]
        kinds += [
            [Selection(read, fed.id, read.required).id for read in reads],
            [Aggregate(Read(fed.id), (e,), frozenset(), (fed.id,)).id for e in expressions],
            [Aggregate(read, (), frozenset(), (fed.id,)).id for read in reads],
            [Window(Read(fed.id), read.required, fed.id).id for read in reads],
            [
                SetOperation(SetOperator.UNION, (Branch(Read(fed.id), (e,)), Branch(Read(fed.id), (K,))), ()).id
                for e in expressions
            ],
        ]
    for ids in kinds:
        assert len(set(ids)) == len(ids)


def test_streams_and_owners_cannot_imitate_each_other():
    ids = [Source("a", "b").id, Source("a of b").id, Source('a", "b').id, Source(json.dumps(["a", "b"])[1:-1]).id]
    assert len(set(ids)) == len(ids)
    assert Source("A").id == Source("a").id


def test_joins_are_told_apart_by_what_their_first_reader_wanted():
    fed, none = Source("f"), PredSet()
    anchors = [equal_to_one(Column("v", type_, 1)).identity for type_ in TYPES]
    assert len({Join(fed.id, fed.id, anchor, none, fed.id, fed.id, none).id for anchor in anchors}) == len(TYPES)


def test_columns_of_one_name_and_several_types_imply_nothing_of_each_other():
    for one, other in combinations([Column("v", t) for t in TYPES], 2):
        p, q = (pred_set([or_pred([Literal(c, Operator.IS_NOT_NULL)])]) for c in (one, other))
        assert str(p) == str(q) and not implies(p, q) and not implies(q, p)


def test_predicates_of_one_text_have_one_order():
    two = [Literal(Column("v", type_), Operator.IS_NULL) for type_ in TYPES]
    assert or_pred(two) == or_pred(reversed(two))
    assert pred_set(or_pred([x]) for x in two) == pred_set(or_pred([x]) for x in reversed(two))
    assert len({text(x.left) for x in two}) == 1


def test_computed_names_are_not_those_of_columns_that_look_computed():
    count = AggregateCall("count", (), INTEGER)
    looks_computed = Column(column_name(count), DataType(INTEGER.kind))
    assert column_name(looks_computed) != column_name(count)
