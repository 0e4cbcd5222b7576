"""Names of tables behind the schema that every database has, ``default.t``, ``public.t`` and ``main.t``: a session has
no other, so it is left out. A table in another schema may be another table, and is not known.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.syntax.dialects import ONLY_DUCKDB, ONLY_POSTGRES, SPARK_FAMILY

_SCHEMAS = {
    **dict.fromkeys(SPARK_FAMILY, ("default", "global_temp")),
    **dict.fromkeys(ONLY_DUCKDB, ("main", "temp")),
    **dict.fromkeys(ONLY_POSTGRES, ("public", "pg_temp")),
}
_CATALOGS = ("spark_catalog", "memory")


def without_schemas(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A statement in which tables of these schemas, and columns of such tables, are called without it.

    Example:
        >>> import sqlglot
        >>> without_schemas(sqlglot.parse_one("SELECT public.t.x FROM public.t", read="postgres"), "postgres").sql()
        'SELECT t.x FROM t'
    """
    known, tables = _SCHEMAS.get(dialect, ()), set[str]()
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        catalog = table.catalog.lower()
        if table.db.lower() in known and (not catalog or catalog in _CATALOGS) and table.name.lower() not in named:
            tables.add(table.name.lower())
            table.set("db", None)
            table.set("catalog", None)
    for column in list(tree.find_all(exp.Column)) if tables else ():
        parts = [part.name.lower() for part in column.parts]
        if len(parts) == 3 and parts[0] in known and parts[1] in tables:
            column.set("db", None)
    return tree
