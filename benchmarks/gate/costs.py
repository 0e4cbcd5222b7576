"""What rows of the cost matrix cost as they were measured, and whether some grow with the history as they are now.

The measurements are committed with the page that is written of them. A row that costs more than three times the median
of its family, or more than 1.3 times as much over ten times the history, in all and for a row that moves, is costly;
those that are known to be are listed, and the list may only become shorter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from statistics import median

from benchmarks.query_sets.kinds import KindOfQuery
from benchmarks.studies.cost import MOST_GROWN, Measured, costly, measured

_FOLDER = Path(str(resources.files("benchmarks.gate")))
KNOWN = _FOLDER / "costly.json"
HISTORY, BATCH, BATCHES = 20_000, 2_000, 15
"""Rows before the first batch of the smaller run, rows of a batch, and batches: of few, noise is more than a third."""
MEASURED_AGAIN = 3
"""Times that a row is measured before it counts as growing: a machine may be busy once."""


def fallen(measures: Iterable[Measured], known: Iterable[str]) -> dict[str, str]:
    """What is costly and is not known to be, with how much.

    Example:
        >>> few = [Measured(name, "f", 10, 5, 0.0, s, 0.0, 0.0, 1, 0, None, None) for name, s in zip("abc", (1, 1, 4))]
        >>> fallen(few, []), fallen(few, ["c"])
        ({'c': '4.0 times its family'}, {})
    """
    listed = set(known)
    return {kind: why for kind, why in costly(measures).items() if kind not in listed}


def growing(
    chosen: Sequence[KindOfQuery],
    measure: Callable[[KindOfQuery, int, int, float, int], Measured] = measured,
    say: Callable[[str], object] = lambda line: None,
) -> dict[str, str]:
    """The rows that cost more than 1.3 times as much over ten times the history, measured now, with how much more.

    In all and for a row that moves, as in ``costly``: an answer of which all rows of a partition change costs them.
    """
    found = {}
    for kind in chosen:
        taken: Mapping[int, list[Measured]] = {HISTORY: [], 10 * HISTORY: []}
        grown = MOST_GROWN + 1
        while grown > MOST_GROWN and len(taken[HISTORY]) < MEASURED_AGAIN:
            for history, runs in taken.items():
                runs.append(measure(kind, history, BATCH, 0.0, BATCHES))
            grown = _grown(*taken.values())
        say(f"{kind.name}: {grown:.2f} times over 10 times the history")
        if grown > MOST_GROWN:
            found[kind.name] = f"{grown:.1f} times over 10 times the history"
    return found


def _grown(few: Sequence[Measured], many: Sequence[Measured]) -> float:
    """How many times as much a row costs over more history: the less of in all, and for a row that moves."""
    in_all = median(one.seconds for one in many) / max(median(one.seconds for one in few), 0.01)
    if None in (one.changes for one in (*few, *many)):
        return in_all
    return min(in_all, median(one.moved for one in many) / median(one.moved for one in few))


def load(file: Path = KNOWN) -> list[str]:
    """The rows that are known to be costly."""
    return list(json.loads(file.read_text()))


def write(names: Iterable[str], file: Path = KNOWN) -> None:
    """Make these the known ones."""
    file.write_text(json.dumps(sorted(names), indent=2) + "\n")
