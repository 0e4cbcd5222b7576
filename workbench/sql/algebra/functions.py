"""The scalar functions and operators: for each how many arguments it takes, of which types, and its result type.

``call`` builds every typed expression: it coerces arguments, finds the type and folds constants. An expression has no
other functions but the analyst's own. What each is in Spark SQL is in ``render/spark_functions.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.sql.algebra import arithmetic, coercion
from workbench.sql.algebra.array_functions import ARRAYS, MAPS
from workbench.sql.algebra.coercion import TypeClash, coerce, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.folding import fold
from workbench.sql.algebra.plain_functions import PLAIN, Plain
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    array_of,
    decimal,
    of_any_bits,
    struct_of,
)

WITHIN = "within"
"""An integer, or NULL where the type of the result has no such number."""
Arguments = tuple[Expression, ...]
Rule = Callable[[Arguments], tuple[Arguments, DataType]]


@dataclass(frozen=True)
class Function:
    """A scalar function.

    Attributes:
        least: how many arguments it takes at least.
        most: how many at most.
        rule: gives the arguments as they are converted, and the type of the result.
        strict: whether the result is NULL as soon as one argument is.
    """

    least: int
    most: int
    rule: Rule
    strict: bool = True


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
        needed = f"{function.least}" if function.least == function.most else f"{function.least} to {function.most}"
        plural = "" if needed == "1" else "s"
        called = name.removesuffix("_of_bytes").removesuffix("_of_text")
        raise TypeClash(f"{called} takes {needed} argument{plural}, not {len(arguments)}")
    coerced, type_ = function.rule(arguments)
    result = Call(name, coerced, type_)
    if not all(isinstance(a, Constant) for a in coerced):
        return result
    if function.strict and any(coercion.is_null(a) for a in coerced):
        return Constant(None, type_)
    return fold(result) or result


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
    result = Call("cast", (expression,), type_)
    return fold(result) or result


def within(expression: Expression, type_: DataType) -> Expression:
    """An integer that is computed, NULL where it does not fit into a type of fewer bits.

    Comparisons read what is computed, as if every integer had room (``_comparison``).
    """
    if isinstance(expression, Constant):
        fitting = isinstance(expression.value, int) and arithmetic.fits(expression.value, type_)
        return Constant(expression.value if fitting else None, type_)
    return Call(WITHIN, (expression,), type_)


def _computed(expression: Expression) -> Expression:
    """Arithmetic of integers without the bounds of its results."""
    match expression:
        case Call(function, (inner,)) if function == WITHIN:
            return _computed(inner)
        case Call("+" | "-" | "*" | "neg" | "abs", arguments) if expression.type == INTEGER:
            return replace(expression, arguments=tuple(map(_computed, arguments)))
    return expression


# ---- rules -----------------------------------------------------------------------------------------------------------


def _arithmetic(operator: str) -> Rule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        left, right = (coerce(a, INTEGER) if coercion.is_null(a) else a for a in arguments)
        if left.type.kind is Kind.DATE and operator in ("+", "-"):
            return _date_arithmetic(operator, left, right)
        if right.type.kind is Kind.DATE and operator == "+":
            return _date_arithmetic(operator, right, left)
        for side in (left, right):
            if not side.type.numeric:
                hint = "CAST(… AS DOUBLE) makes a number of a text" if side.type == STRING else "compute with its parts"
                hint += "; || joins texts" if operator == "+" else ""
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


def _date_arithmetic(operator: str, date: Expression, other: Expression) -> tuple[Arguments, DataType]:
    if operator == "-" and other.type.kind in (Kind.DATE, Kind.STRING):
        return (date, coerce(other, DATE)), INTEGER
    if other.type.kind is not Kind.INTEGER:
        raise TypeClash(f"a date {operator} needs whole days, not {other.type}", other)
    return (date, other), DATE


def _comparison(arguments: Arguments) -> tuple[Arguments, DataType]:
    # Midnights compare as their days do, of which more is known.
    arguments = tuple(map(_computed, arguments))
    days = tuple(map(_day, arguments))
    return coercion.comparable(*(days if all(day.type == DATE for day in days) else arguments)), BOOLEAN


def _day(argument: Expression) -> Expression:
    """The date that is given as a timestamp; any other argument as it is."""
    is_cast = isinstance(argument, Call) and argument.function == "cast" and argument.type == TIMESTAMP
    day = argument.arguments[0] if isinstance(argument, Call) and is_cast else argument
    return day if day.type == DATE else argument


def _order_comparison(arguments: Arguments) -> tuple[Arguments, DataType]:
    _refuse_unordered(arguments)
    return _comparison(arguments)


def _largest(arguments: Arguments) -> tuple[Arguments, DataType]:
    _refuse_unordered(arguments)
    return unify(arguments)


def _refuse_unordered(arguments: Arguments) -> None:
    if whole := next((a for a in arguments if not a.type.ordered), None):
        raise coercion.no_order(whole)


def _struct(arguments: Arguments) -> tuple[Arguments, DataType]:
    """STRUCT; the binder names the fields."""
    return arguments, struct_of([(f"col{place}", a.type) for place, a in enumerate(arguments, start=1)])


def _field(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A field of a struct, by its place."""
    place = arguments[1]
    assert isinstance(place, Constant) and isinstance(place.value, int)
    return arguments, arguments[0].type.fields[place.value][1]


def _nested(arguments: Arguments) -> tuple[Arguments, DataType]:
    """TO_JSON of a struct, an array or a map."""
    (value,) = arguments
    if value.type.kind not in (Kind.STRUCT, Kind.ARRAY, Kind.MAP):
        raise TypeClash(
            f"a struct, an array or a map is needed, not {value.type}", value, "as in TO_JSON(STRUCT(a, b))"
        )
    return arguments, STRING


def _fixed(result: DataType, *parameters: DataType) -> Rule:
    """Arguments coerced to the parameters, the last of which stands for all that follow."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        needed = [parameters[min(i, len(parameters) - 1)] for i in range(len(arguments))]
        return tuple(coerce(a, t) for a, t in zip(arguments, needed, strict=True)), result

    return rule


def _any(result: DataType) -> Rule:
    return lambda arguments: (arguments, result)


def _case(arguments: Arguments) -> tuple[Arguments, DataType]:
    """Conditions and values in turn, the last value for ELSE."""
    values, type_ = unify(arguments[1:-1:2] + arguments[-1:])
    conditions = [coerce(c, BOOLEAN) for c in arguments[0:-1:2]]
    pairs = [e for pair in zip(conditions, values[:-1], strict=True) for e in pair]
    return (*pairs, values[-1]), type_


def _type_of_first(arguments: Arguments) -> tuple[Arguments, DataType]:
    pair = coercion.comparable(*arguments)
    # Intervals compare as their microseconds, which are what an interval is to Spark.
    return pair, INTERVAL if arguments[0].type == INTERVAL else pair[0].type


def _numeric(result: Callable[[Expression, Arguments], DataType]) -> Rule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        first = coerce(arguments[0], INTEGER) if coercion.is_null(arguments[0]) else arguments[0]
        if not first.type.numeric:
            raise TypeClash(f"a number is needed, not {first.type}", first)
        return (first, *arguments[1:]), result(first, arguments[1:])

    return rule


def _rounded(first: Expression, rest: Arguments) -> DataType:
    """ROUND and TRUNC of decimals: one more digit before the point, and behind it as many as the argument says."""
    digits = rest[0].value if rest and isinstance(rest[0], Constant) else None if rest else 0
    if not isinstance(digits, int):
        raise TypeClash("the number of digits must be a constant whole number", rest[0])
    type_ = of_any_bits(first.type)
    if type_.kind is not Kind.DECIMAL:
        return type_
    whole, scale = type_.precision - type_.scale + 1, min(max(digits, 0), type_.scale)
    return decimal(max(whole, 1 - digits) + scale, scale)


def _whole(first: Expression, rest: Arguments) -> DataType:
    type_ = first.type
    return decimal(type_.precision - type_.scale + 1, 0) if type_.kind is Kind.DECIMAL else INTEGER


def _of_time(result: DataType) -> Rule:
    """A date or a timestamp first, and constants after it."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        first = coercion.as_time(arguments[0])
        return (first, *arguments[1:]), result

    return rule


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


NUMERIC_QUOTIENT = "numeric_quotient"
"""The quotient of exact numbers as PostgreSQL rounds it. Four digits are left for products with constants."""
FIRST = "[00]"
"""The step of ``j->0`` in PostgreSQL, where it is a scalar itself, too; in Spark's paths it is the first element."""
_PATH, _COMPARED = (STRING, STRING), (STRING, STRING, STRING)
_OF_JSON = {
    **dict.fromkeys(("json_text", "json_text_in_duckdb", "json_type"), Plain(STRING, _PATH)),
    "json_elements": Plain(array_of(STRING), _PATH),
    "json_length": Plain(INTEGER, _PATH),
    "json_has": Plain(BOOLEAN, _PATH),
    **dict.fromkeys(("json_is", "json_has_element"), Plain(BOOLEAN, _COMPARED)),
}
UNREAD = {
    **{name: f"{name}_unread" for name in ("json_text", "json_text_in_duckdb", "json_is", "json_has_element")},
    **dict.fromkeys(("json_type", "json_length", "json_has", "json_elements"), "json_repeats_key"),
}
"""A function that cannot read all JSON -> the one of the same text, and path, that says whether it does not."""
JSON_AT = "json_at"
"""An element of an array of JSON in FROM, of which only arrows and functions of JSON can read something."""
JSON: dict[str, Plain] = {
    JSON_AT: Plain(STRING, _PATH),
    **_OF_JSON,
    **dict.fromkeys(UNREAD.values(), Plain(BOOLEAN, _PATH)),
    "json_repeats_key": Plain(BOOLEAN, (STRING,)),
}
"""Functions of a text of JSON, a constant path such as ``$['a'][0]``, and what is compared; SQL text has operators."""
_MANY = 10_000
_DOUBLE = Function(1, 1, _fixed(DOUBLE, DOUBLE))
_STRING = Function(1, 1, _fixed(STRING, STRING))
_SAME = Function(1, 1, _numeric(lambda first, rest: of_any_bits(first.type)))
_PATTERN = Function(2, 2, _fixed(BOOLEAN, STRING))  # the pattern is a constant with backslash as its escape
_PAD = Function(3, 3, _fixed(STRING, STRING, INTEGER, STRING))
_PART = Function(1, 1, _of_time(INTEGER))
_LARGEST = Function(2, _MANY, _largest, strict=False)
_VARIANCE = Function(3, 3, _any(DOUBLE), strict=False)


def _plain(plain: Plain) -> Function:
    count = len(plain.parameters)
    return Function(
        count, _MANY if plain.last_repeats else count, _fixed(plain.result, *plain.parameters), plain.strict
    )


FUNCTIONS: dict[str, Function] = {
    **{name: _plain(plain) for name, plain in {**PLAIN, **JSON}.items()},
    **{name: Function(*signature) for name, signature in {**ARRAYS, **MAPS}.items()},
    "struct": Function(1, _MANY, _struct, strict=False),
    "field": Function(2, 2, _field),
    "to_json": Function(1, 1, _nested),
    **{operator: Function(2, 2, _arithmetic(operator)) for operator in ("+", "-", "*", "/", "%", "div")},
    "neg": _SAME,
    "abs": _SAME,
    "round": Function(1, 2, _numeric(_rounded)),
    "bround": Function(1, 2, _numeric(_rounded)),
    "round_scaled": Function(2, 2, _fixed(DOUBLE, DOUBLE, INTEGER)),
    "truncate": Function(1, 2, _numeric(_rounded)),
    "floor": Function(1, 1, _numeric(_whole)),
    "ceil": Function(1, 1, _numeric(_whole)),
    "sign": Function(1, 1, _numeric(lambda first, rest: DOUBLE)),
    **dict.fromkeys(("sqrt", "exp", "ln", "log10"), _DOUBLE),
    "power": Function(2, 2, _fixed(DOUBLE, DOUBLE)),
    **dict.fromkeys(("=", "<>"), Function(2, 2, _comparison)),
    **dict.fromkeys(("<", "<=", ">", ">="), Function(2, 2, _order_comparison)),
    "<=>": Function(2, 2, _comparison, strict=False),
    "in": Function(2, _MANY, _comparison, strict=False),
    "and": Function(2, _MANY, _fixed(BOOLEAN, BOOLEAN), strict=False),
    "or": Function(2, _MANY, _fixed(BOOLEAN, BOOLEAN), strict=False),
    "not": Function(1, 1, _fixed(BOOLEAN, BOOLEAN)),
    "is_null": Function(1, 1, _any(BOOLEAN), strict=False),
    **dict.fromkeys(("like", "ilike", "rlike"), _PATTERN),
    "case": Function(3, _MANY, _case, strict=False),
    "coalesce": Function(1, _MANY, unify, strict=False),
    "greatest": _LARGEST,
    "least": _LARGEST,
    "nullif": Function(2, 2, _type_of_first, strict=False),
    "cast": Function(1, 1, _any(STRING)),
    WITHIN: Function(1, 1, _any(INTEGER)),
    "upper": _STRING,
    "lower": _STRING,
    "length": Function(1, 1, _fixed(INTEGER, STRING)),
    "substr": Function(2, 3, _fixed(STRING, STRING, INTEGER)),
    "||": Function(2, 2, lambda a: (tuple(coercion.as_string(x) for x in a), STRING)),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), Function(1, 2, _fixed(STRING, STRING))),
    "replace": Function(3, 3, _fixed(STRING, STRING)),
    "instr": Function(2, 2, _fixed(INTEGER, STRING)),
    "lpad": _PAD,
    "rpad": _PAD,
    "date_format": Function(2, 2, _of_time(STRING)),
    "to_date": Function(2, 2, _fixed(DATE, STRING)),
    "to_timestamp": Function(2, 2, _fixed(TIMESTAMP, STRING)),
    **dict.fromkeys(("year", "quarter", "month", "week", "day", "dayofweek", "dayofyear", "hour", "minute", "second"),
                    _PART),
    "trunc_date": Function(2, 2, _fixed(DATE, DATE, STRING)),
    "trunc_timestamp": Function(2, 2, _fixed(TIMESTAMP, TIMESTAMP, STRING)),
    "last_day": Function(1, 1, _fixed(DATE, DATE)),
    "add_months": Function(2, 2, _fixed(DATE, DATE, INTEGER)),
    **dict.fromkeys(("add_months_to_timestamp", "add_seconds", "window_start"),
                    Function(2, 2, _fixed(TIMESTAMP, TIMESTAMP, INTEGER))),
    NUMERIC_QUOTIENT: Function(2, 2, _quotient, strict=False),
    "average": Function(2, 2, _average, strict=False),
    **dict.fromkeys(("variance_samp", "variance_pop", "stddev_samp", "stddev_pop"), _VARIANCE),
}  # fmt: skip
"""Every function by its name in expressions."""
