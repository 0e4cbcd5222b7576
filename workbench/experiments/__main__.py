"""``python -m workbench.experiments NAME``: run an experiment, print its figures, and write them as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from workbench.experiments import full_size


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m workbench.experiments")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/experiments"), help="folder for the JSON files"
    )
    experiments = parser.add_subparsers(dest="experiment", required=True)
    sizes = experiments.add_parser("full-size", help="Appendix B at the thesis's sizes: time per batch and memory")
    sizes.add_argument("--stream", choices=sorted(full_size.SETTINGS), default="fed")
    sizes.add_argument("--batches", type=int, default=5)
    chosen = parser.parse_args(arguments)
    figures = full_size.measure(chosen.stream, chosen.batches)
    for name, value in figures.items():
        print(f"{name:18} {value}")
    chosen.output.mkdir(parents=True, exist_ok=True)
    file = chosen.output / f"full-size-{chosen.stream}-{chosen.batches}.json"
    file.write_text(json.dumps(figures, indent=2))
    print(f"written to {file}")


if __name__ == "__main__":
    main()
