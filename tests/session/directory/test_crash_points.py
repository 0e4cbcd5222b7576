"""A crash at every point of a change: the folder as it is at that moment opens as the last commit left it.

What a killed process leaves is its folder. So the folder is copied at each point where something is written or
committed, as it would be found there, and each copy must open and answer right. (``test_kill`` really kills.)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from long import some
from oracle.test_reoptimizing import CHAINS, replanned
from pyspark.sql import SparkSession
from session.directory.conftest import Follow, copied
from session.directory.survival import stray_files, what_survives

from workbench import Session
from workbench.catalog.database import Database
from workbench.engine import engine as engine_module
from workbench.engine.storage.file_collection import FileCollector
from workbench.engine.storage.segments import Segment
from workbench.session.directory.stored_session import StoredSession


class Crashes:
    """Copies of a session's folder, made before and after certain calls."""

    def __init__(self, session: Session, copies: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.copies, self.patch = session.path, copies, patch
        self.points: list[tuple[str, Path]] = []

    def at(self, owner: Any, name: str, when: Callable[..., bool] = lambda *a, **k: True) -> None:
        """Crash just before and just after a function is called."""
        original = getattr(owner, name)

        def watched(*arguments: Any, **named: Any) -> Any:
            chosen = when(*arguments, **named)
            if chosen:
                self._copy(f"before {name}")
            result = original(*arguments, **named)
            if chosen:
                self._copy(f"after {name}")
            return result

        self.patch.setattr(owner, name, watched)

    def _copy(self, point: str) -> None:
        self.points.append((point, copied(self.folder, self.copies / str(len(self.points)))))


def run(session: Session) -> None:
    session.run(1)


def register(session: Session) -> None:
    session.register_many({"late": "SELECT g, MAX(k) AS m FROM t GROUP BY g", "join_self": "SELECT id FROM u"})


def drop(session: Session) -> None:
    session.drop("by_group")


def add(session: Session) -> None:
    session.add_stream("v", session.query("except_all").result(), history=1, batch=1)


def replan(session: Session) -> None:
    assert "chain" in replanned(session).moved


@pytest.mark.timeout(600)
@pytest.mark.parametrize("change", [run, register, drop, add, *some([replan], always=0)])
def test_a_crash_anywhere(
    spark: SparkSession,
    folder: Path,
    following: Follow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Session], None],
) -> None:
    with Session.open(folder, spark) as session:
        if change is replan:  # the chain comes before what could be its beginning, and nothing else is joined
            for name in [*session.queries]:
                session.drop(name)
            for name in ("chain", "pair"):
                session.register(CHAINS[name].sql, name)
        states = [survivors(session)]
        with monkeypatch.context() as patch:
            crashes = Crashes(session, tmp_path / "crashes", patch)
            crashes.at(StoredSession, "write")
            crashes.at(engine_module, "force_to_disk")
            crashes.at(FileCollector, "collect")
            crashes.at(engine_module, "log_rows")
            crashes.at(Database, "run", lambda database, sql, *values: sql == "RELEASE level_0")
            change(session)
        states.append(survivors(session))
    assert states[0] != states[1] and len(crashes.points) > 4
    found = []
    for point, crashed in crashes.points:
        with Session.open(crashed, spark) as opened:
            assert opened.read_only is None, point
            assert stray_files(opened) == set(), point
            logs = {s.log.folder.name for s in opened.streams.values()}
            assert {log.name for log in (crashed / "streams").iterdir()} == logs, point
            survived = survivors(opened)
            assert survived in states, f"{point}: neither the state before nor the one after"
            found.append(states.index(survived))
    assert found == sorted(found) and set(found) == {0, 1}
    if change is run:  # one that crashed at the last moment before the commit, and the first after it
        for at in (found.index(1) - 1, found.index(1)):
            oracle = following(Session.open(crashes.points[at][1], spark))
            oracle.check_results()
            oracle.run(1, check=["by_group"])


def survivors(session: Session) -> object:
    """What survives, with files as they are seen from the session's folder."""

    def seen(value: object) -> object:
        match value:
            case dict():
                return {key: seen(part) for key, part in value.items()}
            case list() | tuple():
                return [seen(part) for part in value]
            case Segment():
                return (value.path.replace(str(session.path), ""), value.rows)
            case _:
                return value

    return seen(what_survives(session))
