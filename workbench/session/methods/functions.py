"""The functions and aggregates that an analyst adds to a session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.engine.spark.user_functions.process import FunctionLimits
from workbench.errors import InputError, shown
from workbench.session.changes import StateStore
from workbench.session.directory.stored_functions import StoredFunction
from workbench.sql.algebra.types import parse_type, refuse_number
from workbench.sql.by_name import ByName
from workbench.sql.function_help import refuse_name_of_function
from workbench.sql.schema import UserAggregate, UserFunction


class SessionFunctions:
    """The methods of a session that add functions to SQL.

    Args:
        store: the session's state.
        functions: the analyst's functions in Spark.
    """

    def __init__(self, store: StateStore, functions: UserFunctions) -> None:
        self._store, self._functions = store, functions

    def add_function(
        self,
        name: str,
        function: Callable[..., Any],
        returns: str = "double",
        seconds: float = FunctionLimits.seconds,
        memory: int = FunctionLimits.memory,
    ) -> None:
        """Make a Python function callable in SQL; it must not depend on anything but its arguments.

        It runs in processes of its own. When a call raises, returns what is not of the type, takes more than it may or
        ends its process, the queries that use the function are disabled, with the reason; others go on. What it prints
        is lost. It is kept with the session, as bytes that hold its code; what it imports must be there when the
        session is opened again.

        The same name again adds another version. Queries registered from then on call that one; those that are there
        go on with the version they were registered with, until they are registered again.

        Args:
            name: what queries call it.
            function: takes the arguments as they are, NULLs as ``None``.
            returns: SQL type of its values. A DECIMAL is rounded half up; ``None`` is NULL.
            seconds: what 1,000 calls may take.
            memory: what its process may take, in megabytes (on Linux).

        Raises:
            SessionError: it is no function, cannot be kept, or has an argument that must be named; or a limit is bad.
            SqlError: there is no such type.
        """
        refuse_name_of_function(name)
        refuse_number(returns)
        key, returned, limits = name.lower(), parse_type(returns), FunctionLimits(seconds, memory)
        with self._store.exclusively():
            known = self._store.state.functions
            latest = self._store.state.schema.functions.get(key)
            added = StoredFunction.of(function, key, returned, limits, None if latest is None else known[latest.id])
            if added.name in known:
                return
            added = added.signed()
            with self._store.changing() as change:
                change.state = replace(change.state, functions={**change.state.functions, added.name: added})
            self._functions.add(added.name, function, returned, limits)

    def add_aggregate(self, name: str, parameters: tuple[str, ...], statistics: Mapping[str, str], rule: str) -> None:
        """Add an algebraic aggregate by its basic statistics and the rule over them (T4.2, Tables 4.1 and 4.2).

        Raises:
            InputError: a name is no word, there are no statistics, or the rule reads none of them.

        Example:
            >>> statistics = {"n": "COUNT(x)", "q": "SUM(x*x)"}
            >>> session.add_aggregate("rms", ("x",), statistics, "SQRT(q / n)")  # doctest: +SKIP
        """
        refuse_name_of_function(name)
        for what, names in (("name", [name]), ("parameters", parameters), ("statistics", statistics)):
            if not names or not all(each.isidentifier() for each in names):
                hint = "as in add_aggregate('rms', ('x',), {'n': 'COUNT(x)', 'q': 'SUM(x * x)'}, 'SQRT(q / n)')"
                raise InputError(f"{what} is {shown(list(names))}: each is a word", hint=hint)
        if not set(map(str.lower, statistics)) & set(re.findall(r"\w+", rule.lower())):
            raise InputError(f"rule is {shown(rule)}", hint=f"it reads the statistics: {', '.join(statistics)}")
        with self._store.changing() as change:
            added = UserAggregate(name.lower(), tuple(parameters), statistics, rule)
            change.state = replace(change.state, aggregates={**change.state.aggregates, added.name: added})

    @property
    def functions(self) -> Mapping[str, UserFunction | UserAggregate]:
        """The functions and aggregates that were added, by name; of each the latest version."""
        schema = self._store.state.schema
        return ByName("function", {**schema.functions, **schema.aggregates})
