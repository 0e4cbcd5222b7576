"""The command that runs an experiment from a notebook."""

from __future__ import annotations

import argparse
import io
import time
from typing import TYPE_CHECKING

from workbench.errors import EnvironmentProblem
from workbench.notebook.command_line import Parser, argument, command
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import ProgressLine, Shown, plain, show, table, together

if TYPE_CHECKING:
    from workbench.experiments.registry import Experiment


@command(
    "experiment",
    argument("-o", "--output", metavar="VAR", help="variable that gets the report; give it before the name"),
    argument("--options", action="store_true", help="list the options of the experiment; before the name"),
    argument("name", nargs="?", metavar="NAME", help="which one"),
    argument("rest", nargs=argparse.REMAINDER, metavar="OPTION", help="its options: sets, sizes"),
    examples=(
        "%argus experiment",
        "%argus experiment --options speed",
        "%argus experiment speed fed-manual --queries 24 --history 20000 --batches 3",
    ),
)
def experiment(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Measure: speed, sharing, scaling and more, with tables and a drawing; without a name, say what there is.

    Experiments make sessions of their own, in the same Spark; the notebook's session is left alone.
    """
    try:
        from workbench.experiments.registry import EXPERIMENTS, find  # DuckDB and the rest load only when asked for
    except ModuleNotFoundError as missing:
        raise EnvironmentProblem(
            f"experiments need {missing.name}", hint="pip install 'argus-workbench[experiments]'"
        ) from missing
    if arguments.name is None:
        show(table(["experiment", "what it measures"], [[each.name, each.summary] for each in EXPERIMENTS.values()]))
        return
    chosen = find(arguments.name)
    parser = _parser(chosen)
    if arguments.options:
        show(parser.format_help())
        return
    options = parser.parse(arguments.rest)
    started = time.perf_counter()
    line = ProgressLine(f"{chosen.name} …")
    report = chosen.report(
        options, lambda text: line.update(f"{chosen.name}, {time.perf_counter() - started:.0f} s: {text}")
    )
    line.update(f"{chosen.name} took {time.perf_counter() - started:.0f} s")
    if arguments.output is not None:
        context.variables[arguments.output] = report
    drawing = io.StringIO()
    if report.charts:
        report.figure().savefig(drawing, format="svg")
    show(together(plain(report.text), Shown("", _inline(drawing.getvalue()))) if report.charts else report.text)


def _parser(experiment: Experiment) -> Parser:
    parser = Parser(f"experiment {experiment.name}", experiment.summary)
    experiment.add_arguments(parser)
    return parser


def _inline(svg: str) -> str:
    """A drawing as a part of a page: without the lines that begin a file, and as wide as the cell at most."""
    return f'<div class="argus-figure" style="max-width:100%;overflow-x:auto">{svg[svg.find("<svg") :]}</div>'
