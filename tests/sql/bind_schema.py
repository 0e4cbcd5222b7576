"""The schema that tests of the SQL front end bind against."""

from __future__ import annotations

from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.schema import Schema, UserAggregate, UserFunction

SCHEMA = Schema(
    streams={
        "T": (
            ("a", INTEGER), ("b", INTEGER), ("c", INTEGER), ("m", decimal(15, 2)), ("w", decimal(38, 0)), ("x", DOUBLE),
            ("s", STRING), ("d", DATE), ("ts", TIMESTAMP), ("p", BOOLEAN),
        ),
        "U": (("a", INTEGER), ("k", INTEGER), ("d", DATE), ("s", STRING)),
    },
    functions={"zipdistance": UserFunction("zipdistance", DOUBLE)},
    aggregates={"rms": UserAggregate("rms", ("x",), {"n": "COUNT(x)", "q": "SUM(x * x)"}, "SQRT(q / n)")},
)  # fmt: skip
