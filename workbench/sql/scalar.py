"""Scalar expressions of SQL text to typed expressions.

Every kind of syntax node has a handler; a node or a part of one without a handler is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql import coercion, functions
from workbench.sql.arithmetic import BIGINT_MAX
from workbench.sql.caret import Source
from workbench.sql.coercion import TypeClash
from workbench.sql.expressions import Call, Constant, Expression
from workbench.sql.functions import call, cast
from workbench.sql.schema import Schema, parse_type
from workbench.sql.scope import Scope
from workbench.sql.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal

if TYPE_CHECKING:
    from workbench.sql.grouped import Aggregation

_SUBQUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Exists, exp.Any, exp.All)
_CLOCKS = {"CurrentTimestamp", "CurrentDate", "CurrentTime", "CurrentDatetime", "Rand", "Randn", "Uuid", "CurrentUser",
           "Localtimestamp", "Localtime", "UnixSeconds", "SessionUser"}  # fmt: skip
_CLOCK_NAMES = {"now", "sysdate", "systimestamp", "rand", "random", "uuid", "current_timestamp", "current_date", "curdate",
                "localtimestamp", "rownum", "sys_guid", "monotonically_increasing_id"}  # fmt: skip
# Flags sqlglot sets on every parse of a dialect; they describe the dialect and are dealt with where they matter.
_FLAGS = {"safe", "typed", "coalesce", "is_nvl", "fractions_supported", "big_int", "ignore_nulls", "preserve_end_of_month",
          "zone", "nested", "charset", "sysdate", "is_left", "quoted"}  # fmt: skip


class ScalarBinder:
    """Binds the expressions of one SELECT.

    Args:
        scope: what columns mean.
        schema: the analyst's functions and aggregates.
        dialect: decides what || does with NULL, what TRUNC and formats mean.
        aggregation: takes aggregates where they are allowed, ``None`` where they are not.
    """

    def __init__(self, scope: Scope, schema: Schema, dialect: str, aggregation: Aggregation | None = None) -> None:
        self.scope, self.schema, self.dialect, self.aggregation = scope, schema, dialect, aggregation
        self.source: Source = scope.source
        self.columns: list[tuple[exp.Column, Expression]] = []

    def bind(self, node: exp.Expression) -> Expression:
        """The typed expression of a syntax node.

        Raises:
            SqlError: an unknown name or a type clash, at its place.
            UnsupportedError: a construct that is not evaluated.
        """
        if self.aggregation is not None:
            aggregate = self.aggregation.bind(node, self)
            if aggregate is not None:
                return aggregate
        try:
            return self._bind(node)
        except TypeClash as clash:
            raise self.source.error(clash.message, node, clash.hint) from None

    def condition(self, node: exp.Expression) -> Expression:
        """A BOOLEAN expression."""
        bound = self.bind(node)
        if coercion.is_null(bound):
            return Constant(None, BOOLEAN)
        if bound.type != BOOLEAN:
            raise self.source.error(f"type clash: a condition is needed, not {bound.type}", node)
        return bound

    def _bind(self, node: exp.Expression) -> Expression:
        kind = type(node).__name__
        if isinstance(node, _SUBQUERIES):
            self.source.refuse("a subquery in an expression", node, "write it as a join, or as a subquery in FROM")
        if isinstance(node, exp.Window):
            self.source.refuse("a window function (OVER)", node, "group in a subquery and join it")
        if kind in _CLOCKS or node.name.lower() in _CLOCK_NAMES and isinstance(node, (exp.Anonymous, exp.Column)):
            if not (isinstance(node, exp.Column) and any(node.name.lower() in i.columns for i in self.scope.items)):
                name = node.name or node.sql_name() if isinstance(node, exp.Func) else node.name
                self.source.refuse(f"{name.upper()}", node, "answers must be the same on every replay; use a constant or a column")
        if kind in _SIMPLE:
            function, *keys = _SIMPLE[kind]
            self.source.refuse_others(node, {*keys, *_FLAGS}, kind.upper())
            return call(function, *self._parts(node, keys))
        if isinstance(node, exp.Anonymous):
            return self._anonymous(node)
        handler = _HANDLERS.get(kind)
        if handler is None:
            if isinstance(node, exp.AggFunc):
                self.source.refuse_others(node, {"this", *_FLAGS}, kind.upper())
                raise self.source.error(f"{node.sql_name()} is an aggregate, which cannot stand here", node,
                                        "a condition on an aggregate goes into HAVING")  # fmt: skip
            self.source.refuse(node.sql_name() if isinstance(node, exp.Func) else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).upper(), node)
        keys, bind = handler
        self.source.refuse_others(node, {*keys.split(), *_FLAGS}, kind.upper())
        return bind(self, node)

    def _parts(self, node: exp.Expression, keys: list[str]) -> list[Expression]:
        """The arguments under ``keys`` that are there, lists flattened."""
        found = [part for key in keys for part in _listed(node.args.get(key))]
        return [self.bind(part) for part in found]

    # ---- names and constants -----------------------------------------------------------------------------------------

    def _column(self, node: exp.Column) -> Expression:
        resolved = self.scope.resolve(node)
        self.columns.append((node, resolved))
        return resolved

    def _literal(self, node: exp.Literal) -> Expression:
        if node.is_string:
            return Constant(node.this, STRING)
        return _number(node.this, self.source, node)

    def _anonymous(self, node: exp.Anonymous) -> Expression:
        name, arguments = node.name.lower(), node.expressions
        self.source.refuse_others(node, {"this", "expressions", *_FLAGS}, name)
        user = self.schema.function(name)
        if user is not None:
            return Call(user.name, tuple(self.bind(a) for a in arguments), user.returns)
        if name in _NAMED:
            return _NAMED[name](self, [self.bind(a) for a in arguments])
        if self.schema.aggregate(name) or name in AGGREGATE_NAMES:
            raise self.source.error(f"{node.name} is an aggregate, which cannot stand here", node)
        known = [*self.schema.functions, *self.schema.aggregates, *functions.FUNCTIONS, *_NAMED, *AGGREGATE_NAMES]
        raise self.source.error(f"unknown function {node.name}", node, nearest(name, [k for k in known if k[0].isalpha()]))

    # ---- operators ---------------------------------------------------------------------------------------------------

    def _plus_minus(self, node: exp.Add | exp.Sub) -> Expression:
        sign = 1 if isinstance(node, exp.Add) else -1
        if isinstance(node.expression, exp.Interval):
            return self._shift(self.bind(node.this), node.expression, sign)
        if isinstance(node.this, exp.Interval) and sign == 1:
            return self._shift(self.bind(node.expression), node.this, sign)
        left, right = self.bind(node.this), self.bind(node.expression)
        if left.type == TIMESTAMP and right.type == INTEGER:
            return call("add_seconds", left, call("*", right, Constant(sign * 86400, INTEGER)))
        if left.type == TIMESTAMP and right.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            self.source.refuse("the difference of timestamps", node, "subtract dates: CAST(... AS DATE)")
        return call("+" if sign == 1 else "-", left, right)

    def _shift(self, moment: Expression, interval: exp.Interval, sign: int) -> Expression:
        """A date or timestamp moved by a constant interval."""
        self.source.refuse_others(interval, {"this", "unit"}, "INTERVAL")
        unit = interval.args["unit"].name.upper().removesuffix("S") if interval.args.get("unit") else ""
        amount = interval.this
        negative = isinstance(amount, exp.Neg)
        text = amount.this.name if negative else amount.name if amount is not None else ""
        if unit not in _UNITS or not re.fullmatch(r"[+-]?\d+", text.strip()):
            self.source.refuse("this interval", interval, "write INTERVAL '3' DAY, with a whole number of one unit")
        kind, factor = _UNITS[unit]
        count = Constant(int(text) * factor * sign * (-1 if negative else 1), INTEGER)
        moment = coercion.moment(moment)
        if moment.type == DATE and kind == "days":
            return call("+", moment, count)
        if kind == "months":
            return call("add_months", moment, count)
        seconds = Constant(int(str(count.value)) * (86400 if kind == "days" else 1), INTEGER)
        return call("add_seconds", coercion.coerce(moment, TIMESTAMP), seconds)

    def _divide(self, node: exp.Div) -> Expression:
        left, right = self.bind(node.this), self.bind(node.expression)
        # In some dialects (not Oracle, not Spark) the division of integers is an integer.
        whole = node.args.get("typed") and left.type == INTEGER and right.type == INTEGER
        return call("div" if whole else "/", left, right)

    def _negated(self, node: exp.Neg) -> Expression:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return _number("-" + node.this.this, self.source, node)
        return call("neg", self.bind(node.this))

    def _connected(self, name: str, node: exp.Expression) -> Expression:
        """AND and OR of any number of parts, without recursion down a long chain."""
        parts, rest, kind = [], [node], type(node)
        while rest:
            part = rest.pop()
            if isinstance(part, exp.Paren):
                rest.append(part.this)
            elif isinstance(part, kind):
                rest += [part.expression, part.this]
            else:
                parts.append(self.condition(part))
        return call(name, *parts)

    def _is(self, node: exp.Is) -> Expression:
        value = self.bind(node.this)
        if isinstance(node.expression, exp.Null):
            return call("is_null", value)
        if isinstance(node.expression, exp.Boolean):
            return call("<=>", value, Constant(bool(node.expression.this), BOOLEAN))
        self.source.refuse("this IS test", node)

    def _in(self, node: exp.In) -> Expression:
        if not node.expressions:
            self.source.refuse("IN with a subquery", node, "write it as a join, with DISTINCT in a subquery")
        return call("in", self.bind(node.this), *(self.bind(e) for e in node.expressions))

    def _between(self, node: exp.Between) -> Expression:
        value = self.bind(node.this)
        return call("and", call(">=", value, self.bind(node.args["low"])), call("<=", value, self.bind(node.args["high"])))

    def _like(self, node: exp.Like | exp.ILike | exp.RegexpLike, escape: str | None = None) -> Expression:
        pattern = self.bind(node.expression)
        if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
            self.source.refuse("a pattern that is not a constant string", node.expression)
        name = {"Like": "like", "ILike": "ilike"}.get(type(node).__name__, "rlike")
        canonical = pattern.value
        if name == "rlike":
            try:
                re.compile(canonical)
            except re.error as error:
                raise self.source.error(f"not a regular expression: {error}", node.expression) from None
        else:
            if escape is None and self.dialect in _BACKSLASH_ESCAPES:
                escape = "\\"
            canonical = self._pattern(canonical, escape, node.expression)
        test = call(name, self.bind(node.this), Constant(canonical, STRING))
        return call("not", test) if node.args.get("negate") else test

    def _pattern(self, pattern: str, escape: str | None, node: exp.Expression) -> str:
        """A LIKE pattern with backslash as its escape character."""
        result, rest = [], iter(pattern)
        for char in rest:
            if char == escape:
                escaped = next(rest, None)
                if escaped is None or escaped not in ("%", "_", escape):
                    raise self.source.error(f"the escape character {escape} must stand before %, _ or itself", node)
                result.append("\\" + escaped if escaped in "%_\\" else escaped)
            else:
                result.append("\\\\" if char == "\\" else char)
        return "".join(result)

    def _escape(self, node: exp.Escape) -> Expression:
        inner, escape = node.this, node.expression
        if not isinstance(inner, (exp.Like, exp.ILike)) or not isinstance(escape, exp.Literal) or len(escape.this) != 1:
            self.source.refuse("this ESCAPE", node)
        return self._like(inner, escape.this)

    def _concatenated(self, node: exp.Expression) -> Expression:
        parts = [self.bind(e) for e in (node.expressions or [node.this, node.expression])]
        result = coercion.as_string(parts[0])
        for part in parts[1:]:
            right = coercion.as_string(part)
            joined = call("||", result, right)
            # Oracle takes NULL for the empty string here, unless both sides are NULL.
            result = call("coalesce", joined, result, right) if self.dialect == "oracle" else joined
        return result

    # ---- functions with forms of their own -----------------------------------------------------------------------------

    def _cases(self, node: exp.Case) -> Expression:
        subject = self.bind(node.this) if node.this else None
        parts: list[Expression] = []
        for branch in node.args["ifs"]:
            tested = call("=", subject, self.bind(branch.this)) if subject else self.condition(branch.this)
            parts += [tested, self.bind(branch.args["true"])]
        default = node.args.get("default")
        return call("case", *parts, self.bind(default) if default is not None else Constant(None, STRING))

    def _if(self, node: exp.If) -> Expression:
        otherwise = node.args.get("false")
        return call("case", self.condition(node.this), self.bind(node.args["true"]),
                    self.bind(otherwise) if otherwise is not None else Constant(None, STRING))  # fmt: skip

    def _decode(self, node: exp.DecodeCase) -> Expression:
        """DECODE finds NULL by NULL."""
        subject, *rest = (self.bind(e) for e in node.expressions)
        default = rest.pop() if len(rest) % 2 else Constant(None, STRING)
        parts: list[Expression] = []
        for search, value in zip(rest[0::2], rest[1::2], strict=True):
            parts += [call("<=>", subject, search), value]
        return call("case", *parts, default)

    def _nvl2(self, node: exp.Nvl2) -> Expression:
        this, present, absent = self._parts(node, ["this", "true", "false"])
        return call("case", call("is_null", this), absent, present)

    def _extreme(self, node: exp.Greatest | exp.Least) -> Expression:
        """Spark skips NULLs; Oracle gives NULL as soon as one argument is."""
        parts = self._parts(node, ["this", "expressions"])
        made = call("greatest" if isinstance(node, exp.Greatest) else "least", *parts)
        if self.dialect != "oracle":
            return made
        absent = [call("is_null", p) for p in parts]
        return call("case", call("or", *absent), Constant(None, STRING), made)

    def _cast(self, node: exp.Cast | exp.TryCast) -> Expression:
        type_ = self._type(node.args["to"])
        value = self.bind(node.this)
        limit = node.args["to"].expressions
        result = cast(value, type_)
        if type_ == STRING and limit:
            return call("substr", result, Constant(1, INTEGER), Constant(int(limit[0].name), INTEGER))
        return result

    def _type(self, node: exp.DataType) -> DataType:
        name = str(node.this.value if hasattr(node.this, "value") else node.this).lower()
        aliases = {"timestamptz": "timestamp", "timestampltz": "timestamp", "timestampntz": "timestamp", "nvarchar": "varchar"}
        name = aliases.get(name, name)
        if name in ("decimal", "numeric"):
            digits = [p.name for p in node.expressions]
            # Oracle's NUMBER without digits holds any number.
            default = "(38,10)" if self.dialect == "oracle" else ""
            name += f"({','.join(digits)})" if digits else default
        elif node.expressions and name != "varchar":
            self.source.refuse(f"the type {node.sql()}", node)
        try:
            return parse_type(name)
        except Exception:
            self.source.refuse(f"the type {node.sql()}", node)

    def _substring(self, node: exp.Substring) -> Expression:
        parts = self._parts(node, ["this", "start", "length"])
        if len(parts) > 1 and parts[1] == Constant(0, INTEGER):
            parts[1] = Constant(1, INTEGER)
        return call("substr", *parts)

    def _left(self, node: exp.Left) -> Expression:
        return call("substr", self.bind(node.this), Constant(1, INTEGER), self.bind(node.expression))

    def _position(self, node: exp.StrPosition) -> Expression:
        for key in ("position", "occurrence"):
            if node.args.get(key) is not None and self.bind(node.args[key]) != Constant(1, INTEGER):
                self.source.refuse(f"INSTR with a {key}", node)
        return call("instr", *self._parts(node, ["this", "substr"]))

    def _trim(self, node: exp.Trim) -> Expression:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
        return call(name, *self._parts(node, ["this", "expression"]))

    def _pad(self, node: exp.Pad) -> Expression:
        length = self.bind(node.expression)
        if not (isinstance(length, Constant) and isinstance(length.value, int) and length.value <= 65_535):
            self.source.refuse("padding to a length that is not a constant below 65536", node.expression)
        fill = self.bind(node.args["fill_pattern"]) if node.args.get("fill_pattern") else Constant(" ", STRING)
        return call("lpad" if node.args.get("is_left") else "rpad", self.bind(node.this), length, fill)

    def _replace(self, node: exp.Replace) -> Expression:
        parts = self._parts(node, ["this", "expression", "replacement"])
        return call("replace", *parts, *([Constant("", STRING)] if len(parts) == 2 else []))

    def _log(self, node: exp.Log) -> Expression:
        if node.expression is None:
            return call("ln", self.bind(node.this))
        base, value = self.bind(node.this), self.bind(node.expression)
        if base == Constant(10, INTEGER):
            return call("log10", value)
        return call("/", call("ln", value), call("ln", base))

    def _rounded(self, node: exp.Round) -> Expression:
        return call("round", *self._parts(node, ["this", "decimals"]))


def _listed(value: object) -> list[exp.Expression]:
    return [] if value is None else value if isinstance(value, list) else [value]  # type: ignore[list-item]


def _number(text: str, source: Source, node: exp.Expression) -> Constant:
    """INTEGER for whole numbers, DECIMAL with a point, DOUBLE with an exponent, as in Spark."""
    if "e" in text.lower():
        return Constant(float(text), DOUBLE)
    value = Decimal(text)
    if "." not in text and abs(value) <= BIGINT_MAX:
        return Constant(int(value), INTEGER)
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    if len(digits) > 38 or scale > 38:
        raise source.error("a number has at most 38 digits", node)
    return Constant(value, decimal(max(len(digits), scale), scale))


_BACKSLASH_ESCAPES = {"spark", "spark2", "hive", "databricks", "mysql", "postgres", "bigquery", "clickhouse"}
_UNITS = {"DAY": ("days", 1), "WEEK": ("days", 7), "HOUR": ("seconds", 3600), "MINUTE": ("seconds", 60),
          "SECOND": ("seconds", 1), "MONTH": ("months", 1), "QUARTER": ("months", 3), "YEAR": ("months", 12)}  # fmt: skip

_SIMPLE = {
    **{kind: (symbol, "this", "expression") for kind, symbol in {
        "EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "NullSafeEQ": "<=>", "Mul": "*",
        "Mod": "%", "IntDiv": "div", "Pow": "power", "Nullif": "nullif", "SafeAdd": "+", "SafeSubtract": "-",
        "SafeMultiply": "*", "SafeDivide": "/"}.items()},
    **{kind: (kind.lower(), "this") for kind in (
        "Abs", "Floor", "Ceil", "Sign", "Sqrt", "Exp", "Ln", "Upper", "Lower", "Length")},
    "Coalesce": ("coalesce", "this", "expressions"),
}  # fmt: skip
"""Syntax node -> function and the node's arguments in order."""

AGGREGATE_NAMES = {"average": "avg", "mean": "avg", "std": "stddev_samp", "percentile": "percentile", "median": "median"}
"""Aggregates that the parser leaves as plain function names."""

_HANDLERS: dict[str, tuple[str, Callable[[ScalarBinder, exp.Expression], Expression]]] = {
    "Paren": ("this", lambda b, n: b.bind(n.this)),
    "Column": ("this table join_mark db catalog", lambda b, n: b._column(n)),
    "Literal": ("this is_string", lambda b, n: b._literal(n)),
    "RawString": ("this", lambda b, n: Constant(n.this, STRING)),
    "National": ("this", lambda b, n: Constant(n.this, STRING)),
    "Null": ("", lambda b, n: Constant(None, STRING)),
    "Boolean": ("this", lambda b, n: Constant(bool(n.this), BOOLEAN)),
    "Add": ("this expression", lambda b, n: b._plus_minus(n)),
    "Sub": ("this expression", lambda b, n: b._plus_minus(n)),
    "Div": ("this expression", lambda b, n: b._divide(n)),
    "Neg": ("this", lambda b, n: b._negated(n)),
    "And": ("this expression", lambda b, n: b._connected("and", n)),
    "Or": ("this expression", lambda b, n: b._connected("or", n)),
    "Not": ("this", lambda b, n: call("not", b.condition(n.this))),
    "Is": ("this expression", lambda b, n: b._is(n)),
    "NullSafeNEQ": ("this expression", lambda b, n: call("not", call("<=>", b.bind(n.this), b.bind(n.expression)))),
    "In": ("this expressions query unnest field is_global", lambda b, n: b._in(n)),
    "Between": ("this low high", lambda b, n: b._between(n)),
    "Like": ("this expression negate", lambda b, n: b._like(n)),
    "ILike": ("this expression negate", lambda b, n: b._like(n)),
    "RegexpLike": ("this expression", lambda b, n: b._like(n)),
    "Escape": ("this expression", lambda b, n: b._escape(n)),
    "DPipe": ("this expression", lambda b, n: b._concatenated(n)),
    "Concat": ("expressions", lambda b, n: b._concatenated(n)),
    "Case": ("this ifs default", lambda b, n: b._cases(n)),
    "If": ("this true false", lambda b, n: b._if(n)),
    "DecodeCase": ("expressions", lambda b, n: b._decode(n)),
    "Nvl2": ("this true false", lambda b, n: b._nvl2(n)),
    "Greatest": ("this expressions", lambda b, n: b._extreme(n)),
    "Least": ("this expressions", lambda b, n: b._extreme(n)),
    "Cast": ("this to", lambda b, n: b._cast(n)),
    "TryCast": ("this to", lambda b, n: b._cast(n)),
    "Substring": ("this start length", lambda b, n: b._substring(n)),
    "Left": ("this expression", lambda b, n: b._left(n)),
    "StrPosition": ("this substr position occurrence", lambda b, n: b._position(n)),
    "Trim": ("this expression position", lambda b, n: b._trim(n)),
    "Pad": ("this expression fill_pattern", lambda b, n: b._pad(n)),
    "Replace": ("this expression replacement", lambda b, n: b._replace(n)),
    "Log": ("this expression", lambda b, n: b._log(n)),
    "Round": ("this decimals", lambda b, n: b._rounded(n)),
}
_NAMED: dict[str, Callable[[ScalarBinder, list[Expression]], Expression]] = {
    "isnull": lambda b, a: call("is_null", *a),
    "isnotnull": lambda b, a: call("not", call("is_null", *a)),
}
"""Functions that the parser leaves as plain names."""

# Date functions register themselves in the tables above.
from workbench.sql import temporal  # noqa: E402

_HANDLERS.update(temporal.HANDLERS)
_NAMED.update(temporal.NAMED)
