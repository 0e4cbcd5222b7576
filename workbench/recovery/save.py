"""A copy of a session in another folder, to be opened there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.engine.durable import force_to_disk
from workbench.errors import SessionError
from workbench.recovery.home import CATALOG, READERS, Home
from workbench.state import State


def save(home: Home, catalog: Catalog, state: State, path: str | Path) -> Path:
    """Copy a session as it was committed last; the folder it was copied to.

    Files of rows are never changed, so on the same disk a copy costs no room: they get a second name.

    Raises:
        SessionError: there is a session in the folder, or it cannot be written to.
    """
    into = Home.new(path)
    try:
        logs = [stream.replay.log.folder for stream in state.streams.values()]
        files = [*state.held.files, *(str(file) for folder in logs for file in folder.iterdir())]
        copies = list(_copied(files, home.path, into.path))
        (into.path / READERS).touch()
        force_to_disk(copies)
        # A folder with a catalog is complete.
        part = into.path / f"{CATALOG}.part"
        part.unlink(missing_ok=True)
        catalog.copy_to(part)
        force_to_disk([str(part)])
        os.replace(part, into.path / CATALOG)
        force_to_disk([str(into.path / CATALOG)])
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise SessionError(
            f"the session cannot be saved to {into.path}: {reason}", hint="give another folder"
        ) from problem
    finally:
        into.close()
    return into.path


def _copied(files: Iterable[str], home: Path, into: Path) -> Iterable[str]:
    for file in files:
        copy = into / Path(file).relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        try:
            os.link(file, copy)
        except OSError:  # another disk, or one without second names
            shutil.copyfile(file, copy)
        yield str(copy)
