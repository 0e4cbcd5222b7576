"""The ``%argus`` and ``%%argus`` magics: find the command, parse its line, run it."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from workbench.errors import UnexpectedError, WorkbenchError
from workbench.notebook.arguments import Command
from workbench.notebook.commands.define import CELL
from workbench.notebook.commands.registry import find
from workbench.notebook.desk import Desk
from workbench.notebook.display import show


@magics_class
class ArgusMagics(Magics):
    """The magics of one notebook, working on its desk."""

    def __init__(self, shell: InteractiveShell, desk: Desk) -> None:
        super().__init__(shell)
        self.desk = desk

    @line_cell_magic
    def argus(self, line: str, cell: str | None = None) -> None:
        """Continuous queries on streams; ``%argus help`` lists the commands."""
        if cell is not None:
            self._run(CELL, line, cell)
        elif not line.strip():
            display(self.desk.session.panel())
        else:
            name, _, rest = line.strip().partition(" ")
            self._run(find(name), rest)

    def _run(self, command: Command, line: str, cell: str | None = None) -> None:
        wants_help = {"--help", "-h"} & set(line.split())
        if wants_help:
            show(command.help())
            return
        arguments = command.parse(line)
        arguments.cell = cell
        try:
            command.run(self.desk, arguments)
        except WorkbenchError:
            raise
        except Exception as error:
            # An analyst is not helped by our stack or Java's; %argus last-error has both.
            raise UnexpectedError.of(error) from error
