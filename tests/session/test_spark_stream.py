"""A streaming DataFrame of Spark as a source: recorded, and each micro-batch once."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from workbench import Session
from workbench.errors import StreamError


def put(folder: Path, name: str, first: int, rows: int) -> None:
    at = pd.Timestamp("2026-01-02 03:04:05")
    frame = pd.DataFrame(
        {"id": range(first, first + rows), "fee": [None if n % 3 else 1.5 for n in range(rows)], "at": at}
    )
    frame.to_json(folder / f".{name}", orient="records", lines=True, date_format="iso")
    (folder / f".{name}").rename(folder / name)


def ids(session: Session, wanted: int) -> list[int]:
    """The ids there are; Spark reads new files when it comes to it."""
    until = time.monotonic() + 120
    while len(found := session.query("all").result()) < wanted and time.monotonic() < until:
        if not session.run(1):
            time.sleep(0.1)
    return sorted(found["id"].tolist())


def test_a_streaming_data_frame(spark: SparkSession, tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    inbox.mkdir()
    put(inbox, "1.json", 0, 7)

    def read() -> DataFrame:
        schema = "id BIGINT, fee DOUBLE, at TIMESTAMP"
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(inbox))

    with Session(spark, tmp_path / "s") as session:
        session.add_stream("T", read(), history=2, batch=3, time="at")
        session.register("SELECT id FROM T", name="all")
        session.register("SELECT COUNT(*) AS n, COUNT(fee) AS f, MIN(at) AS first FROM T", name="total")
        assert len(session.query("all").result()) == 2
        put(inbox, "2.json", 7, 4)
        assert ids(session, 11) == list(range(11))
        assert session.query("total").result().iloc[0].tolist() == [11, 5, pd.Timestamp("2026-01-02 03:04:05")]
        with pytest.raises(StreamError, match="already a stream"):
            session.add_stream("t", read())
    put(inbox, "3.json", 11, 4)
    # As if Spark had been killed before it knew that its last micro-batch was taken: it repeats it.
    checkpoint = tmp_path / "s" / "spooled" / "t" / "checkpoint" / "commits"
    for file in checkpoint.glob("*1*"):
        file.unlink()
    with Session.open(tmp_path / "s", spark) as session:
        session.attach("T", read())
        assert ids(session, 15) == list(range(15))
        assert not session.sources["T"].problem
        for name in session.queries:
            session.drop(name)
        session.drop_stream("T")
    assert not (tmp_path / "s" / "spooled" / "t").exists()


def test_a_streaming_data_frame_that_fails(spark: SparkSession, tmp_path: Path) -> None:
    """It stops no other, says why for as long as it does, and one that is mended goes on where it was."""
    inbox = tmp_path / "in"
    inbox.mkdir()
    put(inbox, "1.json", 0, 3)

    def read(checked: str) -> DataFrame:
        frame = spark.readStream.schema("id BIGINT, fee DOUBLE, at TIMESTAMP").json(str(inbox))
        return frame.selectExpr(f"{checked} AS id", "fee", "at")

    with Session(spark, tmp_path / "s") as session:
        session.add_stream("T", read("IF(id = 4, raise_error('odd'), id)"), batch=3)
        session.add_stream("G", ({"n": n} for n in range(100_000)), batch=1)
        session.register("SELECT id FROM T", name="all")
        session.register("SELECT n FROM G", name="others")
        assert ids(session, 3) == [0, 1, 2]
        put(inbox, "2.json", 3, 3)
        until = time.monotonic() + 120
        while not session.sources["T"].problem and time.monotonic() < until:
            session.run(1)
            time.sleep(0.1)
        for _ in range(3):
            assert session.run(1)[0].arrived["G"] == 1
            assert "Spark's streaming query failed" in session.sources["T"].problem
        assert ids(session, 3) == [0, 1, 2]
        session.attach("T", read("id"))
        assert ids(session, 6) == [*range(6)] and not session.sources["T"].problem
