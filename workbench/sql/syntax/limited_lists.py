"""Lists of the rows of a group of which a text takes the first elements: they are made of these alone.

| form | written as |
|---|---|
| ``LIST(x ORDER BY y)[1:3]``, ``LIST_SLICE(LIST(x ORDER BY y), 1, 3)`` | ``ARRAY_AGG(x ORDER BY y LIMIT 3)`` |
| ``SLICE(COLLECT_LIST(x), 1, 3)`` | ``COLLECT_LIST(x LIMIT 3)`` |
| ``(ARRAY_AGG(x ORDER BY y))[1]`` | ``(ARRAY_AGG(x ORDER BY y LIMIT 1))[1]`` |
"""

from __future__ import annotations

from sqlglot import exp


def with_limited_lists(tree: exp.Expr) -> exp.Expr:
    """A tree in which lists that are cut say after how many elements.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT LIST(x)[1:3] FROM t", read="duckdb")
        >>> with_limited_lists(tree).sql("bigquery")
        'SELECT ARRAY_AGG(x LIMIT 3) FROM t'
    """
    for listed in list(tree.find_all(exp.ArrayAgg)):
        whole: exp.Expr = listed
        while isinstance(whole.parent, (exp.Filter, exp.Paren)) and whole.arg_key == "this":
            whole = whole.parent
        taken = whole.parent
        number = _number_of_first(taken)
        if taken is None or not number or isinstance(listed.this, exp.Limit):
            continue
        listed.set("this", exp.Limit(this=listed.this, expression=exp.Literal.number(number)))
        if not (isinstance(taken, exp.Bracket) and isinstance(taken.expressions[0], exp.Literal)):
            taken.replace(whole)
    return tree


def with_slices(tree: exp.Expr) -> exp.Expr:
    """A tree in which limited lists are the first elements of whole ones, as Spark SQL writes them.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT ARRAY_AGG(x LIMIT 3) FROM t", read="bigquery")
        >>> with_slices(tree).sql("spark")
        'SELECT SLICE(COLLECT_LIST(x), 1, 3) FROM t'
    """
    tree = tree.copy()
    for listed in list(tree.find_all(exp.ArrayAgg)):
        if isinstance(limit := listed.this, exp.Limit):
            listed.set("this", limit.this)
            whole = listed.parent if isinstance(listed.parent, exp.Filter) else listed
            sliced = exp.Anonymous(this="SLICE", expressions=[])
            whole.replace(sliced)
            sliced.set("expressions", [whole, exp.Literal.number(1), limit.expression])
    return tree


def _number_of_first(taken: exp.Expr | None) -> int | None:
    """How many first elements of an array are taken; ``None`` where others are, or it is not said."""
    match taken:
        case exp.Bracket(expressions=[exp.Slice(this=first, expression=last, args=parts)]) if not parts.get("step"):
            return _number(last) if first is None or _number(first) == 1 else None
        case exp.Bracket(expressions=[exp.Literal() as place]):
            at = _number(place)
            return None if at is None else at + 1
        case exp.Anonymous(expressions=[_, first, last]) if taken.name.lower() in ("list_slice", "array_slice"):
            return _number(last) if _number(first) == 1 else None
        case exp.ArraySlice(args={"start": first, "end": last, "is_length": True}):
            return _number(last) if _number(first) == 1 else None
    return None


def _number(node: exp.Expr | None) -> int | None:
    return int(node.name) if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit() else None
