"""The query sets of the thesis, generated as SQL text (T10.1.3, Table 10.1).

A set is generated in the order in which its queries are registered: variants take turns (T10.1.4).

=================  =======  =============================================================
set                queries  what it is for
=================  =======  =============================================================
``fed-manual``         768  sharing of selections and joins; chosen constants
``fed-uniform``      1,000  the same, constants drawn from a uniform distribution
``fed-normal``       1,000  … from a normal one
``fed-gaussian``     1,000  … from a mixture of two normal ones
``med``                  565  the same over hospital stays; disjoint ranges of diseases, three questions each
``aggregate-fed``      350  aggregates before and after joins and set operations
``aggregate-med``      450  aggregates and set operations over hospital stays
=================  =======  =============================================================

The texts are in the thesis's dialect, Oracle's. ``med`` and ``aggregate-med`` call ``zipdistance``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from workbench.errors import WorkbenchError, nearest
from workbench.experiments.query_sets.aggregates_fed import aggregate_fed
from workbench.experiments.query_sets.aggregates_med import aggregate_med
from workbench.experiments.query_sets.fed import DRAWS, fed_manual, fed_random
from workbench.experiments.query_sets.generated import GeneratedQuery
from workbench.experiments.query_sets.med import med_queries

__all__ = ["QUERY_SETS", "GeneratedQuery", "query_set"]

_GENERATORS: Mapping[str, Callable[[int], list[GeneratedQuery]]] = {
    "fed-manual": fed_manual,
    **{name: partial(fed_random, name) for name in DRAWS},
    "med": med_queries,
    "aggregate-fed": aggregate_fed,
    "aggregate-med": aggregate_med,
}

QUERY_SETS: tuple[str, ...] = tuple(_GENERATORS)
"""The names of the sets."""


def query_set(name: str, seed: int = 0) -> dict[str, GeneratedQuery]:
    """The queries of a set by name, in the order of their registration (T10.1.3, T10.1.4).

    Args:
        name: one of ``QUERY_SETS``.
        seed: of the order within each variant, and of what is drawn; the same seed gives the same texts.

    Raises:
        WorkbenchError: there is no such set.

    Example:
        >>> queries = query_set("fed-manual")
        >>> len(queries), list(queries)[:2]
        (768, ['forward_account_2_001', 'forward_bank_2_001'])
        >>> queries["forward_account_2_001"].dialect
        'oracle'
    """
    if name not in _GENERATORS:
        raise WorkbenchError(
            f"there is no query set {name}", hint=nearest(name, QUERY_SETS) or f"sets: {', '.join(QUERY_SETS)}"
        )
    return {query.name: query for query in _GENERATORS[name](seed)}
