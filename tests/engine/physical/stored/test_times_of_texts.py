"""Random texts that look like times, read as Spark reads them: with a zone that counts, and with one that does not."""

from __future__ import annotations

import os
from random import Random

import pyarrow as pa
from pyspark.sql import SparkSession

from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.sql.algebra.expressions import Call, Column
from workbench.sql.algebra.types import STRING, TIMESTAMP

TEXT = Column("s", STRING)
YEARS = ["2026"] * 6 + ["1970", "0001", "12026", "-2026", "+2026", "202", "290000", "999999", "0000"]
NUMBERS = ["1", "01", "12", "2", "06", "28"] * 3 + ["00", "13", "29", "30", "31", "32", "123", ""]
TIMES = ["0", "00", "7", "23", "30", "59", "5"] * 2 + ["24", "60", "123", ""]
FRACTIONS = ["", ".", ".5", ".123", ".123456", ".1234567", ".12345678901", ".000001"]
ZONES = [
    *("Z", "UTC", "+01:00", "-1:00", "+01", "+1", "+0100", "+1:3", "+01:3", "+19:00", "+18:00", "-18:01", "+01:60"),
    *("Europe/Berlin", "America/New_York", "EST", "PST", "CST", "z", "utc", "UTC+1", "GMT-3:30", "GMT+03", "UT+1"),
    *(
        "+01:00:30",
        "foo",
        "Etc/GMT+5",
        "+010030",
        "Berlin",
        "Asia/Kolkata",
        "+:30",
        "+1:",
        "-",
        "+24",
        "5",
        "Z.",
        "GMT0",
    ),
]
ODD = [" ", "\t", "\n", "é", "\u00a0", "\x01", "0", ":", "-", "T", "."]
FIXED = [
    *("", ":", "T", "10:30:00", "T10:30", "10:30", "2026", "2026-", "2026-02-29", "2026-01-05 07:30:00", "+10:30:00"),
    *("-290000-02-06 07:30:00 Asia/Kolkata", "-290000-02-06 07:30:00", "290000-02-06 07:30:00 Europe/Berlin"),
    *(f"2026-{day} 02:30:00{zone}" for day in ("03-29", "10-25") for zone in ("", "Europe/Berlin", " Europe/Berlin")),
]


def text(random: Random) -> str:
    """A text that is a time, or nearly one."""
    found = random.choice(YEARS)
    for part in range(random.choice([2] * 8 + [0, 1])):
        found += "-" + random.choice(NUMBERS[: 18 if part or random.random() < 0.9 else None])
    if random.random() < 0.9:
        found += random.choice([" ", "T", " ", "T", "  ", "t"]) + random.choice(TIMES)
        for _ in range(random.choice([2] * 8 + [0, 1])):
            found += ":" + random.choice(TIMES)
        found += random.choice(FRACTIONS) + random.choice(["", "", "", " "]) + random.choice(["", *ZONES])
    if random.random() < 0.1:
        at = random.choice([0, len(found), random.randrange(len(found) + 1)])
        found = found[:at] + random.choice(ODD) + found[at:]
    return found


def test_texts_are_read_as_by_spark(spark: SparkSession) -> None:
    random = Random(os.environ["ARGUS_SEED"])
    texts = [*FIXED, *(text(random) for _ in range(4_000)), None]
    rows = pa.RecordBatch.from_pydict({"n": range(len(texts)), "s": pa.array(texts, pa.string())})
    frame = spark.createDataFrame(pa.Table.from_batches([rows]))
    clock = "unix_micros(cast(try_cast(s as timestamp_ntz) as timestamp))"
    instant = "case when try_cast(s as timestamp_ntz) is not null then unix_micros(try_cast(s as timestamp_ltz)) end"
    expected = frame.selectExpr("n", f"{clock} AS clock", f"{instant} AS instant")
    known = expected.toArrow().sort_by("n")
    assert known["clock"].null_count < len(texts) * 0.9
    for column, function in (("clock", "cast"), ("instant", "instant_of_text")):
        found = evaluate(Call(function, (TEXT,), TIMESTAMP), rows).cast(pa.int64()).to_pylist()
        wrong = [row for row in zip(texts, found, known[column].to_pylist(), strict=True) if row[1] != row[2]]
        assert not wrong, wrong[:20]
