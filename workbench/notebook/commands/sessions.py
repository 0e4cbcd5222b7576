"""Commands that save, open, check and close a session, and that show what is wrong with it or with the installation."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.display import display

from workbench.errors import MagicError
from workbench.errors.secrets import hide_secrets
from workbench.explain.text import counted, listed
from workbench.files.store import is_address, whole_place
from workbench.files.writing import replacing
from workbench.limits import LIMITS
from workbench.notebook.command_line import argument, command, natural_number
from workbench.notebook.commands.watch import is_watching, watch_again
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import show
from workbench.session.directory.directory import CATALOG

if TYPE_CHECKING:
    from workbench.session.session import Session


PATH = argument(
    "path", metavar="PATH", completes="path", help="the session's folder, or its address, such as s3://bucket/argus"
)
LEAVE = argument("--leave", action="store_true", help="do so also when this notebook's session would be lost")
TRUST = argument(
    "--trust",
    action="store_true",
    help="use functions (which runs their code), sinks and sources that another user put there",
)
_TAKE_OVER = argument(
    "--take-over", action="store_true", help="open a session that a machine which is gone has not closed"
)
_LIMITS = argument("--limits", action="store_true", help="show the sizes at which the engine changes its strategy")
_EMPTY = argument("--empty", action="store_true", help="remove the leftovers that were put aside at opening")


_ROWS = argument("--rows", type=natural_number, default=100, metavar="N", help="rows of an answer (default: 100)")
_FEW_ROWS = argument("--rows", type=natural_number, default=10, metavar="N", help="rows of an answer (default: 10)")
_QUERIES = argument("queries", nargs="*", metavar="QUERY", completes="query", help="which to show (default: all)")


@command(
    "dashboard",
    argument(
        "queries", nargs="*", metavar="NAME", completes="query", help="queries, or cells with sliders (default: all)"
    ),
    _FEW_ROWS,
    argument("--grid", action="append", metavar="ROW", help="a row of the grid: names with blanks between them"),
    examples=(
        "%argus dashboard",
        "%argus dashboard big_transfers fees_by_day --rows 20",
        "%argus dashboard --grid 'big_transfers big_transfers fees_by_day' --grid 'by_size by_size fees_by_day'",
    ),
)
def dashboard(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show answers, charts and sliders side by side, in the order of their names or in a grid; they follow the batches.

    Raises:
        QueryError: there is no such query, and no cell of that name with sliders.
        MagicError: the grid is none.
    """
    from workbench.notebook.dashboard_grid import DashboardGrid
    from workbench.notebook.panel.dashboard_view import DashboardView  # widgets take a second to import
    from workbench.notebook.panel.view import Live

    session = context.session
    grid = DashboardGrid.parsed(arguments.grid) if arguments.grid else None
    if grid is not None and arguments.queries:
        raise MagicError("the grid has all names", hint="leave those before --grid out")
    if grid is not None:
        grid.check(session, context.sliders)
    asked = grid.names if grid is not None else arguments.queries
    sliders = {name: context.sliders[name] for name in asked if name in context.sliders}
    names = [name if name in sliders else session.query(name).name for name in asked]
    display(Live(DashboardView(session, session.player, names, max(0, arguments.rows), grid, sliders)))


@command(
    "snapshot",
    argument("file", metavar="FILE", completes="path", help="where to write it, such as trades.html"),
    _QUERIES,
    _ROWS,
    examples=("%argus snapshot trades.html", "%argus snapshot trades.html big_transfers fees_by_day --rows 20"),
)
def snapshot(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Write answers with their lines *as of*, charts and the network to one HTML file, for people without Jupyter.

    Raises:
        QueryError: there is no such query.
        MagicError: the file cannot be written.
    """
    from workbench.notebook.snapshot import snapshot_page  # widgets take a second to import

    if arguments.file in context.session.queries:
        hint = f"%argus snapshot {arguments.file}.html {arguments.file}"
        raise MagicError(f"{arguments.file} is a query, and the name of the file comes first", hint=hint)
    if (ending := Path(arguments.file).suffix.lower()) not in ("", ".html", ".htm"):
        raise MagicError(
            f"a snapshot is a page of HTML, and no {ending[1:]}", hint="call it snapshot.html; a browser prints it"
        )
    page = snapshot_page(context.session, arguments.queries, max(0, arguments.rows))
    path = Path(arguments.file).expanduser()
    try:
        with replacing(path) as file:
            file.write(page.encode())
    except OSError as error:
        raise MagicError(f"{path} cannot be written: {error.strerror}", hint="give another path") from error
    show(f"{path}: {len(page.encode()) / 1e6:.1f} MB, for any browser; it needs no server and no network")


@command("save", PATH, examples=("%argus save ~/fraud",))
def save(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Copy the session to a folder, or an address such as s3://bucket/argus, where %argus open finds it later.

    Raises:
        MagicError: there is a session in the folder.
        SessionError: it cannot be written to.
    """
    place, current = whole_place(arguments.path), context.session
    if current.place == place:
        show(f"{arguments.path} is the session of this notebook: every batch and query is kept there at once")
        return
    if Path(place, CATALOG).exists():
        hint = f"save to another folder, or remove that one; %argus open {arguments.path} goes on with what is there"
        raise MagicError(f"there is a session in {arguments.path} already, and nothing is written over", hint=hint)
    current.save(arguments.path)
    context.saved = contents(context.session)
    lines = [
        f"saved to {arguments.path}: {described(context.session)}",
        f"%argus open {arguments.path} goes on from there",
    ]
    if left := [name for name, sink in current.sinks.items() if not is_watching(name)]:
        # Two sessions that send to one target would mix their answers.
        lines.append(f"the copy sends nothing; give it the sinks that it is to have: {', '.join(left)}")
    if watched := [name for name in current.sinks if is_watching(name)]:
        lines.append(f"opened in a notebook, it goes on to say below a cell: {', '.join(watched)}")
    show("\n".join(lines))


@command(
    "open",
    PATH,
    LEAVE,
    TRUST,
    _TAKE_OVER,
    examples=("%argus open ~/fraud", "%argus open ~/from_a_colleague --trust", "%argus open s3://bucket/argus"),
)
def open_session(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Open the session of a folder, and continue after its last batch; read-only while it is open elsewhere.

    Raises:
        MagicError: the notebook has it open already, or its present session is not saved.
        SessionError: there is no session in the folder.
    """
    current = context.current
    if (
        current is not None
        and current.place == whole_place(arguments.path)
        and not (current.closed or current.read_only)
    ):
        raise MagicError(f"this notebook has {arguments.path} open already", hint="%argus queries lists what it has")
    if is_address(arguments.path) or Path(whole_place(arguments.path)).is_dir():  # else it cannot be opened, says why
        _check_saved(context, arguments.leave, f"%argus open {arguments.path} --leave")
    served = current is not None and not current.closed and bool(current.ports)
    session = context.open(arguments.path, arguments.trust, arguments.take_over)
    unsaid = {} if session.read_only else watch_again(session)
    lines = [f"{arguments.path}: {described(session)}"]
    lines += [f"{name} does not run: {q.status}" for name, q in session.queries.items() if q.status != "active"]
    for statuses in (session.sources, session.sinks):
        problems = {name: status.problem for name, status in statuses.items() if status.problem}
        lines += [f"{name}: {unsaid.get(name, problem)}" for name, problem in problems.items()]
    if served:
        lines.append(
            "what the session before served is served no more; %argus subscribe serves the answers of this one"
        )
    if session.read_only:
        lines.append(f"read-only: {session.read_only}")
    show("\n".join(lines))


@command(
    "config",
    argument("setting", metavar="SETTING", nargs="?", choices=("timezone",), help="the setting; all unless given"),
    argument("value", metavar="VALUE", nargs="?", completes="zone", help="its new value, which the session keeps"),
    examples=("%argus config", "%argus config timezone Europe/Berlin"),
)
def config(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show the settings of the session, or change one.

    Raises:
        SqlError: there is no such time zone.
    """
    session = context.session
    if arguments.value is not None:
        session.set_timezone(arguments.value)
    others = dict[str, list[str]]()
    for name, query in session.queries.items():
        if query.timezone != session.timezone:
            others.setdefault(query.timezone, []).append(name)
    stay = (
        f"{counted(len(names), 'query stays', 'queries stay')} in {zone}: {listed(names)}"
        for zone, names in others.items()
    )
    again = [f"cells that are run again answer in {session.timezone}"] if others else []
    show("\n".join([f"timezone {session.timezone}", *stay, *again]))


@command("check", _EMPTY, examples=("%argus check",))
def check(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Read all files of the session's folder, and compare each with its stored checksum.

    Raises:
        SessionError: leftovers are to be removed, and the session is read-only.
    """
    show(str(context.session.check(arguments.empty)))


@command("close", LEAVE, examples=("%argus close",))
def close(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """End the session, so that its folder can be used by another process.

    Raises:
        MagicError: the session is not saved.
    """
    if context.current is None or context.current.closed:
        show("there is no session to close")
        return
    _check_saved(context, arguments.leave, "%argus close --leave")
    description = described(context.current)
    context.close()
    show(f"closed: {description}; the next command begins a new session, and %argus open PATH goes on with a saved one")


def _check_saved(context: NotebookContext, leave: bool, anyway: str) -> None:
    if context.current is not None and not leave and would_lose(context, context.current):
        raise MagicError(
            f"this would lose what the notebook works on and has not saved: {described(context.current)}",
            hint=f"%argus save FOLDER keeps it, then say this again; {anyway} loses it",
        )


def would_lose(context: NotebookContext, session: Session) -> bool:
    """Whether a session would be lost with the notebook, and has contents that were not saved."""
    if session.closed or not session.temporary:
        return False
    return bool(session.streams or session.queries) and contents(session) != context.saved


def contents(session: Session) -> object:
    """A value that differs when there is something to save."""
    queries = [(name, query.sql) for name, query in session.queries.items()]
    streams = [(name, stream.rows) for name, stream in session.streams.items()]
    return session.path, session.batch, streams, queries


def described(session: Session) -> str:
    """The contents of a session, in a few words."""
    batch = "before the first batch" if not session.batch else f"after batch {session.batch:,}"
    tables = sum(stream.table for stream in session.streams.values())
    numbers = [
        (len(session.streams) - tables, "stream", "streams"),
        (tables, "table", "tables"),
        (len(session.queries), "query", "queries"),
    ]
    parts = [counted(*number) for number in numbers if number[0]]
    return f"{batch}, {', '.join(parts) or 'nothing in it yet'}"


@command("doctor", _LIMITS, examples=("%argus doctor", "%argus doctor --limits"))
def doctor(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Check that everything the workbench needs is there."""
    from workbench.engine.spark.doctor import report  # looks at programs and folders, which takes a second

    limits = LIMITS if context.current is None else context.current.limits
    show(str(limits) if arguments.limits else report())


@command("last-error", examples=("%argus last-error",))
def last_error(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show the last error with all its details."""
    # IPython leaves the last exception of a cell where Python's own prompt does.
    error = getattr(sys, "last_value", None) or getattr(context.current, "last_error", None)
    show(hide_secrets("".join(traceback.format_exception(error))) if error is not None else "no error so far")
