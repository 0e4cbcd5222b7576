"""``kill -9`` of Spark's JVM, at any moment: another one is started, and sessions and their other queries go on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from long import rare

PROJECT = Path(__file__).resolve().parents[3]
LIFE = """
import json, logging, os, signal, sys, time
from pathlib import Path

import pyarrow as pa
from pyspark import SparkContext
from workbench import Session
from workbench.errors import WorkbenchError

logging.getLogger("py4j").setLevel(logging.CRITICAL)
SQL = "SELECT g, COUNT(*) AS n, SUM(id) AS s FROM t GROUP BY g"
ROWS = pa.table({"id": list(range(90)), "g": [i % 7 for i in range(90)]})
path, long = sys.argv[1], sys.argv[2] == "long"
once = path + "-once"


def kill_jvm():
    pid = os.getpid()
    while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(pid, signal.SIGKILL)


def kills_once(x):
    if os.path.exists(once):
        os.unlink(once)
        kill_jvm()
    return x


def kills_at(x, at):
    if x == at:
        kill_jvm()
        time.sleep(30)  # a value that it gave would be remembered, and the function not called again
    return x


def begun(session):
    session.add_stream("t", ROWS, history=10, batch=10)
    session.add_function("double_of", lambda x: 2 * x, returns="bigint")
    session.add_function("kills_once", kills_once, returns="bigint")
    session.add_function("kills_at", kills_at, returns="bigint")
    session.register("SELECT id, double_of(id) AS twice FROM t WHERE id > 50", name="f")
    return session.register(SQL, name="q")


def told(ask):
    try:
        return str(ask())
    except WorkbenchError as problem:
        return f"{type(problem).__name__}: {problem}"
    except BaseException as problem:
        return f"raw {type(problem).__name__}: {problem}"


def rows(query):
    return sorted(map(tuple, query.result().itertuples(index=False)))


def jvm():
    return SparkContext._gateway.proc.pid


def kill():
    os.kill(jvm(), signal.SIGKILL)


def expected(count):
    groups = [[i for i in range(count) if i % 7 == g] for g in range(7)]
    return sorted((g, len(ids), sum(ids)) for g, ids in enumerate(groups))


found = {}
session, other = Session(path=path), Session()
query, others = begun(session), begun(other)
session.run(1)
found["not needed"] = SparkContext._gateway is None
assert session.spark and other.spark  # are started now

# In a registration.
Path(once).touch()
innocent = session.register("SELECT id FROM t WHERE kills_once(id) >= 0", name="innocent")
found["registration"] = os.path.exists(once), sorted(innocent.result()["id"]) == list(range(20))

# In a batch, once: it is computed again.
Path(once).touch()
found["batch"] = session.run(1)[0].batch, os.path.exists(once), rows(query) == expected(30), len(innocent.result())
found["innocent"] = innocent.status

# In every batch with a row: the query is found and disabled, and the batch is there.
session.register("SELECT COUNT(*) AS n FROM t WHERE kills_at(id, 35) > 3", name="guilty")
found["guilty batch"] = session.run(1)[0].batch, rows(query) == expected(40), len(innocent.result())
found["statuses"] = {name: q.status for name, q in session.queries.items()}
found["guilty other"] = rows(others) == expected(10), other.run(1)[0].batch, rows(others) == expected(20)

# While an answer is read.
computed = session.register("SELECT id, kills_once(id + 1000) + g AS x FROM t", name="computed", results="off")
Path(once).touch()
found["answer"] = len(computed.result()), os.path.exists(once), rows(others) == expected(20)

if long:
    refused = told(lambda: session.register("SELECT id FROM t WHERE kills_at(id, 3) > 0", name="refused"))
    found["refused"] = refused, sorted(session.queries)
    read = session.register("SELECT id, kills_at(id, 3) AS x FROM t", name="read", results="off")
    found["read"] = told(read.result), read.status
found["later"] = session.run(4)[-1].batch, rows(query) == expected(80), session.query("f").result()["twice"].tolist()
session.close()
with Session.open(path) as session:
    found["opened"] = rows(session.query("q")) == expected(80), session.query("guilty").status
    # An analyst's own Spark is hers to start again.
    given = Session(spark=session.spark, path=path + "-given")
    begun(given)
    dead = session.spark
    kill()
    found["given"] = told(lambda: given.run(1))
    found["given dead"] = told(lambda: Session(spark=dead))
    given.close()
    # Between batches: each other session goes on by itself.
    found["idle batch"] = session.run(1)[0].batch, rows(session.query("q")) == expected(90), session.spark is not dead
    found["idle other"] = other.run(1)[0].batch, rows(others) == expected(30)
with Session.open(path + "-given") as session:
    found["third"] = rows(session.query("q")) == expected(10)
    session.spark.stop()
    found["stopped"] = told(lambda: session.run(1))
other.close()
print(json.dumps(found))
"""


@pytest.fixture(scope="module", params=["short", pytest.param("long", marks=rare)])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process saw whose JVM was killed; another process, since the tests share a JVM."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", LIFE, str(folder / "s"), request.param]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


pytestmark = [pytest.mark.timeout(1600), pytest.mark.spark]


def test_spark_is_not_started_before_it_is_needed(found: dict[str, Any]) -> None:
    assert found["not needed"]


def test_sessions_go_on_after_a_kill_between_batches(found: dict[str, Any]) -> None:
    assert found["idle batch"] == [8, True, True]
    assert found["idle other"] == [2, True]


def test_a_registration_and_a_batch_are_done_again(found: dict[str, Any]) -> None:
    assert found["registration"] == [False, True]
    assert found["batch"] == [2, False, True, 30] and found["innocent"] == "active"


def test_a_query_that_kills_it_in_a_batch_is_disabled_and_no_other(found: dict[str, Any]) -> None:
    assert found["guilty batch"] == [3, True, 40]
    why = "Spark's JVM died of batch 3 twice, and not without this query"
    assert found["statuses"] == dict.fromkeys(["f", "q", "innocent"], "active") | {"guilty": why}
    assert found["guilty other"] == [True, 1, True]
    assert found["opened"] == [True, why]


def test_an_answer_is_read_again(found: dict[str, Any]) -> None:
    assert found["answer"] == [40, False, True]


def test_a_query_that_kills_it_whenever_it_is_registered_or_read_is_named(found: dict[str, Any]) -> None:
    if "refused" in found:
        refused, queries = found["refused"]
        assert refused.startswith("EngineError: refused cannot be registered, since it needs too much memory")
        assert "refused" not in queries
        why = "Spark's JVM died twice to read the result of read"
        hint = "hint: register it again under any name"
        assert found["read"] == [f"QueryError: query read does not run: {why}\n{hint}", why]


def test_what_comes_later_is_right(found: dict[str, Any]) -> None:
    assert found["later"] == [7, True, [2 * i for i in range(51, 80)]]


def test_a_spark_that_was_given_is_to_be_started_by_who_gave_it(found: dict[str, Any]) -> None:
    assert found["given"].startswith("EnvironmentProblem: Spark's JVM has died; the session is whole in ")
    assert "restart the kernel, whose Spark it was" in found["given"]
    assert found["given dead"].startswith("EnvironmentProblem: Spark's JVM has died: the one that was given")
    assert found["third"]
    assert found["stopped"].startswith("EnvironmentProblem: Spark was stopped; the session is whole in ")
