"""Join: pairs of rows that satisfy its predicates.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

In: change of each side (a Z-set), and the relations before the batch, of which only the rows that a change may find are
read. Out: change of the pairs. Weights multiply, so retractions on either side come out right, and a pair belongs to
the later batch of its two rows. An index join finds the pairs and tests them (``index_join``); what no kernel tests
Spark does, by a plan that is kept, for the pairs that pass all else.

Source: thesis T4.1; Budiu et al., DBSP: Automatic incremental view maintenance, 2023.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.operators.operator_input import OperatorInput, ParentRows
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.physical.access_paths import EVERY_PAIR
from workbench.engine.physical.array_places import PLACE, array_places
from workbench.engine.physical.filters.guards import by_cost
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.row_tests import pair_column, residual_tests
from workbench.engine.physical.semijoin import all_of
from workbench.engine.physical.stored.kernels.table import has_kernels
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job, StepJob
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, only
from workbench.engine.storage.positions import PositionedRows
from workbench.engine.storage.scan import Scan
from workbench.network.nodes import SIDES
from workbench.sql.algebra.expressions import Column, columns
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import pred_set, predicate_columns
from workbench.sql.render.spark_sql import predicates_to_spark

SIZE = "_size"
"""The column of the numbers of places that Spark sets beside arrays."""


def join_job(runner: Runner, operator: OperatorInput, plan: JoinPlan) -> Job | None:
    """The job of the change of a join's rows; ``None`` where nothing changes."""
    if not operator.changed_rows:
        return None
    left, right = operator.parents
    stored = (left.relation.layout, left.bit, right.relation.layout, right.bit)
    pairs = runner.read_once(plan, stored, lambda: index_join_of(plan, left, right))
    job_input = runner.set_input(plan, operator.batch, operator.segments)
    tasks = _tasks(runner, operator, plan, pairs, job_input)
    return runner.cached(plan, "rows", (pairs, tasks), lambda: _job(runner, plan, pairs, job_input, tasks))


def _tasks(runner: Runner, operator: OperatorInput, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput) -> int:
    """The number of tasks of a join's job.

    Raises:
        TooMuchWork: they would look at too many pairs in a batch. Hydration was asked for, knowing what it costs.
    """
    in_batch, many = operator.relation is not None, operator.changed_rows > runner.limits.rows_per_task
    looked_up = [rows.relation for rows in operator.parents]
    tasks = runner.tasks(operator.changed_rows, operator.hydrated_here, looked_up)
    keyed = all(path.keys for path in pairs.paths)
    if not pairs.compares_all and (pairs.places is not None or (many and not in_batch) or (in_batch and keyed)):
        return tasks
    # A few rows may have pairs enough for all cores.
    here = operator.hydrated_here or not many
    looked_at = pairs.count(job_input.read()) if here else _count(runner, plan, pairs, job_input, tasks)
    most = runner.limits.pairs_compared_per_batch
    if in_batch and looked_at > most:
        what = f"a join of it would look at {looked_at:,} pairs of rows in one batch, more than {most:,}"
        raise TooMuchWork(plan.join.id, what)
    return tasks if many else runner.tasks(looked_at, operator.hydrated_here)


def _count(runner: Runner, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput, tasks: int) -> int:
    """How many candidate pairs there are, counted side by side."""

    def count(task: int) -> ArrowBatches:
        yield pa.RecordBatch.from_pydict({"answer": [str(pairs.count(job_input.read(task, tasks)))]})

    job = StepJob(count, tasks, runner.folder(plan.name))
    answers, _ = runner.run_by_spark({plan.name: job}, {plan.name: 1.0}, "count")
    return sum(map(int, answers))


def _job(runner: Runner, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput, tasks: int) -> Job:
    """The job of a join's rows. What no kernel tests Spark does, of the pairs that are left."""
    names = {name: pair_column(*plan.join.names.input_name(name)) for name in plan.produced}
    left = pairs.tests.by_spark
    tested = {column.name: column.type for column in predicate_columns(left)}
    layout = Layout({**plan.produced, **{_operand(name): type_ for name, type_ in tested.items()}})
    names |= {_operand(name): name for name in tested} | {mark: mark for mark in (BATCH, WEIGHT)}
    schema, ddl = only(layout.arrow, [*names]), layout.ddl([*names])
    where = predicates_to_spark(by_cost(left), lambda column: f"`{_operand(column.name)}`") if left else ""
    if (places := pairs.places) is None or has_kernels(places.size):
        return runner.task_job(
            lambda task: pairs.rows(job_input.read(task, tasks), names, schema), tasks, ddl, plan, where=where
        )
    arrays = PositionedRows(job_input, pairs.sides[places.side].input, tasks, places.side)
    operands = Layout({column.name: column.type for column in columns(places.size)})
    sizes = runner.evaluated(plan, arrays, operands, {SIZE: over_rows(places.size)})
    own = replace(pairs, places=replace(places, size=Column(SIZE, INTEGER)))

    def rows(batches: ArrowBatches) -> ArrowBatches:
        yield from own.rows(job_input.read(), names, schema, arrays.whole(batches))

    return runner.frame_job(sizes, rows, ddl, plan, where)


def _operand(name: str) -> str:
    """The column of a row that has a column of its pair, which Spark reads."""
    return f"_pair {name}"


def index_join_of(plan: JoinPlan, left: ParentRows, right: ParentRows) -> IndexJoin:
    """The index join that finds a join's pairs: by its access paths, by the places of arrays, or by comparing all."""
    join, semijoins, access = plan.join, all_of(plan.semijoins), plan.access_paths
    places = None if access or semijoins else array_places(join.tested)
    tested = [predicate for predicate in join.tested if places is None or predicate != places.test]
    if not access and not semijoins:
        access = (EVERY_PAIR if places is None else places.path,)
    read = {(c.source, c.name) for c in predicate_columns(join.tested)}
    read |= {join.names.input_name(name) for name in plan.produced}
    paths = (*access, *(semijoin.path for semijoin in semijoins))
    sides = []
    for side, rows in zip(SIDES, (left, right), strict=True):
        keys = list(dict.fromkeys(name for path in paths for name in path.columns(side) if name != PLACE))
        names = sorted(name for at, name in read if at == side)
        sides.append(Scan.of(rows.relation.layout, names, keys, rows.bit))
    shown = frozenset(join.names.input_name(name)[0] for name in plan.produced)
    return IndexJoin(sides[0], sides[1], access, semijoins, residual_tests(pred_set(tested), paths), shown, places)
