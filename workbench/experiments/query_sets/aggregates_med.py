"""QAggreMed: 450 aggregate queries over hospital stays: joins, then aggregation, then set operations (T10.1.3).

Three categories, 138 queries each, one for each contagious disease of ICD-9, as in ``med.py``. Their seeds are
B.14-B.16, and each asks about one stay that follows others, whereas the queries of ``med.py`` show pairs of stays. The
first 36 of these 414 come again at the end under other names, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from random import Random

from workbench.experiments.query_sets.generated import GeneratedQuery, turns
from workbench.experiments.query_sets.med import CONTAGIOUS, FROM, RADIUS, SAME_DISEASE, WINDOW, Codes

LOCAL_WINDOW = 120
"""Days within which a disease that comes back to one ZIP code counts as local."""

REPEATED = 36

_STAY = "t1.dxs_01, t2.zip, t2.adate, t2.recid"


def distinct(codes: Codes) -> str:
    """Stays with an earlier case, minus those with one in the window (B.14)."""
    return f"{_stays(codes)}\nMINUS\n{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}"


def _far(codes: Codes) -> str:
    """Stays with an earlier case in the window, and none of these nearby (B.15)."""
    return f"{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}\nHAVING min(zipdistance(t2.zip, t1.zip)) >= {RADIUS}"


def _near(codes: Codes) -> str:
    """Stays with an earlier case nearby in the window (B.16), or one at the same ZIP code some time before.

    The thesis prints no query with UNION, the second branch is ours.
    """
    return (
        f"{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}\nHAVING min(zipdistance(t2.zip, t1.zip)) < {RADIUS}\n"
        f"UNION\n{_stays(codes, 't1.zip = t2.zip', f't2.adate < t1.adate + {LOCAL_WINDOW}')}"
    )


_CATEGORIES: Mapping[str, Callable[[Codes], str]] = {"distinct": distinct, "far": _far, "near": _near}


def aggregate_med(seed: int) -> list[GeneratedQuery]:
    """The set; the diseases of each category come in an order shuffled by ``seed``."""
    random = Random(f"aggregate-med:{seed}")
    shuffled = {category: random.sample(CONTAGIOUS, len(CONTAGIOUS)) for category in _CATEGORIES}
    queries = []
    for category, name, codes in turns(shuffled):
        sql = _CATEGORIES[category](codes)
        for_duckdb = sql.replace("\nMINUS\n", "\nEXCEPT\n")
        queries.append(GeneratedQuery(name, sql, for_duckdb, category, asdict(codes)))
    return [*queries, *(replace(query, name=f"{query.name}_again") for query in queries[:REPEATED])]


def _stays(codes: Codes, *conditions: str) -> str:
    where = "\nAND    ".join([SAME_DISEASE.format(disease=codes.hold("t1.dxs_01")), *conditions])
    return f"SELECT {_STAY}\n{FROM}\n{where}\nGROUP BY {_STAY}"
