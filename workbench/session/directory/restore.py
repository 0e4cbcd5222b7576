"""Restores a session from its catalog: finds what is damaged, and makes the state from the rest.

A query answers as long as the rows of its own tree are whole, and the functions that it calls may be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.engine.engine import Engine
from workbench.engine.event_time import EventTimeClock, recover_clock
from workbench.engine.manifest import ARRIVED, StoredSegment
from workbench.engine.physical.planner import plan_trees
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.engine.state import EngineState
from workbench.errors import StreamError
from workbench.files.inside import path_inside
from workbench.network.network import Network, checked_query
from workbench.network.nodes import NodeId
from workbench.optimizer.statistics import StreamStatistics
from workbench.session.directory.directory import SessionDirectory
from workbench.session.directory.integrity import FileVerifier, StoredFile, StoreVerifier
from workbench.session.directory.stored_session import StoredSession, StoredStream
from workbench.session.state import State
from workbench.sql.algebra.zones import UTC
from workbench.sql.logical import calls_of
from workbench.streams.log import MANIFEST, logged_files, open_log
from workbench.streams.stream import Stream
from workbench.streams.tail import TAIL


@dataclass(frozen=True)
class Damage:
    """The unreadable parts of a session, each with its problem.

    Attributes:
        trees: trees with a file that is missing or has other bytes, by the nodes whose rows they have.
        arrived: streams with such a file among the rows that have arrived.
        streams: streams with such a file in their log.
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
        """Whether all damaged files can be computed again from the streams."""
        return not (self.streams or self.unusable or self.altered)

    @property
    def unusable(self) -> Mapping[str, str]:
        """The functions that cannot be used, for any reason."""
        return {**self.functions, **self.distrusted}

    @property
    def remedy(self) -> str:
        """The hint for the analyst."""
        if self.repairable:
            return "restore the file, or open with repair=True to compute it anew from the streams"
        if self.distrusted and not (self.streams or self.functions or self.altered):
            return "trust=True (%argus open PATH --trust) lets them act, which runs code of the folder's author"
        return "restore what is missing, and open the session again"

    def unreadable(self, network: Network) -> dict[str, str]:
        """The queries whose own rows are damaged, and how."""
        roots = {name: plan.read.root for name, plan in network.queries.items()}
        return {checked_query(name): self.trees[root] for name, root in roots.items() if root in self.trees}

    def __str__(self) -> str:
        parts = (self.trees, self.arrived, self.streams, self.functions, self.distrusted)
        reasons = (reason for part in parts for reason in part.values())
        return "; ".join(filter(None, dict.fromkeys((self.altered, self.lost, *reasons))))


class StoredFiles:
    """The files that a session's last commit names.

    Args:
        directory: of the session.
        stored: the session in its catalog.
    """

    def __init__(self, directory: SessionDirectory, stored: StoredSession) -> None:
        names = {stream.name for stream in stored.streams.all()}
        # Versions until 0.2 went on to name the rows of a dropped stream.
        named = stored.manifest.segments()
        self.segments: list[StoredSegment] = [s for s in named if s.part != ARRIVED or s.owner in names]
        self.log_problems: dict[str, str] = {}
        """What is wrong with the manifests of logs, by stream; the other files of such a log are not known."""
        self.logs = {
            stream.name: self._log(path_inside(directory.streams, stream.folder), stream)
            for stream in stored.streams.all()
        }

    @cached_property
    def all(self) -> list[StoredFile]:
        """All files, of segments and of logs."""
        segments = [StoredFile(Path(s.segment.path), s.segment.bytes, s.segment.checksum) for s in self.segments]
        return segments + [file for log in self.logs.values() for file in log]

    def _log(self, folder: Path, stream: StoredStream) -> list[StoredFile]:
        manifest = StoredFile(folder / MANIFEST, None, stream.checksum)
        problem = manifest.problem()
        if not problem:
            try:
                files = logged_files(folder).items()
                named = (StoredFile(path_inside(folder, name), None, checksum) for name, checksum in files)
                return [manifest, *named]
            except StreamError as error:
                problem = error.message
            except ValueError as error:
                problem = str(error)
        self.log_problems[stream.name] = problem
        return []


def damage_of(
    directory: SessionDirectory, stored: StoredSession, verifier: FileVerifier | StoreVerifier, trust: bool | None
) -> Damage:
    """The parts of a session that are missing, damaged, or not to be loaded.

    Args:
        directory, stored: the session.
        verifier: reads its files.
        trust: whether all functions are to be loaded; ``None``: those that this user added.
    """
    files = StoredFiles(directory, stored)
    problems = verifier.problems(files.all)
    trees, arrived = dict[str, str](), dict[str, str]()
    for stored_segment in files.segments:
        if problem := problems.get(Path(stored_segment.segment.path)):
            (arrived if stored_segment.part == ARRIVED else trees).setdefault(stored_segment.owner, problem)
    streams = dict(files.log_problems)
    for name, log in files.logs.items():
        if broken := [problems[file.path] for file in log if file.path in problems]:
            streams[name] = broken[0]
    functions, distrusted = dict[str, str](), dict[str, str]()
    for function in stored.functions.all():
        not_trusted = function.why_not_trusted(trust)
        if not_loadable := function.why_not_loadable(trusted=not not_trusted):
            functions[function.name] = not_loadable
        elif not_trusted:
            distrusted[function.name] = not_trusted
    of_nodes = {node: trees[tree] for tree, bits in stored.manifest.bits().items() if tree in trees for node in bits}
    return Damage(of_nodes, arrived, streams, functions, distrusted, directory.lost, directory.altered)


def restored_state(
    directory: SessionDirectory,
    catalog: Catalog,
    engine: Engine,
    functions: UserFunctions,
    damage: Damage,
    before: State,
) -> State:
    """The state that a catalog stores.

    Args:
        directory, catalog: of the session.
        engine: what will run it.
        functions: take the analyst's functions.
        damage: what is left out.
        before: an older state of the same session, whose functions are loaded already and whose statistics are known.
    """
    stored = StoredSession(directory, catalog)
    stored_functions = {function.name: function for function in stored.functions.all()}
    for id_, function in stored_functions.items():
        if id_ not in damage.unusable and before.functions.get(id_) != function:
            functions.add(id_, function.load(), function.returns, function.limits)
    network = catalog.network()
    streams = {s.name: _stream(directory, s) for s in stored.streams.all() if s.name not in damage.streams}
    queries = stored.queries()
    missing = {}
    for name, query in queries.items():
        if called := sorted(calls_of(query.logical) & damage.unusable.keys()):
            missing[name] = damage.unusable[called[0]]
    reports = stored.reports()
    state = State(
        network=network,
        streams=streams,
        statistics=LazyStatistics(streams, before.statistics),
        views=stored.views(),
        functions=stored_functions,
        aggregates={aggregate.name: aggregate for aggregate in stored.aggregates.all()},
        queries=queries,
        reports=reports,
        engine=_engine_state(directory, stored, engine, network, streams, damage, [r.batch for r in reports]),
        named=int(stored.settings.get("named", 0)),
        hydrations=stored.hydrations(),
        line=int(stored.settings.get("line", 0)),
        timezone=stored.settings.get("timezone", UTC),
    )
    return state.disabled(missing | damage.unreadable(network))


def _engine_state(
    directory: SessionDirectory, stored: StoredSession, engine: Engine, network: Network,
    streams: Mapping[str, Stream], damage: Damage, batches: Sequence[int],
) -> EngineState:  # fmt: skip
    plans = plan_trees(network, stored.manifest.bits(), engine.incremental_aggregates, engine.jobs.limits)
    whole = {name: plan for name, plan in plans.items() if damage.trees.keys().isdisjoint(plan.roots)}
    columns = {name: dict(s.stored_columns) for name, s in streams.items() if name not in damage.arrived}
    trees = stored.manifest.trees(engine.jobs, directory.state, whole)
    arrived = stored.manifest.arrived(engine.jobs, directory.state, columns)
    times = {name: streams[name].time for name in arrived}
    ordered = {name: streams[name].ordered for name in arrived}
    vectors = stored.manifest.vectors()
    if damage.arrived or [batch for batch, _ in vectors] != [0, *batches]:
        return EngineState(trees, arrived, recover_clock(arrived, times, batches, ordered))
    return EngineState(trees, arrived, EventTimeClock.of(times, ordered, vectors))


def _stream(directory: SessionDirectory, stored: StoredStream) -> Stream:
    log = open_log(path_inside(directory.streams, stored.folder)).with_widened(stored.widened)
    log = replace(log, added=stored.added)
    if stored.arrived > log.rows:
        message = f"stream {stored.name}: {stored.arrived:,} rows have arrived, and its log has {log.rows:,}"
        raise StreamError(message, hint=f"restore {log.folder / TAIL}, where the others were")
    batch = stored.batch if stored.span is None else timedelta(microseconds=stored.span)
    kept = stored.is_table, stored.shed, stored.gaps, stored.constraints
    return Stream(log, stored.history, batch, stored.arrived, stored.time, *kept)


class LazyStatistics(Mapping[str, StreamStatistics]):
    """Statistics of streams, by their names in lower case, each taken when it is first asked for.

    They are of rows of the log, which a session in a store fetches for them: who opens it to run a batch, or to read an
    answer, asks for none. A stream whose log is damaged has none, which is said where it is read; estimates do without.

    Args:
        streams: by name, as they were opened.
        before: statistics of an older state, which stay as they are.
    """

    def __init__(self, streams: Mapping[str, Stream], before: Mapping[str, StreamStatistics]) -> None:
        self._streams = {name.lower(): stream for name, stream in streams.items()}
        self._taken: dict[str, StreamStatistics] = dict(before._taken if isinstance(before, LazyStatistics) else before)

    def __getitem__(self, name: str) -> StreamStatistics:
        if name not in self._taken:
            try:
                self._taken[name] = self._streams[name].statistics()
            except StreamError as problem:
                raise KeyError(name) from problem
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in [*{**self._taken, **self._streams}] if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
