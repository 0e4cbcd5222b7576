"""Binds the rules of a recursive query: how a step follows from the step before and the other inputs.

A SELECT of the recursive part is bound over a stream that stands for the step before. Of its inputs the others are
queries of their own, each with the conditions and the values that read it alone, so they are shared like any query;
what is left is a rule. Inputs that are the step before stand first, and what a branch gives is in an order that depends
on nothing else, so one recursion has one form however its FROM is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns, identity, map_columns, walk
from workbench.sql.algebra.types import INTEGER, of_any_bits
from workbench.sql.functions.calls import calls_functions
from workbench.sql.logical import (
    Block,
    Input,
    LogicalQuery,
    Output,
    RecursionRule,
    SetQuery,
    StreamInput,
    output_columns,
    streams_of,
    unordered,
)
from workbench.sql.predicates.cnf import TRUE, ORPred, map_expressions, pred_set, predicate_expressions

STEP_BEFORE = "\x00step"
"""The name of the stream that stands for the step before; no stream is called so."""
BindStep = Callable[[LogicalQuery, exp.Expr], LogicalQuery]
"""Binds a syntax node in which the recursive name means the given query."""


def fixpoint_of(first: LogicalQuery, selects: Sequence[exp.Expr], all_: bool, bind: BindStep) -> SetQuery | None:
    """A recursive query by its first rows and its rules.

    Args:
        first: the rows of the first step.
        selects: the SELECTs of the recursive part.
        all_: whether a row is in each step that makes it.
        bind: see ``BindStep``.

    Returns:
        ``None`` where a SELECT is no plain join of the step before with other inputs, as with an outer join of it.
    """
    names = tuple(name for name, _ in output_columns(first))
    types = tuple(of_any_bits(type_) for _, type_ in output_columns(first))
    own = tuple((f"c{place}", type_) for place, type_ in enumerate(types, start=1))
    outputs = tuple(Output(name, Column(*column)) for name, column in zip(names, own, strict=True))
    step = Block((StreamInput(STEP_BEFORE, own, append_only=False),), TRUE, outputs)
    rules, branches = list[RecursionRule](), [first]
    for select in selects:
        following = unordered(bind(step, select))
        if isinstance(following, Block) and not all_:
            following = replace(following, distinct=False)
        if not isinstance(following, Block) or not following.is_plain or len(following.outputs) != len(own):
            return None
        rule = _rule(following, branches)
        if rule is None:
            return None
        rules.append(rule)
    return SetQuery("recursion", all_, tuple(branches), names, types, rules=tuple(rules))


def goes_on_for_ever(query: SetQuery) -> bool:
    """Whether each row of a step gives another one of the next, whatever the streams have.

    A rule joins nothing then, and its condition reads what it passes on as it is. Of UNION it must count on, too.
    """
    return any(rule.inputs == (0,) and _passes_its_test(rule) and (query.all or _counts(rule)) for rule in query.rules)


def _passes_its_test(rule: RecursionRule) -> bool:
    read = (c for e in predicate_expressions(rule.where) for c in columns(e) if not c.level)
    return all(rule.values[int(c.name[1:]) - 1] == c for c in read)


def _counts(rule: RecursionRule) -> bool:
    """Whether a value is a number of the step before with another one added."""
    return any(
        isinstance(value, Call)
        and value.function in ("+", "-")
        and isinstance(value.arguments[0], Column)
        and isinstance(value.arguments[-1], Constant)
        and bool(value.arguments[-1].value)
        for value in rule.values
    )


def _rule(block: Block, branches: list[LogicalQuery]) -> RecursionRule | None:
    """A SELECT as a rule; its other inputs become branches."""
    steps = [at for at, item in enumerate(block.inputs) if _is_step(item)]
    others = [at for at in range(len(block.inputs)) if at not in steps]
    called = any(map(calls_functions, block.expressions()))
    if called or not steps or any(STEP_BEFORE in streams_of(block.inputs[at]) for at in others):
        return None
    alone = {at: pred_set(p for p in block.where if _read(p) == {at}) for at in others}
    windows = {at: pred_set(p for p in block.window if _read(p) == {at}) for at in others}
    if {p for own in windows.values() for p in own} != set(block.window):
        return None
    tested = {p for own in alone.values() for p in own}
    joined = pred_set(p for p in block.where if p not in tested)
    rule = RecursionRule((), joined, tuple(output.expression for output in block.outputs))
    given: dict[int, dict[Expression, str]] = {}
    for at in others:
        parts = dict.fromkeys(part for e in rule.expressions() for part in _parts_of(e, at))
        given[at] = {part: f"c{number}" for number, part in enumerate(sorted(parts, key=identity), start=1)}
    place = {at: number for number, at in enumerate([*steps, *others])}

    def changed(expression: Expression) -> Expression:
        for at, names in given.items():
            if expression in names:
                return Column(names[expression], expression.type, place[at])
        match expression:
            case Column() if not expression.level:
                return replace(expression, source=place[expression.source])
            case Call(function, arguments, type_):
                return Call(function, tuple(map(changed, arguments)), type_)
        return expression

    numbers = []
    for at in others:
        outputs = tuple(Output(name, _alone(part, at)) for part, name in given[at].items())
        where, window = (map_expressions(of[at], partial(_alone, at=at)) for of in (alone, windows))
        branch = Block((block.inputs[at],), where, outputs or (Output("c1", Constant(1, INTEGER)),), window=window)
        if branch not in branches[1:]:
            branches.append(branch)
        numbers.append(branches.index(branch, 1))
    return replace(rule.map(changed), inputs=(*(0 for _ in steps), *numbers))


def _is_step(item: Input) -> bool:
    return isinstance(item, StreamInput) and item.stream == STEP_BEFORE


def _read(part: ORPred) -> set[int]:
    """The inputs that a condition reads; -1 means an outer query."""
    return {-1 if column.level else column.source for e in predicate_expressions(part) for column in columns(e)}


def _parts_of(expression: Expression, at: int) -> Iterator[Expression]:
    """The largest parts of an expression that read an input, and nothing else."""
    if {-1 if column.level else column.source for column in columns(expression)} == {at} and not any(
        isinstance(part, Call) and part.function in ("lambda", "variable") for part in walk(expression)
    ):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _parts_of(argument, at)


def _alone(expression: Expression, at: int) -> Expression:
    """What reads an input, where it is the only one."""
    return map_columns(expression, lambda c: replace(c, source=0) if c.source == at else c)
