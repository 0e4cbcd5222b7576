"""How large the values of an expression may become: an estimate of bytes, from the expression alone.

A function bounds what it makes by itself, as ``repeat`` does. What is nested multiplies: an array of arrays, a text in
which is replaced again, a lambda that doubles what it carries from element to element. A value of a stream counts as
``_STORED`` bytes, and its array as ``_ELEMENTS`` of them. The estimate says how much an expression makes values grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.sql.algebra.expressions import Call, Constant, Expression, calls, columns
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType, Kind

_STORED = 1_000
"""Bytes of a text of a stream."""
_ELEMENTS = 100
"""Elements of an array that an expression does not say the size of, as that of a stream, or of a text that is split."""
MADE = 100_000
"""Elements, or characters, that a function makes at most by itself."""
NUMBER = 8.0
"""Bytes of a value that is no text, nor made of others."""
_GROWING = frozenset(
    {"transform", "zip_with", "aggregate", "array_repeat", "sequence", "repeat", "space", "lpad", "rpad", "replace"}
    | {"regexp_replace"}
)
_WITH_LAMBDA = frozenset({"transform", "zip_with", "filter", "exists", "forall", "aggregate"})
_MANY = 1e300


@dataclass(frozen=True)
class Size:
    """The bytes of a value; of an array also how many elements it has."""

    bytes: float
    elements: float = 1.0

    @property
    def element(self) -> Size:
        """The size of an element, which may be an array."""
        of_one = max(1.0, self.bytes / max(1.0, self.elements))
        return Size(of_one, max(1.0, of_one / NUMBER))


_OF_NUMBER = Size(NUMBER)


@cached(20_000)
def largest_value(expression: Expression) -> float:
    """Bytes of the largest value on the way to the value of an expression; 0 where nothing in it makes values grow.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, array_of
        >>> numbers = Call("sequence", (Constant(1, INTEGER), Constant(60, INTEGER)), array_of(INTEGER))
        >>> largest_value(numbers)
        480.0
    """
    if calls(expression).isdisjoint(_GROWING):
        return 0.0
    sizes = _Sizes()
    sizes.of(expression, {})
    return sizes.largest


@cached(20_000)
def value_size(expression: Expression) -> float:
    """Bytes of the value of an expression; 0 where it is not larger than the columns that it is made of.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import STRING, INTEGER
        >>> made = Call("repeat", (Constant("x", STRING), Constant(5000, INTEGER)), STRING)
        >>> value_size(made), value_size(Call("length", (made,), INTEGER))
        (40000.0, 8.0)
        >>> value_size(Call("replace", (Column("s", STRING), Constant("a", STRING), Constant("b", STRING)), STRING))
        0.0
    """
    if calls(expression).isdisjoint(_GROWING):
        return 0.0
    size = _Sizes().of(expression, {}).bytes
    return size if size > sum(_stored(column.type).bytes for column in columns(expression)) else 0.0


class _Sizes:
    """Sizes of an expression's parts.

    Attributes:
        largest: bytes of the largest one so far.
    """

    def __init__(self) -> None:
        self.largest = 0.0

    def of(self, expression: Expression, variables: Mapping[str, Size]) -> Size:
        """The size of a part, with those of the variables of the lambdas around it."""
        size = self._of(expression, variables)
        self.largest = max(self.largest, size.bytes)
        return size

    def _of(self, expression: Expression, variables: Mapping[str, Size]) -> Size:
        match expression:
            case Constant(value):
                return Size(float(max(NUMBER, len(str(value)))))
            case Call("variable", (Constant(name),)):
                return variables.get(str(name), _stored(expression.type))
            case Call(function, arguments) if function in _WITH_LAMBDA:
                return self._over_elements(function, arguments, variables)
            case Call(function, arguments):
                sizes = [self.of(argument, variables) for argument in arguments]
                return _result_size(expression, sizes) if sizes else _stored(expression.type)
        return _stored(expression.type)

    def _over_elements(self, function: str, arguments: Sequence[Expression], variables: Mapping[str, Size]) -> Size:
        arrays = [self.of(argument, variables) for argument in arguments[:-1]]
        array = arrays[0]
        if function == "aggregate":
            return self._carried(array, arrays[1], arguments[-1], variables)
        body = self._body(arguments[-1], [own.element for own in arrays], variables)
        elements = max(own.elements for own in arrays)
        if function in ("transform", "zip_with"):
            return Size(min(_MANY, elements * body.bytes), elements)
        return array if function == "filter" else _OF_NUMBER

    def _carried(self, array: Size, start: Size, merge: Expression, variables: Mapping[str, Size]) -> Size:
        """What a lambda carries from element to element: by each it grows to a multiple, and by some bytes."""

        def following(size: float) -> float:
            return self._body(merge, [Size(size, max(1.0, size / NUMBER)), array.element], variables).bytes

        # The second one is so large that what functions add by themselves does not count; it is no value on the way.
        least, largest = following(start.bytes), self.largest
        most, self.largest = following(start.bytes + 100 * MADE), largest
        times, steps = (most - least) / (100 * MADE), min(array.elements, MADE)
        if times <= 1.01:
            return Size(max(start.bytes, least) + steps * max(0.0, least - start.bytes))
        return Size(min(_MANY, max(1.0, start.bytes) * times ** min(steps, 900)))

    def _body(self, of: Expression, values: Sequence[Size], variables: Mapping[str, Size]) -> Size:
        if not (isinstance(of, Call) and of.function == "lambda"):
            return _stored(of.type)
        *own, body = of.arguments
        names = [str(v.arguments[0].value) for v in own if isinstance(v, Call) and isinstance(v.arguments[0], Constant)]
        known = dict(zip(names, [*values, _OF_NUMBER], strict=False))
        return self.of(body, {**variables, **known})


def _result_size(call: Call, sizes: Sequence[Size]) -> Size:
    """The size of a function's result for arguments of these sizes."""
    function, arguments, first = call.function, call.arguments, sizes[0]
    match function:
        case "sequence":
            elements = _between(arguments)
            return Size(elements * NUMBER, elements)
        case "array_repeat":
            elements = _most(arguments[1])
            return Size(min(_MANY, elements * first.bytes), elements)
        case "repeat" | "lpad" | "rpad":
            times = _most(arguments[1])
            made = min(float(MADE), times * first.bytes if function == "repeat" else times)
            return Size(max(first.bytes, made))
        case "space":
            return Size(_most(arguments[0]))
        case "replace":
            old = len(str(arguments[1].value)) if isinstance(arguments[1], Constant) else 1
            return Size(min(_MANY, first.bytes * max(1.0, _length(arguments[2], sizes[2]) / max(1, old))))
        case "regexp_replace":
            return Size(min(_MANY, first.bytes * (1.0 + _length(arguments[2], sizes[2]))))
        case "array":
            return Size(sum(size.bytes for size in sizes), float(len(sizes)))
        case "flatten":
            return Size(first.bytes, max(1.0, first.bytes / NUMBER))
        case "slice":
            elements = min(first.elements, _most(arguments[2]))
            return Size(elements * first.element.bytes, elements)
        case "left" | "substr":
            return Size(min(first.bytes, 4 * _most(arguments[-1])))
        case "case":
            return max((*sizes[1::2], sizes[-1]), key=lambda size: size.bytes)
        case "coalesce":
            return max(sizes, key=lambda size: size.bytes)
        case "get" | "element_at":
            return first.element
    if call.type.kind is Kind.ARRAY:
        return Size(
            sum(size.bytes for size in sizes),
            max([size.elements for size in sizes if size.elements > 1] or [_ELEMENTS]),
        )
    return Size(sum(size.bytes for size in sizes)) if call.type.kind in _OF_OTHERS else _OF_NUMBER


_OF_OTHERS = (Kind.STRING, Kind.BINARY, Kind.STRUCT)


def _stored(type_: DataType) -> Size:
    if type_.kind is Kind.ARRAY:
        return Size(_ELEMENTS * _stored(type_.element).bytes if type_.element is not None else _STORED, _ELEMENTS)
    return Size(_STORED) if type_.kind in _OF_OTHERS else _OF_NUMBER


def _length(expression: Expression, size: Size) -> float:
    return float(len(str(expression.value))) if isinstance(expression, Constant) else size.bytes


def _most(number: Expression) -> float:
    """The largest value of a number that says how much is made."""
    match number:
        case Constant(int(value)):
            return float(min(MADE, max(0, value)))
        case Call("least", arguments):
            return min(map(_most, arguments))
        case Call("cast", (argument,)):
            return _most(argument)
    return float(MADE)


def _between(ends: Sequence[Expression]) -> float:
    match ends:
        case [Constant(int(first)), Constant(int(last)), *step]:
            by = abs(step[0].value) if step and isinstance(step[0], Constant) and isinstance(step[0].value, int) else 1
            return float(min(MADE, 1 + abs(last - first) // max(1, by)))
        case [Constant(int(first)), last, *_]:
            return min(float(MADE), _most(last) + abs(first) + 1)
    return float(MADE)
