"""Answers fetched into this process: read from the mapped segments where their rows are few, by Spark where not.

An answer's rows are selected by their lineage and the query's window, equal ones are summed where rows are retracted,
and each stands there as often as its weight says, in the query's order. That needs no Spark where all columns are
stored; otherwise Spark evaluates the expressions over these rows. Both ways give the same rows with the same types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.frames import as_shown_table, frame_of
from workbench.arrow.nested import texts_read_once
from workbench.arrow.types import Mask
from workbench.engine.answers import WHOLE_ANSWER, Answers, Refinement
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.row_tests import RowTests, row_tests
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.engine.read_window import crossing
from workbench.engine.selection import RowCondition, has_retractions, repeated, rows_with_any, summed_weights
from workbench.engine.storage.comparable import ASCENDING, positions_in_order
from workbench.engine.storage.grouping import with_equal_bits
from workbench.engine.storage.indexes.sorted_index import rows_in_intervals
from workbench.engine.storage.layout import BATCH, WEIGHT, only
from workbench.engine.storage.lineage import rows_with_bits, word_column
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import Run
from workbench.errors import QueryError
from workbench.limits import Limits
from workbench.network.network import QueryPlan
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.expressions import Column, Expression, columns
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.calls import calls_functions
from workbench.sql.predicates.cnf import ORPred, PredSet, pred_set
from workbench.sql.value_sizes import value_size

_PLACE = "_place"
"""Column: which of the rows to be evaluated it is."""


def fetch_results(answers: Sequence[Answers]) -> list[pa.Table]:
    """The answers of some queries over all data so far; the rows of a tree are looked through once for all of them."""
    of_tree: dict[tuple[int, int | None], list[int]] = {}
    for place, answer in enumerate(answers):
        _refuse_large(answer, None)
        if _is_read_here(answer):
            of_tree.setdefault((id(answer.tree), answer.until), []).append(place)
    here: dict[int, pa.Table] = {}
    for places in of_tree.values():
        read = _results_of_tree([answers[place] for place in places])
        here.update((place, table) for place, table in zip(places, read, strict=True) if table is not None)
    return [here[i] if i in here else answer.result().toArrow() for i, answer in enumerate(answers)]


def _refuse_large(answer: Answers, most: int | None) -> None:
    """Refuse to fetch an answer whose computed values may be too large for Spark and for this process.

    Raises:
        QueryError: the rows may be too large together.
    """
    if not (size := sum(map(value_size, answer.plan.expressions))):
        return
    rows = fetch_count(answer) if most is None else most
    if rows * size > answer.limits.bytes_fetched:
        what = f"{rows:,} rows of {answer.plan.name} may have {rows * size / 1_000_000:,.0f} MB"
        raise QueryError(f"{what}, which is too much to fetch", hint="save(path) writes them, head(100) has the first")


def fetch_first(answer: Answers, skip: int, limit: int, refinement: Refinement = WHOLE_ANSWER) -> pa.Table:
    """At most ``limit`` rows of an answer after ``skip`` others, in the order asked for, in the query's order, or in no
    order.

    Rows that are read here are chosen and sorted here, where kernels evaluate the condition: of those that it leaves
    out, no column is read that it does not need.
    """
    _refuse_large(answer, limit)
    # Where no row is taken back and none is outside a window, each row that is found is one of the answer.
    found_first = answer.tree.plan.monotone and not answer.where and not answer.plan.order and refinement.by is None
    here = _read_here(answer, refinement, skip + limit if found_first else None)
    if here is not None:
        return here.slice(skip, limit)
    return answer.refined(refinement).offset(skip).limit(limit).toArrow()


def _read_here(answer: Answers, refinement: Refinement, first: int | None = None) -> pa.Table | None:
    """The rows that are asked for, in the order asked for; ``None`` where Spark reads or tests them."""
    if not _is_read_here(answer) or (condition := _condition(answer, refinement.where)) is None:
        return None
    (rows,) = _results_of_tree([answer], first, *condition)
    if rows is None:
        return None
    order = [rows.column(i).combine_chunks() for i in refinement.order(rows.num_columns)]
    if not order:
        return rows
    return rows.take(
        pa.array(positions_in_order(order, [(refinement.descending, False), *[ASCENDING] * rows.num_columns]))
    )


def _condition(answer: Answers, where: PredSet) -> tuple[RowCondition, ...] | None:
    """The condition as one of the rows of the tree, if there is one; ``None`` where Spark tests it.

    Rows that are equal satisfy it alike, so those that do not are left out before the weights of equal ones are summed.
    What is computed is tested last, of the rows that are left.
    """
    if not where:
        return ()
    if row_tests(where).by_spark:
        return None
    tests = sorted((_ValueTest.of(test, answer) for test in where), key=lambda test: len(test.computed))
    if not all(has_kernels(value) for test in tests for value in test.values.values()):
        return None

    def passes(rows: pa.RecordBatch) -> Mask:
        left = np.arange(rows.num_rows)
        with texts_read_once():
            for test in tests:
                left = left[test.passes(rows if len(left) == rows.num_rows else rows.take(pa.array(left)))]
        return np.isin(np.arange(rows.num_rows), left, assume_unique=True)

    read = {column.name for test in tests for value in test.values.values() for column in columns(value)}
    return (RowCondition(only(answer.tree.relation.layout.arrow, [*sorted(read), WEIGHT]), passes),)


@dataclass(frozen=True)
class _ValueTest:
    """A test of values of an answer, over the rows of its tree.

    Attributes:
        tests: what is tested of the values.
        values: the values by the names that the test has for them.
        monotone: whether no row of the tree is taken back; where one is, 0.0 and -0.0 are one value.
    """

    tests: RowTests
    values: Mapping[str, Expression]
    monotone: bool

    @staticmethod
    def of(test: ORPred, answer: Answers) -> _ValueTest:
        tests, plan = row_tests(pred_set([test])), answer.tree.plan
        values = {n: answer.plan.outputs[int(n[1:])].expression for n in sorted(tests.columns or {"_0"})}
        over = {n: Column(key_column(v), v.type) if key_column(v) in plan.stored else v for n, v in values.items()}
        return _ValueTest(tests, over, plan.monotone)

    @property
    def computed(self) -> list[Expression]:
        """The values that are not stored."""
        return [value for value in self.values.values() if not isinstance(value, Column)]

    def passes(self, rows: pa.RecordBatch) -> Mask:
        """Which rows of the tree pass."""
        found = [evaluate(value, rows) for value in self.values.values()]
        found = found if self.monotone else list(map(with_equal_bits, found))
        return self.tests.passes(pa.RecordBatch.from_arrays(found, names=[*self.values]))


def fetch_count(answer: Answers, refinement: Refinement = WHOLE_ANSWER) -> int:
    """The number of rows of an answer, or of those that satisfy a condition; without one no expression is needed."""
    if refinement.where:
        here = _read_here(answer, refinement)
        return answer.refined(refinement).count() if here is None else here.num_rows
    relation, where = answer.tree.relation, answer.where
    schema = only(relation.layout.arrow, [*where, WEIGHT])
    most = answer.limits.rows_scanned_in_process
    rows = rows_with_any(answer.segments, schema, [answer.bits], answer.limits, most=most, until=answer.until)
    if rows is None:
        return answer.count()
    weights = rows.column(WEIGHT).to_numpy()
    return int(weights[rows_in_intervals(rows, where)].sum())


def fetch_changes(answer: Answers, since: int | None) -> pa.Table:
    """The changes of an answer, as ``Answers.changes``."""
    _refuse_large(answer, None)
    rows = _changed_rows(answer, since) if _is_read_here(answer) else None
    if rows is None:
        return answer.changes(since).toArrow()
    batch = pc.max_element_wise(rows.column(BATCH), pa.scalar(answer.registered, pa.int32()))
    shown = [output.expression for output in answer.plan.outputs]
    computed = _values(shown, rows)
    (batch, *values), weights = summed_weights([batch, *computed], rows.column(WEIGHT))
    values = _with_constants(shown, computed, values)
    changes = _table([batch, weights, *values])
    return changes if since is None else changes.filter(pc.greater(batch, since))


def fetch_arrived(answer: Answers) -> pa.Table:
    """The changes of an answer that brought its rows; equal rows are summed only where some are taken back."""
    rows = _changed_rows(answer, None) if _is_read_here(answer) else None
    if rows is None or has_retractions(rows.column(WEIGHT)):
        return fetch_changes(answer, None)
    shown = [output.expression for output in answer.plan.outputs]
    return _table([rows.column(BATCH), rows.column(WEIGHT), *_values(shown, rows)])


def fetch_difference(before: pa.Table, after: pa.Table) -> pa.Table:
    """What one answer has more than another, as a Z-set: weights, then the columns of both.

    Example:
        >>> before, after = pa.table({"_0": [1, 2]}), pa.table({"_0": [2, 2, 3]})
        >>> fetch_difference(before, after).to_pydict()
        {'_0': [-1, 1, 1], '_1': [1, 2, 3]}
    """
    both = pa.concat_tables([before, after]).combine_chunks()
    weights = pa.array(np.repeat([-1, 1], [before.num_rows, after.num_rows]))
    columns = [column.combine_chunks() for column in both.columns]
    values, summed = summed_weights(columns, weights)
    return _table([summed, *values])


def to_shown_table(rows: pa.Table, plan: QueryPlan, timezone: str, first: tuple[str, ...] = ()) -> pa.Table:
    """Rows with the names and the types that answers show (``to_shown``).

    Args:
        rows: as they are fetched.
        plan: of their query.
        timezone: in which instants are shown.
        first: names of the leading columns, which are not the query's; a column of the query that is called like one
            gets a number, as where a name is selected twice.
    """
    names = unique_names([*first, *(output.name for output in plan.outputs)])
    types = [*[INTEGER] * len(first), *(output.type for output in plan.outputs)]
    return as_shown_table(rows.rename_columns(names), types, timezone)


def to_pandas(rows: pa.Table, plan: QueryPlan, timezone: str) -> pd.DataFrame:
    """Rows as pandas, as ``frame_of``.

    Args:
        rows: with the query's columns, as they are fetched.
        plan: of the query.
        timezone: in which instants are shown.
    """
    return frame_of(to_shown_table(rows, plan, timezone))


def _is_read_here(answer: Answers) -> bool:
    """Whether the columns of an answer may be computed here: a user function may see the rows of its own query only."""
    return not any(map(calls_functions, answer.plan.expressions))


def _results_of_tree(
    answers: Sequence[Answers], first: int | None = None, condition: RowCondition | None = None
) -> list[pa.Table | None]:
    """The answers of some queries of one tree, or the first rows; ``None`` where one has too many to be read here.

    With a condition, the rows of one answer that satisfy it.
    """
    tree = answers[0].tree
    lineage = [word_column(word) for word in range(tree.relation.layout.words)]
    wanted = _Wanted.of(answers, [*lineage, WEIGHT])
    # Of a past batch the changes of each query count from its own registration on.
    segments, until = (answers[0].segments, answers[0].until) if len(answers) == 1 else (tree.relation.segments, None)
    rows = wanted.evaluated(wanted.rows_of(segments, first=first, until=until, condition=condition))
    if rows is None:
        # Together they may have too many rows, and each few.
        half = len(answers) // 2
        return [*_results_of_tree(answers[:half]), *_results_of_tree(answers[half:])] if half else [None]
    if len(answers) > 1 and has_retractions(rows.column(WEIGHT)):
        at = rows.schema.get_field_index(WEIGHT)
        values, weights = summed_weights([*rows.columns[:at], *rows.columns[at + 1 :]], rows.column(at))
        rows = pa.RecordBatch.from_arrays([*values[:at], weights, *values[at:]], schema=rows.schema)
    return [_result(answer, rows) for answer in answers]


def _result(answer: Answers, rows: pa.RecordBatch) -> pa.Table:
    """A query's answer out of rows of its tree."""
    own = rows_with_bits(rows, answer.bits) & rows_in_intervals(rows, answer.where)
    rows = rows if own.all() else rows.take(pa.array(np.flatnonzero(own)))
    computed, weights = _values(answer.plan.expressions, rows), rows.column(WEIGHT)
    values = computed
    if has_retractions(weights):
        values, weights = summed_weights(values, weights)
    elif not answer.tree.plan.monotone:
        values = list(map(with_equal_bits, values))
    values = repeated(_with_constants(answer.plan.expressions, computed, values), weights)
    shown = len(answer.plan.outputs)
    return _table(_sorted(values, shown, answer.plan.order) if answer.plan.order else values)


def _sorted(values: Sequence[pa.Array], shown: int, order: Sequence[SortKey]) -> list[pa.Array]:
    """The first ``shown`` columns in the order of the others, and rows that are equal there by the shown columns."""
    directions = [(key.descending, key.nulls_first) for key in order]
    at = pa.array(positions_in_order([*values[shown:], *values[:shown]], [*directions, *[ASCENDING] * shown]))
    return [column.take(at) for column in values[:shown]]


def _changed_rows(answer: Answers, since: int | None) -> pa.RecordBatch | None:
    """The rows that changed an answer after a batch; ``None`` where they cannot be read here."""
    wanted = _Wanted.of([answer], [BATCH, WEIGHT])
    if not answer.plan.window:
        # What was there at registration counts as a change of that batch, whatever batch has brought it.
        after = since if since is not None and since >= answer.registered else None
        return wanted.evaluated(wanted.rows_of(answer.logged(after), after))
    rows = wanted.rows_of(answer.tree.relation.segments)
    if rows is None:
        return None
    changes = list(crossing(rows, answer.extents, since))
    return wanted.evaluated(pa.concat_batches(changes) if changes else rows.slice(0, 0))


@dataclass(frozen=True)
class _Wanted:
    """The columns and rows of a tree that some queries read.

    Attributes:
        relation: the tree's rows.
        bit_sets: the bits of the rows of each query.
        columns: the stored columns.
        computed: those of them that are computed as rows are written, with their expressions.
        expressions: what is not stored, by the names of the columns to be.
        limits: of the session.
    """

    relation: Relation
    bit_sets: frozenset[frozenset[int]]
    columns: tuple[str, ...]
    computed: Mapping[str, Expression]
    expressions: Mapping[str, Expression]
    limits: Limits

    @staticmethod
    def of(answers: Sequence[Answers], marks: Sequence[str]) -> _Wanted:
        """The columns that queries of one tree read, and columns that are no values."""
        plan = answers[0].tree.plan
        values = {key_column(e): e for answer in answers for e in answer.plan.expressions}
        expressions = {name: value for name, value in values.items() if name not in plan.stored}
        read = [column.name for value in expressions.values() for column in columns(value)]
        stored = dict.fromkeys([*(values.keys() - expressions.keys()), *sorted(read)])
        stored |= dict.fromkeys(name for answer in answers for name in answer.where)
        bit_sets = frozenset(answer.bits for answer in answers)
        computed = {name: value for name, value in plan.computed.items() if name in stored}
        limits = answers[0].limits
        return _Wanted(answers[0].tree.relation, bit_sets, (*stored, *marks), computed, expressions, limits)

    def rows_of(
        self,
        segments: Run,
        after: int | None = None,
        first: int | None = None,
        until: int | None = None,
        condition: RowCondition | None = None,
    ) -> pa.RecordBatch | None:
        """The rows of the queries in some segments; see ``rows_with_any``."""
        schema, limits = only(self.relation.layout.arrow, self.columns), self.limits
        return rows_with_any(
            segments, schema, self.bit_sets, limits, self.computed, after, None, first, until, condition
        )

    def evaluated(self, rows: pa.RecordBatch | None) -> pa.RecordBatch | None:
        """Rows with the expressions; ``None`` where Spark evaluates some, and they are too many to be brought back."""
        if rows is None:
            return None
        left = {name: e for name, e in self.expressions.items() if not has_kernels(e)}
        if rows.num_rows * len(left) > self.limits.values_evaluated_in_process:
            return None
        with texts_read_once():
            known = {name: evaluate(e, rows) for name, e in self.expressions.items() if name not in left}
        if left:
            known |= self._by_spark(left, rows)
        for name in self.expressions:
            rows = rows.append_column(name, known[name])
        return rows

    def _by_spark(self, expressions: Mapping[str, Expression], rows: pa.RecordBatch) -> dict[str, pa.Array]:
        """The values of expressions without kernels."""
        spark, layout = self.relation.jobs.session, self.relation.layout
        values = [name for name in self.columns if name in layout.columns]
        numbered = rows.select(values).append_column(_PLACE, pa.array(np.arange(rows.num_rows)))
        frame = spark.createDataFrame(pa.Table.from_batches([numbered]), layout.ddl([*values, _PLACE]))
        evaluated = frame.selectExpr(_PLACE, *(f"{over_rows(e)} AS `{name}`" for name, e in expressions.items()))
        found = evaluated.toArrow().sort_by(_PLACE)
        return {name: found.column(name).combine_chunks() for name in expressions}


def _values(expressions: Iterable[Expression], rows: pa.RecordBatch) -> list[pa.Array]:
    """The values of expressions, which are columns of the rows of their tree by now."""
    return [rows.column(key_column(expression)) for expression in expressions]


def _with_constants(
    expressions: Sequence[Expression], computed: Sequence[pa.Array], values: Sequence[pa.Array]
) -> list[pa.Array]:
    """Values of which equal ones have the same bits, but those of constants: of one, -0.0 stays what it is.

    Args:
        expressions: what the values are of.
        computed: the values as they were computed.
        values: with the same bits where they are equal; of fewer rows, it may be.
    """
    return [
        value if columns(expression) or not len(value) else first.take(pa.array(np.zeros(len(value), np.int64)))
        for expression, first, value in zip(expressions, computed, values, strict=True)
    ]


def _table(columns: Sequence[pa.Array]) -> pa.Table:
    # Positions, since an analyst's columns may have one name.
    return pa.Table.from_arrays(list(columns), names=[f"_{i}" for i in range(len(columns))])
