"""An answer held in memory: any of its rows are shown at once, in any order, and a batch changes only some of them.

A view that scrolls through an answer asks for a few rows at a time. Reading and sorting a large answer for each of them
would take seconds; following its changes takes as long as copying its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.fetching import fetch_changes, fetch_first, fetch_results, to_shown_table
from workbench.engine.selection import repeated, summed_weights
from workbench.engine.spark.failures import translate_errors
from workbench.engine.storage.comparable import Direction, dense_ranks, first_in_order, positions_in_order
from workbench.engine.storage.grouping import Positions, matching_rows
from workbench.engine.storage.indexes.key_index import key_hashes
from workbench.session.state import OFF
from workbench.sql.logical import Ordered, identifying_columns

if TYPE_CHECKING:
    from workbench.session.query import Query

_ALL = 2**31 - 1
"""As many rows as Spark can be asked for."""
PATCHED = 4
"""Rows are written anew when those that came or went are this part of all."""
PAGES = 20
"""A page that ends before this part of all rows is found without an order of all."""

AnswerOrder = tuple[int, bool]
"""A column by its place, and whether the order descends; NULL is last."""


@dataclass(frozen=True)
class Changed:
    """The changes of the last step of a held answer.

    Attributes:
        came: the rows that came, by their positions in the rows that are held.
        was: for each of them the row that it replaces, by its position in ``gone``, or -1.
        gone: the rows that went.
    """

    came: Positions
    was: Positions
    gone: Sequence[pa.Array]


class HeldAnswer:
    """The rows of an answer after a batch.

    Args:
        rows: as they are stored.
        batch: after which batch they are the answer.
        keys: the places of the columns that tell rows apart over time; ``None``: a row that changed is another row.

    Example:
        >>> held = HeldAnswer(pa.table({"bank": ["x", "y"], "n": [2, 1]}), batch=1, keys=(0,))
        >>> held.page(0, 2, order=(1, False)).to_pydict()
        {'bank': ['y', 'x'], 'n': [1, 2]}
        >>> held.follow(2, pa.table({"weight": [-1, 1], "bank": ["x", "x"], "n": [2, 3]}))
        >>> held.page(0, 2, order=(1, False)).to_pydict(), held.replaced(0, 2, order=(1, False))
        ({'bank': ['y', 'x'], 'n': [1, 3]}, [None, {'bank': 'x', 'n': 2}])
    """

    def __init__(self, rows: pa.Table, batch: int, keys: Sequence[int] | None = None) -> None:
        self._names = rows.column_names
        self.batch = batch
        self._keys = keys
        self.changed: Changed | None = None
        self._order: AnswerOrder | None = None
        self._take_over([column.combine_chunks() for column in rows.columns], np.full(rows.num_rows, -1, np.int32))

    def _take_over(self, columns: list[pa.Array], came: npt.NDArray[np.int32]) -> None:
        """Hold rows of which all are there."""
        self._columns, self._added = columns, [column.slice(0, 0) for column in columns]
        self._came, self._there = came, np.ones(len(came), dtype=bool)
        self._hashes: _SortedHashes | None = None
        self._added_hashes = np.empty(0, dtype=np.uint64)
        self._places: Positions | None = np.arange(len(came)) if self._order is None else None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(np.count_nonzero(self._there))

    @property
    def table(self) -> pa.Table:
        """All rows, as they are stored."""
        return self._taken(np.flatnonzero(self._there))

    def page(self, start: int, stop: int, order: AnswerOrder | None = None) -> pa.Table:
        """Some rows in an order; without one as they were read, what came later last."""
        return self._taken(self._ordered(start, stop, order))

    def came_after(self, batch: int, start: int, stop: int, order: AnswerOrder | None = None) -> list[bool]:
        """Which rows of a page came after a batch, as far as they were followed."""
        return (self._came[self._ordered(start, stop, order)] > batch).tolist()

    def came_since(self, batch: int) -> int:
        """How many rows came after a batch, as far as they were followed."""
        return int(np.count_nonzero((self._came > batch) & self._there))

    def replaced(self, start: int, stop: int, order: AnswerOrder | None = None) -> list[dict[str, object] | None]:
        """For each row of a page the row that it replaced in the last step."""
        places = self._ordered(start, stop, order)
        if self.changed is None:
            return [None] * len(places)
        was = dict(zip(self.changed.came.tolist(), self.changed.was.tolist(), strict=True))
        before = [was.get(at, -1) for at in places.tolist()]
        at = pa.array([at for at in before if at >= 0], pa.int64())
        rows = iter(pa.table([column.take(at) for column in self.changed.gone], names=self._names).to_pylist())
        return [next(rows) if at >= 0 else None for at in before]

    def follow(self, batch: int, changes: pa.Table) -> None:
        """Update to the answer after a later batch: removed rows are crossed out, and new rows are appended.

        Args:
            batch: the batch.
            changes: column ``weight``, then the answer's: what has changed since.

        Raises:
            ValueError: a row that is to go is not there, so the rows are not of the answer before.
        """
        gone, new = _came_and_went(changes)
        found = self._found(gone)
        if len(found) < len(gone[0]):
            raise ValueError("a row that is to go is not there")
        before, added = len(self._came), len(new[0])
        self._there[found] = False
        self._there = np.append(self._there, np.ones(added, dtype=bool))
        self._came = np.append(self._came, np.full(added, batch, dtype=np.int32))
        self._added_hashes = np.append(self._added_hashes, self._hashes_of(new))
        self._added = [
            pa.concat_arrays([there, come.cast(there.type)]) for there, come in zip(self._added, new, strict=True)
        ]
        if self._places is not None:
            self._places = self._merged(self._places[self._there[self._places]], before + np.arange(added))
        self.changed = Changed(before + np.arange(added), self._replaced_by(gone, new), gone)
        self.batch = batch

    def prepare(self) -> None:
        """Compute what the next page or step needs of all rows: their order, and their hashes; rows that went go."""
        if (len(self._came) - self.rows + len(self._added[0])) * PATCHED > len(self._came):
            self._rewrite()
        if self._hashes is None:
            self._hashes = _SortedHashes(self._hashes_of(self._columns))
        self._in_order()

    def _rewrite(self) -> None:
        """Hold the rows that are there, and no others; what changed last is found again behind all others."""
        at = np.flatnonzero(self._there)
        places = None if self._places is None else np.searchsorted(at, self._places)
        if self.changed is not None:
            self.changed = replace(self.changed, came=np.searchsorted(at, self.changed.came))
        self._take_over([self._take(place, at) for place in range(len(self._columns))], self._came[at])
        self._places = places

    def _hashes_of(self, rows: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
        """The hash of each row, or of what tells it apart."""
        return key_hashes([rows[place] for place in self._keys or range(len(rows))], nulls=True)[0]

    def mark(self, changes: pa.Table) -> None:
        """Remember which of the rows came late; ``changes`` is as in ``follow``."""
        self._came[self._found(_came_and_went(changes)[1])] = self.batch

    def _merged(self, places: Positions, new: Positions) -> Positions:
        """The order with new rows put into it, after those that are equal to them."""
        if self._order is None or not len(new):
            return np.append(places, new)
        column, direction = self._order[0], _direction(self._order)
        values = self._take(column, new)
        sorted_ = positions_in_order([values], [direction])
        values = values.take(pa.array(sorted_))
        at = _insertion(lambda middle: self._take(column, places[middle]), len(places), values, direction)
        return np.insert(places, at, new[sorted_])

    def _found(self, gone: Sequence[pa.Array]) -> Positions:
        """The positions of rows that are there, of those that are alike the first ones."""
        wanted = len(gone[0])
        if not wanted:
            return np.empty(0, dtype=np.int64)
        if self._hashes is None:
            self._hashes = _SortedHashes(self._hashes_of(self._columns))
        hashes = np.unique(self._hashes_of(gone))
        late = np.flatnonzero(np.isin(self._added_hashes, hashes)) + len(self._columns[0])
        candidates = np.append(self._hashes.positions_of(hashes), late)
        candidates = candidates[self._there[candidates]]
        among = [self._take(place, candidates) for place in range(len(self._columns))]
        at = matching_rows(gone, among, (wanted, len(candidates)), once=True)
        return candidates[at[at >= 0]]

    def _replaced_by(self, gone: Sequence[pa.Array], new: Sequence[pa.Array]) -> Positions:
        """For each new row the position of the one among those that went with its key, or -1."""
        if self._keys is None:
            return np.full(len(new[0]), -1, dtype=np.int64)
        keys, before = ([columns[place] for place in self._keys] for columns in (new, gone))
        return matching_rows(keys, before, (len(new[0]), len(gone[0])), once=True)

    def _ordered(self, start: int, stop: int, order: AnswerOrder | None) -> Positions:
        """The positions of a page; of one near the beginning without an order of all."""
        if order != self._order:
            self._order, self._places = order, None
        if self._places is None and order is not None and stop * PAGES < len(self._came):
            at = np.flatnonzero(self._there)
            return at[first_in_order(self._take(order[0], at), _direction(order), stop)[start:]]
        return self._in_order()[start:stop]

    def _in_order(self) -> Positions:
        """The positions of all rows in the order that was asked for last."""
        if self._places is None:
            at = self._places = np.flatnonzero(self._there)
            if self._order is not None:
                values = self._take(self._order[0], at)
                self._places = at[positions_in_order([values], [_direction(self._order)])]
        return self._places

    def _taken(self, places: Positions) -> pa.Table:
        return pa.table([self._take(place, places) for place in range(len(self._columns))], names=self._names)

    def _take(self, column: int, at: Positions) -> pa.Array:
        """Values of a column, which has two parts."""
        whole, added = self._columns[column], self._added[column]
        if not len(added):
            return whole if len(at) == len(whole) and (np.diff(at) == 1).all() else whole.take(pa.array(at))
        late = at >= len(whole)
        parts = [whole.take(pa.array(at[~late])), added.take(pa.array(at[late] - len(whole)))]
        back = np.empty(len(at), dtype=np.int64)
        back[np.append(np.flatnonzero(~late), np.flatnonzero(late))] = np.arange(len(at))
        return pa.concat_arrays(parts).take(pa.array(back))


class _SortedHashes:
    """Where rows with a hash are."""

    def __init__(self, hashes: npt.NDArray[np.uint64]) -> None:
        self._at = np.argsort(hashes)
        self._hashes = hashes[self._at]

    def positions_of(self, hashes: npt.NDArray[np.uint64]) -> Positions:
        """The positions of rows that have one of some different hashes, in their order."""
        first, end = (np.searchsorted(self._hashes, hashes, side) for side in ("left", "right"))
        counts = end - first
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(self._at[np.repeat(first, counts) + within])


def _came_and_went(changes: pa.Table) -> tuple[list[pa.Array], list[pa.Array]]:
    """The rows that went, and those that came, each as often as it did."""
    columns = [column.combine_chunks() for column in changes.columns[1:]]
    values, weights = summed_weights(columns, changes.column(0).combine_chunks())
    numbers = weights.to_numpy(zero_copy_only=False)
    gone, new = (pa.array(np.maximum(of, 0)) for of in (-numbers, numbers))
    return repeated(values, gone), repeated(values, new)


def hold_answer(
    query: Query, batch: int | None = None, where: str | None = None, since: int | None = None
) -> HeldAnswer:
    """Read an answer into memory.

    Args:
        query: of which query.
        batch: after which batch; ``None``: the last one.
        where: only rows that satisfy a condition, as in ``Query.head``; such an answer cannot be followed.
        since: rows that came after this batch are marked, where changes are kept.

    Raises:
        QueryError, SqlError, EngineError: as ``Query.head``.
    """
    refinement, after = query.refinement(where), _last(query) if batch is None else batch
    with translate_errors(f"read the result of {query.name}"), query.answers(batch=after) as answers:
        rows = fetch_first(answers, 0, _ALL, refinement) if refinement.where else fetch_results([answers])[0]
    held = HeldAnswer(rows, query.batch if after is None else after, identifying_columns(query.logical))
    if since is not None and since < held.batch and query.kept_as != OFF:
        held.mark(_changes(query, since, held.batch))
    return held


def _changes(query: Query, since: int, batch: int) -> pa.Table:
    """What changed after a batch up to another: ``weight``, then the answer's columns."""
    with translate_errors(f"read the changes of {query.name}"), query.answers(after=since) as answers:
        changes = fetch_changes(answers, since)
    return changes.filter(pc.less_equal(changes.column(0), batch)).select(range(1, changes.num_columns))


def follow_answer(query: Query, held: HeldAnswer, since: int | None = None) -> HeldAnswer:
    """A held answer after the last batch: the same object, or one that is read again.

    Only an answer without ORDER BY of which changes are kept is followed by its changes.

    Args:
        query: of which query.
        held: as ``hold_answer`` gave it.
        since: as in ``hold_answer``.

    Raises:
        QueryError, EngineError: as ``Query.result``.
    """
    batch = query.batch
    if batch == held.batch:
        return held
    if batch < held.batch or query.kept_as == OFF or query.suspended is not None or isinstance(query.logical, Ordered):
        return hold_answer(query, since=since)
    try:
        held.follow(batch, _changes(query, held.batch, batch))
    except ValueError:  # it was computed anew, for example since a column of a stream was widened
        return hold_answer(query, since=since)
    return held


def rows_as_shown(query: Query, rows: pa.Table) -> pa.Table:
    """Rows of a held answer with the names and the types that answers show."""
    with query.answers() as answers:
        return to_shown_table(rows, answers.plan, query.timezone)


def _last(query: Query) -> int | None:
    """The last batch, so that one that comes meanwhile changes nothing; of a suspended query its answer as it is."""
    return query.batch if query.suspended is None else None


def _direction(order: AnswerOrder) -> Direction:
    return order[1], False


def _insertion(
    sorted_values: Callable[[Positions], pa.Array], count: int, values: pa.Array, direction: Direction
) -> Positions:
    """Before which of ``count`` sorted values each value belongs, behind those that are equal."""
    low, high = np.zeros(len(values), dtype=np.int64), np.full(len(values), count, dtype=np.int64)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        compared = sorted_values(np.minimum(middle, count - 1))
        ranks = dense_ranks(pa.concat_arrays([compared, values.cast(compared.type)]), direction)
        right = open_ & (ranks[: len(values)] <= ranks[len(values) :])
        low, high = np.where(right, middle + 1, low), np.where(open_ & ~right, middle, high)
    return low
