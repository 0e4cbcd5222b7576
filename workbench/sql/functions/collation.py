"""The order of texts in postgres, which follows the collation of the database there, and bytes here.

``COLLATE "C"`` says that bytes are meant. Where a text does not say so, a warning names the first place that depends on
it.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Expression, walk
from workbench.sql.algebra.types import STRING
from workbench.sql.syntax.source_text import SourceText

_ORDERS = ("<", "<=", ">", ">=")
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_CHOICES = (exp.Min, exp.Max, exp.Greatest, exp.Least, exp.WithinGroup)
_BYTES = {"C", "POSIX", "C.UTF-8", "C.UTF8", "UCS_BASIC", "PG_C_UTF8"}
"""PostgreSQL's collations that order texts by their bytes in UTF-8."""
_MESSAGE = 'texts are in the order of their bytes here, as with COLLATE "C"'
_HINT = 'a database of another collation orders them otherwise; x COLLATE "C" says that bytes are meant'


def is_order_of_bytes(collation: exp.Expr) -> bool:
    """Whether a collation of postgres orders texts by their bytes."""
    return collation.name.upper() in _BYTES


def note_key(source: SourceText, key: exp.Expr, bound: Expression) -> None:
    """Warn where values are ordered by a text.

    Args:
        source: the text.
        key: an item of ORDER BY.
        bound: what it means.
    """
    if not source.rules.orders_by_bytes and bound.type == STRING and not _names_collation(key):
        source.note(_MESSAGE, key, _HINT)


def note_comparison(source: SourceText, node: exp.Expr, bound: Expression) -> None:
    """Warn where texts are compared by ``<`` and its like, or the smallest or largest one is chosen.

    Args:
        source: the text.
        node: any expression.
        bound: what it means.
    """
    if source.rules.orders_by_bytes:
        return
    while isinstance(node, (exp.Window, exp.Filter)):
        node = node.this
    compared = isinstance(node, _COMPARISONS) and _compares_texts(bound)
    chosen = isinstance(node, _CHOICES) and bound.type == STRING
    if (compared or chosen) and not _names_collation(node):
        source.note(_MESSAGE, node, _HINT)


def _compares_texts(bound: Expression) -> bool:
    return any(isinstance(p, Call) and p.function in _ORDERS and p.arguments[0].type == STRING for p in walk(bound))


def _names_collation(node: exp.Expr) -> bool:
    """Whether one of the texts stands before COLLATE, which is that of all."""
    key = node.expression.find(exp.Ordered) if isinstance(node, exp.WithinGroup) else node
    return any(isinstance(side.unnest(), exp.Collate) for side in key.iter_expressions()) if key is not None else False
