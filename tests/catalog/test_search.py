"""Look-ups find what comparing everything with everything finds."""

from __future__ import annotations

from random import Random

import pytest
from catalog.random_networks import COLUMNS, joining, network, predicates

from workbench.catalog import search
from workbench.catalog.catalog import Catalog, QueryText
from workbench.network.nodes import Aggregate, Join, Read, Selection, SetOperation, Source
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.predicates.implication import implies

F, G = Source("F"), Source("G")
A, B = Column("a", INTEGER), Column("b", INTEGER)


@pytest.fixture(params=[0, search.FEW_SETS], ids=["index", "few"])
def few(request, monkeypatch):
    """Search through the index always, or only where there is much to search."""
    monkeypatch.setattr(search, "FEW_SETS", request.param)


def select(wants: PredSet, root: str = F.id) -> Selection:
    return Selection(Read(root, wants), root, wants)


def join(wants: PredSet, left: str = F.id, right: str = G.id) -> Join:
    return Join(left, right, str(wants), wants, left, right, wants)


def having(column: Column, operator: str, value: int | None = None) -> PredSet:
    right = None if value is None else Constant(value, INTEGER)
    return pred_set([or_pred([Literal(column, Operator(operator), right)])])


def every(*sets: PredSet) -> PredSet:
    return pred_set(p for s in sets for p in s)


def some(*sets: PredSet) -> PredSet:
    return pred_set([or_pred(x for s in sets for p in s for x in p.literals)])


NEVER = pred_set([or_pred([Literal(Constant(False, BOOLEAN), Operator.HOLDS)])])

IMPLIED = [
    (having(A, ">", 10), having(A, ">", 5)),
    (having(A, ">", 10), having(A, ">=", 11)),
    (having(A, "=", 7), having(A, "<>", 5)),
    (having(A, "=", 7), some(having(A, "=", 7), having(B, "=", 1))),
    (some(having(A, "=", 7), having(B, "=", 1)), some(having(A, ">", 5), having(B, "<", 3))),
    (having(A, ">", 10), having(A, "is not null")),
    (pred_set([or_pred([Literal(A, Operator.LT, B)])]), every(having(A, "is not null"), having(B, "is not null"))),
    (pred_set([or_pred([Literal(Call("+", (A, B), INTEGER), Operator.LT, Constant(5, INTEGER))])]),
     having(B, "is not null")),
    (pred_set([or_pred([Literal(A, Operator.EQ, B)])]), pred_set([or_pred([Literal(A, Operator.LE, B)])])),
    (every(having(A, ">", 3), having(A, "<", 5)), having(A, "=", 4)),
    (every(having(A, ">", 3), having(B, "<", 5)), TRUE),
    (having(A, "is null"), having(A, "is null")),
    (having(A, "is null"), some(having(A, "is null"), having(A, ">", 3))),
    (NEVER, having(A, "=", 1)),
    (every(having(A, "<", 1), having(A, ">", 1)), having(B, "=", 1)),
    (having(A, "<", -(2**63)), having(B, "=", 1)),
]  # fmt: skip


def subsuming(catalog: Catalog, root: str, required: PredSet) -> list[str]:
    """The selections that subsume, among those that the index finds."""
    found = catalog.selections_perhaps_subsuming(root, required)
    return [id_ for id_ in found if implies(required, catalog.node(id_).read.required)]


@pytest.mark.parametrize(("strong", "weak"), IMPLIED, ids=str)
def test_one_finds_the_other(few, strong, weak):
    catalog = Catalog()
    for wants in (strong, weak):
        catalog.put_node(select(wants))
        catalog.put_node(select(wants, G.id))
        catalog.put_node(join(wants))
        catalog.put_node(join(wants, G.id, F.id))
    same = [strong] if strong == weak else [strong, weak]
    assert subsuming(catalog, F.id, strong) == [select(s).id for s in same]
    assert catalog.selections_subsumed(F.id, weak) == [select(s).id for s in same]
    assert catalog.joins_subsuming(F.id, G.id, strong) == [join(s).id for s in same]
    assert catalog.joins_subsumed(F.id, G.id, weak) == [join(s).id for s in same]
    assert (select(strong).id in subsuming(catalog, F.id, weak)) == implies(weak, strong)
    assert (select(weak).id in catalog.selections_subsumed(F.id, strong)) == implies(weak, strong)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[:1], COLUMNS[1:3]], ids=["all", "integer", "decimal and double"])
def test_selections_are_those_that_comparing_finds(few, seed, columns):
    random, catalog = Random(seed), Catalog()
    nodes = [select(predicates(random, 3, columns), random.choice((F.id, G.id))) for _ in range(80)]
    for node in nodes:
        catalog.put_node(node)
    sets = {n.id: n.read.required for n in nodes if n.read.root == F.id}
    wanted = [predicates(random, 4, columns) for _ in range(40)] + list(sets.values())
    hits = 0
    for wants in wanted:
        above = [id_ for id_, p in sets.items() if implies(wants, p)]
        below = [id_ for id_, p in sets.items() if implies(p, wants)]
        assert subsuming(catalog, F.id, wants) == above
        assert catalog.selections_subsumed(F.id, wants) == below
        hits += len(above) + len(below)
    assert hits > 2 * len(wanted)


@pytest.mark.parametrize("seed", range(4))
def test_joins_are_those_that_comparing_finds(few, seed):
    random, catalog = Random(seed), Catalog()
    nodes = [join(joining(random), F.id, random.choice((F.id, G.id))) for _ in range(80)]
    for node in nodes:
        catalog.put_node(node)
    sets = {n.id: n.predicates for n in nodes if n.right_root == F.id}
    assert catalog.joins_between(F.id, F.id) == list(sets)
    assert catalog.joins_between(G.id, F.id) == []
    for wants in [every(p, predicates(random, 2)) for p in sets.values()]:
        above = [id_ for id_, p in sets.items() if implies(wants, p)]
        assert above and catalog.joins_subsuming(F.id, F.id, wants) == above
        assert catalog.joins_subsumed(F.id, F.id, wants) == [i for i, p in sets.items() if implies(p, wants)]


def test_an_empty_catalog_has_nothing():
    catalog = Catalog()
    read = Read(F.id, having(A, ">", 1))
    assert subsuming(catalog, F.id, read.required) == catalog.selections_subsumed(F.id, TRUE) == []
    assert catalog.joins_subsuming(F.id, F.id, NEVER) == catalog.joins_between(F.id, F.id) == []
    assert catalog.reads_of(F.id) == catalog.required_of(F.id) == []
    assert catalog.aggregates_of(read) == catalog.set_operations_reading(read) == []


@pytest.mark.parametrize("seed", range(6))
def test_readers_aggregates_and_set_operators_of_every_root(seed):
    whole, catalog = network(Random(seed), 60), Catalog()
    for node in whole.nodes.values():
        catalog.put_node(node)
    for plan in whole.queries.values():
        catalog.put_query(plan, QueryText("", "", ""))
    reads: dict[str, list[tuple[str, Read]]] = {}
    for id_, node in whole.nodes.items():
        match node:
            case Aggregate():
                reads[id_] = [node.read]
            case SetOperation():
                reads[id_] = [b.read for b in node.branches]
    reads |= {name: [plan.read] for name, plan in whole.queries.items()}
    aggregates = {id_: n for id_, n in whole.nodes.items() if isinstance(n, Aggregate)}
    for read in {r for of in reads.values() for r in of}:
        mine = [(reader, r.required) for reader, of in reads.items() for r in of if r.root == read.root]
        without_joins = [(x, p) for x, p in catalog.reads_of(read.root) if not isinstance(whole.nodes.get(x), Join)]
        assert sorted(without_joins, key=str) == sorted(mine, key=str)
        assert set(catalog.required_of(read.root)) == {p for _, p in catalog.reads_of(read.root)}
        assert catalog.aggregates_of(read) == [i for i, n in aggregates.items() if str(n.read) == str(read)]
        assert catalog.set_operations_reading(read) == [
            i for i, n in whole.nodes.items() if isinstance(n, SetOperation) and read in [b.read for b in n.branches]
        ]


@pytest.mark.parametrize("find", ["selections_perhaps_subsuming", "selections_subsumed"])
def test_only_what_may_fit_is_compared(monkeypatch, find):
    catalog, compared = Catalog(), []
    for i in range(300):
        catalog.put_node(select(every(having(A, ">", i), having(B, "=", i % 30))))
    monkeypatch.setattr(search, "implies", lambda p, q: compared.append((p, q)) or implies(p, q))
    found = getattr(catalog, find)(F.id, every(having(A, ">", 150), having(B, "=", 3)))
    assert len(found) in (5, 6) and len(compared) <= len(found) + 1
