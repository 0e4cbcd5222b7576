"""Kernels of patterns that say more than whether a text has them: what matches, how often, where; and in any case.

Python's ``re`` finds and captures as Java does, both by trying one way after the other, where a pattern means the same
to both: no group is repeated, and signs that differ are written out. Each different text is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.physical.stored.kernels.conditions import CONDITION_KERNELS
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, constant_text
from workbench.engine.physical.stored.kernels.texts import TEXT_KERNELS
from workbench.engine.physical.stored.kernels.word_boundaries import boundary_in_java, with_word_marks
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.types import BOOLEAN, STRING, Kind

_SIGN = r"""(?:[A-Za-z0-9_\ \-,;:/@\#%&=<>!~"'`|]|\\[dsw]|\\[\ -/:-@\[-^`{-~]|\[[A-Za-z0-9_\ ,;:]+\])"""
"""A sign of ASCII: what may stand behind ``(?<=``. Java looks back by numbers of 16 bits, of which others are two."""
_REGEX = re.compile(
    r"""(?: (?:(?<=[A-Za-z0-9_)\ \-,;:/@\#%&=<>!~"'`])|(?<=\\[\ -/:-@\[-^`{-~]))  # what stands before
            (?:[*+?]|\{\d\d?(?:,\d?\d?)?\})\??                                    # a number of times, also as few
          | \.(?:[*+?]\??)?
          | \[\^?-?(?:[A-Za-z0-9_\ +.,;:@/\#%=<>!~"'$()*?|{}]|&(?!&)|[A-Za-z0-9]-[A-Za-z0-9]
              |\\[dsw]|\\[\ -/:-@\[-^`{-~])+-?\](?:(?:[*+?]|\{\d\d?(?:,\d?\d?)?\})\??)?
          | \((?!\?) | \(\?: | \(\?[=!] | \(\?<=(?=LOOKED_AT\))
          | \(\?<!(?=LOOKED_AT\)SIGN(?![*?{]))
          | \) | \^ | \|
          | \$(?=[|)]|\Z)
          | \\[AzdswDSWb] | \\[\ -/:-@\[-^`{-~]
          | [A-Za-z0-9_\ \-,;:/@#%&=<>!~"'`] | [^\x00-\x7f]
        )*""".replace("LOOKED_AT", f"{_SIGN}+").replace("SIGN", _SIGN),
    re.VERBOSE,
)
"""Regular expressions that mean the same in Java, in RE2 and in Python."""
_LITERAL = re.compile(r"(?:[A-Za-z0-9_ \-,;:/@#%&=<>!~\"'`]|\\[^A-Za-z0-9])+")
"""Patterns that match nothing but one text."""
_FLAGS = re.compile(r"\(\?([is]+)\)")
"""In any case; and a point is the end of a line, too."""
_PART = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.|\((?:\?(?:<?[=!]|:))?|\)(?:[*+?{])?")
"""What tells where groups begin and end, and which are repeated."""
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_BOUNDARY = r"\b"
_SIGNS = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.|[.$]")
"""These signs, and classes of signs, in which a point is one."""
_IN_RE2 = {
    ".": r"[^\n\r\x{85}\x{2028}\x{2029}]",
    "$": r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z",
    r"\s": r"[\t\n\v\f\r ]",
    r"\S": r"[^\t\n\v\f\r ]",
}
_IN_PYTHON = {
    ".": r"[^\n\r\x85\u2028\u2029]",
    "$": r"(?:(?<!\r)(?=\n\Z)|(?=\r\n\Z)|(?=[\r\x85\u2028\u2029]\Z)|\Z)",
    r"\z": r"\Z",
}
"""What these signs are in Java, which knows more ends of lines and blanks; a text ends before its last end of line."""
_REPLACEMENT = re.compile(r"\$(\d)(?!\d)|([^$\\]+)")


def _without_flags(pattern: str) -> tuple[str, str]:
    """A pattern without its flags, and these."""
    flags = _FLAGS.match(pattern)
    return (pattern[flags.end() :], flags[1]) if flags else (pattern, "")


def _is_regex(pattern: str | None) -> bool:
    """Whether Java, RE2 and Python read a regular expression without flags alike, but for signs written out."""
    if pattern is None or not _REGEX.fullmatch(pattern) or re.search(r"\\b[*+?{]", pattern):
        return False
    if not pattern.isascii() and _BOUNDARY in _PART.findall(pattern):
        return False  # a mark of the pattern is told as others are
    try:
        re.compile(pattern.replace(r"\z", r"\Z"))
    except re.error:
        return False
    return True


def _is_read_alike(pattern: str) -> bool:
    """Whether Java and Python also capture the same: of a repeated group they may keep other texts."""
    plain, _ = _without_flags(pattern)
    return _is_searched_alike(pattern) and not any(
        is_repeated and "(" in parts for parts, is_repeated in _groups(plain)
    )


def _is_searched_alike(pattern: str) -> bool:
    """Whether Java and Python find it in the same texts."""
    plain, _ = _without_flags(pattern)
    return _is_regex(plain) and all(_has_plain_looks(parts, is_repeated) for parts, is_repeated in _groups(plain))


def _has_plain_looks(parts: list[str], is_repeated: bool) -> bool:
    """Whether no place is looked for again and again, and what must not be there matches signs alone."""
    looks_for_none = parts[0] in ("(?!", "(?<!")
    return not (is_repeated and {*_LOOKS} & {*parts}) and not (
        looks_for_none and {*parts[1:]} & {"(", *_LOOKS, _BOUNDARY}
    )


def _groups(pattern: str) -> Iterator[tuple[list[str], bool]]:
    """How each group begins, and those in it, with the boundaries of words there; and whether it is repeated."""
    open_groups, inside = list[int](), list[str]()
    for part in _PART.findall(pattern):
        if part[0] == "(":
            open_groups.append(len(inside))
        if part[0] == "(" or part == _BOUNDARY:
            inside.append(part)
        elif part[0] == ")" and open_groups:
            yield inside[open_groups.pop() :], len(part) > 1


def _has_no_width(pattern: str) -> bool:
    """Whether something in a pattern matches a place, and not a sign, as RE2 and empty texts cannot tell."""
    return any(part in _LOOKS or part == _BOUNDARY for part in _PART.findall(pattern))


def _without_places(pattern: str) -> str:
    """A pattern without what matches places."""
    kept, depth, looks_from, begin = list[str](), 0, 0, 0
    for found in _PART.finditer(pattern):
        part = found[0]
        before, begin = pattern[begin : found.start()], found.end()
        if not looks_from:
            kept.append(before)
        depth += part[0] == "("
        if part in _LOOKS and not looks_from:
            looks_from = depth
        elif not looks_from and part != _BOUNDARY:
            kept.append(part)
        if part[0] == ")":
            if looks_from == depth:
                looks_from = 0
            depth -= 1
    return "".join([*kept, pattern[begin:]])


@lru_cache(maxsize=1_024)
def _compiled(pattern: str, beyond_ascii: bool = False) -> re.Pattern[str]:
    """A pattern for Python; where boundaries of words are looked for, for texts of ASCII, or beyond it."""
    plain, flags = _without_flags(pattern)
    of_line = {"."} if "s" in flags else set()
    as_in_java = _IN_PYTHON | ({_BOUNDARY: boundary_in_java()} if beyond_ascii else {})
    written = _SIGNS.sub(lambda sign: sign[0] if sign[0] in of_line else as_in_java.get(sign[0], sign[0]), plain)
    in_any_case = re.IGNORECASE if "i" in flags else re.NOFLAG
    return re.compile(written, re.ASCII | in_any_case | (re.DOTALL if of_line else re.NOFLAG))


@dataclass(frozen=True)
class _Searched:
    """A text in which a pattern is looked for.

    Attributes:
        pattern: it.
        text: the text.
        told: a text of as many signs, which the pattern is for.
    """

    pattern: re.Pattern[str]
    text: str
    told: str

    @property
    def first(self) -> re.Match[str] | None:
        """The first match."""
        return self.pattern.search(self.told)

    @property
    def matches(self) -> Iterator[re.Match[str]]:
        """All matches in the text."""
        return self.pattern.finditer(self.told)

    def part(self, found: re.Match[str], group: int = 0) -> str:
        """The text of a match, or of a group of it; the empty text for a group that matched nothing."""
        begin, end = found.span(group)
        return self.text[max(begin, 0) : max(end, 0)]


def _searched(pattern: str, text: str) -> _Searched:
    if text.isascii() or _BOUNDARY not in _PART.findall(pattern):
        return _Searched(_compiled(pattern), text, text)
    return _Searched(_compiled(pattern, True), text, with_word_marks(text))


def _of_matches(value: Callable[[_Searched, Call], object], type_: pa.DataType, every: bool = False) -> Kernel:
    """A function of a text and a constant pattern.

    Args:
        value: of one text.
        type_: of the values.
        every: whether all matches are used. Java and Python differ in empty ones, so a pattern that may match an empty
            text is left to Spark.
    """

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        pattern, encoded = constant_text(call, 1) or "", arguments[0].dictionary_encode()
        values = [value(_searched(pattern, text), call) for text in encoded.dictionary.to_pylist()]
        return pa.array(values, type_).take(encoded.indices)

    def accepts(call: Call) -> bool:
        pattern = constant_text(call, 1)
        if call.arguments[0].type.kind is not Kind.STRING or pattern is None or not _is_read_alike(pattern):
            return False
        return not every or not _may_be_empty(pattern)

    return Kernel(compute, accepts)


def _may_be_empty(pattern: str) -> bool:
    """Whether a match may have no sign."""
    plain, flags = _without_flags(pattern)
    return _compiled((f"(?{flags})" if flags else "") + _without_places(plain)).search("") is not None


def _rlike(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """By RE2, whose time is linear, or by Python where letters of any case match, which RE2 does beyond ASCII, too.

    The ``$`` of RE2 also matches between a carriage return and its line feed, where Java's does not.
    """
    (texts, _), pattern = arguments, constant_text(call, 1) or ""
    plain, flags = _without_flags(pattern)
    if "i" in flags or _has_no_width(plain):
        return _FOUND.compute(call, arguments)
    written = _SIGNS.sub(lambda sign: sign[0] if sign[0] == "." and "s" in flags else _in_re2(sign), plain)
    found = pc.match_substring_regex(texts, f"(?s){written}" if "s" in flags else written)
    if "$" not in pattern or not pc.any(ends := pc.ends_with(texts, "\r\n")).as_py():
        return found
    unsure = [_compiled(pattern).search(text) is not None for text in texts.filter(ends).to_pylist()]
    return pc.replace_with_mask(found, ends.fill_null(False), pa.array(unsure, pa.bool_()))


def _in_re2(sign: re.Match[str]) -> str:
    """Convert a character, or a class of characters, of a pattern to RE2."""
    return _IN_RE2.get(sign[0]) or (sign[0].replace(r"\s", r"\t\n\v\f\r ") if sign[0][0] == "[" else sign[0])


def _extracted(searched: _Searched, call: Call) -> str:
    found = searched.first
    return searched.part(found, constant_integer(call, 2) or 0) if found else ""


def _every(searched: _Searched, call: Call) -> list[str]:
    return [searched.part(found, constant_integer(call, 2) or 0) for found in searched.matches]


def _first(searched: _Searched, call: Call) -> str | None:
    """NULL also where the match is empty."""
    found = searched.first
    return (searched.part(found) or None) if found else None


def _position(searched: _Searched, call: Call) -> int:
    """From 1 on; 0 where there is none."""
    found = searched.first
    return found.start() + 1 if found else 0


def _between(searched: _Searched, call: Call) -> list[str]:
    """The texts between matches; with a limit of parts, the last part has the rest."""
    most, text = constant_integer(call, 2) or 0, searched.text
    spans = [found.span() for found in islice(searched.matches, most - 1 if most > 0 else None)]
    begins, ends = [0, *(end for _, end in spans)], [*(begin for begin, _ in spans), len(text)]
    return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _split(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """By Arrow where the pattern matches one text alone; by the empty one into signs."""
    pattern, most = constant_text(call, 1) or "", constant_integer(call, 2) or 0
    if not pattern:
        texts = arguments[0].to_pylist()
        return pa.array([None if text is None else _signs(text, most) for text in texts], pa.list_(pa.string()))
    if not _LITERAL.fullmatch(pattern):
        return _SPLIT.compute(call, arguments)
    return pc.split_pattern(arguments[0], re.sub(r"\\(.)", r"\1", pattern), max_splits=most - 1 if most > 0 else None)


def _signs(text: str, most: int) -> list[str]:
    """The signs of a text; with a limit of parts, the last one has the rest."""
    if not text or most <= 0 or most >= len(text):
        return [*text] or [""]
    return [*text[: most - 1], text[most - 1 :]]


def _is_split(call: Call) -> bool:
    """Whether the limit is a constant, which Spark takes as an INT, and the pattern is read alike."""
    most = constant_integer(call, 2, 0)
    pattern = constant_text(call, 1)
    literal = pattern == "" or _LITERAL.fullmatch(pattern or "") is not None
    return most is not None and abs(most) < 1 << 31 and (literal or _SPLIT.accepts(call))


def _count(searched: _Searched, call: Call) -> int:
    return sum(1 for _ in searched.matches)


def _replaced(searched: _Searched, call: Call) -> str:
    parts = [
        (int(part[1]) if part[1] else None, part[2]) for part in _REPLACEMENT.finditer(constant_text(call, 2) or "")
    ]
    written, end = list[str](), 0
    for found in searched.matches:
        written.append(searched.text[end : found.start()])
        written += [own if group is None else searched.part(found, group) for group, own in parts]
        end = found.end()
    return "".join([*written, searched.text[end:]])


def _is_replaced(call: Call) -> bool:
    """Whether the replacement is made of texts and of groups by one digit."""
    text, pattern = constant_text(call, 2), constant_text(call, 1)
    if text is None or pattern is None:
        return False
    groups = _compiled(pattern).groups
    known = all(not part[1] or int(part[1]) <= groups for part in _REPLACEMENT.finditer(text))
    return known and "".join(part[0] for part in _REPLACEMENT.finditer(text)) == text


def _like_in_lower_case(call: Call) -> Call:
    pattern = TEXT_KERNELS["lower"].compute(call, [pa.array([constant_text(call, 1)], pa.string())])[0].as_py()
    return Call("like", (call.arguments[0], Constant(pattern, STRING)), BOOLEAN)


def _ilike(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """ILIKE: compare both sides in lower case, as Spark does."""
    lower = TEXT_KERNELS["lower"].compute(call, [arguments[0]])
    return CONDITION_KERNELS["like"].compute(_like_in_lower_case(call), [lower])


def _concat_ws(separator: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Texts with another between each two of them; NULLs are left out.

    Arrow's own ``null_handling="skip"`` leaves out the rows in which all are NULL.
    """
    between, joined = constant_text(separator, 0) or "", arguments[1]
    for text in arguments[2:]:
        joined = pc.coalesce(pc.binary_join_element_wise(joined, text, between), joined, text)
    return pc.fill_null(joined, "")


_FOUND = _of_matches(lambda searched, call: searched.first is not None, pa.bool_())
_SPLIT = _of_matches(_between, pa.list_(pa.string()), every=True)
_EXTRACTED, _REPLACED = _of_matches(_extracted, pa.string()), _of_matches(_replaced, pa.string(), every=True)
PATTERN_KERNELS = {
    "rlike": Kernel(
        _rlike,
        lambda call: (
            call.arguments[0].type.kind is Kind.STRING
            and (pattern := constant_text(call, 1)) is not None
            and _is_searched_alike(pattern)
        ),
    ),
    "ilike": Kernel(_ilike, lambda call: CONDITION_KERNELS["like"].accepts(_like_in_lower_case(call))),
    "regexp_extract": Kernel(
        _EXTRACTED.compute, lambda call: constant_integer(call, 2) is not None and _EXTRACTED.accepts(call)
    ),
    "regexp_substr": _of_matches(_first, pa.string()),
    "regexp_instr": _of_matches(_position, pa.int64()),
    "regexp_count": _of_matches(_count, pa.int64(), every=True),
    "regexp_replace": Kernel(_REPLACED.compute, lambda call: _REPLACED.accepts(call) and _is_replaced(call)),
    "regexp_extract_all": Kernel(
        _of_matches(_every, pa.list_(pa.string()), every=True).compute,
        lambda call: constant_integer(call, 2) is not None and _REPLACED.accepts(call),
        nested=True,
    ),
    "split": Kernel(_split, _is_split, nested=True),
    "concat_ws": Kernel(
        _concat_ws,
        lambda call: (
            len(call.arguments) > 1
            and constant_text(call, 0) is not None
            and all(argument.type.kind is Kind.STRING for argument in call.arguments)
        ),
    ),
}
"""By the name of the function."""
