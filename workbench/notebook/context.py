"""The state of a notebook between cells: one session, made on first use, on a Spark that starts in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbench.notebook.display import ProgressLine
from workbench.notebook.notification import noticed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.notebook.panel.parameter_sliders import ParameterSliders
    from workbench.session.session import Session


class SparkStart:
    """Spark, started in the background so that the first cells that need it need not wait for it.

    Args:
        start: makes the Spark session; takes seconds.
        line: makes the line that shows the state of the start, from its first text.
        on_ready: is called with Spark once it is ready, while cells may run already.
    """

    def __init__(
        self,
        start: Callable[[], SparkSession],
        line: Callable[[str], ProgressLine] = ProgressLine,
        on_ready: Callable[[SparkSession], None] = lambda spark: None,
    ) -> None:
        self._start = start
        self._on_ready = on_ready
        self._line = line("starting Spark …")
        self._thread = threading.Thread(target=self._run, name="start Spark", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Give what runs in the background so long to end."""
        self._thread.join(seconds)

    def _run(self) -> None:
        started = time.perf_counter()
        try:
            spark = self._start()
        except BaseException as error:
            said = str(error)
            self._line.update(said if said.startswith("Spark did not start") else f"Spark did not start: {said}")
        else:
            self._line.update(f"Spark ready ({time.perf_counter() - started:.1f} s)")
            with suppress(Exception):  # a query that meets the same problem tells it
                self._on_ready(spark)


def say_stopped(session: Session, goes_on: str = "") -> None:
    """Let the output of cells that follow a session say that it has stopped, and how to continue it."""
    goes_on = goes_on or ("its session was not saved" if session.temporary else f"%argus open {session.place} goes on")
    for notification in noticed(session.player).cells:
        notification.stop(goes_on)


def _open_folder(path: str, trust: bool | None = None, take_over: bool = False) -> Session:
    from workbench.session.session import Session

    return Session.open(path, trust=trust, take_over=take_over)


def _retry_sources(session: Session) -> None:
    """Let sources that could not be read try again, as those that listen where another session did."""
    for name in [name for name, source in session.sources.items() if source.problem and not session.read_only]:
        if not session.retry(name):
            session.dismiss_errors(name)


class NotebookContext:
    """The session and the variables that a notebook's magics work with.

    Args:
        variables: the notebook's namespace.
        make: makes a session, when the first is needed.
        reopen: opens the session of a folder; takes ``trust`` and ``take_over``, as ``Session.open``.
    """

    def __init__(
        self, variables: dict[str, Any], make: Callable[[], Session], reopen: Callable[..., Session] = _open_folder
    ) -> None:
        self.variables = variables
        self._make = make
        self._reopen = reopen
        self._session: Session | None = None
        self._earlier: list[Session] = []
        self._given: Session | None = None
        self.sliders: dict[str, ParameterSliders] = {}
        """Those of cells, by the name that each would register; a dashboard shows them too."""
        self.saved: object = None
        """The contents of the session when it was saved last."""

    @property
    def session(self) -> Session:
        """The notebook's session; made now if there is none yet."""
        return self._session or self._take(self._make())

    @property
    def current(self) -> Session | None:
        """The notebook's session if there is one; completion must not wait for one."""
        return self._session

    def use(self, session: Session) -> None:
        """Work with a session that was made by hand from now on; the one before stays as it is, and is not played."""
        if self._session is not None and not self._session.closed:
            self._session.player.pause()
        self._take(session)

    def open(self, path: str, trust: bool = False, take_over: bool = False) -> Session:
        """Work with the session of a folder from now on; the one before stays, for variables that hold its queries.

        That one rests: programs that send rows, and those that follow answers, are to find the session of the notebook.

        Args:
            path: of the folder, or its address.
            trust: whether to load also functions that others added.
            take_over: whether to go on also where another process has not closed it.
        """
        asked = {"trust": trust, "take_over": take_over}
        session = self._reopen(path, **{name: True for name, given in asked.items() if given})
        if self._session is not None:
            self._earlier.append(self._session)
            if not self._session.closed:
                say_stopped(self._session, f"this notebook went on with {path}")
                self._session.rest()
                _retry_sources(session)
        return self._take(session)

    def _take(self, session: Session) -> Session:
        """Work with a session, which the notebook's variable ``session`` has unless the analyst made one."""
        if self.variables.get("session") is self._given:
            self.variables["session"] = self._given = session
        if session is not self._session:
            self.sliders.clear()  # they ask the one before
        self._session = session
        return session

    def close(self) -> None:
        """Close all sessions. The output of cells that follow them says that it has stopped."""
        if self._session is not None and not self._session.closed:
            say_stopped(self._session)
        for session in (*self._earlier, *([] if self._session is None else [self._session])):
            session.close()
        self._earlier, self._session = [], None

    @property
    def user_variables(self) -> Mapping[str, Any]:
        """The variables that the analyst made: without IPython's own."""
        return {name: value for name, value in self.variables.items() if not name.startswith("_")}
