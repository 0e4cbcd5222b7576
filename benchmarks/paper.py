"""``python -m benchmarks.paper``: run the papers' experiments one after the other, each in a process of its own.

Their tables and drawings go to ``build/papers``. ``docs/papers.md`` has what the papers printed beside what was
measured here once, with a verdict on each.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping

MEASURED, PACKAGED = "benchmarks", "workbench.experiments"

PAPER_RUNS: Mapping[str, tuple[str, str]] = {
    "aggregates": (PACKAGED, "--queries 150 --history 30000"),
    "sharing": (PACKAGED, "--queries 64 --history 20000"),
    "network-size": (PACKAGED, "--queries 200"),
    "single-aggregates": (MEASURED, "--sample 24 --history 100000"),
    "expansion": (MEASURED, "--history 100000 --sizes 1 10 100 1000 10000"),
    "psoup": (MEASURED, "--asked 10 --queries 10 50 200 --probed 8000"),
    "cacq-state": (MEASURED, "--queries 5 50 500"),
    "cacq-scale": (MEASURED, ""),
    "cacq-routing": (MEASURED, "--batch 500 --batches 9 --ticket-batch 200"),
    "cacq-niagara": (MEASURED, "--queries 1 20 50 100 --stocks 1000 --functions 10 --quoted 200"),
}
"""Each experiment by name: the module that runs it, and its options in a run of minutes."""


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; gives the exit status: 1 where one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="NAME", help=f"all unless given: {', '.join(PAPER_RUNS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: a quarter of an hour on two cores")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.runs) - PAPER_RUNS.keys():
        parser.error(f"there is no run {', '.join(sorted(unknown))}")
    failed = [name for name in chosen.runs or PAPER_RUNS if subprocess.run(command(name, chosen.quick)).returncode]
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return 1 if failed else 0


def command(name: str, quick: bool) -> list[str]:
    """What runs an experiment.

    Example:
        >>> command("cacq-state", quick=True)[1:]
        ['-m', 'benchmarks', '-o', 'build/papers', 'cacq-state', '--queries', '5', '50', '500']
    """
    module, small = PAPER_RUNS[name]
    return [sys.executable, "-m", module, "-o", "build/papers", name, *(small.split() if quick else ())]


if __name__ == "__main__":
    sys.exit(main())
