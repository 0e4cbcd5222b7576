"""A function of texts that no kernel evaluates, for tests of what Spark evaluates: ``SPARK_SOUNDEX(s)``.

Every function that analysts have may get a kernel one day; this one has none. Texts of SQL have it, in spark, in tests
that use the fixture ``spark_soundex``.
"""

from __future__ import annotations

import pytest

from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import STRING
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import NAMED, read_as

_DECLARED = function("spark_soundex(string): string", "soundex({0})", names="spark_soundex")


def declare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let texts call the function until a test ends."""
    monkeypatch.setitem(FUNCTIONS, _DECLARED.name, _DECLARED)
    monkeypatch.setitem(NAMED, _DECLARED.name, None)  # which is removed in the end
    del NAMED[_DECLARED.name]
    read_as(_DECLARED)


def evaluated_by_spark(text: Expression) -> Call:
    """The call of the function, of a text."""
    return Call(_DECLARED.name, (text,), STRING)
