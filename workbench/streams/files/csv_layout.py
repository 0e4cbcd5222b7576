"""How a CSV file is written: its encoding, what separates its values, and the line that names its columns.

All of it is found out from the first lines, unless it is declared. What is found out and is not plain is said in the
layout's notes.
"""

from __future__ import annotations

import codecs
import csv
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from workbench.errors import StreamError, StreamWarning
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.files.encodings import UTF_8, encoding_of, utf_16_of
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.urls import UrlFile

SEPARATORS = ",;\t|"
"""What may separate values, the likeliest first."""
_SAMPLE = 1 << 20
_RECORDS, _MOST_TITLES = 50, 20
_NUMBER = re.compile(r"^\s*[(+-]?\d[\d.,:/ -]*\)?\s*$")
_YEAR = re.compile(r"^\s*(?:19|20)\d\d\s*$")
_BACKSLASHED = re.compile(r'[^\\,;\t|"\r\n]\\"[^,;\t|"\r\n]')


@dataclass(frozen=True)
class CsvOptions:
    """The declared format of CSV files; ``None`` means that it is guessed.

    Attributes:
        sep: what separates values.
        decimal: the sign before the fraction of a number, ``"."`` or ``","``.
        header: whether a line names the columns; else they are ``column_1`` and so on.
        encoding: of the text, as Python calls it: ``"utf-8"``, ``"utf-16"``, ``"cp1252"``, ``"latin-1"``.
        growing: whether a last line without an end is still written, and is left out.
        typed: stored names of columns whose types are known, so that their values are not looked at for them.
        passed: bytes at the file's beginning that were read before, up to the end of a line.
    """

    sep: str | None = None
    decimal: str | None = None
    header: bool = True
    encoding: str | None = None
    growing: bool = False
    typed: frozenset[str] = frozenset()
    passed: int = 0

    def __post_init__(self) -> None:
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n' or self.sep.isalnum()):
            raise StreamError(f"sep={self.sep!r} separates no values", hint="one character, such as ; or |")
        if self.decimal not in (None, ".", ","):
            raise StreamError(f"decimal={self.decimal!r} stands before no fraction", hint="it is a point or a comma")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                hint = "utf-8, utf-16, cp1252 or another that Python knows"
                raise StreamError(f"there is no encoding {self.encoding}", hint=hint) from None

    @property
    def declared(self) -> dict[str, object]:
        """The options that are given, and so not guessed."""
        plain = CsvOptions()
        different = {name: value for name, value in asdict(self).items() if value != getattr(plain, name)}
        return {name: value for name, value in different.items() if name not in ("growing", "typed", "passed")}


@dataclass(frozen=True)
class CsvLayout:
    """How a file is written.

    Attributes:
        names: of the columns.
        separator: of values.
        encoding: of the text.
        before: lines before the first row.
        notes: what was found out.
        newline: what ends a line; ``"\\n"`` with or without ``"\\r"`` before it, or ``"\\r"`` alone.
    """

    names: tuple[str, ...]
    separator: str
    encoding: str
    before: int
    notes: tuple[str, ...]
    newline: str = "\n"


@dataclass(frozen=True)
class _Records:
    """The first records of a file, split by one separator."""

    separator: str
    fields: list[list[str]]
    ends: list[int]
    """The line on which each ends."""
    usual: int
    """Values of most records."""
    header: int
    """Which of them names the columns."""

    @property
    def likelihood(self) -> tuple[bool, float, float, int, int]:
        """The greater, the more likely is the separator."""
        share = sum(len(one) == self.usual for one in self.fields) / len(self.fields)
        # The commas of Price, EUR;Count separate nothing, though each line may have as many.
        apart = sum(value.startswith(" ") for one in self.fields for value in one[1:]) / len(self.fields)
        return self.header == 0, share, -apart, self.usual, -SEPARATORS.find(self.separator)


def layout_of(path: Path | UrlFile, options: CsvOptions) -> CsvLayout:
    """How a file is written.

    Raises:
        StreamError: no line names the columns.
    """
    data = _beginning(path)
    encoding = options.encoding or encoding_of(data)
    notes = []
    if options.encoding is None and encoding != UTF_8:
        notes.append(f"it is no UTF-8, and is read as {encoding}; --encoding says another")
    text = data.decode("utf-8-sig" if encoding == UTF_8 else encoding, errors="replace").lstrip("\ufeff")
    newline = "\r" if "\r" in text and "\n" not in text else "\n"
    if newline == "\r":
        text = text.replace("\r", "\n")
        notes.append("its lines end with a carriage return alone")
    separators = options.sep or SEPARATORS
    found = [one for sign in separators if (one := _records(text, sign, options.header)) is not None]
    several = [one for one in found if one.usual > 1 and one.likelihood[1] >= 0.5]
    if not found:
        hint = "its first line must name the columns, separated by commas, semicolons, tabs or bars"
        raise StreamError(f"{path} cannot be read as CSV: it has no line with values", hint=hint)
    chosen = max(several or found[:1], key=lambda one: one.likelihood)
    if options.sep is not None and chosen.usual == 1 and (other := _other_separator(text, options)) is not None:
        given, meant = (_SHOWN.get(sign, sign) for sign in (options.sep, other))
        what = f"no values are separated by {given}, and most lines have {meant}: leave sep out"
        warnings.warn(what, StreamWarning, stacklevel=2)
    if options.sep is None and chosen.separator != ",":
        notes.append(f"values are separated by {_SHOWN.get(chosen.separator, chosen.separator)}")
    if chosen.usual == 1 and _is_aligned(chosen.fields):
        notes.append("its values stand in columns of blanks: pandas.read_fwf reads it, and the DataFrame is a source")
    if _BACKSLASHED.search(text):
        notes.append('a quote in a value is two quotes in CSV; \\" stands in this file, and is read as it stands')
    if not options.header:
        names = [f"column_{number}" for number in range(1, chosen.usual + 1)]
        return CsvLayout(tuple(names), chosen.separator, encoding, 0, tuple(notes), newline)
    header, before = chosen.fields[chosen.header], chosen.ends[chosen.header]
    if chosen.header:
        notes.append(f"the columns are named on line {before}, after a title")
    if _ends_separated(chosen.fields, chosen.header, chosen.usual):
        header = [*header, ""]
    elif _is_index(chosen.fields, chosen.header, chosen.usual):
        header = ["", *header]
    if any(_NUMBER.match(name) for name in header):
        notes.append(f"the columns are called {', '.join(header[:3])}: if that line is a row, say header=False")
    names, renamed = _named(header)
    return CsvLayout(tuple(names), chosen.separator, encoding, before, (*notes, *renamed), newline)


def _is_aligned(records: Sequence[Sequence[str]]) -> bool:
    """Whether records of one value are columns between blanks: the first has two blanks, and all share one."""
    lines = [record[0].rstrip() for record in records if record]
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(max(map(len, lines), default=0))]
    begin = next((at for at, one in enumerate(blank) if not one), 0)
    shared = next((at for at, one in enumerate(blank) if one and at > begin), len(blank))
    filled = sum(bool(line[shared:].strip()) for line in lines)
    return len(lines) > 1 and "  " in lines[0].strip() and filled > len(lines) / 2


def _other_separator(text: str, options: CsvOptions) -> str | None:
    """What separates values on most lines, where what is declared separates none."""
    found = (_records(text, sign, options.header) for sign in SEPARATORS if sign != options.sep)
    return next((one.separator for one in found if one is not None and one.usual > 1 and one.likelihood[1] > 0.9), None)


_SHOWN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def _beginning(path: Path | UrlFile) -> bytes:
    """The first lines of a file, the last one whole if there is more than one."""
    data = b""
    try:
        with SourceFile(path) as file:
            while len(data) < _SAMPLE and (some := file.read1(_SAMPLE)):
                data += some
    except (EOFError, OSError, zlib.error) as error:
        if b"\n" not in data:
            raise StreamError(f"{path} cannot be read as CSV: {error}", hint="copy or write the file again") from error
    if len(data) >= _SAMPLE:
        end = data.rfind(b"\n") + 1
        data = data[: end + end % 2] if utf_16_of(data) else data[:end] or data
    return data


def _records(text: str, separator: str, header: bool) -> _Records | None:
    fields, ends = list[list[str]](), list[int]()
    reader = csv.reader(_lines(text), delimiter=separator)
    try:
        for one in islice(reader, _RECORDS + _MOST_TITLES):
            if one:
                fields.append(one)
                ends.append(reader.line_num)
    except csv.Error:  # a quote is not closed, or a line ends otherwise; what is before it says enough
        pass
    if not fields or not any(value.strip() for one in fields for value in one):
        return None
    counts = Counter(map(len, fields))
    usual = max(counts, key=lambda count: (counts[count], count))
    return _Records(separator, fields, ends, usual, _header(fields, usual) if header else 0)


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _header(fields: Sequence[list[str]], usual: int) -> int:
    """Which record names the columns: the first one after those that are a title."""
    if after := _after_block(fields, usual):
        return after
    for place, one in enumerate(fields[:_MOST_TITLES]):
        if place and all(map(_NUMBER.match, one)):
            break
        if len(one) == usual or _is_index(fields, place, usual) or _ends_separated(fields, place, usual):
            return place
        following = fields[place + 1] if place + 1 < len(fields) else []
        is_title = sum(bool(value.strip()) for value in one) <= 1 or (
            _names_columns(following, usual) and _has_numbers(fields[place + 2 :])
        )
        if not is_title or len(one) > usual or usual == 1 or len(fields) < place + 3:
            break
    return 0


def _after_block(fields: Sequence[list[str]], usual: int) -> int:
    """Which record follows a block of lines that are no rows, as banks and programs for sheets write; 0: none.

    The block's lines have other counts of values than the rows, a value only at their beginning, or a name with its
    value, or # there.
    """
    in_block = [len(one) != usual or _is_padded(one, 2) or one[0].startswith("#") for one in fields]
    place = in_block.index(False) if False in in_block else 0
    block = fields[:place]
    is_block = (len(block) > 1 or any(_is_padded(one, 2) for one in block)) and len(block) <= _MOST_TITLES
    if not is_block or not (_names_columns(fields[place], usual, fields[place + 1 :]) or _names_years(fields[place])):
        return 0
    only_padded = all(map(_is_padded, block)) and any(one[0].strip() for one in block)
    return place if only_padded or _has_numbers(fields[place + 1 :]) else 0


def _names_years(values: Sequence[str]) -> bool:
    """Whether a record has names, then years, and maybe a separator at its end."""
    named = values if values[-1].strip() else values[:-1]
    years = [bool(_YEAR.match(value)) for value in named]
    others = [value for value, is_year in zip(named, years, strict=True) if not is_year]
    return any(years) and not years[0] and all(value.strip() and not _NUMBER.match(value) for value in others)


def _has_numbers(rows: Sequence[list[str]]) -> bool:
    return any(_NUMBER.match(value) for row in rows for value in row)


def _is_padded(values: Sequence[str], most: int = 1) -> bool:
    """Whether no more than the first values of a record are there, as a program for sheets writes a title."""
    return len(values) > 2 * most - 2 and len(values) > 1 and not any(map(str.strip, values[most:]))


def _names_columns(values: Sequence[str], usual: int, rows: Sequence[list[str]] = ()) -> bool:
    """Whether a record is names; a column may have none where no row has a value for it, as at the end of ``a;b;``."""
    if len(values) != usual or any(map(_NUMBER.match, values[1:])):
        return False
    unnamed = [place for place, value in enumerate(values) if place and not value.strip()]
    return all(rows and not any("".join(row[place : place + 1]).strip() for row in rows) for place in unnamed)


def _is_index(fields: Sequence[list[str]], place: int, usual: int) -> bool:
    """Whether a record names all columns but the first, as R writes a table whose rows have names."""
    rows = _rows_of_one_more(fields, place, usual)
    names = [row[0] for row in rows]
    if not rows or len({*names}) < len(names) or not any(_NUMBER.match(value) for value in rows[0]):
        return False
    # Of two values, the first may be what is before the comma of 1,5: the names of rows are counted, or no numbers.
    counted = [str(number) for number in range(1, len(rows) + 1)]
    return usual > 2 or names == counted or not any(map(_NUMBER.match, names))


def _ends_separated(fields: Sequence[list[str]], place: int, usual: int) -> bool:
    """Whether a record names all columns, and each row ends with a separator: what is after it is no column's."""
    rows = _rows_of_one_more(fields, place, usual)
    return bool(rows) and not any(row[-1].strip() for row in rows)


def _rows_of_one_more(fields: Sequence[list[str]], place: int, usual: int) -> Sequence[list[str]]:
    """The rows after a record where all of them have one value more than it, else none."""
    rows = fields[place + 1 :]
    return rows if len(fields[place]) == usual - 1 and all(len(row) == usual for row in rows) else []


def _named(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that differ, as stored ones too, and what was changed about them."""
    names, notes, taken = list[str](), list[str](), {stored_name(name.strip()) for name in header if name.strip()}
    used = set[str]()
    for number, given in enumerate(header, 1):
        name = given.strip() or f"column_{number}"
        count = 1
        while stored_name(name) in used or (name != given.strip() and stored_name(name) in taken):
            count += 1
            name = f"{given.strip() or f'column_{number}'}_{count}"
        used.add(stored_name(name))
        names.append(name)
        if name != given.strip():
            what = f"another column is called {given.strip()}" if given.strip() else f"column {number} has no name"
            notes.append(f"{what}: it is {name}")
    return names, notes
