"""Notes on the files of a folder that grows: which file it was, and how much of it was read.

A file is known by its size, its time and the checksum of its bytes. So it is known again by another name, and
another file by the same name is told from it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from glob import glob
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from workbench.errors import StreamError
from workbench.files.writing import checksum_of_next
from workbench.streams.files.formats import FileFormat, is_compressed
from workbench.streams.files.partitions import is_hidden, split_pattern
from workbench.streams.files.urls import UrlFile
from workbench.streams.live.reader import SourcePart, mark_of

_FILES = (".parquet", ".csv", ".csv.gz", ".tsv", ".jsonl", ".ndjson")
"""How the names of files end that are read of a folder, where no pattern says which."""
_NOT_WHOLE = ("~", ".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", ".download", ".swp", "._COPYING_")
"""How the names of files end that editors, browsers and copying programs give another name when they are whole."""
LINE_WAITS = 10.0
"""Seconds without a change after which a last line without an end is whole."""
_LOOK = 1 << 16
_PLACE = "./"
"""The prefix of a file's place where its name begins with an ``OffsetMark``."""


@dataclass(frozen=True)
class Note:
    """A note on a file.

    Attributes:
        stamp: its size and its time, as ``matching_files`` gives them; of an object its size and its ETag.
        checksum: of its bytes; ``None`` where they could not be read.
        rows: that were read.
        quarantined: of its lines.
        reason: why it, or what stands in its place, cannot be read; "" when it can.
        refused: the stamp of what cannot be read.
    """

    stamp: str
    checksum: int | None = None
    rows: int = 0
    quarantined: int = 0
    reason: str = ""
    refused: str = ""

    @property
    def text(self) -> str:
        """As an offset; it begins with the stamp."""
        return self.stamp + json.dumps(astuple(self)[1:])

    @staticmethod
    def read(text: str) -> Note:
        """The inverse of ``text``."""
        stamp, bracket, values = text.partition("[")
        return Note(stamp, *json.loads(bracket + values))

    @property
    def size(self) -> int:
        """Bytes of the file, as far as it was read."""
        return stamped_size(self.stamp)

    def after(self, rows: int, quarantined: int) -> Note:
        """After a number of rows and lines have been read."""
        return replace(self, rows=rows, quarantined=quarantined, reason="", refused="")

    def unreadable(self, reason: str, stamp: str = "") -> Note:
        """When it, or a file that replaced it, cannot be read."""
        return replace(self, reason=reason, refused=stamp)

    def is_of(self, file: Path | UrlFile) -> bool:
        """Whether a file of this size and time is this one."""
        return self.checksum is not None and _checksum(file, self.size) == self.checksum


def _checksum(file: Path | UrlFile, size: int) -> int:
    """The checksum of the first bytes of a file."""
    with file.open("rb") as opened:
        return checksum_of_next(opened, size)


def check_is_file(file: Path | UrlFile) -> None:
    """Check that a path that a pattern matches is a file; an object is one.

    Raises:
        StreamError: it is none.
    """
    if isinstance(file, UrlFile):
        return
    if file.is_dir():
        raise StreamError(
            f"{file} is a folder", hint=f"{file.parent}/**/*.parquet, or another ending, is what is in it"
        )
    if not file.is_file():
        raise StreamError(f"{file} is {'a link to what is not there' if file.is_symlink() else 'no file'}")


def note_of(file: Path | UrlFile, stamp: str) -> Note:
    """The note of a file that was not read before.

    Raises:
        StreamError: it is no file, or has nothing yet.
        OSError: it cannot be read.
    """
    check_is_file(file)
    if not stamped_size(stamp):
        raise StreamError(f"{file} is empty; it is read when something is in it")
    return Note(stamp, _checksum(file, stamped_size(stamp)))


def changed_note(file: Path | UrlFile, stamp: str, known: Note) -> Note:
    """The note of a file that was read before, as it is now: as it was, with more at its end, or a log begun anew.

    Raises:
        StreamError: another file stands in its place.
    """
    if known.rows == 0 and known.quarantined == 0:
        return note_of(file, stamp)
    if known.stamp == stamp and known.checksum is not None:
        return known.after(known.rows, known.quarantined)
    passed = known.quarantined
    size, before = stamped_size(stamp), known.size
    whole = size == before or _ended_a_line(file, before)
    # Half a line of these is no row, and was quarantined.
    held_back = is_compressed(file.name) or FileFormat.named(file.name) is FileFormat.JSON
    other = size < before or _checksum(file, before) != known.checksum
    if other and FileFormat.named(file.name) is FileFormat.LOG:
        return note_of(file, stamp)  # a log begins anew under its name, whether it was cut or renamed
    if other or not (whole or held_back):
        what = f"{file} was replaced or changed after {known.rows:,} of its rows were read"
        raise StreamError(f"{what}: what is new in it is not read, unless it gets another name")
    passed -= not whole and passed > 0
    return Note(stamp, _checksum(file, stamped_size(stamp)), known.rows, passed)


def whole_lines(file: Path | UrlFile, stamp: str) -> str:
    """The stamp of the whole lines of a file of texts, while its last line may still be written.

    Half of a line of CSV is a line, too: 12 of 1234. So a last line without an end waits for it, or until the file has
    not changed for some seconds. An object is there when it is whole.
    """
    if isinstance(file, UrlFile):
        return stamp
    size, time_ns = (int(part) for part in stamp.split())
    is_text = FileFormat.named(file.name) in (FileFormat.CSV, FileFormat.LOG, None) and not is_compressed(file.name)
    if not (is_text and file.is_file()) or abs(time.time() - time_ns / 1e9) > LINE_WAITS:
        return stamp
    with file.open("rb") as opened:
        end = size
        while end:
            start = max(0, end - _LOOK)
            opened.seek(start)
            part = opened.read(end - start)
            if (found := max(part.rfind(b"\n"), part.rfind(b"\r"))) >= 0:
                whole = start + found + 1
                # The second byte of a line's end in UTF-16.
                return stamp if whole == size or part[found + 1 :] == b"\0" else f"{whole} {time_ns} "
            end = start
    return f"0 {time_ns} "


def _ended_a_line(file: Path | UrlFile, size: int) -> bool:
    """Whether a file of lines had whole ones when it had this size."""
    with file.open("rb") as opened:
        opened.seek(size - 1)
        return b"\n" in opened.read(2)


def stamped_size(stamp: str) -> int:
    """Bytes of a file by its stamp."""
    return int(stamp.split()[0])


class MatchingFile(NamedTuple):
    """A file that a pattern matches, and its stamp. A look finds thousands, and paths are made of few."""

    root: str
    name: str
    stamp: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.root, self.name)


def matching_files(pattern: str) -> dict[str, MatchingFile]:
    """The files that a pattern matches, by their places, in the order in which they are read.

    Raises:
        OSError: the folder is not there, or cannot be read.
    """
    path = Path(pattern)
    root, rest = (path, "") if path.is_dir() else split_pattern(path)
    os.scandir(root).close()  # ``glob`` finds nothing where a folder is gone, or may not be read
    there = glob(rest or "*", root_dir=root, recursive=True)
    found = {name for name in there if (rest or name.endswith(_FILES)) and not is_passed(name, rest)}
    above = str(root)
    stamped = sorted((time, name, size) for name in found for size, time in _stat(f"{above}/{name}"))
    return {offset_name(name): MatchingFile(above, name, f"{size} {time} ") for time, name, size in stamped}


class FolderFiles:
    """The files of a folder that grows.

    Args:
        pattern: a folder, or a pattern of paths.

    Attributes:
        are_renamed: whether a file that has gone may be there under another name.
    """

    are_renamed = True

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def look(self) -> Mapping[str, MatchingFile]:
        """See ``matching_files``."""
        return matching_files(self._pattern)

    def open(self, place: str, found: MatchingFile, then: Iterable[tuple[str, MatchingFile]] = ()) -> Path:
        """A file of the last look. Nothing is copied of it, and of those that are opened then."""
        return found.path

    def forget(self, place: str) -> None:
        """Nothing: no file was copied."""

    def parts(self, places: Iterable[str]) -> list[SourcePart]:
        """None: another machine may not have the folder."""
        return []

    def gone_for_long(self, places: Iterable[str], missed: str) -> tuple[list[str], str]:
        """None: a folder may be there again, as one of another machine."""
        return [], missed

    def close(self) -> None:
        """Nothing is open."""


def is_passed(name: str, pattern: str) -> bool:
    """Whether a file is hidden, or is not whole yet by its name, which the pattern does not ask for."""
    is_part = name.endswith(_NOT_WHOLE) and any(name.endswith(o) and not pattern.endswith(o) for o in _NOT_WHOLE)
    return is_part or is_hidden(name)


def offset_name(name: str) -> str:
    """What offsets call a file: its name below the folder, which is told from the other entries there."""
    return _PLACE + name if mark_of(name) else name


def _stat(file: str) -> Iterator[tuple[int, int]]:
    """The size and the time of a file; of a folder, which changes with what is in it, neither."""
    try:
        about = os.stat(file)
    except OSError:
        try:
            about = os.lstat(file)  # a link to nothing
        except OSError:  # it went away just now
            return
    yield (0, 0) if S_ISDIR(about.st_mode) else (about.st_size, about.st_mtime_ns)
