"""Peers in environments of their own, with our Python as theirs: what they are given, and what becomes of faults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.environment import Environment
from benchmarks.peers import live, task
from benchmarks.peers.live import LiveOutcome, Peer, Script
from benchmarks.studies import peers
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.digests import check_digests
from workbench.experiments.reruns import in_duckdb
from workbench.experiments.workload import Workload

AGAIN = f"""
import sys
sys.path.insert(0, {str(Path(task.__file__).parent)!r})
import duckdb, pyarrow as pa
from task import read
task = read(sys.argv[-1])
parts = list(task.parts())
assert [part.num_rows for part in parts] == [100, 20, 20]
assert {{query["variant"] for query in task.queries}} == {{"view", "selection", "join"}}
payments = pa.concat_tables(parts)
for query in task.queries:
    task.answer(query["name"], duckdb.sql(query["sql"]).to_arrow_table())
task.took([0.5, 0.25, 0.125])
"""


def fake(folder: Path, program: str) -> Script:
    """A peer whose Python does something else than it is asked to, unless it is asked what it can import."""
    python = folder / "fake" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (folder / "program.py").write_text(f"import sys\nif '-c' in sys.argv: sys.exit(0)\n{program}")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {folder / "program.py"} "$@"\n')
    python.chmod(0o755)
    return Script("fake", ("fake-package",), "fake", "chdb_job.py")


def work() -> Workload:
    return peers.workload(3, history=100, batch=20, batches=2)


def test_answers_and_times_of_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    outcome = fake(tmp_path, AGAIN)(work(), tmp_path)
    assert check_digests("fake", outcome.digests, in_duckdb(work(), work().queries, 140).digests) == 5
    assert (outcome.begin_seconds, outcome.batch_seconds, outcome.seconds) == (0.5, (0.125,), 0.125)


def test_what_a_script_says_is_said(tmp_path: Path) -> None:
    script = fake(tmp_path, "raise ValueError('no such column')")
    with pytest.raises(WorkbenchError, match="it failed: ValueError: no such column"):
        script(work(), tmp_path)


def test_one_that_cannot_be_installed_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()

    def broken(work: Workload, folder: Path) -> LiveOutcome:
        Environment(no_folder / "none", ("package",), "none").install()
        raise AssertionError

    def wrong(work: Workload, folder: Path) -> LiveOutcome:
        return LiveOutcome(1.0, (1.0,), None, {query.name: (0, 0) for query in work.queries})

    known = (*peers.PEERS[:2], Peer("broken", "", broken), Peer("wrong", "", wrong))
    monkeypatch.setattr(peers, "PEERS", known)
    study = peers.Peers(("DuckDB", "broken", "wrong"), views=(1, 2), history=100, batch=20, batches=1)
    text = study.report(runs.silent).text
    assert "broken is left out from 1 views: package cannot be installed: " in text
    assert "wrong is left out from 1 views: wrong: 2 answers differ from DuckDB's" in text


def test_the_scripts_are_there() -> None:
    scripts = {peer.measure.script for peer in peers.PEERS if isinstance(peer.measure, Script)}
    assert scripts == {path.name for path in Path(live.__file__).parent.glob("*_job.py")}
