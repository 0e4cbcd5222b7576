"""Every function has its types in ``algebra`` and its Spark SQL in ``render``."""

from __future__ import annotations

from workbench.sql.algebra.functions import FUNCTIONS
from workbench.sql.render.spark_functions import SPARK_FUNCTIONS


def test_every_function_has_types_and_spark_sql() -> None:
    assert FUNCTIONS.keys() | {"lambda", "variable"} == SPARK_FUNCTIONS.keys()
