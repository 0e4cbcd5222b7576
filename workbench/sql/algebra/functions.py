"""The scalar functions and operators: for each its argument types, its result type and its Spark SQL.

``call`` makes every typed expression of the workbench: it coerces arguments, finds the type and folds constants.
What is not in the registry cannot be in an expression, except the analyst's own functions.

The Spark SQL is *total* (design 3.4): whatever the row holds, and with ANSI mode on or off, it gives a value or NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.sql.algebra import arithmetic, coercion
from workbench.sql.algebra.coercion import TypeClash, coerce, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.render import total_functions as rendering
from workbench.sql.render.total_functions import Render

Arguments = tuple[Expression, ...]
Rule = Callable[[Arguments], tuple[Arguments, DataType]]


@dataclass(frozen=True)
class Function:
    """A scalar function; ``spark`` is a format string over the rendered arguments, or a function for harder ones."""

    name: str
    least: int
    most: int
    rule: Rule
    spark: str | Render


def call(name: str, *arguments: Expression) -> Expression:
    """The typed expression for a function applied to arguments, folded when that is exact.

    Raises:
        TypeClash: the arguments are of the wrong number or types.
        KeyError: there is no such function.

    Example:
        >>> call("+", Constant(1, INTEGER), Constant(2, INTEGER)).value
        3
    """
    function = FUNCTIONS[name]
    if not function.least <= len(arguments) <= function.most:
        wanted = f"{function.least}" if function.least == function.most else f"{function.least} to {function.most}"
        raise TypeClash(f"{name} takes {wanted} arguments, not {len(arguments)}")
    coerced, type_ = function.rule(arguments)
    return _folded(Call(name, coerced, type_))


def _folded(expression: Call) -> Expression:
    values = [a.value for a in expression.arguments if isinstance(a, Constant)]
    if len(values) != len(expression.arguments):
        return expression
    if expression.function in _STRICT and None in values:
        return Constant(None, expression.type)
    if len(values) == 2:
        folded = arithmetic.fold(expression.function, values[0], values[1], expression.type)
        if folded is not None:
            return folded
    return coercion.fold(expression) or expression


def _arithmetic(operator: str) -> Rule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        left, right = (coerce(a, INTEGER) if coercion.is_null(a) else a for a in arguments)
        if left.type.kind is Kind.DATE and operator in ("+", "-"):
            return _date_arithmetic(operator, left, right)
        if right.type.kind is Kind.DATE and operator == "+":
            return _date_arithmetic(operator, right, left)
        for side in (left, right):
            if not side.type.numeric:
                raise TypeClash(f"{operator} needs numbers, not {left.type} and {right.type}", side)
        type_ = arithmetic.result_type(operator, left, right)
        if operator == "div" and {left.type.kind, right.type.kind} != {Kind.INTEGER}:
            raise TypeClash("integer division needs integers", right)
        if type_ == DOUBLE:
            left, right = coerce(left, DOUBLE), coerce(right, DOUBLE)
        return (left, right), type_

    return rule


def _date_arithmetic(operator: str, date: Expression, other: Expression) -> tuple[Arguments, DataType]:
    if operator == "-" and other.type.kind in (Kind.DATE, Kind.STRING):
        return (date, coerce(other, DATE)), INTEGER
    if other.type.kind is not Kind.INTEGER:
        raise TypeClash(f"a date {operator} needs whole days, not {other.type}", other)
    return (date, other), DATE


def _comparison(arguments: Arguments) -> tuple[Arguments, DataType]:
    return coercion.comparable(*arguments), BOOLEAN


def _fixed(result: DataType, *parameters: DataType) -> Rule:
    """Arguments coerced to the parameters, the last of which stands for all that follow."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        wanted = [parameters[min(i, len(parameters) - 1)] for i in range(len(arguments))]
        return tuple(coerce(a, t) for a, t in zip(arguments, wanted, strict=True)), result

    return rule


def _any(result: DataType) -> Rule:
    return lambda arguments: (arguments, result)


def _alike(arguments: Arguments) -> tuple[Arguments, DataType]:
    return unify(arguments)


def _case(arguments: Arguments) -> tuple[Arguments, DataType]:
    """Conditions and values in turn, the last value for ELSE."""
    values, type_ = unify(arguments[1:-1:2] + arguments[-1:])
    conditions = [coerce(c, BOOLEAN) for c in arguments[0:-1:2]]
    pairs = [e for pair in zip(conditions, values[:-1], strict=True) for e in pair]
    return (*pairs, values[-1]), type_


def _first_of_two(arguments: Arguments) -> tuple[Arguments, DataType]:
    pair = coercion.comparable(*arguments)
    return pair, pair[0].type


def _numeric(change: Callable[[Expression, Arguments], DataType]) -> Rule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        first = coerce(arguments[0], INTEGER) if coercion.is_null(arguments[0]) else arguments[0]
        if not first.type.numeric:
            raise TypeClash(f"a number is needed, not {first.type}", first)
        return (first, *arguments[1:]), change(first, arguments[1:])

    return rule


def _rounded(first: Expression, rest: Arguments) -> DataType:
    """ROUND and TRUNC of decimals: a digit more before the point, as many behind it as asked for."""
    digits = rest[0].value if rest and isinstance(rest[0], Constant) else None if rest else 0
    if not isinstance(digits, int):
        raise TypeClash("the number of digits must be a constant whole number", rest[0])
    type_ = first.type
    if type_.kind is not Kind.DECIMAL:
        return type_
    whole, scale = type_.precision - type_.scale + 1, min(max(digits, 0), type_.scale)
    return decimal(max(whole, 1 - digits) + scale, scale)


def _whole(first: Expression, rest: Arguments) -> DataType:
    type_ = first.type
    return decimal(type_.precision - type_.scale + 1, 0) if type_.kind is Kind.DECIMAL else INTEGER


def _moment(result: DataType) -> Rule:
    """A date or a timestamp first, and constants after it."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        first = coercion.moment(arguments[0])
        return (first, *arguments[1:]), result

    return rule


def _average(arguments: Arguments) -> tuple[Arguments, DataType]:
    """AVG of INTEGER and DOUBLE is DOUBLE, of decimals four digits more; the sum has ten more than its values."""
    total = arguments[0].type
    if total.kind is not Kind.DECIMAL or (total.precision, total.scale) == (38, 0):
        return arguments, DOUBLE
    return arguments, arithmetic.bounded(total.precision - 6, total.scale + 4)


_ALL = 10_000
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
_NUMBER_SIGN = _numeric(lambda first, rest: DOUBLE)
_SAME = _numeric(lambda first, rest: first.type)
_PARTS = {"week": "weekofyear", **{part: part for part in (
    "dayofweek", "dayofyear", "quarter", "year", "month", "day", "hour", "minute", "second")}}  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in [
        Function("+", 2, 2, _arithmetic("+"), rendering.computed("+", "try_add")),
        Function("-", 2, 2, _arithmetic("-"), rendering.computed("-", "try_subtract")),
        Function("*", 2, 2, _arithmetic("*"), rendering.computed("*", "try_multiply")),
        Function("/", 2, 2, _arithmetic("/"), rendering.computed("/", "try_divide")),
        Function("%", 2, 2, _arithmetic("%"), rendering.computed("%", "try_mod")),
        Function("div", 2, 2, _arithmetic("div"), rendering.int_div),
        Function("neg", 1, 1, _SAME, rendering.negated),
        Function("abs", 1, 1, _SAME, rendering.absolute),
        Function("round", 1, 2, _numeric(_rounded), rendering.rounded("round")),
        Function("truncate", 1, 2, _numeric(_rounded), rendering.truncate),
        Function("floor", 1, 1, _numeric(_whole), rendering.whole("floor")),
        Function("ceil", 1, 1, _numeric(_whole), rendering.whole("ceil")),
        Function("sign", 1, 1, _NUMBER_SIGN, "sign({0})"),
        Function("sqrt", 1, 1, _fixed(DOUBLE, DOUBLE), "(case when {0} >= 0 then sqrt({0}) end)"),
        Function("power", 2, 2, _fixed(DOUBLE, DOUBLE), "power({0}, {1})"),
        Function("exp", 1, 1, _fixed(DOUBLE, DOUBLE), "exp({0})"),
        Function("ln", 1, 1, _fixed(DOUBLE, DOUBLE), "ln({0})"),
        Function("log10", 1, 1, _fixed(DOUBLE, DOUBLE), "log10({0})"),
        *(Function(c, 2, 2, _comparison, rendering.compare(c)) for c in _COMPARISONS),
        Function("and", 2, _ALL, _fixed(BOOLEAN, BOOLEAN), rendering.joined("and")),
        Function("or", 2, _ALL, _fixed(BOOLEAN, BOOLEAN), rendering.joined("or")),
        Function("not", 1, 1, _fixed(BOOLEAN, BOOLEAN), "(not {0})"),
        Function("is_null", 1, 1, _any(BOOLEAN), "({0} is null)"),
        Function("in", 2, _ALL, lambda a: (coercion.comparable(*a), BOOLEAN), rendering.in_list),
        # Patterns are constants with backslash as escape; bind has rewritten any other.
        Function("like", 2, 2, _fixed(BOOLEAN, STRING), "({0} like {1})"),
        Function("ilike", 2, 2, _fixed(BOOLEAN, STRING), "({0} ilike {1})"),
        Function("rlike", 2, 2, _fixed(BOOLEAN, STRING), "({0} rlike {1})"),
        Function("case", 3, _ALL, _case, rendering.cases),
        Function("coalesce", 1, _ALL, _alike, rendering.called("coalesce")),
        Function("greatest", 2, _ALL, _alike, rendering.called("greatest")),
        Function("least", 2, _ALL, _alike, rendering.called("least")),
        Function("nullif", 2, 2, _first_of_two, "nullif({0}, {1})"),
        Function("cast", 1, 1, _any(STRING), rendering.converted),
        Function("upper", 1, 1, _fixed(STRING, STRING), "upper({0})"),
        Function("lower", 1, 1, _fixed(STRING, STRING), "lower({0})"),
        Function("length", 1, 1, _fixed(INTEGER, STRING), "cast(length({0}) as bigint)"),
        Function("substr", 2, 3, _fixed(STRING, STRING, INTEGER), rendering.ints("substring")),
        Function("||", 2, 2, lambda a: (tuple(coercion.as_string(x) for x in a), STRING), "concat({0}, {1})"),
        Function("trim", 1, 2, _fixed(STRING, STRING), rendering.trim("both")),
        Function("ltrim", 1, 2, _fixed(STRING, STRING), rendering.trim("leading")),
        Function("rtrim", 1, 2, _fixed(STRING, STRING), rendering.trim("trailing")),
        Function("replace", 3, 3, _fixed(STRING, STRING), "replace({0}, {1}, {2})"),
        Function("instr", 2, 2, _fixed(INTEGER, STRING), "cast(instr({0}, {1}) as bigint)"),
        Function("lpad", 3, 3, _fixed(STRING, STRING, INTEGER, STRING), rendering.ints("lpad")),
        Function("rpad", 3, 3, _fixed(STRING, STRING, INTEGER, STRING), rendering.ints("rpad")),
        Function("date_format", 2, 2, _moment(STRING), "date_format({0}, {1})"),
        Function("to_date", 2, 2, _fixed(DATE, STRING), "try_to_date({0}, {1})"),
        Function("to_timestamp", 2, 2, _fixed(TIMESTAMP, STRING), "cast(try_to_timestamp({0}, {1}) as timestamp_ntz)"),
        *(Function(n, 1, 1, _moment(INTEGER), f"cast({spark}({{0}}) as bigint)") for n, spark in _PARTS.items()),
        Function("trunc_date", 2, 2, _fixed(DATE, DATE, STRING), "trunc({0}, {1})"),
        Function(
            "trunc_timestamp", 2, 2, _fixed(TIMESTAMP, TIMESTAMP, STRING), "cast(date_trunc({1}, {0}) as timestamp_ntz)"
        ),
        Function("last_day", 1, 1, _fixed(DATE, DATE), "last_day({0})"),
        # Ten thousand years each way; Spark raises where a date leaves its range.
        Function(
            "add_months",
            2,
            2,
            _fixed(DATE, DATE, INTEGER),
            "(case when {1} between -120000 and 120000 then add_months({0}, try_cast({1} as int)) end)",
        ),
        Function(
            "add_months_to_timestamp",
            2,
            2,
            _fixed(TIMESTAMP, TIMESTAMP, INTEGER),
            "(case when {1} between -120000 and 120000 then {0} + make_ym_interval(0, try_cast({1} as int)) end)",
        ),
        Function(
            "add_seconds",
            2,
            2,
            _fixed(TIMESTAMP, TIMESTAMP, INTEGER),
            "cast(timestamp_micros(try_add(unix_micros(cast({0} as timestamp)), try_multiply({1}, 1000000L)))"
            " as timestamp_ntz)",
        ),
        Function(
            "window_start",
            2,
            2,
            _fixed(TIMESTAMP, TIMESTAMP, INTEGER),
            "cast(timestamp_micros(unix_micros(cast({0} as timestamp))"
            " - pmod(unix_micros(cast({0} as timestamp)), {1} * 1000000L)) as timestamp_ntz)",
        ),
        Function("average", 2, 2, _average, rendering.average),
        Function("variance_samp", 3, 3, _any(DOUBLE), rendering.variance(samples=True, root=False)),
        Function("variance_pop", 3, 3, _any(DOUBLE), rendering.variance(samples=False, root=False)),
        Function("stddev_samp", 3, 3, _any(DOUBLE), rendering.variance(samples=True, root=True)),
        Function("stddev_pop", 3, 3, _any(DOUBLE), rendering.variance(samples=False, root=True)),
    ]
}

_STRICT = frozenset(FUNCTIONS) - {
    "and", "or", "is_null", "<=>", "in", "case", "coalesce", "greatest", "least", "nullif", "average", "variance_samp",
    "variance_pop", "stddev_samp", "stddev_pop",
}  # fmt: skip
"""Functions that give NULL as soon as one argument is NULL."""


def cast(expression: Expression, type_: DataType) -> Expression:
    """The expression converted; values that cannot be give NULL.

    Raises:
        TypeClash: there is no conversion between the types at all.
    """
    if expression.type == type_:
        return expression
    coercion.check_cast(expression, type_)
    if coercion.is_null(expression):
        return Constant(None, type_)
    made = Call("cast", (expression,), type_)
    return coercion.fold(made) or made


def retyped(expression: Call, type_: DataType) -> Call:
    """The same call with another type, for functions whose type the caller knows better."""
    return replace(expression, type=type_)
