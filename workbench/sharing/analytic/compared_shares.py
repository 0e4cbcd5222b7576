"""A share that is only compared with constants is a sign: on which side of a constant it is.

PERCENT_RANK and CUME_DIST change in every row of a partition when a row comes. Of `QUALIFY PERCENT_RANK() OVER w > 0.9`
nothing changes but the rows that cross 0.9, and the function that says on which side of 0.9 a row is changes in these
alone: 1 where the share is more than the constant, 0 where it is the constant, and -1 where it is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.sql.algebra.analytic import SHARES, AnalyticCall
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Origin, columns
from workbench.sql.algebra.types import DOUBLE, INTEGER
from workbench.sql.logical import Analyzed, Block, Input, LogicalQuery, with_blocks
from workbench.sql.predicates.cnf import Literal, ORPred, PredSet, conjunction, map_predicates, or_pred, pred_set

_ZERO = Constant(0, INTEGER)


def with_compared_shares(query: LogicalQuery) -> LogicalQuery:
    """A query that computes signs in place of shares that are only compared; the same where there are none."""
    return with_blocks(query, lambda block: _with_signs(_with_inner_tests(block)))


def _with_inner_tests(block: Block) -> Block:
    """Tests of shares that inputs compute, moved into QUALIFY there; a share that nothing else reads is no output."""
    inputs = list(block.inputs)
    for position, item in enumerate(inputs):
        if not isinstance(item, Block) or item.distinct or item.single or not _shares(item):
            continue
        values = {stored_name(output.name): output.expression for output in item.outputs}
        shares = {name for name, value in values.items() if isinstance(value, Column) and value.name in _shares(item)}
        moved = [p for p in block.where if _reads(p, position, shares)]
        rest = replace(block, where=pred_set(p for p in block.where if p not in moved))
        read = {c.name for e in rest.expressions() for c in columns(e) if c.source == position}
        if not moved or shares <= read:
            continue
        tests = _over(pred_set(moved), values)
        outputs = tuple(o for o in item.outputs if (name := stored_name(o.name)) not in shares or name in read)
        inputs[position] = _with_signs(replace(item, outputs=outputs, qualify=conjunction(item.qualify, tests)))
        block = replace(rest, inputs=tuple(inputs))
    return block


def _over(predicates: PredSet, values: Mapping[str, Expression]) -> PredSet:
    return map_predicates(predicates, lambda column: values[column.name])


def _reads(predicate: ORPred, position: int, shares: Iterable[str]) -> bool:
    """Whether a test reads shares of an input, and nothing of another."""
    read = {column for literal in predicate.literals for e in literal.expressions for column in columns(e)}
    return all(c.source == position and not c.level for c in read) and not {c.name for c in read}.isdisjoint(shares)


def _with_signs(block: Block) -> Block:
    """A block whose shares are signs where it only compares them."""
    shares = _shares(block)
    if not shares:
        return block
    calls = (a.call for a in block.analytics)
    others = [*(o.expression for o in block.outputs), *(e for call in calls for e in call.expressions)]
    literals = [literal for predicate in block.qualify for literal in predicate.literals]
    others += [e for literal in literals if _compared(literal) is None for e in literal.expressions]
    shown = {c.name for e in others for c in columns(e) if c.source == Origin.ANALYTIC}
    signs: dict[str, Analyzed] = {}

    def sign(literal: Literal) -> Literal:
        compared = _compared(literal)
        if compared is None or compared[0] not in shares or compared[0] in shown:
            return literal
        call = replace(shares[compared[0]], arguments=(compared[1],), type=INTEGER)
        signs[call.name] = Analyzed(call.name, call)
        return replace(literal, left=Column(call.name, INTEGER, Origin.ANALYTIC), right=_ZERO)

    qualify = pred_set(or_pred(map(sign, predicate.literals)) for predicate in block.qualify)
    kept = tuple(a for a in block.analytics if a.name not in shares or a.name in shown)
    return replace(block, analytics=(*kept, *signs.values()), qualify=qualify) if signs else block


def _shares(item: Input) -> dict[str, AnalyticCall]:
    """The shares that a block computes, by their names."""
    analytics = item.analytics if isinstance(item, Block) else ()
    return {a.name: a.call for a in analytics if a.call.function in SHARES and not a.call.arguments}


def _compared(literal: Literal) -> tuple[str, Constant] | None:
    """The name of an analytic function and the number that a test compares it with."""
    match literal:
        case Literal(Column() as column, _, Constant(float()) as number) if column.source == Origin.ANALYTIC:
            return (column.name, number) if number.type == DOUBLE and number.value == number.value else None  # not NaN
    return None
