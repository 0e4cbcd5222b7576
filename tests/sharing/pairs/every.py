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

PAIRS = [*SELECTIONS, *JOINS, *OUTER_JOINS, *OUTER, *FOUND, *GROUPS, *GROUPING_SETS, *AGGREGATES, *SETS,
         *ORDERS, *SHARES_AND_PARTS, *DISTINCT_ON, *FUNCTIONS, *GAPS, *MATCHES, *ASOF, *LATERAL, *ELEMENTS,
         *WINDOW_TABLES, *RECURSIVE, *TEXTS, *NUMBERS_AS_TEXTS, *NOT_SHARED]  # fmt: skip
