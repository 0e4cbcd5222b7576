"""The FROM clause: its items and joins, plain subqueries merged, and what their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from workbench.errors import UnsupportedError
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import DataType
from workbench.sql.binder.aggregation import shift
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.logical import Block, Input, LogicalQuery, StreamInput, output_columns
from workbench.sql.predicates.cnf import PredSet, map_predicates
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.extent import MOST_JOINED

if TYPE_CHECKING:
    from workbench.sql.binder.pipeline import QueryBinder


def bind_from(select: exp.Select, binder: QueryBinder) -> FromClause:
    """Bind the FROM clause of one SELECT.

    Raises:
        SqlError: there is none, or names or types in it are wrong.
        UnsupportedError: an outer join, or another item that is not evaluated.
    """
    clause = FromClause(binder)
    from_ = select.args.get("from_")
    if from_ is None:
        raise clause.source.error("a query needs FROM", select, "name a stream")
    clause._item(from_.this)
    for join in select.args.get("joins") or ():
        clause._join(join)
    return clause


@dataclass
class FromClause:
    """A FROM clause, made by ``bind_from``.

    Attributes:
        inputs: streams and queries, in order.
        conditions: those of ON and USING, and of merged subqueries.
        windows: those of merged subqueries.
        scope: what columns are called.
    """

    binder: QueryBinder
    inputs: list[Input] = field(default_factory=list)
    conditions: list[PredSet] = field(default_factory=list)
    windows: list[PredSet] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.source = self.binder.source
        self.scope = Scope(self.source)

    def _condition(self, node: exp.Expr) -> Expression:
        return ScalarBinder(self.scope, self.binder.schema, self.binder.dialect, now=self.binder.current).condition(
            node
        )

    def _item(self, node: exp.Expr) -> None:
        match node:
            case exp.Table():
                self.source.refuse_others(node, {"this", "alias", "db", "catalog", "joins"}, "FROM")
                name, relation, named = self.binder.relation(node)
                self._add(node, node.alias or name, relation, named)
            case exp.Subquery(this=exp.Table()):
                self.source.refuse_others(node, {"this", "alias"}, "FROM")
                if node.alias:
                    node.this.set("alias", node.args["alias"])
                self._item(node.this)
            case exp.Subquery():
                self.source.refuse_others(node, {"this", "alias", "with_", "joins"}, "FROM")
                query = self.binder.query(exp.Subquery(this=node.this, with_=node.args.get("with_")))
                named = tuple((o.lower(), t) for o, t in output_columns(query))
                self._add(node, node.alias, query, named)
            case _:
                words = {"Lateral": "LATERAL", "Unnest": "UNNEST", "Values": "VALUES in FROM"}
                hint = "FROM takes streams, tables, views, queries and subqueries; add_table adds rows of your own"
                self.source.refuse(words.get(type(node).__name__, node.key.upper()), node, hint)
        for join in node.args.get("joins") or ():
            self._join(join)

    def _add(
        self, node: exp.Expr, alias: str, relation: LogicalQuery | StreamInput, named: Sequence[tuple[str, DataType]]
    ) -> None:
        """Add a FROM item; a plain block dissolves into this one."""
        offset = len(self.inputs)
        if isinstance(relation, Block) and relation.grouping is None and not relation.distinct:
            self.inputs += relation.inputs
            self.conditions.append(_shifted(relation.where, offset))
            self.windows.append(_shifted(relation.window, offset))
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
        if len(self.inputs) > MOST_JOINED:
            what = f"a join of more than {MOST_JOINED} inputs, with views written out, is not supported"
            raise UnsupportedError(what, **self.source.of(node), hint="a view with GROUP BY is one input")
        item = Item(alias, dict(zip(names, values, strict=True)))
        item.inputs, item.named = range(offset, len(self.inputs)), isinstance(node, exp.Table)
        self.scope.add(item, node)

    def _join(self, join: exp.Join) -> None:
        side, kind, method = (str(join.args.get(k) or "") for k in ("side", "kind", "method"))
        if side or kind not in ("", "INNER", "CROSS") or method:
            outer = side and kind in ("", "OUTER")
            name = "an outer join" if outer else f"{' '.join(w for w in (method, side, kind) if w)} JOIN"
            hint = "rows that match nothing are not kept; use [INNER] JOIN ... ON"
            if method == "NATURAL":
                hint = "name the columns: JOIN ... USING (a, b)"
            elif kind == "SEMI":
                hint = "join with a subquery in FROM that selects DISTINCT"
            raise UnsupportedError(f"{name} is not supported", **self.source.word(side or method or kind), hint=hint)
        self.source.refuse_others(join, {"this", "on", "using", "kind"}, "JOIN")
        before = len(self.scope.items)
        self._item(join.this)
        if join.args.get("on") is not None:
            self.conditions.append(normal_form(self._condition(join.args["on"])))
        for name in join.args.get("using") or ():
            self._using(name, before)

    def _using(self, node: exp.Expr, before: int) -> None:
        name = node.name.lower()
        sides: list[Expression] = []
        for items in (self.scope.items[:before], self.scope.items[before:]):
            found = [item for item in items if name in item.columns and name not in item.merged]
            if len(found) != 1:
                problem = "ambiguous" if found else "unknown"
                raise self.source.error(f"{problem} column {node.name} in USING", node)
            sides.append(found[0].columns[name])
        try:
            self.conditions.append(normal_form(call("=", *sides)))
        except TypeClash as clash:
            raise self.source.error(clash.message, node, clash.hint) from None
        found[0].merged.add(name)
        if name not in self.scope.using:
            self.scope.using.append(name)


def _shifted(predicates: PredSet, offset: int) -> PredSet:
    return map_predicates(predicates, lambda c: shift(c, offset)) if offset else predicates
