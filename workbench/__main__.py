"""``argus run PATH``, or ``python -m workbench run PATH``: let the batches of a session arrive without a notebook.

The session continues after its last commit. Another process may have it open read-only meanwhile. When it is opened
later, ``q.changes(since=...)`` gives what changed. An interrupt or a termination lets the running batch end.
``argus serve PATH --live`` runs a session for a team: batches as rows arrive, its page, and answers for other
programs. ``argus doctor`` checks that everything is there.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

from workbench.errors import SessionError, WorkbenchError
from workbench.explain.text import counted

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport
    from workbench.session.session import Session

_PATH = "the session's folder, or its address, such as s3://bucket/argus"
_TAKEN = "it is open elsewhere"
_OPENED = "it was not open"
_ELSEWHERE = "%argus close in the notebook that has it open, or its end, lets others go on; so does --take-over"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives its exit status."""
    begins = "In a notebook: %load_ext workbench, then %argus help."
    parser = argparse.ArgumentParser(
        prog="argus", description="Argus workbench: continuous SQL queries.", epilog=begins
    )
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("doctor", help="check that everything the workbench needs is there")
    run = commands.add_parser("run", help="let the batches of a session arrive", description=__doc__)
    run.add_argument("path", metavar="PATH", help=_PATH)
    run.add_argument("--batches", type=_number, metavar="N", help="run at most N batches (default: all)")
    agents = commands.add_parser("agents", help="let an agent ask a session, as a server of the Model Context Protocol")
    agents.add_argument("path", metavar="PATH", help=f"{_PATH}, which is opened read-only")
    serve = commands.add_parser("serve", help="show a session in a browser, and follow its batches")
    serve.add_argument("path", metavar="PATH", help=_PATH)
    serve.add_argument("--live", action="store_true", help="also run batches as rows arrive, and serve answers")
    serve.add_argument(
        "--latency", default="1s", metavar="T", help="with --live, how long a batch may take (default: 1s)"
    )
    serve.add_argument(
        "--grid", action="append", default=[], metavar="ROW", help="a row of the grid: names with blanks"
    )
    serve.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)")
    serve.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="the interface (default: this machine)")
    serve.add_argument("--token-from", metavar="NAME", help="the environment variable with the token")
    trust = "use functions (which runs their code), sinks and sources that another user put there"
    gone = "open a session at an address that a machine which is gone has not closed"
    for each in (run, serve):
        each.add_argument("--trust", action="store_true", help=trust)
        each.add_argument("--take-over", action="store_true", help=gone)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "doctor":
        return examine()
    try:
        if options.command == "agents":
            return answer_agents(options.path)
        if options.command == "serve":
            return serve_session(options)
        return run_session(options.path, options.batches, options.trust or None, options.take_over)
    except WorkbenchError as problem:
        print(problem, file=sys.stderr)
        return 1


def examine() -> int:
    """Print what the machine has and lacks; gives 1 where something is missing."""
    from workbench.engine.spark.doctor import checks, report

    outcomes = checks()
    print(report(outcomes))
    return int(any(check.required and not check.ok for check in outcomes))


def answer_agents(path: str) -> int:
    """Answer what an agent asks of a session over stdin and stdout until these are closed.

    Raises:
        WorkbenchError: the session cannot be opened, or ``mcp`` is not installed.
    """
    from workbench.agents.server import agent_server
    from workbench.session.session import Session

    with Session.open(path, trust=False, reading=True) as session:
        agent_server(session).run("stdio")
    return 0


def serve_session(options: argparse.Namespace) -> int:
    """Show a session's page until the process is asked to end; with ``--live`` this process also runs the session's
    batches.

    Another process may go on with it otherwise. A session that could not be written to any more is opened again from
    its store, unless another process has taken it over.

    Raises:
        WorkbenchError: the session cannot be opened or gone on with, nothing can listen there, or the environment has
            no such variable.
    """
    from workbench.notebook.dashboard_grid import DashboardGrid
    from workbench.notebook.serving import PAGE_PATH, SessionPages
    from workbench.session.live.going_on import keep_going, writable
    from workbench.session.session import Session
    from workbench.web.listening import listen

    named = options.token_from
    if named is not None and named not in os.environ:
        raise SessionError(f"the environment has no variable {named}", hint="the token would be seen in a command")
    token = secrets.token_urlsafe(24) if named is None else os.environ[named]
    grid = DashboardGrid.parsed(options.grid) if options.grid else None
    ends, why = threading.Event(), _OPENED
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ends.set())
    trust, take_over = (options.trust or None) if options.live else False, options.take_over
    while why and not ends.is_set():
        with Session.open(options.path, trust=trust, reading=not options.live, take_over=take_over) as session:
            if options.live:
                _print_problems(writable(session, _ELSEWHERE))
            if grid is not None:
                grid.check(session)
            endpoint = listen(SessionPages(session, grid=grid), PAGE_PATH, options.port, options.host, token)
            asked = f"?token={token}" if named is None else ", for requests with the token"
            print(f"{session.place} at {endpoint.url}{asked}", flush=True)
            try:
                if options.live:
                    why = keep_going(session, ends, options.latency, _print_report, _print_problem)
                else:
                    why = "" if ends.wait() else why
            finally:
                endpoint.close()
            if why.startswith(_TAKEN):
                writable(session, _ELSEWHERE)
            print(f"{why}; it is opened again" if why else f"stopped after batch {session.batch}", flush=True)
        take_over = False
    return 0


def run_session(path: str, batches: int | None, trust: bool | None = None, take_over: bool = False) -> int:
    """Run a session's batches, with a line for each; ``trust`` and ``take_over``: see ``Session.open``.

    Raises:
        WorkbenchError: the session cannot be opened or run.
    """
    # pyspark takes a second to import, and a wrong argument needs none of it
    from workbench.session.live.going_on import writable
    from workbench.session.live.sources import no_more_rows
    from workbench.session.session import Session

    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)

    with Session.open(path, trust=trust, take_over=take_over) as session:
        _print_problems(writable(session, _ELSEWHERE))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        while not stopped and (batches is None or batches > 0):
            reports = session.run(1)
            if not reports:
                print(no_more_rows(session.sources))
                break
            _print_report(reports[0])
            batches = None if batches is None else batches - 1
        print(f"stopped after batch {session.batch}", flush=True)
    return 0


def _print_problems(session: Session) -> None:
    """Print what keeps sources and sinks of a session from acting."""
    for statuses in (session.sources, session.sinks):
        for name, status in statuses.items():
            if status.problem:
                print(f"{name}: {status.problem}", file=sys.stderr, flush=True)


def _print_problem(problem: WorkbenchError) -> None:
    print(problem, file=sys.stderr, flush=True)


def _print_report(report: BatchReport) -> None:
    changed = sum(1 for rows in report.changes.values() if rows)
    queries = "1 query has" if changed == 1 else f"{changed:,} queries have"
    print(f"batch {report.batch}: {counted(report.rows, 'row')} in {report.seconds:.2f} s, {queries} news", flush=True)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of batches")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
