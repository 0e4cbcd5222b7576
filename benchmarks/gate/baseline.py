"""The committed ratios, and what fell since: no Spark is needed to compare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from workbench.experiments.report import text_table

BASELINE = Path(str(resources.files("benchmarks.gate"))) / "baseline.json"
TOLERATED = 0.25
"""What may be lost without a word: a quarter."""


@dataclass(frozen=True)
class Ratio:
    """One measure that a slower machine does not change.

    Attributes:
        name: what is divided by what, or what is counted.
        value: the number.
        more_is_better: whether it is; else less is.
    """

    name: str
    value: float
    more_is_better: bool = False

    def fell(self, before: float) -> bool:
        """Whether it is worse by more than a quarter of what it was.

        Example:
            >>> Ratio("jobs", 9).fell(7), Ratio("jobs", 8).fell(7), Ratio("jobs", 1).fell(0)
            (True, False, True)
            >>> Ratio("unshared / shared", 7.4, True).fell(10), Ratio("unshared / shared", 7.6, True).fell(10)
            (True, False)
        """
        if self.more_is_better:
            return self.value < before * (1 - TOLERATED)
        return self.value > before * (1 + TOLERATED)


@dataclass(frozen=True)
class _Outcome:
    """Ratios beside the baseline; ``fallen`` are the names of those that are worse, and of those that are missing."""

    text: str
    fallen: tuple[str, ...]


def load(file: Path = BASELINE) -> dict[str, float]:
    """The committed values by name."""
    return {name: float(value) for name, value in json.loads(file.read_text()).items()}


def write(ratios: Sequence[Ratio], file: Path = BASELINE) -> None:
    """Make these the baseline."""
    file.write_text(json.dumps({ratio.name: float(f"{ratio.value:.4g}") for ratio in ratios}, indent=2) + "\n")


def compare(ratios: Sequence[Ratio], baseline: Mapping[str, float]) -> _Outcome:
    """Ratios with what they were.

    A ratio that the baseline does not have is new, and does not fall. One that was not measured has fallen.
    """
    rows: list[list[object]] = []
    fallen = []
    for ratio in ratios:
        before = baseline.get(ratio.name)
        worse = before is not None and ratio.fell(before)
        fallen += [ratio.name] * worse
        verdict = "new" if before is None else "FELL" if worse else ""
        rows.append([ratio.name, "more" if ratio.more_is_better else "less", before, ratio.value, verdict])
    missing = [name for name in baseline if name not in {ratio.name for ratio in ratios}]
    rows += [[name, "", baseline[name], None, "MISSING"] for name in missing]
    return _Outcome(text_table(["ratio", "better", "before", "now", ""], rows), (*fallen, *missing))
