"""One SELECT to a Block: WHERE, GROUP BY and HAVING, the select list, DISTINCT; FROM is bound in ``from_clause``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.expressions import Call, Column, Expression, columns, reading_order
from workbench.sql.algebra.functions import call
from workbench.sql.binder.aggregation import Aggregation, is_aggregate, over_groups
from workbench.sql.binder.from_clause import bind_from
from workbench.sql.binder.scalar import ScalarBinder, is_now
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.binder.window_functions import SESSIONS, part_of_window
from workbench.sql.logical import Block, Grouping, Output, StreamInput
from workbench.sql.predicates.cnf import PredSet, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.windows.bounds import NoWindow, split, without_now
from workbench.sql.windows.overlapping import without_overlap
from workbench.sql.windows.stream_time import ROW, SESSION, SLIDING, TUMBLING, is_session, rows_of

if TYPE_CHECKING:
    from workbench.sql.binder.pipeline import QueryBinder

_HANDLED = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_"}
Named = tuple[str, Expression]


def bind_block(select: exp.Select, binder: QueryBinder) -> Block:
    """Bind one SELECT.

    Raises:
        SqlError: names or types are wrong, or a selected column is neither grouped nor aggregated.
        UnsupportedError: the SELECT has a part that is not evaluated.
    """
    return _SelectBinder(select, binder).block()


@dataclass
class _SelectBinder:
    select: exp.Select
    binder: QueryBinder

    def __post_init__(self) -> None:
        self.source = self.binder.source
        self.source.refuse_others(self.select, _HANDLED, "SELECT")
        self._distinct_on()
        if not self.select.expressions:
            raise self.source.error("nothing is selected", self.select, "name columns after SELECT, or write *")
        self.from_ = bind_from(self.select, self.binder)
        self.scope = self.from_.scope
        self.where, self.window = self._where()

    def block(self) -> Block:
        grouped = self.select.args.get("group") is not None or self._has_aggregates()
        return self._grouped() if grouped else self._plain()

    def _scalar(
        self, aggregation: Aggregation | None = None, scope: Scope | None = None, timed: bool = False
    ) -> ScalarBinder:
        """Binds expressions; ``timed``: of a condition, where now may stand."""
        now = self.binder.current if timed else None
        return ScalarBinder(scope or self.scope, self.binder.schema, self.binder.dialect, aggregation, now)

    def _where(self) -> tuple[PredSet, PredSet]:
        """The conditions of FROM and WHERE, and the window they make."""
        where = self.select.args.get("where")
        own = [normal_form(self._scalar(timed=True).condition(where.this))] if where is not None else []
        if self.binder.windows is not None:
            own.append(self.binder.windows.on(self.from_))
        plain, window = self._split(conjunction(*self.from_.conditions, *own))
        owned: dict[Expression, frozenset[str]] = {}
        for i, item in enumerate(self.from_.inputs):
            if isinstance(item, StreamInput):
                owned[replace(ROW, source=i)] = frozenset([rows_of(item.stream)])
                if (time := self.binder.schema.time(item.stream)) is not None:
                    owned[replace(time, source=i)] = frozenset([item.stream.lower()])
        return plain, without_now(conjunction(window, *self.from_.windows), owned, plain)

    def _split(self, predicates: PredSet) -> tuple[PredSet, PredSet]:
        try:
            return split(predicates)
        except NoWindow as why:
            self.source.refuse(why.what, next(filter(is_now, self.select.walk())), why.hint)

    def _distinct_on(self) -> None:
        distinct = self.select.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            self.source.refuse("DISTINCT ON", distinct.args["on"], "use GROUP BY with MIN or MAX")

    # ---- select list -------------------------------------------------------------------------------------------------

    def _stars(self) -> list[tuple[exp.Expr | None, Named | None]]:
        """The select list with ``*`` and ``t.*`` written out."""
        result: list[tuple[exp.Expr | None, Named | None]] = []
        for node in self.select.expressions:
            star = node.this if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) else node
            if not isinstance(star, exp.Star):
                result.append((node, None))
                continue
            self.source.refuse_others(star, set(), "*")
            named = self.scope.star() if star is node else list(self.scope.item(node.table, node).columns.items())
            result += [(None, pair) for pair in named]
        return result

    def _plain(self) -> Block:
        having = self.select.args.get("having")
        if having is not None:
            raise self.source.error("HAVING without GROUP BY or an aggregate", having.this, "use WHERE")
        scalar = self._scalar()
        outputs = [
            pair or (self._name(node), scalar.bind(_unaliased(node))) for node, pair in self._stars() if pair or node
        ]
        return self._made(outputs, None, PredSet())

    def _made(self, outputs: list[Named], grouping: Grouping | None, condition: PredSet) -> Block:
        named = tuple(
            Output(n, e) for n, e in zip(unique_names([n for n, _ in outputs]), (e for _, e in outputs), strict=True)
        )
        distinct = self.select.args.get("distinct") is not None
        having, having_window = self._split(condition)
        inputs = tuple(self.from_.inputs)
        return Block(inputs, self.where, named, grouping, having, distinct, self.window, having_window)

    def _name(self, node: exp.Expr | None) -> str:
        assert node is not None
        if isinstance(node, exp.Alias):
            return node.alias
        inner = node.unnest()
        if isinstance(inner, exp.Column):
            return inner.name
        dialect = self.binder.dialect
        return self.source.item(node, dialect) or node.sql(dialect=dialect)

    # ---- grouping ----------------------------------------------------------------------------------------------------

    def _has_aggregates(self) -> bool:
        """Whether an aggregate stands in the select list or HAVING; those of subqueries there are refused later."""
        having = self.select.args.get("having")
        roots = [*self.select.expressions, *([having] if having is not None else [])]
        return any(is_aggregate(node, self.binder.schema) for root in roots for node in root.walk())

    def _grouped_parts(
        self, aggregation: Aggregation
    ) -> tuple[list[tuple[Named, ScalarBinder]], Expression | None, ScalarBinder]:
        parts: list[tuple[Named, ScalarBinder]] = []
        for node, pair in self._stars():
            scalar = self._scalar(aggregation)
            parts.append((pair or (self._name(node), scalar.bind(_unaliased(node))), scalar))
        aliased = {name.lower(): expression for (name, expression), _ in parts}
        scope = Scope(self.source, self.scope.items, aliased, self.scope.using)
        scalar = self._scalar(aggregation, scope, timed=True)
        having = self.select.args.get("having")
        return parts, scalar.condition(having.this) if having is not None else None, scalar

    def _grouped(self) -> Block:
        groups, aggregation = self._groups(), Aggregation()
        self._name_window(groups, aggregation)
        parts, condition, having_scalar = self._grouped_parts(aggregation)
        outputs = [(name, over_groups(e, groups, self._not_grouped(scalar))) for (name, e), scalar in parts]
        having = PredSet()
        if condition is not None:
            having = normal_form(over_groups(condition, groups, self._not_grouped(having_scalar)))
        statistics = tuple(sorted(aggregation.statistics, key=reading_order))
        return without_overlap(self._made(outputs, Grouping(groups, statistics), having))

    def _name_window(self, groups: tuple[Expression, ...], aggregation: Aggregation) -> None:
        """What ``window.start`` and ``window.end`` mean where a window is a group; rows without a time are in none."""
        starts = [g for g in groups if isinstance(g, Call) and g.function in (TUMBLING, SLIDING, SESSION)]
        if len(starts) > 1:
            self.source.refuse("GROUP BY two windows", self.select.args["group"], "write a query for each of them")
        for start in starts:
            found = {name: part_of_window(start, name, aggregation) for name in ("start", "end")}
            parts = {name: part for name, part in found.items() if part is not None}
            called = SESSIONS if is_session(start) else "window"
            if not any(item.alias.lower() == called for item in self.scope.items):
                self.scope.items.append(Item(called, parts, set(parts)))
            timed = normal_form(call("not", call("is_null", start.arguments[0])))
            self.where = conjunction(self.where, timed)

    def _groups(self) -> tuple[Expression, ...]:
        """The GROUP BY expressions, each once, in reading order, which means the same groups."""
        group = self.select.args.get("group")
        if group is None:
            return ()
        self.source.refuse_others(group, {"expressions"}, "GROUP BY")
        aliases = {n.alias.lower(): n.this for n in self.select.expressions if isinstance(n, exp.Alias)}
        scope = Scope(self.source, self.scope.items, _Aliases(self._scalar(), aliases), self.scope.using)
        scalar = ScalarBinder(scope, self.binder.schema, self.binder.dialect, grouped=True)
        bound: set[Expression] = set()
        for node in group.expressions:
            if isinstance(node, (exp.Rollup, exp.Cube, exp.GroupingSets)):
                name = {"Rollup": "ROLLUP", "Cube": "CUBE"}.get(type(node).__name__, "GROUPING SETS")
                self.source.refuse(name, node, "UNION ALL one GROUP BY for each grouping")
            if isinstance(node, exp.Tuple) and not node.expressions:
                continue
            expression = scalar.bind(self._ordinal(node))
            bound.add(expression)
        return tuple(sorted(bound, key=reading_order))

    def _ordinal(self, node: exp.Expr) -> exp.Expr:
        """GROUP BY 1 means the first select item (in Oracle it would be a constant, which is never meant)."""
        if not isinstance(node, exp.Literal) or node.is_string:
            return node
        if self.binder.dialect == "oracle":
            self.source.refuse("GROUP BY a position", node, "repeat the expression")
        items = self.select.expressions
        position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0
        if not 1 <= position <= len(items) or any(i.is_star for i in items):
            raise self.source.error(f"GROUP BY {node.name} is not a position in the select list", node)
        return _unaliased(items[position - 1])

    def _not_grouped(self, scalar: ScalarBinder) -> Callable[[Column], SqlError]:
        def missing(column: Column) -> SqlError:
            node = next((n for n, e in scalar.columns if column in columns(e)), None)
            name = node.sql() if node is not None else column.name
            place = node if node is not None else self.select.args.get("group") or self.select
            return self.source.error(f"column {name} is neither in GROUP BY nor in an aggregate", place,
                                     f"add {name} to GROUP BY, or take MIN({name})")  # fmt: skip

        return missing


class _Aliases(Mapping[str, Expression]):
    """Select aliases that are bound when GROUP BY uses them, as aggregates among them cannot be."""

    def __init__(self, scalar: ScalarBinder, nodes: Mapping[str, exp.Expr]) -> None:
        self._scalar, self._nodes = scalar, nodes

    def __getitem__(self, name: str) -> Expression:
        return self._scalar.bind(self._nodes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


def _unaliased(node: exp.Expr | None) -> exp.Expr:
    assert node is not None
    return node.this if isinstance(node, exp.Alias) else node
