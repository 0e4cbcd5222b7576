"""Rows that drift: members that no column of the stream has, columns that a source does not give any more, and NaN.

What no column has is stored with its row, as the text of a JSON object in the column ``MORE`` of the log, which only
rows with such members have. A query sees it when it is made a column (``added_columns``). A column that the source does
not give any more is NULL. NaN is a number, of which one makes a whole sum NaN. Of each the stream says since which row
that is so.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_data_type
from workbench.errors import StreamError, shown
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.streams.corrections.declared import WEIGHT
from workbench.streams.files.json_values import (
    ENVELOPE,
    MORE,
    MORE_FIELD,
    JsonRecord,
    number_of,
    text_of_json,
)

NAN, NAN_AS_NULL, FINER = "NaN", "NaN as NULL", "finer"
"""What stands for the type where a column has NaN, where NaN of it is read as NULL, and where its times are cut."""
_ABSENT_RECORDS = 10
"""Records without a member, one after the other, of which it is said: some leave out what is NULL."""


@dataclass(frozen=True)
class Differences:
    """What some rows of a source have that the stream has not, and the other way round.

    Attributes:
        new: the types of members that are no columns, by their names; a member of a struct by its path.
        gone: the columns that rows lack, and how many of them.
        nan: the columns of which NaN is read as NULL: which row is the first, of how many.
        tabular: whether the source names its columns, so that one is gone as soon as it is not named.
        finer: the columns with times that are finer than a microsecond, as ``nan``.
    """

    new: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    tabular: bool = False
    nan: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    finer: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def and_then(self, later: Differences) -> Differences:
        """The differences of these rows and later ones."""
        gone = {name: self.gone.get(name, 0) + later.gone.get(name, 0) for name in {**self.gone, **later.gone}}
        new, tabular = {**later.new, **self.new}, self.tabular or later.tabular
        return Differences(new, gone, tabular, _both(self.nan, later.nan), _both(self.finer, later.finer))


def _both(some: Mapping[str, tuple[int, int]], later: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """The first row of each column, and how many rows there are in both."""
    return {
        name: (some.get(name, (first, 0))[0], some.get(name, (0, 0))[1] + rows)
        for name, (first, rows) in {**some, **later}.items()
    }


@dataclass(frozen=True)
class Drift:
    """A member that is new in the rows of a stream, or a column that is gone from them, or has NaN.

    Attributes:
        name: as the source spells it; a member of a struct is named by its path.
        type: of a new member, as its first values suggest it; ``""``: a column is gone, and NULL since then;
            ``NAN``: it has NaN; ``NAN_AS_NULL``: it had, and has NULL instead; ``FINER``: its times are cut.
        first: the position of the first row.
        rows: how many there were.
        tabular: whether the source names its columns, so that one is gone as soon as it is not named.
    """

    name: str
    type: str
    first: int
    rows: int
    tabular: bool = True

    @property
    def is_new(self) -> bool:
        """Whether it is a member that no column has."""
        return self.type not in ("", NAN, NAN_AS_NULL, FINER)

    @property
    def key(self) -> tuple[str, int]:
        """By which it is known: its name, and whether it is gone, new, or has NaN."""
        return self.name, {"": 0, NAN: 2, NAN_AS_NULL: 3, FINER: 4}.get(self.type, 1)

    def and_then(self, later: Drift) -> Drift:
        """The same in these rows and in later ones."""
        type_ = self.type and (self.type if later.type == self.type else _wider(self.type, later.type))
        return replace(self, type=type_, rows=self.rows + later.rows, tabular=self.tabular or later.tabular)

    @property
    def is_sure(self) -> bool:
        """Whether it is to be said: a record may leave a member out that is NULL."""
        return bool(self.type) or self.tabular or self.rows >= _ABSENT_RECORDS

    def text(self, since: str) -> str:
        """The drift in words.

        Args:
            since: which row or batch.

        Example:
            >>> Drift("note", "string", 40, 12).text("batch 7"), Drift("fee", "", 40, 1).text("row 41")
            ('new: note (string), since batch 7, 12 rows', 'gone: fee, NULL since row 41, 1 row')
            >>> Drift("fee", NAN, 40, 2).text("batch 7")
            'NaN: fee, which makes its sums and averages NaN (--nan null reads it as NULL), since batch 7, 2 rows'
        """
        what = {
            "": f"gone: {self.name}, NULL",
            NAN: f"NaN: {self.name}, which makes its sums and averages NaN (--nan null reads it as NULL),",
            NAN_AS_NULL: f"NaN: {self.name}, read as NULL,",
            FINER: f"nanoseconds: {self.name}, whose times are cut to microseconds,",
        }.get(self.type, f"new: {self.name} ({self.type}),")
        return f"{what} since {since}, {self.rows:,} row{'s' * (self.rows != 1)}"


def _wider(one: str, other: str) -> str:
    return "double" if {one, other} == {"integer", "double"} else "string"


def drifts_of(rows: pa.Table, found: Differences, columns: Container[str], before: int) -> list[Drift]:
    """What of some rows drifts.

    Args:
        rows: for the log.
        found: in the rows of the source that they come from.
        columns: stored names of those that the stream has.
        before: how many rows the log has.
    """
    members: list[tuple[int, dict[str, Any]]] = []
    taken_back = rows[WEIGHT].to_numpy() < 0 if WEIGHT in rows.column_names else np.zeros(rows.num_rows, bool)
    if MORE in rows.column_names:
        texts = rows[MORE].to_pylist()
        members = [
            (at, named_members(members_of(text), columns))
            for at, text in enumerate(texts)
            if text and not taken_back[at]
        ]
    new = {
        name: [at for at, row in members if name in row]
        for name in dict.fromkeys(name for _, row in members for name in row)
    }
    types = {name: found.new.get(name) or type_of_values([row.get(name) for _, row in members]) for name in new}
    drifts = [Drift(name, types[name], before + at[0], len(at), found.tabular) for name, at in new.items()]
    gone = {name: count for name, count in found.gone.items() if stored_name(name) in columns}
    lacking = (
        Drift(name, "", before + rows.num_rows - min(count, rows.num_rows), count, found.tabular)
        for name, count in gone.items()
    )
    changed = (
        Drift(display_name(name), kind, before + min(first, max(0, rows.num_rows - 1)), count)
        for kind, columns_ in ((NAN_AS_NULL, found.nan), (FINER, found.finer))
        for name, (first, count) in columns_.items()
    )
    return [*drifts, *lacking, *_with_nan(rows, taken_back, before), *changed]


def _with_nan(rows: pa.Table, taken_back: Mask, before: int) -> Iterator[Drift]:
    """The columns of rows that have NaN."""
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_floating(values.type):
            places = np.flatnonzero(pc.fill_null(pc.is_nan(values), False).to_numpy() & ~taken_back)
            if len(places):
                yield Drift(display_name(name), NAN, before + int(places[0]), len(places))


cached_name = lru_cache(maxsize=10_000)(stored_name)
"""Stored names of members, of which a source has few."""


class UnreadableMember(ValueError):
    """A member that is no column cannot be kept: its name, or a text in it, is no text."""


MemberFields = Mapping[str, "MemberFields | None"]
"""The members that columns, or a struct's fields, are read from; the fields within one, where there are any."""


def members_of_columns(columns: Iterable[pa.Field]) -> MemberFields:
    """The members that columns are read from, which are the same for all records.

    Example:
        >>> geo = pa.struct([("city", pa.string())])
        >>> members_of_columns(pa.schema([("id", pa.int64()), ("geo", geo), ("all", pa.list_(geo))]))
        {'id': None, 'geo': {'city': None}, 'all': {'city': None}}
    """
    found = dict[str, MemberFields | None]()
    for column in columns:
        inner = column.type
        while pa.types.is_list(inner):
            inner = inner.value_type
        found[column.name] = members_of_columns(inner) if pa.types.is_struct(inner) else None
    return found


def more_members(record: JsonRecord, known: MemberFields) -> dict[str, Any]:
    """The members of a record that are no columns, and of a struct or a list of structs those that its type lacks.

    Raises:
        UnreadableMember: one has no name.

    Example:
        >>> known = {"id": None, "geo": {"city": None}}
        >>> more_members({"id": 1, "geo": {"city": "Ulm", "zip": "8"}, "note": "a"}, known)
        {'note': 'a', 'geo': {'zip': '8'}}
    """
    more, inner = dict[str, Any](), dict[str, Any]()
    for name, value in record.items():
        if name not in known:
            more[name] = value
        elif (fields := known[name]) and (within := _within(value, fields)):
            inner[name] = within
    if odd := [name for name in more if not isinstance(name, str)]:
        raise UnreadableMember(f"a member is called {shown(odd[0])}, which is no text")
    return more | inner


def _within(value: object, known: MemberFields | None) -> object:
    if known is not None and isinstance(value, Mapping):
        return more_members(value, known)
    if isinstance(value, list):
        parts = [_within(one, known) for one in value]
        return parts if any(parts) else None
    return None


def more_text(more: Mapping[str, Any]) -> str | None:
    """Members in their stored form; ``None`` where there are none. Numbers keep their digits.

    Raises:
        UnreadableMember: a text is none, as half a surrogate pair.

    Example:
        >>> from decimal import Decimal
        >>> more_text({"a": Decimal("1.50"), "b": ["x", None]})
        '{"a": 1.50, "b": ["x", null]}'
    """
    if not more:
        return None
    text = text_of_json(more)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableMember(
            f"a member that is no column has {error.object[error.start]!a}, which is no text"
        ) from error
    return text


def record_text(record: Mapping[str, Any]) -> str | None:
    """A whole record as ``more_text`` stores members; ``None`` where it cannot be stored."""
    try:
        return more_text(record)
    except Exception:  # an object of the analyst's may raise whatever it likes
        return None


def with_members(text: str | None, others: str | None, names: Container[str]) -> str | None:
    """The members of a row, with some of those that another row has, by their stored names.

    Example:
        >>> with_members('{"b": 2}', '{"A": 1, "c": 3}', ["a"])
        '{"A": 1, "b": 2}'
    """
    kept = {name: value for name, value in members_of(others or "{}").items() if stored_name(name) in names}
    return more_text(kept | members_of(text or "{}"))


def members_of(text: str) -> dict[str, Any]:
    """The inverse of ``more_text``."""
    found = json.loads(text, parse_float=number_of)
    return found if isinstance(found, dict) else {}


def named_members(more: Mapping[str, Any], columns: Container[str]) -> dict[str, Any]:
    """The values of members by their names, or by their paths where they are members of a column.

    Args:
        more: as ``more_members`` gives them.
        columns: stored names of those that the stream has.

    Example:
        >>> named_members({"note": {"a": 1}, "geo": {"zip": "8"}, "items": [{}, {"n": 1}]}, ["geo", "items"])
        {'note': {'a': 1}, 'geo.zip': '8', 'items.n': [None, 1]}
    """
    found = dict[str, Any]()
    for name, value in more.items():
        found |= _leaves(name, value) if cached_name(name) in columns else {name: value}
    return found


def _leaves(path: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        names = dict.fromkeys(name for part in value if isinstance(part, Mapping) for name in part)
        value = {name: [part.get(name) if isinstance(part, Mapping) else None for part in value] for name in names}
    if not isinstance(value, Mapping):
        return {path: value}
    return {leaf: one for name, inner in value.items() for leaf, one in _leaves(f"{path}.{name}", inner).items()}


def absent(records: Sequence[JsonRecord], schema: Iterable[pa.Field], within: str = "") -> frozenset[str]:
    """The columns that no record has as a member; those of an envelope's rows by their paths."""
    gone = set[str]()
    for known in schema:
        if not any(known.name in record for record in records):
            gone.add(within + known.name)
        elif known.name in ENVELOPE and pa.types.is_struct(known.type):
            inner = [part for record in records if isinstance(part := record.get(known.name), Mapping)]
            gone |= absent(inner, known.type, f"{within}{known.name}.") if inner else set()
    return frozenset(gone)


def folded(rows: pa.RecordBatch, schema: pa.Schema) -> tuple[pa.RecordBatch, Differences]:
    """Rows of a table with the columns of a schema as far as they have them, and ``MORE`` where they have others.

    Names are one in upper and lower case, as long as that leaves no two.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"id": [1, 2], "Note": ["a", None]})
        >>> both, found = folded(rows, pa.schema([("id", pa.int64()), ("fee", pa.float64())]))
        >>> both.to_pydict(), dict(found.new), dict(found.gone)
        ({'id': [1, 2], '_more_members': ['{"Note": "a"}', None]}, {'Note': 'string'}, {'fee': 2})
    """
    own = {stored_name(known.name): known.name for known in schema}
    names = {name: own.get(stored_name(name)) for name in rows.schema.names}
    chosen = {wanted: name for name, wanted in names.items() if wanted and (name == wanted or wanted not in names)}
    more = [name for name in names if name not in chosen.values() and name != MORE]
    columns = {known.name: rows.column(chosen[known.name]) for known in schema if known.name in chosen}
    new = {name: shown_type(rows.schema.field(name).type) for name in more}
    wider = [f for f in schema if f.name in columns and _has_more(columns[f.name].type, f.type)]
    if MORE in names:
        columns[MORE] = rows.column(MORE)
    elif more or wider:
        values = {name: _python_values(rows.column(name)) for name in more}
        known = members_of_columns(wider)
        values |= {name: [_within(one, fields) for one in columns[name].to_pylist()] for name, fields in known.items()}
        new |= _new_fields(values, known)
        columns[MORE] = _texts_of(values)
    gone = dict.fromkeys(own.values() - columns.keys(), rows.num_rows)
    return pa.RecordBatch.from_pydict(columns), Differences(new, gone, tabular=bool(new or gone))


def _new_fields(values: Mapping[str, Sequence[Any]], columns: Iterable[str]) -> dict[str, str]:
    """Fields of structs that are new, by their paths."""
    known = [*map(stored_name, columns)]
    leaves = [named_members({name: one}, known) for name in columns for one in values[name] if one]
    return {
        path: type_of_values([row.get(path) for row in leaves]) for path in dict.fromkeys(p for r in leaves for p in r)
    }


def type_of_values(values: Sequence[object]) -> str:
    """The type of members, as their first values suggest it."""
    try:
        return shown_type(pa.array(values).type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return "string"


def _has_more(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether structs have fields that others have not."""
    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return _has_more(found.value_type, wanted.value_type)
    if not (pa.types.is_struct(found) and pa.types.is_struct(wanted)):
        return False
    types = {field.name: field.type for field in wanted}
    return any(inner.name not in types or _has_more(inner.type, types[inner.name]) for inner in found)


def _texts_of(members: Mapping[str, Sequence[Any]]) -> pa.Array:
    """The texts of members, of which those are left out that are NULL."""
    rows = zip(*members.values(), strict=True)
    there = ({n: v for n, v in zip(members, row, strict=True) if v not in (None, {})} for row in rows)
    return pa.array([more_text(row) for row in there], pa.string())


def _python_values(column: pa.Array) -> list[Any]:
    is_, type_ = pa.types, column.type
    if is_.is_dictionary(type_):
        return _python_values(column.dictionary_decode())
    if is_.is_temporal(type_):
        return list(column.cast(pa.string()).to_pylist())
    return list(column.to_pylist())


def shown_type(arrow: pa.DataType) -> str:
    """A type of Arrow in the form of a declaration."""
    try:
        return str(to_data_type(arrow))
    except StreamError:
        return "string"


def joined(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Rows with the columns of a schema, and with ``MORE`` where some have it.

    Example:
        >>> schema = pa.schema([("id", pa.int64())])
        >>> joined([pa.RecordBatch.from_pylist([{"id": 1}], schema)], schema).schema.names
        ['id']
    """
    if not any(MORE in batch.schema.names for batch in batches):
        return pa.concat_batches([pa.RecordBatch.from_pylist([], schema), *batches])
    wide = schema.append(MORE_FIELD)
    return pa.concat_batches([pa.RecordBatch.from_pylist([], wide), *(_with_more(batch, wide) for batch in batches)])


def _with_more(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    more = [] if MORE in batch.schema.names else [pa.nulls(batch.num_rows, pa.string())]
    return pa.RecordBatch.from_arrays([*batch.columns, *more], schema=schema)


def without_empty_more(rows: pa.Table) -> pa.Table:
    """Rows without ``MORE`` where no row has such a member."""
    if MORE in rows.column_names and rows[MORE].null_count == rows.num_rows:
        return rows.drop_columns([MORE])
    return rows
