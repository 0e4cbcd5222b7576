"""A session without Spark: the surface the notebook layer uses, answers made up, planning by fixed nodes."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import example_network
import pandas as pd
import pyarrow as pa

from workbench.engine.schedule import Progress
from workbench.errors import EngineError, QueryError, SqlError, nearest
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.explain.relaxation import Condition
from workbench.network.network import Network
from workbench.network.nodes import Node
from workbench.notebook.session import SessionViews
from workbench.options import Options
from workbench.session.adding_column import NewColumn
from workbench.session.as_of import AsOf
from workbench.session.failures.error_log import KeptError
from workbench.session.held_answer import HeldAnswer
from workbench.session.missing_rows import Cause, MissingRows
from workbench.session.player import Player
from workbench.session.provenance import Provenance
from workbench.session.replacement import AnswerDifference, Replacement
from workbench.session.sinks.sink import SinkStatus
from workbench.session.widening import WiderColumn
from workbench.sharing.decisions import Decision, Rule
from workbench.sql.algebra.types import DATE, INTEGER, STRING, DataType, decimal
from workbench.sql.schema import UserAggregate, UserFunction
from workbench.streams.declared_constraints import DeclaredConstraint
from workbench.streams.drift import Drift
from workbench.streams.guessing import Guess
from workbench.streams.ingest import Arriving
from workbench.streams.source import QuarantinedRow

COLUMNS = (("tranid", INTEGER), ("tran_date", DATE), ("amount", decimal(15, 2)), ("rbank_aba", INTEGER))


@dataclass
class FakeStream:
    name: str
    history: int
    batch: int
    time: str | None
    rows: int = 5000
    position: int = 0
    quarantined_rows: int = 0
    quarantined: tuple[QuarantinedRow, ...] = ()
    columns: tuple[tuple[str, DataType], ...] = COLUMNS
    table: bool = False
    late_rows: int = 0
    lateness: str | None = None
    corrections: None = None
    shed: str | None = None
    left_out: int = 0
    guesses: dict[str, Guess] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    drifts: tuple[Drift, ...] = ()
    constraints: tuple[DeclaredConstraint, ...] = ()

    quarantine_mark: tuple[int, int] = (0, 0)
    log: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(is_live=False))

    def as_event_time(self, clock: dt.datetime | None, zone: str) -> dt.datetime | None:
        return clock

    def quarantined_since(self, mark: tuple[int, int]) -> tuple[int, tuple[QuarantinedRow, ...]]:
        return len(self.quarantined), self.quarantined

    @property
    def batch_text(self) -> str:
        return "" if self.table else f"{self.batch:,}"

    @property
    def waiting(self) -> int:
        return self.rows - self.position


@dataclass(eq=False)
class FakeQuery:
    name: str
    sql: str
    dialect: str
    frame: pd.DataFrame
    status: str = "active"
    columns: tuple[tuple[str, DataType], ...] = (("tranid", INTEGER), ("city", STRING))
    registered: int = 0
    results: str = "lazy"
    explanation: ExplanationView | None = None
    logical: object = None
    priority: int = 0
    suspended: int | None = None
    timezone: str = "UTC"
    batch: int = 0

    def explain(self) -> ExplanationView:
        assert self.explanation is not None
        return self.explanation

    @property
    def left_out(self) -> dict[str, int]:
        return {}

    def result(self) -> pd.DataFrame:
        return self.frame

    def head(
        self, limit: int = 10, skip: int = 0, *,
        at: object | None = None, batch: int | None = None, sort: str | None = None, descending: bool = False,
        where: str | None = None,
    ) -> pd.DataFrame:  # fmt: skip
        frame = self.frame.query(where) if where else self.frame
        if sort is not None:
            names = {name.lower(): name for name in frame.columns}
            if sort.lower() not in names:
                raise QueryError(f"the answer has no column {sort}", hint=nearest(sort, names))
            frame = frame.sort_values(names[sort.lower()], ascending=not descending)
        return frame.iloc[skip : skip + limit]

    def hold(self, batch: int | None = None, where: str | None = None, since: int | None = None) -> HeldAnswer:
        """In place of ``workbench.session.held_answer.hold_answer``."""
        rows = pa.Table.from_pandas(self.head(len(self.frame), where=where), preserve_index=False)
        held = HeldAnswer(rows, (since or 0) + 1 if batch is None else batch)
        if since is not None:
            held.mark(pa.Table.from_pandas(self.changes(since).drop(columns="batch"), preserve_index=False))
        return held

    def follow(self, held: HeldAnswer, since: int | None = None) -> HeldAnswer:
        """In place of ``workbench.session.held_answer.follow_answer``: always read anew."""
        return self.hold(since=since)

    def save(self, path: str) -> int:
        self.frame.to_csv(path)
        return len(self.frame)

    def count(self, *, at: object | None = None, batch: int | None = None, where: str | None = None) -> int:
        return len(self.frame.query(where) if where else self.frame)

    def diff(self, first: int, last: int | None = None) -> pd.DataFrame:
        frame = self.frame.copy()
        frame.insert(0, "weight", -1 if last is not None and last < first else 1)
        return frame

    def why(self, where: str | None = None, limit: int = 100) -> Provenance:
        rows = pa.table({"batch": [0, 3], "tranid": [1, 2]})
        return Provenance(self.name, self.head(1), 1, {"fed": rows})

    def why_not(self, expected: str) -> MissingRows:
        rows = pa.table({"batch": [0], "tranid": [7]})
        cause = Cause((Condition("WHERE", "amount > 5", ("where",)),), ("S1",), 1, self.head(1), {"fed": rows})
        return MissingRows(self.name, expected, 0, (cause,))

    def batch_before(self, since: str | int) -> int | None:
        return int(since) if str(since).isdecimal() else None

    def changes(self, since: int | None = None) -> pd.DataFrame:
        frame = self.frame.copy()
        frame.insert(0, "batch", range(len(frame)))
        frame.insert(1, "weight", 1)
        return frame if since is None else frame[frame["batch"] > since]


@dataclass
class FakeSession(SessionViews):
    streams: dict[str, FakeStream] = field(default_factory=dict)
    queries: dict[str, FakeQuery] = field(default_factory=dict)
    reports: list[Any] = field(default_factory=list)
    frame: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"tranid": range(25), "city": "Rome"}))
    plan: Network = field(default_factory=Network)
    last_error: BaseException | None = None
    closed: bool = False
    temporary: bool = True
    ends_after: int = 1000
    interrupts: dict[int, int] = field(default_factory=dict)
    underway: Progress | None = None
    added: list[tuple[Any, ...]] = field(default_factory=list)
    functions: dict[str, UserFunction | UserAggregate] = field(default_factory=dict)
    timezone: str = "UTC"
    sources: dict[str, Any] = field(default_factory=dict)
    sinks: dict[str, object] = field(default_factory=dict)
    ports: list[Any] = field(default_factory=list)
    options: Options = field(default_factory=Options)

    @cached_property
    def player(self) -> Player:
        return Player(self)

    def stop_playing(self) -> None:
        if "player" in vars(self):
            self.player.close()

    def rest(self) -> None:
        self.stop_playing()

    @property
    def network(self) -> NetworkView:
        return NetworkView(self.plan, self.reports)

    def add_column(self, stream: str, column: str, type: str | None = None) -> NewColumn:
        self.added.append((stream, column, type))
        return NewColumn(stream, column, type or "string", 12, 1, ("x",), ("q1",))

    def widen_column(self, stream: str, column: str, type: str | None = None) -> WiderColumn:
        self.added.append((stream, column, type))
        return WiderColumn(stream, column, "integer", type or "double", 3, queries=("q1",))

    def add_stream(
        self, name: str, source: object, history: int | None, batch: int | None, time: str | None,
        columns: dict[str, str] | None = None, lateness: str | None = None, **declared: object,
    ) -> FakeStream:  # fmt: skip
        self.followed = (declared.get("registry"), declared.get("since"))
        self.added.append((name, source, columns) if columns else (name, source))
        self.streams[name] = FakeStream(name, history or 0, batch or 1000, time, lateness=lateness)
        return self.streams[name]

    def add_table(
        self, name: str, source: object, columns: dict[str, str] | None = None, **declared: object
    ) -> FakeStream:
        return self.add_stream(name, source, None, None, None, columns, **declared)

    def register(
        self, sql: str, name: str, dialect: str, results: str = "lazy", force: bool = False, move: bool = False
    ) -> FakeQuery:
        self.added.append((name, move))
        _, explanation = self.preview(sql, name, dialect)
        self.plan = self._planned(sql, name) if results != "off" else self.plan
        self.queries[name] = FakeQuery(name, sql, dialect, self.frame, registered=self.batch, explanation=explanation)
        return self.queries[name]

    def preview(self, sql: str, name: str, dialect: str) -> tuple[NetworkView, ExplanationView]:
        view = NetworkView(self._planned(sql, name), self.reports)
        decisions = tuple(
            Decision(id_, view.node(id_).sql, False, Rule.EQUAL, self.network.node(id_).queries)
            if id_ in self.plan.nodes
            else Decision(id_, view.node(id_).sql, True, Rule.NEW, ())
            for id_ in sorted(view.ancestors(name))
        )
        return view, ExplanationView(name, decisions)

    def compare(self, sql: str, name: str, dialect: str) -> Replacement:
        answers = AnswerDifference((25, 24), removed=1, first=self.frame.head(1))
        return Replacement(name, (), (sql.strip(),), (), ("reader",), answers)

    def query(self, name: str) -> FakeQuery:
        if name not in self.queries:
            raise QueryError(f"there is no query {name}", hint=nearest(name, self.queries))
        return self.queries[name]

    def drop(self, name: str) -> None:
        self.query(name)
        del self.queries[name]
        self.plan = example_network.without(self.plan, name)

    def add_sink(self, query: str, target: object, name: str | None = None) -> SinkStatus:
        self.sinks[name or query] = target
        problem = "Connection refused" if str(target).endswith(":9/") else ""
        return SinkStatus(query, str(target), -1, 1, problem)

    def drop_sink(self, name: str) -> None:
        del self.sinks[name]

    @property
    def served(self) -> tuple[Any, ...]:
        return tuple(self.ports)

    def close_with(self, port: Any) -> None:
        self.ports.append(port)

    def leave(self, port: Any) -> None:
        self.ports.remove(port)

    def serve(self, port: int = 0, host: str = "", token: str | None = None, flight: int | None = None) -> Any:
        url = None if flight is None else f"grpc://127.0.0.1:{flight or 2}"
        served = SimpleNamespace(url=f"http://127.0.0.1:{port or 1}/queries", flight_url=url)
        served.close = lambda: self.ports.remove(served)
        self.ports.append(served)
        return served

    def drop_stream(self, name: str) -> None:
        del self.streams[name]

    def as_of(self, query: str) -> AsOf:
        return AsOf(self.batch)

    @property
    def batch(self) -> int:
        return len(self.reports)

    def compare_strategies(self) -> list[SimpleNamespace]:
        costs = {"sharing-selection": 60.0, "match-plan": 80.0, "nothing shared": 100.0}
        numbers = {"nodes": 3, "joins": 1, "weighted_size": 4, "seconds": 0.01}
        return [SimpleNamespace(strategy=name, cost=cost, **numbers) for name, cost in costs.items()]

    arriving: Arriving | None = None
    verifying: None = None

    def forget_problems(self) -> None:
        self.sources = {name: replace(source, earlier="") for name, source in self.sources.items()}

    errors: tuple[KeptError, ...] = ()

    def dismiss_errors(self, name: str | None = None) -> int:
        self.forget_problems()
        gone, self.errors = self.errors, ()
        return len(gone)

    def retry(self, name: str) -> str:
        self.added.append(("retry", name))
        return ""

    @property
    def progress(self) -> Progress | None:
        return self.underway

    @property
    def now(self) -> dt.datetime | None:
        return dt.datetime(2002, 11, 20) if self.streams else None

    def catch_up(self) -> list[Any]:
        return []

    def suspend(self, name: str) -> None:
        self.query(name).suspended = self.query(name).batch = self.batch

    def resume(self, name: str | None = None) -> None:
        for known in self.queries.values() if name is None else [self.query(name)]:
            known.suspended = None

    def prioritize(self, name: str, priority: int) -> None:
        self.query(name).priority = priority

    def live(self, latency: float) -> Any:
        raise NotImplementedError

    @property
    def clocks(self) -> dict[str, dt.datetime | None]:
        return dict.fromkeys(self.streams, self.now)

    def set_batch(self, stream: str, batch: int | str) -> None:
        self.streams[stream].batch = batch

    def seek(self, batch: int, progress: Callable[[Any], None]) -> None:
        del self.reports[batch:]

    def back_in(self, batch: int) -> tuple[int, float]:
        return 0, 0.0

    def interrupt(self) -> None:
        pass

    def run(
        self, batches: int, progress: Callable[[Any], None] = lambda report: None, profile: bool = False
    ) -> list[Any]:
        done = []
        for number in range(len(self.reports) + 1, min(len(self.reports) + batches, self.ends_after) + 1):
            for _ in range(self.interrupts.get(number, 0)):
                os.kill(os.getpid(), signal.SIGINT)
            self.reports.append(example_network.report(self.plan, number, profile))
            done.append(self.reports[-1])
            progress(self.reports[-1])
        return done

    def observed(self) -> pd.DataFrame:
        columns = ["node", "kind", "inputs", "predicted", "learnt", "actual", "q_predicted", "q_learnt", "seconds"]
        rows = [[example_network.BIG.id, "selection", 1, 2000.0, 12.5, 10, 200.0, 1.25, 0.5]] if self.reports else []
        return pd.DataFrame(rows, columns=columns)

    def reoptimize(self, dry_run: bool = False) -> str:
        return f"dry_run={dry_run}"

    def batch_cost(self, network: NetworkView) -> float:
        return 1000.0 * len(network.nodes)

    def memory(self, query: str, network: object = None) -> list[object]:
        return []

    def kept(self, root: str) -> tuple[int, int]:
        return 1234, 56789

    def close(self) -> None:
        self.stop_playing()
        self.streams = {}

    def _planned(self, sql: str, name: str) -> Network:
        """What the text says decides the node: ``big`` and ``huge`` select, ``pairs`` joins them; else an error."""
        if "java" in sql:
            raise EngineError("Spark could not evaluate it", hint="try again") from ValueError("at org.apache.spark")
        if "bug" in sql:
            raise ZeroDivisionError("division by zero\nsecond line")
        if "amout" in sql:
            raise SqlError(
                "there is no column amout", sql=sql, position=sql.index("amout"), length=5, hint="did you mean amount?"
            )
        path: list[Node] = [example_network.FED, example_network.BIG, example_network.HUGE, example_network.SAME_BANK]
        nodes = path[: next(n for word, n in (("pairs", 4), ("huge", 3), ("big", 2)) if word in sql)]
        others = example_network.without(self.plan, name)
        plan = example_network.plan(name, nodes[-1])
        return example_network.network_of([*others.nodes.values(), *nodes], *others.queries.values(), plan)
