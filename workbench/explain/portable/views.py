"""A network as views: one for each node, in the order of evaluation, and one for each query, under its name.

Nodes are called by what they do, so the script reads as the network does. A view has the columns that others read of
it, by the names that nodes have for them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial

import sqlglot

from workbench.errors import QueryError, UnsupportedError, nearest
from workbench.explain.portable.dialects import PortableDialect, portable_dialect
from workbench.explain.portable.expressions import ColumnNames, PortableWriter, SparkWriter
from workbench.network.network import Network, QueryPlan, check_number, checked_query
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Columns,
    Join,
    Node,
    NodeId,
    Read,
    Recursion,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.projection import carried_columns, computed_columns
from workbench.network.roll_up import computed_column
from workbench.network.sides import SIDES
from workbench.network.sql_text import SIDE_NAMES
from workbench.network.wording import Wording
from workbench.sql.algebra.column_names import display_name, unique_names
from workbench.sql.algebra.expressions import Column, Constant, Expression, Value, column_name, reading_order
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.logical import RecursionRule

_LONGEST_NAME = 50
"""Characters; PostgreSQL has 63."""
_ONE_REFERENCE = ("postgres", "materialize", "spark")
"""Where a recursive query reads itself once."""
_COUNTING = {SetOperator.EXCEPT_ALL: "EXCEPT", SetOperator.INTERSECT_ALL: "INTERSECT"}
"""Operators that count equal rows, and what they are of rows with the number of their copy."""
_SOME_VALUE: Mapping[Kind, Value] = {
    Kind.BOOLEAN: False, Kind.INTEGER: 0, Kind.DECIMAL: Decimal(0), Kind.DOUBLE: 0.0, Kind.STRING: "",
    Kind.DATE: dt.date(1970, 1, 1), Kind.TIMESTAMP: dt.datetime(1970, 1, 1),
}  # fmt: skip
"""A value of each kind that is written."""
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset(word for words in sqlglot.Tokenizer.KEYWORDS for word in words.split())
"""Words of SQL, some of which cannot be names."""


def network_to_sql(network: Network, dialect: str, queries: Collection[str] | None = None) -> str:
    """Statements that make the views; arguments and errors as ``NetworkView.to_sql``."""
    to, names = portable_dialect(dialect), [name for name in network.queries if checked_query(name) == name]
    if unknown := [name for name in queries or () if name not in names]:
        raise QueryError(f"there is no query {unknown[0]}", hint=nearest(unknown[0], names))
    wanted = {name: plan for name, plan in network.queries.items() if queries is None or checked_query(name) in queries}
    part = Network({id_: network.nodes[id_] for id_ in _needed(network, wanted)}, wanted)
    return "\n\n".join(f"{statement};" for statement in _Script(part, to).statements()) + "\n"


def temporary_views(network: Network) -> list[str]:
    """Statements that make the views in a session of Spark, each after those that it reads.

    Raises:
        UnsupportedError: as ``NetworkView.to_sql``.
    """
    return [
        *_Script(network, replace(portable_dialect("spark"), create="CREATE OR REPLACE TEMPORARY VIEW")).statements()
    ]


def _needed(network: Network, queries: Mapping[str, QueryPlan]) -> list[NodeId]:
    """The nodes of queries, and the roots of their trees, from which some rows are read."""
    read = {id_ for plan in queries.values() for id_ in (*plan.nodes, plan.read.root)}
    while True:
        found = network.ancestors(read)
        roots = {one.root for id_ in found for one in network.nodes[id_].reads} | {network.roots[id_] for id_ in found}
        if roots <= found:
            return [id_ for id_ in network.nodes if id_ in found]
        read = {*found, *roots}


class _Script:
    """Writes the views of a network.

    Args:
        network: all of whose nodes are written.
        to: the database.
    """

    def __init__(self, network: Network, to: PortableDialect) -> None:
        self._network, self._to = network, to
        self._carried = carried_columns(network)
        self._names = self._called()

    def statements(self) -> Iterator[str]:
        """The statements, each after those that it reads."""
        for id_, node in self._network.nodes.items():
            if not isinstance(node, Source):
                serves = ", ".join(dict.fromkeys(map(checked_query, self._network.served[id_])))
                yield self._view(self._names[id_], f"for {serves}", self._node(node))
        for name, plan in self._network.queries.items():
            note = "" if checked_query(name) == name else f"has no rows, or {checked_query(name)} has no answer"
            yield self._view(self._query_name(name), note, self._query(plan))

    def _view(self, name: str, note: str, body: str) -> str:
        comment = f"-- {note}\n".replace("\r", " ") if note else ""
        return f"{comment}{self._to.create} {self._named(name)} AS\n{body}"

    def _called(self) -> dict[NodeId, str]:
        """The names of nodes, each but once, none that of a stream or a query."""
        wording, taken = Wording(self._network.nodes), set[str]()
        taken |= {node.stream.lower() for node in self._network.nodes.values() if isinstance(node, Source)}
        taken |= {self._query_name(name).lower() for name in self._network.queries}
        names = dict[NodeId, str]()
        for id_, node in self._network.nodes.items():
            if isinstance(node, Source):
                names[id_] = node.stream
                continue
            words = re.sub(r"[^a-z0-9]+", "_", node.title(wording).lower()).strip("_")[:_LONGEST_NAME].strip("_")
            base = words or node.kind.replace(" ", "_")
            name, number = base, 2
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            names[id_] = name
        return names

    @staticmethod
    def _query_name(name: str) -> str:
        return name if checked_query(name) == name else f"{checked_query(name)}_check_{check_number(name)}"

    def _named(self, name: str) -> str:
        """A name of a view or stream: as it is, where that is a plain word and none of SQL."""
        return name if _BARE.fullmatch(name) and name.upper() not in _WORDS else self._to.quoted(name)

    def _column(self, column: Column) -> str:
        return self._to.quoted(display_name(column.name))

    def _writer(self, sides: bool = False) -> PortableWriter:
        def by_side(column: Column) -> str:
            return f"{SIDE_NAMES[column.source]}.{self._column(column)}"

        return self._writing(by_side if sides else self._column)

    def _writing(self, names: ColumnNames) -> PortableWriter:
        writer = SparkWriter if self._to.name == "spark" else PortableWriter
        return writer(self._to, names)

    def _columns(self, id_: NodeId) -> Columns:
        """The columns that a root's view has."""
        return computed_columns(self._network, id_, self._carried[id_])

    def _rows(self, nodes: tuple[NodeId, ...], read: Read) -> str:
        """FROM and WHERE of the rows that belong to all of some nodes of a tree."""
        if len(nodes) == 1:
            return f"FROM {self._named(self._names[nodes[0]])}"
        return f"FROM {self._named(self._names[read.root])}\nWHERE {self._writer().predicates(read.required)}"

    def _node(self, node: Node) -> str:
        try:
            match node:
                case Selection(parent=parent, predicates=predicates):
                    tested = self._writer().predicates(predicates)
                    return f"SELECT * FROM {self._named(self._names[parent])}\nWHERE {tested}"
                case Join():
                    return self._join(node)
                case Aggregate():
                    return self._aggregate(node)
                case Recursion():
                    return self._recursion(node)
                case SetOperation():
                    return self._set_operation(node)
                case Analytic():
                    return self._analytic(node)
                case Window():
                    raise self._no_window()
                case Source():
                    return ""
        except UnsupportedError as problem:
            raise UnsupportedError(f"{self._queries_of(node)}: {problem.message}", hint=problem.hint) from None

    def _no_window(self) -> UnsupportedError:
        what = "a window that moves with now()"
        return UnsupportedError(f"{what} cannot be written for {self._to.name}, which has no time of a stream")

    def _queries_of(self, node: Node) -> str:
        return "query " + ", ".join(dict.fromkeys(map(checked_query, self._network.served[node.id])))

    def _join(self, node: Join) -> str:
        shown = []
        for name in self._columns(node.id):
            side, inner = node.names.input_name(name)
            shown.append(
                f"{SIDE_NAMES[side]}.{self._to.quoted(display_name(inner))} AS {self._to.quoted(display_name(name))}"
            )
        left, right = (self._named(self._names[node.parents[side]]) for side in SIDES)
        on = (
            f"JOIN {right} r ON {self._writer(sides=True).predicates(node.tested)}"
            if node.tested
            else f"CROSS JOIN {right} r"
        )
        return f"SELECT {', '.join(shown) or self._one}\nFROM {left} l\n{on}"

    def _aggregate(self, node: Aggregate) -> str:
        writer, columns = self._writer(), self._columns(node.id)
        statistics = [s for s in sorted(node.statistics, key=reading_order) if column_name(s) in columns]
        groups = [(_group(writer, node.direct_group(g)), self._column(computed_column(g))) for g in node.groups]
        rows = self._rows(node.parents, node.read)
        shown = [f"{text} AS {name}" for text, name in groups]
        shown += [
            f"{writer.aggregate(node.direct_statistic(s))} AS {self._column(computed_column(s))}" for s in statistics
        ]
        if not node.groups and not statistics:
            return f"SELECT COUNT(*) AS {self._to.quoted('one')}\n{rows}"  # one row, whatever there is
        if not node.statistics:
            return f"SELECT DISTINCT {', '.join(shown)}\n{rows}"
        by = f"\nGROUP BY {', '.join(text for text, _ in groups)}" if groups else ""
        return f"SELECT {', '.join(shown)}\n{rows}{by}"

    def _set_operation(self, node: SetOperation) -> str:
        writer = self._writer()
        # Rows that are compared have all columns; of UNION ALL those that are read are enough.
        read = self._columns(node.id) if node.operator is SetOperator.UNION_ALL else node.types
        branches = []
        for parent, values in node.direct:
            pairs = ((v, c) for c, v in zip(node.columns, values, strict=True) if c.name in read)
            shown = [f"{writer.cast(writer.expression(v), c.type)} AS {self._to.quoted(c.name)}" for v, c in pairs]
            branches.append(f"SELECT {', '.join(shown) or self._one} FROM {self._named(self._names[parent])}")
        names = [self._to.quoted(column.name) for column in node.columns]
        if node.operator in _COUNTING and not self._to.counts_copies:
            return self._of_copies(node.operator, branches, ", ".join(names))
        if node.operator not in (SetOperator.SEMIJOIN, SetOperator.ANTIJOIN):
            return f"\n{node.operator.upper()}\n".join(branches)
        first, *others = branches
        same = " AND ".join(map(self._same, names, (column.type for column in node.columns))) or "TRUE"
        found = "\nUNION ALL\n".join(others)
        word = "EXISTS" if node.operator is SetOperator.SEMIJOIN else "NOT EXISTS"
        return f"SELECT a.* FROM ({first}) a\nWHERE {word} (SELECT 1 FROM (\n{found}\n) b WHERE {same})"

    def _of_copies(self, operator: SetOperator, branches: list[str], names: str) -> str:
        """EXCEPT ALL or INTERSECT ALL as EXCEPT or INTERSECT of rows with the number of their copy."""
        if operator is SetOperator.EXCEPT_ALL:
            branches = [branches[0], "\nUNION ALL\n".join(branches[1:])]
        number = f"ROW_NUMBER() OVER (PARTITION BY {names} ORDER BY {names}) AS {self._to.quoted('copy')}"
        numbered = (f"SELECT {names}, {number} FROM (\n{branch}\n) a" for branch in branches)
        found = f"\n{_COUNTING[operator]}\n".join(numbered)
        return f"SELECT {names} FROM (\n{found}\n) a"

    @property
    def _one(self) -> str:
        """A column of rows of which no value is read."""
        return f"1 AS {self._to.quoted('one')}"

    def _same(self, name: str, type_: DataType) -> str:
        """Whether the rows ``a`` and ``b`` have the same value, or both none."""
        if self._to.finds_nulls:
            return f"a.{name} IS NOT DISTINCT FROM b.{name}"
        known = self._writer().expression(Constant(_SOME_VALUE[type_.kind], type_))
        values = " = ".join(f"COALESCE({row}.{name}, {known})" for row in "ab")
        return f"(a.{name} IS NULL) = (b.{name} IS NULL) AND {values}"

    def _recursion(self, node: Recursion) -> str:
        if not self._to.recursive:
            raise UnsupportedError(f"a recursive query cannot be written for {self._to.name}, which has none")
        union = "\nUNION ALL\n" if node.operator is SetOperator.RECURSION_ALL else "\nUNION\n"
        if self._to.name == "spark" and node.operator is SetOperator.RECURSION:
            raise UnsupportedError("UNION of a recursive query cannot be written for spark, whose is UNION ALL alone")
        if node.best is not None and self._to.name != "duckdb":
            raise UnsupportedError(f"USING KEY of a recursive query cannot be written for {self._to.name}")
        if self._to.name in _ONE_REFERENCE and (len(node.rules) > 1 or node.rules[0].inputs.count(0) > 1):
            raise UnsupportedError(f"several references of a recursive query cannot be written for {self._to.name}")
        (parent, values), writer = node.direct[0], self._writer()
        names = ", ".join(self._to.quoted(column.name) for column in node.columns)
        cast = (writer.cast(writer.expression(v), c.type) for c, v in zip(node.columns, values, strict=True))
        first, parts = f"SELECT {', '.join(cast)} FROM {self._named(self._names[parent])}", list[str]()
        for rule in node.rules:
            over = self._writing(partial(self._of_input, node, rule))
            values_of = zip(node.columns, rule.values, strict=True)
            shown = ", ".join(over.cast(over.expression(value), column.type) for column, value in values_of)
            read = (
                f"{'step' if not branch else self._named(self._names[node.direct[branch][0]])} i{source + 1}"
                for source, branch in enumerate(rule.inputs)
            )
            parts.append(f"SELECT {shown} FROM {', '.join(read)}\nWHERE {over.predicates(rule.where)}")
        following = "\nUNION ALL\n".join(parts)
        following = f"({following})" if len(parts) > 1 else following
        key = ""
        if node.best is not None:
            *keys, value = (self._to.quoted(column.name) for column in node.columns)
            key = f" USING KEY ({', '.join([*keys, f'{node.best}({value})'])})"
        return f"WITH RECURSIVE step ({names}){key} AS (\n{first}{union}{following}\n)\nSELECT * FROM step"

    def _of_input(self, node: Recursion, rule: RecursionRule, column: Column) -> str:
        """A column of an input of a rule, in the words of the database."""
        branch, owner = rule.inputs[column.source], f"i{column.source + 1}"
        if not branch:
            return f"{owner}.{self._to.quoted(column.name)}"
        value = node.direct[branch][1][int(column.name[1:]) - 1]
        names = self._writer().names
        return self._writing(lambda inner: f"{owner}.{names(inner)}").expression(value)

    def _analytic(self, node: Analytic) -> str:
        writer, columns = self._writer(), self._columns(node.id)
        shown = [self._to.quoted(display_name(name)) for name in columns if name not in node.types]
        for function in node.in_order:
            if function.name in columns or node.bound:
                shown.append(f"{writer.analytic(function)} AS {self._column(Column(function.name, function.type))}")
        rows = f"SELECT {', '.join(shown)}\nFROM {self._named(self._names[node.parent])}"
        return f"SELECT * FROM (\n{rows}\n) ranked\nWHERE {writer.predicates(node.bound)}" if node.bound else rows

    def _query(self, plan: QueryPlan) -> str:
        writer = self._writer()
        try:
            if plan.window:
                raise self._no_window()
            names = unique_names([output.name for output in plan.outputs])
            shown = [
                f"{writer.expression(output.expression)} AS {self._to.quoted(name)}"
                for output, name in zip(plan.outputs, names, strict=True)
            ]
            order = f"\nORDER BY {writer.order(plan.order)}" if plan.order else ""
            return f"SELECT {', '.join(shown) or self._one}\n{self._rows(plan.nodes, plan.read)}{order}"
        except UnsupportedError as problem:
            raise UnsupportedError(f"query {checked_query(plan.name)}: {problem.message}", hint=problem.hint) from None


def _group(writer: PortableWriter, value: Expression) -> str:
    """A value by which rows are grouped: a whole number alone would be the place of an item of SELECT."""
    text = writer.expression(value)
    return writer.cast(text, value.type) if isinstance(value, Constant) else text
