"""The parts of a session, and how they are wired to each other: the session alone has all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.engine import Engine
from workbench.engine.operators.side_steps import answers_by_tasks
from workbench.engine.physical.stored.values import sampled_values
from workbench.engine.spark.connect import ConnectHandle
from workbench.engine.spark.handle import SparkHandle
from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.errors import EngineError
from workbench.errors.public_api import is_connect
from workbench.files.shared import shared_text
from workbench.limits import Limits
from workbench.options import Options
from workbench.session.answer_reader import AnswerReader
from workbench.session.changes import StateStore
from workbench.session.directory.directory import SINKS, SessionDirectory
from workbench.session.directory.gate import Gate
from workbench.session.directory.opening import Opening
from workbench.session.events import log_problem
from workbench.session.failures.batches import Batches
from workbench.session.failures.error_log import ErrorLog
from workbench.session.failures.functions import FunctionFailures
from workbench.session.integrity_checks import IntegrityChecks
from workbench.session.learning.adapting import Reoptimizer
from workbench.session.live.sources import LiveSources
from workbench.session.live.suspension import Suspension
from workbench.session.query_handles import QueryHandles
from workbench.session.requests import Requests
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.source import answer_source
from workbench.session.subscriptions.events import Subscriptions
from workbench.session.transitions import Runtime
from workbench.session.verification.verifier import Verifier
from workbench.sharing.planner import Planner
from workbench.streams.live.landing import lands
from workbench.streams.live.reader import Landed, Offsets, ReadPart, SourcePart
from workbench.streams.log import StreamLog

AnySpark = SparkSession | InProcess
"""Runners that a session may be given for its jobs; a session of Spark Connect counts as one of Spark."""


def runner_of(spark: AnySpark | None) -> JobRunner:
    """What runs the jobs of a session that was given this, or nothing."""
    if isinstance(spark, InProcess):
        return spark
    return ConnectHandle(spark) if spark is not None and is_connect(spark) else SparkHandle(spark)


class Parts:
    """Creates the parts of one session, and gives each the objects that it uses.

    Args:
        directory: of the session.
        catalog: the session's, or a copy of it.
        spark: the Spark that was given to the session, or what runs without one; ``None`` starts a quiet local one.
        options: switches.
        limits: of the engine.

    Raises:
        EnvironmentProblem: Spark does not run, or its workers cannot reach the folder or the store.
    """

    def __init__(
        self,
        directory: SessionDirectory,
        catalog: Catalog,
        spark: AnySpark | None,
        options: Options,
        limits: Limits,
    ) -> None:
        self.directory = directory
        self.jobs = runner_of(spark)
        self.jobs.limits = limits
        self.jobs.prepare(directory.path, directory.read_only is None, directory.address)
        self.jobs.share(shared_text(directory.state, limits.bytes_fetched_from_store))
        self.functions = UserFunctions(self.jobs)
        self.engine = Engine(
            self.jobs,
            directory.state,
            directory.collector,
            directory.durable,
            options.incremental_aggregates,
            self.functions.called,
        )
        self.jobs.on_start = (self.engine.start_anew,)
        self.planner = Planner(options, catalog, evaluate=sampled_values)
        self.runtime = Runtime(self.planner, self.engine)
        self.store = StateStore(directory, self.runtime, self.jobs)
        self.opening = Opening(self.store, self.runtime, self.functions)
        self.failures = FunctionFailures(self.store, self.runtime, self.functions)
        self.batches = Batches(self.store, self.runtime, self.failures)
        self.requests = Requests(self.store, self.runtime, self.failures)
        self.answers = AnswerReader(self.store, self.runtime, self.failures, self.jobs)
        self.verifier = Verifier(self.answers, self.functions, directory.state)
        self.gate = Gate(lambda: self.planner.catalog.identity)
        self.errors = ErrorLog(directory.path if directory.read_only is None else None)
        self.live = LiveSources(self.gate, self.errors)
        self.live.log_now = self._log_sent_rows
        self.live.landing = lambda log: (partial(self._landed, log), self._parts_at_once)
        self.integrity = IntegrityChecks(self.store, self.opening)
        self.suspension = Suspension(self.store, self.runtime, self.failures)
        self.reoptimizer = Reoptimizer(self.store, self.runtime, self.failures)
        self.queries = QueryHandles(self.store, self.answers)
        source_of = partial(answer_source, self.store, self.queries)
        self.sinks = Sinks(
            directory.path / SINKS, source_of, lambda: self.store.last.batch, self.gate, limits, self.errors
        )
        self.subscriptions = Subscriptions(self.store, self.queries)
        self.store.on_commit = self._committed

    def _committed(self) -> None:
        self.sinks.notify()
        self.subscriptions.notify()

    def _log_sent_rows(self, stream: str, waiting: int) -> tuple[Offsets, int]:
        with self.store.exclusively():
            return self.live.take_in_sent(self.store.state.stream(stream), waiting)

    def rest(self) -> None:
        """End what serves answers, and what reads sources."""
        self.subscriptions.close()
        with self.store.exclusively():
            self.live.close()

    @property
    def _parts_at_once(self) -> int:
        """Parts of a live source that one batch reads by tasks: a core that is done has another one."""
        return 2 * self.jobs.cores

    def _landed(self, log: StreamLog, parts: Sequence[SourcePart], read: ReadPart) -> list[Landed]:
        """What tasks have read of parts that are many bytes; where they cannot, the driver reads them."""
        if sum(part.bytes for part in parts) < self.jobs.limits.bytes_landed_in_process:
            return []
        owner = self.engine.state.arrived[log.name].folder.name
        by_tasks = partial(answers_by_tasks, self.engine.runner, owner, doing=f"read the source of {log.name}")
        try:
            return lands(log, read, by_tasks, parts[: self._parts_at_once])
        except EngineError as problem:
            log_problem("a source read by the driver", stream=log.name, problem=problem.message)
            return []

    def close(self) -> None:
        """End all of them."""
        self.requests.close()
        self.sinks.close()
        self.subscriptions.close()
        self.integrity.close()
        with self.store.exclusively():
            for stream in self.store.last.streams.values() if self.directory.temporary else ():
                self.live.forget(stream.log)
            self.live.close()
            for stream in self.store.last.streams.values():
                if stream.log.tail is not None:
                    stream.log.tail.close()
            self.directory.collector.collect(self.store.kept.clear())
            self.engine.close()
            self.functions.close()
            self.planner.catalog.close()
            self.opening.close()
            self.directory.close()
