"""A small network with every kind of node, and a report of a batch on it, made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, Join, NodeId, Selection, SetOperation, SetOperator, Source
from workbench.sql.expressions import AggregateCall, Call, Column, Constant, column_name
from workbench.sql.logical import Output
from workbench.sql.predicates import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.types import DATE, INTEGER, STRING, decimal

MONEY = decimal(15, 2)
AMOUNT = Column("amount", MONEY)


def where(*literals: Literal) -> PredSet:
    return pred_set(or_pred([literal]) for literal in literals)


def over(amount: int) -> PredSet:
    return where(Literal(AMOUNT, Operator.GT, Constant(amount, MONEY)))


def matching(left: str, right: str, type_=INTEGER, operator: Operator = Operator.EQ) -> Literal:
    return Literal(Column(left, type_, 0), operator, Column(right, type_, 1))


FED = Source("FedWireTrans")
BIG = Selection(FED.id, over(500_000))
HUGE = Selection(BIG.id, over(1_000_000))
SAME_BANK = Join(
    HUGE.id,
    BIG.id,
    where(
        matching("rbank_aba", "sbank_aba"),
        matching("benef_account", "orig_account", STRING),
        matching("tran_date", "tran_date", DATE, Operator.LE),
    ),
)
SAME_DAY = Selection(SAME_BANK.id, where(Literal(Column("amount_2", MONEY), Operator.GT, Column("amount_1", MONEY))))
TOTAL = AggregateCall("sum", (AMOUNT,), MONEY)
DAILY = Aggregate(
    FED.id,
    (Column("rbank_aba", INTEGER), Column("tran_date", DATE)),
    frozenset({TOTAL, AggregateCall("count", (), INTEGER)}),
)
RICH_DAYS = Selection(
    DAILY.id, where(Literal(Column(column_name(TOTAL), MONEY), Operator.GT, Constant(10_000_000, MONEY)))
)
NAMES = Aggregate(HUGE.id, (Column("rbank_name", STRING),))
ONLY_BIG = SetOperation(
    SetOperator.EXCEPT, ((BIG.id, (Column("sbank_aba", INTEGER),)), (HUGE.id, (Column("sbank_aba", INTEGER),)))
)
HALF = Call("*", (AMOUNT, Constant(2, INTEGER)), MONEY)

NODES = (FED, BIG, HUGE, SAME_BANK, SAME_DAY, DAILY, RICH_DAYS, NAMES, ONLY_BIG)


def plan(name: str, node: NodeId) -> QueryPlan:
    return QueryPlan(name, node, (Output("tranid", Column("tranid", INTEGER)),))


def example() -> Network:
    network = Network().with_nodes(NODES)
    for name, node in (
        ("big_transfers", BIG),
        ("huge_transfers", HUGE),
        ("passed_on", SAME_BANK),
        ("passed_on_more", SAME_DAY),
        ("rich_days", RICH_DAYS),
        ("rich_banks", NAMES),
        ("only_big", ONLY_BIG),
    ):
        network = network.with_query(plan(name, node.id))
    return network


@dataclass
class Operated:
    name: str
    nodes: tuple[NodeId, ...]
    rows_in: int
    rows_out: int
    seconds: float


@dataclass
class NodeCount:
    id: NodeId
    rows_in: int
    rows_out: int
    seconds: float | None = None


@dataclass
class Report:
    batch: int
    rows: int
    seconds: float
    operators: list[Operated]
    changes: dict[str, int] = field(default_factory=dict)

    def node(self, id_: NodeId) -> NodeCount:
        for operator in self.operators:
            if id_ in operator.nodes:
                place = operator.nodes.index(id_)
                return NodeCount(id_, operator.rows_in, max(0, operator.rows_out - 100 * place))
        raise KeyError(id_)


def report(network: Network, batch: int = 1) -> Report:
    operators = [
        Operated(f"tree of {root}", nodes, 1000, 900 - 50 * i, 0.01 + 0.1 * i**2)
        for i, (root, nodes) in enumerate(network.trees.items())
    ]
    changes = {name: 3 * i for i, name in enumerate(network.queries)}
    return Report(batch, 1000, sum(o.seconds for o in operators), operators, changes)
