"""Switches of a session. The defaults are best for a user; experiments turn single means off to measure them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.errors import UnsupportedError, nearest
from workbench.errors.public_api import check_argument, public_values

STRATEGIES = ("sharing-selection", "match-plan")


@public_values
@dataclass(frozen=True)
class Options:
    """How queries are shared and evaluated; no option changes any result.

    Attributes:
        sharing: whether queries share anything at all; without it each has nodes of its own, down to the source.
        join_sharing: whether queries share joins (NonJoinS of T Table 10.6 when off).
        canonicalize: whether comparisons are brought to one form by arithmetic (NonCanon when off).
        strategy: ``sharing-selection`` or ``match-plan`` (T6.3).
        transitivity: whether hidden predicates are inferred (T5.1).
        join_order: whether joins are ordered by estimated cost (T5.4); in the order of FROM when off.
        materialize_below: a selection that keeps less than this fraction of its root's rows gets a node of its own
            before a join, others are tested in the join (T5.3).
        incremental_aggregates: whether aggregates are kept up from basic statistics (T4.2); when off they are computed
            anew for the touched groups.
        vertical_expansion: whether aggregates are computed from those of finer groups (T7.1.1).
        reroute: whether old nodes are connected anew when a better parent appears (T Figure 6.8a).
        restructure: whether joins that differ in their residuals become one with a common cover (T Figure 6.8b), and
            selections that combine a few conditions are split into these.
        adaptive: whether the network is re-optimised between batches, where what they show says for long enough that it
            would be cheaper otherwise, and that this will save what computing it anew takes; ``Session.reoptimize``
            does it when asked, whatever this says.

    Raises:
        InputError: a value is of the wrong kind.
        UnsupportedError: a strategy that does not exist, or a number that is no fraction.
    """

    sharing: bool = True
    join_sharing: bool = True
    canonicalize: bool = True
    strategy: str = "sharing-selection"
    transitivity: bool = True
    join_order: bool = True
    materialize_below: float = 0.8
    incremental_aggregates: bool = True
    vertical_expansion: bool = True
    reroute: bool = True
    restructure: bool = True
    adaptive: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            check_argument(field.name, getattr(self, field.name), type(field.default))
        if self.strategy not in STRATEGIES:
            raise UnsupportedError(
                f"there is no strategy {self.strategy!r}",
                hint=nearest(self.strategy, STRATEGIES) or f"there are {', '.join(STRATEGIES)}",
            )
        if not 0 <= self.materialize_below <= 1:
            raise UnsupportedError(
                f"materialize_below={self.materialize_below!r} is no fraction", hint="give a number from 0 to 1"
            )
