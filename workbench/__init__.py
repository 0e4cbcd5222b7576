"""Argus workbench: continuous SQL queries, folded into one shared network, evaluated incrementally on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.garbage import nothing_collected
from workbench.options import Options

if TYPE_CHECKING:
    from workbench.notebook.session import Session

__all__ = ["Options", "Session"]


def __getattr__(name: str) -> Any:
    # Planning modules and the doctor are imported without Spark, so the session is only loaded when asked for.
    if name == "Session":
        with nothing_collected():  # what modules make stays, and looking through it took a sixth of an import
            from workbench.notebook.session import Session

        return Session
    raise AttributeError(f"module 'workbench' has no attribute {name!r}: Session() makes a session, which has methods")


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext workbench``."""
    with nothing_collected():
        from workbench.notebook.extension import load_ipython_extension as load

    load(ipython)
