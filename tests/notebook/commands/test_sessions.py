"""``%argus save`` and ``%argus open``."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fake_session import FakeSession

from workbench import Session
from workbench.errors import MagicError, SessionError
from workbench.notebook.commands.sessions import close, config, described, open_session, save
from workbench.notebook.context import NotebookContext


@dataclass
class Kept(FakeSession):
    """A session in a folder."""

    path: Path = Path("/nowhere")
    read_only: str | None = None
    closed: bool = False
    temporary: bool = True
    batch: int = 0

    @property
    def place(self) -> str:
        return str(self.path)

    def save(self, path: str) -> str:
        if path == "taken":
            raise SessionError("there is already a session in taken")
        return f"/saved/{path}"

    def close(self) -> None:
        self.closed = True


@dataclass
class Arguments:
    path: str
    leave: bool = False
    trust: bool = False
    take_over: bool = False


def context_of(*sessions: Kept) -> tuple[NotebookContext, list[Kept]]:
    """A context on the first session; the others are found in folders of their own."""
    first, *others = sessions
    found = {str(session.path): session for session in others}
    return NotebookContext({}, lambda: first, lambda path: found[str(Path(path).resolve())]), list(sessions)  # type: ignore


def shown(capsys: pytest.CaptureFixture[str], command: Any, context: NotebookContext, path: str) -> str:
    command.run(context, Arguments(path))
    return capsys.readouterr().out


def test_saving_says_where_and_how_to_go_on(capsys):
    session = Kept(batch=3)
    session.add_table("zips", None).table = True
    session.add_stream("F", None, 1, 1, None).table = False
    context, _ = context_of(session)
    told = shown(capsys, save, context, "fraud")
    assert told == "saved to fraud: after batch 3, 1 stream, 1 table\n%argus open fraud goes on from there\n"
    session.sinks = {"big": object(), "alert big": object()}
    told = shown(capsys, save, context, "fraud2")
    assert told.splitlines()[-2:] == [
        "the copy sends nothing; give it the sinks that it is to have: big",
        "opened in a notebook, it goes on to say below a cell: alert big",
    ]
    with pytest.raises(SessionError):
        save.run(context, Arguments("taken"))


def test_opening_says_what_is_there_and_what_does_not_run(capsys, tmp_path):
    kept = Kept(path=tmp_path, read_only="it is open elsewhere, process 7 on here", batch=12)
    for name in ("big", "bad"):
        kept.register(f"{name.replace('bad', 'huge')}", name, "spark")
    kept.query("bad").status = "function f raised ValueError: 3"
    context, sessions = context_of(Kept(), kept)
    assert context.session is sessions[0]
    told = shown(capsys, open_session, context, str(tmp_path)).splitlines()
    assert told[0] == f"{tmp_path}: after batch 12, 2 queries"
    assert told[1:] == [
        "bad does not run: function f raised ValueError: 3",
        "read-only: it is open elsewhere, process 7 on here",
    ]
    assert context.session is kept and not sessions[0].closed
    context.close()
    assert all(session.closed for session in sessions)


def test_a_session_that_is_open_here_is_not_opened_again(capsys, tmp_path):
    kept = Kept(path=tmp_path)
    context, _ = context_of(kept, kept)
    assert context.session is kept
    with pytest.raises(MagicError, match="open already"):
        open_session.run(context, Arguments(str(tmp_path)))
    kept.closed = True
    open_session.run(context, Arguments(str(tmp_path)))
    assert described(kept) in capsys.readouterr().out == f"{tmp_path}: before the first batch, nothing in it yet\n"


def test_a_session_that_is_not_saved_is_not_left_unless_that_is_said(capsys, tmp_path):
    session, kept = Kept(batch=5), Kept(path=tmp_path)
    context, _ = context_of(session, kept)
    session.add_stream("F", None, 1, 1, None)
    assert context.session is session
    with pytest.raises(MagicError, match="has not saved: after batch 5, 1 stream") as refused:
        open_session.run(context, Arguments(str(tmp_path)))
    assert "--leave" in str(refused.value) and "%argus save" in str(refused.value)
    assert context.session is session
    save.run(context, Arguments("fraud"))
    session.register("huge", "new", "spark")
    with pytest.raises(MagicError, match="1 query"):
        open_session.run(context, Arguments(str(tmp_path)))
    save.run(context, Arguments("fraud2"))
    session.streams["F"].rows += 1  # a program sent it, and was told that it is kept
    with pytest.raises(MagicError, match="has not saved"):
        open_session.run(context, Arguments(str(tmp_path)))
    save.run(context, Arguments("fraud3"))
    open_session.run(context, Arguments(str(tmp_path)))
    assert context.session is kept


def test_a_session_that_is_not_saved_can_be_left(capsys, tmp_path):
    session, kept = Kept(batch=5), Kept(path=tmp_path)
    context, _ = context_of(session, kept)
    session.register("huge", "new", "spark")
    assert context.session is session
    open_session.run(context, Arguments(str(tmp_path), leave=True))
    assert context.session is kept


def test_a_session_in_a_folder_is_left_as_it_is(capsys, tmp_path):
    session, kept = Kept(temporary=False), Kept(path=tmp_path)
    context, _ = context_of(session, kept)
    session.register("huge", "new", "spark")
    assert context.session is session
    open_session.run(context, Arguments(str(tmp_path)))
    assert context.session is kept


def test_saving_where_a_session_is_says_what_to_do(capsys, tmp_path):
    session = Kept(path=tmp_path / "mine", temporary=False)
    context, _ = context_of(session)
    assert "every batch and query is kept there at once" in shown(capsys, save, context, str(tmp_path / "mine"))
    (tmp_path / "catalog.sqlite").touch()
    with pytest.raises(MagicError, match="nothing is written over") as refused:
        save.run(context, Arguments(str(tmp_path)))
    assert "%argus open" in str(refused.value)


def test_closing_lets_others_go_on_and_loses_nothing(capsys):
    session = Kept(batch=5)
    context, _ = context_of(session)
    close.run(context, Arguments(""))
    assert "no session to close" in capsys.readouterr().out
    session.register("huge", "new", "spark")
    assert context.session is session
    with pytest.raises(MagicError, match="has not saved"):
        close.run(context, Arguments(""))
    assert not session.closed
    close.run(context, Arguments("", leave=True))
    assert session.closed and context.current is None


def test_the_zone_of_a_session_is_shown_and_set(capsys, in_process):
    with Session(in_process) as session:
        session.add_stream("t", pa.table({"id": [1]}), history=1)
        for place in range(7):
            session.register("SELECT id FROM t", f"q{place}")
        context = NotebookContext({}, lambda: session, lambda path: session)
        stay = "7 queries stay in UTC: q0, q1, q2, q3, q4 and 2 more"
        again = "cells that are run again answer in Asia/Kathmandu"
        for value, lines in (
            (None, ["timezone UTC"]),
            ("asia/kathmandu", ["timezone Asia/Kathmandu", stay, again]),
        ):
            config.run(context, Namespace(setting="timezone", value=value))
            assert capsys.readouterr().out.splitlines() == lines
