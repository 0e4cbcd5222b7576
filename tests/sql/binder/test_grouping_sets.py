"""ROLLUP, CUBE, GROUPING SETS and GROUP BY ALL: which groupings there are, and what each selects."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.expressions import text
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery, Ordered, SetQuery, output_columns


def query(group_by: str, selected: str = "count(*)") -> LogicalQuery:
    bound = bind(f"select {selected} from T group by {group_by}", "spark", SCHEMA).query
    assert bound is not None
    return bound


def groupings(bound: LogicalQuery) -> list[str]:
    blocks = bound.branches if isinstance(bound, SetQuery) else (bound,)
    found = []
    for block in blocks:
        assert isinstance(block, Block) and block.grouping is not None
        found.append(" ".join(map(text, block.grouping.groups)))
    return found


@pytest.mark.parametrize(
    ("group_by", "expected"),
    [
        ("rollup(a, b)", ["a b", "a", ""]),
        ("a, b with rollup", ["a b", "a", ""]),
        ("cube(a, b)", ["a b", "a", "b", ""]),
        ("a, b with cube", ["a b", "a", "b", ""]),
        ("grouping sets ((a, b), a, ())", ["a b", "a", ""]),
        ("a, b grouping sets ((a), (b))", ["a", "b"]),
        ("grouping sets (rollup(a), (b), (b))", ["a", "", "b", "b"]),
        ("rollup((a, b), c)", ["a b c", "a b", ""]),
        ("c, rollup(a), cube(b)", ["a b c", "a c", "b c", "c"]),
        ("rollup(a, a)", ["a", "a", ""]),
        ("()", [""]),
    ],
)
def test_groupings(group_by: str, expected: list[str]) -> None:
    assert groupings(query(group_by)) == expected


def test_what_a_grouping_lacks_is_null_of_its_type_and_grouping_says_so() -> None:
    bound = query("rollup(a, s)", "a, upper(s) u, grouping(a) g, grouping_id(s, a) i, grouping_id() j, sum(a) t")
    assert isinstance(bound, SetQuery) and bound.all
    selected = [[text(o.expression) for o in b.outputs] for b in bound.branches if isinstance(b, Block)]
    assert [row[:5] for row in selected] == [
        ["a", "upper(s)", "0", "0", "0"],
        ["a", "upper(null::string)", "0", "2", "1"],
        ["null::integer", "upper(null::string)", "1", "3", "3"],
    ]
    # SUM(a) is of the rows, also where a is no group.
    assert len({row[5] for row in selected}) == 1


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ("a, b + 1 as c, count(*)", ["(b + 1) a"]),
        ("*, count(*)", ["a d k s"]),
        ("1, count(*)", [""]),
        ("a, b", ["a b"]),
    ],
)
def test_group_by_all_groups_by_what_is_no_aggregate(selected: str, expected: list[str]) -> None:
    stream = "U" if "*," in selected else "T"
    bound = bind(f"select {selected} from {stream} group by all", "spark", SCHEMA).query
    assert bound is not None
    assert groupings(bound) == expected


def test_the_order_of_several_groupings_is_that_of_their_outputs() -> None:
    bound = bind("select a from T group by rollup(a, b) order by grouping(b) desc, a, sum(c)", "spark", SCHEMA).query
    assert isinstance(bound, Ordered) and bound.columns == 1
    assert [name for name, _ in output_columns(bound.query)] == ["a", "order", "order_2"]
    assert [text(key.expression) for key in bound.keys] == ["order", "a", "order_2"]


def test_distinct_rows_of_several_groupings() -> None:
    bound = bind("select distinct grouping(a) from T group by cube(a, b)", "spark", SCHEMA).query
    assert isinstance(bound, SetQuery) and not bound.all


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select grouping(s) from T group by cube(a, b)", "column s is neither in GROUP BY nor in an aggregate"),
        ("select sum(grouping(a)) from T group by cube(a, b)", "GROUPING cannot stand inside an aggregate"),
        ("select s from T group by rollup(a)", "column s is neither in GROUP BY nor in an aggregate"),
    ],
)
def test_errors(sql: str, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    assert caught.value.message == message


def test_too_many_groupings_are_refused_with_their_number() -> None:
    with pytest.raises(UnsupportedError, match="512 groupings"):
        query("cube(a, b, c, m, w, x, s, d, ts)")
