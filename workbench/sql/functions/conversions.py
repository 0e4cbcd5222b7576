"""CAST, structs and their fields, and values as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.errors import SqlError, UnsupportedError, nearest
from workbench.sql.algebra.coercion import is_integer_of, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    DataType,
    Kind,
    decimal,
    integer,
    parse_type,
)
from workbench.sql.dialect import Rounding, TruthTexts
from workbench.sql.functions import jsonb_of_postgres, number_texts
from workbench.sql.functions.arrays.lists import array_cast
from workbench.sql.functions.bytes_of_postgres import bytes_of_text
from workbench.sql.functions.calls import WITHIN, call, cast
from workbench.sql.functions.declaration import function
from workbench.sql.functions.json_written import json_of
from workbench.sql.functions.numeric_casts import numeric
from workbench.sql.functions.reading import Bind, ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.functions.records_of_postgres import record_as_text
from workbench.sql.functions.results import as_text
from workbench.sql.functions.times import interval_arithmetic
from workbench.sql.functions.times.interval_casts import cast_from_interval, cast_to_interval
from workbench.sql.functions.times.temporal import cast_to_time
from workbench.sql.functions.times.times_of_day import cast_from_time_of_day, cast_to_time_of_day
from workbench.sql.functions.unsigned import UNSIGNED, cast_to_unsigned
from workbench.sql.syntax.dialects import ONLY_POSTGRES, SPARK_FAMILY

_SYNONYMS = {"timestampltz": "timestamp_ltz", "timestampntz": "timestamp_ntz", "nvarchar": "varchar"}
_TYPES = {
    **{name: name.upper() for name in ("integer", "bigint", "varchar", "boolean", "date", "timestamp")},
    **dict.fromkeys(("double", "float"), "DOUBLE PRECISION"),
    **dict.fromkeys(("decimal", "numeric"), "DECIMAL(15, 2)"),
}
"""Types as every dialect has them, by the names that may be misspelt."""
_LISTED = f"types are {', '.join(dict.fromkeys(_TYPES.values()))}"
_BITS = {"tinyint": 8, "smallint": 16, "int": 32}
"""Type of integers -> its bits, but for dialects in which one type has all whole numbers."""
_NUMBER = r"\A\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*\z"
"""The pattern of a text that is a number in PostgreSQL, but for other bases."""
_NUMBERS = {
    Kind.INTEGER: r"\A\s*[+-]?[0-9]+\s*\z",
    Kind.DOUBLE: rf"{_NUMBER}|\A\s*([+-]?[Ii][Nn][Ff]([Ii][Nn][Ii][Tt][Yy])?|[Nn][Aa][Nn])\s*\z",
}
"""The same, of an INTEGER and of a DOUBLE; NUMERIC has no infinities here, and no NaN."""
CASTS = {"bigint": INTEGER, "smallint": integer(16), "tinyint": integer(8), "binary": BINARY, "decimal": decimal(10, 0)}
"""Functions of one argument that are casts."""
_BYTES_OF_NAME = 63
_ONE = Constant(1, INTEGER)

_OF_BITS = {8: "tinyint", 16: "smallint", 32: "int"}


def _cast(expression: Call, arguments: Sequence[str]) -> str:
    """CAST, which is NULL where the type has no such value."""
    value = arguments[0]
    if is_integer_of(expression.arguments[0].type, expression.type) or (
        expression.type.kind is expression.arguments[0].type.kind is Kind.STRING
    ):
        return value
    if expression.type == INTEGER and expression.arguments[0].type == DOUBLE:
        # Spark compares with the DOUBLE next to 2^63 - 1, which is 2^63, and makes 2^63 - 1 of it.
        value = f"nullif({value}, 9.223372036854775808E18D)"
    if expression.type.kind is Kind.INTEGER and expression.type.bits < 64:
        return f"cast(try_cast({value} as {_OF_BITS[expression.type.bits]}) as bigint)"
    if expression.arguments[0].type == BINARY and expression.type == STRING:
        return f"try_validate_utf8(cast({value} as string))"  # bytes that are no text are NULL
    return f"try_cast({value} as {expression.type.spark})"


@reads(exp.Cast, exp.TryCast, parts="this to")
def cast_(b: ExpressionBinder, node: exp.Cast | exp.TryCast) -> Expression:
    """CAST, which gives NULL for a value that does not convert."""
    to = node.args["to"]
    if to.this == exp.DType.ARRAY and len(to.expressions) == 1 and not to.args.get("values"):
        return array_cast(b, node, to.expressions[0])
    if to.this == exp.DType.INTERVAL and b.rules.clock_in_intervals:
        return interval_arithmetic.literal(b, node)
    if to.this == exp.DType.INTERVAL or isinstance(to.this, exp.Interval):
        return cast_to_interval(b, b.bind(node.this), to, node)
    if to.this == exp.DType.TIME:
        return cast_to_time_of_day(b, b.bind(node.this), node, *(int(digits.name) for digits in to.expressions))
    if isinstance(node.this, exp.Literal) and to.this == exp.DType.TIMESTAMP:
        digits = node.this.name.partition(".")[2]
        if all(len(digits) <= int(parameter.name) for parameter in to.expressions):
            # Some dialects give a TIMESTAMP constant a number of digits, which it has no use for.
            to = exp.DataType(this=to.this)
    if to.this == exp.DType.DECIMAL and not to.expressions and b.rules.numeric_keeps_digits:
        return numeric(b, node, b.bind(node.this))
    if to.this in UNSIGNED and b.rules.has_unsigned:
        return cast_to_unsigned(b, node)
    if to.this == exp.DType.JSON and b.rules.json_keys_as_they_are:
        return json_of(b.bind(node.this))
    if to.this == exp.DType.JSONB and b.rules.has_jsonb:
        return jsonb_of_postgres.cast_to_jsonb(b.bind(node.this))
    if to.this == exp.DType.NAME and b.rules.has_names:
        return _text_of_name(b, node)
    type_ = _type(b, to)
    value = b.bind(node.this)
    if value.type.fields and type_ == STRING and b.rules.has_rows:
        return record_as_text(b, value, node)
    if type_ == BINARY and b.rules.bytes_have_texts:
        return bytes_of_text(value)
    if value.type.json and type_ != STRING:
        if not b.rules.json_keys_as_they_are:
            b.source.refuse(f"a cast of JSON to {type_}", node, "cast the text of it, as in (j->>'a')::int")
        value = call("json_text_in_duckdb", value, Constant("$", STRING))
    length = node.args["to"].expressions
    if value.type == TIME:
        return cast_from_time_of_day(b, value, type_, node)
    if value.type.counted:
        return cast_from_interval(b, value, type_, node.this)
    if type_.temporal:
        return cast_to_time(b, value, type_, node)
    if b.rules.casts_in_python and value.type == STRING and type_.numeric and not is_null(value):
        return number_texts.of_text(value, type_)
    if type_.kind is Kind.INTEGER and value.type.kind in (Kind.DECIMAL, Kind.DOUBLE):
        value = _rounded_as(b.rules.cast_to_integer, value)
    if type_.numeric and b.rules.checks_number_texts and value.type == STRING and not is_null(value):
        written = call("rlike", value, Constant(_NUMBERS.get(type_.kind, _NUMBER), STRING))
        number = cast(call("trim", value, Constant(" \t\n\r\f\v", STRING)), type_)
        return call("case", written, number, Constant(None, type_))
    if type_ == BOOLEAN and value.type == STRING and b.rules.truth_texts is not None:
        return _truth(value, b.rules.truth_texts)
    result = as_text(b, value, node) if type_ == STRING else cast(value, type_)
    if type_ == STRING and length:
        return call("substr", result, _ONE, Constant(int(length[0].name), INTEGER))
    return result


def _text_of_name(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """A constant text as NAME, which is a text of at most 63 bytes."""
    value = b.bind(node.this)
    if is_null(value) or (
        isinstance(value, Constant) and isinstance(value.value, str) and len(value.value.encode()) <= _BYTES_OF_NAME
    ):
        return value
    b.source.refuse("NAME of more than a constant of 63 bytes", node, "CAST it AS TEXT, of which none is cut off")


def _rounded_as(rounding: Rounding, value: Expression) -> Expression:
    match rounding:
        case Rounding.TOWARDS_ZERO:
            return value
        case Rounding.HALF_AWAY:
            return call("round", value)
        case Rounding.BY_TYPE:
            return call("round" if value.type.kind is Kind.DECIMAL else "rint", value)


def _truth(value: Expression, texts: TruthTexts) -> Expression:
    """A text as BOOLEAN."""
    word = call("lower", call("trim", value, Constant(texts.trimmed, STRING)) if texts.trimmed else value)
    known = (texts.true.split(), texts.false.split())
    tests = [call("in", word, *(Constant(text, STRING) for text in words)) for words in known]
    return call("case", tests[0], Constant(True, BOOLEAN), tests[1], Constant(False, BOOLEAN), Constant(None, BOOLEAN))


def _type(b: ExpressionBinder, node: exp.DataType) -> DataType:
    if (unknown := str(node.args.get("kind") or "")).isidentifier():
        hint = nearest(unknown, _TYPES, shown=_TYPES.__getitem__) or _LISTED
        raise SqlError(f"there is no type {unknown}", **b.source.keyword(unknown), hint=hint)
    name = str(node.this.value if hasattr(node.this, "value") else node.this).lower()
    name = _SYNONYMS.get(name, name)
    if name in ("decimal", "numeric"):
        digits = [p.name for p in node.expressions]
        if not digits and b.rules.decimal_digits is None:
            hint = "databases differ in how many it keeps: DECIMAL(p,s)"
            b.source.refuse(f"{name.upper()} without digits", node.parent or node, hint)
        name += f"({','.join(digits or map(str, b.rules.decimal_digits or ()))})"
    elif name == "char" or (node.expressions and name != "varchar"):  # CHAR pads with blanks
        hint = "write VARCHAR" if name == "char" else _LISTED
        b.source.refuse(f"the type {node.sql()}", node.parent or node, hint)
    if name in ("binary", "varbinary") and not node.expressions:
        if not b.rules.has_binary:
            b.source.refuse(f"the type {node.sql()} in {b.dialect}", node.parent or node, "write it in spark")
        return BINARY
    if name in _BITS and b.rules.integer_widths:
        return integer(_BITS[name])
    try:
        return parse_type(name)
    except SqlError as error:
        near = error.hint if (error.hint or "").startswith("did you mean") else None
        is_number = name.startswith(("decimal", "numeric"))
        digits_hint = "it has 1 to 38 digits, the fraction's among them, as in DECIMAL(9, 2)"
        others = "of amounts there is DECIMAL(15, 2), of texts VARCHAR, of other numbers BIGINT and DOUBLE PRECISION"
        hint, word = digits_hint if is_number else near or others, node.sql()
        place = b.source.keyword(word) if word.isidentifier() else b.source.of(node.parent or node)
        raise UnsupportedError(f"the type {word} is not supported", **place, hint=hint) from None


for _name, _type_ in CASTS.items():
    reads_name(_name, takes=1, dialects=SPARK_FAMILY, hint=f"write CAST(x AS {_type_.kind})")(
        lambda b, arguments, to=_type_: cast(arguments[0], to)
    )


def _called_cast(name: str) -> Bind:
    def bind(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
        if len(node.expressions) != 1:
            raise b.source.error(f"{name.upper()} takes 1 argument, not {len(node.expressions)}", node)
        written = exp.Cast(this=node.expressions[0].copy(), to=exp.DataType.build(name, dialect=b.dialect))
        return b.bind(written)  # and where databases differ in it, it is refused

    return bind


for _name in ("int2", "int4", "int8", "float4", "float8", "numeric", "text", "bool", "varchar"):
    reads_call(_name, dialects=ONLY_POSTGRES, hint="write CAST(x AS BIGINT), or another type")(_called_cast(_name))

DECLARED = [
    # The binder says the type; ``calls.cast`` makes the call.
    function("cast(any): string", _cast),
    function(f"{WITHIN}(any): integer", _cast),
]  # fmt: skip
