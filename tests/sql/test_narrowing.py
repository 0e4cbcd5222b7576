"""Known values move below groups, set operators and arrays; what they leave out is not read."""

from __future__ import annotations

import pytest

from workbench.sql import narrowing
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, Input, SetQuery, parts_of
from workbench.sql.narrowing import with_inner_tests
from workbench.sql.schema import Schema

SCHEMA = Schema(streams={"t": (("a", INTEGER), ("b", INTEGER), ("s", STRING)), "u": (("a", INTEGER), ("c", INTEGER))})


def narrowed(text: str) -> Block:
    block = bind(text, "spark", SCHEMA).query
    assert isinstance(block, Block)
    return with_inner_tests(block)


def conditions(part: Input) -> list[str]:
    """What is tested of the rows of an input: of each branch of a set operator."""
    branches = part.branches if isinstance(part, SetQuery) else (part,)
    return [str(branch.where) for branch in branches if isinstance(branch, Block)]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("SELECT * FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) x WHERE a = 3 AND n > 1", ["a = 3"]),
        ("SELECT * FROM (SELECT a, b FROM t EXCEPT SELECT a, c FROM u) x WHERE a IS NULL", ["a is null", "a is null"]),
        ("SELECT * FROM (SELECT a FROM t UNION ALL SELECT c FROM u) x WHERE a = 2", ["a = 2", "c = 2"]),
    ],
)
def test_known_values_move_inside(text: str, inside: list[str]) -> None:
    assert conditions(narrowed(text).inputs[0]) == inside


@pytest.mark.parametrize(
    ("branches", "value", "inside"),
    [
        ("SELECT a, 1 AS v FROM t UNION ALL SELECT a, 2 FROM u", "= 2", ["true"]),
        ("SELECT a, CAST(NULL AS INT) AS v FROM t UNION ALL SELECT a, c FROM u", "= 2", ["c = 2"]),
        ("SELECT a, 1 AS v FROM t WHERE b = 1 UNION ALL SELECT a, c FROM u WHERE c IS NULL", "IS NULL", ["c is null"]),
        ("SELECT a, 1 AS v FROM t EXCEPT SELECT a, 2 FROM u", "= 1", ["true", "false"]),
    ],
)
def test_branches_of_a_union_that_have_no_such_row_are_not_read(branches: str, value: str, inside: list[str]) -> None:
    assert conditions(narrowed(f"SELECT * FROM ({branches}) x WHERE v {value}").inputs[0]) == inside


def test_of_a_union_without_any_such_row_a_branch_stays() -> None:
    both = "SELECT a, 1 AS v FROM t UNION ALL SELECT a, 2 FROM u"
    assert conditions(narrowed(f"SELECT * FROM ({both}) x WHERE v = 3").inputs[0]) == ["false"]


def test_a_known_element_says_which_arrays_have_it() -> None:
    of_columns = narrowed("SELECT * FROM (SELECT a, EXPLODE(ARRAY(a, b)) AS e FROM t) x WHERE e = 5")
    assert "(a = 5 or b = 5)" in str(of_columns.where)
    of_text = narrowed("SELECT * FROM (SELECT a, EXPLODE(SPLIT(s, ',')) AS e FROM t) x WHERE e = 'k'")
    assert "array_contains(split(s, ','), 'k')" in str(of_text.where)
    unknown = narrowed("SELECT * FROM (SELECT a, EXPLODE(SPLIT(s, ',')) AS e FROM t) x WHERE e > 'k'")
    assert "array_contains" not in str(unknown.where)


def test_a_part_that_is_read_in_several_places_is_narrowed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT a, COUNT(*) AS n FROM t GROUP BY a"
    for level in range(6):
        join = f"v{level} x JOIN v{level} y USING (a) WHERE x.n > y.n"
        text = f"WITH v{level} AS ({text}) SELECT x.a, MAX(y.n) AS n FROM {join} GROUP BY x.a"
    tested, times = vars(narrowing)["_tested"], list[int]()
    monkeypatch.setattr(narrowing, "_tested", lambda *args: [times.append(1), tested(*args)][1])
    narrowed(f"SELECT * FROM ({text}) z WHERE a = 3")
    assert len(times) == 7


def test_known_fields_of_a_group_are_known_of_what_the_group_is_made_of() -> None:
    made = "SELECT STRUCT(a, s) AS w, COUNT(*) AS n FROM t GROUP BY STRUCT(a, s)"
    assert conditions(narrowed(f"SELECT * FROM ({made}) x WHERE w.a = 3").inputs[0]) == ["a = 3"]


def test_partners_are_found_by_what_is_computed_of_them() -> None:
    texts = "SELECT s, COUNT(*) AS n FROM t GROUP BY s"
    inside, _ = narrowed(f"SELECT * FROM ({texts}) x JOIN t y ON x.s = UPPER(y.s) WHERE y.b = 5").inputs
    assert any(isinstance(part, Block) and str(part.where) == "b = 5" for part in parts_of(inside))


def test_a_known_double_is_known_of_what_it_is_computed_of() -> None:
    made = "SELECT CAST(b AS DOUBLE) AS v, COUNT(*) AS n FROM t GROUP BY CAST(b AS DOUBLE)"
    assert conditions(narrowed(f"SELECT * FROM ({made}) x WHERE v = 2.0").inputs[0]) == ["b = 2"]
    assert conditions(narrowed(f"SELECT * FROM ({made}) x WHERE 1 / v > 3").inputs[0]) == ["true"]
