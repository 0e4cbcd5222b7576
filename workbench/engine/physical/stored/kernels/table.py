"""The table of kernels by function, and the walk over an expression that evaluates it by them.

    evaluate(a * b + 1, rows)    the value of each row, with the bits that Spark gives it

Sums, differences and products of decimals are evaluated as a whole, not one by one: their integers are those of 64 bits
mostly, and NULL is what leaves 38 digits at the end (``decimals``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

import pyarrow as pa

from workbench.arrow.nested import arrow_in_json, read_stored, write_stored
from workbench.arrow.python_values import values_in_python
from workbench.arrow.types import has_months, to_arrow
from workbench.engine.physical.stored.decimals import exact_decimals
from workbench.engine.physical.stored.kernels.addresses import ADDRESS_KERNELS
from workbench.engine.physical.stored.kernels.by_row import ROW_KERNELS
from workbench.engine.physical.stored.kernels.casts import CAST
from workbench.engine.physical.stored.kernels.changed_lists import CHANGED_LIST_KERNELS
from workbench.engine.physical.stored.kernels.choices import CHOICE_KERNELS
from workbench.engine.physical.stored.kernels.conditions import CONDITION_KERNELS
from workbench.engine.physical.stored.kernels.formats import FORMAT_KERNELS
from workbench.engine.physical.stored.kernels.hashes import HASH_KERNELS
from workbench.engine.physical.stored.kernels.json_of_spark import JSON_KERNELS
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.lambdas import lambda_of, lambda_values, variable_name
from workbench.engine.physical.stored.kernels.maps import MAP_KERNELS
from workbench.engine.physical.stored.kernels.mathematics import MATHEMATICS_KERNELS
from workbench.engine.physical.stored.kernels.nested import NESTED_KERNELS
from workbench.engine.physical.stored.kernels.numbers import NUMBER_KERNELS
from workbench.engine.physical.stored.kernels.patterns import PATTERN_KERNELS
from workbench.engine.physical.stored.kernels.quotients import EXACT_KERNELS, QUOTIENT_KERNELS
from workbench.engine.physical.stored.kernels.rounded_decimals import ROUNDED_KERNELS
from workbench.engine.physical.stored.kernels.texts import TEXT_KERNELS
from workbench.engine.physical.stored.kernels.times import DAY_KERNELS, TIME_KERNELS
from workbench.engine.physical.stored.kernels.times_of_texts import TIMES_OF_TEXTS
from workbench.engine.physical.stored.kernels.variances import VARIANCE_KERNELS
from workbench.engine.physical.stored.kernels.zones import ZONE_KERNELS
from workbench.engine.storage.grouping import group_rows, numbers_of
from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, calls, columns, walk
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.calls import FUNCTIONS, is_strict

_TABLES: Sequence[Mapping[str, Kernel]] = (
    CONDITION_KERNELS, NUMBER_KERNELS, MATHEMATICS_KERNELS, QUOTIENT_KERNELS, EXACT_KERNELS, ROUNDED_KERNELS,
    VARIANCE_KERNELS,
    TEXT_KERNELS, TIME_KERNELS, PATTERN_KERNELS, DAY_KERNELS, CHOICE_KERNELS, NESTED_KERNELS, CHANGED_LIST_KERNELS,
    MAP_KERNELS, ZONE_KERNELS, HASH_KERNELS, FORMAT_KERNELS, TIMES_OF_TEXTS, {"cast": CAST}, ROW_KERNELS, JSON_KERNELS,
    ADDRESS_KERNELS,
)  # fmt: skip
KERNELS: dict[str, tuple[Kernel, ...]] = {}
"""By the name of the function in expressions; several where it is of several kinds of values."""
for _table in _TABLES:
    for _name, _kernel in _table.items():
        KERNELS[_name] = (*KERNELS.get(_name, ()), _kernel)


def _in_python(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return values_in_python(FUNCTIONS[call.function], arguments, arrow_in_json(call.type))


_IN_PYTHON = Kernel(_in_python, lambda call: True, nested=True)
KERNELS |= {name: (_IN_PYTHON,) for name, each in FUNCTIONS.items() if each.python is not None and name not in KERNELS}

_NOTHING = Kernel(lambda call, arguments: pa.nulls(len(arguments[0]), to_arrow(call.type)), lambda call: True)
"""Of a function that is NULL where an argument is, of a constant that is NULL."""

HIGHEST = 100
"""Operators inside one another that are evaluated here: a walk follows them by calls, and a Python worker takes a
thousand of these."""

_CONSTANTS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds of constants that Arrow has as they are."""


def evaluate(expression: Expression, rows: pa.RecordBatch) -> pa.Array:
    """The value of each row, in the type in which it is stored.

    Args:
        expression: one that ``has_kernels``.
        rows: with its columns.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, STRING
        >>> length = Call("length", (Column("s", STRING),), INTEGER)
        >>> evaluate(length, pa.RecordBatch.from_pydict({"s": ["é", None]})).to_pylist()
        [1, None]
    """
    return _evaluated(expression, rows, dict.fromkeys(_repeated(expression)))


def nested_values(expression: Expression, rows: pa.RecordBatch) -> pa.Array:
    """What ``evaluate`` gives, where an array, a struct, a map or bytes is that and not a text."""
    return _value(expression, rows, dict.fromkeys(_repeated(expression)))


def as_stored(values: pa.Array, type_: DataType) -> pa.Array:
    """Values in the type in which they are stored, given as ``nested_values`` gives them."""
    return write_stored(values, type_) if type_.is_text_when_stored else values.cast(to_arrow(type_))


Known = dict[Expression, pa.Array | None]
"""The values of parts that are in an expression more than once, as soon as they are known."""


@lru_cache(maxsize=65_536)
def _repeated(expression: Expression) -> frozenset[Expression]:
    """The calls that an expression has more than once, which are to be evaluated once; none of a lambda's variable."""
    times = Counter(part for part in walk(expression) if isinstance(part, Call) and part.arguments)
    return frozenset(part for part, number in times.items() if number > 1 and "variable" not in calls(part))


def _evaluated(expression: Expression, rows: pa.RecordBatch, known: Known) -> pa.Array:
    """What ``evaluate`` gives, once for a part that is there more than once."""
    if (found := known.get(expression)) is None:
        found = _computed(expression, rows, known)
        if expression in known:
            known[expression] = found
    return found


def _computed(expression: Expression, rows: pa.RecordBatch, known: Known) -> pa.Array:
    match expression:
        case Column(name):
            return rows.column(name)
        case Constant(value, type_):
            number = float(value) if isinstance(value, Decimal) and type_.kind is Kind.DOUBLE else value
            return pa.repeat(pa.scalar(number, to_arrow(type_)), rows.num_rows)
        case Call("array", (), type_):
            return pa.repeat(pa.scalar("[]", to_arrow(type_)), rows.num_rows)
    if (exact := exact_decimals(expression)) is not None:
        return exact.values(rows)
    if (found := _with_parts(expression, rows, known)) is not None:
        return as_stored(found, expression.type)
    kernel = kernel_of(expression)
    assert kernel is not None
    found = kernel.compute(expression, [_evaluated(argument, rows, known) for argument in expression.arguments])
    arrow = to_arrow(expression.type)
    return found if found.type == arrow else found.cast(arrow)


def _value(expression: Expression, rows: pa.RecordBatch, known: Known) -> pa.Array:
    """The value of each row, an array, a struct, a map or bytes as that and not as a text."""
    if isinstance(expression, Call) and (found := _with_parts(expression, rows, known)) is not None:
        return found
    stored = _evaluated(expression, rows, known)
    return read_stored(stored, expression.type) if expression.type.is_text_when_stored else stored


def _with_parts(call: Call, rows: pa.RecordBatch, known: Known) -> pa.Array | None:
    """``_value`` of a call whose kernel takes and gives such values, or of a lambda's variable; ``None`` of others."""
    if call.function == "variable":
        return rows.column(variable_name(call))
    if lambda_of(call) is not None:
        arguments = [_value(argument, rows, known) for argument in call.arguments[:-1]]
        return lambda_values(call, arguments, rows, lambda body, elements: _value(body, elements, {}))
    kernel = kernel_of(call)
    if kernel is None or not kernel.nested:
        return None
    if kernel.shares_lists:
        lists, *places = call.arguments
        made = _value(lists, rows, known) if isinstance(places[0], Constant) else _shared_lists(lists, rows, known)
        return kernel.compute(call, [made, *(_value(place, rows, known) for place in places)])
    return kernel.compute(call, [_value(argument, rows, known) for argument in call.arguments])


def _shared_lists(lists: Expression, rows: pa.RecordBatch, known: Known) -> pa.Array:
    """Lists of rows, as a dictionary where most rows have what another one has, too.

    EXPLODE pairs a row with each place of its array: computing the array for each would take the square of its length.
    """
    read = [rows.column(column.name) for column in columns(lists)]
    # 0.0 and -0.0 are equal, and lists that are computed from them are not.
    if "variable" in calls(lists) or not read or any(pa.types.is_floating(column.type) for column in read):
        return _value(lists, rows, known)
    order, begins = group_rows(read, rows.num_rows)
    if 2 * len(begins) > rows.num_rows:
        return _value(lists, rows, known)
    own = _value(lists, rows.take(pa.array(order[begins])), {})
    return pa.DictionaryArray.from_arrays(pa.array(numbers_of(order, begins)), own)


def has_kernels(expression: Expression, levels: int = HIGHEST) -> bool:
    """Whether ``evaluate`` evaluates an expression.

    Args:
        expression: over stored columns.
        levels: the most operators inside one another.
    """
    match expression:
        case Column() | Call("array", ()) | Call("variable"):
            return True
        case Constant(value, type_):
            return type_.kind in _CONSTANTS or value is None
    if exact_decimals(expression) is not None:
        return True
    if (of_elements := lambda_of(expression)) is not None:
        parts: Sequence[Expression] = (*expression.arguments[:-1], of_elements.arguments[-1])
    elif kernel_of(expression) is not None:
        parts = expression.arguments
    else:
        return False
    return levels > 0 and all(has_kernels(part, levels - 1) for part in parts)


@lru_cache(maxsize=65_536)
def kernel_of(call: Call) -> Kernel | None:
    """The kernel that evaluates a call, if there is one."""
    if call.type.is_text_when_stored and has_months(call.type):
        return None  # Arrow does not cast numbers of months within lists
    if is_strict(call.function) and any(map(is_null, call.arguments)):
        return _NOTHING
    return next((k for k in KERNELS.get(call.function, ()) if call.arguments and k.accepts(call)), None)
