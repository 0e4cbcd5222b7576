"""``python -m workbench.experiments NAME``: run an experiment, print its figures, write them and draw them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.experiments.registry import EXPERIMENTS

FOLDER = Path("build/experiments")


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for.

    Returns:
        The exit status: 1 when an answer was wrong or something else kept the experiment from its figures.
    """
    parser = argparse.ArgumentParser(prog="python -m workbench.experiments")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help=f"folder for the files (default: {FOLDER})")
    names = parser.add_subparsers(dest="experiment", required=True)
    for experiment in EXPERIMENTS.values():
        experiment.add_arguments(names.add_parser(experiment.name, help=experiment.summary))
    chosen = parser.parse_args(arguments)
    try:
        report = EXPERIMENTS[chosen.experiment].report(chosen, _print_progress)
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"\n{report.text}\n")
    for file in report.write(chosen.output):
        print(f"written: {file}")
    return 0


def _print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
