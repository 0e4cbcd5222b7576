"""An analyst's Python functions as bytes, so that a session that is opened again has them.

The bytes hold the code, as Spark sends it to its workers, and run when they are read: open folders only of people you
trust. They mean something to one version of Python alone.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle

from workbench.catalog.session_rows import StoredFunction
from workbench.errors import SessionError

PYTHON = ".".join(platform.python_version_tuple()[:2])
"""The version of Python as far as it matters."""


def stored_function(name: str, function: Callable[..., Any]) -> StoredFunction:
    """A function as bytes.

    Raises:
        SessionError: it refers to something that only lives in this process.
    """
    try:
        return StoredFunction(PYTHON, cloudpickle.dumps(function))
    except Exception as problem:  # what objects raise that cannot be pickled is theirs
        raise SessionError(
            f"function {name} cannot be kept: {problem}",
            hint="make what it needs inside of it: connections, locks and open files belong to this process alone",
        ) from problem


def loaded(stored: StoredFunction) -> Callable[..., Any]:
    """The function of some bytes."""
    function: Callable[..., Any] = pickle.loads(stored.pickled)
    return function


def wrong_with(name: str, stored: StoredFunction) -> str:
    """Why a stored function cannot be used; nothing when it can."""
    if stored.python != PYTHON:
        return f"function {name} was stored by Python {stored.python}, and this is Python {PYTHON}"
    try:
        loaded(stored)
    except Exception as problem:  # whatever a module that it needs raises when it is imported
        return f"function {name} cannot be loaded: {problem}"
    return ""
