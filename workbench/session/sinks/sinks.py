"""The sinks of a session."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree

from workbench.errors import QueryError, SessionError, WorkbenchError
from workbench.files.shared import remove_small
from workbench.files.writing import make_folder
from workbench.limits import LIMITS, Limits
from workbench.session.directory.directory import SENT
from workbench.session.directory.gate import Gate
from workbench.session.failures.error_log import ErrorLog, ErrorPlace
from workbench.session.sinks.sink import Sink, SinkPosition, SinkStatus, place_bytes, read_place, write_place
from workbench.session.sinks.target import AnswerSource
from workbench.session.sinks.targets import absolute_target, target_of
from workbench.sql.by_name import hint_of
from workbench.streams.addresses.address import shown_address

REACHED = 15.0
"""Seconds that adding a sink waits for its target to answer; the client of Kafka takes ten until it gives up."""

SourceOf = Callable[[str], AnswerSource]


class Sinks:
    """Sinks by their names.

    Args:
        folder: of the files with their places, in the session directory; what they sent is beside it.
        source_of: gives the changes of a query by its name.
        latest: the number of the last batch.
        gate: what a stored target passes before it is used.
        limits: of waiting for targets.
        errors: keeps what targets say.
    """

    def __init__(
        self,
        folder: Path,
        source_of: SourceOf,
        latest: Callable[[], int],
        gate: Gate | None = None,
        limits: Limits = LIMITS,
        errors: ErrorLog | None = None,
    ) -> None:
        self._limits, self._errors = limits, errors or ErrorLog()
        self._folder, self._source_of, self._latest, self._gate = folder, source_of, latest, gate or Gate()
        self._sinks: dict[str, Sink] = {}
        self._stopped: dict[str, SinkStatus] = {}

    def add(self, name: str, query: str, given: object, opening: bool = False) -> SinkStatus:
        """Add a sink; one with a position file continues there. Its status says why the target cannot be reached.

        Args:
            name: of the sink.
            query: whose changes it takes.
            given: its target.
            opening: whether the session is being opened, and does not wait for targets.

        Raises:
            SessionError: the name is taken or no name of a file, the target is bad or has another sink, or its file is
                of another query.
        """
        if name in self._sinks:
            raise SessionError(f"there is already a sink called {name}", hint="name=… gives another name")
        if not name.replace("-", "").replace("_", "").replace(" ", "").isalnum():
            raise SessionError(f"{name!r} is no name of a sink", hint="letters, digits, blanks, - and _")
        given = absolute_target(given)
        target, source = target_of(given), self._source_of(query)
        self._check_alone(target.where(query))
        make_folder(self._folder)
        path = self._folder / f"{name}.json"
        written = str(given) if isinstance(given, str | Path) else None
        signature = None if written is None else self._gate.signed_sink(name, query, written)
        called = target.description if written is None else ""
        place = SinkPosition(query, source.registration, written, line=source.line())
        if path.exists():
            stored = read_place(path)
            if (stored.query, stored.registration) != (query, source.registration):
                message = f"the sink {name} is of {stored.query} as it was registered before"
                raise SessionError(message, hint=f"drop_sink({name!r}) forgets how far it had come")
            place = stored
        place = replace(place, target=written, signature=signature, called=called)
        failed = partial(self._errors.add, ErrorPlace.SINK, name)
        self._sinks[name] = Sink(path, place, target, source, self._sent(name), self._limits, failed)
        self._stopped.pop(name, None)
        if place.batch < 0 and not opening:
            try:
                self._sinks[name].check_begun(REACHED)
            except SessionError:
                self.drop(name)
                raise
        return self._sinks[name].status

    def _check_alone(self, where: str | None) -> None:
        for name, sink in self._sinks.items():
            if where is not None and sink.where == where:
                hint = "two sinks into one target would mix their answers: give each its own"
                raise SessionError(f"the sink {name} sends to {where} already", hint=hint)

    def go_on(self) -> None:
        """Start the sinks that were there when the session was closed, whose targets pass the gate.

        A callable must be given again. A secret that an older version kept in a target is taken out of its file.
        """
        for path in sorted(self._folder.glob("*.json")):
            try:
                place = read_place(path)
            except SessionError as error:
                self._stopped[path.stem] = SinkStatus("", "", -1, 0, str(error))
                continue
            if not (problem := self._started(path, place)):
                continue
            behind, target = max(0, self._latest() - place.batch), shown_address(place.target or place.called)
            self._stopped[path.stem] = SinkStatus(place.query, target, place.batch, behind, problem)

    def _started(self, path: Path, place: SinkPosition) -> str:
        """Start one of them; why it could not be, "" when it was."""
        again = f"add_sink({place.query!r}, …, name={path.stem!r}) gives it again"
        if place.target is None:
            ended = "what it called was in a notebook or program that has ended"
            return f"{ended}: %argus open in a notebook goes on with an alert; {again}"
        if (shown := shown_address(place.target)) != place.target:
            write_place(path, replace(place, target=shown, signature=None))
            return f"its target {shown} had a secret, which was taken out of {path}; {again}, with $NAME in its place"
        if why := self._gate.why_no_sink(path.stem, place.query, place.target, place.signature):
            return f"{why}; {again}"
        try:
            self.add(path.stem, place.query, place.target, opening=True)
        except QueryError as error:  # an older version left the sinks of a query that was dropped
            return f"{error.message}; drop_sink({path.stem!r}) forgets it"
        except WorkbenchError as error:
            return str(error)
        return ""

    def taken_along(self) -> dict[str, bytes]:
        """The places that a copy of the session has, by names of files: their targets are given again there.

        What has a target that is written down stays here, since two sessions that send to it would mix their answers.
        """
        places = ((path.name, read_place(path)) for path in sorted(self._folder.glob("*.json")))
        return {name: place_bytes(replace(p, batch=self._latest())) for name, p in places if p.target is None}

    def drop(self, name: str) -> None:
        """Forget a sink and its place.

        Raises:
            QueryError: no sink has that name.
        """
        path = self._folder / f"{name}.json"
        if name not in self._sinks and not path.exists():
            raise QueryError(f"there is no sink {name}", hint=hint_of(name, "there are", self._sinks))
        if (sink := self._sinks.pop(name, None)) is not None:
            sink.close(self._limits.milliseconds_closing_sinks / 1000)
        self._stopped.pop(name, None)
        for file in (path, *self._sent(name).glob("*")):
            remove_small(file)
        rmtree(self._sent(name), ignore_errors=True)

    def drop_of(self, query: str) -> None:
        """Remove the sinks of a query that was dropped; a later query of its name is another one."""
        for name in [name for name, status in self.statuses.items() if status.query == query]:
            self.drop(name)

    def _sent(self, name: str) -> Path:
        return self._folder.with_name(SENT) / name

    @property
    def statuses(self) -> Mapping[str, SinkStatus]:
        """How the sinks are."""
        return {**self._stopped, **{name: sink.status for name, sink in self._sinks.items()}}

    def retry(self, name: str) -> str:
        """Try a target again now, and wait for a while; its problem then.

        Raises:
            QueryError: there is no such sink, or its target must be given again.
        """
        if name not in self._sinks:
            why = self._stopped[name].problem if name in self._stopped else f"there is no sink {name}"
            raise QueryError(why, hint=hint_of(name, "there are", self._sinks))
        return self._sinks[name].tried_again(REACHED)

    def notify(self) -> None:
        """There may be another batch, or another line of history."""
        for sink in self._sinks.values():
            sink.notify()

    def close(self) -> None:
        """End all sinks; deliveries that are left are made when the session is opened again."""
        ends = time.monotonic() + self._limits.milliseconds_closing_sinks / 1000
        for sink in self._sinks.values():
            sink.close(max(0.0, ends - time.monotonic()))
        self._sinks.clear()
