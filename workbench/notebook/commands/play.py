"""Commands that play batches in the background while cells go on working."""

from __future__ import annotations

import argparse

from workbench.errors import QueryError
from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.desk import Desk
from workbench.notebook.display import ProgressLine, show
from workbench.notebook.position import FULL_SPEED, SPEEDS, as_speed, as_text
from workbench.session.player import Position, State
from workbench.session.session import Session


def play(desk: Desk, arguments: argparse.Namespace) -> None:
    """Play on in the background; the line below the cell tells how far it is."""
    session, player = desk.session, desk.session.player
    if arguments.batch is not None:
        set_batch(session, arguments.batch)
    if arguments.speed is not None:
        player.speed = as_speed(arguments.speed)
    player.play(arguments.batches)
    follow(desk)


def set_batch(session: Session, rows: int) -> None:
    """Let so many rows of every stream arrive with each batch."""
    for name, stream in session.streams.items():
        if not stream.table:
            session.set_batch(name, rows)


def follow(desk: Desk) -> None:
    """Show a line that tells where the player is, until it stops."""
    session, player = desk.session, desk.session.player
    line = ProgressLine(as_text(session, player.position))

    def tell(position: Position) -> None:
        line.update(as_text(session, position))
        if position.state not in (State.PLAYING, State.GOING_BACK) and position.since is None:
            unsubscribe()

    unsubscribe = player.subscribe(tell)
    tell(player.position)


def pause(desk: Desk, arguments: argparse.Namespace) -> None:
    """Stop after the batch that is running."""
    desk.session.player.pause()
    show(as_text(desk.session, desk.session.player.position))


def step(desk: Desk, arguments: argparse.Namespace) -> None:
    """Play one batch and wait for it."""
    desk.session.player.play(1)
    desk.session.player.wait()
    show(as_text(desk.session, desk.session.player.position))


def back(desk: Desk, arguments: argparse.Namespace) -> None:
    """Go back to what was after a batch."""
    try:
        desk.session.player.go_back(arguments.batch)
    except QueryError as error:
        raise MagicError(error.message, hint=error.hint) from error
    follow(desk)


COMMANDS = (
    Command(
        "play",
        "Let batches arrive in the background, while cells go on working.",
        play,
        (
            argument("batches", nargs="?", type=int, metavar="N", help="how many (default: to the streams' end)"),
            argument(
                "--speed",
                metavar="SPEED",
                completes="speed",
                help=f"stream time in a second: {', '.join(SPEEDS)}, 90 (seconds) or {FULL_SPEED} (as fast as it goes)",
            ),
            argument("--batch", type=int, metavar="ROWS", help="rows of every stream in each batch from now on"),
        ),
        ("%argus play", "%argus play 20 --speed 1d", "%argus play --batch 500 --speed max"),
    ),
    Command("pause", "Stop playing, after the batch that is running.", pause, (), ("%argus pause",)),
    Command("step", "Play one batch.", step, (), ("%argus step",)),
    Command(
        "back",
        "Go back to what was after a batch: run anew from the history, with the same rows in the same batches.",
        back,
        (argument("batch", type=int, metavar="BATCH", help="its number; 0 is the history alone"),),
        ("%argus back 3", "%argus back 0"),
    ),
)
