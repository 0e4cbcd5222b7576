"""A callable as a target, and the target that an analyst means.

A crash sends a batch again: a callable is told the number, and leaves out what it had (at least once).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path, PurePath

import pandas as pd
import pyarrow as pa

from workbench.arrow.frames import frame_of
from workbench.errors import SessionError, StreamError, with_article
from workbench.errors.unknown_attributes import is_callback
from workbench.files.store import is_address
from workbench.session.sinks.delta import DELTA, DeltaTarget
from workbench.session.sinks.folder import FolderTarget
from workbench.session.sinks.kafka import TopicTarget
from workbench.session.sinks.postgres import PostgresTarget
from workbench.session.sinks.target import Delivery, TakesDeliveries, Target
from workbench.session.sinks.webhook import WEBHOOKS, WebhookTarget
from workbench.streams.addresses.address import check_no_connection_string, shown_address
from workbench.streams.files.delta_table import is_delta_table
from workbench.streams.live.kafka.address import KAFKA_SCHEME as KAFKA
from workbench.streams.live.postgres.address import POSTGRES_SCHEMES


class CallableTarget(Target):
    """Calls a function with the number of the batch and its changes."""

    def __init__(self, function: Callable[[int, pd.DataFrame], object] | TakesDeliveries) -> None:
        self._function = function

    @property
    def description(self) -> str:
        """Its name."""
        if "__str__" in vars(type(self._function)):  # an object that says what it is, and no function
            return str(self._function)
        return getattr(self._function, "__qualname__", type(self._function).__name__) + "()"

    def bring(self, query: str, delivery: Delivery, changes: pa.Table) -> None:
        """Give it the delivery, where it takes one, and else its number."""
        if isinstance(self._function, TakesDeliveries):
            self._function.take(delivery, frame_of(changes))
        else:
            self.write(query, delivery.number, changes)

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Call the function with pandas; an exception is shown. NaN of a DOUBLE may be NULL, as in other DataFrames."""
        self._function(batch, frame_of(changes))


_ONE_SLASH = re.compile(r"(s3a?|gs|https?|kafka|postgres(?:ql)?):/([^/].*)")
"""An address that lacks a slash."""
_ADDRESS = re.compile(r"(\w{2,}):/|(.*?)://|(mailto|sqlite|duckdb):")
"""An address, also one with a slash too few, or of a kind within another."""
_BY_FUNCTION = "a function of Python, as a target, writes what it wants"
_ALIKE = 0.75
"""How alike an ending must be to one of them."""
_FILES = dict.fromkeys((".csv", ".tsv", ".txt", ".json", ".jsonl", ".xlsx", ".db", ".sqlite", ".duckdb"), _BY_FUNCTION)
"""Endings of files that are not Parquet, and how the changes come there."""
_STORES = re.compile(r"(s3a?|gs|az|adl|abfss?|file)://?")
"""Addresses of object stores, and of a folder that machines share."""
_SECRET = re.compile(r"[?#]|:/+[^@]*:[^@]*@")
"""What may be one in the address of a store: options, or a password."""


def target_of(given: object) -> Target:
    """The target that an analyst means.

    Raises:
        SessionError: there is no such kind of target.
    """
    try:
        return _target_of(given)
    except StreamError as error:
        raise SessionError(error.message, hint=error.hint) from error
    except ModuleNotFoundError as error:
        hint = "pip install 'argus-workbench[objectstore]'"
        raise SessionError(f"{given} needs the package obstore", hint=hint) from error
    except ValueError as error:
        raise SessionError(f"{given} cannot be used: {error}", hint="is it as s3://bucket/fees?") from error


def absolute_target(given: object) -> object:
    """The target as given, a folder by its whole path: the session may be opened from another one.

    Example:
        >>> absolute_target("/out/./fees"), absolute_target("kafka://host:1/t")
        ('/out/fees', 'kafka://host:1/t')
    """
    if not isinstance(given, str | Path) or _ADDRESS.match(str(given)) or str(given).strip() in ("", DELTA):
        return given
    kind, path = (DELTA, str(given).removeprefix(DELTA)) if str(given).startswith(DELTA) else ("", given)
    return f"{kind}{Path(path).expanduser().absolute()}"


def _target_of(given: object) -> Target:
    match given:
        case str() if not given.strip():
            raise SessionError(
                "a sink needs a target", hint="a folder, as out/fees, or an address, as http://host/fees"
            )
        case str() if given.endswith("://"):
            raise SessionError(
                f"{given} names nothing", hint=f"as in {given}{'bucket' if _STORES.match(given) else 'host'}/fees"
            )
        case str() if (typed := _ONE_SLASH.fullmatch(given)) is not None:
            meant = shown_address(f"{typed[1]}://{typed[2]}")
            what = f"{meant.replace('://', ':/', 1)} is neither a folder nor an address"
            raise SessionError(what, hint=f"did you mean {meant}?")
        case str() if given.startswith(WEBHOOKS):
            return WebhookTarget(given)
        case str() if given.startswith(KAFKA):
            return TopicTarget(given)
        case str() if given.startswith(POSTGRES_SCHEMES):
            return PostgresTarget(given)
        case str() if given.startswith(DELTA):
            return DeltaTarget(_place(given.removeprefix(DELTA)))
        case str() | Path() if not is_address(given) and is_delta_table(given):
            return DeltaTarget(str(given))
        case str() | Path():
            return FolderTarget(_folder(_place(str(given))))
        case _ if is_callback(given):
            if problem := _takes_other_arguments(given):
                hint = "it is called with two: lambda batch, changes: …"
                raise SessionError(f"{with_article(type(given).__name__)} that {problem} is no sink", hint=hint)
            return CallableTarget(given)
    raise SessionError(
        f"{with_article(type(given).__name__)} is no sink", hint="give a callable, a folder, or an address (http://…)"
    )


def _takes_other_arguments(function: Callable[..., object]) -> str:
    """The arguments of a callable that cannot be called with a batch and its changes; "" where it can, or where it is
    unknown.

    Example:
        >>> _takes_other_arguments(lambda rows: rows), _takes_other_arguments(print)
        ('takes rows', '')
    """
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):  # functions written in C need not say it
        return ""
    try:
        signature.bind(0, None)
    except TypeError:
        return f"takes {', '.join(signature.parameters) or 'no arguments'}"
    return ""


def _folder(place: str) -> str:
    """A folder, which is not called as a file of another kind than it gets.

    Raises:
        SessionError: it is, and is not there.
    """
    suffix = PurePath(place).suffix.lower()
    ending = next(iter(get_close_matches(suffix, _FILES, n=1, cutoff=_ALIKE)), "")
    if ending in _FILES and not Path(place).is_dir():
        whole = f"query.save({place!r}) writes the whole answer once" if ending == ".csv" else _FILES[ending]
        raise SessionError(
            f"{place} is called as a file, and a sink is a folder, which gets a Parquet file with each batch",
            hint=f"a folder is as {place.removesuffix(PurePath(place).suffix)}; {whole}",
        )
    return place


def _place(given: str) -> str:
    """A folder, or the address of one at an object store.

    Raises:
        SessionError: it is another address, or has a secret.
    """
    check_no_connection_string(given)
    if not given.strip():
        raise SessionError("a Delta table needs a folder", hint="as in delta:out/fees, delta:s3://bucket/fees")
    if not (scheme := _ADDRESS.match(given)):
        return given
    if not _STORES.match(given):
        hint = "there are kafka://, postgresql://, http://, s3://, delta:FOLDER, a folder (Parquet), and a callable"
        raise SessionError(f"there is no sink of the kind {scheme[scheme.lastindex or 0]}:", hint=hint)
    if _SECRET.search(given):
        hint = "as s3://bucket/fees; credentials are those of this machine, as AWS_ACCESS_KEY_ID in its environment"
        raise SessionError("the address of an object store has no user and no options", hint=hint)
    return given
