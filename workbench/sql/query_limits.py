"""Limits of queries: how many parts an expression, a join and a query may have, and how large values may grow.

Planning and Spark recurse from the top of an expression to its leaves, and search the orders of joins. So that neither
runs out of stack, memory or time, a query beyond these limits is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Call, Constant, Expression, calls, walk
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.functions.size_limits import MOST_SIZES, SIZE_HINT, size_limit
from workbench.sql.logical import (
    Block,
    Input,
    LogicalQuery,
    SetQuery,
    StreamInput,
    output_columns,
    parts_of,
)
from workbench.sql.syntax.limits import MAX_HEIGHT, SPLIT
from workbench.sql.syntax.source_text import SourceText
from workbench.sql.value_sizes import largest_value, value_size

MAX_PARTS = 100_000
"""Operators, columns and constants of an expression, with the views it is made of written out."""

MOST_ROWS = 100
"""Rows of one VALUES, each of which is a branch of a UNION ALL, and elements of arrays side by side in FROM."""
MOST_ELEMENTS_IN_FROM = MOST_ROWS * MOST_ROWS
"""Elements of an array in FROM: the places of two VALUES."""
MAX_JOINED = 40
"""Streams, and views that group, in one join, with views written out; their orders are searched."""
MAX_READS = 1_200
"""Times that a query reads a stream, with views written out: a UNION of a thousand parts reads a thousand."""
MAX_INPUTS = 3_000
"""Inputs of the SELECTs and branches of the set operators of a query, those of a part that is there twice counted once:
a UNION of a thousand SELECTs has two thousand."""
MAX_COLUMNS = 5_000
"""Columns that a query selects."""
MAX_GROWTH = 100_000_000
"""Bytes of a value that functions make of a row, estimated (``value_sizes``); each core has some at a time."""
MAX_KEPT = 10_000
"""Values of a group that one of ARRAY_AGG or LISTAGG counts as."""
MAX_WINDOWS = 300
"""Windows that one row is in: a day that moves every five minutes has 288."""

_BOUNDED = "say how much there may be: SEQUENCE(1, LEAST(n, 100)), SLICE(x, 1, 100), LEFT(s, 100)"
_TOO_DEEP = "group a part of it in a view of its own, or compute it before it enters the stream"


def refuse_extent(
    expression: Expression, source: SourceText, node: exp.Expr, known: dict[int, ExpressionExtent]
) -> None:
    """Refuse an expression that is too high or too long with all the views that it is made of written out.

    Args:
        known: the extents of expressions measured before, by identity; this one is added.

    Raises:
        UnsupportedError: at its node.
    """
    parts, height = _extent(expression, known)
    if parts > MAX_PARTS:
        what = f"an expression of more than {MAX_PARTS:,} parts, with views written out, is not supported"
    elif height > MAX_HEIGHT:
        what = f"more than {MAX_HEIGHT:,} operators inside one another, with views written out, are not supported"
    else:
        return
    raise UnsupportedError(what, **source.of(node), hint=_TOO_DEEP)


def refuse_growth(expression: Expression, source: SourceText, node: exp.Expr) -> None:
    """Refuse an expression whose functions, inside one another, could make more of a row than a worker has room for.

    Raises:
        UnsupportedError: at its node.
    """
    if (size := largest_value(expression)) > MAX_GROWTH:
        megabytes = f"{size / 1_000_000:,.0f}" if size < 10**15 else "billions of"
        what = f"a value that may become as large as {megabytes} MB for one row is not supported"
        raise UnsupportedError(what, **source.of(node), hint=_BOUNDED)


def refuse_oversized(expression: Expression, source: SourceText, node: exp.Expr) -> None:
    """Refuse a call that makes more than its function does: of constants, or of what AGGREGATE carries.

    Raises:
        UnsupportedError: at its node.
    """
    if not isinstance(expression, Call):
        return
    if (size := size_limit(expression)) is not None and size.beyond == Constant(True, BOOLEAN):
        raise UnsupportedError(size.reason, **source.of(node), hint=SIZE_HINT)
    if expression.function == "aggregate" and not calls(expression.arguments[-1]).isdisjoint(MOST_SIZES):
        for part in walk(expression.arguments[-1]):
            size = size_limit(part) if isinstance(part, Call) and "variable" in calls(part) else None
            if size is not None:
                what = (
                    f"a lambda of AGGREGATE in which {size.reason.replace(' would make', ' may make')} is not supported"
                )
                raise UnsupportedError(what, **source.of(node), hint="bound it, as in LEAST(n, 100)")


def refuse_kept(arguments: Iterable[Expression], source: SourceText, node: exp.Expr) -> None:
    """Refuse an aggregate that keeps all values of a group, where functions make these large.

    Raises:
        UnsupportedError: at its node.
    """
    if (size := MAX_KEPT * sum(map(value_size, arguments))) > MAX_GROWTH:
        what = f"{MAX_KEPT:,} values of a group that may have {size / 1_000_000:,.0f} MB together are not supported"
        raise UnsupportedError(what, **source.of(node), hint="aggregate a part of them, as in LEFT(s, 100)")


def refuse_shape(query: LogicalQuery, source: SourceText, node: exp.Expr) -> None:
    """Refuse a query that reads or selects too much; the queries inside it were checked before.

    Raises:
        UnsupportedError: at its node.
    """
    if (columns := len(output_columns(query))) > MAX_COLUMNS:
        what = f"a query with {columns:,} columns is not supported"
        raise UnsupportedError(what, **source.of(node), hint=f"select at most {MAX_COLUMNS:,}")
    parts = parts_of(query)
    if (inputs := sum(len(part.children()) for part in parts)) > MAX_INPUTS:
        what = f"a query that joins and unites {inputs:,} inputs is not supported"
        raise UnsupportedError(what, **source.of(node), hint=f"at most {MAX_INPUTS:,}: {SPLIT}")
    read: dict[Input, int] = {}
    for part in parts:  # inner ones first
        read[part] = _read(part, read)
    if read[query] > MAX_READS:
        what = f"a query that reads streams {_rounded(read[query])} times, with views written out, is not supported"
        raise UnsupportedError(what, **source.of(node), hint=f"read them at most {MAX_READS:,} times")


def _read(query: Input, read: Mapping[Input, int]) -> int:
    """How often a query reads streams, with views written out.

    DISTINCT rows are not repeated by those who read them. A semijoin or antijoin reads its left side in all branches,
    and so does an outer join for rows without a partner, which counts once.
    """
    match query:
        case StreamInput() | Block(distinct=True):
            return 1
        case SetQuery("semijoin" | "antijoin", _, branches):
            return max(read[branch] for branch in branches)
        case SetQuery("union", True, (pairs, *others)):
            return read[pairs] + sum(read[other] for other in others if not _is_without_partner(other, pairs))
        case _:
            return sum(read[inner] for inner in query.children())


def _is_without_partner(branch: LogicalQuery, pairs: LogicalQuery) -> bool:
    """Whether a branch has the rows of an outer join without a partner, of which another branch has the pairs."""
    match branch:
        case Block((SetQuery("antijoin", _, (_, Block(inputs))),)):
            return isinstance(pairs, Block) and pairs.inputs == inputs
    return False


def _rounded(number: int) -> str:
    return f"{number:,}" if number < 10**9 else "billions of"


ExpressionExtent = tuple[int, int, Expression]
"""Parts and height of an expression; and itself, so that its identity stays its own."""


def _extent(expression: Expression, known: dict[int, ExpressionExtent]) -> tuple[int, int]:
    """The number of parts and the height; a part that occurs several times is measured once."""
    rest = [expression]
    while rest:
        top = rest[-1]
        arguments = top.arguments if isinstance(top, Call) else ()
        missing = [a for a in arguments if id(a) not in known]
        if missing:
            rest += missing
            continue
        rest.pop()
        below = [known[id(a)] for a in arguments]
        known[id(top)] = (1 + sum(e[0] for e in below), 1 + max((e[1] for e in below), default=0), top)
    parts, height, _ = known[id(expression)]
    return parts, height
