"""Replaces Debezium's placeholders for values that an update did not change by the earlier values.

PostgreSQL does not log a long value (TOAST) that an update does not change. Which placeholder stands there depends on
the type: a text, its bytes (in JSON as Base64), the UUID that is made of it, or an array of one of these or its bytes.
Source: Debezium documentation, "Toasted values" of the connector for PostgreSQL, and ``unavailable.value.placeholder``.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import md5
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.sql.algebra.column_names import stored_name

_TEXT = "__debezium_unavailable_value"
_BYTES = _TEXT.encode()
_BASE64 = b64encode(_BYTES).decode()
_UUID = str(UUID(bytes=md5(_BYTES, usedforsecurity=False).digest(), version=3))
_ONE = (_TEXT, _BASE64, _UUID)
_LISTS = (*([one] for one in (*_ONE, _BYTES)), [*_BYTES])
_TEXTS = pa.array([*_ONE, *(json.dumps([one]) for one in _ONE), json.dumps({_TEXT: _TEXT}, separators=(",", ":"))])


def unsent(values: pa.Array) -> Mask:
    """Which values are placeholders.

    Example:
        >>> unsent(pa.array(["a", "__debezium_unavailable_value", None])).tolist()
        [False, True, False]
        >>> unsent(pa.array([["a", "b"], ["__debezium_unavailable_value"]])).tolist()
        [False, True]
    """
    is_, found = pa.types, np.zeros(len(values), np.bool_)
    if is_.is_string(values.type) or is_.is_large_string(values.type):
        return np.asarray(pc.is_in(values, _TEXTS.cast(values.type)))
    if is_.is_binary(values.type):
        return np.asarray(pc.equal(values, _BYTES).fill_null(False))
    if is_.is_list(values.type):
        likely = pc.is_in(pc.list_value_length(values), pa.array([1, len(_BYTES)], pa.int32()))
        places = np.flatnonzero(likely)
        found[places] = [value in _LISTS for value in values.take(pa.array(places)).to_pylist()]
    return found


def stated_unsent(schema: pa.Schema, masks: Sequence[Mask]) -> pa.Array:
    """The names of the columns that are not sent, as a text for each row; NULL where all are.

    Example:
        >>> columns = pa.schema([("a", pa.int64()), ("B", pa.int64())])
        >>> stated_unsent(columns, [np.array([False, True]), np.array([False, True])]).to_pylist()
        [None, '["a", "b"]']
    """
    stated = np.full(len(masks[0]), None, object)
    names = [*map(stored_name, schema.names)]
    for at in np.flatnonzero(np.any(masks, axis=0)):
        stated[at] = json.dumps([name for name, mask in zip(names, masks, strict=True) if mask[at]])
    return pa.array(stated, pa.string())


def unsent_columns(stated: pa.ChunkedArray) -> dict[int, list[str]]:
    """The columns that are not sent, by the places of their rows.

    Example:
        >>> unsent_columns(pa.chunked_array([[None, '["a"]']]))
        {1: ['a']}
    """
    places = np.flatnonzero(stated.is_valid())
    return dict(zip(places.tolist(), map(json.loads, stated.take(pa.array(places)).to_pylist()), strict=True))
