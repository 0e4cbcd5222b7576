"""A session: what a notebook holds, its state, its steps, and its directory."""

from __future__ import annotations

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    # "from workbench import session" puts this package in the place of the notebook's variable.
    whence = "from workbench.notebook.extension import get_session; session = get_session()"
    raise AttributeError(f"workbench.session is a package, without {name!r}; the notebook's session: {whence}")
