"""WITH RECURSIVE whose depth the text bounds is the union of its steps; other forms are refused where they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sharing.small_streams import query

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.binder.joins.unnesting import free_columns
from workbench.sql.binder.recursion import MOST_STEPS, UNBOUNDED_STEPS
from workbench.sql.checks import checks_of
from workbench.sql.logical import Block, LogicalQuery, SetQuery, output_columns, parts_of

PATH = (
    "WITH RECURSIVE p AS (SELECT id, src, dst, 1 AS depth FROM F WHERE amount > 5 UNION ALL"
    " SELECT f.id, p.src, f.dst, p.depth + 1 FROM p JOIN F f ON p.dst = f.src WHERE p.depth < {}) SELECT * FROM p"
)
STEP = "SELECT src, dst, 1 AS d FROM F"


def union_of(bound: LogicalQuery) -> SetQuery:
    """The union of the steps."""
    (union,) = (part for part in parts_of(bound) if isinstance(part, SetQuery))
    return union


def recursive(next_: str, first: str = STEP, union: str = "UNION ALL", columns: str = "") -> str:
    """A recursive query."""
    return f"WITH RECURSIVE p{columns} AS ({first} {union} {next_}) SELECT * FROM p"


@pytest.mark.parametrize("steps", [1, 2, 5, MOST_STEPS + 1])
def test_there_are_as_many_steps_as_the_text_says(steps: int) -> None:
    bound = query(PATH.format(steps))
    assert len(union_of(bound).branches) == steps
    assert [name for name, _ in output_columns(bound)] == ["id", "src", "dst", "depth"]


@pytest.mark.parametrize(
    ("sql", "steps"),
    [
        (recursive("SELECT src, dst, d + 1 FROM p WHERE d + 1 <= 3"), 3),
        (recursive("SELECT p.src, F.dst, p.d - 1 FROM F JOIN p ON F.src = p.dst AND p.d > -2"), 4),
        (recursive("SELECT F.src, F.dst, p.n + 1 FROM F, p WHERE F.src = p.b AND n < 3", columns=" (a, b, n)"), 3),
        (recursive("SELECT p.src, F.dst, p.d + 1 FROM p LEFT JOIN F ON F.src = p.dst WHERE p.d < 3"), 3),
        (recursive("SELECT n + 1 FROM p WHERE n < 5", "SELECT 1", columns=" (n)"), 5),
        (recursive("SELECT n + 1, s FROM p WHERE n < 4", "VALUES (1, 'a'), (1, 'b')", columns=" (n, s)"), 4),
        (recursive("SELECT p.s, p.d + 1 FROM p WHERE d < 2", "SELECT src AS s, 1 AS d FROM F GROUP BY src"), 2),
        (
            recursive(
                "SELECT p.s, p.d + 1 FROM p WHERE d < 2", "(SELECT src AS s, 1 AS d FROM F ORDER BY src LIMIT 3)"
            ),
            2,
        ),
    ],
)
def test_a_constant_that_is_counted_on_bounds_the_steps(sql: str, steps: int) -> None:
    found = [part for part in parts_of(query(sql)) if isinstance(part, SetQuery)]
    assert len(found[-1].branches) == steps


@pytest.mark.parametrize(
    "sql",
    [
        PATH.replace(" WHERE p.depth < {}", ""),
        PATH.format(MOST_STEPS + 2),
        PATH.format(3).replace("1 AS depth", "id AS depth"),
        recursive("SELECT dst, src FROM p", "SELECT src, dst FROM F", "UNION"),
    ],
)
def test_what_the_text_does_not_bound_has_some_steps_and_a_check(sql: str) -> None:
    bound = query(sql)
    union = union_of(bound)
    assert len(union.branches) == UNBOUNDED_STEPS
    (check,) = checks_of(bound)
    assert f"{UNBOUNDED_STEPS} steps" in check.reason and "depth" in check.hint
    assert check.query.inputs == (union.beyond,)


@pytest.mark.parametrize("union", ["UNION", "UNION ALL"])
def test_the_check_of_a_correlated_one_reads_no_row_around_it(union: str) -> None:
    reached = (
        f"WITH RECURSIVE p AS (SELECT src, dst FROM F WHERE F.src = o.src {union}"
        " SELECT p.src, f.dst FROM p JOIN F f ON p.dst = f.src) SELECT COUNT(*) FROM p"
    )
    bound = query(f"SELECT o.id, ({reached}) AS n FROM F o")
    assert [free_columns(check.query) for check in checks_of(bound)] == [frozenset()]


def test_of_union_each_step_is_distinct_and_only_new_rows_are_beyond() -> None:
    bound = query(PATH.replace(" WHERE p.depth < {}", "").replace("UNION ALL", "UNION"))
    first, *_ = (part for part in parts_of(bound) if isinstance(part, SetQuery))
    assert all(isinstance(step, Block) and step.distinct for step in first.branches)
    beyond = first.beyond
    assert isinstance(beyond, SetQuery) and beyond.operator == "except" and not beyond.all
    assert beyond.branches[1] == replace(first, beyond=None)
    assert not checks_of(query(PATH.format(3)))


def test_union_is_distinct_and_the_name_may_be_read_twice_where_it_is_known() -> None:
    assert not union_of(query(PATH.format(3).replace("UNION ALL", "UNION"))).all
    assert query(PATH.format(3).replace("SELECT * FROM p", "SELECT a.id FROM p a JOIN p b ON a.dst = b.src"))


def test_oracle_says_it_without_the_word() -> None:
    text = PATH.format(3).replace("RECURSIVE ", "")
    assert query(text, "oracle") == query(PATH.format(3), "oracle")
    with pytest.raises(SqlError, match="unknown stream p"):
        query(text)


def test_with_recursive_may_have_plain_queries() -> None:
    assert query("WITH RECURSIVE r AS (SELECT id FROM F) SELECT * FROM r") == query("SELECT id FROM F")


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        (recursive("SELECT src, dst, d + 1 FROM p"), f"more than {MOST_STEPS} steps that joins nothing", "SEQUENCE"),
        (recursive("SELECT src, dst, d + 1 FROM p WHERE src < dst"), "steps that joins nothing", "SEQUENCE"),
        (recursive("SELECT n + 1 FROM p WHERE n < 99", "SELECT 1", columns=" (n)"), "that joins nothing", "SEQUENCE"),
        (recursive("SELECT a.src, a.dst, a.d + 1 FROM p a, p b WHERE a.d < 3"), "p twice in its own query", "once"),
        (recursive("SELECT src, dst, 1 FROM F", STEP.replace("M F", "M p")), "p in its own query", "read it in next"),
        (recursive("SELECT src, dst, d + 1 FROM p", union="EXCEPT"), "p in its own query", "first UNION ALL"),
        (recursive("SELECT src, MAX(dst), d + 1 FROM p WHERE d < 3 GROUP BY src, d"), "groups or numbers", "is read"),
        (recursive("SELECT DISTINCT src, dst, d + 1 FROM p WHERE d < 3"), "groups or numbers", "where it is read"),
        (recursive("SELECT src, dst, 2 FROM F WHERE src IN (SELECT src FROM p)"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, d + 1 FROM F LEFT JOIN p ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, d + 1 FROM p RIGHT JOIN F ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, 2 FROM F ANTI JOIN p ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT src, dst, d + 1 FROM p WHERE d < 3 LIMIT 3"), "LIMIT", None),
    ],
)  # fmt: skip
def test_other_forms_are_refused(sql: str, message: str, hint: str | None) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        query(sql)
    assert caught.value.position is not None
    assert hint is None or hint in str(caught.value.hint)


def test_the_parts_have_the_same_columns() -> None:
    with pytest.raises(SqlError, match="the parts of p have 3 and 2 columns"):
        query(recursive("SELECT src, d + 1 FROM p WHERE d < 3"))
    with pytest.raises(SqlError, match=r"column d of p is integer in the first part, and decimal\(.*\) in the next"):
        query(recursive("SELECT src, dst, d + 1.5 FROM p WHERE d < 3"))
