"""Measures of a session's processes, and a description of the machine.

A session runs in three kinds of processes: this one (the driver), Spark's JVM below it, and the Python workers below
that. Linux tells (``/proc``) their memory, descriptors, threads and mapped files; elsewhere all measures are 0.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType

from workbench.engine.spark.local_session import local_spark

DRIVER, JVM, WORKERS = KINDS = ("driver", "JVM", "workers")
_NO_FILES = ("/dev/", "/memfd:", "/SYSV")
"""Beginnings of paths that Linux lists as removed files, of memory that was never a file."""


def machine() -> dict[str, object]:
    """What figures must be read with: cores, memory, versions."""
    packages = ("pyspark", "pyarrow", "numpy", "sqlglot", "duckdb")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def resident_bytes(process: int | None = None) -> int:
    """Memory in bytes of a process, this one unless given, and all below it; shared pages are counted in proportion."""
    return usage(descendants(os.getpid() if process is None else process)).memory


def spark_jobs() -> int:
    """How many jobs the Spark of this process has run so far, whoever asked for them."""
    return int(local_spark().sparkContext._jsc.sc().dagScheduler().numTotalJobs())


class PeakMemory:
    """Watches memory while a block runs, of this process or of another, and of all below it.

    Example:
        >>> with PeakMemory() as peak:
        ...     pass
        >>> peak.bytes >= 0
        True
    """

    def __init__(self, interval: float = 0.5, process: int | None = None) -> None:
        self.bytes = 0
        self._process = process
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(self._interval):
            self.bytes = max(self.bytes, resident_bytes(self._process))

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self.bytes = max(self.bytes, resident_bytes(self._process))


@dataclass(frozen=True)
class Usage:
    """Resources of some processes together.

    Attributes:
        processes: how many there are.
        memory: bytes; pages that several processes share are counted in proportion (PSS).
        mapped: how much of it are pages of files, which the system may take back.
        descriptors: open files, pipes and sockets.
        threads: threads.
        gone: removed files that are still mapped.
        seconds: processor time so far.
    """

    processes: int = 0
    memory: int = 0
    mapped: int = 0
    descriptors: int = 0
    threads: int = 0
    gone: int = 0
    seconds: float = 0.0


def usage(processes: Iterable[int]) -> Usage:
    """The usage of processes together; that of an ended one is 0."""
    running = [each for each in map(_usage, processes) if each is not None]
    return Usage(**{name: sum(getattr(each, name) for each in running) for name in Usage.__dataclass_fields__})


def processor_seconds(processes: Iterable[int]) -> float:
    """Processor time of processes so far."""
    return sum(_seconds(Path(f"/proc/{pid}")) for pid in processes)


def session_processes(process: int | None = None) -> Mapping[str, list[int]]:
    """The processes of a session by their kind.

    Args:
        process: the driver; this process unless given.
    """
    driver = os.getpid() if process is None else process
    below = descendants(driver) - {driver}
    java = {pid for pid in below if _name(pid) == "java"}
    return {DRIVER: [driver], JVM: sorted(java), WORKERS: sorted(below - java)}


def descendants(process: int) -> set[int]:
    """A process and all below it."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it ended while we looked
    ours = {process}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def _usage(pid: int) -> Usage | None:
    folder = Path(f"/proc/{pid}")
    try:
        pages = dict(line.split(":", 1) for line in (folder / "smaps_rollup").read_text().splitlines()[1:])
        maps = [line.split(maxsplit=5)[5] for line in (folder / "maps").read_text().splitlines() if "(deleted)" in line]
        return Usage(
            1,
            _bytes(pages["Pss"]),
            _bytes(pages.get("Pss_File", "0 kB")),
            len(os.listdir(folder / "fd")),
            len(os.listdir(folder / "task")),
            len({path for path in maps if not path.startswith(_NO_FILES)}),
            _seconds(folder),
        )
    except (OSError, KeyError, ValueError, IndexError):
        return None  # it ended while we looked, or this is no Linux


def _seconds(folder: Path) -> float:
    try:
        user, system = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0.0  # it ended while we looked
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _bytes(kilobytes: str) -> int:
    return int(kilobytes.split()[0]) * 1024


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
