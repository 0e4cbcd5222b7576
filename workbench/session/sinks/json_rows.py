"""Rows as JSON, for every target that takes it: no digit is lost, and nothing that a query can give stops a sink.

An INTEGER is a number with all digits, a DOUBLE the shortest number that reads back as the same; a DECIMAL is a text,
since most readers make numbers of 64 bits of others. Times are ISO 8601's with microseconds, bytes hexadecimal digits,
arrays, structs and maps JSON. JSON has no NaN: it is null, as NULL is; infinities are the texts inf and -inf.
"""

from __future__ import annotations

import json
import math

from workbench.arrow.stored_values import json_text, json_value


def to_json(value: object) -> bytes:
    """A value, a row, or rows as JSON.

    Example:
        >>> from decimal import Decimal
        >>> to_json({"x": [0.1, float("nan")], "m": Decimal("9007199254740993.07"), "b": bytes([255, 0])})
        b'{"x": [0.1, null], "m": "9007199254740993.07", "b": "FF00"}'
    """
    return json.dumps(_in_json(value), ensure_ascii=False).encode()


def _in_json(value: object) -> object:
    """As ``json_value``, but NaN is None."""
    match value:
        case list():
            return [_in_json(each) for each in value]
        case dict():
            return {json_text(name): _in_json(each) for name, each in value.items()}
        case float() if math.isnan(value):
            return None
    return json_value(value)
