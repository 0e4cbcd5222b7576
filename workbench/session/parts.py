"""The parts of a session, and how they are wired to each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.engine import Engine
from workbench.engine.spark.handle import SparkHandle
from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.options import Options
from workbench.session.answer_reader import AnswerReader
from workbench.session.changes import StateStore
from workbench.session.directory.directory import SessionDirectory
from workbench.session.directory.gate import Gate
from workbench.session.directory.opening import Opening
from workbench.session.failures.batches import Batches
from workbench.session.failures.functions import FunctionFailures
from workbench.session.integrity_checks import IntegrityChecks
from workbench.session.live.sources import LiveSources
from workbench.session.sinks.sinks import Sinks
from workbench.session.transitions import Runtime
from workbench.sharing.planner import Planner
from workbench.sql.algebra.planning_cache import PlanningCache

AnySpark = SparkSession | InProcess
"""What a session may be given to run its jobs."""


class Parts:
    """The parts of one session.

    Attributes:
        sinks: where changes go; the session makes it, since it reads queries.

    Args:
        directory: of the session.
        catalog: the session's, or a copy of it.
        spark: the Spark that was given to the session, or what runs without one; ``None`` starts a quiet local one.
        options: switches.

    Raises:
        EnvironmentProblem: Spark does not run, or its workers cannot reach the folder.
    """

    sinks: Sinks

    def __init__(self, directory: SessionDirectory, catalog: Catalog, spark: AnySpark | None, options: Options) -> None:
        self.directory = directory
        self.lock = threading.RLock()
        self.cache = PlanningCache()
        self.jobs: JobRunner = spark if isinstance(spark, InProcess) else SparkHandle(spark)
        self.jobs.prepare(directory.path, directory.read_only is None)
        self.functions = UserFunctions(self.jobs)
        self.engine = Engine(
            self.jobs,
            directory.state,
            directory.collector,
            not directory.temporary,
            options.incremental_aggregates,
            self.functions.called,
        )
        self.jobs.on_start = (self.functions.register, self.engine.start_anew)
        self.planner = Planner(options, catalog)
        self.runtime = Runtime(self.planner, self.engine)
        self.store = StateStore(directory, self.runtime, self.jobs)
        self.opening = Opening(self.store, self.runtime, self.functions)
        self.failures = FunctionFailures(self.store, self.runtime, self.functions, self.lock)
        self.batches = Batches(self.store, self.runtime, self.failures, self.exclusively)
        self.answers = AnswerReader(self.store, self.runtime, self.failures, self.jobs, self.cache)
        self.gate = Gate(lambda: self.planner.catalog.identity)
        self.live = LiveSources(self.gate)
        self.integrity = IntegrityChecks(self.store, self.opening, self.lock)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Within the context, other operations of the session wait, and planning uses the session's cache."""
        with self.lock, self.cache.active():
            yield

    def close(self) -> None:
        """End all of them; belongs inside ``exclusively``, after ``integrity.close()``."""
        self.live.close()
        for stream in self.store.last.streams.values():
            if stream.log.tail is not None:
                stream.log.tail.close()
        self.engine.close()
        self.planner.catalog.close()
        self.opening.close()
        self.directory.close()
