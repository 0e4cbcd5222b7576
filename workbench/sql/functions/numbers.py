"""Arithmetic of integers, decimals, doubles and dates, rounding, and the quotients that aggregates end in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sqlglot import exp

from workbench.sql.algebra import arithmetic, coercion
from workbench.sql.algebra.arithmetic import BIGINT_MAX
from workbench.sql.algebra.coercion import TypeClash, coerce
from workbench.sql.algebra.constant_texts import double_of_text, typed_text, with_typed_texts
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.hints import literal_hint
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, DataType, Kind, decimal, of_any_bits
from workbench.sql.functions.calls import NUMBER_OF_TEXT, call
from workbench.sql.functions.declaration import EVERYWHERE, Arguments, Render, TypeRule, function, let, variable_sql
from workbench.sql.functions.numeric_casts import rounded_double
from workbench.sql.functions.numeric_quotients import numeric_quotient_sql
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.functions.results import in_doubles, to_digits
from workbench.sql.functions.variances import variance

_MOST_DIGITS = 15
"""Digits behind the point to which a DOUBLE is rounded."""

_NEGATED_EXACTLY = 34
"""Digits of Java's DECIMAL128, in which Spark negates."""


def _arithmetic(operator: str) -> TypeRule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        left, right = map(_number_of_null, arguments)
        if DOUBLE in (left.type, right.type):
            left, right = (double_of_text(a) or a for a in (left, right))
        if Kind.DATE not in (left.type.kind, right.type.kind):
            left, right = with_typed_texts((left, right))
            left, right = (typed_text(a, [DOUBLE]) or a for a in (left, right))  # two texts
        if left.type.kind is Kind.DATE and operator in ("+", "-"):
            return _date_arithmetic(operator, left, right)
        if right.type.kind is Kind.DATE and operator == "+":
            return _date_arithmetic(operator, right, left)
        for side, other in ((left, right), (right, left)):
            if not side.type.numeric:
                hint = NUMBER_OF_TEXT if side.type == STRING else "compute with its parts"
                hint += "; || joins texts" if operator == "+" else ""
                is_text = isinstance(side, Constant) or left.type == right.type
                hint = "|| joins texts" if operator == "+" and side.type == STRING and is_text else hint
                if isinstance(side, Constant) and (written := literal_hint(str(side.value), DOUBLE)):
                    percent = f"{written} / 100" if str(side.value).strip().endswith("%") else written
                    hint = f"{percent}, without quotes"
                if side.type.temporal and isinstance(other, Constant) and isinstance(other.value, str):
                    hint = literal_hint(other.value, side.type) or hint
                raise TypeClash(f"{operator} needs numbers, not {left.type} and {right.type}", side, hint)
        type_ = arithmetic.result_type(operator, left, right)
        if operator == "div" and not {left.type.kind, right.type.kind} <= {Kind.INTEGER, Kind.DECIMAL}:
            raise TypeClash("integer division needs exact numbers", right, "FLOOR(x / y) rounds the quotient down")
        if type_ == DOUBLE:
            left, right = coerce(left, DOUBLE), coerce(right, DOUBLE)
        elif type_ == INTEGER:
            left, right = (coerce(side, INTEGER) if side.type.kind is Kind.INTEGER else side for side in (left, right))
        return (left, right), type_

    return rule


def _number_of_null(argument: Expression) -> Expression:
    """NULL that is of no type, or of one that does not count, as an integer; other arguments as they are."""
    counts = argument.type.numeric or argument.type.kind is Kind.DATE
    return argument if counts or not coercion.is_null(argument) else coerce(argument, INTEGER)


def _date_arithmetic(operator: str, date: Expression, other: Expression) -> tuple[Arguments, DataType]:
    if operator == "-" and other.type.kind in (Kind.DATE, Kind.STRING):
        return (date, coerce(other, DATE)), INTEGER
    if other.type.kind is not Kind.INTEGER:
        hint = f"as in day {operator} 3, or day {operator} INTERVAL '3' DAY"
        raise TypeClash(f"a date {operator} needs whole days, not {other.type}", other, hint)
    return (date, other), DATE


def _numeric(result: Callable[[Expression, Arguments], DataType]) -> TypeRule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        first = _number_of_null(arguments[0])
        first = typed_text(first, [DOUBLE]) or first
        if not first.type.numeric:
            hint = NUMBER_OF_TEXT if first.type == STRING else f"no {first.type.kind} is one"
            raise TypeClash(f"a number is needed, not {first.type}", first, hint)
        return (first, *arguments[1:]), result(first, arguments[1:])

    return rule


def _same(first: Expression, rest: Arguments) -> DataType:
    return of_any_bits(first.type)


def _rounded(first: Expression, rest: Arguments) -> DataType:
    """ROUND and TRUNC of decimals: one more digit before the point, and behind it as many as the argument says."""
    digits = rest[0].value if rest and isinstance(rest[0], Constant) else None if rest else 0
    if not isinstance(digits, int):
        raise TypeClash("the number of digits must be a constant whole number", rest[0], "as in ROUND(x, 2)")
    type_ = of_any_bits(first.type)
    if type_.kind is not Kind.DECIMAL:
        return type_
    whole, scale = type_.precision - type_.scale + 1, min(max(digits, 0), type_.scale)
    return decimal(max(whole, 1 - digits) + scale, scale)


def _whole(first: Expression, rest: Arguments) -> DataType:
    type_ = first.type
    return decimal(type_.precision - type_.scale + 1, 0) if type_.kind is Kind.DECIMAL else INTEGER


def _average(arguments: Arguments) -> tuple[Arguments, DataType]:
    """AVG of INTEGER and DOUBLE is DOUBLE, of decimals four digits more; the sum has ten more than its values."""
    total = arguments[0].type
    if total.kind is not Kind.DECIMAL or (total.precision, total.scale) == (38, 0):
        return arguments, DOUBLE
    return arguments, arithmetic.bounded(total.precision - 6, total.scale + 4)


def _quotient(arguments: Arguments) -> tuple[Arguments, DataType]:
    for each in arguments:
        if each.type.kind not in (Kind.INTEGER, Kind.DECIMAL):
            raise TypeClash(f"an exact number is needed, not {each.type}", each)
    return arguments, decimal(34, 20)


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


def _rounded_sql(name: str) -> Render:
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
    y = variable_sql("y")
    half_up = f"floor(abs({y})) + if(abs({y}) - floor(abs({y})) >= 0.5D, 1, 0)"
    whole = f"if(isnan({y}) or abs({y}) >= {2**52}D, {y}, sign({y}) * ({half_up}))"
    rounded_ = f"if(abs({y}) = double('infinity'), {value}, {whole} / {scale})"
    return let(y, f"{value} * {scale}", rounded_)


def truncate(expression: Call, arguments: Sequence[str]) -> str:
    """Rounding toward zero."""
    toward_zero = [_rounded_sql(name)(expression, arguments) for name in ("floor", "ceil")]
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


@reads(exp.Round, parts="this decimals")
def rounded(b: ExpressionBinder, node: exp.Round) -> Expression:
    """ROUND; of a DOUBLE some compute it in DOUBLE, round(x * 100) / 100, where others round the digits."""
    if b.rules.numeric_keeps_digits and (found := rounded_double(b, node, node.this, node.args.get("decimals"))):
        return found
    value, *digits = b.parts(node, "this", "decimals")
    if b.rules.numeric_keeps_digits and value.type == DOUBLE and not digits:
        return call("rint", value)
    if not b.rules.rounds_in_double or value.type != DOUBLE:
        return to_digits(b, "round", value, *digits)
    places = digits[0] if digits else Constant(0, INTEGER)
    if not isinstance(places, Constant) or not isinstance(places.value, int) or not 0 <= places.value <= _MOST_DIGITS:
        b.source.refuse("ROUND to such digits", node, "write a constant number of digits, as in ROUND(x, 2)")
    return call("round_scaled", value, places)


@reads(exp.Mod, parts="this expression")
def remainder(b: ExpressionBinder, node: exp.Mod) -> Expression:
    """MOD and %. The remainder by zero is NULL, or the dividend where the dialect says so."""
    value, divisor = b.parts(node, "this", "expression")
    result = in_doubles(b, "%", value, divisor)
    if not b.rules.remainder_by_zero_is_dividend or (isinstance(divisor, Constant) and divisor.value):
        return result
    return call("case", call("=", divisor, Constant(0, INTEGER)), value, result)


@reads(exp.Log, parts="this expression")
def log(b: ExpressionBinder, node: exp.Log) -> Expression:
    """LOG(x) and LOG(base, x)."""
    called = (b.source.called(node) or "").upper()
    if node.expression is None and called in ("LOG2", "LOG10"):  # the parser has put the base in its place
        raise TypeClash(f"{called} takes 1 argument, not 0")
    if node.expression is None:
        if b.rules.log is None:
            b.source.refuse("LOG without a base", node, "write LN(x), or LOG(10, x)")
        return in_doubles(b, b.rules.log, b.bind(node.this))
    base, value = b.bind(node.this), b.bind(node.expression)
    if base == Constant(10, INTEGER):
        return in_doubles(b, "log10", value)
    return in_doubles(b, "/", in_doubles(b, "ln", value), in_doubles(b, "ln", base))


@reads_name("positive", takes=1)
def positive(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """POSITIVE(x), the number itself."""
    if not arguments[0].type.numeric:
        raise TypeClash("POSITIVE takes a number")
    return arguments[0]


reads_name("e", takes=0)(lambda b, arguments: Constant(math.e, DOUBLE))
reads(exp.Pi, parts="")(lambda b, node: Constant(math.pi, DOUBLE))
reads_name("nullifzero")(lambda b, arguments: call("nullif", *arguments, Constant(0, INTEGER)))
reads_name("zeroifnull")(lambda b, arguments: call("coalesce", *arguments, Constant(0, INTEGER)))


NUMERIC_QUOTIENT = "numeric_quotient"
"""The quotient of exact numbers as PostgreSQL rounds it. Four digits are left for products with constants."""
DECLARED = [
    *(function(f"{sign}(number, number)", arithmetic_operator(sign, f"try_{name}"), rule=_arithmetic(sign),
               dialects=EVERYWHERE)
      for sign, name in (("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide"))),
    function("%(number, number)", arithmetic_operator("%", "try_mod"), rule=_arithmetic("%"), names="try_mod"),
    function("div(number, number)", integer_division, rule=_arithmetic("div")),
    function("neg(number)", minus_sign, rule=_numeric(_same), nodes=[exp.Negative]),
    function("abs(number)", absolute, rule=_numeric(_same)),
    function("round(number[, digits])", _rounded_sql("round"), rule=_numeric(_rounded)),
    function("bround(number[, digits])", _rounded_sql("bround"), rule=_numeric(_rounded), names="bround"),
    function("round_scaled(double, integer): double", round_scaled),
    function("truncate(number[, digits])", truncate, rule=_numeric(_rounded)),
    function("floor(number)", whole("floor"), rule=_numeric(_whole)),
    function("ceil(number)", whole("ceil"), rule=_numeric(_whole)),
    function("sign(number)", rule=_numeric(lambda first, rest: DOUBLE)),
    function("average(total, count)", average, rule=_average),
    function(f"{NUMERIC_QUOTIENT}(number, number)", numeric_quotient_sql, rule=_quotient, of_null=True),
    *(function(f"{name}(any, any, any): double", variance(samples, root), of_null=True)
      for name, samples, root in (("variance_samp", True, False), ("variance_pop", False, False),
                                  ("stddev_samp", True, True), ("stddev_pop", False, True))),
]  # fmt: skip
