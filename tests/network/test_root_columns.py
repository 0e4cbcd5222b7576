"""What is over a root reads only columns that the root has."""

from __future__ import annotations

import pytest

from workbench.network.nodes import Aggregate, Branch, Join, Node, Read, SetOperation, SetOperator, Source, Window
from workbench.network.root_columns import RootColumns
from workbench.sql.algebra.expressions import AggregateCall, Column
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, DataType
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, or_pred, pred_set

F, G = Source("F"), Source("G")
A, X = Column("a", INTEGER), Column("x", BOOLEAN)
COUNT = AggregateCall("count", (), INTEGER)
SAME = pred_set([or_pred([Literal(A, Operator.EQ, Column("b", INTEGER, 1))])])
JOIN = Join(F.id, G.id, "", SAME, F.id, G.id, SAME)
COUNTS = Aggregate(Read(F.id), (A,), frozenset([COUNT]), (F.id,))
PUT_TOGETHER = SetOperation(SetOperator.UNION, (Branch(Read(F.id), (A,)),), ((F.id, (A,)),))
WINDOW = Window(Read(JOIN.id), TRUE, JOIN.id)
NODES: dict[str, Node] = {node.id: node for node in (F, G, JOIN, COUNTS, PUT_TOGETHER, WINDOW)}
COLUMNS = RootColumns(NODES, {F.id: {"a": INTEGER, "x": BOOLEAN}, G.id: {"b": INTEGER, "x": STRING}})


@pytest.mark.parametrize(
    ("root", "name", "expected"),
    [
        (F, "a", INTEGER),
        (F, "b", None),
        (F, "_row", INTEGER),
        (JOIN, "a_1", INTEGER),
        (JOIN, "x_1", BOOLEAN),
        (JOIN, "x_2", STRING),
        (JOIN, "a_2", None),
        (JOIN, "a", None),
        (WINDOW, "x_2", STRING),
        (COUNTS, "a", INTEGER),
        (COUNTS, "x", None),
        (PUT_TOGETHER, "c1", INTEGER),
        (PUT_TOGETHER, "c2", None),
    ],
)
def test_columns_of_roots(root: Node, name: str, expected: DataType | None) -> None:
    assert COLUMNS.type_of(root.id, Column(name, INTEGER)) == expected


@pytest.mark.parametrize("node", [JOIN, COUNTS, PUT_TOGETHER, WINDOW])
def test_nodes_that_read_what_is_there(node: Node) -> None:
    COLUMNS.check_node(node)


def test_a_column_of_the_other_input() -> None:
    turned = Join(G.id, F.id, "", SAME, G.id, F.id, SAME)
    with pytest.raises(ValueError, match="'a' integer is read from the stream G, where there is no such column"):
        COLUMNS.check_node(turned)


def test_a_column_of_another_type() -> None:
    holds = pred_set([or_pred([Literal(X, Operator.HOLDS)])])
    with pytest.raises(ValueError, match="'x' boolean is read from the stream G, where it is string"):
        COLUMNS.check_node(Aggregate(Read(G.id, holds), (), frozenset([COUNT]), (G.id,)))


def test_a_column_of_an_input_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="an input that is not there"):
        COLUMNS.check({0: F.id}, [Column("a", INTEGER, 1)])
