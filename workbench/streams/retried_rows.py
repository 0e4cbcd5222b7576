"""Rows that were quarantined, tried again: once a column is wider, what did not fit it may.

Their records are read as those of a live source are, all values from the texts that stand there. In a stream with a key
a row that a later one of its key has replaced since comes too late, and stays quarantined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.declared import DEBEZIUM_CHANGE, EVENT, TRANSACTION
from workbench.streams.drift import drifts_of, members_of
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import schema_of, with_times_of
from workbench.streams.files.json_values import as_texts
from workbench.streams.ingest import quarantined_rows
from workbench.streams.live.take_in import fit_chunk, late_among, rows_without
from workbench.streams.log import CHUNK_ROWS, StreamLog, log_schema
from workbench.streams.tail import WaitingRecord

_AT_A_TIME = 10_000
_CHANGE = stored_name(DEBEZIUM_CHANGE)
_DEPENDENT = re.compile(r"(partition \d+, offset \d+: )?it takes back ")
"""Begins the reason of a row that says something of one which was quarantined, or never there."""
_REPLACED = "a later row of its key has replaced it"


@dataclass(frozen=True)
class Retried:
    """What became of quarantined rows.

    Attributes:
        taken: how many were taken in.
        left: why others were not, each reason.
    """

    taken: int = 0
    left: tuple[str, ...] = ()


def waiting_for_column(log: StreamLog, column: str) -> list[WaitingRecord]:
    """The quarantined rows whose value of a column did not fit, and those that depend on such rows, as they came.

    Args:
        log: of the stream.
        column: its stored name.
    """
    name = re.escape(display_name(column))
    reason = re.compile(rf"(partition \d+, offset \d+: |version \d+: )?((after|before|payload|data)\.)*{name}: ", re.I)
    depend = log.corrections is not None
    found = [one for one in log.waiting() if reason.match(one.reason) or (depend and _is_dependent(one))]
    is_waiting = any(reason.match(one.reason) for one in found)
    return sorted(found, key=lambda one: one.number) if is_waiting else []


def _is_dependent(one: WaitingRecord) -> bool:
    return _DEPENDENT.match(one.reason) is not None


def values_of(records: Iterable[WaitingRecord], column: str) -> list[object]:
    """The values of a column in waiting records, also in those within envelopes."""
    return [value for one in records if (value := _value(members_of(one.record), column)) is not None]


def _value(members: Mapping[str, object], column: str) -> object:
    for name, value in members.items():
        if stored_name(name) == column:
            return value
    inner = (value for name in ("after", "payload", "data", "before") if isinstance(value := members.get(name), dict))
    return next((value for one in inner if (value := _value(one, column)) is not None), None)


def keep_types(log: StreamLog) -> None:
    """Remember of what types the current rows of a stream are, which earlier versions did not."""
    if log.corrections is not None and log.tail is not None:
        with log.tail.transaction() as database:
            CurrentRows(database, log_schema(log.source_columns), log.corrections)


def retry(log: StreamLog, records: Sequence[WaitingRecord], is_table: bool) -> Retried:
    """Try waiting records again, and log those that fit.

    Args:
        log: of the stream, with a tail.
        records: in the order in which they came.
        is_table: whether the rows in its tail are changes of a table, which came after all of these.
    """
    tail, taken, left = log.tail, 0, list[str]()
    assert tail is not None
    with tail.transaction() as database:
        current = None
        if log.corrections is not None:
            current = CurrentRows(database, log_schema(log.source_columns), log.corrections)
            current.confirms = True
            if current.is_new and not (log.is_live or is_table):  # they are kept only where more changes may come
                current.rebuild(log.read(at, at + CHUNK_ROWS) for at in range(0, log.rows, CHUNK_ROWS))
        while records:
            reasons = dict[int, str]()
            for start in range(0, len(records), _AT_A_TIME):
                some = records[start : start + _AT_A_TIME]
                rows, found = _fitting(log, some, current)
                if log.transactions is not None:
                    rows = rows.append_column(TRANSACTION, pa.nulls(rows.num_rows, log.transactions.type))
                tail.append(rows)
                fitting = [one for at, one in enumerate(some) if at not in found]
                tail.settle(fitting, ((some[at], reason) for at, reason in found.items()))
                reasons |= {start + at: reason for at, reason in found.items()}
            done = len(records) - len(reasons)
            # What one of them takes back may have been put there by a later one.
            others = [replace(records[at], reason=reason) for at, reason in reasons.items()]
            records = [one for one in others if done and _is_dependent(one)]
            taken, left = taken + done, [*left, *(one.reason for one in others if one not in records)]
    return Retried(taken, tuple(dict.fromkeys(left)))


def _fitting(
    log: StreamLog, some: Sequence[WaitingRecord], current: CurrentRows | None
) -> tuple[pa.Table, dict[int, str]]:
    """The rows of records for the log, and why others have none, by their places."""
    assert log.tail is not None
    records = [(at, one.record, members_of(one.record)) for at, one in enumerate(some)]
    types = dict(log.source_columns) | ({} if log.corrections is None else log.corrections.asked)
    members = [record for *_, record in records]
    schema = as_texts(schema_of(members), types)
    chunk = rows_of(records, with_times_of(members, schema, types))
    (rows, places, quarantined), found = fit_chunk(log, chunk, {})
    reasons = {entry.line: entry.reason for entry in (*chunk.quarantined, *quarantined)}
    too_late = late_among(log, rows)
    reasons |= {int(places[at]): reason for at, reason in too_late.items()}
    rows, places = rows_without(rows, places, too_late)
    if current is not None:
        if _CHANGE in rows.column_names:  # what an envelope puts there is there, if only what it takes back was not
            depends = np.array([_is_dependent(one) for one in some])[places]
            left = ~(depends & np.asarray(pc.greater(rows[_CHANGE], 0)))
            rows, places = rows.filter(pa.array(left)), places[left]
        numbers = np.array([one.number for one in some], np.int64)[places]
        late = _replaced(log, current, rows, numbers)
        reasons |= dict.fromkeys(places[late].tolist(), _REPLACED)
        given, places, numbers = rows.filter(pa.array(~late)), places[~late], numbers[~late]
        rows, rejected = current.apply(given, numbers)
        reasons |= {entry.line: entry.reason for entry in quarantined_rows(given, places, rejected)}
    columns = dict(log.source_columns)
    log.tail.note_drifts([drift for drift in drifts_of(rows, found, columns, log.rows) if drift.type], ())
    return rows, reasons


def _replaced(log: StreamLog, current: CurrentRows, rows: pa.Table, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows a later one of their key has replaced, confirmed or deleted."""
    assert log.corrections is not None
    if not (key := log.corrections.key) or not rows.num_rows:
        return np.zeros(rows.num_rows, np.bool_)
    keys = current.keys_of(rows).dictionary_encode()
    last = current.confirmed(keys.dictionary.to_pylist())
    for start in range(0, log.rows, CHUNK_ROWS):
        part = log.read(start, start + CHUNK_ROWS, [*key, EVENT])
        at = pc.index_in(current.keys_of(part), keys.dictionary)
        np.maximum.at(last, at.drop_null().to_numpy(), part.column(EVENT).filter(at.is_valid()).to_numpy())
    known = np.append(last, -1)  # a row without a key is quarantined
    return known[keys.indices.fill_null(len(last)).to_numpy()] > numbers
