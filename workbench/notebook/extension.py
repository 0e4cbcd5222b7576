"""``%load_ext workbench``: magics, completion and drawings for a notebook.

Spark starts in the background as soon as the extension is loaded; the first command that needs it waits.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from workbench.errors import EnvironmentProblem
from workbench.explain.describe import NetworkView
from workbench.notebook.completion import matcher
from workbench.notebook.desk import Desk, SparkStart
from workbench.notebook.drawing import picture
from workbench.notebook.magics import ArgusMagics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.session.session import Session

_desk: Desk | None = None
"""The desk of this process: a kernel serves one notebook."""


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by ``%load_ext workbench``. Loading again keeps the session."""
    global _desk
    if _desk is None:
        spark = SparkStart(_start_spark)
        _desk = Desk(shell.user_ns, lambda: _make_session(spark), lambda path: _open_session(spark, path))
        atexit.register(_desk.close)  # a session without a folder of its own leaves nothing behind
    install(shell, _desk)


def install(shell: InteractiveShell, desk: Desk) -> None:
    """Give a shell the magics, completion and displays, working on ``desk``."""
    shell.register_magics(ArgusMagics(shell, desk))
    completer = shell.Completer
    others = [m for m in completer.custom_matchers if getattr(m, "matcher_identifier", "") != "argus"]
    completer.custom_matchers = [*others, matcher(desk)]
    shell.events.register("post_run_cell", lambda result: _follow(desk))
    assert shell.display_formatter is not None  # set up with every shell
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(NetworkView, lambda network: picture(network).html)
    formatters["image/svg+xml"].for_type(NetworkView, lambda network: picture(network).svg)


def get_session() -> Session:
    """The session the magics work with; made, once Spark is ready, if there is none yet.

    Raises:
        EnvironmentProblem: the extension is not loaded.
    """
    return _loaded().session


def use(session: Session) -> None:
    """Let the magics work with a session made by hand.

    Raises:
        EnvironmentProblem: the extension is not loaded.

    Example:
        ``from workbench.notebook.extension import use; use(Session(path="~/fraud"))``
    """
    _loaded().use(session)


def _follow(desk: Desk) -> None:
    """After a cell, which may have changed anything, what is on the screen follows."""
    if desk.current is not None and not desk.current.closed:
        desk.current.player.announce()


def _start_spark() -> SparkSession:
    from workbench.engine.spark.local_session import (
        local_spark,  # pyspark takes a second to import, in the background too
    )

    return local_spark()


def _make_session(spark: SparkStart) -> Session:
    from workbench.session.session import Session

    spark.wait()
    return Session()


def _open_session(spark: SparkStart, path: str) -> Session:
    from workbench.session.session import Session

    spark.wait()
    return Session.open(path)


def _loaded() -> Desk:
    if _desk is None:
        raise EnvironmentProblem("the workbench is not loaded in this notebook", hint="%load_ext workbench")
    return _desk
