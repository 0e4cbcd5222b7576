"""All experiments by name: what each is for, its options, how it is run. The command line and notebooks read this."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError, nearest
from workbench.experiments.report import Report
from workbench.experiments.runs import Progress
from workbench.experiments.studies import aggregates, drifts, incremental, psoup, sharing, speed, windows
from workbench.experiments.studies.planning import network_size, order


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: what it is asked for by.
        summary: one line.
        add_arguments: gives a parser its options.
        report: runs it with these options; tells how far it is.
    """

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    report: Callable[[argparse.Namespace, Progress], Report]


_STUDIES = {
    "speed": (speed, "time of a batch of a query set, beside DuckDB, Spark and unshared"),
    "incremental": (
        incremental, "single queries kept up or run again; inference, materialization, batch sizes (T10.2)"
    ),
    "aggregates": (aggregates, "aggregates shared or not, kept up or computed anew; vertical expansion (T10.3)"),
    "sharing": (sharing, "time of a batch by number of queries and configuration (T10.4)"),
    "psoup": (psoup, "windowed answers kept complete, without their window, or not at all (PSoup 5)"),
    "windows": (windows, "a mix of sliding windows over many batches; windowed aggregates shared or separate"),
    "adaptive": (drifts, "rows that drift or do not: never re-planned, by itself, by hand (CACQ 4)"),
    "network-size": (network_size, "weighted size of the network by configuration (T10.4.4); planning alone"),
    "order": (order, "one set registered in many orders, and half of it dropped (T11.1.2); planning alone"),
}  # fmt: skip

EXPERIMENTS = {
    **{name: Experiment(name, text, study.add_arguments, study.report) for name, (study, text) in _STUDIES.items()},
    "register": Experiment(
        "register", "time to register 1,000 queries into one network; planning alone",
        network_size.add_register_arguments, network_size.register_report,
    ),
}  # fmt: skip
"""All experiments, in the order of the command line's help."""


def find(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        WorkbenchError: there is none.
    """
    if name not in EXPERIMENTS:
        hint = nearest(name, EXPERIMENTS) or f"experiments: {', '.join(EXPERIMENTS)}"
        raise WorkbenchError(f"there is no experiment {name}", hint=hint)
    return EXPERIMENTS[name]


def run_command(
    program: str, experiments: Mapping[str, Experiment], folder: Path, arguments: list[str] | None = None
) -> int:
    """Run what a command line asks for: print the figures, write them and draw them.

    Args:
        program: what the command line begins with.
        experiments: those to choose from, by name.
        folder: where files go unless the command line says otherwise.
        arguments: the command line; that of this process unless given.

    Returns:
        The exit status: 1 when an answer was wrong or something else kept the experiment from its figures.
    """
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("-o", "--output", type=Path, default=folder, help=f"folder for the files (default: {folder})")
    names = parser.add_subparsers(dest="experiment", required=True)
    for experiment in experiments.values():
        experiment.add_arguments(names.add_parser(experiment.name, help=experiment.summary))
    chosen = parser.parse_args(arguments)
    try:
        report = experiments[chosen.experiment].report(chosen, _print_progress)
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"\n{report.text}\n")
    for file in report.write(chosen.output):
        print(f"written: {file}")
    return 0


def _print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
