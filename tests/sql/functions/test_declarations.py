"""Every function is declared once, and so is what a text calls it by."""

from __future__ import annotations

from collections import Counter

import sqlglot
from sqlglot import exp

from workbench.sql.functions import DECLARED
from workbench.sql.functions.calls import FUNCTIONS


def test_every_function_is_declared_once() -> None:
    assert [function.name for function in DECLARED] == list(FUNCTIONS)


def test_every_syntax_node_and_every_name_is_of_one_function_in_each_dialect() -> None:
    nodes = Counter((node, dialect) for f in DECLARED for node, _ in f.syntax for dialect in f.dialects)
    names = Counter((name, dialect) for f in DECLARED for name in f.names for dialect in f.dialects)
    assert not [called for called, count in (nodes | names).items() if count > 1]


def test_the_parser_leaves_names_as_names() -> None:
    """A call for which it has a node would never be found by its name."""
    calls = ((f"{name}(a)", dialect) for each in DECLARED for name in each.names for dialect in each.dialects)
    known = {call for call, dialect in calls if not isinstance(sqlglot.parse_one(call, read=dialect), exp.Anonymous)}
    assert not known
