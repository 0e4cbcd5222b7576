"""Random predicates and networks with every kind of node, for tests of the catalog."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace
from decimal import Decimal
from random import Random

from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import (
    Aggregate,
    Branch,
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
    SetOperator,
    Source,
)
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, Value
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet, conjunction, or_pred, orient, pred_set

MONEY = decimal(15, 2)
DAY = dt.date(2020, 1, 1)

VALUES: dict[DataType, tuple[Value, ...]] = {
    INTEGER: (0, 1, 5, 10, -3, 2**63 - 1),
    MONEY: (Decimal("1.5"), Decimal("1.50"), Decimal("5"), Decimal("-0.00"), 10),
    DOUBLE: (0.0, -0.0, 0.1, 1e300, math.nan, math.inf, -math.inf),
    STRING: ("", "a", 'it\'s "quoted"', "Zürich\0\n", "b"),
    DATE: (DAY, dt.date.min, dt.date.max),
    TIMESTAMP: (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30, 0, 5), dt.datetime.max),
    BOOLEAN: (True, False),
}
TYPES = tuple(VALUES)
COLUMNS = tuple(Column(f"x{i}", type_) for i, type_ in enumerate((*TYPES, INTEGER, INTEGER)))
"""One column of each type, and two more of INTEGER."""

_COMPARED = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE)


def constant(random: Random, type_: DataType) -> Constant:
    return Constant(None if random.random() < 0.05 else random.choice(VALUES[type_]), type_)


def literal(random: Random, column: Column) -> Literal:
    same = [c for c in COLUMNS if c.type == column.type and c != column]
    match random.randrange(12):
        case 0:
            return Literal(column, random.choice((Operator.IS_NULL, Operator.IS_NOT_NULL)))
        case 1 if same:
            return orient(Literal(column, random.choice(_COMPARED), random.choice(same)))
        case 2:
            return Literal(Call("not", (Call("like", (column, Constant("a%", STRING)), BOOLEAN),), BOOLEAN),
                           Operator.HOLDS)  # fmt: skip
        case _:
            return Literal(column, random.choice(_COMPARED), constant(random, column.type))


def disjunction(random: Random, columns: tuple[Column, ...]) -> ORPred:
    size = random.choice((1, 1, 1, 2, 3))
    return or_pred(literal(random, random.choice(columns)) for _ in range(size))


def predicates(random: Random, most: int = 3, columns: tuple[Column, ...] = COLUMNS) -> PredSet:
    return pred_set(disjunction(random, columns) for _ in range(random.randint(0, most)))


def joining(random: Random) -> PredSet:
    """The predicates of a join: an equality, and maybe a test of one side."""
    left, right = random.choice(COLUMNS), random.choice(COLUMNS)
    keys = or_pred([orient(Literal(left, Operator.EQ, replace(right, source=1)))])
    side = random.randrange(2)
    own = predicates(random, 2, tuple(replace(c, source=side) for c in COLUMNS[:3]))
    return pred_set([keys, *own])


def expression(random: Random) -> Expression:
    column = random.choice(COLUMNS)
    if random.random() < 0.5:
        return column
    return Call("coalesce", (column, constant(random, column.type)), column.type)


def nodes(random: Random, count: int) -> dict[NodeId, Node]:
    """A network with the two sources first and then every kind of node, several times."""
    made: dict[NodeId, Node] = {s.id: s for s in (Source("F"), Source("G", "somebody", append_only=False))}
    makers = (_selection, _join, _aggregate, _set_operation)
    for i in range(count):
        node = makers[i % len(makers)](random, made)
        made.setdefault(node.id, node)
    return made


def network(random: Random, count: int = 24) -> Network:
    """``nodes`` and some queries."""
    made = nodes(random, count)
    return Network(made, {name: plan(random, name, made) for name in ("b", "a", "it's Ω")})


def plan(random: Random, name: str, made: dict[NodeId, Node]) -> QueryPlan:
    outputs = tuple(Output(f"Column {i}", expression(random)) for i in range(random.randint(1, 3)))
    return QueryPlan(name, _read(random, made), outputs, tuple(random.sample(list(made), 2)))


def _read(random: Random, made: dict[NodeId, Node]) -> Read:
    return Read(_root(random, made), predicates(random))


def _root(random: Random, made: dict[NodeId, Node]) -> NodeId:
    return random.choice([id_ for id_, node in made.items() if not isinstance(node, Selection)])


def _selection(random: Random, made: dict[NodeId, Node]) -> Selection:
    above = random.choice([n for n in made.values() if not isinstance(n, Selection) or n.predicates])
    own = predicates(random)
    if isinstance(above, Selection):
        return Selection(Read(above.read.root, conjunction(above.read.required, own)), above.id, own)
    return Selection(Read(above.id, own), above.id, own)


def _join(random: Random, made: dict[NodeId, Node]) -> Join:
    left, right, tested = _root(random, made), _root(random, made), joining(random)
    return Join(left, right, str(tested), tested, left, right, tested, random.randint(1, 3), random.randint(1, 3))


def _aggregate(random: Random, made: dict[NodeId, Node]) -> Aggregate:
    groups = tuple(dict.fromkeys(expression(random) for _ in range(random.randint(0, 3))))
    statistics = frozenset(
        AggregateCall(random.choice(("sum", "max")), (c,), c.type, random.random() < 0.3)
        for c in random.sample(COLUMNS, random.randint(0, 3))
    )
    finer = random.choice((None, (), (*groups, COLUMNS[0])))
    parents = random.sample(list(made), 1 if finer is not None else random.randint(1, min(3, len(made))))
    return Aggregate(_read(random, made), groups, statistics, tuple(parents), finer)


def _set_operation(random: Random, made: dict[NodeId, Node]) -> SetOperation:
    branches = tuple(
        Branch(_read(random, made), (expression(random), expression(random))) for _ in range(random.randint(2, 3))
    )
    direct = tuple((random.choice(list(made)), (Column("c2", INTEGER), expression(random))) for _ in branches[1:])
    # A node that stands for several branches is among the direct parents.
    base = random.choice((None, direct[0][0]))
    return SetOperation(random.choice(list(SetOperator)), branches, direct, base)
