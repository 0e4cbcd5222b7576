"""Join: pairs of rows that satisfy its predicates.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

In: change of each side (a Z-set), and the relations before the batch, of which only the rows with the same key are
read. Out: change of the pairs. Weights multiply, so retractions on either side come out right, and a pair belongs to
the later batch of its two rows. Where the sides have keys that must be equal, an index join finds candidate pairs
(``index_join``) and Spark tests the predicates that are left; elsewhere Spark joins, unless there are few pairs in all.

Source: thesis T4.1; Budiu et al., DBSP: Automatic incremental view maintenance, 2023.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.engine.operators.element_join import PLACE, places
from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.operators.operator_input import OperatorInput, ParentRows
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.filters.guards import by_cost
from workbench.engine.physical.pair_tests import left_to_test, pair_column
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.physical.semijoin import all_of
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, only
from workbench.engine.storage.relation import tasks_for
from workbench.engine.storage.scan import Scan
from workbench.errors import EngineError
from workbench.network.nodes import SIDES, Columns, Join, NodeId
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.algebra.expressions import Column
from workbench.sql.predicates.cnf import predicate_columns
from workbench.sql.render.spark_sql import predicates_to_spark

EVERY_PAIR = AccessPath(())


class TooManyPairs(EngineError):
    """A join would look at too many pairs in a batch.

    Attributes:
        root: the join.
        reason: what its queries are told.
    """

    def __init__(self, root: NodeId, pairs: int, most: int) -> None:
        self.root = root
        self.reason = f"a join of it would look at {pairs:,} pairs of rows in one batch, more than {most:,}"
        super().__init__(self.reason)


def join_job(runner: Runner, operator: OperatorInput, plan: JoinPlan) -> Job | None:
    """The job of the change of a join's rows; ``None`` where nothing changes."""
    if not operator.changed_rows:
        return None
    if (job := _by_index(runner, operator, plan)) is not None:
        return job
    left, right = operator.parents
    rows = join_change(plan.join, left, right, plan.produced)
    if rows is None:
        return None
    read = sum(side.relation.rows + side.changed_rows for side in operator.parents)
    return runner.sql_job(rows, plan, tasks_for(read, runner.jobs))


def _by_index(runner: Runner, operator: OperatorInput, plan: JoinPlan) -> Job | None:
    """The job of a join whose pairs are found by key; ``None`` where Spark finds them better."""
    left, right = operator.parents
    found = plan.access_paths or plan.semijoins
    pairs = index_join_of(plan if found else replace(plan, access_paths=(EVERY_PAIR,)), left, right)
    in_batch = operator.relation is not None  # hydration was asked for, knowing what it costs
    if not found:
        compared = _pairs_compared(left, right)
        if in_batch:
            _refuse_pairs(runner, plan, compared)
        limits = runner.limits
        if compared > (limits.pairs_compared_by_index if pairs.tests is None else limits.pairs_tested_by_index):
            return None
    job_input = runner.set_input(plan, operator.batch, operator.segments)
    tasks = runner.tasks(operator.changed_rows, operator.hydrated_here)
    many = operator.changed_rows > runner.limits.rows_per_task
    # Pairs that Spark need not see are made by their keys as fast, however many they are; by a bound alone they may be
    # as many as there are.
    unkeyed = any(not path.keys for path in pairs.paths)
    if many and (pairs.tests is None or (found and unkeyed and in_batch)):
        job_input.save()
        count = pairs.count(runner.spark, job_input, tasks)
        if in_batch:
            _refuse_pairs(runner, plan, count)
        if pairs.tests is None and count > runner.limits.pairs_found_per_changed_row * operator.changed_rows:
            return None
    if not many and ((found and unkeyed) or not in_batch):
        # A few rows may have pairs enough for all cores.
        count = pairs.count_here(job_input.read())
        if in_batch:
            _refuse_pairs(runner, plan, count)
        tasks = runner.tasks(count, operator.hydrated_here)

    def make() -> Job:
        if pairs.tests is not None:
            return _of_stored_values(runner, plan, pairs, job_input, tasks)
        view = runner.bind(plan, "pairs", pairs.frame(runner.spark, job_input, tasks))
        return runner.sql_job(tested_pairs(plan.join, view, plan.produced), plan)

    return runner.cached(plan, "rows", (pairs, tasks), make)


def _refuse_pairs(runner: Runner, plan: JoinPlan, pairs: int) -> None:
    """Refuse a batch that would look at too many pairs.

    Raises:
        TooManyPairs: the queries that read the join cannot go on.
    """
    most = runner.limits.pairs_compared_per_batch
    if pairs > most:
        raise TooManyPairs(plan.join.id, pairs, most)


def _of_stored_values(runner: Runner, plan: JoinPlan, pairs: IndexJoin, job_input: JobInput, tasks: int) -> Job:
    """The job of a join that compares stored values alone: Spark need not see the pairs."""
    names = {name: pair_column(*plan.join.names.input_name(name)) for name in plan.produced}
    layout, marks = Layout(plan.produced), [BATCH, WEIGHT]
    schema = only(layout.arrow, [*names, *marks])
    names |= {mark: mark for mark in marks}

    def rows(task: int) -> ArrowBatches:
        return pairs.rows(job_input.read(task, tasks), names, schema)

    return runner.task_job(rows, tasks, layout.ddl([*names]), plan)


def _pairs_compared(left: ParentRows, right: ParentRows) -> int:
    """How many pairs have a changed row, whatever node they belong to."""
    after = right.relation.rows + right.stored_changes
    return left.stored_changes * after + left.relation.rows * right.stored_changes


def index_join_of(plan: JoinPlan, left: ParentRows, right: ParentRows) -> IndexJoin:
    """The index join that finds a join's candidate pairs."""
    join, semijoins = plan.join, all_of(plan.semijoins)
    read = {(c.source, c.name) for c in predicate_columns(join.tested)}
    read |= {join.names.input_name(name) for name in plan.produced}
    paths = (*plan.access_paths, *(semijoin.path for semijoin in semijoins))
    sides = []
    for side, rows in zip(SIDES, (left, right), strict=True):
        keys = list(dict.fromkeys(name for path in paths for name in path.columns(side)))
        names = sorted(name for at, name in read if at == side)
        sides.append(Scan.of(rows.relation.layout, names, keys, rows.bit))
    shown = frozenset(join.names.input_name(name)[0] for name in plan.produced)
    return IndexJoin(sides[0], sides[1], plan.access_paths, semijoins, left_to_test(join.tested, paths), shown)


def tested_pairs(join: Join, pairs: str, produced: Columns) -> str:
    """SQL of a join's change over the view of its candidate pairs: columns ``produced``, ``_batch``, ``_weight``."""
    values = [f"{_in_pairs(*join.names.input_name(name))} AS `{name}`" for name in produced]
    condition = predicates_to_spark(by_cost(join.tested), _of_pair)
    return f"SELECT {', '.join([*values, BATCH, WEIGHT])} FROM {pairs} WHERE {condition}"


def join_change(join: Join, left: ParentRows, right: ParentRows, produced: Columns) -> str | None:
    """SQL of a join's change where Spark finds the pairs; ``None`` when neither side changed."""
    parts = [
        _pairs(join, left.change, right.after, produced, "l" if left.small else None),
        _pairs(join, left.before, right.change, produced, "r" if right.small else None),
    ]
    return " UNION ALL ".join(part for part in parts if part is not None) or None


def _pairs(join: Join, left: str | None, right: str | None, produced: Columns, small: str | None) -> str | None:
    """SQL of the pairs of two bags of rows; ``small`` is the side worth sending to every task."""
    if left is None or right is None:
        return None
    hint = f"/*+ BROADCAST({small}) */ " if small else ""
    values = [f"{_in_side(*join.names.input_name(name))} AS `{name}`" for name in produced]
    marks = [f"greatest(l.{BATCH}, r.{BATCH}) AS {BATCH}", f"l.{WEIGHT} * r.{WEIGHT} AS {WEIGHT}"]
    elements = places(join.tested)
    if elements is None:
        condition = predicates_to_spark(by_cost(join.tested), _on_side)
    else:
        sides, side = [left, right], elements.side
        sides[side] = elements.rows(sides[side], SIDE_NAMES[side], _on_side)
        left, right = sides
        others = by_cost([test for test in join.tested if test != elements.test])
        equal = f"{_on_side(elements.place)} = {SIDE_NAMES[side]}.{PLACE}"
        condition = f"{equal} AND {predicates_to_spark(others, _on_side)}"
    return f"SELECT {hint}{', '.join([*values, *marks])} FROM ({left}) l JOIN ({right}) r ON {condition}"


def _of_pair(column: Column) -> str:
    return _in_pairs(column.source, column.name)


def _in_pairs(side: int, name: str) -> str:
    return f"`{pair_column(side, name)}`"


def _on_side(column: Column) -> str:
    return _in_side(column.source, column.name)


def _in_side(side: int, name: str) -> str:
    return f"{SIDE_NAMES[side]}.`{name}`"
