"""Join: pairs of rows that satisfy its predicates.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

In: change of each side (a Z-set), and the relations before the batch, of which only the rows that a change may find are
read. Out: change of the pairs. Weights multiply, so retractions on either side come out right, and a pair belongs to
the later batch of its two rows. An index join finds the pairs and tests them (``index_join``); what no kernel tests
Spark does, by a plan that is kept, for the pairs that pass all else.

Source: thesis T4.1; Budiu et al., DBSP: Automatic incremental view maintenance, 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import partial

import pyarrow as pa

from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.operators.operator_input import OperatorInput, ParentRows
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.physical.access_paths import EVERY_PAIR
from workbench.engine.physical.array_places import ELEMENT, PLACE, ArrayPlaces, array_places
from workbench.engine.physical.filters.guards import by_cost
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.physical.row_tests import as_of_pair, pair_column, residual_tests
from workbench.engine.physical.semijoin import all_of
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job, StepJob
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, only
from workbench.engine.storage.scan import Scan
from workbench.network.nodes import Join
from workbench.sql.algebra.expressions import Column, Expression, columns, map_columns, substituted
from workbench.sql.predicates.cnf import map_expressions, pred_set, predicate_columns
from workbench.sql.render.spark_sql import predicates_to_spark


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
    looked_at, most = _at_most(*operator.parents), runner.limits.pairs_compared_per_batch
    if pairs.places is not None or looked_at > min(runner.limits.rows_stepped_in_process, most):
        looked_at = pairs.count(job_input.read()) if here else _count(runner, plan, pairs, job_input, tasks)
    if in_batch and looked_at > most:
        what = f"a join of it would look at {looked_at:,} pairs of rows in one batch, more than {most:,}"
        raise TooMuchWork(plan.join.id, what)
    return tasks if many else runner.tasks(looked_at, operator.hydrated_here)


def _at_most(left: ParentRows, right: ParentRows) -> int:
    """How many pairs there are where every changed row finds every row of the other side."""
    sides = (left, right), (right, left)
    return sum(own.changed_rows * (other.relation.rows + other.changed_rows) for own, other in sides)


def _count(runner: Runner, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput, tasks: int) -> int:
    """How many candidate pairs there are, counted side by side."""

    def count(task: int) -> ArrowBatches:
        yield pa.RecordBatch.from_pydict({"answer": [str(pairs.count(job_input.read(task, tasks)))]})

    job = StepJob(count, tasks, runner.folder(plan.name))
    answers, _ = runner.run_by_spark({plan.name: job}, {plan.name: 1.0}, "count")
    return sum(map(int, answers))


def _job(runner: Runner, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput, tasks: int) -> Job:
    """The job of a join's rows. What no kernel tests Spark does, of the pairs that are left."""
    values = _values(plan, pairs.places)
    names = {n: pair_column(v.source, v.name) if isinstance(v, Column) else n for n, v in values.items()}
    left = pairs.tests.by_spark
    tested = {column.name: column.type for column in predicate_columns(left)}
    layout = Layout({**plan.produced, **{_operand(name): type_ for name, type_ in tested.items()}})
    names |= {_operand(name): name for name in tested} | {mark: mark for mark in (BATCH, WEIGHT)}
    schema, ddl = only(layout.arrow, [*names]), layout.ddl([*names])
    where = predicates_to_spark(by_cost(left), lambda column: f"`{_operand(column.name)}`") if left else ""
    return runner.task_job(
        lambda task: pairs.rows(job_input.read(task, tasks), names, schema), tasks, ddl, plan, where=where
    )


def _operand(name: str) -> str:
    """The column of a row that has a column of its pair, which Spark reads."""
    return f"_pair {name}"


def index_join_of(plan: JoinPlan, left: ParentRows, right: ParentRows) -> IndexJoin:
    """The index join that finds a join's pairs: by its access paths, by the places of arrays, or by comparing all."""
    join, semijoins, access = plan.join, all_of(plan.semijoins), plan.access_paths
    arrays = array_places(join.tested)
    places = None if access or semijoins else arrays
    if not access and not semijoins:
        access = (EVERY_PAIR if places is None else places.path,)
    paths = (*access, *(semijoin.path for semijoin in semijoins))
    tested, elements = join.tested, dict[Expression, Column]()
    if places is not None:
        elements = _elements(join, places)
        others = pred_set(predicate for predicate in tested if predicate != places.test)
        tested = map_expressions(others, partial(substituted, values=elements))
    values = _values(plan, places)
    shown = {column for value in values.values() for column in columns(value)}
    needed = shown | predicate_columns(tested)

    def scan(side: int, read: Set[Column], layout: Layout) -> Scan:
        keys = list(dict.fromkeys(name for path in paths for name in path.columns(side) if name != PLACE))
        names = sorted({column.name for column in read if column.source == side})
        return Scan.of(layout, names, keys, (left, right)[side].bit)

    layouts = [rows.relation.layout for rows in (left, right)]
    read = needed.difference(elements.values()) | predicate_columns(join.tested)
    if arrays is not None:
        read |= {Column(name, value.type, arrays.side) for name, value in arrays.stored.items()}
    found = IndexJoin(
        scan(0, read, layouts[0]),
        scan(1, read, layouts[1]),
        access,
        semijoins,
        residual_tests(tested, paths),
        frozenset(column.source for column in shown),
        computed=tuple((n, map_columns(v, as_of_pair)) for n, v in values.items() if not isinstance(v, Column)),
    )
    if places is None:
        return found
    of_side = layouts[places.side]
    with_element = replace(of_side, columns={**of_side.columns, ELEMENT: places.element.type})
    return replace(found, places=places, of_places=scan(places.side, needed, with_element))


def _elements(join: Join, places: ArrayPlaces) -> dict[Expression, Column]:
    """What gives the elements, and the column that rows of the side with arrays have of it, beside their places."""
    return {value: Column(ELEMENT, value.type, places.side) for _, value in join.elements}


def _values(plan: JoinPlan, places: ArrayPlaces | None) -> dict[str, Expression]:
    """The columns of the join's rows, over columns of its sides; elements are columns where ``places`` are known."""
    join, made = plan.join, dict(plan.join.elements)
    arrays = array_places(join.tested)
    elements: Mapping[Expression, Expression] = {} if places is None else _elements(join, places)
    if places is None and arrays is not None:
        elements = {value: arrays.stored_element for _, value in join.elements}
    return {
        name: substituted(made[name], elements) if name in made else join.names.input(Column(name, type_))
        for name, type_ in plan.produced.items()
    }
