"""What an experiment of a paper is: its number, what the paper says, the runs that repeat it, and the rule of"
" its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from workbench.experiments.report import Chart
from workbench.experiments.study import Study

Figures = Mapping[str, Any]
"""The figures of a run as JSON has them: all keys are texts."""


class Verdict(StrEnum):
    """Whether what a paper found is found here."""

    HOLDS = "holds"
    WEAKER = "holds weaker"
    REVERSED = "reversed"
    MISSING = "not reproducible"


@dataclass(frozen=True)
class PaperRun:
    """A study at two sizes; several experiments may read its figures.

    Attributes:
        study: what is run.
        quick: its options in a run of minutes.
        whole: its options at the paper's size, where they are not its defaults.
    """

    study: type[Study]
    quick: Mapping[str, object]
    whole: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """What came out.

    Attributes:
        verdict: by the rule of the experiment.
        trend: what is seen, with numbers.
        columns, rows: the paper's numbers and ours.
        charts: drawn beside one another.
    """

    verdict: Verdict
    trend: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    charts: Sequence[Chart] = ()


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper that is an experiment.

    Attributes:
        paper: ARGUS, PSoup, CACQ or TelegraphCQ.
        number: as the paper counts it.
        title: what is compared.
        claim: what the paper found.
        runs: names of the runs that it reads.
        judge: gives the outcome of the figures of these runs, in their order.
        finding: what is to be known of the differences: why they are.
    """

    paper: str
    number: str
    title: str
    claim: str
    runs: tuple[str, ...]
    judge: Callable[..., Judgement]
    finding: str = ""

    @property
    def name(self) -> str:
        """Its name in file names.

        Example:
            >>> Exhibit("ARGUS", "Figure 10.3, Table C.2", "", "", (), Judgement).name
            'argus-figure-10-3-table-c-2'
        """
        return "-".join(re.findall("[a-z0-9]+", f"{self.paper} {self.number}".lower()))

    @property
    def heading(self) -> str:
        """The heading of its section."""
        return f"{self.number}: {self.title}"

    @property
    def anchor(self) -> str:
        """The address of its section in the page.

        Example:
            >>> Exhibit("ARGUS", "Figure 10.3, Table C.2", "Inference", "", (), Judgement).anchor
            'figure-103-table-c2-inference'
        """
        return re.sub(r"[^\w -]", "", self.heading.lower()).replace(" ", "-")


MUCH, NOISE = 3.0, 1.25
"""A gain is the paper's where it is a third of it at least. Seconds of milliseconds differ by as much as the other."""


def by_factor(ours: float, paper: float) -> Verdict:
    """The verdict on a factor that is above 1 in the paper.

    Example:
        >>> [str(by_factor(ours, 10)) for ours in (40, 4, 2, 0.9, 0.5)]
        ['holds', 'holds', 'holds weaker', 'holds weaker', 'reversed']
    """
    if ours < 1 / NOISE:
        return Verdict.REVERSED
    return Verdict.HOLDS if ours - 1 >= (paper - 1) / MUCH else Verdict.WEAKER


def by_share(holding: int, of: int) -> Verdict:
    """The verdict where a number of comparisons were made.

    Example:
        >>> [str(by_share(n, 10)) for n in (10, 8, 5, 2)]
        ['holds', 'holds', 'holds weaker', 'reversed']
    """
    share = holding / of if of else 0.0
    return Verdict.HOLDS if share >= 0.75 else Verdict.WEAKER if share >= 0.5 else Verdict.REVERSED


def by_ratios(ratios: Sequence[float]) -> Verdict:
    """The verdict where the paper's ratios are all above 1 by no number it gives; one within noise of 1 is neither.

    Example:
        >>> [str(by_ratios(ratios)) for ratios in ([1.5, 1.3, 2, 1], [1.3, 0.9, 1], [0.7, 0.7, 1.1])]
        ['holds', 'holds weaker', 'reversed']
    """
    if 2 * sum(ratio < 1 / NOISE for ratio in ratios) > len(ratios):
        return Verdict.REVERSED
    return Verdict.HOLDS if sum(ratio > NOISE for ratio in ratios) >= 0.75 * len(ratios) else Verdict.WEAKER


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst of several.

    Example:
        >>> worst([Verdict.HOLDS, Verdict.WEAKER])
        <Verdict.WEAKER: 'holds weaker'>
    """
    order = list(Verdict)
    return max(verdicts, key=order.index)


def numbered(series: Mapping[str, float]) -> dict[int, float]:
    """A series whose keys are numbers again.

    Example:
        >>> numbered({"10": 0.5})
        {10: 0.5}
    """
    return {int(key): value for key, value in series.items()}


def lines(series: Mapping[str, Mapping[str, float]]) -> dict[str, dict[int, float]]:
    """Several such series by name."""
    return {name: numbered(each) for name, each in series.items()}


def last(series: Mapping[int, float]) -> float:
    """The value at the greatest number."""
    return series[max(series)]
