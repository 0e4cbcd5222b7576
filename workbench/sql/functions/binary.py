"""Bytes: X'0AFF', and functions that take a text as well, of which they take the bytes in UTF-8."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BINARY, STRING
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import COMPARED, function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

OF_TEXT_OR_BYTES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.MD5: ("md5", "md5_of_bytes"),
    exp.SHA: ("sha1", "sha1_of_bytes"),
    exp.SHA2: ("sha2", "sha2_of_bytes"),
    exp.ToBase32: ("to_base32", "base32_of_bytes"),
    exp.ToBase64: ("base64", "base64_of_bytes"),
}
"""Syntax node -> the function of a text, and that of bytes."""


@reads(exp.HexString, parts="this is_integer", dialects=SPARK_FAMILY, what="a constant of bytes")
def constant(b: ExpressionBinder, node: exp.HexString) -> Expression:
    """X'0AFF'; in postgres it is a text of bits."""
    digits = node.name.upper()
    if not re.fullmatch("[0-9A-F]*", digits):
        raise b.source.error(f"X'{node.name}' is no constant of bytes", node, "two hexadecimal digits a byte: X'0AFF'")
    return call("unhex", Constant("0" * (len(digits) % 2) + digits, STRING))


def of_bytes(of_text: str, of_bytes_: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """A function of a text or of bytes."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        value, *rest = b.parts(node, "this", "length")
        return call(of_bytes_ if value.type == BINARY else of_text, value, *rest)

    return bind


@reads(exp.Hex, dialects=SPARK_FAMILY | ONLY_DUCKDB)
def hex_(b: ExpressionBinder, node: exp.Hex) -> Expression:
    """HEX of a whole number, or of the bytes of a text."""
    value = b.bind(node.this)
    return call({STRING: "hex_of_text", BINARY: "hex_of_bytes"}.get(value.type, "hex"), value)


def in_utf8(function: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """ENCODE and DECODE, whose character set is UTF-8."""

    def bind(b: ExpressionBinder, node: exp.Encode | exp.Decode) -> Expression:
        charset = node.args.get("charset")
        if charset is not None and charset.name.upper() not in ("UTF-8", "UTF8"):
            b.source.refuse("this character set", charset, "bytes and texts are converted in 'UTF-8'")
        return call(function, b.bind(node.this))

    return bind


def of_text_or_bytes(of_text: str, of_bytes_: str, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """The same of functions that the parser leaves as plain names."""
    return call(of_bytes_ if [a.type for a in arguments] == [BINARY] else of_text, *arguments)


for _node, _names in OF_TEXT_OR_BYTES.items():
    _dialects = (
        COMPARED if _node is exp.MD5 else SPARK_FAMILY | ONLY_DUCKDB if _node in (exp.SHA, exp.SHA2) else SPARK_FAMILY
    )
    reads(_node, parts="this length", dialects=_dialects)(of_bytes(*_names))
reads(exp.Encode, parts="this charset", dialects=SPARK_FAMILY)(in_utf8("encode"))
reads(exp.Decode, parts="this charset", dialects=SPARK_FAMILY)(in_utf8("decode_bytes"))
for _name, _of_bytes in (("octet_length", "length_of_bytes"), ("crc32", "crc32_of_bytes")):
    reads_name(_name, dialects=SPARK_FAMILY)(partial(of_text_or_bytes, _name, _of_bytes))
DECLARED = [
    function("unhex(string): binary", nodes=[exp.Unhex], parts="this expression",
             help="unhex(expr) Converts hexadecimal `expr` to binary.",
             example="SELECT decode(unhex('537061726B2053514C'), 'UTF-8') → Spark SQL"),
    function("unbase64(string): binary", "try_to_binary({0}, 'base64')", nodes=[exp.FromBase64],
             help="unbase64(str) Converts the argument from a base 64 string `str` to a binary.",
             example="SELECT unbase64('U3BhcmsgU1FM') → Spark SQL"),
    function("encode(string): binary", "encode({0}, 'UTF-8')"),
    function("decode_bytes(binary): string", "try_validate_utf8(cast({0} as string))"),
    function("concat_bytes(binary, binary): binary", "concat({0}, {1})"),
    function("length_of_bytes(binary): integer", "cast(octet_length({0}) as bigint)"),
    function("hex(integer): string"),
    function("hex_of_text(string): string", "hex(cast({0} as binary))"),
    function("hex_of_bytes(binary): string", "hex({0})"),
    function("base64(string): string", "base64(cast({0} as binary))"),
    function("base64_of_bytes(binary): string", "base64({0})"),
    function("to_base32(string): string", "to_base32(cast({0} as binary))",
             help="to_base32(expr) Converts a text, or bytes, to a base 32 text.",
             example="SELECT to_base32('MARTHA') → JVAVEVCIIE======"),
    function("base32_of_bytes(binary): string", "to_base32({0})"),
    function("md5(string): string", "md5(cast({0} as binary))", costly=True),
    function("md5_of_bytes(binary): string", "md5({0})"),
    function("sha1(string): string", "sha1(cast({0} as binary))", costly=True),
    function("sha1_of_bytes(binary): string", "sha1({0})"),
    function("sha2(string, integer): string", "sha2(cast({0} as binary), {int1})", costly=True),
    function("sha2_of_bytes(binary, integer): string", "sha2({0}, {int1})"),
    function("crc32(string): integer", "crc32(cast({0} as binary))"),
    function("crc32_of_bytes(binary): integer", "crc32({0})"),
]  # fmt: skip
