"""Corrections: how a source says that rows are changed or taken back, and what each of its rows then does.

A stream without corrections is *append-only*. Every row of a stream with corrections has a weight in its log, as in a
Z-set (Budiu et al., DBSP): 1 for a row that is there from now on, -1 for one that is not any more. An update is both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.errors import StreamError, nearest
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import INTEGER, STRING, DataType, Kind
from workbench.streams.files.envelopes import ENVELOPES, MEMBERS
from workbench.streams.files.json_values import MORE

WEIGHT = "_weight"
"""Column of a log: what the row counts in the Z-set."""
EVENT = "_event"
"""Column of a log: the source's line that made the row. Rows of one line stand side by side and arrive together."""
TRANSACTION = "_transaction"
"""Column of a log: the transaction of the source that the row is of (``transactions``); NULL: of none."""
CORRECTION_COLUMNS = (WEIGHT, EVENT)
"""Columns of a log with corrections besides those of its stream."""

LARGEST_WEIGHT = 10**9
"""A row counts at most so often: sums of weighted decimals then keep all of their digits."""


class Changes(StrEnum):
    """How a source writes its changes."""

    WEIGHT = "weight"
    """A column says how often the row comes (or goes, where it is negative)."""
    UPSERT = "upsert"
    """A row is put in the place of the one of its key; a record that has nothing but a key takes that one back."""
    CDF = "cdf"
    """The column ``_change_type`` of a change data feed (Delta Lake)."""
    DEBEZIUM = "debezium"
    """Envelopes with ``op``, ``before`` and ``after`` (Debezium)."""
    REPLICATION = "replication"
    """What the transactions of a PostgreSQL do, as its log says it; not declared, since the source says it."""


CHANGE_TYPE = stored_name("_change_type")
COMMIT_COLUMNS = tuple(map(stored_name, ("_commit_version", "_commit_timestamp")))
"""They say when a change was made, and differ between a row and the change that takes it back."""
DEBEZIUM_CHANGE = "_debezium_change"
"""Column that ``debezium`` gives to unfolded envelopes: 1, -1, or what follows."""
TRUNCATES = 0
"""All rows go."""
TAKES_IF_THERE = -2
"""The row of the key goes, if there is one."""
DEBEZIUM_UNSENT = "_debezium_unsent"
"""Another one: the columns of which an envelope has no value (``unsent``)."""

_CDF = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}
_IMAGES = ("update_preimage", "update_postimage")


@dataclass(frozen=True)
class Corrections:
    """How a stream's rows are corrected.

    Attributes:
        changes: how the source writes its changes.
        key: stored names of the columns that say which row is meant; none: the whole row does.
        weight: stored name of the column with weights, which is no column of the stream.
    """

    changes: Changes
    key: tuple[str, ...] = ()
    weight: str | None = None

    @staticmethod
    def stored(changes: str, key: Iterable[str], weight: str | None) -> Corrections:
        """What a manifest has of it."""
        return Corrections(Changes(changes), tuple(key), weight)

    @property
    def control_columns(self) -> tuple[str, ...]:
        """Stored names of the source's columns that describe changes, which the stream does not have."""
        match self.changes:
            case Changes.WEIGHT:
                return (self.weight,) if self.weight is not None else ()
            case Changes.CDF:
                return (CHANGE_TYPE, *COMMIT_COLUMNS)
            case Changes.DEBEZIUM:
                return (stored_name(DEBEZIUM_CHANGE), stored_name(DEBEZIUM_UNSENT), stored_name(TRANSACTION))
            case Changes.UPSERT:
                return (stored_name(MEMBERS), *Corrections(Changes.DEBEZIUM).control_columns)
            case Changes.REPLICATION:
                return Corrections(Changes.DEBEZIUM).control_columns

    @property
    def asked(self) -> dict[str, DataType]:
        """What is declared of the records of a source besides the types of the stream's columns."""
        match self.changes:
            case Changes.UPSERT:
                return {MEMBERS: INTEGER}
            case Changes.DEBEZIUM:
                return {ENVELOPES: STRING}
        return {}

    def without_control(self, types: Mapping[str, DataType]) -> dict[str, DataType]:
        """The columns of the stream among those of its source, checked.

        Raises:
            StreamError: a column of the key, or one that says what changes, is not there.
        """
        control = set(self.control_columns)
        columns = {name: type_ for name, type_ in types.items() if name not in control}
        for name in self.key:
            if name not in columns:
                raise StreamError(f"no column {display_name(name)} for the key", hint=_hint(name, columns))
        if (
            self.changes is Changes.WEIGHT
            and types.get(self.weight or "", DataType(Kind.STRING)).kind is not Kind.INTEGER
        ):
            whole = [name for name, type_ in types.items() if type_.kind is Kind.INTEGER]
            message = f"no column {display_name(self.weight or '')} of whole numbers to take weights from"
            raise StreamError(message, hint=_hint(self.weight or "", whole))
        if self.changes is Changes.CDF and CHANGE_TYPE not in types:
            hint = "read the feed with its own columns; add_stream(…, changes='upsert') needs none"
            raise StreamError("no column _change_type, which a change data feed has", hint=hint)
        if not columns:
            raise StreamError("the source has no columns but those that say what changes")
        return columns

    def weighted(self, rows: pa.Table, lines: NDArray[np.int64]) -> tuple[pa.Table, dict[int, str]]:
        """Rows of the source as changes of the stream, with the columns of its log.

        One with a weight above 0 comes, one with a weight below 0 goes. Its event is its line; what an update replaces
        belongs to the line of the new row.

        Returns:
            The changes, and why some do neither, by their places; the weight of these is NULL.
        """
        stated, events = self._stated(rows), pa.array(lines)
        match self.changes:
            case Changes.WEIGHT:
                within = pc.and_(pc.less_equal(stated, LARGEST_WEIGHT), pc.greater_equal(stated, -LARGEST_WEIGHT))
                weights = pc.if_else(within, stated, pa.scalar(None, pa.int64()))
            case Changes.CDF:
                weights = pa.array(_CDF.values()).take(pc.index_in(stated, pa.array(_CDF)))
                weights = pc.if_else(pa.array(self._paired(rows, stated)), 0, weights)
                events = pc.add(events, pc.equal(stated, "update_preimage").cast(pa.int64()).fill_null(0))
            case _:
                weights = stated if self.key else pc.if_else(pc.equal(stated, TAKES_IF_THERE), -1, stated)
        unknown = np.flatnonzero(weights.is_null())
        reasons = map(self._why_unknown, stated.take(pa.array(unknown)).to_pylist())
        values = rows.drop_columns([name for name in self.control_columns if name in rows.column_names])
        changes = values.append_column(WEIGHT, weights).append_column(EVENT, events)
        return changes, dict(zip(unknown.tolist(), reasons, strict=True))

    def _stated(self, rows: pa.Table) -> pa.Array:
        """What each row says of its change; a record with nothing but its key is a tombstone."""
        unfolded = stored_name(DEBEZIUM_CHANGE)
        control = unfolded if unfolded in rows.column_names else self.control_columns[0]
        if self.changes is not Changes.UPSERT or control == unfolded:
            return rows.column(control).combine_chunks()
        if control not in rows.column_names:
            return pa.array(np.ones(rows.num_rows, np.int64))
        has_more = len({*rows.column_names} - {MORE}) > len(self.key) + 1
        members = rows.column(control).to_numpy()
        return pa.array(np.where(members <= (len(self.key) if has_more else 0), -1, 1))

    def _paired(self, rows: pa.Table, stated: pa.Array) -> NDArray[np.bool_]:
        """Which pre-images say nothing, since the post-image of their update replaces the row of the same key.

        A feed gives the two in any order within a version; where it says no versions, they stand side by side.
        """
        paired = np.zeros(rows.num_rows, np.bool_)
        if not self.key:
            return paired
        version = COMMIT_COLUMNS[0]
        named = [*self.key, *([version] if version in rows.column_names else [])]
        keys = [*zip(*(rows.column(name).to_pylist() for name in named), strict=True)]
        waiting = dict[tuple[object, ...], tuple[str, int]]()
        for at, (key, kind) in enumerate(zip(keys, stated.to_pylist(), strict=True)):
            if kind not in _IMAGES:
                continue
            other, place = waiting.pop(key, ("", -1))
            if other in ("", kind) or (len(named) == len(self.key) and place != at - 1):
                waiting[key] = (kind, at)
            else:
                paired[at if kind == "update_preimage" else place] = True
        return paired

    def _why_unknown(self, stated: object) -> str:
        if self.changes is Changes.CDF:
            return f"_change_type: {stated!r} is none of {', '.join(_CDF)}"
        return "its weight is NULL" if stated is None else f"its weight {stated} is beyond {LARGEST_WEIGHT:,}"


def corrections_of(
    changes: str | None, key: Sequence[str] | str | None, weight: str | None, table: bool = False
) -> Corrections | None:
    """The declared form of corrections; ``None`` for a stream that is append-only.

    Raises:
        StreamError: the arguments do not go together.

    Example:
        >>> corrections_of("upsert", ["id"], None).key
        ('id',)
    """
    keys = tuple(stored_name(name) for name in ([key] if isinstance(key, str) else key or ()))
    if weight is not None:
        if changes is not None or keys:
            raise StreamError("weight does not go with key or changes", hint="give one of them")
        return Corrections(Changes.WEIGHT, weight=stored_name(weight))
    if changes is None:
        if not keys:
            return None
        if not table:
            hint = "changes='upsert': a row replaces the one of its key; there are also 'debezium' and 'cdf'"
            raise StreamError("a key, and nothing that says how rows change", hint=hint)
        changes = Changes.UPSERT
    known = [form for form in Changes if form not in (Changes.WEIGHT, Changes.REPLICATION)]
    if changes not in known:
        raise StreamError(
            f"changes={changes!r} is no form of changes", hint=nearest(changes, known) or f"one of {', '.join(known)}"
        )
    if changes == Changes.UPSERT and not keys:
        raise StreamError("an upsert needs a key", hint="key=['id'] names the columns that say which row is meant")
    return Corrections(Changes(changes), keys)


def _hint(name: str, columns: Iterable[str]) -> str:
    known = [display_name(column) for column in columns]
    return nearest(display_name(name), known) or f"one of {', '.join(known)}"
