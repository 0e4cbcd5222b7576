"""A crash at every point of a change: the folder as it is at that moment opens as the last commit left it.

What a killed process leaves is its folder. So the folder is copied at each point where something is written or
committed, as it would be found there, and each copy must open and answer right. (``test_kill`` really kills.)
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle.bags import frame_rows
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from recovery.survival import stray_files, what_survives

from workbench import Session
from workbench.catalog.database import Database
from workbench.engine import engine as engine_module
from workbench.engine.discarded import Discarded
from workbench.engine.engine import Engine
from workbench.recovery import store as store_module

CASES = ["join_self", "aggregate_of_aggregates", "set_except_all"]


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
        into = self.copies / str(len(self.points))
        shutil.copytree(self.folder, into, copy_function=_link)
        self.points.append((point, into))


def _link(source: str, target: str) -> None:
    # Segments are never changed; all else is.
    if source.endswith((".arrow", ".parquet")):
        Path(target).hardlink_to(source)
    else:
        shutil.copyfile(source, target)


@pytest.mark.parametrize("change", ["batch", "registration", "drop", "stream"])
def test_a_crash_anywhere(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    feeds = {
        "t": Feed(stream(120, seed=41), history=30, batch=16),
        "u": Feed(stream(80, seed=42), history=10, batch=12),
        "names": Feed(names(43), static=True),
    }
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        oracle.register({name: ALL[name] for name in CASES}, check=False)
        oracle.run(1, check=False)
        session, states = oracle.session, []
        states.append((what_survives(session), answers(session)))
        with monkeypatch.context() as patch:
            crashes = Crashes(session, tmp_path / "crashes", patch)
            crashes.at(store_module, "write_commit")
            crashes.at(engine_module, "force_to_disk")
            crashes.at(Discarded, "add")
            crashes.at(Engine, "_write")
            crashes.at(Database, "run", lambda database, sql, *values: sql == "RELEASE level_0")
            if change == "batch":
                session.run(1)
            elif change == "registration":
                session.register_many({"late": ALL["aggregate_extremes"].sql, "join_self": ALL["selection_or"].sql})
            elif change == "drop":
                session.drop("aggregate_of_aggregates")
            else:
                session.add_stream("v", stream(30, seed=44), history=10, batch=5)
        states.append((what_survives(session), answers(session)))
        assert len(crashes.points) > 4
        found = []
        for point, folder in crashes.points:
            with Session.open(folder, spark) as opened:
                survived, answered = what_survives(opened), answers(opened)
                assert stray_files(opened) == set()
                logs = {s.replay.log.folder.name for s in opened.streams.values()}
                assert {log.name for log in (folder / "streams").iterdir()} == logs
            which = [i for i, (state, _) in enumerate(states) if without_paths(state) == without_paths(survived)]
            assert which, f"{point}: neither the state before nor the one after"
            assert answered == states[which[0]][1], point
            found.append((point, which[0]))
        assert {which for _, which in found} == {0, 1}
        assert found[-1][1] == 1 and [which for _, which in found] == sorted(which for _, which in found)


def answers(session: Session) -> dict[str, list[Any]]:
    """What every query answers, in some order."""
    return {name: sorted(map(repr, frame_rows(q.result()))) for name, q in session.queries.items()}


def without_paths(state: dict[str, object]) -> dict[str, object]:
    """A state without the names of files, whose folders differ."""
    return {part: told for part, told in state.items() if part not in ("rows", "state", "log", "arrived")}
