"""All pairs."""

from __future__ import annotations

from sharing.pairs.aggregates import AGGREGATES, GROUPING_SETS
from sharing.pairs.groups import GROUPS
from sharing.pairs.inputs import ASOF, ELEMENTS, LATERAL, RECURSIVE, WINDOW_TABLES
from sharing.pairs.joins import JOINS, TEXTS
from sharing.pairs.orders import DISTINCT_ON, FUNCTIONS, GAPS, MATCHES, ORDERS, SHARES_AND_PARTS
from sharing.pairs.outer_joins import FOUND, OUTER, OUTER_JOINS
from sharing.pairs.selections import NOT_SHARED, NUMBERS_AS_TEXTS, SELECTIONS
from sharing.pairs.sets import SETS
from sharing.small_streams import WITH_VIEWS, query

from workbench.sql.logical import LogicalQuery

PAIRS = [*SELECTIONS, *JOINS, *OUTER_JOINS, *OUTER, *FOUND, *GROUPS, *GROUPING_SETS, *AGGREGATES, *SETS,
         *ORDERS, *SHARES_AND_PARTS, *DISTINCT_ON, *FUNCTIONS, *GAPS, *MATCHES, *ASOF, *LATERAL, *ELEMENTS,
         *WINDOW_TABLES, *RECURSIVE, *TEXTS, *NUMBERS_AS_TEXTS, *NOT_SHARED]  # fmt: skip

_DIALECTS = {text: pair.dialect for pair in PAIRS if pair.dialect != "spark" for text in (pair.first, pair.second)}


def read(text: str) -> LogicalQuery:
    """The query of a text of a pair, in the pair's dialect."""
    return query(text, _DIALECTS.get(text, "spark"), WITH_VIEWS)
