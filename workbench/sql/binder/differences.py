"""Constructs that mean something else in the text's dialect than what is evaluated, which are refused by name.

What is evaluated has the meaning of Spark, or of Oracle in ``oracle``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Constant, Expression, call_arguments, is_call, walk
from workbench.sql.algebra.types import BINARY, BOOLEAN, DOUBLE, STRING, Kind
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.numbers import NUMERIC_QUOTIENT
from workbench.sql.syntax.dialects import DATABASES
from workbench.sql.syntax.source_text import SourceText


@dataclass(frozen=True)
class _Difference:
    """A construct that means something else outside of Spark and Oracle.

    Attributes:
        what: how messages call it.
        hint: what to write instead.
        same: whether the bound expression means the same after all.
        only: the one dialect in which it differs, if it is one.
        but: dialects in which it means the same.
    """

    what: str
    hint: str
    same: Callable[[Expression], bool] = lambda bound: False
    only: str | None = None
    but: tuple[str, ...] = ()


def _has_plain_range(bound: Expression) -> bool:
    """A part of a text from a position and of a length that every database takes for the same."""
    least = (1, 0)
    return all(
        isinstance(a, Constant) and isinstance(a.value, int) and a.value >= m
        for a, m in zip(call_arguments(bound)[1:], least, strict=False)
    )


def _is_plain_cast(bound: Expression) -> bool:
    """A cast that neither rounds nor writes a number or a time as text."""
    if not isinstance(bound, Call) or bound.type.counted or bound.type.kind is Kind.ARRAY:
        return True  # elements of an array are cast one by one
    if bound.function != "cast":
        # Of a text, or as a text, as the dialect reads and writes it.
        made = bound.type
        is_read = made in (BOOLEAN, BINARY) or made.temporal or made.numeric or made.json
        return is_read or bound.function == "text_with_offset" or FUNCTIONS[bound.function].python is not None
    have, target = bound.arguments[0].type, bound.type
    if target.kind is Kind.INTEGER and isinstance(rounded := bound.arguments[0], Call) and _is_whole(rounded):
        return True  # as the dialect rounds
    if target.kind is Kind.INTEGER and have.kind is Kind.DECIMAL and not have.scale:
        return True  # nothing is rounded, as of a sum
    if target == STRING:
        return have.kind in (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN, Kind.STRING)
    if have == BOOLEAN and target.kind is Kind.INTEGER:
        return True
    return not (target.kind is Kind.INTEGER is not have.kind) and not (have == STRING and target.numeric)


def _is_text_as_it_is(node: exp.Expr, bound: Expression) -> bool:
    """A cast of a text to a text of any length."""
    converts = isinstance(bound, Call) and bound.function == "cast"
    return isinstance(node, exp.Cast) and bound.type == STRING and not converts and not node.args["to"].expressions


def _is_written_alike(node: exp.Expr, bound: Expression) -> bool:
    """A text made of values that postgres and duckdb write as spark does, whole or joined by ``||`` or CONCAT."""
    if not isinstance(node, exp.Cast | exp.TryCast | exp.DPipe | exp.Concat) or bound.type != STRING:
        return False
    joined = isinstance(node, exp.DPipe | exp.Concat)
    if isinstance(bound, Call) and bound.function == "substr" and not joined:  # VARCHAR(n)
        bound = bound.arguments[0]
        if not (isinstance(bound, Call) and bound.function == "cast"):
            return bound.type == STRING
    written = [p for p in (walk(bound) if joined else [bound]) if isinstance(p, Call)]
    texts = [p.arguments[0].type for p in written if p.function == "cast" and p.type == STRING]
    kinds = _WRITTEN - ({Kind.BOOLEAN} if isinstance(node, exp.Concat) else set())
    return bool(texts) and all(t.kind in kinds and t.scale <= _PLAIN_DIGITS for t in texts)


def _is_whole(rounded: Call) -> bool:
    return rounded.function == "rint" or (rounded.function == "round" and len(rounded.arguments) == 1)


def _has_same_text(bound: Expression) -> bool:
    """A concatenation of texts, integers and dates."""
    texts = (p for p in walk(bound) if isinstance(p, Call) and p.function == "cast" and p.type == STRING)
    return all(text.arguments[0].type.kind in (Kind.STRING, Kind.INTEGER, Kind.DATE) for text in texts)


def _keeps_digits(bound: Expression) -> bool:
    """Arithmetic whose result has all digits behind the point, as exact numbers have in PostgreSQL."""
    if bound.type.kind is not Kind.DECIMAL or not isinstance(bound, Call):
        return True
    scales = [each.type.scale for each in bound.arguments if each.type.kind is Kind.DECIMAL]
    return bound.type.scale >= (sum(scales) if bound.function == "*" else max(scales, default=0))


_WRITTEN = {Kind.STRING, Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP, Kind.DECIMAL, Kind.BOOLEAN}
_PLAIN_DIGITS = 6
"""Digits behind the point up to which Spark writes a DECIMAL without an exponent."""
_NULLS = "databases differ where a value is NULL"
_ROUNDING = "databases round differently here"
_WEEKDAY = "databases count days of the week from different days"
_CAST = _Difference("this cast", f"{_ROUNDING}, and write values differently: use DECIMAL(p,s)", _is_plain_cast)
_TEXT = _Difference(
    "SUBSTR from a position that is not a constant from 1",
    "write a constant position",
    _has_plain_range,
    but=tuple(DATABASES),
)
_DIFFERENT: dict[type[exp.Expr], _Difference] = {
    exp.Log: _Difference("LOG", "its base differs between databases: write LN(x), or LN(x) / LN(10)",
                       lambda bound: not is_call(bound, "ln") and not is_call(bound, "ln_ieee")),
    **dict.fromkeys(
        (exp.Greatest, exp.Least),
        _Difference("GREATEST or LEAST", f"{_NULLS}: write CASE WHEN a > b THEN a ELSE b END", but=tuple(DATABASES)),
    ),
    exp.Concat: _Difference("CONCAT of such values", "CAST(x AS VARCHAR) makes a text of each", _has_same_text),
    exp.DPipe: _Difference("|| of such values", "CAST(x AS VARCHAR) makes a text of each; between conditions write OR",
                         _has_same_text),
    exp.Substring: _TEXT,
    exp.Left: _TEXT,
    exp.Div: _Difference("/ of decimals", "databases keep different digits: CAST one side AS DOUBLE",
                       lambda bound: bound.type.kind is not Kind.DECIMAL or is_call(bound, NUMERIC_QUOTIENT)),
    exp.IntDiv: _Difference("integer division", "databases round differently below zero: write FLOOR(a / b)",
                         but=tuple(DATABASES)),
    exp.Round: _Difference("ROUND of a DOUBLE", f"{_ROUNDING}: CAST it AS DECIMAL(p,s) first",
                         lambda bound: bound.type != DOUBLE or not is_call(bound, "round")),
    exp.DayOfWeek: _Difference("the day of the week", _WEEKDAY, but=("duckdb",)),
    exp.WeekOfYear: _Difference("the number of the week", "databases number weeks differently", but=("duckdb",)),
    exp.RegexpLike: _Difference("a regular expression", "databases differ in them: write LIKE", but=tuple(DATABASES)),
    exp.Cast: _CAST,
    exp.TryCast: _CAST,
    exp.Avg: _Difference("AVG of exact numbers", "databases keep different digits: write AVG(CAST(x AS DOUBLE))",
                       lambda bound: (call_arguments(bound)[0].type == DOUBLE or bound.type.kind is Kind.TIMESTAMP
                                      or is_call(bound, NUMERIC_QUOTIENT))),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul),
                    _Difference("a result of that many digits", "CAST one side AS DECIMAL(p,s) with fewer of them",
                                _keeps_digits, "postgres")),
    exp.Quantile: _Difference("QUANTILE", "write PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x)"),
    exp.Trim: _Difference("TRIM without characters", "databases trim different blanks: write TRIM(BOTH ' ' FROM x)",
                        lambda bound: len(call_arguments(bound)) != 1, but=tuple(DATABASES)),
    **dict.fromkeys(
        (exp.Skewness, exp.Kurtosis),
        _Difference("this statistic", "some databases correct it for samples: make it of AVG(x), AVG(x * x), ..."),
    ),
}  # fmt: skip
"""Syntax node -> what is different about it."""
_AROUND_AGGREGATES = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
"""What stands around an aggregate, and is bound together with it."""
_OF_WEEKS = {"DOW", "DAYOFWEEK", "WEEK", "ISOWEEK", "DAYOFWEEKISO"}
_OF_ISO_WEEKS = {"DOW", "WEEK"}
"""Those that postgres and duckdb mean alike: days are counted from Sunday, 0, and weeks are those of ISO 8601."""


def refuse_different(source: SourceText, node: exp.Expr, bound: Expression) -> None:
    """Refuse a construct that means something else in the dialect of the text than ``bound``, which it was taken for.

    Raises:
        UnsupportedError: by name, with a hint.
    """
    dialect = source.dialect
    while isinstance(node, _AROUND_AGGREGATES):
        node = node.this
    if not source.rules.differs:
        if source.rules.greatest_differs and isinstance(node, (exp.Greatest, exp.Least)):
            _refuse(source, node, _DIFFERENT[exp.Greatest])
        return
    if _is_text_as_it_is(node, bound) or (source.rules.writes_values and _is_written_alike(node, bound)):
        return
    difference = _DIFFERENT.get(type(node))
    differs_here = difference is not None and difference.only in (None, dialect) and dialect not in difference.but
    if difference is not None and differs_here and not difference.same(bound):
        _refuse(source, node, difference)
    unit = node.name if isinstance(node, exp.Extract) else node.args["unit"].name if node.args.get("unit") else ""
    weeks = _OF_WEEKS - _OF_ISO_WEEKS if source.rules.iso_weeks else _OF_WEEKS
    if isinstance(node, (exp.Extract, exp.DateTrunc, exp.TimestampTrunc)) and unit.upper() in weeks:
        source.refuse(f"{unit.upper()} here", node, "databases begin and number weeks differently")


def _refuse(source: SourceText, node: exp.Expr, difference: _Difference) -> None:
    what = source.called(node) if difference.what == "GREATEST or LEAST" else difference.what
    source.refuse(what or difference.what, node, difference.hint)
