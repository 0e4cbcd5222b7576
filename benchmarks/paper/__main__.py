"""``python -m benchmarks.paper``: measure what is missing of the papers' experiments, and write their page."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.paper import page, results
from benchmarks.paper.registry import RUNS
from workbench.errors import WorkbenchError


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for.

    Returns:
        The exit status: 1 where a run failed; the page is written of the others.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"all unless given: {', '.join(RUNS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: a quarter of an hour on two cores")
    parser.add_argument("--again", action="store_true", help="also what has a result already")
    parser.add_argument("--page", action="store_true", help="only write the page, of the results that are kept")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    parser.add_argument("--here", action="store_true", help="in this process, one after the other")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.runs) - RUNS.keys():
        parser.error(f"there is no run {', '.join(sorted(unknown))}")
    size = "quick" if chosen.quick else "whole"
    wanted = [name for name in chosen.runs or RUNS if chosen.again or not results.is_current(name, size)]
    if chosen.here:
        return _here(wanted, size)
    failed = []
    if not chosen.page:
        with ThreadPoolExecutor(chosen.jobs) as pool:
            failed = [name for name, rc in zip(wanted, pool.map(partial(_apart, size), wanted), strict=True) if rc]
    counts = page.write()
    print(f"{page.PAGE}: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return 1 if failed else 0


def _here(names: list[str], size: str) -> int:
    for name in names:
        try:
            results.measure(name, size, partial(print, f"{name}:", file=sys.stderr, flush=True))
        except WorkbenchError as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            return 1
    return 0


def _apart(size: str, name: str) -> int:
    """Run one in a process of its own, so that no run sees the memory, or the Spark, of another."""
    started = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "benchmarks.paper",
        name,
        "--here",
        "--again",
        *(["--quick"] if size == "quick" else []),
    ]
    ended = subprocess.run(command, check=False, cwd=Path(__file__).parents[2])
    print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
