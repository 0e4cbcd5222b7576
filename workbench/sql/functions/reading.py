"""Reading calls: the syntax nodes and names of all functions, and the handlers that bind them.

A function that is one for one with a node or a name says so in its declaration. What else text means is a handler,
beside the declaration: ``@reads(exp.Round, parts="this decimals")`` stands above what binds a call of ROUND, and
``@reads_name`` and ``@reads_call`` above what binds names that the parser knows no node for. It says in which dialects
it is read; in others it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_string, is_null
from workbench.sql.algebra.expressions import AggregateCall, Call, Expression
from workbench.sql.algebra.hints import fields_hint
from workbench.sql.algebra.types import BOOLEAN, DataType, Kind
from workbench.sql.dialect import Dialect
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import EVERYWHERE, Function
from workbench.sql.syntax.source_text import SourceText

PATTERN_HINT = r"a sign that means something in patterns is itself behind a backslash: \\( is ("
"""What to try where a regular expression cannot be read."""
QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)


class ExpressionBinder(Protocol):
    """Binds scalar expressions; what the handler of a syntax node sees (implemented by ``scalar.ScalarBinder``).

    Attributes:
        source: the text, for errors.
        dialect: the dialect of the text.
        rules: the record of the dialect.
    """

    source: SourceText
    dialect: str
    rules: Dialect

    @property
    def keep(self) -> Callable[[AggregateCall], None] | None:
        """Takes a statistic that the block needs; ``None`` where aggregates are not allowed."""

    def bind(self, node: exp.Expr | None) -> Expression:
        """The typed expression of a syntax node; ``None`` is an argument that a call lacks, which is an error."""

    def called(self, node: exp.Expr) -> str:
        """What to call a syntax node in a message."""

    def condition(self, node: exp.Expr) -> Expression:
        """The typed expression of a syntax node that must be BOOLEAN."""

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
    """The binding of a syntax node, and the parts of the node that it reads; other parts are refused.

    Attributes:
        parts: of the node.
        bind: it; in other dialects it refuses the node.
        dialects: in which it is read so.
        before: what was declared of the node before, for other dialects.
    """

    parts: tuple[str, ...]
    bind: Bind
    dialects: frozenset[str] = EVERYWHERE
    before: Handler | None = None

    def of(self, dialect: str) -> Handler:
        """What binds the node in a dialect, of several what is of fewest dialects; where none does, what refuses it."""
        found = list[Handler]()
        handler: Handler | None = self
        while handler is not None:
            found += [handler] if dialect in handler.dialects else []
            handler = handler.before
        return min(found, key=lambda declared: len(declared.dialects), default=self)


HANDLERS: dict[type[exp.Expr], Handler] = {}
"""Syntax node -> what binds it. A node that is not there is refused by name."""
NAMED: dict[str, Bind] = {}
"""Functions that the parser leaves as plain names, in lower case -> what binds a call."""
ELSEWHERE = "what it means there was not compared with Spark: write it in spark"
"""The hint where a text calls a function in another dialect."""
_TEXTS = ("string", "text", "separator")
"""Words of signatures for texts."""
IGNORED_PARTS = frozenset({
    "safe", "typed", "coalesce", "is_nvl", "fractions_supported", "big_int", "ignore_nulls", "zone", "nested",
    "preserve_end_of_month", "flatten", "charset", "sysdate", "is_left", "quoted", "date_part_boundary",
    "null_propagation", "is_length", "offset", "value_constructor",
})  # fmt: skip
"""Flags that sqlglot sets on every parse of a dialect: they describe the dialect, and handlers deal with them.

Where an expression stands in their place the call has too many arguments."""


def reads(
    *nodes: type[exp.Expr],
    parts: str = "this",
    dialects: frozenset[str] = EVERYWHERE,
    what: str = "",
    hint: str = ELSEWHERE,
) -> Callable[[B], B]:
    """Declare what binds some syntax nodes.

    Args:
        nodes: the classes of the nodes.
        parts: of a node that it deals with.
        dialects: in which it is read; it is refused in others.
        what: it is called there; as the text calls it, unless it is given.
        hint: what to do there.
    """

    def declare(bind: B) -> B:
        only = _only_in(dialects, bind, what, hint)
        for node in nodes:
            HANDLERS[node] = Handler(tuple(parts.split()), only, dialects, HANDLERS.get(node))
        return bind

    return declare


def reads_call(*names: str, dialects: frozenset[str] = EVERYWHERE, hint: str = ELSEWHERE) -> Callable[[B], B]:
    """Declare what binds calls of some names, given the syntax node."""

    def declare(bind: B) -> B:
        only = _only_in(dialects, bind, "", hint)
        for name in names:
            NAMED[name] = _or_before(dialects, only, NAMED[name]) if name in NAMED else only
        return bind

    return declare


def reads_name(
    *names: str, takes: int | None = None, dialects: frozenset[str] = EVERYWHERE, hint: str = ELSEWHERE
) -> Callable[[N], N]:
    """Declare what binds calls of some names, given their arguments, of which it ``takes`` as many."""

    def declare(bind: N) -> N:
        def bind_call(b: ExpressionBinder, node: exp.Expr) -> Expression:
            arguments = b.parts(node, "expressions")
            if takes is not None and len(arguments) != takes:
                needed = f"{takes} argument{'s' * (takes > 1)}, not {len(arguments)}" if takes else "no arguments"
                raise TypeClash(f"{node.name.upper()} takes {needed}")
            return bind(b, arguments)

        reads_call(*names, dialects=dialects, hint=hint)(bind_call)
        return bind

    return declare


def read_as(function: Function) -> None:
    """Let a function be read as its declaration says."""
    for node, parts in function.syntax:
        reads(node, parts=" ".join(parts), dialects=function.dialects)(
            lambda b, node, parts=parts: call(function.name, *_as_taken(b, function, b.parts(node, *parts)))
        )
    reads_name(*function.names, dialects=function.dialects)(
        lambda b, arguments: call(function.name, *_as_taken(b, function, arguments))
    )


def _as_taken(b: ExpressionBinder, function: Function, arguments: list[Expression]) -> list[Expression]:
    """The arguments of a function, in spark those as texts that it takes as texts."""
    if not b.rules.texts_as_in_spark or function.name == "soundex":
        return arguments
    last = len(function.parameters) - 1
    pairs = ((a, function.parameters[min(at, last)]) for at, a in enumerate(arguments))
    return [text_in_spark(b, argument) if parameter in _TEXTS else argument for argument, parameter in pairs]


def text_in_spark(b: ExpressionBinder, value: Expression) -> Expression:
    """A value where a text is needed, which is one in spark; as it is elsewhere, and of what has no one text."""
    is_plain = value.type.numeric or value.type.temporal or value.type == BOOLEAN
    return as_string(value) if b.rules.texts_as_in_spark and is_plain and not is_null(value) else value


def _only_in(dialects: frozenset[str], bind: B, what: str, hint: str) -> Bind:
    if dialects == EVERYWHERE:
        return bind

    def bind_here(b: ExpressionBinder, node: exp.Expr) -> Expression:
        refuse_elsewhere(b, dialects, node, what, hint)
        return bind(b, node)

    return bind_here


def _or_before(dialects: frozenset[str], bind: Bind, before: Bind) -> Bind:
    """What binds a name in some dialects, and in others what was declared of it before."""
    return lambda b, node: (bind if b.dialect in dialects else before)(b, node)


def refuse_elsewhere(
    b: ExpressionBinder, dialects: frozenset[str], node: exp.Expr, what: str = "", hint: str = ELSEWHERE
) -> None:
    """Refuse what may mean something else, or raises where it is NULL here, in all but some dialects."""
    if b.dialect not in dialects:
        b.source.refuse(f"{what or b.called(node)} in {b.dialect}", node, hint_of_parts(b, node) or hint)


def hint_of_parts(b: ExpressionBinder, node: exp.Expr) -> str | None:
    """How the parts are read of a struct or array that a refused function is given; ``None`` where it is given none."""
    given = next((one for one in (node.args.get("this"), *node.expressions) if isinstance(one, exp.Column)), None)
    type_ = None if given is None else b.bind(given).type
    if type_ is not None and type_.kind is Kind.ARRAY:
        return "it is an array, of which x[0] is an element, in postgres and duckdb x[1]"
    return fields_hint(type_) if type_ is not None and type_.kind is Kind.STRUCT else None


def unwrapped(node: exp.Expr) -> exp.Expr:
    """Without the conversions that sqlglot wraps around arguments of Spark's date functions."""
    wrappers = (exp.TsOrDsToDate, exp.TimeStrToTime, exp.TsOrDsToTimestamp)
    while isinstance(node, wrappers) and not node.args.get("format"):
        node = node.this
    return node
