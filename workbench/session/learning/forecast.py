"""The forecast of re-planning: its cost, what it saves in every batch, and for how many batches it will save that.

Whether to pay now for what later batches will save depends on how many will come before rows turn again, which is
unknown. One who pays as soon as the batches so far would have paid for it takes at most twice what the best choice
would have taken in hindsight (A. Karlin et al., *Competitive snoopy caching*, Algorithmica 3, 1988). Where rows have
turned before, the mean time between turns says more: rows that turn to and fro turn back soon. A session is expected to
last for hours, so what has just turned is expected to last until turns have shown otherwise: one that is never followed
costs in every batch, and one that is followed in vain costs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf, isfinite
from statistics import median

from workbench.engine import averages
from workbench.engine.reports import BatchReport
from workbench.explain.text import counted

FORECAST_BATCHES = 5
"""Batches whose median is what a batch takes."""
EXPECTED = 100
"""Batches that what is observed lasts, before any turn was seen; it counts as one turn."""
LEAST = 3
"""The least batches that what is observed is expected to last on."""
DETECTION_DELAY = averages.RECENT_BATCHES
"""Batches after which it is seen that rows have turned."""
TURNS = 10
"""Turns that tell how long it lasts."""


@dataclass(frozen=True)
class Forecast:
    """The costs and the savings of another network.

    Attributes:
        cost_before, cost_after: rows that a batch looks at, predicted, of the network before and of the other one.
        hydration: seconds of hydrating what the other one needs.
        saving: seconds that it saves in every batch; below 0 where it costs more.

    Example:
        >>> forecast = Forecast(1_000, 750, 3.0, 0.25)
        >>> forecast.pays_after, forecast.pays_within(20), forecast.pays_within(10)
        (12.0, True, False)
        >>> print(forecast)
        hydrating takes about 3.0 s and a batch 0.25 s less, predicted: it pays after 12 batches
    """

    cost_before: float
    cost_after: float
    hydration: float
    saving: float

    @property
    def pays_after(self) -> float:
        """Batches after which it has saved what hydrating takes; infinite where it saves nothing."""
        if self.saving > 0:
            return self.hydration / self.saving
        return inf

    def cheaper(self, times: float = 1.0) -> bool:
        """Whether a batch of the other network costs less than a factor times what one costs now."""
        return self.cost_after < times * self.cost_before

    def pays_within(self, batches: float) -> bool:
        """Whether a number of batches saves more than hydrating takes."""
        return self.pays_after < batches

    def __str__(self) -> str:
        hydrating = f"hydrating takes about {self.hydration:.1f} s"
        if not isfinite(self.pays_after):
            return f"{hydrating}, predicted, and no batch is known to get shorter"
        pays = f"it pays after {counted(ceil(self.pays_after), 'batch', 'batches')}"
        return f"{hydrating} and a batch {self.saving:.2f} s less, predicted: {pays}"


def forecast(reports: Sequence[BatchReport], before: float, after: float, hydration: float) -> Forecast:
    """The costs and the savings of another network.

    The seconds of a batch are taken to be in proportion to its predicted cost.

    Args:
        reports: of the batches so far; before the first nothing is known to be saved.
        before, after: predicted costs of a batch of the network that runs, and of the other one, in rows.
        hydration: predicted seconds.

    Example:
        >>> forecast([BatchReport(1, 10, 0.5, ())], 1_000, 600, 3.0).saving
        0.2
    """
    recent = [report.seconds for report in reports[-FORECAST_BATCHES:]]
    saved = 1 - after / before if before else 0.0
    return Forecast(before, after, hydration, median(recent) * saved if recent else 0.0)


@dataclass
class Persistence:
    """How long one observation lasts: that another network would be better, or that none would.

    Attributes:
        lasted: batches since that turned, or since the beginning.
        earlier: batches that it lasted before each of the last turns.

    Example:
        >>> steady, swinging = Persistence(), Persistence()
        >>> for better in (False, False, False, True):
        ...     steady.observe(10, better)
        >>> for better in (False, True, False, True):
        ...     swinging.observe(10, better)
        >>> steady.horizon, swinging.horizon
        (52.0, 19.5)
    """

    lasted: int = 0
    earlier: list[int] = field(default_factory=list)
    _better: bool | None = field(default=None, repr=False)

    def observe(self, batches: int, better: bool) -> None:
        """Another look, a number of batches after the one before."""
        if self._better is not None and better != self._better:
            self.earlier = [*self.earlier, self.lasted][-TURNS:]
            self.lasted = 0
        self._better = better
        self.lasted += batches

    def replanned(self) -> None:
        """The better network runs now: that no other one is better than it is no turn."""
        if self._better:
            self._better = False

    @property
    def horizon(self) -> float:
        """Batches that it is expected to last on: what is left of the mean, or beyond it as long again as it has."""
        mean = (EXPECTED + sum(self.earlier)) / (1 + len(self.earlier))
        return float(max(LEAST, self.lasted if self.lasted > mean else mean - self.lasted - DETECTION_DELAY))
