"""A recursive query without end of which LIMIT takes the first rows: ``WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL
SELECT n + 1 FROM t) SELECT n FROM t LIMIT 10``.

Each step but the last one has a row, with UNION one that no step before had. So ``n`` rows are in the first ``n``
steps, or there are no more. A column counts these, and rows are in its order, as databases make them step by step.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.order.limit import BindConstant, limit_of
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, Ordered, Output, RecursionRule, SetQuery, output_columns
from workbench.sql.predicates.cnf import TRUE, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.source_text import SourceText

_CLAUSES = {"expressions", "from_", "limit", "offset", "with_"}
_OTHER_ROWS = (exp.AggFunc, exp.Anonymous, exp.Window, exp.Query, exp.UDTF, exp.GenerateSeries, exp.GenerateDateArray)
"""What a select list may have that makes other rows of those that it reads, or reads all of them."""
_STEP = "__step"


def rows_taken(cte: exp.CTE, source: SourceText, bind: BindConstant) -> int | None:
    """How many rows of a query of WITH are read at most; ``None`` where a reader takes them all.

    Args:
        cte: the query of WITH, in its statement.
        source: the text, for errors.
        bind: binds an expression that reads no columns.
    """
    statement = cte.find_ancestor(exp.Query)
    if statement is None:
        return None
    named = (table for table in statement.find_all(exp.Table) if table.name.lower() == cte.alias.lower())
    taken = [_taken(table, source, bind) for table in named if not _is_inside(table, cte)]
    known = [rows for rows in taken if rows is not None]
    return max(known) if known and len(known) == len(taken) else None


def _is_inside(node: exp.Expr, cte: exp.CTE) -> bool:
    at = node.parent
    while at is not None and at is not cte:
        at = at.parent
    return at is cte


def _taken(table: exp.Table, source: SourceText, bind: BindConstant) -> int | None:
    """How many rows of a table a SELECT of nothing else takes."""
    select = table.parent.parent if isinstance(table.parent, exp.From) else None
    plain = isinstance(select, exp.Select) and {key for key, value in select.args.items() if value} <= _CLAUSES
    if select is None or not plain or any(item.find(*_OTHER_ROWS) for item in select.expressions):
        return None
    limit = limit_of(select, source, bind)
    return None if limit.rows is None else limit.rows + limit.offset


def first_steps(recursion: SetQuery, steps: int) -> Ordered | None:
    """The rows of the first steps of a recursion, in the order of these; ``None`` where a step reads itself twice.

    Args:
        recursion: without end.
        steps: how many of them.
    """
    if not recursion.all and any(rule.inputs.count(0) > 1 for rule in recursion.rules):
        return None
    first, *others = recursion.branches
    begin = Block((first,), TRUE, (*_outputs(first), Output(_STEP, Constant(0, INTEGER))))
    counted = replace(
        recursion,
        operator=recursion.operator if recursion.all else "recursion least",
        branches=(begin, *others),
        names=(*recursion.names, _STEP),
        types=(*recursion.types, INTEGER),
        rules=tuple(_counting(rule, steps) for rule in recursion.rules),
    )
    rows = Block((counted,), TRUE, _outputs(counted))
    return Ordered(rows, len(recursion.names), (SortKey(Column(stored_name(_STEP), INTEGER)),))


def _outputs(query: Block | SetQuery | Ordered) -> tuple[Output, ...]:
    return tuple(Output(name, Column(stored_name(name), type_)) for name, type_ in output_columns(query))


def _counting(rule: RecursionRule, steps: int) -> RecursionRule:
    """A rule that counts the steps, and ends before there are more."""
    before = Column(f"c{len(rule.values) + 1}", INTEGER)
    bound = normal_form(call("<", before, Constant(steps - 1, INTEGER)))
    values = (*rule.values, call("+", before, Constant(1, INTEGER)))
    return replace(rule, where=conjunction(rule.where, bound), values=values)
