"""What a session is made of: its parts, wired to each other, and the lock that makes operations wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.spark.cluster import prepare_workers
from workbench.engine.spark.failures import SparkMonitor
from workbench.engine.spark.local_session import engine_session, local_spark
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.errors import EnvironmentProblem
from workbench.options import Options
from workbench.session.answering import Answering
from workbench.session.directory.directory import Home
from workbench.session.directory.store import Store
from workbench.session.directory.upkeep import Upkeep
from workbench.session.failing import Failing
from workbench.session.query import Query
from workbench.session.state import State
from workbench.session.transitions import Steps
from workbench.sharing.planner import Planner
from workbench.sql.algebra.planning_cache import PlanningCache

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="SessionParts")


def one_at_a_time(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """An operation that waits for others of the session, such as a batch that runs in another thread."""

    @wraps(method)
    def waiting(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._working():
            return method(session, *args, **kwargs)

    return waiting


class SessionParts:
    """The parts of a session.

    Attributes:
        dialect: SQL dialect of queries that name none.
        options: how it was made.
        path: its folder.
        spark: the Spark it was given, or the local one that was started.
        last_error: what went wrong last in a notebook.
    """

    def _wire(self, home: Home, spark: SparkSession | None, catalog: Catalog, dialect: str, options: Options) -> None:
        self.dialect = dialect
        self.options = options
        self.path = home.path
        self.last_error: BaseException | None = None
        self._lock = threading.RLock()
        self._memo = PlanningCache()
        self.spark = spark or local_spark()
        life = SparkMonitor(self.spark, given=spark is not None)
        if why := life.lost():
            hint = "restart the kernel, or leave the Spark out: the session then starts one of its own"
            raise EnvironmentProblem(f"{why}: the one that was given to the session", hint=hint)
        prepare_workers(self.spark, home.path, home.read_only is None)
        self._spark = engine_session(self.spark)
        self._engine = Engine(
            self._spark, home.state, home.collector, not home.temporary, options.incremental_aggregates
        )
        self._planner = Planner(options, catalog)
        self._functions = UserFunctions(self._spark)
        self._steps = Steps(self._planner, self._engine)
        self._store = Store(home, self._planner, self._engine, self._functions, self._answers, life)
        self._upkeep = Upkeep(self._store, self._lock)
        self._failing = Failing(self._store, self._steps, self._functions, self._lock)
        self._answering = Answering(options, self.spark, self._store, self._planner, self._engine, self._failing)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """The session's own turn: others wait, and what planning remembers is the session's."""
        with self._lock, self._memo.active():
            yield

    @contextmanager
    def _answers(self, query: Query, at: object | None, after: int | None = None) -> Iterator[Answers]:
        """What the session's queries ask for their answers."""
        with self._memo.active(), self._answering.answers(query, at, after) as answers:
            yield answers

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def read_only(self) -> str | None:
        """Why this session may only be read; ``None`` when it may be changed."""
        return self._store.home.read_only

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._store.home.closed
