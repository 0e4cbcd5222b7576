"""``python -m benchmarks.gate``: measure the ratios, compare them, and name what fell."""

from __future__ import annotations

import argparse
import random
import sys

from benchmarks.gate import baseline, costs, matrix
from benchmarks.gate.ratios import measure
from benchmarks.query_sets.kinds import kinds
from benchmarks.studies.cost import RESULTS, costly, read
from workbench.errors import WorkbenchError
from workbench.experiments.study import require

SAMPLED = 3
"""Rows of the cost matrix whose growth with the history a run measures, others in each run."""


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for.

    Returns:
        The exit status: 1 when a ratio fell by more than a quarter, an answer was wrong, or a row of the cost matrix
        fell off the fast path, costs far more than its family, or grows with the history.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate")
    parser.add_argument("--write", action="store_true", help="make what is measured the new baseline")
    chosen = parser.parse_args(arguments)
    try:
        require("the gate", ("duckdb",))
        off = matrix.off_the_fast_path()
        grown = costs.growing(random.sample(kinds(), SAMPLED), say=_say)
        ratios = measure(_say)
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1
    outcome = baseline.compare(ratios, baseline.load())
    print(outcome.text)
    if chosen.write:
        baseline.write(ratios)
        matrix.write(off)
        costs.write(costly(read(RESULTS)))
        print(f"written: {baseline.BASELINE}, {matrix.OFF_THE_FAST_PATH}, {costs.KNOWN}")
        return 0
    if outcome.fallen:
        print(f"fell by more than {baseline.TOLERATED:.0%}: {', '.join(outcome.fallen)}")
    if more := [name for name in off if name not in matrix.load()]:
        print(f"off the fast path: {', '.join(more)}")
    known = costs.load()
    fell = costs.fallen(read(RESULTS), known) | {kind: why for kind, why in grown.items() if kind not in known}
    for kind, why in fell.items():
        print(f"costs too much: {kind}: {why}")
    return 1 if outcome.fallen or more or fell else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
