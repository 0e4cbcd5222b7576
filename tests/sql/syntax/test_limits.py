"""How large a text may be: a thousand operators in a row work, and what goes beyond is refused by name, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pandas as pd
import pytest
from effort import calls
from long import one_in

from workbench.catalog.catalog import Catalog
from workbench.errors import SqlError
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.options import Options
from workbench.session.session import Session
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema
from workbench.sql.syntax.limits import MAX_NESTED

SCHEMA = Schema({"r": (("a", INTEGER), ("s", STRING), ("p", BOOLEAN), ("t", TIMESTAMP))})
DEEP = MAX_NESTED - 5


def chain(word: str, part: str, count: int) -> str:
    return f" {word} ".join([part] * count)


def nested(before: str, inner: str, after: str, count: int = DEEP) -> str:
    return before * count + inner + after * count


def views(first: str, each: str, count: int) -> str:
    """Each view is made of the one before; ``{}`` is its name."""
    named = [f"c{i} AS ({each.replace('{}', f'c{i - 1}')})" for i in range(1, count + 1)]
    return f"WITH c0 AS ({first}), {', '.join(named)} SELECT a FROM c{count}"


def working(long: int) -> dict[str, tuple[str, Callable[[int], int | None]]]:
    """Texts with a number of operators in a row, and what each gives for a row; ``None``: no row."""
    return {
        "a sum": (f"SELECT {chain('+', 'a', long)} AS x FROM r", lambda a: a * long),
        "a difference": (f"SELECT {chain('-', 'a', long)} AS x FROM r", lambda a: a - a * (long - 1)),
        "a sum in a condition": (f"SELECT a AS x FROM r WHERE {chain('+', 'a', long)} > {long * 3 // 2}",
                                 lambda a: a if a > 1 else None),
        "texts": (f"SELECT LENGTH({chain('||', 's', long)}) AS x FROM r", lambda a: long),
        "or": ("SELECT a AS x FROM r WHERE " + " OR ".join(f"a = {i}" for i in range(2, long + 2)),
               lambda a: a if a > 1 else None),
        "and": ("SELECT a AS x FROM r WHERE " + " AND ".join(f"a <> {i}" for i in range(2, long + 2)),
                lambda a: a if a < 2 else None),
        "a list": (f"SELECT a AS x FROM r WHERE a IN ({', '.join(map(str, range(2, 5_000)))})",
                   lambda a: a if a > 1 else None),
        "cases": ("SELECT CASE " + " ".join(f"WHEN a = {i} THEN {i + 1}" for i in range(long)) + " END AS x FROM r",
                  lambda a: a + 1),
        "parentheses": (f"SELECT {nested('(', 'a', ' + 1)')} AS x FROM r", lambda a: a + DEEP),
        "case inside case": (f"SELECT {nested('CASE WHEN a > 0 THEN 1 + ', 'a', ' ELSE 0 END')} AS x FROM r",
                             lambda a: a + DEEP),
        "not": (f"SELECT a AS x FROM r WHERE {'NOT ' * (DEEP - 1)}p",
                lambda a: a if (a == 1) == (DEEP % 2 == 1) else None),
        "minus signs": (f"SELECT {'- ' * (DEEP - 1)}a AS x FROM r", lambda a: a if DEEP % 2 else -a),
        "functions": (f"SELECT LENGTH({nested('UPPER(', 's', ')', DEEP - 1)}) AS x FROM r", lambda a: 1),
        "subqueries": (f"SELECT a AS x FROM {nested('(SELECT a FROM ', 'r', ')')}", lambda a: a),
    }  # fmt: skip


WORKING = working(1_000)
SLOW = {"a sum", "a sum in a condition", "a list", "or", "a set operator", "a long interval", "views on views"}
"""Texts that take half a second or more."""


def with_marks(names: Iterable[str]) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in names]


REFUSED = {
    "parentheses": f"SELECT {nested('(', 'a', ')', 5_000)} FROM r",
    "unclosed parentheses": f"SELECT {'(' * 5_000}",
    "parentheses in FROM": f"SELECT a FROM {nested('(', 'r', ')', 5_000)}",
    "case inside case": f"SELECT {nested('CASE WHEN a = 1 THEN ', 'a', ' END', 5_000)} FROM r",
    "not": f"SELECT a FROM r WHERE {'NOT ' * 5_000}p",
    "not in parentheses": f"SELECT a FROM r WHERE {nested('NOT (', 'p', ')', 5_000)}",
    "minus signs": f"SELECT {'- ' * 5_000}a FROM r",
    "functions": f"SELECT {nested('ABS(', 'a', ')', 150)} FROM r",
    "subqueries": f"SELECT a FROM {nested('(SELECT a FROM ', 'r', ')', 5_000)}",
    "a sum": f"SELECT {chain('+', 'a', 20_000)} FROM r",
    "or": f"SELECT a FROM r WHERE {chain('OR', 'a = 1', 20_000)}",
    "a set operator": chain("UNION ALL", "SELECT a FROM r", 5_000),
    "quotients": f"SELECT {chain('div', 'a', 60)} FROM r",
    "a long text": "SELECT a FROM r WHERE s = '" + "x" * 600_000 + "'",
    "sums of views": views("SELECT a FROM r", "SELECT a + a AS a FROM {}", 60),
    "joins of views": views("SELECT a FROM r", "SELECT x.a FROM {} x JOIN {} y ON x.a = y.a", 60),
    "unions of views": views("SELECT a FROM r", "SELECT a FROM {} UNION ALL SELECT a FROM {}", 60),
    "groups of views": views("SELECT a FROM r", "SELECT x.a FROM {} x JOIN {} y ON x.a = y.a GROUP BY x.a", 60),
    "columns of views": views("SELECT a FROM r", "SELECT *, * FROM {}", 60),
    "views on views": views("SELECT a FROM r", f"SELECT a + {chain('+', '1', 100)} AS a FROM {{}}", 20),
    "cases of cases": f"SELECT {nested('CASE ', 'a', ' WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END', 60)} FROM r",
    "tests of tests": f"SELECT a FROM r WHERE {nested('(', 'p', ' BETWEEN p AND p)', 60)}",
    "windows": "SELECT COUNT(*) FROM r GROUP BY window(t, '10 weeks', '1 second')",
    "a window without end": "SELECT COUNT(*) FROM r GROUP BY window(t, '9999999999 weeks')",
    "a session without end": "SELECT COUNT(*) FROM r GROUP BY session_window(t, '9999999999 weeks')",
    "a long interval": f"SELECT a FROM r WHERE t > TIMESTAMP '2020-01-01 00:00:00' - INTERVAL '{'9' * 5_000}' DAY",
    "a long position": f"SELECT a FROM r GROUP BY {'9' * 5_000}",
}  # fmt: skip


@pytest.mark.parametrize("what", with_marks(WORKING))
def test_what_is_long_or_deep_is_planned_and_shown(what: str) -> None:
    sql = WORKING[what][0]
    logical = bind(sql, "spark", SCHEMA).named("q")["q"]
    planned = Planner(Options(), Catalog()).register(Network(), "q", logical, sql, "spark")
    view = NetworkView(planned.network)
    assert view.to_text() and view.to_dot() and str(planned.explanation)


@pytest.mark.slow
@pytest.mark.parametrize("sign", one_in(2, ["+", "-", "*", "||"]))
def test_the_work_of_binding_grows_as_the_text(sign: str) -> None:
    short, long = (f"SELECT {chain(sign, 's' if sign == '||' else 'a', count)} FROM r" for count in (100, 400))
    bind(short, "spark", SCHEMA)
    assert calls(lambda: bind(long, "spark", SCHEMA))[1] < 6 * calls(lambda: bind(short, "spark", SCHEMA))[1]


@pytest.mark.parametrize("what", with_marks(REFUSED))
def test_what_is_too_large_is_refused_by_name(what: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(REFUSED[what], "spark", SCHEMA)
    assert len(str(caught.value)) < 1_500


def test_what_is_refused_is_pointed_at() -> None:
    with pytest.raises(SqlError) as caught:
        bind("SELECT " + nested("(", "a", ")", 300) + " FROM r", "spark", SCHEMA)
    assert caught.value.position == len("SELECT ") + MAX_NESTED
    message, line, caret, hint = str(caught.value).splitlines()
    assert f"{MAX_NESTED} parentheses" in message and line[caret.index("^")] == "(" and hint.startswith("hint: ")


@pytest.mark.parametrize("said", ["java.lang.StackOverflowError", "[FAILED_TO_PARSE_TOO_COMPLEX] too complex"])
def test_a_spark_without_stack_is_no_riddle(said: str) -> None:
    from py4j.protocol import Py4JError

    from workbench.engine.spark.failures import translate_errors
    from workbench.errors import EngineError

    with pytest.raises(EngineError, match="too high for the stack of this Spark"), translate_errors("register q"):
        raise Py4JError(f"An error occurred while calling o1.sql.\n: {said}")


def test_windows_say_how_many_there_would_be() -> None:
    with pytest.raises(SqlError, match="6,048,000 windows") as caught:
        bind("SELECT COUNT(*) FROM r GROUP BY window(t, '10 weeks', '1 second')", "spark", SCHEMA)
    assert "let it slide by '5 hours 36 minutes' or more" in str(caught.value)


@pytest.mark.slow
def test_loops_with_millions_of_instants_are_refused() -> None:
    schema = Schema({"r": (("a", INTEGER),)}, event_times={"r rows": 10**12})
    with pytest.raises(SqlError, match="more than 1,000,000 instants"):
        bind("SELECT a FROM r for (t = 0; true; t++) { WindowIs(r, t - 4, t); }", "spark", schema)


def test_texts_joined_in_oracle_grow_with_their_number() -> None:
    logical = bind(f"SELECT {chain('||', 's', 200)} AS x FROM r", "oracle", SCHEMA).named("q")["q"]
    assert len(repr(logical)) < 200_000


@pytest.fixture(scope="module")
def session(spark) -> Iterator[Session]:
    with Session(spark=spark) as made:
        rows = pd.DataFrame({"a": [1, 2], "s": ["x", "y"], "p": [True, False]})
        made.add_stream("r", rows, history=1, batch=1)
        yield made


def test_what_is_long_or_deep_is_answered(session: Session, spark, tmp_path) -> None:
    """Spark takes time with the square of an expression's height, so sums are of two hundred terms here."""
    texts = working(200)
    session.register_many({what.replace(" ", "_"): sql for what, (sql, _) in texts.items()})
    session.run(1)
    with Session.open(session.save(tmp_path / "copy"), spark=spark) as again:
        for what, (_, gives) in texts.items():
            query = again.query(what.replace(" ", "_"))
            assert sorted(query.result()["x"]) == sorted(x for x in map(gives, (1, 2)) if x is not None), what
            assert str(query.explain())
