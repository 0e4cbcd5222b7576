"""``python -m benchmarks NAME``: run a benchmark, print its figures, write them and draw them."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.registry import BENCHMARKS
from workbench.experiments.registry import run_command


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; gives the exit status."""
    return run_command("python -m benchmarks", BENCHMARKS, Path("build/benchmarks"), arguments)


if __name__ == "__main__":
    sys.exit(main())
