"""QAggreFed: 350 aggregate queries over money transfers, in 21 variants of three categories (T10.1.3).

- 16 variants join, then aggregate: the money that chains of transfers (``chains.py``) bring to where they end, or took
  from where they begin, by account or by bank, where it is above a total. The chains are confined to accounts, as in
  B.4. A transfer counts once for each chain it is in.
- 4 variants aggregate, then join: the totals of B.8-B.11, which are those of a day by receiving or sending party, the
  party being a bank or a category of its accounts; two days of one party within a window, as B.5 joins two totals.
- 1 variant ends with a set operation: banks that received much on a day, less those that sent much on that day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from random import Random

from workbench.experiments.query_sets.chains import DIRECTIONS, TABLES, Chain, Hand, write
from workbench.experiments.query_sets.generated import GeneratedQuery, turns

PARTIES = ("account", "bank")

CHAIN_AMOUNTS, CHAIN_WINDOWS, CHAIN_TOTALS = (50_000, 100_000), (5, 20, 60), (100_000, 500_000, 1_000_000)
CHAIN_RATIO = 10

DAY_TOTALS, DAY_WINDOWS = (1_000_000, 5_000_000, 10_000_000, 50_000_000), (1, 5, 20)

RECEIVED = (1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000)
SENT_SHARES = (1, 2)
"""What was sent is compared with what was received, and with half of it, as in B.5."""

_PARTY_COLUMNS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("receiving", "account"): ("rbank_aba", "benef_account"),
    ("receiving", "bank"): ("rbank_aba",),
    ("sending", "account"): ("sbank_aba", "orig_account"),
    ("sending", "bank"): ("sbank_aba",),
}


@dataclass(frozen=True, slots=True)
class ChainTotal:
    """Join, then aggregate."""

    tables: int
    direction: str
    party: str
    amount: int
    window: int
    total: int

    def text(self, hand: Hand) -> str:
        """The query as a hand writes it."""
        chain = write(Chain(self.tables, self.direction, "account", self.amount, self.window, CHAIN_RATIO), hand)
        side, end = ("receiving", chain.records[-1]) if self.direction == "forward" else ("sending", chain.records[0])
        groups = ", ".join(f"{end}.{column}" for column in _PARTY_COLUMNS[side, self.party])
        return (
            f"SELECT {groups}, SUM({end}.amount) total, COUNT(*) transfers\n{chain.body}\n"
            f"GROUP BY {groups}\nHAVING SUM({end}.amount) > {self.total}"
        )


@dataclass(frozen=True, slots=True)
class DayTotals:
    """Aggregate, then join."""

    side: str
    party: str
    total: int
    window: int

    def text(self, hand: Hand) -> str:
        """The query as a hand writes it."""
        bank, *account = _PARTY_COLUMNS[self.side, self.party]
        groups = [bank, *(f"SUBSTR({column}, 1, 1)" for column in account)]
        names = ["bank", "category"][: len(groups)]
        named = ", ".join(f"{group} {name}" for group, name in zip(groups, names, strict=True))
        same = [f"early.{name} = late.{name}" for name in names]
        days = hand.pick(
            f"late.tran_date <= early.tran_date + {self.window}", f"early.tran_date >= late.tran_date - {self.window}"
        )
        conditions = hand.order([*same, "early.tran_date < late.tran_date", days])
        return (
            f"WITH money AS (\n"
            f"  SELECT   {named}, tran_date, SUM(amount) total\n  FROM     FedWireTrans\n  WHERE    type_code = 1000\n"
            f"  GROUP BY {', '.join([*groups, 'tran_date'])}\n  HAVING   SUM(amount) > {self.total}\n)\n"
            f"SELECT {', '.join(f'early.{name}' for name in names)}, early.tran_date, early.total,\n"
            f"       late.tran_date late_date, late.total late_total\n"
            f"FROM   money early, money late\nWHERE  " + "\nAND    ".join(conditions)
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """A set operation on two aggregates."""

    received: int
    sent: int

    def text(self, hand: Hand) -> str:
        """The query as a hand writes it; DuckDB calls MINUS EXCEPT."""
        parts = (("rbank_aba", self.received), ("sbank_aba", self.sent))
        return "\nMINUS\n".join(
            f"SELECT {bank}, tran_date\nFROM FedWireTrans\n"
            f"GROUP BY {', '.join(hand.order([bank, 'tran_date']))}\nHAVING SUM(amount) > {total}"
            for bank, total in parts
        )


Question = ChainTotal | DayTotals | Kept


def aggregate_fed(seed: int) -> list[GeneratedQuery]:
    """The set: 16 × 18, 4 × 12 and 14 queries; each variant's in an order shuffled by ``seed``."""
    random = Random(f"aggregate-fed:{seed}")
    queries = []
    shuffled = {variant: random.sample(items, len(items)) for variant, items in questions().items()}
    for number, (variant, name, question) in enumerate(turns(shuffled)):
        plain = question.text(Hand()).replace("\nMINUS\n", "\nEXCEPT\n")
        queries.append(GeneratedQuery(name, question.text(Hand(number)), plain, variant, asdict(question)))
    return queries


def questions() -> dict[str, list[Question]]:
    """The questions of each variant, by its name."""
    asked: dict[str, list[Question]] = {}
    for form in product(TABLES, DIRECTIONS, PARTIES):
        tables, direction, party = form
        values = product(CHAIN_AMOUNTS, CHAIN_WINDOWS, CHAIN_TOTALS)
        asked[f"chain_{direction}_{party}_{tables}"] = [ChainTotal(*form, *constants) for constants in values]
    for side, party in _PARTY_COLUMNS:
        asked[f"days_{side}_{party}"] = [DayTotals(side, party, *each) for each in product(DAY_TOTALS, DAY_WINDOWS)]
    asked["kept"] = [Kept(received, received // share) for received, share in product(RECEIVED, SENT_SHARES)]
    return asked
