"""One sink: a query, a target, and how far the target has come in the query's changes.

A sink has a thread and a place of its own, so one that is slow or down stops nobody. Its place is a file in the session
directory, written after the target has taken a batch; opened again, the sink goes on there. A target that keeps the
number of the batch with the rows is asked for it first: it has a batch that it took just before a crash.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from workbench.errors import WorkbenchError
from workbench.files.writing import replacing
from workbench.session.events import log_problem
from workbench.session.sinks.target import Source, Target

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds until a target that failed is tried again; the pause doubles."""


@dataclass(frozen=True)
class Place:
    """How far a sink has come; what its file has.

    Attributes:
        query: its name.
        registration: which registration of the name.
        target: what was given, where it can be written down.
        batch: the last batch that the target has; -1 before the answer at registration.
        id: by which the target knows the sink; another one when it was dropped and added again.
    """

    query: str
    registration: str
    target: str | None
    batch: int = -1
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class SinkStatus:
    """How a sink is.

    Attributes:
        query: whose changes it takes.
        target: where they go.
        batch: the last batch that the target has; -1: none.
        behind: batches that it does not have yet.
        problem: what the target said the last time; "" when it took what it was given.
    """

    query: str
    target: str
    batch: int
    behind: int
    problem: str


class Sink:
    """Brings the changes of a query to a target.

    Args:
        path: of the file with its place.
        place: where it goes on.
        target: what takes the changes.
        source: the query's changes.
    """

    def __init__(
        self,
        path: Path,
        place: Place,
        target: Target,
        source: Source,
    ) -> None:
        self._path, self._place, self._target, self._source = path, place, target, source
        self._begun = False
        self._problem = ""
        self._due = threading.Event()
        self._closing = False
        self._save(place)
        self._thread = threading.Thread(target=self._work, name=f"argus-sink-{path.stem}", daemon=True)
        self._thread.start()
        self._due.set()

    @property
    def status(self) -> SinkStatus:
        """How it is."""
        batch = self._place.batch
        behind = max(0, self._source.latest() - max(batch, 0)) + (batch < 0)
        return SinkStatus(self._place.query, self._target.description, batch, behind, self._problem)

    def notify(self) -> None:
        """There may be more."""
        self._due.set()

    def close(self, patience: float) -> None:
        """Bring what can be brought within so many seconds, then end; the rest is brought when it is opened again."""
        self._closing = True
        self._due.set()
        self._thread.join(patience)

    def _work(self) -> None:
        pause: float | None = None
        while True:
            self._due.wait(pause)
            self._due.clear()
            last = self._closing  # before the changes are asked for: what came until the end is brought
            try:
                self._bring()
                pause = None
            except Exception as problem:  # a target may raise whatever it likes; a dropped query shows in the same way
                pause = min(LONGEST_PAUSE, 2 * pause if pause else FIRST_PAUSE)
                own = isinstance(problem, WorkbenchError)
                self._problem = str(problem) if own else f"{type(problem).__name__}: {problem}"
                log_problem("sink", target=self._target.description, query=self._place.query, problem=self._problem)
                self._begun = False  # it may have taken the batch all the same, so it is asked
            if last:
                self._target.close()
                return

    def _bring(self) -> None:
        """Everything up to the last batch, batch by batch."""
        latest = self._source.latest()
        if latest <= self._place.batch:
            return
        if not self._begun:
            known = self._target.begin(self._place.id, self._source.types)
            if known is not None and known > self._place.batch:
                self._save(replace(self._place, batch=known))
            self._begun = True
        since = self._place.batch
        changes = self._source.changes(None if since < 0 else since)
        for batch, rows in changes.groupby("batch", sort=True):
            self._target.write(self._place.query, int(batch), rows.drop(columns="batch").reset_index(drop=True))
            self._problem = ""
            self._save(replace(self._place, batch=int(batch)))
        self._problem = ""
        # Batches that changed nothing were not sent, and are done, too.
        self._save(replace(self._place, batch=max(latest, self._place.batch)))

    def _save(self, place: Place) -> None:
        with replacing(self._path) as file:
            file.write(json.dumps(asdict(place)).encode())
        self._place = place


def read_place(path: Path) -> Place:
    """The place in a file."""
    return Place(**json.loads(path.read_text()))
