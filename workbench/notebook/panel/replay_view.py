"""Replay: the streams, how far each has arrived, and the buttons that play them."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.notebook.display import Shown
from workbench.notebook.notification import noticed
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import button, html_box
from workbench.notebook.replay_status import (
    FULL_SPEED,
    LATENCY,
    SPEEDS,
    activity,
    latency_of_play,
    parse_speed,
    progress_parts,
    running_batch,
    status_line,
)
from workbench.session.live.batch_size import seconds_of
from workbench.session.player import PlayerState, Position

_LIVE = "live"
"""Among the speeds: batches of the rows that have come."""


class ReplayView(View):
    """The player's controls."""

    title = "Replay"

    def build(self) -> ipywidgets.Widget:
        """Buttons in the order of use, the line that tells where the streams are below them."""
        self._play = button("Play", "play", self._play_or_pause, "Let batches arrive")
        self._step = button("Step", "step-forward", lambda: self.player.play(1), "Play one batch")
        self._end = button("To the end", "fast-forward", self._to_end, "Play to the end, as fast as it goes")
        offered = [(f"{speed} in a second", speed) for speed in SPEEDS]
        self._speeds = [("as fast as it goes", FULL_SPEED), ("as it happened", "1"), *offered[1:]]
        self.speed_field = ipywidgets.Dropdown(
            options=[*self._speeds, (f"as rows come, {LATENCY} a batch", _LIVE)],
            description="Speed",
            layout={"width": "260px"},
        )
        self.batch_field = ipywidgets.BoundedIntText(
            min=1,
            max=10_000_000,
            description="Rows a batch",
            tooltip="for every stream whose batches are not cut by event time",
            layout={"width": "180px"},
            style={"description_width": "initial"},
        )
        self.back_field = ipywidgets.BoundedIntText(min=0, max=0, description="Batch", layout={"width": "150px"})
        go = button("Go back", "undo", self._go_back, "Go on from what was after this batch")
        self._where = html_box()
        self.speed_field.observe(self._speed_chosen, "value")
        self._shown_batch = self.batch_field.value
        self.batch_field.observe(lambda change: self._try(self._set_batch), "value")
        controls = [self._play, self._step, self._end, self.speed_field, self.batch_field, self.back_field, go]
        bar = ipywidgets.HBox(controls, layout={"flex_flow": "row wrap", "align_items": "center"})
        self._problem = ""
        self._noticed = html_box()
        noticed(self.player).listen(self._show_noticed)
        self._show_noticed()
        return ipywidgets.VBox([bar, self._where, self._noticed])

    def refresh(self) -> None:
        """The line, the play button's word, the numbers in the fields."""
        position = self.player.position
        playing = position.state in (PlayerState.PLAYING, PlayerState.GOING_BACK)
        self._play.description, self._play.icon = ("Pause", "pause") if playing else ("Play", "play")
        self.back_field.max = position.batch
        if not playing:
            self.back_field.value = position.batch
        self._show_speed(position)
        streams = [stream for stream in self.session.streams.values() if not stream.table]
        sizes = [stream.batch for stream in streams if isinstance(stream.batch, int)]
        self.batch_field.disabled = not sizes
        if sizes and self._shown_batch != sizes[0]:
            self._shown_batch = sizes[0]  # a number that is shown, not typed, is set for no stream
            self.batch_field.value = self._shown_batch
        read, rows = sum(s.position for s in streams), sum(s.rows for s in streams)
        words = " · ".join(map(escape, filter(None, progress_parts(self.session, position))))
        now = escape(self._problem or activity(self.session, position))
        bar = f'<progress max="{max(1, rows)}" value="{read}" aria-label="rows that have arrived"></progress>'
        running = f" · {escape(running_batch(position))}" if running_batch(position) else ""
        self._where.value = f'<div role="status">{bar} <b>{now}</b> · {words}{running}</div>'

    def static_view(self) -> Shown:
        """The line, and what was noticed last."""
        lines = [status_line(self.session, self.player.position), *noticed(self.player).lines]
        return Shown("\n".join(lines), "".join(f"<p>{escape(line)}</p>" for line in lines))

    def _show_noticed(self) -> None:
        """What ``%argus notify`` says, the newest first; called from the threads of sinks."""
        newest, *older = [escape(line) for line in noticed(self.player).lines] or [""]
        rest = f"<details><summary>before</summary>{'<br>'.join(older)}</details>" if older else ""
        self._noticed.value = f'<div class="argus-noticed" role="alert">{newest}</div>{rest}' if newest else ""

    def _play_or_pause(self) -> None:
        if self.player.position.state is PlayerState.PLAYING:
            self.player.pause()
        else:
            self._play_as_chosen(latency_of_play(self.session))

    def _play_as_chosen(self, otherwise: float | None = None) -> None:
        live = self.speed_field.value == _LIVE
        self.player.play(latency=seconds_of(LATENCY, "latency") if live else otherwise)

    def _to_end(self) -> None:
        self.speed_field.value = FULL_SPEED
        self.player.play()

    def _go_back(self) -> None:
        self.player.go_back(self.back_field.value)

    def _set_speed(self) -> None:
        """Play at the speed that was chosen, also what plays already."""
        live = self.speed_field.value == _LIVE
        if not live:
            self.player.speed = parse_speed(self.speed_field.value)
        position = self.player.position
        if position.state is PlayerState.PLAYING and live != (position.latency is not None):
            self._play_as_chosen()

    def _show_speed(self, position: Position) -> None:
        """Show how it plays, which a cell may have said."""
        if position.state is not PlayerState.PLAYING:
            return
        speeds = {parse_speed(given): given for _, given in self._speeds}
        plays = speeds.get(self.player.speed) if position.latency is None else _LIVE
        if plays is not None and plays != self.speed_field.value:
            self.speed_field.unobserve(self._speed_chosen, "value")
            self.speed_field.value = plays
            self.speed_field.observe(self._speed_chosen, "value")

    def _speed_chosen(self, change: object) -> None:
        self._try(self._set_speed)

    def _set_batch(self) -> None:
        """Set the number that the analyst typed, for every stream whose batches are numbers of rows."""
        if self.batch_field.value == self._shown_batch:
            return
        self._shown_batch = self.batch_field.value
        for name, stream in self.session.streams.items():
            if not stream.table and isinstance(stream.batch, int) and stream.batch != self.batch_field.value:
                self.session.set_batch(name, self.batch_field.value)

    def _try(self, action: Any) -> None:
        """Run an action, and show its error in the line."""
        try:
            action()
            self._problem = ""
        except WorkbenchError as error:
            self._problem = str(error).replace("\n", " · ")
        self.refresh()
