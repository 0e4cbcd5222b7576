"""An analyst's Python functions as bytes, so that a session that is opened again has them.

The bytes hold the code, as Spark sends it to its workers, and run when they are loaded. So only those are loaded that
the user who opens the session has signed (``signing``), unless the analyst trusts the folder. They mean something to
one version of Python alone.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Callable, Mapping
from typing import Any

from pyspark import cloudpickle

from workbench.catalog.session_rows import StoredFunction
from workbench.errors import SessionError
from workbench.recovery.signing import is_signed, signed
from workbench.sql.schema import UserFunction
from workbench.sql.types import DataType

PYTHON = ".".join(platform.python_version_tuple()[:2])
"""The version of Python as far as it matters."""


def stored_function(name: str, function: Callable[..., Any], returns: DataType) -> StoredFunction:
    """A function as bytes, with this user's signature.

    Raises:
        SessionError: it refers to something that only lives in this process.
    """
    try:
        stored = StoredFunction(PYTHON, cloudpickle.dumps(function))
    except Exception as problem:  # what objects raise that cannot be pickled is theirs
        raise SessionError(
            f"function {name} cannot be kept: {problem}",
            hint="make what it needs inside of it: connections, locks and open files belong to this process alone",
        ) from problem
    return signed(name, str(returns), stored)


def distrusted(name: str, returns: str, stored: StoredFunction, trust: bool | None) -> str:
    """Why a stored function is not to be loaded; nothing when it may be.

    Args:
        name, returns, stored: the function.
        trust: whether to load all functions; ``None``: those of this user.
    """
    if trust or (trust is None and is_signed(name, returns, stored)):
        return ""
    why = "the session was opened without trust" if trust is False else "it was not added by you, or was changed since"
    return f"function {name} is not loaded: {why}"


def loaded(stored: StoredFunction) -> Callable[..., Any]:
    """The function of some bytes."""
    function: Callable[..., Any] = pickle.loads(stored.pickled)
    return function


def wrong_with(name: str, stored: StoredFunction) -> str:
    """Why a stored function that may be loaded cannot be used; nothing when it can. It loads the function."""
    try:
        loaded(stored)
    except Exception as problem:  # whatever a module that it needs raises when it is imported
        return f"function {name} cannot be loaded: {problem}"
    return ""


def of_other_python(name: str, stored: StoredFunction) -> str:
    """Whether another version of Python stored a function, as a reason; nothing when it was this one."""
    if stored.python != PYTHON:
        return f"function {name} was stored by Python {stored.python}, and this is Python {PYTHON}"
    return ""


def signed_anew(
    functions: Mapping[str, UserFunction], stored: Mapping[str, StoredFunction]
) -> Mapping[str, StoredFunction]:
    """Functions that the analyst trusts, with the signature of this user."""
    return {
        name: code if is_signed(name, returns, code) else signed(name, returns, code)
        for name, code in stored.items()
        for returns in [str(functions[name].returns)]
    }
