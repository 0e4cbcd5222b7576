"""The form that adds a stream: it shows the first rows of a file or variable, and proposes values for its fields."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets
import pandas as pd

from workbench.arrow.frames import frame_of
from workbench.errors import WorkbenchError
from workbench.errors.public_api import translate_unexpected_errors
from workbench.explain.cells import FrameCells
from workbench.explain.text import monospace
from workbench.notebook.command_line import batch_size
from workbench.notebook.display import cell_html, rows_to_come
from workbench.notebook.long_work import Underway, repeatedly
from workbench.notebook.named_source import find_source
from workbench.notebook.panel.markup import grid, scrolled
from workbench.notebook.panel.widgets import button, html_box
from workbench.session.session import Session
from workbench.streams.files.formats import FileFormat
from workbench.streams.source_preview import SourcePreview, preview_source
from workbench.streams.stream import DEFAULT_BATCH, Stream

MOST_FILES = 200
"""The most files that are proposed."""
NO_TIME = ""
"""The value of the field for a stream without event time."""


class AddStream:
    """Fields for a stream, a look at its first rows, and a button that adds it.

    A large file is added in a thread, and the kernel goes on.

    Args:
        session: that gets the stream.
        variables: gives the notebook's present variables.
        added: called when a stream was added.
    """

    def __init__(self, session: Session, variables: Callable[[], Mapping[str, Any]], added: Callable[[], None]) -> None:
        self._session, self._variables, self._added = session, variables, added
        self.source_field = ipywidgets.Combobox(
            description="Source",
            placeholder="a file, a DataFrame's name, kafka://…, in/*.csv",
            continuous_update=False,
            layout={"width": "420px"},
        )
        self.name_field = ipywidgets.Text(description="Name", placeholder="what queries call it")
        self.time_field = ipywidgets.Dropdown(
            description="Time", options=[("no event time", NO_TIME)], tooltip="the column that says when a row happened"
        )
        self.history_field = ipywidgets.BoundedIntText(
            description="History", value=0, min=0, max=1 << 62, tooltip="rows that are there from the start"
        )
        self.batch_field = ipywidgets.Text(
            description="Batch", value=str(DEFAULT_BATCH), tooltip="rows that arrive at a time, or event time as 1h"
        )
        self._shown = html_box()
        self._looked_at = ""
        self._adding: threading.Thread | None = None
        self.source_field.observe(lambda change: self._source_named(change["new"]), "value")
        look = button("Look", "search", self._look_pressed, "Show the first rows and the types; nothing is added")
        self._add_button = button("Add", "plus", self._add_pressed, "Add the stream; its history arrives at once")
        buttons = [look, self._add_button]
        fields = [self.name_field, self.time_field, self.history_field, self.batch_field]
        self.widget = ipywidgets.VBox(
            [
                ipywidgets.HBox([self.source_field, *buttons], layout={"flex_flow": "row wrap"}),
                ipywidgets.HBox(fields, layout={"flex_flow": "row wrap"}),
                self._shown,
            ]
        )

    def refresh(self) -> None:
        """Propose the files and variables that there are now."""
        frames = [name for name, value in self._variables().items() if isinstance(value, pd.DataFrame)]
        proposed = (*frames, *files())
        if self.source_field.options != proposed:
            self.source_field.options = proposed

    def _source(self) -> Any:
        return find_source(self.source_field.value.strip(), self._variables())

    def _look(self) -> str:
        look = preview_source(self._source())
        self.time_field.options = [("no event time", NO_TIME), *((name, name) for name in look.times)]
        self.time_field.value = look.event_time or NO_TIME
        if not self.name_field.value:
            self.name_field.value = _name_of(self.source_field.value)
        return _first_rows(look)

    def _source_named(self, source: str) -> None:
        """A source was chosen or typed: look at it."""
        self._looked_at = source
        if source:
            self._act(self._look)

    def _look_pressed(self) -> None:
        """Look, unless the field was left for the button, which has looked already."""
        looked_at, self._looked_at = self._looked_at, ""
        if not looked_at or looked_at != self.source_field.value:
            self._act(self._look)

    def _add_pressed(self) -> None:
        """Add the stream in a thread: a large file takes long, and cells run meanwhile."""
        if self._adding is not None and self._adding.is_alive():
            return
        name = self.name_field.value.strip()
        try:
            add = partial(
                self._session.add_stream,
                name,
                self._source(),
                history=self.history_field.value,
                batch=batch_size(self.batch_field.value.strip()),
                time=self.time_field.value or None,
            )
        except WorkbenchError as error:
            self._shown.value = monospace(str(error))
            return
        self._add_button.disabled = True
        self._adding = threading.Thread(target=self._add, args=(name, add), name="argus-add-stream", daemon=True)
        self._adding.start()

    def join(self, seconds: float) -> None:
        """Wait until a stream is added, at most for some seconds."""
        if self._adding is not None:
            self._adding.join(seconds)

    def _add(self, name: str, add: Callable[[], Stream]) -> None:
        """Add the stream, and show the progress meanwhile; this runs in the thread."""
        begun, course = time.monotonic(), Underway()

        def say() -> None:
            how = course.how_far(self._session.arriving or self._session.progress, time.monotonic() - begun)
            self._shown.value = monospace(f"adding {name}: {how}; cells can be run meanwhile")

        say()
        try:
            with repeatedly(say), translate_unexpected_errors():
                stream = add()
        except WorkbenchError as error:
            self._shown.value = monospace(str(error))
            return
        finally:
            self._add_button.disabled = False
        self.name_field.value = ""
        self._shown.value = monospace(rows_to_come(stream))
        self._added()

    def _act(self, action: Callable[[], str]) -> None:
        """Show the text that an action returns, or its error."""
        try:
            self._shown.value = action()
        except WorkbenchError as error:
            self._shown.value = monospace(str(error))


def files() -> list[str]:
    """Data files in the working folder, in its subfolders, and in the folder around it, without hidden ones."""
    folder = Path()
    places = [folder, *sorted(folder.glob("[!.]*/")), *sorted(Path("..").glob("[!.]*/"))]
    found = (
        path for place in places for path in sorted(place.glob("[!.]*")) if FileFormat.named(path.name) is not None
    )
    return [str(path) for path, _ in zip(found, range(MOST_FILES), strict=False)]


def _name_of(source: str) -> str:
    """A name for a stream, made from the name of its source.

    Example:
        >>> _name_of("data/2013 flights.csv.gz"), _name_of("kafka://localhost:9092/trades?x=1"), _name_of("in/*.csv")
        ('flights', 'trades', 'stream')
    """
    last = re.split(r"[?#]", source)[0].rstrip("/").rpartition("/")[2]
    words = re.sub(r"\W+", "_", last.split(".")[0]).lstrip("_0123456789")
    return words or "stream"


def _first_rows(look: SourcePreview) -> str:
    """The columns with their types, and the first rows."""
    headings = [f"{name} {type_}" for name, type_ in look.columns]
    cells = FrameCells.of(frame_of(look.rows))
    rows = [list(map(cell_html, row)) for row in cells.rows]
    return scrolled("first rows", grid(headings, rows)) + "".join(f"<p>{escape(misfit)}</p>" for misfit in look.misfits)
