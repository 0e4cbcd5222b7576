"""How the texts of a column are read: as what they seem to be, where no value loses anything by that.

A type is guessed from the first rows of a source. Later rows are read as what was guessed where it is the same
value there; where it is not, as ``02139`` is no whole number 2139, its row is quarantined, and the reason says how to
declare the column. A column that is declared is read by ``convert`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_column_type
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)
from workbench.streams.convert import NAN_MARKS, NULL_MARKS, convert, without_marks
from workbench.streams.declared_times import (
    FOUND_OUT,
    are_iso,
    declaration,
    how_to_declare,
    is_sure,
    patterns_of,
    read_marks,
    read_times,
    split_form,
    unit_of,
    unit_text,
)
from workbench.streams.number_forms import (
    EXPONENT,
    PLAIN,
    POINTED,
    SURE_DIGITS,
    WHOLE_NUMBER,
    are_amounts,
    form_of,
    lossy_numbers,
    may_be_grouped,
    to_plain,
)

FIRST_VALUES = 3
"""Values that are shown of a column."""
_LONGEST_SHOWN = 24
_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP})
_ZEROS = r"^\s*[+-]?0\d[\d.,]*\s*$"
_PHONE = r"^\s*\+\d{7,}\s*$"
_BARE_EXPONENT = r"^\s*[+-]?\d+[eE]\d+\s*$"
_SHARES = ", which are perhaps shares of 1"
_CODE = (
    r"^\s*(?:(?:[A-Za-z-]*\d[\dA-Za-z-]*[A-Za-z]|[A-Za-z][\dA-Za-z-]*\d)[\dA-Za-z-]*"
    r"|\d+(?:-\d+)+|\d+(?:\.\d+){2,})\s*$"
)
_FRACTION = r"^\s*[+-]?\d+\.\d+\s*$"
_LAST_ZEROS = r"(\.\d+?)0+$"
_OFFSET = r":\d\d(?:\.\d+)? ?(?:UTC|GMT|Z|[+-]\d\d(?::?\d\d)?)\s*$"
_FINER = r"\.\d{6}\d*[1-9]"
_NEARLY_A_DATE = (
    r"^\s*(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}[ /-][A-Za-z]{3,9}[ /-]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}"
    r"|[A-Za-z]{3,9}, \d|[A-Za-z]{3} [A-Za-z]{3} +\d|\d{8}T\d)"
)
_DAY, _TIME = r"[1-9]\d{3}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:\.\d{1,6})?"
_PLAINLY = {
    Kind.INTEGER: (r"^-?(?:0|[1-9]\d{0,17})$", pa.int64()),
    Kind.DOUBLE: (r"^-?(?:0|[1-9]\d*)(?:\.\d+)?$", pa.float64()),
    Kind.BOOLEAN: (r"^(?:true|false)$", pa.bool_()),
    Kind.DATE: (rf"^{_DAY}$", pa.date32()),
    Kind.TIMESTAMP: (rf"^{_DAY}[ T]{_TIME}$", pa.timestamp("us")),
}
"""How most values are written, and the types of Arrow to which it casts such texts."""


@dataclass(frozen=True)
class Guess:
    """How the texts of a column are read.

    Attributes:
        column: its name, as the source spells it.
        type: of its values.
        why: they are read so.
        first: some of its values.
        form: how its numbers are written (``number_forms``), or its times or marks (``declared_times``).
        declared: whether the type is declared, so that all is taken that can be converted to it.
    """

    column: str
    type: DataType
    why: str
    first: tuple[str, ...] = ()
    form: str = PLAIN
    declared: bool = False

    def to_json(self) -> list[object]:
        """The guess as a log stores it."""
        return [self.column, str(self.type), self.why, [*self.first], self.form, self.declared]

    @staticmethod
    def of_json(stored: list[object]) -> Guess:
        """The inverse of ``to_json``."""
        column, type_, why, first, form, declared = stored
        assert isinstance(first, list)
        return Guess(
            str(column), to_column_type(str(type_)), str(why), tuple(map(str, first)), str(form), bool(declared)
        )


def guess_columns(columns: Mapping[str, pa.Array], separator: str = ",", point: str | None = None) -> dict[str, Guess]:
    """How the columns of one source are read.

    Args:
        columns: texts by the columns' names.
        separator: of a line's values; beside semicolons a comma may stand before a fraction.
        point: the sign before the fraction, where it is declared.

    Example:
        >>> columns = {"zip": pa.array(["02139"]), "n": pa.array(["1", "NA"]), "rate": pa.array(["19,47"])}
        >>> for guess in guess_columns(columns).values(): print(guess.column, guess.type, "-", guess.why)
        zip string - zeros at the beginning, as in 02139
        n integer - whole numbers; NA is NULL
        rate double - numbers as 19,47
    """
    guesses = {name: guess(name, values, point) for name, values in columns.items()}
    points = {one.form[0] for one in guesses.values() if one.form}
    plain = [name for name, one in guesses.items() if one.type.kind in _NUMBERS and one.form == PLAIN]
    doubtful = [name for name in plain if point is None and may_be_grouped(_there(columns[name]))]
    has_points = any(_any(_there(columns[name]), POINTED) for name in plain if name not in doubtful)
    if "," in points or (separator == ";" and not has_points):
        for name in doubtful:
            example = _first(_there(columns[name]), r"\.")
            why = f"{example} may be {example.replace('.', '')}, or have a fraction: --decimal says which"
            guesses[name] = Guess(name, STRING, why, guesses[name].first)
    return guesses


def guess(name: str, values: pa.Array, point: str | None = None) -> Guess:
    """How a column is read: as the type that most of its values fit, or as text when more than a few do not.

    A few is 5 in 100, or one of at least four, so that one bad value does not turn a column of amounts into text.

    Args:
        name: of the column.
        values: its texts; NULL and empty text say nothing.
        point: the sign before the fraction, where it is declared.
    """
    text = _there(values)
    first = tuple(str(one)[:_LONGEST_SHOWN] for one in text[:FIRST_VALUES].to_pylist())
    if not len(text):
        return Guess(name, STRING, "no values", first)
    if (dates := _as_dates(name, text, values, first)) is not None:  # 02.03.2026 has a zero at the beginning, too
        return dates
    if why := _code(text):
        return Guess(name, STRING, why, first)
    type_, misfits = _plain_type(text, _candidates(text) if point != "," else (BOOLEAN, DATE, TIMESTAMP))
    there = text.filter(pc.invert(pc.match_substring_regex(text, NAN_MARKS)))
    amounts, others = there.filter(are_amounts(there)), there.filter(pc.invert(are_amounts(there)))
    most = len(amounts) and len(others) <= few(len(text)) and not _any(others, f"{_CODE}|{EXPONENT}")
    if (len(others) < misfits or type_ is STRING) and most and (form := form_of(amounts, point)):
        plain, _ = to_plain(amounts, form)
        in_form, _ = _plain_type(plain, _candidates(plain))
        if in_form.kind in _NUMBERS:
            example = _first(amounts, r"[^\d+-]") or _first(amounts, ".")
            return Guess(name, in_form, f"numbers as {example}{_said_marks(values, in_form)}", first, form)
    if type_ is not STRING:
        return Guess(name, type_, _NAMES[type_.kind] + _said(text, type_.kind) + _said_marks(values, type_), first)
    if (amount := _first(text, r"^\s*\(?\p{Sc}?\s*[\d.,]*,\d{3}\)?\s*$")) and point is None:
        return Guess(name, STRING, f"{amount} may be a number in two ways: --decimal says which", first)
    if (percent := _percent_form(text, point)) is not None:
        example = _first(text, "%")
        number = example.replace("%", "").strip()
        why = f"numbers as {example}{_SHARES}: {declaration(name, 'double')} reads {number}"
        return Guess(name, STRING, why, first, percent)
    why = _with_other_point(amounts, point) if most and point is not None else ""
    return Guess(name, STRING, why or f"texts{how_to_declare(name, text)}", first, ",." if point == "," else PLAIN)


def _with_other_point(amounts: pa.Array, point: str) -> str:
    """That texts are numbers with the other sign before the fraction than was declared; empty where they are not."""
    other = "." if point == "," else ","
    if not form_of(amounts, other):
        return ""
    return f"{_first(amounts, re.escape(other))} has no {point} before its fraction: --decimal {other} reads it"


def _percent_form(text: pa.Array, point: str | None) -> str | None:
    """The form in which all of some texts are numbers before a percent sign."""
    if not pc.all(pc.match_substring_regex(text, r"%\s*$")).as_py():
        return None
    numbers = pc.replace_substring(text, "%", "")
    form = form_of(numbers, point) if pc.all(are_amounts(numbers)).as_py() else None
    return None if form is None else f"{form}%"


def _as_dates(name: str, text: pa.Array, values: pa.Array, first: tuple[str, ...]) -> Guess | None:
    """How texts are read that are dates or times as people write them, or declared where that may be read in two ways.

    ``None``: they are no such texts; the other arguments are those of ``guess``.
    """
    patterns, also = dates_of(text), ""
    if not is_sure(patterns) and (beside := _pattern_of_others(text)):
        patterns, also = beside, " and yyyy-MM-dd"
    if is_sure(patterns):
        type_, form = split_form(patterns[0])
        kind = DATE if type_ == "date" else TIMESTAMP
        in_utc = ", in UTC" if form.endswith("Z") else ""
        return Guess(name, kind, f"{_NAMES[kind.kind]} as {form}{also}{in_utc}{_said_marks(values, kind)}", first, form)
    ways = " or ".join(declaration(name, pattern) for pattern in patterns)
    which = "reads them" if len(patterns) == 1 else "says which they are"
    return Guess(name, STRING, f"texts, of dates: {ways} {which}", first) if patterns else None


def _pattern_of_others(text: pa.Array) -> list[str]:
    """The one pattern of what is not written as SQL writes it, where that is dates, or times, too; else none."""
    is_iso = are_iso(text, Kind.TIMESTAMP)
    some_iso, rest = text.filter(is_iso), text.filter(pc.invert(is_iso))
    patterns = dates_of(rest) if len(some_iso) and len(rest) else []
    if not is_sure(patterns) or patterns[0].endswith("Z"):
        return []
    are_of_kind = are_iso(some_iso, Kind.DATE if patterns[0].startswith("date ") else Kind.TIMESTAMP)
    return patterns if pc.all(are_of_kind).as_py() else []


def dates_of(values: pa.Array) -> list[str]:
    """How texts are declared that are dates or times as people write them; of several ways it is open which."""
    text = _there(values)
    return patterns_of(text, few(len(text))) if _any(text[:1], _NEARLY_A_DATE) else []


_NAMES = {
    Kind.INTEGER: "whole numbers",
    Kind.DECIMAL: "numbers with more digits than a double keeps",
    Kind.DOUBLE: "numbers",
    Kind.BOOLEAN: "true and false",
    Kind.DATE: "dates",
    Kind.TIMESTAMP: "times",
}


def _code(text: pa.Array) -> str:
    """Why the texts are codes that look like numbers; "" where they are not."""
    if zeros := _first(text, _ZEROS):
        return f"zeros at the beginning, as in {zeros}"
    if phone := _first(text, _PHONE):
        return f"a plus at the beginning, as in {phone}"
    if bare := _first(text, _BARE_EXPONENT):
        return f"codes: {bare} is perhaps no number"
    if one := _spelled_twice(text):
        return f"codes: {one} is perhaps not {_short(one)}"
    return ""


def _spelled_twice(text: pa.Array) -> str:
    """A number that is there with more zeros after its fraction and with fewer, as the versions 1.10 and 1.1 are."""
    numbers = pc.unique(pc.utf8_trim_whitespace(_uneven(text)))
    shorter = pc.replace_substring_regex(numbers, _LAST_ZEROS, r"\1")
    longer = pc.and_(pc.not_equal(numbers, shorter), pc.is_in(shorter, numbers))
    return _first(numbers.filter(longer), ".")


def _uneven(text: pa.Array) -> pa.Array:
    """The numbers with fractions, where some have more digits there than others; else none."""
    numbers = text.filter(pc.match_substring_regex(text, _FRACTION))
    digits = pc.min_max(pc.utf8_length(pc.replace_substring_regex(numbers, r"^[^.]*|\s+$", "")))
    return numbers if digits["min"].as_py() != digits["max"].as_py() else numbers[:0]


def _short(number: str) -> str:
    return re.sub(_LAST_ZEROS, r"\1", number)


def _said(text: pa.Array, kind: Kind) -> str:
    """What is not plain of how numbers and times are read, in words."""
    if kind is Kind.DOUBLE and (number := _first(_uneven(text), r"\.\d*[1-9]0+\s*$")):
        return f"; {number} is {_short(number)}"
    offsets = pc.sum(pc.match_substring_regex(text, _OFFSET)).as_py() if kind is Kind.TIMESTAMP else 0
    if offsets:
        return ", in UTC" if offsets == len(text) else ", in UTC; those without an offset are taken as UTC"
    return ""


def _plain_type(text: pa.Array, candidates: tuple[DataType, ...]) -> tuple[DataType, int]:
    """The type that most of the texts fit, and how many do not; STRING where that is more than a few."""
    misfits = {type_: read(text, Guess("", type_, ""))[1] for type_ in candidates}
    count = {type_: 0 if mask is None else int(mask.sum()) for type_, mask in misfits.items()}
    best = min(count, key=lambda type_: count[type_])
    mask = misfits[best]
    if mask is None:
        return best, 0
    is_code = best.kind in _NUMBERS and _any(text.filter(pa.array(mask)), _CODE)
    return (STRING, 0) if is_code or count[best] > few(len(text)) else (best, count[best])


def few(count: int) -> int:
    """How many of some values may be none of their column's type: 5 in 100, or one of at least four."""
    return max(count // 20, int(count >= 4))


def _candidates(text: pa.Array) -> tuple[DataType, ...]:
    """Types in the order in which one is taken of those that as many values fit."""
    others = (BOOLEAN, DATE, TIMESTAMP)
    pointed, lossy = _any(text, POINTED), lossy_numbers(text).any()
    if lossy and _any(text, EXPONENT):
        return others
    whole = () if pointed else (INTEGER,)
    if not lossy:
        return (*whole, *(() if pointed else (decimal(MAX_PRECISION, 0),)), DOUBLE, *others)
    numbers = text.filter(pc.match_substring_regex(text, rf"{WHOLE_NUMBER}|{POINTED}"))
    scale = pc.max(pc.utf8_length(pc.replace_substring_regex(numbers, r"^[^.]*\.?|\s+$", ""))).as_py() or 0
    digits = pc.max(pc.utf8_length(pc.replace_substring_regex(numbers, r"\..*$|[\s+-]", ""))).as_py() or 0
    exact = (decimal(MAX_PRECISION, scale),) if digits + scale <= MAX_PRECISION else ()
    return (*whole, *exact, *others)


def read(values: pa.Array, guess: Guess) -> tuple[pa.Array, Mask | None]:
    """Texts as a guess says, and a mask of those that are not the same value there (``None``: all are).

    Example:
        >>> fitting, misfit = read(pa.array(["7", "02139", "NA", "8.0"]), Guess("zip", INTEGER, ""))
        >>> fitting.to_pylist(), misfit.tolist()
        ([7, None, None, 8], [False, True, False, False])
    """
    kind = guess.type.kind
    if guess.declared:
        return _declared(values, guess)
    if guess.form == PLAIN and (fitting := _read_plain(values, kind)) is not None:
        return fitting, None
    if kind is Kind.STRING:
        return convert(values, guess.type)
    text = without_marks(values, guess.type)
    if kind is Kind.DOUBLE and guess.form != PLAIN:
        text = pc.if_else(pc.match_substring_regex(text, NAN_MARKS), pa.scalar(None, pa.string()), text)
    if kind in _TIMES and guess.form != PLAIN:
        return read_times(text, guess.type, guess.form)
    text, misfit = to_plain(text, guess.form)
    other = _other_values(text, kind)
    text = pc.if_else(pa.array(other), pa.scalar(None, pa.string()), text) if other.any() else text
    if kind is Kind.INTEGER:
        text = pc.replace_substring_regex(text, r"\.0*\s*$", "")
    fitting, misread = convert(text, guess.type)
    masks = [mask for mask in (misfit, other, misread) if mask is not None and mask.any()]
    return fitting, np.logical_or.reduce(masks) if masks else None


def _read_plain(values: pa.Array, kind: Kind) -> pa.Array | None:
    """The values where all are written so that none needs a closer look, as most are; else ``None``."""
    if kind not in _PLAINLY or not pc.all(pc.match_substring_regex(values, _PLAINLY[kind][0])).as_py():
        return None
    try:
        fitting = values.cast(_PLAINLY[kind][1])
    except pa.ArrowInvalid:  # 2005-02-30
        return None
    if kind is Kind.DOUBLE and (pc.max(pc.binary_length(values)).as_py() or 0) > SURE_DIGITS:
        return fitting if pc.all(pc.equal(fitting.cast(pa.string()), values)).as_py() else None
    return fitting


def _declared(values: pa.Array, guess: Guess) -> tuple[pa.Array, Mask | None]:
    if guess.type.kind is Kind.BOOLEAN:
        return read_marks(values, guess.form)
    text = without_marks(values, guess.type)
    if guess.type.kind not in _NUMBERS:
        return read_times(text, guess.type, guess.form)
    text, misfit = to_plain(text, guess.form)
    fitting, misread = convert(text, guess.type)
    masks = [mask for mask in (misfit, misread) if mask is not None]
    return fitting, np.logical_or.reduce(masks) if masks else None


def declared(column: str, type_: DataType, form: str, found: Guess | None) -> Guess | None:
    """How the texts of a column are read that is declared; ``None``: as ``convert`` does.

    Args:
        column: its name.
        type_: that is declared.
        form: of its times or marks that is declared, or ``""``.
        found: what its texts seem to be.
    """
    first = found.first if found is not None else ()
    if form:
        return Guess(column, type_, f"declared, as {form}", first, form, declared=True)
    if found is not None and type_.kind in _NUMBERS and found.form != PLAIN:
        return Guess(column, type_, f"declared; {found.why.split(_SHARES)[0]}", first, found.form, declared=True)
    numbers = found is not None and found.type.kind in _NUMBERS
    if numbers and type_.kind in _TIMES and (unit := unit_of(first)):
        why = f"declared; {unit_text(unit)}, as its values say: {type_} {unit} declares that"
        return Guess(column, type_, why, first, FOUND_OUT + unit, declared=True)
    return None


def _other_values(text: pa.Array, kind: Kind) -> Mask:
    """Which texts would be other values than they say."""
    match kind:
        case Kind.BOOLEAN:
            other = _matches(text, r"^\s*[01]\s*$")
        case Kind.TIMESTAMP:
            other = _matches(text, _FINER)
        case Kind.INTEGER | Kind.DECIMAL | Kind.DOUBLE:
            other = _matches(text, rf"{_ZEROS}|{_PHONE}|{_BARE_EXPONENT}")
        case _:
            return np.zeros(len(text), dtype=np.bool_)
    return other | lossy_numbers(text) if kind is Kind.DOUBLE else other


def _there(values: pa.Array) -> pa.Array:
    """The texts that say something."""
    return values.filter(pc.invert(pc.fill_null(pc.match_substring_regex(values, NULL_MARKS), True)))


def _said_marks(values: pa.Array, type_: DataType) -> str:
    """The texts that were read as NULL, in words."""
    pattern = NULL_MARKS if type_.kind is Kind.DOUBLE else f"{NULL_MARKS}|{NAN_MARKS}"
    marks = values.filter(pc.fill_null(pc.match_substring_regex(values, pattern), False))
    found = ", ".join(sorted({mark.strip() for mark in pc.unique(marks).to_pylist()} - {""}))
    return f"; {found} is NULL" if found else ""


def _matches(text: pa.Array, pattern: str) -> Mask:
    found = pc.fill_null(pc.match_substring_regex(text, pattern), False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _any(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def _first(text: pa.Array, pattern: str) -> str:
    found = text.filter(pc.fill_null(pc.match_substring_regex(text, pattern), False))
    return re.sub(r"\s+", " ", found[0].as_py()).strip()[:_LONGEST_SHOWN] if len(found) else ""
