"""Pairs of texts of which one begins with the other, as bands: in the order of texts the longer ones are adjacent.

A row with the shorter text finds one range, from that text to the last one that begins with it. A row with the longer
text asks for each of its own beginnings, so that it finds the rows that have one of these, and no others, however many
short texts stand around it. Both go by the first 16 bytes, as all orders of texts do; what is behind is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.engine.physical.band import AnyBand, BandEnd, over_own_side
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.engine.storage.comparable import BEGIN, Orders
from workbench.engine.storage.grouping import Positions, true_rows
from workbench.sql.algebra.expressions import Call, Column, sources
from workbench.sql.algebra.types import BOOLEAN, STRING
from workbench.sql.predicates.beginnings import beginning_of
from workbench.sql.predicates.cnf import ORPred

_SIGNS = r"(?s)[%_\\].*"
"""What of a pattern of LIKE is no plain text any more."""


@dataclass(frozen=True)
class PatternBegin(BandEnd):
    """What every text begins with that a pattern of LIKE matches."""

    @property
    def name(self) -> str:
        """Tells it apart from others."""
        return f"begin of pattern {super().name}"

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return pc.replace_substring_regex(super().values(rows), _SIGNS, "")


@dataclass(frozen=True)
class PrefixBand(AnyBand):
    """The text of one side begins with that of the other.

    Attributes:
        long: the side of the longer one.
    """

    long: int
    closed = True
    counted = False

    def contains(self, other: object) -> bool:
        """Whether all pairs that are in another band are in this one."""
        return self == other

    def steps(self, changed: int) -> tuple[float, float]:
        """No steps: both bounds of a partner are near."""
        return 0.0, 0.0

    def bounds(self, changed: int, orders: Orders) -> tuple[Orders, Orders, Mask]:
        """For a short text its range; ``asked`` has the many of a long one."""
        last = orders if changed == self.long else _filled(orders)
        return orders, last, np.ones(len(orders), dtype=bool)

    def asked(self, orders: Orders) -> tuple[Positions, Orders]:
        """The beginnings of long texts that are looked up: for each its position, and the bytes.

        Example:
            >>> text = BandEnd(Column("text", STRING))
            >>> at, begins = PrefixBand(text, text, long=0).asked(np.array([b"ab", b""], dtype="S16"))
            >>> at.tolist(), begins.tolist()
            ([0, 1, 0, 0], [b'', b'', b'a', b'ab'])
        """
        lengths, every = np.char.str_len(orders), np.arange(len(orders))
        some = [every[lengths >= length] for length in range(BEGIN + 1)]
        begins = [orders[at].astype(f"S{length or 1}").astype(orders.dtype) for length, at in enumerate(some)]
        begins[0] = np.zeros(len(orders), dtype=orders.dtype)
        return np.concatenate(some), np.concatenate(begins)

    def has(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Which pairs are in the band."""
        texts = {"left": self.left.values(left), "right": self.right.values(right)}
        both = Call("startswith", tuple(Column(n, STRING) for n in [*texts][:: 1 - 2 * self.long]), BOOLEAN)
        return true_rows(evaluate(both, pa.RecordBatch.from_pydict(texts)))


def _filled(orders: Orders) -> Orders:
    """The last texts that begin so."""
    bytes_ = np.ascontiguousarray(orders, dtype=f"S{BEGIN}").view(np.uint8).reshape(len(orders), BEGIN).copy()
    bytes_[np.arange(BEGIN) >= np.char.str_len(orders)[:, None]] = 0xFF
    return bytes_.view(f"S{BEGIN}").ravel()


@lru_cache(maxsize=4_096)
def prefix_band(predicate: ORPred) -> PrefixBand | None:
    """The band in which all pairs are that satisfy a predicate, where one text must begin with the other."""
    if (found := beginning_of(predicate)) is None:
        return None
    long = BandEnd(over_own_side(found.long))
    short = (PatternBegin if found.is_pattern else BandEnd)(over_own_side(found.short))
    if not all(has_kernels(end.expression) for end in (long, short)):
        return None
    (side,) = sources(found.long)
    return PrefixBand(*((long, short) if side == 0 else (short, long)), side)
