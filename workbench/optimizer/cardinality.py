"""How many rows a read has, estimated from the data seen so far (T5.5, T6.3), corrected by what batches have shown.

Estimates rank choices and are never relied on for an answer. Where nothing is known of a stream, all its reads are
taken to be of one size, so that choices follow the plan's shape alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, prod

import pyarrow as pa
import pyarrow.compute as pc

from workbench.network.network import roots_read
from workbench.network.nodes import (
    SIDES,
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.sides import side_of
from workbench.optimizer.distinct_values import computed_distinct, product_of_counts
from workbench.optimizer.equal_columns import columns_equal_by_joins
from workbench.optimizer.observed import NOTHING, Observed, grown_together
from workbench.optimizer.selectivity import DEFAULTS, FLOOR, Statistics, compared_columns, join_rows, selectivity
from workbench.optimizer.statistics import ColumnStatistics, CombinedValues, Evaluate, StreamStatistics, pairs_of
from workbench.sql.algebra.expressions import (
    Call,
    Column,
    Constant,
    Expression,
    calls,
    columns,
    map_columns,
    sources,
    text,
)
from workbench.sql.functions.arrays.arrays import HAS_PLACE
from workbench.sql.predicates.cnf import (
    Operator,
    ORPred,
    PredSet,
    map_predicates,
    pred_set,
    predicate_columns,
    predicate_sources,
    rename_predicates,
)
from workbench.sql.predicates.normal_form import predicates_expression

Roots = tuple[NodeId, NodeId]

UNKNOWN_ROWS = 1000.0
"""Rows of a stream nothing is known of."""


WINDOWED = 0.1
"""The fraction of rows taken to be in a window."""


def is_key(predicate: ORPred) -> bool:
    """Whether it is an equality between inputs, by which the rows of a join find each other."""
    literals = predicate.literals
    return len(literals) == 1 and literals[0].operator is Operator.EQ and len(predicate_sources(predicate)) > 1


def is_of_places(predicate: ORPred) -> bool:
    """Whether rows of one input find the places of the elements of their arrays in another."""
    return len(predicate_sources(predicate)) > 1 and any(HAS_PLACE in calls(x.left) for x in predicate.literals)


@dataclass(frozen=True)
class ColumnOrigin:
    """Where a column comes from.

    Attributes:
        leaf: the sides of joins that lead to the stream.
        stream: in lower case.
        name: of the column in the stream.
        grouped: whether it is a column of groups, which have each combination of their columns once.
    """

    leaf: tuple[int, ...]
    stream: str
    name: str
    grouped: bool = False


@dataclass(frozen=True)
class Estimates:
    """Estimated sizes of what can be read from a network.

    Attributes:
        streams: what is known of each stream, by name in lower case.
        nodes: the network's nodes; may be a working copy that grows.
        observed: what batches have shown; it goes before what statistics say.
        evaluate: gives the computed values of a stream's sample, of which the different ones are counted.

    Example:
        >>> source = Source("F")
        >>> Estimates({"f": StreamStatistics(500, {})}, {source.id: source}).rows(Read(source.id))
        500
    """

    streams: Mapping[str, StreamStatistics]
    nodes: Mapping[NodeId, Node] = field(default_factory=dict)
    observed: Observed = NOTHING
    evaluate: Evaluate | None = field(default=None, compare=False, repr=False)
    row_counts: dict[Read, float] = field(default_factory=dict, compare=False, repr=False)
    """Rows of reads that were asked for: they depend on what the root computes, and so not on other nodes."""
    fractions: dict[Read, float] = field(default_factory=dict, compare=False, repr=False)
    """The fractions of reads that were asked for: each registration asks for those of all readers of its streams."""

    value_counts: dict[tuple[NodeId, str], float | None] = field(default_factory=dict, compare=False, repr=False)
    """How many different values columns have that were asked for: one may be computed of many others."""

    pair_counts: dict[tuple[Roots, PredSet], float] = field(default_factory=dict, compare=False, repr=False)
    """Rows that statistics say joins have that were asked for: a join of the network serves one query after another."""
    equal: dict[Read, Mapping[str, Column]] = field(default_factory=dict, compare=False, repr=False)
    """For columns that are equal in the rows of reads that were asked for the one that stands for all."""
    corrections: dict[tuple[Roots, frozenset[ORPred]], float] = field(default_factory=dict, compare=False, repr=False)
    """How many times the rows that statistics say joins were seen to have, by their roots and keys."""

    def over(self, nodes: Mapping[NodeId, Node]) -> Estimates:
        """The estimates for another network."""
        return replace(self, nodes=nodes)

    def known(self, root: NodeId) -> bool:
        """Whether data of every stream below a root have been seen."""
        below = map(self.nodes.__getitem__, roots_read(self.nodes, [root]))
        return all(self._of_stream(node) is not None for node in below if isinstance(node, Source))

    def rows(self, read: Read) -> float:
        """Estimated rows of a read."""
        if read not in self.row_counts:
            self.row_counts[read] = self._rows(read)
        return self.row_counts[read]

    def changes(self, node: Node) -> float | None:
        """Estimated rows that a batch brings to a selection or join; ``None`` elsewhere, and where that is not known
        (``Observed.growth``)."""
        if not isinstance(node, Selection | Join):
            return None
        root = node.id if isinstance(node, Join) else node.read.root
        growth = self.observed.growth(root, self.nodes)
        if growth is None:
            return None
        return growth * (self.joined(node.roots, node.predicates) if isinstance(node, Join) else self.rows(node.read))

    def _rows(self, read: Read) -> float:
        if (seen := self.observed.selections.get(read)) and (growth := self.observed.growth(read.root, self.nodes)):
            return seen / growth
        return self._by_statistics(read)

    def _by_statistics(self, read: Read) -> float:
        node = self.nodes[read.root]
        match node:
            case Join():
                return self.joined(node.roots, rename_predicates(read.required, node.names.input))
            case Source():
                statistics = self._of_stream(node)
                if statistics is None:
                    return UNKNOWN_ROWS
                return self.observed.arrived.get(node.stream.lower(), statistics.rows) * self.fraction(read)
            case Aggregate():
                groups = prod(self._groups(node.read.root, group) for group in node.groups)
                return max(1.0, min(self.rows(node.read), groups)) * self.fraction(read)
            case SetOperation():
                sizes = [self.rows(branch.read) for branch in node.branches]
                add = node.operator in (SetOperator.UNION, SetOperator.UNION_ALL)
                return (sum(sizes) if add else sizes[0]) * self.fraction(read)
            case Window():
                return self.rows(node.read) * WINDOWED * self.fraction(read)
            case Analytic():
                return self.rows(node.read) * self.fraction(read)
            case Selection():
                raise ValueError(f"{read.root} is no root")

    def joined(self, roots: Roots, predicates: PredSet) -> float:
        """Estimated rows of the pairs of two roots' rows that satisfy predicates over both."""
        return self._joined(roots, predicates) * self.correction(roots, predicates)

    def correction(self, roots: Roots, predicates: PredSet) -> float:
        """How many times the rows that statistics say a join was seen to have; 1 where none was seen.

        What was seen of just this join goes before what was seen of others by the same keys.
        """
        seen = self.observed.joins.get(roots)
        if not seen or not (growth := grown_together(self.observed.growth(root, self.nodes) for root in roots)):
            return 1.0
        for tested, rows in seen:
            if tested == predicates:
                return self._factor(roots, tested, rows / growth)
        keys = frozenset(p for p in predicates if is_key(p))
        if (roots, keys) not in self.corrections:
            alike = [(rows, tested) for tested, rows in seen if keys == frozenset(p for p in tested if is_key(p))]
            factors = sorted(self._factor(roots, tested, rows / growth) for rows, tested in alike)
            self.corrections[roots, keys] = factors[len(factors) // 2] if factors else 1.0
        return self.corrections[roots, keys]

    def _factor(self, roots: Roots, predicates: PredSet, rows: float) -> float:
        estimated = self._joined(roots, predicates)
        return rows / estimated if estimated else 1.0

    def _joined(self, roots: Roots, predicates: PredSet) -> float:
        if (roots, predicates) not in self.pair_counts:
            self.pair_counts[roots, predicates] = self._pairs(roots, predicates)
        return self.pair_counts[roots, predicates]

    def _pairs(self, roots: Roots, predicates: PredSet) -> float:
        reads = {side: Read(roots[side], side_of(predicates, side)) for side in SIDES}
        left, right = (self.rows(reads[side]) for side in SIDES)
        between = pred_set(p for p in predicates if len(predicate_sources(p)) != 1)
        return join_rows(left, right, self.without_equal_columns(reads, between), self.of_inputs(roots))

    def without_equal_columns(self, reads: Mapping[int, Read], predicates: PredSet) -> PredSet:
        """Predicates between reads in which one column represents all columns that are equal in a read's rows.

        It is the one with the fewest values: the others have no more in these rows.

        Args:
            reads: what is read, by the ``source`` of its columns.
            predicates: over several of them.
        """
        if sum(map(is_key, predicates)) < 2:
            return predicates

        def instead(column: Column) -> Column:
            found = self._standing_for_equal(reads[column.source]).get(column.name, column)
            return Column(found.name, found.type, column.source)

        return map_predicates(predicates, instead)

    def _standing_for_equal(self, read: Read) -> Mapping[str, Column]:
        """By name of a column that equals others of a read's rows the one with the fewest values among them."""
        if read not in self.equal:

            def values(column: Column) -> tuple[float, str]:
                return self._distinct_of_column(read.root, column.name) or inf, column.name

            classes = columns_equal_by_joins(self.nodes, read.root, read.required)
            self.equal[read] = {c.name: min(equal, key=values) for equal in classes for c in equal}
        return self.equal[read]

    def examined(self, roots: Roots, predicates: PredSet) -> float:
        """Estimated pairs that a join must look at: those whose keys are equal, whatever else is tested of them.

        Rows find the places of the elements of their arrays, as by a key.

        Of the keys that are columns of one stream on each side combinations are counted. Others are rarely independent
        of these: every further one counts for its root only.
        """
        left, right = self._sides(roots, predicates)
        together, parts = dict[tuple[object, ...], list[tuple[ColumnOrigin, ColumnOrigin]]](), list[float]()
        for p in filter(is_key, predicates):
            compared = sorted(compared_columns(p.literals[0]), key=lambda c: c.source)
            origins = [self.origin(roots[c.source], c.name) for c in compared]
            match origins:
                case [ColumnOrigin() as one, ColumnOrigin() as other]:
                    together.setdefault((one.leaf, one.stream, other.leaf, other.stream), []).append((one, other))
                case _:
                    parts.append(selectivity(PredSet((p,)), self.of_inputs(roots)))
        parts += [self._agreeing(pairs) for pairs in together.values()]
        parts += [selectivity(PredSet((p,)), self.of_inputs(roots)) for p in predicates if is_of_places(p)]
        return left * right * prod(fraction ** (0.5**place) for place, fraction in enumerate(sorted(parts)))

    def _agreeing(self, keys: Sequence[tuple[ColumnOrigin, ColumnOrigin]]) -> float:
        """The fraction of the pairs of two streams' rows that agree in some columns."""
        sides = [
            self.streams[origins[0].stream].combined([origin.name for origin in origins])
            for origins in zip(*keys, strict=True)
        ]
        match sides:
            case [CombinedValues() as one, CombinedValues() as other]:
                grouped = any(origin.grouped for key in keys for origin in key)
                return max(FLOOR, one.agreeing_groups(other) if grouped else one.agreeing(other))
            case _:
                return DEFAULTS[Operator.EQ]

    def _sides(self, roots: Roots, predicates: PredSet) -> tuple[float, float]:
        """Estimated rows of each side that satisfy what reads it alone."""
        left, right = (self.rows(Read(roots[side], side_of(predicates, side))) for side in SIDES)
        return left, right

    def fraction(self, read: Read) -> float:
        """The selectivity of a read: which fraction of the root's rows satisfies what it requires."""
        if read not in self.fractions:
            self.fractions[read] = selectivity(read.required, partial(self.of_value, read.root))
        return self.fractions[read]

    def of_inputs(self, roots: Roots | Mapping[int, NodeId]) -> Statistics:
        """``of_value`` of values over several roots, each over one of them, by the number of its input."""

        def statistics(value: Expression) -> ColumnStatistics | None:
            (number,) = sources(value)
            return self.of_value(roots[number], value)

        return statistics

    def of_value(self, root: NodeId, value: Expression) -> ColumnStatistics | None:
        """The statistics of a root's column: the stream column's, or for another value its number of distinct values.

        A group's column is taken to be like that of its rows: it has the same values, but frequent ones less often.
        """
        if isinstance(value, Column) and (found := self.column(root, value.name)) is not None:
            return found
        distinct = self.distinct(root, value)
        return None if distinct is None else ColumnStatistics(nulls=0.0, distinct=distinct)

    def column(self, root: NodeId, name: str) -> ColumnStatistics | None:
        """``of_value`` of a column of a root that comes from a stream; ``None`` for one that is computed."""
        found = self.origin(root, name)
        return None if found is None else self.streams[found.stream].columns.get(found.name)

    def distinct(self, root: NodeId, value: Expression) -> float | None:
        """How many different values an expression over a root has; ``None`` where nothing is known of its streams."""
        match value:
            case Constant():
                return 1.0
            case Column():
                return self._distinct_of_column(root, value.name)
            case Call():
                if (sampled := self._sampled_distinct(root, value)) is not None:
                    return sampled
                most = product_of_counts(self.distinct(root, column) for column in columns(value))
                return None if most is None else min(most, max(1.0, self.rows(Read(root))))

    def _distinct_of_column(self, root: NodeId, name: str) -> float | None:
        if (root, name) not in self.value_counts:
            self.value_counts[root, name] = self._counted_distinct(root, name)
        return self.value_counts[root, name]

    def _counted_distinct(self, root: NodeId, name: str) -> float | None:
        if (known := self.column(root, name)) is not None:
            return known.distinct
        node = self.nodes[root]
        if isinstance(node, Source):
            return None
        if (carried := node.carried(name)) is not None:
            return self._distinct_of_column(*carried)
        return computed_distinct(self, node, name) if self.known(root) else None

    def _sampled_distinct(self, root: NodeId, value: Call) -> float | None:
        """The same of an expression over columns of one stream, by its sample."""
        origins = {column: self.origin(root, column.name) for column in columns(value)}
        found = {(origin.leaf, origin.stream) for origin in origins.values() if origin is not None}
        if self.evaluate is None or None in origins.values() or len(found) != 1:
            return None

        def in_stream(column: Column) -> Column:
            origin = origins[column]
            return column if origin is None else Column(origin.name, column.type)

        ((_, stream),) = found
        return self.streams[stream].distinct(map_columns(value, in_stream), self.evaluate)

    def origin(self, root: NodeId, name: str) -> ColumnOrigin | None:
        """Where a root's column comes from; ``None`` where it is computed, or nothing is known of the stream."""
        node = self.nodes[root]
        match node:
            case Source():
                known = self._of_stream(node) is not None
                return ColumnOrigin((), node.stream.lower(), name) if known else None
            case Aggregate():
                grouped = node.by_name.get(name)
                found = self.origin(node.read.root, grouped.name) if isinstance(grouped, Column) else None
                return None if found is None else replace(found, grouped=True)
            case Join():
                side, inner = node.names.input_name(name)
                found = self.origin(node.roots[side], inner)
                return None if found is None else replace(found, leaf=(side, *found.leaf))
            case _:
                carried = node.carried(name)
                return None if carried is None else self.origin(*carried)

    def _of_stream(self, node: Source) -> StreamStatistics | None:
        return self.streams.get(node.stream.lower())

    def sampled_pairs(self, roots: Roots, predicates: Sequence[ORPred]) -> float | None:
        """The fraction of pairs of sampled rows that satisfy predicates; ``None`` where no sample has their columns."""
        tested, sides, columns_of = pred_set(predicates), list[pa.Table](), dict[Column, Column]()
        for side, root in enumerate(roots):
            read = sorted((c for c in predicate_columns(tested) if c.source == side), key=text)
            origins = [self.origin(root, column.name) for column in read]
            known = [origin for origin in origins if origin is not None]
            if not known or len(known) < len(read) or len({(origin.leaf, origin.stream) for origin in known}) > 1:
                return None
            if (sample := self.streams[known[0].stream].sample) is None or not sample.num_rows:
                return None
            names = [f"{side} {column.name}" for column in read]
            sides.append(sample.select([origin.name for origin in known]).rename_columns(names))
            columns_of |= {column: Column(name, column.type) for column, name in zip(read, names, strict=True)}
        condition = map_columns(predicates_expression(tested), lambda column: columns_of[column])
        if self.evaluate is None or (holds := self.evaluate(condition, pairs_of(*sides))) is None:
            return None
        return max(1.0, pc.sum(holds).as_py() or 0) / len(holds)

    def _groups(self, root: NodeId, group: Expression) -> float:
        """The estimated number of groups of an expression."""
        distinct = self.distinct(root, group)
        return distinct + 1 if distinct is not None else UNKNOWN_ROWS / 10
