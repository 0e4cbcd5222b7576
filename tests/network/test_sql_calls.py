"""No text for people calls a function by a name that SQL has not."""

from __future__ import annotations

import re

from workbench.network.sql_text import INFIX, expression_sql
from workbench.sql.algebra.expressions import Call, Column
from workbench.sql.algebra.types import BOOLEAN, STRING
from workbench.sql.function_help import all_help
from workbench.sql.functions.calls import FUNCTIONS

KNOWN = {help.name.lower() for help in all_help()}.union(*(function.names for function in FUNCTIONS.values()))
SYNTAX = {
    "array", "case", "cast", "date_trunc", "datediff", "explode", "in", "isinf", "map", "map_from_entries", "min_scale",
    "exists", "extract", "jsonb_set", "overlaps", "strptime", "time_bucket", "trunc", "var_pop", "var_samp", "window",
    "window_start", "session_start", "unique",
}  # fmt: skip
"""Words before a parenthesis that are SQL in some dialect, and that are no functions of one row."""
OTHERS = {"variable", "lambda", "field", "struct"}
"""Parts of what has a syntax of its own."""


def test_every_function_is_called_as_sql_calls_it() -> None:
    for name in sorted(FUNCTIONS.keys() - OTHERS):
        arguments = [Column(letter, STRING) for letter in "abcdef"[: max(FUNCTIONS[name].least, 1)]]
        text = expression_sql(Call(name, tuple(arguments), BOOLEAN))
        called = {word.lower() for word in re.findall(r"(\w+)\(", text)}
        called = {word for word in called if not word.startswith("list_")}  # duckdb has them of all aggregates
        assert called <= KNOWN | SYNTAX | set(INFIX), text
