"""A copy of a session in another folder, to be opened there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.errors import SessionError
from workbench.files.commits import database_bytes
from workbench.files.shared import all_stored, files_below, present, write_small
from workbench.files.writing import copy_file, ensure_file, force_to_disk, make_folder, write_file
from workbench.session.directory.directory import CATALOG, READERS, SINKS, SessionDirectory
from workbench.session.directory.identity import IDENTITY, new_identity
from workbench.session.state import State
from workbench.streams.tail import TAIL


def save_session(
    directory: SessionDirectory, catalog: Catalog, state: State, path: str | Path, sinks: Mapping[str, bytes]
) -> Path | str:
    """Copy a session as it was committed last; the folder or address it was copied to.

    Files of rows are never changed, so on the same disk a copy costs no room: they get a second name. The copy is a
    session of its own, so it has another identity. Where it fails, what was copied goes.

    Args:
        directory, catalog: of the session.
        state: what was committed last.
        path: where the copy goes.
        sinks: the files of the sinks that it has.

    Raises:
        SessionError: there is a session in the folder, or it cannot be written to.
    """
    into = SessionDirectory.new(path, directory.group)
    copies: list[str] = []
    try:
        logs = [stream.log.folder for stream in state.streams.values()]
        files = [*state.engine.files, *(file for folder in logs for file in files_below(folder))]
        for file in files:
            if Path(file).name.startswith(f"{TAIL}-"):  # what SQLite has beside it
                continue
            copies.append(_copied(file, directory.path, into.path))
        for name, place in sinks.items():
            make_folder(into.path / SINKS)
            write_small(into.path / SINKS / name, place)
            copies += [str(into.path / SINKS / name)] if into.journal is None else []
        ensure_file(into.path / READERS)
        if into.journal is not None:
            all_stored(copy for copy in copies if Path(copy).name != TAIL)
        else:
            force_to_disk(copies)
        # A folder with a catalog is complete.
        part = into.path / f"{CATALOG}.part"
        part.unlink(missing_ok=True)
        identity = new_identity()
        catalog.copy_to(part)
        with Catalog(part) as copy, copy.transaction():
            copy.settings.put("session", identity)
        force_to_disk([str(part)])
        into.write_identity(identity, catalog.commits)
        os.replace(part, into.path / CATALOG)
        force_to_disk([str(into.path / CATALOG)])
        if into.journal is not None:
            names = [CATALOG, *(str(Path(copy).relative_to(into.path)) for copy in copies if Path(copy).name == TAIL)]
            into.journal.write_databases(names)
    except BaseException as problem:
        for copied in (*copies, str(into.path / IDENTITY)):
            Path(copied).unlink(missing_ok=True)
        if into.journal is not None:
            into.journal.discard()
        if not isinstance(problem, OSError):
            raise
        reason = problem.strerror or str(problem)
        raise SessionError(
            f"the session cannot be saved to {into.place}: {reason}", hint="give another folder"
        ) from problem
    finally:
        into.close()
    return into.address or into.path


def _copied(file: str, directory: Path, into: Path) -> str:
    """The copy of one file."""
    copy = into / Path(file).relative_to(directory)
    make_folder(copy.parent)
    copy.unlink(missing_ok=True)
    if copy.name == TAIL:  # it goes on to change
        write_file(copy, database_bytes(Path(file)))
        return str(copy)
    try:
        os.link(present(file), copy)
    except OSError:  # another disk, or one without second names
        copy_file(present(file), copy)
    return str(copy)
