"""The schema of a query: the streams, views, functions and aggregates that it may use.

``bind`` reads a ``Schema`` and nothing else, so binding needs no session, no catalog and no Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DataType
from workbench.sql.algebra.zones import UTC
from workbench.sql.logical import LogicalQuery
from workbench.sql.windows.stream_time import EventTimeVector

T = TypeVar("T")


@dataclass(frozen=True)
class UserFunction:
    """A scalar function the analyst added: arguments are passed as they are, NULLs included.

    A name that is added again gets another version. Queries go on with the version that they were bound to.

    Attributes:
        name: what SQL calls it, in lower case.
        returns: the type of its values.
        takes: how many arguments it takes, at least and at most; ``None`` is any number.
        version: 1 for the first function of the name.
    """

    name: str
    returns: DataType
    takes: tuple[int, int | None] = (0, None)
    version: int = 1

    @property
    def id(self) -> str:
        """Its name in expressions; no built-in function has ``@`` in its name."""
        return f"{self.name}@{self.version}"

    @staticmethod
    def of(id_: str, returns: DataType, takes: tuple[int, int | None] = (0, None)) -> UserFunction:
        """The function of an id."""
        name, _, version = id_.rpartition("@")
        return UserFunction(name, returns, takes, int(version))


@dataclass(frozen=True)
class UserAggregate:
    """An algebraic aggregate the analyst added, as rows of AggreBasics and AggreRules (T4.2, Tables 4.1 and 4.2).

    Args:
        name: what it is called in SQL.
        parameters: names of its arguments.
        statistics: statistic name -> SQL aggregate over the parameters.
        rule: SQL scalar expression over the statistics' names.

    Example:
        >>> rms = UserAggregate("rms", ("x",), {"n": "COUNT(x)", "q": "SUM(x * x)"}, "SQRT(q / n)")
    """

    name: str
    parameters: tuple[str, ...]
    statistics: Mapping[str, str]
    rule: str


@dataclass(frozen=True)
class Schema:
    """All names a query may use; look-ups ignore case.

    Args:
        streams: stream or table name as the user wrote it -> its columns, names in lower case, in order.
        views: views and registered queries that may stand in FROM.
        functions: user-defined scalar functions by name, of each the latest version.
        aggregates: user-defined aggregates.
        times: for a stream that has event times the name of their column, in lower case.
        tables: which of the streams are tables, which have no windows.
        corrected: which of the streams take rows back; the others are append-only.
        event_times: what time it is on each stream.
        after_batch: what time it was after a batch; ``None`` for one that was not run.
        spelled: for a stream its columns with capital letters, as the source spells them, by names in lower case.
        members: for a stream those of its rows that are new and no columns so far, in lower case.
        keys: for a stream stored names of the columns of which no two rows have the same values.
        timezone: the zone in which instants are other times where a text does not say it.

    Example:
        >>> Schema({"FedWireTrans": ()}).stream("fedwiretrans")[0]
        'FedWireTrans'
    """

    streams: Mapping[str, tuple[tuple[str, DataType], ...]] = field(default_factory=dict)
    views: Mapping[str, LogicalQuery] = field(default_factory=dict)
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    event_times: EventTimeVector = field(default_factory=dict)
    after_batch: Callable[[int], EventTimeVector | None] = field(default=lambda batch: None, compare=False, repr=False)
    corrected: frozenset[str] = frozenset()
    spelled: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    timezone: str = UTC
    members: Mapping[str, Collection[str]] = field(default_factory=dict, compare=False, repr=False)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def stream(self, name: str) -> tuple[str, tuple[tuple[str, DataType], ...]] | None:
        """The stream's own spelling of its name, and its columns."""
        return _look_up(self.streams, name)

    def time(self, stream: str) -> Column | None:
        """The event time of a stream, if it has one."""
        time, columns = _look_up(self.times, stream), self.stream(stream)
        return Column(stored_name(time[1]), dict(columns[1])[time[1]]) if time and columns else None

    def view(self, name: str) -> LogicalQuery | None:
        """The view or registered query of that name."""
        return _value(self.views, name)

    def function(self, name: str) -> UserFunction | None:
        """The user-defined function of that name."""
        return _value(self.functions, name)

    def aggregate(self, name: str) -> UserAggregate | None:
        """The user-defined aggregate of that name."""
        return _value(self.aggregates, name)


def _look_up(names: Mapping[str, T], name: str) -> tuple[str, T] | None:
    if name in names:
        return name, names[name]
    folded = name.lower()
    return next(((key, value) for key, value in names.items() if key.lower() == folded), None)


def _value(names: Mapping[str, T], name: str) -> T | None:
    entry = _look_up(names, name)
    return entry[1] if entry else None
