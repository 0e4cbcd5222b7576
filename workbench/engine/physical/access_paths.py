"""Access paths of a join: by which keys and within which bands its pairs are looked up.

A shared join tests only what all of its readers have in common, and that may be little. One reader wants cases of a
disease within 40 days, anywhere; another wants those at the same place, at any time. Looked up by the disease alone,
each case finds all there ever were. So pairs are looked up by one access path for each reader's requirements, and
readers with equal requirements share a path: here (disease, day) and (disease, place). The predicates of the join and
the selections on it are tested afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.engine.physical.band import AnyBand, Band, BandEnd
from workbench.engine.physical.band_predicates import bands_of
from workbench.engine.physical.join_keys import Ends, either_keys, join_keys, key_column
from workbench.limits import LIMITS
from workbench.network.join_names import JoinNames
from workbench.network.nodes import Join
from workbench.sql.algebra.expressions import columns, identity
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, rename_predicates


@dataclass(frozen=True)
class AccessPath:
    """A look-up that finds pairs of a join.

    Attributes:
        keys: the expressions of both sides that must be equal.
        bands: how far apart in some orders the two rows may be: one band, or one with a lower bound and one with an
            upper bound.
    """

    keys: tuple[Ends, ...]
    bands: tuple[AnyBand, ...] = ()

    def key_columns(self, side: int) -> tuple[str, ...]:
        """The stored columns of a side's key, in the same order for both sides."""
        return tuple(key_column(ends[side]) for ends in self.keys)

    def columns(self, side: int) -> tuple[str, ...]:
        """The stored columns of a side that are compared: the key, and what bands are of."""
        return tuple(dict.fromkeys([*self.key_columns(side), *(n for b in self.bands for n in b.end(side).columns)]))

    def orders(self, side: int) -> tuple[tuple[BandEnd, tuple[AnyBand, ...]], ...]:
        """By what rows of a side are in order, and the bands of each: the one with an upper bound first."""
        bands: dict[BandEnd, tuple[AnyBand, ...]] = {}
        for band in self.bands:
            bands[band.end(side)] = (*bands.get(band.end(side), ()), band)
        return tuple(sorted(bands.items(), key=lambda entry: min(b.steps(1 - side)[1] for b in entry[1])))

    def finds(self, other: AccessPath) -> bool:
        """Whether it finds all pairs that the other one finds."""
        if not set(self.keys) <= set(other.keys):
            return False
        return all(any(own.contains(band) for band in other.bands) for own in self.bands)


def keyed(paths: Sequence[AccessPath]) -> bool:
    """Whether all pairs that some paths find have equal values of one key."""
    return bool(paths) and bool(paths[0].keys) and all(set(path.keys) == set(paths[0].keys) for path in paths)


EVERY_PAIR = AccessPath(())
"""The path of a join without one: all rows are compared."""


def access_paths(
    join: Join, required: Collection[PredSet], most: int = LIMITS.paths_per_join
) -> tuple[AccessPath, ...]:
    """The paths that together find all pairs that a join's readers require; none where all rows must be compared.

    Args:
        join: the join.
        required: what each reader requires of a pair, over the columns of the join.
        most: paths; with more, all readers take those that the join alone has (``Limits.paths_per_join``).
    """
    by_reader = [paths_of_reader(join.tested, join.names, predicates) for predicates in required]
    if all(by_reader):
        paths = tuple(_irredundant(path for paths in by_reader for path in paths))
        if 0 < len(paths) <= most:
            return paths
    return paths_of_reader(join.tested, join.names, TRUE)


@cached(65_536)
def paths_of_reader(tested: PredSet, names: JoinNames, required: PredSet) -> tuple[AccessPath, ...]:
    """The paths of one reader: one, or where either of several keys must be equal, one for each of these keys."""
    holds = conjunction(tested, rename_predicates(required, names.input))
    bands = bands_of(holds)
    keys = {ends for ends in join_keys(holds) if not any(_same_as_band(band, ends) for band in bands)}
    either = either_keys(holds)
    if not keys and not either and not bands:
        return ()
    alternatives = [{ends} for ends in either] or [set()]
    return tuple(AccessPath(tuple(sorted(keys | some, key=_order)), bands) for some in alternatives)


def _same_as_band(band: AnyBand, ends: Ends) -> bool:
    """Whether an equality requires what the band does: ``d + 1 = d`` and ``d + 2 = d`` can then share a path."""
    compared = tuple({column.name for column in columns(end)} for end in ends)
    equal = isinstance(band, Band) and band.low == band.high
    return equal and compared == (set(band.left.columns), set(band.right.columns))


def _irredundant(paths: Iterable[AccessPath]) -> Iterator[AccessPath]:
    """The paths that find pairs no other one finds, in an order that depends on nothing else."""
    merged = set(_with_merged_bands(paths))
    for path in sorted(merged, key=lambda path: (len(path.keys), str(path))):
        if not any(other.finds(path) for other in merged - {path}):
            yield path


def _with_merged_bands(paths: Iterable[AccessPath]) -> Iterator[AccessPath]:
    """Paths of equal keys whose bands overlap or meet, as one path."""
    bands: defaultdict[tuple[tuple[Ends, ...], BandEnd, BandEnd], list[Band]] = defaultdict(list)
    for path in set(paths):
        match path.bands:
            case (Band() as band,):
                bands[path.keys, band.left, band.right].append(band)
            case _:
                yield path
    for (keys, _, _), own in bands.items():
        widest, *others = sorted(own, key=lambda band: (band.low, band.high))
        for band in others:
            if band.low <= widest.high + 1:
                widest = replace(widest, high=max(widest.high, band.high))
            else:
                yield AccessPath(keys, (widest,))
                widest = band
        yield AccessPath(keys, (widest,))


def _order(ends: Ends) -> tuple[str, str]:
    return identity(ends[0]), identity(ends[1])
