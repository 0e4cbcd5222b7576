"""Methods of values, ``kg.isna()``, which programming languages write behind a dot: how SQL writes the same."""

from __future__ import annotations

import re

from sqlglot import exp

from workbench.sql.function_help import functions
from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.syntax.methods import ACCESSORS, MODULES_OF_PYTHON

_FORMS = {
    name: form
    for names, form in (
        ("isna isnull", "{x} IS NULL"),
        ("notna notnull dropna", "{x} IS NOT NULL"),
        ("mean", "AVG({x})"),
        ("std", "STDDEV({x})"),
        ("var", "VAR_SAMP({x})"),
        ("unique drop_duplicates", "SELECT DISTINCT {x} FROM …"),
        ("value_counts", "SELECT {x}, COUNT(*) FROM … GROUP BY {x}"),
        ("sort_values", "ORDER BY {x} at the end"),
        ("head", "LIMIT 5 at the end"),
        ("rank", "RANK() OVER (ORDER BY {x})"),
        ("len size", "LENGTH({x})"),
        ("date normalize", "CAST({x} AS DATE)"),
        ("isin", "{x} IN ({1})"),
        ("between", "{x} BETWEEN {1} AND {2}"),
        ("fillna", "COALESCE({x}, {1})"),
        ("contains", "{x} LIKE '%{text}%'"),
        ("startswith", "{x} LIKE '{text}%'"),
        ("endswith", "{x} LIKE '%{text}'"),
        ("astype cast", "CAST({x} AS {type})"),
    )
    for name in names.split()
}
"""A method -> the same of a column x with the arguments 1 and 2; ``text`` is the first without quotes."""
_TYPES = {
    "int": "BIGINT", "int64": "BIGINT", "float": "DOUBLE PRECISION", "float64": "DOUBLE PRECISION",
    "bool": "BOOLEAN", "datetime64": "TIMESTAMP", "datetime": "TIMESTAMP", "str": "VARCHAR(100)",
    "string": "VARCHAR(100)",
}  # fmt: skip
"""Types of Python as types that every dialect has."""
_PLACEHOLDERS = [re.compile(rf"(?<![\w']){name}(?![\w'(])") for name in "xst"]
"""What the usual calls name for a value, the likelier first."""


def method_hint(node: exp.Dot, dialect: str) -> str:
    """How a method of a value is called in SQL.

    Args:
        node: the value, a dot, and a call.
        dialect: of the hint.

    Example:
        >>> import sqlglot
        >>> method_hint(sqlglot.parse_one("kg.isna()", into=exp.Condition), "spark")
        'write kg IS NULL'
    """
    value, method = node.this, node.expression
    arguments = [_listed(part, dialect) for part in method.expressions]
    if value.name in MODULES_OF_PYTHON and isinstance(value, exp.Identifier) and arguments:
        value, arguments = method.expressions[0], arguments[1:]
    elif isinstance(value, exp.Dot) and value.name in ACCESSORS:
        value = value.this
    name, of, first = method.name.lower(), value.sql(dialect), [*arguments, "…"][0]
    if (form := _FORMS.get(name)) is not None:
        plain = first.strip("'")
        known = {"x": of, "text": plain, "type": _TYPES.get(plain.lower(), plain.upper())}
        return "write " + form.format("", first, [*arguments, "…", "…"][1], **known)
    calls = (part.name.lower() for part in node.find_all(exp.Anonymous))
    usual = next(filter(None, (usual_call(each, dialect) for each in calls if each not in functions(dialect))), None)
    if usual is None:
        return f"a function stands before its value: {name.upper()}({', '.join([of, *arguments])})"
    placeholder = next((pattern for pattern in _PLACEHOLDERS if pattern.search(usual)), None)
    return placeholder.sub(of, usual) if placeholder is not None else usual


def _listed(argument: exp.Expr, dialect: str) -> str:
    """An argument as it is written in SQL; a list by its values."""
    if isinstance(argument, exp.Array):
        return ", ".join(part.sql(dialect) for part in argument.expressions)
    return argument.sql(dialect)
