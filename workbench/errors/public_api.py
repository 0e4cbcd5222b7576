"""Validation of the arguments of public methods, and translation of the exceptions that leave them.

``@public_api`` on a class wraps all of its public methods and properties, inherited ones too. Arguments are validated
against the annotations of the signature, so a new method needs nothing more. An exception that is no ``WorkbenchError``
leaves as an ``UnexpectedError`` with its cause. What is no ``Exception``, such as an interrupt, leaves as it is.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from workbench.errors import (
    ArgumentsError,
    InputError,
    SessionError,
    UnexpectedError,
    UnknownAttributeError,
    WorkbenchError,
    nearest,
    shown,
)
from workbench.errors.surroundings import surroundings_problem
from workbench.errors.unknown_attributes import PUBLIC, TellsNames, is_callback

C = TypeVar("C", bound=type)
T = TypeVar("T")

MADE_BY = "_made_by"
"""The attribute that says which process an object belongs to; one without it is plain data."""
_LARGEST = 2**63 - 1
_SIMPLE = (bool, int, float, str, type(None))
"""Types of defaults that are shown."""
_CONNECT = "pyspark.sql.connect."
"""Modules of Spark Connect, whose classes have the names of others."""
_NAMES = {"name", "stream"}
"""Parameters that name something of a session."""
_NOT_EMPTY = {"dialect", "path", "query", "time", "weight", "transaction", "sort", "zone", "type"}
"""Further parameters of which an empty text says nothing."""
_AT_LEAST_0 = {"limit", "skip", "batches"}
"""Numbers of things."""
_PARAMETERS_OF_OTHERS = {
    **dict.fromkeys(("types", "type", "dtype", "dtypes", "schema"), "columns"),
    **dict.fromkeys(("delimiter", "separator", "delim"), "sep"), "charset": "encoding",
    **dict.fromkeys(("timestamp", "event_time", "time_column", "ts"), "time"), "batch_size": "batch",
    **dict.fromkeys(("primary_key", "id", "index", "keys"), "key"), "mode": "changes",
    **dict.fromkeys(("overwrite", "if_exists"), "replace"), "table": "name", "title": "name", "alias": "name",
    **dict.fromkeys(("data", "df", "file", "filename", "path", "url", "frame"), "source"),
    **dict.fromkeys(("text", "statement", "select"), "sql"), "directory": "path", "folder": "path",
    **dict.fromkeys(("condition", "filter", "row"), "where"), "rows": "limit", "n": "limit", "top": "limit",
    **dict.fromkeys(("order_by", "by", "order"), "sort"), "desc": "descending", "ascending": "descending",
    **dict.fromkeys(("after", "start", "from_batch"), "since"), "to": "target", "timezone": "zone",
    "steps": "batches", "count": "batches", "times": "batches",
}  # fmt: skip
"""What other libraries call a parameter."""
_GIVEN_OTHERWISE = {
    **dict.fromkeys(("format", "filetype"), "the ending of the path says the format: .parquet or .csv;"),
    **dict.fromkeys(("parameters", "params", "args"), "values stand in the text: f'… > {limit}';"),
    "until": "play(…) goes on to the end, and result(at=…) is the answer as of a time;",
}  # fmt: skip
"""What is said in another way than by an argument."""
_CLAUSES = {
    **dict.fromkeys(("limit", "n", "top", "head", "rows"), "LIMIT"),
    **dict.fromkeys(("where", "filter", "condition"), "WHERE"),
    **dict.fromkeys(("order_by", "sort", "sort_by", "descending"), "ORDER BY"),
    **dict.fromkeys(("group_by", "by", "groupby"), "GROUP BY"),
}
"""Arguments that are a clause of the text where a text of SQL is given."""
_NEEDED = {
    "where": "give a condition, 'amount > 5', or a dictionary of values, {'city': 'Berlin'}",
    "columns": "give a dictionary of names and SQL types: {'fee': 'double', 'day': 'date'}",
    "queries": "give a dictionary of names and texts: {'big': 'SELECT …'}",
    "spark": "it is a session of Spark; a folder is given by its name, Session(path='fraud')",
    "path": "give a name, as in 'fraud'",
    "dialect": "it is a name, as 'duckdb'; the text has its values in itself: f\"SELECT … WHERE amount > {least}\"",
}
"""Of parameters by which something else is often given, what they are."""
_SHORT = 40
"""Letters of a text that is repeated in a hint."""
_MOST_BYTES = 255
"""Bytes of a name in UTF-8, as file systems allow."""

_WORDS: Mapping[object, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "text", Path: "a path",
    Callable: "a function", Mapping: "a dictionary", tuple: "a tuple", Sequence: "a list", Collection: "a list",
    type(None): "None",
}  # fmt: skip


def is_connect(value: object) -> bool:
    """Whether something is of Spark Connect, whose classes are no subclasses of Spark's, and have their names."""
    return type(value).__module__.startswith(_CONNECT)


def public_api(cls: C) -> C:
    """The class, with its public methods and properties wrapped."""
    members: dict[str, object] = {}
    for owner in reversed(cls.__mro__[:-1]):
        members.update(vars(owner))
    for name, member in members.items():
        if name == "__init__" or not name.startswith("_"):
            setattr(cls, name, _wrapped_member(member))
    PUBLIC.append(cls)
    return cls


def public_values(cls: C) -> C:
    """A frozen dataclass that says which of its values is meant where one is given, or set, that it has not."""
    init = cls.__init__  # type: ignore[misc]
    signature, known = inspect.signature(init), [field.name for field in dataclasses.fields(cls)]

    @wraps(init)
    def wrapper(self: object, *args: Any, **kwargs: Any) -> None:
        try:
            signature.bind(self, *args, **kwargs)
        except TypeError:
            raise _wrong_arguments(init, signature, (self, *args), kwargs) from None
        init(self, *args, **kwargs)

    def refuse(self: object, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        if name not in known:
            raise UnknownAttributeError(f"{kind} have no {name}", hint=nearest(name, known) or f"help({kind})")
        hint = f"they are given at the start: Session({kind.lower()}={kind}({name}={shown(value)}))"
        raise UnknownAttributeError(f"{name} of {kind} cannot be set", hint=hint)

    cls.__init__, cls.__setattr__ = wrapper, refuse  # type: ignore[misc,method-assign,assignment]
    return cls


def _wrapped_member(member: Any) -> Any:
    match member:
        case classmethod():
            return classmethod(_wrapped(member.__func__))
        case staticmethod():
            return staticmethod(_wrapped(member.__func__))
        case property():
            getter = None if member.fget is None else _wrapped(member.fget)
            return property(getter, _wrapped(member.fset or _not_set(member)), doc=member.__doc__)
        case types.FunctionType():
            return _wrapped(member)
    return member


def _not_set(member: property) -> Callable[[object, object], NoReturn]:
    """The setter of a property that has none, which says so."""
    name = getattr(member.fget, "__name__", "this")

    def refuse(self: object, value: object) -> NoReturn:
        kind = type(self).__name__
        hint = f"{name} is what it is; help({kind.lower()}) lists the methods, which change things"
        raise UnknownAttributeError(f"{name} of a {kind} cannot be set", hint=hint)

    return refuse


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _check_process(args)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            raise _wrong_arguments(function, signature, args, kwargs) from None
        # The type is asked: an object without it would look for names that are near.
        with translate_unexpected_errors(args[0].path if args and hasattr(type(args[0]), "path") else None):
            for parameter, value in bound.arguments.items():
                check_argument(parameter, value, _annotation(function, parameter))
            return function(*args, **kwargs)

    return wrapper


def _wrong_arguments(
    function: Callable[..., Any], signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ArgumentsError:
    """The error for arguments that a function does not take, in Python's words, with those that it takes."""
    taken = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    known = [p.name for p in taken]
    unknown = next((name for name in kwargs if name not in known), "")
    meant = _meant_parameter(function.__name__, unknown, known, args, kwargs) if unknown else None
    called = function.__qualname__.split(".")[0] if function.__name__ == "__init__" else function.__name__
    taken = [p if p.default is p.empty or isinstance(p.default, _SIMPLE) else p.replace(default=...) for p in taken]
    hint = f"{meant or ''} it is {called}{inspect.Signature(taken)}".replace("Ellipsis", "…").lstrip()
    try:
        function(*args, **kwargs)
    except ArgumentsError as error:  # the function is a method that another one was made of
        return error
    except TypeError as error:
        message = str(error).removeprefix(function.__qualname__.removesuffix(function.__name__))
        message = message.replace("__init__", called)
        return ArgumentsError(_without_self(message) if len(known) < len(signature.parameters) else message, hint=hint)
    raise AssertionError(f"{function.__name__} takes what its signature does not")


def _without_self(message: str) -> str:
    """Python's words for too many arguments, which count the object of a method, as they count to a caller.

    Example:
        >>> _without_self("drop() takes 2 positional arguments but 3 were given")
        'drop() takes 1 argument by place, and 2 were given'
    """
    found = re.fullmatch(
        r"(\w+\(\)) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given", message
    )
    if found is None:
        return message
    most, given = int(found[2]) - 1, int(found[3]) - 1
    takes = f"{most or 'no'} argument{'s' * (most != 1)}"
    return f"{found[1]} takes {takes} by place, and {given} {'was' if given == 1 else 'were'} given"


def _meant_parameter(
    called: str, unknown: str, known: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """A hint for an argument of an unknown name: the parameter that is meant, or a value of a column."""
    if "sql" in known and (clause := _CLAUSES.get(unknown.lower())) is not None:
        return f"it belongs into the text: {known[0]}='SELECT … {clause} …';"
    begun = (f"did you mean {name}?" for name in known if name.startswith(unknown))
    elsewhere = _PARAMETERS_OF_OTHERS.get(unknown.lower())
    columns = {column.lower() for column, _ in getattr(args[0], "columns", ())} if args else set()
    if unknown.lower() in columns and (where := next((name for name in ("where", "expected") if name in known), None)):
        values = {name: value for name, value in kwargs.items() if name not in known}
        return f"values by column are a dictionary: {called}({shown(values)}), or a condition in a text ({where});"
    hint = next(begun, None) or (f"did you mean {elsewhere}?" if elsewhere in known else nearest(unknown, known))
    return hint or _GIVEN_OTHERWISE.get(unknown.lower()) or (_of_another(args[0], unknown) if args else None)


def _of_another(self: object, unknown: str) -> str | None:
    """A hint for an argument that another method of the object takes."""
    for name, method in inspect.getmembers(type(self), inspect.isfunction):
        if not name.startswith("_") and unknown in inspect.signature(method).parameters:
            return f"{name}({unknown}=…) takes it;"
    return None


def _check_process(args: Sequence[Any]) -> None:
    """Refuse objects of another process: a process that was forked lacks the threads that they need.

    Raises:
        SessionError: this process was forked from the one that made the object.
    """
    process = getattr(args[0], MADE_BY, None) if args else None
    if process is not None and process != os.getpid():
        kind = type(args[0]).__name__.lower()
        message = f"this {kind} belongs to process {process}, and this is {os.getpid()}, which was forked from it"
        hint = "use it there; another process opens the session's folder with Session.open(path)"
        raise SessionError(message, hint=hint)


@contextmanager
def translate_unexpected_errors(folder: object = None) -> Iterator[None]:
    """Turn an exception other than a ``WorkbenchError`` into one with that exception as its cause.

    Args:
        folder: named in errors of a full disk and the like.

    Raises:
        EnvironmentProblem: the exception came from the surroundings (``workbench.errors.surroundings``).
        UnexpectedError: there was another one.
    """
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as problem:
        raise surroundings_problem(problem, folder) or UnexpectedError.of(problem) from problem


def translate_callback_errors(parameter: str, callback: Callable[[T], object] | None) -> Callable[[T], None]:
    """The analyst's callback, with its exceptions turned into an ``InputError`` that names its parameter.

    ``None`` is a callback that does nothing.
    """

    def wrapper(argument: T) -> None:
        try:
            if callback is not None:
                callback(argument)
        except WorkbenchError:
            raise
        except Exception as problem:
            hint = "it is a function of yours; %argus last-error shows where"
            raise InputError(f"{parameter} raised {UnexpectedError.of(problem).message}", hint=hint) from problem

    return wrapper


def check_argument(parameter: str, value: object, annotation: object = object) -> None:
    """Refuse a value that a parameter cannot take.

    Raises:
        InputError: the value is not of the annotated type, a number beyond 64 bits, or text that no file can hold.

    Example:
        >>> check_argument("batches", 3, int)
        >>> check_argument("batches", "three", int)
        Traceback (most recent call last):
        ...
        workbench.errors.InputError: batches is 'three'
        hint: give a whole number
    """
    if not _is_instance(value, annotation):
        needed = _meant_value(parameter, value, annotation) or _NEEDED.get(parameter, f"give {_in_words(annotation)}")
        if isinstance(value, str) and len(value) < _SHORT and "a list" in needed:
            needed = f"give a list: [{value!r}]"
        if isinstance(value, Mapping) and "a dictionary" in needed:
            parts = () if _is_union(annotation) else typing.get_args(annotation)
            for key, each in value.items() if parts else ():
                check_argument(f"{parameter}[{key!r}]", each, parts[1])
        if "a dictionary" in needed and hasattr(value, "to_dict"):
            needed = "give a dictionary: to_dict() makes one"
        raise InputError(f"{parameter} is {shown(value)}", hint=needed)
    if isinstance(value, Integral) and not -_LARGEST <= int(value) <= _LARGEST:
        raise InputError(f"{parameter} is {shown(value)}", hint="give a number of at most 64 bits")
    if isinstance(value, float) and value != value:
        raise InputError(f"{parameter} is {shown(value)}", hint="give a number")
    if isinstance(value, str | os.PathLike):
        _check_text(parameter, os.fspath(value))
    if isinstance(value, Mapping | Set | tuple | list):
        for text in (*value, *(value.values() if isinstance(value, Mapping) else ())):
            if isinstance(text, str):
                _check_text(parameter, text)
    if isinstance(value, Integral) and parameter in _AT_LEAST_0 and int(value) < 0:
        raise InputError(f"{parameter} is {shown(value)}", hint="give a number, 0 or more")
    if isinstance(value, str) and parameter in _NAMES:
        _check_name(parameter, value)
    if isinstance(value, str) and parameter in _NOT_EMPTY and not value.strip():
        raise InputError(f"{parameter} is empty", hint=_NEEDED.get(parameter, f"give {_in_words(annotation)}"))
    if isinstance(value, str | os.PathLike) and parameter == "path":
        _check_path(parameter, os.fspath(value))


def _meant_value(parameter: str, value: object, annotation: Any) -> str | None:
    """A hint for what is given in the place of what makes it: a column for its name, settings as a dictionary."""
    name = getattr(value, "name", None)
    if hasattr(value, "to_frame") and isinstance(name, str) and _is_instance(name, annotation):
        return f"give the name of the column: {name!r}"
    if parameter == "sql" and isinstance(name, str) and isinstance(value, TellsNames):
        return f"it is registered; another query is a text: 'SELECT … FROM {name}'"
    if isinstance(name, str) and isinstance(value, TellsNames) and _is_instance(name, annotation):
        return f"give its name: {name!r}"
    if isinstance(value, list | tuple) and value and isinstance(value[0], str) and _is_instance(value[0], annotation):
        return f"one at a time: {value[0]!r}"
    if parameter == "limit" and isinstance(value, str):
        return f"give a whole number; a condition is where={shown(value)}"
    if parameter == "name" and hasattr(value, "columns"):
        return "a name stands first, and the rows second: add_stream('Trades', rows)"
    if parameter == "spark" and isinstance(value, str) and "://" in value:
        place = "remote" if value.startswith("sc://") else "master"
        return f"give a session of Spark: SparkSession.builder.{place}({value!r}).getOrCreate()"
    kinds = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    made = next((kind for kind in kinds if dataclasses.is_dataclass(kind) and isinstance(kind, type)), None)
    if made is None or not isinstance(value, Mapping):
        return None
    known = [field.name for field in dataclasses.fields(made)]
    if value and all(key in known for key in value):
        return f"give {made.__name__}({', '.join(f'{key}={shown(item)}' for key, item in value.items())})"
    other = "; register(sql, dialect='duckdb') gives a dialect" if "dialect" in value else ""
    return f"give {made.__name__}(…), which has {', '.join(known)}{other}"


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
    if len(name.encode()) > _MOST_BYTES:
        raise InputError(f"{parameter} is {shown(name)}", hint=f"give a name of at most {_MOST_BYTES} bytes")
    if name.strip() != name or name[-1] in ",;":
        hint = f"{name.strip(' ,;')} without blanks and signs around it"
        raise InputError(f"{parameter} is {shown(name)}", hint=hint)
    if not name.isprintable():
        raise InputError(f"{parameter} is {shown(name)}", hint="give a name without line breaks and the like")


def _check_path(parameter: str, path: str) -> None:
    if any(len(part.encode()) > _MOST_BYTES for part in Path(path).parts):
        raise InputError(f"{parameter} is {shown(path)}", hint=f"a name in a path has at most {_MOST_BYTES} bytes")


def _is_instance(value: object, annotation: Any) -> bool:
    arguments = typing.get_args(annotation)
    if _is_union(annotation):
        return any(_is_instance(value, part) for part in arguments)
    kind = typing.get_origin(annotation) or annotation
    if kind is None:
        return value is None
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if kind is Path:
        return isinstance(value, str | os.PathLike)
    if kind is Callable:
        return is_callback(value)
    if kind is Mapping:
        key, item = arguments
        return isinstance(value, Mapping) and all(
            _is_instance(k, key) and _is_instance(v, item) for k, v in value.items()
        )
    if kind in (tuple, Sequence, Collection):
        items = Mapping | Set | tuple | list if kind is Collection else tuple | list
        return isinstance(value, items) and all(_is_instance(v, arguments[0]) for v in value)
    is_class = isinstance(kind, type) and kind is not Any and not getattr(kind, "_is_protocol", False)
    if is_connect(value) and is_class:
        return type(value).__name__ == kind.__name__
    return isinstance(value, kind) if is_class else True


def _in_words(annotation: Any) -> str:
    parts = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    words = (_WORDS.get(typing.get_origin(part) or part, getattr(part, "__name__", str(part))) for part in parts)
    return " or ".join(dict.fromkeys(words))


def _is_union(annotation: object) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


@cache
def _annotation(function: Callable[..., Any], parameter: str) -> Any:
    """The annotation of a parameter; ``object`` for a name that only type checkers know."""
    inner = inspect.unwrap(function)
    annotation = inner.__annotations__.get(parameter, object)
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[inner.__module__]))
    except NameError:
        return object
