"""QIEFed-Uniform: 160 single queries over money transfers, 20 of each of 8 variants (T10.1.3).

Variants 1 to 4 are the chains of two to five records that B.1 and B.3 ask for; 5 to 8 are B.2, B.4, B.6 and B.7.
Amounts and windows are drawn evenly from the ranges of Table 10.2, days from the stream's last month, banks from ten.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from random import Random

from workbench.experiments.query_sets import GeneratedQuery, appendix_b
from workbench.experiments.query_sets.chains import TABLES, Chain, Hand, write
from workbench.experiments.query_sets.fed import AMOUNTS, FED_WINDOWS
from workbench.experiments.query_sets.generated import turns
from workbench.experiments.sample_streams.fed import LAST_DAY, fed

EACH = 20
"""Queries of a variant."""
CHAINS = tuple(f"Q{number}" for number in range(1, 5))
"""The first four variants, of which Figures 10.4 and 10.6 are."""
BANKS = 10
_RATIO = 2
_DAYS = 30

Replaced = Mapping[str, str]
"""The constants of an example by what stands for them."""


def qief_uniform(seed: int = 0, each: int = EACH) -> tuple[GeneratedQuery, ...]:
    """The set, its variants taking turns.

    Example:
        >>> queries = qief_uniform()
        >>> len(queries), [query.variant for query in queries[:9]]
        (160, ['Q1', 'Q2', 'Q3', 'Q4', 'Q5', 'Q6', 'Q7', 'Q8', 'Q1'])
    """
    random = Random(f"qief-uniform:{seed}")
    names = sorted({name for name in fed(3_000).column("sbank_name").to_pylist() if name})
    banks = random.sample(names, BANKS)
    made: dict[str, list[tuple[str, str, Mapping[str, object]]]] = {}
    for variant, tables in zip(CHAINS, TABLES, strict=True):
        made[variant] = [_chain(tables, random) for _ in range(EACH)]
    examples = appendix_b.load()
    for variant, (example, draw) in zip(("Q5", "Q6", "Q7", "Q8"), _DRAWN.items(), strict=True):
        asked = examples[example]
        drawn = [draw(random, banks) for _ in range(EACH)]
        made[variant] = [
            (_with(asked.oracle_sql, constants), _with(asked.duckdb_sql, constants), constants) for constants in drawn
        ]
    some = {variant: queries[:each] for variant, queries in made.items()}
    return tuple(
        GeneratedQuery(name, sql, again, variant, parameters) for variant, name, (sql, again, parameters) in turns(some)
    )


def _chain(tables: int, random: Random) -> tuple[str, str, Mapping[str, object]]:
    chain = Chain(tables, "forward", "account", _amount(random), _window(random), _RATIO)
    text = write(chain, Hand())
    sql = f"SELECT {', '.join(f'{record}.tranid' for record in text.records)}\n{text.body}"
    return sql, sql, {"tables": tables, "amount": chain.amount, "window": chain.window}


def _amount(random: Random) -> int:
    return round(random.uniform(min(AMOUNTS), max(AMOUNTS)))


def _window(random: Random) -> int:
    return round(random.uniform(min(FED_WINDOWS), max(FED_WINDOWS)))


def _day(random: Random) -> dt.date:
    last: dt.date = LAST_DAY.astype(dt.date)
    return last - dt.timedelta(days=random.randrange(_DAYS))


def _same_day(random: Random, banks: list[str]) -> Replaced:
    amount = _amount(random)
    return {"1000000": str(amount), "500000": str(amount // 2)}


def _parts(random: Random, banks: list[str]) -> Replaced:
    return {"1000000": str(_amount(random)), "+ 10": f"+ {_window(random)}"}


def _period(random: Random, banks: list[str]) -> Replaced:
    first, (one, other) = _day(random), random.sample(banks, 2)
    last = first + dt.timedelta(days=10)
    return {
        "Citibank (New York State)": one, "Fleet Bank": other,
        "20021120": f"{first:%Y%m%d}", "20021130": f"{last:%Y%m%d}",
        "2002-11-20": f"{first}", "2002-11-30": f"{last}",
    }  # fmt: skip


def _big(random: Random, banks: list[str]) -> Replaced:
    day = _day(random)
    return {
        "Citibank (New York State)": random.choice(banks), "10000000": str(_amount(random)),
        "20021127": f"{day:%Y%m%d}", "2002-11-27": f"{day}",
    }  # fmt: skip


_DRAWN: Mapping[str, Callable[[Random, list[str]], Replaced]] = {
    "B02": _same_day, "B04": _parts, "B06": _period, "B07": _big
}  # fmt: skip


def _with(text: str, constants: Replaced) -> str:
    """A text with other constants, and without its comments, which name the old ones."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    for before, after in sorted(constants.items(), key=lambda item: -len(item[0])):
        lines = lines.replace(before, after.replace("'", "''"))
    return lines
