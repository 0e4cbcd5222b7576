"""Warnings of what is valid, and hardly meant, and key words that are misspelled."""

from __future__ import annotations

import warnings

import pytest

from workbench.errors import SqlError, SqlWarning
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.schema import Schema

SCHEMA = Schema({"T": (("name", STRING), ("amt", INTEGER), ("t", TIMESTAMP)), "U": (("city", STRING), ("k", INTEGER))})


def warned(sql: str, dialect: str = "spark") -> list[str]:
    """The first lines of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bind(sql, dialect, SCHEMA)
    return [str(warning.message).split("\n")[0] for warning in caught if issubclass(warning.category, SqlWarning)]


@pytest.mark.parametrize(
    ("sql", "first"),
    [
        ('SELECT "name" FROM T', '"name" is a text'),
        ("SELECT amt FROM T WHERE \"NAME\" = 'a'", '"NAME" is a text'),
        ('SELECT MAX(amt) FROM T GROUP BY UPPER("name")', '"name" is a text'),
        ("SELECT name amt FROM T", "name is shown under the name amt"),
        ("SELECT T.name\namt, t FROM T", "name is shown under the name amt"),
        ("SELECT COUNT(amt > 3) FROM T", "COUNT counts the rows for which a condition is false, too"),
        ("SELECT COUNT(name = 'a' OR amt IN (1, 2)) FROM T", "COUNT counts the rows for which a condition is false"),
        ("SELECT DISTINCT (name), amt FROM T", "DISTINCT is of all columns"),
        ("SELECT amt FROM T WHERE name LIKE '*a*'", "LIKE takes * for itself"),
        ("SELECT city FROM T LFET JOIN U ON amt = k", "LFET is taken for another name"),
        ("SELECT city FROM T rigth JOIN U ON amt = k", "rigth is taken for another name"),
        ("SELECT city FROM T CORSS JOIN U ON amt = k", "CORSS is taken for another name"),
    ],
)
def test_a_slip_is_warned_of(sql: str, first: str) -> None:
    (message,) = warned(sql)
    assert message.startswith(first)


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ('SELECT "name" FROM T', "duckdb"),
        ("SELECT 'name' FROM T", "spark"),
        ('SELECT amt FROM T WHERE name = "Ulm"', "spark"),
        ('SELECT amt AS "name" FROM T', "spark"),
        ("SELECT name AS amt, amt AS name FROM T", "spark"),
        ("SELECT name label, SUM(amt) amt FROM T GROUP BY name", "spark"),
        ("SELECT name name, amt FROM T", "spark"),
        ("SELECT name FROM T WHERE EXISTS (SELECT city amt FROM U WHERE k = amt)", "spark"),
        ("SELECT city FROM T lef LEFT JOIN U r ON amt = k", "spark"),
        ("SELECT city FROM T l JOIN U r ON amt = k", "spark"),
        ("SELECT COUNT(amt > 3 OR NULL) FROM T", "spark"),
    ],
)
def test_what_is_meant_is_not_warned_of(sql: str, dialect: str) -> None:
    assert warned(sql, dialect) == []


MISSPELLED = """
    SELECT name FROM T LIMT 3: LIMIT
    SELECT name FROM T ODER BY name: ORDER
    SELECT name FROM T ORDER BT name: BY
    SELECT name FROM T GROUP name: GROUP BY
    SELECT name, COUNT(*) FROM T GRUOP BY name: GROUP
    SELECT name, COUNT(*) FROM T GROUP BY name HAVIN COUNT(*) > 1: HAVING
    SELECT city FROM T LEFT JION U ON amt = k: JOIN
    SELECT name FORM T: FROM
    SELEC name FROM T: SELECT
    SELECT name FROM T UNOIN SELECT city FROM U: UNION
    SELECT name FROM T EXECPT SELECT city FROM U: EXCEPT
    SELECT name FROM T WEHRE amt > 1: WHERE
    SELECT name FROM T WHERE amt BETWEN 1 AND 2: BETWEEN
    SELECT name FROM T WHERE name LIEK 'a': LIKE
    SELECT name FROM T WHERE amt ISNT NULL: IS NOT
    SELECT name FROM T WHERE amt > 1 ADN amt < 3: AND
    SELECT CASE WHEN amt > 1 THN 1 END FROM T: THEN
    SELECT CASE WHEN amt > 1 THEN 1 ESLE 2 END FROM T: ELSE
    SELECT name FROM T ORDER BY name DECS: DESC
    SELECT name FROM T ORDER BY name NULS LAST: NULLS
    SELECT name FROM T OFSET 2: OFFSET
    SELECT name FROM T FETCH FRIST 3 ROWS ONLY: FIRST
    SELECT SUM(amt) OVR (ORDER BY t) FROM T: OVER
    SELECT SUM(amt) OVER (PARTITON BY name) FROM T: PARTITION
    SELECT name FROM T QUALFY ROW_NUMBER() OVER (ORDER BY t) = 1: QUALIFY
    SELECT COUNT(*) FILTR (WHERE amt > 1) FROM T: FILTER
    SELECT DISTICT name FROM T: DISTINCT
    WTH a AS (SELECT name FROM T) SELECT name FROM a: WITH
"""


@pytest.mark.parametrize("line", MISSPELLED.strip().splitlines())
def test_a_misspelled_key_word_is_pointed_at_and_the_one_meant_is_named(line: str) -> None:
    sql, _, meant = line.strip().rpartition(": ")
    with pytest.raises(SqlError) as refused:
        bind(sql, "spark", SCHEMA)
    assert (refused.value.hint or "").startswith(f"did you mean {meant}?")


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT name FROM T WHERE amt > 1 && amt < 3", "write AND"),
        ("SELECT name FROM T WHERE amt \u2265 3", "write >="),
        ("SELECT amt \u2013 1 FROM T", "this is a dash: minus is -"),
        ("SELECT amt FROM T WHERE name = \u2018a\u2019", "if it is a text, write 'a'"),
        ("SELECT name amt t FROM T", "is a comma missing before t?"),
    ],
)
def test_signs_that_are_none(sql: str, hint: str) -> None:
    with pytest.raises(SqlError) as refused:
        bind(sql, "spark", SCHEMA)
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("items", "names"),
    [
        ("name, -- the name\n amt + 1 -- plus\n", ["name", "amt + 1"]),
        ("amt /* a */ + /* b */ 1", ["amt + 1"]),
        ("UPPER(name) -- x\n, amt*2 /* z */", ["UPPER(name)", "amt*2"]),
        ("/* first */ amt+1, -- c\n -- d\n amt  +\n2", ["amt+1", "amt + 2"]),
        ("CONCAT(name, ' -- no comment /* */')", ["CONCAT(name, ' -- no comment /* */')"]),
    ],
)
def test_comments_are_no_part_of_a_columns_name(items: str, names: list[str]) -> None:
    query = bind(f"SELECT {items} FROM T", "spark", SCHEMA).query
    assert isinstance(query, Block)
    assert [output.name for output in query.outputs] == names
