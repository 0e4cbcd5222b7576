"""Shows what an edited query would change, and lets the analyst replace the old one or keep both."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.explain.text import monospace
from workbench.notebook.panel.widgets import button, html_box
from workbench.session.session import Session


class ReplacementChoice:
    """Two buttons below the changes of an edited query.

    Args:
        session: whose query.
        name: of the query.
        register: registers the text under a name, with the way to go over to it, and says what that did.
    """

    def __init__(self, session: Session, name: str, register: Callable[[str, bool], str]) -> None:
        self._session, self._name, self._register = session, name, register
        self.done = html_box()
        self.buttons = (
            button("Replace", "exchange", lambda: self._choose(name, True), "What reads it goes over to the new one"),
            button("Keep both", "clone", lambda: self._choose(self._free(), False), "Register it under another name"),
        )
        self.widget = ipywidgets.VBox([ipywidgets.HBox(self.buttons), self.done])

    def _free(self) -> str:
        taken = {name.lower() for name in (*self._session.queries, *self._session.streams)}
        return next(name for number in count(2) if (name := f"{self._name}_{number}").lower() not in taken)

    def _choose(self, name: str, moves: bool) -> None:
        for each in self.buttons:
            each.disabled = True
        try:
            self.done.value = monospace(self._register(name, moves))
        except WorkbenchError as error:
            self.done.value = monospace(str(error))
            for each in self.buttons:
                each.disabled = False
