"""Kernels of conditions and CASE: true, false, or NULL where it is not known; the logic of three values is Kleene's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache, reduce

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.python_values import over_columns
from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.decimals import widest
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, compare
from workbench.engine.physical.stored.kernels.kernel import ComputeValues, Kernel, constant_text, of_kinds
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DataType, Kind
from workbench.sql.predicates.cnf import Operator

_MOST = 50
"""Values of an IN that are compared one by one; Spark has a table for more."""
_PARTS = re.compile(r"\\.|.", re.DOTALL)
"""Signs of a pattern of LIKE, some with the backslash that escapes them."""
_PATTERN = 1_000
"""Characters of a pattern that Arrow surely compiles; it fails where there are very many."""


def _of_scale(expression: Expression, other: DataType) -> Expression:
    """A constant number as one of another type of DECIMAL, where that has it, or as the nearest DOUBLE."""
    if not isinstance(expression, Constant) or other.kind not in (Kind.DECIMAL, Kind.DOUBLE):
        return expression
    value = expression.value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return expression
    number = Decimal(value)
    if other.kind is Kind.DOUBLE:
        return Constant(number, other)
    whole = number.scaleb(other.scale)
    fits = whole == whole.to_integral_value() and abs(whole) < 10**other.precision
    return Constant(number, other) if fits else expression


def _of_one_scale(call: Call) -> tuple[Expression, Expression]:
    """The two sides of a comparison, with a constant brought to the scale of the other side."""
    left, right = call.arguments
    left, right = _of_scale(left, right.type), _of_scale(right, left.type)
    return left, right


def _alike(left: DataType, right: DataType) -> bool:
    return left.kind is right.kind and left.scale == right.scale


def _comparison(operator: Operator) -> Kernel:
    """Of two values of one kind, or of exact numbers. What is stored as a text is equal where the texts are."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        sides = zip(_of_one_scale(call), call.arguments, arguments, strict=True)
        left, right = (values if side is given else _repeated(side, len(values)) for side, given, values in sides)
        if not _alike(*(side.type for side in _of_one_scale(call))):
            scale = max(side.type.scale for side in call.arguments)
            left, right = widest(left, scale), widest(right, scale)
        return compare(operator, left, right)

    def accepts(call: Call) -> bool:
        left, right = (side.type for side in _of_one_scale(call))
        if left == right and left.is_text_when_stored:  # hexadecimal digits sort as the bytes do
            return left.kind is Kind.BINARY or operator in (Operator.EQ, Operator.NE)
        numbers = {left.kind, right.kind} <= {Kind.INTEGER, Kind.DECIMAL}
        return numbers or (_alike(left, right) and left.kind in COMPARABLE_KINDS)

    return Kernel(compute, accepts)


def _repeated(constant: Expression, rows: int) -> pa.Array:
    assert isinstance(constant, Constant) and isinstance(constant.value, Decimal)
    value = float(constant.value) if constant.type.kind is Kind.DOUBLE else constant.value
    return pa.repeat(pa.scalar(value, to_arrow(constant.type)), rows)


_EQUAL = _comparison(Operator.EQ)


def _equalities(call: Call) -> list[Call]:
    first, *others = call.arguments
    return [Call("=", (first, other), BOOLEAN) for other in others]


def _in(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    first, *others = arguments
    found = (_EQUAL.compute(e, [first, other]) for e, other in zip(_equalities(call), others, strict=True))
    return reduce(pc.or_kleene, found)


def _nullif(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The first argument, or NULL where it is equal to the second."""
    (equality,), (value, _) = _equalities(call), arguments
    equal = _EQUAL.compute(equality, arguments).fill_null(False)
    return pc.if_else(equal, pa.scalar(None, value.type), value)


def _not_distinct(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Whether two values are equal, as NULL and NULL are."""
    left, right = arguments
    return pc.coalesce(_EQUAL.compute(call, arguments), pc.and_(left.is_null(), right.is_null()))


def _combined(combine: Callable[[pa.Array, pa.Array], pa.Array]) -> ComputeValues:
    return lambda call, arguments: reduce(combine, arguments)


def _case(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The value of the first condition that is true, or the last value. All values are computed: none can fail."""
    type_ = to_arrow(call.type)
    *pairs, otherwise = arguments
    chosen = otherwise.cast(type_)
    for condition, value in reversed([*zip(pairs[::2], pairs[1::2], strict=True)]):
        chosen = pc.if_else(condition.fill_null(False), value.cast(type_), chosen)
    return chosen


def _like(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    if (pattern := constant_text(call, 1)) is not None:
        return pc.match_like(arguments[0], pattern)
    return over_columns(_is_like, True, arguments, pa.bool_())


def _is_like(text: str, pattern: str) -> bool:
    """Whether a pattern of its row matches a text, as Spark's LIKE."""
    return _like_regex(pattern).fullmatch(text) is not None


@lru_cache(maxsize=16_384)
def _like_regex(pattern: str) -> re.Pattern[str]:
    signs = {"%": ".*", "_": "."}
    parts = (signs.get(part) or re.escape(part[1:] or part) for part in _PARTS.findall(pattern))
    return re.compile("".join(parts), re.DOTALL)


def _is_pattern(call: Call) -> bool:
    """Whether Arrow reads a constant pattern as Spark does: without a backslash."""
    if len(call.arguments) != 2 or any(argument.type.kind is not Kind.STRING for argument in call.arguments):
        return False
    pattern = constant_text(call, 1)
    return not isinstance(call.arguments[1], Constant) or (
        pattern is not None and len(pattern) <= _PATTERN and "\\" not in pattern
    )


_of_truth = of_kinds(Kind.BOOLEAN)

CONDITION_KERNELS = {
    "=": _EQUAL,
    "<>": _comparison(Operator.NE),
    "<=>": Kernel(_not_distinct, _EQUAL.accepts),
    "<": _comparison(Operator.LT),
    "<=": _comparison(Operator.LE),
    ">": _comparison(Operator.GT),
    ">=": _comparison(Operator.GE),
    "in": Kernel(_in, lambda call: len(call.arguments) <= _MOST + 1 and all(map(_EQUAL.accepts, _equalities(call)))),
    "nullif": Kernel(_nullif, lambda call: all(map(_EQUAL.accepts, _equalities(call)))),
    "and": Kernel(_combined(pc.and_kleene), _of_truth),
    "or": Kernel(_combined(pc.or_kleene), _of_truth),
    "not": Kernel(lambda call, arguments: pc.invert(arguments[0]), _of_truth),
    "is_null": Kernel(lambda call, arguments: arguments[0].is_null(), lambda call: True),
    "like": Kernel(_like, _is_pattern),
    "case": Kernel(_case, lambda call: call.type.kind in COMPARABLE_KINDS or call.type.is_text_when_stored),
}
"""By the name of the function."""
