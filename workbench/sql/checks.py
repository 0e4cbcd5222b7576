"""Checks of queries: what must hold of their rows, which only the rows can say.

- A subquery as a value has one row at most. Its check reads the groups that the value is read from, and so is a
  selection below them; it has rows where a group has several.
- An array in FROM whose expression does not say how long it is has as many elements as there are places for them at
  most (``binder/joins/elements.py``). Its check has the rows with longer ones.
- A quotient of exact numbers in postgres has at most 20 digits behind the point (``functions/numeric_quotients.py``).
  Its check has the rows, or groups, for which there are more, or too many before the point.
- A DOUBLE that is rounded as NUMERIC in postgres has at most 19 digits before the point
  (``functions/numeric_casts.py``). Its check has the rows, or groups, for which it has more.
- A recursive query whose steps the text does not bound has no rows beyond those that are evaluated
  (``binder/recursion.py``). Its check has the rows of one more step, of UNION those that no step before has.
- Entries of a map are valid: each key is there once, and is not NULL (``functions/maps.py``). Its check has the
  rows, or groups, whose entries are invalid.
- An end of a frame of RANGE, a number plus or minus a distance, has at most 38 digits. Its check has the rows, or
  groups, for which there are more.
- Frames of which a statistic of values is, such as a list, have 1,000 rows at most. Its check has the rows whose
  frames are longer.
- A text or an array that a function makes by a number is not larger than it makes (``functions/size_limits.py``). Its
  check has the rows, or groups, that ask for more.
- What is read from JSON in postgres can be written as it does (``functions/json_values.py``). Its check has
  the rows, or groups, for which it cannot.

- A foreign key between two streams of the query holds (``constraints``). Its check has the keys for which there is not
  exactly one row of the target: one count for each key, of both streams. Where it has rows, the query goes on by a plan
  that does not rely on the key.

Of quotients, rounded DOUBLEs, maps, sizes and JSON the branches that a CASE or COALESCE does not take are not looked
at. Neither is a column of a subquery, CTE or view that nothing reads.

A check is a query of its own. Where it has rows, the query that it belongs to does not go on, as after a function that
raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple

from workbench.sql.algebra.analytic import LONGEST_FRAME, AnalyticCall
from workbench.sql.algebra.arithmetic import number
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    calls,
    column_name,
    is_call,
    walk,
)
from workbench.sql.algebra.patterns import UNDECIDED
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.constraints import Constraint, ForeignKey, foreign_keys
from workbench.sql.functions.aggregate_rules import RULES
from workbench.sql.functions.arrays.arrays import HAS_PLACE, variable
from workbench.sql.functions.arrays.lengths import ENDED
from workbench.sql.functions.arrays.maps import MAP_FROM_ENTRIES, NO_MAP
from workbench.sql.functions.calls import FUNCTIONS, call
from workbench.sql.functions.json_values import UNREAD
from workbench.sql.functions.numbers import NUMERIC_QUOTIENT
from workbench.sql.functions.numeric_casts import ROUNDED_NUMERIC
from workbench.sql.functions.size_limits import MOST_SIZES, SIZE_HINT, size_limit
from workbench.sql.logical import (
    Analyzed,
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Output,
    SetQuery,
    StreamInput,
    parts_of,
)
from workbench.sql.predicates.cnf import (
    TRUE,
    Literal,
    Operator,
    PredSet,
    conjunction,
    or_pred,
    pred_set,
    predicate_expressions,
    predicate_sources,
)
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.read_outputs import read_blocks
from workbench.sql.windows.stream_time import ROW, now_of, row_number_key

GROUP_ROWS = AggregateCall("count", (), INTEGER)
"""The statistic of a group that says how many rows it has."""
_GUARDED = frozenset({NUMERIC_QUOTIENT, ROUNDED_NUMERIC, MAP_FROM_ENTRIES, *UNREAD, *MOST_SIZES})


class Guarded(NamedTuple):
    """A part of an expression that must be looked at.

    Attributes:
        part: what it is.
        inexact: whether it is not what the database has.
        conditions: under which it is taken, all of which hold then.
    """

    part: Call
    inexact: Expression
    conditions: tuple[Expression, ...]


_VIOLATED = (Output("violated", Constant(True, BOOLEAN)),)


@dataclass(frozen=True)
class Check:
    """A query that must have no rows; if it has some, the query that it belongs to is disabled, with a reason and a
    hint.

    ``needed``: whether what it looks at is read; where it is not, the answer does not depend on it. ``key``: the
    foreign key that it is the check of, if it is one of these.
    """

    query: LogicalQuery
    reason: str
    hint: str
    needed: bool = field(default=True, compare=False)
    key: ForeignKey | None = None


def checks_of(query: LogicalQuery, constraints: Iterable[Constraint] = ()) -> tuple[Check, ...]:
    """The checks of a query, which is active while all of them have no rows.

    Those that are not needed are among them, since stored networks call checks by their number.

    Args:
        query: what it means.
        constraints: those on which its plan may rely.
    """
    read = read_blocks(query)
    found: dict[Check, Check] = {}
    for check in (check for part in parts_of(query) for check in _of_part(part, read)):
        if check.needed or check not in found:
            found[check] = check
    streams = {part.stream: part for part in parts_of(query) if isinstance(part, StreamInput)}
    return (*found.values(), *(check for key in foreign_keys(constraints, streams) for check in _of_key(key, streams)))


def _of_key(key: ForeignKey, streams: Mapping[str, StreamInput]) -> Iterator[Check]:
    """The checks that each value of a foreign key has exactly one row of the target, and no key of it has several.

    Where that row may be late, a value is without one for too long when its first row is too many rows ago.
    """
    none = Constant(None, INTEGER)
    sides = ((key.stream, key.columns, none, ROW if key.late else none),
             (key.target, key.key, Constant(1, INTEGER), none))  # fmt: skip
    names = [f"k{at}" for at in range(1, len(key.key) + 1)]
    branches = []
    for stream, columns, counted, place in sides:
        item = streams[stream]
        values = [Column(name, dict(item.columns)[name]) for name in columns]
        there = pred_set(or_pred([Literal(value, Operator.IS_NOT_NULL)]) for value in values)
        numbered = (Output("number", place),) * (key.late > 0)
        own = (Output(name, value) for name, value in zip(names, values, strict=True))
        branches.append(Block((item,), there, (*own, Output("row", counted), *numbered)))
    both = SetQuery("union", True, tuple(branches), tuple(o.name for o in branches[0].outputs),
                    tuple(o.type for o in branches[0].outputs))  # fmt: skip
    groups = tuple(Column(name, output.type) for name, output in zip(names, branches[0].outputs, strict=False))
    rows = AggregateCall("count", (Column("row", INTEGER),), INTEGER)
    first = AggregateCall("min", (Column("number", INTEGER),), INTEGER)
    found, earliest = (Column(column_name(statistic), INTEGER) for statistic in (rows, first))
    keys = (Output(name, Column(column_name(group), group.type)) for name, group in zip(names, groups, strict=True))
    outputs, one = (*keys, Output("rows", found)), Constant(1, INTEGER)

    def check(operator: str, since: PredSet = TRUE) -> Check:
        grouping = Grouping(groups, (rows, first) if since else (rows,))
        having = normal_form(call(operator, found, one))
        query = Block((both,), TRUE, outputs, grouping=grouping, having=having, having_window=since)
        hint = "register it again, and it is planned without the constraint"
        return Check(query, f"it does not hold that {key}", hint, key=key)

    if not key.late:
        yield check("<>")
        return
    due = call("-", now_of([row_number_key(key.stream)], INTEGER), Constant(key.late, INTEGER))
    yield check("<", normal_form(call("<=", earliest, due)))
    yield check(">")


def _of_part(part: Input, read: Mapping[int, Block]) -> Iterator[Check]:
    if isinstance(part, Block):
        yield from _of_value(part, read[id(part)])
        yield from _of_arrays(part)
        yield from _of_guarded(part, read[id(part)])
        yield from _of_frames(part)
        yield from _of_long_frames(part)
        yield from _of_matches(part)
    elif isinstance(part, SetQuery) and part.beyond is not None:
        rows = Block((part.beyond,), TRUE, _VIOLATED)
        steps = len(part.branches)
        hint = "count the steps to say how far it goes: 1 AS depth ... p.depth + 1 ... WHERE p.depth < 5"
        yield Check(rows, f"a recursive query has rows after {steps} steps", hint)


def _of_value(block: Block, read: Block) -> Iterator[Check]:
    """The check that no group has several rows, where the block is a scalar subquery."""
    if block.single:
        several = normal_form(call(">", Column(column_name(GROUP_ROWS), INTEGER), Constant(1, INTEGER)))
        rows = replace(block, outputs=_VIOLATED, having=several, single=False)
        needed = read.grouping is not None and bool(read.grouping.statistics)
        yield Check(rows, "a subquery that is a value has several rows", "add LIMIT 1 to it", needed)


def _of_arrays(block: Block) -> Iterator[Check]:
    """The checks that no array of the block's rows has more elements than the limit of its FROM."""
    for part in (part for side in predicate_expressions(block.where) for part in walk(side)):
        match part:
            case Call(function, (array, Column() as place, Constant() as limit)) if function == HAS_PLACE:
                others = (p for p in block.where if place.source not in predicate_sources(p))
                longer = normal_form(call(">", call("array_size", array), limit))
                where = conjunction(pred_set(others), normal_form(call("=", place, Constant(1, INTEGER))), longer)
                rows = Block(block.inputs, where, _VIOLATED, window=block.window)
                hint = "SPLIT(s, ',', 20) leaves the rest in the last element, and SLICE(x, 1, 20) leaves it out"
                yield Check(rows, f"an array in FROM has more than {limit.value:,} elements", hint)


def _of_guarded(block: Block, read: Block) -> Iterator[Check]:
    """The checks that quotients, JSON and maps are exactly the database's, in the rows and groups that reach them."""
    early, late = _early_and_late(block)
    ended = {has.arguments[0] for has in _places(block.where)}
    needed = {each.part for guarded in _early_and_late(read) for each in guarded}
    for part, found, taken in early:
        if part in ended and part.function in ENDED:
            continue  # it has a check as an array in FROM
        where = _without(_of_first_place(block.where, part), part)
        where = conjunction(where, *map(normal_form, taken), normal_form(found))
        rows = Block(block.inputs, where, _VIOLATED, window=block.window)
        yield _inexact(rows, part, part in needed)
    for part, found, taken in late:
        bare = replace(block, outputs=_VIOLATED, distinct=False, single=False)
        inexact = conjunction(*map(normal_form, taken), normal_form(found))
        if block.analytics:
            bare = replace(bare, qualify=conjunction(_without(block.qualify, part), inexact))
        else:
            bare = replace(bare, having=conjunction(_without(block.having, part), inexact))
        yield _inexact(bare, part, part in needed)


def _of_frames(block: Block) -> Iterator[Check]:
    """The check that the ends of a RANGE frame, value plus and minus distance, fit 38 digits."""
    for frame, key in {(a.call.frame, key.expression): None for a in block.analytics for key in a.call.over.order}:
        distances = None if frame is None else frame.distances(key.type)
        if distances is None or distances.farthest is None:
            continue
        farthest = number(Decimal(distances.farthest))
        beyond = normal_form(call(">", call("abs", key), farthest))
        if block.grouping is None:
            rows = Block(block.inputs, conjunction(block.where, beyond), _VIOLATED, window=block.window)
        else:
            having = conjunction(block.having, beyond)
            rows = replace(
                block, outputs=_VIOLATED, distinct=False, single=False, analytics=(), qualify=TRUE, having=having
            )
        hint = f"CAST what rows are ordered by AS DECIMAL(36,{distances.key.scale})"
        yield Check(rows, "a number is too large for the ends of a frame of RANGE around it", hint)


def _of_long_frames(block: Block) -> Iterator[Check]:
    """The check that no frame has too many rows to look at the values of each by themselves."""
    made = (a.call for a in block.analytics if a.call.function in RULES and not RULES[a.call.function].framed)
    for over, frame in {(each.over, each.frame): None for each in made}:
        if frame is None or frame.is_short:
            continue
        count = AnalyticCall("count", (), INTEGER, over, frame)
        longer = call(">", Column(count.name, INTEGER, Origin.ANALYTIC), Constant(LONGEST_FRAME, INTEGER))
        rows = replace(block, outputs=_VIOLATED, analytics=(Analyzed(count.name, count),), qualify=normal_form(longer))
        hint = f"bound the frame, as in ROWS BETWEEN {LONGEST_FRAME - 1} PRECEDING AND CURRENT ROW"
        yield Check(rows, f"a frame has more than {LONGEST_FRAME:,} rows", hint)


def _of_matches(block: Block) -> Iterator[Check]:
    """The check that no pattern can be matched in too many ways to try them all."""
    for analyzed in block.analytics:
        made = analyzed.call
        if (
            made.value is None
            or made.value.found != "state"
            or made.pattern is None
            or not made.pattern.depends_on_match
        ):
            continue
        undecided = call("=", Column(analyzed.name, made.type, Origin.ANALYTIC), Constant(UNDECIDED, INTEGER))
        rows = replace(block, outputs=_VIOLATED, analytics=(analyzed,), qualify=normal_form(undecided))
        hint = "bound the quantifiers, as in A{0,20}, or let conditions of neighbouring variables exclude each other"
        yield Check(rows, "a pattern can be matched in too many ways", hint)


def _early_and_late(block: Block) -> tuple[dict[Guarded, None], dict[Guarded, None]]:
    """The checks over the rows that a block reads, and over its results."""
    grouping, outputs = block.grouping, [output.expression for output in block.outputs]
    over = [analyzed.call for analyzed in block.analytics]
    analyzed = _guarded(e for call_ in over for e in (*call_.arguments, *call_.over.expressions))
    late = _guarded((*outputs, *predicate_expressions(block.having), *predicate_expressions(block.qualify)))
    early = _guarded(predicate_expressions(block.where))
    if grouping is not None:
        statistics = (a for call_ in grouping.statistics for a in call_.arguments)
        return early | _guarded((*grouping.groups, *statistics)), late | analyzed
    early |= analyzed
    return (early, late) if block.analytics else (early | late, {})


def _without(conditions: PredSet, part: Call) -> PredSet:
    """The conditions that choose the rows to check: those without parts that need a check themselves.

    A condition may test the kind of JSON, since that test has its own check, over more rows.
    """
    read = {p: [each.part for each in _guarded(predicate_expressions(p))] for p in conditions}
    return pred_set(p for p, parts in read.items() if all(_is_kind(g) and not _is_kind(part) for g in parts))


def _places(conditions: PredSet) -> Iterator[Call]:
    """The conditions that an array in FROM has a place."""
    return (part for side in predicate_expressions(conditions) for part in walk(side) if is_call(part, HAS_PLACE))


def _of_first_place(conditions: PredSet, part: Call) -> PredSet:
    """The conditions that choose the rows of a block, each with the first place alone of an array made of a part."""
    found = (has.arguments[1] for has in _places(conditions) if part in walk(has.arguments[0]))
    places = [place for place in found if isinstance(place, Column)]
    others = (p for p in conditions if predicate_sources(p).isdisjoint(place.source for place in places))
    first = (normal_form(call("=", place, Constant(1, INTEGER))) for place in places)
    return conjunction(pred_set(others), *first)


def _is_kind(part: Call) -> bool:
    """Whether it reads JSON in a way that fails only where an object has a key twice."""
    return UNREAD.get(part.function) == "json_repeats_key"


def _inexact(query: LogicalQuery, part: Call, needed: bool) -> Check:
    if part.function == MAP_FROM_ENTRIES:
        reason = "a map would have a key twice, NULL as a key, or more keys than values"
        hint = "MAP_FROM_ENTRIES(ARRAY_DISTINCT(x)) leaves out entries that are there twice"
        return Check(query, reason, hint, needed)
    if (size := size_limit(part)) is not None:
        return Check(query, size.reason, SIZE_HINT, needed)
    if part.function == NUMERIC_QUOTIENT:
        reason = "a quotient has more digits than can be kept: below 1/10000, or with many before the point"
        return Check(query, reason, "CAST one side AS DOUBLE PRECISION, or ROUND what is divided", needed)
    if part.function == ROUNDED_NUMERIC:
        reason = "a DOUBLE has no NUMERIC of 19 digits before the point: it is 1e18 or more, infinite or NaN"
        return Check(query, reason, "leave such rows out, as in WHERE x < 1e18", needed)
    reason = "a value of JSON cannot be written as the database does: it is an object or an array, has an exponent, or"
    reason += " is a zero below 0; or an object has a key twice"
    return Check(query, reason, "read a part of it, as in j->'a'->>'b'", needed)


def _guarded(expressions: Iterable[Expression]) -> dict[Guarded, None]:
    """What must be looked at in some expressions; what stands outside of CASE as well needs no conditions."""
    found = [each for e in expressions if not calls(e).isdisjoint(_GUARDED) for each in _taken(e, ())]
    always = {each.part for each in found if not each.conditions}
    return {each: None for each in found if not each.conditions or each.part not in always}


def _taken(expression: Expression, conditions: tuple[Expression, ...]) -> Iterator[Guarded]:
    """The parts of an expression that must be looked at, each with the conditions under which a CASE takes it.

    A condition may itself read such a part: that is looked at in more rows, so no row is missed.
    """
    match expression:
        case Call(_, (*_, Call("lambda"))):
            yield from _of_elements(expression, conditions)
        case Call("case", (*pairs, otherwise)):
            for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
                yield from _taken(condition, conditions)
                yield from _taken(value, (*conditions, condition))
                holds = call("coalesce", condition, Constant(False, BOOLEAN))
                conditions = (*conditions, call("not", holds))
            yield from _taken(otherwise, conditions)
        case Call("coalesce", arguments):
            for argument in arguments:
                yield from _taken(argument, conditions)
                conditions = (*conditions, call("is_null", argument))
        case Call(function, arguments):
            if function in _GUARDED and (inexact := _not_exact(expression)) is not None:
                yield Guarded(expression, inexact, conditions)
            for argument in arguments:
                yield from _taken(argument, conditions)


def _of_elements(over: Call, conditions: tuple[Expression, ...]) -> Iterator[Guarded]:
    """The parts of a call with a lambda; in the lambda one is inexact where it is for some elements."""
    *arrays, each = over.arguments
    for array in arrays:
        yield from _taken(array, conditions)
    *variables, body = each.arguments if isinstance(each, Call) else ()
    own = variable(0, BOOLEAN)
    for part, inexact, taken in _taken(body, ()):
        if "variable" in calls(part) and over.function != "aggregate":
            some = call("and", *taken, inexact) if taken else inexact
            of_each = Call("lambda", (*variables, some), BOOLEAN)
            tested = call("zip_with" if len(arrays) > 1 else "transform", *arrays, of_each)
            yield Guarded(part, call("exists", tested, Call("lambda", (own, own), BOOLEAN)), conditions)
        else:  # what CASE asks there may be asked of variables, which no row has
            yield Guarded(part, inexact, conditions)


def _not_exact(part: Call) -> Expression | None:
    """The condition that a quotient by a number other than 0, or a rounded DOUBLE, is NULL; JSON or a map not made."""
    if part.function in MOST_SIZES:
        size = size_limit(part)
        return None if size is None else size.beyond
    if part.function == MAP_FROM_ENTRIES:
        return call(NO_MAP, *part.arguments)
    if part.function in UNREAD:
        unread = UNREAD[part.function]
        return call(unread, *part.arguments[: FUNCTIONS[unread].most])
    if part.function == ROUNDED_NUMERIC:
        known = call("not", call("is_null", part.arguments[0]))
        return call("and", call("is_null", part), known)
    there = [call("not", call("is_null", side)) for side in part.arguments]
    divides = call("<>", part.arguments[1], Constant(0, INTEGER))
    return call("and", call("is_null", part), *there, divides)
