"""How a session begins at an address, as of an object store, or is opened there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import EnvironmentProblem, SessionError
from workbench.files.journal import Journal
from workbench.files.store import store_at


def journal_at(address: str, folder: Path, new: bool, reading: bool, take_over: bool) -> tuple[Journal, str]:
    """The journal of a session in a store, and its writer; "" when this process is the writer.

    Args:
        address: of the store.
        folder: of this machine, empty; it gets what the journal says.
        new: whether the session begins.
        reading: whether it is only to be read.
        take_over: whether to write to it also where another process does.

    Raises:
        SessionError: there is a session already, or none.
        EnvironmentProblem: the store cannot be used.
    """
    with _using_store(address):
        journal = Journal(store_at(address), folder)
        return journal, _holder(journal, address, new, reading, take_over)


def _holder(journal: Journal, address: str, new: bool, reading: bool, take_over: bool) -> str:
    taken = SessionError(
        f"there is already a session, or another file, in {address}",
        hint=f"Session.open({address!r}) goes on with a session; a new one needs another address",
    )
    if new:
        if not journal.is_new or journal.take_over() or journal.number > 1:
            raise taken
        return ""
    try:
        journal.restore()
    except FileNotFoundError as problem:
        if not journal.is_new:
            hint = (
                "it may show them some seconds late: open it again; or commits/ was removed, as by a rule of the bucket"
            )
            raise SessionError(f"{address} has files, and shows no commit of a session", hint=hint) from problem
        hint = f"%argus save, or Session(path={address!r}), makes one"
        raise SessionError(f"there is no session in {address}", hint=hint) from problem
    return journal.holder if reading else journal.take_over(take_over)


@contextmanager
def _using_store(address: str) -> Iterator[None]:
    """Within the context, a store is used for the first time.

    Raises:
        EnvironmentProblem: it cannot be.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        hint = "pip install 'argus-workbench[objectstore]', here and where Spark's workers run"
        raise EnvironmentProblem(f"{address} needs the package obstore", hint=hint) from problem
    except (OSError, ValueError) as problem:
        hint = "is the address right, as s3://bucket/argus, and may this machine read and write there?"
        raise EnvironmentProblem(f"{address} cannot be used: {problem}", hint=hint) from problem
