"""What was quarantined while a cell ran, by its reasons, and what sources say that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from workbench.explain.text import counted, short
from workbench.session.session import Session
from workbench.streams.source import QuarantinedRow
from workbench.streams.stream import Stream

_EXAMPLES = 3
_MOST_REASONS = 5
_WIDEST = 70
_NO_VALUE = re.compile(r"^(?:(?:after|before|payload)\.)*(\w+): .*\d.* is (?:no|beyond) ", re.DOTALL)
_PLACE = re.compile(r"^partition \S+, offset \d+: ")
_OWN = (
    (re.compile(r"^(.{1,60}?): .* (is no |is beyond |does not |is more than )", re.DOTALL), r"\1: … \2"),
    (re.compile(r": [^:]*line \d+ column \d+ \(char \d+\)$"), ""),
    (re.compile(r": byte 0x\w+ at \d+$"), ""),
)
"""The parts of reasons that differ from row to row, and what stands for them."""

Marks = Mapping[str, tuple[int, int]]


def quarantine_marks(session: Session) -> Marks:
    """The present marks of all streams, for a later ``quarantined_since``."""
    return {name: stream.quarantine_mark for name, stream in session.streams.items() if not stream.table}


def quarantined_since(session: Session, marks: Marks) -> list[str]:
    """Lines on the rows that were quarantined since then: how many of each stream, why, and some of them."""
    lines = list[str]()
    for name, stream in session.streams.items():
        count, entries = stream.quarantined_since(marks[name]) if name in marks else (0, ())
        if count:
            lines += [f"quarantined in these batches, {counted(count, 'row')} of {name}:", *by_reason(entries, count)]
            lines += widening_lines(stream, entries)
    return lines


def quarantined_before(session: Session, name: str | None = None) -> list[str]:
    """Lines on the rows that streams of files and tables lack, and where they are; live sources have a list of errors.

    Args:
        session: the session.
        name: of the one stream that is meant.
    """
    lacking = (s for s in session.streams.values() if s.quarantined_rows and s.name not in session.sources)
    return [
        f"{s.name}: {counted(s.quarantined_rows, 'row')} quarantined, in no answer; "
        f'session.streams["{s.name}"].quarantined has the first of them'
        for s in lacking
        if name is None or s.name.lower() == name.lower()
    ]


def widening_lines(stream: Stream, entries: Iterable[QuarantinedRow]) -> list[str]:
    """Lines on how rows are taken in whose value is none of its column's type."""
    names = {name.lower() for name, _ in stream.columns}
    found = (match[1] for entry in entries if (match := _NO_VALUE.match(_PLACE.sub("", entry.reason))))
    columns = dict.fromkeys(name for name in found if name.lower() in names)
    return [f"  %argus stream {stream.name} --widen {name} takes in what did not fit {name}" for name in columns]


def by_reason(entries: Iterable[QuarantinedRow], count: int) -> Iterator[str]:
    """Lines that describe quarantined rows, grouped by reason.

    Args:
        entries: the first of them.
        count: of all.

    Example:
        >>> rows = [QuarantinedRow(n, f"{n},{text}", f"fee: {text!r} is no double") for n, text in ((2, "x"), (7, "y"))]
        >>> print(*by_reason([*rows, QuarantinedRow(9, "{", "it is no JSON")], 3), sep="\\n")
          fee: … is no double, 2 rows:
            line 2: 2,x
            line 7: 7,y
          it is no JSON, 1 row:
            line 9: {
    """
    groups: dict[str, list[QuarantinedRow]] = {}
    for entry in entries:
        groups.setdefault(reason_of(entry), []).append(entry)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    for reason, rows in ordered[:_MOST_REASONS]:
        yield f"  {reason}, {counted(len(rows), 'row')}:"
        for row in rows[:_EXAMPLES]:
            place = found[0].strip(": ") if (found := _PLACE.match(row.reason)) else f"line {row.line}"
            text = short(row.text, _WIDEST) or row.reason
            yield f"    {place}: {text}"
        if len(rows) > _EXAMPLES:
            yield f"    and {len(rows) - _EXAMPLES:,} more"
    looked_at = sum(map(len, groups.values()))
    if others := sum(len(rows) for _, rows in ordered[_MOST_REASONS:]):
        yield f"  and {counted(others, 'row')} for other reasons"
    if count > looked_at:
        yield f"  and {counted(count - looked_at, 'row')} after these"


def reason_of(entry: QuarantinedRow) -> str:
    """Why a row was quarantined, without its own value and place."""
    reason = _PLACE.sub("", entry.reason)
    for pattern, same in _OWN:
        reason = pattern.sub(same, reason)
    return reason


def problems(session: Session) -> list[str]:
    """Lines on the live sources that cannot be read now, or could not since it was looked at last."""
    said = {name: source.problem or source.earlier for name, source in session.sources.items()}
    return [f"{name}: {problem}" for name, problem in said.items() if problem]
