"""TO_CHAR of numbers and TO_NUMBER under a constant format: postgres by models, spark by formats of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra.coercion import as_string, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, STRING, DataType, Kind, decimal
from workbench.sql.dialect import Formats
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Arguments, function, in_python
from workbench.sql.functions.number_formats import number_in_format, number_of_format, read_format
from workbench.sql.functions.number_models import ModelError, number_in_model, number_of_model, read_model
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_POSTGRES, SPARK_FAMILY

_OF_SPARK = "as in $999,990.99 or S9G999D99"
_OF_POSTGRES = "as in FM999,990.00"
_OF_DOUBLE = decimal(30, 15)
"""What Spark takes a DOUBLE for."""
_OF_INTEGER = {8: decimal(3, 0), 16: decimal(5, 0), 32: decimal(10, 0), 64: decimal(20, 0)}


def number_with_format(b: ExpressionBinder, node: exp.Expr, value: Expression, format_node: exp.Expr) -> Expression:
    """TO_CHAR(x, '999.99') of a number.

    Raises:
        UnsupportedError: the format is not constant, or the dialect refuses it.
    """
    if b.rules.formats is Formats.JAVA:
        text = _format_of_spark(b, format_node)
        type_ = _OF_DOUBLE if value.type.kind is Kind.DOUBLE else _OF_INTEGER.get(value.type.bits, value.type)
        number = value if value.type.kind is Kind.DECIMAL else cast(value, type_)
        return call("number_in_format", number, Constant(text, STRING))
    if not b.rules.numeric_keeps_digits:
        b.source.refuse("TO_CHAR of a number with a format", node, "without a format an integer is written as it is")
    text = _model(b, format_node)
    return call("number_in_model", value, Constant(text, STRING), Constant(value.type.bits, INTEGER))


def _format_of_spark(b: ExpressionBinder, node: exp.Expr) -> str:
    text = _constant(b, node, _OF_SPARK)
    form = read_format(text)
    if form is None or form.before + form.after > MAX_PRECISION:
        b.source.refuse(f"the number format {text}", node, _OF_SPARK)
    return text


def _model(b: ExpressionBinder, node: exp.Expr) -> str:
    text = _constant(b, node, _OF_POSTGRES)
    try:
        read_model(text)
    except ModelError as error:
        b.source.refuse(f"{error} in a number format", node, _OF_POSTGRES)
    return text


def _constant(b: ExpressionBinder, node: exp.Expr, example: str) -> str:
    if not (isinstance(node, exp.Literal) and node.is_string):
        b.source.refuse("a number format that is not a constant string", node, example)
    return node.name


@reads(exp.ToNumber, dialects=frozenset({"oracle"}))
def number_of_text(b: ExpressionBinder, node: exp.ToNumber) -> Expression:
    """TO_NUMBER(s), a cast."""
    return cast(b.bind(node.this), decimal(38, 10))


@reads(exp.ToNumber, parts="this format", dialects=SPARK_FAMILY)
@reads_call("try_to_number", dialects=SPARK_FAMILY)
def number_of_format_(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """TO_NUMBER(s, '9G999D99'), NULL of what is not of the format."""
    value, format_ = _text_and_format(b, node)
    form = read_format(text := _format_of_spark(b, format_))
    assert form is not None
    return _number("number_of_format", value, text, decimal(form.before + form.after, form.after))


@reads(exp.ToNumber, parts="this format", dialects=ONLY_POSTGRES)
def number_of_model_(b: ExpressionBinder, node: exp.ToNumber) -> Expression:
    """TO_NUMBER(s, '9G999D99'), NULL of what is not of the model."""
    value, format_ = _text_and_format(b, node)
    model = read_model(text := _model(b, format_))
    after = model.after + model.moved
    if model.flags & {"RN", "EEEE"} or not 0 < model.before + after <= MAX_PRECISION:
        b.source.refuse(f"TO_NUMBER by {text}", node, _OF_POSTGRES)
    return _number("number_of_model", value, text, decimal(model.before + after, after))


def _text_and_format(b: ExpressionBinder, node: exp.Expr) -> tuple[Expression, exp.Expr]:
    parts = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.args.get("format")]
    parts = [part for part in parts if part is not None]
    if len(parts) != 2:
        raise b.source.error("TO_NUMBER takes a text and a format", node, "TO_NUMBER(s, '999.99')")
    value = b.bind(parts[0])
    if value.type.kind is not Kind.STRING and not is_null(value):
        raise b.source.error(f"TO_NUMBER reads a text, not {value.type}", node)
    return as_string(value), parts[1]


def _number(name: str, value: Expression, text: str, type_: DataType) -> Expression:
    digits = (Constant(n, INTEGER) for n in (type_.precision, type_.scale))
    return call(name, value, Constant(text, STRING), *digits)


@reads_call("to_varchar", dialects=SPARK_FAMILY)
def to_varchar(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """TO_VARCHAR(x, '999.99'), as TO_CHAR."""
    if len(node.expressions) != 2:
        raise b.source.error(f"TO_VARCHAR takes 2 arguments, not {len(node.expressions)}", node)
    value, format_ = node.expressions
    renamed = exp.ToChar(this=value, format=format_)
    renamed.meta.update(node.meta)
    return b.bind(renamed)


def _number_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    _, _, precision, scale = arguments
    assert isinstance(precision, Constant) and isinstance(scale, Constant)
    assert isinstance(precision.value, int) and isinstance(scale.value, int)
    return arguments, decimal(precision.value, scale.value)


def _text_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    return arguments, STRING


def _number_sql(name: str) -> Callable[[Call, Sequence[str]], str]:
    """SQL of a DECIMAL, whose digits Python gives."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        return f"cast({in_python(f'{name}_digits', STRING)(expression, arguments)} as {expression.type.spark})"

    return render


def _read(read: Callable[[str, str], str | Decimal | None]) -> Callable[[str, str, int, int], Decimal | None]:
    def number(text: str, format_: str, precision: int, scale: int) -> Decimal | None:
        found = read(text, format_)
        return None if found is None else Decimal(found).quantize(Decimal(1).scaleb(-scale))

    return number


def _digits(read: Callable[[str, str], str | Decimal | None]) -> Callable[[str, str, int, int], str | None]:
    number = _read(read)

    def digits(text: str, format_: str, precision: int, scale: int) -> str | None:
        found = number(text, format_, precision, scale)
        return None if found is None else f"{found:f}"

    return digits


_READ = {"number_of_format": number_of_format, "number_of_model": number_of_model}
DECLARED = [
    function("number_in_format(number, format)", rule=_text_type, returns=STRING, python=number_in_format),
    function("number_in_model(number, format, bits)", rule=_text_type, returns=STRING, python=number_in_model),
    *(function(f"{name}(string, format, precision, scale)", _number_sql(name), rule=_number_type, python=_read(read))
      for name, read in _READ.items()),
    *(function(f"{name}_digits(string, string, integer, integer): string", python=_digits(read))
      for name, read in _READ.items()),
]  # fmt: skip
