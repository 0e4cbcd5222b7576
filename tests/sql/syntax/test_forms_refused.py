"""Forms that a dialect's database refuses: each with its place, and the same in a dialect that has them."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INSTANT, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema({"Readings": (("farm", STRING), ("temp", DOUBLE), ("at", INSTANT), ("ok", BOOLEAN))})
FORMS = [
    ("SELECT COUNT(*) FILTER (ok) AS n FROM Readings", "FILTER", "duckdb", ("spark", "postgres")),
    ("SELECT COUNT() AS n FROM Readings", ")", "duckdb", ("spark", "postgres")),
    ("SELECT DATE_TRUNC(hour, at) AS h FROM Readings", "hour", None, ("spark", "duckdb", "postgres")),
    ("SELECT DATE_PART(hour, at) AS h FROM Readings", "hour", None, ("spark", "duckdb", "postgres")),
    ("SELECT DATE_DIFF(hour, at, at) AS h FROM Readings", "hour", None, ("duckdb",)),
    ("SELECT SUM(temp) OVER (ORDER BY at ROWS 3) AS s FROM Readings", "3", None, ("spark", "duckdb", "postgres")),
    ("SELECT temp::NUMBER AS x FROM Readings", "NUMBER", None, ("spark", "duckdb", "postgres")),
    ("SELECT CAST(UPPER(farm) AS VARCHAR2(3)) AS x FROM Readings", "VARCHAR2", "oracle", ("spark", "duckdb")),
    ("SELECT farm FROM Readings WHERE farm ILIKE ANY ('a%', 'b%')", "'a%'", None, ("postgres",)),
    ("SELECT PERCENTILE_CONT(temp, 0.5) AS m FROM Readings", "PERCENTILE_CONT", None, ("postgres",)),
    ("SELECT farm, RANK() OVER () AS r FROM Readings", "RANK()", "duckdb", ("spark",)),
    ("SELECT SUM(, temp) AS s FROM Readings", ",", None, ("spark", "duckdb", "postgres")),
    ("SELECT farm,, temp FROM Readings", ",", None, ("spark", "duckdb", "postgres")),
    ('SELECT farm AS "a , , b( ,c" FROM Readings', "", "duckdb", ()),
    ("SELECT temp AS 'in degrees' FROM Readings", "'in degrees'", "duckdb", ("spark", "postgres")),
    ("SELECT farm FROM FROM Readings", "FROM", None, ("spark", "duckdb", "postgres")),
    ("SELECT farm, COUNT(*) AS n FROM Readings GROUP GROUP BY farm", "GROUP BY", None, ("spark", "duckdb")),
    ("SELECT AVG(temp) OVER (PARTITION BY ORDER BY at) AS a FROM Readings", "ORDER BY", None, ("spark", "duckdb")),
    (
        "SELECT SUM(temp) OVER (ORDER BY at ROWS 2 PRECEDING AND CURRENT ROW) AS s FROM Readings",
        "AND",
        None,
        ("spark",),
    ),
    ("SELECT farm FROM Readings ALL UNION SELECT farm FROM Readings", "ALL", None, ("spark", "duckdb")),
    ("SELECT farm FROM Readings WHERE temp NOT IS NULL", "IS", None, ("spark", "duckdb", "postgres")),
    ("SELECT farm FROM Readings WHERE temp NOT NULL", "NOT", "duckdb", ("spark", "postgres")),
    ("SELECT farm FROM Readings WHERE NOT NULL OR temp > 3", "", "spark", ()),
    ("WITH AS big (SELECT farm FROM Readings) SELECT farm FROM big", "AS", None, ("spark", "duckdb")),
    ("WITH big (SELECT farm FROM Readings) SELECT farm FROM big", "(", "spark", ("duckdb", "postgres")),
    ("SELECT farm FROM Readings WHERE farm IN ('a', SELECT farm FROM Readings)", "SELECT", None, ("spark", "duckdb")),
    ("SELECT at + INTERVAL DAY '1' AS t FROM Readings", "'1'", None, ("spark", "duckdb", "postgres")),
    ("SELECT r.farm FROM Readings r JOIN Readings s USING ()", "(", None, ("spark", "duckdb")),
    ("SELECT r.temp FROM Readings r JOIN Readings s USING farm", "farm", None, ("spark", "duckdb")),
    ("SELECT farm, COUNT(*) AS n FROM Readings GROUP BY ALL BY", "BY", None, ("spark", "duckdb")),
    ("SELECT COUNT(DISTINCT) AS n FROM Readings", "DISTINCT", None, ("spark", "duckdb", "postgres")),
    ("SELECT TOP(5) farm FROM Readings", "TOP", None, ("spark", "duckdb", "postgres")),
    ("SELECT farm FROM Readings WHERE temp = ANY (1, 2)", "1", None, ("spark", "duckdb", "postgres")),
    ("SELECT STRING_AGG(farm) AS s FROM Readings", "STRING_AGG", None, ("postgres",)),
    ("SELECT MODE(farm) AS m FROM Readings", "MODE", "duckdb", ("postgres",)),
    ('SELECT DATE_TRUNC("day", at) AS d FROM Readings', '"day"', "spark", ("duckdb", "postgres")),
    ("SELECT farm FROM Readings WHERE temp BETWEEN 1 2", "2", None, ("spark", "duckdb", "postgres")),
    ("SELECT r.farm FROM Readings r JOIN Readings s", "JOIN", "spark", ("duckdb", "postgres")),
    ("SELECT r.farm FROM Readings r ANTI JOIN (SELECT 1 AS x) s WHERE r.ok", "JOIN", "spark", ("duckdb",)),
    (
        "SELECT r.farm FROM Readings r JOIN Readings s JOIN Readings t ON s.farm = t.farm ON r.farm = s.farm",
        "",
        "duckdb",
        (),
    ),
    ("SELECT r.farm FROM Readings r NATURAL JOIN Readings s", "", "duckdb", ()),
    ("SELECT LAG(temp) OVER (PARTITION BY farm) AS r FROM Readings", "LAG(temp)", None, ("spark",)),
]


@pytest.mark.parametrize(("sql", "place", "taking", "refusing"), FORMS)
def test_a_form_is_refused_where_the_database_refuses_it(
    sql: str, place: str, taking: str | None, refusing: tuple[str, ...]
) -> None:
    for dialect in refusing:
        with pytest.raises(SqlError) as caught:
            bind(sql, dialect, SCHEMA)
        error = caught.value
        assert error.position is not None and error.hint
        assert place.startswith(sql[error.position : error.position + error.length]), (dialect, str(error))
    if taking is not None:
        bind(sql, taking, SCHEMA)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT farm, AVG(temp) avg temp FROM Readings GROUP BY farm", "AS avg_temp"),
        ("SELECT farm, MAX(temp) WHERE ok FROM Readings GROUP BY farm", "MAX(…) FILTER (WHERE …)"),
        ("SELECT r.farm FROM Readings r LEFT OUTER Readings f ON r.farm = f.farm", "write LEFT OUTER JOIN"),
        ("SELECT farm FROM Readings WHERE temp > 20 AND WHERE ok", "leave it out behind AND"),
        ("SELECT at - 7 days AS d FROM Readings", "write INTERVAL '7' DAY"),
        ("SELECT farm FROM Readings WHERE temp > 20, ok = TRUE", "write AND between conditions"),
    ],
)
def test_what_was_meant_is_said(sql: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    assert hint in str(caught.value.hint)
