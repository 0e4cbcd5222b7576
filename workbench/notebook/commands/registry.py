"""All commands by name, in the order in which help lists them, and help itself."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Container, Sequence

from workbench.errors import MagicError, nearest
from workbench.notebook.command_line import Command, argument, command
from workbench.notebook.commands import (
    add,
    costs,
    define,
    experiment,
    origins,
    replay,
    sessions,
    show,
    sinks,
    suspension,
    timings,
    watch,
)
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import show as display

_MEANT = {
    "compare": "%argus strategies compares sharing-selection with match-plan on the queries that there are",
    "undo": "%argus drop NAME takes back a registration, %argus back the last batch",
    **dict.fromkeys(
        ("export", "download", "csv"),
        'session.query("NAME").save("rows.csv") writes an answer, %argus results NAME -o frame gives a DataFrame',
    ),
    **dict.fromkeys(
        ("set", "settings", "option", "options", "configure"),
        "%argus config shows the settings of the session; %argus play --speed 10 how fast batches arrive",
    ),
    "rename": "%%argus NEW with the same SQL registers it under another name, and %argus drop OLD drops this one",
    "prove": "%argus verify compares an answer with Spark SQL over all stored rows",
    **dict.fromkeys(("list", "show", "ls", "tables"), "%argus queries and %argus streams list what there is"),
    **dict.fromkeys(("delete", "remove", "rm", "unregister"), "%argus drop NAME drops a query, stream or table"),
    **dict.fromkeys(
        ("register", "create", "select", "with", "sql", "view", "query"), "%%argus NAME, and the SQL in the lines below"
    ),
    **dict.fromkeys(("describe", "info", "schema"), "%argus queries lists columns, %argus explain NAME what it shares"),
    **dict.fromkeys(("head", "print", "display", "answer"), "%argus results NAME --limit 5"),
    **dict.fromkeys(("chart", "plot", "bar", "line"), "%argus results NAME --chart; %argus plan draws the network"),
    **dict.fromkeys(("graph", "draw", "network", "tree"), "%argus plan draws the network"),
    **dict.fromkeys(("next", "advance", "tick", "batch"), "%argus run 1 lets the next batch arrive"),
    **dict.fromkeys(
        ("stop", "halt", "end"),
        "%argus pause stops playing, %argus drop NAME drops a query, %argus close ends the session",
    ),
    **dict.fromkeys(
        ("load", "restore", "connect"), "%argus open FOLDER goes on with a session, %argus stream NAME FILE adds data"
    ),
    **dict.fromkeys(("history", "changes", "log"), "%argus results NAME --changes"),
    **dict.fromkeys(("add", "import", "read", "source"), "%argus stream NAME FILE, or %argus table NAME FILE"),
    **dict.fromkeys(("status", "state"), "%argus streams says how far each is, %argus queries lists what runs"),
    **dict.fromkeys(
        ("slider", "param", "parameter", "variable"),
        "%%argus NAME --slider least=0:100:5, and :least in the SQL, shows a slider for it",
    ),
    "widen": "%argus stream NAME --widen COLUMN=TYPE",
    **dict.fromkeys(("goto", "rewind", "revert", "seek"), "%argus back N goes back to what was after batch N"),
    **dict.fromkeys(
        ("serve", "share", "publish"),
        "%argus snapshot FILE.html is one file for others; argus serve FOLDER, in a terminal, a page",
    ),
    **dict.fromkeys(("version", "about"), "pip show argus-workbench, in a terminal, says it"),
    **dict.fromkeys(("restart", "reset", "new"), "%argus close ends the session, and the next command begins another"),
    **dict.fromkeys(
        ("correct", "correction", "corrections", "update", "upsert", "amend", "edit", "fix"),
        "%argus stream NAME FILE --key id --changes upsert: a later row with the key of one counts instead of it",
    ),
    **dict.fromkeys(
        ("profile", "nulls", "distinct", "histogram", "statistics"),
        "%argus opens the panel: its tab Results, columns, has missing values, different ones and how they are spread",
    ),
    **dict.fromkeys(("alert", "watch"), "%argus notify NAME CONDITION says which rows come to satisfy it"),
}
"""The commands to use instead of those of other tools."""
_NO_TOPICS = frozenset(
    ("the", "and", "for", "how", "can", "what", "with", "that", "from", "into", "does", "all", "are")
)
"""Words that a search ignores."""
_BEST = 5
"""The most commands that a search names."""


def find_command(name: str, queries: Container[str] = (), rest: str = "") -> Command:
    """The command of this name; ``queries`` are those that there are, for whose answers one may have asked, and
    ``rest`` is what follows it.

    Raises:
        MagicError: no command has that name.
    """
    if name in ("%%argus", "cell"):
        return define.cell_magic
    if name not in COMMANDS:
        shown = f"%argus results {name} shows its answer" if name in queries else None
        is_cell = rest.lower().startswith(("select ", "with "))
        shown = f"a query is a cell: %%argus {name}, and the SQL in the lines below" if is_cell else shown
        hint = shown or _MEANT.get(name.lower()) or nearest(name, COMMANDS) or "%argus help lists them"
        raise MagicError(f"%argus has no command {name}", hint=hint)
    return COMMANDS[name]


def arguments_of(command: Command, line: str) -> argparse.Namespace:
    """The arguments of a command's line.

    Raises:
        MagicError: as ``Command.parse``; where the line has the name of another command, that one is meant.
    """
    try:
        return command.parse(line)
    except MagicError as error:
        words = line.split()
        if command.name == "help":
            named = " ".join(word for word in words if not word.startswith("-"))
            raise MagicError(error.message, hint=f"%argus help {named}") from None
        meant = next((at for at, word in enumerate(words) if word in COMMANDS and word != command.name), None)
        if meant is None or "not understood" not in error.message:
            raise
        rest = " ".join([*words[:meant], *words[meant + 1 :]])
        try:
            COMMANDS[words[meant]].parse(rest)
        except MagicError:
            raise error from None
        raise MagicError(error.message, hint=f"%argus {words[meant]} {rest}") from None


def command_and_rest(line: str) -> tuple[str, str]:
    """The command's name that a line begins with, and what follows it; a name of two words may stand in two.

    Example:
        >>> command_and_rest("why not big"), command_and_rest("why big")
        (('why-not', 'big'), ('why', 'big'))
    """
    name, _, rest = line.partition(" ")
    second, _, others = rest.strip().partition(" ")
    return (f"{name}-{second}", others) if f"{name}-{second}" in COMMANDS else (name, rest)


def overview() -> str:
    """One line for each command."""
    lines = {
        define.cell_magic.name: define.cell_magic,
        **{f"%argus {name}": command for name, command in COMMANDS.items()},
    }
    width = max(map(len, lines))
    texts = [f"  {usage:{width}}  {command.summary}" for usage, command in lines.items()]
    return "\n".join([*texts, "%argus help COMMAND says more."])


@command(
    "help",
    argument("words", nargs="*", metavar="COMMAND", completes="command", help="a command, or words to search for"),
    examples=("%argus help", "%argus help run", "%argus help %%argus", "%argus help correct a row"),
)
def help_command(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """List the commands, explain one, or find those that are about some words.

    Raises:
        MagicError: there is no such command, or none is about the words.
    """
    if not arguments.words:
        display(overview())
        return
    asked = " ".join(arguments.words).removeprefix("%argus").strip() or "%%argus"
    try:
        display(find_command(command_and_rest(asked)[0] if asked.replace(" ", "-") in COMMANDS else asked).help())
    except MagicError as error:
        if asked.lower() not in _MEANT and (found := about(asked.split())):
            display("\n".join([*found, "%argus help COMMAND says more."]))
            return
        # A command that is only a little alike is no answer to a word that means something else.
        lists = "%argus help lists the commands; %argus help COMMAND says more of one"
        typed = difflib.get_close_matches(asked, COMMANDS, 1, cutoff=0.8)
        meant = _MEANT.get(asked.lower()) or (f"did you mean {typed[0]}?" if typed else lists)
        raise MagicError(f"there is no help on {asked}: it is no command", hint=meant) from error


def about(words: Sequence[str]) -> list[str]:
    """What is meant by words of other tools, then the commands whose help has most of the words; few of each.

    Example:
        >>> about(["correct", "a", "row"])[0]
        '%argus stream NAME FILE --key id --changes upsert: a later row with the key of one counts instead of it'
    """
    asked = [word.lower() for word in words if len(word) > 2 and word.lower() not in _NO_TOPICS]
    found: dict[str, int] = {}
    commands = {"%%argus": define.cell_magic, **{f"%argus {name}": each for name, each in COMMANDS.items()}}
    for name, each in commands.items():
        named, text = f"{each.name} {each.summary}".lower(), each.help().lower()
        found[name] = sum(3 if re.search(rf"\b{re.escape(word)}", named) else word in text for word in asked)
    best = sorted((name for name in found if found[name] > 1), key=lambda name: -found[name])[:_BEST]
    lines = [f"{name}: {commands[name].summary}" for name in best]
    return [*dict.fromkeys(_MEANT[word] for word in asked if word in _MEANT), *lines]


COMMANDS: dict[str, Command] = {
    each.name: each
    for each in (
        *(add.add_stream, add.add_table, define.drop),
        *(replay.run, replay.play, replay.pause, replay.step, replay.back, replay.catch_up),
        *(
            show.results,
            show.diff,
            origins.why,
            origins.why_not,
            show.windows,
            show.verify,
            show.queries,
            show.streams,
            show.plan,
        ),
        show.explain,
        *(
            timings.timings,
            costs.costs,
            costs.strategies,
            timings.reoptimize,
            show.catalog,
            watch.notify,
            sinks.sink,
            sinks.errors,
            watch.subscribe,
            watch.agents,
            watch.metrics,
            experiment.experiment,
        ),
        *(suspension.suspend, suspension.resume, suspension.priority),
        *(
            sessions.dashboard,
            sessions.save,
            sessions.snapshot,
            sessions.close,
            sessions.open_session,
            sessions.config,
            sessions.check,
        ),
        *(sessions.doctor, sessions.last_error, help_command),
    )
}
"""The subcommands of ``%argus``."""
