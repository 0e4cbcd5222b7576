"""Columns that depend on groups: the other columns of a stream whose key is grouped by, as in PostgreSQL.

``SELECT c.id, c.name, COUNT(*) FROM customers c JOIN orders o ON … GROUP BY c.id`` groups by ``c.name``, too, where
``customers`` has the key ``id``. While no two rows have one key the groups are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.sql.algebra.expressions import Column, Expression, columns
from workbench.sql.logical import Input, StreamInput


def with_dependent_groups(
    groups: Sequence[Expression],
    read: Iterable[Expression],
    inputs: Sequence[Input],
    keys: Mapping[str, tuple[str, ...]],
) -> tuple[Expression, ...]:
    """The groups, and the columns that depend on them and are read.

    Args:
        groups: of GROUP BY.
        read: the expressions over them.
        inputs: of the block.
        keys: for a stream stored names of the columns of which no two rows have the same values.
    """
    determined = {place for place, item in enumerate(inputs) if _has_key(place, item, groups, keys)}
    named = (column for e in read for column in columns(e) if not column.level and column.source in determined)
    return tuple(dict.fromkeys([*groups, *named]))


def _has_key(place: int, item: Input, groups: Sequence[Expression], keys: Mapping[str, tuple[str, ...]]) -> bool:
    key = keys.get(item.stream, ()) if isinstance(item, StreamInput) else ()
    named = {group.name for group in groups if isinstance(group, Column) and group.source == place and not group.level}
    return bool(key) and named.issuperset(key)
