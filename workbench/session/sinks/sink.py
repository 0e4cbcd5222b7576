"""One sink: a query, a target, and how far the target has come in the query's changes.

A sink has a thread and a place of its own, so a slow one stops no other. Its place is a batch of a line of history.
Where the session has another line by now, as after going back, that number means other batches: the target gets the
difference between what it was given and the present answer. Deliveries are numbered without a gap or return, since a
target leaves out the numbers that it has. What a target is to get is written down before
(``Sent``), and the place after it was taken; a target that keeps numbers is asked for its last one in between.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.stored_values import as_rows, json_text
from workbench.catalog.codec import decode
from workbench.errors import SessionError, WorkbenchError
from workbench.errors.secrets import hide_secrets
from workbench.errors.surroundings import reason
from workbench.errors.unknown_attributes import TellsNames
from workbench.files.shared import write_small
from workbench.limits import LIMITS, Limits
from workbench.session.events import log_problem
from workbench.session.sinks.sent import Sent
from workbench.session.sinks.target import AnswerSource, Delivery, Target


@dataclass(frozen=True)
class SinkPosition:
    """How far a sink has come; what its file has.

    Attributes:
        query: its name.
        registration: which registration of the name.
        target: what was given, where it can be written down.
        batch: the last batch that the target has; -1 before the answer at registration.
        id: by which the target knows the sink; another one when it was dropped and added again.
        line: the line of history that the batch is of; ``None``: it was written when there was only one.
        ahead: by how much the number of the delivery of a batch is larger than the batch's.
        signature: of who gave the target, if that is known (``gate``).
        called: how a target is called that cannot be written down.
    """

    query: str
    registration: str
    target: str | None
    batch: int = -1
    id: str = field(default_factory=lambda: uuid4().hex)
    line: int | None = None
    ahead: int = 0
    signature: str | None = None
    called: str = ""

    @property
    def number(self) -> int:
        """The number of this batch's delivery."""
        return self.batch + self.ahead

    def after(self, delivery: Delivery) -> SinkPosition:
        """The place of a target that has taken a delivery."""
        return replace(self, line=delivery.line, batch=delivery.batch, ahead=delivery.number - delivery.batch)


@dataclass(frozen=True)
class SinkStatus(TellsNames):
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
        place: where it resumes.
        target: what takes the changes.
        source: the query's changes.
        sent: folder of what the target was given.
        limits: when a target that failed is tried again.
        failed: is told of an error, with the first row of what was being sent.
    """

    def __init__(
        self,
        path: Path,
        place: SinkPosition,
        target: Target,
        source: AnswerSource,
        sent: Path,
        limits: Limits = LIMITS,
        failed: Callable[[str, str], object] = lambda problem, row: None,
    ) -> None:
        self._limits, self._failed = limits, failed
        self._sending = ""
        self._path, self._place, self._target, self._source = path, place, target, source
        self._folder_of_sent = sent
        self._begun = False
        self._problem = ""
        self._due = threading.Event()
        self._closing = False
        self._tried = threading.Event()
        self._waiting: list[threading.Event] = []
        self._refusal: SessionError | None = None
        self._save(place)
        self._thread = threading.Thread(target=self._work, name=f"argus-sink-{path.stem}", daemon=True)
        self._thread.start()
        self._due.set()

    @property
    def where(self) -> str | None:
        """The place that its target writes to; see ``Target.where``."""
        return self._target.where(self._place.query)

    @property
    def status(self) -> SinkStatus:
        """The position, the lag and the problem of the sink."""
        place, latest = self._place, self._source.latest()
        behind = max(0, latest - max(place.batch, 0)) + (place.batch < 0)
        if self._is_elsewhere(place, latest):
            behind = max(behind, 1)
        return SinkStatus(place.query, self._target.description, place.batch, behind, self._problem)

    def check_begun(self, patience: float) -> None:
        """Wait until it was tried to reach the target: where that failed, the status says why.

        Raises:
            SessionError: it never can be the target of this sink.
        """
        self._tried.wait(patience)
        if self._refusal is not None:
            raise self._refusal

    def tried_again(self, patience: float) -> str:
        """Try the target again, and wait at most for some seconds; gives the problem, "" where there is none."""
        done = threading.Event()
        self._waiting.append(done)
        self._due.set()
        done.wait(patience)
        return self._problem

    def notify(self) -> None:
        """Look for new deliveries soon."""
        self._due.set()

    def close(self, patience: float) -> None:
        """Bring what can be brought within some seconds, then end; the rest is brought when it is opened again."""
        self._closing = True
        self._due.set()
        self._thread.join(patience)

    def _work(self) -> None:
        pause: float | None = None
        while True:
            self._due.wait(pause)
            self._due.clear()
            waiting, self._waiting = self._waiting, []
            last = self._closing  # before the changes are asked for: what came until the end is brought
            try:
                self._bring()
                pause = None
            except Exception as problem:  # a target may raise whatever it likes; a dropped query shows in the same way
                limits = self._limits
                pause = 2 * pause if pause else limits.milliseconds_until_sent_again / 1000
                pause = min(limits.milliseconds_until_sent_again_at_most / 1000, pause)
                own = isinstance(problem, WorkbenchError)
                if isinstance(problem, SessionError) and not self._tried.is_set():
                    self._refusal = problem
                said = str(problem) if own else hide_secrets(_said(problem))
                if said != self._problem:  # it is tried again and again
                    self._failed(said, self._sending)
                self._problem, self._sending = said, ""
                log_problem("sink", target=self._target.description, query=self._place.query, problem=said)
                self._begun = False  # it may have taken the batch nevertheless, so it is asked
                self._tried.set()
            for done in waiting:
                done.set()
            if last:
                self._target.close()
                return

    def _bring(self) -> None:
        """Everything up to the last batch, batch by batch."""
        self._source.check()
        while True:
            line, latest = self._source.line(), self._source.latest()
            if latest <= self._place.batch and not self._is_elsewhere(self._place, latest):
                return
            if not self._begun or not self._sent.is_of(self._source.types()):  # a column may have another type by now
                self._begin(line)
                self._begun = True
                self._tried.set()
            deliveries = [*self._due_deliveries(line, latest)]
            if self._source.line() != line:
                continue  # it went back while they were read
            for delivery, changes in deliveries:
                self._deliver(delivery, changes)
            self._problem = ""
            # Batches that changed nothing were not sent, and are done, too.
            self._save(replace(self._place, batch=max(latest, self._place.batch)))

    def _is_elsewhere(self, place: SinkPosition, latest: int) -> bool:
        """Whether a place is outside of the line of history that the session has now."""
        return place.line not in (None, self._source.line()) or place.batch > latest

    def _begin(self, line: int) -> None:
        """Find out which delivery the target has."""
        self._sent = Sent(self._folder_of_sent, self._source.types())
        known = self._target.begin(self._place.id, self._source.types())
        self._target.claim(self._place.query)
        if self._place.line is None:
            self._begin_record(line, known)
        last, place = self._sent.last, self._place
        number = -1 if last is None else last.number
        if known is not None and known > max(number, place.number):
            hint = "one that was dropped, or another copy of this session, sent it; take another target"
            raise SessionError(f"the target has batch {known}, which this sink has not sent", hint=hint)
        if last is None or number <= place.number:
            return
        if known is not None and known >= number:
            self._arrived(last)
        elif self._target.keeps_numbers:
            self._sent.take_back()
        else:
            write_place(self._path, place, soon=False)  # who has lost the session sends nothing
            self._target.bring(place.query, last, self._sent.changes())
            self._arrived(last)

    def _begin_record(self, line: int, known: int | None) -> None:
        """Record what the target has of a sink of an earlier version, whose batches are all of one line of history."""
        batch = max(self._place.batch, -1 if known is None else known)
        if batch >= 0 and self._sent.last is None:
            self._sent.add(Delivery(batch, line, batch), self._changes_up_to(batch))
        self._save(replace(self._place, line=line, batch=batch))

    def _due_deliveries(self, line: int, latest: int) -> Iterator[tuple[Delivery, pa.Table]]:
        """The deliveries that the target lacks."""
        place = self._place
        if self._is_elsewhere(place, latest):
            changes = self._sent.changes_to(self._changes_up_to(latest))
            number = max(place.number + (len(changes) > 0), latest)  # nothing is sent where nothing differs
            yield Delivery(number, line, latest), changes
            return
        changes = self._source.changes(None if place.batch < 0 else place.batch)
        for batch in pc.unique(changes.column("batch")).to_pylist():
            rows = changes.filter(pc.equal(changes.column("batch"), batch))
            yield Delivery(batch + place.ahead, line, batch), rows.drop_columns(["batch"])

    def _changes_up_to(self, batch: int) -> pa.Table:
        """All changes from the answer at registration on, which accumulate to the answer after a batch."""
        changes = self._source.changes(None)
        return changes.filter(pc.less_equal(changes.column("batch"), batch)).drop_columns(["batch"])

    def _deliver(self, delivery: Delivery, changes: pa.Table) -> None:
        if len(changes):
            self._sent.add(delivery, changes)
            self._sending = json_text(as_rows(changes.slice(0, 1))[0])
            self._target.bring(self._place.query, delivery, changes)
            self._sending = ""
        self._arrived(delivery)

    def _arrived(self, delivery: Delivery) -> None:
        self._problem = ""
        self._save(self._place.after(delivery))
        self._sent.compact()

    def _save(self, place: SinkPosition) -> None:
        write_place(self._path, place)
        self._place = place


def write_place(path: Path, place: SinkPosition, soon: bool = True) -> None:
    """Write the file of a place, whole or not at all; ``soon``: see ``write_small``."""
    write_small(path, place_bytes(place), soon)


def place_bytes(place: SinkPosition) -> bytes:
    """The content of the file that keeps a sink's position."""
    return json.dumps(asdict(place)).encode()


def read_place(path: Path) -> SinkPosition:
    """The place in a file.

    Raises:
        SessionError: the file is damaged.
    """
    try:
        place: SinkPosition = decode(path.read_text(), SinkPosition)
    except Exception as problem:  # what bytes that are not those that were written make of any of this
        hint = "drop the sink, and add it again: it sends everything again then"
        raise SessionError(f"{path} is damaged: {problem}", hint=hint) from problem
    return place


def _said(problem: Exception) -> str:
    of_system = isinstance(problem, OSError) and problem.strerror is not None
    return reason(problem) if of_system else f"{type(problem).__name__}: {problem}"
