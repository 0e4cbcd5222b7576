"""What may keep a row out of an answer, condition by condition, and the query without some of them.

A row that is expected and not there would be there if the query asked for less (why-not provenance: Chapman and
Jagadish 2009). What may be left out is what drops rows: comparisons of WHERE, HAVING and QUALIFY, a window, a partner
in a join, a set operator that takes rows away, LIMIT. What no text has is left as it is
(``unwritten_conditions``): what ties elements to the array of their row, and a LATERAL subquery to the row that it is
computed for, and what computes ASOF.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.explain.unwritten_conditions import (
    are_constant_rows,
    element_places,
    is_computed,
    is_constant_row,
    is_total,
    unwritten,
    with_subqueries,
)
from workbench.network.network import Network, ancestors
from workbench.network.nodes import Analytic, NodeId, SetOperation
from workbench.network.nodes.set_operation import SetOperator
from workbench.network.sql_text import bare, expression_sql, function_sql, or_pred_sql
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.network.wording import Wording
from workbench.sql.algebra.column_names import display_name, quoted, stored_name
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Origin,
    column_name,
    sources,
)
from workbench.sql.algebra.types import INTEGER
from workbench.sql.logical import (
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Ordered,
    Output,
    SetQuery,
    StreamInput,
    as_query,
    output_columns,
    streams_of,
    unordered,
)
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import FALSE, ORPred, PredSet, pred_set, predicate_sources
from workbench.sql.predicates.implication import normalized
from workbench.sql.predicates.null_safe import equal_sides

_CLAUSES = {
    "where": "WHERE",
    "window": "the window",
    "having": "HAVING",
    "having_window": "HAVING",
    "qualify": "QUALIFY",
}
"""The parts of a block that have conditions, and what an analyst calls them."""
_TAKING_WORDS = "EXCEPT, NOT IN, NOT EXISTS or LEFT JOIN … IS NULL"
"""What takes rows away that another query has, as texts say it; it is one operator of the network."""
_TAKING = frozenset({"except", "antijoin"})
_KEEPING = frozenset({"intersect", "semijoin"})

_OF_ROWS = ("where", "window")
_INPUT = "input"
"""The kind of a condition's key that says that rows need a partner in an input of a join."""
_MERGING = frozenset({SetOperator.UNION, SetOperator.UNION_ALL})
_QUALIFIER = re.compile(r"\b[A-Za-z_]\w*\.")

_Key = tuple[object, ...]


@dataclass(frozen=True)
class Condition:
    """Something of a query that drops rows.

    Attributes:
        clause: which clause it is of, as an analyst calls it.
        text: the condition in SQL; the streams of the other side, where there is no condition.
        key: tells it apart within its query.
        tests: what nodes of the network test for it, in SQL.
    """

    clause: str
    text: str
    key: _Key
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.clause} {self.text}".strip()


def conditions_of(query: LogicalQuery, views: ViewNames = UNNAMED) -> tuple[Condition, ...]:
    """All conditions that may drop rows of a query, the ones that are applied last first.

    Args:
        query: the query.
        views: what the columns of views are called.

    Example:
        >>> from workbench.sql.binder.pipeline import bind
        >>> from workbench.sql.schema import Schema
        >>> from workbench.sql.algebra.types import INTEGER
        >>> schema = Schema({"t": (("k", INTEGER), ("n", INTEGER))})
        >>> text = "SELECT k, COUNT(*) FROM t WHERE n > 3 GROUP BY k HAVING COUNT(*) > 1 ORDER BY k LIMIT 2"
        >>> [str(condition) for condition in conditions_of(bind(text, "spark", schema).query)]
        ['LIMIT 2', 'HAVING COUNT(*) > 1', 'WHERE n > 3']
    """
    found: dict[_Key, Condition] = {}
    seen: set[int] = set()
    waiting: list[Input] = [query]
    while waiting:
        part = waiting.pop(0)
        if id(part) in seen:
            continue
        seen.add(id(part))
        for condition in _own(part, views):
            found.setdefault(condition.key, condition)
        # What the other side of EXCEPT and NOT IN leaves out takes nothing away.
        is_taking = isinstance(part, SetQuery) and part.operator in _TAKING
        places = element_places(part) if isinstance(part, Block) else ()
        children = part.children()[:1] if is_taking else part.children()
        waiting += [child for number, child in enumerate(children) if number not in places]
    return tuple(found.values())


def partners_kept(conditions: Sequence[Condition]) -> list[tuple[Condition, ...]]:
    """As many conditions as can be left out together: where no input of a join needs a partner, none has values.

    The first keeps all partners, each of the others those of one place in FROM.
    """
    places = dict.fromkeys(condition.key[2] for condition in conditions if condition.key[0] == _INPUT)
    others = tuple(condition for condition in conditions if condition.key[0] != _INPUT)
    return [others, *(tuple(c for c in conditions if c in others or c.key[2] != place) for place in places)]


def relaxed_query(query: LogicalQuery, conditions: Collection[Condition]) -> LogicalQuery:
    """A query that asks for less: some of its conditions are left out."""
    left_out = frozenset(condition.key for condition in conditions)
    done: dict[int, Input] = {}

    def changed(part: Input) -> Input:
        if id(part) not in done:
            done[id(part)] = _relaxed(part, part.map(changed), left_out)
        return done[id(part)]

    return as_query(changed(query))


def node_testing(condition: Condition, network: Network, query: str) -> NodeId:
    """The node that tests a condition for a query; empty where none does alone, or the query has no nodes."""
    plan = network.queries.get(query)
    words, tests = Wording(network.nodes), frozenset(map(_unqualified, condition.tests))
    for id_ in reversed(ancestors(network.nodes, () if plan is None else plan.nodes)):
        node = network.nodes[id_]
        is_it = (
            (condition.key[0] == "set" and isinstance(node, SetOperation) and node.operator not in _MERGING)
            or (condition.key[0] == "limit" and isinstance(node, Analytic))
            or not tests.isdisjoint(map(_unqualified, node.label(words)))
        )
        if is_it:
            return id_
    return ""


def _unqualified(text: str) -> str:
    return " = ".join(sorted(_QUALIFIER.sub("", text).lower().split(" = ")))


def rows_that_satisfy(query: LogicalQuery, predicates: PredSet) -> Block:
    """The rows of a query that satisfy predicates over its columns, by their stored names."""
    columns = output_columns(query)
    outputs = tuple(Output(name, Column(stored_name(name), type_)) for name, type_ in columns)
    return Block((unordered(query),), predicates, outputs)


def _own(part: Input, views: ViewNames) -> Iterator[Condition]:
    match part:
        case Ordered() if not part.keeps_all:
            limit = "" if part.limit is None else f"{part.limit}"
            offset = f" OFFSET {part.offset}" if part.offset else ""
            yield Condition("LIMIT" if limit else "OFFSET", f"{limit}{offset}".strip(), ("limit", id(part)))
        case SetQuery() if part.operator in _TAKING | _KEEPING:
            streams = frozenset().union(*map(streams_of, part.branches[1:]))
            others = sorted(streams - streams_of(part.branches[0]) or streams)
            word = _TAKING_WORDS if part.operator in _TAKING else "INTERSECT, IN or EXISTS"
            yield Condition(f"{word}, rows of", ", ".join(others), ("set", id(part)))
        case Block() if not is_constant_row(part):
            yield from _of_block(part, views)


def _of_block(block: Block, views: ViewNames) -> Iterator[Condition]:
    names, called, places, tied = _Names(block), _Names(block, views), element_places(block), unwritten(block)
    first = _first(block)
    for clause in reversed(_CLAUSES):
        for predicate in getattr(block, clause):
            if predicate in tied:
                continue
            read = predicate_sources(predicate) if clause in _OF_ROWS else frozenset({0})
            if len(read) < 2 or len(_connected(block, block.where, first, predicate)) == len(block.inputs):
                named, shown = (of if clause in _OF_ROWS else of.of_groups for of in (names, called))
                tests = tuple(or_pred_sql(p, named) for p in normalized(canonical(pred_set([predicate]))))
                for text in _predicate_texts(_whole(block, clause, predicate), shown):
                    yield Condition(_CLAUSES[clause], text, _key(block, clause, predicate), tests)
    if len(block.inputs) - len(places) > 1:
        for source, item in enumerate(block.inputs):
            if source in places or is_total(item):
                continue
            tested = [p for p in block.where if {source} < predicate_sources(p) - places.keys() and p not in tied]
            texts = _predicate_texts(tested, called)
            on = f" ON {' AND '.join(texts)}" if texts else ""
            tests = tuple(or_pred_sql(p, names) for p in tested)
            yield Condition("a row of", called.called(source) + on, (_INPUT, id(block), source), tests)


def _predicate_texts(predicates: Sequence[ORPred], called: Callable[[Column | Call], str]) -> list[str]:
    """Predicates of a join in SQL, without what an outer or ASOF join adds; what is equal with NULL is one."""
    same = equal_sides(pred_set(predicates))
    parts = {part for of_one in same.values() for part in of_one}
    pairs = (" IS NOT DISTINCT FROM ".join(expression_sql(side, called) for side in sides) for sides in same)
    others = (or_pred_sql(p, called) for p in predicates if p not in parts)
    return [*dict.fromkeys(with_subqueries(text) for text in (*pairs, *others) if not is_computed(text))]


def _whole(block: Block, clause: str, predicate: ORPred) -> list[ORPred]:
    """A predicate with the other half of an equality that holds for NULL too, by which rows are found."""
    pairs = equal_sides(getattr(block, clause)).values() if clause in _OF_ROWS else ()
    return next((parts for parts in pairs if predicate in parts), [predicate])


def _key(block: Block, clause: str, predicate: ORPred) -> _Key:
    """The key of a condition in the analyst's text; equal ones in several blocks over the same inputs have the same."""
    predicate = _whole(block, clause, predicate)[0]
    if clause not in _OF_ROWS:
        return (clause, id(block), predicate.identity)
    read = sorted(predicate_sources(predicate))
    return (clause, predicate.identity, *(block.inputs[source] for source in read))


def _connected(block: Block, where: PredSet, first: int, left_out: ORPred | None, gone: int = -1) -> frozenset[int]:
    """The inputs that an input is joined with, also through others; one of one row is joined with all."""
    joined = [predicate_sources(p) for p in where if p is not left_out]
    places, found = element_places(block), {first}
    while True:
        more = {s for read in joined if len(read) > 1 and gone not in read and read & found for s in read}
        more |= {s for s, item in enumerate(block.inputs) if s != gone and is_total(item)}
        more |= {s for s, arrays in places.items() if arrays <= found}
        if more <= found:
            return frozenset(found)
        found |= more


def _first(block: Block, but: int = -1) -> int:
    """The first input whose rows are not places."""
    places = element_places(block)
    return next((s for s in range(len(block.inputs)) if s != but and s not in places), 0)


def _relaxed(part: Input, changed: Input, left_out: frozenset[_Key]) -> Input:
    """A part with changed children, without the conditions that are left out."""
    match changed:
        case Ordered() if ("limit", id(part)) in left_out:
            return replace(changed, limit=None, offset=0, with_ties=False, on=())
        case SetQuery() if ("set", id(part)) in left_out:
            first = changed.branches[0]
            if output_columns(first) == output_columns(changed):
                return first
            return SetQuery("union", True, (first,), changed.names, changed.types)
        case Block():
            assert isinstance(part, Block)
            relaxed = replace(changed, inputs=tuple(map(_as_input, changed.inputs)))
            for clause in _CLAUSES:
                kept = pred_set(p for p in getattr(part, clause) if _key(part, clause, p) not in left_out)
                relaxed = replace(relaxed, **{clause: kept})  # type: ignore[arg-type]  # all of these are PredSets
            for source in range(len(part.inputs)):
                if (_INPUT, id(part), source) in left_out:
                    relaxed = _without_input(relaxed, source)
            return relaxed
    return changed


def _as_input(item: Input) -> Input:
    return unordered(item) if isinstance(item, Ordered) else item


def _without_input(block: Block, source: int) -> Block:
    """A block whose rows need no partner of an input, nor of what it is joined through: these columns are NULL."""
    first = _first(block, but=source)
    gone = set(range(len(block.inputs))) - _connected(block, block.where, first, None, gone=source)
    inputs = tuple(_null_row(item) if place in gone else item for place, item in enumerate(block.inputs))
    where, window = (pred_set(p for p in of if not predicate_sources(p) & gone) for of in (block.where, block.window))
    return replace(block, inputs=inputs, where=where, window=window)


def _null_row(item: Input) -> Block:
    """One row of NULL with the columns of an input."""
    if isinstance(item, StreamInput):  # its names are stored ones
        columns = tuple((display_name(name), type_) for name, type_ in item.columns)
    else:
        columns = output_columns(item)
    nulls = tuple(Output(name, Constant(None, type_)) for name, type_ in columns)
    return Block((item,), FALSE, nulls, Grouping((), (AggregateCall("count", (), INTEGER),)))


class _Names:
    """The names of a block's columns in the words of the query, followed to the streams where they are no values."""

    def __init__(self, block: Block, views: ViewNames = UNNAMED) -> None:
        self._block, self._views = block, views

    def __call__(self, part: Column | Call) -> str:
        """A column of an input, or what a view calls what is computed of one."""
        match part:
            case Call("element_at", (array, Column() as of)) if of.source in element_places(self._block):
                return f"EXPLODE({expression_sql(array, self)})"
        read = sources(part)
        if len(read) != 1 or not read <= set(range(len(self._block.inputs))):
            return bare(part)
        place = min(read)
        item = self._block.inputs[place]
        if isinstance(part, Column):
            name = _name_within(item, part.name, self._views)
        else:
            name = self._views.name(item.stream, part) if isinstance(item, StreamInput) else ""
        is_one_of_several = name and isinstance(item, StreamInput) and len(self._block.inputs) > 1
        return f"{self.called(place)}.{name}" if is_one_of_several else name

    def called(self, place: int) -> str:
        """The streams of an input; one that is joined with itself has its number in the order of FROM."""
        item = self._block.inputs[place]
        if are_constant_rows(item):
            return "constants"
        alike = [i for i, other in enumerate(self._block.inputs) if other == item]
        number = f"_{alike.index(place) + 1}" if len(alike) > 1 and isinstance(item, StreamInput) else ""
        return " and ".join(sorted(streams_of(item))) + number

    def of_groups(self, column: Column | Call) -> str:
        """A column of the groups, of functions with OVER, or of an input where the block does not group."""
        if isinstance(column, Call):
            return self(column) if self._block.grouping is None else ""
        for analyzed in self._block.analytics:
            if column.source == Origin.ANALYTIC and analyzed.name == column.name:
                return function_sql(analyzed.call, self.of_groups)
        if self._block.grouping is None:
            return self(column)
        for part in (*self._block.grouping.groups, *self._block.grouping.statistics):
            if column.source == 0 and column_name(part) == column.name:
                return expression_sql(part, self)
        return bare(column)


def _name_within(item: Input, name: str, views: ViewNames) -> str:
    """The name that a column of an input had where it comes from."""
    match item:
        case Ordered():
            return _name_within(item.query, name, views)
        case SetQuery():
            place = [stored_name(own) for own in item.names].index(name)
            return _name_within(item.branches[0], stored_name(output_columns(item.branches[0])[place][0]), views)
        case Block():
            value = next(o.expression for o in item.outputs if stored_name(o.name) == name)
            return _Names(item, views).of_groups(value) if isinstance(value, Column) else quoted(display_name(name))
    return quoted(display_name(name))
