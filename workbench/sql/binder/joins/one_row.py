"""The one row of a SELECT without FROM, of which VALUES are made.

It is the total of no rows of some stream, which is there whatever arrives. So nothing below the binder knows
of rows that no stream has, and nothing is computed for them in a batch.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.checks import GROUP_ROWS
from workbench.sql.logical import Block, Grouping, Output, StreamInput
from workbench.sql.predicates.cnf import FALSE

NO_STREAM_HINT = "add one with add_stream, in a notebook by %argus stream NAME SOURCE"


def one_row(node: exp.Expr, context: QueryContext) -> Block:
    """A query of one row, of a stream that the statement reads, if it reads one.

    Raises:
        SqlError: there is no stream at all.
    """
    known = context.schema.streams
    stream = min(context.streams, default=None) or min(
        known, key=lambda n: (n not in context.schema.tables, n), default=""
    )
    if not stream:
        raise context.source.error("there is no stream yet", node, NO_STREAM_HINT)
    columns = tuple((stored_name(name), type_) for name, type_ in known[stream])
    rows = StreamInput(stream, columns, stream not in context.schema.corrected)
    return Block((rows,), FALSE, (Output("one", Constant(True, BOOLEAN)),), Grouping((), (GROUP_ROWS,)))
