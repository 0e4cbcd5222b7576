"""The Spark SQL text of every function.

The text is *total*: it gives a value or NULL whatever the row holds, with ANSI mode on or off. It uses ``try_`` forms
where Spark has them and the result could overflow, a guard or a wider type where it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.sql.algebra import arithmetic
from workbench.sql.algebra.arithmetic import BIGINT_MAX
from workbench.sql.algebra.coercion import is_integer_of
from workbench.sql.algebra.expressions import Call, Constant, Expression, calls
from workbench.sql.algebra.functions import NUMERIC_QUOTIENT, WITHIN
from workbench.sql.algebra.types import BINARY, DOUBLE, INTEGER, STRING, DataType, Kind
from workbench.sql.render.array_functions import ARRAY_SQL
from workbench.sql.render.json_functions import JSON_SQL
from workbench.sql.render.map_functions import MAP_SQL
from workbench.sql.render.numeric_quotients import numeric_quotient
from workbench.sql.render.plain_functions import PLAIN_SQL
from workbench.sql.render.stored_values import with_names
from workbench.sql.render.variances import variance

Render = Callable[[Call, Sequence[str]], str]
"""Gives the text of a call from the call and the texts of its arguments."""

_OF_BITS = {8: "tinyint", 16: "smallint", 32: "int"}
_NEGATED_EXACTLY = 34
"""Digits of Java's DECIMAL128, in which Spark negates."""


def arithmetic_operator(symbol: str, total: str) -> Render:
    """Sums, differences, products, quotients and remainders, of dates too."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        kinds = {a.type.kind for a in expression.arguments}
        if Kind.DATE in kinds:
            if expression.type.kind is Kind.INTEGER:
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


def integer_division(expression: Call, arguments: Sequence[str]) -> str:
    """DIV, toward zero; NULL by zero, and where the quotient has more than 64 bits."""
    a, b = arguments
    if {argument.type.kind for argument in expression.arguments} == {Kind.INTEGER}:  # only the smallest by -1 overflows
        return f"(case when {b} = 0 then null when {b} = -1 then try_subtract(0L, {a}) else {a} div {b} end)"
    # Beyond 64 bits Spark would keep the lowest ones.
    within = f"abs(cast({a} as double)) < 9.2e18D * abs(cast({b} as double))"
    a, b = (decimal_operand(e, r) for e, r in zip(expression.arguments, arguments, strict=True))
    return f"(case when {b} <> 0 and {within} then {a} div {b} end)"


def minus_sign(expression: Call, arguments: Sequence[str]) -> str:
    """A minus sign."""
    if expression.type.kind is Kind.INTEGER:
        return f"try_subtract(0L, {arguments[0]})"
    return negated(arguments[0], expression.type)


def negated(value: str, type_: DataType, digits: int | None = None) -> str:
    """A DECIMAL or DOUBLE of at most ``digits`` digits with its sign changed.

    Spark rounds what it negates to 34 digits, so longer numbers change their sign as text.
    """
    if (type_.precision if digits is None else digits) <= _NEGATED_EXACTLY:
        return f"(- {value})"
    text = f"cast({value} as string)"
    return f"cast(case when {value} < 0 then substr({text}, 2) else concat('-', {text}) end as {type_.spark})"


def absolute(expression: Call, arguments: Sequence[str]) -> str:
    """The absolute value, which the smallest integer does not have."""
    (a,) = arguments
    if expression.type == DOUBLE:
        return f"abs({a})"
    return f"(case when {a} < 0 then {minus_sign(expression, arguments)} else {a} end)"


def rounded(name: str) -> Render:
    """ROUND, FLOOR or CEIL to a number of digits."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        digits = arguments[1].rstrip("L") if len(arguments) > 1 else "0"
        value = arguments[0]
        if expression.type == DOUBLE:
            return f"{name}({value}, {digits})"
        # Through the widest decimal of the same scale, where rounding up cannot overflow.
        scale = expression.arguments[0].type.scale
        return f"try_cast({name}(cast({value} as decimal(38,{scale})), {digits}) as {expression.type.spark})"

    return render


def round_scaled(expression: Call, arguments: Sequence[str]) -> str:
    """ROUND of a DOUBLE as C++ computes round(x * 100) / 100, half away from zero; beyond 2^52 all are whole."""
    value, scale = arguments[0], f"1e{arguments[1].removesuffix('L')}D"
    y = "`->y`"  # no column is called so
    half_up = f"floor(abs({y})) + if(abs({y}) - floor(abs({y})) >= 0.5D, 1, 0)"
    whole = f"if(isnan({y}) or abs({y}) >= {2**52}D, {y}, sign({y}) * ({half_up}))"
    rounded_ = f"if(abs({y}) = double('infinity'), {value}, {whole} / {scale})"
    return f"transform(array({value} * {scale}), {y} -> {rounded_})[0]"


def truncate(expression: Call, arguments: Sequence[str]) -> str:
    """Rounding toward zero."""
    toward_zero = [rounded(name)(expression, arguments) for name in ("floor", "ceil")]
    return f"(case when {arguments[0]} >= 0 then {toward_zero[0]} else {toward_zero[1]} end)"


def whole(name: str) -> Render:
    """FLOOR and CEIL to whole numbers."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        (a,) = arguments
        if expression.arguments[0].type.kind is Kind.INTEGER:
            return a
        if expression.arguments[0].type != DOUBLE:
            return f"{name}({a})"
        # Beyond 64 bits it is the nearest integer, as without ANSI mode, and 0 of NaN.
        beyond = f"when isnan({a}) then 0L when {a} > 0D then {BIGINT_MAX}L when {a} < 0D then -{BIGINT_MAX}L - 1L"
        return f"(case when abs({a}) < {2**63}D then {name}({a}) {beyond} end)"

    return render


def cast(expression: Call, arguments: Sequence[str]) -> str:
    """CAST, which is NULL where the type has no such value."""
    value = arguments[0]
    if is_integer_of(expression.arguments[0].type, expression.type):
        return value
    if expression.type == INTEGER and expression.arguments[0].type == DOUBLE:
        # Spark compares with the DOUBLE next to 2^63 - 1, which is 2^63, and makes 2^63 - 1 of it.
        value = f"nullif({value}, 9.223372036854775808E18D)"
    if expression.type.kind is Kind.INTEGER and expression.type.bits < 64:
        return f"cast(try_cast({value} as {_OF_BITS[expression.type.bits]}) as bigint)"
    if expression.arguments[0].type == BINARY and expression.type == STRING:
        return f"try_validate_utf8(cast({value} as string))"  # bytes that are no text are NULL
    return f"try_cast({value} as {expression.type.spark})"


def case(expression: Call, arguments: Sequence[str]) -> str:
    """CASE."""
    pairs = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
    return "(case " + " ".join(f"when {c} then {v}" for c, v in pairs) + f" else {arguments[-1]} end)"


def with_int_arguments(name: str) -> Render:
    """Functions whose positions and lengths are int in Spark."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        pairs = zip(expression.arguments, arguments, strict=True)
        return f"{name}({', '.join(f'try_cast({a} as int)' if e.type.kind is Kind.INTEGER else a for e, a in pairs)})"

    return render


def comparison(symbol: str) -> Render:
    """A comparison."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        left, right = comparison_sides(expression.arguments[0], expression.arguments[1], *arguments)
        return f"({left} {symbol} {right})"

    return render


def comparison_sides(left: Expression, right: Expression, a: str, b: str) -> tuple[str, str]:
    """Sides of a comparison; numbers too wide for one decimal together are compared in the widest of the scale."""
    kinds = {left.type.kind, right.type.kind}
    if Kind.DECIMAL in kinds and kinds <= {Kind.DECIMAL, Kind.INTEGER} and left.type != right.type:
        x, y = arithmetic.decimal_of(left), arithmetic.decimal_of(right)
        scale = max(x.scale, y.scale)
        if max(x.precision - x.scale, y.precision - y.scale) + scale > 38:
            return _clamped(a, scale), _clamped(b, scale)
    return a, b


def _clamped(value: str, scale: int) -> str:
    """A number in 38 digits, the largest of its sign when it has more: still greater than what it is compared with."""
    largest, smallest = (f"cast('{s}{'9' * (38 - scale)}.{'9' * scale}' as decimal(38,{scale}))" for s in ("", "-"))
    beyond = f"case when {value} > 0 then {largest} when {value} < 0 then {smallest} end"
    return f"coalesce(try_cast({value} as decimal(38,{scale})), {beyond})"


def average(expression: Call, arguments: Sequence[str]) -> str:
    """A sum divided by a count, rounded once, half up.

    Spark keeps six digits behind the point of such a quotient, or as many as the sum has: what is left after a whole
    number for each row is divided by itself, which leaves room for 25.
    """
    total, count = arguments
    if expression.type == DOUBLE:
        return f"try_divide(cast({total} as double), cast({count} as double))"
    quotient = f"try_cast(try_divide({total}, cast({count} as decimal(20,0))) as {expression.type})"
    scale, kept = expression.arguments[0].type.scale, expression.type.scale
    if kept in (6, 38):
        return quotient
    # A count of more than 13 digits, and a whole number that needs all 38 places, are left to the plain quotient.
    number, wide = f"try_cast({count} as decimal(13,0))", min(13 + scale, 38)
    rest = f"try_cast(try_mod({total}, {number}) as decimal({wide},{scale}))"
    whole = f"try_cast(try_divide(try_subtract({total}, {rest}), {number}) as decimal(37,{kept}))"
    part = f"try_cast(try_divide({rest}, {number}) as decimal({kept + 1},{kept}))"
    return f"coalesce(try_cast(try_add({whole}, {part}) as {expression.type}), {quotient})"


def choice(expression: Call, arguments: Sequence[str]) -> str:
    """ELT: the n-th of its texts; Spark raises where there is none."""
    number, *texts = arguments
    return "(case " + " ".join(f"when {number} = {i} then {text}" for i, text in enumerate(texts, start=1)) + " end)"


def struct(expression: Call, arguments: Sequence[str]) -> str:
    """STRUCT, whose fields are called by their places."""
    fields = (f"'f{place}', {argument}" for place, argument in enumerate(arguments))
    return f"named_struct({', '.join(fields)})"


def _call(name: str) -> Render:
    return lambda call, arguments: f"{name}({', '.join(arguments)})"


def _trim(side: str) -> Render:
    """TRIM of blanks or of a set of characters."""
    return lambda call, arguments: f"trim({' '.join([side, *arguments[1:], 'from', arguments[0]])})"


_PARTS = {"week": "weekofyear", **{part: part for part in (
    "dayofweek", "dayofyear", "quarter", "year", "month", "day", "hour", "minute", "second")}}  # fmt: skip
_MICROSECONDS = "unix_micros(cast({0} as timestamp))"

SPARK_FUNCTIONS: dict[str, str | Render] = {
    **PLAIN_SQL,
    **ARRAY_SQL,
    **MAP_SQL,
    **JSON_SQL,
    "try_parse_url": _call("try_parse_url"),
    "xxhash64": _call("xxhash64"),
    "hash": lambda call, arguments: f"cast(hash({', '.join(arguments)}) as bigint)",
    "elt": choice,
    **{symbol: arithmetic_operator(symbol, f"try_{name}") for symbol, name in {
        "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "mod"}.items()},
    "div": integer_division,
    "neg": minus_sign,
    "abs": absolute,
    "round": rounded("round"),
    "bround": rounded("bround"),
    "round_scaled": round_scaled,
    "truncate": truncate,
    "floor": whole("floor"),
    "ceil": whole("ceil"),
    "sign": "sign({0})",
    "sqrt": "(case when {0} >= 0 then sqrt({0}) end)",
    "power": "power({0}, {1})",
    "exp": "exp({0})",
    "ln": "ln({0})",
    "log10": "log10({0})",
    **{symbol: comparison(symbol) for symbol in ("=", "<>", "<", "<=", ">", ">=", "<=>")},
    "and": lambda call, arguments: f"({' and '.join(arguments)})",
    "or": lambda call, arguments: f"({' or '.join(arguments)})",
    "not": "(not {0})",
    "is_null": "({0} is null)",
    "in": lambda call, arguments: f"({arguments[0]} in ({', '.join(arguments[1:])}))",
    "like": "({0} like {1})",
    "ilike": "({0} ilike {1})",
    "rlike": "({0} rlike {1})",
    "case": case,
    **{name: _call(name) for name in ("coalesce", "greatest", "least")},
    "nullif": "nullif({0}, {1})",
    "struct": struct,
    "to_json": lambda call, arguments: f"to_json({with_names(arguments[0], call.arguments[0].type)})",
    "field": lambda call, arguments: f"({arguments[0]}).f{arguments[1].removesuffix('L')}",
    "cast": cast,
    WITHIN: cast,
    "upper": "upper({0})",
    "lower": "lower({0})",
    "length": "cast(length({0}) as bigint)",
    "substr": with_int_arguments("substring"),
    "||": "concat({0}, {1})",
    **{name: _trim(side) for name, side in {"trim": "both", "ltrim": "leading", "rtrim": "trailing"}.items()},
    "replace": "replace({0}, {1}, {2})",
    "instr": "cast(instr({0}, {1}) as bigint)",
    "lpad": with_int_arguments("lpad"),
    "rpad": with_int_arguments("rpad"),
    "date_format": "date_format({0}, {1})",
    "to_date": "try_to_date({0}, {1})",
    "to_timestamp": "cast(try_to_timestamp({0}, {1}) as timestamp_ntz)",
    **{name: f"cast({spark}({{0}}) as bigint)" for name, spark in _PARTS.items()},
    "trunc_date": "trunc({0}, {1})",
    "trunc_timestamp": "cast(date_trunc({1}, {0}) as timestamp_ntz)",
    "last_day": "last_day({0})",
    # Ten thousand years each way; Spark raises where a date leaves its range.
    "add_months": "(case when {1} between -120000 and 120000 then add_months({0}, try_cast({1} as int)) end)",
    "add_months_to_timestamp":
        "(case when {1} between -120000 and 120000 then {0} + make_ym_interval(0, try_cast({1} as int)) end)",
    "add_seconds":
        f"cast(timestamp_micros(try_add({_MICROSECONDS}, try_multiply({{1}}, 1000000L))) as timestamp_ntz)",
    "window_start":
        f"cast(timestamp_micros({_MICROSECONDS} - pmod({_MICROSECONDS}, {{1}} * 1000000L)) as timestamp_ntz)",
    "average": average,
    NUMERIC_QUOTIENT: numeric_quotient,
    "variance_samp": variance(samples=True, root=False),
    "variance_pop": variance(samples=False, root=False),
    "stddev_samp": variance(samples=True, root=True),
    "stddev_pop": variance(samples=False, root=True),
}  # fmt: skip
"""Function -> a format string over the texts of its arguments, or what gives its text."""


def calls_functions(expression: Expression) -> bool:
    """Whether an expression calls a function of the analyst.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> [calls_functions(Call(name, (Column("a", DOUBLE),), DOUBLE)) for name in ("sqrt", "half@1")]
        [False, True]
    """
    return not calls(expression) <= SPARK_FUNCTIONS.keys()
