"""Kernels of texts: what is not ASCII is changed once for each different text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, constant_text, of_kinds
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.letters import SINCE_UNICODE_15

_TEXTS = of_kinds(Kind.STRING)
_LOWER = {upper: lower for lower, upper in SINCE_UNICODE_15.items()}


def _upper(text: str) -> str:
    return text.translate(SINCE_UNICODE_15).upper()


def _lower(text: str) -> str:
    return text.translate(_LOWER).lower()


def _in_capitals(text: str) -> str:
    """The first letter of each word, between spaces, as a capital, all others small."""
    return " ".join(word and word[0].title() + _lower(word)[len(_lower(word[0])) :] for word in text.split(" "))


def _of_different(change: Callable[[str], str]) -> Callable[[pa.Array], pa.Array]:
    def changed(texts: pa.Array) -> pa.Array:
        encoded = texts.dictionary_encode()
        different = pa.array([change(text) for text in encoded.dictionary.to_pylist()], pa.string())
        return different.take(encoded.indices)

    return changed


def _in_case(ascii_: str, change: Callable[[str], str]) -> Kernel:
    """Letters of one case."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        (texts,) = arguments
        if pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
            return pc.call_function(ascii_, [texts])
        return _of_different(change)(texts)

    return Kernel(compute, _TEXTS)


def _trimmed(function: str) -> Kernel:
    """Without spaces, or the characters of a constant text, at an end or at both."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        characters = constant_text(call, 1) if len(call.arguments) > 1 else " "
        return pc.call_function(function, [arguments[0]], pc.TrimOptions(characters))

    return Kernel(compute, lambda call: (len(call.arguments) == 1 or bool(constant_text(call, 1))) and _TEXTS(call))


def _matched(function: str, has: Callable[[str, str], bool]) -> Kernel:
    """Whether a text has another one in it, at any place or at an end: by Arrow where that is a constant."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        if (part := constant_text(call, 1)) is not None:
            return pc.call_function(function, [arguments[0]], pc.MatchSubstringOptions(part))
        return over_columns(has, True, arguments, pa.bool_())

    return Kernel(compute, _TEXTS)


def _replace(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    pattern, by = (constant_text(call, argument) or "" for argument in (1, 2))
    return pc.replace_substring(arguments[0], pattern, by)


def _joined(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.binary_join_element_wise(*arguments, "", null_handling="emit_null")


def _right(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    count = constant_integer(call, 1) or 0
    return pc.utf8_slice_codeunits(arguments[0], -count if count > 0 else 2**31 - 1)


def _substring(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    start, length = (constant_integer(call, argument) or 0 for argument in (1, 2))
    return pc.utf8_slice_codeunits(arguments[0], start - 1, start - 1 + length)


def _is_part(call: Call) -> bool:
    """Whether both are numbers of 32 bits, beyond which Spark has NULL."""
    start, length = (constant_integer(call, argument) for argument in (1, 2))
    known = start is not None and length is not None and 1 <= start < 2**31 and 0 <= length < 2**31
    return known and call.arguments[0].type.kind is Kind.STRING


TEXT_KERNELS = {
    "initcap": Kernel(lambda call, arguments: _of_different(_in_capitals)(arguments[0]), _TEXTS),
    "substr": Kernel(_substring, _is_part),
    "upper": _in_case("ascii_upper", _upper),
    "lower": _in_case("ascii_lower", _lower),
    "trim": _trimmed("utf8_trim"),
    "ltrim": _trimmed("utf8_ltrim"),
    "rtrim": _trimmed("utf8_rtrim"),
    "length": Kernel(lambda call, arguments: pc.utf8_length(arguments[0]).cast(pa.int64()), _TEXTS),
    "reverse": Kernel(lambda call, arguments: pc.utf8_reverse(arguments[0]), _TEXTS),
    "contains": _matched("match_substring", str.__contains__),
    "startswith": _matched("starts_with", str.startswith),
    "endswith": _matched("ends_with", str.endswith),
    "replace": Kernel(
        _replace, lambda call: bool(constant_text(call, 1)) and constant_text(call, 2) is not None and _TEXTS(call)
    ),
    "||": Kernel(_joined, _TEXTS),
    "right": Kernel(
        _right, lambda call: constant_integer(call, 1) is not None and call.arguments[0].type.kind is Kind.STRING
    ),
}
"""By the name of the function."""
