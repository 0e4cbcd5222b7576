"""The JVM's archive of loaded classes, which lets a Spark start in half the time (JEP 310, 350).

A starting Spark loads some 15,000 classes from 280 jars, and verifies each. A JVM can write those it has loaded to an
archive as it ends, and a later one maps them into its memory. The archive is for one Java, one Spark and one user: it
lies in ``argus`` of the user's cache (``$XDG_CACHE_HOME``, or ``~/.cache``), where no other user may write, since who
writes it decides which code runs. ``session.startup.class_training`` makes it.

A JVM notices an archive of other jars and does without, but one that was cut short or altered lets it crash. So the
checksum of the file is part of its name, and is compared before each use: 50 ms for 150 MB.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from workbench.engine.spark.java import Java
from workbench.files.writing import checksum_of, make_folder

SUFFIX = ".jsa"
QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")
"""A JVM prints on standard output, which is the cell's, why it does without an archive."""

RETRIED_AFTER = 24 * 3600.0
"""Seconds until an archive that could not be made is tried again."""

KEPT_UNUSED = 30 * 24 * 3600.0
"""Seconds that an archive is kept after its last use: that of a Spark that was replaced is used no more."""


@dataclass(frozen=True)
class ClassArchive:
    """The archive for one Java and one Spark.

    Attributes:
        folder: of the archives.
        key: tells apart what the classes come from.
    """

    folder: Path
    key: str

    @staticmethod
    def of(java: Java) -> ClassArchive:
        """The class archive of the Spark that a Java would run.

        Raises:
            OSError: there is no such Java or Spark.
        """
        program, jars = java.program.resolve(), Path(_find_spark_home(), "jars")
        sources = [program, *sorted(jars.iterdir())]
        seen = [(str(path), status.st_size, status.st_mtime_ns) for path in sources if (status := path.stat())]
        return ClassArchive(cache_folder(), hashlib.sha256(repr(seen).encode()).hexdigest()[:24])

    def options(self) -> tuple[str, ...]:
        """Options by which a JVM uses the archive, if it is whole and the user's own; else empty."""
        for file in sorted(self.folder.glob(f"{self.key}-*{SUFFIX}")):
            try:
                if _is_own(self.folder) and _is_own(file) and file.name == self._name(checksum_of(file)):
                    os.utime(file)
                    return (*QUIET, "-Xshare:auto", f"-XX:SharedArchiveFile={file}")
                file.unlink()
            except OSError:
                continue
        return ()

    @contextmanager
    def writing(self) -> Iterator[Path | None]:
        """A file for a JVM to write the archive to (``recording``); once it is whole, it is the archive.

        The context gets ``None`` where another process is writing, or has failed to in the last day.

        Raises:
            OSError: the folder cannot be written to.
        """
        make_folder(self.folder)
        claim, part = self.folder / f"{self.key}.claim", self.folder / f"{self.key}.{uuid.uuid4().hex}"
        if not _claimed(claim):
            yield None
            return
        try:
            yield part
            if part.exists():
                part.chmod(stat.S_IRUSR | stat.S_IWUSR)
                os.replace(part, self.folder / self._name(checksum_of(part)))
                claim.unlink(missing_ok=True)
        finally:
            part.unlink(missing_ok=True)
        for file in self.folder.glob(f"*{SUFFIX}"):
            if file.stat().st_mtime < time.time() - KEPT_UNUSED:
                file.unlink(missing_ok=True)

    def _name(self, checksum: int) -> str:
        return f"{self.key}-{checksum:08x}{SUFFIX}"


def archive_options(java: Java) -> tuple[str, ...]:
    """Options by which a JVM of this Java uses its archive, if there is one."""
    try:
        return ClassArchive.of(java).options()
    except OSError:
        return ()


def recording(file: Path) -> tuple[str, ...]:
    """Options by which a JVM writes the classes that it has loaded to a file, as it ends."""
    return (*QUIET, f"-XX:ArchiveClassesAtExit={file}")


def cache_folder() -> Path:
    """Where this user's archives are."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "argus"


def _is_own(path: Path) -> bool:
    """Whether a path is this user's, and no other user may write to it."""
    status = path.stat()
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)


def _claimed(claim: Path) -> bool:
    """Whether this process is the one to write; the claim of one that failed ends with time."""
    try:
        if claim.stat().st_mtime < time.time() - RETRIED_AFTER:
            claim.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
