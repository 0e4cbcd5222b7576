"""Expressions, predicates and aggregates in the SQL of other databases, with the values that they have here.

What has another meaning there is written so that it has this one: a quotient by zero is NULL, texts compare by their
bytes, NULLs and NaN have their places in an order. What cannot be is refused. A value that overflows is NULL where the
database can do that, and otherwise an error of it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from workbench.errors import UnsupportedError
from workbench.explain.portable.dialects import PortableDialect
from workbench.sql.algebra.analytic import RANKS, AnalyticCall, Over
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, walk
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DOUBLE, INTEGER, MAX_PRECISION, DataType, Kind, decimal
from workbench.sql.functions.aggregate_rules import EXACT_SUM
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.predicates.cnf import Literal, Operator, PredSet
from workbench.sql.render.spark_sql import literal_to_spark, to_spark

ColumnNames = Callable[[Column], str]

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_ORDERED = frozenset({Kind.INTEGER, Kind.DATE, Kind.DECIMAL})
_PARTS = {"year": "YEAR", "month": "MONTH", "quarter": "QUARTER", "hour": "HOUR", "minute": "MINUTE"}
_SAME = {"coalesce": "COALESCE", "nullif": "NULLIF", "greatest": "GREATEST", "least": "LEAST"}
_MOST_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class PortableWriter:
    """Writes expressions.

    Attributes:
        to: the database.
        names: the text of a column.
    """

    to: PortableDialect
    names: ColumnNames

    def expression(self, expression: Expression) -> str:
        """An expression.

        Raises:
            UnsupportedError: it cannot be written; the message names the operator.
        """
        self.to.type_name(expression.type)  # a type that it has not
        match expression:
            case Column():
                return self.names(expression)
            case Constant(value, type_):
                return self._constant(value, type_)
            case Call():
                written = self._call(expression)
                if len(written) > _MOST_CHARACTERS:
                    raise UnsupportedError(f"{expression.function} is too long when it is written for {self.to.name}")
                return written

    def predicates(self, predicates: PredSet) -> str:
        """A conjunction.

        Raises:
            UnsupportedError: as ``expression``.
        """
        return " AND ".join(self._or(predicate.literals) for predicate in predicates) or "TRUE"

    def aggregate(self, call: AggregateCall) -> str:
        """A statistic of a group."""
        distinct = "DISTINCT " * call.distinct
        function = call.function
        if function == "count":
            if not call.arguments:
                return "COUNT(*)"
            if len(call.arguments) > 1:
                raise self._refused("COUNT of several values")
            return f"COUNT({distinct}{self._equal(call.arguments[0])})"
        if function in (EXACT_SUM, "exact_total", "rounded_total"):
            return f"SUM({distinct}{self.expression(call.arguments[0])})"  # sums of DOUBLE are binary there
        if function == "total":
            return f"COALESCE({self._narrowed(self._sum(call, distinct), INTEGER)}, 0)"
        if function == "sum":
            return self._narrowed(self._sum(call, distinct), call.type)
        if function in ("min", "max") and len(call.arguments) == 1:
            argument = call.arguments[0]
            if argument.type.kind is Kind.BOOLEAN:
                if not self.to.bool_aggregates:
                    raise self._refused(f"{function.upper()} of truth values")
                return f"BOOL_{'AND' if function == 'min' else 'OR'}({self.expression(argument)})"
            return f"{function.upper()}({self._ordered(argument)})"
        raise self._refused(f"the aggregate {function}")

    def analytic(self, call: AnalyticCall) -> str:
        """An analytic function."""
        if call.ignore_nulls:
            raise self._refused(f"{call.function} IGNORE NULLS")
        by_place = call.function not in RANKS[1:] and not (call.frame is None and call.function in ("sum", "count"))
        over = self.over(call.over, by_place)
        frame = "" if call.frame is None else f" {call.frame.text}"
        if call.frame is not None and call.frame.unit != "rows":
            raise self._refused(f"a frame by {call.frame.unit}")
        if call.function in RANKS:
            return f"{call.function.upper()}() OVER ({over})"
        if call.function in ("lag", "lead"):
            value, by, *default = call.arguments
            # An offset is of BIGINT, which Spark takes for none.
            offset = str(by.value) if isinstance(by, Constant) and by.value is not None else self.expression(by)
            arguments = ", ".join((self.expression(value), offset, *map(self.expression, default)))
            return f"{call.function.upper()}({arguments}) OVER ({over})"
        if call.function in ("sum", "count", "min", "max"):
            aggregate = AggregateCall(call.function, call.arguments, call.type)
            if call.function == "sum":
                return self._narrowed(f"{self._sum(aggregate, '')} OVER ({over}{frame})", call.type)
            return f"{self.aggregate(aggregate)} OVER ({over}{frame})"
        raise self._refused(f"the analytic function {call.function}")

    def over(self, over: Over, by_place: bool) -> str:
        """How rows are partitioned and ordered; with ``by_place`` rows that are equal in the order by their ties."""
        keys = [*over.order, *(map(SortKey, over.ties) if by_place else ())]
        partition = f"PARTITION BY {', '.join(map(self._equal, over.partition))}" if over.partition else ""
        order = f"ORDER BY {self.order(keys)}" if keys else ""
        return " ".join(part for part in (partition, order) if part)

    def order(self, keys: Iterable[SortKey]) -> str:
        """Sort keys."""
        return ", ".join(f"{self._ordered(key.expression)}{key.direction}" for key in keys)

    def cast(self, written: str, type_: DataType) -> str:
        """A text with a type."""
        return f"CAST({written} AS {self.to.type_name(type_)})"

    def _refused(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{what} cannot be written for {self.to.name} with the values that it has here")

    def _or(self, literals: Iterable[Literal]) -> str:
        parts = [*map(self._literal, literals)]
        return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"

    def _literal(self, literal: Literal) -> str:
        if literal.operator is Operator.HOLDS:
            return f"({self.expression(literal.left)})"
        if literal.right is None:
            return f"({self.expression(literal.left)} {literal.operator.upper()})"
        return self._compared(literal.left, literal.operator, literal.right)

    def _compared(self, left: Expression, operator: str, right: Expression) -> str:
        write = self._equal if operator in ("=", "<>") else self._ordered
        return f"({write(left)} {operator} {write(right)})"

    def _equal(self, expression: Expression) -> str:
        """A value that is compared with equal ones: 0.0 and -0.0 are equal, as they are in SQL."""
        return self.expression(expression)

    def _ordered(self, expression: Expression) -> str:
        """A value that is compared by size."""
        written = self.expression(expression)
        return f"({written}){self.to.bytewise}" if expression.type.kind is Kind.STRING and self.to.bytewise else written

    def _sum(self, call: AggregateCall, distinct: str) -> str:
        argument = call.arguments[0]
        total = self.to.total if argument.type.kind is Kind.INTEGER else "SUM({}{})"
        return total.format(distinct, self.expression(argument))

    def _narrowed(self, written: str, type_: DataType) -> str:
        """A sum with its own type; one that is beyond it is NULL, where the database can do that."""
        if type_.kind is Kind.DOUBLE:
            return written
        if self.to.try_cast:
            return self.to.try_cast.format(written, self.to.type_name(type_))
        return self.cast(written, type_)

    def _call(self, call: Call) -> str:
        function, arguments = call.function, call.arguments
        match function, arguments:
            case "not", (condition,):
                return f"(NOT {self.expression(condition)})"
            case "and" | "or", _:
                return "(" + f" {function.upper()} ".join(map(self.expression, arguments)) + ")"
            case "is_null", (value,):
                return f"({self.expression(value)} IS NULL)"
            case "<=>", (left, right):
                return f"({self._equal(left)} IS NOT DISTINCT FROM {self._equal(right)})"
            case operator, (left, right) if operator in _COMPARISONS:
                return self._compared(left, operator, right)
            case "in", (value, *choices):
                return f"({self._equal(value)} IN ({', '.join(map(self._equal, choices))}))"
            case "case", (*pairs, otherwise):
                whens = zip(pairs[::2], pairs[1::2], strict=True)
                parts = "".join(f"WHEN {self.expression(c)} THEN {self._as(v, call.type)} " for c, v in whens)
                return f"CASE {parts}ELSE {self._as(otherwise, call.type)} END"
            case (("coalesce" | "nullif"), _):
                return f"{_SAME[function]}({', '.join(self._as(a, call.type) for a in arguments)})"
            case (("greatest" | "least"), _) if self.to.skips_nulls and call.type.kind in _ORDERED:
                return f"{_SAME[function]}({', '.join(self._as(a, call.type) for a in arguments)})"
            case "cast", (value,):
                return self._cast(value, call.type)
            case "within", (value,):
                return self.expression(value)
            case "||", _ if all(a.type.kind is Kind.STRING for a in arguments):
                return "(" + " || ".join(map(self.expression, arguments)) + ")"
            case "-", (left, right) if left.type.kind is right.type.kind is Kind.DATE:
                return self.cast(self.to.days_between.format(self.expression(left), self.expression(right)), INTEGER)
            case (("+" | "-"), (day, days)) if day.type.kind is Kind.DATE and days.type.kind is Kind.INTEGER:
                return self.to.days_later.format(self.expression(day), self.expression(days), function)
            case "unix_micros", (time,) if self.to.micros:
                return self.to.micros.format(self.expression(time))
            case "add_seconds", (time, Constant(int() as seconds)):
                return self.to.seconds_later.format(self.expression(time), abs(seconds), "-" if seconds < 0 else "+")
            case name, (value,) if name in _PARTS and value.type.kind in (Kind.DATE, Kind.TIMESTAMP):
                return self.cast(f"EXTRACT({_PARTS[name]} FROM {self.expression(value)})", INTEGER)
            case "length", (value,) if value.type.kind is Kind.STRING:
                return self.cast(f"CHAR_LENGTH({self.expression(value)})", INTEGER)
            case "like", (value, Constant(str() as pattern), *rest) if not rest and "\\" not in pattern:
                return f"({self.expression(value)} LIKE {self._text(pattern)} ESCAPE '\\')"
        if all(a.type.kind in _NUMBERS for a in arguments) and call.type.kind in _NUMBERS:
            return self._number(call)
        raise self._refused(function.upper())

    def _number(self, call: Call) -> str:
        """Arithmetic."""
        function, arguments, type_ = call.function, call.arguments, call.type
        exact = type_.kind is not Kind.DOUBLE
        match function, arguments:
            case "neg", (value,):
                return self._fitting(f"-({self._wide(value, type_)})", type_)
            case "abs", (value,):
                return self._fitting(f"ABS({self._wide(value, type_)})", type_)
            case (("+" | "-" | "*"), (left, right)):
                if exact and type_.kind is Kind.DECIMAL and _digits(function, left.type, right.type) > MAX_PRECISION:
                    raise self._refused(f"{function} of decimals with more than {MAX_PRECISION} digits")
                return self._fitting(f"({self._wide(left, type_)} {function} {self._wide(right, type_)})", type_)
            case "/", (left, right) if not exact:
                divisor = f"NULLIF({self._as(right, DOUBLE)}, 0)"
                return f"({self._as(left, DOUBLE)} / {divisor})"
            case "/" | "average", (left, right) if type_.kind is Kind.DECIMAL:
                return self._quotient(left, right, type_)
            case "average", (left, right) if not exact:
                return f"({self._as(left, DOUBLE)} / NULLIF({self.expression(right)}, 0))"
            case "%", (left, right) if exact:
                return self._fitting(f"({self._wide(left, type_)} % NULLIF({self._wide(right, type_)}, 0))", type_)
            case "div", (left, right) if left.type.kind is right.type.kind is Kind.INTEGER:
                return f"({self.expression(left)} {self.to.whole_quotient} NULLIF({self.expression(right)}, 0))"
        raise self._refused(function.upper())

    def _quotient(self, left: Expression, right: Expression, type_: DataType) -> str:
        """The quotient of decimals, rounded half up; of whole numbers where a database has only a binary one."""
        a, b = self.expression(left), self.expression(right)
        if not self.to.quotient:
            raise self._refused("a quotient of decimals")
        if self.to.quotient == "/":
            wide = self.cast(a, decimal(MAX_PRECISION, _scale(left.type)))
            return self.cast(f"({wide} / NULLIF({b}, 0))", type_)
        scale = _scale(right.type)
        n = f"CAST(({a}) * {10 ** (type_.scale + scale)} AS {self.to.wide})"
        d = f"NULLIF(CAST(({b}) * {10**scale} AS {self.to.wide}), 0)"
        rounded = f"SIGN({n}) * SIGN({d}) * ((2 * ABS({n}) + ABS({d})) {self.to.quotient} (2 * ABS({d})))"
        unit = (
            f"CAST('{Decimal(1).scaleb(-type_.scale):f}' AS {self.to.type_name(decimal(MAX_PRECISION, type_.scale))})"
        )
        return self._narrowed(f"CAST({rounded} AS DECIMAL(38, 0)) * {unit}", type_)

    def _wide(self, expression: Expression, result: DataType) -> str:
        """A number that takes part in arithmetic; an integer so wide that nothing overflows, if that exists."""
        if result.kind is Kind.DOUBLE:
            return self._as(expression, DOUBLE)
        written = self.expression(expression)
        if result.kind is Kind.INTEGER and self.to.wide:
            return f"CAST({written} AS {self.to.wide})"
        return written if isinstance(expression, Column) else f"({written})"

    def _fitting(self, written: str, type_: DataType) -> str:
        if type_.kind is Kind.DOUBLE:
            return written
        return self._narrowed(written, type_)

    def _as(self, expression: Expression, type_: DataType) -> str:
        """A value of a type that has it exactly."""
        written = self.expression(expression)
        if expression.type == type_:
            return written
        if type_ == DOUBLE and expression.type.kind is Kind.DECIMAL:
            return self._cast(expression, DOUBLE)
        return self.cast(written, type_)

    def _cast(self, value: Expression, type_: DataType) -> str:
        """CAST between types that all databases convert alike."""
        written, of, to = self.expression(value), value.type.kind, type_.kind
        is_constant_null = isinstance(value, Constant) and value.value is None
        if is_constant_null or value.type == type_:
            return self.cast(written, type_)
        match of, to:
            case (
                (Kind.INTEGER, Kind.DOUBLE | Kind.STRING)
                | (Kind.DECIMAL, Kind.DOUBLE)
                | (Kind.DATE, Kind.TIMESTAMP)
                | (Kind.TIMESTAMP, Kind.DATE)
            ):
                return self.cast(written, type_)
            case (Kind.INTEGER | Kind.DECIMAL, Kind.DECIMAL):
                return self._narrowed(written, type_)
            case (Kind.DECIMAL, Kind.INTEGER):
                return self._narrowed(self.to.truncated.format(written), type_)
            case (Kind.BOOLEAN, Kind.INTEGER):
                return f"CASE WHEN {written} THEN 1 WHEN NOT {written} THEN 0 END"
        raise self._refused(f"a cast of {value.type} to {type_}")

    def _constant(self, value: object, type_: DataType) -> str:
        name = self.to.type_name(type_)
        match value:
            case None:
                return f"CAST(NULL AS {name})"
            case bool():
                return str(value).upper()
            case int() if type_.kind is Kind.INTEGER:
                return f"CAST({value} AS {name})" if abs(value) >= 1 << 31 else str(value)
            case int() | Decimal():
                written = f"{Decimal(value):f}"
                if type_.precision == type_.scale:  # Flink counts a zero before the point as a digit
                    written = written.replace("0.", ".", 1)
                return f"CAST('{written}' AS {name})"
            case float():
                return f"CAST('{_float(value)}' AS {name})"
            case dt.datetime():
                return f"CAST('{value.isoformat(sep=' ')}' AS {name})"
            case dt.date():
                return f"CAST('{value.isoformat()}' AS {name})"
        return self._text(str(value))

    def _text(self, text: str) -> str:
        if "\0" in text:
            raise self._refused(f"the text {text!r}")
        return "'" + text.replace("'", "''") + "'"


class SparkWriter(PortableWriter):
    """Writes expressions for Spark as the engine does, in texts that raise nothing."""

    def expression(self, expression: Expression) -> str:
        """An expression of plain types; functions of the analyst are not there."""
        for part in walk(expression):
            self.to.type_name(part.type)
            if isinstance(part, Call) and _is_python(part.function):
                raise self._refused(f"the function {part.function.partition('@')[0]}")
        return to_spark(expression, self.names)

    def _literal(self, literal: Literal) -> str:
        for side in (literal.left, literal.left if literal.right is None else literal.right):
            self.expression(side)
        return literal_to_spark(literal, self.names)


def _is_python(function: str) -> bool:
    """Whether only Python evaluates it."""
    return function not in FUNCTIONS or FUNCTIONS[function].is_in_python


def _float(value: float) -> str:
    return repr(value) if math.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")


def _scale(type_: DataType) -> int:
    return type_.scale if type_.kind is Kind.DECIMAL else 0


def _digits(function: str, left: DataType, right: DataType) -> int:
    """Digits that a result has in all databases."""
    sides = [(19, 0) if type_.kind is Kind.INTEGER else (type_.precision, type_.scale) for type_ in (left, right)]
    (p, s), (q, r) = sides
    return p + q if function == "*" else max(p - s, q - r) + max(s, r) + 1
