"""The cost matrix: what a batch costs, query by query, by everything that SQL offers.

Each query runs alone. Seconds of a processor are measured, since those of a clock say how busy a machine is. What is
measured is appended to a file, so a run that was stopped goes on where it was; ``docs/costs.md`` is written from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from statistics import median

import pyarrow as pa

from benchmarks.gate import matrix
from benchmarks.processes import DRIVER, JVM, PROCESS_KINDS, WORKERS, processor_seconds, session_processes, spark_jobs
from benchmarks.query_sets.kinds import KindOfQuery, kinds
from benchmarks.sample_streams import kinds as sample
from benchmarks.sample_streams.corrected import latest, updated
from workbench.engine.fetching import fetch_changes
from workbench.engine.spark.job_properties import NO_PROPERTIES
from workbench.engine.spark.jobs import Job, JobRunner, PlanJob
from workbench.experiments import runs
from workbench.experiments.digests import are_near, digest_of
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import text_table
from workbench.experiments.reruns import duckdb_answer, in_duckdb
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import Workload
from workbench.session.session import Session

RESULTS, PAGE = Path(str(resources.files("benchmarks.gate"))) / "costs.jsonl", Path("docs/costs.md")
_KEY = "id"
_NOISE = 0.01
"""Seconds between two measures that mean nothing: the JVM and workers are measured in hundredths."""
_LARGE = 20
"""Rows of a family of which some stand for all."""
_AGAIN = 2
"""Times that DuckDB runs a query: the first is slower."""
MOST_BESIDE, MOST_GROWN = 3.0, 1.3
"""How many times the median of its family a query may cost, and how many times as much over ten times the history."""


@dataclass(frozen=True)
class Measured:
    """One query at one size.

    Attributes:
        kind, family: the row of the matrix.
        history, batch: rows.
        corrected: the part of a batch that replaces earlier rows.
        driver, jvm, workers: seconds of a processor for a batch, by process.
        jobs, plans: of Spark, in a batch.
        duckdb: seconds in which DuckDB runs the query again; ``None`` where its SQL means another thing.
        equal: whether its answer is ours.
        changes: rows of the answer that come or go in a batch; ``None`` where they were not counted.
    """

    kind: str
    family: str
    history: int
    batch: int
    corrected: float
    driver: float
    jvm: float
    workers: float
    jobs: float
    plans: float
    duckdb: float | None
    equal: bool | None
    changes: float | None = None

    @property
    def moved(self) -> float:
        """Seconds for a row that arrives, or that comes to the answer or goes."""
        return self.seconds / (self.batch + (self.changes or 0))

    @property
    def seconds(self) -> float:
        """Of all processes."""
        return self.driver + self.jvm + self.workers

    @property
    def key(self) -> tuple[str, int, int, float]:
        """The place in the matrix."""
        return self.kind, self.history, self.batch, self.corrected


@dataclass(frozen=True)
class Cost(Study):
    """The matrix."""

    name = "cost"
    summary = "the cost of a batch by everything that SQL offers: processor time, jobs, plans, DuckDB again; resumes"
    needs = ("duckdb",)

    parts: tuple[str, ...] = option((), "families, or parts of the names of rows; all unless given", positional=True)
    history: tuple[int, ...] = option((100_000,), "rows of history, each size in turn")
    batch: tuple[int, ...] = option((5_000,), "rows of a batch, each size in turn")
    every: int = option(1, "of a large family, measure each row of this number, where a size takes long")
    corrected: tuple[float, ...] = option((0.0,), "parts of a batch that replace earlier rows", of=float)
    batches: int = option(5, "batches that are measured")
    results: str = option(str(RESULTS), "where results are kept")
    page: str = option(str(PAGE), "the page that is written of all results")

    def run(self, progress: StudyProgress) -> Findings:
        """Run what is missing, and write the page."""
        file, chosen = Path(self.results), self._chosen()
        done = {one.key for one in read(file)}
        for history in self.history:
            for batch in self.batch:
                for part in self.corrected:
                    for kind in chosen:
                        if (kind.name, history, batch, part) not in done:
                            one = measured(kind, history, batch, part, self.batches)
                            append(one, file)
                            progress(f"{one.family}: {one.kind}: {one.seconds:.3f} s of a processor")
        every = read(file)
        Path(self.page).write_text(page(every))
        return text_table(_COLUMNS, [_row(one) for one in every]), {"rows": [asdict(one) for one in every]}, ()

    def _chosen(self) -> list[KindOfQuery]:
        """What is asked for, family by family; of the large ones each ``every``-th row."""
        asked = [kind for kind in kinds() if self._asked(kind)]
        families = [
            [kind for kind in asked if kind.family == family] for family in dict.fromkeys(kind.family for kind in asked)
        ]
        return [kind for own in families for kind in own[:: self.every if len(own) > _LARGE else 1]]

    def _asked(self, kind: KindOfQuery) -> bool:
        return not self.parts or any(part in (kind.family, kind.name) or part in kind.name for part in self.parts)


def measured(kind: KindOfQuery, history: int, batch: int, corrected: float, batches: int) -> Measured:
    """Run one query alone, and DuckDB beside it."""
    number = history + (runs.WARM_UP + batches) * batch
    query = GeneratedQuery("q", kind.sql, kind.again or kind.sql, kind.family, {}, "spark")
    work = Workload("cost", "t", sample.rows(number), history, batch, (query,), "ts", sample.tables())
    arriving = updated(work, [corrected], _KEY) if corrected else work.table
    with Session() as session:
        if corrected:
            session.add_stream("t", arriving, history=history, batch=batch, time="ts", key=[_KEY], changes="upsert")
        else:
            session.add_stream("t", arriving, history=history, batch=batch, time="ts")
        for name, table in work.tables.items():
            session.add_table(name, table)
        answer = session.register(kind.sql, name="q")
        session.run(runs.WARM_UP)
        with _counted(session.parts.engine.runner.jobs) as plans:
            jobs, before = spark_jobs(), _used()
            session.run(batches)
            jobs, after = spark_jobs() - jobs, _used()
        with answer.answers() as kept:
            changes = fetch_changes(kept, runs.WARM_UP).num_rows / batches
        # A row that is replaced counts as two, so that some are left.
        while session.run(1):
            pass
        ours = runs.run_answer(answer)
    again, equal = _again(replace(work, table=latest(arriving, _KEY)), ours) if kind.again else (None, None)
    used = {each: (after[each] - before[each]) / batches for each in PROCESS_KINDS}
    return Measured(
        *(kind.name, kind.family, history, batch, corrected, used[DRIVER], used[JVM], used[WORKERS]),
        *(jobs / batches, len(plans) / batches, again, equal, changes),
    )


def read(file: Path) -> list[Measured]:
    """What has been measured; of one place in the matrix the latest."""
    lines = file.read_text().splitlines() if file.exists() else []
    return list({one.key: one for one in (Measured(**json.loads(line)) for line in lines)}.values())


def append(one: Measured, file: Path) -> None:
    """Keep what was measured."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(json.dumps(asdict(one)) + "\n")


def page(measures: Sequence[Measured]) -> str:
    """The page of the documentation: by family, with what falls off."""
    known, off = {(one.kind, one.history, one.batch, one.corrected): one for one in measures}, set(matrix.load())
    lines = [_HEAD.format(rows=len(kinds()), off=len(off), measured=len(known))]
    for family in dict.fromkeys(kind.family for kind in kinds()):
        own = [one for one in measures if one.family == family]
        if own:
            table = [_COLUMNS, ["---"] * len(_COLUMNS), *(_cells(_row(one)) for one in own)]
            lines += ["", f"## {family[0].upper()}{family[1:]}", "", *("| " + " | ".join(row) + " |" for row in table)]
    if found := costly(measures):
        lines += ["", "## Costly", "", *(f"- {kind}: {why}" for kind, why in found.items())]
    lines += ["", "## Off the fast path", ""]
    for family in dict.fromkeys(kind.family for kind in kinds()):
        if names := [kind.name for kind in kinds() if kind.family == family and kind.name in off]:
            lines.append(f"- {family}: {'; '.join(names)}")
    if not off:
        lines.append("None.")
    return "\n".join(lines) + "\n"


def costly(measures: Iterable[Measured]) -> dict[str, str]:
    """What costs more than three times the median of its family, or grows with the history, with how much.

    Both in seconds, and in seconds for a row that moves: an answer of which very many rows change costs them.

    Example:
        >>> few = [Measured(name, "f", 10, 5, 0.0, s, 0.0, 0.0, 1, 0, None, None) for name, s in zip("abc", (1, 1, 4))]
        >>> costly([*few, Measured("a", "f", 100, 5, 0.0, 2.0, 0.0, 0.0, 1, 0, None, None)])
        {'a': '2.0 times over 10 times the history', 'c': '4.0 times its family'}
        >>> costly([*(replace(one, changes=0) for one in few[:2]), replace(few[2], changes=15)])
        {}
    """
    every, found = list(measures), dict[str, str]()
    for one in every:
        family = [x for x in every if (x.family, *x.key[1:]) == (one.family, *one.key[1:])]
        beside = [one.seconds / median(x.seconds for x in family)]
        if one.changes is not None:
            beside.append(one.moved / median(x.moved for x in family if x.changes is not None))
        if min(beside) > MOST_BESIDE:
            found[one.kind] = f"{min(beside):.1f} times its family"
        for larger in every:
            if (larger.kind, *larger.key[2:]) == (one.kind, *one.key[2:]) and larger.history == 10 * one.history:
                counted = None not in (one.changes, larger.changes)
                grown = [
                    larger.seconds / max(one.seconds, 0.01),
                    larger.moved / one.moved if counted else MOST_GROWN * 9,
                ]
                if min(grown) > MOST_GROWN and larger.seconds - one.seconds > _NOISE:
                    found[one.kind] = f"{min(grown):.1f} times over 10 times the history"
    return found


_HEAD = """# What a batch costs

Each row is one query that runs alone over a stream of 13 columns. `python -m benchmarks cost` measures them, writes
this page, and goes on where it was stopped. Seconds are of a processor, not of a clock. A row is *off the fast path*
where Spark plans or evaluates something in each batch, or as the answer is read:
{off} of {rows}, found without Spark by
`benchmarks/gate/matrix.py`. A row *moves* when it arrives, or comes to the answer or goes; `changes` are the latter,
in a batch. `make bench-check` fails when one more is off, when one more of those measured here costs more than three
times the median of its family or 1.3 times as much over ten times the history, both in all and for a row that moves,
and when one of a few that it measures itself grows so. Measured so far: {measured}. A total that every row of an answer
shows changes every row when it moves: "share of a total" has 20 rows; over the stream each batch costs all rows."""
_COLUMNS = ["kind", "history", "batch", "corrected", "driver, s", "JVM, s", "workers, s", "all, s", "µs a row",
            "changes", "µs a row that moves", "jobs", "plans", "× DuckDB again", "answer"]  # fmt: skip


def _row(one: Measured) -> list[object]:
    compared = "not compared" if one.equal is None else "equal" if one.equal else "DIFFERS"
    beside = one.seconds / one.duckdb if one.duckdb else None
    processes = one.driver, one.jvm, one.workers, one.seconds, 1e6 * one.seconds / one.batch
    moved = None if one.changes is None else 1e6 * one.moved
    jobs = one.jobs, one.plans
    return [
        *(one.kind, one.history, one.batch, f"{one.corrected:.0%}", *map(float, processes)),
        *(one.changes, moved, *map(float, jobs), beside, compared),
    ]


def _cells(row: Sequence[object]) -> list[str]:
    return ["–" if cell is None else f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row]


def _again(work: Workload, ours: pa.Table) -> tuple[float, bool]:
    """Seconds of DuckDB for the query over the rows as they are now, and whether its answer is ours."""
    answers = [in_duckdb(work, work.queries, work.table.num_rows) for _ in range(_AGAIN)]
    equal = answers[0].digests.get("q") == digest_of(ours)
    return min(one.seconds["q"] for one in answers), equal or are_near(ours, duckdb_answer(work, work.queries[0]))


def _used() -> Mapping[str, float]:
    return {each: processor_seconds(processes) for each, processes in session_processes().items()}


@contextmanager
def _counted(runner: JobRunner) -> Iterator[list[Job]]:
    """Gathers the plans of Spark that run in the block."""
    plans: list[Job] = []
    run = runner.run

    def counting(jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        plans.extend(job for job in jobs if isinstance(job, PlanJob))
        return run(jobs, expected, sent)

    runner.run = counting  # type: ignore[method-assign]
    try:
        yield plans
    finally:
        runner.run = run  # type: ignore[method-assign]
