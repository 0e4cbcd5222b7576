"""Synthetic FedWire money transfers, the stream FED (thesis, 10.1.1 and Appendix A).

Like the thesis's 500,006 records these have the shape of real transfers rather than their content: amounts with a heavy
tail, about one in a hundred above $500,000; most transfers of type 1000; few large banks and many small ones; every
account at one bank. Most transfers have nothing to do with each other. About three in a hundred belong to *chains*:
money forwarded over 2 to 5 transfers within days, at some hops whole, at some in part, at some split. The last six
records are one such chain, which brings a new answer to each of the examples B.1-B.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.errors import StreamError
from workbench.experiments.sample_streams import columns
from workbench.experiments.sample_streams.schemas import FED

LAST_DAY = np.datetime64(date(2002, 11, 27))
"""The stream ends on the day that example B.7 asks about."""

BUSINESS_DAYS = 43
"""How many it covers, those of two months."""

FULL_ROWS = 500_006
"""The number of records in the thesis. More of them are older: as many days more, not more on a day."""

_TRANSFER = np.dtype([("time", "f8"), ("orig", "i8"), ("benef", "i8"), ("cents", "i8"), ("type_code", "i4")])
"""One transfer: time in business days from the first, accounts by index, amount in cents."""

_TYPE_CODES = np.array([1000, 1002, 1007, 1031, 1500, 1600], dtype=np.int32)
_TYPE_SHARES = (0.9, 0.03, 0.025, 0.02, 0.015, 0.01)

_CITIBANK, _FLEET = 2, 7
_PLACES = (
    *("Albany", "Baltimore", "Boston", "Buffalo", "Chicago", "Cleveland", "Columbus", "Dallas", "Denver", "Detroit"),
    *("Hartford", "Houston", "Kansas City", "Memphis", "Milwaukee", "Nashville", "New York", "Omaha", "Philadelphia"),
    *("Phoenix", "Pittsburgh", "Portland", "Providence", "Richmond", "Saint Louis"),
)
_KINDS = (
    *("First National Bank of {}", "{} Trust Company", "{} Savings Bank", "Merchants Bank of {}"),
    *("Commerce Bank of {}", "Farmers Bank of {}", "{} Community Bank", "Union Bank of {}"),
)

_FINALE = (
    # The accounts are numbered 0 to 5 in `_FINALE_BANKS`. Transfers 1, 2, 3 are the chain of B.1; 2 and 3 are equal
    # (B.3); 2 and 4 are 5/6 of 1 (B.4); Citibank receives and sends more than B.2 and B.5 ask for, on the day of B.7.
    (0, 1, 120_000_000_00),
    (1, 2, 70_000_000_00),
    (2, 3, 70_000_000_00),
    (1, 4, 30_000_000_00),
    (4, 5, 30_000_000_00),
    (5, 0, 16_000_000_00),
)
_FINALE_BANKS = (11, _CITIBANK, _FLEET, 23, 31, 47)


@dataclass(frozen=True, slots=True)
class _Accounts:
    """All accounts: their numbers, the index of the bank each belongs to, and how often they take part."""

    numbers: NDArray[np.str_]
    bank: NDArray[np.int64]
    weight: NDArray[np.float64]


def fed(rows: int = FULL_ROWS, seed: int = 2002) -> pa.Table:
    """Money transfers in order of ``tran_date``; the same ``rows`` and ``seed`` give the same table.

    Args:
        rows: how many, at least six.
        seed: of the random numbers.

    Returns:
        A table of schema ``FED``, ``tranid`` from 1. ``tranid`` and ``tran_date`` are never NULL, the other columns
        sometimes. An account that is not NULL determines its bank's ABA number and name wherever those are not NULL.
        A few rows repeat the row before them in everything but ``tranid``.

    Raises:
        StreamError: fewer than six rows.

    Example:
        >>> fed(rows=1_000).num_rows
        1000
    """
    if rows < len(_FINALE):
        raise StreamError(f"{rows} rows are too few for FED", hint=f"ask for at least {len(_FINALE)}")
    rng = np.random.default_rng(seed)
    days = -(-BUSINESS_DAYS * max(rows, FULL_ROWS) // FULL_ROWS)
    business_days = np.busday_offset(LAST_DAY, np.arange(1 - days, 1)).astype(np.int64)
    accounts = _accounts(rng, max(200, rows // 2))
    body_rows = rows - len(_FINALE)
    chains = _chains(rng, accounts, rows, len(business_days))[:body_rows]
    body = np.concatenate([chains, _unlinked(rng, accounts, body_rows - len(chains), len(business_days))])
    body = _with_repeats(rng, body[np.argsort(body["time"], kind="stable")])
    transfers = np.concatenate([body, _finale(accounts, len(business_days))])
    return _table(rng, transfers, accounts, business_days)


def banks() -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """The names and ABA numbers of the 200 banks, the busiest first."""
    names = [kind.format(place) for kind in _KINDS for place in _PLACES]
    names[_CITIBANK], names[_FLEET] = "Citibank (New York State)", "Fleet Bank"
    stems = [1_000_000 * (1 + index % 12) + 4_973 * (index + 1) for index in range(len(names))]
    return np.array(names), np.array([stem * 10 + _check_digit(stem) for stem in stems])


def _check_digit(stem: int) -> int:
    """The ninth digit of an ABA number: the weighted sum 3, 7, 1, 3, 7, 1, … of all nine is a multiple of ten."""
    weighted = sum(weight * int(digit) for weight, digit in zip((3, 7, 1, 3, 7, 1, 3, 7), f"{stem:08}", strict=True))
    return -weighted % 10


def _accounts(rng: np.random.Generator, count: int) -> _Accounts:
    """``count`` accounts and after them those of the finale, which no other part uses.

    The weights are nearly even, so that the transfers of one account seldom meet by chance: the linkages of interest
    are the chains.
    """
    total = count + len(_FINALE_BANKS)
    bank_weights = np.arange(1, len(_PLACES) * len(_KINDS) + 1) ** -0.8
    bank = rng.choice(len(bank_weights), size=total, p=bank_weights / bank_weights.sum())
    bank[count:] = _FINALE_BANKS
    category = rng.choice(9, size=total, p=np.arange(9, 0, -1) / 45) + 1
    # Multiplying by a number prime to the modulus scatters the account numbers and keeps them distinct.
    scattered = np.arange(1, total + 1) * 387_420_489 % 1_000_000_000
    numbers = np.char.add(category.astype(str), np.char.zfill(scattered.astype(str), 9))
    weight = rng.permutation(np.arange(1, count + 1) ** -0.3)
    return _Accounts(numbers, bank.astype(np.int64), weight / weight.sum())


def _unlinked(rng: np.random.Generator, accounts: _Accounts, count: int, days: int) -> NDArray[np.void]:
    """Transfers between accounts drawn one by one: log-normal amounts with a median of $1,500, at least one dollar."""
    transfers = np.zeros(count, dtype=_TRANSFER)
    universe = len(accounts.weight)
    transfers["time"] = rng.uniform(0, days, count)
    transfers["orig"] = rng.choice(universe, size=count, p=accounts.weight)
    benef = rng.choice(universe, size=count, p=accounts.weight)
    transfers["benef"] = np.where(benef == transfers["orig"], (benef + 1) % universe, benef)
    dollars = 1_500 * np.exp(2.287 * rng.standard_normal(count))
    round_sum = columns.some(rng, count, 0.25)
    dollars = np.where(round_sum, np.ceil(dollars / 100) * 100, dollars)
    transfers["cents"] = np.clip(dollars * 100, 100, 10**12).astype(np.int64)
    transfers["type_code"] = rng.choice(_TYPE_CODES, size=count, p=_TYPE_SHARES)
    return transfers


def _chains(rng: np.random.Generator, accounts: _Accounts, rows: int, days: int) -> NDArray[np.void]:
    """The transfers of ``rows // 200`` chains; what would come after the last day is left out."""
    count = rows // 200
    universe = len(accounts.weight)
    hops = rng.integers(2, 6, count)
    surge = np.arange(count) < 3 + rows // 40_000
    # Surges bring one bank more than $100,000,000 on one day (B.5); their first hop is on the same day.
    cents = np.where(surge, rng.uniform(105e8, 180e8, count), np.minimum(50e5 * rng.random(count) ** (-1 / 0.7), 90e8))
    cents = cents.astype(np.int64)
    time = np.where(surge, np.floor(rng.uniform(0, days, count)) + 0.2, rng.uniform(0, days, count))
    holder = rng.integers(0, universe, count)
    everyone = np.ones(count, dtype=bool)
    legs = [_legs(time, rng.integers(0, universe, count), holder, cents, everyone)]
    for hop in range(1, 5):
        time = time + np.where(surge & (hop == 1), 0.3, np.minimum(rng.exponential(2.0, count), 8.0))
        pieces, shares = _split(rng, count)
        from_holder, forwarded = holder, cents
        for piece in range(4):
            receiver = rng.integers(0, universe, count)
            part = (forwarded * shares[piece]).astype(np.int64)
            delay = 0.0 if piece == 0 else rng.uniform(0, 2, count)
            legs.append(_legs(time + delay, from_holder, receiver, part, (hops > hop) & (pieces > piece)))
            if piece == 0:
                holder, cents = receiver, part
    transfers = np.concatenate(legs)
    transfers["type_code"] = rng.choice([1000, 1002], size=len(transfers), p=[0.97, 0.03])
    return transfers[(transfers["time"] < days) & (transfers["orig"] != transfers["benef"]) & (transfers["cents"] > 0)]


def _split(rng: np.random.Generator, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Into how many transfers each holder splits the money (1-4), and the share of the money in each.

    Half of the hops forward the very same amount in one transfer, a seventh a part of it, the others split it. What is
    forwarded in all is at least half; the first transfer is the largest, and the chain goes on from it.
    """
    way = rng.random(count)
    pieces = np.where(way < 0.65, 1, rng.integers(2, 5, count))
    passed = np.where(way < 0.5, 1.0, rng.uniform(0.5, 1.0, count))
    first = np.where(pieces == 1, 1.0, rng.uniform(0.5, 0.7, count))
    rest = passed * (1 - first) / np.maximum(pieces - 1, 1)
    return pieces, np.stack([passed * first, rest, rest, rest])


def _legs(
    time: NDArray[np.float64],
    orig: NDArray[np.int64],
    benef: NDArray[np.int64],
    cents: NDArray[np.int64],
    chosen: NDArray[np.bool_],
) -> NDArray[np.void]:
    """One transfer per chain, for the chains that are ``chosen``; the type is still open."""
    transfers = np.zeros(int(chosen.sum()), dtype=_TRANSFER)
    for name, values in (("time", time), ("orig", orig), ("benef", benef), ("cents", cents)):
        transfers[name] = values[chosen]
    return transfers


def _with_repeats(rng: np.random.Generator, body: NDArray[np.void]) -> NDArray[np.void]:
    """One row in a thousand becomes a copy of the one before it, as when a transfer is entered twice."""
    second = np.flatnonzero(columns.some(rng, len(body), 0.001))
    second = second[second > 0]
    repeated = body.copy()
    repeated[second] = body[second - 1]
    return repeated


def _finale(accounts: _Accounts, days: int) -> NDArray[np.void]:
    """The last six records, on the last day."""
    first = len(accounts.weight)
    records = [(days - 1.0, first + orig, first + benef, cents, 1000) for orig, benef, cents in _FINALE]
    return np.array(records, dtype=_TRANSFER)


def _table(
    rng: np.random.Generator, transfers: NDArray[np.void], accounts: _Accounts, business_days: NDArray[np.int64]
) -> pa.Table:
    names, abas = banks()
    sbank, rbank = accounts.bank[transfers["orig"]], accounts.bank[transfers["benef"]]
    count = len(transfers)

    def missing(share: float) -> NDArray[np.bool_]:
        null = columns.some(rng, count, share)
        null[-len(_FINALE) :] = False
        return null

    data = {
        "tranid": columns.integer_column(np.arange(1, count + 1), pa.int64()),
        "type_code": columns.integer_column(transfers["type_code"], pa.int32(), missing(0.001)),
        "tran_date": columns.day_column(business_days[np.floor(transfers["time"]).astype(np.int64)]),
        "amount": columns.money(transfers["cents"].copy(), missing(0.0005)),
        "sbank_aba": columns.integer_column(abas[sbank], pa.int64(), missing(0.001)),
        "sbank_name": columns.looked_up(names, sbank, missing(0.005)),
        "rbank_aba": columns.integer_column(abas[rbank], pa.int64(), missing(0.001)),
        "rbank_name": columns.looked_up(names, rbank, missing(0.01)),
        "orig_account": columns.looked_up(accounts.numbers, transfers["orig"], missing(0.002)),
        "benef_account": columns.looked_up(accounts.numbers, transfers["benef"], missing(0.01)),
    }
    return pa.table(data, schema=FED)
