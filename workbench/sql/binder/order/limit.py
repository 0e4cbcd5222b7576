"""LIMIT, OFFSET and FETCH: how many of the ordered rows a query keeps."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from workbench.sql.syntax.source_text import SourceText

CLAUSES = frozenset({"order", "limit", "offset"})
"""The parts of a syntax node that put rows in order and count them."""


@dataclass(frozen=True)
class Limit:
    """At most ``rows`` rows (``None``: all) after ``offset`` others; with ties also those equal to the last one."""

    rows: int | None = None
    offset: int = 0
    with_ties: bool = False


def limit_of(node: exp.Expr, source: SourceText) -> Limit:
    """The limit and the offset of a query, of LIMIT, FETCH and OFFSET.

    Raises:
        SqlError: a number of rows is no constant, or WITH TIES stands without ORDER BY.
        UnsupportedError: a share of the rows is asked for.
    """
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if offset is not None:
        source.refuse_others(offset, {"expression"}, "OFFSET")
    skipped = 0 if offset is None else _number(offset.expression, "OFFSET", source) or 0
    if limit is None:
        return Limit(None, skipped)
    source.refuse_others(limit, {"expression", "count", "direction", "limit_options"}, "LIMIT")
    options = limit.args.get("limit_options")
    if options is not None and options.args.get("percent"):
        source.refuse("LIMIT of a share of the rows", limit, "give a number of rows")
    with_ties = options is not None and bool(options.args.get("with_ties"))
    if with_ties and node.args.get("order") is None:
        raise source.error("WITH TIES needs ORDER BY", limit, "say by what rows are equal")
    if isinstance(limit, exp.Fetch) and limit.args.get("count") is None:
        return Limit(1, skipped, with_ties)
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
    return Limit(None if count is None else _number(count, "LIMIT", source), skipped, with_ties)


def _number(node: exp.Expr, clause: str, source: SourceText) -> int | None:
    """A number of rows; ``None`` for ALL and NULL."""
    node = node.unnest()
    if isinstance(node, exp.Null) or (isinstance(node, (exp.Column, exp.Var)) and node.name.upper() == "ALL"):
        return None
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit() and len(node.name) < 18:
        return int(node.name)
    raise source.error(f"{clause} takes a number of rows, 0 or more", node, f"as in {clause} 10")
