"""``python -m workbench.experiments NAME``: run an experiment, print its figures, write them and draw them."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.experiments.registry import EXPERIMENTS, run_command


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; gives the exit status."""
    return run_command("python -m workbench.experiments", EXPERIMENTS, Path("build/experiments"), arguments)


if __name__ == "__main__":
    sys.exit(main())
