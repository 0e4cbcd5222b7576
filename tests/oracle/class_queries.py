"""Queries of every class the workbench supports, over ``t``, ``u`` and ``names``, with the same questions for DuckDB.

DuckDB is asked in the same words unless it means something else by them: it raises where a value overflows and gives
infinity for a division by zero, where we give NULL; it has no escape in LIKE; MODE takes the first of equals.
"""

from __future__ import annotations

from oracle.classes.aliases import ALIASES
from oracle.classes.arrays import ARRAYS
from oracle.classes.collected import COLLECTED
from oracle.classes.databases import DATABASES
from oracle.classes.gaps import GAPS
from oracle.classes.groups import AGGREGATES, GROUPINGS, STATISTICS
from oracle.classes.json import JSON
from oracle.classes.lists import LISTS
from oracle.classes.maps import MAPS
from oracle.classes.outer_joins import OUTER_JOINS
from oracle.classes.patterns import PATTERNS
from oracle.classes.pivots import PIVOTS
from oracle.classes.recursion import RECURSIONS
from oracle.classes.rows import JOINS, SELECTIONS, SETS, VIEWS
from oracle.classes.shapes import SHAPES
from oracle.classes.structs import STRUCTS
from oracle.classes.subqueries import CORRELATED, SUBQUERIES

CLASSES = {
    "selection": SELECTIONS,
    "join": JOINS,
    "aggregate": AGGREGATES,
    "set": SETS,
    "view": VIEWS,
    "grouping": GROUPINGS,
    "outer": OUTER_JOINS,
    "statistic": STATISTICS,
    "subquery": SUBQUERIES,
    "correlated": CORRELATED,
    "shape": SHAPES,
    "array": ARRAYS,
    "collected": COLLECTED,
    "database": DATABASES,
    "struct": STRUCTS,
    "json": JSON,
    "list": LISTS,
    "map": MAPS,
    "alias": ALIASES,
    "pivot": PIVOTS,
    "recursion": RECURSIONS,
    "gap": GAPS,
    "pattern": PATTERNS,
}
ALL = {f"{kind}_{name}": case for kind, cases in CLASSES.items() for name, case in cases.items()}
