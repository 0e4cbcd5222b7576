"""Views over payments, one selection and one join in our engine and in its peers: one table, all answers the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.live import LiveOutcome, Peer, Script
from benchmarks.query_sets.views import STREAM, join, selection, views
from benchmarks.sample_streams.payments import payments
from workbench.errors import WorkbenchError, nearest
from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.report import Chart, text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, Workload

_HISTORY = 20_000
_NUMBERS = (1, 10, 100, 768)
CYCLE_MS = 50
"""The shorter of Deephaven's cycles: its own is made for people who look at tables."""
_DUCKDB = "DuckDB"


def _workbench(work: Workload, installed: Path) -> LiveOutcome:
    batches = (work.table.num_rows - work.history) // work.batch - runs.WARM_UP
    names = {query.name for query in work.queries}
    run = runs.run_batches(work, [len(work.queries)], batches, checked=names, progress=runs.silent)
    return LiveOutcome(run.last.register_seconds, run.last.batch_seconds, run.peak_gib, run.digests)


def _duckdb(work: Workload, installed: Path) -> LiveOutcome:
    again = [reruns.in_duckdb(work, work.queries, work.table.num_rows) for _ in range(3)]
    return LiveOutcome(None, tuple(sum(each.seconds.values()) for each in again), None, again[0].digests)


_DEEPHAVEN = ("deephaven-server==42.7",)
_QUICK = Script("deephaven", _DEEPHAVEN, "deephaven_server", "deephaven_job.py", {"ARGUS_CYCLE": str(CYCLE_MS)})
PEERS = (
    Peer("workbench", "kept up", _workbench),
    Peer(_DUCKDB, "queries run again", _duckdb),
    Peer("chDB", "queries run again", Script("chdb", ("chdb==4.4.0", "pyarrow"), "chdb", "chdb_job.py")),
    Peer(
        "Deephaven", "kept up, cycle of 1 s", Script("deephaven", _DEEPHAVEN, "deephaven_server", "deephaven_job.py")
    ),
    Peer("Deephaven, quick", f"kept up, cycle of {CYCLE_MS} ms", _QUICK),
    Peer("Pathway", "kept up", Script("pathway", ("pathway==0.33.0", "pyarrow"), "pathway", "pathway_job.py")),
    Peer(
        "Flink", "kept up, one job without batches",
        Script("flink", ("apache-flink>=2.3,<2.4",), "pyflink", "flink_job.py", {"JVM_ARGS": "-Xmx12g"}),
    ),
)  # fmt: skip
"""In the order of the table; DuckDB's answers are what the others' are compared with."""


def workload(number: int, history: int, batch: int, batches: int) -> Workload:
    """A number of views, a selection and a join, over payments in whole cents: not every peer has decimals."""
    rows = payments(history + batches * batch)
    return Workload("peers", STREAM, rows, history, batch, (*views(number), selection(), join()))


@dataclass(frozen=True)
class Peers(Study):
    """Views, a selection and a join in all systems."""

    name = "peers"
    summary = "views, a selection and a join beside Deephaven, Pathway, chDB, Flink and DuckDB"

    peers: tuple[str, ...] = option(
        (), f"of {', '.join(peer.name for peer in PEERS)}; all unless given", positional=True
    )
    views: tuple[int, ...] = option(_NUMBERS, "numbers of views")
    history: int = option(_HISTORY, "rows of history")
    batch: int = option(BATCH_ROWS, "rows of a batch")
    batches: int = option(10, "batches that are measured")
    folder: str = option("build", "where peers are, or are installed by pip")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        peers = [_find(name) for name in self.peers] or list(PEERS)
        outcomes: dict[str, dict[int, LiveOutcome]] = {peer.name: {} for peer in peers}
        left_out: dict[str, str] = {}
        checked = 0
        for number in sorted(set(self.views)):
            work = workload(number, self.history, self.batch, runs.WARM_UP + self.batches)
            expected = reruns.in_duckdb(work, work.queries, work.table.num_rows).digests
            for peer in peers:
                if peer.name in left_out:
                    continue
                progress(f"{peer.name}: {number} views")
                try:
                    outcome = peer.measure(work, Path(self.folder))
                    checked += _compared(peer, outcome, expected)
                except WorkbenchError as problem:
                    if peer is PEERS[0]:
                        raise
                    left_out[peer.name] = f"{number} views: {problem}"
                    continue
                outcomes[peer.name][number] = outcome
                progress(f"{peer.name}: {outcome.seconds:.3f} s a batch")
        return _text(self, peers, outcomes, left_out, checked), _figures(outcomes, left_out), _charts(outcomes)


def _compared(peer: Peer, outcome: LiveOutcome, expected: Mapping[str, Digest]) -> int:
    """Compare all answers; gives how many.

    Raises:
        WorkbenchError: one is missing, or is another than DuckDB's.
    """
    missing = expected.keys() - outcome.digests.keys()
    if missing:
        raise WorkbenchError(f"{peer.name} has no answer of {min(missing)}")
    return check_digests(peer.name, outcome.digests, expected)


def _text(
    chosen: Peers,
    peers: list[Peer],
    outcomes: Mapping[str, Mapping[int, LiveOutcome]],
    left_out: Mapping[str, str],
    checked: int,
) -> str:
    numbers = sorted(set(chosen.views))
    rows: list[list[object]] = []
    for peer in peers:
        own = outcomes[peer.name]
        last = own[max(own)] if own else None
        seconds = [own[n].seconds if n in own else None for n in numbers]
        rows.append([peer.name, peer.way, *seconds, last and last.begin_seconds, last and last.peak_gib])
    columns = ["seconds a batch", "", *(f"{n} views" for n in numbers), "s to begin", "peak GiB"]
    title = (
        f"views, a selection and a join over {chosen.history:,} payments, batches of {chosen.batch:,}; "
        f"{checked} answers compared with DuckDB's"
    )
    skipped = [f"{name} is left out from {reason}" for name, reason in left_out.items()]
    return "\n".join([title, text_table(columns, rows), "to begin, and memory: with most views", *skipped])


def _figures(outcomes: Mapping[str, Mapping[int, LiveOutcome]], left_out: Mapping[str, str]) -> dict[str, object]:
    measured = {
        name: {
            n: {"begin": each.begin_seconds, "batches": each.batch_seconds, "peak_gib": each.peak_gib}
            for n, each in own.items()
        }
        for name, own in outcomes.items()
    }
    return {"peers": measured, "left_out": dict(left_out)}


def _charts(outcomes: Mapping[str, Mapping[int, LiveOutcome]]) -> list[Chart]:
    series = {name: {n: each.seconds for n, each in own.items()} for name, own in outcomes.items() if own}
    return [Chart("views and a join", "views", "seconds a batch", series, log_x=True)] if series else []


def _find(name: str) -> Peer:
    """The peer of this name.

    Raises:
        WorkbenchError: there is none.
    """
    names = {peer.name: peer for peer in PEERS}
    if name not in names:
        raise WorkbenchError(f"there is no peer {name}", hint=nearest(name, names) or f"peers: {', '.join(names)}")
    return names[name]
