"""A folder, or the files or objects that match a pattern, as a live source: each one that appears brings its rows.

A file must be whole when it has its name, so it is written under another one and renamed. Files are read in the
order of their times, and then of their names. The offset of a file is the number of its rows that were read, and its
note says what file that was. So one that has grown is read on, one that has another name is not read twice, and one in
whose place another stands is not taken for it. A file that cannot be read is quarantined, and the others go on.

Where files are, and which there are, says ``Files``: a folder (``FolderFiles``), or an object store
(``StoredObjects``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Protocol

import pyarrow as pa

from workbench.errors import StreamError, UnexpectedError
from workbench.files.store import Stored
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.drift import Differences, folded, joined
from workbench.streams.drifting_types import fitted
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.csv_source import options_of
from workbench.streams.files.formats import FileFormat
from workbench.streams.files.json_schema import widest_field
from workbench.streams.files.json_values import as_texts, lacking_columns
from workbench.streams.files.partitions import folder_fields, folder_values, with_folder_columns
from workbench.streams.files.urls import UrlFile
from workbench.streams.guessing import Guess
from workbench.streams.live.file_notes import (
    LINE_WAITS,
    FolderFiles,
    MatchingFile,
    Note,
    changed_note,
    check_is_file,
    note_of,
    stamped_size,
    whole_lines,
)
from workbench.streams.live.file_rows import FileRows, open_file
from workbench.streams.live.reader import (
    BaseReader,
    Fetched,
    NothingYet,
    OffsetMark,
    Offsets,
    ReadInParts,
    SourcePart,
    mark_of,
    widened,
)
from workbench.streams.live.stored_objects import AHEAD, NotNow, StoredObjects, is_object_pattern
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_NOTHING = "0 0 "
"""The stamp of a name under which nothing was read."""
_MISSED = OffsetMark.NOTE.value
"""The entry of offsets that has what is known of files that are not there: the note of no file."""
_READ, _MOVED, _UNREADABLE = "all", "moved", "unreadable"
"""The offset of a file that has been read whole, of a name that another file has now, and of a file without rows."""


class Files(Protocol):
    """The files that a pattern matches, wherever they are."""

    @property
    def are_renamed(self) -> bool:
        """Whether a file that is missing may have been renamed."""

    def look(self) -> Mapping[str, MatchingFile]:
        """The files that there are by now, by their places, in the order in which they are read.

        Raises:
            OSError: a folder cannot be read.
            NotNow: a store does not say it.
        """

    def open(self, place: str, found: MatchingFile, then: Iterable[tuple[str, MatchingFile]] = ()) -> Path | UrlFile:
        """A file of the last look.

        Args:
            place: what it is called in offsets.
            found: what was found there.
            then: those that are opened after it.

        Raises:
            NotNow: it can be read later.
        """

    def forget(self, place: str) -> None:
        """A file is not needed any more."""

    def parts(self, places: Iterable[str]) -> list[SourcePart]:
        """The files at some places, as parts that tasks can read."""

    def gone_for_long(self, places: Iterable[str], missed: str) -> tuple[list[str], str]:
        """Those of some places of which nothing must be known any more, and what is to be known of missing ones."""

    def close(self) -> None:
        """Close open files."""


class FolderReader(ReadInParts, BaseReader):
    """Reads the files of a folder.

    Args:
        pattern: a folder, or a pattern of paths, such as ``"in/*.csv"``, or of objects, ``"s3://bucket/in/*.csv"``.
        schema: the columns, where the stream has been added before; ``None``: those of the first file that can be read.
        options: what is declared of how CSV files are written, where the stream has not been added before.
        files: those that match, where they are known.

    Raises:
        NothingYet: there is no such file yet that can be read.
    """

    def __init__(
        self,
        pattern: str,
        schema: pa.Schema | None = None,
        options: CsvOptions | None = None,
        files: Files | None = None,
    ) -> None:
        self._pattern = pattern
        self._files = files or (StoredObjects(pattern) if is_object_pattern(pattern) else FolderFiles(pattern))
        self._options = options_of(schema) if schema is not None else options or CsvOptions()
        self.inferred: Mapping[str, Guess] = {}
        self.notes: tuple[str, ...] = ()
        self._of_json = self._is_widened = False
        if schema is None:
            first = self._first()
            schema, self.inferred, self.notes = first.schema, first.inferred, first.notes
        self._schema = pa.schema([*map(widest_field, schema)], schema.metadata)
        self._half_read: tuple[tuple[str, Note], FileRows] | None = None

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self._schema

    @property
    def description(self) -> str:
        """The files that it reads."""
        return self._pattern

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Read fractions and digits, too, where the stream has them."""
        before, self._schema = self._schema, widened(self._schema, types)
        self._leave()
        self._is_widened = self._is_widened or self._schema != before

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read as texts what stands in files of JSON; those of CSV are texts, and others have types."""
        self._leave()
        if self._of_json:
            lacking = lacking_columns(self._schema, types)
            self.notes = (*self.notes, *(f"{column.name}: no record has it so far" for column in lacking))
            self._schema = as_texts(pa.schema([*self._schema, *lacking], self._schema.metadata), types)

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows of files that have not been read whole."""
        taken = _Taken(offsets, most)
        there = self._files.look()
        if self._files.are_renamed:
            taken.follow_names(there)
        taken.say_gone(there)
        if self._half_read is not None and self._half_read[0][0] not in there:
            self._leave()
        waiting = [(place, found) for place, found in there.items() if taken.waits(place, found.stamp)]
        new = takewhile(lambda place: taken.note(place) is None, (place for place, _ in waiting))
        landed = self._landed(self._files.parts(new), partial(read_object, self._pattern, self._schema))
        for number, (place, found) in enumerate(waiting, 1):
            if landed or taken.full():
                break
            try:
                file = self._files.open(place, found, waiting[number : number + AHEAD])
            except NotNow as problem:  # of a store that does not answer: it is asked again
                taken.problems.append(problem.message)
                break
            try:
                self._take(place, file, found.stamp, taken)
            except Exception as problem:  # of a file that was cut, of a disk, of a user without the right to read it
                message = problem.message if isinstance(problem, StreamError) else UnexpectedError.of(problem).message
                taken.cannot_read(place, file.name, found.stamp, message)
            if not (taken.at(place) or "").isdigit():
                self._files.forget(place)
        read = (place for place in offsets if mark_of(place) is None)
        gone, missed = self._files.gone_for_long(read, offsets.get(_MISSED, ""))
        if missed != offsets.get(_MISSED, ""):
            taken.after[_MISSED] = missed
        return Fetched(
            joined(taken.rows, self._schema),
            taken.after,
            tuple(taken.quarantined),
            problem=taken.problem,
            found=taken.found,
            forgotten=tuple(gone),
            landed=landed,
        )

    def close(self) -> None:
        """Close a file that is half read, and drop copies of objects."""
        self._leave()
        self._files.close()

    def _leave(self) -> None:
        if self._half_read is not None:
            self._half_read[1].close()
            self._half_read = None

    def _first(self) -> OpenedSource:
        """The first file that can be read, for its columns."""
        problem: StreamError | None = None
        try:
            files = self._files.look()
        except OSError as error:
            message = f"no file matches {self._pattern}: its folder cannot be read: {error.strerror}"
            raise StreamError(message, hint="make the folder, or check its name and who may read it") from error
        of_folders = folder_fields(folder_values(PurePath(found.name)) for found in files.values())
        for place, found in files.items():
            stamp = found.stamp
            try:
                file = self._files.open(place, found)
                check_is_file(file)
                part = whole_lines(file, stamp)
                if part != stamp and not stamped_size(part):
                    raise StreamError(f"{file}: its first line has no end yet")
                with ExitStack() as stack:
                    first = open_file(file, {}, replace(self._options, growing=part != stamp), stack)
                    self._of_json = FileFormat.named(file.name) is FileFormat.JSON
                    return with_folder_columns(replace(first, chunks=iter(())), {}, of_folders)
            except NotNow:
                raise
            except StreamError as error:
                problem = problem or error
        raise NothingYet(problem.message if problem is not None else f"no file matches {self._pattern}")

    def _take(self, place: str, file: Path | UrlFile, stamp: str, taken: _Taken) -> None:
        """Rows of one file, from those on that were read before."""
        known = taken.note(place)
        part = whole_lines(file, stamp) if stamped_size(stamp) else stamp
        if part != stamp:
            how = f"it is read when it has one, or {LINE_WAITS:g} s after the last change of the file"
            taken.problems.append(f"{file}: its last line has no end: {how}")
            if not stamped_size(part) or (known is not None and known.size == stamped_size(part)):
                return
        note = note_of(file, part) if known is None else changed_note(file, part, known)
        read, ended = note.rows if known is not None else int(taken.at(place) or 0), True
        passed, is_left = note.quarantined, False
        whole = known.size if known is not None and taken.at(place) == _READ and read + passed else 0
        rows = self._rows(place, file, replace(note, rows=read), part != stamp, whole)
        types = {name: str(guess.type) for name, guess in rows.source.inferred.items()}
        try:
            for chunk in rows:
                if taken.full():
                    ended, is_left = False, True
                    rows.put_back(chunk)
                    break
                others = len(taken.passed(chunk))
                more = taken.add(chunk, self._schema, types)
                passed, read = passed + others, read + more
                if not (ended := more == chunk.rows.num_rows):
                    rows.put_back(chunk, more, others)
                    is_left = True
                    break
        finally:  # what was read before a place that is damaged is kept
            ended, note = ended and part == stamp, note.after(read, passed)
            taken.goes_on(place, _READ if ended else str(read), note)
            if is_left:
                self._half_read = (place, note), rows
            else:
                rows.close()

    def _rows(self, place: str, file: Path | UrlFile, note: Note, growing: bool, whole: int) -> FileRows:
        """The rows of a file after those of its note, of which the last fetch may have left some.

        ``whole``: bytes of which all rows were read.
        """
        left, self._half_read = self._half_read, None
        if left is not None:
            if left[0] == (place, note):
                return left[1]
            left[1].close()
        options, folders = replace(self._options, growing=growing), folder_values(PurePath(place))
        rows = FileRows(file, folders, options, self._schema, note.rows, note.quarantined, self._is_widened, whole)
        try:
            self._check(file, rows.source.schema)
        except BaseException:
            rows.close()
            raise
        return rows

    def _check(self, file: Path | UrlFile, schema: pa.Schema) -> None:
        if not {*map(stored_name, schema.names)} & {*map(stored_name, self._schema.names)}:
            message = f"{file} has none of the columns of the files before: {', '.join(schema.names):.200}"
            raise StreamError(message, hint="move it away, or add it as a stream of its own; the others go on")


def read_object(pattern: str, schema: pa.Schema, part: SourcePart) -> Fetched | None:
    """All rows of one of the objects that match a pattern; ``None`` where it cannot be read as a whole."""
    reader = FolderReader(pattern, schema, files=StoredObjects(pattern, {part.place: Stored(*part.told)}))
    with closing(reader):
        fetched = reader.fetch({}, sys.maxsize)
    return None if fetched.problem or fetched.offsets.get(part.place, "0").isdigit() else fetched


@dataclass
class _Taken:
    """The rows that a fetch takes of the files, one after the other."""

    offsets: Offsets
    most: int
    rows: list[pa.RecordBatch] = field(default_factory=list)
    quarantined: list[QuarantinedRow] = field(default_factory=list)
    after: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    found: Differences = field(default_factory=Differences)

    def __post_init__(self) -> None:
        self._count = 0

    def full(self) -> bool:
        """Whether there are as many rows as are asked for."""
        return self._count >= self.most

    @property
    def problem(self) -> str:
        """The first problem, and how many more there are."""
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        return "".join(self.problems[:1]) + more

    def at(self, place: str) -> str | None:
        """Where a file resumes; or another entry of the offsets."""
        return self.after.get(place, self.offsets.get(place))

    def note(self, place: str) -> Note | None:
        """The note of a file; ``None``: it was not read before."""
        text = self.at(OffsetMark.NOTE + place)
        return None if text is None else Note.read(text)

    def passed(self, chunk: Chunk) -> tuple[QuarantinedRow, ...]:
        """The quarantined records among the rows of a chunk that are taken."""
        left = self.most - self._count
        if left >= len(chunk.lines):
            return chunk.quarantined
        return tuple(entry for entry in chunk.quarantined if entry.line < chunk.lines[left])

    def add(self, chunk: Chunk, schema: pa.Schema, types: Mapping[str, str]) -> int:
        """Take rows, and all that is quarantined among them; how many rows.

        Args:
            chunk: of a file.
            schema: of the stream's source.
            types: what columns of texts seem to be.
        """
        some, found = folded(chunk.rows.slice(0, self.most - self._count), schema)
        rows, misfits = fitted(some, chunk.lines, schema)
        before = sum(map(len, self.rows))
        self.quarantined += [replace(one, number=before + one.number) for one in (*self.passed(chunk), *misfits)]
        self.rows.append(rows)
        new = {name: types.get(name, type_) for name, type_ in found.new.items()}
        found = chunk.found if chunk.found.new or chunk.found.gone else replace(found, new=new)
        self.found = self.found.and_then(found)
        self._count += some.num_rows
        return some.num_rows

    def goes_on(self, place: str, at: str, note: Note) -> None:
        """Note the place from which a file is read on, and the note on it."""
        self.after[place] = at
        self.after[OffsetMark.NOTE + place] = note.text

    def cannot_read(self, place: str, name: str, stamp: str, reason: str) -> None:
        """Quarantine a file that cannot be read now, once for each reason."""
        known = self.note(place) or Note(stamp)
        if known.reason != reason:
            self.quarantined.append(QuarantinedRow(0, name, reason))
        self.problems.append(reason)
        self.goes_on(place, _UNREADABLE, known.unreadable(reason, stamp))

    def waits(self, place: str, stamp: str) -> bool:
        """Whether there is more to read of a file; of one that cannot be read as it is, why is said again."""
        text = self.at(OffsetMark.NOTE + place)
        if self.at(place) == _READ and (text is None or text.startswith(stamp)):
            return False
        known = self.note(place)
        if known is None or not known.reason or known.refused != stamp:
            return True
        self.problems.append(known.reason)
        return False

    def follow_names(self, there: Mapping[str, MatchingFile]) -> None:
        """Let files that were renamed continue where they were."""
        notes = {place[1:]: note for place, note in self.offsets.items() if place.startswith(OffsetMark.NOTE)}
        noted = {place: note.partition("[")[0] for place, note in notes.items()}
        stands = {place: stamp for place, (_, _, stamp) in there.items()}
        gone = [p for p, stamp in noted.items() if stands.get(p) != stamp and self.at(p) != _MOVED]
        stamps = {noted[place] for place in gone}
        moved = dict[str, str]()
        for place, stamp in stands.items():
            if stamp in stamps and noted.get(place) != stamp:
                file = there[place].path
                same = (old for old in gone if noted[old] == stamp and Note.read(notes[old]).is_of(file))
                if (old := next(same, None)) is not None:
                    moved[place] = old
                    gone.remove(old)
        for old in moved.values():
            self.goes_on(old, _MOVED, Note(_NOTHING))
        for place, old in moved.items():
            self.goes_on(place, self.offsets[old], Note.read(notes[old]))

    def say_gone(self, there: Mapping[str, MatchingFile]) -> None:
        """Say of which files half was read, and that are gone."""
        for place, at in self.offsets.items():
            if at.isdigit() and place not in there and self.at(place) == at and (note := self.note(place)) is not None:
                reason = f"{place} is gone: its rows from {note.rows + 1:,} on were not read"
                self.problems.append(reason)
                if note.reason != reason:
                    self.quarantined.append(QuarantinedRow(0, place, reason))
                    self.goes_on(place, at, note.unreadable(reason))
