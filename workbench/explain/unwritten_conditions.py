"""Conditions of a query that no text has: what its plan adds, and what ties parts of it together.

They are left as they are when it is looked for what keeps a row out, and no explanation names them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from workbench.sql.algebra.expressions import Call, Column, Expression, columns, is_call, sources, walk
from workbench.sql.binder.joins.trees import COMPUTED
from workbench.sql.functions.arrays.arrays import HAS_PLACE
from workbench.sql.logical import Block, Input, StreamInput, parts_of
from workbench.sql.predicates.cnf import FALSE, ORPred, PredSet, predicate_expressions, predicate_sources
from workbench.sql.predicates.null_safe import equal_sides

_COMPUTED = re.compile(rf"\b{COMPUTED}\w")
_IN = "CASE WHEN NOT MIN(0) IS NULL THEN true"
_EXISTS = {
    "NOT MIN(0) IS NULL": "EXISTS (SELECT …)",
    "MIN(0) IS NOT NULL": "EXISTS (SELECT …)",
    "MIN(0) IS NULL": "NOT EXISTS (SELECT …)",
}
"""How a subquery is asked for rows (``binder/joins/subquery_values.py``), and how a text does."""
_TEXT = re.compile(r"'(?:[^']|'')*'")


def is_total(item: Input) -> bool:
    """Whether it is a total, which has one row whatever there is."""
    return isinstance(item, Block) and item.grouping is not None and not item.grouping.groups


def is_constant_row(item: Input) -> bool:
    """Whether it is the row that VALUES are made of, which is there whatever the streams have."""
    if not isinstance(item, Block) or not is_total(item) or item.where != FALSE:
        return False
    return not any(columns(expression) for expression in item.result_expressions())


def are_constant_rows(item: Input) -> bool:
    """Whether its rows are made of none of a stream's: those of VALUES, of a series, places of elements."""
    is_read = not isinstance(item, StreamInput) and bool(item.children())
    return is_constant_row(item) or (is_read and all(map(are_constant_rows, item.children())))


def element_places(block: Block) -> dict[int, frozenset[int]]:
    """The inputs that are the places of elements (``binder.joins.elements``), with those whose arrays have them."""
    found: dict[int, frozenset[int]] = {}
    for part in (part for expression in block.row_expressions() for part in walk(expression)):
        if isinstance(part, Call) and part.function in (HAS_PLACE, "element_at"):
            array, place, *_ = part.arguments
            for source in sources(place):
                if source < len(block.inputs) and are_constant_rows(block.inputs[source]):
                    found[source] = found.get(source, frozenset()) | (sources(array) - {source})
    return found


def _tying(block: Block) -> frozenset[ORPred]:
    """What ties elements to the array of their row, and the rows of a subquery to those that it is computed for."""
    tied = [p for p in block.where if any(is_call(e, HAS_PLACE) for e in predicate_expressions(p))]
    for parts in equal_sides(block.where).values():
        own, *others = (block.inputs[source] for source in sorted(predicate_sources(parts[0])))
        if any(own in parts_of(other) or other in parts_of(own) for other in others):
            tied += parts
    return frozenset(tied)


def unwritten(block: Block) -> frozenset[ORPred]:
    """What no text has of the predicates of a block: its ties, the ends of long series, keys of subqueries."""
    constant = {source for source, item in enumerate(block.inputs) if are_constant_rows(item)}
    of_constants = {p for p in block.where if len(predicate_sources(p)) > 1 and predicate_sources(p) <= constant}
    return _tying(block).union(of_constants, _null_safe_keys(block.where))


def is_computed(text: str) -> bool:
    """Whether a condition reads a column that the plan of a join adds, by its SQL.

    Example:
        >>> is_computed("_of_side = 1"), is_computed("s = '_of_side'")
        (True, False)
    """
    return _COMPUTED.search(_TEXT.sub("", text)) is not None


def with_subqueries(text: str) -> str:
    """A condition in which IN and EXISTS stand for what they are computed by.

    Example:
        >>> with_subqueries("(k > 3 OR MIN(0) IS NOT NULL)"), with_subqueries("NOT MIN(0) IS NULL AND MIN(0) IS NULL")
        ('(k > 3 OR EXISTS (SELECT …))', 'EXISTS (SELECT …) AND NOT EXISTS (SELECT …)')
        >>> with_subqueries("CASE WHEN NOT MIN(0) IS NULL THEN true WHEN CASE WHEN c THEN 1 END > 0 THEN NULL END OR k")
        'IN (SELECT …) OR k'
    """
    while (start := text.find(_IN)) >= 0:
        depth = 0
        for word in re.finditer(r"\b(?:CASE|END)\b", text[start:]):
            depth += 1 if word[0] == "CASE" else -1
            if not depth:
                text = f"{text[:start]}IN (SELECT …){text[start + word.end() :]}"
                break
        else:
            break
    for computed, asked in _EXISTS.items():
        text = text.replace(computed, asked)
    return text


def _null_safe_keys(where: PredSet) -> Iterator[ORPred]:
    """Predicates that compare keys of a subquery with a value and with whether it is NULL, which belong together."""
    compared = defaultdict[Expression, dict[str, ORPred]](dict)
    for predicate in where:
        sides = [*predicate_expressions(predicate)]
        for side in sides if any(isinstance(one, Column) for one in sides) else ():
            if isinstance(side, Call) and side.function in ("coalesce", "is_null"):
                compared[side.arguments[0]][side.function] = predicate
    for found in compared.values():
        if len(found) > 1:
            yield from found.values()
