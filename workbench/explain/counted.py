"""Numbers with what they count."""

from __future__ import annotations


def counted(number: int, what: str, plural: str | None = None) -> str:
    """A number and its noun.

    Args:
        number: how many.
        what: one of them.
        plural: several of them, where that is not ``what`` with an s.

    Example:
        >>> counted(1, "row"), counted(2000, "row"), counted(0, "query", "queries")
        ('1 row', '2,000 rows', '0 queries')
    """
    return f"{number:,} {what if number == 1 else plural or what + 's'}"
