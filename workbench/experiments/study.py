"""The base of experiments and benchmarks: a class whose fields are its options, and which reports its measurements."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from importlib.util import find_spec
from typing import Any, ClassVar, Self

from workbench.errors import EnvironmentProblem
from workbench.experiments.report import Chart, Report

StudyProgress = Callable[[str], None]
"""Takes a line on the progress of a study."""

Findings = tuple[str, Mapping[str, object], Sequence[Chart]]
"""Tables and remarks, figures for JSON, and charts."""


def option(
    default: object,
    help: str,
    *,
    of: Callable[[str], object] | None = None,
    choices: Collection[str] | None = None,
    positional: bool = False,
) -> Any:
    """A field of a study that the command line sets.

    Args:
        default: its value unless it is given. A tuple takes one value or more, ``False`` becomes a switch.
        help: what it means; the default is added.
        of: reads a value; unless given, the type of the default does.
        choices: the values that are accepted.
        positional: the values stand without the name of the option; there may be none.
    """
    sample = default[0] if isinstance(default, tuple) and default else default
    kind = of or (str if sample in (None, ()) else type(sample))
    return field(default=default, metadata={"help": help, "type": kind, "choices": choices, "positional": positional})


@dataclass(frozen=True)
class Study(ABC):
    """One experiment or benchmark; its fields are made by :func:`option`.

    Example:
        >>> @dataclass(frozen=True)
        ... class Doubled(Study):
        ...     name, summary, needs = "doubled", "takes no time", ()
        ...     rows: int = option(2, "rows")
        ...     def run(self, progress):
        ...         return f"{2 * self.rows}", {}, ()
        >>> parser = argparse.ArgumentParser()
        >>> Doubled.add_arguments(parser)
        >>> Doubled.of(parser.parse_args(["--rows", "21"])).report().text
        '42'
    """

    name: ClassVar[str]
    """The name by which it is run."""
    summary: ClassVar[str]
    """One line."""
    needs: ClassVar[tuple[str, ...]] = ("duckdb", "matplotlib")
    """Modules of the extra ``experiments`` without which it cannot run."""

    @abstractmethod
    def run(self, progress: StudyProgress) -> Findings:
        """Run the study.

        Args:
            progress: called with a line for each step.

        Raises:
            WorkbenchError: an answer was wrong, or something else keeps it from its figures.
        """

    @property
    def stem(self) -> str:
        """The stem of the names of its report's files."""
        return self.name

    def report(self, progress: StudyProgress = print) -> Report:
        """Run it; the figures have its options beside what it measured.

        Raises:
            EnvironmentProblem: something that it needs is not installed.
            WorkbenchError: as ``measured``.
        """
        require(self.name, self.needs)
        text, figures, charts = self.run(progress)
        return Report(self.stem, text, {"options": asdict(self), **figures}, charts)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Give a parser its options."""
        for each in fields(cls):
            flag, settings = _argument(each)
            parser.add_argument(flag, **settings)

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> Self:
        """The study with what a parser read."""
        values = {each.name: getattr(chosen, each.name) for each in fields(cls)}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def require(name: str, modules: Sequence[str]) -> None:
    """See that modules of the extra ``experiments`` are installed.

    Raises:
        EnvironmentProblem: some are not; the hint installs them.
    """
    if missing := [module for module in modules if find_spec(module) is None]:
        what = f"{name} needs {' and '.join(missing)}, not installed here"
        raise EnvironmentProblem(what, hint="pip install 'argus-workbench[experiments]'")


def at_least_one(text: str) -> int:
    """A number of queries of which one at least is needed: without DuckDB's answers no time is given."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1: answers are compared before times are given")
    return number


def _argument(each: Field[Any]) -> tuple[str, dict[str, Any]]:
    """The flag of an option, and what ``argparse`` is told of it."""
    of, default = each.metadata, each.default
    flag = each.name if of["positional"] else f"--{each.name.replace('_', '-')}"
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    settings = {"default": default, "help": of["help"] + f" (default: {shown})" * (default not in (None, (), False))}
    if default is False:
        return flag, settings | {"action": "store_true"}
    if isinstance(default, tuple):
        settings["nargs"] = "*"
    return flag, settings | {"type": of["type"], "choices": of["choices"]}
