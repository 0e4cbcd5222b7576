"""Correct texts are accepted: columns, aliases, queries and tables whose names are key words, here or elsewhere.

Forms of other tools are refused by patterns of words (``forms_refused``), which must not take a name for a form. DuckDB
judges what is correct: of each word and each text, what it prepares has to be read in its dialect. Elsewhere the same
texts are, but for words that the database reserves, and names behind a value or a table without AS.
"""

from __future__ import annotations

import os
import random
import re
import warnings
from collections.abc import Iterator

import duckdb
import pytest
from long import LONG
from sharing.random_queries import Writer
from sharing.small_streams import SCHEMA

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import INTEGER, STRING, array_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

WORDS = """
    rownum interval top minus qualify sample at stream limit offset final format settings prewhere option into emit
    changes flatten pivot unpivot asof window rows range groups filter over partition first last row values map array
    struct list date time timestamp year month day hour minute second week quarter percent ago now today level prior
    connect start separator extend project summarize by per previous next every bin count sum avg min max rank mode any
    some key value index type name user owner position replace rename exclude columns lambda macro show describe
    explain use go d sql query code output answer language tag sort cluster distribute lateral view explode unnest ties
    only fetch escape similar glob regexp rlike ilike match overlaps collate zone local extract substring trim overlay
    cast convert text number decimal integer real double float boolean char string binary blob json uuid serial money
    bit public schema table database column constraint references check default identity generated always stored temp
    recursive materialized refresh cascade restrict truncate insert update delete merge upsert set reset begin commit
    rollback transaction isolation read write share nowait skip locked preceding following unbounded ordinality within
    without grouping sets cube rollup nulls semi anti positional state status action role class plan rate price size
    rule result results report data iff decode nvl isna dcount ntile lag lead power log rand random uniq quantile
    percentile prompt pipe tablesample version system_time of off operator method function procedure trigger return
    input object path seconds days months century decade epoch dow isodow enum global distributed engine ttl attach
    detach array_join yield collect lock
"""
TRIED = WORDS.split() if LONG else sorted(random.Random(os.environ["ARGUS_SEED"]).sample(WORDS.split(), 90))
"""Some in each run; all where ``ARGUS_LONG=all`` is set."""
TEXTS = (
    "SELECT {w} FROM T",
    "SELECT {w}, id FROM T WHERE {w} > 3",
    "SELECT T.{w} FROM T ORDER BY {w}",
    "SELECT {w}, COUNT(*) AS n FROM T GROUP BY {w} HAVING {w} > 1",
    "SELECT id AS {w} FROM T",
    "SELECT MAX({w}) AS m FROM T",
    "SELECT b.{w} FROM T b JOIN T o ON b.{w} = o.{w} WHERE o.{w} = 3",
    "WITH {w} AS (SELECT id FROM T) SELECT id FROM {w}",
    "SELECT {w}.id FROM T AS {w}",
    "SELECT SUM(id) OVER (PARTITION BY {w} ORDER BY id) AS s FROM T",
    "SELECT {w} - 1 AS less, {w} * 2 + {w} AS more FROM T",
    "SELECT id FROM T WHERE {w} IN (1, 2) AND NOT {w} IS NULL",
    "SELECT CASE WHEN {w} = 1 THEN {w} ELSE 0 END AS c FROM T",
    "SELECT DISTINCT {w} FROM T",
    "SELECT id, {w} FROM T ORDER BY id, {w} DESC LIMIT 3",
    "SELECT {w} FROM (SELECT id AS {w} FROM T) q",
    "SELECT id FROM T UNION ALL SELECT {w} FROM T",
    "SELECT COALESCE({w}, id) AS c FROM T",
    "SELECT {w} AS a, id AS b FROM T WHERE {w} IS NOT NULL OR id = {w}",
    "SELECT id FROM T WHERE {w} BETWEEN 1 AND 2 ORDER BY {w}",
    "SELECT SUM(id) OVER (ORDER BY {w} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM T",
    "SELECT RANK() OVER (ORDER BY {w} DESC, id) AS r, ABS({w}) AS a FROM T WHERE ({w}) > 1 AND {w} % 2 = 0",
)
WITHOUT_AS = ("SELECT id {w} FROM T", "SELECT id FROM T {w}", "SELECT id FROM T {w} WHERE id > 3")
RESERVED = {
    "duckdb": set[str](),
    "spark": set[str](),
    "postgres": {"user"},
}  # fmt: skip


@pytest.fixture(scope="module")
def judge() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        yield database


def is_correct(judge: duckdb.DuckDBPyConnection, word: str, sql: str) -> bool:
    """Whether DuckDB prepares a text about a table with a column that is called so."""
    judge.execute(f'CREATE OR REPLACE TABLE T (id BIGINT, "{word}" BIGINT)').fetchall()
    try:
        judge.execute(f"EXPLAIN {sql}").fetchall()
    except duckdb.Error:
        return False
    return True


def refusals(sql: str, word: str, dialects: tuple[str, ...]) -> Iterator[str]:
    """What is said of a text in dialects in which the word is no reserved one."""
    schema = Schema({"T": (("id", INTEGER), (word, INTEGER))})
    for dialect in dialects:
        if word in RESERVED[dialect]:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                bind(sql, dialect, schema)
            except WorkbenchError as error:
                yield f"{dialect}: {error}"


@pytest.mark.parametrize("word", TRIED)
def test_a_name_that_is_a_key_word_somewhere(word: str, judge: duckdb.DuckDBPyConnection) -> None:
    refused = [
        said
        for text in TEXTS
        if is_correct(judge, word, sql := text.format(w=word))
        for said in refusals(sql, word, ("duckdb", "spark", "postgres"))
    ]
    assert not refused, "\n".join(refused)


@pytest.mark.parametrize("word", TRIED)
def test_a_name_without_as(word: str, judge: duckdb.DuckDBPyConnection) -> None:
    refused = [
        said
        for text in WITHOUT_AS
        if is_correct(judge, word, sql := text.format(w=word))
        for said in refusals(sql, word, ("duckdb",))
    ]
    assert not refused, "\n".join(refused)


@pytest.mark.parametrize(
    ("dialect", "item"),
    [
        *(("spark", item) for item in ("a[SIZE(a) - 1]", "EXISTS(a, e -> e > 3)", "a[id]", "s LIKE ('a%')")),
        *(("duckdb", item) for item in ("a[LEN(a)]", "a[RANGE(3)[1]]", "{'at': id}", "[id, 1][id]", "s LIKE ('a%')")),
        *(("duckdb", item) for item in ("id > 0 = 1", "(id > 0) IN (0, id)", "1_000 + id", "s !~ 'x'")),
        *(("spark", item) for item in ("id !> 3", "id !< 3", "!(id > 3)")),
        *(("postgres", item) for item in ("1_000 + id", "s !~* 'x'")),
        *(("postgres", item) for item in ("a[ARRAY_LENGTH(a, 1)]", "s LIKE ANY (ARRAY['a%', 'b%'])")),
    ],
)
def test_signs_and_functions_that_forms_elsewhere_begin_with(dialect: str, item: str) -> None:
    columns = (("id", INTEGER), ("s", STRING), ("a", array_of(INTEGER)))
    bind(f"SELECT {item} AS i FROM T", dialect, Schema({"T": columns}))


@pytest.mark.parametrize("seed", range(40 if LONG else 12))
def test_generated_texts_with_such_names(seed: int) -> None:
    """What is read with plain names of columns is read with names that are key words."""
    chosen = random.Random(seed)
    names = dict(zip(("amount", "code", "day", "src", "dst"), chosen.sample(WORDS.split(), 5), strict=True))
    columns = {stream: [(names.get(n, n), type_) for n, type_ in of] for stream, of in SCHEMA.streams.items()}
    renamed = Schema({stream: tuple(of) for stream, of in columns.items()})
    for text in Writer(seed).texts(6):
        called = re.sub(r"\b(amount|code|day|src|dst)\b", lambda found: names[found[1]], text)
        bind(text, "spark", SCHEMA)
        bind(called, "spark", renamed)
