"""A recursive query whose text bounds no steps goes as far as its rows do, up to a limit, which disables it alone."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess
from workbench.errors import EngineError, QueryError
from workbench.limits import Limits
from workbench.session.session import Session

pytestmark = pytest.mark.usefixtures("spark_soundex")

STEPS = 12
REACHED = (
    "WITH RECURSIVE p AS (SELECT a, b FROM edges WHERE a >= {} UNION SELECT p.a, e.b FROM p JOIN edges e ON p.b = e.a)"
    " SELECT a, COUNT(*) AS n FROM p GROUP BY a"
)
REASON = f"a recursive query has rows after {STEPS} steps"


def test_a_query_runs_until_a_path_is_too_long(in_process: InProcess) -> None:
    check_longest_path(in_process, REACHED, Limits(steps_per_recursion=STEPS))


@pytest.mark.parametrize("tested", ["", " WHERE SPARK_SOUNDEX(STRING(b)) <> 'x'"])
def test_workers_of_spark_give_up_as_this_process_does(spark: SparkSession, tested: str) -> None:
    """Of many rows they follow the steps, each with rows of its own; what Spark tests, other workers write."""
    text = REACHED.replace(" FROM p GROUP", f" FROM p{tested} GROUP")
    check_longest_path(
        spark, text, Limits(steps_per_recursion=STEPS, rows_hydrated_in_process=0, rows_stepped_in_process=0)
    )


def check_longest_path(spark: SparkSession | InProcess, text: str, limits: Limits) -> None:
    """A path grows by a step more than there may be: its query stops, and no other."""
    line = pd.DataFrame({"a": range(STEPS + 1), "b": range(1, STEPS + 2)})
    with Session(spark, limits=limits) as session:
        session.add_stream("edges", line, history=STEPS, batch=1)
        reached = session.register(text.format(0), name="reached")
        later = session.register(text.format(1), name="later")
        assert dict(reached.result().values) == {a: STEPS - a for a in range(STEPS)}
        session.run(1)
        assert (reached.status, later.status) == (REASON, "active")
        assert dict(later.result().values)[1] == STEPS
        with pytest.raises(QueryError, match=REASON):
            reached.result()
        with pytest.raises(EngineError, match=REASON) as caught:
            session.register(text.format(-1), name="late")
        assert "UNION" in str(caught.value.hint)
        assert [*session.queries] == ["reached", "later"]


def test_a_batch_of_too_many_rows_disables_the_query(in_process: InProcess) -> None:
    pairs = pd.DataFrame({"a": [0, 0, 1, 1, 2, 2, 3, 3], "b": [1, 1, 2, 2, 3, 3, 4, 4]})
    paths = REACHED.format(0).replace("UNION", "UNION ALL")
    with Session(in_process, limits=Limits(rows_per_recursion=3)) as session:
        session.add_stream("edges", pairs, history=4, batch=4)
        few = session.register(paths, name="few")
        session.run(1)
        assert "rows in one batch, more than 3" in few.status


@pytest.mark.parametrize("length", [3, 50])
def test_a_circle_ends_of_union(in_process: InProcess, length: int) -> None:
    circle = pd.DataFrame({"a": range(length), "b": [*range(1, length), 0]})
    with Session(in_process) as session:
        session.add_stream("edges", circle, history=length - 1, batch=1)
        reached = session.register(REACHED.format(0), name="reached")
        assert dict(reached.result().values) == {a: length - 1 - a for a in range(length - 1)}
        session.run(1)
        assert reached.status == "active"
        assert dict(reached.result().values) == dict.fromkeys(range(length), length)


def test_a_circle_has_no_end_of_union_all(in_process: InProcess) -> None:
    circle = pd.DataFrame({"a": [1, 2], "b": [2, 1]})
    with Session(in_process, limits=Limits(steps_per_recursion=STEPS)) as session:
        session.add_stream("edges", circle, history=1, batch=1)
        paths = session.register(REACHED.format(0).replace("UNION", "UNION ALL"), name="paths")
        session.run(1)
        assert paths.status == REASON


def test_a_bridge_that_is_cut_takes_what_lay_behind_it(in_process: InProcess) -> None:
    """In the circle behind the bridge rows hold each other up, and go with it; where another way is left they stay."""
    brought = pd.DataFrame({"a": [0, 1, 2, 3, 0, 1, 0], "b": [1, 2, 3, 1, 1, 2, 9], "w": [1, 1, 1, 1, -1, -1, 1]})
    from_zero = (
        "WITH RECURSIVE p(x) AS (SELECT b FROM edges WHERE a = 0 UNION SELECT e.b FROM p JOIN edges e ON p.x = e.a)"
        " SELECT x FROM p"
    )
    with Session(in_process) as session:
        session.add_stream("edges", brought, history=4, batch=1, weight="w")
        reached = session.register(from_zero, name="reached")
        assert sorted(reached.result()["x"]) == [1, 2, 3]
        session.run(1)
        assert not len(reached.result())
        session.run(2)
        assert sorted(reached.result()["x"]) == [9]


def test_rows_that_double_in_each_step_end_before_64_bits_do(in_process: InProcess) -> None:
    """Added up modulo 2^64 there would be none after 64 steps, and the recursion would end."""
    with Session(in_process) as session:
        session.add_stream("two", pd.DataFrame({"b": [0, 1]}), history=2)
        doubling = "WITH RECURSIVE p(a) AS (SELECT 1 UNION ALL SELECT b FROM p CROSS JOIN two) SELECT a FROM p LIMIT 9"
        with pytest.raises(EngineError, match="makes a row more than 281,474,976,710,656 times"):
            session.register(doubling)
