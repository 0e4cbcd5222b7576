"""The scalar functions and operators: for each its argument types, its result type and its Spark SQL.

``call`` makes every typed expression of the workbench: it coerces arguments, finds the type and folds constants.
What is not in the registry cannot be in an expression, except the analyst's own functions.

The Spark SQL is *total* (design 3.4): whatever the row holds, and with ANSI mode on or off, it gives a value or NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.sql import arithmetic, coercion
from workbench.sql.coercion import TypeClash, coerce, unify
from workbench.sql.expressions import Call, Constant, Expression
from workbench.sql.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal

Arguments = tuple[Expression, ...]
Rule = Callable[[Arguments], tuple[Arguments, DataType]]
Render = Callable[[Call, Sequence[str]], str]


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


# ---- type rules ------------------------------------------------------------------------------------------------------


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


# ---- Spark SQL -------------------------------------------------------------------------------------------------------


def _spark_arithmetic(symbol: str, total: str) -> Render:
    def render(expression: Call, arguments: Sequence[str]) -> str:
        kinds = {a.type.kind for a in expression.arguments}
        if Kind.DATE in kinds:
            if expression.type == INTEGER:
                return f"cast(datediff({arguments[0]}, {arguments[1]}) as bigint)"
            return f"{total}({arguments[0]}, try_cast({arguments[1]} as int))"
        if expression.type.kind is Kind.DECIMAL:
            arguments = [decimal_operand(e, a) for e, a in zip(expression.arguments, arguments, strict=True)]
        if expression.type == DOUBLE and symbol in "+-*":
            return f"({arguments[0]} {symbol} {arguments[1]})"
        return f"{total}({arguments[0]}, {arguments[1]})"

    return render


def decimal_operand(expression: Expression, rendered: str) -> str:
    """An operand of decimal arithmetic with the type our rules gave it, whatever Spark would infer."""
    if expression.type.kind is Kind.DECIMAL and not isinstance(expression, Constant):
        return rendered
    return f"cast({rendered} as {arithmetic.decimal_of(expression)})"


def _spark_int_div(expression: Call, arguments: Sequence[str]) -> str:
    a, b = arguments
    return f"(case when {b} = 0 then null when {b} = -1 then try_subtract(0L, {a}) else {a} div {b} end)"


def _spark_negated(expression: Call, arguments: Sequence[str]) -> str:
    return f"try_subtract(0L, {arguments[0]})" if expression.type == INTEGER else f"(- {arguments[0]})"


def _spark_abs(expression: Call, arguments: Sequence[str]) -> str:
    (a,) = arguments
    return f"(case when {a} < 0 then try_subtract(0L, {a}) else {a} end)" if expression.type == INTEGER else f"abs({a})"


def _spark_round(name: str) -> Render:
    def render(expression: Call, arguments: Sequence[str]) -> str:
        digits = arguments[1].rstrip("L") if len(arguments) > 1 else "0"
        value = arguments[0]
        if expression.type == DOUBLE:
            return f"{name}({value}, {digits})"
        # Through the widest decimal of the same scale, where rounding up cannot overflow.
        scale = expression.arguments[0].type.scale
        return f"try_cast({name}(cast({value} as decimal(38,{scale})), {digits}) as {expression.type.spark})"

    return render


def _spark_truncate(expression: Call, arguments: Sequence[str]) -> str:
    toward_zero = [_spark_round(name)(expression, arguments) for name in ("floor", "ceil")]
    return f"(case when {arguments[0]} >= 0 then {toward_zero[0]} else {toward_zero[1]} end)"


def _spark_whole(name: str) -> Render:
    def render(expression: Call, arguments: Sequence[str]) -> str:
        (a,) = arguments
        if expression.arguments[0].type == INTEGER:
            return a
        # floor of a DOUBLE beyond 64 bits would silently give the largest bigint.
        in_range = f"(case when abs({a}) < 9.2e18D then {name}({a}) end)"
        return in_range if expression.arguments[0].type == DOUBLE else f"{name}({a})"

    return render


def _spark_case(expression: Call, arguments: Sequence[str]) -> str:
    pairs = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
    return "(case " + " ".join(f"when {c} then {v}" for c, v in pairs) + f" else {arguments[-1]} end)"


def _spark_joined(word: str) -> Render:
    return lambda expression, arguments: "(" + f" {word} ".join(arguments) + ")"


def _spark_called(name: str) -> Render:
    return lambda expression, arguments: f"{name}({', '.join(arguments)})"


def _spark_ints(name: str) -> Render:
    """Functions whose positions and lengths Spark wants as int."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        pairs = zip(expression.arguments, arguments, strict=True)
        return f"{name}({', '.join(f'try_cast({a} as int)' if e.type == INTEGER else a for e, a in pairs)})"

    return render


def _spark_trim(side: str) -> Render:
    return lambda expression, arguments: f"trim({' '.join([side, *arguments[1:], 'from', arguments[0]])})"


def _spark_cast(expression: Call, arguments: Sequence[str]) -> str:
    return f"try_cast({arguments[0]} as {expression.type.spark})"


def _spark_compare(symbol: str) -> Render:
    def render(expression: Call, arguments: Sequence[str]) -> str:
        left, right = comparison_sides(expression.arguments[0], expression.arguments[1], *arguments)
        return f"({left} {symbol} {right})"

    return render


def comparison_sides(left: Expression, right: Expression, a: str, b: str) -> tuple[str, str]:
    """Sides of a comparison; exact numbers too wide for one decimal together are compared in the widest of the scale."""
    kinds = {left.type.kind, right.type.kind}
    if Kind.DECIMAL in kinds and kinds <= {Kind.DECIMAL, Kind.INTEGER} and left.type != right.type:
        x, y = arithmetic.decimal_of(left), arithmetic.decimal_of(right)
        scale = max(x.scale, y.scale)
        if max(x.precision - x.scale, y.precision - y.scale) + scale > 38:
            return _clamped(a, scale), _clamped(b, scale)
    return a, b


def _clamped(value: str, scale: int) -> str:
    """A number in 38 digits, the largest of its sign when it has more: still greater than what it is compared with."""
    largest = f"cast('{'9' * (38 - scale)}.{'9' * scale}' as decimal(38,{scale}))"
    beyond = f"case when {value} > 0 then {largest} when {value} < 0 then - {largest} end"
    return f"coalesce(try_cast({value} as decimal(38,{scale})), {beyond})"


def _spark_in(expression: Call, arguments: Sequence[str]) -> str:
    return f"({arguments[0]} in ({', '.join(arguments[1:])}))"


def _spark_variance(samples: bool, root: bool) -> Render:
    """From count, sum and sum of squares: (n*q - s*s) / (n*n), exactly in decimals where these fit, else in DOUBLE.

    25 digits for q, 18 for s and 12 for n keep both products within 38 without rounding.
    """

    def render(expression: Call, arguments: Sequence[str]) -> str:
        n, s, q = arguments
        s_scale, q_scale = expression.arguments[1].type.scale, expression.arguments[2].type.scale
        exact = (
            f"try_subtract(try_multiply(try_cast({n} as decimal(12,0)), try_cast({q} as decimal(25,{q_scale}))),"
            f" try_multiply(try_cast({s} as decimal(18,{s_scale})), try_cast({s} as decimal(18,{s_scale}))))"
        )
        wide = f"greatest(0D, {n} * cast({q} as double) - cast({s} as double) * cast({s} as double))"
        divisor = f"(cast({n} as double) * ({n} - 1L))" if samples else f"(cast({n} as double) * {n})"
        value = f"try_divide(coalesce(cast({exact} as double), {wide}), {divisor})"
        return f"sqrt({value})" if root else value

    return render


def _spark_average(expression: Call, arguments: Sequence[str]) -> str:
    total, count = arguments
    if expression.type == DOUBLE:
        return f"try_divide(cast({total} as double), cast({count} as double))"
    return f"try_cast(try_divide({total}, cast({count} as decimal(20,0))) as {expression.type})"


def _average(arguments: Arguments) -> tuple[Arguments, DataType]:
    """AVG of INTEGER and DOUBLE is DOUBLE; of decimals it has four digits more. The sum has ten more than its values."""
    total = arguments[0].type
    if total.kind is not Kind.DECIMAL or (total.precision, total.scale) == (38, 0):
        return arguments, DOUBLE
    return arguments, arithmetic.bounded(total.precision - 6, total.scale + 4)


_ALL = 10_000
_NUMBER_SIGN = _numeric(lambda first, rest: DOUBLE)
_SAME = _numeric(lambda first, rest: first.type)
_YEARLESS = {"week": "weekofyear", "dayofweek": "dayofweek", "dayofyear": "dayofyear", "quarter": "quarter",
             "year": "year", "month": "month", "day": "day", "hour": "hour", "minute": "minute", "second": "second"}  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in [
        Function("+", 2, 2, _arithmetic("+"), _spark_arithmetic("+", "try_add")),
        Function("-", 2, 2, _arithmetic("-"), _spark_arithmetic("-", "try_subtract")),
        Function("*", 2, 2, _arithmetic("*"), _spark_arithmetic("*", "try_multiply")),
        Function("/", 2, 2, _arithmetic("/"), _spark_arithmetic("/", "try_divide")),
        Function("%", 2, 2, _arithmetic("%"), _spark_arithmetic("%", "try_mod")),
        Function("div", 2, 2, _arithmetic("div"), _spark_int_div),
        Function("neg", 1, 1, _SAME, _spark_negated),
        Function("abs", 1, 1, _SAME, _spark_abs),
        Function("round", 1, 2, _numeric(_rounded), _spark_round("round")),
        Function("truncate", 1, 2, _numeric(_rounded), _spark_truncate),
        Function("floor", 1, 1, _numeric(_whole), _spark_whole("floor")),
        Function("ceil", 1, 1, _numeric(_whole), _spark_whole("ceil")),
        Function("sign", 1, 1, _NUMBER_SIGN, "sign({0})"),
        Function("sqrt", 1, 1, _fixed(DOUBLE, DOUBLE), "(case when {0} >= 0 then sqrt({0}) end)"),
        Function("power", 2, 2, _fixed(DOUBLE, DOUBLE), "power({0}, {1})"),
        Function("exp", 1, 1, _fixed(DOUBLE, DOUBLE), "exp({0})"),
        Function("ln", 1, 1, _fixed(DOUBLE, DOUBLE), "ln({0})"),
        Function("log10", 1, 1, _fixed(DOUBLE, DOUBLE), "log10({0})"),
        *(Function(c, 2, 2, _comparison, _spark_compare(c)) for c in ("=", "<>", "<", "<=", ">", ">=", "<=>")),
        Function("and", 2, _ALL, _fixed(BOOLEAN, BOOLEAN), _spark_joined("and")),
        Function("or", 2, _ALL, _fixed(BOOLEAN, BOOLEAN), _spark_joined("or")),
        Function("not", 1, 1, _fixed(BOOLEAN, BOOLEAN), "(not {0})"),
        Function("is_null", 1, 1, _any(BOOLEAN), "({0} is null)"),
        Function("in", 2, _ALL, lambda a: (coercion.comparable(*a), BOOLEAN), _spark_in),
        # Patterns are constants with backslash as escape; bind has rewritten any other.
        Function("like", 2, 2, _fixed(BOOLEAN, STRING), "({0} like {1})"),
        Function("ilike", 2, 2, _fixed(BOOLEAN, STRING), "({0} ilike {1})"),
        Function("rlike", 2, 2, _fixed(BOOLEAN, STRING), "({0} rlike {1})"),
        Function("case", 3, _ALL, _case, _spark_case),
        Function("coalesce", 1, _ALL, _alike, _spark_called("coalesce")),
        Function("greatest", 2, _ALL, _alike, _spark_called("greatest")),
        Function("least", 2, _ALL, _alike, _spark_called("least")),
        Function("nullif", 2, 2, _first_of_two, "nullif({0}, {1})"),
        Function("cast", 1, 1, _any(STRING), _spark_cast),
        Function("upper", 1, 1, _fixed(STRING, STRING), "upper({0})"),
        Function("lower", 1, 1, _fixed(STRING, STRING), "lower({0})"),
        Function("length", 1, 1, _fixed(INTEGER, STRING), "cast(length({0}) as bigint)"),
        Function("substr", 2, 3, _fixed(STRING, STRING, INTEGER), _spark_ints("substring")),
        Function("||", 2, 2, lambda a: (tuple(coercion.as_string(x) for x in a), STRING), "concat({0}, {1})"),
        Function("trim", 1, 2, _fixed(STRING, STRING), _spark_trim("both")),
        Function("ltrim", 1, 2, _fixed(STRING, STRING), _spark_trim("leading")),
        Function("rtrim", 1, 2, _fixed(STRING, STRING), _spark_trim("trailing")),
        Function("replace", 3, 3, _fixed(STRING, STRING), "replace({0}, {1}, {2})"),
        Function("instr", 2, 2, _fixed(INTEGER, STRING), "cast(instr({0}, {1}) as bigint)"),
        Function("lpad", 3, 3, _fixed(STRING, STRING, INTEGER, STRING), _spark_ints("lpad")),
        Function("rpad", 3, 3, _fixed(STRING, STRING, INTEGER, STRING), _spark_ints("rpad")),
        Function("date_format", 2, 2, _moment(STRING), "date_format({0}, {1})"),
        Function("to_date", 2, 2, _fixed(DATE, STRING), "try_to_date({0}, {1})"),
        Function("to_timestamp", 2, 2, _fixed(TIMESTAMP, STRING), "cast(try_to_timestamp({0}, {1}) as timestamp_ntz)"),
        *(Function(n, 1, 1, _moment(INTEGER), f"cast({spark}({{0}}) as bigint)") for n, spark in _YEARLESS.items()),
        Function("trunc_date", 2, 2, _fixed(DATE, DATE, STRING), "trunc({0}, {1})"),
        Function("trunc_timestamp", 2, 2, _fixed(TIMESTAMP, TIMESTAMP, STRING), "cast(date_trunc({1}, {0}) as timestamp_ntz)"),
        Function("last_day", 1, 1, _fixed(DATE, DATE), "last_day({0})"),
        # Ten thousand years each way; Spark raises where a date leaves its range.
        Function("add_months", 2, 2, _fixed(DATE, DATE, INTEGER),
                 "(case when {1} between -120000 and 120000 then add_months({0}, try_cast({1} as int)) end)"),
        Function("add_seconds", 2, 2, _fixed(TIMESTAMP, TIMESTAMP, INTEGER),
                 "cast(timestamp_micros(try_add(unix_micros(cast({0} as timestamp)), try_multiply({1}, 1000000L)))"
                 " as timestamp_ntz)"),
        Function("average", 2, 2, _average, _spark_average),
        Function("variance_samp", 3, 3, _any(DOUBLE), _spark_variance(samples=True, root=False)),
        Function("variance_pop", 3, 3, _any(DOUBLE), _spark_variance(samples=False, root=False)),
        Function("stddev_samp", 3, 3, _any(DOUBLE), _spark_variance(samples=True, root=True)),
        Function("stddev_pop", 3, 3, _any(DOUBLE), _spark_variance(samples=False, root=True)),
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
