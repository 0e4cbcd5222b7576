"""A peer that lives in a Python environment of its own: it is installed on demand, and a script of ours runs there.

The script is given a folder with ``rows.parquet`` and ``task.json``: how many rows are history, rows of a batch, how
many batches, and the queries (``name``, ``variant``, ``threshold``, ``sql``). It takes the history and then batch after
batch, each when the answers over the one before are there. It writes ``answers/QUERY.parquet`` and ``took.json``:
``begin_seconds``, until the answers over the history were there, and ``batch_seconds``. Nothing of the workbench is
imported by it: that is not installed there.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from statistics import median

from pyarrow import parquet

from benchmarks.environment import Environment, last_words
from workbench.engine.spark.java import use_java
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.digests import Digest, answer_digest, connect
from workbench.experiments.measure import PeakMemory
from workbench.experiments.workload import Workload

SECONDS_AT_MOST = 600


@dataclass(frozen=True)
class LiveOutcome:
    """What a peer took.

    Attributes:
        begin_seconds: until the answers over the history were there, where that can be told.
        batch_seconds: of every batch that is measured.
        peak_gib: most memory of its processes, where it has some of its own.
        digests: of its answers at the end, by query.
    """

    begin_seconds: float | None
    batch_seconds: tuple[float, ...]
    peak_gib: float | None
    digests: Mapping[str, Digest]

    @property
    def seconds(self) -> float:
        """Median time of a batch."""
        return median(self.batch_seconds)


@dataclass(frozen=True)
class Peer:
    """A system that is compared with ours.

    Attributes:
        name: of the system.
        way: how it keeps answers, in a few words.
        measure: runs a workload over all of its rows, with the folder for what it installs; raises ``WorkbenchError``
            with the reason where it cannot.
    """

    name: str
    way: str
    measure: Callable[[Workload, Path], LiveOutcome]


@dataclass(frozen=True)
class Script:
    """How a peer in an environment of its own is measured; it can be called as ``Peer.measure``.

    Attributes:
        folder: of the environment, below that of all.
        packages: what pip installs.
        module: that the script imports.
        script: its file beside this one.
        settings: environment variables.
    """

    folder: str
    packages: tuple[str, ...]
    module: str
    script: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, work: Workload, installed: Path) -> LiveOutcome:
        """Install what is missing, run the script, and read what it wrote."""
        environment = Environment(installed / self.folder, self.packages, self.module)
        environment.install()
        with tempfile.TemporaryDirectory(prefix=f"argus-{self.folder}-") as name:
            folder = Path(name)
            _write(work, folder)
            peak = self._run(environment, folder)
            took = json.loads((folder / "took.json").read_text())
            digests = _digests(work, folder)
        seconds = took["batch_seconds"]
        measured = seconds[runs.WARM_UP :] or seconds  # who has no batches tells one time
        return LiveOutcome(took["begin_seconds"], tuple(measured), peak, digests)

    def _run(self, environment: Environment, folder: Path) -> float:
        """Run the script to its end; gives the most memory it had, in GiB."""
        use_java()
        script = resources.files("benchmarks.peers").joinpath(self.script)
        command = [str(environment.python), str(script), str(folder)]
        errors = folder / "errors.txt"
        with errors.open("w") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=folder, env=os.environ | dict(self.settings)
            )
            with PeakMemory(process=process.pid) as peak:
                try:
                    status = process.wait(SECONDS_AT_MOST)
                except subprocess.TimeoutExpired:
                    raise WorkbenchError(f"it had not ended after {SECONDS_AT_MOST} s") from None
                finally:
                    process.kill()
                    process.wait()
        if status or not (folder / "took.json").exists():
            raise WorkbenchError(f"it failed: {last_words(errors.read_text())}")
        return peak.bytes / 2**30


def _write(work: Workload, folder: Path) -> None:
    """The task as scripts read it."""
    parquet.write_table(work.table, folder / "rows.parquet")
    (folder / "answers").mkdir()
    queries = [
        {"name": query.name, "variant": query.variant, "sql": query.duckdb_sql, **query.parameters}
        for query in work.queries
    ]
    task = {"stream": work.stream, "history": work.history, "batch": work.batch, "queries": queries}
    (folder / "task.json").write_text(json.dumps(task))


def _digests(work: Workload, folder: Path) -> dict[str, Digest]:
    with connect() as database:
        return {
            query.name: answer_digest(database, f"read_parquet('{folder}/answers/{query.name}.parquet')")
            for query in work.queries
        }
