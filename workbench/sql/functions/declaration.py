"""The declaration of a function: its types, its NULL rule, the dialects that have it, its Spark SQL.

A declaration is a line where the function is like most:

    function("cbrt(double): double", nodes=[exp.Cbrt], dialects=EVERYWHERE)

The signature has the types of the arguments and of the result. Beside types there are three words for arguments:
``any``, which is left as it is, ``time``, a date or a timestamp, and ``moment``, a timestamp or an instant. ``[…]`` may
be left out, and what has dots behind it repeats. A function whose result follows from its arguments has a ``rule``; the
words of its signature are names.

``spark`` is the text for Spark, a format string over the texts of the arguments, or what gives it. ``{int1}`` is
argument 1 as Spark's INT, NULL beyond 32 bits. The text is *total*: it gives a value or NULL whatever the row holds,
with ANSI mode on or off. It uses ``try_`` forms where Spark has them and the result could overflow, a guard or a wider
type where it has none. Without it the text is a call of the function's name.

``python`` evaluates what Spark has no function for, or what a kernel is worth: one function of Python, which kernels
and Spark call, so that they cannot differ. It has the values of a row, or, where it is ``vectorized``, Arrow arrays.

Every function is deterministic: what is not is refused by the binder, since answers are the same on every replay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import coerce
from workbench.sql.algebra.expressions import VARIABLE, Call, Expression
from workbench.sql.algebra.types import INSTANT, TIMESTAMP, DataType, Kind, parse_expression_type
from workbench.sql.syntax.dialects import DATABASES, EXAMINED, SPARK_FAMILY

Arguments = tuple[Expression, ...]
TypeRule = Callable[[Arguments], tuple[Arguments, DataType]]
"""Gives the arguments as they are converted, and the type of the result."""
Render = Callable[[Call, Sequence[str]], str]
"""Gives the Spark SQL of a call from the call and the texts of its arguments."""

COMPARED = SPARK_FAMILY | DATABASES
"""Dialects of a function that is the same in postgres and duckdb."""
EVERYWHERE = frozenset(EXAMINED)

IN_PYTHON = "python:"
"""What the names of what evaluates functions of Python begin with in Spark; the type of the results follows."""
MANY = 10_000
"""Arguments at most of a function whose last one repeats."""
_SIGNATURE = re.compile(r"(.+?)\((.*?)\)(?:: (.+))?")
_PARAMETER = re.compile(r"\w+(?:\([0-9, ]+\)|<[^,]+>)?")
_INT = re.compile(r"\{int(\d)\}")


@dataclass(frozen=True)
class Function:
    """A scalar function.

    Attributes:
        name: in expressions.
        parameters: the words of its signature, which are types unless it has a rule.
        least: how many arguments it takes at least.
        most: how many at most.
        rule: gives the arguments as they are converted, and the type of the result.
        strict: whether the result is NULL as soon as one argument is.
        render: gives its Spark SQL.
        python: gives the value of a row in Python; ``None`` where only Spark SQL and kernels do.
        vectorized: whether that gives the values of all rows, of the arrays of its arguments.
        returns: the type of the result that its signature says.
        is_in_python: whether Spark calls that, too.
        syntax: the nodes of the syntax tree that are calls of it, each with the parts that are its arguments.
        names: those by which a text calls it, where the parser leaves it as a plain name.
        dialects: in which a text may call it so.
        is_costly: whether it reads a whole text, often several times.
        help: how an analyst calls it, and what it does; empty where ``function_help`` has it by the names of dialects.
        example: a query that calls it, with its answer; may be empty.
    """

    name: str
    parameters: tuple[str, ...]
    least: int
    most: int
    rule: TypeRule
    strict: bool
    render: Render
    python: Callable[..., object] | None
    vectorized: bool
    returns: DataType | None
    is_in_python: bool
    syntax: tuple[tuple[type[exp.Expr], tuple[str, ...]], ...]
    names: tuple[str, ...]
    dialects: frozenset[str]
    is_costly: bool
    help: str
    example: str


def function(
    signature: str,
    spark: str | Render = "",
    *,
    python: Callable[..., object] | None = None,
    vectorized: bool = False,
    returns: DataType | None = None,
    rule: TypeRule | None = None,
    of_null: bool = False,
    nodes: Iterable[type[exp.Expr]] = (),
    parts: str = "",
    names: str = "",
    dialects: frozenset[str] = SPARK_FAMILY,
    costly: bool = False,
    help: str = "",
    example: str = "",
) -> Function:
    """Declare a function.

    Args:
        signature: its name, its arguments, and the type of its result.
        spark: its Spark SQL.
        python: gives its value in Python, of arguments that are no NULL unless it is ``of_null``, lists and tuples of
            arrays and structs. It raises nothing. Kernels call it, and so does Spark where there is no Spark SQL.
        vectorized: whether it takes Arrow arrays, of NULLs too, and gives one.
        returns: the type of the result of what is in Python, where the signature does not say it.
        rule: of its types, where the signature does not say them.
        of_null: whether the result may be a value although an argument is NULL.
        nodes: the syntax nodes that are calls of it, one for one.
        parts: of these nodes, which are the arguments; the first ones unless they are said.
        names, dialects, costly: see ``Function``.
        help: the call, and a sentence: ``repeat(str, n) Returns …``.
        example: ``SELECT repeat('ab', 2) → abab``.

    Example:
        >>> repeated = function("repeat(string, integer): string", "repeat({0}, {int1})")
        >>> repeated.name, repeated.most, repeated.strict
        ('repeat', 2, True)
    """
    match = _SIGNATURE.fullmatch(signature)
    assert match is not None, signature
    name, inside, result = match.groups()
    parameters = _PARAMETER.findall(inside)
    type_ = parse_expression_type(result) if result else None
    count = len(parameters)
    if rule is None:
        assert type_ is not None, signature
        rule = typed([_conversion(parameter) for parameter in parameters], type_)
    returned = returns or type_
    if spark:
        render = spark if callable(spark) else _template(spark)
    else:
        render = called(name, type_) if python is None or returned is None else in_python(name, returned)
    in_order = [tuple(parts.split()) or tuple(node.arg_types)[:count] for node in nodes]
    return Function(
        name=name,
        parameters=tuple(parameters),
        least=len(_PARAMETER.findall(inside.partition("[")[0])),
        most=MANY if "..." in inside else count,
        rule=rule,
        strict=not of_null,
        render=render,
        python=python,
        vectorized=vectorized,
        returns=returned,
        is_in_python=python is not None and (not spark or callable(spark)),
        syntax=tuple(zip(nodes, in_order, strict=True)),
        names=tuple(names.split()),
        dialects=dialects,
        is_costly=costly,
        help=help,
        example=example,
    )


def each(names: str, signature: str, **declared: object) -> list[Function]:
    """Several functions with the same declaration: each is declared by its name and the signature.

    Example:
        >>> [function.name for function in each("sinh cosh", "(double): double")]
        ['sinh', 'cosh']
    """
    return [function(name + signature, **declared) for name in names.split()]  # type: ignore[arg-type]


def of_nodes(
    nodes: Iterable[type[exp.Expr]], signature: str, dialects: frozenset[str] = SPARK_FAMILY
) -> list[Function]:
    """Functions that are called as their syntax nodes are, and declared alike.

    Example:
        >>> [function.name for function in of_nodes([exp.Sinh, exp.Cosh], "(double): double")]
        ['sinh', 'cosh']
    """
    return [function(node.__name__.lower() + signature, nodes=[node], dialects=dialects) for node in nodes]


def typed(conversions: Sequence[Callable[[Expression], Expression]], result: DataType) -> TypeRule:
    """A rule of converted arguments, the last conversion being that of all that follow."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        last = len(conversions) - 1
        return tuple(conversions[min(i, last)](argument) for i, argument in enumerate(arguments)), result

    return rule


def called(name: str, type_: DataType | None = None) -> Render:
    """The text of a call of one of Spark's functions; of INTEGER it has 64 bits, whatever Spark's has."""
    text = "cast({}({}) as bigint)" if type_ is not None and type_.kind is Kind.INTEGER else "{}({})"
    return lambda call, arguments: text.format(name, ", ".join(arguments))


def in_python(name: str, returns: DataType) -> Render:
    """The text of a call of a function of Python; Spark knows one for each type of results.

    Example:
        >>> from workbench.sql.algebra.types import BOOLEAN
        >>> in_python("json_valid", BOOLEAN)(None, ["s"])
        "`python:boolean`('json_valid', s)"
    """
    return lambda call, arguments: f"`{IN_PYTHON}{returns.spark}`({', '.join([repr(name), *arguments])})"


def variable_sql(name: str) -> str:
    """A variable of a lambda in Spark SQL."""
    return f"`{VARIABLE}{name}`"


def let(name: str, value: str, body: str) -> str:
    """SQL that computes a value once and uses it by a name."""
    return f"transform(array({value}), {name} -> {body})[0]"


def read_twice(body: str) -> Render:
    """A format string that has an argument several times; a call among them is written once."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        if all(_is_short(argument) for argument in expression.arguments):
            return body.format(*arguments)
        y = variable_sql("y")
        fields = ", ".join(f"'f{place}', {argument}" for place, argument in enumerate(arguments))
        values = (f"{y}.f{place}" for place in range(len(arguments)))
        return let(y, f"named_struct({fields})", body.format(*values))

    return render


def _is_short(argument: Expression) -> bool:
    """A column or constant, as it is or converted."""
    if isinstance(argument, Call) and argument.function == "cast":
        argument = argument.arguments[0]
    return not isinstance(argument, Call)


def as_moment(argument: Expression) -> Expression:
    """An instant as it is, any other time as a timestamp."""
    time = coercion.as_time(argument)
    return time if time.type == INSTANT else coerce(time, TIMESTAMP)


def _conversion(parameter: str) -> Callable[[Expression], Expression]:
    if parameter == "any":
        return lambda argument: argument
    if parameter == "time":
        return coercion.as_clock
    if parameter == "moment":
        return as_moment
    type_ = parse_expression_type(parameter)
    return lambda argument: coerce(argument, type_)


def _template(text: str) -> Render:
    text = _INT.sub(r"try_cast({\1} as int)", text)
    return lambda call, arguments: text.format(*arguments)
