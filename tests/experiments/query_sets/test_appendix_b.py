"""The examples of Appendix B over the sample data: all have answers, and their two renderings agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from workbench.experiments.query_sets.appendix_b import AppendixQuery, load
from workbench.experiments.sample_streams.generate import GENERATORS
from workbench.experiments.sample_streams.schemas import SCHEMAS, STREAM_NAMES

Connect = Callable[[Mapping[str, pa.Table]], duckdb.DuckDBPyConnection]
HISTORY = 10_000
QUERIES = load()


@pytest.fixture(scope="module")
def whole(connect: Connect, samples: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    return connect(samples)


@pytest.fixture(scope="module")
def history(connect: Connect, samples: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    return connect({name: table.slice(0, HISTORY) for name, table in samples.items()})


@pytest.fixture(scope="module")
def without_last_batch(connect: Connect, samples: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    return connect({name: table.slice(0, 19_000) for name, table in samples.items()})


def test_all_examples_are_there() -> None:
    assert list(QUERIES) == [f"B{number:02}" for number in range(1, 22)]
    labels = [query.label for query in QUERIES.values()]
    assert labels[:7] == [f"Q_{number}" for number in range(1, 8)]
    assert labels[7:13] == ["QA_1", "QA_2", "QA_3", "QA_4", "A", "B"]
    assert labels[13:] == [f"QM_{number}" for number in range(1, 9)]


def test_each_example_reads_one_stream() -> None:
    streams = [query.streams for query in QUERIES.values()]
    assert streams == [("FedWireTrans",)] * 11 + [("Med",)] * 2 + [("MHDCFY01A",)] * 8


@pytest.mark.parametrize("stream", sorted(STREAM_NAMES))
def test_samples_are_what_the_readme_says(stream: str, samples: dict[str, pa.Table]) -> None:
    seed = {"fed": 2002, "med": 2001, "visits": 12, "prices": 41}[stream]
    table = samples[STREAM_NAMES[stream]]
    assert table.schema.equals(SCHEMAS[stream])
    assert table.equals(GENERATORS[stream](rows=20_000, seed=seed))


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_history_replay_and_last_batch_each_bring_answers(
    query: AppendixQuery,
    history: duckdb.DuckDBPyConnection,
    without_last_batch: duckdb.DuckDBPyConnection,
    whole: duckdb.DuckDBPyConnection,
) -> None:
    old, nearly, everything = (
        Counter(connection.sql(query.duckdb_sql).fetchall()) for connection in (history, without_last_batch, whole)
    )
    assert everything - nearly
    if query.name not in ("B06", "B07"):  # they ask about the last days only
        assert old
        assert nearly - old


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_mended_text_and_the_independent_rendering_agree(
    query: AppendixQuery, whole: duckdb.DuckDBPyConnection
) -> None:
    expected = whole.sql(query.duckdb_sql)
    *views, select = read_as_duckdb(query.oracle_sql)
    for view in views:
        whole.execute(view)
    found = whole.sql(select)
    assert [name.lower() for name in found.columns] == [name.lower() for name in expected.columns]
    assert normal(found.fetchall()) == normal(expected.fetchall())


def read_as_duckdb(text: str) -> list[str]:
    """The statements of an Oracle text, with what DuckDB reads otherwise replaced word by word."""
    text = re.sub(r"--.*", "", text)
    text = re.sub(r"to_char\(([\w.]+), 'YYYYMMDD'\)", r"strftime(\1, '%Y%m%d')", text, flags=re.IGNORECASE)
    text = re.sub(r"to_date\('(\w+)', 'YYYYMMDD'\)", r"strptime('\1', '%Y%m%d')", text)
    text = re.sub(r"SUBSTR\(([\w.]+), 0, 1\)", r"SUBSTR(\1, 1, 1)", text)
    text = text.replace("TRUNC(visit_date)", "CAST(visit_date AS DATE)").replace("MINUS", "EXCEPT")
    text = text.replace("CREATE VIEW", "CREATE OR REPLACE TEMP VIEW")
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def normal(rows: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """Rows as a bag, with averages, which are of type DOUBLE, rounded to the hundredth of a cent."""
    return Counter(
        tuple(round(float(value), 4) if isinstance(value, float | Decimal) else value for value in row) for row in rows
    )
