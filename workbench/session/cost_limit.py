"""The limit of what is computed unless an analyst insists: joins that look at too many pairs of rows."""

from __future__ import annotations

from workbench.errors import QueryError
from workbench.optimizer.join_cost import JoinCost


def check_cost(name: str, join: JoinCost | None, most: int) -> None:
    """Check the costliest new join of a query, which looks at no more than ``most`` pairs.

    Raises:
        QueryError: it would look at too many pairs; the message has the estimate.
    """
    if join is None or join.pairs <= most:
        return
    left, right = (" and ".join(streams) for streams in join.sides)
    raise QueryError(
        f"{name} joins {left} with {right} by no condition that finds few pairs: about {_rounded(join.pairs)} pairs"
        f" of rows would be looked at, and more than {_rounded(most)} take minutes to hours",
        hint="add an equality of columns, as in a.key = b.key; force=True (%%argus --force) computes it anyway",
    )


def _rounded(number: float) -> str:
    """A large number to two digits, in millions.

    Example:
        >>> _rounded(113_412_345_678)
        '110,000 million'
    """
    digits = max(0, len(str(int(number))) - 2)
    return f"{round(int(number), -digits) // 1_000_000:,} million"
