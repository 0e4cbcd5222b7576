"""The border between an analyst's code and ours: what comes in is checked, and what goes out is an error of ours.

``@border`` on a public class does both for all of its public methods and properties, also those it inherits. Arguments
are checked by what the signatures say they are, so a new function is covered when it is written. What no part of the
workbench foresaw leaves as an ``UnexpectedError`` with its cause. Only Python's own ``TypeError`` for a wrong number of
arguments leaves as it is, and what is no ``Exception``, such as an interrupt.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from workbench.errors import InputError, UnexpectedError, WorkbenchError, shown

C = TypeVar("C", bound=type)
T = TypeVar("T")

_LARGEST = 2**63 - 1
_NAMES = {"name", "stream"}
"""Parameters that name something of a session."""
MOST_BYTES = 255
"""Bytes of a name in UTF-8, as file systems allow."""

_WORDS: Mapping[object, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "text", Path: "a path",
    Callable: "a function", Mapping: "a dictionary", tuple: "a tuple", type(None): "None",
}  # fmt: skip


def border(kind: C) -> C:
    """The class with all that is public in it guarded."""
    members: dict[str, object] = {}
    for owner in reversed(kind.__mro__[:-1]):
        members.update(vars(owner))
    for name, member in members.items():
        if name == "__init__" or not name.startswith("_"):
            setattr(kind, name, _guarded_member(member))
    return kind


def _guarded_member(member: Any) -> Any:
    match member:
        case classmethod():
            return classmethod(_guarded(member.__func__))
        case staticmethod():
            return staticmethod(_guarded(member.__func__))
        case property():
            get, put = (None if a is None else _guarded(a) for a in (member.fget, member.fset))
            return property(get, put, doc=member.__doc__)
        case types.FunctionType():
            return _guarded(member)
    return member


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which says what is missing, or one too many
        with errors_of_ours():
            for parameter, value in given.arguments.items():
                check(parameter, value, _kind_of(function, parameter))
            return function(*args, **kwargs)

    return guarded


@contextmanager
def errors_of_ours() -> Iterator[None]:
    """Turn an exception that nobody foresaw into an error of ours, which has it as its cause.

    Raises:
        UnexpectedError: there was one.
    """
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as problem:
        raise UnexpectedError.of(problem) from problem


def called_back(parameter: str, function: Callable[[T], object] | None) -> Callable[[T], None] | None:
    """A function of the analyst's that we call; what it raises leaves as an error that says whose it is."""

    def guarded(told: T) -> None:
        assert function is not None
        try:
            function(told)
        except WorkbenchError:
            raise
        except Exception as problem:
            hint = "it is a function of yours; %argus last-error shows where"
            raise InputError(f"{parameter} raised {UnexpectedError.of(problem).message}", hint=hint) from problem

    return None if function is None else guarded


def check(parameter: str, value: object, kind: object = object) -> None:
    """Refuse what a parameter cannot be.

    Args:
        parameter: its name.
        value: what it was given.
        kind: what it is annotated with.

    Raises:
        InputError: the value is of another kind, a number beyond 64 bits, or text that no file can hold.

    Example:
        >>> check("batches", 3, int)
        >>> check("batches", "three", int)
        Traceback (most recent call last):
        ...
        workbench.errors.InputError: batches is 'three'
        hint: give a whole number
    """
    if not _accepted(value, kind):
        raise InputError(f"{parameter} is {shown(value)}", hint=f"give {_wanted(kind)}")
    if isinstance(value, Integral) and not -_LARGEST <= int(value) <= _LARGEST:
        raise InputError(f"{parameter} is {shown(value)}", hint="give a number of at most 64 bits")
    if isinstance(value, float) and value != value:
        raise InputError(f"{parameter} is {shown(value)}", hint="give a number")
    if isinstance(value, str | os.PathLike):
        _check_text(parameter, os.fspath(value))
    if isinstance(value, Mapping | tuple | list):
        for text in (part for part in value if isinstance(part, str)):
            _check_text(parameter, text)
        for text in (part for part in getattr(value, "values", tuple)() if isinstance(part, str)):
            _check_text(parameter, text)
    if isinstance(value, str) and parameter in _NAMES:
        _check_name(parameter, value)
    if isinstance(value, str | os.PathLike) and parameter == "path":
        _check_path(parameter, os.fspath(value))


def _check_text(parameter: str, text: str | bytes) -> None:
    if isinstance(text, bytes):
        raise InputError(f"{parameter} is {shown(text)}", hint="give text")
    for position, char in enumerate(text):
        if char == "\0" or "\ud800" <= char <= "\udfff":
            what = f"{parameter} has a character that is no text, {char!a} at {position}"
            raise InputError(what, hint="leave it out; in bytes that were decoded, decode with errors='replace'")


def _check_name(parameter: str, name: str) -> None:
    if not name.strip():
        raise InputError(f"{parameter} is empty", hint="give a name")
    if len(name.encode()) > MOST_BYTES:
        raise InputError(f"{parameter} is {shown(name)}", hint=f"give a name of at most {MOST_BYTES} bytes")
    if not name.isprintable():
        raise InputError(f"{parameter} is {shown(name)}", hint="give a name without line breaks and the like")


def _check_path(parameter: str, path: str) -> None:
    if any(len(part.encode()) > MOST_BYTES for part in Path(path).parts):
        raise InputError(f"{parameter} is {shown(path)}", hint=f"a name in a path has at most {MOST_BYTES} bytes")


def _accepted(value: object, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_accepted(value, part) for part in arguments)
    kind = origin or kind
    if kind is None:
        return value is None
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if kind is Path:
        return isinstance(value, str | os.PathLike)
    if kind is Callable:
        return callable(value)
    if kind is Mapping:
        key, item = arguments
        return isinstance(value, Mapping) and all(_accepted(k, key) and _accepted(v, item) for k, v in value.items())
    if kind is tuple:
        return isinstance(value, tuple | list) and all(_accepted(v, arguments[0]) for v in value)
    is_class = isinstance(kind, type) and not getattr(kind, "_is_protocol", False)
    return isinstance(value, kind) if is_class else True


def _wanted(kind: Any) -> str:
    parts = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    words = (_WORDS.get(typing.get_origin(part) or part, getattr(part, "__name__", str(part))) for part in parts)
    return " or ".join(dict.fromkeys(words))


@cache
def _kind_of(function: Callable[..., Any], parameter: str) -> Any:
    """What a parameter is annotated with; what is only known to type checkers is not checked."""
    inner = inspect.unwrap(function)
    written = inner.__annotations__.get(parameter, object)
    if not isinstance(written, str):
        return written
    try:
        return eval(written, vars(sys.modules[inner.__module__]))
    except NameError:
        return object
