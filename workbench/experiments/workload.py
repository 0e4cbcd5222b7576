"""Workloads of experiments: a stream's rows, how they arrive, and queries. Every competitor is given the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

import pyarrow as pa

from workbench.errors import WorkbenchError, nearest
from workbench.experiments.query_sets import QUERY_SETS, GeneratedQuery, appendix_b, query_set
from workbench.experiments.sample_streams.fed import fed
from workbench.experiments.sample_streams.med import med

BATCH_ROWS = 4_000
"""Rows of a batch (T10.1.4)."""


@dataclass(frozen=True)
class _Database:
    """A data base of the thesis: the stream's name, its rows by their number, and its history (T10.1.1, Table 10.3)."""

    stream: str
    rows: Callable[[int], pa.Table]
    history: int


FED_DATABASE = _Database("FedWireTrans", fed, 300_000)
MED_DATABASE = _Database("MHDCFY01A", med, 600_000)

_EXAMPLES: Mapping[str, range] = {"examples-fed": range(1, 12), "examples-med": range(14, 22)}

SETS = (*QUERY_SETS, *_EXAMPLES)
"""The query sets, and the examples of Appendix B by stream."""


@dataclass(frozen=True)
class Workload:
    """Rows and queries.

    Attributes:
        name: of the query set.
        stream: what the queries call the rows.
        table: all rows, in the order of their arrival.
        history: how many are there from the start.
        batch: how many arrive at a time.
        queries: in the order of their registration.
        time: the column of event times, if queries read now.
        tables: what does not stream, by name.
    """

    name: str
    stream: str
    table: pa.Table
    history: int
    batch: int
    queries: tuple[GeneratedQuery, ...]
    time: str | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def of(self, queries: tuple[GeneratedQuery, ...]) -> Workload:
        """The same rows with other queries."""
        return replace(self, queries=queries)


def workload(
    name: str, *, batches: int, history: int | None = None, batch: int = BATCH_ROWS, queries: int | None = None
) -> Workload:
    """A query set on its stream.

    Args:
        name: of ``SETS``.
        batches: how many there must be rows for.
        history: rows of history; the thesis's number unless given.
        batch: rows of a batch.
        queries: how many, from the first; all unless given.

    Raises:
        WorkbenchError: there is no such set.

    Example:
        >>> work = workload("fed-manual", batches=2, history=1_000, batch=100, queries=16)
        >>> work.stream, work.table.num_rows, len(work.queries)
        ('FedWireTrans', 1200, 16)
    """
    if name not in SETS:
        raise WorkbenchError(f"there is no query set {name}", hint=nearest(name, SETS) or f"sets: {', '.join(SETS)}")
    database = FED_DATABASE if "fed" in name else MED_DATABASE
    before = database.history if history is None else history
    chosen = examples(_EXAMPLES[name]) if name in _EXAMPLES else tuple(query_set(name).values())
    return Workload(name, database.stream, database.rows(before + batches * batch), before, batch, chosen[:queries])


def examples(numbers: range) -> tuple[GeneratedQuery, ...]:
    """Examples of Appendix B as queries of a set."""
    texts = appendix_b.load()
    chosen = (texts[f"B{number:02}"] for number in numbers)
    return tuple(GeneratedQuery(q.name, q.oracle_sql, q.duckdb_sql, q.label, {}) for q in chosen)


def spread(queries: tuple[GeneratedQuery, ...], number: int) -> tuple[GeneratedQuery, ...]:
    """Some of the queries: from every variant its share, and within a variant any constants. Always the same ones.

    Example:
        >>> work = workload("fed-manual", batches=0, history=6)
        >>> len({query.variant for query in spread(work.queries, 16)})
        16
    """
    # Equal steps through the set would meet few variants, since these take turns, and few constants within one.
    by_variant: dict[str, list[GeneratedQuery]] = {}
    for query in queries:
        by_variant.setdefault(query.variant, []).append(query)
    random = Random(0)
    shuffled = [query for each in by_variant.values() for query in random.sample(each, len(each))]
    number = min(number, len(shuffled))
    chosen = {shuffled[(2 * i + 1) * len(shuffled) // (2 * number)].name for i in range(number)}
    return tuple(query for query in queries if query.name in chosen)
