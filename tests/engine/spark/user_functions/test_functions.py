"""Whatever a user function does, it disables the queries that call it, and every other query has its answers."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files

from workbench import Session
from workbench.engine.spark.handle import SparkHandle
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.errors import InputError, QueryError, SessionError, SqlError
from workbench.session.failures.functions import FunctionFailures
from workbench.session.state import State
from workbench.session.transitions import Runtime
from workbench.sql.algebra.types import INTEGER

HEALTHY = {
    "healthy": Case("SELECT id, amount FROM t WHERE k > 3"),
    "counted": Case("SELECT g, COUNT(*) AS n FROM t GROUP BY g"),
}
SECONDS, MEMORY = 2.5, 100


def late(misbehaves: Callable[[], object], value: object) -> Callable[[int], object]:
    """A function that misbehaves for rows of the second batch and later; made here, so that workers need no import."""

    def called(number: int) -> object:
        return misbehaves() if number >= 60 else value

    return called


def wordless() -> Callable[[], object]:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise ValueError

    def misbehaves() -> object:
        raise Wordless

    return misbehaves


def raising(problem: type[BaseException]) -> Callable[[], object]:
    def misbehaves() -> object:
        raise problem

    return misbehaves


def forever() -> Callable[[], object]:
    def misbehaves() -> object:
        while True:
            pass

    return misbehaves


def hoarding() -> Callable[[], object]:
    def misbehaves() -> object:
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))

    return misbehaves


def deep() -> Callable[[], object]:
    def misbehaves() -> object:
        return misbehaves()

    return misbehaves


WRONG = {
    "wide": ("decimal(5,2)", lambda: Decimal("12345.00"), Decimal(1), r"failed: Decimal\('12345.00'\) was returned"),
    "decimal_nan": ("decimal(5,2)", lambda: Decimal("NaN"), Decimal(1), r"failed: Decimal\('NaN'\) was returned"),
    "beyond_64_bits": ("bigint", lambda: 2**64, 1, "failed: 18446744073709551616 was returned, .* into 64 bits"),
    "not_a_time": ("timestamp", lambda: pd.NaT, None, "failed: NaT was returned, which is no timestamp"),
    "surrogate": ("string", lambda: "\ud800", "a", "failed: .* was returned, which is no string"),
    "wordless": ("double", wordless(), 1.0, "raised Wordless, whose text cannot be read"),
    "system_exit": ("double", raising(SystemExit), 1.0, "raised SystemExit"),
    "interrupt": ("double", raising(KeyboardInterrupt), 1.0, "raised KeyboardInterrupt"),
    "stop_iteration": ("double", raising(StopIteration), 1.0, "raised StopIteration"),
    "deep": ("double", deep(), 1.0, "raised RecursionError"),
    "leaves": ("double", lambda: os._exit(3), 1.0, "ended its process with exit code 3"),
    "crashes": ("double", lambda: ctypes.string_at(0), 1.0, "ended its process by SIGSEGV"),
    "is_killed": ("double", lambda: os.kill(os.getpid(), signal.SIGKILL), 1.0, "ended its process by SIGKILL"),
    "closes": ("double", lambda: os.closerange(0, 100), 1.0, "ended its process with exit code 0"),
    "sleeps": ("double", lambda: time.sleep(600), 1.0, r"took longer than 2.5 s, the limit for 1,000 calls"),
    "loops": ("double", forever(), 1.0, r"took longer than 2.5 s, the limit for 1,000 calls"),
    "loops_in_c": ("double", lambda: re.match("(a+)+b", "a" * 60), 1.0, r"took longer than 2.5 s, the limit for 1,000"),
    "disturbs": ("double", lambda: os.write(3, b"\xff" * 8), 1.0, "disturbed its process: what came from it is no"),
    "hoards": ("double", hoarding(), 1.0, "ran out of memory: it may take 100 MB"),
}  # fmt: skip
"""By its name what a function returns, how it misbehaves, what it gives before, and the reason that is said."""


@pytest.fixture
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    with Oracle(spark, {"t": Feed(stream(110, seed=10, again=0), history=30, batch=20)}) as made:
        yield made


@pytest.mark.parametrize("name", WRONG)
def test_a_function_that_misbehaves_stops_no_other_query(oracle: Oracle, name: str) -> None:
    returns, misbehaves, value, reason = WRONG[name]
    oracle.register(HEALTHY)
    session = oracle.session
    session.add_function(name, late(misbehaves, value), returns, seconds=SECONDS, memory=MEMORY)
    where = session.register(f"SELECT id FROM t WHERE {name}(id) IS NOT NULL", name="where")
    select = session.register(f"SELECT id, {name}(id) AS x FROM t", name="selected")
    oracle.run(1)
    assert where.status == select.status == "active"
    oracle.run(1)
    for query in (where, select):
        with pytest.raises(QueryError, match=f"does not run: function {name} {reason}"):
            query.result()
    oracle.run(2)
    oracle.check_changes()
    assert {q.name for q in session.queries.values() if q.status == "active"} == set(HEALTHY)
    session.add_function(name, lambda number: value, returns)
    assert len(session.register(f"SELECT id, {name}(id) AS x FROM t", name="selected").result()) == 110


def test_a_function_that_blocks_at_registration_and_when_going_back_stops_nobody(
    oracle: Oracle, tmp_path: Path
) -> None:
    oracle.run(2, check=False)
    oracle.register(HEALTHY)
    session = oracle.session
    session.add_function("blocks", late(forever(), 1.0), seconds=SECONDS)
    first = session.register("SELECT id FROM t WHERE blocks(id) > 0", name="first")
    assert first.status.startswith("function blocks took longer than 2.5 s")
    switch = tmp_path / "switch"
    session.add_function("leaves", lambda number: os._exit(1) if switch.exists() else 1.0)
    second = session.register("SELECT COUNT(*) AS n FROM t WHERE leaves(id) > 0", name="second")
    assert second.status == "active"
    switch.touch()
    session.seek(1)
    session.run(1)
    assert second.status == "active"  # the values of rows that were there are known
    oracle.check_results()
    session.run(1)
    assert second.status == "function leaves ended its process with exit code 1"
    assert [session.query(name).status for name in HEALTHY] == ["active"] * 2


@pytest.mark.parametrize("results", ["lazy", "off"])
def test_a_query_is_disabled_with_the_commit_that_called_its_function(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: str
) -> None:
    """A process that dies right after the commit must not leave NULLs behind as if they were answers."""
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("t", stream(90, seed=10, again=0), history=30, batch=40)
        session.add_function("leaves", late(lambda: os._exit(3), 1.0))
        query = session.register("SELECT id FROM t WHERE leaves(id) IS NULL", name="nulls", results=results)
        assert query.count() == 0
        if results == "lazy":
            monkeypatch.setattr(FunctionFailures, "disable", lambda self: None)
        session.run(1)
        if results == "off":
            with pytest.raises(QueryError, match="function leaves ended its process with exit code 3"):
                query.result()
        assert stray_files(session) == set()
    with Session.open(tmp_path / "s", spark) as session:
        assert session.query("nulls").status == "function leaves ended its process with exit code 3"


def test_a_function_that_cannot_be_loaded_is_the_function_s_problem(oracle: Oracle) -> None:
    driver = os.getpid()

    class Local:
        """Something that can be read in this process alone, as a module that workers lack."""

        def __reduce__(self) -> tuple[object, ...]:
            def again() -> object:
                return Local() if os.getpid() == driver else sys.exit("not here")

            return again, ()

    needed = Local()
    oracle.register(HEALTHY)
    session = oracle.session
    session.add_function("far", lambda number: 1.0 if needed else 2.0)
    query = session.register("SELECT id FROM t WHERE far(id) > 0", name="far_query")
    assert query.status == "function far cannot be loaded: it raised SystemExit: not here"
    oracle.run(1)


def test_what_a_function_prints_breaks_nothing(oracle: Oracle, capfd: pytest.CaptureFixture[str]) -> None:
    def loud(number: int) -> float:
        print("x" * 10_000)
        sys.stderr.write("y" * 10_000)
        os.write(1, b"z" * 10_000)
        os.write(2, b"z" * 10_000)
        input_is_empty = sys.stdin.read() == ""
        return float(input_is_empty)

    oracle.register(HEALTHY)
    session = oracle.session
    session.add_function("loud", loud)
    query = session.register("SELECT id FROM t WHERE loud(id) = 1", name="by_loud")
    oracle.run(2)
    assert query.count() == 70
    assert capfd.readouterr() == ("", "")


def test_what_a_function_keeps_of_earlier_calls_does_not_count_against_it(oracle: Oracle) -> None:
    """A cache that grows for ever is emptied with its process, once."""
    cache: dict[int, bytearray] = {}

    def caching(number: int) -> int:
        cache[number] = bytearray(1_000_000)
        return number

    session = oracle.session
    session.add_function("caching", caching, "bigint", memory=40)
    query = session.register("SELECT id FROM t WHERE caching(id) >= 0", name="cached")
    session.run(4)
    assert sorted(query.result()["id"]) == list(range(110))


def test_a_function_that_forks_answers_once(oracle: Oracle) -> None:
    def forking(number: int) -> int:
        if number == 20:
            os.fork()
        return number

    session = oracle.session
    session.add_function("forking", forking, "bigint")
    query = session.register("SELECT forking(id) AS id FROM t WHERE forking(id) >= 0", name="forked")
    session.run(4)
    assert sorted(query.result()["id"]) == list(range(110))


def test_a_function_without_arguments_and_one_of_all_types(oracle: Oracle) -> None:
    session = oracle.session
    session.add_function("one", lambda: 1, "bigint")
    session.add_function("types", lambda *values: ",".join(type(value).__name__ for value in values), "string")
    zero = session.register("SELECT one() AS x, COUNT(*) AS n FROM t WHERE one() = 1 GROUP BY one()", name="zero")
    text = "types(1, 1.5, 2e0, 'a', true, NULL, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', x.id)"
    types = session.register(f"SELECT DISTINCT {text} AS x FROM t x", name="types_query")
    session.run(1)
    assert zero.result().to_dict("records") == [{"x": 1, "n": 50}]
    assert types.result()["x"].tolist() == ["int,Decimal,float,str,bool,NoneType,date,datetime,int"]


def test_a_date_that_python_cannot_hold_is_the_function_s_problem(oracle: Oracle) -> None:
    oracle.register(HEALTHY)
    session = oracle.session
    session.add_function("year_of", lambda day: day.year, "bigint")
    far = session.register("SELECT year_of(DATE '9999-12-30' + id) AS y FROM t", name="far")
    assert far.status == "active"
    with pytest.raises(QueryError, match="function year_of failed: an argument cannot be given to Python"):
        far.result()
    oracle.run(1)


def test_what_cannot_be_called_from_sql_is_refused_when_it_is_added(oracle: Oracle) -> None:
    session = oracle.session
    with pytest.raises(InputError, match="function is 5"):
        session.add_function("g", 5)  # type: ignore[arg-type]
    with pytest.raises(SqlError, match="unknown type fancy"):
        session.add_function("g", lambda x: x, returns="fancy")
    with pytest.raises(SessionError, match="seconds cannot be 0"):
        session.add_function("g", lambda x: x, seconds=0)
    session.add_function("g", lambda x: x)
    with pytest.raises(SqlError, match="function g takes 1 argument, and is given 2"):
        session.register("SELECT g(id, k) AS x FROM t")


def test_a_function_is_called_for_rows_that_cheaper_tests_let_through(spark: SparkSession, tmp_path: Path) -> None:
    """One that raises for the others stops no query."""
    calls = str(tmp_path / "calls")

    def half(number: int) -> float:
        with open(calls, "a") as file:
            file.write(f"{number}\n")
        return 0.5 * number if number < 50 else 1 / 0

    def called() -> set[int]:
        found = {int(line) for line in Path(calls).read_text().split()} if Path(calls).exists() else set()
        Path(calls).unlink(missing_ok=True)
        return found

    rows = pd.DataFrame({"id": range(60), "k": [None if n % 7 == 0 else n for n in range(60)]})
    with Session(spark) as session:
        session.add_stream("r", rows.convert_dtypes(), history=30, batch=30)
        session.add_function("half", half, returns="double")
        low = session.register("SELECT id FROM r WHERE k < 5 AND half(id) > 1", name="low")
        assert called() <= {1, 2, 3, 4}
        texts = session.register(
            "SELECT id FROM r WHERE CAST(id AS STRING) RLIKE '^4.$' AND half(id) < 22", name="texts"
        )
        either = session.register("SELECT id FROM r WHERE k BETWEEN 10 AND 12 AND (half(id) = 5 OR half(id) = 5.5)")
        called()
        session.run(1)
        assert called() <= {40, 41, 42, 43, 44, 45, 46, 47, 48, 49}
        assert [query.status for query in session.queries.values()] == ["active"] * 3
        assert sorted(low.result()["id"]) == [3, 4] and sorted(either.result()["id"]) == [10, 11]
        assert sorted(texts.result()["id"]) == [40, 41, 42, 43]
        unguarded = session.register("SELECT id FROM r WHERE half(id) > 1", name="all")
        assert "half raised ZeroDivisionError" in unguarded.status


def test_a_function_is_called_once_for_equal_arguments(spark: SparkSession, tmp_path: Path) -> None:
    """Of all rows that any selection or aggregate reads, in whatever batch."""
    calls = str(tmp_path / "calls")

    def half(number: int | None) -> float | None:
        with open(calls, "a") as file:
            file.write(f"{number}\n")
        return None if number is None else number / 2

    def called() -> list[str]:
        found = sorted(Path(calls).read_text().split()) if Path(calls).exists() else []
        Path(calls).unlink(missing_ok=True)
        return found

    rows = pd.DataFrame({"id": range(40), "k": [None if n % 5 == 4 else n % 5 for n in range(40)]})
    with Session(spark) as session:
        session.add_stream("r", rows.convert_dtypes(), history=0, batch=20)
        session.add_function("half", half, returns="double")
        session.register("SELECT id FROM r WHERE half(k) >= 1", name="some")
        session.register("SELECT MAX(half(k)) AS most, SUM(half(k)) AS total FROM r WHERE id >= 10", name="extremes")
        for batch in (1, 2):
            session.run(1)
            assert called() == (["0", "1", "2", "3", "None"] if batch == 1 else []), batch
        assert sorted(session.query("some").result()["id"]) == [n for n in range(40) if n % 5 in (2, 3)]
        assert session.query("extremes").result().to_dict("records") == [{"most": 1.5, "total": 18.0}]


def test_a_problem_of_an_earlier_batch_is_not_told_again(spark: SparkSession, tmp_path: Path) -> None:
    """The steps of an operator stay loaded in Spark's workers."""
    switch = tmp_path / "switch"

    def moody(number: int) -> float:
        return 1 / 0 if switch.exists() else 1.0

    rows = pd.DataFrame({"id": range(100), "k": range(100)})
    with Session(spark) as session:
        session.add_stream("r", rows, history=20, batch=20)
        session.add_function("moody", moody, returns="double")
        for _ in range(2):
            texts = {"above": "SELECT id FROM r WHERE moody(k) > 0", "most": "SELECT MAX(moody(k)) AS m FROM r"}
            queries = session.register_many(texts)
            session.run(1)
            assert [query.status for query in queries.values()] == ["active"] * 2
            switch.touch()
            session.run(1)
            assert all("moody raised ZeroDivisionError" in query.status for query in queries.values())
            switch.unlink()


@pytest.mark.parametrize("by", ["a.k = b.k AND ", ""], ids=["key", "no key"])
def test_a_function_is_called_for_pairs_that_cheaper_tests_let_through(spark: SparkSession, by: str) -> None:
    """Whatever stands before or after it by name."""

    def a_gap(first: int, second: int) -> int:
        return second - first if first < second else 1 // 0

    rows = pd.DataFrame({"id": range(40), "k": [n % 4 for n in range(40)], "text": [f"{n:02}" for n in range(40)]})
    with Session(spark) as session:
        session.add_stream("r", rows, history=20, batch=10)
        session.add_function("a_gap", a_gap, returns="bigint")
        pairs = session.register(
            f"SELECT a.id, b.id AS other FROM r a, r b WHERE {by}a_gap(a.id, b.id) < 9 AND a.text < b.text"
        )
        session.run(2)
        expected = {(n, m) for n in range(40) for m in range(n + 1, min(n + 9, 40)) if not by or n % 4 == m % 4}
        assert pairs.status == "active" and set(pairs.result().itertuples(index=False, name=None)) == expected


def test_limits_and_numbers_of_arguments_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("t", stream(90, seed=10, again=0), history=30, batch=40)
        session.add_function("blocks", late(forever(), 1.0), seconds=SECONDS, memory=MEMORY)
    with Session.open(tmp_path / "s", spark) as session:
        with pytest.raises(SqlError, match="function blocks takes 1 argument, and is given 2"):
            session.register("SELECT blocks(id, k) AS x FROM t")
        query = session.register("SELECT id FROM t WHERE blocks(id) > 0", name="blocked")
        session.run(1)
        assert query.status == "function blocks took longer than 2.5 s, the limit for 1,000 calls"


def test_processes_of_functions_are_few_and_end_with_spark_s_workers(spark: SparkSession) -> None:
    jobs = SparkHandle(spark)
    functions = UserFunctions(jobs)
    for number in range(12):
        functions.add(f"own_process_{number}", lambda value: os.getpid(), INTEGER)
    asked = ", ".join(f"own_process_{number}(id)" for number in range(12))
    (row,) = jobs.session.sql(f"SELECT {asked} FROM range(1)").collect()
    assert len(set(row)) == 12
    running = [pid for pid in row if Path(f"/proc/{pid}").exists()]
    assert len(running) <= 4
    assert not functions.problems


def test_who_read_an_answer_waits_until_its_query_is_disabled() -> None:
    """Also when another thread is about to disable it: else the NULL of a call that failed would be an answer."""
    lock, problems, steps = threading.RLock(), {"f": "raised ValueError"}, list[str]()
    functions = SimpleNamespace(problems=problems, forget=lambda names: [problems.pop(name) for name in list(names)])
    store = SimpleNamespace(state=State(), directory=SimpleNamespace(read_only=None), exclusively=lambda: lock)
    failing = FunctionFailures(store, Runtime(None, None), functions)  # type: ignore[arg-type]

    def read() -> None:
        failing.disable()
        steps.append("goes on")

    readers = [threading.Thread(target=read) for _ in range(2)]
    with lock:
        for reader in readers:
            reader.start()
            reader.join(0.2)
        assert steps == []
    for reader in readers:
        reader.join()
    assert steps == ["goes on"] * 2 and not problems
