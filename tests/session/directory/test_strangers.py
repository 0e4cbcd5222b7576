"""A folder of a stranger: whatever stands in any field of what it stores, opening it without trust does nothing.

The fields are those that a session has stored: every column of every relation, every leaf of every JSON text in them,
every member of every other file; a field that is new is among them. Each has hostile values in its place, one after
the other, and the session is read as ``Session.open`` reads it, its sources are asked for rows and its sinks go on.
``ARGUS_LONG=all`` takes all values for each field; else sixty fields and a value for each are drawn, others in
every run, and some values for each field that names what is followed or loaded.

Left out are the insides of Arrow, Parquet and NumPy files, which are rows and not followed, and what Spark itself keeps
of a streaming DataFrame.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import shutil
import socketserver
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from long import LONG
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import WorkbenchError
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.limits import LIMITS
from workbench.session.directory.directory import CATALOG, SINKS, SessionDirectory, decoding_catalog
from workbench.session.directory.gate import Gate
from workbench.session.directory.identity import IDENTITY
from workbench.session.directory.integrity import FileVerifier
from workbench.session.directory.restore import damage_of, restored_state
from workbench.session.directory.stored_session import StoredSession
from workbench.session.live.sources import LiveSources
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.session.state import State
from workbench.sql.algebra.types import INTEGER
from workbench.streams.tail import TAIL

CANARY, VALUE = "ARGUS_CANARY", "of-this-machine-alone"
EVIL = "argus_evil_module"
SHARES = 20 if LONG else 1
"""Tests that all fields are divided among, so that each says what it found."""
SQL = f"x` , reflect('java.lang.System', 'getenv', '{CANARY}') AS `y"


ACTS = {
    *(
        "socket.connect",
        "socket.bind",
        "socket.getaddrinfo",
        "socket.sendto",
        "subprocess.Popen",
        "os.system",
        "pickle.find_class",
    ),
    *("ctypes.dlopen", "os.exec", "os.posix_spawn", "os.fork"),
}
"""Events of Python's audit that nothing in a folder may bring about."""


ACTING = (
    rf"{SINKS}/.*target|offsets.next|user_functions.pickled|streams.folder|segments.file$|settings.value$|.*'files'"
)
"""Names of fields that name what is followed or loaded."""


class Evil:
    """Loading it imports a module."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return __import__, (EVIL,)


@dataclass
class Watch:
    """What happens while a folder is opened.

    Attributes:
        outside: a folder that may not be read or written.
        seen: what happened.
        on: whether it looks.
    """

    outside: Path
    port: int = 0
    seen: list[str] = field(default_factory=list)
    on: bool = False

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's own audit hook."""
        if not self.on:
            return
        texts = [os.fsdecode(a) for a in arguments if isinstance(a, str | bytes | os.PathLike)]
        is_outside = any(str(self.outside) in text for text in texts) and event != "import"
        if event in ACTS or is_outside or (event == "import" and EVIL in texts):
            self.seen.append(f"{event} {arguments}")


class Environment(dict[str, str]):
    """The environment; a look at one variable is remembered."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(os.environ)
        self._watch = watch

    def __getitem__(self, name: str) -> str:
        if name == CANARY:
            self._watch.seen.append(f"environment {name}")
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.keys() else default


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    found = Watch(tmp_path_factory.mktemp("outside"))

    class Counted(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            found.seen.append("a connection")

    for name in ("secret.jsonl", "secret.json", "evil.so", "manifest.json"):
        (found.outside / name).write_text(f'{{"id": 1, "k": "{VALUE}"}}\n')
    modules = tmp_path_factory.mktemp("modules")
    (modules / f"{EVIL}.py").write_text("")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Counted) as server:
        found.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.addaudithook(found.audit)
        sys.path.append(str(modules))
        yield found
        sys.path.remove(str(modules))
        server.shutdown()


def hostile(watch: Watch) -> Mapping[str, object]:
    """Values that do harm where they are taken for what they say."""
    port, outside, kafka = watch.port, watch.outside, f"kafka://127.0.0.1:{watch.port}/t?"
    sasl = "security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&sasl.username=a"
    return {
        "a library": f"{kafka}plugin.library.paths={outside}/evil.so",
        "a program": f"{kafka}{sasl}&sasl.kerberos.kinit.cmd=touch {outside}/done",
        "a variable": f"{kafka}{sasl}&sasl.password=${CANARY}",
        "a variable, posted": f"http://a:${CANARY}@127.0.0.1:{port}/?token=${CANARY}",
        "a socket": f"socket://127.0.0.1:{port}",
        "a port": "listen://127.0.0.1:0/rows",
        "a document": f"poll+http://127.0.0.1:{port}/rows.json?every=1s",
        "a database": f"postgresql://127.0.0.1:{port}/db?passfile={outside}/secret.json",
        "a file": f"{outside}/secret.jsonl",
        "a way out": f"{os.path.relpath(outside, '/')}/secret.jsonl",
        "a way up": "../" * 12 + f"{str(outside)[1:]}/secret.json",
        "a pattern": f"{outside}/*.jsonl",
        "a URL of a file": f"file://{outside}/secret.jsonl",
        "a module": EVIL,
        "a pickle": pickle.dumps(Evil()),
        "SQL": SQL,
        "a variable in SQL": f"${{env:{CANARY}}}",
        "HTML": "<img src=x onerror=alert(1)>",
        "a large number": 2**62,
    }


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a stranger wrote, with a record of every kind."""
    place = tmp_path_factory.mktemp("theirs")
    (place / "in").mkdir()
    (place / "in" / "a.jsonl").write_text('{"id": 1, "k": 2}\n{"id": 2, "k": 3}\n')
    rows = pd.DataFrame({"id": range(12), "k": [1, 2, 3] * 4, "at": range(12)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(place / "configuration"))
        with Session(spark, place / "s") as session:
            session.add_stream("live", str(place / "in" / "*.jsonl"), batch=5)
            session.add_stream("t", rows, history=6, batch=2, time="at", lateness=5)
            session.add_table("z", rows[["k", "id"]].head(3), key=["k"])
            session.add_function("plus", lambda value: value + 1, returns="bigint")
            session.add_aggregate("rms", ("x",), {"n": "COUNT(x)", "q": "SUM(x*x)"}, "SQRT(q / n)")
            texts = {
                "joined": "SELECT t.id, z.id AS other FROM t JOIN z ON t.k = z.k WHERE t.id > 1 OR t.k IN (2, 3)",
                "grouped": "SELECT k, COUNT(*) AS n, MEDIAN(id) AS m FROM t GROUP BY k HAVING COUNT(*) > 1",
                "called": "SELECT id, plus(k) AS p FROM live",
                "ranked": "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS r FROM t ORDER BY id",
                "either": "SELECT id FROM t WHERE k = 1 UNION SELECT id FROM t WHERE id > 5",
                "recent": "SELECT k, COUNT(*) AS n FROM t WHERE at > now() - 3 GROUP BY k",
            }
            session.register_many(texts)
            session.add_sink("grouped", str(place / "out"))
            session.run(2)
    return place / "s"


@dataclass(frozen=True)
class Field:
    """A field of what is stored: of which file, where in it, and how a value is put there."""

    name: str
    put: Callable[[Path, object], None]


def leaves(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The paths of all that is in a JSON value; of the members of a list, the first."""
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*path, 0))


def with_value(stored: str, path: tuple[object, ...], value: object) -> str:
    """A JSON text with another value in one place."""
    if not path:
        return json.dumps(value)
    whole = json.loads(stored)
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(whole)


def as_text(value: object) -> object:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def fields_of_json(file: str, folder: Path) -> Iterator[Field]:
    def putter(path: tuple[object, ...]) -> Callable[[Path, object], None]:
        def put(copy: Path, value: object) -> None:
            (copy / file).write_text(with_value((copy / file).read_text(), path, as_text(value)))

        return put

    for path in leaves(json.loads((folder / file).read_text())):
        yield Field(f"{file} {path}", putter(path))


def fields_of_database(file: str, folder: Path) -> Iterator[Field]:
    """Every column that has values, and every leaf of the texts that are JSON, of the first row that has it."""

    def putter(table: str, column: str, key: str, path: tuple[object, ...] | None) -> Callable[[Path, object], None]:
        def put(copy: Path, value: object) -> None:
            with closing(sqlite3.connect(copy / file)) as database:
                new = value
                if path is not None:
                    stored = database.execute(f'SELECT "{column}" FROM {table} WHERE {key}').fetchone()[0]
                    new = with_value(stored, path, as_text(value))
                database.execute(f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE {key}', [new])
                database.commit()

        return put

    with closing(sqlite3.connect(folder / file)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(tables):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for column in columns:
                seen: set[tuple[object, ...]] = set()
                values = database.execute(f'SELECT DISTINCT "{column}" FROM {table} WHERE "{column}" IS NOT NULL')
                for number, (value,) in enumerate(values.fetchmany(40)):
                    key = f'"{column}" = {quoted(value)}'
                    if not number or len(columns) == 2:  # names and values: each is a field of its own
                        yield Field(f"{table}.{column}", putter(table, column, key, None))
                    for path in set(parsed_leaves(value)) - seen:
                        seen.add(path)
                        yield Field(f"{table}.{column} {path}", putter(table, column, key, path))


def quoted(value: object) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def parsed_leaves(value: object) -> Iterator[tuple[object, ...]]:
    if isinstance(value, str) and value[:1] in "{[":
        try:
            yield from (path for path in leaves(json.loads(value)) if path)
        except ValueError:
            return


def stored_fields(folder: Path) -> list[Field]:
    """All fields of all that a folder stores."""
    found: list[Field] = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name in (CATALOG, TAIL):
            found += fields_of_database(name, folder)
        elif path.suffix == ".json":
            found += fields_of_json(name, folder)
    return found


def opened(folder: Path, trust: bool | None) -> None:
    """What opening does with a folder, without Spark: read and draw it, ask its sources, let its sinks go on."""
    directory = SessionDirectory.existing(folder)
    with directory.starting() as catalog:
        gate = Gate(lambda: catalog.identity)
        gate.trust = trust
        with decoding_catalog(folder / CATALOG):
            stored = StoredSession(directory, catalog)
            damage = damage_of(directory, stored, FileVerifier(), trust)
            engine = SimpleNamespace(jobs=SimpleNamespace(limits=LIMITS), incremental_aggregates=True)
            functions = SimpleNamespace(add=lambda *function: None)
            state = restored_state(directory, catalog, engine, functions, damage, State())  # type: ignore[arg-type]
    for text in texts({name: tree.plan for name, tree in state.engine.trees.items()}):
        assert text == SQL or SQL not in text, "a name ends its quotation in SQL of Spark"
    NetworkView(state.network, state.reports).to_dot()  # whose labels are no HTML: Graphviz escapes them
    for query in state.queries.values():
        assert "<img src=x" not in ExplanationView.of(query.explanation)._repr_html_()
    live, sinks = LiveSources(gate), sinks_of(folder, gate)
    try:
        live.adopt(state.streams)
        live.take_in(state.streams)
        live.status(state.streams)
        sinks.go_on()
        assert sinks.statuses or not (folder / SINKS).exists()
    finally:
        sinks.close()
        live.close()
        for stream in state.streams.values():
            if stream.log.tail is not None:
                stream.log.tail.close()
        catalog.close()
        directory.close()


def texts(part: object) -> Iterator[str]:
    """All texts in a plan, SQL among them."""
    if isinstance(part, str):
        yield part
    elif is_dataclass(part):
        for member in fields(part):
            yield from texts(getattr(part, member.name))
    elif isinstance(part, Mapping):
        for pair in part.items():
            yield from texts(pair)
    elif isinstance(part, tuple | list | frozenset | set):
        for member in part:
            yield from texts(member)


def sinks_of(folder: Path, gate: Gate) -> Sinks:
    rows = pa.table({"batch": [50], "weight": [1], "k": [1]})

    def source(name: str) -> AnswerSource:
        with closing(sqlite3.connect(folder / CATALOG)) as database:
            known = database.execute("SELECT id FROM registrations WHERE name = ?", [name]).fetchone()
        return AnswerSource(known[0] if known else "", lambda: (INTEGER,), lambda since: rows, lambda: 50)

    return Sinks(folder / SINKS, source, lambda: 50, gate)


def happens(watch: Watch, folder: Path, trust: bool | None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happened while a folder was opened, however that ended."""
    watch.seen.clear()
    with monkeypatch.context() as patch:
        patch.setenv(CANARY, VALUE)
        patch.setattr(os, "environ", Environment(watch))
        watch.on = True
        try:
            opened(folder, trust)
        except WorkbenchError as refused:
            assert VALUE not in str(refused)
        finally:
            watch.on = False
    return [*watch.seen]


@pytest.mark.timeout(3600 if LONG else 300)
@pytest.mark.parametrize("share", range(SHARES))
def test_no_field_of_a_stranger_does_anything(
    theirs: Path, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    seed = random.randrange(10**6)
    drawn, found, values = random.Random(seed), stored_fields(theirs), hostile(watch)
    assert len(found) > 500
    copy, failed = tmp_path / "s", list[str]()
    for at in found[share::SHARES] if LONG else drawn.sample(found, 60):
        for name in values if LONG else drawn.sample([*values], 1):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(theirs, copy)
            with suppress(sqlite3.Error):  # no such value can stand there
                at.put(copy, values[name])
            for trust in (None, False) if LONG else (drawn.choice([None, None, False]),):
                if seen := happens(watch, copy, trust, monkeypatch):
                    failed.append(f"{at.name} is {name}, trust={trust}: {seen[:3]}")
    assert not failed, f"seed {seed}: {len(failed)}: " + "\n".join(failed[:20])


def test_what_acts_does_nothing_whatever_it_names(
    theirs: Path, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fields by which a folder would act, with more values each."""
    copy, failed = tmp_path / "s", list[str]()
    acting = [at for at in stored_fields(theirs) if re.match(ACTING, at.name)]
    assert len(acting) > 15
    for at in acting:
        for name, value in random.sample([*hostile(watch).items()], 17 if LONG else 3):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(theirs, copy)
            with suppress(sqlite3.Error):
                at.put(copy, value)
            if seen := happens(watch, copy, None, monkeypatch):
                failed.append(f"{at.name} is {name}: {seen[:3]}")
    assert not failed, "\n".join(failed[:20])


def test_the_walk_sees_what_happens(
    theirs: Path, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With trust the same values act, but for what is on no list and what is of this machine."""
    values = hostile(watch)
    (target,) = [at for at in stored_fields(theirs) if at.name == f"{SINKS}/grouped.json ('target',)"]
    source = [at for at in stored_fields(theirs) if "offsets.next" in at.name]

    def seen(at: Field, value: object) -> list[str]:
        shutil.rmtree(tmp_path / "s", ignore_errors=True)
        shutil.copytree(theirs, tmp_path / "s")
        with suppress(sqlite3.Error):
            at.put(tmp_path / "s", value)
        return happens(watch, tmp_path / "s", True, monkeypatch)

    assert any("socket.connect" in event for event in seen(target, f"http://127.0.0.1:{watch.port}/"))
    assert any("socket.connect" in event for at in source for event in seen(at, values["a socket"]))
    assert any("secret.jsonl" in event for at in source for event in seen(at, values["a pattern"]))
    pickled = [at for at in stored_fields(theirs) if at.name == "user_functions.pickled"]
    assert any(EVIL in event for at in pickled for event in seen(at, values["a pickle"]))
    for name in ("a library", "a program", "a variable", "a variable, posted", "a database"):
        assert not any("environment" in event or "connect" in event for event in seen(target, values[name])), name


def test_nothing_in_a_folder_leads_out_of_it(theirs: Path, watch: Watch, tmp_path: Path) -> None:
    """A link, a pipe: in the place of each kind of file and folder, and beside them."""
    inside = [path.relative_to(theirs) for path in sorted(theirs.rglob("*"))]
    kinds = {(path.parts[0], path.suffix, len(path.parts)): path for path in inside}
    assert len(kinds) > 10
    for number, path in enumerate([*kinds.values(), *map(Path, ("spooled", "leftovers", "sinks/x.json"))]):
        copy = Path(shutil.copytree(theirs, tmp_path / str(number)))
        if (copy / path).is_dir():
            shutil.rmtree(copy / path)
        (copy / path).unlink(missing_ok=True)
        if number % 3:
            (copy / path).symlink_to(watch.outside / "secret.json" if path.suffix else watch.outside)
        else:
            os.mkfifo(copy / path)
        before = {file.name: file.read_bytes() for file in watch.outside.iterdir()}
        with pytest.raises(WorkbenchError, match=r"a symbolic link|is no file"):
            SessionDirectory.existing(copy)
        assert {file.name: file.read_bytes() for file in watch.outside.iterdir()} == before


def test_a_stranger_s_sinks_and_sources_are_named_and_given_again(
    spark: SparkSession, theirs: Path, watch: Watch, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(theirs, tmp_path / "s"))
    shutil.rmtree(theirs.parent / "out")  # to which other tests may have written
    with Session.open(copy, spark, trust=False) as session:
        assert "without trust" in str(session.read_only)
    with closing(sqlite3.connect(copy / CATALOG)) as database:
        database.execute("UPDATE user_functions SET pickled = ?", [pickle.dumps(len)])
        database.commit()
    (copy / IDENTITY).unlink()
    with Session.open(copy, spark, trust=True) as session:  # what it names is in the folder, and is mine from now on
        assert session.sinks["grouped"].problem == "" and not session.sources["live"].problem
    with Session.open(copy, spark) as session:
        session.run(1)
        assert session.sinks["grouped"].problem == "" and not session.sources["live"].problem
        mine = json.loads((copy / SINKS / "grouped.json").read_text())
    (copy / SINKS / "grouped.json").write_text(json.dumps({**mine, "target": f"http://127.0.0.1:{watch.port}/"}))
    watch.seen.clear()
    with Session.open(copy, spark) as session:
        assert "is not used: it was not added by you" in session.sinks["grouped"].problem
        assert "add_sink('grouped', …, name='grouped') gives it again" in session.sinks["grouped"].problem
        session.add_sink("grouped", str(tmp_path / "out"), name="grouped")
        assert session.sinks["grouped"].target == str(tmp_path / "out")
    assert not watch.seen
