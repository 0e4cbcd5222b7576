"""CREATE FUNCTION and CREATE MACRO: functions in SQL, which a text declares before its query and which are inlined.

    CREATE FUNCTION net(x DOUBLE) RETURNS DOUBLE RETURN x / 1.19; SELECT net(price) FROM orders
    CREATE FUNCTION net(x float8) RETURNS float8 LANGUAGE sql AS $$ SELECT x / 1.19 $$; …
    CREATE MACRO net(x) AS x / 1.19; …

A call is the body with the arguments in place of the parameters, so it shares what the body written out shares. An
argument is cast to the type of its parameter, and the body to the type that the function returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.source_text import SourceText

_PROPERTIES = (exp.ReturnsProperty, exp.LanguageProperty, exp.StabilityProperty, exp.TemporaryProperty)
_HINT = "a function is one expression of its parameters, as in CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1"


@dataclass(frozen=True)
class SqlFunction:
    """A function in SQL.

    Attributes:
        name: in lower case.
        parameters: names in lower case, each with its type and its default, ``None`` where it has none.
        body: an expression over them.
        returns: its type; ``None`` of a macro, which has that of its body.
    """

    name: str
    parameters: tuple[tuple[str, exp.DataType | None, exp.Expr | None], ...]
    body: exp.Expr
    returns: exp.DataType | None


def is_function(tree: exp.Expr) -> bool:
    """Whether a statement is CREATE FUNCTION or CREATE MACRO."""
    return isinstance(tree, exp.Create) and tree.kind in ("FUNCTION", "MACRO")


def sql_function(tree: exp.Expr, source: SourceText, known: Mapping[str, SqlFunction]) -> SqlFunction:
    """The function that a statement declares, which may call those that are ``known``.

    Raises:
        SqlError: its body names what is no parameter.
        UnsupportedError: it reads a table, is in another language, or is no single expression.
    """
    named = tree.this
    place = named.this if isinstance(named, exp.UserDefinedFunction) else named
    if not isinstance(named, exp.UserDefinedFunction):
        source.refuse("a function without parameters in parentheses", place, _HINT)
    source.refuse_others(tree, {"this", "kind", "expression", "replace", "properties", "exists"}, "CREATE FUNCTION")
    properties = tree.args["properties"].expressions if tree.args.get("properties") else []
    other = next((each for each in properties if not isinstance(each, _PROPERTIES)), None)
    language = next((each.name for each in properties if isinstance(each, exp.LanguageProperty)), "sql")
    returned = next((each for each in properties if isinstance(each, exp.ReturnsProperty)), None)
    if other is not None or language.lower() != "sql" or (returned is not None and returned.args.get("is_table")):
        source.refuse("a function of another language, of tables, or with such properties", place, _HINT)
    name = named.this.name.lower()
    parameters = tuple(_parameter(part, source) for part in named.expressions)
    names = [parameter for parameter, _, _ in parameters]
    if len(set(names)) < len(names) - names.count(""):
        raise source.error("a parameter stands twice", place)
    body = inlined(_body(tree.expression, source, place), known, source)
    for column in body.find_all(exp.Column):
        if column.name.lower() not in names or column.table.lower() not in ("", name):
            raise SqlError(f"{column.sql()} is no parameter of {name}", **source.of(column), hint=_HINT)
    variables = {variable.name.lower() for lambda_ in body.find_all(exp.Lambda) for variable in lambda_.expressions}
    if variables & set(names):
        raise source.error("a variable of a lambda has the name of a parameter", place, "give it another name")
    return SqlFunction(name, parameters, body, returned.this if returned is not None else None)


def _parameter(part: exp.Expr, source: SourceText) -> tuple[str, exp.DataType | None, exp.Expr | None]:
    if isinstance(part, exp.Identifier) and DIALECTS[source.dialect].numeric_keeps_digits:  # a type alone
        return "", exp.DataType.build(part.name, dialect=source.dialect), None
    if not isinstance(part, exp.ColumnDef):
        return part.name.lower(), None, None
    constraints = [constraint.kind for constraint in part.args.get("constraints") or []]
    default = next((kind.this for kind in constraints if isinstance(kind, exp.DefaultColumnConstraint)), None)
    if len(constraints) > (default is not None):
        source.refuse("this property of a parameter", part, _HINT)
    return part.name.lower(), part.args.get("kind"), default


def _body(node: exp.Expr | None, source: SourceText, place: exp.Expr) -> exp.Expr:
    """The expression that a function is; of ``$$ SELECT x + 1 $$`` what is selected."""
    if isinstance(node, (exp.Heredoc, exp.Literal)) and (isinstance(node, exp.Heredoc) or node.is_string):
        text = node.name if isinstance(node, exp.Literal) else str(node.this)
        try:
            node = sqlglot.parse_one(re.sub(r";\s*\Z", "", text.strip()), read=source.dialect)
        except sqlglot.ParseError as error:
            raise source.error(f"the body of the function is no SQL: {str(error).splitlines()[0]}", place) from None
        for part in node.walk():
            part.meta.clear()  # places in another text
        if not isinstance(node, exp.Select):
            source.refuse("such a body of a function", place, _HINT)
    node = node.this if isinstance(node, exp.Return) else node
    node = node.unnest() if node is not None else node
    if isinstance(node, exp.Select) and set(_given(node)) == {"expressions"} and len(node.expressions) == 1:
        node = node.expressions[0].unalias()
    if node is None or next(node.find_all(exp.Query), None) is not None:
        source.refuse("a function that reads tables", place, "write a view, or let the query read the table")
    return node


def _given(node: exp.Expr) -> list[str]:
    return [key for key, value in node.args.items() if value]


def inlined(tree: exp.Expr, functions: Mapping[str, SqlFunction], source: SourceText) -> exp.Expr:
    """A tree in which calls of functions are their bodies.

    Raises:
        SqlError: a call has too many arguments, or too few.
    """
    if not functions:
        return tree
    root = exp.Paren(this=tree)  # what is itself a call is replaced, too
    # Inner calls before those around them, whose arguments they are.
    for node in reversed(list(root.find_all(exp.Func))):
        function = functions.get(_called(node, source))
        if function is not None:
            node.replace(_named(node, _value(node, function, source), source))
    return root.this.pop()


def _called(node: exp.Expr, source: SourceText) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else (source.called(node) or "").lower()


def _named(node: exp.Expr, value: exp.Expr, source: SourceText) -> exp.Expr:
    """A column of SELECT is called as the function where the dialect calls it so."""
    if DIALECTS[source.dialect].names_calls and isinstance(node.parent, exp.Select) and node.arg_key == "expressions":
        return exp.alias_(value, node.name.lower())
    return value


def _value(node: exp.Expr, function: SqlFunction, source: SourceText) -> exp.Expr:
    given: Sequence[exp.Expr] = node.expressions if isinstance(node, exp.Anonymous) else list(node.iter_expressions())
    if not len([p for p in function.parameters if p[2] is None]) <= len(given) <= len(function.parameters):
        raise source.error(f"{function.name} takes {len(function.parameters)} arguments, not {len(given)}", node)
    values = [*given, *(default for _, _, default in function.parameters[len(given) :] if default is not None)]
    arguments = [_typed(value, type_) for value, (_, type_, _) in zip(values, function.parameters, strict=True)]
    by_name = {name: argument for (name, _, _), argument in zip(function.parameters, arguments, strict=True) if name}
    body = exp.Paren(this=function.body.copy())
    for part in list(body.find_all(exp.Column, exp.Parameter)):
        if isinstance(part, exp.Column):
            part.replace(by_name[part.name.lower()].copy())
        elif part.name.isdigit() and 1 <= int(part.name) <= len(arguments):
            part.replace(arguments[int(part.name) - 1].copy())
    return _typed(body, function.returns)


def _typed(value: exp.Expr, type_: exp.DataType | None) -> exp.Expr:
    if type_ is None:
        return exp.Paren(this=value.copy())
    cast = exp.Cast(this=value.copy(), to=type_.copy())
    cast.meta.update(value.meta)
    return cast
