"""Functions of texts and bytes, and what LIKE and regular expressions find."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import STRING, Kind
from workbench.sql.functions.declaration import COMPARED, EVERYWHERE, Render, called, each, function, of_nodes, typed

MOST = 100_000
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


def _trim(side: str) -> Render:
    """TRIM of blanks or of a set of characters."""
    return lambda call, arguments: f"trim({' '.join([side, *arguments[1:], 'from', arguments[0]])})"


DECLARED = [
    *of_nodes([exp.Upper, exp.Lower], "(string): string", EVERYWHERE),
    function("length(string): integer"),
    function("substr(string, integer[, integer]): string", _with_int_arguments("substring")),
    function("||(any, any)", "concat({0}, {1})", rule=typed([coercion.as_string], STRING)),
    *(function(f"{name}(string[, string]): string", _trim(side))
      for name, side in (("trim", "both"), ("ltrim", "leading"), ("rtrim", "trailing"))),
    function("replace(string, string, string): string"),
    function("instr(string, string): integer"),
    *(function(f"{name}(string, integer, string): string", _with_int_arguments(name)) for name in ("lpad", "rpad")),
    *each("initcap reverse", "(string): string"),
    function("soundex(string): string", nodes=[exp.Soundex]),
    function("ascii(string): integer", nodes=[exp.Ascii], dialects=COMPARED),
    function("chr(integer): string", nodes=[exp.Chr]),
    function("octet_length(string): integer"),
    function("bit_length(string): integer", nodes=[exp.BitLength]),
    function("right(string, integer): string", "right({0}, {int1})", nodes=[exp.Right], dialects=COMPARED),
    function("startswith(string, string): boolean", nodes=[exp.StartsWith], dialects=COMPARED),
    *of_nodes([exp.EndsWith, exp.Contains], "(string, string): boolean"),
    function("levenshtein(string, string): integer", nodes=[exp.Levenshtein]),
    function("find_in_set(string, string): integer", names="find_in_set"),
    function("translate(string, string, string): string", nodes=[exp.Translate], dialects=COMPARED),
    function("substring_index(string, string, integer): string", "substring_index({0}, {1}, {int2})",
             nodes=[exp.SubstringIndex]),
    function("split_part(string, string, integer): string",
             "(case when {2} <> 0 then split_part({0}, {1}, {int2}) end)", nodes=[exp.SplitPart], dialects=COMPARED),
    function("repeat(string, integer): string",
             f"(case when try_multiply({{1}}, length({{0}})) <= {MOST} then repeat({{0}}, {{int1}}) end)",
             nodes=[exp.Repeat], dialects=COMPARED),
    function("space(integer): string", f"(case when {{0}} <= {MOST} then space({{int0}}) end)", nodes=[exp.Space]),
    function("overlay(string, string, integer, integer): string",
             "overlay({0} placing {1} from {int2} for {int3})"),
    function("elt(integer, string...): string", _choice, of_null=True, nodes=[exp.Elt]),
    *(function(f"{name}(string): string", names=name) for name in
      ("url_encode", "quote", "make_valid_utf8", "try_validate_utf8", "mask")),
    function("try_url_decode(string): string", names="try_url_decode url_decode"),
    function("try_parse_url(string, string...): string"),
    *(function(f"{name}(string): boolean", names=name) for name in ("is_valid_utf8", "luhn_check")),
    function("json_array_length(string): integer", names="json_array_length"),
    function("get_json_object(string, string): string"),
    function("xxhash64(string...): integer", called("xxhash64"), of_null=True, names="xxhash64"),
    # Patterns are constants, with a backslash as the escape.
    *(function(f"{name}(string, string): boolean", f"({{0}} {name} {{1}})") for name in ("like", "ilike", "rlike")),
    *each("regexp_count regexp_instr", "(string, string): integer"),
    function("regexp_substr(string, string): string"),
    function("regexp_replace(string, string, string): string"),
    function("regexp_extract(string, string, integer): string", "regexp_extract({0}, {1}, {int2})"),
    # Bytes.
    function("unhex(string): binary", nodes=[exp.Unhex], parts="this expression"),
    function("unbase64(string): binary", "try_to_binary({0}, 'base64')", nodes=[exp.FromBase64]),
    function("encode(string): binary", "encode({0}, 'UTF-8')"),
    function("decode_bytes(binary): string", "try_validate_utf8(cast({0} as string))"),
    function("concat_bytes(binary, binary): binary", "concat({0}, {1})"),
    function("length_of_bytes(binary): integer", "cast(octet_length({0}) as bigint)"),
    function("hex(integer): string"),
    function("hex_of_text(string): string", "hex(cast({0} as binary))"),
    function("hex_of_bytes(binary): string", "hex({0})"),
    function("base64(string): string", "base64(cast({0} as binary))"),
    function("base64_of_bytes(binary): string", "base64({0})"),
    function("md5(string): string", "md5(cast({0} as binary))", dialects=COMPARED),
    function("md5_of_bytes(binary): string", "md5({0})"),
    function("sha1(string): string", "sha1(cast({0} as binary))"),
    function("sha1_of_bytes(binary): string", "sha1({0})"),
    function("sha2(string, integer): string", "sha2(cast({0} as binary), {int1})"),
    function("sha2_of_bytes(binary, integer): string", "sha2({0}, {int1})"),
    function("crc32(string): integer", "crc32(cast({0} as binary))"),
    function("crc32_of_bytes(binary): integer", "crc32({0})"),
]  # fmt: skip
