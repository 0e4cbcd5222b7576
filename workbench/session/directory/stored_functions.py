"""An analyst's Python functions as bytes, so that a session that is opened again has them.

The bytes hold the code, as Spark sends it to its workers, and run when they are loaded. So only those are loaded that
the user who opens the session has signed (``signing``), unless the analyst trusts the folder. One version of Python
cannot load the bytes of another.
"""

from __future__ import annotations

import hmac
import inspect
import pickle
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark import cloudpickle

from workbench.engine.spark.user_functions.process import FunctionLimits
from workbench.engine.spark.user_functions.returned_values import short_repr
from workbench.errors import SessionError
from workbench.session.directory.gate import why_not_trusted
from workbench.session.directory.signing import signature
from workbench.sql.algebra.types import DataType
from workbench.sql.schema import UserFunction

PYTHON = ".".join(platform.python_version_tuple()[:2])
"""The version of Python as far as it matters."""


@dataclass(frozen=True)
class StoredFunction:
    """A version of a function of the analyst, as the catalog stores it.

    Attributes:
        name: the id of the version (``UserFunction.id``).
        returns: the type of its values.
        python: the version of Python that wrote the bytes.
        pickled: the bytes.
        seconds, memory: what its calls may take (``FunctionLimits``).
        least, most: how many arguments it takes; ``None`` is any number.
        signature: of the user who added it, if that is known.
    """

    name: str
    returns: DataType
    python: str
    pickled: bytes
    seconds: float
    memory: int
    least: int
    most: int | None
    signature: str | None = None

    @staticmethod
    def of(
        function: Callable[..., Any],
        name: str,
        returns: DataType,
        limits: FunctionLimits,
        latest: StoredFunction | None,
    ) -> StoredFunction:
        """A function as bytes, not signed yet.

        Args:
            function: as the analyst gave it.
            name: what SQL calls it, in lower case.
            returns: the type of its values.
            limits: what its calls may take.
            latest: the latest version of that name, if there is one; if it is the same, that one comes back.

        Raises:
            SessionError: it is no function, has an argument that must be named, or refers to something that only
                lives in this process.
        """
        least, most = argument_counts(name, function)
        try:
            pickled = cloudpickle.dumps(function)
        except Exception as problem:  # what objects raise that cannot be pickled is theirs
            raise SessionError(
                f"function {name} cannot be kept: {problem}",
                hint="make what it needs inside of it: connections, locks and open files belong to this process alone",
            ) from problem
        version = 1 if latest is None else latest.function.version + 1
        id_ = UserFunction(name, returns, version=version).id
        stored = StoredFunction(id_, returns, PYTHON, pickled, limits.seconds, limits.memory, least, most)
        if latest is not None and replace(stored, name=latest.name, signature=latest.signature) == latest:
            return latest
        return stored

    @property
    def function(self) -> UserFunction:
        """Its declaration for SQL."""
        return UserFunction.of(self.name, self.returns, (self.least, self.most))

    @property
    def limits(self) -> FunctionLimits:
        """The limits of its calls."""
        return FunctionLimits(self.seconds, self.memory)

    @property
    def is_signed(self) -> bool:
        """Whether this user signed just these bytes, under this name."""
        own = None if self.signature is None else signature(*self._signed_parts(), new_key=False)
        return own is not None and self.signature is not None and hmac.compare_digest(own, self.signature)

    def signed(self) -> StoredFunction:
        """The function with this user's signature; without one where no key can be stored."""
        return self if self.is_signed else replace(self, signature=signature(*self._signed_parts(), new_key=True))

    def load(self) -> Callable[..., Any]:
        """The Python function; runs code of the user who added it."""
        function: Callable[..., Any] = pickle.loads(self.pickled)
        return function

    def why_not_trusted(self, trust: bool | None) -> str:
        """Why the function is not to be loaded; "" when it may be.

        Args:
            trust: whether to load all functions; ``None``: those of this user.
        """
        why = why_not_trusted(trust, self.is_signed)
        return f"function {self.function.name} is not loaded: {why}" if why else ""

    def why_not_loadable(self, trusted: bool) -> str:
        """Why the function cannot be used; "" when it can. One that is trusted is loaded to find out."""
        name = self.function.name
        if self.python != PYTHON:
            return f"function {name} was stored by Python {self.python}, and this is Python {PYTHON}"
        if trusted:
            try:
                self.load()
            except Exception as problem:  # whatever a module that it needs raises when it is imported
                return f"function {name} cannot be loaded: {problem}"
        return ""

    def _signed_parts(self) -> tuple[bytes, ...]:
        limits = f"{float(self.seconds)} {self.memory}"
        return (self.name.encode(), str(self.returns).encode(), self.python.encode(), limits.encode(), self.pickled)


def argument_counts(name: str, function: Callable[..., Any]) -> tuple[int, int | None]:
    """How many arguments a function can be called with in SQL, at least and at most; ``None`` is any number.

    Raises:
        SessionError: it is no function, or has an argument that must be named, which SQL cannot.

    Example:
        >>> argument_counts("f", lambda a, b=1: a), argument_counts("g", max)
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


def signed_by_this_user(functions: Mapping[str, StoredFunction]) -> Mapping[str, StoredFunction]:
    """Functions that the analyst trusts, with the signature of this user."""
    return {id_: stored.signed() for id_, stored in functions.items()}
