"""Experiments on replayed streams that are changed and repeated: queries, policy, sizes; run; look; change; run again.

:class:`Replay` is one such experiment, :class:`ReplayPanel` its controls in a notebook. A replay is the same every
time, so two runs differ by what was changed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from html import escape
from io import StringIO
from typing import Any

import ipywidgets as widgets
import pandas as pd

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.experiments import runs
from workbench.experiments.digests import check_digests
from workbench.experiments.query_sets import QUERY_SETS
from workbench.experiments.report import Chart, draw
from workbench.experiments.reruns import in_duckdb
from workbench.experiments.studies.sharing import ALL
from workbench.experiments.workload import spread, workload
from workbench.options import Options

POLICIES: Mapping[str, Options] = {
    "shared": Options(),
    "unshared": Options(sharing=False),
    **{name: options for name, options in ALL.items() if name != "Restructuring"},
    "without inference": Options(transitivity=False),
    "without roll-ups": Options(vertical_expansion=False),
}
"""How queries are shared and evaluated: as a user has it, not at all, as the thesis's configurations do (T10.4)."""
CHECKED = 4
"""Queries of a run whose answers are compared with DuckDB's."""


@dataclass(frozen=True)
class Replayed:
    """The result of a replay.

    Attributes:
        replay: what was run.
        nodes, joins: of the network.
        size: its weighted size (T Table 10.7).
        rows: that all operators looked at, by batch.
        changed: rows of all answers that changed, by batch.
        seconds: of a processor, by batch; they are of this machine.
        checked: answers that were equal to DuckDB's.
    """

    replay: Replay
    nodes: int
    joins: int
    size: int
    rows: Sequence[int]
    changed: Sequence[int]
    seconds: Sequence[float]
    checked: int


@dataclass(frozen=True)
class Replay:
    """A query set over a replayed stream: FED, or MED for the sets whose names say so.

    Attributes:
        set: of the queries.
        queries: how many, from the first.
        policy: one of ``POLICIES``.
        history: rows that are there from the start.
        batch: rows of a batch.
        batches: how many are replayed.

    Example:
        >>> tried = Replay(queries=4, history=200, batch=50, batches=2).run()
        >>> tried.nodes > 4, len(tried.rows), tried.checked
        (True, 2, 4)
    """

    set: str = field(default="fed-manual", metadata={"among": QUERY_SETS})
    queries: int = field(default=24, metadata={"least": 1, "most": 200})
    policy: str = field(default="shared", metadata={"among": tuple(POLICIES)})
    history: int = field(default=5_000, metadata={"least": 100, "most": 300_000})
    batch: int = field(default=500, metadata={"least": 50, "most": 10_000})
    batches: int = field(default=6, metadata={"least": 1, "most": 30})

    def __str__(self) -> str:
        changed = {name: value for name, value in asdict(self).items() if name not in ("set", "policy", "batches")}
        return f"{self.set}, {self.policy}: " + ", ".join(f"{name} {value:,}" for name, value in changed.items())

    def run(self) -> Replayed:
        """Replay, without Spark where it is not needed, and compare some answers with DuckDB's.

        Raises:
            WorkbenchError: an answer is another, or there is no such set or policy.
        """
        try:
            return self._run(InProcess())
        except NeedsSparkError:
            return self._run(None)

    def _run(self, jobs: InProcess | None) -> Replayed:
        work = workload(self.set, batches=self.batches, history=self.history, batch=self.batch, queries=self.queries)
        sample = spread(work.queries, CHECKED)
        with runs.session_on(work, POLICIES[self.policy], jobs) as session:
            runs.register_queries(session, work)
            seconds, reports = [], []
            for _ in range(self.batches):
                before = time.process_time()
                reports += session.run(1)
                seconds.append(time.process_time() - before)
            digests = {query.name: runs.run_digest(session.query(query.name)) for query in sample}
            expected = in_duckdb(work, sample, session.streams[work.stream].position).digests
            kinds = [node.kind for node in session.network.nodes]
            return Replayed(
                self,
                len(kinds),
                kinds.count("join"),
                session.network.weighted_size(),
                [sum(operator.rows_in for operator in report.operators) for report in reports],
                [sum(report.changes.values()) for report in reports],
                seconds,
                check_digests(str(self), digests, expected),
            )


def side_by_side(tried: Sequence[Replayed]) -> pd.DataFrame:
    """Some replays side by side: what was run, the network, and what a batch looked at."""
    return pd.DataFrame(
        {
            **asdict(each.replay),
            "nodes": each.nodes,
            "joins": each.joins,
            "weighted size": each.size,
            "rows a batch": round(sum(each.rows) / len(each.rows)),
            "changed rows": sum(each.changed),
            "answers checked": each.checked,
        }
        for each in tried
    )


def replay_picture(tried: Sequence[Replayed], times: bool = False) -> str:
    """A drawing of replays as SVG: rows that operators looked at by batch, and the networks; with seconds if asked."""
    by_batch = {f"{n}: {each.replay.policy}": dict(enumerate(each.rows, 1)) for n, each in enumerate(tried, 1)}
    sizes = {name: each.size for name, each in zip(by_batch, tried, strict=True)}
    charts = [
        Chart("rows that operators looked at", "batch", "rows", by_batch, log_y=False),
        Chart("networks", "run", "weighted size", {"weighted size": sizes}, log_y=False),
    ]
    if times:
        taken = {name: dict(enumerate(each.seconds, 1)) for name, each in zip(by_batch, tried, strict=True)}
        charts.append(Chart("time", "batch", "seconds of a processor", taken, log_y=False))
    out = StringIO()
    draw(charts).savefig(out, format="svg")
    return out.getvalue()[out.getvalue().index("<svg") :]


class ReplayPanel(widgets.VBox):
    """The controls of a replay: change one, run, and see it beside the runs before.

    Attributes:
        tried: the runs so far.
    """

    def __init__(self, replay: Replay | None = None) -> None:
        replay = replay or Replay()
        self.tried: list[Replayed] = []
        self.controls: dict[str, Any] = {
            each.name: _control(each, getattr(replay, each.name)) for each in fields(Replay)
        }
        self._go = widgets.Button(description="Run", button_style="primary")
        self._clear = widgets.Button(description="Clear")
        self._says, self._shown = widgets.Label(), widgets.HTML()
        self._go.on_click(lambda _: self.run())
        self._clear.on_click(lambda _: self.clear())
        super().__init__([*self.controls.values(), widgets.HBox([self._go, self._clear, self._says]), self._shown])

    def __repr__(self) -> str:
        return f"{self.replay}; with a kernel, buttons change and run it"

    @property
    def replay(self) -> Replay:
        """The replay with the settings of the controls."""
        return replace(Replay(), **{name: control.value for name, control in self.controls.items()})

    def run(self) -> Replayed:
        """Run a replay with the settings of the controls, and draw it with the earlier ones."""
        self._go.disabled, self._says.value = True, f"{self.replay} …"
        try:
            self.tried.append(self.replay.run())
            self._says.value = f"{self.tried[-1].checked} answers are equal to DuckDB's"
            table = side_by_side(self.tried).to_html(border=0)
            self._shown.value = table + replay_picture(self.tried, times=True)
        except Exception as problem:
            self._says.value = escape(str(problem))
            raise
        finally:
            self._go.disabled = False
        return self.tried[-1]

    def clear(self) -> None:
        """Forget the runs."""
        self.tried.clear()
        self._says.value = self._shown.value = ""


def _control(of: Any, value: object) -> Any:
    """The widget of one field of a replay."""
    if "among" in of.metadata:
        return widgets.Dropdown(options=of.metadata["among"], value=value, description=of.name)
    least, most = of.metadata["least"], of.metadata["most"]
    return widgets.BoundedIntText(value=value, min=least, max=most, description=of.name)
