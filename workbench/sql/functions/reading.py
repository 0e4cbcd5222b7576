"""Reading calls: the syntax nodes and names of all functions, and the handlers that bind them.

A function that is one for one with a node or a name says so in its declaration. What else text means is a handler,
beside the declaration: ``@reads(exp.Round, parts="this decimals")`` stands above what binds a call of ROUND, and
``@reads_name`` and ``@reads_call`` above what binds names that the parser knows no node for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import AggregateCall, Call, Expression
from workbench.sql.algebra.types import DataType
from workbench.sql.dialects import Dialect
from workbench.sql.functions.calls import FUNCTIONS, call
from workbench.sql.functions.declaration import Function
from workbench.sql.syntax.dialects import DATABASES, SPARK_FAMILY
from workbench.sql.syntax.source_text import SourceText

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "MONDAY", "TUESDAY",
         "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")  # fmt: skip


class ExpressionBinder(Protocol):
    """Binds scalar expressions; what the handler of a syntax node sees (implemented by ``scalar.ScalarBinder``).

    Attributes:
        source: the text, for errors.
        dialect: the dialect of the text.
        rules: what is particular to it.
    """

    source: SourceText
    dialect: str
    rules: Dialect

    @property
    def keep(self) -> Callable[[AggregateCall], None] | None:
        """Takes a statistic that the block needs; ``None`` where aggregates may not stand."""

    def bind(self, node: exp.Expr | None) -> Expression:
        """The typed expression of a syntax node; ``None`` is an argument that a call lacks, which is an error."""

    def condition(self, node: exp.Expr) -> Expression:
        """The same, which must be BOOLEAN."""

    def parts(self, node: exp.Expr, *keys: str) -> list[Expression]:
        """The arguments of a node under ``keys`` that are there, lists flattened."""

    def function_body(self, node: exp.Expr | None, *types: DataType) -> Call:
        """A lambda whose variables are of these types."""

    def variable(self, node: exp.Identifier) -> Expression:
        """The meaning of the name of a variable of a lambda."""

    def column(self, node: exp.Column) -> Expression:
        """The meaning of a column name."""

    def bind_text(self, sql: str, names: Mapping[str, Expression], aggregates: bool) -> Expression:
        """The expression of another text, in Spark's dialect, over ``names`` alone."""


Bind = Callable[[ExpressionBinder, Any], Expression]
BindNamed = Callable[[ExpressionBinder, list[Expression]], Expression]
B = TypeVar("B", bound=Bind)
N = TypeVar("N", bound=BindNamed)


@dataclass(frozen=True)
class Handler:
    """The binding of a syntax node, and the parts of the node that it reads; other parts are refused."""

    parts: tuple[str, ...]
    bind: Bind


HANDLERS: dict[type[exp.Expr], Handler] = {}
"""Syntax node -> what binds it. A node that is not there is refused by name."""
NAMED: dict[str, BindNamed] = {}
"""Functions that the parser leaves as plain names, in lower case -> what binds a call on bound arguments."""
OF_SYNTAX: dict[str, Bind] = {}
"""Functions that the parser leaves as plain names, of lambdas, maps, JSON or times -> what binds a call."""
IGNORED_PARTS = frozenset({
    "safe", "typed", "coalesce", "is_nvl", "fractions_supported", "big_int", "ignore_nulls", "zone", "nested",
    "preserve_end_of_month", "flatten", "charset", "sysdate", "is_left", "quoted", "date_part_boundary",
    "null_propagation", "is_length", "offset", "value_constructor",
})  # fmt: skip
"""Flags that sqlglot sets on every parse of a dialect: they describe the dialect, and handlers deal with them.

Where an expression stands in their place the call has too many arguments."""


def reads(*nodes: type[exp.Expr], parts: str = "this") -> Callable[[B], B]:
    """Declare what binds some syntax nodes, and the parts of them that it deals with."""

    def declare(bind: B) -> B:
        HANDLERS.update(dict.fromkeys(nodes, Handler(tuple(parts.split()), bind)))
        return bind

    return declare


def reads_name(*names: str) -> Callable[[N], N]:
    """Declare what binds calls of some names, given their arguments."""

    def declare(bind: N) -> N:
        NAMED.update(dict.fromkeys(names, bind))
        return bind

    return declare


def reads_call(*names: str) -> Callable[[B], B]:
    """Declare what binds calls of some names, given the syntax node."""

    def declare(bind: B) -> B:
        OF_SYNTAX.update(dict.fromkeys(names, bind))
        return bind

    return declare


def read_as(function: Function) -> None:
    """Let a function be read as its declaration says."""
    for node, parts in function.syntax:
        HANDLERS[node] = Handler(parts, _regular(function.name, parts))
    for name in function.names:
        NAMED[name] = _named(function.name)


def _regular(function: str, parts: tuple[str, ...]) -> Bind:
    """A function on the node's parts, in order; refused in dialects in which it may mean something else."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        refuse_elsewhere(b, function, node)
        return call(function, *b.parts(node, *parts))

    return bind


def _named(function: str) -> BindNamed:
    return lambda b, arguments: named(function, b, arguments)


def named(function: str, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """A function that the parser leaves as a plain name."""
    if b.dialect not in FUNCTIONS[function].dialects:
        raise TypeClash(f"{function.upper()} is read in spark only", hint="what it means elsewhere was not compared")
    return call(function, *arguments)


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


def unwrapped(node: exp.Expr) -> exp.Expr:
    """Without the conversions that sqlglot wraps around arguments of Spark's date functions."""
    wrappers = (exp.TsOrDsToDate, exp.TimeStrToTime, exp.TsOrDsToTimestamp)
    while isinstance(node, wrappers) and not node.args.get("format"):
        node = node.this
    return node


def _is_number(node: exp.Expr | None, least: int) -> bool:
    return isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) >= least
