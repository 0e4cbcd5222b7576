"""By what the pairs of a join are found: keys that must be equal, and how many days may lie between the rows.

A shared join tests what all of its readers have in common, and that may be little: one of them wants cases of a
disease within 40 days, anywhere; another one those at the same place, any time before. Looked up by the disease alone,
each case finds all there ever were. So pairs are looked up as each reader wants them, and readers that want the same do
it together: by disease and day, and by disease and place. Which rows are kept, and for whom, is decided afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.engine.physical.band import Band, band_of
from workbench.engine.physical.join_keys import Ends, either_keys, join_keys, key_column
from workbench.network.join_names import JoinNames
from workbench.network.nodes import Join
from workbench.sql.algebra.expressions import columns, identity
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, rename_predicates

MOST = 16
"""Where readers want their pairs in more ways than these, they are looked up by what all have in common."""


@dataclass(frozen=True)
class Way:
    """A way to find pairs.

    Attributes:
        keys: what must be equal.
        band: how far apart in time the two rows may be.
    """

    keys: tuple[Ends, ...]
    band: Band | None = None

    def columns(self, side: int) -> tuple[str, ...]:
        """The stored columns of a side's key, in an order that is the same for both sides."""
        return tuple(key_column(ends[side]) for ends in self.keys)

    def looks_at(self, side: int) -> tuple[str, ...]:
        """The stored columns of a side that it compares."""
        return self.columns(side) if self.band is None else (*self.columns(side), self.band.day(side))

    def finds(self, other: Way) -> bool:
        """Whether it finds all pairs that the other one finds."""
        if not set(self.keys) <= set(other.keys):
            return False
        return self.band is None or (other.band is not None and self.band.holds(other.band))


def ways_of(join: Join, wants: Collection[PredSet]) -> tuple[Way, ...]:
    """The ways in which all pairs are found that a join's readers want; none where comparing all pairs is the way.

    Args:
        join: the join.
        wants: what each of its readers wants, over the columns of the join.
    """
    of_readers = [of_reader(join.tested, join.names, want) for want in wants]
    if all(of_readers):
        found = tuple(_needed(way for ways in of_readers for way in ways))
        if 0 < len(found) <= MOST:
            return found
    return of_reader(join.tested, join.names, TRUE)


@cached(65_536)
def of_reader(tested: PredSet, names: JoinNames, want: PredSet) -> tuple[Way, ...]:
    """The ways of one reader: one, or one for each of the keys of which either must be equal."""
    holds = conjunction(tested, rename_predicates(want, names.input))
    band = band_of(holds)
    keys = {ends for ends in join_keys(holds) if band is None or not _on(band, ends)}
    either = either_keys(holds)
    if not keys and not either and (band is None or not band.closed):
        return ()
    alternatives = [{ends} for ends in either] or [set()]
    return tuple(Way(tuple(sorted(keys | some, key=_order)), band) for some in alternatives)


def _on(band: Band, ends: Ends) -> bool:
    """Whether an equality says no more than the band: so ``d + 1 = d`` and ``d + 2 = d`` are looked up together."""
    compared = tuple({column.name for column in columns(end)} for end in ends)
    return band.low == band.high and compared == ({band.left}, {band.right})


def _needed(ways: Iterable[Way]) -> Iterator[Way]:
    """Without those that find nothing of their own, in an order that depends on nothing else."""
    together = set(_together(ways))
    for way in sorted(together, key=lambda way: (len(way.keys), str(way))):
        if not any(other.finds(way) for other in together - {way}):
            yield way


def _together(ways: Iterable[Way]) -> Iterator[Way]:
    """Ways that differ in their days alone and meet, as one."""
    bands: Mapping[tuple[tuple[Ends, ...], str, str], list[Band]] = defaultdict(list)
    for way in set(ways):
        if way.band is None:
            yield way
        else:
            bands[way.keys, way.band.left, way.band.right].append(way.band)
    for (keys, _, _), own in bands.items():
        widest, *others = sorted(own, key=lambda band: (band.low, band.high))
        for band in others:
            if band.low <= widest.high + 1:
                widest = replace(widest, high=max(widest.high, band.high))
            else:
                yield Way(keys, widest)
                widest = band
        yield Way(keys, widest)


def _order(ends: Ends) -> tuple[str, str]:
    return identity(ends[0]), identity(ends[1])
