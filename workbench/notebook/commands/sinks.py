"""The commands for sinks, and for errors of sources and sinks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import MagicError, nearest
from workbench.explain.text import counted
from workbench.notebook.command_line import argument, command
from workbench.notebook.commands.show import QUERY
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import errors_table, show, sinks_table, with_as_of
from workbench.notebook.quarantine import quarantined_before

if TYPE_CHECKING:
    from workbench.session.session import Session

ADDRESSES = ("://", "delta:", "mailto:", "sqlite:", "duckdb:")
"""Parts of addresses by which they differ from folders."""


@command(
    "sink",
    replace(QUERY, settings=QUERY.settings | {"nargs": "?", "help": "its name (default: all sinks are listed)"}),
    argument(
        "target",
        nargs="?",
        metavar="TARGET",
        completes="path",
        help="a folder, a function's name, or s3://…, delta:FOLDER, kafka://…, postgresql://…, http://…",
    ),
    argument("--name", metavar="SINK", help="the name of the sink (default: the query's name)"),
    argument("--stop", action="store_true", help="drop the sink, and its record of what was sent"),
    examples=(
        "%argus sink big_transfers out/big",
        "%argus sink big_transfers kafka://localhost:9092/big --name topic",
        "%argus sink big_transfers --stop",
        "%argus sink",
    ),
)
def sink(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Send the changes of an answer in each batch to a folder, a table, a topic, an address or a function. Without a
    target, show how far the sink is; without a query, list all sinks.

    It begins with the answer as it was at registration, and goes on when the session is opened again.

    Raises:
        MagicError: there is no such sink to be stopped, or no such function.
        QueryError: there is no such query, or its changes are not kept.
        SessionError: there is no such kind of target, or a sink of that name.
    """
    session = context.session
    if arguments.query is None:
        if arguments.stop or arguments.name is not None:
            raise MagicError("%argus sink: no query is named", hint="%argus sink QUERY --stop; %argus sink lists them")
        nothing = "no query has a sink; %argus sink QUERY FOLDER adds one"
        show(sinks_table(session.sinks) if session.sinks else nothing)
        return
    query = session.query(arguments.query)
    name = arguments.name or query.name
    if arguments.stop:
        _check_there(session, name)
        session.drop_sink(name)
        show(f"{name} gets no more; what it has got stays")
    elif arguments.target is None:
        _check_there(session, name)
        status = session.sinks[name]
        show(with_as_of(sinks_table({name: status}), session.as_of(status.query)))
    else:
        target = find_target(arguments.target, context.user_variables)
        if name in session.sinks:
            hint = f"--name SINK gives another name; %argus sink {query.name} --stop ends it"
            raise MagicError(f"there is already a sink called {name}", hint=hint)
        status = session.add_sink(query.name, target, name=name)
        where = target if isinstance(target, str) else f"{arguments.target}()"
        begins = f"beginning with its answer after batch {query.registered}"
        show(f"the changes of {query.name} go to {where}, {begins}; %argus sink {query.name} says how far it is")
        if status and status.problem:
            show(f"so far it cannot be reached, and is tried again: {status.problem}")


@command(
    "errors",
    argument("name", nargs="?", metavar="NAME", completes="stream", help="a stream or sink (default: all)"),
    argument("--retry", action="store_true", help="try the source or sink again now"),
    argument("--dismiss", action="store_true", help="remove the errors from the list"),
    examples=("%argus errors", "%argus errors big_transfers --retry", "%argus errors --dismiss"),
)
def errors(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """List the last hundred errors of live sources and sinks, also of earlier days, with the refused rows; and how many
    rows of files were quarantined.

    Raises:
        MagicError: --retry names none.
        QueryError: there is no such sink or stream.
        StreamError: the stream that is to be tried again is not live.
    """
    session, name = context.session, arguments.name
    if arguments.retry:
        if name is None:
            raise MagicError("--retry needs the name of a stream or sink", hint="%argus errors NAME --retry")
        problem = session.retry(name)
        show(f"{name}: {problem or 'nothing is wrong with it now'}")
    if arguments.dismiss:
        show(f"{counted(session.dismiss_errors(name), 'error')} dismissed")
    if not arguments.retry and not arguments.dismiss:
        known = [*session.sinks, *session.streams, *(error.name for error in session.errors)]
        if name is not None and name.lower() not in map(str.lower, known):
            hint = nearest(name, known) or "%argus errors lists those of all"
            raise MagicError(f"there is no sink or stream {name}", hint=hint)
        show(errors_table(error for error in session.errors if name is None or error.name.lower() == name.lower()))
        for line in quarantined_before(session, name):
            show(line)


def find_target(word: str, variables: Mapping[str, Any]) -> Any:
    """The target that a word names: a function of the notebook, an address, or a folder with its whole path.

    Raises:
        MagicError: a variable of that name is no function, or there is a file.
    """
    if ":/" in word or any(part in word for part in ADDRESSES):
        return word
    if word not in variables:
        path = Path(word).expanduser().resolve()
        if (file := next(filter(Path.is_file, (path, *path.parents)), None)) is not None:
            raise MagicError(f"{file} is a file", hint="give a folder, which gets a Parquet file for each batch")
        return str(path)
    if not callable(variables[word]):
        hint = f"./{word} is a folder; a function takes the number of a batch and a DataFrame of its changes"
        raise MagicError(f"the variable {word} is no function", hint=hint)
    return variables[word]


def _check_there(session: Session, name: str) -> None:
    if name not in session.sinks:
        near = None if name in session.queries else nearest(name, session.sinks)
        hint = near or f"%argus sink {name} FOLDER adds one; %argus streams lists them"
        raise MagicError(f"there is no sink {name}", hint=hint)
