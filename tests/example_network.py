"""A small network with every kind of node, and a report of a batch on it, made by hand."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.engine.reports import BatchReport, OperatorReport
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import (
    Aggregate,
    Branch,
    Join,
    Node,
    Read,
    Selection,
    SetOperation,
    SetOperator,
    Source,
)
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, column_name
from workbench.sql.algebra.types import DATE, INTEGER, STRING, DataType, decimal
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, conjunction, or_pred, pred_set

MONEY = decimal(15, 2)
AMOUNT = Column("amount", MONEY)


def where(*literals: Literal) -> PredSet:
    return pred_set(or_pred([literal]) for literal in literals)


def over(amount: int, side: int = 0) -> PredSet:
    return where(Literal(Column("amount", MONEY, side), Operator.GT, Constant(amount, MONEY)))


def matching(left: str, right: str, type_: DataType = INTEGER, operator: Operator = Operator.EQ) -> Literal:
    return Literal(Column(left, type_, 0), operator, Column(right, type_, 1))


def selection(root: Node, wants: PredSet) -> Selection:
    """A selection evaluated from its root."""
    return Selection(Read(root.id, wants), root.id, wants)


def join(left: Node, right: Node, wants: PredSet, left_leaves: int = 1) -> Join:
    """A join evaluated from its roots."""
    return Join(left.id, right.id, str(wants), wants, left.id, right.id, wants, left_leaves)


FED = Source("FedWireTrans")
BIG = selection(FED, over(500_000))
HUGE = Selection(Read(FED.id, over(1_000_000)), BIG.id, over(1_000_000))
INSIDE = selection(FED, where(Literal(Column("rbank_aba", INTEGER), Operator.EQ, Column("sbank_aba", INTEGER))))
PASSED_ON = where(
    matching("rbank_aba", "sbank_aba"),
    matching("benef_account", "orig_account", STRING),
    matching("tran_date", "tran_date", DATE, Operator.LE),
)
BOTH_SIDES = conjunction(PASSED_ON, over(1_000_000), over(500_000, side=1))
SAME_BANK = Join(FED.id, FED.id, str(BOTH_SIDES), BOTH_SIDES, HUGE.id, BIG.id, PASSED_ON)
SAME_DAY = selection(SAME_BANK, where(Literal(Column("amount_2", MONEY), Operator.GT, Column("amount_1", MONEY))))
TOTAL, COUNT = AggregateCall("sum", (AMOUNT,), MONEY), AggregateCall("count", (), INTEGER)
DAILY = Aggregate(
    Read(FED.id), (Column("rbank_aba", INTEGER), Column("tran_date", DATE)), frozenset({TOTAL, COUNT}), (FED.id,)
)
RICH_DAYS = selection(
    DAILY, where(Literal(Column(column_name(TOTAL), MONEY), Operator.GT, Constant(10_000_000, MONEY)))
)
BY_BANK = Aggregate(
    Read(FED.id), (Column("rbank_aba", INTEGER),), frozenset({TOTAL, COUNT}), (DAILY.id,), finer=DAILY.groups
)
NAMES = Aggregate(HUGE.read, (Column("rbank_name", STRING),), frozenset(), (HUGE.id,))
SENDER = (Column("sbank_aba", INTEGER),)
ONLY_BIG = SetOperation(
    SetOperator.EXCEPT, (Branch(BIG.read, SENDER), Branch(HUGE.read, SENDER)), ((BIG.id, SENDER), (HUGE.id, SENDER))
)

FIRST_COLUMNS = {NAMES.id: "rbank_name"}
"""A column of rows of a root, where it is not the one that roots of its kind have here."""

STATISTICS = {DAILY.id: (COUNT, TOTAL), BY_BANK.id: (COUNT, TOTAL)}
"""What queries read of aggregates beside that."""

NODES = (FED, BIG, HUGE, INSIDE, SAME_BANK, SAME_DAY, DAILY, RICH_DAYS, BY_BANK, NAMES, ONLY_BIG)


def plan(name: str, *nodes: Node) -> QueryPlan:
    """A query that reads the rows that belong to all of these nodes, of one local tree."""
    reads = [node.read if isinstance(node, Selection) else Read(node.id) for node in nodes]
    read = Read(reads[0].root, conjunction(*(read.required for read in reads)))
    column = FIRST_COLUMNS.get(read.root, {"F": "tranid", "J": "tranid_1", "G": "rbank_aba", "U": "c1"}[read.root[0]])
    outputs = [Output("tranid", Column(column, INTEGER))]
    if read.root in STATISTICS:
        outputs += [Output(s.function, Column(column_name(s), s.type)) for s in STATISTICS[read.root]]
    return QueryPlan(name, read, tuple(outputs), tuple(sorted(node.id for node in nodes)))


def network_of(nodes: Iterable[Node], *plans: QueryPlan) -> Network:
    return Network({node.id: node for node in nodes}, {plan.name: plan for plan in plans})


def without(network: Network, name: str) -> Network:
    """The network with a query gone, and with it the nodes that no other query needs."""
    plans = [plan for plan in network.queries.values() if plan.name != name]
    needed = network.ancestors(id_ for plan in plans for id_ in plan.nodes)
    return network_of((node for id_, node in network.nodes.items() if id_ in needed), *plans)


def example() -> Network:
    return network_of(
        NODES,
        plan("big_transfers", BIG),
        plan("huge_transfers", HUGE),
        plan("big_and_inside", BIG, INSIDE),
        plan("passed_on", SAME_BANK),
        plan("passed_on_more", SAME_DAY),
        plan("rich_days", RICH_DAYS),
        plan("by_bank", BY_BANK),
        plan("rich_banks", NAMES),
        plan("only_big", ONLY_BIG),
    )


def report(network: Network, batch: int = 1, profile: bool = False) -> BatchReport:
    operators = tuple(
        OperatorReport(
            f"tree of {root}",
            nodes,
            1000,
            900 - 50 * i,
            0.01 + 0.1 * i**2,
            {node: max(0, 900 - 50 * i - 100 * place) for place, node in enumerate(nodes)},
            dict.fromkeys(nodes if profile else (), 0.01),
        )
        for i, (root, nodes) in enumerate(network.trees.items())
    )
    changes = {name: 3 * i for i, name in enumerate(network.queries)}
    return BatchReport(batch, 1000, sum(o.seconds for o in operators), operators, changes)
