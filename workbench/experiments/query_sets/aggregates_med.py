"""QAggreMed: 450 aggregate queries over hospital stays: joins, then aggregation, then set operations (T10.1.3).

Three categories, 138 queries each, one for each contagious disease of ICD-9, which come in one round as in ``med.py``.
They are B.14-B.16, and each asks about one stay that follows others, whereas ``med.py`` shows pairs of stays. The
first 36 of these 414 come again at the end under other names, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from random import Random

from workbench.experiments.query_sets.generated import GeneratedQuery, turns
from workbench.experiments.query_sets.med import FROM, RADIUS, SAME_DISEASE, WINDOW, Codes, diseases

REPEATED = 36

_STAY = "t1.dxs_01, t2.zip, t2.adate, t2.recid"


def distinct(codes: Codes) -> str:
    """Stays with an earlier case, minus those with one in the window (B.14)."""
    return f"{_stays(codes)}\nMINUS\n{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}"


def _far(codes: Codes) -> str:
    """Stays with an earlier case in the window, and none of these nearby (B.15)."""
    return f"{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}\nHAVING min(zipdistance(t2.zip, t1.zip)) >= {RADIUS}"


def _near(codes: Codes) -> str:
    """Stays with an earlier case in the window, one of these nearby (B.16)."""
    return f"{_stays(codes, f't2.adate < t1.adate + {WINDOW}')}\nHAVING min(zipdistance(t2.zip, t1.zip)) < {RADIUS}"


_CATEGORIES: Mapping[str, Callable[[Codes], str]] = {"distinct": distinct, "far": _far, "near": _near}


def aggregate_med(seed: int) -> list[GeneratedQuery]:
    """The set; another ``seed`` than 0 shuffles the diseases."""
    order = diseases(Random(f"aggregate-med:{seed}") if seed else None)
    queries = []
    for category, name, codes in turns(dict.fromkeys(_CATEGORIES, order)):
        sql = _CATEGORIES[category](codes)
        queries.append(GeneratedQuery(name, sql, sql.replace("\nMINUS\n", "\nEXCEPT\n"), category, asdict(codes)))
    return [*queries, *(replace(query, name=f"{query.name}_again") for query in queries[:REPEATED])]


def _stays(codes: Codes, *conditions: str) -> str:
    where = "\nAND    ".join([SAME_DISEASE.format(disease=codes.hold("t1.dxs_01")), *conditions])
    return f"SELECT {_STAY}\n{FROM}\n{where}\nGROUP BY {_STAY}"
