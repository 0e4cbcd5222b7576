"""The memory of this process and those below it, as Linux tells it (``/proc``), and a description of the machine."""

from __future__ import annotations

import os
import platform
import threading
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType


def machine() -> dict[str, object]:
    """The machine of a figure: cores, memory, versions of what is installed."""
    packages = filter(find_spec, ("pyspark", "pyarrow", "numpy", "sqlglot", "duckdb"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def resident_bytes(process: int | None = None) -> int:
    """Memory in bytes of a process, this one unless given, and all below it; shared pages are counted in proportion.

    It is 0 where there is no ``/proc``.
    """
    return sum(memory_maps(pid).get("Pss", 0) for pid in descendants(os.getpid() if process is None else process))


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


def memory_maps(process: int) -> dict[str, int]:
    """Bytes of a process by kind, as ``smaps_rollup`` tells them: ``Pss``, ``Pss_File`` and others.

    They are missing where the process has ended, or there is no ``/proc``.
    """
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
        return {name: int(kilobytes.split()[0]) * 1024 for name, kilobytes in (line.split(":", 1) for line in lines)}
    except (OSError, ValueError, IndexError):
        return {}
