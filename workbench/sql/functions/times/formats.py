"""Functions of SQL text that write and read times under a format of the text's dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TypeVar

from sqlglot import exp

from workbench.errors import with_article
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DATE, INSTANT, INTEGER, STRING, TIMESTAMP
from workbench.sql.algebra.zones import UTC, instant_of, zoning
from workbench.sql.dialect import Dialect, Formats
from workbench.sql.dialects import DIALECTS
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.formatted_numbers import number_with_format
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, unwrapped
from workbench.sql.functions.results import as_text
from workbench.sql.functions.times.strptime import read_by_strptime
from workbench.sql.functions.times.temporal import cast_to_time
from workbench.sql.functions.times.times_of_day import cast_to_time_of_day
from workbench.sql.functions.times.zoned import in_utc, of_utc, session_timestamp
from workbench.sql.syntax import date_formats
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

T = TypeVar("T")
_MINUTES = {
    Formats.JAVA: (r"^(?=.*[yd])[^HhKk]*mm", "mm", "MM", r"[HhKk]:?MM", "MM", "mm"),
    Formats.DUCKDB: (r"^(?=.*%[Yyd])(?!.*%-?[HI]).*%M", "%M", "%m", r"%-?[HI]:?%m", "%m", "%M"),
    Formats.MODEL: (r"(?i)^(?=.*[YD])(?!.*HH).*MI", "MI", "MM", r"(?i)HH(?:12|24)?:?MM", "MM", "MI"),
}
"""Of each kind of format: minutes without hours, which are months, and a month behind an hour, which is its minutes."""
_ELEMENTS = {
    Formats.JAVA: "as in yyyy-MM-dd'T'HH:mm:ss.SSS",
    **dict.fromkeys((Formats.DUCKDB, Formats.STRFTIME), "as in %Y-%m-%d %H:%M:%S"),
    Formats.MYSQL: "as in %Y-%m-%d %H:%i:%s",
    Formats.MODEL: "formats of digits are, such as YYYY-MM-DD HH24:MI:SS",
}
"""Hints."""
_OF_WEEKS = {"IYYY": ("ISOYEAR", 4), "IW": ("WEEK", 2), "ID": ("ISODOW", 1)}
"""Elements of formats, what they are, and of how many digits."""


def _meant(format_: str, read: Callable[[str], object]) -> str | None:
    """A hint for signs of percent, and years and days in capital letters, which mean other things in Java's formats."""
    try:
        if "%" in format_:
            parts = date_formats.to_write(format_, replace(DIALECTS["duckdb"], formats=Formats.STRFTIME))
            return f"write '{''.join(part.pattern for part in parts)}'"
        meant = re.sub("Y+|D+", lambda found: found[0].lower(), format_)
        read(meant)
    except ValueError:
        return None
    return f"write '{meant}'"


def _read_format(b: ExpressionBinder, node: exp.Expr, format_: exp.Expr, read: Callable[[str, Dialect], T]) -> T:
    """What a constant format of a call says, in the elements of its dialect."""
    if not (isinstance(format_, exp.Literal) and format_.is_string):
        b.source.refuse("a format that is not a constant string", format_, "give the value, then its format as a text")
    rules = b.rules
    if rules.formats is not Formats.JAVA and (b.source.called(node) or "").upper().startswith("TO_"):
        rules = replace(rules, formats=Formats.MODEL)
    place = format_ if "start" in format_.meta else node
    meant = _meant(format_.name, lambda text: read(text, rules)) if rules.formats is Formats.JAVA else None
    if rules.formats is Formats.JAVA and (percent := re.search("%[A-Za-z]", format_.name)):
        hint = meant or "letters alone are elements, as in yyyy-MM-dd HH:mm"
        b.source.note(f"{percent[0]} is a percent sign and the element {percent[0][1]} in spark", place, hint)
    minutes, its, month, hours, of_them, minute = _MINUTES.get(rules.formats, (r"\A\Z", "", "") * 2)
    for pattern, what, element, right in ((minutes, "minute", its, month), (hours, "month", of_them, minute)):
        if re.search(pattern, format_.name):
            b.source.note(f"{element} is the {what} in this format", place, f"did you mean {right}?")
    if rules.formats is Formats.DUCKDB and "%" not in format_.name:
        b.source.note("the format has no %, and stands for its own letters", place, _ELEMENTS[rules.formats])
    try:
        try:
            return read(format_.name, rules)
        except ValueError:
            # TO_CHAR is Oracle's, and so may be a format that Spark refuses.
            if rules.formats is not Formats.JAVA or (b.source.called(node) or "").upper() != "TO_CHAR":
                raise
            return read(format_.name, replace(rules, formats=Formats.MODEL))
    except ValueError as error:
        b.source.refuse(str(error), place, meant or _ELEMENTS[rules.formats])


def _written(b: ExpressionBinder, node: exp.Expr, value: Expression, format_: exp.Expr) -> Expression:
    """A time as a text under a format."""
    if b.rules.iso_weeks and len(parts := date_formats.by_iso_weeks(format_.name)) > 1:
        return _with_iso_weeks(b, node, parts)
    texts: list[Expression] = []
    for piece in _read_format(b, node, format_, date_formats.to_write):
        if not b.rules.names_in_formats and re.search("MMM|E", piece.pattern):
            b.source.refuse("a date format with names of months or days", format_, _ELEMENTS[b.rules.formats])
        if date_formats.names_zone(piece.pattern) and zoning().zone != UTC:
            b.source.refuse("a date format with a zone, outside of UTC", format_, "CAST(t AS STRING) has none")
        text = call("date_format", value, Constant(piece.pattern, STRING))
        if piece.case:
            text = call(piece.case, text)
        texts.append(call("rpad", text, Constant(piece.width, INTEGER), Constant(" ", STRING)) if piece.width else text)
    return reduce(lambda left, right: call("||", left, right), texts)


def _with_iso_weeks(b: ExpressionBinder, node: exp.Expr, parts: Sequence[str]) -> Expression:
    """A time under a format whose every second part is an element of weeks, which Java has none of."""
    texts: list[Expression] = []
    for place, part in enumerate(parts):
        if place % 2:
            unit, width = _OF_WEEKS[part.upper()]
            number = cast(b.bind(exp.Extract(this=exp.var(unit), expression=unwrapped(node.this).copy())), INTEGER)
            digits = Constant(width, INTEGER), Constant("0", STRING)
            texts.append(call("lpad", coercion.as_string(number), *digits))
        elif part:
            texts.append(_written(b, node, b.bind(unwrapped(node.this)), exp.Literal.string(part)))
    return reduce(lambda left, right: call("||", left, right), texts)


@reads(exp.ToChar, parts="this format")
def to_char(b: ExpressionBinder, node: exp.ToChar) -> Expression:
    """TO_CHAR of a date, timestamp or number under a format, or of an integer."""
    return _to_char(b, node)


def _to_char(b: ExpressionBinder, node: exp.Expr) -> Expression:
    value = b.bind(node.this)
    format_ = node.args.get("format")
    if value.type.temporal:
        if format_ is None:
            b.source.refuse("TO_CHAR of a date without a format", node, "TO_CHAR(d, 'YYYYMMDD')")
        return _written(b, node, value, format_)
    if format_ is not None:
        if value.type.numeric:
            return number_with_format(b, node, value, format_)
        b.source.refuse(
            f"TO_CHAR of {with_article(str(value.type))} with a format",
            node,
            "of a number or a time, which stands first",
        )
    return as_text(b, value, node)


@reads(exp.TimeToStr, parts="this format")
def date_format(b: ExpressionBinder, node: exp.TimeToStr) -> Expression:
    """DATE_FORMAT and its like."""
    given, format_ = unwrapped(node.this), node.args["format"]
    if b.rules.formats is Formats.DUCKDB and given.is_string and not format_.is_string:  # in either order there
        given, format_ = format_, given
    value = b.bind(given)
    if (b.source.called(node) or "").upper() == "TO_CHAR" and not value.type.temporal:
        return _to_char(b, node)
    return _written(b, node, value, format_)


@reads(exp.StrToDate, exp.TsOrDsToDate, parts="this format")
@reads(exp.Date)
def to_date(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """TO_DATE of text under a format; without one a cast."""
    value = b.bind(unwrapped(node.this))
    format_ = node.args.get("format")
    if format_ is None or value.type.temporal:
        if format_ is not None:
            _read_format(b, node, format_, date_formats.to_read)
        return cast_to_time(b, value, DATE, node)
    # A DATE that has a time of the day is a TIMESTAMP here.
    timed = b.rules.date_has_time and re.search("[Hhmsa]", _read_format(b, node, format_, date_formats.to_read))
    return _parse(b, node, "to_timestamp" if timed else "to_date", value, format_)


@reads(exp.StrToTime, parts="this format")
def to_timestamp(b: ExpressionBinder, node: exp.StrToTime) -> Expression:
    """TO_TIMESTAMP of text under a format; without one a cast."""
    value, format_ = b.bind(node.this), node.args.get("format")
    # A TIMESTAMP literal arrives here too, with a format of the parser's that has a fraction.
    if format_ is None or (isinstance(value, Constant) and "%f" in format_.name):
        return cast_to_time(b, value, TIMESTAMP, node)
    return _parse(b, node, "to_timestamp", value, format_)


def _parse(b: ExpressionBinder, node: exp.Expr, function: str, value: Expression, format_: exp.Expr) -> Expression:
    """A time that a text is under a format; a constant must be one. In duckdb formats in a list are tried in turn."""
    if b.rules.formats is Formats.DUCKDB and isinstance(format_, exp.Array) and not isinstance(value, Constant):
        return call("coalesce", *(_parse(b, node, function, value, one) for one in format_.expressions))
    pattern = _read_format(b, node, format_, date_formats.to_read)
    of_zone = date_formats.names_zone(pattern)
    if of_zone and "[" in pattern and zoning().zone != UTC:
        b.source.refuse("a date format with a zone that may be left out, outside of UTC", format_)
    if b.rules.formats is not Formats.JAVA and "yyyy" not in pattern:
        b.source.refuse("reading a time by a format without a year of four digits", format_, "databases differ in it")
    if b.rules.reads_formats_strictly:
        result = call(function, value, Constant(pattern, STRING))
    else:
        result = read_by_strptime(value, format_.name)
    if isinstance(value, Constant) and value.value is not None and coercion.is_null(result):
        raise b.source.error(f"'{value.value}' is not of the format", node)
    if of_zone and b.rules.formats is Formats.DUCKDB:
        return instant_of(result, UTC, False)
    if not of_zone or zoning().zone == UTC:
        return result
    return cast(result, DATE) if function == "to_date" else session_timestamp(instant_of(result, UTC, False))


@reads(exp.StrToUnix, parts="this format", dialects=SPARK_FAMILY)
def unix_timestamp(b: ExpressionBinder, node: exp.StrToUnix) -> Expression:
    """UNIX_TIMESTAMP of a time, or of a text under a format: seconds since 1970 without their fraction."""
    value, format_ = b.bind(unwrapped(node.this)), node.args.get("format")
    if value.type.temporal:
        if format_ is not None:
            _read_format(b, node, format_, date_formats.to_read)
    else:
        if format_ is None:
            b.source.refuse("a text as a time without a format", node, "UNIX_TIMESTAMP(s, 'yyyy-MM-dd')")
        value = _parse(b, node, "to_timestamp", value, format_)
    return call("div", call("unix_micros", in_utc(b, coercion.as_time(value))), Constant(1_000_000, INTEGER))


@reads(exp.UnixToStr, parts="this format", dialects=SPARK_FAMILY)
def from_unixtime(b: ExpressionBinder, node: exp.UnixToStr) -> Expression:
    """FROM_UNIXTIME(seconds[, format]), a text."""
    format_ = node.args.get("format")
    if format_ is None:
        raise b.source.error("FROM_UNIXTIME takes seconds and a format", node)
    return _written(b, node, of_utc(b, call("timestamp_seconds", b.bind(node.this))), format_)


def _of_session(b: ExpressionBinder, value: Expression) -> Expression:
    return session_timestamp(cast(value, INSTANT))


def _without_format(b: ExpressionBinder, value: Expression) -> Expression:
    raise TypeClash("TRY_STRPTIME takes a text and a format", value)


_BY_NAME: dict[str, tuple[frozenset[str], str, Callable[[ExpressionBinder, Expression], Expression]]] = {
    **dict.fromkeys(("try_to_timestamp", "to_timestamp_ltz"), (SPARK_FAMILY, "to_timestamp", _of_session)),
    "to_timestamp_ntz": (SPARK_FAMILY, "to_timestamp", lambda b, value: cast(value, TIMESTAMP)),
    "try_to_date": (SPARK_FAMILY, "to_date", lambda b, value: cast(value, DATE)),
    "try_strptime": (ONLY_DUCKDB, "to_timestamp", _without_format),
}
"""Functions that the parser does not know: their dialects, what they call of a text and a format, and of one value."""


def _by_name(
    b: ExpressionBinder, node: exp.Expr, function: str, of_value: Callable[[ExpressionBinder, Expression], Expression]
) -> Expression:
    """TRY_TO_TIMESTAMP(x[, format]) and its like."""
    value, *formats = node.expressions or [None]
    if len(formats) > 1:
        raise TypeClash(f"{node.name.upper()} takes 1 to 2 arguments, not {len(node.expressions)}")
    bound = b.bind(value)
    if not formats or bound.type.temporal:
        return of_value(b, bound)
    return _parse(b, node, function, bound, formats[0])


@reads_call("to_time", "try_to_time", dialects=SPARK_FAMILY, hint="write CAST(x AS TIME)")
def to_time(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """TO_TIME(x[, format])."""
    value, *formats = node.expressions or [None]
    if len(formats) > 1:
        raise TypeClash(f"{node.name.upper()} takes 1 to 2 arguments, not {len(node.expressions)}")
    bound = b.bind(value)
    if formats and not coercion.is_null(bound):
        bound = _parse(b, node, "to_timestamp", bound, formats[0])
    return cast_to_time_of_day(b, bound, node)


for _name, (_dialects, _function, _of_value) in _BY_NAME.items():
    reads_call(_name, dialects=_dialects, hint="write CAST(x AS TIMESTAMP)")(
        partial(_by_name, function=_function, of_value=_of_value)
    )
