"""Two sinks never mix their answers in one target; and one that cannot be reached says so when it is added."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest
from servers import Broker
from sink_targets import Webhook, every_kind, of_delta, of_folder, once

from workbench.errors import SessionError
from workbench.limits import Limits
from workbench.session.sinks import kafka as kafka_module
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.sql.algebra.types import INTEGER

EXCLUSIVE = ("folder", "delta", "stored", "stored_delta", "topic", "keyed_topic", "table", "keyed_table")


class Query:
    """A query whose batch *n* adds the row *n*, or ten times as much."""

    def __init__(self, factor: int = 1) -> None:
        self.latest, self._factor = 0, factor

    def changes(self, since: int | None) -> pa.Table:
        batches = range(0 if since is None else since + 1, self.latest + 1)
        values = [self._factor * batch for batch in batches]
        return pa.table({"batch": batches, "weight": [1] * len(batches), "a": pa.array(values, pa.int64())})

    def source(self, name: str) -> AnswerSource:
        return AnswerSource("first", lambda: (INTEGER,), self.changes, lambda: self.latest)

    @property
    def answer(self) -> object:
        return once({"a": self._factor * batch} for batch in range(self.latest + 1))

    def sinks(self, folder: Path) -> Sinks:
        limits = Limits(milliseconds_until_sent_again=50, milliseconds_closing_sinks=1_000)
        return Sinks(folder / "sinks", self.source, lambda: self.latest, limits=limits)

    def run(self, sinks: Sinks) -> None:
        self.latest += 1
        sinks.notify()
        until = time.monotonic() + 60
        while any(status.behind for status in sinks.statuses.values()) and time.monotonic() < until:
            if any("not sent" in status.problem or "another" in status.problem for status in sinks.statuses.values()):
                return
            time.sleep(0.01)


def test_a_target_has_one_sink(tmp_path: Path, hook: Webhook, broker: Broker, postgres: str, objects: str) -> None:
    """In one session, in two, after a drop, and with an address that is written otherwise."""
    first, second = Query(), Query(10)
    kinds = every_kind("alone", tmp_path, "a", hook, broker, postgres, objects)
    here, there = first.sinks(tmp_path / "here"), second.sinks(tmp_path / "there")
    for name in EXCLUSIVE:
        here.add(name, "q", kinds[name][0])
    first.run(here)
    same = {**{name: kinds[name][0] for name in EXCLUSIVE}, "folder": f"{tmp_path}/x/../alone-files/"}
    same["stored"] = f"{objects}/alone/files/"
    for name, target in same.items():
        with pytest.raises(SessionError, match=f"the sink {name} sends to .* already"):
            here.add("other", "q", target)
        with pytest.raises(SessionError, match="has what another sink has sent"):
            there.add(name, "q", target)
        assert "other" not in here.statuses and name not in there.statuses
        here.drop(name)
        with pytest.raises(SessionError, match="has what another sink has sent"):
            here.add(name, "q", target)
        assert kinds[name][1]() == first.answer, name
    here.close()
    there.close()


def test_a_copy_of_a_session_sends_nothing(
    tmp_path: Path, hook: Webhook, broker: Broker, postgres: str, objects: str
) -> None:
    """Its sinks are those of the first one, which has gone on meanwhile with other rows."""
    query = Query()
    kinds = every_kind("copied", tmp_path, "a", hook, broker, postgres, objects)
    sinks = query.sinks(tmp_path / "s")
    for name in EXCLUSIVE:
        sinks.add(name, "q", kinds[name][0])
    query.run(sinks)
    sinks.close()
    shutil.copytree(tmp_path / "s", tmp_path / "copy")
    other = Query(10)
    other.latest = 1
    sinks = query.sinks(tmp_path / "s")
    sinks.go_on()
    query.run(sinks)
    copy = other.sinks(tmp_path / "copy")
    copy.go_on()
    for _ in range(2):
        other.latest += 1
        copy.notify()
        until = time.monotonic() + 60
        while not all(status.problem for status in copy.statuses.values()) and time.monotonic() < until:
            time.sleep(0.01)
        assert all("which this sink has not sent" in status.problem for status in copy.statuses.values()), copy.statuses
    copy.close()
    sinks.close()
    for name in EXCLUSIVE:
        assert kinds[name][1]() == query.answer, name


def test_a_folder_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the session is opened from another folder."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    query = Query()
    sinks = query.sinks(tmp_path)
    sinks.add("files", "q", Path("out"))
    sinks.add("table", "q", "delta:changes")
    query.run(sinks)
    sinks.close()
    monkeypatch.chdir(tmp_path / "second")
    sinks = query.sinks(tmp_path)
    sinks.go_on()
    query.run(sinks)
    sinks.close()
    assert of_folder(tmp_path / "first" / "out") == of_delta(tmp_path / "first" / "changes") == query.answer
    assert not [*(tmp_path / "second").iterdir()]


def test_a_target_that_cannot_be_reached_is_said_at_once(
    tmp_path: Path, postgres: str, objects: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr(kafka_module, "BROKER_ANSWER", 0.5)
    (tmp_path / "file").write_text("")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE ROLE nobody LOGIN")
        connection.execute("CREATE TABLE forbidden (a bigint)")
        connection.execute("CREATE SCHEMA AUTHORIZATION nobody")
    nobody = postgres.replace("postgres:@", "nobody:@")
    unreachable = {
        "http://127.0.0.1:9/": "refused",
        "https://127.0.0.1:9/": "refused",
        "http://nowhere.invalid/": "not known|resolution",
        "kafka://127.0.0.1:9/none": "cannot be reached",
        "kafka://nowhere.invalid:9092/none": "cannot be reached",
        "postgresql://127.0.0.1:9/none": "refused",
        "postgresql://nowhere.invalid/none": "not known|resolve|resolution",
        f"{postgres.replace('/postgres', '/missing')}": "does not exist",
        f"{nobody}&table=public.forbidden": "may not write to the table public.forbidden",
        f"{tmp_path}/file/out": "Not a directory|File exists",
        f"delta:{tmp_path}/file/table": "Not a directory|File exists",
        "s3://no-such-bucket/out": "does not give or take",
        "delta:s3://no-such-bucket/table": "does not give or take|NoSuchBucket",
    }
    query = Query()
    sinks = query.sinks(tmp_path)
    for number, (target, problem) in enumerate(unreachable.items()):
        status = sinks.add(f"s{number}", "q", target)
        assert status.problem and status.batch == -1, target
        assert any(word in status.problem for word in problem.split("|")), (target, status.problem)
    sinks.close()
