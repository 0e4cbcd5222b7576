"""WITH RECURSIVE of few steps is the union of these, any other is a recursion; what is no such form is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sharing.small_streams import query

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.binder import recursion
from workbench.sql.binder.joins.unnesting import free_columns
from workbench.sql.binder.recursion import FEW_STEPS
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


def least(value: str, where: str = "TRUE") -> str:
    """A recursive query that keeps the least value of each key."""
    return (
        "WITH RECURSIVE p (a, b, c) USING KEY (a, b, MIN(c)) AS (SELECT src, dst, 1 FROM F UNION"
        f" SELECT p.a, F.dst, {value} FROM p JOIN F ON F.src = p.b WHERE {where}) SELECT * FROM p"
    )


@pytest.mark.parametrize(
    ("sql", "operator"),
    [
        (least("p.c + 1"), "recursion least"),
        (least("GREATEST(2 * p.c - 3, F.code)", "5 >= p.c + F.code OR F.code > 3"), "recursion least"),
        (least("LEAST(p.c, F.code)", "p.c > 1").replace("MIN", "MAX"), "recursion greatest"),
        (least("p.c + 1", "F.code < 3").replace("a, b, MIN(c)", "min(c), b, a"), "recursion least"),
    ],
)
def test_the_least_value_of_each_key_is_kept_where_steps_rise_with_it(sql: str, operator: str) -> None:
    bound = query(sql)
    assert recursion_of(bound).operator == operator
    assert [name for name, _ in output_columns(bound)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("clause", "columns"),
    [
        ("SEARCH DEPTH FIRST BY src, d SET o", ["o"]),
        ("SEARCH BREADTH FIRST BY dst SET o", ["o"]),
        ("CYCLE src, dst SET c USING path", ["c", "path"]),
        ("SEARCH BREADTH FIRST BY d SET o CYCLE d SET c TO 'Y' DEFAULT 'N' USING path", ["o", "c", "path"]),
    ],
)
def test_search_and_cycle_add_columns(clause: str, columns: list[str]) -> None:
    text = recursive("SELECT p.src, F.dst, d + 1 FROM F JOIN p ON F.src = p.dst").replace(
        ") SELECT", f") {clause} SELECT"
    )
    assert [name for name, _ in output_columns(query(text))] == ["src", "dst", "d", *columns]


@pytest.mark.parametrize("steps", [1, 2, FEW_STEPS + 1])
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
    ("read", "steps"),
    [
        ("SELECT n FROM p LIMIT 10", 10),
        ("SELECT * FROM p LIMIT 2 + 1 OFFSET 2", 5),
        ("SELECT COUNT(*) AS c FROM (SELECT n FROM p LIMIT 7) AS q, (SELECT n + 1 AS m FROM p LIMIT 3) AS r", 7),
    ],
)
@pytest.mark.parametrize("union", ["UNION", "UNION ALL"])
def test_limit_ends_a_recursion_without_end(read: str, steps: int, union: str) -> None:
    text = recursive("SELECT n + 1 FROM p", "SELECT 1", union, " (n)").replace("SELECT * FROM p", read)
    (rule,) = recursion_of(query(text)).rules
    assert str(rule.where) == f"c2 < {steps - 1}"
    assert recursion_of(query(text)).operator == ("recursion" if union == "UNION ALL" else "recursion least")


@pytest.mark.parametrize(
    "read",
    [
        "SELECT n FROM p", "SELECT n FROM p WHERE n > 3 LIMIT 5", "SELECT n FROM p ORDER BY n DESC LIMIT 5",
        "SELECT MAX(n) AS m FROM p LIMIT 5", "SELECT SUM(n) OVER () AS s FROM p LIMIT 5",
        "SELECT DISTINCT n FROM p LIMIT 5",
        "SELECT a.n FROM p AS a JOIN F ON a.n = F.src LIMIT 5",
        "SELECT n FROM p WHERE n IN (SELECT n FROM p LIMIT 3)",
    ],
)  # fmt: skip
def test_what_reads_more_than_first_rows_of_a_recursion_without_end_is_refused(read: str) -> None:
    text = recursive("SELECT n + 1 FROM p", "SELECT 1", columns=" (n)").replace("SELECT * FROM p", read)
    with pytest.raises(UnsupportedError, match="without end"):
        query(text)


KEPT = recursive("SELECT p.src, F.dst, p.d + 1 FROM p LEFT JOIN F ON F.src = p.dst WHERE p.d {}")
"""A step that keeps rows without a partner, which is no plain join."""


def recursion_of(bound: LogicalQuery) -> SetQuery:
    """The recursion, of which there is one."""
    (found,) = {part for part in parts_of(bound) if isinstance(part, SetQuery) and part.rules}
    return found


@pytest.mark.parametrize(
    ("sql", "inputs"),
    [
        (PATH.replace(" WHERE p.depth < {}", ""), [(0, 1)]),
        (PATH.format(FEW_STEPS + 2), [(0, 1)]),
        (PATH.format(3).replace("1 AS depth", "id AS depth"), [(0, 1)]),
        (recursive("SELECT dst, src FROM p", "SELECT src, dst FROM F", "UNION"), [(0,)]),
        (recursive("SELECT n + 1 FROM p WHERE n < 99", "SELECT 1", columns=" (n)"), [(0,)]),
        (recursive("SELECT a.src, b.dst, a.d + 1 FROM p a, p b WHERE a.dst = b.src AND a.d < 3"), [(0, 0)]),
        (recursive("SELECT p.src, g.dst, d FROM F JOIN p ON F.src = p.dst JOIN F g ON F.dst = g.src"), [(0, 1, 1)]),
        (
            recursive(
                "(SELECT p.src, F.dst, d FROM F, p WHERE F.src = p.dst UNION ALL"
                " SELECT F.src, p.dst, d FROM p JOIN F ON F.dst = p.src)"
            ),
            [(0, 1), (0, 1)],
        ),
        (recursive("SELECT DISTINCT p.src, F.dst, d FROM F JOIN p ON F.src = p.dst", union="UNION"), [(0, 1)]),
    ],
)
def test_what_has_not_few_steps_is_a_recursion(sql: str, inputs: list[tuple[int, ...]]) -> None:
    bound = query(sql)
    found = recursion_of(bound)
    assert [rule.inputs for rule in found.rules] == inputs
    assert not checks_of(bound)
    assert found.all == ("UNION ALL" in sql)
    assert len(found.branches) == 1 + max(max(rule) for rule in inputs)


def test_conditions_and_values_of_one_input_are_in_its_branch() -> None:
    deep = FEW_STEPS + 3
    own = recursion_of(query(PATH.format(deep).replace("WHERE p", "WHERE f.amount + 1 > 7 AND f.amount > p.id AND p")))
    _, branch = own.branches
    assert isinstance(branch, Block)
    assert str(branch.where) == "(amount + 1) > 7"
    assert [output.name for output in branch.outputs] == ["c1", "c2", "c3", "c4"]
    (rule,) = own.rules
    assert len(rule.where.or_preds) == 3


def test_one_recursion_is_written_in_several_ways() -> None:
    deep = FEW_STEPS + 3
    one = PATH.format(deep)
    other = one.replace("FROM p JOIN F f ON p.dst = f.src WHERE", "FROM F g, p WHERE g.src = p.dst AND")
    assert query(one) == query(other.replace("f.", "g."))


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few steps of what is no plain join that they are planned in no time."""
    monkeypatch.setattr(recursion, "FEW_STEPS", 1)
    monkeypatch.setattr(recursion, "MOST_STEPS", 3)
    monkeypatch.setattr(recursion, "UNBOUNDED_STEPS", 2)


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("bound", ["IS NOT NULL", "< 6"])
def test_what_is_no_plain_join_has_some_steps_and_a_check(bound: str) -> None:
    found = query(KEPT.format(bound))
    union = next(part for part in parts_of(found) if isinstance(part, SetQuery) and part.beyond is not None)
    assert len(union.branches) == 2
    check, *_ = checks_of(found)
    assert "2 steps" in check.reason and "depth" in check.hint
    assert check.query.inputs == (union.beyond,)


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("union", ["UNION", "UNION ALL"])
@pytest.mark.parametrize("kept", ["", "LEFT "])
def test_a_correlated_one_reads_no_row_around_it(union: str, kept: str) -> None:
    reached = (
        f"WITH RECURSIVE p AS (SELECT src, dst FROM F WHERE F.src = o.src {union}"
        f" SELECT p.src, f.dst FROM p {kept}JOIN F f ON p.dst = f.src AND f.amount > o.amount) SELECT COUNT(*) FROM p"
    )
    bound = query(f"SELECT o.id, ({reached}) AS n FROM F o")
    assert not free_columns(bound)
    assert [free_columns(check.query) for check in checks_of(bound)] == [frozenset()] * bool(kept)


@pytest.mark.usefixtures("few_steps")
def test_of_union_each_step_is_distinct_and_only_new_rows_are_beyond() -> None:
    bound = query(KEPT.format("IS NOT NULL").replace("UNION ALL", "UNION"))
    first = next(part for part in parts_of(bound) if isinstance(part, SetQuery) and part.beyond is not None)
    assert all(isinstance(step, Block) and step.distinct for step in first.branches)
    beyond = first.beyond
    assert isinstance(beyond, SetQuery) and beyond.operator == "except" and not beyond.all
    assert beyond.branches[1] == replace(first, beyond=None)
    assert not checks_of(query(KEPT.format("< 3")))


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
        (recursive("SELECT src, dst, d + 1 FROM p"), "without end that joins nothing", "SEQUENCE"),
        (recursive("SELECT src, dst, d + 1 FROM p WHERE src < dst"), "without end that joins nothing", "SEQUENCE"),
        (recursive("SELECT src, dst, d + 1 FROM p", union="UNION"), "without end that joins nothing", "SEQUENCE"),
        (recursive("SELECT a.src, a.dst, a.d + 1 FROM p a LEFT JOIN p b ON a.d < 3"), "p twice in its own", "once"),
        (recursive("SELECT src, dst, 1 FROM F", STEP.replace("M F", "M p")), "p in its own query", "read it in next"),
        (recursive("SELECT src, dst, d + 1 FROM p", union="EXCEPT"), "p in its own query", "first UNION ALL"),
        (recursive("SELECT src, MAX(dst), d + 1 FROM p WHERE d < 3 GROUP BY src, d"), "groups or numbers", "is read"),
        (recursive("SELECT DISTINCT src, dst, d + 1 FROM p WHERE d < 3"), "groups or numbers", "where it is read"),
        (recursive("SELECT src, dst, 2 FROM F WHERE src IN (SELECT src FROM p)"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, d + 1 FROM F LEFT JOIN p ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, d + 1 FROM p RIGHT JOIN F ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT F.src, F.dst, 2 FROM F ANTI JOIN p ON F.src = p.dst"), "p there in its own", "in FROM"),
        (recursive("SELECT src, dst, d + 1 FROM p WHERE d < 3 LIMIT 3"), "LIMIT", None),
        ("WITH RECURSIVE p AS (SELECT src FROM F UNION SELECT dst FROM q), q AS (SELECT src, src AS dst FROM p)"
         " SELECT * FROM p", "q, which comes later in WITH", "each other"),
        (recursive("SELECT a.src, b.dst, 1 FROM p a, p b WHERE a.dst = b.src").replace(") SELECT *", ") CYCLE src SET"
         " c USING path SELECT *"), "SEARCH and CYCLE of a step of another form", "read p once"),
        (recursive("SELECT p.*, 2 FROM F JOIN p ON F.src = p.dst").replace(") SELECT *", ") SEARCH DEPTH FIRST BY src"
         " SET o SELECT *"), "SEARCH and CYCLE of a step of another form", "by name"),
        ("WITH RECURSIVE p AS (SELECT src FROM F) SEARCH DEPTH FIRST BY src SET o SELECT * FROM p",
         "SEARCH of a query that does not read itself", None),
        (least("p.c + 1", "p.c <> 7"), "does not rise with c", "c < 9"),
        (least("7 - p.c"), "does not rise with c", "add"),
        (least("p.c + 1", "p.c > 7"), "does not rise with c", "c < 9"),
        (least("p.c + 1", "p.c = F.code"), "does not rise with c", "c < 9"),
        (least("p.c + 1").replace("MIN(c)", "c"), "keeps whichever row comes last", "MIN"),
        (least("p.c + 1").replace("b, MIN(c)", "MIN(c)"), "keeps whichever row comes last", "all columns"),
        (least("p.c + 1").replace("UNION", "UNION ALL"), "USING KEY of another form", "UNION SELECT"),
        (least("MIN(p.c)").replace(") SELECT *", " GROUP BY p.a, F.dst) SELECT *"), "KEY of another form", "once"),
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
