"""The inputs of a block on their way into one: which parts are joined already, and what is still to be tested.

The query is rewritten as it is folded (T9.2.3): when two parts have been joined, the join stands for both, and what
its rows have still to satisfy is carried along as part of what is wanted of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.network.nodes import Join, NodeId, Read
from workbench.sharing.draft import Draft, over_join, renamed
from workbench.sql.algebra.expressions import Column, Expression, map_columns
from workbench.sql.predicates.cnf import ORPred, PredSet, conjunction, map_predicates, pred_set, predicate_sources


@dataclass(frozen=True)
class Part:
    """Inputs that are one by now: what is read, and the positions of the inputs in it."""

    read: Read
    members: frozenset[int]


@dataclass(frozen=True)
class Pair:
    """Two parts that could be joined next, and what is wanted of their join, in one of the ways to orient it.

    ``left`` and ``right`` are positions in ``Parts.parts``; ``wants`` is over the roots of the two (the JVOA form).
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
class Parts:
    """A block's inputs while they are joined.

    Attributes:
        parts: what is left to be joined.
        inputs: for each input its columns as expressions over the root it was read from.
        steps: for each input the joins it went through, with its side.
        waiting: predicates that read more than one part.
        written: for each input an estimate of the rows that satisfy what the query's text says of it alone.
    """

    parts: tuple[Part, ...]
    inputs: tuple[Mapping[str, Expression] | None, ...]
    steps: tuple[tuple[tuple[Join, int], ...], ...]
    waiting: tuple[ORPred, ...]
    written: tuple[float, ...]
    known: dict[tuple[Part, Part], PredSet] = field(default_factory=dict, compare=False, repr=False)
    """What is wanted of pairs that were looked at; most of them are there again after a join."""

    def over_root(self, column: Column) -> Expression:
        """A column of an input as an expression over the root of the part it is in."""
        values = self.inputs[column.source]
        value = replace(column, source=0) if values is None else values[column.name]
        for join, side in self.steps[column.source]:
            value = map_columns(value, lambda c, j=join, s=side: j.names.output(replace(c, source=s)))  # type: ignore[misc]
        return value

    def over_part(self, column: Column, source: int) -> Expression:
        """The same for predicates over several parts, in which columns of that part have this ``source``."""
        return map_columns(self.over_root(column), lambda c: replace(c, source=source))

    def part_of(self, position: int) -> int:
        """The part an input is in."""
        return next(i for i, part in enumerate(self.parts) if position in part.members)

    def connected(self) -> list[tuple[int, int]]:
        """Pairs of parts that a predicate ties together and nothing else; all pairs when there is no such pair."""
        count = range(len(self.parts))
        pairs = [(a, b) for a in count for b in count if a < b]
        return [pair for pair in pairs if self._between(*pair)] or pairs

    def oriented(self, draft: Draft, a: int, b: int) -> list[Pair]:
        """The ways to join two parts: one, with the smaller root left; both for a self-join (STA, T6.2.2)."""
        roots = self.parts[a].read.root, self.parts[b].read.root
        if roots[0] > roots[1]:
            a, b, roots = b, a, (roots[1], roots[0])
        pairs = [Pair(a, b, roots, self._wanted(draft, a, b))]
        if roots[0] == roots[1]:
            pairs.append(Pair(b, a, roots, self._wanted(draft, b, a)))
            pairs.sort(key=lambda pair: str(pair.required))
        return pairs

    def joined(self, draft: Draft, pair: Pair, join: Join) -> Parts:
        """The parts after two of them have become one, read from a join."""
        left, right = self.parts[pair.left], self.parts[pair.right]
        wants = over_join(join, pair.required, draft.options.canonicalize)
        both = Part(Read(join.id, wants), left.members | right.members)
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
        return min(self.written[i] for i in self.parts[a].members | self.parts[b].members)

    def _between(self, a: int, b: int) -> list[ORPred]:
        """The predicates that read both parts and no other."""
        members = self.parts[a].members | self.parts[b].members
        return [p for p in self.waiting if predicate_sources(p) <= members]

    def _wanted(self, draft: Draft, left: int, right: int) -> PredSet:
        pair = self.parts[left], self.parts[right]
        if pair not in self.known:
            self.known[pair] = self._worked_out(draft, left, right)
        return self.known[pair]

    def _worked_out(self, draft: Draft, left: int, right: int) -> PredSet:
        def over_sides(column: Column) -> Expression:
            return self.over_part(column, 0 if column.source in self.parts[left].members else 1)

        between = map_predicates(pred_set(self._between(left, right)), over_sides)
        own = (renamed(self.parts[position].read.required, side) for side, position in enumerate((left, right)))
        return draft.form(conjunction(between, *own))


def starting(
    reads: Sequence[Read],
    inputs: Sequence[Mapping[str, Expression] | None],
    waiting: Sequence[ORPred],
    written: Sequence[float],
) -> Parts:
    """The parts before anything is joined: every input is one."""
    parts = tuple(Part(read, frozenset([position])) for position, read in enumerate(reads))
    return Parts(parts, tuple(inputs), ((),) * len(parts), tuple(waiting), tuple(written))
