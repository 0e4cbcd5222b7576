"""An analyst's Python functions as bytes, so that a session that is opened again has them.

The bytes hold the code, as Spark sends it to its workers, and run when they are loaded. So only those are loaded that
the user who opens the session has signed (``signing``), unless the analyst trusts the folder. They mean something to
one version of Python alone.
"""

from __future__ import annotations

import inspect
import pickle
import platform
from collections.abc import Callable, Mapping
from typing import Any

from pyspark import cloudpickle

from workbench.catalog.session_rows import StoredFunction
from workbench.engine.spark.user_functions.process import Limits
from workbench.engine.spark.user_functions.returned_values import short_repr
from workbench.errors import SessionError
from workbench.session.directory.signing import is_signed, signed
from workbench.sql.schema import UserFunction

PYTHON = ".".join(platform.python_version_tuple()[:2])
"""The version of Python as far as it matters."""


def stored_function(name: str, function: Callable[..., Any], limits: Limits) -> StoredFunction:
    """A function as bytes, not signed yet.

    Raises:
        SessionError: it refers to something that only lives in this process.
    """
    try:
        return StoredFunction(PYTHON, cloudpickle.dumps(function), limits.seconds, limits.memory)
    except Exception as problem:  # what objects raise that cannot be pickled is theirs
        raise SessionError(
            f"function {name} cannot be kept: {problem}",
            hint="make what it needs inside of it: connections, locks and open files belong to this process alone",
        ) from problem


def distrusted(function: UserFunction, stored: StoredFunction, trust: bool | None) -> str:
    """Why a stored function is not to be loaded; nothing when it may be.

    Args:
        function, stored: what SQL knows of it, and its bytes.
        trust: whether to load all functions; ``None``: those of this user.
    """
    if trust or (trust is None and is_signed(function.id, str(function.returns), stored)):
        return ""
    why = "the session was opened without trust" if trust is False else "it was not added by you, or was changed since"
    return f"function {function.name} is not loaded: {why}"


def takes(name: str, function: Callable[..., Any]) -> tuple[int, int | None]:
    """How many arguments a function can be called with in SQL, at least and at most; ``None`` is any number.

    Raises:
        SessionError: it is no function, or has an argument that must be named, which SQL cannot.

    Example:
        >>> takes("f", lambda a, b=1: a), takes("g", max)
        ((1, 2), (0, None))
    """
    if not callable(function):
        raise SessionError(f"{name} cannot be {short_repr(function)}", hint="give a Python function: lambda x: x + 1")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # functions written in C need not say it
        return 0, None
    if named := [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]:
        raise SessionError(
            f"function {name} has an argument that must be named, {named[0]}, which SQL cannot do",
            hint=f"give {named[0]} a default, or its place among the others",
        )
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in places)
    return least, None if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(places)


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
