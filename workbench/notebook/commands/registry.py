"""All commands by name, in the order help lists them, and help itself."""

from __future__ import annotations

import argparse

from workbench.errors import nearest
from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.commands import catalog, define, experiment, look, play, run, sessions, troubles
from workbench.notebook.desk import Desk
from workbench.notebook.display import show


def find(name: str) -> Command:
    """The command of this name.

    Raises:
        MagicError: there is none.
    """
    if name in ("%%argus", "cell"):
        return define.CELL
    if name not in COMMANDS:
        raise MagicError(f"%argus has no command {name}", hint=nearest(name, COMMANDS) or "%argus help lists them")
    return COMMANDS[name]


def overview() -> str:
    """One line for each command."""
    commands = [define.CELL, *COMMANDS.values()]
    width = max(len(command.name) for command in commands) + len("%argus ")
    lines = [
        f"  {command.name if command is define.CELL else '%argus ' + command.name:{width}}  {command.summary}"
        for command in commands
    ]
    return "\n".join([*lines, "%argus help COMMAND says more."])


def _help(desk: Desk, arguments: argparse.Namespace) -> None:
    show(overview() if arguments.command is None else find(arguments.command).help())


HELP = Command(
    "help",
    "Say what the commands do.",
    _help,
    (argument("command", nargs="?", metavar="COMMAND", completes="command", help="the one to explain"),),
    ("%argus help", "%argus help run", "%argus help %%argus"),
)

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        *define.COMMANDS,
        *run.COMMANDS,
        *play.COMMANDS,
        *look.COMMANDS,
        *catalog.COMMANDS,
        *experiment.COMMANDS,
        *sessions.COMMANDS,
        *troubles.COMMANDS,
        HELP,
    )
}
"""The subcommands of ``%argus``."""
