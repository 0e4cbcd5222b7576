"""Rewrites functions of duckdb that stand behind their first argument, ``s.trim().upper()``, as ``UPPER(TRIM(s))``.

The parser takes columns before such a function for parts of its name, also those within the value.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.syntax.shorthands import put_in_place

_MOST_NAMES = 4
"""Names of a column at most, with those of its table, schema and database before it."""
_SCHEMAS = ("main", "pg_catalog")
OF_PYTHON = frozenset({
    "isna", "isnull", "notna", "notnull", "dropna", "mean", "std", "var", "unique", "drop_duplicates", "value_counts",
    "sort_values", "head", "rank", "size", "date", "normalize", "isin", "between", "fillna", "startswith", "endswith",
    "astype", "cast", "nunique",
})  # fmt: skip
"""Methods of columns in programs, which duckdb lacks, or calls by another name."""
ACCESSORS = ("str", "dt")
MODULES_OF_PYTHON = frozenset({"np", "numpy", "pd", "pandas", "math", "re", "F"})
"""Modules of Python whose functions are written with their names before them."""


def with_plain_calls(tree: exp.Expr) -> exp.Expr:
    """A tree in which the value before such a function is its first argument.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT s.trim().upper(), t.k.sum() FROM t", read="duckdb")
        >>> with_plain_calls(tree).sql("duckdb")
        'SELECT UPPER(TRIM(s)), SUM(t.k) FROM t'
    """
    for node in reversed(list(tree.find_all(exp.Dot))):  # the innermost first
        given = node.expression
        if not isinstance(given, exp.Anonymous) or _is_of_python(node):
            continue
        before = [] if node.this.name.lower() in _SCHEMAS else [node.this]
        arguments = (argument.copy() for argument in [*before, *given.expressions])
        try:
            called = exp.func(given.name, *arguments, dialect="duckdb")
        except (ValueError, TypeError, IndexError, AttributeError):  # it takes no such arguments
            continue
        called.meta.update(given.meta)
        put_in_place(node, called)
        _name_columns(called)
    return tree


def _is_of_python(node: exp.Dot) -> bool:
    """Whether a program would write a call so, which a hint then writes as SQL."""
    value = node.this
    by_module = (
        isinstance(value, exp.Identifier) and value.name in MODULES_OF_PYTHON and bool(node.expression.expressions)
    )
    by_accessor = isinstance(value, exp.Dot) and value.name in ACCESSORS
    return by_module or by_accessor or node.expression.name.lower() in OF_PYTHON


def _name_columns(called: exp.Expr) -> None:
    """Make columns of the names in a call that stand where values do."""
    for first in list(called.find_all(exp.Identifier)):
        names = [first]
        value: exp.Expr = first
        while isinstance(dot := value.parent, exp.Dot) and value.arg_key == "this":
            if not isinstance(dot.expression, exp.Identifier):
                break
            names.append(dot.expression)
            value = dot
        if _is_value(value) and len(names) <= _MOST_NAMES:
            value.replace(exp.column(*(name.copy() for name in reversed(names))))


def _is_value(node: exp.Expr) -> bool:
    """Whether a name stands for a value, and is neither that of a part or an argument, nor a variable of a lambda."""
    parent = node.parent
    if isinstance(parent, exp.Column) or not isinstance(parent, exp.Condition):
        return False
    if isinstance(parent, (exp.Dot, exp.PropertyEQ, exp.Kwarg)) and (node.arg_key == "this") is not isinstance(
        parent, exp.Dot
    ):
        return False
    lambda_ = node.find_ancestor(exp.Lambda)
    while lambda_ is not None:
        if node.name in (variable.name for variable in lambda_.expressions):
            return False
        lambda_ = lambda_.find_ancestor(exp.Lambda)
    return True
