"""Functions of SQL text that are not one for one with ours: CASE and its kin, CAST, and text functions."""

from __future__ import annotations

import math
import re

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra.coercion import TypeClash, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
    integer,
    parse_type,
)
from workbench.sql.binder.operators import as_text
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.binder.temporal import cast_to_time, is_zoned
from workbench.sql.binder.times import interval_arithmetic
from workbench.sql.dialects import Rounding, TruthTexts
from workbench.sql.functions.calls import FUNCTIONS, call, cast
from workbench.sql.syntax.dialects import DATABASES, SPARK_FAMILY

_SYNONYMS = {"timestamptz": "timestamp", "timestampltz": "timestamp", "timestampntz": "timestamp",
             "nvarchar": "varchar"}  # fmt: skip
_BITS = {"tinyint": 8, "smallint": 16, "int": 32}
"""Type of integers -> its bits, but for dialects in which one type has all whole numbers."""
_NUMBER = r"\A\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*\z"
"""What text is a number in PostgreSQL, but for NaN, infinities and other bases."""
CASTS = {"bigint": INTEGER, "smallint": integer(16), "tinyint": integer(8), "binary": BINARY, "decimal": decimal(10, 0),
         "try_to_date": DATE, "to_timestamp_ntz": TIMESTAMP}  # fmt: skip
"""Functions of one argument that are casts."""
_MOST_DIGITS = 15
"""Digits behind the point to which a DOUBLE is rounded."""
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "MONDAY", "TUESDAY",
         "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")  # fmt: skip
_REGULAR: dict[type[exp.Expr], str] = {
    exp.RegexpExtract: "regexp_extract", exp.RegexpReplace: "regexp_replace", exp.RegexpCount: "regexp_count",
    exp.RegexpSubstr: "regexp_substr", exp.RegexpInstr: "regexp_instr", exp.RegexpExtractAll: "regexp_extract_all",
}  # fmt: skip
_NULL, _ONE = Constant(None, STRING), Constant(1, INTEGER)


def case(b: ExpressionBinder, node: exp.Case) -> Expression:
    """CASE of both forms."""
    subject = b.bind(node.this) if node.this else None
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        tested = call("=", subject, b.bind(branch.this)) if subject else b.condition(branch.this)
        parts += [tested, b.bind(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, b.bind(default) if default is not None else _NULL)


def if_(b: ExpressionBinder, node: exp.If) -> Expression:
    """IF(condition, then, else)."""
    condition, (then, *otherwise) = b.condition(node.this), b.parts(node, "true", "false")
    return call("case", condition, then, *(otherwise or [_NULL]))


def decode(b: ExpressionBinder, node: exp.DecodeCase) -> Expression:
    """DECODE finds NULL by NULL."""
    subject, *rest = b.parts(node, "expressions")
    default = rest.pop() if len(rest) % 2 else _NULL
    pairs = zip(rest[0::2], rest[1::2], strict=True)
    return call("case", *(e for search, value in pairs for e in (call("<=>", subject, search), value)), default)


def rounded(b: ExpressionBinder, node: exp.Round) -> Expression:
    """ROUND; of a DOUBLE some compute it in DOUBLE, round(x * 100) / 100, where others round the digits."""
    value, *digits = b.parts(node, "this", "decimals")
    if not b.rules.rounds_in_double or value.type != DOUBLE:
        return call("round", value, *digits)
    places = digits[0] if digits else Constant(0, INTEGER)
    if not isinstance(places, Constant) or not isinstance(places.value, int) or not 0 <= places.value <= _MOST_DIGITS:
        b.source.refuse("ROUND to such digits", node, "write a constant number of digits, as in ROUND(x, 2)")
    return call("round_scaled", value, places)


def nvl2(b: ExpressionBinder, node: exp.Nvl2) -> Expression:
    """NVL2(x, if not null, if null)."""
    value, present, absent = (b.bind(node.args.get(key)) for key in ("this", "true", "false"))
    return call("case", call("is_null", value), absent, present)


def greatest_or_least(b: ExpressionBinder, node: exp.Greatest | exp.Least) -> Expression:
    """GREATEST and LEAST, which pass over NULLs or are NULL where an argument is."""
    parts = b.parts(node, "this", "expressions")
    result = call("greatest" if isinstance(node, exp.Greatest) else "least", *parts)
    if not b.rules.greatest_of_null_is_null:
        return result
    return call("case", call("or", *(call("is_null", p) for p in parts)), _NULL, result)


def cast_(b: ExpressionBinder, node: exp.Cast | exp.TryCast) -> Expression:
    """CAST, which gives NULL for a value that does not convert."""
    to = node.args["to"]
    if to.this == exp.DType.INTERVAL and b.rules.clock_in_intervals:
        return interval_arithmetic.literal(b, node)
    if isinstance(node.this, exp.Literal) and to.this == exp.DType.TIMESTAMP:
        digits = node.this.name.partition(".")[2]
        if all(len(digits) <= int(parameter.name) for parameter in to.expressions):
            # Some dialects give a TIMESTAMP constant a number of digits, which it has no use for.
            to = exp.DataType(this=to.this)
    type_ = _type(b, to)
    if type_ == STRING and b.rules.offset_in_texts and is_zoned(b, node.this.unnest()):
        b.source.refuse("the text of a TIMESTAMP WITH TIME ZONE", node, "databases write its offset: leave it a time")
    value = b.bind(node.this)
    length = node.args["to"].expressions
    if type_.temporal:
        return cast_to_time(b, value, type_, node)
    if type_.kind is Kind.INTEGER and value.type.kind in (Kind.DECIMAL, Kind.DOUBLE):
        value = _rounded_as(b.rules.cast_to_integer, value)
    if type_.kind is Kind.INTEGER and b.rules.checks_number_texts and value.type == STRING and not is_null(value):
        whole = call("rlike", value, Constant(r"\A\s*[+-]?[0-9]+\s*\z", STRING))
        number = cast(call("trim", value, Constant(" \t\n\r\f\v", STRING)), type_)
        return call("case", whole, number, Constant(None, type_))
    if type_.numeric and b.rules.checks_number_texts and value.type == STRING and not is_null(value):
        written = call("rlike", value, Constant(_NUMBER, STRING))
        number = cast(call("trim", value, Constant(" \t\n\r\f\v", STRING)), type_)
        return call("case", written, number, Constant(None, type_))
    if type_ == BOOLEAN and value.type == STRING and b.rules.truth_texts is not None:
        return _truth(value, b.rules.truth_texts)
    result = as_text(b, value, node) if type_ == STRING else cast(value, type_)
    if type_ == STRING and length:
        return call("substr", result, _ONE, Constant(int(length[0].name), INTEGER))
    return result


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
    name = str(node.this.value if hasattr(node.this, "value") else node.this).lower()
    name = _SYNONYMS.get(name, name)
    if name in ("decimal", "numeric"):
        digits = [p.name for p in node.expressions]
        if not digits and b.rules.decimal_digits is None:
            hint = "databases differ in how many it keeps: DECIMAL(p,s)"
            b.source.refuse(f"{name.upper()} without digits", node.parent or node, hint)
        name += f"({','.join(digits or map(str, b.rules.decimal_digits or ()))})"
    elif name == "char" or (node.expressions and name != "varchar"):  # CHAR pads with blanks
        b.source.refuse(f"the type {node.sql()}", node.parent or node)
    if name in ("binary", "varbinary") and not node.expressions:
        if b.dialect not in SPARK_FAMILY:
            b.source.refuse(f"the type {node.sql()} in {b.dialect}", node.parent or node, "write it in spark")
        return BINARY
    if name in _BITS and b.rules.integer_widths:
        return integer(_BITS[name])
    try:
        return parse_type(name)
    except SqlError:
        b.source.refuse(f"the type {node.sql()}", node.parent or node)


def substring(b: ExpressionBinder, node: exp.Substring) -> Expression:
    """SUBSTR, where position 0 means 1."""
    parts = b.parts(node, "this", "start", "length")
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


def left(b: ExpressionBinder, node: exp.Left) -> Expression:
    """LEFT(text, n)."""
    return call("substr", b.bind(node.this), _ONE, b.bind(node.expression))


def position(b: ExpressionBinder, node: exp.StrPosition) -> Expression:
    """INSTR, POSITION and their like: the first occurrence, counted from 1."""
    for key in ("position", "occurrence"):
        if node.args.get(key) is not None and b.bind(node.args[key]) != _ONE:
            b.source.refuse(f"{b.source.called(node)} of another place than the first", node, "it finds the first")
    return call("instr", *b.parts(node, "this", "substr"))


def trim(b: ExpressionBinder, node: exp.Trim) -> Expression:
    """TRIM, LTRIM and RTRIM, of blanks or of a set of characters."""
    position = node.args.get("position")
    if isinstance(position, exp.Expr):  # BTRIM(s, t, u)
        raise b.source.error("TRIM takes at most 2 arguments", position)
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position or "", "trim")
    return _null_if_empty(b, call(name, *b.parts(node, "this", "expression")))


def pad(b: ExpressionBinder, node: exp.Pad) -> Expression:
    """LPAD and RPAD to a constant length."""
    length = b.bind(node.expression)
    if not (isinstance(length, Constant) and isinstance(length.value, int) and length.value <= 65_535):
        b.source.refuse("padding to a length that is not a constant below 65536", node.expression)
    fill = b.bind(node.args["fill_pattern"]) if node.args.get("fill_pattern") else Constant(" ", STRING)
    return call("lpad" if node.args.get("is_left") else "rpad", b.bind(node.this), length, fill)


def replace(b: ExpressionBinder, node: exp.Replace) -> Expression:
    """REPLACE, with nothing when no replacement is given."""
    subject, searched, *by = b.parts(node, "this", "expression", "replacement")
    if b.rules.empty_text_is_null and is_null(searched):
        return subject
    # Where '' is NULL, it stands for nothing here.
    empty = Constant("", STRING)
    replacement = by[0] if by and not (b.rules.empty_text_is_null and is_null(by[0])) else empty
    result = call("replace", subject, searched, replacement)
    return _null_if_empty(b, result) if replacement == empty else result


def remainder(b: ExpressionBinder, node: exp.Mod) -> Expression:
    """MOD and %; by zero it is NULL, or the first argument."""
    value, divisor = b.parts(node, "this", "expression")
    result = call("%", value, divisor)
    if not b.rules.remainder_by_zero_is_dividend or (isinstance(divisor, Constant) and divisor.value):
        return result
    return call("case", call("=", divisor, Constant(0, INTEGER)), value, result)


def log(b: ExpressionBinder, node: exp.Log) -> Expression:
    """LOG(x) and LOG(base, x)."""
    if node.expression is None:
        if b.rules.log is None:
            b.source.refuse("LOG without a base", node, "write LN(x), or LOG(10, x)")
        return call(b.rules.log, b.bind(node.this))
    base, value = b.bind(node.this), b.bind(node.expression)
    if base == Constant(10, INTEGER):
        return call("log10", value)
    return call("/", call("ln", value), call("ln", base))


def refuse_elsewhere(b: ExpressionBinder, function: str, node: exp.Expr) -> None:
    """Refuse a function of Spark in a dialect in which it may mean something else, or raises at what is NULL here."""
    if b.dialect not in (FUNCTIONS[function].dialects if function in FUNCTIONS else SPARK_FAMILY):
        called = (b.source.called(node) or function).upper()
        b.source.refuse(
            f"{called} in {b.dialect}", node, "what it means there was not compared with Spark: write it in spark"
        )
    if b.dialect in DATABASES and function == "right" and not _is_number(node.expression, 0):
        b.source.refuse("RIGHT of what is no constant number", node, "below 0 databases differ")
    if b.dialect in DATABASES and function == "split_part":
        separator = node.args.get("delimiter")
        constant = isinstance(separator, exp.Literal) and separator.is_string and separator.name
        if not (constant and _is_number(node.args.get("part_index"), 1)):
            b.source.refuse("this SPLIT_PART", node, "write a constant separator, and a constant place from 1 on")
    if function == "next_day":
        day = node.args.get("expression")
        if not isinstance(day, exp.Literal) or day.name.upper() not in _DAYS:
            b.source.refuse("NEXT_DAY of what is no constant day", node, "as in NEXT_DAY(d, 'MON')")


def _is_number(node: exp.Expr | None, least: int) -> bool:
    return isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) >= least


def length(b: ExpressionBinder, node: exp.Length) -> Expression:
    """LENGTH of a text or of bytes; and of an array where the dialect has it."""
    value = b.bind(node.this)
    if value.type == BINARY:
        return call("length_of_bytes", value)
    return call("array_size" if b.rules.length_of_arrays and value.type.kind is Kind.ARRAY else "length", value)


def named(function: str, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """A function that the parser leaves as a plain name."""
    if b.dialect not in FUNCTIONS[function].dialects:
        raise TypeClash(f"{function.upper()} is read in spark only", hint="what it means elsewhere was not compared")
    return call(function, *arguments)


def cast_named(type_: DataType, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """BIGINT(x) and its kin."""
    if b.dialect not in SPARK_FAMILY or len(arguments) != 1:
        raise TypeClash("a cast takes one argument, in spark", hint=f"write CAST(x AS {type_.kind})")
    return cast(arguments[0], type_)


def positive(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """POSITIVE(x), a number as it is."""
    if len(arguments) != 1 or not arguments[0].type.numeric:
        raise TypeClash("POSITIVE takes a number")
    return arguments[0]


def parse_url(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """PARSE_URL(url, part[, key]), which is NULL for what is no URL."""
    if b.dialect not in SPARK_FAMILY or len(arguments) not in (2, 3):
        raise TypeClash("PARSE_URL takes a URL, a part and a key, in spark", hint="PARSE_URL(s, 'QUERY', 'page')")
    return call("try_parse_url", *arguments)


def overlay(b: ExpressionBinder, node: exp.Overlay) -> Expression:
    """OVERLAY(text PLACING other FROM place [FOR length]); without a length that of the other."""
    refuse_elsewhere(b, "overlay", node)
    parts = b.parts(node, "this", "expression", "from_", "for_")
    return call("overlay", *parts, *[Constant(-1, INTEGER)][: 4 - len(parts)])


def euler(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """E(), the base of the natural logarithm."""
    if arguments:
        raise TypeClash("E takes no arguments")
    return Constant(math.e, DOUBLE)


def split_index(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """Flink's SPLIT_INDEX(text, separator, n): the part between separators, the first one for 0; NULL beyond the last.

    Example:
        >>> # SPLIT_INDEX('a/b', '/', 1) is 'b', and SPLIT_INDEX('a/b', '/', 2) is NULL
    """
    text, separator, place = arguments if len(arguments) == 3 else (None, None, None)
    if not isinstance(separator, Constant) or not isinstance(separator.value, str) or not separator.value:
        raise TypeClash("SPLIT_INDEX takes a text, a constant separator and a number")
    assert text is not None and place is not None
    found = call("-", call("length", text), call("length", call("replace", text, separator, Constant("", STRING))))
    parts = call("div", found, Constant(len(separator.value), INTEGER))
    within = call("and", call(">=", place, Constant(0, INTEGER)), call("<=", place, parts))
    part = call("split_part", text, separator, call("+", place, _ONE))
    return call("case", within, part, _NULL)


def regular_expression(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """REGEXP_EXTRACT, REGEXP_REPLACE and their like, with constant patterns of Java."""
    name = _REGULAR[type(node)]
    refuse_elsewhere(b, name, node)
    pattern = b.bind(node.expression)
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression)
    try:
        groups = re.compile(pattern.value).groups
    except re.error as error:
        raise b.source.error(f"not a regular expression: {error}", node.expression) from None
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


def capitalized(b: ExpressionBinder, node: exp.Initcap) -> Expression:
    """INITCAP, whose words are what blanks separate."""
    refuse_elsewhere(b, "initcap", node)
    if node.expression is not None and node.expression.name != " ":
        b.source.refuse("INITCAP with delimiters", node)
    return call("initcap", b.bind(node.this))
