"""Regular expressions of DuckDB in calls, of constant patterns. Its engine is RE2, and so is Arrow's: they match alike.

REGEXP_MATCHES   SIMILAR TO   REGEXP_EXTRACT   REGEXP_EXTRACT_ALL   REGEXP_REPLACE   STRING_SPLIT_REGEX   GLOB

What RE2 would ask of the text before a match, such as ``^`` and ``\\b``, is refused where Arrow looks for several
matches one behind the other, since it gives RE2 the rest of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, DataType, array_of, struct_of
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Function, function
from workbench.sql.functions.reading import PATTERN_HINT, ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_TEXTS = array_of(STRING)
_GROUP = "argus"
_MOST_GROUPS = 9
_PART = re.compile(
    r"(?P<quoted>\\Q.*?(?:\\E|\Z))|\\(?P<escape>.)|(?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])"
    r"|(?P<group>\((?!\?)|\(\?P?<\w+>)|(?P<sign>.)",
    re.DOTALL,
)
"""A part of a pattern: a text as it stands, an escaped sign, a set of characters, a group that begins, another sign."""
_MAY_LACK = re.compile(r"\||\)[?*{]")
"""Alternatives, or a group that may be left out."""
_PART_OF_GLOB = re.compile(r"\[(?P<others>!?)(?P<set>[A-Za-z0-9 _.-]+)\]|(?P<sign>.)", re.DOTALL)
"""A set of characters, ``[a-c]`` or ``[!a-c]``, or another sign."""
_REWRITTEN = re.compile(r"\\(?P<escape>.?)", re.DOTALL)
_FLAGS = {"c": "(?-i)", "i": "(?i)", "m": "(?-s)", "n": "(?-s)", "p": "(?-s)", "s": "(?s)"}


def _is_asking(part: re.Match[str]) -> bool:
    """Whether a part of a pattern tests the text before or after it."""
    return part["sign"] in ("^", "$") or part["escape"] in ("A", "z", "b", "B")


def _groups(pattern: str) -> int:
    return sum(part["group"] is not None for part in _PART.finditer(pattern))


def _with_one_group(pattern: str, number: int) -> str:
    """The pattern with one group, which has a name; 0 is all of it."""
    seen, written = 0, ""
    for part in _PART.finditer(pattern):
        seen += part["group"] is not None
        opening = f"(?P<{_GROUP}>" if seen == number else "(?:"
        written += part[0] if part["group"] is None else opening
    return f"(?P<{_GROUP}>{written})" if number == 0 else written


def _of_pattern(values: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Values of texts, and of further arguments that are the same in all rows, the pattern the first of them."""

    def compute(texts: pa.Array, *constants: pa.Array) -> pa.Array:
        return values(texts, *(constant[0].as_py() for constant in constants)) if len(texts) else pa.nulls(0)

    return compute


def _has_match(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(texts, pattern)


def _part(texts: pa.Array, pattern: str, group: int) -> pa.Array:
    """The group of the first match; an empty text without one."""
    if group > _groups(pattern):
        return pc.if_else(pc.is_valid(texts), "", texts)
    found = pc.struct_field(pc.extract_regex(texts, _with_one_group(pattern, group)), _GROUP)
    return pc.if_else(pc.is_valid(texts), pc.fill_null(found, ""), texts)


def _parts(texts: pa.Array, pattern: str, group: int) -> pa.Array:
    """The group of every match."""
    lists: dict[int, list[str]] = {row: [] for row, text in enumerate(texts.to_pylist()) if text is not None}
    whole, chosen = (_with_one_group(pattern, number) for number in (0, group))
    left = [(row, text.encode()) for row, text in enumerate(texts.to_pylist()) if text is not None]
    while left:
        rest = pa.array([text for _, text in left], pa.binary()).cast(pa.string())
        ends = pc.struct_field(pc.extract_regex_span(rest, whole), _GROUP).to_pylist()
        parts = pc.struct_field(pc.extract_regex(rest, chosen), _GROUP).to_pylist()
        after = []
        for (row, text), span, part in zip(left, ends, parts, strict=True):
            if span is not None:
                lists[row].append(part or "")
                after.append((row, text[span[0] + span[1] :]))
        left = after
    return pa.array([lists.get(row) for row in range(len(texts))], pa.list_(pa.string()))


def _replaced(texts: pa.Array, pattern: str, by: str, most: int) -> pa.Array:
    return pc.replace_substring_regex(texts, pattern, by, max_replacements=None if most < 0 else most)


def _split(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.split_pattern_regex(texts, pattern)


def _is_like_glob(texts: pa.Array, pattern: str) -> pa.Array:
    """Compares bytes, as DuckDB does: ``?`` and a set are one byte, so é is ``??``."""
    written = "".join(map(_of_glob, _PART_OF_GLOB.finditer(pattern)))
    return pc.match_substring_regex(texts.cast(pa.binary()), rf"(?s)\A{written}\z")


def _of_glob(part: re.Match[str]) -> str:
    """The regular expression of a part of a GLOB pattern, by bytes."""
    if part["set"]:
        ranges = ((low or one, high or one) for low, high, one in re.findall("(.)-(.)|(.)", part["set"]))
        known = {byte for low, high in ranges for byte in range(ord(low), ord(high) + 1)}
        return _one_of({*range(256)} - known if part["others"] else known)
    signs = {"*": ".*", "?": "."}
    return signs.get(part["sign"]) or "".join(_one_of({byte}) for byte in part["sign"].encode())


def _one_of(values: set[int]) -> str:
    signs = "".join(rf"\x{value:02x}" for value in sorted(values))
    return f"[{signs}]" if signs else r"[^\x00-\xff]"


def _constant(b: ExpressionBinder, node: exp.Expr, what: str) -> str | None:
    value = b.bind(node)
    if is_null(value):
        return None
    if not (isinstance(value, Constant) and isinstance(value.value, str)):
        b.source.refuse(f"{what} that is not a constant text", node, "LIKE and CONTAINS find texts of columns")
    return value.value


def _pattern(b: ExpressionBinder, node: exp.Expr, options: exp.Expr | None = None, known: str = "") -> str | None:
    """The pattern with its options; ``None`` of NULL.

    Raises:
        SqlError: it is no pattern, or there is no such option.
    """
    pattern = _constant(b, node, "a regular expression")
    if pattern is None:
        return None
    given = (_constant(b, options, "an option") or "?") if options is not None else ""
    if "l" in given:
        pattern = re.sub(r"[^A-Za-z0-9_\x80-\U0010ffff]", lambda sign: "\\" + sign[0], pattern)
    for option in given:
        if option in _FLAGS:
            pattern = _FLAGS[option] + pattern
        elif option not in known + "l":
            raise b.source.error(f"a regular expression has no option {option}", options, "i is for either case")
    try:
        _has_match(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        reason = str(error).partition(": ")[2] or str(error)
        raise b.source.error(f"not a regular expression: {reason}", node, PATTERN_HINT) from None
    return pattern


def _pattern_of_several(b: ExpressionBinder, node: exp.Expr, options: exp.Expr | None = None) -> str | None:
    """A pattern of which matches follow each other."""
    pattern = _pattern(b, node, options)
    if pattern is not None and (any(map(_is_asking, _PART.finditer(pattern))) or _is_empty(pattern)):
        what = "a pattern of ends, of borders of words, or of nothing, where there are several matches"
        b.source.refuse(what, node, "REGEXP_EXTRACT gives one match")
    return pattern


def _is_empty(pattern: str) -> bool:
    return bool(_has_match(pa.array([""]), rf"\A(?:{pattern})\z")[0].as_py())


def _text(value: str) -> Constant:
    return Constant(value, STRING)


def _called(name: str, pattern: str | None, type_: DataType, text: Expression, *more: Constant) -> Expression:
    return Constant(None, type_) if pattern is None else call(name, text, _text(pattern), *more)


@reads(exp.RegexpLike, parts="this expression flag", dialects=ONLY_DUCKDB)
def matches(b: ExpressionBinder, node: exp.RegexpLike) -> Expression:
    """REGEXP_MATCHES(s, p[, options]) and ``s ~ p``: a part of the text is a match."""
    pattern = _pattern(b, node.expression, node.args.get("flag"))
    return _called("re2_found", pattern, BOOLEAN, b.bind(node.this))


@reads(exp.SimilarTo, exp.RegexpFullMatch, parts="this expression options", dialects=ONLY_DUCKDB)
def whole(b: ExpressionBinder, node: exp.SimilarTo | exp.RegexpFullMatch) -> Expression:
    """REGEXP_FULL_MATCH(s, p[, options]) and SIMILAR TO, which DuckDB has of the same patterns."""
    pattern = _pattern(b, node.expression, node.args.get("options"))
    whole_text = None if pattern is None else rf"\A(?:{pattern})\z"
    return _called("re2_found", whole_text, BOOLEAN, b.bind(node.this))


@reads(exp.RegexpExtract, parts="this expression group parameters null_if_pos_overflow", dialects=ONLY_DUCKDB)
def extracted(b: ExpressionBinder, node: exp.RegexpExtract) -> Expression:
    """REGEXP_EXTRACT(s, p[, group][, options]): a group of the first match, or a struct of several that have names."""
    text, pattern = b.bind(node.this), _pattern(b, node.expression, node.args.get("parameters"))
    names = node.args.get("group")
    if not isinstance(names, exp.Array):
        return _called("re2_part", pattern, STRING, text, _number(_group(b, names)))
    if pattern is None or len(names.expressions) > _groups(pattern):
        raise b.source.error("there are more names than groups", names, "each ( of the pattern begins a group")
    fields = [_constant(b, name, "a name") or "" for name in names.expressions]
    parts = tuple(call("re2_part", text, _text(pattern), _number(number)) for number in range(1, len(fields) + 1))
    return Call("struct", parts, struct_of([(name, STRING) for name in fields]))


@reads(exp.RegexpExtractAll, parts="this expression group parameters", dialects=ONLY_DUCKDB)
def all_extracted(b: ExpressionBinder, node: exp.RegexpExtractAll) -> Expression:
    """REGEXP_EXTRACT_ALL(s, p[, group][, options]): a group of every match."""
    pattern = _pattern_of_several(b, node.expression, node.args.get("parameters"))
    group = _group(b, node.args.get("group"))
    if pattern is not None and group > _groups(pattern):
        what = f"group {group} of a pattern that has {_groups(pattern)}"
        b.source.refuse(what, node, "0 is the whole match, 1 the first group")
    if pattern is not None and group and _MAY_LACK.search(pattern):
        b.source.refuse("a group that may be in no match", node, "Arrow does not tell it from an empty one")
    return _called("re2_parts", pattern, _TEXTS, b.bind(node.this), _number(group))


def _number(value: int) -> Constant:
    return Constant(value, INTEGER)


def _group(b: ExpressionBinder, node: exp.Expr | None) -> int:
    if node is None:
        return 0
    value = b.bind(node)
    if not isinstance(value, Constant) or not isinstance(value.value, int) or not 0 <= value.value <= _MOST_GROUPS:
        b.source.refuse("this group", node, f"a constant number from 0, the whole match, to {_MOST_GROUPS}")
    return value.value


@reads(exp.RegexpReplace, parts="this expression replacement modifiers single_replace", dialects=ONLY_DUCKDB)
def replaced(b: ExpressionBinder, node: exp.RegexpReplace) -> Expression:
    r"""REGEXP_REPLACE(s, p, r[, options]): the first match, with option g all; ``\1`` is the first group."""
    options = node.args.get("modifiers")
    pattern = _pattern(b, node.expression, options, known="g")
    by = _constant(b, node.args["replacement"], "a replacement")
    if pattern is None or by is None:
        return Constant(None, STRING)
    known = {"\\", *map(str, range(_groups(pattern) + 1))}
    for escaped in _REWRITTEN.finditer(by):
        if escaped["escape"] not in known:
            hint = rf"\1 is the first group, of which the pattern has {_groups(pattern)}, and \\ a backslash"
            raise b.source.error(f"{escaped[0]} in a replacement", node.args["replacement"], hint)
    every = options is not None and "g" in options.name
    if not every and any(part["escape"] in ("b", "B") for part in _PART.finditer(pattern)):
        hint = "Arrow replaces one match without the text around it; option 'g' replaces all"
        b.source.refuse("a border of a word where one match is replaced", node.expression, hint)
    return call("re2_replaced", b.bind(node.this), _text(pattern), _text(by), _number(-1 if every else 1))


@reads(exp.RegexpSplit, parts="this expression", dialects=ONLY_DUCKDB)
def split(b: ExpressionBinder, node: exp.RegexpSplit) -> Expression:
    """STRING_SPLIT_REGEX(s, p)."""
    return _split_by(b, b.bind(node.this), node.expression)


@reads_call("regexp_split_to_array", dialects=ONLY_DUCKDB)
def split_by_name(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """REGEXP_SPLIT_TO_ARRAY(s, p[, options])."""
    if not 2 <= len(node.expressions) <= 3:
        raise b.source.error(f"REGEXP_SPLIT_TO_ARRAY takes 2 to 3 arguments, not {len(node.expressions)}", node)
    text, pattern, *options = node.expressions
    return _split_by(b, b.bind(text), pattern, *options)


def _split_by(b: ExpressionBinder, text: Expression, pattern: exp.Expr, *options: exp.Expr) -> Expression:
    """The parts of a text between matches; NULL matches nothing."""
    if isinstance(pattern, exp.Null):
        return call("case", call("is_null", text), Constant(None, _TEXTS), call("array", text))
    return _called("re2_split", _pattern_of_several(b, pattern, *options), _TEXTS, text)


@reads(exp.Glob, parts="this expression", dialects=ONLY_DUCKDB)
def glob(b: ExpressionBinder, node: exp.Glob) -> Expression:
    """``s GLOB 'a*'``: ``*`` is any text, ``?`` any byte, ``[a-c]`` one of some."""
    pattern = _constant(b, node.expression, "a pattern")
    for part in _PART_OF_GLOB.finditer(pattern or ""):
        if part["sign"] in ("[", "]", "\\") or (part["set"] or "").endswith("-"):
            b.source.refuse(f"{part[0]} in such a pattern", node.expression, "REGEXP_FULL_MATCH has all patterns")
    return _called("glob", pattern, BOOLEAN, b.bind(node.this))


def _declared(signature: str, values: Callable[..., pa.Array]) -> Function:
    return function(signature, python=_of_pattern(values), vectorized=True, costly=True)


DECLARED = [
    _declared("glob(string, string): boolean", _is_like_glob),
    _declared("re2_found(string, string): boolean", _has_match),
    _declared("re2_part(string, string, integer): string", _part),
    _declared("re2_parts(string, string, integer): array<string>", _parts),
    _declared("re2_replaced(string, string, string, integer): string", _replaced),
    _declared("re2_split(string, string): array<string>", _split),
]
