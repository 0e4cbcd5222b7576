"""WITH RECURSIVE: paths of transfers that follow transfers.

SQL computes ``WITH RECURSIVE p AS (first UNION ALL next)`` in steps: the rows of ``first``, then those of ``next`` over
the rows of the step before, until a step has none. That is a recursion (``fixpoint``), which an operator of its own
evaluates as far as the rows go.

Where ``first`` gives a column a constant, ``next`` counts it on and its WHERE bounds it, each step has that column as a
constant, and the condition of a later step can never hold. So there are as many steps as the text says. Of few steps
the query is the UNION ALL of them, joins like any others: they are shared with queries that join the same, and step by
step with those that go less far.

The steps are written out, too, where ``next`` is no plain join: it keeps rows without a partner, reads a subquery that
depends on the step, or calls a function of the analyst. Where the text does not bound these there are
``UNBOUNDED_STEPS``, and a check stops the query when one more step has rows, or with UNION, rows that no step before
had (``sql/checks``). ``next`` reads the name once then. So it gives for a union of rows the union of what it gives for
each, and UNION is the DISTINCT rows of all steps, as the fixpoint is (F. Bancilhon, R. Ramakrishnan, *An amateur's
introduction to recursive query processing strategies*, SIGMOD 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import DataType, of_any_bits
from workbench.sql.binder.best_values import with_best_values
from workbench.sql.binder.fixpoint import fixpoint_of, goes_on_for_ever
from workbench.sql.binder.order.limit import CLAUSES
from workbench.sql.binder.search_clauses import with_order, with_search_columns
from workbench.sql.binder.set_operations import operation_of, with_column_names
from workbench.sql.binder.steps_of_limit import first_steps
from workbench.sql.logical import (
    Block,
    Input,
    LogicalQuery,
    Ordered,
    Output,
    SetQuery,
    StreamInput,
    output_columns,
    unordered,
)
from workbench.sql.predicates.canonical import canonical, canonical_expression
from workbench.sql.predicates.cnf import FALSE, TRUE
from workbench.sql.predicates.implication import normalized
from workbench.sql.syntax.source_text import SourceText

FEW_STEPS = 4
"""After the first, that are written out: step *n* joins *n* times. What they share is worth that; of more it is not."""
FEW_INPUTS = 3
"""Of a step that is written out."""
MOST_STEPS = 20
"""After the first, of a query of which they must be written out."""
UNBOUNDED_STEPS = 10
"""Steps of a query whose text does not bound them; a batch takes time for each, however few rows there are."""
_HINT = "EXPLODE(SEQUENCE(1, 100)), and generate_series(1, 100) elsewhere, count; LIMIT alone behind it ends it, too"

RECURSIVE_CLAUSES = {"key": "USING KEY", "search": "SEARCH", "cycle": "CYCLE"}
"""Arguments of a query of WITH that a recursive one may have, and how they are called."""
With = Callable[[LogicalQuery, exp.Expr], LogicalQuery]
"""The query of a syntax node in which the recursive name means the given one."""


def reads_itself(cte: exp.CTE) -> bool:
    """Whether a query of WITH reads its own name."""
    return bool(_reads(cte.this, cte.alias))


def queries_before(cte: exp.CTE) -> tuple[exp.With | None, exp.CTE]:
    """WITH before the UNION of a recursive query, if its queries do not read that, and the query without it."""
    with_ = cte.this.args.get("with_")
    if with_ is None or _reads(with_, cte.alias):
        return None, cte
    plain = cte.copy()
    plain.this.set("with_", None)
    return with_, plain


def refuse_clauses(cte: exp.CTE, source: SourceText) -> None:
    """Refuse what only a recursive query may have."""
    for key, words in RECURSIVE_CLAUSES.items():
        if cte.args.get(key):
            source.refuse(f"{words} of a query that does not read itself", cte, "WITH RECURSIVE … reads its own name")


def after_what_they_read(every: Sequence[exp.CTE]) -> list[exp.CTE]:
    """Queries of WITH RECURSIVE, each behind those that it reads; those that read each other stay as they are."""
    waiting, sorted_ = list(every), list[exp.CTE]()
    while waiting:
        free = (c for c in waiting if not any(_reads(c.this, other.alias) for other in waiting if other is not c))
        sorted_.append(next(free, waiting[0]))
        waiting.remove(sorted_[-1])
    return sorted_


def refuse_later_names(cte: exp.CTE, every: Sequence[exp.CTE], source: SourceText) -> None:
    """Refuse a query of WITH that reads one that comes after it."""
    later = {other.alias.lower() for other in every[every.index(cte) + 1 :]} - {cte.alias.lower()}
    inner = {other.alias.lower() for other in cte.this.find_all(exp.CTE)}
    for table in cte.this.find_all(exp.Table):
        if table.name.lower() in later - inner and not table.args.get("db"):
            hint = "put it first; of two that read each other make one, with a column that says which a row is of"
            source.refuse(f"{table.name}, which comes later in WITH, here", table, hint)


def steps_of(
    cte: exp.CTE, first_of: Callable[[exp.Expr], LogicalQuery], next_of: With, most: int | None, source: SourceText
) -> LogicalQuery:
    """A recursive query: a recursion, or the union of all its steps.

    Args:
        cte: the query of WITH.
        first_of: binds its first part.
        next_of: binds its second part over the rows of the step before.
        most: how many of its rows are read at most; ``None``: all.
        source: the text, for errors.

    Raises:
        SqlError: the parts have other columns or types.
        UnsupportedError: the form is another, or steps that are not bounded, or too many, join nothing.
    """
    body, name = cte.this, cte.alias
    _refuse_other_operators(body, name, source)
    names = [column.name for column in cte.args["alias"].args.get("columns") or ()]
    first = with_column_names(unordered(first_of(body.this)), names, source, cte)
    selects = list(_selects(body.expression, bool(body.args.get("distinct"))))
    if body.args.get("distinct") and _has_a_row(body.this):
        # What reads no step gives the same rows in each: with UNION they are first rows, if there is a step at all.
        alone = [select for select in selects if not _reads(select, name)]
        selects = [select for select in selects if select not in alone]
        rows = [first, *(unordered(first_of(select)) for select in alone)]
        first = first if not alone else operation_of("union", False, rows, body, source)
    searched = cte.args.get("search") or cte.args.get("cycle")
    plain = [column for column, _ in output_columns(first)]
    if searched:
        first, selects = with_search_columns(cte, first, selects, next_of, source)
    columns = output_columns(first)

    def rule_of(step: LogicalQuery, select: exp.Expr) -> LogicalQuery:
        rows = next_of(step, select)
        _check_columns(columns, output_columns(rows), name, select, source)
        return rows

    found = fixpoint_of(first, selects, not body.args.get("distinct"), rule_of)
    if cte.args.get("key"):
        return with_best_values(found, cte, source)
    if found is not None and goes_on_for_ever(found):
        begin = None if most is None else first_steps(found, most)
        if begin is None:
            source.refuse("a recursive query without end that joins nothing", body.expression, _HINT)
        return with_order(cte, begin, plain, next_of, source) if searched else begin
    if found is not None:
        (inputs, *others) = (rule.inputs for rule in found.rules)
        if searched:
            return with_order(cte, found, plain, next_of, source)
        if others or inputs.count(0) > 1 or len(inputs) > FEW_INPUTS:
            return found
    if searched:
        source.refuse("SEARCH and CYCLE of a step that is no plain join", searched, f"join {name} by an inner join")
    if (other := _other_form(body, name)) is not None:
        if found is not None:
            return found
        source.refuse(*other)
    step = _with_constants(first)
    names = [column for column, _ in output_columns(step)]
    steps = [step]
    while True:
        following = unordered(next_of(steps[-1], body.expression))
        if not isinstance(following, Block) or not following.is_plain:
            if found is not None:
                return found
            what = "a recursive query that groups or numbers its rows"
            source.refuse(what, body.expression, f"group or number the rows of {name}, where it is read")
        if normalized(canonical(following.where)) == FALSE:
            return _union(steps, body)
        if found is not None and len(steps) > FEW_STEPS:
            return found
        if len(steps) > MOST_STEPS:
            return _as_far_as_it_goes(step, names, next_of, cte, source)
        steps.append(_with_constants(with_column_names(following, names, source, cte)))


def _as_far_as_it_goes(step: Block, names: Sequence[str], next_of: With, cte: exp.CTE, source: SourceText) -> SetQuery:
    """The first steps of a query that the text does not bound, and the rows beyond them."""
    body = cte.this
    steps = [_distinct(step, body)]
    while len(steps) <= UNBOUNDED_STEPS:
        following = with_column_names(unordered(next_of(steps[-1], body.expression)), names, source, cte)
        steps.append(_distinct(_with_constants(following), body))
    *kept, last = steps
    union = _union(kept, body)
    beyond = last if union.all else SetQuery("except", False, (last, union), union.names, union.types)
    return replace(union, beyond=beyond)


def _distinct(step: Block, body: exp.Union) -> Block:
    """A step, of UNION with each row once."""
    return replace(step, distinct=True) if body.args.get("distinct") else step


def _union(steps: Sequence[Block], body: exp.Union) -> SetQuery:
    columns = output_columns(steps[0])
    names, types = tuple(name for name, _ in columns), tuple(of_any_bits(type_) for _, type_ in columns)
    return SetQuery("union", not body.args.get("distinct"), tuple(steps), names, types)


def _selects(next_: exp.Expr, distinct: bool) -> Iterator[exp.Expr]:
    """The SELECTs of the recursive part, which may be a UNION ALL of several, or a UNION where rows are ``distinct``.

    Each has the queries of WITH that stand before the UNION.
    """
    inner = next_.unnest()
    limited = any(inner.args.get(key) for key in CLAUSES)
    if not isinstance(inner, exp.Union) or limited or (inner.args.get("distinct") and not distinct):
        yield next_
    else:
        with_ = inner.args.get("with_")
        for side in (inner.this, inner.expression):
            for select in _selects(side, distinct):
                yield select if with_ is None else _with_queries(select, with_)


def _with_queries(select: exp.Expr, with_: exp.With) -> exp.Expr:
    """A SELECT behind queries of WITH, and its own."""
    inner = select.unnest().copy()
    own = inner.args.get("with_")
    recursive = any(w.args.get("recursive") for w in (with_, own) if w is not None)
    every = [*with_.copy().expressions, *(own.expressions if own is not None else ())]
    inner.set("with_", exp.With(expressions=every, recursive=recursive))
    return inner


def _has_a_row(first: exp.Expr) -> bool:
    """Whether the first part of a recursive query has a row, whatever the streams have."""
    inner = first.unnest()
    plain = isinstance(inner, exp.Select) and not any(inner.args.get(key) for key in ("from_", "where", "having"))
    return plain or isinstance(inner, exp.Values)


def _refuse_other_operators(body: exp.Expr, name: str, source: SourceText) -> None:
    """Refuse every form other than ``first UNION [ALL] next``."""
    if not isinstance(body, exp.Union) or _reads(body.this, name):
        hint = "write first UNION ALL next, and read it in next"
        source.refuse(f"{name} in its own query there", _reads(body, name)[0], hint)
    source.refuse_others(body, {"this", "expression", "distinct"}, "a recursive UNION")


def _other_form(body: exp.Expr, name: str) -> tuple[str, exp.Expr, str] | None:
    """What is refused of a recursive part that has no one plain reference to the name, where, and what to try."""
    next_, reads = body.expression.unnest(), _reads(body.expression, name)
    if len(reads) > 1:
        return f"{name} twice in its own query", reads[1], "a step reads the rows of the step before once"
    if not isinstance(next_, exp.Select):
        return "a second part of a recursive query that is no SELECT", next_, "write first UNION ALL SELECT ..."
    from_, joins = next_.args.get("from_"), next_.args.get("joins") or ()
    own = [item for item in (from_, *joins) if item is not None and item.this is reads[0]]
    # Rows of a step give new rows each for itself, not by what other rows of the step there are.
    each = all(join.side in ("", "LEFT") for join in joins) and not any(
        join.side or join.method or join.kind in ("SEMI", "ANTI") for join in joins if join in own
    )
    if not own or not each:
        return f"{name} there in its own query", reads[0], f"read {name} in FROM, or by an inner join"
    return None


def _reads(node: exp.Expr, name: str) -> list[exp.Table]:
    """The places in a query that read a name, and not a query of its own WITH of that name."""
    named = (table for table in node.find_all(exp.Table) if table.name.lower() == name.lower())
    return [table for table in named if not table.args.get("db") and not _is_hidden(table, node, name)]


def _is_hidden(table: exp.Expr, node: exp.Expr, name: str) -> bool:
    """Whether a query of WITH inside a node has the name of the table there."""
    at = table
    while at is not node and at.parent is not None:
        at, key = at.parent, at.arg_key
        with_ = at.args.get("with_")
        if with_ is None or not any(cte.alias.lower() == name.lower() for cte in with_.expressions):
            continue
        if key != "with_" or with_.args.get("recursive"):
            return True
    return False


def _with_constants(query: LogicalQuery) -> Block:
    """The query as a plain block, in which outputs that are constants are these, so that conditions see them."""
    known = [_constant(query, at) for at in range(len(output_columns(query)))]
    if isinstance(query, Block) and query.is_plain:
        outputs = [Output(o.name, known[at] or o.expression) for at, o in enumerate(query.outputs)]
        return replace(query, outputs=tuple(outputs))
    columns = enumerate(output_columns(query))
    outputs = [Output(name, known[at] or Column(stored_name(name), type_)) for at, (name, type_) in columns]
    return Block((query,), TRUE, tuple(outputs))


def _constant(query: Input, at: int) -> Constant | None:
    """The constant that a column has in all rows, if the text says so."""
    match query:
        case Block():
            value = canonical_expression(query.outputs[at].expression)
            own = isinstance(value, Column) and query.is_plain and not value.level
            inner = query.inputs[value.source] if isinstance(value, Column) and own else None
            if isinstance(value, Column) and inner is not None and not isinstance(inner, StreamInput):
                names = [stored_name(name) for name, _ in output_columns(inner)]
                return _constant(inner, names.index(value.name))
            return value if isinstance(value, Constant) else None
        case SetQuery():
            first, *others = (_constant(branch, at) for branch in query.branches)
            known = first is not None and first.type == query.types[at] and all(other == first for other in others)
            return first if known else None
        case Ordered():
            return _constant(query.query, at)
        case StreamInput():
            return None


def _check_columns(
    first: Sequence[tuple[str, DataType]],
    following: Sequence[tuple[str, DataType]],
    name: str,
    select: exp.Expr,
    source: SourceText,
) -> None:
    """Raises SqlError for a step whose columns differ from the first part's."""
    if len(first) != len(following):
        message = f"the parts of {name} have {len(first)} and {len(following)} columns"
        raise source.error(message, select, "select as many columns in each")
    for (column, type_), (_, other) in zip(first, following, strict=True):
        if of_any_bits(type_) != of_any_bits(other):
            message = f"column {column} of {name} is {type_} in the first part, and {other} in the next"
            raise source.error(message, select, f"cast it in both, as in CAST(... AS {other})")
