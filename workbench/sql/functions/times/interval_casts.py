"""Casts of texts and numbers to intervals, and of intervals to texts and numbers, as spark has them.

A number, and a text, is of the fields of the interval: ``CAST(90 AS INTERVAL MINUTE)``, ``'1 02' DAY TO HOUR``. A value
here has no fields. So one is cast to a number or a text where the text says them.
"""

from __future__ import annotations

import re

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.counted import counted_number, of_number
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import INTEGER, INTERVAL, MONTHS, STRING, DataType, Kind, decimal, integer
from workbench.sql.functions.calls import call, cast, within
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.times.interval_arithmetic import interval_value
from workbench.sql.functions.times.intervals import parts_of_fields, parts_of_text
from workbench.sql.functions.times.time_differences import time_difference
from workbench.sql.functions.times.times_of_day import in_seconds, text_of_time

Fields = tuple[str, str]
_MONTHS = {"YEAR": 12, "MONTH": 1}
_MICROS = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_WITH_FIELDS = re.compile(r"\s*interval\s+([+-]?)'([^']*)'\s+(\w+)(?:\s+to\s+(\w+))?\s*", re.IGNORECASE)
_HINT = "say its fields, as in CAST(x AS INTERVAL DAY TO SECOND)"


def cast_to_interval(b: ExpressionBinder, value: Expression, to: exp.DataType, node: exp.Expr) -> Expression:
    """CAST(x AS INTERVAL DAY TO SECOND) and its like, of a constant text, a number, or an interval.

    Raises:
        UnsupportedError: it is of what is cast otherwise here, or by no dialect.
        SqlError: the text is no interval.
    """
    fields = _fields(to.this) if isinstance(to.this, exp.Interval) else None
    if fields is None or not (set(fields) <= set(_MONTHS) or set(fields) <= set(_MICROS)):
        b.source.refuse("an interval without fields", node, _HINT)
    type_, sizes = (MONTHS, _MONTHS) if fields[1] in _MONTHS else (INTERVAL, _MICROS)
    size = Constant(sizes[fields[1]], INTEGER)
    if coercion.is_null(value):
        return Constant(None, type_)
    if value.type == STRING and isinstance(value, Constant):
        return _of_text(b, str(value.value), fields, node)
    if value.type == type_:
        number = counted_number(value)
        exact = number if fields[1] == "SECOND" else call("-", number, call("%", number, size))
        return of_number(exact, type_)
    if value.type.kind is Kind.INTEGER:
        number = call("*", value, size)
    elif value.type.kind is Kind.DECIMAL and (type_ == MONTHS or fields[1] == "SECOND"):
        number = cast(call("round", call("*", value, size)), INTEGER)
    else:
        b.source.refuse(f"a cast of {value.type} to this interval", node, "write n * INTERVAL '1' MINUTE")
    return of_number(within(number, integer(32)) if type_ == MONTHS else number, type_)


def _of_text(b: ExpressionBinder, text: str, fields: Fields, node: exp.Expr) -> Expression:
    sign = 1
    if match := _WITH_FIELDS.fullmatch(text):
        if (match[3].upper(), (match[4] or match[3]).upper()) != fields:
            raise b.source.error(f"{text.strip()} is not of the fields {' TO '.join(fields)}", node, _HINT)
        sign, text = -1 if match[1] == "-" else 1, match[2]
    one = fields[0] == fields[1]
    parts = parts_of_text(b, f"{text} {fields[0]}") if one else parts_of_fields(b, text, *fields)
    if parts is None:
        raise b.source.error(f"'{text}' is not an interval of {fields[0]} TO {fields[1]}", node, "as in '1 02:03:04'")
    return interval_value(b, [part.times(Constant(sign, INTEGER)) for part in parts], node)


def cast_from_interval(b: ExpressionBinder, value: Expression, type_: DataType, node: exp.Expr) -> Expression:
    """An interval whose fields the text says, as a text or the number of its last field.

    Raises:
        UnsupportedError: they are not known, or the dialect writes intervals otherwise.
    """
    fields = fields_of(b, node) if b.rules.rounds_intervals else None
    if fields is None or type_.kind not in (Kind.STRING, Kind.INTEGER, Kind.DECIMAL):
        hint = "EXTRACT(DAY FROM x) and its like are its numbers"
        b.source.refuse(f"a cast of an interval to {type_}", node, hint)
    number = counted_number(value)
    if type_ == STRING:
        return _text(b, number, value.type, fields, node)
    if type_.kind is Kind.DECIMAL and fields[1] == "SECOND":
        return cast(in_seconds(number), type_)
    size = _MONTHS[fields[1]] if value.type == MONTHS else _MICROS[fields[1]]
    whole = call("div", number, Constant(size, INTEGER))
    return cast(cast(whole, decimal(19, 0)) if type_.kind is Kind.DECIMAL else whole, type_)


def _text(b: ExpressionBinder, number: Expression, type_: DataType, fields: Fields, node: exp.Expr) -> Expression:
    length, zero = call("abs", number), Constant(0, INTEGER)
    sign = call("case", call("<", number, zero), Constant("-", STRING), Constant("", STRING))
    if fields == ("YEAR", "MONTH"):
        year = Constant(12, INTEGER)
        digits = [call("div", length, year), Constant("-", STRING), call("%", length, year)]
    elif fields == ("DAY", "SECOND"):
        day = Constant(_MICROS["DAY"], INTEGER)
        clock = text_of_time(of_number(call("%", length, day), DataType(Kind.TIME)))
        digits = [call("div", length, day), Constant(" ", STRING), clock]
    elif fields in (("YEAR", "YEAR"), ("MONTH", "MONTH"), ("DAY", "DAY")):
        digits = [call("div", length, Constant({**_MONTHS, **_MICROS}[fields[0]], INTEGER))]
    else:
        b.source.refuse("an interval of these fields as a text", node, "CAST it AS INTERVAL DAY TO SECOND")
    named = fields[0] if fields[0] == fields[1] else " TO ".join(fields)
    pieces = [Constant("INTERVAL '", STRING), sign, *digits, Constant(f"' {named}", STRING)]
    text: Expression = Constant("", STRING)
    for piece in pieces:
        text = call("||", text, coercion.as_string(piece))
    return text


def fields_of(b: ExpressionBinder, node: exp.Expr) -> Fields | None:
    """The first and the last field of an interval that the text says; ``None`` where it does not."""
    node = node.unnest()
    if isinstance(node, exp.Interval):
        return _fields(node)
    if isinstance(node, exp.Cast) and isinstance(node.args["to"].this, exp.Interval):
        return _fields(node.args["to"].this)
    if isinstance(node, exp.Mul | exp.Div):
        return fields_of(b, node.this) or fields_of(b, node.expression)
    if isinstance(node, exp.Neg):
        return fields_of(b, node.this)
    if isinstance(node, exp.Add | exp.Sub):
        sides = fields_of(b, node.this), fields_of(b, node.expression)
        if None not in sides:
            order = [*_MONTHS, *_MICROS]
            named = [field for side in sides if side is not None for field in side]
            return min(named, key=order.index), max(named, key=order.index)
        difference = time_difference(b, node)
        if difference is not None and any(side.type.kind is Kind.TIMESTAMP for side in difference):
            return "DAY", "SECOND"
    return None


def _fields(interval: exp.Interval) -> Fields | None:
    unit = interval.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return unit.this.name.upper(), unit.expression.name.upper()
    name = unit.name.upper().removesuffix("S") if unit is not None else ""
    return (name, name) if name in _MONTHS or name in _MICROS else None
