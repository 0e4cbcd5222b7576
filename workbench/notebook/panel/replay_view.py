"""Replay: where the streams are, and the buttons that play them."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.notebook.display import Shown
from workbench.notebook.panel.view import View
from workbench.notebook.position import FULL_SPEED, SPEEDS, as_speed, as_text, doing, reached, running
from workbench.session.player import Position, State


class ReplayView(View):
    """The player's controls."""

    title = "Replay"

    def build(self) -> ipywidgets.Widget:
        """Buttons in the order of use, the line that tells where the streams are below them."""
        self._play = _button("Play", "play", "Let batches arrive", self._play_or_pause)
        self._step = _button("Step", "step-forward", "Play one batch", lambda: self.player.play(1))
        self._end = _button("To the end", "fast-forward", "Play to the end, as fast as it goes", self._to_end)
        offered = [(f"{speed} in a second", speed) for speed in SPEEDS]
        speeds = [("as fast as it goes", FULL_SPEED), ("as it happened", "1"), *offered[1:]]
        self._speed = ipywidgets.Dropdown(options=speeds, description="Speed", layout={"width": "260px"})
        self._batch = ipywidgets.BoundedIntText(
            min=1,
            max=10_000_000,
            description="Rows a batch",
            tooltip="for every stream",
            layout={"width": "180px"},
            style={"description_width": "initial"},
        )
        self._back = ipywidgets.BoundedIntText(min=0, max=0, description="Batch", layout={"width": "150px"})
        go = _button("Go back", "undo", "Run anew from the history to this batch", self._go_back)
        self._where = ipywidgets.HTML()
        self._where.add_class("argus")
        self._speed.observe(lambda change: self._try(self._set_speed), "value")
        self._shows = self._batch.value
        self._batch.observe(lambda change: self._try(self._set_batch), "value")
        controls = [self._play, self._step, self._end, self._speed, self._batch, self._back, go]
        bar = ipywidgets.HBox(controls, layout={"flex_flow": "row wrap", "align_items": "center"})
        self._problem = ""
        return ipywidgets.VBox([bar, self._where])

    def refresh(self) -> None:
        """The line, the play button's word, the numbers in the fields."""
        position = self.player.position
        playing = position.state in (State.PLAYING, State.GOING_BACK)
        self._play.description, self._play.icon = ("Pause", "pause") if playing else ("Play", "play")
        self._back.max = position.batch
        if not playing:
            self._back.value = position.batch
        streams = [stream for stream in self.session.streams.values() if not stream.table]
        if streams and self._shows != streams[0].batch:
            self._shows = streams[0].batch  # looking is no wish: what is shown is set for no stream
            self._batch.value = self._shows
        read, rows = sum(s.position for s in streams), sum(s.rows for s in streams)
        words = " · ".join(map(escape, filter(None, reached(self.session, position))))
        doing_now = escape(self._problem or doing(position))
        bar = f'<progress max="{max(1, rows)}" value="{read}" aria-label="rows that have arrived"></progress>'
        self._where.value = f'<div role="status">{bar} <b>{doing_now}</b> · {words}</div>{_progress(position)}'

    def twin(self) -> Shown:
        """The line."""
        text = as_text(self.session, self.player.position)
        return Shown(text, f"<p>{escape(text)}</p>")

    def _play_or_pause(self) -> None:
        if self.player.position.state is State.PLAYING:
            self.player.pause()
        else:
            self.player.play()

    def _to_end(self) -> None:
        self._speed.value = FULL_SPEED
        self.player.play()

    def _go_back(self) -> None:
        self.player.go_back(self._back.value)

    def _set_speed(self) -> None:
        self.player.speed = as_speed(self._speed.value)

    def _set_batch(self) -> None:
        """What an analyst wrote, for every stream."""
        if self._batch.value == self._shows:
            return
        self._shows = self._batch.value
        for name, stream in self.session.streams.items():
            if not stream.table and stream.batch != self._batch.value:
                self.session.set_batch(name, self._batch.value)

    def _try(self, action: Any) -> None:
        """Do what was asked; what went wrong is shown in the line."""
        try:
            action()
            self._problem = ""
        except WorkbenchError as error:
            self._problem = str(error).replace("\n", " · ")
        self.refresh()


def _progress(position: Position) -> str:
    """How far the batch is that runs; the line is there also when none runs, so nothing below it moves."""
    done, total = (position.progress.done, position.progress.total) if position.progress is not None else (0, 1)
    bar = (
        f'<progress max="{max(1, total)}" value="{done}" aria-label="operators of the batch that are done"></progress>'
    )
    return f'<div class="argus-faint">{bar} {escape(running(position)) or "no batch is running"}</div>'


def _button(word: str, icon: str, title: str, action: Any) -> ipywidgets.Button:
    made = ipywidgets.Button(description=word, icon=icon, tooltip=title, layout={"width": "auto"})
    made.on_click(lambda button: action())
    return made
