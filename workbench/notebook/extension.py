"""``%load_ext workbench``: the ``%argus`` and ``%%argus`` magics, completion and drawings for a notebook.

Spark starts in the background as soon as the extension is loaded; the first command that needs it waits. Then, while
the analyst reads or types, the workbench does once what her first queries would wait for.
"""

from __future__ import annotations

import atexit
import warnings
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from workbench.errors import ConstraintWarning, EnvironmentProblem, SessionError, SqlWarning, StreamWarning
from workbench.errors.extras import other_project
from workbench.errors.public_api import translate_unexpected_errors
from workbench.explain.describe import NetworkView
from workbench.notebook.assist.completion import matcher
from workbench.notebook.assist.inspection import answer_inspections
from workbench.notebook.command_line import Command
from workbench.notebook.commands.define import cell_magic
from workbench.notebook.commands.registry import arguments_of, command_and_rest, find_command
from workbench.notebook.commands.sessions import would_lose
from workbench.notebook.context import NotebookContext, SparkStart
from workbench.notebook.display import show
from workbench.notebook.drawing import picture
from workbench.notebook.idle import IdleGate
from workbench.notebook.left_sessions import mark, notebook_of, what_is_left
from workbench.notebook.long_work import following

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.notebook.session import Session
    from workbench.session.session import Session as PlainSession

_STEP = 3.0
"""Seconds that a step of ``warm_up_when_idle`` may take."""

current_context: NotebookContext | None = None
"""The context of this process: a kernel serves one notebook."""


@magics_class
class ArgusMagics(Magics):
    """The magics of one notebook, working in its context."""

    def __init__(self, shell: InteractiveShell, context: NotebookContext) -> None:
        super().__init__(shell)
        self.context = context

    @line_cell_magic
    def argus(self, line: str, cell: str | None = None) -> None:
        """Continuous queries on streams; ``%argus help`` lists the commands."""
        if cell is None and not line.strip():
            from workbench.notebook.panel.panel import Panel  # widgets take a moment to import

            display(Panel(self.context.session, self.context.session.player))
            return
        command, rest = self._command(line.strip()) if cell is None else (cell_magic, line)
        if {"--help", "-h"} & set(rest.split()):
            show(command.help())
            return
        arguments = arguments_of(command, rest)
        arguments.cell = cell
        # An analyst is not helped by a stack of ours or of Java; %argus last-error has both.
        with translate_unexpected_errors():
            if command.has_own_line:
                command.run(self.context, arguments)
            else:
                with following(self.context, f"%argus {command.name}" if cell is None else arguments.name):
                    command.run(self.context, arguments)

    def _command(self, line: str) -> tuple[Command, str]:
        """The command of a line, and the rest of the line."""
        current = self.context.current
        queries = () if current is None or current.closed else current.queries
        name, rest = command_and_rest(line)
        return find_command(name, queries, rest), rest


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by ``%load_ext workbench``. Loading again keeps the session."""
    global current_context
    if current_context is None:
        idle = IdleGate()
        shell.events.register("pre_run_cell", lambda info: idle.begin())
        shell.events.register("post_run_cell", lambda result: idle.end())
        spark = SparkStart(start_spark, on_ready=partial(warm_up_when_idle, idle))
        notebook = notebook_of(shell.user_ns)
        current_context = NotebookContext(shell.user_ns, partial(make_session, notebook), open_session)
        atexit.register(leave, current_context, notebook)
        show_plain_warnings()
        for said in (other_project(), what_is_left(notebook)):
            if said:
                show(said)
        atexit.register(stop_warm_up, idle, spark)
    install(shell, current_context)
    if getattr(shell, "kernel", None) is not None:
        from workbench.notebook.assist.colours import SqlColours  # widgets take a moment to import

        SqlColours()


def install(shell: InteractiveShell, context: NotebookContext) -> None:
    """Give a shell the magics, completion, hints and displays, working on ``context``."""
    shell.register_magics(ArgusMagics(shell, context))
    if with_a_line_below not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(with_a_line_below)
    completer = shell.Completer
    others = [m for m in completer.custom_matchers if getattr(m, "matcher_identifier", "") != "argus"]
    completer.custom_matchers = [*others, matcher(context)]
    if (kernel := getattr(shell, "kernel", None)) is not None:
        answer_inspections(kernel, context)
    shell.events.register("post_run_cell", lambda result: _follow(context))
    assert shell.display_formatter is not None  # set up with every shell
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(NetworkView, lambda network: picture(network).html)
    formatters["image/svg+xml"].for_type(NetworkView, lambda network: picture(network).svg)


def with_a_line_below(lines: list[str]) -> list[str]:
    """The lines of a cell, with an empty one below a cell magic that stands alone.

    IPython would refuse such a cell itself, and propose the line magic, which is something else.

    Example:
        >>> with_a_line_below(["%%argus big\\n"]), with_a_line_below(["1 + 1\\n"])
        (['%%argus big\\n', '\\n'], ['1 + 1\\n'])
    """
    alone = len(lines) == 1 and lines[0].split(" ")[0].strip() == "%%argus"
    return [*lines, "\n"] if alone else lines


def get_session() -> PlainSession:
    """The session the magics work with; made if there is none yet.

    Raises:
        EnvironmentProblem: the extension is not loaded.
    """
    return _loaded().session


def use(session: PlainSession) -> None:
    """Let the magics work with a session made by hand.

    Raises:
        EnvironmentProblem: the extension is not loaded.

    Example:
        ``from workbench.notebook.extension import use; use(Session(path="~/fraud"))``
    """
    _loaded().use(session)


def _follow(context: NotebookContext) -> None:
    """After a cell, which may have changed anything, what is on the screen follows."""
    if context.current is not None and not context.current.closed:
        with suppress(SessionError):  # the next command says it, as of a folder that is gone
            context.current.player.announce()


def start_spark() -> SparkSession:
    """Start Spark; takes seconds."""
    from workbench.engine.spark.local_session import local_spark  # pyspark takes a second to import

    return local_spark()


def warm_up_when_idle(idle: IdleGate, spark: SparkSession) -> None:
    """Prepare a Spark that has just started for the first queries, and the machine for later starts."""
    from workbench.session.startup.class_training import train_in_background
    from workbench.session.startup.warm_up import warm_up

    warm_up(spark, idle.wait)
    train_in_background()


def stop_warm_up(idle: IdleGate, spark: SparkStart) -> None:
    """Let what ``warm_up_when_idle`` does end, so that it leaves nothing behind."""
    idle.close()
    spark.join(_STEP)


def make_session(notebook: str = "") -> Session:
    """A new session; its folder names the notebook, if that is known."""
    from workbench.notebook.session import Session

    session = Session()
    if notebook:
        mark(session.path, notebook)
    return session


def leave(context: NotebookContext, notebook: str) -> None:
    """Close the sessions of a kernel that ends. One that was not saved stays for the notebook's next kernel, if the
    notebook is known.
    """
    session = context.current
    if notebook and session is not None and would_lose(context, session):
        session.keep()
    context.close()


def open_session(path: str, trust: bool | None = None) -> Session:
    """The session of a folder; ``trust``: see ``Session.open``."""
    from workbench.notebook.session import Session

    return Session.open(path, trust=trust)


def _loaded() -> NotebookContext:
    if current_context is None:
        raise EnvironmentProblem("the workbench is not loaded in this notebook", hint="%load_ext workbench")
    return current_context


def show_plain_warnings() -> None:
    """Show warnings of the workbench by their text alone: the line of code that gave one is not the analyst's."""
    usual = warnings.formatwarning

    def one_line(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if issubclass(category, (ConstraintWarning, SqlWarning, StreamWarning)):
            return f"warning: {message}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = one_line
