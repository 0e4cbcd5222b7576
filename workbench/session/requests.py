"""Queries that followers of a session ask its writer for, so that one running driver serves a team.

A request is an object in the session's store, and requests have numbers, as commits have: who asks takes the next one
that is free, and the writer looks whether there is one. Between two batches it registers the query, and its answer is
part of that commit; so a request is answered once, and who has asked finds the answer by following the session, also
when the writer was not there in between. What the writer cannot register it answers with the error.

Source: S. Chandrasekaran, M. J. Franklin, PSoup (VLDB Journal 2003), for clients that come, ask and leave.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from workbench import errors
from workbench.catalog.database import CatalogError, reading
from workbench.catalog.records import Settings
from workbench.errors import QueryError, SessionError, SqlWarning, UnexpectedError, WorkbenchError
from workbench.errors.public_api import check_argument
from workbench.files.journal import READERS_SECONDS, REQUESTS, request_name
from workbench.files.store import Store, store_at
from workbench.session import transitions
from workbench.session.changes import StateStore
from workbench.session.directory.directory import CATALOG
from workbench.session.failures.functions import FunctionFailures
from workbench.session.state import LAZY, State
from workbench.session.transitions import BoundText, Runtime
from workbench.sql.binder.pipeline import bind

_ANSWERS_KEPT = 1_000
_LOOK_SECONDS = 0.25
"""Between two looks of who waits for an answer."""
_ERRORS = {
    kind.__name__: kind
    for kind in (errors.SqlError, errors.UnsupportedError, QueryError, errors.EngineError, errors.StreamError)
}


@dataclass(frozen=True)
class QueryRequest:
    """A query that a follower asks for.

    Attributes:
        sql, name, dialect, results: as ``Session.register`` takes them.
        by: who asks, in words.
        nonce: no other request has it.

    Example:
        >>> request = QueryRequest("SELECT 1 AS one", "ones", "spark")
        >>> QueryRequest.decoded(request.encoded()) == request
        True
    """

    sql: str
    name: str | None
    dialect: str
    results: str = LAZY
    by: str = ""
    nonce: str = field(default_factory=lambda: uuid.uuid4().hex)

    def encoded(self) -> bytes:
        """The request as bytes of JSON."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def decoded(data: bytes) -> QueryRequest:
        """A request from its bytes.

        Raises:
            QueryError: they are not those of a request.
            InputError: the name cannot be one.
        """
        try:
            fields = json.loads(data)
            request = QueryRequest(**fields)
        except (ValueError, TypeError) as problem:
            raise QueryError(
                "the request cannot be read: it was written by another version, or is damaged"
            ) from problem
        for name, value in fields.items():
            check_argument(name, value, str | None if name == "name" else str)
        return request


class Requests:
    """The requests of one session: a follower asks, the writer answers. A session in a folder has none.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
    """

    def __init__(self, store: StateStore, runtime: Runtime, failures: FunctionFailures) -> None:
        self._store, self._runtime, self._failures = store, runtime, failures
        self._directory = store.directory
        self._found = deque[tuple[int, bytes]]()
        """Requests that were read, and are to be taken up."""
        self._answered = deque[tuple[float, int]]()
        """Requests that stay for who may not have seen that their numbers are taken."""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look for requests from now on, where this process writes to a session in a store."""
        if self._directory.journal is not None and self._directory.read_only is None:
            self._thread = threading.Thread(target=self._look, name="argus-requests", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Look no longer."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def ask(self, request: QueryRequest, seconds: float) -> str:
        """Ask the writer for a query, and wait for its answer.

        Args:
            request: the query.
            seconds: to wait.

        Returns:
            The name that it is registered under.

        Raises:
            SessionError: the session has no store, or the writer has not answered in that time.
            WorkbenchError: the query was refused; the error is that of the analyst.
        """
        if (journal := self._directory.journal) is None:
            hint = "who writes registers it; a session at an address, as file:///shared/argus, takes requests"
            raise SessionError(f"{self._directory.place} is in a folder, and takes no requests", hint=hint)
        number = self.put(replace(request, by=journal.by))
        until = time.monotonic() + seconds
        while (answer := self.answer_of(number)) is None:
            if time.monotonic() > until:
                writer = journal.holder or "no process writes to the session, so none"
                raise SessionError(
                    f"{request.name or 'the query'} was asked for, and {writer} has answered in {seconds:g} s",
                    hint="it is registered when the session goes on, as by argus serve ADDRESS --live",
                )
            time.sleep(_LOOK_SECONDS)
        if "query" in answer:
            return str(answer["query"])
        raise _ERRORS.get(answer["kind"], QueryError)(
            answer["message"],
            sql=answer["sql"],
            position=answer["position"],
            length=answer["length"],
            hint=answer["hint"],
        )

    def answer(self) -> None:
        """Take up the requests that were found, one after the other; other operations of the session wait.

        Raises:
            WorkbenchError: an answer cannot be committed.
        """
        if self._found:
            with self._store.exclusively():
                while self._found:
                    self._take_up(*self._found[0])
                    self._answered.append((time.monotonic(), self._found.popleft()[0]))

    def put(self, request: QueryRequest) -> int:
        """Store a request as the next one, and do not wait for its answer; its number."""
        number = (self._read(REQUESTS) or 0) + 1
        while not self._objects.put_first(request_name(number), request.encoded()):
            number += 1
        return number

    def answer_of(self, number: int) -> Mapping[str, Any] | None:
        """The answer to a request: the name of the query, or the error; ``None`` while there is none."""
        answer: Mapping[str, Any] | None = self._read(_setting(number))
        return answer

    def _read(self, setting: str) -> Any:
        """A setting of the session as it was committed last by any writer."""
        assert self._store.state is not None  # follows the writer
        # A connection of its own: another thread may follow meanwhile, and close the catalog that planning uses.
        with closing(reading(self._directory.path / CATALOG)) as database:
            found = database.execute("SELECT value FROM settings WHERE name = ?", [setting]).fetchone()
        return None if found is None else json.loads(found[0])

    @property
    def _objects(self) -> Store:
        return store_at(self._directory.address)

    @property
    def _settings(self) -> Settings:
        return self._runtime.planner.catalog.settings

    def _look(self) -> None:
        """Find requests, and take them up where no batch does; the writer's thread for it."""
        every = self._runtime.engine.jobs.limits.milliseconds_between_requests / 1000
        with suppress(WorkbenchError, OSError):
            last = self._last_taken()
            while not self._ended.wait(every) and self._directory.read_only is None:
                with suppress(OSError):
                    last = self.find(last)
                    self._forget_answered()
                with suppress(WorkbenchError):  # it is taken up again, by the next batch or the next look
                    self.answer()

    def _last_taken(self) -> int:
        """The number of the last request that was taken up; one without an answer is refused, which ended a process."""
        with self._store.exclusively():
            last = int(self._settings.get(REQUESTS, 0))
            if last and self._settings.get(_setting(last)) is None:
                ended = "the process that writes ended while it registered this query"
                self._refuse(last, QueryError(ended, hint="it may need too much memory; ask again if it did not"))
        return last

    def find(self, last: int) -> int:
        """Read the requests after the last one that was found, to be taken up; the number of the last one now."""
        while True:
            try:
                data = self._objects.get(request_name(last + 1))
            except FileNotFoundError:
                return last
            self._found.append((last := last + 1, data))

    def _forget_answered(self) -> None:
        """Remove requests that were answered long enough ago for every sender to have seen it."""
        while self._answered and self._answered[0][0] < time.monotonic() - READERS_SECONDS:
            self._objects.remove([request_name(self._answered.popleft()[1])])

    def _take_up(self, number: int, data: bytes) -> None:
        # A query that ends this process is not computed again by the next one.
        with self._store.changing():
            self._settings.put(REQUESTS, number)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SqlWarning)  # who asks was told
                self._register(number, QueryRequest.decoded(data))
        except CatalogError:
            raise
        except WorkbenchError as problem:
            self._refuse(number, problem)
        except Exception as problem:  # whatever it is, it is told who has asked, and other requests go on
            self._refuse(number, UnexpectedError.of(problem))

    def _register(self, number: int, request: QueryRequest) -> None:
        state = self._store.state
        if (known := _same_query(state, request)) is not None:
            with self._store.changing():
                self._put_answer(number, {"query": known})
            return
        bound = bind(request.sql, request.dialect, state.schema)
        named = state.named + (request.name is None)
        name = request.name or f"q{named}"
        _check_new(state, bound.named(name))
        text = BoundText(request.sql, request.dialect, bound, request.results)

        def committed() -> None:
            with self._failures.changing(f"{name} was being computed") as change:
                registered = transitions.register(self._runtime, change.state, {name: text}, force=False)
                change.state = replace(registered, named=named)
                self._put_answer(number, {"query": name})

        self._store.once_more(committed, refused=f"{name} cannot be registered")

    def _refuse(self, number: int, problem: WorkbenchError) -> None:
        kind = next((name for name, kind in reversed(_ERRORS.items()) if isinstance(problem, kind)), "")
        error = {"kind": kind, **{name: getattr(problem, name) for name in _FIELDS}}
        with self._store.changing():
            self._put_answer(number, error)

    def _put_answer(self, number: int, answer: Mapping[str, object]) -> None:
        self._settings.put(_setting(number), answer)
        self._settings.remove(_setting(number - _ANSWERS_KEPT))


_FIELDS = "message", "sql", "position", "length", "hint"


def _setting(number: int) -> str:
    return f"request {number}"


def _same_query(state: State, request: QueryRequest) -> str | None:
    """The name of a query that is already registered with the same text, as by an earlier request."""
    for name in state.same_names([request.name] if request.name else []):
        record = state.queries[name]
        if (record.sql, record.dialect, record.results) == (request.sql, request.dialect, request.results):
            return name
    return None


def _check_new(state: State, names: Mapping[str, object]) -> None:
    """Check that a request replaces no query or view.

    Raises:
        QueryError: there is a query or view of one of the names.
    """
    folded = {name.lower(): name for name in state.views}
    for name in names:
        if (there := folded.get(name.lower())) is not None:
            hint = "choose another name; only the process that writes replaces a query"
            raise QueryError(f"there is already a query or view called {there}", hint=hint)
