"""Chains of transfers: the query category of Example 1.1 in its 16 variants, and the many ways to write one (T10.1.3).

A chain follows money over 2 to 5 records of type 1000. One end of it is the *pivot*, a transfer above an amount: the
first record when the money is tracked forward, the last one when it is tracked backward. The record next to the pivot
carries at least one part in ``ratio`` of the pivot's amount, and all other records carry what that one carries.
Neighbours lie within ``window`` days.

Confinement to accounts joins neighbours as Example 1.1 does: what an account received it sends on. Confinement to banks
is wider: the money leaves the bank by any account of the same *category*, the first characters of its number, as in
B.8 and B.10. The thesis speaks of "certain types of bank or certain types of account" and prints no predicate; the
category is ours. With banks alone, one query of two records has up to 13 million answers over 300,000 transfers; with
the category, 0.2 million. Since a transfer within a bank could follow itself there, neighbours must be two records.

All arithmetic is exact: amounts are multiplied, by an integer or by a decimal that is exactly 1/ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, product
from random import Random
from typing import TypeVar

T = TypeVar("T")

TABLES = (2, 3, 4, 5)
DIRECTIONS = ("forward", "backward")
CONFINEMENTS = ("account", "bank")

_LINKS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "account": (
        ("{earlier}.rbank_aba", "=", "{later}.sbank_aba"),
        ("{earlier}.benef_account", "=", "{later}.orig_account"),
    ),
    "bank": (
        ("{earlier}.rbank_aba", "=", "{later}.sbank_aba"),
        ("SUBSTR({earlier}.benef_account, 1, 2)", "=", "SUBSTR({later}.orig_account, 1, 2)"),
        ("{earlier}.tranid", "!=", "{later}.tranid"),
    ),
}
"""The columns that join a record with the next one, besides dates and amounts."""

_MIRRORED = {"=": "=", "!=": "!=", "<=": ">=", ">=": "<=", ">": "<"}

_ALIASES = (("r1", "r2", "r3", "r4", "r5"), ("t1", "t2", "t3", "t4", "t5"), ("a", "b", "c", "d", "e"))

_WINDOWS = (
    "{later} <= {earlier} + {days}",
    "{earlier} + {days} >= {later}",
    "{later} - {days} <= {earlier}",
    "{later} - {earlier} <= {days}",
)


class Hand:
    """How an analyst writes: where there are several ways of saying the same, a hand takes one.

    Args:
        number: hands of different numbers write differently; ``None`` is the plain hand, which takes the first way.

    Example:
        >>> Hand().pick("a", "b", "c"), Hand().order([1, 2, 3])
        ('a', [1, 2, 3])
    """

    def __init__(self, number: int | None = None) -> None:
        self._random = None if number is None else Random(number)

    def pick(self, *ways: T) -> T:
        """The first way of writing, or a random one."""
        return ways[0] if self._random is None else self._random.choice(ways)

    def order(self, parts: list[T]) -> list[T]:
        """The parts in some order."""
        return parts if self._random is None else self._random.sample(parts, len(parts))


@dataclass(frozen=True, slots=True)
class Chain:
    """The question, by the parameters of Table 10.2.

    ``tables`` is the number of joined records: the thesis says both "2-way up to 5-way joins" and "number of 2-way
    joins"; the first is taken.
    """

    tables: int
    direction: str
    confinement: str
    amount: int
    window: int
    ratio: int


@dataclass(frozen=True, slots=True)
class ChainText:
    """A chain as text: its records' aliases, earliest first, and the FROM and WHERE clauses."""

    records: tuple[str, ...]
    body: str


def write(chain: Chain, hand: Hand) -> ChainText:
    """The chain in SQL that Oracle, Spark and DuckDB understand alike.

    Example:
        >>> print(write(Chain(2, "forward", "account", 50000, 20, 5), Hand()).body)
        FROM   FedWireTrans r1, FedWireTrans r2
        WHERE  r1.type_code = 1000
        AND    r2.type_code = 1000
        AND    r1.amount > 50000
        AND    r2.amount * 5 >= r1.amount
        AND    r1.rbank_aba = r2.sbank_aba
        AND    r1.benef_account = r2.orig_account
        AND    r1.tran_date <= r2.tran_date
        AND    r2.tran_date <= r1.tran_date + 20
    """
    aliases = hand.pick(*_ALIASES)[: chain.tables]
    records = hand.pick(aliases, aliases[::-1])
    conditions = hand.order(_conditions(chain, records, hand))
    inputs = hand.pick(records, records[::-1])
    listed = ", ".join(f"FedWireTrans {record}" for record in inputs)
    return ChainText(records, f"FROM   {listed}\nWHERE  " + "\nAND    ".join(conditions))


def variants() -> dict[str, tuple[int, str, str]]:
    """The 16 variants by name: number of tables, direction, confinement.

    Example:
        >>> list(variants())[:3]
        ['forward_account_2', 'forward_bank_2', 'backward_account_2']
    """
    return {
        f"{direction}_{confinement}_{tables}": (tables, direction, confinement)
        for tables, direction, confinement in product(TABLES, DIRECTIONS, CONFINEMENTS)
    }


def _conditions(chain: Chain, records: tuple[str, ...], hand: Hand) -> list[str]:
    from_pivot = records if chain.direction == "forward" else records[::-1]
    pivot, neighbour, *others = from_pivot
    conditions = [_compare(f"{record}.type_code", "=", "1000", hand) for record in records]
    conditions.append(_compare(f"{pivot}.amount", ">", str(chain.amount), hand))
    conditions.append(_split(f"{pivot}.amount", f"{neighbour}.amount", chain.ratio, hand))
    conditions += [_compare(f"{b}.amount", "=", f"{a}.amount", hand) for a, b in pairwise([neighbour, *others])]
    window = hand.pick(*_WINDOWS)
    links = (*_LINKS[chain.confinement], ("{earlier}.tran_date", "<=", "{later}.tran_date"))
    for earlier, later in pairwise(records):
        for link in links:
            left, operator, right = (part.format(earlier=earlier, later=later) for part in link)
            conditions.append(_compare(left, operator, right, hand))
        conditions.append(window.format(earlier=f"{earlier}.tran_date", later=f"{later}.tran_date", days=chain.window))
    return conditions


def _compare(left: str, operator: str, right: str, hand: Hand) -> str:
    return hand.pick(f"{left} {operator} {right}", f"{right} {_MIRRORED[operator]} {left}")


def _split(whole: str, part: str, ratio: int, hand: Hand) -> str:
    """The part is at least one in ``ratio`` of the whole."""
    if ratio == 1:
        return _compare(part, ">=", whole, hand)
    ways = [f"{part} * {ratio} >= {whole}", f"{whole} <= {ratio} * {part}"]
    if 1000 % ratio == 0:  # three decimals hold 1/2, 1/4, 1/5, 1/8 and 1/10; 1/3, 1/6, 1/7 and 1/9 never end
        share = Decimal(1) / ratio
        ways += [f"{part} >= {share} * {whole}", f"{share} * {whole} <= {part}"]
    return hand.pick(*ways)
