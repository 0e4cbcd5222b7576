"""Expressions and predicates as SQL, as an analyst would write them.

The statements of a query's nodes (``nodes``), read from the source down, are the query factored the way it runs
(T Table 3.1). What parents and columns are called is said by ``Words``: by ids and stored names here, in the query's
own words in ``wording``. The text is for people; ids come from ``expressions.identity``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from workbench.network.matched import matched_sql
from workbench.network.ordered_aggregate import ORDERED_AGGREGATES, ordered_aggregate_sql
from workbench.network.sql_calls import has_operands, interval, sql_call
from workbench.sql.algebra.analytic import SHARES, AnalyticCall, Over
from workbench.sql.algebra.column_names import display_name, quoted
from workbench.sql.algebra.exact_arithmetic import is_lossless
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    call_arguments,
    columns,
    is_call,
    text,
    walk,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import Kind
from workbench.sql.algebra.zones import OF_ZONES
from workbench.sql.functions.calls import NOW
from workbench.sql.functions.times.time_differences import MONDAY
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet, predicate_columns, predicate_expressions
from workbench.sql.predicates.moved_times import with_interval
from workbench.sql.predicates.null_safe import equal_sides
from workbench.sql.windows.bounds import time_and_end

SIDE_NAMES = ("l", "r")
"""The aliases of a join's left and right parent in its statement."""

INFIX = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>", "like", "ilike", "rlike"), 4),
    "||": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
    "div": 7,
}
"""Operators written between their operands: how strongly they bind."""
ASSOCIATIVE = {"or", "and", "||", "+", "*"}
_INTEGERS = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
_EXACT = 1e15
"""Up to here a DOUBLE has all the digits that it is written with."""
NOT, TEST, NEGATIVE = 3, 4, 8
"""How strongly NOT, IS NULL and IN, and a minus sign bind."""


Names = Callable[[Column | Call], str]
"""The names in a text: of columns, and of calls that a view gives a name; empty for other calls."""


def bare(part: Column | Call) -> str:
    """A column by its own name."""
    return quoted(display_name(part.name)) if isinstance(part, Column) else ""


def by_side(part: Column | Call) -> str:
    """A column of a join's input, with the name of its side."""
    return f"{SIDE_NAMES[part.source]}.{bare(part)}" if isinstance(part, Column) else ""


class Words:
    """Names of nodes and columns: ids and stored names."""

    def node(self, id_: str) -> str:
        """A node, where another reads it."""
        return id_

    def columns(self, id_: str) -> Names:
        """The columns of a node."""
        return bare

    def sides(self, roots: tuple[str, str]) -> Names:
        """The columns of the two inputs of a join of these roots."""
        return by_side

    def tested(self, predicates: PredSet, roots: tuple[str, str]) -> PredSet:
        """What a join of these roots tests, over what values that stand for NULL are computed from."""
        return predicates


def analytic_sql(function: AnalyticCall, names: Names = bare) -> str:
    """An analytic function as SQL."""
    nulls = " IGNORE NULLS" if function.ignore_nulls else ""
    frame = "" if function.frame is None else function.frame.text
    if function.function in SHARES and function.arguments:
        share = analytic_sql(replace(function, arguments=()), names)
        return f"SIGN({share} - {expression_sql(function.arguments[0], names)})"
    parts = " ".join(part for part in (over_sql(function.over, names), frame) if part)
    return f"{function_sql(function, names)}{nulls} OVER ({parts})"


def function_sql(function: AnalyticCall, names: Names = bare) -> str:
    """The SQL of an analytic function's call, without its OVER clause."""
    if function.pattern is not None and function.value is not None:
        return matched_sql(function.pattern, function.value, [expression_sql(a, names) for a in function.arguments])
    inner = ", ".join(expression_sql(a, names) for a in function.arguments)
    if function.function in SHARES and inner:
        return f"SIGN({function.function.upper()}() - {inner})"
    return f"{function.function.upper()}({inner or ('*' if function.function == 'count' else '')})"


def over_sql(over: Over, names: Names = bare) -> str:
    """The text in the parentheses of OVER, without the order of peers."""
    partition = f"PARTITION BY {', '.join(expression_sql(e, names) for e in over.partition)}" if over.partition else ""
    keys = [expression_sql(key.expression, names) + key.direction for key in over.order]
    order = f"ORDER BY {', '.join(keys)}" if keys else ""
    return " ".join(part for part in (partition, order) if part)


def window_sql(window: PredSet, names: Names = bare) -> str:
    """The comparisons of a window, each with the row's time first."""
    ends = (time_and_end(end) for end in window)
    return " AND ".join(
        f"{expression_sql(time, names)} {operator} {expression_sql(end, names)}" for time, operator, end in ends
    )


def predicates_sql(predicates: PredSet, names: Names = bare) -> str:
    """A conjunction."""
    return " AND ".join(predicate_texts(predicates, names)) or "TRUE"


def predicate_texts(predicates: PredSet, names: Names = bare) -> list[str]:
    """The parts of a conjunction; the two that compare values of which both may be NULL are one."""
    null_safe = equal_sides(predicates)
    texts = dict[str, None]()
    for predicate in predicates:
        sides = next((sides for sides, parts in null_safe.items() if predicate in parts), None)
        operands = [_sql(side, names, TEST + 1) for side in sides or ()]
        texts[" IS NOT DISTINCT FROM ".join(operands) or or_pred_sql(predicate, names)] = None
    return [*texts]


def without_fillers(groups: Sequence[Expression]) -> list[Expression]:
    """Groups by values and by whether these are NULL, with another value in its place, as groups by values."""
    called = [group for group in groups if isinstance(group, Call)]
    nulls = {group.arguments[0] for group in called if group.function == "is_null"}
    both = {g: g.arguments[0] for g in called if g.function == "coalesce" and g.arguments[0] in nulls}
    left_out = {group for group in called if group.function == "is_null" and group.arguments[0] in both.values()}
    return [both[g] if isinstance(g, Call) and g in both else g for g in groups if g not in left_out]


def or_pred_sql(predicate: ORPred, names: Names = bare) -> str:
    """Write a disjunction, in parentheses if it has more than one literal."""
    named = ((part, names(part)) for part in _named_parts(predicate))
    return _or_pred_sql(predicate, tuple((part, name) for part, name in named if name))


@cached(50_000)
def _named_parts(predicate: ORPred) -> tuple[Column | Call, ...]:
    """What may have a name: the columns, and what is computed from them."""
    computed = (part for side in predicate_expressions(predicate) for part in walk(side))
    return (*predicate_columns(predicate), *dict.fromkeys(p for p in computed if isinstance(p, Call) and columns(p)))


@cached(50_000)
def _or_pred_sql(predicate: ORPred, named: tuple[tuple[Column | Call, str], ...]) -> str:
    """The text with these names; each registration explains old nodes again."""
    known = dict(named)

    def names(part: Column | Call) -> str:
        return known.get(part, "")

    inner = " OR ".join(_literal_sql(literal, names) for literal in predicate.literals)
    return f"({inner})" if len(predicate.literals) > 1 else inner


def expression_sql(expression: Expression | AggregateCall, names: Names = bare) -> str:
    """An expression with no more parentheses than it needs.

    Example:
        >>> from workbench.sql.algebra.types import DATE
        >>> expression_sql(Column("tran_date", DATE, 1), by_side)
        'r.tran_date'
    """
    return _sql(expression, names, 0)


def part_sql(expression: Expression | AggregateCall, names: Names) -> str:
    """An expression as a part of another, in parentheses where it is not one piece."""
    return _sql(expression, names, NEGATIVE)


def _literal_sql(literal: Literal, names: Names) -> str:
    if literal.operator is Operator.HOLDS:
        return _sql(literal.left, names, NOT)
    literal = with_interval(literal)
    first, second = _uncast(literal.left, names), literal.right and _uncast(literal.right, names)
    left = _sql(first, names, TEST + 1)
    right = "" if second is None else f" {_sql(second, names, TEST + 1)}"
    match first, second:
        case Call("-", (larger, smaller)), Constant(value=int() | float() | Decimal()) if not names(first):
            left, right = _sql(larger, names, TEST + 1), f" {_sql(smaller, names, INFIX['+'])}{_apart(second)}"
    return f"{left} {literal.operator.upper()}{right}"


def _uncast(side: Expression, names: Names) -> Expression:
    """A side of a comparison without the casts that keep integers from overflowing, as in comparisons none does."""
    match side:
        case Call() if names(side):
            return side
        case Call("cast", (inner,)) if inner.type.kind is Kind.INTEGER and is_lossless(inner.type, side.type):
            return inner
        case Call("+" | "-" | "*" | "neg", arguments):
            return replace(side, arguments=tuple(_uncast(a, names) for a in arguments))
    return side


def _apart(bound: Constant) -> str:
    """How far one side of a comparison is from the other."""
    written = _constant_sql(bound)
    return "" if not bound.value else f" - {written[1:]}" if written.startswith("-") else f" + {written}"


def _sql(expression: Expression | AggregateCall, names: Names, outer: int) -> str:
    """The expression, in parentheses when it binds less than ``outer``, what is around it."""
    match expression:
        case Column():
            return names(expression)
        case Constant():
            return _constant_sql(expression)
        case AggregateCall(function=function) if function in ORDERED_AGGREGATES:
            return ordered_aggregate_sql(expression, lambda part: _sql(part, names, 0))
        case AggregateCall():
            inner = ", ".join(_sql(a, names, 0) for a in expression.arguments) or "*"
            if expression.function == "frequencies":
                return f"MAP_VALUES(HISTOGRAM({inner}))"
            # The total of counts is a sum, which is 0 and not NULL of nothing.
            function = "SUM" if expression.function.endswith("total") else expression.function.upper()
            return f"{function}({'DISTINCT ' if expression.distinct else ''}{inner})"
        case Call() if named := names(expression):
            return named
        case Call("within", (computed,)):
            return _sql(computed, names, outer)
        case Call():
            sql, own = _call(expression, names)
            return f"({sql})" if own < outer else sql


def _call(call: Call, names: Names) -> tuple[str, int]:
    """A call, and how strongly its outermost operator binds."""

    def sql(argument: Expression, outer: int = 0) -> str:
        return _sql(argument, names, outer)

    match call.function.removesuffix("_ieee"), call.arguments:
        case function, _ if function == NOW:
            return "NOW()", NEGATIVE
        case "add_seconds", (time, Constant(int(seconds))) if seconds:
            return f"{sql(time, INFIX['+'])} {'-' if seconds < 0 else '+'} {interval(abs(seconds))}", INFIX["+"]
        case "interval_of_micros", (Call("-", (Call("unix_micros", (later,)), Call("unix_micros", (earlier,)))),):
            return f"{sql(later, INFIX['-'])} - {sql(earlier, INFIX['-'] + 1)}", INFIX["-"]
        case "interval_of_micros", (Constant(int(micros)),) if micros and micros % 1_000_000 == 0:
            return f"{'-' if micros < 0 else ''}{interval(abs(micros) // 1_000_000)}", NEGATIVE
        case "timestamp_micros", (Call("-", (_, Call("pmod", (Call("-", (since, origin)), Constant(int(micros)))))),):
            return f"TIME_BUCKET({', '.join(_stretch(since, origin, micros, names))})", NEGATIVE
        case "average", (total, count) if average := _average(sql(total), sql(count)):
            return average, NEGATIVE
        case function, (first, *rest) if function in INFIX and rest:
            own = INFIX[function]
            nested = own if function in ASSOCIATIVE else own + 1
            leftmost = own + 1 if own == TEST else own  # comparisons do not chain
            return f" {function.upper()} ".join([sql(first, leftmost), *(sql(a, nested) for a in rest)]), own
        case "not", (condition,):
            return f"NOT {sql(condition, NOT)}", NOT
        case "neg", (value,):
            return f"-{sql(value, NEGATIVE)}", NEGATIVE
        case "is_null", (value,):
            return f"{sql(value, TEST + 1)} IS NULL", TEST
        case "in", (value, *choices):
            return f"{sql(value, TEST + 1)} IN ({', '.join(map(sql, choices))})", TEST
        case "case", (*pairs, otherwise):
            whens = (f"WHEN {sql(c)} THEN {sql(v)} " for c, v in zip(pairs[::2], pairs[1::2], strict=True))
            return f"CASE {''.join(whens)}ELSE {sql(otherwise)} END", NEGATIVE
        case "instant_of_text", (written,):
            return f"CAST({sql(written)} AS TIMESTAMP WITH TIME ZONE)", NEGATIVE
        case function, (time, Constant(str(zone)), *_) if function in OF_ZONES:
            return f"{sql(time, NEGATIVE)} AT TIME ZONE '{zone}'", NEGATIVE
        case "cast", (value,):
            of_bits = _INTEGERS[call.type.bits] if call.type.kind is Kind.INTEGER else str(call.type).upper()
            return f"CAST({sql(value)} AS {of_bits})", NEGATIVE
        case "variable", _:
            return text(call), NEGATIVE
        case "lambda", (*variables, body):
            head = ", ".join(map(sql, variables))
            return f"{head if len(variables) == 1 else f'({head})'} -> {sql(body)}", 0
        case "get", (array, place):
            return f"{sql(array)}[{sql(place)}]", NEGATIVE
        case "field", (struct, Constant(int(place))):
            return f"{sql(struct, NEGATIVE)}.{quoted(struct.type.fields[place][0])}", NEGATIVE
        case "struct", values:
            named = zip(call.type.fields, values, strict=True)
            return f"STRUCT({', '.join(f'{sql(value)} AS {quoted(name)}' for (name, _), value in named)})", NEGATIVE
        case "map_value", (whole, key):
            return f"{sql(whole, NEGATIVE)}[{sql(key)}]", NEGATIVE
        case "map_of" | "map_from_entries", (Call("array", entries),) if all(
            is_call(entry, "struct") for entry in entries
        ):
            return f"MAP({', '.join(sql(part) for entry in entries for part in call_arguments(entry))})", NEGATIVE
        case "map_of", (entries,):
            return f"MAP_FROM_ENTRIES({sql(entries)})", NEGATIVE
        case "unhex", (Constant(str(digits)),):
            return f"X'{digits}'", NEGATIVE
        case _, arguments:
            outer = NEGATIVE if has_operands(call) else 0
            return sql_call(call, [sql(argument, outer) for argument in arguments]), INFIX["||"] if outer else NEGATIVE


def _stretch(since: Expression, origin: Expression, micros: int, names: Names) -> list[str]:
    """The arguments of TIME_BUCKET: its width, the time, and the origin if it is not the default."""
    (time,), (begin,) = call_arguments(since), call_arguments(origin)
    whole, rest = divmod(micros, 1_000_000)
    width = f"INTERVAL {micros} MICROSECONDS" if rest else interval(whole)
    return [width, _sql(time, names, 0), *([] if begin == MONDAY else [_sql(begin, names, 0)])]


def _average(total: str, count: str) -> str:
    """The average whose statistics these are; empty where they belong to none."""
    if count == "0":
        return "NULL"
    values = total.removeprefix("SUM(")
    return f"AVG({values}" if total.startswith("SUM(") and count == f"COUNT({values}" else ""


def _constant_sql(constant: Constant) -> str:
    """Write a constant as an analyst does: its type follows from the values that it is compared or computed with."""
    match constant.value:
        case None:
            return "NULL"
        case float(value) if value.is_integer() and abs(value) < _EXACT and str(value) != "-0.0":
            return str(int(value))
        case float(value):
            return str(Decimal(repr(value)).normalize()) if abs(value) < _EXACT else repr(value)
        case _:
            return text(constant)


def as_columns(named: Iterable[tuple[Expression | AggregateCall, str]], names: Names) -> str:
    """The list of a SELECT: expressions, each with the name of its column where that differs."""
    parts = ((expression_sql(expression, names), name) for expression, name in named)
    return ", ".join(sql if name in (sql, f"({sql})") else f"{sql} AS {name}" for sql, name in parts)
