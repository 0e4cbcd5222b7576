"""The inputs of a block while they are joined: which parts are joined already, and what is still to be tested.

The query is rewritten as it is translated (T9.2.3): when two parts have been joined, the join stands for both, and what
its rows have still to satisfy is carried along as part of what is required of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.network.nodes import Join, NodeId, Read
from workbench.sharing.draft import Draft, on_side, over_join
from workbench.sql.algebra.expressions import Column, Expression, map_columns
from workbench.sql.predicates.cnf import ORPred, PredSet, conjunction, map_predicates, pred_set, predicate_sources


@dataclass(frozen=True)
class JoinInput:
    """One input of a block, with its read.

    ``values``: its columns as expressions over the root that is read; ``None`` where they are the root's own columns.
    """

    read: Read
    values: Mapping[str, Expression] | None = None

    def over_root(self, column: Column) -> Expression:
        """A column of the input as an expression over the root."""
        return Column(column.name, column.type) if self.values is None else self.values[column.name]

    def restricted(self, draft: Draft, predicates: Iterable[ORPred]) -> JoinInput:
        """The input with predicates required that read only it, over its columns."""
        return replace(self, read=restricted(draft, self.read, map_predicates(pred_set(predicates), self.over_root)))


def restricted(draft: Draft, read: Read, predicates: PredSet) -> Read:
    """The same read, which requires some predicates more."""
    return Read(read.root, draft.stored(conjunction(read.required, predicates))) if predicates else read


@dataclass(frozen=True)
class _Part:
    """Inputs that are joined already: their read, and the positions of the inputs in it."""

    read: Read
    members: frozenset[int]


@dataclass(frozen=True)
class RootPair:
    """Two parts that could be joined next, and the required predicate of their join, in one orientation.

    ``left`` and ``right`` are positions in ``JoinParts.parts``; ``required`` is over the roots of the two (JVOA form).
    """

    left: int
    right: int
    roots: tuple[NodeId, NodeId]
    required: PredSet

    @property
    def key(self) -> tuple[int, int]:
        """The two parts, however oriented."""
        return min(self.left, self.right), max(self.left, self.right)


@dataclass(frozen=True)
class JoinParts:
    """A block's inputs while they are joined.

    Attributes:
        parts: what is left to be joined.
        inputs: each input as it was read from its own root.
        steps: for each input the joins it went through, with its side.
        waiting: predicates that read more than one part.
        stated_rows: for each input an estimate of the rows that satisfy what the query's text says of it alone.
    """

    parts: tuple[_Part, ...]
    inputs: tuple[JoinInput, ...]
    steps: tuple[tuple[tuple[Join, int], ...], ...]
    waiting: tuple[ORPred, ...]
    stated_rows: tuple[float, ...]
    required: dict[tuple[_Part, _Part], PredSet] = field(default_factory=dict, compare=False, repr=False)
    """What is required of pairs that were looked at; most of them are there again after a join."""

    @staticmethod
    def of(inputs: Sequence[JoinInput], waiting: Iterable[ORPred], stated_rows: Iterable[float]) -> JoinParts:
        """The parts before anything is joined: every input is one."""
        parts = tuple(_Part(item.read, frozenset([position])) for position, item in enumerate(inputs))
        return JoinParts(parts, tuple(inputs), ((),) * len(parts), tuple(waiting), tuple(stated_rows))

    def over_root(self, column: Column) -> Expression:
        """A column of an input as an expression over the root of the part it is in."""
        value = self.inputs[column.source].over_root(column)
        for join, side in self.steps[column.source]:
            value = map_columns(value, lambda c, j=join, s=side: j.names.output(Column(c.name, c.type, s)))  # type: ignore[misc]
        return value

    def over_part(self, column: Column, source: int) -> Expression:
        """The same for predicates over several parts, in which columns of that part have this ``source``."""
        return map_columns(self.over_root(column), lambda c: Column(c.name, c.type, source))

    def part_of(self, position: int) -> int:
        """The part an input is in."""
        return next(i for i, part in enumerate(self.parts) if position in part.members)

    def connected(self) -> list[tuple[int, int]]:
        """Pairs of parts that a predicate ties together and nothing else; all pairs when there is no such pair."""
        count = range(len(self.parts))
        pairs = [(a, b) for a in count for b in count if a < b]
        return [pair for pair in pairs if self._between(*pair)] or pairs

    def oriented(self, draft: Draft, a: int, b: int) -> list[RootPair]:
        """The ways to join two parts: one, with the smaller root left; both for a self-join (STA, T6.2.2)."""
        roots = self.parts[a].read.root, self.parts[b].read.root
        if roots[0] > roots[1]:
            a, b, roots = b, a, (roots[1], roots[0])
        pairs = [RootPair(a, b, roots, self._required(draft, a, b))]
        if roots[0] == roots[1]:
            pairs.append(RootPair(b, a, roots, self._required(draft, b, a)))
            pairs.sort(key=lambda pair: str(pair.required))
        return pairs

    def joined(self, draft: Draft, pair: RootPair, join: Join) -> JoinParts:
        """The parts after two of them have become one, read from a join."""
        left, right = self.parts[pair.left], self.parts[pair.right]
        required = over_join(join, pair.required, draft.options.canonicalize)
        both = _Part(Read(join.id, required), left.members | right.members)
        rest = [part for i, part in enumerate(self.parts) if i not in pair.key]
        steps = list(self.steps)
        for side, part in enumerate((left, right)):
            for member in part.members:
                steps[member] = (*steps[member], (join, side))
        waiting = tuple(p for p in self.waiting if not predicate_sources(p) <= both.members)
        parts = sorted([*rest, both], key=lambda part: min(part.members))
        return replace(self, parts=tuple(parts), steps=tuple(steps), waiting=waiting)

    def anchor(self, a: int, b: int) -> float:
        """Rows of the most selective input of two parts, as the text has it.

        Queries that follow something from the same kind of record begin with that record, whatever follows.
        """
        return min(self.stated_rows[i] for i in self.parts[a].members | self.parts[b].members)

    def _between(self, a: int, b: int) -> list[ORPred]:
        """The predicates that read both parts and no other."""
        members = self.parts[a].members | self.parts[b].members
        return [p for p in self.waiting if predicate_sources(p) <= members]

    def _required(self, draft: Draft, left: int, right: int) -> PredSet:
        """The required predicate of the join of two parts, over their roots."""
        pair = self.parts[left], self.parts[right]
        if pair not in self.required:
            self.required[pair] = self._over_roots(draft, left, right)
        return self.required[pair]

    def _over_roots(self, draft: Draft, left: int, right: int) -> PredSet:
        def over_sides(column: Column) -> Expression:
            return self.over_part(column, 0 if column.source in self.parts[left].members else 1)

        between = map_predicates(pred_set(self._between(left, right)), over_sides)
        own = (on_side(self.parts[position].read.required, side) for side, position in enumerate((left, right)))
        return draft.stored(conjunction(between, *own))
