"""Targets that keep the number of the batch with the rows: a topic, a table of PostgreSQL, a Delta table."""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import servers
from servers import Broker, LockedBroker

from workbench.arrow.types import to_shown
from workbench.errors import SessionError
from workbench.files.writing import replacing
from workbench.limits import Limits
from workbench.session.sinks import kafka as kafka_module
from workbench.session.sinks.sink import read_place
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.session.sinks.targets import target_of
from workbench.sql.algebra.types import (
    BINARY,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    DataType,
    array_of,
    decimal,
    map_of,
    struct_of,
)

TYPES = (STRING, INTEGER, decimal(15, 2), DATE)
DAY = dt.date(2026, 1, 2)
Row = tuple[object, ...]


def table_of(names: Sequence[str], types: Sequence[DataType], rows: Sequence[Sequence[object]]) -> pa.Table:
    """Rows as sinks get them."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return pa.table({n: pa.array(columns[n], to_shown(type_)) for n, type_ in zip(names, types, strict=True)})


QUICK = Limits(milliseconds_until_sent_again_at_most=500, milliseconds_closing_sinks=500)


class Query:
    """A query that counts: in batch *n* the group *n* modulo 3 has one more; batch 4 takes group b away."""

    def __init__(self) -> None:
        self.latest = 0

    def changes(self, since: int | None) -> pa.Table:
        entries: list[tuple[Any, ...]] = [(0, 1, "é", 0, None, None)]
        counts = dict[str, int]()
        for batch in range(1, self.latest + 1):
            group = "abc"[batch % 3]
            if group in counts:
                entries.append((batch, -1, *self._row(group, counts[group])))
            counts[group] = counts.get(group, 0) + 1
            if batch == 4:
                del counts[group]
            else:
                entries.append((batch, 1, *self._row(group, counts[group])))
        return table_of(["batch", "weight", "group", "n", "s", "day"], (INTEGER, INTEGER, *TYPES),
                        [entry for entry in entries if since is None or entry[0] > since])  # fmt: skip

    def _row(self, group: str, count: int) -> Row:
        return group, count, Decimal(count) / 4, DAY

    def answer(self) -> Counter[Row]:
        counted: Counter[Row] = Counter()
        for _, weight, *row in (tuple(row.values()) for row in self.changes(None).to_pylist()):
            counted[tuple(row)] += weight
        return +counted

    def source(self, name: str) -> AnswerSource:
        return AnswerSource("first", lambda: TYPES, self.changes, lambda: self.latest)


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres() as address:
        yield address


def caught_up(sinks: Sinks) -> None:
    until = time.monotonic() + 120
    while any(status.behind for status in sinks.statuses.values()) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(status.behind for status in sinks.statuses.values()), sinks.statuses


def test_a_batch_that_a_crash_hid_is_not_sent_again(broker: Broker, postgres: str, tmp_path: Path) -> None:
    import psycopg
    from deltalake import DeltaTable

    query = Query()
    targets = {
        "changes": broker.url("changes"),
        "rows": broker.url("rows", "key=group"),
        "table": f"{postgres}&table=changes",
        "keyed": f"{postgres}&table=keyed&key=group",
        "delta": f"delta:{tmp_path / 'delta'}",
    }
    sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
    for name, target in targets.items():
        sinks.add(name, "q", target)
    for _ in range(3):
        query.latest += 2
        sinks.notify()
        caught_up(sinks)
        sinks.close()
        # As if the process had ended after the targets took the last two batches, and before their places were written.
        for file in (tmp_path / "sinks").iterdir():
            file.write_text(json.dumps(asdict(replace(read_place(file), batch=query.latest - 2))))
        sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
        sinks.go_on()
        caught_up(sinks)
    sinks.close()

    every = [tuple(row.values()) for row in query.changes(None).to_pylist()]
    written = DeltaTable(tmp_path / "delta").to_pandas()
    assert Counter(zip(written["batch"], written["weight"], written["n"], strict=True)) == Counter(
        (batch, weight, n) for batch, weight, _, n, *_ in every
    )
    with psycopg.connect(postgres) as connection:
        assert Counter(connection.execute("SELECT * FROM changes").fetchall()) == Counter(every)
        assert Counter(connection.execute("SELECT * FROM keyed").fetchall()) == query.answer()
    changes = [json.loads(message.value()) for message in broker.read("changes")]
    assert Counter((v["weight"], v["group"], v["n"], v["s"]) for v in changes) == Counter(
        (weight, group, n, s if s is None else f"{s:.2f}") for _, weight, group, n, s, _ in every
    )
    last = {message.key(): json.loads(message.value() or b"null") for message in broker.read("rows")}
    assert {key: value["n"] for key, value in last.items() if value} == {
        str(row[0]).encode(): row[1] for row in query.answer()
    }
    assert last[b"b"] is None and last[b"c"] == {"group": "c", "n": 2, "s": "0.50", "day": "2026-01-02"}


def problem_of(sinks: Sinks, name: str, text: str = "") -> str:
    """What a target said, when it said something with the text."""
    until = time.monotonic() + 120
    while (not (problem := sinks.statuses[name].problem) or text not in problem) and time.monotonic() < until:
        time.sleep(0.02)
    return sinks.statuses[name].problem


def test_a_table_that_would_round_is_refused_until_it_is_altered(postgres: str, tmp_path: Path) -> None:
    import psycopg

    query = Query()
    query.latest = 2
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute('CREATE TABLE narrow ("group" text PRIMARY KEY, n bigint, s bigint, day date)')
        sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
        sinks.add("narrow", "q", f"{postgres}&table=narrow&key=group")
        said = "column s of the table public.narrow is bigint, and the answer has numeric"
        assert said in problem_of(sinks, "narrow", said)
        connection.execute("ALTER TABLE narrow ALTER COLUMN s TYPE numeric(12, 2)")
        caught_up(sinks)
        assert Counter(connection.execute("SELECT * FROM narrow").fetchall()) == query.answer()
    sinks.close()


def test_what_a_target_refuses_is_said(
    broker: Broker, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Query()
    query.latest = 3
    sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
    sinks.add("unknown", "q", broker.url("refused", "key=grp"))
    sinks.add("twice", "q", f"{postgres}&table=twice&key=day")
    sinks.add("nowhere", "q", "postgresql://127.0.0.1:9/none")
    assert "no column grp" in problem_of(sinks, "unknown")
    assert "null value" in problem_of(sinks, "twice")
    assert "onnection refused" in problem_of(sinks, "nowhere")
    # Only now is the wait short: the broker above may need longer for its own answer.
    monkeypatch.setattr(kafka_module, "BROKER_ANSWER", 0.5)
    sinks.add("silent", "q", "kafka://127.0.0.1:9/none")
    assert "none at 127.0.0.1:9 cannot be reached" in problem_of(sinks, "silent")
    sinks.close()


def test_rejected_credentials(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server says is shown, and the sink goes on when the environment has the right password."""
    import psycopg

    rules = "local all locked scram-sha-256\nhost all locked all scram-sha-256\n"
    with psycopg.connect(postgres, autocommit=True) as connection:
        (file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        Path(file).write_text(rules + Path(file).read_text())
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'the-password'")
        connection.execute("CREATE SCHEMA AUTHORIZATION locked")
        connection.execute("SELECT pg_reload_conf()")
    address = postgres.replace("postgres:@", "locked:@")
    until = time.monotonic() + 120
    with pytest.raises(psycopg.OperationalError, match="authentication"):
        while time.monotonic() < until:  # the rules are read a moment later
            psycopg.connect(address, password="an-old-password").close()
    locked_broker = LockedBroker()
    monkeypatch.setenv("PGPASSWORD", "an-old-password")
    monkeypatch.setenv("ARGUS_TEST_PASSWORD", "an-old-password")
    monkeypatch.setattr(kafka_module, "BROKER_ANSWER", 3.0)  # the client waits for it also after the broker has said no
    query = Query()
    query.latest = 3
    sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
    sinks.add("table", "q", f"{address}&table=counts")
    sinks.add("topic", "q", locked_broker.url("counts"))
    assert 'password authentication failed for user "locked"' in problem_of(sinks, "table", "authentication")
    assert "check the user and the password" in problem_of(sinks, "topic", "wrong user or password")
    sinks.drop("topic")
    locked_broker.close()
    monkeypatch.setenv("PGPASSWORD", "the-password")
    caught_up(sinks)
    sinks.close()


def test_a_batch_of_which_a_table_refuses_a_row_waits_whole(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its good rows wait, too, and later batches behind it; when the table takes it, everything is there once."""
    import psycopg

    query = Query()
    sinks = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=QUICK)
    with psycopg.connect(postgres, autocommit=True) as connection:
        columns = '"group" text PRIMARY KEY, n bigint CONSTRAINT small CHECK (n < 2), s numeric(15, 2), day date'
        connection.execute(f"CREATE TABLE strict ({columns})")
        sinks.add("strict", "q", f"{postgres}&table=strict&key=group")
        query.latest = 3  # three groups with one each, in three batches
        sinks.notify()
        caught_up(sinks)
        query.latest = 7  # batch 4 takes b away, 5 counts a second c
        sinks.notify()
        problem = problem_of(sinks, "strict")
        assert 'violates check constraint "small"' in problem and "Failing row contains (c, 2, 0.50" in problem
        status = sinks.statuses["strict"]
        assert (status.batch, status.behind) == (4, 3)
        found = connection.execute('SELECT "group", n FROM strict WHERE n > 0').fetchall()
        assert sorted(found) == [("a", 1), ("c", 1)]
        connection.execute("ALTER TABLE strict DROP CONSTRAINT small")
        caught_up(sinks)
        assert sinks.statuses["strict"].problem == ""
        assert Counter(connection.execute("SELECT * FROM strict").fetchall()) == query.answer()
    sinks.close()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("postgresql://me:secret@host/db", "password would be kept"),
        ("postgresql://me@host/db?password=secret", "password would be kept"),
        ("kafka://host:1/t?kye=id", "no option kye"),
        ("kafka://host:1/t?ssl.key.password=x", "would be kept"),
    ],
)
def test_a_target_that_cannot_be_followed(target: str, message: str) -> None:
    with pytest.raises(SessionError, match=message):
        target_of(target)


def test_two_rows_of_one_key(postgres: str) -> None:
    target = target_of(f"{postgres}&table=doubled&key=id")
    target.begin("s", (INTEGER, STRING))
    rows: Callable[..., pa.Table] = lambda *entries: table_of(  # noqa: E731
        ["weight", "id", "v"], (INTEGER, INTEGER, STRING), entries
    )
    target.write("q", 0, rows((1, 1, "a"), (1, 2, "b")))
    with pytest.raises(SessionError, match="two rows with id 3"):
        target.write("q", 1, rows((1, 3, "a"), (1, 3, "b")))
    with pytest.raises(SessionError, match=r"two rows of one key: Key \(id\)=\(1\)"):
        target.write("q", 1, rows((1, 1, "b")))
    target.write("q", 1, rows((-1, 1, "a"), (1, 1, "b"), (-1, 2, "b")))
    assert target.begin("s", (INTEGER, STRING)) == 1
    target.close()


def test_arrays(postgres: str, tmp_path: Path) -> None:
    import psycopg
    from deltalake import DeltaTable

    types = (INTEGER, array_of(decimal(5, 2)), array_of(array_of(DATE)))
    row = (1, 7, [Decimal("1.50"), None], [[dt.date(2024, 2, 29)]])
    changes = table_of(["weight", "id", "sums", "days"], (INTEGER, *types), [row])
    for target in (target_of(f"{postgres}&table=arrays"), target_of(f"delta:{tmp_path / 'table'}")):
        target.begin("s", types)
        target.write("q", 3, changes)
        target.close()
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT * FROM arrays").fetchall() == [(3, *row)]
    assert DeltaTable(tmp_path / "table").to_pyarrow_table().to_pylist() == [{"batch": 3, **changes.to_pylist()[0]}]
    keyed = target_of(f"{postgres}&table=keyed&key=sums")
    keyed.begin("t", types)
    with pytest.raises(SessionError, match="the array sums cannot be the key of a sink"):
        keyed.write("q", 0, changes)
    keyed.close()


def test_structs_maps_and_bytes(postgres: str, tmp_path: Path) -> None:
    import psycopg
    from deltalake import DeltaTable

    types = (BINARY, struct_of([("day", DATE), ("x", DOUBLE)]), array_of(struct_of([("code", BINARY)])),
             map_of(DATE, INTEGER))  # fmt: skip
    row = (1, b"\x00\xff", {"day": dt.date(2024, 2, 29), "x": 0.1}, [{"code": b"a"}, None], {dt.date(2024, 2, 29): 7})
    changes = table_of(["weight", "code", "place", "codes", "days"], (INTEGER, *types), [row])
    for target in (target_of(f"{postgres}&table=structs"), target_of(f"delta:{tmp_path / 'table'}")):
        target.begin("structs", types)
        target.write("q", 3, changes)
        target.close()
    with psycopg.connect(postgres) as connection:
        stored = (3, 1, b"\x00\xff", {"day": "2024-02-29", "x": 0.1}, [{"code": "61"}, None], {"2024-02-29": 7})
        assert connection.execute("SELECT * FROM structs").fetchall() == [stored]
    rows = DeltaTable(tmp_path / "table").to_pyarrow_table().to_pylist(maps_as_pydicts="strict")
    assert rows == [{"batch": 3, **changes.to_pylist(maps_as_pydicts="strict")[0]}]
    keyed = target_of(f"{postgres}&table=by_struct&key=place")
    keyed.begin("by_struct", types)
    with pytest.raises(SessionError, match="the struct place cannot be the key of a sink"):
        keyed.write("q", 0, changes)
    keyed.close()


def test_nan_is_no_null_where_a_target_has_both(postgres: str, broker: Broker, tmp_path: Path) -> None:
    import psycopg
    from deltalake import DeltaTable

    types = (DOUBLE, array_of(DOUBLE), DOUBLE)
    rows = [(1, math.nan, [math.nan, None], 0.5), (1, None, None, None), (-1, 2.5, [], None)]
    changes = table_of(["weight", "x", "xs", "y"], (INTEGER, *types), rows)
    for target in (target_of(f"{postgres}&table=floats"), target_of(f"delta:{tmp_path / 'table'}"),
                   target_of(str(tmp_path / "folder"))):  # fmt: skip
        target.begin("floats", types)
        target.write("q", 3, changes)
        target.close()
    expected = [(3, *rows[0]), (3, *rows[1]), (3, *rows[2])]
    with psycopg.connect(postgres) as connection:
        assert repr(connection.execute("SELECT * FROM floats").fetchall()) == repr(expected)
    for table in (DeltaTable(tmp_path / "table").to_pyarrow_table(), pq.read_table(tmp_path / "folder")):
        assert repr([tuple(row.values()) for row in table.to_pylist()]) == repr(expected)
    taken: list[list[object]] = []
    called = target_of(lambda batch, frame: taken.append([frame["x"].dtype, *frame["x"]]))
    called.begin("floats", types)
    called.write("q", 3, changes)
    assert repr(taken) == "[[dtype('float64'), nan, nan, 2.5]]"
    topic = target_of(broker.url("floats"))
    topic.begin("floats", types)
    topic.write("q", 3, changes)
    topic.close()
    read = [json.loads(message.value()) for message in broker.read("floats")]
    assert Counter(repr((v["x"], v["xs"])) for v in read) == Counter(
        map(repr, [(None, [None] * 2), (None,) * 2, (2.5, [])])
    )


def test_what_a_killed_process_left_in_a_folder_is_no_row(tmp_path: Path) -> None:
    """A reader of the folder passes over it, and writing the batch again removes it."""
    changes, folder = pa.table({"weight": [1, 1], "n": [3, 4]}), tmp_path / "out"
    target = target_of(str(folder))
    target.begin("t", (INTEGER,))
    target.write("q", 6, changes)
    with replacing(folder / "batch-000000007.parquet"):
        (part,) = folder.glob("*7.parquet.*")
        left = part.with_name(f"{part.name}0")
        shutil.copy(folder / "batch-000000006.parquet", left)
    (folder / "batch-000000007.parquet").unlink()
    assert len(pd.read_parquet(folder)) == 2
    target.write("q", 7, changes)
    assert not left.exists() and len(pd.read_parquet(folder)) == 4
