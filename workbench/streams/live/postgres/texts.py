"""RowTexts of PostgreSQL from the texts in which it writes them, each as exact as it is there.

Connections write them in one way (``TEXT_STYLE``): ISO dates, UTC, bytes as hexadecimal
digits, floats with all their digits.
Source: PostgreSQL documentation, "Data Types", and "Array Input and Output Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.sql.algebra.types import MAX_PRECISION
from workbench.streams.convert import cast_each

TEXT_STYLE = "-c datestyle=ISO -c intervalstyle=postgres -c timezone=UTC -c bytea_output=hex -c extra_float_digits=3"
"""Settings of a connection, which decide how values are written."""
_TYPES = {
    "boolean": pa.bool_(),
    "smallint": pa.int64(),
    "integer": pa.int64(),
    "bigint": pa.int64(),
    "oid": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "date": pa.date32(),
    "bytea": pa.binary(),
}
_TIME = re.compile(r"timestamp(?:\(\d\))? with(out)? time zone")
_NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)")
_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}]*))\s*([,}])', re.DOTALL)


def arrow_type_of(written: str) -> pa.DataType:
    """The type of a column from that of PostgreSQL; text where no other keeps all that its values say.

    Args:
        written: as ``format_type`` writes it, without domains.

    Example:
        >>> [str(arrow_type_of(text)) for text in ("numeric(12,2)", "numeric", "integer[]", "uuid")]
        ['decimal128(12, 2)', 'string', 'list<item: int64>', 'string']
        >>> str(arrow_type_of("timestamp(3) with time zone"))
        'timestamp[us, tz=UTC]'
    """
    if written.endswith("[]"):
        return pa.list_(arrow_type_of(written.removesuffix("[]")))
    if (digits := _NUMERIC.fullmatch(written)) is not None:
        precision, scale = map(int, digits.groups())
        return pa.decimal128(precision, scale) if 0 <= scale <= precision <= MAX_PRECISION else pa.string()
    if (time := _TIME.fullmatch(written)) is not None:
        return pa.timestamp("us", None if time.group(1) else "UTC")
    return _TYPES.get(written, pa.string())


def column_of_texts(texts: Sequence[str | None], type_: pa.DataType) -> tuple[pa.Array, Mask | None]:
    """RowTexts, NULL where a text is none of the type, and where that is (``None``: nowhere).

    Example:
        >>> values, misfit = column_of_texts(["1.50", "NaN", None], pa.decimal128(5, 2))
        >>> [str(value) for value in values.to_pylist()], misfit.tolist()
        (['1.50', 'None', 'None'], [False, True, False])
        >>> column_of_texts(['{1,NULL}', "{}"], pa.list_(pa.int64()))[0].to_pylist()
        [[1, None], []]
    """
    return cast_each(pa.array(texts, pa.string()), lambda some: _cast(some, type_))


def _cast(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    is_ = pa.types
    if is_.is_boolean(type_):
        return _booleans(texts)
    if is_.is_binary(type_):
        return pa.array([None if text is None else _bytes(text) for text in texts.to_pylist()], type_)
    if is_.is_list(type_):
        return _lists(texts.to_pylist(), type_)
    return texts.cast(type_)


def _booleans(texts: pa.Array) -> pa.Array:
    at = pc.index_in(texts, pa.array(["f", "t", "false", "true"]))
    if at.null_count > texts.null_count:
        raise pa.ArrowInvalid("it is neither t nor f")
    return pa.array([False, True, False, True]).take(at)


def _bytes(text: str) -> bytes:
    if not text.startswith("\\x"):
        raise pa.ArrowInvalid("it does not begin with \\x")
    try:
        return bytes.fromhex(text[2:])
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from error


def _lists(texts: Sequence[str | None], type_: pa.ListType) -> pa.Array:
    lists = [None if text is None else _elements(text) for text in texts]
    elements = _cast(pa.array([one for some in lists for one in some or ()], pa.string()), type_.value_type)
    ends = [0]
    for some in lists:
        ends.append(ends[-1] + len(some or ()))
    mask = pa.array([some is None for some in lists], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), elements, mask=mask).cast(type_)


def _elements(text: str) -> list[str | None]:
    """The elements of an array's text.

    Raises:
        pa.ArrowInvalid: it has other bounds than usual or more dimensions than one, which a list does not say.
    """
    if text == "{}":
        return []
    if not text.startswith("{") or not text.endswith("}"):
        raise pa.ArrowInvalid("it is no array that begins at 1")
    found, at = list[str | None](), 1
    while at < len(text):
        element = _ELEMENT.match(text, at)
        if element is None:
            raise pa.ArrowInvalid("it is an array of several dimensions")
        quoted, plain, _ = element.groups()
        found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else _plain(plain))
        at = element.end()
    return found


def _plain(text: str) -> str | None:
    return None if text.upper() == "NULL" else text
