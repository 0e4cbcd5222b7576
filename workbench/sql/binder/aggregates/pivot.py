"""PIVOT and UNPIVOT with constant lists, written as queries that have neither.

``t PIVOT (SUM(x) FOR k IN ('a', 'b'))`` is ``SELECT g, SUM(x) FILTER (WHERE k = 'a') AS a, … FROM t GROUP BY g`` with
the columns of ``t`` that it does not name, and ``t UNPIVOT (v FOR k IN (a, b))`` a UNION ALL with a branch for each.
So no later pass knows of them, and what they compute is shared as anything else.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from workbench.sql.binder.protocols import QueryContext
from workbench.sql.functions.aggregate_calls import aggregate_name
from workbench.sql.logical import output_columns
from workbench.sql.syntax.source_text import SourceText

_COUNTS = ("count", "count_if", "approx_count_distinct", "regr_count")
_NUMERIC = ("sum", "avg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "median")
_STRICT = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Round, exp.Cast, exp.DataType, exp.Literal)
"""What may stand around an aggregate: it is NULL where the aggregate is, as the cell of no rows."""
_LIST = "list the values, as in PIVOT (SUM(x) FOR k IN ('a', 'b'))"


def without_pivots(select: exp.Select, context: QueryContext) -> exp.Select:
    """A SELECT whose FROM items have no PIVOT or UNPIVOT.

    Raises:
        UnsupportedError: one has no constant list, or is not evaluated.
    """
    from_ = select.args.get("from_")
    places = [from_, *(select.args.get("joins") or ())] if from_ is not None else []
    for place in places:
        pivots = place.this.args.get("pivots") or ()
        if pivots and context.source.rules.pivots:
            item = place.this.copy()
            item.set("pivots", None)
            for pivot in pivots:
                alias = pivot.args.get("alias") or item.args.get("alias")
                item = exp.Subquery(this=_rewritten(pivot, item, context), alias=alias)
            place.set("this", item)
    return select


def simplified(pivot: exp.Pivot, context: QueryContext) -> exp.Query:
    """DuckDB's ``PIVOT t ON k IN ('a', 'b') USING SUM(x) GROUP BY g``, or ``UNPIVOT t ON a, b INTO NAME k VALUE v``."""
    source, on, into = context.source, pivot.expressions, pivot.args.get("into")
    if not source.rules.pivots_on:
        source.refuse("PIVOT … ON", pivot, "it is DuckDB's: write t PIVOT (SUM(x) FOR k IN ('a', 'b')) in FROM")
    source.refuse_others(pivot, {"this", "expressions", "using", "group", "unpivot", "into", "with_"}, "PIVOT")
    if pivot.args.get("unpivot"):
        if into is None or len(into.expressions) != 1:
            source.refuse("UNPIVOT without names", pivot, "write INTO NAME k VALUE v")
        fields = [exp.In(this=into.this.this, expressions=on)]
        return _rewritten(
            exp.Pivot(expressions=[into.expressions[0].this], fields=fields, unpivot=True), pivot.this, context
        )
    if len(on) != 1 or not isinstance(on[0], exp.In) or on[0].args.get("query") is not None:
        source.refuse("PIVOT without one list of values", pivot, "write PIVOT t ON k IN ('a', 'b') USING SUM(x)")
    using = pivot.args.get("using") or [exp.Count(this=exp.Star())]
    if len(using) > 1 and not all(isinstance(value, exp.Alias) for value in using):
        source.refuse("PIVOT of several aggregates without names", pivot, "write SUM(x) AS s, MAX(x) AS m")
    names = [
        exp.to_identifier("_".join(part for part in (_name(value), aggregate.alias) if part), quoted=True)
        for value in on[0].expressions
        for aggregate in using
    ]
    plain = exp.Pivot(expressions=using, fields=on, columns=names, group=pivot.args.get("group"))
    return _rewritten(plain, pivot.this, context)


def _rewritten(pivot: exp.Pivot, item: exp.Expr, context: QueryContext) -> exp.Query:
    fields = pivot.args["fields"]
    if len(fields) != 1 or not isinstance(fields[0], exp.In) or not fields[0].expressions:
        context.source.refuse("PIVOT without one constant list", pivot, _LIST)
    inner = item.copy()
    if isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Query):
        inner.set("alias", None)  # as a query, so that names keep their upper case
        query = context.query(inner)
    else:
        query = context.query(exp.select("*").from_(inner))
    names = [name for name, _ in output_columns(query)]
    if context.source.rules.pivots_on:  # which keeps the names as the source spells them
        streams = (context.schema.stream(table.name) for table in item.find_all(exp.Table))
        spelled = ChainMap(*(dict(context.schema.spelled.get(stream[0], {})) for stream in streams if stream))
        names = [spelled.get(name.lower(), name) for name in names]
    if pivot.args.get("unpivot"):
        return _unpivoted(pivot, fields[0], item, names, context.source)
    return _pivoted(pivot, fields[0], item, names, context.source)


def _pivoted(pivot: exp.Pivot, field: exp.In, item: exp.Expr, names: Sequence[str], source: SourceText) -> exp.Select:
    """The groups of all columns that are not named, with a column for each value and aggregate."""
    aggregates = [node.unalias() for node in pivot.expressions]
    for node in aggregates:
        _check(node, aggregates, pivot, source)
    read = {c.name.lower() for node in [*aggregates, field.this] for c in node.find_all(exp.Column)}
    groups: list[exp.Expr] = [exp.column(name, quoted=True) for name in names if name.lower() not in read]
    if (group := pivot.args.get("group")) is not None:
        groups = list(group.expressions)
    cells: list[exp.Expr] = []
    for value in field.expressions:
        test = _test(field.this, value.this if isinstance(value, exp.PivotAlias) else value, pivot, source)
        cells += [_cell(node, test, not source.rules.pivots_on) for node in aggregates]
    titled = [exp.alias_(cell, name, copy=False) for cell, name in zip(cells, pivot.args["columns"], strict=True)]
    select = exp.select(*(g.copy() for g in groups), *titled, copy=False).from_(item.copy())
    return select.group_by(*(g.copy() for g in groups)) if groups else select


def _unpivoted(pivot: exp.Pivot, field: exp.In, item: exp.Expr, names: Sequence[str], source: SourceText) -> exp.Query:
    """A row for each column of the list that is not NULL: its name, and its value."""
    if len(pivot.expressions) != 1 or not isinstance(pivot.expressions[0], (exp.Identifier, exp.Column)):
        _refuse("UNPIVOT of several columns at once", pivot, source)
    branches: list[exp.Select] = []
    listed = [entry.this if isinstance(entry, exp.PivotAlias) else entry for entry in field.expressions]
    if not all(isinstance(column, exp.Column) for column in listed):
        _refuse("UNPIVOT of what is no column", pivot, source)
    taken = {column.name.lower() for column in listed}
    kept = [exp.column(name, quoted=True) for name in names if name.lower() not in taken]
    for entry, column in zip(field.expressions, listed, strict=True):
        # DuckDB gives the name that the column has, Spark the one that is written.
        own = next((n for n in names if n.lower() == column.name.lower()), column.name)
        called = own if source.rules.pivots_on else column.name
        if isinstance(entry, exp.PivotAlias):
            called = entry.args["alias"].name
        name = exp.alias_(exp.Literal.string(called), field.this.copy())
        value = exp.alias_(column.copy(), exp.to_identifier(pivot.expressions[0].name, quoted=True))
        branch = exp.select(*(c.copy() for c in kept), name, value).from_(item.copy())
        if not pivot.args.get("include_nulls"):
            branch = branch.where(exp.Is(this=column.copy(), expression=exp.Null()).not_())
        branches.append(branch)
    query: exp.Query = branches[0]
    for branch in branches[1:]:
        query = exp.Union(this=query, expression=branch, distinct=False)
    return query


def _check(node: exp.Expr, aggregates: Sequence[exp.Expr], pivot: exp.Pivot, source: SourceText) -> None:
    """Refuse what does not follow from the rows of a cell, or is not known where a cell has none."""
    names = [aggregate_name(part) for part in _calls(node)]
    around = node.walk(prune=lambda part: aggregate_name(part) is not None)
    strict = all(isinstance(part, _STRICT) or aggregate_name(part) is not None for part in around)
    if not names or not strict or node.find(exp.Filter, exp.Window):
        _refuse("PIVOT of that expression", pivot, source)
    known = [aggregate_name(part) for other in aggregates for part in _calls(other)]
    counts = any(name in _COUNTS for name in known)
    if not source.rules.pivots_on and counts and not all(name in (*_COUNTS, *_NUMERIC) for name in known):
        _refuse("PIVOT of COUNT beside that aggregate", pivot, source)
    if "array_agg" in known or "listagg" in known:
        _refuse("PIVOT of arrays and lists", pivot, source)


def _refuse(what: str, pivot: exp.Pivot, source: SourceText) -> NoReturn:
    source.refuse(what, pivot, "write GROUP BY, with FILTER (WHERE k = 'a') behind each aggregate")


def _calls(node: exp.Expr) -> list[exp.Expr]:
    return [part for part in node.walk() if aggregate_name(part) is not None]


def _test(key: exp.Expr, value: exp.Expr, pivot: exp.Pivot, source: SourceText) -> exp.Expr:
    """The condition on rows of a value; ``(k, l) IN (('a', 1), …)`` compares one by one."""
    if isinstance(key, exp.Tuple) and isinstance(value, exp.Tuple) and len(key.expressions) == len(value.expressions):
        pairs = zip(key.expressions, value.expressions, strict=True)
        return exp.and_(*(_test(k, v, pivot, source) for k, v in pairs))
    if not isinstance(key, exp.Column):  # DuckDB would pivot on whether it is IN the list
        _refuse("PIVOT on what is no column", pivot, source)
    if source.rules.pivots_on and isinstance(value, exp.Column) and not value.table:
        value = exp.Literal.string(value.name)
    constants = value.expressions if isinstance(value, exp.Array) else [value]
    plain = [constant.this if isinstance(constant, exp.Neg) else constant for constant in constants]
    if not all(isinstance(c, (exp.Literal, exp.Boolean, exp.Cast)) and not c.find(exp.Column) for c in plain):
        is_name = isinstance(value, exp.Column)
        source.refuse("PIVOT of values that are no constants", value, f"write '{value.name}'" if is_name else _LIST)
    return exp.EQ(this=key.copy(), expression=value.copy())


def _cell(node: exp.Expr, test: exp.Expr, null_of_none: bool) -> exp.Expr:
    """An aggregate over the rows of a value; a count of no rows is NULL, as in Spark, which makes cells only of
    existing groups.
    """
    counts = any(aggregate_name(part) in _COUNTS for part in _calls(node))
    filtered = exp.Paren(this=node.copy())
    for call in _calls(filtered):
        holder = exp.Filter(this=call.copy(), expression=exp.Where(this=test.copy()))
        call.replace(holder)
    if not (counts and null_of_none):
        return filtered.this
    rows = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=test.copy()))
    found = exp.GT(this=rows, expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=found, true=filtered)])


def _name(value: exp.Expr) -> str:
    if isinstance(value, exp.Array):
        return f"[{', '.join(part.name for part in value.expressions)}]"
    return value.args["alias"].name if isinstance(value, exp.PivotAlias) else value.name
