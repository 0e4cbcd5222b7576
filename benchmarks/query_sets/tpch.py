"""The 22 questions of TPC-H (specification 3.0, clause 2.4) with their validation values, one file each in ``tpch/``.

They are written as the benchmark asks them, without changes for the workbench: implicit joins, correlated subqueries,
ORDER BY and LIMIT. Spark, PostgreSQL and DuckDB read them all.
"""

from __future__ import annotations

from importlib import resources

_NUMBERS = range(1, 23)


def load() -> dict[str, str]:
    """The texts by name, ``q01`` to ``q22``.

    Example:
        >>> load()["q06"].splitlines()[0]
        'SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem'
    """
    folder = resources.files("benchmarks.query_sets").joinpath("tpch")
    return {f"q{n:02}": folder.joinpath(f"q{n:02}.sql").read_text(encoding="utf-8") for n in _NUMBERS}
