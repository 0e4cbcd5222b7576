"""A column, alias or stream that is called like a key word: what it means in quotes, or refused by name.

The parser takes some such names for key words and drops them: ``SELECT all, city`` was SELECT ALL.
"""

from __future__ import annotations

import os
import random
import re

import pytest
import sqlglot
from long import LONG, one_in
from sqlglot import exp

from workbench.errors import SqlError, WorkbenchError
from workbench.sql.algebra.types import DATE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SEED = int(os.environ.get("ARGUS_SEED", 0))
DIALECTS = ("spark", "oracle", "postgres", "duckdb", "bigquery", "presto")
PLACES = [
    "SELECT {} FROM t", "SELECT {}, x FROM t", "SELECT x, {} FROM t", "SELECT x, {}, g FROM t", "SELECT t.{}, x FROM t",
    "SELECT x AS {} FROM t", "SELECT x {} FROM t", "SELECT x {}, g FROM t", "SELECT {} AS y, x FROM t",
    "SELECT {} y FROM t", "SELECT DISTINCT {}, x FROM t", "SELECT {} + 1 FROM t", "SELECT x - {} FROM t",
    "SELECT ({}) FROM t", "SELECT ({} + x) FROM t", "SELECT CASE WHEN {} = 1 THEN {} ELSE {} END FROM t",
    "SELECT CAST({} AS DOUBLE PRECISION) FROM t", "SELECT COUNT({}) FROM t", "SELECT COALESCE({}, x) FROM t",
    "SELECT COALESCE(x, {}) FROM t", "SELECT COALESCE(x, {}, g) FROM t", "SELECT SUM({}), MIN(x) FROM t",
    "SELECT COUNT(*) FROM t GROUP BY {}", "SELECT COUNT(*) FROM t GROUP BY {}, x",
    "SELECT COUNT(*) FROM t GROUP BY x, {}", "SELECT {}, x, COUNT(*) FROM t GROUP BY {}, x",
    "SELECT x FROM t ORDER BY {}", "SELECT x FROM t ORDER BY {}, x", "SELECT x FROM t ORDER BY x, {} DESC",
    "SELECT x FROM t WHERE {} = 1", "SELECT x FROM t WHERE x = {}", "SELECT x FROM t WHERE NOT {} > 1 AND x = 2",
    "SELECT x FROM t WHERE {} IS NULL", "SELECT x FROM t WHERE x IN ({}, 7)",
    "SELECT x FROM t WHERE x BETWEEN {} AND 9", "SELECT a.x FROM t a JOIN t b USING ({})",
    "SELECT SUM(x) OVER (PARTITION BY {} ORDER BY {}) FROM t", "SELECT g FROM t GROUP BY g HAVING SUM({}) > 1",
    "SELECT {}.x FROM t AS {}", "SELECT {}.x FROM t {}", "SELECT x FROM t {}",
    "WITH {} AS (SELECT x FROM t) SELECT x FROM {}", "SELECT {} FROM (SELECT x AS {} FROM t) z",
    "SELECT {} FROM t UNION ALL SELECT x FROM t", "SELECT x FROM t WHERE x IN (SELECT {} FROM t)",
]  # fmt: skip
HARD = ("all", "distinct", "unique", "as", "fetch", "select", "values", "isnull", "notnull", "regexp", "rlike", "any",
        "some", "only", "lateral", "interval", "case", "row", "array", "struct", "map", "window", "session", "from",
        "filter", "exists", "not", "limit", "offset", "for", "end", "date", "timestamp", "if", "left")  # fmt: skip
MEANT = re.compile(
    r"SELECT (all|distinct) \+ 1|\(select \+ x\)|\b(true|false|null)\b|SELECT x (isnull|notnull)"
    r"|SELECT unique (y|FROM|\+)"
)
"""What a database reads so as well: ``SELECT ALL +1``, the constants, UNIQUE of oracle, ``x ISNULL``."""


def words(dialect: str) -> list[str]:
    """The single words that a dialect's tokenizer or parser knows."""
    known = sqlglot.Dialect.get_or_raise(dialect)
    keys = [*known.tokenizer_class.KEYWORDS, *known.parser_class.NO_PAREN_FUNCTION_PARSERS]
    return sorted({word.lower() for key in keys for word in re.findall(r"[A-Za-z_]+", str(key))} - {"t", "x", "g", "z"})


@pytest.mark.slow
@pytest.mark.parametrize("dialect", one_in(2, DIALECTS))
def test_a_name_like_a_key_word_is_a_name_or_refused(dialect: str) -> None:
    chosen, every = random.Random(SEED), [(word, place) for word in words(dialect) for place in PLACES]
    some = every if LONG else [(word, place) for word in HARD for place in PLACES][::4] + chosen.sample(every, 100)
    for word, place in some:
        sql, quoted = place.replace("{}", word), place.replace("{}", exp.to_identifier(word, quoted=True).sql(dialect))
        bare = _read(sql, dialect, word)
        if bare is not None and not MEANT.search(sql):
            assert bare == _read(quoted, dialect, word), f"{dialect}: {sql}"


def _read(sql: str, dialect: str, word: str) -> str | None:
    """The query over a stream with a column of that name, without the quotes; ``None`` if it is refused."""
    try:
        query = bind(sql, dialect, Schema({"t": ((word, INTEGER), ("x", INTEGER), ("g", INTEGER))})).query
    except WorkbenchError:
        return None
    return re.sub(r"[`\"'\\]", "", str(query))


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("spark", "current_date"), ("duckdb", "current_timestamp"), ("postgres", "user"), ("postgres", "current_role"),
        ("oracle", "level"), ("oracle", "sysdate"), ("oracle", "uid"), ("bigquery", "current_date"),
    ],
)  # fmt: skip
def test_a_column_called_like_a_function_without_parentheses_is_refused(dialect: str, name: str) -> None:
    schema = Schema({"t": ((name, DATE), ("d", DATE), ("city", STRING))}, times={"t": "d"})
    with pytest.raises(SqlError) as refused:
        bind(f"SELECT city FROM t WHERE {name} = d", dialect, schema)
    assert refused.value.hint is not None and refused.value.hint.startswith("in quotes it is")
    assert bind(f"SELECT t.{name} FROM t", dialect, schema).query


def test_the_hint_says_how_to_write_it() -> None:
    schema = Schema({"t": (("all", INTEGER), ("city", STRING))})
    for sql in ("SELECT all, city, COUNT(*) FROM t GROUP BY all, city", "SELECT COUNT(all) FROM t"):
        with pytest.raises(SqlError, match="nothing that ALL belongs to") as refused:
            bind(sql, "spark", schema)
        assert refused.value.hint == "a column that is called so stands in quotes: `all`"
    with pytest.raises(SqlError, match="all is a column here"):
        bind("SELECT city, COUNT(*) FROM t GROUP BY ALL", "spark", schema)


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
@pytest.mark.parametrize(
    "word", ["from", "case", "when", "then", "else", "select", "where", "join", "with", "like", "for"]
)
def test_a_word_that_is_a_column_stands_in_quotes(word: str, dialect: str) -> None:
    schema, quoted = Schema({"t": ((word, INTEGER), ("x", INTEGER))}), exp.to_identifier(word, quoted=True).sql(dialect)
    for sql in (f"SELECT {word}, x FROM t", f"SELECT x - {word} AS d FROM t"):
        with pytest.raises(SqlError) as caught:
            bind(sql, dialect, schema)
        assert caught.value.hint == f"a name that is a word of SQL stands in quotes: {quoted}", sql
        assert bind(sql.replace(word, quoted, 1), dialect, schema).query is not None
    with pytest.raises(SqlError) as caught:
        bind("SELECT x FROM t WHERE WHERE x > 1", dialect, Schema({"t": (("end", INTEGER), ("x", INTEGER))}))
    assert "in quotes" not in str(caught.value.hint)


@pytest.mark.parametrize("sign", ["+", "-"])
def test_interval_before_a_sign_is_a_column_of_postgres(sign: str) -> None:
    bare, quoted = (f"SELECT {name} {sign} 1 FROM t" for name in ("interval", '"interval"'))
    assert _read(bare, "postgres", "interval") == _read(quoted, "postgres", "interval") is not None
