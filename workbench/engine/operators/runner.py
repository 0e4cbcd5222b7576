"""Running the plans of local trees on Spark: views, notes, and plans that are made once and run in every batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from workbench.engine.event_time import Clock
from workbench.engine.storage.relation import Delta
from workbench.engine.operators.filter_and_write import filter_and_write_plan, run_filter_and_write
from workbench.engine.operators.operator_input import ParentRows
from workbench.engine.spark.plan_cache import has_exchange
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.spark.plan_cache import Views
from workbench.engine.tree import Tree, TreePlan, passed_rows
from workbench.files.writing import make_folder
from workbench.network.nodes import Node


@dataclass(frozen=True)
class Work:
    """What one tree has to do in one batch.

    Attributes:
        node: the tree's root; of a family the first member's.
        plan: the tree's plan.
        inputs: the rows that the root reads; of a family those that any member reads.
        batch: its number.
        clock: what time it is after it.
        tree: the tree before the batch; ``None`` when it is being made, from all rows of its parents.
        told: when it is being made: the tree it replaces, if any.
    """

    node: Node
    plan: TreePlan
    inputs: tuple[ParentRows, ...]
    batch: int
    clock: Clock
    tree: Tree | None = None
    told: Tree | None = None

    @property
    def changed(self) -> int:
        """How many of the parents' rows changed."""
        return sum(rows.changed_rows for rows in self.inputs)

    @property
    def notes(self) -> tuple[InputRows, ...]:
        """The parents' rows as a note tells them."""
        return tuple(rows.input for rows in self.inputs)


class Runner:
    """Makes plans and runs them.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.views = Views(spark)
        self._folder = folder
        self._prepared: dict[str, tuple[object, DataFrame | None]] = {}
        """By its role the plan that runs in every batch, and what it depends on; ``None`` where it has an exchange."""

    def forget(self, keep: Callable[[str], bool] = lambda name: False) -> None:
        """Forget plans and views of the trees that are not to be kept."""
        self._prepared = {role: known for role, known in self._prepared.items() if keep(role.split("_")[0])}
        self.views.forget(keep=lambda role: keep(role.split("_")[0]))

    def folder(self, tree: str) -> Path:
        """Where a tree keeps its rows, by its name."""
        folder = self._folder / tree
        make_folder(folder)
        return folder

    def leave(self, tree: str) -> None:
        """Remove what a tree that has gone told its tasks, and its folder unless somebody still reads rows there."""
        folder = self._folder / tree
        for note in folder.glob("*.note"):
            note.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()

    def note(self, plan: TreePlan, role: str = "now") -> JobInput:
        """What tells the tasks of a tree's jobs what they work on."""
        return JobInput.of(self.folder(plan.name), role)

    def tell(self, plan: TreePlan, batch: int, inputs: Sequence[InputRows] = ()) -> JobInput:
        """Tell them."""
        note = self.note(plan)
        note.write(batch, inputs)
        return note

    def bind(self, plan: TreePlan, role: str, rows: DataFrame) -> str:
        """A view for a tree's next plan."""
        return self.views.bind(f"{plan.name}_{role}", rows)

    def prepared(self, plan: TreePlan, role: str, depends_on: object, make: Callable[[], DataFrame]) -> DataFrame:
        """A plan of a tree, made when it has to be: Spark plans it once, and it reads what is new from a note.

        A plan with an exchange is made every time, since Spark keeps what it has exchanged.
        """
        kept = self.in_one_task(plan, role, depends_on, make)
        return make() if kept is None else kept

    def in_one_task(
        self, plan: TreePlan, role: str, depends_on: object, make: Callable[[], DataFrame]
    ) -> DataFrame | None:
        """A plan of a tree, made when it has to be; ``None`` where it has an exchange."""
        key = f"{plan.name}_{role}"
        known = self._prepared.get(key)
        if known is None or known[0] != depends_on:
            made = make()
            known = self._prepared[key] = (depends_on, None if has_exchange(made) else made)
        return known[1]

    def filter_and_write_plan(self, rows: str, plan: TreePlan, tasks: int | None = None) -> DataFrame:
        """The plan that takes a root's rows through the tree's filter.

        Args:
            rows: SQL of the rows.
            plan: the tree's plan.
            tasks: how many tasks run it; as many as its rows come in unless given.
        """
        ready = self.spark.sql(passed_rows(rows, plan))
        # Rows of a grouped root all belong to the batch that runs; others bring their own.
        now = None if plan.grouped is None else self.note(plan)
        folder = str(self.folder(plan.name))
        return filter_and_write_plan(ready if tasks is None else ready.coalesce(tasks), plan.filter.filter, plan.stored, folder, now)

    def passed(self, rows: str, plan: TreePlan, tasks: int) -> Delta:
        """What is left of a root's rows by the tree's filter, by a plan that is not kept."""
        return self.run(self.passing(rows, plan, tasks))

    def run(self, plan: DataFrame) -> Delta:
        """Run a plan of ``passing``: one job."""
        return run_filter_and_write(plan)
