"""``kill -9`` of Spark's JVM: every call says what happened, the folder is whole, and a new Spark goes on with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[3]
LIFE = """
import json, os, signal, sys, warnings
from pathlib import Path

import pyarrow as pa
from pyspark import SparkContext
from workbench import Session
from workbench.errors import WorkbenchError

SQL = "SELECT g, COUNT(*) AS n, SUM(id) AS s FROM t GROUP BY g"
ROWS = pa.table({"id": list(range(90)), "g": [i % 7 for i in range(90)]})


def begun(session):
    session.add_stream("t", ROWS, history=10, batch=10)
    session.add_function("double_of", lambda x: 2 * x, returns="bigint")
    session.register("SELECT id, double_of(id) AS twice FROM t WHERE id > 50", name="f")
    return session.register(SQL, name="q")


def told(ask):
    try:
        ask()
    except WorkbenchError as problem:
        return str(problem)
    except BaseException as problem:
        return f"raw {type(problem).__name__}: {problem}"
    return "nothing"


def rows(query):
    return sorted(map(tuple, query.result().itertuples(index=False)))


def kill():
    process = SparkContext._gateway.proc
    os.kill(process.pid, signal.SIGKILL)
    return process.pid


def expected(count):
    groups = [[i for i in range(count) if i % 7 == g] for g in range(7)]
    return sorted((g, len(ids), sum(ids)) for g, ids in enumerate(groups))


path = sys.argv[1]
found = {}
session, aside = Session(path=path), Session()
query = begun(session)
begun(aside)
session.run(2)
first = kill()
asked = {
    "result": session.query("f").result, "run": lambda: session.run(1), "head": query.head, "count": query.count,
    "changes": query.changes, "dataframe": query.dataframe, "save rows": lambda: query.save(path + ".csv"),
    "register": lambda: session.register("SELECT id FROM t"), "drop": lambda: session.drop("f"),
    "add_function": lambda: session.add_function("g", abs), "seek": lambda: session.seek(0),
    "add_stream": lambda: session.add_stream("u", ROWS), "another": lambda: aside.run(1),
}
found["told"] = {name: told(ask) for name, ask in asked.items()}
found["batch"] = session.batch, sorted(session.queries), len(session.network.nodes)
aside.save(path + "-aside")
session.close()
aside.close()

session = Session.open(path)
found["second"] = SparkContext._gateway.proc.pid != first
found["answers"] = rows(session.query("q")) == expected(30), len(session.query("f").result())
session.run(3)
found["later"] = rows(session.query("q")) == expected(60), session.query("f").result()["twice"].tolist()
with Session() as new:
    found["new"] = rows(begun(new)) == expected(10)
with Session.open(path + "-aside") as saved:
    found["saved"] = saved.run(1)[0].batch, rows(saved.query("q")) == expected(20)

# An analyst's own Spark is hers to start again.
given = Session(spark=session.spark, path=path + "-given")
begun(given)
dead = session.spark
kill()
found["given"] = told(lambda: given.run(1))
found["given dead"] = told(lambda: Session(spark=dead))
given.close()
session.close()
with Session.open(path + "-given") as session:
    found["third"] = rows(session.query("q")) == expected(10)
    session.spark.stop()
    found["stopped"] = told(lambda: session.run(1))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process saw whose JVM was killed twice; another process, since the tests share a JVM."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", LIFE, str(folder / "s")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    answer["folder"] = str(folder / "s")
    return answer


pytestmark = [pytest.mark.timeout(600), pytest.mark.spark]


def test_every_call_says_that_the_jvm_died_and_what_to_do(found: dict[str, Any]) -> None:
    whole = f"Spark's JVM has died; the session is whole in {found['folder']}, as it was committed last"
    hint = f"hint: close() the session; Session.open({found['folder']!r}) goes on from there with a new Spark"
    another = found["told"].pop("another")
    assert found["told"] == dict.fromkeys(found["told"], f"{whole}\n{hint}")
    assert another.startswith("Spark's JVM has died; the session is whole in ")
    assert another.endswith("save(path) keeps the session, whose folder is temporary; Session.open(path) goes on from "
                            "there with a new Spark")  # fmt: skip


def test_what_needs_no_spark_can_still_be_read(found: dict[str, Any]) -> None:
    batch, queries, nodes = found["batch"]
    assert (batch, queries) == (2, ["f", "q"]) and nodes > 0


def test_the_session_goes_on_in_the_same_process_with_a_new_spark(found: dict[str, Any]) -> None:
    assert found["second"] and found["new"] and found["third"]
    assert found["answers"] == [True, 0]
    assert found["later"] == [True, [2 * i for i in range(51, 60)]]
    assert found["saved"] == [1, True]


def test_a_spark_that_was_given_is_to_be_started_by_who_gave_it(found: dict[str, Any]) -> None:
    assert found["given"].startswith("Spark's JVM has died; the session is whole in ")
    assert "restart the kernel, whose Spark it was" in found["given"]
    assert found["given dead"].startswith("Spark's JVM has died: the one that was given to the session")
    assert found["stopped"].startswith("Spark was stopped; the session is whole in ")
