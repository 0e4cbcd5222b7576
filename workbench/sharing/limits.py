"""How large a query may be: each view over itself doubles what it reads, and planning one of thousands does not end."""

from __future__ import annotations

from workbench.errors import UnsupportedError
from workbench.sql.logical import Block, Input, LogicalQuery, StreamInput

MOST_JOINED = 64
"""Inputs that one SELECT may join, those of plain views in it counted one by one: as in SQLite."""

MOST_READ = 1_000
"""Streams that a query may read, each as often as it and its views name it."""


def check_size(query: LogicalQuery) -> None:
    """Check that a query is not too large to be planned.

    Raises:
        UnsupportedError: it joins or reads too many inputs.

    Example:
        >>> from workbench.sql.predicates import TRUE
        >>> check_size(Block((StreamInput("F"),) * 65, TRUE, ()))
        Traceback (most recent call last):
        ...
        workbench.errors.UnsupportedError: a SELECT joins 65 inputs; the most is 64
        hint: a view that is read several times counts each time: let views with GROUP BY or DISTINCT come between
    """
    read = _read(query, {})
    if read > MOST_READ:
        raise UnsupportedError(
            f"the query reads streams {read:,} times, its views' reads included; the most is {MOST_READ:,}",
            hint="every view that joins a view with itself doubles them: let fewer build upon each other",
        )


def _read(item: Input, known: dict[int, int]) -> int:
    """How often an input reads streams; views that are read again are not looked into again."""
    if id(item) not in known:
        match item:
            case StreamInput():
                known[id(item)] = 1
            case Block(inputs):
                if len(inputs) > MOST_JOINED:
                    raise UnsupportedError(
                        f"a SELECT joins {len(inputs):,} inputs; the most is {MOST_JOINED}",
                        hint="a view that is read several times counts each time:"
                        " let views with GROUP BY or DISTINCT come between",
                    )
                known[id(item)] = sum(_read(i, known) for i in inputs)
            case _:
                known[id(item)] = sum(_read(i, known) for i in item.branches)
    return known[id(item)]
