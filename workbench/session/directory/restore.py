"""A session as its catalog says it: what ``Session.open`` goes on with.

What is damaged is named, and the rest is there: a query answers as long as the rows of its own tree are whole, and the
functions that it calls may be loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.catalog.session_rows import BatchRow, FileRow, Registration, StreamRow
from workbench.engine.engine import Engine
from workbench.engine.event_time import recover_clock
from workbench.engine.manifest import Manifest
from workbench.engine.reports import BatchReport, OperatorReport, Places
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.engine.spark.user_functions.process import Limits
from workbench.engine.state import EngineState
from workbench.errors import StreamError
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.session.directory.directory import Home
from workbench.session.directory.files_check import Expected, FilesCheck
from workbench.session.directory.functions import distrusted, loaded, of_other_python, wrong_with
from workbench.session.query import ACTIVE, Query
from workbench.session.state import State
from workbench.session.transitions import AnswersOf
from workbench.sharing.decisions import Explanation
from workbench.sql.logical import calls_of
from workbench.streams.log import MANIFEST, logged_files, open_log
from workbench.streams.stream import Stream


@dataclass(frozen=True)
class Damage:
    """What of a session cannot be read, each with what is wrong with it.

    Attributes:
        trees: trees with a file that is missing or has other bytes, by the nodes whose rows they have.
        arrived: streams whose rows for later queries are so.
        streams: streams whose log is so.
        functions: functions that Python cannot load, by their ids.
        distrusted: functions that are not to be loaded, by their ids.
        lost: that the catalog lacks the last commits; "" when it does not.
        altered: that the catalog is not as it was left; "" when it is.
    """

    trees: Mapping[NodeId, str]
    arrived: Mapping[str, str]
    streams: Mapping[str, str]
    functions: Mapping[str, str]
    distrusted: Mapping[str, str]
    lost: str = ""
    altered: str = ""

    def __bool__(self) -> bool:
        return bool(str(self))

    @property
    def repairable(self) -> bool:
        """Whether all of it can be computed anew from the streams."""
        return not (self.streams or self.unusable or self.altered)

    @property
    def unusable(self) -> Mapping[str, str]:
        """The functions that are not there, whyever."""
        return {**self.functions, **self.distrusted}

    @property
    def remedy(self) -> str:
        """What to do."""
        if self.repairable:
            return "restore the file, or open with repair=True to compute it anew from the streams"
        if self.distrusted and not (self.streams or self.functions or self.altered):
            return "trust=True (%argus open PATH --trust) loads functions, which runs code of whoever wrote the folder"
        return "restore what is missing, and open the session again"

    def __str__(self) -> str:
        parts = (self.trees, self.arrived, self.streams, self.functions, self.distrusted)
        reasons = (reason for part in parts for reason in part.values())
        return "; ".join(filter(None, dict.fromkeys((self.altered, self.lost, *reasons))))


class Restored:
    """What a catalog says of a session.

    Args:
        home: its folder.
        catalog: what was committed.
        check: looks at the files.
        trust: whether all functions are to be loaded; ``None``: those that this user added.
    """

    def __init__(self, home: Home, catalog: Catalog, check: FilesCheck, trust: bool | None) -> None:
        self._home = home
        self._check = check
        self._trust = trust
        self._catalog = catalog
        self._rows = catalog.session

    def damage(self) -> Damage:
        """What is not there or not whole."""
        logs = {row.name: self._log(row) for row in self._rows.streams()}
        wrong = self._check.wrong(self._files(logs))
        trees = {}
        for tree in self._rows.trees().values():
            trees.update(dict.fromkeys(tree.bits, self._first(wrong, tree.files)))
        arrived = {
            name: self._first(wrong, (f for run in runs for f in run)) for name, runs in self._rows.arrived().items()
        }
        streams = {
            name: log if isinstance(log, str) else next((wrong[f.path] for f in log if f.path in wrong), "")
            for name, log in logs.items()
        }
        functions, not_trusted = self._functions()
        return Damage(
            _reasons(trees),
            _reasons(arrived),
            _reasons(streams),
            _reasons(functions),
            _reasons(not_trusted),
            self._home.lost,
            self._home.altered,
        )

    def files(self) -> list[Expected]:
        """All files that the commit names."""
        return self._files({row.name: self._log(row) for row in self._rows.streams()})

    def _files(self, logs: Mapping[str, str | list[Expected]]) -> list[Expected]:
        owned = [run for tree in self._rows.trees().values() for run in tree.files]
        owned += [file for runs in self._rows.arrived().values() for run in runs for file in run]
        segments = [Expected(self._home.path / f.file, f.bytes, f.checksum) for f in owned]
        return segments + [file for log in logs.values() if not isinstance(log, str) for file in log]

    def _first(self, wrong: Mapping[Path, str], files: Iterable[FileRow]) -> str:
        """What is wrong with the first of some files that are not whole."""
        paths = (self._home.path / file.file for file in files)
        return next((wrong[path] for path in paths if path in wrong), "")

    def _log(self, row: StreamRow) -> str | list[Expected]:
        """The files of a stream's log; what is wrong with its manifest when they are not known."""
        folder = self._folder(row)
        manifest = Expected(folder / MANIFEST, None, row.checksum)
        if wrong := manifest.wrong():
            return wrong
        try:
            return [manifest, *(Expected(folder / name, None, sum_) for name, sum_ in logged_files(folder).items())]
        except StreamError as problem:
            return problem.message

    def _functions(self) -> tuple[dict[str, str], dict[str, str]]:
        """Why functions cannot be loaded, and why they are not to be."""
        functions, not_trusted = {}, {}
        for function, stored in self._rows.functions():
            id_, name = function.id, function.name
            functions[id_] = of_other_python(name, stored)
            if not functions[id_]:
                not_trusted[id_] = distrusted(function, stored, self._trust)
                functions[id_] = "" if not_trusted[id_] else wrong_with(name, stored)
        return functions, not_trusted

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
            if function.id not in damage.unusable and before.stored_functions.get(function.id) != code:
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
            disabled=disabled | _calling(registered, damage) | unreadable(network, damage),
            reports=tuple(_report(row, places) for row in self._rows.batches()),
            held=self._held(engine, network, streams, damage),
            named=self._rows.named,
        )

    def _held(self, engine: Engine, network: Network, streams: Mapping[str, Stream], damage: Damage) -> EngineState:
        manifest = Manifest(self._rows, self._home.path)
        plans = engine.plans(network, {name: tree.bits for name, tree in self._rows.trees().items()})
        whole = {name: plan for name, plan in plans.items() if damage.trees.keys().isdisjoint(plan.roots)}
        columns = {name: dict(s.stored_columns) for name, s in streams.items() if name not in damage.arrived}
        trees = manifest.trees(engine.spark, self._home.state, whole)
        arrived = manifest.arrived(engine.spark, self._home.state, columns)
        times = {name: streams[name].time for name in arrived}
        return EngineState(trees, arrived, recover_clock(arrived, times, (row.batch for row in self._rows.batches())))

    def _stream(self, row: StreamRow) -> Stream:
        return Stream(open_log(self._folder(row)), row.history, row.batch, row.arrived, row.time, row.is_table)

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


def unreadable(network: Network, damage: Damage) -> dict[str, str]:
    """The queries whose own rows are damaged, and how."""
    roots = {name: plan.read.root for name, plan in network.queries.items()}
    return {name: damage.trees[root] for name, root in roots.items() if root in damage.trees}


def _reasons(found: Mapping[str, str]) -> dict[str, str]:
    """What something is wrong with, and what."""
    return {name: reason for name, reason in found.items() if reason}


def _calling(queries: Iterable[Registration], damage: Damage) -> dict[str, str]:
    """The queries that call a function which is not there, and why it is not."""
    found = {}
    for row in queries:
        if called := sorted(calls_of(row.logical) & damage.unusable.keys()):
            found[row.name] = damage.unusable[called[0]]
    return found


def _report(row: BatchRow, places: Places) -> BatchReport:
    operators = tuple(
        OperatorReport(o.operator, tuple(counts), o.rows_in, o.rows_out, o.seconds, counts, o.alone, o.together)
        for o in row.operators
        for counts in [places.counts(o.node_rows)]
    )
    changes = places.counts(row.changes)
    return BatchReport(row.batch, row.rows, row.seconds, operators, changes, row.arrived, row.late_rows)
