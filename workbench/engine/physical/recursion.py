"""How the steps of a recursive query are computed: for each rule and each of its inputs, how a change of it is joined.

Of the inputs that are left, the next is one that some equality finds by what is known; what no equality finds is
compared with all its rows. What a rule computes has kernels, since a step is no job of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from workbench.engine.physical.join_keys import in_one_type, key_column
from workbench.engine.physical.row_tests import RowTests, row_tests
from workbench.engine.physical.stored.values import Computed, computed_value
from workbench.errors import UnsupportedError
from workbench.network.nodes import NodeId, Recursion, SetOperator
from workbench.sql.algebra.expressions import Column, Expression, columns, map_columns, sources, text
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.logical import RecursionRule
from workbench.sql.predicates.cnf import Operator, ORPred, PredSet, map_predicates, pred_set, predicate_sources

STEP_NUMBER = "_step"
"""Column of the state: the step, from 0, that makes a row."""
_HINT = "compute it before the recursion, or where its result is read"


@dataclass(frozen=True)
class RuleInput:
    """An input of a rule that is joined with the rows known so far.

    Attributes:
        source: the number of the input.
        branch: its branch; 0: the step before.
        columns: those of it that the rule reads.
        known: the values by which its rows are looked up, over the rows so far; without any, all are compared.
        keys: what they are equal to, over the columns of the input.
        tests: what a combination is tested for then.
    """

    source: int
    branch: int
    columns: tuple[str, ...]
    known: tuple[Computed, ...]
    keys: tuple[Expression, ...]
    tests: RowTests


@dataclass(frozen=True)
class RuleChange:
    """How the change of one input of a rule becomes a change of the next step.

    Attributes:
        first: the input that changes.
        others: those it is joined with, in this order.
        values: of the new row, by column.
    """

    first: RuleInput
    others: tuple[RuleInput, ...]
    values: Mapping[str, Computed]

    def sees_change(self, other: RuleInput) -> bool:
        """Whether another input is read as it is after the batch, so that each pair of changes counts once.

        Changes of other branches meet the steps as they were, and changes of steps all that is there now.
        """
        order = [(step.branch == 0, step.source) for step in (other, self.first)]
        return order[0] < order[1]


@dataclass(frozen=True)
class RecursionSteps:
    """The computed expressions and the stored columns of a recursion.

    Attributes:
        node: what is computed.
    """

    node: Recursion

    @property
    def is_distinct(self) -> bool:
        """Whether a row is in the first step alone that makes it."""
        return self.node.operator is SetOperator.RECURSION

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of which a row is alone in the answer: all, unless it keeps the best value of each key."""
        return (*self.columns,) if self.node.best is None else (*self.columns,)[:-1]

    @cached_property
    def passed_on(self) -> tuple[str, ...]:
        """The columns of the key that each rule gives as they are in its only row of the step before."""
        rules = self.node.rules
        if any(rule.inputs.count(0) > 1 for rule in rules):
            return ()
        kept = (name for at, name in enumerate(self.columns) if all(_is_own(rule.values[at], name) for rule in rules))
        return tuple(name for name in kept if name in self.key)

    @cached_property
    def columns(self) -> Mapping[str, DataType]:
        """The columns of a row."""
        return dict(self.node.types)

    @cached_property
    def changes(self) -> tuple[RuleChange, ...]:
        """For each rule and each of its inputs how a change is joined.

        Raises:
            UnsupportedError: a rule computes what has no kernel.
        """
        return tuple(_change(rule, at) for rule in self.node.rules for at in range(len(rule.inputs)))

    @cached_property
    def keys(self) -> Mapping[str, Computed]:
        """The keys that are stored with the rows of the state for look-ups, by column."""
        own = (key for change in self.changes for one in change.others if not one.branch for key in one.keys)
        return {key_column(key): _computed(key) for key in own if not isinstance(key, Column)}

    @cached_property
    def state_columns(self) -> Mapping[str, DataType]:
        """The columns of the state; how often a step makes a row is the row's weight."""
        keys = {name: value.expression.type for name, value in self.keys.items()}
        return {**self.columns, **keys, STEP_NUMBER: INTEGER}

    @cached_property
    def values(self) -> tuple[tuple[Computed, ...], ...]:
        """The expressions of each branch over its parent's rows; those without a kernel are stored with them."""
        return tuple(tuple(map(_of_parent, values)) for _, values in self.node.direct)

    @property
    def looked_up(self) -> Iterator[tuple[NodeId, Expression]]:
        """The parents of branches, and the columns stored with their rows: keys, and values without kernels."""
        for parent, values in self.node.direct:
            yield from ((parent, value) for value in values if computed_value(value) is None)
        for change in self.changes:
            for other in change.others:
                yield from ((self.node.direct[other.branch][0], key) for key in self.parent_keys(other) if other.branch)

    def parent_keys(self, other: RuleInput) -> tuple[Expression, ...]:
        """By what rows of an input are looked up where they are stored."""
        if not other.branch:
            return other.keys
        _, values = self.node.direct[other.branch]
        meaning = {f"c{number}": value for number, value in enumerate(values, start=1)}
        return tuple(map_columns(key, lambda column: meaning[column.name]) for key in other.keys)


def _is_own(value: Expression, name: str) -> bool:
    """Whether a value is a column of the step before; of a rule's inputs that is the first."""
    return isinstance(value, Column) and not value.source and value.name == name


def input_column(source: int, name: str) -> str:
    """The column of a combination that has a column of an input."""
    return f"i{source}_{name}"


def _change(rule: RecursionRule, first: int) -> RuleChange:
    read = [
        tuple(sorted({c.name for e in rule.expressions() for c in columns(e) if c.source == at}))
        for at in range(len(rule.inputs))
    ]
    left = [*rule.where]

    def tests(known: frozenset[int]) -> RowTests:
        own = [p for p in left if predicate_sources(p) <= known]
        left[:] = [p for p in left if p not in own]
        return _tests(pred_set(own))

    known = frozenset([first])
    begin = RuleInput(first, rule.inputs[first], read[first], (), (), tests(known))
    others, waiting = [], [at for at in range(len(rule.inputs)) if at != first]
    while waiting:
        found = {at: [ends for p in rule.where if (ends := _equality(p, known, at))] for at in waiting}
        at = max(waiting, key=lambda at: (len(found[at]), -at))
        waiting.remove(at)
        known |= {at}
        keys = tuple(map_columns(end, lambda c: Column(c.name, c.type)) for _, end in found[at])
        by = tuple(_computed(_over_inputs(end)) for end, _ in found[at])
        others.append(RuleInput(at, rule.inputs[at], read[at], by, keys, tests(known)))
    values = {f"c{n}": _computed(_over_inputs(value)) for n, value in enumerate(rule.values, start=1)}
    return RuleChange(begin, tuple(others), values)


def _equality(predicate: ORPred, known: frozenset[int], other: int) -> tuple[Expression, Expression] | None:
    """The sides of an equality by which rows of an input are found: over inputs that are known, and over it alone."""
    literal = predicate.literals[0]
    if len(predicate.literals) > 1 or literal.operator is not Operator.EQ or literal.right is None:
        return None
    for one, two in ((literal.left, literal.right), (literal.right, literal.left)):
        if sources(one) and sources(one) <= known and sources(two) == {other}:
            return in_one_type(one, two)
    return None


def _over_inputs(expression: Expression) -> Expression:
    """An expression of a rule over the columns of combinations."""
    return map_columns(expression, _of_input)


def _of_input(column: Column) -> Column:
    return Column(input_column(column.source, column.name), column.type)


def _tests(where: PredSet) -> RowTests:
    found = row_tests(map_predicates(where, _of_input))
    if found.by_spark:
        raise _without_kernel(str(where))
    return found


def _of_parent(value: Expression) -> Computed:
    return computed_value(value) or Computed(Column(key_column(value), value.type))


def _computed(expression: Expression) -> Computed:
    value = computed_value(expression)
    if value is None:
        raise _without_kernel(text(expression))
    return value


def _without_kernel(what: str) -> UnsupportedError:
    return UnsupportedError(f"{what} in a recursive query, which the steps cannot compute", hint=_HINT)
