"""Groups computed only of the rows that are asked for: magic sets.

A total for each key that is joined with few keys is computed of the rows of these alone::

    σ[brand] P ⋈ γ[part] L   =   σ[brand] P ⋈ γ[part] (L ⋈ δ π[part] σ[brand] P)

In TPC-H's 17th question one part in a thousand is asked for: over 600,000 orders a batch took back and gave 42,000
averages, and 376 rows of the join that reads them. Where another query has the groups of all rows, these cost less:
which of the two forms is taken is for ``Planner.register`` to decide, by what the network has already.

Source: F. Bancilhon, D. Maier, Y. Sagiv, J. Ullman, *Magic sets and other strange ways to implement logic programs*,
PODS 1986; for SQL I. Mumick, S. Finkelstein, H. Pirahesh, R. Ramakrishnan, *Magic is relevant*, SIGMOD 1990.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from workbench.sql.algebra.expressions import Column, reading_order
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, Input, LogicalQuery, StreamInput, parts_of, with_blocks
from workbench.sql.narrowing import with_partners
from workbench.sql.partners import Partners, column_pairs, partners_of
from workbench.sql.predicates.cnf import Operator, PredSet, conjunction, predicate_columns
from workbench.sql.predicates.normal_form import normal_form


def with_magic_sets(query: LogicalQuery) -> LogicalQuery:
    """A query whose groups are computed of the keys that are joined with them; an equal one, if nothing selects these.

    Args:
        query: bound, not yet planned.
    """
    return with_blocks(query, _with_selected_groups)


def _with_selected_groups(block: Block, partners: int | None = None) -> Block:
    """A block whose inputs have the groups that it joins; one of the inputs may be the keys that are asked for."""
    known = {*_selecting(block)} | ({partners} if partners is not None else set())
    inputs = [*block.inputs]
    if not known or not any(map(_groups_rows, inputs)):
        return block
    asked = replace(block, where=conjunction(block.where, _equal_to_equal(block.where)))
    for source, item in enumerate(inputs):
        others = known - {source}
        if _groups_rows(item) and (found := partners_of(asked, inputs, source, others, of_value=False)) is not None:
            inputs[source] = with_partners(item, found, _joined)
    return replace(block, inputs=tuple(inputs))


def _joined(partners: Partners, block: Block) -> Input:
    return _with_selected_groups(partners.joined_to(block), len(block.inputs))


def _equal_to_equal(where: PredSet) -> PredSet:
    """That columns are equal which are equal to the same one: of ``a = b and b = c`` that ``a = c``."""
    classes: dict[Column, tuple[Column, ...]] = {}
    for one, other, null_safe in column_pairs(where):
        if not null_safe:
            together = tuple({*classes.get(one, (one,)), *classes.get(other, (other,))})
            classes |= dict.fromkeys(together, together)
    pairs = (pair for together in {*classes.values()} for pair in combinations(sorted(together, key=reading_order), 2))
    return conjunction(*(normal_form(call("=", *pair)) for pair in pairs))


def _selecting(block: Block) -> Iterator[int]:
    """The inputs of which conditions leave some rows, here or inside, and which are found without groups."""
    tested = {
        column.source
        for test in block.where
        for column in predicate_columns(test)
        if len({other.source for other in predicate_columns(test)}) == 1
        and any(literal.operator is not Operator.IS_NOT_NULL for literal in test.literals)
    }
    for source, item in enumerate(block.inputs):
        if not _groups_rows(item) and (source in tested or not isinstance(item, StreamInput)):
            yield source


def _groups_rows(item: Input) -> bool:
    """Whether an input has a total for each of several keys."""
    return any(
        isinstance(part, Block) and part.grouping is not None and bool(part.grouping.groups) for part in parts_of(item)
    )
