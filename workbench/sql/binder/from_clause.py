"""The FROM clause: its items and joins, plain subqueries merged, and what their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.errors import UnsupportedError, nearest
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, map_columns
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import DataType
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.logical import Block, Input, LogicalQuery, StreamInput, output_columns, unordered
from workbench.sql.predicates.cnf import PredSet, map_predicates
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.limits import MAX_JOINED

Named = Sequence[tuple[str, DataType]]


def bind_from(select: exp.Select, context: QueryContext) -> FromClause:
    """Bind the FROM clause of one SELECT.

    Raises:
        SqlError: there is none, or names or types in it are wrong.
        UnsupportedError: an outer join, or another item that is not evaluated.
    """
    clause = FromClause(context)
    from_ = select.args.get("from_")
    if from_ is None:
        raise context.source.error("a query needs FROM", select, "name a stream")
    clause.add(from_.this)
    for join in select.args.get("joins") or ():
        clause.join(join)
    return clause


@dataclass
class FromClause:
    """A FROM clause, filled by ``bind_from``.

    Attributes:
        inputs: streams and queries, in order.
        conditions: those of ON and USING, and of merged subqueries.
        windows: those of merged subqueries.
        scope: what columns are called.
    """

    context: QueryContext
    inputs: list[Input] = field(default_factory=list)
    conditions: list[PredSet] = field(default_factory=list)
    windows: list[PredSet] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.source = self.context.source
        self.scope = Scope(self.source)

    def add(self, node: exp.Expr) -> None:
        """Add an item, and the joins that stand in its parentheses."""
        first, shown = len(self.scope.items), len(self.scope.shown)
        match node:
            case exp.Table():
                self.source.refuse_others(node, {"this", "alias", "db", "catalog", "joins"}, "FROM")
                relation, named = self._relation(node)
                self._add_item(node, node.alias or node.name, relation, named)
            case exp.Subquery(this=exp.Table() | exp.Subquery() as inner) if _stands_for_itself(inner):
                self.source.refuse_others(node, {"this", "alias", "joins"}, "FROM")
                if node.alias and (inner.alias or inner.args.get("joins")):
                    self.source.refuse("an alias of a join in parentheses", node, "give the tables in it aliases")
                if node.alias:
                    inner.set("alias", node.args["alias"])
                self.add(inner)
            case exp.Subquery():
                self.source.refuse_others(node, {"this", "alias", "with_", "joins"}, "FROM")
                query = self.context.query(exp.Subquery(this=node.this, with_=node.args.get("with_")))
                self._add_item(node, node.alias, query, tuple((n.lower(), t) for n, t in output_columns(query)))
            case _:
                words = {"Lateral": "LATERAL", "Unnest": "UNNEST", "Values": "VALUES in FROM"}
                hint = "FROM takes streams, tables, views, queries and subqueries; add_table adds rows of your own"
                self.source.refuse(words.get(type(node).__name__, node.key.upper()), node, hint)
        for join in node.args.get("joins") or ():
            self.join(join, first, shown)

    def _relation(self, table: exp.Table) -> tuple[LogicalQuery | StreamInput, Named]:
        """The query or stream that a name in FROM means, and its columns.

        Raises:
            SqlError: nothing has that name.
        """
        name, schema = table.name, self.context.schema
        if not isinstance(table.this, exp.Identifier):
            self.source.refuse("a table function", table)
        if table.args.get("db") is not None:
            raise self.source.error(f"unknown stream {table.db}.{name}", table, "streams have names of one part")
        query = self.context.local.get(name.lower()) or schema.view(name)
        if query is not None:
            return query, tuple((n.lower(), t) for n, t in output_columns(query))
        stream = schema.stream(name)
        if stream is not None:
            stored = tuple((stored_name(column), type_) for column, type_ in stream[1])
            return StreamInput(stream[0], stored, stream[0] not in schema.corrected), stream[1]
        known = [*schema.streams, *schema.views, *self.context.local]
        hint = nearest(name, known) or (f"there are {', '.join(known[:8])}" if known else "add one with add_stream")
        raise self.source.error(f"unknown stream {name}", table, hint)

    def _add_item(self, node: exp.Expr, alias: str, relation: LogicalQuery | StreamInput, named: Named) -> None:
        """Add a FROM item; a plain block dissolves into this one."""
        relation = relation if isinstance(relation, StreamInput) else unordered(relation)
        offset = len(self.inputs)
        if isinstance(relation, Block) and relation.is_plain:
            self.inputs += relation.inputs
            self.conditions.append(shift_predicates(relation.where, offset))
            self.windows.append(shift_predicates(relation.window, offset))
            values = [shift(o.expression, offset) for o in relation.outputs]
        else:
            self.inputs.append(relation)
            values = [Column(stored_name(name), type_, offset) for name, type_ in named]
        names = [name for name, _ in named]
        given = node.args["alias"].args.get("columns") if node.args.get("alias") is not None else None
        if given:
            if len(given) != len(names):
                raise self.source.error(f"{alias} has {len(names)} columns, not {len(given)}", node)
            names = [part.name.lower() for part in given]
        if len(self.inputs) > MAX_JOINED:
            what = f"a join of more than {MAX_JOINED} inputs, with views written out, is not supported"
            raise UnsupportedError(what, **self.source.of(node), hint="a view with GROUP BY is one input")
        item = Item(alias, dict(zip(names, values, strict=True)))
        item.inputs, item.named = range(offset, len(self.inputs)), isinstance(node, exp.Table)
        self.scope.add(item, node)

    def join(self, join: exp.Join, first: int = 0, shown: int = 0) -> None:
        """Add the item of a join and its condition.

        Args:
            join: with what is joined, and how.
            first: the first item inside the same parentheses, on the left side of the join.
            shown: the first of its columns in ``*``.
        """
        side, kind, method = (str(join.args.get(k) or "") for k in ("side", "kind", "method"))
        if side or kind not in ("", "INNER", "CROSS") or method:
            outer = side and kind in ("", "OUTER")
            name = "an outer join" if outer else f"{' '.join(w for w in (method, side, kind) if w)} JOIN"
            hint = "an [INNER] JOIN keeps the rows that match, and no others"
            if method == "NATURAL":
                hint = "name the columns: JOIN ... USING (a, b)"
            elif kind == "SEMI":
                hint = "join with a subquery in FROM that selects DISTINCT"
            raise UnsupportedError(f"{name} is not supported", **self.source.keyword(side or method or kind), hint=hint)
        self.source.refuse_others(join, {"this", "on", "using", "kind"}, "JOIN")
        before, right = len(self.scope.items), len(self.scope.shown)
        self.add(join.this)
        if join.args.get("on") is not None:
            scope = Scope(self.source, self.scope.items[first:])
            scalar = ScalarBinder(scope, self.context.schema, now_at=self.context.now_at)
            self.conditions.append(normal_form(scalar.condition(join.args["on"])))
        using = join.args.get("using") or ()
        for name in using:
            self._using(name, first, before)
        self.scope.merge(list(dict.fromkeys(name.name.lower() for name in using)), shown, right)

    def _using(self, node: exp.Expr, first: int, before: int) -> None:
        name = node.name.lower()
        sides: list[Expression] = []
        for items in (self.scope.items[first:before], self.scope.items[before:]):
            candidates = [item for item in items if name in item.columns and name not in item.merged]
            if len(candidates) != 1:
                problem = "ambiguous" if candidates else "unknown"
                raise self.source.error(f"{problem} column {node.name} in USING", node)
            sides.append(candidates[0].columns[name])
        try:
            self.conditions.append(normal_form(call("=", *sides)))
        except TypeClash as clash:
            raise self.source.error(clash.message, node, clash.hint) from None
        candidates[0].merged.add(name)


def _stands_for_itself(node: exp.Expr) -> bool:
    """Whether what stands in parentheses is a table, or an item or join of its own name, and no query."""
    return isinstance(node, exp.Table) or bool(node.alias or node.args.get("joins"))


def shift(expression: Expression, offset: int) -> Expression:
    """The expression with its inputs counted from ``offset``."""
    return map_columns(expression, lambda c: replace(c, source=c.source + offset)) if offset else expression


def shift_predicates(predicates: PredSet, offset: int) -> PredSet:
    """The predicates with their inputs counted from ``offset``."""
    return map_predicates(predicates, lambda c: shift(c, offset)) if offset else predicates
