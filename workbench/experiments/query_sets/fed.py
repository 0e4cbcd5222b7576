"""The four sets of select-join-project queries over money transfers (T10.1.3, Table 10.2): chains of transfers.

In all of them the 16 variants take turns, so every sixteen queries hold one of each. The number of joins and the two
binary parameters are those of the variant whose turn it is, also in the random sets: drawn from its normal
distribution over [2, 5], the number of joins would be 3 or 4 only, and Table 10.1 has 16 variants in each set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import cycle, islice, product
from random import Random

from workbench.experiments.query_sets.chains import Chain, Hand, variants, write
from workbench.experiments.query_sets.generated import GeneratedQuery, turns

AMOUNTS = (50_000, 100_000)
FED_WINDOWS = (5, 10, 20, 30, 40, 60)
RATIOS = (1, 2, 5, 10)
"""The values of Table 10.2; its ranges go from the least to the greatest."""

RANDOM_QUERIES = 1_000

Draw = Callable[[Random, int, int], float]
"""A number from a distribution over a range; what falls outside the range is cut to it later."""


def fed_manual(seed: int) -> list[GeneratedQuery]:
    """All 768 combinations of the values of Table 10.2.

    Each variant takes its 48 combinations in the order of the table, amounts outermost and ratios innermost; so does
    every ``seed`` of 0. Another seed shuffles them, each variant's in an order of its own: how much is shared without
    restructuring depends on whether weak predicates come before strong ones.
    """
    random = Random(f"fed-manual:{seed}")
    combinations = list(product(AMOUNTS, FED_WINDOWS, RATIOS))
    return _queries(
        {
            variant: [Chain(*form, *values) for values in (random.sample(combinations, 48) if seed else combinations)]
            for variant, form in variants().items()
        }
    )


def fed_random(name: str, seed: int) -> list[GeneratedQuery]:
    """1000 chains, their amounts, windows and ratios drawn independently of each other and rounded to integers.

    Args:
        name: one of ``DRAWS``.
        seed: of the random numbers.
    """
    random, draw = Random(f"{name}:{seed}"), DRAWS[name]
    chains: dict[str, list[Chain]] = {variant: [] for variant in variants()}
    for variant, form in islice(cycle(variants().items()), RANDOM_QUERIES):
        amount, window, ratio = (_drawn(random, draw, values) for values in (AMOUNTS, FED_WINDOWS, RATIOS))
        chains[variant].append(Chain(*form, amount, window, ratio))
    return _queries(chains)


def _queries(chains: Mapping[str, Sequence[Chain]]) -> list[GeneratedQuery]:
    """Every query by an analyst of its own; for DuckDB in the plain hand, so that both texts check each other."""
    queries = []
    for number, (variant, name, chain) in enumerate(turns(chains)):
        sql, duckdb_sql = _text(chain, Hand(number)), _text(chain, Hand())
        queries.append(GeneratedQuery(name, sql, duckdb_sql, variant, asdict(chain)))
    return queries


def _text(chain: Chain, hand: Hand) -> str:
    text = write(chain, hand)
    columns = ", ".join(f"{record}.tranid" for record in text.records)
    return f"SELECT {columns}\n{text.body}"


def _drawn(random: Random, draw: Draw, values: Sequence[int]) -> int:
    low, high = min(values), max(values)
    return min(max(round(draw(random, low, high)), low), high)


def _uniform(random: Random, low: int, high: int) -> float:
    return random.uniform(low, high)


def _normal(random: Random, low: int, high: int) -> float:
    return random.gauss((low + high) / 2, 0.1 * (high - low))


def _mixture(random: Random, low: int, high: int) -> float:
    return random.gauss(low + (high - low) * random.choice((0.2, 0.8)), 0.1 * (high - low))


DRAWS: Mapping[str, Draw] = {"fed-uniform": _uniform, "fed-normal": _normal, "fed-gaussian": _mixture}
"""The distributions by set: uniform, normal, and a mixture of two normal ones (QIMQOSJPFed-GaussianMixture)."""
