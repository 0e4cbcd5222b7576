"""Commands of the ``%argus`` magic and the line that calls them.

A command is data: its name, what it is for, its arguments and the function that does it. Help and completion are read
from the same data, so they cannot fall behind.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.errors import WorkbenchError, nearest

if TYPE_CHECKING:
    from workbench.notebook.desk import Desk


NAMED = "a name of one word, and the SQL in the lines below: %%argus big_transfers; %argus help says more"
"""What a cell must have."""


class MagicError(WorkbenchError):
    """The line or cell of a magic cannot be understood."""


@dataclass(frozen=True)
class Argument:
    """One argument of a command.

    Attributes:
        flags: the name of a positional argument, or the spellings of an option.
        settings: what ``argparse`` is told besides.
        completes: what its values are, for completion: ``query``, ``stream``, ``dialect``, ``command``, ``path``.
    """

    flags: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    completes: str = ""

    @property
    def is_option(self) -> bool:
        """Whether it is given by ``--name`` and not by its place."""
        return self.flags[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a word follows the option."""
        return self.settings.get("action") != "store_true"


def argument(*flags: str, completes: str = "", **settings: Any) -> Argument:
    """An :class:`Argument`; ``settings`` go to ``argparse``."""
    return Argument(flags, settings, completes)


@dataclass(frozen=True)
class Command:
    """A subcommand of ``%argus``, or the cell magic itself.

    Attributes:
        name: what is typed after ``%argus``.
        summary: one line.
        run: does it; gets the desk and the parsed arguments.
        arguments: in the order in which they are given.
        examples: lines as they are typed.
    """

    name: str
    summary: str
    run: Callable[[Desk, argparse.Namespace], None]
    arguments: tuple[Argument, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """Every spelling of every option."""
        return tuple(flag for a in self.arguments if a.is_option for flag in a.flags)

    def parse(self, line: str) -> argparse.Namespace:
        """The line after the command's name as its arguments.

        Raises:
            MagicError: something is missing, unknown or of the wrong type.
        """
        parser = Parser(self.name)
        for each in self.arguments:
            parser.add_argument(*each.flags, **each.settings)
        words = split(line)
        # Before argparse takes what follows an option it does not know for something else; a command that hands on the
        # rest of its line does not know what is in it.
        hands_on = any(each.settings.get("nargs") == argparse.REMAINDER for each in self.arguments)
        for word in words if not hands_on else ():
            if word.startswith("--") and word.partition("=")[0] not in self.options:
                parser.error(f"{word} is not understood", nearest(word, self.options))
        arguments, unknown = parser.parse_known_args(words)
        if unknown:
            parser.error(f"{unknown[0]} is not understood", nearest(unknown[0], self.options))
        return arguments

    def help(self) -> str:
        """Usage, arguments and examples as text."""
        parser = Parser(self.name, self.summary)
        for each in self.arguments:
            parser.add_argument(*each.flags, **each.settings)
        examples = "".join(f"\n  {line}" for line in self.examples)
        return parser.format_help().rstrip() + (f"\n\nexamples:{examples}" if examples else "")


class Parser(argparse.ArgumentParser):
    """A parser that raises, where argparse would end the process."""

    def __init__(self, name: str, summary: str | None = None) -> None:
        super().__init__(
            prog=name if name.startswith("%") else f"%argus {name}",
            description=summary,
            add_help=False,
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
        )
        self._name = name

    @property
    def options(self) -> list[str]:
        """Every spelling of every option."""
        return list(self._option_string_actions)

    def error(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        usual = NAMED if self._name.startswith("%") else f"%argus help {self._name.split()[0]}"
        raise MagicError(f"{self.prog}: {message}", hint=hint or usual)


def split(line: str) -> list[str]:
    r"""The words of a line; quotes group, backslashes are kept since Windows paths have them.

    Raises:
        MagicError: a quote is not closed.

    Example:
        >>> split(r"stream fed 'my data\fed.parquet'")
        ['stream', 'fed', 'my data\\fed.parquet']
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    try:
        return list(lexer)
    except ValueError:
        raise MagicError("a quote is not closed", sql=line, position=len(line.rstrip())) from None
