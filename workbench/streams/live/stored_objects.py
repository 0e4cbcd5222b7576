"""The objects of a store that match a pattern, as files of a folder that grows: ``s3://bucket/landing/*.parquet``.

An object is known by its name, its size and its ETag. A store lists a thousand names by one request, in the order of
names. So a look asks for those after the last one that matched, which are all new ones where names begin with
times. All names are listed again as often as it costs one more request a second, for what came in between, and for what
was replaced or removed. Up to a thousand objects are one request, and each look lists them all.

An object is copied before it is read, by one request, and some that follow it at the same time.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.errors import EnvironmentProblem, StreamError
from workbench.files.store import LISTED_AT_ONCE, ObjectStore, Refusal, Stored
from workbench.streams.addresses.address import kept_address, shown_address
from workbench.streams.addresses.kinds import OBJECTS
from workbench.streams.files.partitions import split_pattern
from workbench.streams.files.urls import UrlFile
from workbench.streams.live.file_notes import MatchingFile, is_passed, offset_name
from workbench.streams.live.reader import SourcePart

AHEAD = 16
"""Objects that are copied at the same time."""
_LARGEST_AHEAD = 1 << 23
"""Bytes of the largest object that is copied before it is asked for."""
_SECONDS_A_REQUEST = 1.0
"""In how many seconds there is one more request, on the average, to list all names where that takes several."""
_GONE_SECONDS = 86_400.0
"""What is known of an object that was read stays so long after it has gone, at most twice: it may come again."""
_ANY = "[!/]"
"""How a sign that may be any is written in an address, where a ``?`` begins options."""
_ANY_SIGN = re.compile(r"\[!?\]?[^]]*\]|\?(?![\w.-]+=)")
"""A sign that may be any, of a pattern; or some signs of which it may be one, which may have a ``?``."""
_HINT = "check the address, and that this machine's credentials may list and get there"


class NotNow(StreamError):
    """A store does not say or give something; it is asked again."""


def with_any_signs(source: object) -> object:
    """A source in which ``?``, where it begins no option of an address of objects, is written so that none begins.

    Example:
        >>> with_any_signs("s3://bucket/in-??/*.csv"), with_any_signs("s3://bucket/in.csv?key=1")
        ('s3://bucket/in-[!/][!/]/*.csv', 's3://bucket/in.csv?key=1')
    """
    if not isinstance(source, str) or source.partition("://")[0].lower() not in OBJECTS.schemes:
        return source
    return _ANY_SIGN.sub(lambda sign: _ANY if sign[0] == "?" else sign[0], source)


def is_object_pattern(source: object) -> bool:
    """Whether a source is a pattern of objects.

    Example:
        >>> [*map(is_object_pattern, ("s3://bucket/in/*.csv", "s3://bucket/in.csv", "in/*.csv"))]
        [True, False, False]
    """
    scheme, separator, rest = str(source).partition("://")
    return bool(separator) and scheme.lower() in OBJECTS.schemes and re.search(r"[*[]", rest) is not None


class StoredObjects:
    """The objects that match a pattern.

    Args:
        pattern: an address with wildcards, which begin after the name of the bucket.
        only: those that match, where they are known; else the store is asked.

    Attributes:
        are_renamed: never; an object keeps its name, and another may have the same bytes.

    Raises:
        EnvironmentProblem: obstore is not installed.
        StreamError: the address cannot be read, or has a secret.
    """

    are_renamed = False

    def __init__(self, pattern: str, only: Mapping[str, Stored] | None = None) -> None:
        if "?" in pattern:
            what = f"{shown_address(pattern)}: options of an address begin with a ?, and objects have none"
            raise StreamError(what, hint="for one sign that may be any before NAME=, write [!/]")
        bucket = kept_address(pattern).hosts
        scheme, _, rest = pattern.replace(_ANY, "?").partition("://")
        root, self._pattern = split_pattern(rest)
        if not bucket:
            raise StreamError(f"{pattern} names no bucket", hint=f"as in {scheme}://bucket/in/*.parquet")
        self._root = f"{scheme}://{root}"
        try:
            self._store = ObjectStore(self._root)
        except ModuleNotFoundError as problem:
            hint = "pip install 'argus-workbench[objectstore]'"
            raise EnvironmentProblem(f"{pattern} is read by obstore", hint=hint) from problem
        self._found: dict[str, MatchingFile] = {}
        self._stored: Mapping[str, Stored] = {}
        self._only = only
        self._last, self._list_all_at = "", 0.0
        self._looked_for_gone = -_GONE_SECONDS
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._copying = ThreadPoolExecutor(AHEAD, thread_name_prefix="argus-objects")
        self._copies: dict[str, tuple[Stored, Future[Path]]] = {}

    def look(self) -> Mapping[str, MatchingFile]:
        """The objects that there are, in the order of their times, and then of their names.

        Raises:
            NotNow: the store does not say it.
        """
        lists_all = time.monotonic() >= self._list_all_at
        if self._only is not None:
            return self._are(self._only)
        try:
            listed = [*self._store.names(after="" if lists_all else self._last)]
        except Refusal as problem:
            raise NotNow(f"{self._root} cannot be listed: {problem.why}", hint=_HINT) from problem
        new = {offset_name(each.name): each for each in listed if self._is_one(each.name)}
        if lists_all:
            self._list_all_at = time.monotonic() + len(listed) // LISTED_AT_ONCE * _SECONDS_A_REQUEST
        stored = new if lists_all else {**self._stored, **new} if new else self._stored
        if stored != self._stored:
            self._last = max((each.name for each in stored.values()), default="")
            self._are(stored)
        return self._found

    def _are(self, stored: Mapping[str, Stored]) -> Mapping[str, MatchingFile]:
        self._stored = stored
        in_order = sorted(stored.items(), key=lambda one: (one[1].written, one[1].name))
        self._found = {place: MatchingFile(self._root, one.name, _stamp(one)) for place, one in in_order}
        return self._found

    def parts(self, places: Iterable[str]) -> list[SourcePart]:
        """Some objects of the last look, of which tasks are told what the store says."""
        return [SourcePart(place, (stored := self._stored[place]).bytes, [*stored]) for place in places]

    def open(self, place: str, found: MatchingFile, then: Iterable[tuple[str, MatchingFile]] = ()) -> UrlFile:
        """An object of the last look, copied; small ones that are opened then are copied meanwhile.

        Raises:
            NotNow: the store does not give it, or has another by now.
        """
        copy = self._copy(place)
        for other, _ in then:
            if self._stored[other].bytes <= _LARGEST_AHEAD:
                self._copy(other)
        shown = f"{self._root}/{found.name}"
        try:
            return UrlFile(shown, Path(found.name).name, io, str(copy.result()))
        except FileNotFoundError as problem:
            self._list_all_at = 0.0
            what = f"{shown} was removed or replaced before it was read"
            raise NotNow(what, hint="the next look sees what is there") from problem
        except Refusal as problem:
            raise NotNow(f"{shown} cannot be read: {problem.why}", hint=_HINT) from problem
        finally:
            if copy.exception() is not None:
                self.forget(place)

    def forget(self, place: str) -> None:
        """Remove the copy of an object."""
        _, copy = self._copies.pop(place, (None, None))
        if copy is not None:
            with suppress(OSError):
                copy.result().unlink()

    def gone_for_long(self, places: Iterable[str], missed: str) -> tuple[list[str], str]:
        """Those of some places that are gone for a day; none where all are, as of a bucket that is another by now.

        Args:
            places: of what was read.
            missed: what was said the last time of those that are not there, maybe by a process that has ended.

        Returns:
            The places, and what is to be known the next time: when some were first missed, and which still are.
        """
        if not self._found or time.monotonic() < self._looked_for_gone + _GONE_SECONDS / 100:
            return [], missed
        self._looked_for_gone = time.monotonic()
        since, before = json.loads(missed) if missed else (time.time(), None)
        missing = {place for place in places if place not in self._found}
        still = missing if before is None else missing.intersection(before)
        if time.time() <= since + _GONE_SECONDS:
            return [], json.dumps([since, sorted(still)]) if still else ""
        later = missing - still
        return sorted(still), json.dumps([time.time(), sorted(later)]) if later else ""

    def close(self) -> None:
        """Remove all copies."""
        self._copying.shutdown(cancel_futures=True)
        if self._scratch is not None:
            self._scratch.cleanup()

    def _is_one(self, name: str) -> bool:
        return not is_passed(name, self._pattern) and _fits(self._pattern.split("/"), name.split("/"))

    def _copy(self, place: str) -> Future[Path]:
        """The copy of an object as it was at the last look, which may still be made."""
        stored = self._stored[place]
        if (known := self._copies.get(place)) is not None and known[0] == stored:
            return known[1]
        self.forget(place)
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="argus-objects-", ignore_cleanup_errors=True)
        copy = self._copying.submit(_copied, self._store, stored, Path(self._scratch.name))
        self._copies[place] = stored, copy
        return copy


def _copied(store: ObjectStore, stored: Stored, folder: Path) -> Path:
    descriptor, name = tempfile.mkstemp(dir=folder)
    with open(descriptor, "wb") as file:
        store.copy_to(file, stored)
    return Path(name)


def _stamp(stored: Stored) -> str:
    """What tells an object from others that had its name: see ``Note.stamp``."""
    version = re.sub(r"[\s\[]", "", stored.etag) or str(stored.written)
    return f"{stored.bytes} {version} "


def _fits(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a name matches a pattern as ``glob`` does, both cut at slashes: ``**`` stands for any folders.

    Example:
        >>> parts = "day=*/**/*.csv".split("/")
        >>> names = ("day=1/a.csv", "day=1/x/y/a.csv", "day=1/a.csv.gz", "x/day=1/a.csv")
        >>> [_fits(parts, name.split("/")) for name in names]
        [True, True, False, False]
    """
    if not parts or not names:
        return not parts and not names
    if parts[0] == "**":
        return len(parts) == 1 or any(_fits(parts[1:], names[first:]) for first in range(len(names)))
    return fnmatchcase(names[0], parts[0]) and _fits(parts[1:], names[1:])
