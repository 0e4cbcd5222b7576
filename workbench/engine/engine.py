"""The engine: stores what the operators of a network have computed, and takes it from batch to batch.

A batch (``run_batch``) and a change of the network (``adopt``) are the two pipelines to read first. Both compute beside
the state, which is one immutable value, and replace it in one assignment when all has succeeded. Files that only the
old state needs stay until the session has committed the new one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from workbench.engine.arrival import log_rows
from workbench.engine.compaction import PackEnds, compacted
from workbench.engine.event_time import EventTimeClock
from workbench.engine.expiring import without_expired
from workbench.engine.hydration import Hydration
from workbench.engine.incremental_step import IncrementalStep
from workbench.engine.merging import merging
from workbench.engine.operators.grouped.open_groups import OPEN_GROUPS
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.looked_up import LookedUp
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import TreePlan
from workbench.engine.physical.retention import Bounds, may_expire, retention_bounds
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.profile import profiled
from workbench.engine.reports import BatchReport, Counts, Places
from workbench.engine.schedule import Meter, Progress, passed_over
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.interrupts import Interrupts
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.spark.side_by_side import run_all
from workbench.engine.state import Deltas, EngineState, empty_stream, unknown_files
from workbench.engine.storage.file_collection import ASIDE, FileCollector
from workbench.engine.storage.indexes.sorted_index import IN_MEMORY
from workbench.engine.storage.relation import NO_CHANGE, Delta, Relation
from workbench.engine.storage.retention import Expiration
from workbench.engine.storage.segments import Run, files_of
from workbench.engine.tree import Tree
from workbench.files.mapped import temporary_folder
from workbench.files.packs import PACKING
from workbench.files.writing import force_to_disk
from workbench.garbage import nothing_collected
from workbench.limits import SESSION_LIMITS
from workbench.network.calls import largest_values
from workbench.network.network import Network
from workbench.network.nodes import Columns, NodeId
from workbench.streams.arriving import ArrivingRows


class Engine:
    """Runs one network on Spark.

    Args:
        jobs: runs its jobs.
        folder: where rows are kept; every worker must reach it.
        collector: removes files that are not needed any more.
        durable: whether rows must survive that the machine loses its power.
        incremental_aggregates: see ``Options``.
        functions: the analyst's, which may become more.

    Attributes:
        held: files that others than the state need, when what failed is removed.
    """

    def __init__(
        self,
        jobs: JobRunner,
        folder: Path,
        collector: FileCollector,
        durable: bool = True,
        incremental_aggregates: bool = True,
        functions: Functions = MappingProxyType({}),
    ) -> None:
        self.jobs = jobs
        self.folder = folder
        self.incremental_aggregates = incremental_aggregates
        self._collector = collector
        self._durable = durable
        self.runner = Runner(jobs, folder, functions)
        at_a_time = min(jobs.limits.operators_at_a_time, jobs.cores)
        self.interrupts = Interrupts(jobs)
        self._pool = ThreadPoolExecutor(at_a_time, "argus-tree", initializer=self.interrupts.tag_thread)
        self._merger = ThreadPoolExecutor(1, "argus-merge", initializer=self.interrupts.tag_thread)
        self._meter = Meter()
        self._expiration = Expiration()
        self._places = Places()
        self._pack_ends = PackEnds()
        self._freed: set[str] = set()
        """Files whose rows were freed since the last commit, some of them written since then."""
        self.held: Callable[[], frozenset[str]] = frozenset
        self.state = EngineState()
        self._room_for: Network | None = None
        SESSION_LIMITS.set(str(folder), jobs.limits)
        PACKING.begin(str(folder))

    def run_batch(
        self,
        network: Network,
        batch: int,
        arriving: Mapping[str, ArrivingRows],
        profile: bool = False,
        suspended: Collection[str] = (),
    ) -> BatchReport:
        """Evaluate the network for rows that arrive.

        Args:
            network: what to evaluate.
            batch: its number.
            arriving: the rows, by stream.
            profile: whether to measure also what every node costs alone, which takes as long as all of them together.
            suspended: queries whose operators are passed over, where no other query reads them.

        Raises:
            EngineError: Spark could not evaluate an operator; the state is as it was before.
        """
        started = time.perf_counter()
        before = self.state
        self._make_room(network)
        # Runs of the state before that are due are merged meanwhile. The collector would visit all objects.
        with nothing_collected(), merging(self.runner, before, self._merger) as merged:
            # 1. Log the rows that arrive, before anything is computed: Spark's workers read them from these files,
            #    and queries that are registered later are hydrated from them.
            self.runner.doing = f"batch {batch}"
            suspended_trees = passed_over(network, {name: tree.plan for name, tree in before.trees.items()}, suspended)
            plans = {name: tree.plan for name, tree in before.trees.items() if name not in suspended_trees}
            with translate_errors(f"write down the rows of batch {batch}"):
                logged = log_rows(self.runner, before.arrived, arriving, batch, before.clock, self._pool, plans)
            clock = before.clock.after(batch, logged.brought)
            # 2. Evaluate every operator after those it reads, against the state before: a batch that fails here has
            #    changed nothing, and the session forgets its files (``undo``).
            step = IncrementalStep(self.runner, before, batch, clock, logged, suspended_trees)
            deltas, operators = step.evaluate_all(self._pool, self._meter)
            if profile:
                begun = time.perf_counter()
                with translate_errors(f"profile batch {batch}"), self._folder_aside() as folder:
                    operators = profiled(step, network, deltas, operators, folder, self._meter)
                started += time.perf_counter() - begun  # the batch itself took none of that
            with translate_errors(f"merge rows from before batch {batch}"):
                known = merged()
        # 3. Append the changes, when all operators are done: each reads its parents' rows before the batch and their
        #    change apart, and would count rows twice that are in both. Then free what has expired by now.
        with translate_errors(f"keep the rows of batch {batch}"):
            arrived = {n: r.append(logged.rows.get(n, NO_CHANGE)) for n, r in known.arrived.items()}
            grown = run_all(
                known.trees,
                lambda name: known.trees[name].grown(*deltas[name], batch),
                self._pool,
                lambda name: step.are_few(deltas[name]),
            )
            grown |= {name: grown[name].looked_up() for name in step.looked_up(deltas)}
            kept = {name: grown[name].suspend(batch - 1) for name in suspended_trees}
            large = batch % self.jobs.limits.batches_between_expirations == 0
            trees = self._without_expired(network, {**grown, **kept}, clock, batch, large)
            state = EngineState(trees, arrived, clock)
            if batch % self.jobs.limits.batches_between_compactions == 0:
                state = compacted(state, self.jobs.limits, self._pack_ends)
        segments = [rows for delta in (*logged.rows.values(), *chain(*deltas.values())) for rows in delta.segments]
        self._pack_ends.tell(segments)
        self._freed |= files_of(segments)  # some may have expired, or been moved, by now
        # 4. Make the files durable, then replace the state: the session commits what the state names, and must not name
        #    a file that a loss of power could take away. What only the old state needs is removed when the session has
        #    committed (``release``).
        self._replace_durably(state)
        rows = {name: of_stream.rows for name, of_stream in arriving.items()}
        changes = self._changed_rows(network, deltas)
        seconds = time.perf_counter() - started
        return BatchReport(batch, sum(rows.values()), seconds, tuple(operators), changes, rows)

    def adopt(self, network: Network, batch: int, suspended: Collection[str] = ()) -> list[tuple[NodeId, ...]]:
        """Bring the trees to the plans of the network, computing new nodes from all data so far.

        Args:
            network: the new network.
            batch: the last batch that was run; 0 after the history alone.
            suspended: queries whose operators may stay suspended.

        Returns:
            The operators that were hydrated, the roots of each.

        Raises:
            EngineError: Spark could not evaluate a node; the state is as it was before.
        """
        self._make_room(network)
        # 1. Plan all operators.
        hydration = self._hydration(network, batch, suspended)
        # 2. Keep the trees that have all that is asked for, and hydrate the others, parents first.
        trees = hydration.hydrate_all(self._pool, self._meter)
        # 3. Make the files durable, then replace the state (as in a batch).
        self._replace_durably(replace(self.state, trees=trees))
        return hydration.operators

    def adopt_of_few(self, network: Network, batch: int, rows: int) -> bool:
        """``adopt`` where the operators that are hydrated read few rows; else nothing is done, which ``False`` says.

        Args:
            network: the new network.
            batch: the last batch that was run.
            rows: how many they may read at most.

        Raises:
            EngineError: Spark could not evaluate a node; the state is as it was before.
        """
        self._make_room(network)
        hydration = self._hydration(network, batch, ())
        if hydration.rows_read > rows:
            return False
        self._replace_durably(replace(self.state, trees=hydration.hydrate_all(self._pool, self._meter)))
        return True

    def to_hydrate(self, network: Network, batch: int, suspended: Collection[str] = ()) -> list[tuple[NodeId, ...]]:
        """The operators that ``adopt`` would hydrate, the roots of each; nothing is changed."""
        return self._hydration(network, batch, suspended).operators

    def add_stream(
        self,
        name: str,
        columns: Columns,
        rows: Iterable[tuple[int, ArrivingRows]],
        time: str | None = None,
        ordered: Sequence[str] = (),
    ) -> None:
        """Take in the rows that a stream has brought so far, each with the batch that brought them.

        Args:
            name: of the stream.
            columns: names and types.
            rows: those that are there from the start, each with the batch that brought them.
            time: the column with event times, if it has one.
            ordered: columns whose largest values are to be known, too.

        Raises:
            StreamError: a column has a name the engine uses itself.
        """
        before = self.state
        empty = empty_stream(self.jobs, columns, self.runner.folder(f"stream-{len(before.arrived)}"))
        clock = before.clock.with_stream(name, time, ordered)
        with translate_errors("read the history"):
            arrived, clock = self._with_rows(name, empty, rows, clock)
        self._replace_durably(EngineState(before.trees, {**before.arrived, name: arrived}, clock))

    def widen_stream(self, name: str, columns: Columns, rows: Iterable[tuple[int, ArrivingRows]]) -> None:
        """Store the rows that a stream has brought with more columns; operators keep their rows.

        Args:
            name: of the stream.
            columns: names and types, those that there were first.
            rows: all that it has brought, each with the batch that brought them.
        """
        before = self.state
        empty = empty_stream(self.jobs, columns, before.arrived[name].folder)
        with translate_errors("store the rows with another column"):
            arrived, _ = self._with_rows(name, empty, rows, EventTimeClock())
        self._replace_durably(replace(before, arrived={**before.arrived, name: arrived}))

    def _with_rows(
        self, name: str, empty: Relation, rows: Iterable[tuple[int, ArrivingRows]], clock: EventTimeClock
    ) -> tuple[Relation, EventTimeClock]:
        """Add rows to a stream, and advance the clock by them."""
        run: Run = ()
        self.runner.doing = f"rows of {name}"
        for batch, some in rows:
            logged = log_rows(self.runner, {name: empty}, {name: some}, batch, clock, self._pool)
            run += logged.rows.get(name, NO_CHANGE).segments
            clock = clock.with_rows(batch, logged.brought)
        return empty.append(Delta(run)), clock

    def drop_stream(self, name: str) -> None:
        """Forget a stream that no operator reads."""
        before = self.state
        arrived = {other: rows for other, rows in before.arrived.items() if other != name}
        self._replace_durably(EngineState(before.trees, arrived, before.clock.without_stream(name)))

    def expire(self, network: Network, batch: int) -> None:
        """Free the rows that have expired, after a query that needed them was dropped."""
        trees = self._without_expired(network, self.state.trees, self.state.clock, batch)
        self._replace_durably(replace(self.state, trees=trees))

    def replace_state(self, state: EngineState) -> None:
        """Continue from another state, whose files exist."""
        self.state = state
        self.runner.forget()

    def undo(self, before: EngineState) -> None:
        """Go back to a state; removes files that were written since, also by operators that failed."""
        self.replace_state(before)
        self._freed.clear()
        PACKING.drop(str(self.folder))
        self._collector.collect(unknown_files(self.folder, before.files | self.held()))

    def start_anew(self) -> None:
        """Forget what hung on a Spark that has died."""
        self.runner.forget()
        self._room_for = None

    def release(self, before: EngineState, unneeded: Callable[[Collection[str]], Collection[str]]) -> None:
        """The state is committed now: remove the files that only ``before`` needed, and those whose rows were freed.

        Args:
            before: the state before.
            unneeded: those of such files that no other needs, and what else is to be removed.
        """
        self._collector.collect(unneeded((before.files | self._freed) - self.state.files))
        self._freed.clear()
        for name in before.trees.keys() - self.state.trees.keys():
            self.runner.remove(name)

    @property
    def progress(self) -> Progress | None:
        """How far the batch, or registration, is that is being computed; ``None`` when there is none."""
        return self._meter.now

    @contextmanager
    def aside(
        self, network: Network, known: EngineState, batch: int, suspended: Collection[str] = ()
    ) -> Iterator[EngineState]:
        """The state of another network; it is there while the context is open.

        Args:
            network: what to compute.
            known: the rows of the streams, the event times it sees, and trees that need not be computed.
            batch: the last batch that was run.
            suspended: queries whose operators may stay suspended.

        Raises:
            EngineError: Spark could not evaluate a node.
        """
        with self.apart(known) as other:
            with other.interrupts.stoppable():
                other.adopt(network, batch, suspended)
            yield other.state

    @contextmanager
    def apart(self, known: EngineState) -> Iterator[Engine]:
        """A separate engine over the stored rows; its results exist while the context is open.

        Args:
            known: its state at first.
        """
        with self._folder_aside() as folder:
            functions = self.runner.functions
            other = Engine(self.jobs, folder, self._collector, False, self.incremental_aggregates, functions)
            other.state = known
            try:
                yield other
            finally:
                other.close()

    def close(self) -> None:
        """End its threads; files stay."""
        self._pool.shutdown()
        self._merger.shutdown()
        PACKING.end(str(self.folder))
        for kept in (IN_MEMORY, OPEN_GROUPS):
            kept.forget(str(self.folder))
        SESSION_LIMITS.forget(str(self.folder))
        self.runner.forget()
        self.state = EngineState()

    @contextmanager
    def _folder_aside(self) -> Iterator[Path]:
        """A temporary folder that all workers reach."""
        # They reach the session's folder; a session whose folder cannot be written has no cluster.
        place = self.folder if os.access(self.folder, os.W_OK) else None
        with temporary_folder(ASIDE, place) as folder:
            yield folder

    def _make_room(self, network: Network) -> None:
        """Let as many rows come together to a worker as it has room for, where functions make them large."""
        self.runner.served = network.served
        if network is not self._room_for:
            limits = self.jobs.limits
            room = int(limits.bytes_sent_together / max(1.0, largest_values(network)))
            self.jobs.set_rows_together(min(limits.rows_sent_together, max(1, room)))
            self._room_for = network

    def _hydration(self, network: Network, batch: int, suspended: Collection[str]) -> Hydration:
        before = self.state
        # Operators get the bits that stored rows have. The bounds come after the plans, since they refer to bits.
        bits = {name: tree.plan.bits for name, tree in before.trees.items()}
        plans = plan_trees(network, bits, self.incremental_aggregates, self.jobs.limits)
        bounds = self._bounds(network, plans, before.clock, batch)
        return Hydration(self.runner, before, plans, bounds, batch, passed_over(network, plans, suspended))

    def _bounds(self, network: Network, plans: Mapping[str, TreePlan], clock: EventTimeClock, batch: int) -> Bounds:
        looked_up = LookedUp(network, clock.now, self.incremental_aggregates)
        earlier = clock.after_batch(batch - self.jobs.limits.batches_of_changes)
        return retention_bounds(network, plans, looked_up, earlier)

    def _without_expired(
        self, network: Network, trees: Mapping[str, Tree], clock: EventTimeClock, batch: int, large: bool = True
    ) -> Mapping[str, Tree]:
        """Remove expired rows from the trees; from large trees only where ``large`` says so."""
        if not may_expire(network):
            return trees
        bounds = self._bounds(network, {name: tree.plan for name, tree in trees.items()}, clock, batch).stored
        # A suspended tree is read as of its batch, when its rows had not expired.
        going = {name: tree for name, tree in trees.items() if tree.suspended_at is None}
        left = {**trees, **without_expired(self.runner, going, bounds, self._expiration, self._pool, large)}
        for name, tree in left.items():
            if tree is not trees[name]:
                self._freed |= trees[name].files - tree.files
        return left

    def _replace_durably(self, state: EngineState) -> None:
        """Replace the state when its new files would survive a loss of power."""
        with translate_errors("write the rows to the disk"):
            PACKING.seal(str(self.folder))
            if self._durable:
                force_to_disk(state.files_beyond(self.state))
        # What the same commit wrote before and needs no more, such as rows of a query whose function failed, or of a
        # batch that is run again: no commit names it, so ``release`` would not find it.
        self._freed |= self.state.files_beyond(state) | self.runner.passing
        self.runner.passing = set()
        self.state = state
        self.runner.forget(keep=lambda name: name in state.trees)
        self._expiration.forget(keep=lambda name: name in state.trees)

    def _changed_rows(self, network: Network, deltas: Mapping[str, Deltas]) -> Counts:
        """For every query how many rows of its answer changed; an update is one."""
        changes = {}
        for name, query in network.queries.items():
            plan = self.state.by_root[query.read.root].plan
            changes[name] = deltas[plan.name][0].changed(plan.count_position(query.nodes))
        return self._places.counts(changes)
