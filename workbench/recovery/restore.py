"""A session as its catalog says it: what ``Session.open`` goes on with.

What cannot be read is named, and the rest is there: a query answers as long as the rows of its own tree are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.catalog.session_rows import BatchRow, FileRow, Registration, StreamRow
from workbench.engine.clock import clock_of
from workbench.engine.engine import Engine
from workbench.engine.function_process import Limits
from workbench.engine.functions import UserFunctions
from workbench.engine.held import Held
from workbench.engine.manifest import Manifest
from workbench.engine.timings import BatchReport, OperatorReport, Places
from workbench.errors import StreamError
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.query import ACTIVE, Query
from workbench.recovery.functions import loaded, wrong_with
from workbench.recovery.home import Home
from workbench.sharing.decisions import Explanation
from workbench.sql.expressions import calls
from workbench.state import State
from workbench.steps import AnswersOf
from workbench.streams.log import open_log
from workbench.streams.replay import Replay
from workbench.streams.stream import Stream


@dataclass(frozen=True)
class Damage:
    """What of a session cannot be read, each with what is wrong with it.

    Attributes:
        trees: trees with a file that is missing or cut short, by the nodes whose rows they have.
        arrived: streams whose rows for later queries are so.
        streams: streams whose log is so.
        functions: functions that Python cannot load, by their ids.
    """

    trees: Mapping[NodeId, str]
    arrived: Mapping[str, str]
    streams: Mapping[str, str]
    functions: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.trees or self.arrived or self.streams or self.functions)

    @property
    def repairable(self) -> bool:
        """Whether all of it can be computed anew from the streams."""
        return not (self.streams or self.functions)

    @property
    def remedy(self) -> str:
        """What to do."""
        if self.repairable:
            return "restore the file, or open with repair=True to compute it anew from the streams"
        return "restore what is missing, and open the session again"

    def __str__(self) -> str:
        parts = (self.trees, self.arrived, self.streams, self.functions)
        return "; ".join(dict.fromkeys(reason for part in parts for reason in part.values()))


class Restored:
    """What a catalog says of a session.

    Args:
        home: its folder.
        catalog: what was committed.
    """

    def __init__(self, home: Home, catalog: Catalog) -> None:
        self._home = home
        self._catalog = catalog
        self._rows = catalog.session

    def damage(self) -> Damage:
        """What is not there or not whole; sizes are looked at, not contents."""
        trees = {}
        for tree in self._rows.trees().values():
            trees.update(dict.fromkeys(tree.bits, self._wrong(tree.files)))
        arrived = {name: self._wrong(f for run in runs for f in run) for name, runs in self._rows.arrived().items()}
        return Damage(
            {root: wrong for root, wrong in trees.items() if wrong},
            {name: wrong for name, wrong in arrived.items() if wrong},
            {row.name: wrong for row in self._rows.streams() if (wrong := _wrong_log(self._folder(row)))},
            {f.id: wrong for f, stored in self._rows.functions() if (wrong := wrong_with(f.name, stored))},
        )

    def state(
        self, engine: Engine, functions: UserFunctions, answers: AnswersOf, damage: Damage, before: State
    ) -> State:
        """The session's state.

        Args:
            engine: what will run it.
            functions: take the analyst's functions.
            answers: what a query asks for its answers.
            damage: what is left out.
            before: an older state of the same session, whose queries stay the objects they are.
        """
        stored, places = self._rows.functions(), Places()
        for function, code in stored:
            if function.id not in damage.functions and before.stored_functions.get(function.id) != code:
                functions.add(function.id, loaded(code), function.returns, Limits(code.seconds, code.memory))
        network = self._catalog.network()
        streams = {row.name: self._stream(row) for row in self._rows.streams() if row.name not in damage.streams}
        registered = self._rows.registrations()
        disabled = {row.name: row.status for row in registered if row.status != ACTIVE}
        return State(
            network=network,
            streams=streams,
            views=self._rows.views(),
            functions={function.id: function for function, _ in stored},
            stored_functions={function.id: code for function, code in stored},
            aggregates={aggregate.name: aggregate for aggregate in self._rows.aggregates()},
            queries={row.name: self._query(row, answers, before) for row in registered},
            disabled=disabled | unreadable(network, damage),
            reports=tuple(_report(row, places) for row in self._rows.batches()),
            held=self._held(engine, network, streams, damage),
            named=self._rows.named,
        )

    def _held(self, engine: Engine, network: Network, streams: Mapping[str, Stream], damage: Damage) -> Held:
        manifest = Manifest(self._rows, self._home.path)
        plans = engine.plans(network, {name: tree.bits for name, tree in self._rows.trees().items()})
        whole = {name: plan for name, plan in plans.items() if damage.trees.keys().isdisjoint(plan.roots)}
        columns = {name: dict(s.stored_columns) for name, s in streams.items() if name not in damage.arrived}
        trees = manifest.trees(engine.spark, self._home.state, whole)
        arrived = manifest.arrived(engine.spark, self._home.state, columns)
        times = {name: streams[name].time for name in arrived}
        return Held(trees, arrived, clock_of(arrived, times, (row.batch for row in self._rows.batches())))

    def _stream(self, row: StreamRow) -> Stream:
        replay = Replay(open_log(self._folder(row)), row.history, row.batch, row.arrived)
        return Stream(replay, row.time, row.is_table)

    def _query(self, row: Registration, answers: AnswersOf, before: State) -> Query:
        old = before.queries.get(row.name)
        if old is not None and (old.sql, old.registered) == (row.sql, row.registered):
            return old
        told = self._catalog.decisions(row.name)
        explanation = Explanation.from_rows(row.name, told) if told else Explanation(row.name, ())
        about = (row.name, row.sql, row.dialect, row.logical, row.registered, explanation, answers)
        return Query(*about, row.results, row.windows)

    def _folder(self, row: StreamRow) -> Path:
        return self._home.streams / row.folder

    def _wrong(self, files: Iterable[FileRow]) -> str:
        for file in files:
            path = self._home.path / file.file
            try:
                size = path.stat().st_size
            except OSError as problem:
                return f"{path} cannot be read: {problem.strerror}"
            if size != file.bytes:
                return f"{path} is damaged: it has {size:,} bytes instead of {file.bytes:,}"
        return ""


def unreadable(network: Network, damage: Damage) -> dict[str, str]:
    """The queries that cannot answer, and why: rows of their own tree are damaged, or a function of SELECT is."""
    found = {}
    for name, plan in network.queries.items():
        called = frozenset().union(*(calls(output.expression) for output in plan.outputs))
        reasons = [damage.trees.get(plan.read.root), *(damage.functions.get(f) for f in sorted(called))]
        if reason := next(filter(None, reasons), None):
            found[name] = reason
    return found


def _wrong_log(folder: Path) -> str:
    try:
        log = open_log(folder)
        missing = next((file.path for file in log.files if not file.path.exists()), None)
    except StreamError as problem:
        return problem.message
    return "" if missing is None else f"{missing} is missing"


def _report(row: BatchRow, places: Places) -> BatchReport:
    operators = tuple(
        OperatorReport(o.operator, tuple(counts), o.rows_in, o.rows_out, o.seconds, counts, o.alone, o.together)
        for o in row.operators
        for counts in [places.counts(o.node_rows)]
    )
    changes = places.counts(row.changes)
    return BatchReport(row.batch, row.rows, row.seconds, operators, changes, row.arrived, row.set_aside)
