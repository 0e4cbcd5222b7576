"""Joins by texts that begin with others, while rows of both sides come and go.

DuckDB's answers over NULL, empty texts, texts that are alike in their first 16 bytes, letters of several bytes, zeros,
and patterns with signs.
"""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess

TEXTS = [None, "", "a", "ab", "abc", "b", "\u00e9", "\u00e9a", "\u00e8", "a" * 15, "a" * 16, "a" * 17, "a" * 16 + "b"]
TEXTS += ["a%", "a_c", "%", "_", "a\u0000", "ab\nc", "\U0010ffff", "\U0010ffffa"]
STARTS = "STARTS_WITH(a.s, b.s)"
CONDITIONS: dict[str, tuple[str, str, str]] = {
    "starts": ("spark", "STARTSWITH(a.s, b.s)", STARTS),
    "turned": ("spark", "STARTSWITH(b.s, a.s)", "STARTS_WITH(b.s, a.s)"),
    "left": ("spark", "LEFT(a.s, LENGTH(b.s)) = b.s", "LEFT(a.s, LENGTH(b.s)) = b.s"),
    "substr": ("spark", "b.s = SUBSTR(a.s, 1, LENGTH(b.s))", STARTS),
    "like": ("spark", "a.s LIKE b.s || '%'", "a.s LIKE b.s || '%'"),
    "like pattern": ("spark", "a.s LIKE CONCAT(b.s, '_%')", "a.s LIKE b.s || '_%'"),
    "like of duckdb": ("duckdb", "a.s LIKE b.s || '%'", "a.s LIKE b.s || '%'"),
    "concat of duckdb": ("duckdb", "a.s LIKE CONCAT(b.s, '%')", "a.s LIKE CONCAT(b.s, '%')"),
    "prefix": ("duckdb", "PREFIX(a.s, b.s)", STARTS),
    "caret": ("duckdb", "a.s ^@ b.s", STARTS),
    "left of duckdb": ("duckdb", "LEFT(a.s, LENGTH(b.s)) = b.s", "LEFT(a.s, LENGTH(b.s)) = b.s"),
    "substr of duckdb": ("duckdb", "SUBSTR(a.s, 1, LENGTH(b.s)) = b.s", "SUBSTR(a.s, 1, LENGTH(b.s)) = b.s"),
    "starts of postgres": ("postgres", "STARTS_WITH(a.s, b.s)", STARTS),
    "caret of postgres": ("postgres", "a.s ^@ b.s", STARTS),
    "left of postgres": ("postgres", "LEFT(a.s, LENGTH(b.s)) = b.s", "LEFT(a.s, LENGTH(b.s)) = b.s"),
    "substr of postgres": ("postgres", "SUBSTR(a.s, 1, LENGTH(b.s)) = b.s", "SUBSTR(a.s, 1, LENGTH(b.s)) = b.s"),
    "of a change": ("spark", "STARTSWITH(UPPER(a.s), UPPER(b.s))", "STARTS_WITH(UPPER(a.s), UPPER(b.s))"),
    "ends": ("duckdb", "ENDS_WITH(a.s, b.s) AND a.k = b.k", "ENDS_WITH(a.s, b.s) AND a.k = b.k"),
    "contains": ("duckdb", "CONTAINS(a.s, b.s) AND a.k = b.k", "CONTAINS(a.s, b.s) AND a.k = b.k"),
}
FORMS = {
    "pairs": "SELECT a.id, b.id AS o FROM a JOIN b ON {}",
    "beside a key": "SELECT a.id, b.id AS o FROM a JOIN b ON a.k = b.k AND {}",
    "beside a bound": "SELECT a.id, b.id AS o FROM a JOIN b ON {} AND a.id < b.id + 30",
    "left": "SELECT a.id, b.id AS o FROM a LEFT JOIN b ON {}",
    "exists": "SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE {})",
    "longest": "SELECT a.id, MAX(LENGTH(b.s)) AS n FROM a JOIN b ON {} GROUP BY a.id",
    "none": "SELECT b.id FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE {})",
}


def cases() -> dict[str, Case]:
    """Every condition in every form."""
    return {
        f"{name} {form}".replace(" ", "_"): Case(text.format(own), text.format(asked), dialect)
        for name, (dialect, own, asked) in CONDITIONS.items()
        for form, text in FORMS.items()
    }


def rows(seed: int, count: int) -> pa.Table:
    """Few different texts."""
    random = Random(seed)
    texts = [random.choice(TEXTS) for _ in range(count)]
    keys = [random.choice(["x", "y", None]) for _ in range(count)]
    return pa.table({"id": pa.array(range(count)), "k": pa.array(keys, pa.string()), "s": pa.array(texts, pa.string())})


@pytest.mark.parametrize("seed", range(12 if LONG else 2))
def test_prefix_joins(seed: int) -> None:
    asked, random = cases(), Random(seed)
    names = random.sample(list(asked), len(asked) if LONG else 40)
    feeds = {name: corrected(rows(seed + at, 90), 40, 12, seed + at) for at, name in enumerate("ab")}
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register({name: asked[name] for name in names[::2]})
        oracle.run(2)
        oracle.register({name: asked[name] for name in names[1::2]})
        oracle.run(2)
        oracle.check_changes()
