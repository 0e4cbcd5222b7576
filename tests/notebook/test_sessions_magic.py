"""``%argus save`` and ``%argus open``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_session import FakeSession

from workbench.errors import SessionError
from workbench.notebook.arguments import MagicError
from workbench.notebook.commands.sessions import close, described, open_session, save
from workbench.notebook.desk import Desk


@dataclass
class Kept(FakeSession):
    """A session in a folder."""

    path: Path = Path("/nowhere")
    read_only: str | None = None
    closed: bool = False
    temporary: bool = True
    batch: int = 0

    def save(self, path: str) -> Path:
        if path == "taken":
            raise SessionError("there is already a session in taken")
        return Path("/saved") / path

    def close(self) -> None:
        self.closed = True


@dataclass
class Arguments:
    path: str
    leave: bool = False
    trust: bool = False


def desk_of(*sessions: Kept) -> tuple[Desk, list[Kept]]:
    """A desk on the first session; the others are found in folders of their own."""
    first, *others = sessions
    found = {str(session.path): session for session in others}
    return Desk({}, lambda: first, lambda path: found[str(Path(path).resolve())]), list(sessions)  # type: ignore


def shown(capsys: pytest.CaptureFixture[str], command: Any, desk: Desk, path: str) -> str:
    command(desk, Arguments(path))
    return capsys.readouterr().out


def test_saving_says_where_and_how_to_go_on(capsys):
    session = Kept(batch=3)
    session.add_table("zips", None).table = True
    session.add_stream("F", None, 1, 1, None).table = False
    desk, _ = desk_of(session)
    told = shown(capsys, save, desk, "fraud")
    assert told == "saved to fraud: after batch 3, 1 stream, 1 table\n%argus open fraud goes on from there\n"
    with pytest.raises(SessionError):
        save(desk, Arguments("taken"))


def test_opening_says_what_is_there_and_what_does_not_run(capsys, tmp_path):
    kept = Kept(path=tmp_path, read_only="it is open elsewhere, process 7 on here", batch=12)
    for name in ("big", "bad"):
        kept.register(f"{name.replace('bad', 'huge')}", name, "spark")
    kept.query("bad").status = "function f raised ValueError: 3"
    desk, sessions = desk_of(Kept(), kept)
    assert desk.session is sessions[0]
    told = shown(capsys, open_session, desk, str(tmp_path)).splitlines()
    assert told[0] == f"{tmp_path}: after batch 12, 2 queries"
    assert told[1:] == [
        "bad does not run: function f raised ValueError: 3",
        "read-only: it is open elsewhere, process 7 on here",
    ]
    assert desk.session is kept and not sessions[0].closed
    desk.close()
    assert all(session.closed for session in sessions)


def test_a_session_that_is_open_here_is_not_opened_again(capsys, tmp_path):
    kept = Kept(path=tmp_path)
    desk, _ = desk_of(kept, kept)
    assert desk.session is kept
    with pytest.raises(MagicError, match="open already"):
        open_session(desk, Arguments(str(tmp_path)))
    kept.closed = True
    open_session(desk, Arguments(str(tmp_path)))
    assert described(kept) in capsys.readouterr().out == f"{tmp_path}: before the first batch, nothing in it yet\n"


def test_a_session_that_is_not_saved_is_not_left_unless_that_is_said(capsys, tmp_path):
    session, kept = Kept(batch=5), Kept(path=tmp_path)
    desk, _ = desk_of(session, kept)
    session.add_stream("F", None, 1, 1, None)
    assert desk.session is session
    with pytest.raises(MagicError, match="is not saved as it is: after batch 5, 1 stream") as refused:
        open_session(desk, Arguments(str(tmp_path)))
    assert "--leave" in str(refused.value) and "%argus save" in str(refused.value)
    assert desk.session is session
    save(desk, Arguments("fraud"))
    session.register("huge", "new", "spark")
    with pytest.raises(MagicError, match="1 query"):
        open_session(desk, Arguments(str(tmp_path)))
    save(desk, Arguments("fraud2"))
    open_session(desk, Arguments(str(tmp_path)))
    assert desk.session is kept


def test_a_session_that_is_not_saved_can_be_left(capsys, tmp_path):
    session, kept = Kept(batch=5), Kept(path=tmp_path)
    desk, _ = desk_of(session, kept)
    session.register("huge", "new", "spark")
    assert desk.session is session
    open_session(desk, Arguments(str(tmp_path), leave=True))
    assert desk.session is kept


def test_a_session_in_a_folder_is_left_as_it_is(capsys, tmp_path):
    session, kept = Kept(temporary=False), Kept(path=tmp_path)
    desk, _ = desk_of(session, kept)
    session.register("huge", "new", "spark")
    assert desk.session is session
    open_session(desk, Arguments(str(tmp_path)))
    assert desk.session is kept


def test_saving_where_a_session_is_says_what_to_do(capsys, tmp_path):
    session = Kept(path=tmp_path / "mine", temporary=False)
    desk, _ = desk_of(session)
    assert "every batch and query is kept there at once" in shown(capsys, save, desk, str(tmp_path / "mine"))
    (tmp_path / "catalog.sqlite").touch()
    with pytest.raises(MagicError, match="nothing is written over") as refused:
        save(desk, Arguments(str(tmp_path)))
    assert "%argus open" in str(refused.value)


def test_closing_lets_others_go_on_and_loses_nothing(capsys):
    session = Kept(batch=5)
    desk, _ = desk_of(session)
    close(desk, Arguments(""))
    assert "no session to close" in capsys.readouterr().out
    session.register("huge", "new", "spark")
    assert desk.session is session
    with pytest.raises(MagicError, match="is not saved"):
        close(desk, Arguments(""))
    assert not session.closed
    close(desk, Arguments("", leave=True))
    assert session.closed and desk.current is None
