"""A worker's check that it has the driver's versions and folder; it imports nothing that a worker may lack."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

from workbench.files.store import LATE_SECONDS, awaited, store_at

OTHER_USER = "by user"
"""A part of the problem of a worker whose user does not own the folder."""


@dataclass(frozen=True)
class Probe:
    """The driver's question to its workers: whether they have its versions and its folder.

    Attributes:
        folder: of the session.
        versions: of Python and of modules in the driver.
        name: of a file in the folder; "" where the driver may not write there.
        nonce: the content of the file.
        names: the names of the files in a folder that is only read.
        store: the address of the store through which workers have the folder; "" where they share it.
    """

    folder: str
    versions: Mapping[str, str]
    name: str = ""
    nonce: str = ""
    names: Sequence[str] = ()
    store: str = ""

    def problems(self, task: int) -> list[str]:
        """The problems of the worker that runs a task; where there are none it has written a file of its own."""
        host, found = os.uname().nodename, versions([name for name in self.versions if name != _PYTHON])
        problems = [
            f"{name} is {found[name]} on {host}, and {here} here"
            if found[name]
            else f"{name} is not installed on {host}"
            for name, here in self.versions.items()
            if not found[name] or _minor(found[name]) != _minor(here)
        ]
        folder = self._problem_of_folder(task)
        return [*problems, f"{self.place} {folder} on {host}"] if folder else problems

    @property
    def place(self) -> str:
        """The place through which driver and workers exchange files."""
        return self.store or self.folder

    def _problem_of_folder(self, task: int) -> str:
        if not self.store and not os.access(self.folder, os.W_OK | os.X_OK if self.name else os.R_OK):
            other = os.path.isdir(self.folder) and os.stat(self.folder).st_uid != os.geteuid()
            return f"cannot be {'written' if self.name else 'read'}{f' {OTHER_USER} {os.geteuid()}' if other else ''}"
        if not self.name:
            return "" if {*self.names} <= {*os.listdir(self.folder)} else "is another folder"
        try:
            if not self.holds(self.name):
                return "is another folder, or shows new files very late,"
            self.write(self.of_task(task))
        except (OSError, ValueError, ModuleNotFoundError) as problem:
            return f"cannot be used ({problem})"
        return ""

    def write(self, name: str) -> None:
        """Write a file of this probe."""
        store_at(self.place).put(name, self.nonce.encode())

    def of_task(self, task: int) -> str:
        """The name of the file that the worker of a task writes."""
        return f"{self.name}-{task}"

    def holds(self, name: str, seconds: float = LATE_SECONDS) -> bool:
        """Whether the folder has a file of this probe; it waits for it as long as a folder may show a file late."""
        try:
            return awaited(lambda: store_at(self.place).get(name), seconds) == self.nonce.encode()
        except FileNotFoundError:
            return False


_PYTHON = "Python"


def versions(modules: Sequence[str]) -> Mapping[str, str]:
    """The versions of Python and of modules; "" for one that is not installed.

    Example:
        >>> versions(["no_such_module"])["no_such_module"]
        ''
    """
    found = {_PYTHON: platform.python_version()}
    for name in modules:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return found


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
