"""The warning of a join without a condition, of which each row goes with every row of the items before it."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.joins.trees import tied
from workbench.sql.logical import StreamInput
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.syntax.source_text import SourceText


def warn_of_all_pairs(select: exp.Select, rows: FromClause, where: PredSet, source: SourceText) -> None:
    """Warn of streams that are joined each row with each, unless CROSS JOIN says that it is meant.

    Args:
        select: the text.
        rows: its FROM.
        where: its conditions.
        source: the text.
    """
    groups = tied(rows.trees, where)
    streams = {i for i, relation in enumerate(rows.inputs) if isinstance(relation, StreamInput)}
    for join in select.args.get("joins") or ():
        name = join.this.alias_or_name
        item = next((item for item in rows.scope.items if item.alias == name), None)
        own = set() if item is None else streams & set(item.inputs)
        before = {i for i in streams if own and i < min(own)}
        if not before or any(group & own and group & before for group in groups):
            continue
        if source.joined_by(join.this) != "CROSS JOIN":
            hint = "add a condition, as in ON a.key = b.key; write CROSS JOIN if it is meant"
            message = f"no condition joins {name}: each of its rows goes with every row of the items before it"
            source.warn(message, join.this, hint)
