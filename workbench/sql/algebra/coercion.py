"""Which types go together: conversions of arguments, sides of comparisons, common types.

A column of texts is never silently one of numbers: what Spark, Oracle and DuckDB make of it differs. A constant text
beside a number is one where all databases read the same, as in ``type_code = '1000'``. A constant text compared with a
date must be a date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from workbench.errors import with_article
from workbench.sql.algebra.arithmetic import number
from workbench.sql.algebra.constant_texts import number_of_text, typed_text, with_typed_texts
from workbench.sql.algebra.counted import counted_number, of_number, time_of_text
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.folding import constant_as, fold, parse_date, parse_instant
from workbench.sql.algebra.hints import SPLITS, TESTS, fields_hint, literal_hint
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    COUNTED,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MONTHS,
    PLAIN_KINDS,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    Kind,
    common_type,
)
from workbench.sql.algebra.zones import in_zone, zoning

AS_TEXT = "ARRAY_JOIN(x, ',')"
"""How to make a text of an array, for hints."""
_ELEMENTS = "ARRAY_CONTAINS(x, v) and ARRAYS_OVERLAP(x, y) look for elements"
_FIELDS = "structs compare where their fields have the same names and types; s.f is a field"
NO_ORDER = f"take an element, x[0], SIZE(x), or {AS_TEXT}"
"""The hint where arrays would have an order."""
NO_ORDER_OF_STRUCTS = "take a field, s.f"
"""The hint where structs would have an order."""
_OF_MAPS = "take a value of it, m['k'], or MAP_ENTRIES(m), the array of its entries in the order they have"


class TypeClash(Exception):
    """Types do not go together; ``bind`` turns it into an error with a place.

    Args:
        message: what is wrong.
        expression: the argument at fault, when it is one.
        hint: what to try.
    """

    def __init__(self, message: str, expression: Expression | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.expression, self.hint = message, expression, hint


def no_order(expression: Expression) -> TypeClash:
    """The error for a value without an order where one is needed."""
    if expression.type.kind is Kind.ARRAY:
        return TypeClash("arrays have no order", expression, NO_ORDER)
    if expression.type.kind is Kind.MAP:
        return TypeClash("maps have no order", expression, _OF_MAPS)
    return TypeClash("structs have no order", expression, NO_ORDER_OF_STRUCTS)


def refuse_maps(*values: Expression) -> None:
    """Refuse maps, and values with maps in them, where values are compared.

    Raises:
        TypeClash: one of them is such.
    """
    if whole := next((value for value in values if not value.type.comparable), None):
        raise TypeClash(f"values of type {whole.type} are not compared", whole, _OF_MAPS)


def is_null(expression: Expression) -> bool:
    """Whether it is the constant NULL, which goes with every type."""
    return isinstance(expression, Constant) and expression.value is None


def empty_array(type_: DataType) -> Call:
    """The array without elements, as a value of a type of arrays, or the map without entries of one of maps."""
    return Call("array", (), type_)


def is_untyped(expression: Expression) -> bool:
    """Whether it goes with several types: NULL, the array without elements, and the map without entries."""
    return is_null(expression) or (isinstance(expression, Call) and expression == empty_array(expression.type))


def untyped_as(expression: Expression, type_: DataType) -> Expression:
    """NULL, or the array without elements, as a value of a type."""
    return Constant(None, type_) if is_null(expression) else empty_array(type_)


def is_integer_of(have: DataType, type_: DataType) -> bool:
    """Whether every integer of a type is one of another, as it is."""
    return have.kind is type_.kind is Kind.INTEGER and have.bits < type_.bits


def coerce(expression: Expression, type_: DataType) -> Expression:
    """The expression as an argument of a type: unchanged, a converted constant, or under a lossless cast.

    Raises:
        TypeClash: it is of another kind.
    """
    have = expression.type
    if have == type_ or (is_integer_of(have, type_) and not isinstance(expression, Constant)):
        return expression
    if have.json and type_.kind is Kind.STRING:
        return expression  # JSON is a text
    if have.kind is type_.kind and have.element is not None and is_untyped(expression):
        return untyped_as(expression, type_)
    if isinstance(expression, Constant):
        converted = constant_as(expression, type_) or typed_text(expression, [type_])
        if converted is not None and converted.type == type_:
            return converted
    elif (have.numeric and type_ == DOUBLE) or (have.kind is type_.kind and not have.element and not have.fields):
        return _converted(expression, type_)
    if have.temporal and type_.temporal:
        return _converted(expression, type_)
    raise _needed(expression, type_)


def _needed(expression: Expression, type_: DataType) -> TypeClash:
    message = f"type clash: {type_.kind} is needed, not {expression.type}"
    return TypeClash(message, expression, hint=_hint(expression, type_))


def _converted(expression: Expression, type_: DataType) -> Expression:
    """The expression under a cast; between an instant and other times it is one in the zone of the text."""
    is_of_zone = INSTANT in (expression.type, type_) and expression.type.temporal
    return in_zone(expression, type_) if is_of_zone else Call("cast", (expression,), type_)


def as_exactly(expression: Expression, type_: DataType) -> Expression:
    """The expression as a value of a type that is compared with others of it: no digit, no time of day is cut.

    Raises:
        TypeClash: it is of another kind, or has values that the type has not.
    """
    converted = constant_as(expression, type_) if isinstance(expression, Constant) else None
    if converted is None and common_type(expression.type, type_) not in (None, type_):
        hint = f"{with_article(str(type_))} cannot be all that {with_article(str(expression.type))} can; use one type"
        raise TypeClash(f"type clash: {type_} is needed, not {expression.type}", expression, hint)
    if (
        converted is None
        and isinstance(expression, Constant)
        and isinstance(expression.value, str)
        and type_.kind is not Kind.STRING
    ):
        raise _needed(expression, type_)
    return converted or coerce(expression, type_)


def comparable_sides(*sides: Expression) -> tuple[Expression, ...]:
    """The sides of a comparison (or IN list) in types that compare exactly.

    INTEGER and DECIMAL stay as they are, since they compare by value; exact constants take their shortest form, so
    that ``amount > 1000000`` and ``amount > 1000000.00`` are one predicate.

    Raises:
        TypeClash: they do not compare.
    """
    typed = [s for s in sides if not is_null(s)]
    if not typed:
        return sides
    refuse_maps(*typed)
    with_parts = [s for s in typed if not s.type.ordered]
    if whole := next((s for s in with_parts if not is_untyped(s)), next(iter(with_parts), None)):
        return tuple(_whole(side, whole) for side in sides)
    lead = next((s for s in typed if not isinstance(s, Constant)), typed[0])
    if counted := next((s for s in typed if s.type.counted), None):
        return tuple(_number(side, counted) for side in sides)
    kinds = {s.type.kind for s in typed if not (isinstance(s, Constant) and isinstance(s.value, str))} or {Kind.STRING}
    if kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}:
        numbers = [s.type for s in typed if s.type.numeric]
        sides = tuple(number_of_text(side, numbers) or side for side in sides)
    sides = with_typed_texts(sides)
    if any(s.type == DOUBLE for s in sides):
        kinds.add(Kind.DOUBLE)  # a text beside a DECIMAL
    target = INSTANT if any(s.type == INSTANT for s in typed) else _comparison_type(kinds)
    result = []
    for side in sides:
        if target is None:
            result.append(_exact_side(side, lead))
            continue
        try:
            result.append(coerce(side, target))
        except TypeClash:
            other = next((s for s in typed if side is lead and s.type.kind is not lead.type.kind), side)
            raise _clash(lead, other) from None
    return tuple(result)


def _number(side: Expression, lead: Expression) -> Expression:
    """A side of a comparison of intervals or times of the day, which order as their numbers do."""
    counted = as_counted(side, lead.type)
    if counted is None:
        raise _clash(lead, side)
    return counted_number(counted)


def as_counted(side: Expression, type_: DataType) -> Expression | None:
    """A value as one of a type that is counted: of the type, NULL, or a text that is a time of the day."""
    if is_null(side):
        return Constant(None, type_)
    if side.type == type_:
        return side
    micros = time_of_text(side.value) if isinstance(side, Constant) and type_ == TIME else None
    return None if micros is None else of_number(Constant(micros, INTEGER), TIME)


def _whole(side: Expression, lead: Expression) -> Expression:
    """A side of a comparison of arrays or structs, which are equal where their elements or fields are, NULL to NULL."""
    if is_null(side):
        return Constant(None, lead.type)
    if side.type.kind is lead.type.kind and is_untyped(side):
        return empty_array(lead.type)
    if side.type != lead.type:
        raise TypeClash(f"type clash: {lead.type} cannot be compared with {side.type}", side,
                        hint=_ELEMENTS if lead.type.kind is Kind.ARRAY else _FIELDS)  # fmt: skip
    return side


def _exact_side(side: Expression, lead: Expression) -> Expression:
    """A side of a comparison of integers and decimals; an integer of more bits compares as itself."""
    while isinstance(side, Call) and side.function == "cast" and is_integer_of(side.arguments[0].type, side.type):
        side = side.arguments[0]
    if not isinstance(side, Constant):
        return side
    if side.value is None:
        return replace(side, type=lead.type)
    if not isinstance(side.value, (int, Decimal)):
        raise _clash(lead, side)
    return number(side.value)


def _comparison_type(kinds: set[Kind]) -> DataType | None:
    """The one type to compare in, if any is; ``None`` when exact numbers compare as they are."""
    if kinds <= {Kind.INTEGER, Kind.DECIMAL}:
        return None
    if kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}:
        return DOUBLE
    return next(type_ for type_ in _OTHERS if type_.kind in kinds)


_OTHERS = (TIMESTAMP, DATE, STRING, BOOLEAN, BINARY)
"""The types of all values but numbers that have an order, one that takes another's values before it."""


def _clash(left: Expression, right: Expression) -> TypeClash:
    if left.type.temporal and isinstance(right, Constant) and isinstance(right.value, str):
        return TypeClash(f"'{right.value}' is not {with_article(str(left.type))}", right, hint=_hint(right, left.type))
    message = f"type clash: {left.type} cannot be compared with {right.type}"
    if isinstance(left, Call) and left.function in _BEFORE_A_NUMBER and right.type.numeric:
        return TypeClash(message, right, hint=_BEFORE_A_NUMBER[left.function])
    for text, time in ((left, right), (right, left)):
        if text.type.kind is Kind.STRING and time.type.temporal:  # as texts they would be in another order
            reads = f"TO_{time.type.kind.upper()}(s, 'dd.MM.yyyy') reads a text"
            return TypeClash(message, right, hint=f"{reads}, and --type column={time.type.kind} a whole column")
    return TypeClash(message, right, hint=_hint(right, left.type))


_TWO_SIDES = "a comparison has two sides: write 3 < a AND a < 5"
_BEFORE_A_NUMBER = dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _TWO_SIDES) | {"||": "OR is between conditions"}
_WRITTEN = {Kind.INTERVAL: "write INTERVAL '5' MINUTE", Kind.MONTHS: "write INTERVAL '5' MONTH",
            Kind.TIME: "write TIME '10:30:00'"}  # fmt: skip
AS_SECONDS = "EXTRACT(EPOCH FROM x) gives the seconds of an interval"
"""How to make a number of an interval, for hints."""
_TIMES = "timestamps are written as 2002-11-20 10:00:00"


def _hint(expression: Expression, type_: DataType) -> str:
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        if type_.temporal and parse_instant(expression.value) is not None:
            return f"it has an offset, and times here have none: TIMESTAMP WITH TIME ZONE '{expression.value}'"
        if written := literal_hint(expression.value, type_):
            return written if type_.temporal or "'" in written else f"{written}, without quotes"
        if type_.temporal:
            form = "dates are year-month-day, as in 2002-11-20" if type_.kind is Kind.DATE else _TIMES
            return f"{form}; TO_{type_.kind.upper()} reads other formats"
        if type_.numeric:
            return f"'{expression.value:.40}' is no number, and a number is needed there"
    if isinstance(expression, Constant) and isinstance(expression.value, int) and type_.temporal:
        date = parse_date(str(expression.value), "yyyyMMdd")
        return f"write DATE '{date}'" if date else "write DATE '2002-11-20'; without quotes it is a subtraction"
    if type_.temporal and (isinstance(expression, Constant) or getattr(expression, "function", "") == "div"):
        return "write DATE '2002-11-20'; without quotes it is a division"
    if expression.type == INTERVAL:
        return AS_SECONDS
    if expression.type == MONTHS:
        return "EXTRACT(YEAR FROM x) and EXTRACT(MONTH FROM x) are its numbers"
    if expression.type == TIME:
        return "EXTRACT(HOUR FROM x) and its like are numbers, CAST(x AS STRING) a text"
    if type_.counted:
        return _WRITTEN[type_.kind]
    if Kind.MAP in (expression.type.kind, type_.kind):
        return "m['k'] is a value of a map, and MAP('k', v) makes one"
    if expression.type.kind is Kind.STRUCT:
        return fields_hint(expression.type)
    if type_.kind is Kind.STRUCT:
        return "s.f is a field of a struct, and STRUCT(a AS x, b AS y) makes one"
    if expression.type.kind is Kind.ARRAY:
        return f"{AS_TEXT} makes a text of an array of texts, and x[0] is its first element"
    if type_.kind is Kind.ARRAY:
        return f"{SPLITS}, and ARRAY(a, b) of values"
    if type_.kind is Kind.STRING and isinstance(expression, Constant) and isinstance(expression.value, bool):
        return (
            "compare it with its texts, as in x = 'yes'; --type \"x=boolean yes/no\" reads a column as true and false"
        )
    if isinstance(expression, Constant) and isinstance(value := expression.value, str):
        other = f"'{value}' is a text; {value} without quotes is a number or a column"
        return TESTS[True] if type_.kind is Kind.BOOLEAN else other
    if type_.kind is Kind.STRING and isinstance(expression, Constant):
        is_code = isinstance(value, int) and value > 999  # as a postcode without its zero
        return f"write '{value}' in quotes" + f", or '0{value}' if the column has that" * is_code
    if type_.kind not in _CASTS[expression.type.kind]:
        return f"no {expression.type.kind} converts to {with_article(type_.kind)}"
    return TESTS[expression.type.numeric] if type_.kind is Kind.BOOLEAN else f"convert with CAST(... AS {type_.kind})"


def unify(arguments: Sequence[Expression]) -> tuple[tuple[Expression, ...], DataType]:
    """The arguments in their common type, as for CASE, COALESCE and columns of a UNION.

    Raises:
        TypeClash: there is none.
    """
    arguments = with_typed_texts(arguments)
    typed = [a for a in arguments if not is_untyped(a)] or [a for a in arguments if not is_null(a)]
    nulls = [a for a in arguments if is_null(a) and (a.type.numeric or a.type.temporal)]
    if not typed and not nulls:
        return tuple(arguments), arguments[0].type
    lead = next((a for a in typed if not isinstance(a, Constant)), (typed or nulls)[0])
    target = lead.type
    for argument in typed:
        common = common_type(target, argument.type)
        if common is None and isinstance(argument, Constant) and _constant_as(argument, target) is not None:
            continue
        if common is None:
            raise _no_common_type(target, argument)
        target = common
    for null in nulls:  # CAST(NULL AS DOUBLE) makes a DOUBLE of an INTEGER beside it
        target = common_type(target, null.type) or target
    return tuple(_widened(a, target) for a in arguments), target


def _constant_as(argument: Constant, type_: DataType) -> Expression | None:
    return as_counted(argument, type_) if type_.counted else constant_as(argument, type_)


def _widened(argument: Expression, type_: DataType) -> Expression:
    if argument.type == type_ or (is_integer_of(argument.type, type_) and not isinstance(argument, Constant)):
        return argument
    if isinstance(argument, Constant):
        converted = _constant_as(argument, type_)
        if converted is not None:
            return converted
    if not is_untyped(argument):
        return _converted(argument, type_)
    if type_.kind is not argument.type.kind:
        raise _no_common_type(type_, argument)
    return untyped_as(argument, type_)


def _no_common_type(type_: DataType, argument: Expression) -> TypeClash:
    hint = _hint(argument, type_) + "; CAST(x AS STRING) makes texts" * (argument.type == STRING and type_.numeric)
    return TypeClash(f"type clash: {type_} and {argument.type} have no common type", argument, hint)


def as_clock(expression: Expression) -> Expression:
    """A date or timestamp, also of a constant string; of an instant what the clock of the text's zone shows.

    Raises:
        TypeClash: it is neither.
    """
    time = as_time(expression)
    return coerce(time, TIMESTAMP) if time.type == INSTANT else time


def as_time(expression: Expression) -> Expression:
    """A date, timestamp or instant as it is, a constant string as a date or timestamp.

    Raises:
        TypeClash: it is neither.
    """
    if expression.type.temporal:
        return expression
    if isinstance(expression, Constant):
        converted = constant_as(expression, DATE) or constant_as(expression, TIMESTAMP)
        if converted is not None:
            return converted
    raise TypeClash(f"a date or timestamp is needed, not {expression.type}", expression, hint=_hint(expression, DATE))


def as_string(expression: Expression) -> Expression:
    """The expression as text, for concatenation."""
    if expression.type == STRING:
        return expression
    if is_null(expression):
        return Constant(None, STRING)
    check_cast(expression, STRING)
    if expression.type == INSTANT:
        return _text_of_instant(expression)
    cast = Call("cast", (expression,), STRING)
    return fold(cast) or cast


def _text_of_instant(instant: Expression) -> Expression:
    """The text of what the clock of the text's zone shows, with the offset where the dialect writes it."""
    clock = coerce(instant, TIMESTAMP)
    if zoning().writes_offset:
        return Call("text_with_offset", (clock, instant), STRING)
    return Call("cast", (clock,), STRING)


_CASTS: dict[Kind, set[Kind]] = {
    Kind.STRING: {*PLAIN_KINDS, Kind.BINARY},
    Kind.BINARY: {Kind.BINARY, Kind.STRING},
    Kind.STRUCT: set(),
    Kind.MAP: set(),
    Kind.INTEGER: {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.BOOLEAN},
    Kind.DECIMAL: {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.BOOLEAN},
    Kind.DOUBLE: {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.BOOLEAN},
    Kind.BOOLEAN: {Kind.BOOLEAN, Kind.STRING, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE},
    Kind.DATE: {Kind.DATE, Kind.TIMESTAMP, Kind.STRING},
    Kind.TIMESTAMP: {Kind.DATE, Kind.TIMESTAMP, Kind.STRING},
    Kind.ARRAY: set(),
    **{kind: set[Kind]() for kind in COUNTED},
}


def check_cast(expression: Expression, type_: DataType) -> None:
    """Raises TypeClash when no value of the expression's type converts."""
    if not is_null(expression) and type_.kind not in _CASTS[expression.type.kind]:
        castless = expression.type.kind in (Kind.ARRAY, Kind.STRUCT, Kind.MAP, *COUNTED)
        makes = (kind for kind in _CASTS[expression.type.kind] if kind is not expression.type.kind)
        hint = _hint(expression, type_) if castless else f"it can be cast to {', '.join(sorted(makes))}"
        raise TypeClash(f"{expression.type} cannot be cast to {type_}", expression, hint)
