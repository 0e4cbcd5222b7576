"""An answer held in memory: any of its rows are shown at once, in any order, and a batch changes only some of them.

A view that scrolls through an answer asks for a few rows at a time. Reading and sorting a large answer for each of them
would take seconds; following its changes takes as long as copying its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.fetching import fetch_changes, fetch_first, fetch_results, to_shown_table
from workbench.engine.selection import repeated, summed_weights
from workbench.engine.spark.failures import translate_errors
from workbench.engine.storage.comparable import Direction, dense_ranks, positions_in_order
from workbench.engine.storage.grouping import Positions, matching_rows
from workbench.engine.storage.indexes.key_index import key_hashes
from workbench.session.state import OFF
from workbench.sql.logical import Ordered, identifying_columns

if TYPE_CHECKING:
    from workbench.session.query import Query

_ALL = 2**31 - 1
"""As many rows as Spark can be asked for."""

AnswerOrder = tuple[int, bool]
"""A column by its place, and whether the order descends; NULL is last."""


@dataclass(frozen=True)
class Changed:
    """What the last step of a held answer changed.

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
        self._columns: list[pa.Array] = [column.combine_chunks() for column in rows.columns]
        self.batch = batch
        self._keys = keys
        self._hashes: npt.NDArray[np.uint64] | None = None
        self._came: npt.NDArray[np.int32] = np.full(rows.num_rows, -1, dtype=np.int32)
        self._order: AnswerOrder | None = None
        self._places = np.arange(rows.num_rows)
        self.changed: Changed | None = None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self._came)

    @property
    def table(self) -> pa.Table:
        """All of them, as they are stored."""
        return pa.table(self._columns, names=self._names)

    def page(self, start: int, stop: int, order: AnswerOrder | None = None) -> pa.Table:
        """Some rows in an order; without one as they were read, what came later last."""
        return self._taken(self._ordered(order)[start:stop])

    def came_after(self, batch: int, start: int, stop: int, order: AnswerOrder | None = None) -> list[bool]:
        """Which rows of a page came after a batch, as far as they were followed."""
        return (self._came[self._ordered(order)[start:stop]] > batch).tolist()

    def came_since(self, batch: int) -> int:
        """How many rows came after a batch, as far as they were followed."""
        return int((self._came > batch).sum())

    def replaced(self, start: int, stop: int, order: AnswerOrder | None = None) -> list[dict[str, object] | None]:
        """For each row of a page the row that it replaced in the last step."""
        if self.changed is None:
            return [None] * (min(stop, self.rows) - start)
        was = dict(zip(self.changed.came.tolist(), self.changed.was.tolist(), strict=True))
        gone = pa.table(list(self.changed.gone), names=self._names)
        before = [was.get(at, -1) for at in self._ordered(order)[start:stop].tolist()]
        return [gone.slice(at, 1).to_pylist()[0] if at >= 0 else None for at in before]

    def follow(self, batch: int, changes: pa.Table) -> None:
        """Become the answer after a later batch.

        Args:
            batch: the batch.
            changes: column ``weight``, then the answer's: what has changed since.

        Raises:
            ValueError: a row that is to go is not there, so the rows are not of the answer before.
        """
        gone, new = _came_and_went(changes)
        stays, found = np.ones(self.rows, dtype=bool), self._found(gone)
        if len(found) < len(gone[0]):
            raise ValueError("a row that is to go is not there")
        stays[found] = False
        moved = np.cumsum(stays) - 1
        kept, added = int(moved[-1]) + 1 if len(moved) else 0, len(new[0])
        before = self._columns
        self._columns = [
            pa.concat_arrays([column.filter(pa.array(stays)), added_.cast(column.type)])
            for column, added_ in zip(before, new, strict=True)
        ]
        self._came = np.append(self._came[stays], np.full(added, batch, dtype=np.int32))
        if self._hashes is not None:
            self._hashes = np.append(self._hashes[stays], self._hashes_of(new))
        self._places = self._merged(moved[self._places[stays[self._places]]], kept)
        self.changed = Changed(kept + np.arange(added), self._replaced_by(gone, new), gone)
        self.batch = batch

    def prepare(self) -> None:
        """Compute what the first step needs of all rows, so that it takes no longer than the others."""
        if self._hashes is None:
            self._hashes = self._hashes_of(self._columns)

    def _hashes_of(self, rows: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
        """The hash of each row, or of what tells it apart."""
        return key_hashes([rows[place] for place in self._keys or range(len(rows))], nulls=True)[0]

    def mark(self, changes: pa.Table) -> None:
        """Remember which of the rows came late; ``changes`` is as in ``follow``."""
        self._came[self._found(_came_and_went(changes)[1])] = self.batch

    def _merged(self, places: Positions, kept: int) -> Positions:
        """The order with the rows from ``kept`` on put into it, after those that are equal to them."""
        new = np.arange(kept, self.rows)
        if self._order is None or not len(new):
            return np.append(places, new)
        column, direction = self._columns[self._order[0]], _direction(self._order)
        values = column.take(pa.array(new))
        sorted_ = positions_in_order([values], [direction])
        at = _insertion(column, places, values.take(pa.array(sorted_)), direction)
        return np.insert(places, at, new[sorted_])

    def _found(self, gone: Sequence[pa.Array]) -> Positions:
        """The positions of rows that are there, of those that are alike the first ones."""
        wanted = len(gone[0])
        if not wanted:
            return np.empty(0, dtype=np.int64)
        self.prepare()
        hashes = pa.array(self._hashes_of(gone))
        candidates = np.flatnonzero(pc.is_in(pa.array(self._hashes), value_set=hashes).to_numpy(zero_copy_only=False))
        among = [column.take(pa.array(candidates)) for column in self._columns]
        at = matching_rows(gone, among, (wanted, len(candidates)), once=True)
        return candidates[at[at >= 0]]

    def _replaced_by(self, gone: Sequence[pa.Array], new: Sequence[pa.Array]) -> Positions:
        """For each new row the position of the one among those that went with its key, or -1."""
        if self._keys is None:
            return np.full(len(new[0]), -1, dtype=np.int64)
        keys, before = ([columns[place] for place in self._keys] for columns in (new, gone))
        return matching_rows(keys, before, (len(new[0]), len(gone[0])), once=True)

    def _ordered(self, order: AnswerOrder | None) -> Positions:
        if order != self._order:
            self._places = (
                np.arange(self.rows)
                if order is None
                else positions_in_order([self._columns[order[0]]], [_direction(order)])
            )
            self._order = order
        return self._places

    def _taken(self, places: Positions) -> pa.Table:
        at = pa.array(places)
        return pa.table([column.take(at) for column in self._columns], names=self._names)


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
    if since is not None and since < held.batch and query.results != OFF:
        held.mark(_changes(query, since, held.batch))
    return held


def _changes(query: Query, since: int, batch: int) -> pa.Table:
    """What changed after a batch up to another: ``weight``, then the answer's columns."""
    with translate_errors(f"read the changes of {query.name}"), query.answers(after=since) as answers:
        changes = fetch_changes(answers, since)
    return changes.filter(pc.less_equal(changes.column(0), batch)).select(range(1, changes.num_columns))


def follow_answer(query: Query, held: HeldAnswer, since: int | None = None) -> HeldAnswer:
    """A held answer as it is after the last batch: itself, or one that is read anew.

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
    if batch < held.batch or query.results == OFF or query.suspended is not None or isinstance(query.logical, Ordered):
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


def _insertion(column: pa.Array, places: Positions, values: pa.Array, direction: Direction) -> Positions:
    """Before which of the sorted rows at ``places`` each value belongs, behind those that are equal."""
    low, high = np.zeros(len(values), dtype=np.int64), np.full(len(values), len(places), dtype=np.int64)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        compared = column.take(pa.array(places[np.minimum(middle, len(places) - 1)]))
        ranks = dense_ranks(pa.concat_arrays([compared, values.cast(compared.type)]), direction)
        right = open_ & (ranks[: len(values)] <= ranks[len(values) :])
        low, high = np.where(right, middle + 1, low), np.where(open_ & ~right, middle, high)
    return low
