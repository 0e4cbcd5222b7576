"""The order of texts: by their bytes in UTF-8, in every dialect and at every place.

spark and duckdb have no other order unless a text says so. A database of postgres has a collation, which a text does
not name and a stream does not have: bytes are the order of one of locale ``C`` or ``C.UTF-8``. Where a text depends on
it and does not write ``COLLATE "C"`` a warning names the first such place. A collation that is another order, ``COLLATE
"de_DE"`` or ``COLLATE NOCASE``, is refused wherever it stands: which texts are equal, and which is first, is decided
by the version of the library of the database.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Expression, walk
from workbench.sql.algebra.types import STRING
from workbench.sql.syntax.source_text import SourceText

_ORDERS = ("<", "<=", ">", ">=")
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_CHOICES = (exp.Min, exp.Max, exp.Greatest, exp.Least, exp.WithinGroup)
_MESSAGE = 'texts are in the order of their bytes here, as with COLLATE "C"'
_HINT = 'a database of another collation orders them otherwise; x COLLATE "C" says that bytes are meant'


def refuse_other_order(source: SourceText, node: exp.Collate) -> None:
    """Refuse a collation that is not the order of bytes.

    Args:
        source: the text.
        node: ``x COLLATE name``.

    Raises:
        UnsupportedError: it is not, or not known to be.
    """
    known, named = source.rules.byte_collations, node.expression.name
    if named.upper() not in known:
        write = f'write COLLATE "{min(known, key=len)}", or leave it out' if known else "leave it out"
        hint = f"texts are in the order of their bytes: {write}; of LOWER(x) upper and lower case are the same"
        source.refuse(f"COLLATE {named}", node, hint)


def note_key(source: SourceText, key: exp.Expr, bound: Expression) -> None:
    """Warn where values are ordered by a text.

    Args:
        source: the text.
        key: an item of ORDER BY, or what is put in order.
        bound: what it means.
    """
    if source.rules.notes_byte_order and STRING in bound.type.walk() and not _names_collation(key):
        source.note(_MESSAGE, key, _HINT)


def note_comparison(source: SourceText, node: exp.Expr, bound: Expression) -> None:
    """Warn where texts are compared by ``<`` and its like, or the smallest or largest one is chosen.

    Args:
        source: the text.
        node: any expression.
        bound: what it means.
    """
    if not source.rules.notes_byte_order:
        return
    while isinstance(node, (exp.Window, exp.Filter)):
        node = node.this
    compared = isinstance(node, _COMPARISONS) and _compares_texts(bound)
    chosen = isinstance(node, _CHOICES) and bound.type == STRING
    if (compared or chosen) and not _names_collation(node):
        source.note(_MESSAGE, node, _HINT)


def _compares_texts(bound: Expression) -> bool:
    sides = (p.arguments[0] for p in walk(bound) if isinstance(p, Call) and p.function in _ORDERS)
    return any(STRING in _ordered_by(side).type.walk() for side in sides)


def _ordered_by(side: Expression) -> Expression:
    """The array or struct that a side represents, or the side itself."""
    return side.arguments[0] if isinstance(side, Call) and side.function == "order_of_parts" else side


def _names_collation(node: exp.Expr) -> bool:
    """Whether one of the texts has a COLLATE, which then holds for all."""
    key = node.expression.find(exp.Ordered) if isinstance(node, exp.WithinGroup) else node
    if key is None:
        return False
    sides = [part for side in key.iter_expressions() for part in (side, *side.unnest().iter_expressions())]
    return any(isinstance(side.unnest(), exp.Collate) for side in sides)
