"""All experiments by name: what each is for, its options, how it is run. The command line and notebooks read this."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from workbench.errors import WorkbenchError, nearest
from workbench.experiments.studies.aggregates import Aggregates
from workbench.experiments.studies.drifts import Adaptive
from workbench.experiments.studies.network_size import NetworkSize
from workbench.experiments.studies.sharing import Sharing
from workbench.experiments.studies.speed import Speed
from workbench.experiments.studies.windows import Windows
from workbench.experiments.study import Study

EXPERIMENTS: Mapping[str, type[Study]] = {
    study.name: study for study in (Speed, Aggregates, Sharing, Windows, Adaptive, NetworkSize)
}
"""All experiments, in the order of the command line's help."""


def find_experiment(name: str) -> type[Study]:
    """The experiment of this name.

    Raises:
        WorkbenchError: no experiment has that name.
    """
    if name not in EXPERIMENTS:
        hint = nearest(name, EXPERIMENTS) or f"experiments: {', '.join(EXPERIMENTS)}"
        raise WorkbenchError(f"there is no experiment {name}", hint=hint)
    return EXPERIMENTS[name]


def run_command(
    program: str, studies: Mapping[str, type[Study]], folder: Path, arguments: list[str] | None = None
) -> int:
    """Run what a command line asks for: print the figures, write them and draw them.

    Args:
        program: what the command line begins with.
        studies: those to choose from, by name.
        folder: where files go unless the command line says otherwise.
        arguments: the command line; that of this process unless given.

    Returns:
        The exit status: 1 when an answer was wrong or something else kept the experiment from its figures.
    """
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("-o", "--output", type=Path, default=folder, help=f"folder for the files (default: {folder})")
    names = parser.add_subparsers(dest="study", metavar="NAME", required=True)
    for study in studies.values():
        study.add_arguments(names.add_parser(study.name, help=study.summary))
    chosen = parser.parse_args(arguments)
    try:
        report = studies[chosen.study].of(chosen).report(partial(print, file=sys.stderr, flush=True))
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"\n{report.text}\n")
    for file in report.write(chosen.output):
        print(f"written: {file}")
    return 0
