"""STRPTIME of duckdb reads texts as DuckDB does, under formats and of texts made by chance; and has a kernel."""

from __future__ import annotations

import datetime as dt
import os
import re
from random import Random

import duckdb
import pyarrow as pa
import pytest

from workbench.engine.physical.stored.values import computed_value
from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import INSTANT, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.dialects import DIALECTS
from workbench.sql.functions.times.strptime import micros_of_texts, read_by_strptime
from workbench.sql.logical import output_columns
from workbench.sql.schema import Schema
from workbench.sql.syntax.date_formats import to_read

SEED = int(os.environ["ARGUS_SEED"])
ELEMENTS = {
    "%Y": ("2026", "1", "0", "0000", "999", "12345", "-1", "26"),
    **dict.fromkeys(("%m", "%-m"), ("1", "01", "12", "13", "0", "00", "001")),
    "%b": ("Jan", "FEB", "mar", "Sept", "May", "Juni", "x", ""),
    "%B": ("January", "may", "JUNE", "Dec", "Septembe"),
    **dict.fromkeys(("%d", "%-d"), ("1", "01", "31", "30", "29", "32", "0", "00")),
    **dict.fromkeys(("%H", "%-H"), ("0", "00", "23", "24", "7")),
    **dict.fromkeys(("%I", "%-I"), ("1", "12", "0", "13", "01")),
    **dict.fromkeys(("%M", "%-M", "%S", "%-S"), ("0", "5", "59", "60", "61", "07")),
    "%f": ("1", "123", "123456", "1234567", "", "000001"),
    "%p": ("AM", "pm", "Pm", "x"),
    **dict.fromkeys(("%T", "%X"), ("10:00:01", "1:2:3")),
    "%x": ("2026-01-31", "26-2-30"),
    "%z": (
        "+0200",
        "-07",
        "+02:00",
        "+5",
        "Z",
        "-00:30",
        "+02:00:30",
        "+020030",
        "+9900",
        "0200",
        "+2:00",
        "-12:",
        "+1",
    ),
}
BETWEEN = ("  ", "   ", "-", "/", " ", ":", "", "T", ", ", ".", "Z", "'s", " at ")


def a_format(random: Random) -> str:
    chosen = random.sample(list(ELEMENTS)[1:], random.randrange(5))
    chosen += [] if "%x" in chosen else ["%Y"]
    random.shuffle(chosen)
    return "".join(element + random.choice(BETWEEN) for element in chosen)


def a_text(random: Random, format_: str) -> str:
    """A text that has the form of a format, or nearly."""
    parts = []
    for part in re.findall(r"%-?.|[^%]+", format_):
        if part in ELEMENTS:
            parts.append(random.choice(ELEMENTS[part]).zfill(random.choice([0, 0, 0, 2])))
        else:
            other = random.choice([part.upper(), part.lower(), f"{part} ", f" {part}", part.strip(), ""])
            parts.append(part if random.random() < 0.9 else other)
    return random.choice(["{}"] * 8 + [" {}", "{} ", "{}x", "\t{}"]).format("".join(parts))


@pytest.mark.slow
def test_texts_are_read_as_by_duckdb() -> None:
    random, valid = Random(SEED), 0
    for format_ in (a_format(random) for _ in range(120)):
        texts = [a_text(random, format_) for _ in range(40)]
        asked = "SELECT epoch_us(try_strptime(s, ?)) FROM (SELECT unnest(?::VARCHAR[]) AS s)"
        with duckdb.connect() as connection:
            expected = [micros for (micros,) in connection.execute(asked, [format_, texts]).fetchall()]
        found = micros_of_texts(texts, format_)
        wrong = [(t, a, b) for t, a, b in zip(texts, found, expected, strict=True) if a != b]
        assert not wrong, (format_, to_read(format_, DIALECTS["duckdb"]), wrong[:5])
        valid += sum(micros is not None for micros in expected)
    assert valid > 200


def test_the_time_of_a_line_of_a_log_needs_no_job_of_spark() -> None:
    computed = computed_value(read_by_strptime(Column("s", STRING), "%d/%b/%Y:%H:%M:%S"))
    assert computed is not None
    times = computed.values(pa.RecordBatch.from_pydict({"s": ["01/Mar/2026:10:00:00", None, "-", "1/mar/2026:10:0:0"]}))
    assert times.to_pylist() == [ten := dt.datetime(2026, 3, 1, 10), None, None, ten]


def test_a_time_with_its_offset_is_an_instant() -> None:
    schema = Schema({"logs": (("line", STRING),)})
    sql = "SELECT STRPTIME(line, '%d/%b/%Y:%H:%M:%S %z') AS at FROM logs"
    bound = bind(sql, "duckdb", schema).query
    assert bound is not None and output_columns(bound)[0][1] == INSTANT
    computed = computed_value(read_by_strptime(Column("s", STRING), "%d/%b/%Y:%H:%M:%S %z"))
    assert computed is not None
    times = computed.values(pa.RecordBatch.from_pydict({"s": ["10/Oct/2026:13:55:36 -0700", "10/Oct/2026:13:55:36"]}))
    assert times.to_pylist() == [dt.datetime(2026, 10, 10, 20, 55, 36), None]
    with pytest.raises(UnsupportedError, match="%z"):
        bind("SELECT STRFTIME(CAST(line AS TIMESTAMP), '%z') FROM logs", "duckdb", schema)


def test_a_constant_is_folded() -> None:
    for text, time in (("2 Mar 2026", dt.datetime(2026, 3, 2)), ("2 Mai 2026", None)):
        assert read_by_strptime(Constant(text, STRING), "%d %b %Y") == Constant(time, TIMESTAMP)
