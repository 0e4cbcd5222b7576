"""Argus workbench: continuous SQL queries, folded into one shared network, evaluated incrementally on Spark."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workbench.options import Options

if TYPE_CHECKING:
    from workbench.notebook.session import Session

__all__ = ["Options", "Session"]


def __getattr__(name: str) -> Any:
    # Planning modules and the doctor are imported without Spark, so the session is only loaded when asked for.
    if name == "Session":
        with _nothing_collected():
            from workbench.notebook.session import Session

        return Session
    raise AttributeError(f"module 'workbench' has no attribute {name!r}: Session() makes a session, which has methods")


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext workbench``."""
    with _nothing_collected():
        from workbench.notebook.extension import load_ipython_extension as load

    load(ipython)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Collect no garbage meanwhile: what modules make stays, and looking through it took a sixth of an import."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
