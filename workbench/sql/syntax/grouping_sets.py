"""GROUP BY: expands ROLLUP, CUBE, GROUPING SETS, WITH ROLLUP and WITH CUBE to groupings.

Each grouping is a GROUP BY of its own over the same rows, and the answer is their UNION ALL, in which an expression
that a grouping lacks is NULL. So each is an ordinary aggregate, shared and rolled up from a finer one as others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from sqlglot import exp

from workbench.sql.syntax.source_text import SourceText

GroupingSet = tuple[exp.Expr, ...]

_MOST = 256
"""Groupings of one GROUP BY: a CUBE of eight expressions."""


def grouping_sets(group: exp.Group, source: SourceText) -> tuple[GroupingSet, list[GroupingSet]]:
    """The expressions of a GROUP BY in order, each once, and its groupings; a plain GROUP BY is one grouping of all.

    Elements side by side are multiplied: ``a, ROLLUP(b)`` groups by (a, b) and by (a).

    Raises:
        UnsupportedError: there are more than ``_MOST`` groupings.

    Example:
        >>> import sqlglot
        >>> sql = "SELECT a, b FROM t GROUP BY ROLLUP(a, b)"
        >>> _, sets = grouping_sets(sqlglot.parse_one(sql).args["group"], SourceText(sql))
        >>> [[node.sql() for node in nodes] for nodes in sets]
        [['a', 'b'], ['a'], []]
    """
    source.refuse_others(group, {"expressions", "rollup", "cube", "grouping_sets", "all"}, "GROUP BY")
    elements = group.expressions
    if group.args.get("grouping_sets"):  # Hive's form, where the list before only says which expressions there are
        sets = [_sets(node) for node in group.args["grouping_sets"]]
    elif group.args.get("rollup"):
        sets = [_prefixes([_list(node) for node in elements])]
    elif group.args.get("cube"):
        sets = [_subsets([_list(node) for node in elements])]
    else:
        sets = [_sets(node) for node in elements]
    count = prod(map(len, sets))
    if count > _MOST:
        hint = f"at most {_MOST}: name those you need by GROUPING SETS"
        source.refuse(f"a GROUP BY of {count:,} groupings", group, hint)
    groupings = [_joined(choice) for choice in product(*sets)]
    if group.args.get("all") is False:  # GROUP BY DISTINCT
        groupings = list(dict.fromkeys(groupings))
    return _joined([*_mentioned(elements), *groupings]), groupings


_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _mentioned(elements: Iterable[exp.Expr]) -> list[GroupingSet]:
    """The expressions in the order of the text."""
    found: list[GroupingSet] = []
    for node in elements:
        found += _mentioned(node.expressions) if isinstance(node, _SETS) else [_list(node)]
    return found


def _sets(node: exp.Expr) -> list[GroupingSet]:
    """The groupings of an element: one for an expression or a list in parentheses."""
    match node:
        case exp.Rollup():
            return _prefixes([_list(part) for part in node.expressions])
        case exp.Cube():
            return _subsets([_list(part) for part in node.expressions])
        case exp.GroupingSets():
            return [nodes for part in node.expressions for nodes in _sets(part)]
        case _:
            return [_list(node)]


def _list(node: exp.Expr) -> GroupingSet:
    nodes = node.expressions if isinstance(node, exp.Tuple) else [node]
    return tuple(part.unnest() for part in nodes)


def _prefixes(parts: Sequence[GroupingSet]) -> list[GroupingSet]:
    """ROLLUP: all parts, then without the last one, and so on to none."""
    return [_joined(parts[:length]) for length in range(len(parts), -1, -1)]


def _subsets(parts: Sequence[GroupingSet]) -> list[GroupingSet]:
    """CUBE: all subsets, the parts in their order."""
    kept = product(*([(True, False)] * len(parts)))
    return [_joined(part for part, keeps in zip(parts, choice, strict=True) if keeps) for choice in kept]


def _joined(parts: Iterable[GroupingSet]) -> GroupingSet:
    return tuple(dict.fromkeys(group for part in parts for group in part))
