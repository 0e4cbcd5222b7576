"""Dialects whose text means here what it means there: which are read, and what in them is refused.

What is evaluated has the meaning of Spark, or of Oracle in ``oracle``. In the other dialects that are read, a construct
that means something else there is refused by name; a dialect that differs as a whole is refused itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Call, Constant, Expression, walk
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, Kind

if TYPE_CHECKING:
    from workbench.sql.syntax.caret import SourceText

SPARK_FAMILY = frozenset({"spark", "spark2", "databricks", "hive"})
EXAMINED = SPARK_FAMILY | {"oracle", "postgres", "duckdb", "bigquery", "presto", "trino"}
"""The dialects that are read."""
_NO_CASE = "it compares texts without regard to upper and lower case"
_REASONS = {
    **dict.fromkeys(("mysql", "tsql", "fabric", "singlestore", "teradata"), _NO_CASE),
    "redshift": "it compares texts without regard to blanks at their end",
    "exasol": "it takes the empty text for NULL",
    "sqlite": "its values have types of their own, whatever the column",
    "clickhouse": "it gives 0 and not NULL where there are no values",
    "snowflake": "its divisions and averages keep six digits",
}


def refuse_dialect(dialect: str) -> None:
    """Refuse a dialect that as a whole means something else.

    Raises:
        UnsupportedError: with the reason.

    Example:
        >>> try:
        ...     refuse_dialect("exasol")
        ... except UnsupportedError as error:
        ...     print(error.message)
        the dialect exasol is not supported: it takes the empty text for NULL
    """
    if dialect not in EXAMINED:
        reason = _REASONS.get(dialect, "what its functions mean was not compared with what is evaluated")
        raise UnsupportedError(
            f"the dialect {dialect} is not supported: {reason}",
            hint=f"write the query in spark or oracle; {', '.join(sorted(EXAMINED - SPARK_FAMILY - {'oracle'}))} are "
            "read too",
        )


@dataclass(frozen=True)
class _Difference:
    """A construct that means something else outside Spark and Oracle, unless ``same`` holds; or in one dialect."""

    what: str
    hint: str
    same: Callable[[Expression], bool] = lambda bound: False
    only: str | None = None


def _arguments(bound: Expression) -> tuple[Expression, ...]:
    return bound.arguments if isinstance(bound, Call) else ()


def _counted(bound: Expression) -> bool:
    """A part of a text from a position and of a length that every database takes for the same."""
    least = (1, 0)
    return all(
        isinstance(a, Constant) and isinstance(a.value, int) and a.value >= m
        for a, m in zip(_arguments(bound)[1:], least, strict=False)
    )


def _plain_cast(bound: Expression) -> bool:
    """A cast that neither rounds nor writes a number or a moment as text."""
    if not isinstance(bound, Call):
        return True
    if bound.function != "cast":
        return False
    have, wanted = bound.arguments[0].type, bound.type
    if wanted == STRING:
        return have.kind in (Kind.INTEGER, Kind.DATE)
    return not (wanted == INTEGER and have != INTEGER) and not (have == STRING and wanted.numeric)


def _same_text(bound: Expression) -> bool:
    """A concatenation of texts, integers and dates."""
    written = (p.arguments[0].type.kind for p in walk(bound) if isinstance(p, Call) and p.function == "cast")
    return all(kind in (Kind.STRING, Kind.INTEGER, Kind.DATE) for kind in written)


def _not_of_texts(bound: Expression) -> bool:
    if not isinstance(bound, Call):
        return bound.type != STRING
    return not any(isinstance(p, Call) and p.function in _ORDERS and p.arguments[0].type == STRING for p in walk(bound))


_ORDERS = ("<", "<=", ">", ">=")
_NULLS = "databases differ where a value is NULL"
_ROUNDING = "databases round differently here"
_WEEKDAY = "databases count days of the week from different days"
_ORDER = _Difference("the order of texts", "it depends on the database's collation", _not_of_texts, "postgres")
_CAST = _Difference("this cast", f"{_ROUNDING}, and write values differently: use DECIMAL(p,s)", _plain_cast)
_TEXT = _Difference("SUBSTR from a position that is not a constant from 1", "write a constant position", _counted)
_DIFFERENT = {
    "Log": _Difference("LOG", "its base differs between databases: write LN(x), or LN(x) / LN(10)",
                       lambda bound: isinstance(bound, Call) and bound.function != "ln"),
    **dict.fromkeys(
        ("Greatest", "Least"),
        _Difference("GREATEST or LEAST", f"{_NULLS}: write CASE WHEN a > b THEN a ELSE b END"),
    ),
    "Concat": _Difference("CONCAT", f"{_NULLS}: write ||"),
    "DPipe": _Difference("|| of such values", "databases write numbers and times differently", _same_text),
    "Substring": _TEXT,
    "Left": _TEXT,
    "Div": _Difference("/ of decimals", "databases keep different digits: CAST one side AS DOUBLE",
                       lambda bound: bound.type.kind is not Kind.DECIMAL),
    "IntDiv": _Difference("integer division", "databases round differently below zero: write FLOOR(a / b)"),
    "Round": _Difference("ROUND of a DOUBLE", f"{_ROUNDING}: CAST it AS DECIMAL(p,s) first",
                         lambda bound: bound.type != DOUBLE),
    "DayOfWeek": _Difference("the day of the week", _WEEKDAY),
    "WeekOfYear": _Difference("the number of the week", "databases number weeks differently"),
    "RegexpLike": _Difference("a regular expression", "databases differ in them: write LIKE"),
    "Cast": _CAST,
    "TryCast": _CAST,
    "Avg": _Difference("AVG of exact numbers", "databases keep different digits: write AVG(CAST(x AS DOUBLE))",
                       lambda bound: _arguments(bound)[0].type == DOUBLE),
    "Quantile": _Difference("QUANTILE", "write PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x)"),
    "ToNumber": _Difference("TO_NUMBER", "CAST it AS DECIMAL(p,s)"),
    "Trim": _Difference("TRIM without characters", "databases trim different blanks: write TRIM(BOTH ' ' FROM x)",
                        lambda bound: len(_arguments(bound)) != 1),
    **dict.fromkeys(("LT", "LTE", "GT", "GTE", "Between", "Min", "Max"), _ORDER),
}  # fmt: skip
"""Syntax node -> what is different about it."""
_OF_WEEKS = {"DOW", "DAYOFWEEK", "WEEK", "ISOWEEK", "DAYOFWEEKISO"}


def refuse_different(source: SourceText, dialect: str, node: exp.Expr, bound: Expression) -> None:
    """Refuse a construct that means something else in the dialect than it does here.

    Args:
        source: the text, for the place.
        dialect: of the text.
        node: the construct.
        bound: what it was taken for.

    Raises:
        UnsupportedError: by name, with a hint.
    """
    if dialect in SPARK_FAMILY:
        # Hive gives NULL as soon as one argument is.
        if dialect == "hive" and isinstance(node, (exp.Greatest, exp.Least)):
            _refuse(source, node, _DIFFERENT["Greatest"])
        return
    if dialect == "oracle":
        return
    difference = _DIFFERENT.get(type(node).__name__)
    if difference is not None and difference.only in (None, dialect) and not difference.same(bound):
        _refuse(source, node, difference)
    unit = node.name if isinstance(node, exp.Extract) else node.args["unit"].name if node.args.get("unit") else ""
    if isinstance(node, (exp.Extract, exp.DateTrunc, exp.TimestampTrunc)) and unit.upper() in _OF_WEEKS:
        source.refuse(f"{unit.upper()} here", node, "databases begin and number weeks differently")


def _refuse(source: SourceText, node: exp.Expr, difference: _Difference) -> None:
    what = source.called(node) if difference.what == "GREATEST or LEAST" else difference.what
    source.refuse(what or difference.what, node, difference.hint)
