"""``python -m benchmarks.gate``: measure the ratios, compare them, and name what fell."""

from __future__ import annotations

import argparse
import sys

from benchmarks.gate import baseline, matrix
from benchmarks.gate.ratios import measure
from workbench.errors import WorkbenchError
from workbench.experiments.study import require


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for.

    Returns:
        The exit status: 1 when a ratio fell by more than a quarter, an answer was wrong, or a row of the cost matrix
        fell off the fast path.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate")
    parser.add_argument("--write", action="store_true", help="make what is measured the new baseline")
    chosen = parser.parse_args(arguments)
    try:
        require("the gate", ("duckdb",))
        off = matrix.off_the_fast_path()
        ratios = measure(lambda line: print(line, file=sys.stderr, flush=True))
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1
    outcome = baseline.compare(ratios, baseline.load())
    print(outcome.text)
    if chosen.write:
        baseline.write(ratios)
        matrix.write(off)
        print(f"written: {baseline.FILE}, {matrix.FILE}")
        return 0
    if outcome.fallen:
        print(f"fell by more than {baseline.TOLERATED:.0%}: {', '.join(outcome.fallen)}")
    if more := [name for name in off if name not in matrix.load()]:
        print(f"off the fast path: {', '.join(more)}")
    return 1 if outcome.fallen or more else 0


if __name__ == "__main__":
    sys.exit(main())
