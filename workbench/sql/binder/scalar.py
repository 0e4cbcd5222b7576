"""Scalar expressions of SQL text to typed expressions.

Every kind of syntax node has a handler; a node or a part of one without a handler is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from workbench.errors import UnsupportedError, nearest
from workbench.sql.algebra import coercion, functions
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, DATE, STRING, TIMESTAMP
from workbench.sql.binder import calls, operators, temporal
from workbench.sql.binder.aggregation import is_aggregate
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.window_functions import SESSIONS, bind_window, is_window, part_of_window
from workbench.sql.schema import Schema
from workbench.sql.syntax.caret import SourceText
from workbench.sql.syntax.dialects import refuse_different
from workbench.sql.syntax.extent import Extent, refuse_extent

if TYPE_CHECKING:
    from workbench.sql.binder.aggregation import Aggregation

_SUBQUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Exists, exp.Any, exp.All)
_NOW = {"CurrentTimestamp", "CurrentDate"}
_NOW_NAMES = {"now", "sysdate", "current_timestamp", "current_date"}
_UNSTEADY = {"CurrentTime", "CurrentDatetime", "Rand", "Randn", "Uuid",
             "CurrentUser", "Localtimestamp", "Localtime", "UnixSeconds", "SessionUser"}  # fmt: skip
_UNSTEADY_NAMES = {"systimestamp", "rand", "random", "uuid", "curdate", "localtimestamp", "rownum", "sys_guid",
                   "monotonically_increasing_id"}  # fmt: skip
# Flags sqlglot sets on every parse of a dialect; they describe the dialect and are dealt with where they matter.
_FLAGS = {"safe", "typed", "coalesce", "is_nvl", "fractions_supported", "big_int", "ignore_nulls", "zone", "nested",
          "preserve_end_of_month", "charset", "sysdate", "is_left", "quoted", "date_part_boundary"}  # fmt: skip

_WORDS = {"BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^", "BitwiseNot": "~", "BitwiseLeftShift": "<<",
          "BitwiseRightShift": ">>", "Bracket": "a part of an array, [...]", "Dot": "a part of a value, by a dot",
          "Tuple": "a list in parentheses", "Star": "* there", "Distinct": "DISTINCT there",
          "Aliases": "a list of aliases", "Interval": "an interval there"}  # fmt: skip
_HINTS = {
    "Tuple": "write the values one by one; comparisons of them with AND",
    "Interval": "add it to a date or a timestamp, or subtract it",
    "IgnoreNulls": "every aggregate skips NULLs; leave it out",
    "RespectNulls": "every aggregate skips NULLs; leave it out",
    "WithinGroup": "PERCENTILE_CONT is, and MODE(x) and MEDIAN(x) are written without WITHIN GROUP",
    "Right": "write SUBSTR(x, -n)",
    "Collate": "texts compare by their bytes; compare UPPER(x)",
    "MonthsBetween": "subtract dates, or count with YEAR and MONTH",
    "RegexpReplace": "use REPLACE, or add a function of your own with add_function",
    "ConcatWs": "write || between the texts",
}


class ScalarBinder:
    """Binds the expressions of one SELECT.

    Args:
        scope: what columns mean.
        schema: the analyst's functions and aggregates.
        dialect: decides what || does with NULL, what TRUNC and formats mean.
        aggregation: takes aggregates where they are allowed, ``None`` where they are not.
        now: gives what now means to the node that asks, where it may be asked.
        grouped: whether ``window(…)`` may stand here, which is a group.
    """

    def __init__(
        self,
        scope: Scope,
        schema: Schema,
        dialect: str,
        aggregation: Aggregation | None = None,
        now: Callable[[exp.Expr], Expression] | None = None,
        grouped: bool = False,
    ) -> None:
        self.scope, self.schema, self.dialect, self.aggregation = scope, schema, dialect, aggregation
        self._now, self._grouped = now, grouped or aggregation is not None
        self.source: SourceText = scope.source
        self.columns: list[tuple[exp.Column, Expression]] = []
        self._extents: dict[int, Extent] = {}

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression of a syntax node.

        Raises:
            SqlError: an unknown name or a type clash, at its place.
            UnsupportedError: a construct that is not evaluated, or too large an expression.
        """
        bound = self.aggregation.bind(node, self) if self.aggregation is not None else None
        try:
            bound = bound or self._bind(node)
        except TypeClash as clash:
            raise self.source.error(clash.message, node, clash.hint) from None
        refuse_extent(bound, self.source, node, self._extents)
        refuse_different(self.source, self.dialect, node, bound)
        return bound

    def condition(self, node: exp.Expr) -> Expression:
        """A BOOLEAN expression."""
        bound = self.bind(node)
        if coercion.is_null(bound):
            return Constant(None, BOOLEAN)
        if bound.type != BOOLEAN:
            raise self.source.error(f"type clash: a condition is needed, not {bound.type}", node)
        return bound

    def _bind(self, node: exp.Expr) -> Expression:
        if is_now(node) and not self._is_column(node):
            return self.now(node)
        self._refuse_unsupported(node)
        kind = type(node).__name__
        if kind in _SIMPLE:
            function, *keys = _SIMPLE[kind]
            self.source.refuse_others(node, {*keys, *_FLAGS}, kind.upper())
            return call(function, *self.parts(node, keys))
        if isinstance(node, exp.Anonymous):
            return self._anonymous(node)
        if kind in _HANDLERS:
            handled, bind = _HANDLERS[kind]
            self.source.refuse_others(node, {*handled.split(), *_FLAGS}, kind.upper())
            return bind(self, node)
        if is_aggregate(node, self.schema):
            raise self.source.error(f"{self._called(node)} is an aggregate, which cannot stand here", node,
                                    "a condition on an aggregate goes into HAVING")  # fmt: skip
        hint = _HINTS.get(kind)
        if hint is None and isinstance(node, exp.AggFunc):
            hint = "add_aggregate adds an aggregate made of COUNT, SUM, MIN and MAX"
        elif hint is None and isinstance(node, exp.Func):
            hint = "add_function adds a function of your own"
        self.source.refuse(self._called(node), node, hint)

    def _called(self, node: exp.Expr) -> str:
        """What to call a syntax node in a message: as the text does, where it is a function."""
        if node.args.get("sysdate"):
            return "SYSDATE"
        if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
            return (self.source.called(node) or node.sql_name()).upper()
        kind = type(node).__name__
        return _WORDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).upper()

    def _refuse_unsupported(self, node: exp.Expr) -> None:
        """Refuse subqueries, window functions, and what would differ from one evaluation to the next."""
        if isinstance(node, (exp.Like, exp.ILike)) and isinstance(node.expression, (exp.Any, exp.All)):
            self.source.refuse("LIKE ANY or LIKE ALL", node, "write one LIKE for each pattern, with OR or AND")
        if isinstance(node, _SUBQUERIES):
            self.source.refuse("a subquery in an expression", node, "write it as a join, or as a subquery in FROM")
        if isinstance(node, exp.Window):
            self.source.refuse("a window function (OVER)", node, "group in a subquery and join it")
        named = isinstance(node, (exp.Anonymous, exp.Column)) and node.name.lower() in _UNSTEADY_NAMES
        if type(node).__name__ in _UNSTEADY or (named and not self._is_column(node)):
            name = node.name.upper() if named else self._called(node)
            self.source.refuse(name, node, "answers must be the same on every replay; use a constant or a column")

    def now(self, node: exp.Expr) -> Expression:
        """The query's time; CURRENT_DATE is its day.

        Raises:
            UnsupportedError: it stands where a row cannot enter or leave by the passing of time.
            SqlError: the query reads no stream with event times.
        """
        name = node.name.upper() if node.name else self._called(node)
        if self._now is None or (self.aggregation is not None and self.aggregation.inside):
            place = self.source.of(node)
            place = place if place["position"] is not None else self.source.word(name)
            hint = "it stands in WHERE, ON and HAVING: t > now() - INTERVAL '5' DAY"
            raise UnsupportedError(f"{name} outside of a condition is not supported", **place, hint=hint)
        found = self._now(node)
        day = name == "CURRENT_DATE" and found.type == TIMESTAMP
        return functions.cast(found, DATE) if day else found

    def _is_column(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and any(node.name.lower() in item.columns for item in self.scope.items)

    def parts(self, node: exp.Expr, keys: list[str]) -> list[Expression]:
        """The arguments under ``keys`` that are there, lists flattened."""
        found = [part for key in keys for part in _listed(node.args.get(key))]
        return [self.bind(part) for part in found]

    def part(self, node: exp.Dot) -> Expression:
        """``window(…).start`` and ``.end``."""
        if is_window(node.this):
            found = part_of_window(self.bind(node.this), node.expression.name, self.aggregation)
            if found is not None:
                return found
        self.source.refuse("a part of a value, by a dot", node)

    def column(self, node: exp.Column) -> Expression:
        """What a column name means, remembered for errors that name it later."""
        resolved = self.scope.resolve(node)
        self._refuse_hidden_alias(node, resolved)
        self.columns.append((node, resolved))
        return resolved

    def _refuse_hidden_alias(self, node: exp.Column, resolved: Expression) -> None:
        """Refuse a name in HAVING that is a column and an alias of something else: databases differ in which it is."""
        if self.aggregation is None or self.aggregation.inside or node.table or self.dialect in ("oracle", "postgres"):
            return
        if self.scope.aliases.get(node.name.lower(), resolved) != resolved:
            raise self.source.error(f"{node.name} is a column and an alias here", node, "give the alias another name")

    def literal(self, node: exp.Literal) -> Expression:
        """A number or a string."""
        if node.is_string:
            return self.text(node.this)
        return operators.number_literal(node.this, self.source, node)

    def text(self, value: str) -> Constant:
        """A string; written empty it is NULL in Oracle."""
        return Constant(None if self.dialect == "oracle" and not value else value, STRING)

    def written(self, value: Expression, node: exp.Expr) -> Expression:
        """A value as text, where every database of the dialect writes the same."""
        return temporal.written(self, value, node)

    def _anonymous(self, node: exp.Anonymous) -> Expression:
        name, arguments = node.name.lower(), node.expressions
        if is_window(node):
            if not self._grouped:
                called = SESSIONS if name == SESSIONS else "window"
                what = f"{called}(...) outside of GROUP BY"
                self.source.refuse(what, node, f"group by it, and select {called}.start")
            return bind_window(self, node)
        self.source.refuse_others(node, {"this", "expressions", *_FLAGS}, name)
        user = self.schema.function(name)
        if user is not None:
            least, most = user.takes
            if not least <= len(arguments) <= (len(arguments) if most is None else most):
                what = f"function {user.name} takes {_number(least, most)}, and is given {len(arguments)}"
                raise self.source.error(what, node)
            return Call(user.id, tuple(self.bind(a) for a in arguments), user.returns)
        if name in _NAMED:
            return _NAMED[name](self, [self.bind(a) for a in arguments])
        if is_aggregate(node, self.schema):
            raise self.source.error(f"{node.name} is an aggregate, which cannot stand here", node)
        known = [*self.schema.functions, *self.schema.aggregates, *functions.FUNCTIONS, *_NAMED]
        hint = nearest(name, [k for k in known if k[0].isalpha()])
        raise self.source.error(f"unknown function {node.name}", node, hint)


def _number(least: int, most: int | None) -> str:
    """How many arguments, in words."""
    if most is None:
        return f"at least {least} argument{'s' * (least != 1)}"
    return f"{least}{f' to {most}' * (least != most)} argument{'s' * (most != 1)}"


def is_now(node: exp.Expr) -> bool:
    """Whether a syntax node asks what time it is; a name may be that of a column."""
    if isinstance(node, exp.Column):
        return not node.table and node.name.lower() in _NOW_NAMES
    return type(node).__name__ in _NOW or (isinstance(node, exp.Anonymous) and node.name.lower() in _NOW_NAMES)


def _listed(value: object) -> list[exp.Expr]:
    return [] if value is None else value if isinstance(value, list) else [value]  # type: ignore[list-item]


_SIMPLE: dict[str, tuple[str, ...]] = {
    **{kind: (symbol, "this", "expression") for kind, symbol in {
        "EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "NullSafeEQ": "<=>", "Mul": "*",
        "IntDiv": "div", "Pow": "power", "Nullif": "nullif", "SafeAdd": "+", "SafeSubtract": "-",
        "SafeMultiply": "*", "SafeDivide": "/"}.items()},
    **{kind: (kind.lower(), "this") for kind in (
        "Abs", "Floor", "Ceil", "Sign", "Sqrt", "Exp", "Ln", "Upper", "Lower", "Length")},
    "Coalesce": ("coalesce", "this", "expressions"),
}  # fmt: skip
"""Syntax node -> function and the node's arguments in order."""

_HANDLERS: dict[str, tuple[str, Callable[[ScalarBinder, Any], Expression]]] = {
    "Paren": ("this", lambda b, n: b.bind(n.this)),
    "Column": ("this table join_mark db catalog", lambda b, n: b.column(n)),
    "Dot": ("this expression", lambda b, n: b.part(n)),
    "Literal": ("this is_string", lambda b, n: b.literal(n)),
    "RawString": ("this", lambda b, n: b.text(n.this)),
    "National": ("this", lambda b, n: b.text(n.this)),
    "Null": ("", lambda b, n: Constant(None, STRING)),
    "Boolean": ("this", lambda b, n: Constant(bool(n.this), BOOLEAN)),
    **operators.HANDLERS,
    **calls.HANDLERS,
    **temporal.HANDLERS,
}
"""Syntax node -> the parts of it that are dealt with, and what binds it."""

_NAMED: dict[str, Callable[[ScalarBinder, list[Expression]], Expression]] = {
    "isnull": lambda b, a: call("is_null", *a),
    "isnotnull": lambda b, a: call("not", call("is_null", *a)),
    **temporal.NAMED,
}
"""Functions that the parser leaves as plain names."""
