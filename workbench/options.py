"""Switches of a session. The defaults are best for a user; experiments turn single means off to measure them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.errors import UnsupportedError


@dataclass(frozen=True)
class Options:
    """How queries are shared and evaluated; no option changes any result (design 3.2).

    Raises:
        UnsupportedError: an option has a value this version cannot honour; none is accepted and ignored.
    """

    sharing: bool = True
    join_sharing: bool = True
    canonicalize: bool = True
    strategy: str = "sharing-selection"
    transitivity: bool = True
    join_order: bool = True
    materialize_below: float = 0.3
    incremental_aggregates: bool = True
    vertical_expansion: bool = True
    reroute: bool = True
    restructure: bool = True

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value != option.default:
                raise UnsupportedError(
                    f"option {option.name}={value!r} is not available yet",
                    hint=f"leave it at {option.default!r}; sharing is by equal computations so far",
                )
