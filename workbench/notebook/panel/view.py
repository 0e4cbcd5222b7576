"""The base of all views: a live widget, and a static view that a saved notebook keeps.

A widget lives as long as its kernel. The static view is an output below the widget, hidden while the widget is there
(``static/static_view.js``) and replaced whenever a session comes to rest. It has a mime bundle of its own: JupyterLab
shows nothing of a bundle whose widget is gone, and replacing the bundle would make the widget anew.
"""

from __future__ import annotations

import threading
import time
import uuid
import weakref
from abc import ABC, abstractmethod
from collections.abc import MutableMapping
from typing import Any

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from workbench.notebook.display import Shown, together
from workbench.notebook.panel.widgets import STYLE, ChosenQuery, StaticViewHider
from workbench.session.player import Player, Position
from workbench.session.session import Session

OFTEN, SHARE = 0.25, 0.1
"""Seconds between two refreshes while a session plays, and the share of time they take at most; none at rest."""


class View(ABC):
    """One view of a session.

    Args:
        session: the session to show.
        player: the player of that session.
        choice: the choice that the views of a panel share.
    """

    title = ""

    def __init__(self, session: Session, player: Player, choice: ChosenQuery | None = None) -> None:
        self.session = session
        self.player = player
        self.choice = choice or ChosenQuery()
        self.widget: ipywidgets.Widget = self.build()

    @property
    def variables(self) -> MutableMapping[str, Any]:
        """The notebook's namespace."""
        shell = get_ipython()
        return shell.user_ns if shell is not None else {}

    @property
    def user_variables(self) -> dict[str, Any]:
        """The notebook's variables without IPython's own."""
        return {name: value for name, value in self.variables.items() if not name.startswith("_")}

    @abstractmethod
    def build(self) -> ipywidgets.Widget:
        """Make the widget."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring the widget up to date; called from several threads, one at a time."""

    @abstractmethod
    def static_view(self) -> Shown:
        """The view as plain HTML and as text."""


class Live:
    """One or several views on the screen: kept up to date while the session plays and after every cell.

    Args:
        views: the views to show.
        widget: the widget that holds them; that of the first view unless given.
    """

    def __init__(self, *views: View, widget: ipywidgets.Widget | None = None) -> None:
        self.views = views
        self.name = uuid.uuid4().hex
        self.widget = ipywidgets.VBox([widget or views[0].widget, StaticViewHider(static_view=self.name)])
        self._refreshing = threading.RLock()
        self._handle: Any = None
        self._static_of: tuple[Any, ...] = ()
        self._due = 0.0
        self._unsubscribe = views[0].player.subscribe(self._hear)

    def visible(self) -> tuple[View, ...]:
        """The views that can be seen now."""
        return self.views

    def refresh(self, resting: bool = True) -> None:
        """Refresh the visible views, and when nothing plays the static view; views of a closed session stay as they
        are.
        """
        if self.views[0].session.closed:
            return
        with self._refreshing:
            started = time.monotonic()
            for view in self.visible():
                view.refresh()
            now = time.monotonic()
            self._due = now + max(OFTEN, (now - started) / SHARE)
            if resting and self._handle is not None and self._static_of != (version := self._version()):
                self._handle.update(self._static_view())
                self._static_of = version

    def _hear(self, position: Position) -> None:
        """Refresh, but not more often than one can see."""
        resting = position.since is None and position.left == 0
        if resting or time.monotonic() > self._due:
            self.refresh(resting)

    def close(self) -> None:
        """Follow the session no longer; the shown content stays."""
        self._unsubscribe()

    def _ipython_display_(self) -> None:
        self._replace_older()
        self.refresh(resting=False)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": ""}, raw=True)
        self._handle = display(self._static_view(), display_id=True)
        self._static_of = self._version()

    def __repr__(self) -> str:
        return self._static_view().text

    def _version(self) -> tuple[Any, ...]:
        session = self.views[0].session
        return session.network.network, session.batch, tuple(session.streams)

    def _replace_older(self) -> None:
        """One of a kind follows a session; the older one keeps what it shows."""
        kind = (id(self.views[0].session), tuple(type(view) for view in self.views))
        if (older := _open.get(kind)) is not None and older is not self:
            older.close()
        _open[kind] = self

    def _static_view(self) -> Shown:
        shown = [(view.title, view.static_view()) for view in self.views]
        titled = [Shown(f"{title}\n{static.text}".strip(), f"<h3>{title}</h3>{static.html}") for title, static in shown]
        whole = together(*titled)
        html = f'<div class="argus" data-argus-twin="{self.name}"><style>{STYLE}</style>{whole.html}</div>'
        return Shown(whole.text, html)


_open: weakref.WeakValueDictionary[tuple[Any, ...], Live] = weakref.WeakValueDictionary()
"""The views that follow a session now, by session and kind."""
