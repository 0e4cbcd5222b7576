"""The command that runs an experiment from a notebook.

Experiments are an extra of the package, and notebooks do without: what is installed is found by its entry point.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol, cast

from workbench.errors import EnvironmentProblem
from workbench.notebook.command_line import Parser, argument, command
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import ProgressLine, Shown, plain, show, table, together

_GROUP = "argus_workbench.experiments"


class StudyReport(Protocol):
    """The result of an experiment."""

    text: str
    charts: Sequence[object]

    def figure(self) -> Any:
        """All charts as a figure of matplotlib."""


class RunnableStudy(Protocol):
    """An experiment with its options."""

    def report(self, progress: Callable[[str], None]) -> StudyReport:
        """Run it; it tells how far it is."""


class Experiment(Protocol):
    """An experiment that can be run; see ``workbench.experiments.registry``."""

    name: str
    summary: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Give a parser its options."""

    def of(self, chosen: argparse.Namespace) -> RunnableStudy:
        """One run of it, with what the parser read."""


class Registry(Protocol):
    """The experiments that are installed."""

    EXPERIMENTS: Mapping[str, Experiment]

    def find_experiment(self, name: str) -> Experiment:
        """The experiment of this name."""


@command(
    "experiment",
    argument("-o", "--output", metavar="VAR", help="variable that gets the report; give it before NAME"),
    argument("--options", action="store_true", help="list the options of the experiment; give it before NAME"),
    argument("name", nargs="?", metavar="NAME", help="the experiment"),
    argument("rest", nargs=argparse.REMAINDER, metavar="OPTION", help="its options: sets, sizes"),
    examples=(
        "%argus experiment",
        "%argus experiment --options speed",
        "%argus experiment speed fed-manual --queries 24 --history 20000 --batches 3",
    ),
    has_own_line=True,
)
def experiment(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Run an experiment on speed, sharing, scaling and more, with tables and a drawing; without a name, list all.

    Experiments make sessions of their own, in the same Spark; the notebook's session is left alone.
    """
    registry = _installed()
    if arguments.name is None:
        listed = [[each.name, each.summary] for each in registry.EXPERIMENTS.values()]
        show(table(["experiment", "what it measures"], listed))
        return
    chosen = registry.find_experiment(arguments.name)
    parser = _parser(chosen)
    if arguments.options:
        show(parser.format_help())
        return
    options = parser.parse(arguments.rest)
    started = time.perf_counter()
    line = ProgressLine(f"{chosen.name} …")
    report = chosen.of(options).report(
        lambda text: line.update(f"{chosen.name}, {time.perf_counter() - started:.0f} s: {text}")
    )
    line.update(f"{chosen.name} took {time.perf_counter() - started:.0f} s")
    if arguments.output is not None:
        context.variables[arguments.output] = report
    drawing = io.StringIO()
    if report.charts:
        report.figure().savefig(drawing, format="svg")
    show(together(plain(report.text), Shown("", _inline(drawing.getvalue()))) if report.charts else report.text)


def _installed() -> Registry:
    """The experiments; each says itself what it needs and is not there.

    Raises:
        EnvironmentProblem: the package is not installed.
    """
    points = entry_points(group=_GROUP)
    if not points:
        raise EnvironmentProblem("the package is not installed, so its experiments are not found", hint="pip install .")
    return cast(Registry, next(iter(points)).load())


def _parser(experiment: Experiment) -> Parser:
    parser = Parser(f"experiment {experiment.name}", experiment.summary)
    experiment.add_arguments(parser)
    return parser


def _inline(svg: str) -> str:
    """A drawing as a part of a page: without the lines that begin a file, and as wide as the cell at most."""
    return f'<div class="argus-figure" style="max-width:100%;overflow-x:auto">{svg[svg.find("<svg") :]}</div>'
