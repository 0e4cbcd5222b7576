"""Bytes: X'0AFF', and functions that take a text as well, of which they take the bytes in UTF-8."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BINARY, STRING
from workbench.sql.binder.functions import named as called
from workbench.sql.binder.functions import refuse_elsewhere
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.functions.calls import call
from workbench.sql.syntax.dialects import SPARK_FAMILY

OF_TEXT_OR_BYTES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.MD5: ("md5", "md5_of_bytes"),
    exp.SHA: ("sha1", "sha1_of_bytes"),
    exp.SHA2: ("sha2", "sha2_of_bytes"),
    exp.ToBase64: ("base64", "base64_of_bytes"),
}
"""Syntax node -> the function of a text, and that of bytes."""


def constant(b: ExpressionBinder, node: exp.HexString) -> Expression:
    """X'0AFF'; in postgres it is a text of bits."""
    if b.dialect not in SPARK_FAMILY:
        b.source.refuse(f"a constant of bytes in {b.dialect}", node, "write it in spark")
    digits = node.name.upper()
    if not re.fullmatch("[0-9A-F]*", digits):
        raise b.source.error(f"X'{node.name}' is no constant of bytes", node, "two hexadecimal digits a byte: X'0AFF'")
    return call("unhex", Constant("0" * (len(digits) % 2) + digits, STRING))


def of_bytes(of_text: str, of_bytes_: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """A function of a text or of bytes."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        refuse_elsewhere(b, of_text, node)
        value, *rest = b.parts(node, "this", "length")
        return call(of_bytes_ if value.type == BINARY else of_text, value, *rest)

    return bind


def hex_(b: ExpressionBinder, node: exp.Hex) -> Expression:
    """HEX of a whole number, or of the bytes of a text."""
    refuse_elsewhere(b, "hex", node)
    value = b.bind(node.this)
    return call({STRING: "hex_of_text", BINARY: "hex_of_bytes"}.get(value.type, "hex"), value)


def in_utf8(function: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """ENCODE and DECODE, whose character set is UTF-8."""

    def bind(b: ExpressionBinder, node: exp.Encode | exp.Decode) -> Expression:
        refuse_elsewhere(b, function, node)
        charset = node.args.get("charset")
        if charset is not None and charset.name.upper() not in ("UTF-8", "UTF8"):
            b.source.refuse("this character set", charset, "bytes and texts are converted in 'UTF-8'")
        return call(function, b.bind(node.this))

    return bind


def named(of_text: str, of_bytes_: str, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """The same of functions that the parser leaves as plain names."""
    if len(arguments) == 1 and arguments[0].type == BINARY:
        if b.dialect not in SPARK_FAMILY:
            raise TypeClash(f"{of_text.upper()} of bytes is read in spark only")
        return call(of_bytes_, *arguments)
    return called(of_text, b, arguments)
