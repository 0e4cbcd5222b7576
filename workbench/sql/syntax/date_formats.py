"""Formats of dates and times: the elements of all dialects in one table, each with its Java pattern.

Expressions carry Java patterns, as Spark has them. The other dialects have families of elements: those of
``strftime`` in duckdb, and fewer in bigquery, those of MySQL in presto and trino, and format models in oracle and
postgres. What has no row here is refused by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.dialect import Dialect, Formats

_TABLE = """
yyyy       %Y    %Y    %Y    YYYY     reads
yy         %y    %y    %y    YY
MM         %m    %m    %m    MM       reads
M          %-m   -     %c    FMMM     reads
MMM        %b    %b    %b    Mon      named
MMM        %h    %h    -     FMMon
MMMM       %B    %B    %M    FMMonth  named
MMM^       -     -     -     MON
MMM_       -     -     -     mon
MMMM^      -     -     -     FMMONTH
MMMM_      -     -     -     FMmonth
MMMM9      -     -     -     Month
MMMM^9     -     -     -     MONTH
MMMM_9     -     -     -     month
dd         %d    %d    %d    DD       reads
d          %-d   -     %e    FMDD     reads
DDD        %j    %j    %j    DDD
D          %-j   -     -     FMDDD
MMM        -     -     -     MON      named
MMM        -     -     -     mon      named
MMMM       -     -     -     Month    named
MMMM       -     -     -     MONTH    named
MMMM       -     -     -     month    named
EEE        %a    %a    %a    Dy
EEE^       -     -     -     DY
EEE_       -     -     -     dy
EEEE       %A    %A    %W    FMDay
EEEE^      -     -     -     FMDAY
EEEE_      -     -     -     FMday
EEEE9      -     -     -     Day
EEEE^9     -     -     -     DAY
EEEE_9     -     -     -     day
HH         %H    %H    %H    HH24     reads
H          %-H   -     %k    FMHH24   reads
hh         %I    %I    %h    HH12     reads
hh         -     -     %I    HH       reads
h          %-I   -     %l    FMHH12   reads
mm         %M    %M    %i    MI       reads
m          %-M   -     -     FMMI     reads
ss         %S    %S    %s    SS       reads
ss         -     -     %S    -        reads
s          %-S   -     -     FMSS     reads
SSS        %g    -     -     MS
SSS        -     -     -     FF3
SSSSSS     %f    -     %f    US       reads
SSSSSS     -     -     -     FF6
Z          %z    -     -     -        only
a          %p    %p    %p    AM       reads
a          -     -     -     PM       reads
Q          -     -     -     Q
"""
"""Java's letters, with ``^`` in capitals, ``_`` in small letters and ``9`` padded to nine characters; the elements of
the families; and whether a text is read by it, too, by all or where names were compared, or only read."""
_WHOLE = {"%T": "%H:%M:%S", "%X": "%H:%M:%S", "%x": "%Y-%m-%d", "%c": "%Y-%m-%d %H:%M:%S"}
"""Elements of duckdb that stand for several."""
_NUMERIC = re.compile("YYYY|YY|MM|DDD|DD|HH24|HH12|HH|MI|SS|MS|US|FF3|FF6|AM|PM|Q", re.IGNORECASE)
"""Elements of models whose case means nothing."""
_WORDS = f"{_NUMERIC.pattern}|MONTH|MON|DAY|DY"
_ANY_CASE = re.IGNORECASE | re.DOTALL
_RESERVED = "{}[]#"
"""Characters with a meaning of their own in Java."""
_JAVA = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)
_LONGEST: Mapping[str, int] = {
    **dict.fromkeys("GMLEqQzO", 4), "y": 6, "D": 3, "S": 9, "X": 5, "x": 5, "Z": 5, "V": 2,
    **dict.fromkeys("dhHkKms", 2), "F": 1, "a": 1,
}  # fmt: skip
"""How often Spark lets each letter stand."""
_ZONES = "VzOXxZ"
_ONLY_WRITTEN = "EFqQ"


@dataclass(frozen=True)
class WrittenPart:
    """A part of what is written: a Java pattern, and what its text becomes.

    Attributes:
        pattern: the pattern.
        case: ``"upper"``, ``"lower"`` or nothing.
        width: to which it is padded with blanks; 0 for as long as it is.
    """

    pattern: str
    case: str = ""
    width: int = 0


def names_zone(pattern: str) -> bool:
    """Whether a Java pattern has an element for a zone.

    Example:
        >>> names_zone("HH:mm XXX"), names_zone("'X' HH")
        (True, False)
    """
    return any(part[0] in _ZONES for part in _java_parts(pattern))


def by_iso_weeks(format_: str) -> list[str]:
    """The parts of a format model between IYYY, IW and ID, and these.

    Example:
        >>> by_iso_weeks('IYYY-"W"IW')
        ['', 'IYYY', '-"W"', 'IW', '']
    """
    parts = [""]
    for word in re.findall(rf'"[^"]*"|IYYY(?!TH)|IDDD|IW(?!TH)|ID(?!TH)|{_WORDS}|.', format_, _ANY_CASE):
        if word.upper() in ("IYYY", "IW", "ID") and not parts[-1].upper().endswith("FM"):
            parts += [word, ""]
        else:
            parts[-1] += word
    return parts


def to_write(format_: str, rules: Dialect) -> list[WrittenPart]:
    """The pieces of the text that a format writes.

    Raises:
        ValueError: it has an element that is not in the table, as the text names it.

    Example:
        >>> from workbench.sql.dialects import DIALECTS
        >>> to_write("FMDay, DD.MM.YYYY", DIALECTS["postgres"])
        [WrittenPart(pattern='EEEE, dd.MM.yyyy', case='', width=0)]
    """
    if rules.formats is Formats.JAVA:
        _checked(format_, reading=False)
        return [WrittenPart(format_)]
    pieces = [WrittenPart("")]
    for java in _elements(format_, rules, _java_of(rules, reading=False)):
        letters = java.rstrip("^_9") if java[0].isalpha() else java
        case = "upper" if "^" in java[len(letters) :] else "lower" if "_" in java[len(letters) :] else ""
        if letters == java and not (pieces[-1].case or pieces[-1].width):
            pieces[-1] = WrittenPart(pieces[-1].pattern + java)
        else:
            pieces.append(WrittenPart(letters, case, 9 if java.endswith("9") and letters != java else 0))
    return [piece for piece in pieces if piece.pattern] or pieces


def to_read(format_: str, rules: Dialect) -> str:
    """The Java pattern by which a format reads a text.

    Raises:
        ValueError: it has an element by which no text is read, as the text names it.

    Example:
        >>> from workbench.sql.dialects import DIALECTS
        >>> to_read("YYYY-MM-DD HH24:MI", DIALECTS["oracle"])
        'yyyy-MM-dd HH:mm'
    """
    if rules.formats is Formats.JAVA:
        _checked(format_, reading=True)
        return format_
    return "".join(parts_to_read(format_, rules))


def parts_to_read(format_: str, rules: Dialect) -> list[str]:
    """The parts of a Java pattern by which a format of another dialect reads a text, one for each of its elements.

    Raises:
        ValueError: as of ``to_read``.

    Example:
        >>> from workbench.sql.dialects import DIALECTS
        >>> parts_to_read("%b%m at %Y", DIALECTS["duckdb"])
        ['MMM', 'MM', "' at '", 'yyyy']
    """
    return list(_elements(format_, rules, _java_of(rules, reading=True)))


def _java_parts(pattern: str) -> Iterator[str]:
    return (match[0] for match in _JAVA.finditer(pattern))


def _checked(pattern: str, reading: bool) -> None:
    """Refuse what Spark raises for in a Java pattern."""
    depth = 0
    guarded = not reading or pattern_of(pattern).readers is not None
    for part in _java_parts(pattern):
        letter, count = part[0], len(part)
        if part == "'":
            raise ValueError(f"a quote that is not closed in the date format {pattern}")
        depth += (part == "[") - (part == "]")
        if part in ("{", "}", "#") or depth < 0:
            raise ValueError(f"the character {part} in the date format {pattern}")
        if not (letter.isascii() and letter.isalpha()):
            continue
        known = count <= _LONGEST.get(letter, 0) and part != "V"
        if reading:
            # Seconds of offsets, and years of any number of digits, could not be told from years that Spark raises for.
            known &= letter not in _ONLY_WRITTEN and not (letter in "XxZ" and count > 3) and part != "yyyyyy"
            known &= guarded or part not in ("y", "yyy")
        if not known:
            raise ValueError(f"the element {part} of the date format {pattern}")
    if depth:
        raise ValueError(f"the character [ in the date format {pattern}")


def _rows() -> Iterable[tuple[str, Sequence[str], Sequence[str]]]:
    for line in _TABLE.split("\n")[1:-1]:
        java, *families = line.split()
        yield java, families[:4], families[4:]


_ROWS = list(_rows())


def _java_of(rules: Dialect, reading: bool) -> dict[str, str]:
    family = (Formats.DUCKDB, Formats.STRFTIME, Formats.MYSQL, Formats.MODEL).index(rules.formats)
    readers = {"reads", "only", "named"} if rules.names_in_formats else {"reads", "only"}
    of_next = rules.quotes_in_formats  # FM is of the next element in postgres, and in oracle of all that follow
    return {
        families[family]: java
        for java, families, read_by in reversed(_ROWS)
        if (not readers.isdisjoint(read_by) if reading else "only" not in read_by)
        and (of_next or not families[family].startswith("FM"))
    }


def _elements(format_: str, rules: Dialect, java_of: Mapping[str, str]) -> Iterator[str]:
    """Each element of a format as a Java pattern, and the texts between them."""
    is_model = rules.formats is Formats.MODEL
    words = sorted(java_of, key=len, reverse=True)
    if is_model:
        if found := re.search(r"SSSS|\\", format_, re.IGNORECASE):
            raise ValueError(f"the element {found[0]} of the date format {format_}")
        known = "|".join(f"{re.escape(word)}(?!TH|th)" for word in words)
        parts = re.findall(rf'"[^"]*"|{known}|(?i:{_NUMERIC.pattern})(?!TH|th)|[A-Za-z]+\d*|.', format_, re.DOTALL)
    else:
        parts = re.findall(r"%-?.|.", format_, re.DOTALL)
        if rules.formats is Formats.DUCKDB:
            parts = [
                part for word in parts for part in (re.findall("%.|.", _WHOLE[word]) if word in _WHOLE else [word])
            ]
    text = ""
    for part in [*parts, ""]:
        name = part.upper() if is_model and part not in java_of and _NUMERIC.fullmatch(part) else part
        is_text = part == "%%" or part.startswith('"') or not (part[:1].isalpha() if is_model else part[:1] == "%")
        if part and is_text:
            if is_model and part.startswith('"') and not rules.quotes_in_formats:
                raise ValueError(f"quoted text in the date format {format_}")
            text += part[:1] if part == "%%" else part.strip('"') if is_model else part
            continue
        if text:
            yield _quoted(text)
            text = ""
        # Java has one case of AM and PM.
        if part and (name not in java_of or (is_model and java_of[name] == "a" and part != part.upper())):
            raise ValueError(f"the element {part} of the date format {format_}")
        if part:
            yield java_of[name]


def _quoted(text: str) -> str:
    """A text in a Java pattern."""
    if not text or re.fullmatch(rf"[^A-Za-z'{re.escape(_RESERVED)}]+", text):
        return text
    return "'" + text.replace("'", "''") + "'"
