"""Known values of a query's rows moved down to where these are stored: below groups, partitions and set operators.

A row of an ANTIJOIN, EXCEPT or INTERSECT is compared with rows of the other branches that are equal to it in all
columns, so only those that have the known values matter there as well. What is tested above stays there.

Where an input has known values, an input that is computed and joined with it matters only in rows of which it has a
partner there: its groups are computed of these alone (magic sets: Bancilhon, Maier, Sagiv, Ullman 1986). Where these
are found first, their values are known ones of that input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, permutations

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Origin, column_name, columns
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls import SESSION_START, call
from workbench.sql.logical import (
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Ordered,
    SetQuery,
    StreamInput,
    as_query,
    output_columns,
    parts_of,
    rebuilt,
)
from workbench.sql.partners import SAME_KINDS, Partners, column_pairs, is_same_where_equal, partners_of
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import (
    FALSE,
    TRUE,
    Literal,
    Operator,
    ORPred,
    PredSet,
    conjunction,
    map_expressions,
    map_predicates,
    or_pred,
    pred_set,
    predicate_columns,
)

_OF_VALUES = frozenset({"count", "sum", "min", "max"})
"""Functions that read nothing of a row where their argument is NULL."""

Find = Callable[[Block, Sequence[Expression]], PredSet]
"""Says which values expressions have in the rows of a block, which has a column for each; TRUE where these are many."""


@dataclass(frozen=True)
class Finder:
    """Finds the values that partners have; where it does not, the partners are joined.

    ``narrowed``: parts that were narrowed, by what they are and by their tests; a part may be read in many places.
    """

    find: Find = lambda rows, columns: TRUE
    narrowed: dict[tuple[Input, PredSet], Input] = field(default_factory=dict)


def with_inner_tests(block: Block, finder: Finder | None = None) -> Block:
    """A block that gives the same rows, of inputs that have fewer.

    Each condition on one input alone is tested inside this too, if it can be, and HAVING on groups alone in WHERE.

    Args:
        block: the block.
        finder: finds partners.
    """
    return _narrowed(block, None, finder or Finder())


def _narrowed(block: Block, partners: int | None, finder: Finder) -> Block:
    """What ``with_inner_tests`` gives; one of the inputs may be the partners of rows that matter."""
    if block.analytics:
        block = _without_unread(block, block.qualify, finder)
    if block.grouping is not None and block.having:
        block = replace(block, where=conjunction(block.where, _over(block.having, _of_one_row(block.grouping))))
    block = replace(block, where=_with_equal_columns(_with_arrays(block.where), block.inputs))
    if is_empty(block):
        return _reads_no_rows(block)
    tests = [_of_input(block.where, source) for source in range(len(block.inputs))]
    inputs = [_inside(item, own, finder) for item, own in zip(block.inputs, tests, strict=True)]
    rows = (
        _over(own, _of_rows(item)) if isinstance(item, Block) else own for item, own in zip(inputs, tests, strict=True)
    )
    known = {source for source, own in enumerate(rows) if source == partners or any(map(_is_known, own))}
    links = [*column_pairs(block.where)]
    known |= {
        own.source for own, other, _ in links if other.source in known and isinstance(inputs[own.source], StreamInput)
    }

    def joined(own: Partners, part: Block) -> Input:
        return _narrowed(own.joined_to(part), len(part.inputs), finder)

    for source, item in enumerate(inputs):
        if source not in known and _is_computed(item) and (asked := partners_of(block, inputs, source, known)):
            found = finder.find(asked.rows, asked.columns)
            inputs[source] = _inside(item, found, finder) if found else with_partners(item, asked, joined)
    return replace(block, inputs=tuple(inputs))


def _with_arrays(where: PredSet) -> PredSet:
    """Conditions with what follows for arrays from their elements: those without a known one have no place to find."""
    known = (test for test in where if all(map(_is_of_value, test.literals)))
    found = ([*map(_of_array, test.literals)] for test in known)
    return conjunction(where, *(pred_set([or_pred(chain.from_iterable(own))]) for own in found if all(own)))


def _is_of_value(literal: Literal) -> bool:
    is_known = literal.operator is Operator.EQ and isinstance(literal.right, Constant)
    return is_known and literal.left.type.kind in SAME_KINDS | {Kind.DOUBLE}


def _of_array(literal: Literal) -> list[Literal]:
    """Of which alternatives one holds where a value is known, if it is an element."""
    match literal.left, literal.right:
        case Call("element_at", (Call("array", elements), _)), _:
            return [replace(literal, left=element) for element in elements]
        case Call("element_at", (array, _)), Constant() as value if array.type.kind is Kind.ARRAY:
            return (
                [Literal(call("array_contains", array, value), Operator.HOLDS)] if value.type.kind in SAME_KINDS else []
            )
    return []


def _with_equal_columns(where: PredSet, inputs: Sequence[Input]) -> PredSet:
    """Conditions with what is tested of a column also of those that are equal to it."""
    links = [*((column, other) for column, other, _ in column_pairs(where)), *_twins(inputs)]
    found = [*where]
    for test in found:
        for column, other in links:
            if _is_known(test) and predicate_columns(test) == {column}:
                copied = map_predicates(PredSet((test,)), {column: other}.__getitem__)
                found += [one for one in copied if one not in found]
    return pred_set(found)


def _twins(inputs: Sequence[Input]) -> Iterator[tuple[Column, Column]]:
    """Columns of an input that have one value, each pair both ways."""
    for source, item in enumerate(inputs):
        of_value = defaultdict[Expression, list[Column]](list)
        for column, value in _named_outputs(item).items() if isinstance(item, Block) else ():
            of_value[value].append(replace(column, source=source))
        for twins in of_value.values():
            yield from permutations(twins, 2)


def _is_known(test: ORPred) -> bool:
    """Whether a test lets only some values through."""
    return all(x.operator is Operator.IS_NULL or x.operator is Operator.EQ for x in test.literals)


def _is_computed(part: Input) -> bool:
    """Whether something is computed of several rows, or of rows that are compared with others."""
    return any(
        isinstance(inner, SetQuery) or (isinstance(inner, Block) and not inner.is_plain) for inner in parts_of(part)
    )


def _of_input(tests: PredSet, source: int) -> PredSet:
    """The conditions that read one input alone, over its columns."""
    own = pred_set(test for test in tests if {column.source for column in predicate_columns(test)} == {source})
    return map_predicates(own, lambda column: replace(column, source=0))


def _inside(part: Input, tests: PredSet, finder: Finder) -> Input:
    """A part of a query without some of the rows that do not pass tests over its columns."""
    if not tests:
        return part
    if (part, tests) not in finder.narrowed:
        finder.narrowed[part, tests] = _narrowed_inside(part, tests, finder)
    return finder.narrowed[part, tests]


def _narrowed_inside(part: Input, tests: PredSet, finder: Finder) -> Input:
    match part:
        case Block():
            return _tested(part, tests, finder)
        case SetQuery(rules=()) if part.beyond is None:
            branches = tuple(
                as_query(_inside(branch, _over(tests, _of_branch(part, branch)), finder)) for branch in part.branches
            )
            if part.operator == "union":  # a row without partner has NULL where a known row has a value
                branches = tuple(branch for branch in branches if not _has_no_rows(branch)) or branches[:1]
            return replace(part, branches=branches)
        case Ordered() if own := _over(tests, _counted_apart(part)):
            return part.map(lambda query: _inside(query, own, finder))
    return part


def with_partners(part: Input, partners: Partners, joined: Callable[[Partners, Block], Input]) -> Input:
    """A part of a query without some of the rows that have no partner, where it computes something of rows.

    Args:
        part: the part.
        partners: of its rows.
        joined: what becomes of a block whose rows are to be joined with partners of theirs.
    """
    match part:
        case Block(inputs=(inner,)) if part.is_plain and not isinstance(inner, StreamInput):
            below = partners.over(_of_rows(part))
            return replace(part, inputs=(with_partners(inner, below, joined),)) if below is not None else part
        case Block():
            own = partners.over(_of_rows(part))
            return joined(own, part) if own is not None else part
        case SetQuery(rules=()) if part.beyond is None:
            of_branches = [partners.over(_of_branch(part, branch)) for branch in part.branches]
            both = zip(part.branches, of_branches, strict=True)
            branches = (
                as_query(with_partners(branch, own, joined)) if own is not None else branch for branch, own in both
            )
            return replace(part, branches=tuple(branches))
        case Ordered() if (own := partners.over(_counted_apart(part))) is not None:
            return part.map(lambda query: with_partners(query, own, joined))
    return part


def is_empty(part: Input) -> bool:
    """Whether the condition of a block lets no row through."""
    return isinstance(part, Block) and FALSE.or_preds[0] in part.where.or_preds


def _has_no_rows(query: LogicalQuery) -> bool:
    """Whether a query is known to give none; a total is one row, also of none."""
    found = set[int]()
    for part in parts_of(query):
        empty = [id(inner) in found for inner in part.children()]
        match part:
            case Block(grouping=grouping):
                gives_none = (is_empty(part) or any(empty)) and (grouping is None or bool(grouping.groups))
            case SetQuery(operator="union", rules=()):
                gives_none = all(empty)
            case SetQuery(rules=()) | Ordered():
                gives_none = empty[0]
            case _:
                gives_none = False
        found |= {id(part)} if gives_none else set()
    return id(query) in found


def _reads_no_rows(block: Block) -> Block:
    """A block that no row comes through, whose inputs are not computed in vain."""
    nothing = (
        rebuilt(item, lambda part: replace(part, where=FALSE) if isinstance(part, Block) else part)
        for item in block.inputs
    )
    return replace(block, inputs=tuple(nothing))


def _of_branch(query: SetQuery, branch: Block | SetQuery | Ordered) -> dict[Column, Expression]:
    """The columns of a set operator's rows in a branch; without those whose values the operator makes wider."""
    return {
        Column(stored_name(name), type_): Column(stored_name(own), type_)
        for name, type_, (own, of_branch) in zip(query.names, query.types, output_columns(branch), strict=True)
        if of_branch == type_ and [stored_name(other) for other in query.names].count(stored_name(name)) == 1
    }


def _counted_apart(part: Ordered) -> dict[Column, Expression]:
    """The columns of an ordered query by whose values rows are counted apart, so that other values change no row."""
    shown = (Column(stored_name(name), type_) for name, type_ in output_columns(part))
    return {column: column for column in shown if part.keeps_all or column in part.on}


def _named_outputs(block: Block) -> dict[Column, Expression]:
    """The expressions of a block's columns over its rows or groups."""
    shown = [(stored_name(output.name), output.expression) for output in block.outputs]
    names = [name for name, _ in shown]
    return {
        Column(name, value.type): value for name, value in shown if names.count(name) == 1 and not is_analytic(value)
    }


def is_analytic(expression: Expression) -> bool:
    """Whether an expression reads the value of a function with OVER."""
    return any(column.source == Origin.ANALYTIC for column in columns(expression))


def _shown(block: Block) -> dict[Column, Expression]:
    """The same without those that differ between rows of a partition."""
    partitions = [analyzed.call.over.partition for analyzed in block.analytics]
    named = _named_outputs(block)
    return {column: value for column, value in named.items() if all(value in partition for partition in partitions)}


def _of_rows(block: Block) -> dict[Column, Expression]:
    """The expressions of a block's columns over the rows of its inputs."""
    if block.grouping is None:
        return _shown(block)
    groups = _of_one_row(block.grouping)
    return {
        column: groups[value]
        for column, value in _shown(block).items()
        if isinstance(value, Column) and value in groups
    }


def _of_one_row(grouping: Grouping) -> dict[Column, Expression]:
    """The columns of groups by what each means of one row; the session of a row depends on other rows."""
    groups = (group for group in grouping.groups if not (isinstance(group, Call) and group.function == SESSION_START))
    return {Column(column_name(group), group.type): group for group in groups}


def _without_unread(block: Block, tests: PredSet, finder: Finder) -> Block:
    """A block whose functions with OVER are computed of fewer rows: of a row without value they read nothing.

    Args:
        block: the block.
        tests: what rows have to satisfy that are shown.
        finder: as in ``with_inner_tests``.
    """
    (item, *others) = block.inputs
    if others or block.grouping is not None or not isinstance(item, SetQuery) or item.rules or not item.all:
        return block
    calls = [analyzed.call for analyzed in block.analytics]
    if item.operator != "union" or not all(map(_is_by_value, calls)):
        return block
    read = {argument for call in calls for argument in call.arguments}

    def narrowed(branch: LogicalQuery) -> LogicalQuery:
        shown = (
            dict(zip(map(stored_name, item.names), branch.outputs, strict=True)) if isinstance(branch, Block) else {}
        )
        values = [shown[column.name].expression for column in read if isinstance(column, Column) and shown]
        is_read = len(values) < len(read) or not all(isinstance(v, Constant) and v.value is None for v in values)
        return branch if is_read else as_query(_inside(branch, _over(tests, _of_branch(item, branch)), finder))

    return replace(block, inputs=(replace(item, branches=tuple(map(narrowed, item.branches))),))


def _is_by_value(call: AnalyticCall) -> bool:
    """Whether a function has arguments, and sees rows by their values alone, not by how many are between them."""
    by_range = call.function in _OF_VALUES and (call.frame is None or call.frame.unit == "range")
    return bool(call.arguments) and (by_range or call.passes_over_nulls)


def _tested(block: Block, tests: PredSet, finder: Finder) -> Block:
    if block.analytics:
        block = _without_unread(block, _over(tests, _named_outputs(block)), finder)
    own = _over(tests, _shown(block))
    if not own:
        return block
    if block.grouping is not None:
        return with_inner_tests(replace(block, having=conjunction(block.having, own)), finder)
    return with_inner_tests(replace(block, where=conjunction(block.where, own)), finder)


def _over(tests: PredSet, meaning: Mapping[Column, Expression]) -> PredSet:
    """The tests that read no other columns, over what these mean."""

    def is_known(test: ORPred) -> bool:
        read = predicate_columns(test)
        is_same = _is_of_doubles(test) or all(is_same_where_equal(column.type) for column in read)
        return bool(read) and read <= meaning.keys() and is_same

    known = pred_set(filter(is_known, tests))
    return canonical(map_expressions(map_predicates(known, meaning.__getitem__), _decided)) if known else TRUE


def _is_of_doubles(test: ORPred) -> bool:
    """Whether a test compares columns of DOUBLE with constants: 0.0 and -0.0 pass both, or neither."""
    return all(
        isinstance(x.left, Column) and x.left.type.kind is Kind.DOUBLE and not isinstance(x.right, Column | Call)
        for x in test.literals
    )


def _decided(expression: Expression) -> Expression:
    """An expression without conditions that are constant: what a branch of a set operator marks its rows with.

    A field of a struct that is made of values is one of them.
    """
    if not isinstance(expression, Call):
        return expression
    arguments = [*map(_decided, expression.arguments)]
    match expression.function, arguments:
        case "field", (Call("struct", values), Constant(int(place))):
            return values[place]
    if expression.function != "case":
        return replace(expression, arguments=tuple(arguments))
    while len(arguments) > 1 and isinstance(arguments[0], Constant):
        arguments = arguments[1:2] if arguments[0].value else arguments[2:]
    if len(arguments) == 1 and arguments[0].type == expression.type:
        return arguments[0]
    return replace(expression, arguments=tuple(arguments)) if len(arguments) > 1 else expression
