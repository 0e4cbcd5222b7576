"""Steps of a batch that own workers run beside this process, which runs the others of the same depth meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.engine.operators.filter_and_write import by_tree, delta_of
from workbench.engine.spark.jobs import JobRunner, StepJob
from workbench.engine.spark.own_worker_process import LaterWork
from workbench.engine.spark.own_workers import OWN_WORKERS, OwnWorker
from workbench.engine.storage.job_input import JobInput, inputs_of_job
from workbench.engine.storage.relation import Delta
from workbench.files.packs import PACKING
from workbench.files.shared import shared_text

T = TypeVar("T")

_UNKNOWN = 0.001
"""Seconds that a step is expected to take that never ran in a batch."""
_WORTH_MOVING = 0.003
"""Seconds by which a process must have more to do than another, so that a step goes to one that did not run it before:
what it reads is in the memory of the one that did."""


class OfferedSteps(NamedTuple):
    """Steps that own workers and this process run.

    Attributes:
        trees: by the number of the claim.
        token: of their job.
    """

    trees: Sequence[str]
    token: str

    def claimed(self) -> Iterator[str]:
        """The trees whose steps this process is to run, each when it asks for the next one."""
        return (self.trees[claim] for claim in OWN_WORKERS.claimed())


class StepsBeside:
    """Divides the steps of a session's batches between this process and own workers.

    Args:
        jobs: of the session; has its limits.
        folder: where rows are kept.
    """

    def __init__(self, jobs: JobRunner, folder: Path) -> None:
        self._jobs, self._folder = jobs, folder
        self.workers: list[OwnWorker] = []
        """Those that the batch has which is run."""
        self._places: dict[str, int] = {}
        """The process that ran the step of each tree: 0 is this one."""
        self._seconds = 0.0
        """What steps took that own workers could have run."""

    def forget(self, keep: Callable[[str], bool]) -> None:
        """Forget where trees ran whose name is not to be kept."""
        self._places = {tree: place for tree, place in self._places.items() if keep(tree)}

    def took(self, seconds: float) -> None:
        """Hear of a step that this process has run; own workers are started when that is worth it."""
        self._seconds += seconds
        if not self._has_store:
            OWN_WORKERS.start(self._seconds)

    @contextmanager
    def batch(self, later: Mapping[str, LaterWork]) -> Iterator[Callable[[], dict[str, Any]]]:
        """Have own workers for a batch, unless another one has them.

        Args:
            later: what they do when no step waits for them, by its name.

        Yields:
            Waits for the results, by name; what they have not done has none.
        """
        with self._borrowed() as self.workers:
            names = {worker: [*later][place :: len(self.workers)] for place, worker in enumerate(self.workers)}
            for worker, own in names.items():
                self._with(worker, partial(worker.begin, [later[name] for name in own]))

            def collected() -> dict[str, Any]:
                found = dict[str, Any]()
                for worker, own in names.items():
                    done = self._with(worker, worker.collect) if own and worker in self.workers else None
                    found |= {name: what for name, what in zip(own, done or (), strict=False) if what is not None}
                return found

            try:
                yield collected
            finally:
                self.workers = []

    def _borrowed(self) -> AbstractContextManager[list[OwnWorker]]:
        """The workers for a batch; none where they would have the folder through a store: the driver's rows are not
        there yet."""
        return nullcontext([]) if self._has_store else OWN_WORKERS.borrowed()

    @property
    def _has_store(self) -> bool:
        return bool(shared_text(self._folder, self._jobs.limits.bytes_fetched_from_store))

    def _with(self, worker: OwnWorker, ask: Callable[[], T]) -> T | None:
        """What a worker answers; ``None`` where it has ended: the batch does without it."""
        try:
            return ask()
        except (OSError, EOFError):
            self.workers = [other for other in self.workers if other is not worker]
            OWN_WORKERS.lose(worker)
            return None

    def ask(
        self, jobs: Mapping[str, StepJob], seconds: Mapping[str, float], inputs: Mapping[str, Mapping[str, JobInput]]
    ) -> OfferedSteps | None:
        """Let own workers begin with the steps of jobs, if they may; this process runs those that it claims meanwhile.

        Args:
            jobs: those that this process could run, by the names of the trees.
            seconds: that each tree took when it last ran.
            inputs: of the trees, by their roles.
        """
        expected = {tree: seconds.get(tree, _UNKNOWN) for tree in jobs}
        least = self._jobs.limits.milliseconds_stepped_alone / 1000
        if not self.workers or len(jobs) < 2 or sum(expected.values()) < least:
            return None
        trees = sorted(expected, key=lambda tree: -expected[tree])
        PACKING.show(str(self._folder))  # workers read the rows that wait for it
        most = self._jobs.limits.milliseconds_stepped_in_process / 1000
        text, token = inputs_of_job(own for tree in trees for own in inputs.get(tree, {}).values())
        OWN_WORKERS.offer(self._divided(trees, expected))
        for worker in self.workers:
            self._with(worker, partial(worker.ask, [jobs[tree] for tree in trees], text, most))
        return OfferedSteps(trees, token)

    def answers(self, asked: OfferedSteps, seconds: MutableMapping[str, float]) -> dict[str, Delta | None]:
        """Wait for the changes that own workers compute: ``None`` of what took too long, and nothing of what failed.

        Args:
            asked: what they were asked for.
            seconds: of the processor that the step of each tree took, which become known.
        """
        deltas: dict[str, Delta | None] = {}
        for worker in self.workers:
            for claim, answer in (self._with(worker, worker.answers) or {}).items():
                tree = asked.trees[claim]
                if not answer.failed:
                    seconds[tree] = answer.seconds
                    deltas[tree] = delta_of(by_tree([answer.text], asked.token)[tree], True) if answer.text else None
        return deltas

    def _divided(self, trees: Sequence[str], expected: Mapping[str, float]) -> dict[int, list[int]]:
        """For each process the numbers of trees: all take equally long, each tree where it was if that is no loss."""
        sums = dict.fromkeys([0, *(worker.place for worker in self.workers)], 0.0)
        divided = {place: list[int]() for place in sums}
        for claim, tree in enumerate(trees):
            least = min(sums, key=sums.__getitem__)
            place = self._places.get(tree, least)
            if place not in sums or sums[place] - sums[least] > _WORTH_MOVING:
                place = least
            self._places[tree] = place
            sums[place] += expected[tree]
            divided[place].append(claim)
        return divided
