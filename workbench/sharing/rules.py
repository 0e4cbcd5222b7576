"""The rules by which a node of the network serves a query."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Rule(StrEnum):
    """How a node of the network serves a query, or why a new one was made."""

    EQUAL = "equal computation"
    SUBSUMES = "subsumes, with a residual test"
    WEAKER = "weaker: the join now tests just this, and its old readers the rest"
    COVER = "restructured: one join with a common cover"
    DIMENSIONS = "superset of dimensions"
    STATISTICS = "same groups, statistics added"
    BRANCHES = "subset of branches"
    NEW = "new"


NEAR_MISS = "near miss"
"""What a candidate has in place of a rule when it could not have served."""

IN_WORDS: Mapping[str, str] = {
    Rule.EQUAL: "the same computation",
    Rule.SUBSUMES: "all rows wanted are among its rows",
    Rule.WEAKER: "it now tests less, as this query does; its other readers test the rest below it",
    Rule.COVER: "it now tests only what all its readers have in common; each tests the rest below it",
    Rule.DIMENSIONS: "its groups are unions of finer groups",
    Rule.STATISTICS: "the same groups; it now computes more statistics",
    Rule.BRANCHES: "some of its branches are already put together",
    Rule.NEW: "",
}
"""Rules as an analyst reads them; that a node is new is said already."""
