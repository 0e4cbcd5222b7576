"""Functions of texts and bytes, and what LIKE and regular expressions find."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BINARY, BOOLEAN, INTEGER, STRING, Kind
from workbench.sql.functions import jsonb_of_postgres
from workbench.sql.functions.arrays import postgres
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import COMPARED, EVERYWHERE, Render, each, function, of_nodes, typed
from workbench.sql.functions.matches import part_by_pattern
from workbench.sql.functions.reading import PATTERN_HINT, ExpressionBinder, reads, reads_name, text_in_spark
from workbench.sql.functions.results import as_text
from workbench.sql.functions.size_limits import MOST_SIZES
from workbench.sql.functions.texts_of_postgres import part_between
from workbench.sql.syntax.dialects import DATABASES, ONLY_DUCKDB, ONLY_POSTGRES, SPARK_FAMILY

_REGULAR: dict[type[exp.Expr], str] = {
    exp.RegexpExtract: "regexp_extract", exp.RegexpReplace: "regexp_replace", exp.RegexpCount: "regexp_count",
    exp.RegexpSubstr: "regexp_substr", exp.RegexpInstr: "regexp_instr", exp.RegexpExtractAll: "regexp_extract_all",
}  # fmt: skip
_NULL, _ONE = Constant(None, STRING), Constant(1, INTEGER)

_BLANKS = "".join(chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Zs")
"""The blanks of Unicode."""
_MOST = MOST_SIZES["repeat"]
"""Characters of a text that ``repeat`` or ``space`` makes."""


def _with_int_arguments(name: str) -> Render:
    """Functions whose positions and lengths are int in Spark."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        pairs = zip(expression.arguments, arguments, strict=True)
        return f"{name}({', '.join(f'try_cast({a} as int)' if e.type.kind is Kind.INTEGER else a for e, a in pairs)})"

    return render


def _choice(expression: Call, arguments: Sequence[str]) -> str:
    """ELT: the n-th of its texts; Spark raises where there is none."""
    number, *texts = arguments
    return "(case " + " ".join(f"when {number} = {i} then {text}" for i, text in enumerate(texts, start=1)) + " end)"


def _mask(expression: Call, arguments: Sequence[str]) -> str:
    """MASK, whose characters are constants of one letter, or NULL for those that stay."""
    given = [a if not (isinstance(e, Constant) and e.value is None) else "null"
             for e, a in zip(expression.arguments, arguments, strict=True)]  # fmt: skip
    return f"mask({', '.join(given)})"


def _trim(side: str) -> Render:
    """TRIM of blanks or of a set of characters."""
    return lambda call, arguments: f"trim({' '.join([side, *arguments[1:], 'from', arguments[0]])})"


@reads(exp.Length)
def length(b: ExpressionBinder, node: exp.Length) -> Expression:
    """LENGTH of a text or of bytes; and of an array where the dialect has it."""
    value = text_in_spark(b, b.bind(node.this))
    if value.type == BINARY:
        return call("length_of_bytes", value)
    return call("array_size" if b.rules.length_of_arrays and value.type.kind is Kind.ARRAY else "length", value)


@reads(exp.Substring, parts="this start length")
def substring(b: ExpressionBinder, node: exp.Substring) -> Expression:
    """SUBSTR, where position 0 means 1."""
    if b.rules.substring_by_pattern:
        part = part_by_pattern(b, node)
        if part is not None:
            return part
        if node.args.get("start") is None:
            raise b.source.error("substr takes 2 to 3 arguments, not 1", node, "write substr(str, pos[, len])")
        return part_between(*b.parts(node, "this", "start", "length"))
    parts = b.parts(node, "this", "start", "length")
    parts[0] = text_in_spark(b, parts[0])
    if len(parts) > 1 and parts[1] == Constant(0, INTEGER) and b.rules.substring_from_zero:
        parts[1] = _ONE
    result = call("substr", *parts)
    if not b.rules.empty_text_is_null:
        return result
    start, *length = parts[1:]
    if start == _ONE and all(_is_positive(n) for n in length):
        return result
    if not _is_positive(start):
        # Before the first character there is nothing in Oracle, where Spark begins with what is there.
        outside = call("<", call("length", parts[0]), call("neg", start))
        result = call("case", outside, _NULL, result)
    return _null_if_empty(b, result)


def _is_positive(expression: Expression) -> bool:
    return isinstance(expression, Constant) and isinstance(expression.value, int) and expression.value > 0


def _null_if_empty(b: ExpressionBinder, result: Expression) -> Expression:
    """The text that a function computes; an empty one is NULL where the dialect has no empty text."""
    return call("nullif", result, Constant("", STRING)) if b.rules.empty_text_is_null else result


@reads(exp.Right, parts="this expression", dialects=SPARK_FAMILY)
def right(b: ExpressionBinder, node: exp.Right) -> Expression:
    """RIGHT(text, n)."""
    text, count = b.parts(node, "this", "expression")
    return call("right", text_in_spark(b, text), count)


@reads(exp.SplitPart, parts="this delimiter part_index", dialects=SPARK_FAMILY)
def split_part(b: ExpressionBinder, node: exp.SplitPart) -> Expression:
    """SPLIT_PART(text, separator, n), counted from 1."""
    separator = node.args.get("delimiter")
    is_constant = isinstance(separator, exp.Literal) and separator.is_string
    is_constant = is_constant and bool(separator and separator.name)
    if not (b.rules.texts_as_in_spark or (is_constant and _is_number(node.args.get("part_index"), 1))):
        b.source.refuse("this SPLIT_PART", node, "write a constant separator, and a constant place from 1 on")
    return call("split_part", *b.parts(node, "this", "delimiter", "part_index"))


def _is_number(node: exp.Expr | None, least: int) -> bool:
    return isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) >= least


@reads(exp.StrPosition, parts="this substr position occurrence")
def position(b: ExpressionBinder, node: exp.StrPosition) -> Expression:
    """INSTR, POSITION and their like: the first occurrence, counted from 1."""
    for key in ("position", "occurrence"):
        if node.args.get(key) is not None and b.bind(node.args[key]) != _ONE:
            b.source.refuse(f"{b.source.called(node)} of another place than the first", node, "it finds the first")
    return call("instr", *(text_in_spark(b, part) for part in b.parts(node, "this", "substr")))


@reads(exp.Trim, parts="this expression position")
def trim(b: ExpressionBinder, node: exp.Trim) -> Expression:
    """TRIM, LTRIM and RTRIM, of blanks or of a set of characters."""
    position = node.args.get("position")
    if isinstance(position, exp.Expr):  # BTRIM(s, t, u)
        raise b.source.error("TRIM takes at most 2 arguments", position)
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position or "", "trim")
    return _null_if_empty(b, call(name, *(text_in_spark(b, part) for part in b.parts(node, "this", "expression"))))


@reads(exp.Trim, parts="this expression position", dialects=ONLY_DUCKDB)
def trim_blanks(b: ExpressionBinder, node: exp.Trim) -> Expression:
    """The same in duckdb, where the blanks are all of Unicode's."""
    if node.expression is None:
        node = node.copy()
        node.set("expression", exp.Literal.string(_BLANKS))
    return trim(b, node)


@reads(exp.Pad, parts="this expression fill_pattern")
def pad(b: ExpressionBinder, node: exp.Pad) -> Expression:
    """LPAD and RPAD to a constant length."""
    length = b.bind(node.expression)
    if not (isinstance(length, Constant) and isinstance(length.value, int) and length.value <= 65_535):
        b.source.refuse("padding to a length that is not a constant below 65536", node.expression)
    fill = b.bind(node.args["fill_pattern"]) if node.args.get("fill_pattern") else Constant(" ", STRING)
    name = "lpad" if node.args.get("is_left") else "rpad"
    return call(name, text_in_spark(b, b.bind(node.this)), length, text_in_spark(b, fill))


@reads(exp.Replace, parts="this expression replacement")
def replace(b: ExpressionBinder, node: exp.Replace) -> Expression:
    """REPLACE, with nothing when no replacement is given."""
    parts = b.parts(node, "this", "expression", "replacement")
    subject, searched, *by = (text_in_spark(b, part) for part in parts)
    if b.rules.empty_text_is_null and is_null(searched):
        return subject
    # Where '' is NULL, it stands for nothing here.
    empty = Constant("", STRING)
    replacement = by[0] if by and not (b.rules.empty_text_is_null and is_null(by[0])) else empty
    result = call("replace", subject, searched, replacement)
    return _null_if_empty(b, result) if replacement == empty else result


@reads(exp.Replace, parts="this expression replacement", dialects=ONLY_DUCKDB | ONLY_POSTGRES)
def replace_by(b: ExpressionBinder, node: exp.Replace) -> Expression:
    """REPLACE(s, old, new), which needs all three."""
    b.bind(node.args.get("replacement"))
    return replace(b, node)


@reads(exp.Overlay, parts="this expression from_ for_", dialects=SPARK_FAMILY)
def overlay(b: ExpressionBinder, node: exp.Overlay) -> Expression:
    """OVERLAY(text PLACING other FROM place [FOR length]); without a length that of the other."""
    parts = b.parts(node, "this", "expression", "from_", "for_")
    return call("overlay", *parts, *[Constant(-1, INTEGER)][: 4 - len(parts)])


@reads(exp.DPipe, parts="this expression")
@reads(exp.Concat, parts="expressions")
def concatenation(b: ExpressionBinder, node: exp.DPipe | exp.Concat) -> Expression:
    """|| and CONCAT of any number of texts or arrays, without recursion down a long chain.

    CONCAT leaves NULLs out in postgres and duckdb.
    """
    if isinstance(node, exp.Concat) and b.rules.concat_skips_nulls:
        values = b.parts(node, "expressions")
        if not all(value.type.kind is Kind.ARRAY for value in values):
            texts = [_part_as_text(b, value, n, node) for value, n in zip(values, node.expressions, strict=True)]
            none = Constant("", STRING)
            return reduce(lambda left, right: call("||", left, right), (call("coalesce", t, none) for t in texts))
        if not b.rules.arrays_have_dimensions:
            known = (call("coalesce", value, empty_array(value.type)) for value in values)
            return call("flatten", call("array", *known))
    nodes: list[exp.Expr] = []
    rest: list[exp.Expr] = [node]
    while rest:
        part = rest.pop()
        if isinstance(part, type(node) if b.rules.concat_skips_nulls else exp.DPipe | exp.Concat):
            rest += reversed(part.expressions or [part.this, part.expression])
        else:
            nodes.append(part)
    bound = [b.bind(n) for n in nodes]
    if (
        b.rules.has_jsonb
        and isinstance(node, exp.DPipe)
        and (merged := jsonb_of_postgres.joined_json(bound)) is not None
    ):
        return merged
    if b.rules.arrays_have_dimensions and any(part.type.kind is Kind.ARRAY for part in bound):
        return postgres.concatenation_of(b, nodes, bound)
    if all(part.type.kind is Kind.ARRAY for part in bound):
        return call("flatten", call("array", *bound))
    if all(part.type == BINARY for part in bound):
        return reduce(lambda left, right: call("concat_bytes", left, right), bound)
    parts = [_part_as_text(b, part, n, node) for part, n in zip(bound, nodes, strict=True)]
    if not b.rules.empty_text_is_null:
        return reduce(lambda left, right: call("||", left, right), parts)
    # Oracle takes NULL for the empty string here, unless all parts are NULL.
    empty = Constant("", STRING)
    joined = reduce(lambda left, right: call("||", left, right), (call("coalesce", part, empty) for part in parts))
    if len(parts) == 1:
        return parts[0]
    return call("case", call("and", *(call("is_null", part) for part in parts)), Constant(None, STRING), joined)


def _part_as_text(b: ExpressionBinder, value: Expression, node: exp.Expr, whole: exp.Expr) -> Expression:
    """A part of a concatenation as text; CONCAT of postgres writes a BOOLEAN as ``t`` or ``f``."""
    if value.type != BOOLEAN or not b.rules.concat_skips_nulls or is_null(value):
        return as_text(b, value, node)
    words = ("t", "f") if b.rules.writes_values and isinstance(whole, exp.Concat) else ("true", "false")
    yes, no = (Constant(word, STRING) for word in words)
    return call("case", value, yes, call("not", value), no, _NULL)


@reads_name("split_index", takes=3)
def split_index(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """Flink's SPLIT_INDEX(text, separator, n): the part between separators, the first one for 0; NULL beyond the last.

    Example:
        >>> # SPLIT_INDEX('a/b', '/', 1) is 'b', and SPLIT_INDEX('a/b', '/', 2) is NULL
    """
    text, separator, place = arguments
    if not isinstance(separator, Constant) or not isinstance(separator.value, str) or not separator.value:
        raise TypeClash("SPLIT_INDEX takes a text, a constant separator and a number")
    found = call("-", call("length", text), call("length", call("replace", text, separator, Constant("", STRING))))
    parts = call("div", found, Constant(len(separator.value), INTEGER))
    within = call("and", call(">=", place, Constant(0, INTEGER)), call("<=", place, parts))
    part = call("split_part", text, separator, call("+", place, _ONE))
    return call("case", within, part, _NULL)


def regular_expression(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """REGEXP_EXTRACT, REGEXP_REPLACE and their like, with constant patterns of Java."""
    name = _REGULAR[type(node)]
    pattern = b.bind(node.expression)
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression)
    try:
        groups = re.compile(pattern.value).groups
    except re.error as error:
        raise b.source.error(f"not a regular expression: {error}", node.expression, PATTERN_HINT) from None
    arguments = [b.bind(node.this), pattern]
    if name in ("regexp_extract", "regexp_extract_all"):
        group = b.bind(node.args["group"]) if node.args.get("group") is not None else _ONE
        value = group.value if isinstance(group, Constant) else None
        if not isinstance(value, int) or not 0 <= value <= groups:
            raise b.source.error(f"the pattern has {groups} groups", node, "0 is the whole match, 1 the first group")
        arguments.append(group)
    elif name == "regexp_replace":
        replacement = b.bind(node.args.get("replacement"))
        text = replacement.value if isinstance(replacement, Constant) else None
        if not isinstance(text, str) or "\\" in text or any(int(n) > groups for n in re.findall(r"\$(\d)", text)):
            b.source.refuse("this replacement", node, "a constant text, in which $1 is the first group of the pattern")
        if re.search(r"\$(?!\d)", text):
            b.source.refuse("a $ without a number in a replacement", node, "$1 is the first group of the pattern")
        arguments.append(replacement)
    return call(name, *arguments)


@reads(exp.Initcap, parts="this expression", dialects=SPARK_FAMILY)
def capitalized(b: ExpressionBinder, node: exp.Initcap) -> Expression:
    """INITCAP, whose words are what blanks separate."""
    if node.expression is not None and node.expression.name != " ":
        b.source.refuse("INITCAP with delimiters", node)
    return call("initcap", text_in_spark(b, b.bind(node.this)))


reads(exp.Left, parts="this expression")(
    lambda b, node: call("substr", text_in_spark(b, b.bind(node.this)), _ONE, b.bind(node.expression))
)


@reads_name("mask", dialects=SPARK_FAMILY)
def mask(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """MASK(text[, upper, lower, digit, other]): replaces characters by those that are given for their kind."""
    for by in arguments[1:]:
        if not isinstance(by, Constant) or not (by.value is None or (isinstance(by.value, str) and len(by.value) == 1)):
            raise TypeClash("MASK takes a text and constants of one character", by, "mask(s, 'X', 'x', 'n', NULL)")
    return call("mask", *arguments)


reads_name("btrim")(lambda b, arguments: call("trim", *arguments))
for _node in _REGULAR:
    _more = "" if _node is exp.RegexpExtractAll else "replacement null_if_pos_overflow"
    reads(_node, parts=f"this expression group {_more}", dialects=SPARK_FAMILY)(regular_expression)


for _name, _function in (("prefix", "startswith"), ("suffix", "endswith")):
    reads_name(_name, takes=2, dialects=ONLY_DUCKDB)(lambda b, arguments, to=_function: call(to, *arguments))


def _escaped(text: str) -> str:
    """REGEXP_ESCAPE: all but letters and digits of ASCII, underscores and what is beyond ASCII has a backslash."""
    return re.sub(r"[^A-Za-z0-9_\x80-\U0010ffff]", lambda sign: "\\" + sign[0].replace("\0", "x00"), text)


DECLARED = [
    function("regexp_escape(string): string", python=_escaped, names="regexp_escape", dialects=ONLY_DUCKDB,
             help="regexp_escape(text) Returns a regular expression that finds the text.",
             example="SELECT regexp_escape('a.b') → a\\.b"),
    *of_nodes([exp.Upper, exp.Lower], "(string): string", EVERYWHERE - DATABASES),
    function("length(string): integer"),
    function("substr(string, integer[, integer]): string", _with_int_arguments("substring")),
    function("||(any, any)", "concat({0}, {1})", rule=typed([coercion.as_string], STRING)),
    *(function(f"{name}(string[, string]): string", _trim(side))
      for name, side in (("trim", "both"), ("ltrim", "leading"), ("rtrim", "trailing"))),
    function("replace(string, string, string): string"),
    function("instr(string, string): integer"),
    *(function(f"{name}(string, integer, string): string", _with_int_arguments(name)) for name in ("lpad", "rpad")),
    *each("initcap reverse", "(string): string"),
    function("soundex(string): string", nodes=[exp.Soundex],
             help="soundex(str) Returns Soundex code of the string.",
             example="SELECT soundex('Miller') → M460"),
    function("ascii(string): integer", nodes=[exp.Ascii], dialects=COMPARED,
             help="ascii(str) Returns the numeric value of the first character of `str`.",
             example="SELECT ascii('222') → 50"),
    function("chr(integer): string", nodes=[exp.Chr],
             help="chr(expr) Returns the ASCII character having the binary equivalent to `expr`.",
             example="SELECT chr(65) → A"),
    function("octet_length(string): integer"),
    function("bit_length(string): integer", nodes=[exp.BitLength], dialects=COMPARED,
             help="bit_length(expr) Returns the bit length of string data or number of bits of binary data.",
             example="SELECT bit_length('Spark SQL') → 72"),
    function("right(string, integer): string", "right({0}, {int1})"),
    function("startswith(string, string): boolean", nodes=[exp.StartsWith], dialects=COMPARED),
    function("endswith(string, string): boolean", nodes=[exp.EndsWith], dialects=SPARK_FAMILY | ONLY_DUCKDB),
    function("contains(string, string): boolean", nodes=[exp.Contains],
             help="contains(left, right) Returns a boolean.",
             example="SELECT contains('Spark SQL', 'Spark') → true"),
    function("find_in_set(string, string): integer", names="find_in_set",
             help="find_in_set(str, str_array) Returns the index (1-based) of the given string (`str`) in the comma-"
                  "delimited list (`str_array`).",
             example="SELECT find_in_set('ab','abc,b,ab,c,def') → 3"),
    function("translate(string, string, string): string", nodes=[exp.Translate], dialects=COMPARED,
             help="translate(input, from, to) Translates the `input` string by replacing the characters present in "
                  "the `from` string with the corresponding characters in the `to` string.",
             example="SELECT translate('AaBbCc', 'abc', '123') → A1B2C3"),
    function("substring_index(string, string, integer): string", "substring_index({0}, {1}, {int2})",
             nodes=[exp.SubstringIndex],
             help="substring_index(str, delim, count) Returns the substring from `str` before `count` occurrences of "
                  "the delimiter `delim`.",
             example="SELECT substring_index('www.apache.org', '.', 2) → www.apache"),
    function("split_part(string, string, integer): string",
             "(case when {2} <> 0 then split_part({0}, {1}, {int2}) end)"),
    function("repeat(string, integer): string",
             f"(case when try_multiply({{1}}, length({{0}})) <= {_MOST} then repeat({{0}}, {{int1}}) end)",
             nodes=[exp.Repeat], dialects=COMPARED,
             help="repeat(str, n) Returns the string which repeats the given string value n times.",
             example="SELECT repeat('123', 2) → 123123"),
    function("space(integer): string", f"(case when {{0}} <= {_MOST} then space({{int0}}) end)", nodes=[exp.Space],
             help="space(n) Returns a string consisting of `n` spaces.",
             example="SELECT concat(space(2), '1') → 1"),
    function("overlay(string, string, integer, integer): string",
             "overlay({0} placing {1} from {int2} for {int3})"),
    function("elt(integer, string...): string", _choice, of_null=True, nodes=[exp.Elt],
             help="elt(n, input1, input2, ...) Returns the `n`-th input, e.g., returns `input2` when `n` is 2.",
             example="SELECT elt(1, 'scala', 'java') → scala"),
    function("url_encode(string): string", names="url_encode",
             help="url_encode(str) Translates a string into 'application/x-www-form-urlencoded' format using a "
                  "specific encoding scheme.",
             example="SELECT url_encode('https://spark.apache.org') → https%3A%2F%2Fspark.apache.org"),
    function("quote(string): string", names="quote",
             help="quote(str) Returns `str` enclosed by single quotes and each instance of single quote in it is "
                  "preceded by a backslash.",
             example="SELECT quote('Don\\'t') → 'Don\\'t'"),
    function("make_valid_utf8(string): string", names="make_valid_utf8",
             help="make_valid_utf8(str) Returns the original string if `str` is a valid UTF-8 string, otherwise "
                  "returns a new string whose invalid UTF8 byte sequences are replaced using the UNICODE replacement "
                  "character U+FFFD.",
             example="SELECT make_valid_utf8('Spark') → Spark"),
    function("try_validate_utf8(string): string", names="try_validate_utf8",
             help="try_validate_utf8(str) Returns the original string if `str` is a valid UTF-8 string, otherwise "
                  "returns NULL.",
             example="SELECT try_validate_utf8('Spark') → Spark"),
    function("mask(string[, string, string, string, string]): string", of_null=True, spark=_mask),
    function("try_url_decode(string): string", names="try_url_decode url_decode",
             help="try_url_decode(str) This is a special version of `url_decode` that performs the same operation, "
                  "but returns a NULL value instead of raising an error if the decoding cannot be performed.",
             example="SELECT try_url_decode('https%3A%2F%2Fspark.apache.org') → https://spark.apache.org"),
    function("try_parse_url(string, string[, string]): string", nodes=[exp.ParseUrl],
             parts="this part_to_extract key", names="try_parse_url", costly=True),
    function("is_valid_utf8(string): boolean", names="is_valid_utf8",
             help="is_valid_utf8(str) Returns true if `str` is a valid UTF-8 string, otherwise returns false.",
             example="SELECT is_valid_utf8('Spark') → true"),
    function("luhn_check(string): boolean", names="luhn_check",
             help="luhn_check(str ) Checks that a string of digits is valid according to the Luhn algorithm.",
             example="SELECT luhn_check('8112189876') → true"),
    function("json_array_length(string): integer", costly=True,
             help="json_array_length(jsonArray) Returns the number of elements in the outermost JSON array.",
             example="SELECT json_array_length('[1,2,3,4]') → 4"),
    function("get_json_object(string, string): string", costly=True),
    function("jaro_winkler_similarity(string, string): double", names="jaro_winkler_similarity", costly=True,
             help="jaro_winkler_similarity(str1, str2) Returns how alike two texts are, from 0.0 to 1.0.",
             example="SELECT jaro_winkler_similarity('MARTHA', 'MARHTA') → 0.9611111111111111"),
    # Patterns are constants, with a backslash as the escape.
    *(function(f"{name}(string, string): boolean", f"({{0}} {name} {{1}})", costly=name == "rlike")
      for name in ("like", "ilike", "rlike")),
    *each("regexp_count regexp_instr", "(string, string): integer", costly=True),
    function("regexp_substr(string, string): string", costly=True),
    function("regexp_replace(string, string, string): string", costly=True),
    function("regexp_extract(string, string, integer): string", "regexp_extract({0}, {1}, {int2})",
             costly=True),
]  # fmt: skip
