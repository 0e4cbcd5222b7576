"""What the processes of a session hold: memory, descriptors, threads, maps of files that are gone. Linux tells (/proc).

A session lives in three kinds of processes: this one (the driver), Spark's JVM below it, and the Python workers below
that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

DRIVER, JVM, WORKERS = KINDS = ("driver", "JVM", "workers")
_UNREAL = ("/dev/", "/memfd:", "/SYSV")
"""What Linux lists as a removed file and is memory that was never a file."""


@dataclass(frozen=True)
class Usage:
    """What some processes hold together.

    Attributes:
        processes: how many there are.
        memory: bytes; pages that several processes share are counted in proportion (PSS).
        mapped: how much of it are pages of files, which the system may take back.
        descriptors: open files, pipes and sockets.
        threads: threads.
        gone: files that were removed and are still mapped.
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
    """What processes hold; those that have ended hold nothing."""
    found = [one for one in map(_usage, processes) if one is not None]
    fields = Usage.__dataclass_fields__
    return Usage(**{name: sum(getattr(one, name) for one in found) for name in fields})


def processor_seconds(processes: Iterable[int]) -> float:
    """Processor time of processes so far."""
    return sum(_seconds(Path(f"/proc/{pid}")) for pid in processes)


def family(process: int | None = None) -> Mapping[str, list[int]]:
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
            len({path for path in maps if not path.startswith(_UNREAL)}),
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
