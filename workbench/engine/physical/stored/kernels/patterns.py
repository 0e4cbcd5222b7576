"""Kernels of patterns that say more than whether a text has them: what matches, how often, where; and in any case.

Python's ``re`` finds and captures as Java does, both by trying one way after the other, where a pattern means the same
to both: no group is repeated, and signs that differ are written out. Each different text is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.physical.stored.kernels.conditions import CONDITION_KERNELS
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, constant_text
from workbench.engine.physical.stored.kernels.texts import TEXT_KERNELS
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.types import BOOLEAN, STRING, Kind

_REGEX = re.compile(
    r"""(?: (?:(?<=[A-Za-z0-9_)\ \-,;:/@\#%&=<>!~"'`])|(?<=\\[\ -/:-@\[-^`{-~]))  # what stands before
            (?:[*+?]|\{\d\d?(?:,\d?\d?)?\})                                       # a number of times
          | \.[*+?]?
          | \[\^?-?(?:[A-Za-z0-9_\ +.,;:@/\#%=<>!~"'$()*?|{}]|&(?!&)|[A-Za-z0-9]-[A-Za-z0-9]
              |\\[dsw]|\\[\ -/:-@\[-^`{-~])+-?\](?:[*+?]|\{\d\d?(?:,\d?\d?)?\})?
          | \((?!\?) | \(\?: | \) | \^ | \|
          | \$(?=[|)]|\Z)
          | \\[AzdswDSW] | \\[\ -/:-@\[-^`{-~]
          | [A-Za-z0-9_\ \-,;:/@#%&=<>!~"'`] | [^\x00-\x7f]
        )*""",
    re.VERBOSE,
)
"""Regular expressions that mean the same in Java, in RE2 and in Python."""
_LITERAL = re.compile(r"(?:[A-Za-z0-9_ \-,;:/@#%&=<>!~\"'`]|\\[^A-Za-z0-9])+")
"""Patterns that match nothing but one text."""
_FLAGS = re.compile(r"\(\?([is]+)\)")
"""In any case; and a point is the end of a line, too."""
_GROUP = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.|(\()(?!\?)")
_REPEATED_GROUP = re.compile(r"(?<!\\)(?:\\\\)*\)[*+?{]")
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
    if pattern is None or not _REGEX.fullmatch(pattern):
        return False
    try:
        re.compile(pattern.replace(r"\z", r"\Z"))
    except re.error:
        return False
    return True


def _is_read_alike(pattern: str) -> bool:
    """Whether Java and Python also capture the same: of a repeated group they may keep other texts."""
    plain, _ = _without_flags(pattern)
    captures = any(found[1] for found in _GROUP.finditer(plain))
    return _is_regex(plain) and not (captures and _REPEATED_GROUP.search(plain))


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    plain, flags = _without_flags(pattern)
    of_line = {"."} if "s" in flags else set()
    written = _SIGNS.sub(lambda sign: sign[0] if sign[0] in of_line else _IN_PYTHON.get(sign[0], sign[0]), plain)
    in_any_case = re.IGNORECASE if "i" in flags else re.NOFLAG
    return re.compile(written, re.ASCII | in_any_case | (re.DOTALL if of_line else re.NOFLAG))


def _of_matches(
    value: Callable[[re.Pattern[str], str, Call], object], type_: pa.DataType, every: bool = False
) -> Kernel:
    """A function of a text and a constant pattern.

    Args:
        value: of one text.
        type_: of the values.
        every: whether all matches are used. Java and Python differ in empty ones, so a pattern that may match an empty
            text is left to Spark.
    """

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        pattern, encoded = _compiled(constant_text(call, 1) or ""), arguments[0].dictionary_encode()
        values = [value(pattern, text, call) for text in encoded.dictionary.to_pylist()]
        return pa.array(values, type_).take(encoded.indices)

    def accepts(call: Call) -> bool:
        pattern = constant_text(call, 1)
        if call.arguments[0].type.kind is not Kind.STRING or pattern is None or not _is_read_alike(pattern):
            return False
        return not every or _compiled(pattern).search("") is None

    return Kernel(compute, accepts)


def _rlike(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """By RE2, whose time is linear, or by Python where letters of any case match, which RE2 does beyond ASCII, too.

    The ``$`` of RE2 also matches between a carriage return and its line feed, where Java's does not.
    """
    (texts, _), pattern = arguments, constant_text(call, 1) or ""
    plain, flags = _without_flags(pattern)
    if "i" in flags:
        return _SEARCHED.compute(call, arguments)
    written = _SIGNS.sub(lambda sign: sign[0] if sign[0] == "." and "s" in flags else _in_re2(sign), plain)
    found = pc.match_substring_regex(texts, f"(?s){written}" if "s" in flags else written)
    if "$" not in pattern or not pc.any(ends := pc.ends_with(texts, "\r\n")).as_py():
        return found
    unsure = [_compiled(pattern).search(text) is not None for text in texts.filter(ends).to_pylist()]
    return pc.replace_with_mask(found, ends.fill_null(False), pa.array(unsure, pa.bool_()))


def _in_re2(sign: re.Match[str]) -> str:
    """A sign, or a class of signs, as RE2 has it."""
    return _IN_RE2.get(sign[0]) or (sign[0].replace(r"\s", r"\t\n\v\f\r ") if sign[0][0] == "[" else sign[0])


def _extracted(pattern: re.Pattern[str], text: str, call: Call) -> str:
    found = pattern.search(text)
    return (found[constant_integer(call, 2) or 0] or "") if found else ""


def _every(pattern: re.Pattern[str], text: str, call: Call) -> list[str]:
    return [found[constant_integer(call, 2) or 0] or "" for found in pattern.finditer(text)]


def _first(pattern: re.Pattern[str], text: str, call: Call) -> str | None:
    """NULL also where the match is empty."""
    found = pattern.search(text)
    return (found[0] or None) if found else None


def _position(pattern: re.Pattern[str], text: str, call: Call) -> int:
    """From 1 on; 0 where there is none."""
    found = pattern.search(text)
    return found.start() + 1 if found else 0


def _between(pattern: re.Pattern[str], text: str, call: Call) -> list[str]:
    """What stands between matches; with a limit of parts, the last one has the rest."""
    most = constant_integer(call, 2) or 0
    spans = [found.span() for found in islice(pattern.finditer(text), most - 1 if most > 0 else None)]
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


def _count(pattern: re.Pattern[str], text: str, call: Call) -> int:
    return sum(1 for _ in pattern.finditer(text))


def _replaced(pattern: re.Pattern[str], text: str, call: Call) -> str:
    parts = [
        (int(part[1]) if part[1] else None, part[2]) for part in _REPLACEMENT.finditer(constant_text(call, 2) or "")
    ]
    return pattern.sub(lambda m: "".join(own if group is None else m[group] or "" for group, own in parts), text)


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
    """LIKE of both sides in lower case, as Spark has it."""
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


_SEARCHED = _of_matches(lambda pattern, text, call: pattern.search(text) is not None, pa.bool_())
_SPLIT = _of_matches(_between, pa.list_(pa.string()), every=True)
_EXTRACTED, _REPLACED = _of_matches(_extracted, pa.string()), _of_matches(_replaced, pa.string(), every=True)
PATTERN_KERNELS = {
    "rlike": Kernel(
        _rlike,
        lambda call: (
            call.arguments[0].type.kind is Kind.STRING
            and (pattern := constant_text(call, 1)) is not None
            and (_is_regex(_without_flags(pattern)[0]) or _SEARCHED.accepts(call))
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
