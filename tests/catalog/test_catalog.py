"""The catalog keeps a network exactly, undoes what failed, and forgets what nothing uses any more."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from catalog.random_networks import MONEY, network

from workbench.catalog.catalog import Catalog, QueryText
from workbench.catalog.database import CatalogError
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, Branch, Join, Read, Selection, SetOperation, SetOperator, Source
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, column_name
from workbench.sql.algebra.types import DATE, INTEGER, decimal
from workbench.sql.functions.aggregates import AGGREGATES
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, map_predicates, or_pred, orient, pred_set

TEXT = QueryText("SELECT 'it''s'", "oracle", "logical\ntext")
AMOUNT = Column("amount", MONEY)
FED = Source("F")


def over(amount: int | Decimal) -> PredSet:
    return pred_set([or_pred([Literal(AMOUNT, Operator.GT, Constant(amount, MONEY))])])


def selection(amount: int | Decimal, parent: str = FED.id) -> Selection:
    return Selection(Read(FED.id, over(amount)), parent, over(amount))


def plan(name: str, node: Selection) -> QueryPlan:
    return QueryPlan(name, node.read, (Output("A", AMOUNT),), (node.id,))


def filled(catalog: Catalog, whole: Network) -> Catalog:
    with catalog.transaction():
        for node in whole.nodes.values():
            catalog.put_node(node)
        for query in whole.queries.values():
            catalog.put_query(query, TEXT)
            catalog.set_serves(query.name, whole.ancestors(query.nodes))
    return catalog


def dump(catalog: Catalog) -> dict[str, list[tuple]]:
    tables = [name for (name,) in catalog.query("SELECT name FROM sqlite_master WHERE type = 'table'")[1]]
    return {table: sorted(catalog.query(f"SELECT * FROM {table}")[1], key=repr) for table in tables}


def assert_same(found: Network, expected: Network) -> None:
    assert list(found.nodes.items()) == list(expected.nodes.items())
    assert list(found.queries.items()) == list(expected.queries.items())
    assert [node.id for node in found.nodes.values()] == list(expected.nodes)


@pytest.mark.parametrize("seed", range(12))
def test_a_network_is_the_same_when_it_is_opened_again(seed, tmp_path):
    whole = network(Random(seed))
    assert any(isinstance(node, SetOperation) and node.base for node in network(Random(0)).nodes.values())
    filled(Catalog(tmp_path / "c.db"), whole).close()
    with Catalog(tmp_path / "c.db") as again:
        assert_same(again.network(), whole)
        assert_same(again.network(), whole)
        assert again.query_text("it's Ω") == TEXT
        assert again.node("F00000000") is None and again.plan("nobody") is None and again.query_text("nobody") is None


def test_a_network_is_the_same_in_another_process(tmp_path):
    statistics = frozenset(AggregateCall(f, (AMOUNT,), decimal(25, 2)) for f in ("sum", "min", "max"))
    node = Aggregate(Read(FED.id, over(Decimal("1.50"))), (Column("d", DATE),), statistics, (FED.id,))
    whole = Network({FED.id: FED, node.id: node}, {"q": QueryPlan("q", node.read, (Output("A", AMOUNT),), (node.id,))})
    filled(Catalog(tmp_path / "c.db"), whole).close()
    script = """if True:
        import pathlib, pickle, sys
        from workbench.catalog.catalog import Catalog
        network = Catalog(pathlib.Path(sys.argv[1])).network()
        sys.stdout.buffer.write(pickle.dumps((dict(network.nodes), dict(network.queries))))
    """
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "c.db"], capture_output=True, check=True)
    nodes, queries = pickle.loads(done.stdout)
    assert_same(Network(nodes, queries), whole)
    assert str(nodes[node.id].read.required) == "amount > 1.5"


@pytest.mark.parametrize("seed", range(6))
def test_without_its_nodes_and_queries_a_catalog_is_as_new(seed):
    whole, catalog = network(Random(seed)), Catalog()
    empty = dump(catalog)
    filled(catalog, whole)
    names, ids = list(whole.queries), list(whole.nodes)
    Random(seed).shuffle(ids)
    for name in names:
        catalog.put_decisions(name, [{"node": ids[0]}])
        catalog.remove_query(name)
    for id_ in ids:
        catalog.remove_node(id_)
    assert dump(catalog) == empty


@pytest.mark.parametrize("seed", range(6))
def test_what_is_added_and_removed_again_leaves_no_trace(seed):
    random = Random(seed)
    whole, other = network(random), network(random)
    catalog = filled(Catalog(), whole)
    before = dump(catalog)
    news = [node for id_, node in other.nodes.items() if id_ not in whole.nodes]
    assert news
    for node in news:
        catalog.put_node(node)
    catalog.put_query(replace(other.queries["a"], name="new"), TEXT)
    assert dump(catalog) != before
    catalog.remove_query("new")
    for node in news:
        catalog.remove_node(node.id)
    assert dump(catalog) == before


def test_equal_values_of_other_spelling_are_one_and_of_other_type_are_kept_apart():
    spellings = [selection(Decimal("1.5")), selection(Decimal("1.50"))]
    other = Column("amount", decimal(9, 2))
    third = pred_set([or_pred([Literal(other, Operator.GT, Constant(Decimal("1.5"), MONEY))])])
    join = Join(FED.id, FED.id, "", third, FED.id, FED.id, third)
    catalog = Catalog()
    for node in (*spellings, join):
        catalog.put_node(node)
    catalog._nodes_read.clear()
    catalog._predicates._sets.clear()
    catalog._predicates._ors.clear()
    one, other = spellings
    assert one.id == other.id and catalog.node(one.id) == one == other
    assert catalog.node(join.id) == join
    assert one.id != Selection(Read(FED.id, third), FED.id, third).id


def test_a_replaced_node_keeps_its_place_and_leaves_no_predicates():
    whole = [FED, selection(1), selection(5)]
    catalog, expected = Catalog(), Catalog()
    moved = Selection(whole[1].read, whole[1].parent, over(7))
    for node in (FED, moved, whole[2]):
        catalog.put_node(node)
    for node in whole:
        catalog.put_node(node)
        expected.put_node(node)
    assert dump(catalog) == dump(expected)
    assert list(catalog.network().nodes) == [n.id for n in whole]


def test_a_replaced_query_keeps_its_place_and_leaves_no_predicates():
    first, second = plan("first", selection(1)), plan("second", selection(2))
    catalog, expected = Catalog(), Catalog()
    for node in (FED, selection(1), selection(2)):
        catalog.put_node(node)
        expected.put_node(node)
    catalog.put_query(replace(first, read=Read(FED.id, over(99)), outputs=()), QueryText("", "", ""))
    for query in (second, first):
        catalog.put_query(query, TEXT)
    for query in (first, second):
        expected.put_query(query, TEXT)
    assert dump(catalog) == dump(expected)
    assert catalog.network().queries == expected.network().queries
    assert list(catalog.network().queries) == ["first", "second"]


def test_parents_come_first_also_when_a_node_is_moved_below_a_later_one(catalog):
    moved = replace(selection(1), parent=selection(9).id)
    catalog.put_node(selection(9))
    catalog.put_node(moved)
    nodes = {n.id: n for n in (FED, moved, selection(5), selection(9))}
    assert list(catalog.network().nodes.items()) == list(Network(nodes).nodes.items())


class _Failure(Exception):
    pass


def _change_everything(catalog: Catalog) -> None:
    catalog.put_node(selection(77))
    catalog.put_node(replace(selection(1), parent=selection(77).id))
    catalog.remove_node(selection(5).id)
    catalog.put_query(plan("new", selection(77)), TEXT)
    catalog.put_query(plan("q", selection(1)), QueryText("other", "", ""))
    catalog.remove_query("gone")
    catalog.put_decisions("q", [{"rule": "new"}])


@pytest.fixture
def catalog():
    made = Catalog()
    for node in (FED, selection(1), selection(5)):
        made.put_node(node)
    for name in ("q", "gone"):
        made.put_query(plan(name, selection(5)), TEXT)
        made.set_serves(name, [FED.id, selection(5).id])
    return made


def test_a_transaction_that_fails_leaves_all_as_it_was(catalog):
    before, network_before = dump(catalog), catalog.network()
    with pytest.raises(_Failure), catalog.transaction():
        _change_everything(catalog)
        assert catalog.node(selection(1).id).parent == selection(77).id
        raise _Failure
    assert dump(catalog) == before
    assert_same(catalog.network(), network_before)


def test_a_rehearsal_is_always_undone(catalog):
    before, network_before = dump(catalog), catalog.network()
    with catalog.rehearsal():
        _change_everything(catalog)
        assert list(catalog.network().queries) == ["q", "new"]
        assert catalog.selections_perhaps_subsuming(FED.id, over(100)) == [selection(1).id, selection(77).id]
    assert dump(catalog) == before
    assert_same(catalog.network(), network_before)
    assert catalog.selections_perhaps_subsuming(FED.id, over(100)) == [selection(1).id, selection(5).id]


def test_an_inner_transaction_is_undone_alone(catalog):
    with catalog.transaction():
        catalog.put_node(selection(8))
        with pytest.raises(_Failure), catalog.transaction():
            catalog.put_node(selection(9))
            catalog.put_node(replace(selection(8), parent=selection(9).id))
            raise _Failure
        assert catalog.node(selection(8).id) == selection(8)
    assert catalog.node(selection(8).id) == selection(8)
    assert catalog.node(selection(9).id) is None


def test_an_outer_transaction_undoes_the_inner(catalog):
    before = dump(catalog)
    with catalog.rehearsal(), catalog.transaction():
        catalog.put_node(selection(9))
    assert dump(catalog) == before and catalog.node(selection(9).id) is None


def test_what_is_not_committed_is_not_in_the_file(tmp_path):
    with Catalog(tmp_path / "c.db") as writing:
        writing.put_node(FED)
        with writing.rehearsal():
            writing.put_node(selection(1))
            with Catalog(tmp_path / "c.db") as reading:
                assert list(reading.network().nodes) == [FED.id]


def test_who_a_node_serves_can_be_looked_up(catalog):
    def served(node):
        _, rows = catalog.query(f"SELECT query FROM serves WHERE node = '{node.id}' ORDER BY query")
        return [query for (query,) in rows]

    catalog.put_query(plan("a", selection(1)), TEXT)
    catalog.set_serves("a", [FED.id])
    assert (served(FED), served(selection(5))) == (["a", "gone", "q"], ["gone", "q"])
    catalog.set_serves("gone", [selection(1).id, selection(1).id])
    assert (served(FED), served(selection(1))) == (["a", "q"], ["gone"])
    catalog.remove_query("gone")
    assert served(selection(1)) == []


def test_decisions_come_back_in_order(catalog):
    rows = [
        {"node": "S1", "operator": "select", "rule": "equal", "created": False, "cost": 1.5, "reason": "it's there",
         "candidates": ["S1", {"cost": None}]},
        {"rule": "new"},
    ]  # fmt: skip
    catalog.put_decisions("q", [{"rule": "before"}] * 3)
    catalog.put_decisions("q", rows)
    assert catalog.decisions("q") == rows
    assert catalog.decisions("nobody") == []
    _, found = catalog.query("SELECT step, node, rule, operator, created, cost, reason FROM decisions")
    assert found == [(1, "S1", "equal", "select", 0, 1.5, "it's there"), (2, None, "new", None, None, None, None)]


def test_a_join_reads_each_side_by_the_predicates_of_that_side():
    left, right = Column("a", INTEGER), Column("b", INTEGER, 1)
    one, two = Constant(1, INTEGER), Constant(2, INTEGER)
    keys = or_pred([orient(Literal(left, Operator.EQ, right))])
    mixed = or_pred([Literal(left, Operator.EQ, one), Literal(right, Operator.EQ, two)])
    on_left, on_right = or_pred([Literal(left, Operator.GT, one)]), or_pred([Literal(right, Operator.LT, two)])
    predicates = pred_set([keys, mixed, on_left, on_right])
    join = Join(FED.id, FED.id, "", predicates, FED.id, FED.id, predicates)
    catalog = Catalog()
    catalog.put_node(join)
    below = map_predicates(pred_set([on_right]), lambda c: replace(c, source=0))
    assert catalog.reads_of(FED.id) == [(join.id, pred_set([on_left])), (join.id, below)]
    assert str(below) == "b < 2"


def test_the_jvoas_of_a_selection_are_those_of_the_join_it_selects_from(catalog):
    join = Join(FED.id, FED.id, "x", over(1), FED.id, FED.id, over(1))
    below = Selection(Read(join.id, over(2)), join.id, over(2))
    catalog.put_node(join)
    catalog.put_node(below)
    _, rows = catalog.query("SELECT node, jvoa_left, jvoa_right FROM selection_topology")
    assert set(rows) == {
        (selection(1).id, None, None),
        (selection(5).id, None, None),
        (below.id, FED.id, FED.id),
    }


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM nodes", "only read"),
        ("INSERT INTO sources VALUES ('a', 'b', 'c')", "only read"),
        ("DROP TABLE nodes", "only read"),
        ("PRAGMA user_version = 8", "only read"),
        ("PRAGMA query_only = OFF", "only read"),
        ("ATTACH ':memory:' AS other", "only read"),
        ("COMMIT", "only read"),
        ("SELECT * FROM nowhere", "there is no relation nowhere"),
        ("SELECT stream FROM nodes", "there is no column stream"),
        ("SELEC", "syntax error"),
        ("SELECT 1; DELETE FROM nodes", "one statement"),
    ],
)
def test_a_query_of_the_catalog_only_reads(catalog, sql, message):
    before = dump(catalog)
    with pytest.raises(CatalogError, match=message) as raised:
        catalog.query(sql)
    assert "nodes" in raised.value.hint and "serves" in raised.value.hint
    assert dump(catalog) == before
    catalog.put_node(selection(3))


def test_a_query_of_the_catalog_gives_names_and_rows(catalog):
    assert catalog.query('SELECT kind, count(*) AS "how many" FROM nodes GROUP BY kind ORDER BY kind') == (
        ("kind", "how many"),
        [("selection", 2), ("source", 1)],
    )
    assert catalog.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n") == (
        ("i",),
        [(1,), (2,), (3,)],
    )
    assert catalog.query("SELECT id FROM nodes WHERE 0") == (("id",), [])


def test_every_aggregate_has_its_rules():
    _, rows = Catalog().query("SELECT function, category, incremental, vertical, reason FROM aggregate_rules")
    assert {row[0].removesuffix(" DISTINCT").lower() for row in rows} == set(AGGREGATES)
    for _, category, incremental, vertical, reason in rows:
        assert (incremental is None) == (category == "holistic")
        assert vertical or reason


def test_a_file_of_another_version_is_refused(tmp_path):
    Catalog(tmp_path / "c.db").close()
    connection = sqlite3.connect(tmp_path / "c.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CatalogError, match="version 99, and this workbench reads version 31"):
        Catalog(tmp_path / "c.db")


def test_a_file_that_is_no_catalog_is_refused_and_not_touched(tmp_path):
    (tmp_path / "text").write_text("no database at all " * 100)
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for name in ("text", "other.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(CatalogError, match="not a catalog"):
            Catalog(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(CatalogError, match="cannot be opened"):
        Catalog(tmp_path / "no folder" / "c.db")


def test_a_catalog_that_cannot_write_says_so(catalog):
    catalog.close()
    with pytest.raises(CatalogError, match="closed"):
        catalog.put_node(FED)


def test_columns_are_told_over_parents_and_over_roots():
    day, other = Column("day", DATE), Column("other", MONEY)
    total = AggregateCall("sum", (AMOUNT,), MONEY)
    big = selection(5)
    join = Join(FED.id, FED.id, "x", PredSet(), big.id, FED.id, PredSet())
    later = Selection(Read(join.id, PredSet()), join.id, PredSet())
    fine = Aggregate(Read(FED.id), (day, other), frozenset({total}), (FED.id,))
    coarse = Aggregate(Read(FED.id), (day,), frozenset({total}), (fine.id,), fine.groups)
    half = Branch(Read(FED.id), (Constant(1, MONEY),))
    both = SetOperation(SetOperator.UNION, (Branch(big.read, (AMOUNT,)), half),
                        ((big.id, (AMOUNT,)), (FED.id, half.values)))  # fmt: skip
    whole = Network({n.id: n for n in (FED, big, join, later, fine, coarse, both)})
    columns = {"amount": MONEY}
    name = column_name(total)
    carried = {
        FED.id: {**columns, "day": DATE}, join.id: {"amount_1": MONEY, "day_2": DATE},
        fine.id: {"day": DATE, "other": MONEY, name: MONEY}, coarse.id: {"day": DATE}, both.id: {"c1": MONEY},
    }  # fmt: skip
    catalog = filled(Catalog(), whole)
    for _ in range(2):
        catalog.refresh_columns(whole, carried)
    simple = set(catalog.query("SELECT * FROM simple_columns")[1])
    money, date = str(MONEY), "date"
    nothing = (None,) * 2
    assert simple == {
        (FED.id, "amount", 0, money, *nothing * 3), (FED.id, "day", 0, date, *nothing * 3),
        (big.id, "amount", 0, money, FED.id, "amount", FED.id, "amount", *nothing),
        (big.id, "day", 0, date, FED.id, "day", FED.id, "day", *nothing),
        (join.id, "amount_1", 0, money, big.id, "amount", *(FED.id, "amount") * 2),
        (join.id, "day_2", 1, date, FED.id, "day", *(FED.id, "day") * 2),
        (later.id, "amount_1", 0, money, join.id, "amount_1", join.id, "amount_1", FED.id, "amount"),
        (later.id, "day_2", 0, date, join.id, "day_2", join.id, "day_2", FED.id, "day"),
        (both.id, "c1", 0, money, big.id, "amount", FED.id, "amount", *nothing),
    }  # fmt: skip
    computed = catalog.query(
        "SELECT node, name, side, direct_parent, direct_expression, origin_root, origin_expression, text"
        " FROM expression_columns LEFT JOIN group_expressions ON id = group_expression"
    )[1]
    assert set(computed) == {
        (fine.id, "day", 0, FED.id, "day", FED.id, "day", "day"),
        (fine.id, "other", 0, FED.id, "other", FED.id, "other", "other"),
        (fine.id, name, 0, FED.id, "sum(amount)", FED.id, "sum(amount)", None),
        (coarse.id, "day", 0, fine.id, "day", FED.id, "day", "day"),
        (both.id, "c1", 1, FED.id, "1", FED.id, "1", None),
    }
    catalog.remove_node(both.id)
    assert not catalog.query(f"SELECT 1 FROM expression_columns WHERE node = '{both.id}'")[1]


@pytest.mark.parametrize("seed", range(20))
def test_sort_ids_put_parents_first_and_have_the_join_levels_of_the_network(seed):
    made = network(Random(seed))
    catalog = filled(Catalog(), made)
    _, rows = catalog.query("SELECT node, join_level, sequence_id FROM sort_ids")
    found = {node: (level, place) for node, level, place in rows}
    assert {node: level for node, (level, _) in found.items()} == made.join_levels
    parents = catalog.query("SELECT node, parent FROM node_parents")[1]
    assert {(id_, parent) for id_, node in made.nodes.items() for parent in node.parents} == set(parents)
    assert all(found[parent] < found[node] for node, parent in parents)


def test_relations_that_follow_from_others_are_listed_and_only_read(tmp_path):
    catalog = Catalog(tmp_path / "c.db")
    assert {"sort_ids", "node_parents", "checkpoints"} <= {name for name, _, _ in catalog.tables()}
    assert catalog.query("SELECT count(*) FROM checkpoints")[1] in ([(0,)], [(1,)])
    with pytest.raises(CatalogError, match="only read"):
        catalog.query("DROP VIEW sort_ids")
    catalog.close()
    Catalog(tmp_path / "c.db").close()  # they are in no file
