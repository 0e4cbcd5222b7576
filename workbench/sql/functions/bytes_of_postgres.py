"""BYTEA of PostgreSQL: as a text and of one, in the formats of ENCODE and DECODE, and its digests.

ENCODE(v, 'hex')   DECODE(s, 'base64')   s::bytea   v::text   CONVERT_TO(s, 'UTF8')   SHA256(v)

NULL stands for what is an error there.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import partial
from textwrap import wrap

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BINARY, INTEGER, STRING
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_LINE = 76
"""Letters of a line of base64."""
_ESCAPE = re.compile(r"\\(?:(\\)|([0-3][0-7]{2}))|(\\)")
_UTF_8 = ("utf8", "utf-8", "unicode")
_FORMATS = {"hex": "bytes_of_hex_in_postgres", "base64": "bytes_of_base64_in_postgres"}


def _of_hex(digits: str) -> bytes | None:
    """Decode hexadecimal digits; blanks are allowed between pairs only."""
    pairs = digits.translate(dict.fromkeys(map(ord, " \n\t\r")))
    try:
        return binascii.unhexlify(pairs)
    except (binascii.Error, ValueError):
        return None


def _of_text(text: str) -> bytes | None:
    r"""The bytes that a text writes: ``\x0aff``, or letters, ``\\`` and ``\012``.

    Example:
        >>> _of_text(r"\x0aff"), _of_text(r"a\\b\001"), _of_text(r"\8")
        (b'\n\xff', b'a\\b\x01', None)
    """
    if text.startswith("\\x"):
        return _of_hex(text[2:])
    if any(match[3] for match in _ESCAPE.finditer(text)):
        return None
    parts, end = list[bytes](), 0
    for match in _ESCAPE.finditer(text):
        parts += [text[end : match.start()].encode(), b"\\" if match[1] else bytes([int(match[2], 8)])]
        end = match.end()
    return b"".join([*parts, text[end:].encode()])


def _of_base64(text: str) -> bytes | None:
    letters = text.translate(dict.fromkeys(map(ord, " \n\t\r")))
    try:
        return base64.b64decode(letters, validate=True)
    except (binascii.Error, ValueError):
        return None


def _base64(data: bytes) -> str:
    return "\n".join(wrap(base64.b64encode(data).decode(), _LINE))


def bytes_of_text(value: Expression) -> Expression:
    """A text as the bytes that it writes; a constant one is a constant of bytes."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        known = _of_text(value.value)
        return Constant(None, BINARY) if known is None else _constant(known)
    return value if value.type == BINARY else call("bytes_of_text_in_postgres", value)


def text_of_bytes(value: Expression) -> Expression:
    r"""Bytes as the text ``\x0aff``."""
    return call("||", Constant("\\x", STRING), _hex(value))


def _constant(data: bytes) -> Expression:
    return call("unhex", Constant(data.hex().upper(), STRING))


def _hex(value: Expression) -> Expression:
    return call("lower", call("hex_of_bytes", value))


@reads(exp.Encode, parts="this charset", dialects=ONLY_POSTGRES)
def encoded(b: ExpressionBinder, node: exp.Encode) -> Expression:
    """ENCODE(bytes, 'hex') and 'base64'."""
    format_ = _format(b, node, node.args.get("charset"))
    value = bytes_of_text(b.bind(node.this))
    return _hex(value) if format_ == "hex" else call("base64_in_postgres", value)


@reads(exp.Decode, parts="this charset", dialects=ONLY_POSTGRES)
def decoded(b: ExpressionBinder, node: exp.Decode) -> Expression:
    """DECODE(text, 'hex') and 'base64'."""
    format_ = _format(b, node, node.args.get("charset"))
    value = b.bind(node.this)
    if isinstance(value, Constant) and isinstance(value.value, str):
        known = (_of_hex if format_ == "hex" else _of_base64)(value.value)
        return Constant(None, BINARY) if known is None else _constant(known)
    return call(_FORMATS[format_], value)


def _format(b: ExpressionBinder, node: exp.Expr, given: exp.Expr | None) -> str:
    name = given.name.lower() if isinstance(given, exp.Literal) else ""
    if name not in _FORMATS:
        b.source.refuse("this format of bytes", given or node, "'hex' and 'base64' are read")
    return name


@reads_name("convert_to", takes=2, dialects=ONLY_POSTGRES)
def in_character_set(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """CONVERT_TO(text, 'UTF8'): its bytes."""
    return call("encode", _in_utf_8(arguments))


@reads_name("convert_from", takes=2, dialects=ONLY_POSTGRES)
def from_character_set(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """CONVERT_FROM(bytes, 'UTF8'): the text."""
    return call("decode_bytes", bytes_of_text(_in_utf_8(arguments)))


def _in_utf_8(arguments: list[Expression]) -> Expression:
    value, charset = arguments
    if not isinstance(charset, Constant) or str(charset.value).lower() not in _UTF_8:
        raise TypeClash("bytes and texts are converted in 'UTF8' alone")
    return value


@reads(exp.SHA2Digest, parts="this length", dialects=ONLY_POSTGRES)
def digest(b: ExpressionBinder, node: exp.SHA2Digest) -> Expression:
    """SHA256(bytes) and SHA512."""
    return _digest(int(node.args["length"].name), b, [b.bind(node.this)])


def _digest(bits: int, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    return call("unhex", call("sha2_of_bytes", bytes_of_text(arguments[0]), Constant(bits, INTEGER)))


for _bits in (224, 384):
    reads_name(f"sha{_bits}", takes=1, dialects=ONLY_POSTGRES)(partial(_digest, _bits))
DECLARED = [
    function("bytes_of_text_in_postgres(string): binary", python=_of_text),
    function("bytes_of_hex_in_postgres(string): binary", python=_of_hex),
    function("bytes_of_base64_in_postgres(string): binary", python=_of_base64),
    function("base64_in_postgres(binary): string", python=_base64),
]
