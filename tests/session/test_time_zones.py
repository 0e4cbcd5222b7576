"""The zone of a session: stored with it and with its queries; instants of sources, and as answers show them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError
from workbench.sql.algebra.types import INSTANT, TIMESTAMP

AT = pd.to_datetime(["2023-10-28 22:30", "2023-10-29 00:30", "2023-10-29 01:30", "2023-10-29 23:30"], utc=True)
ROWS = pd.DataFrame({"id": range(4), "at": AT})
DAYS = "SELECT DATE_TRUNC('day', at) AS day, COUNT(*) AS n FROM t GROUP BY 1 ORDER BY 1"
IN_BERLIN = [["2023-10-29 00:00:00+02:00", 3], ["2023-10-30 00:00:00+01:00", 1]]
IN_UTC = [["2023-10-28 00:00:00+00:00", 1], ["2023-10-29 00:00:00+00:00", 3]]


def shown(frame: pd.DataFrame) -> list[list[object]]:
    """Rows, with times as texts."""
    return [[str(v) if isinstance(v, pd.Timestamp) else v for v in row] for row in frame.itertuples(index=False)]


def test_a_query_keeps_the_zone_it_was_registered_in(spark: SparkSession, tmp_path: Path) -> None:
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("t", ROWS, history=2, batch=1, time="at")
        session.register(DAYS, "utc")
        session.set_timezone("europe/berlin")
        session.register(DAYS, "berlin")
        today = session.register("SELECT id, at FROM t WHERE at >= DATE_TRUNC('day', now())", "today")
        twice = session.register("SELECT id, at FROM t WHERE at > '2023-10-29 01:00' ORDER BY id", "twice")
        session.run(1)
        assert today.count() == 3  # since 22:00 in UTC
        assert shown(twice.result()) == [[1, "2023-10-29 02:30:00+02:00"], [2, "2023-10-29 02:30:00+01:00"]]
        assert [str(type_) for type_ in twice.result().dtypes] == ["int64", "datetime64[us, Europe/Berlin]"]
        assert twice.head(where="at < '2023-10-29 02:45'")["id"].tolist() == [1]  # spark's first 02:45
        with pytest.raises(SqlError, match=r"no time zone Europe/Berlim[\s\S]*did you mean Europe/Berlin"):
            session.set_timezone("Europe/Berlim")
    with Session.open(tmp_path / "s", spark) as session:
        session.run(1)
        zones = {name: query.timezone for name, query in session.queries.items()}
        assert session.timezone == "Europe/Berlin" and zones["utc"] == "UTC" and zones["berlin"] == "Europe/Berlin"
        assert shown(session.query("utc").result()) == IN_UTC and shown(session.query("berlin").result()) == IN_BERLIN
        changes = session.query("berlin").changes()
        assert (
            changes.groupby("day")["weight"].sum().tolist() == [1, 1] and str(changes["day"].dt.tz) == "Europe/Berlin"
        )
        session.query("berlin").save(tmp_path / "out.parquet")
        assert pq.read_schema(tmp_path / "out.parquet").field("day").type == pa.timestamp("us", "UTC")
        frame = session.query("utc").dataframe()
        assert dict(frame.dtypes)["day"] == "timestamp"
        assert frame.toArrow()["day"].cast(pa.int64()).to_pylist() == [1698451200000000, 1698537600000000]


def test_instants_of_sources(in_process: InProcess, tmp_path: Path) -> None:
    texts = [moment.tz_convert("America/New_York").isoformat() for moment in AT]
    ROWS.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("\n".join(["id,at", *(f"{i},{text}" for i, text in enumerate(texts))]))
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"id": i, "at": text}) for i, text in enumerate(texts)))
    millis = pa.table({"id": range(4), "at": pa.array([moment.value // 10**6 for moment in AT])})
    zoned = {"at": "timestamp with time zone"}
    with Session(in_process, timezone="Asia/Kathmandu") as session:
        session.add_stream("pandas", ROWS, history=4)
        session.add_stream("arrow", pa.Table.from_pandas(ROWS), history=4)
        session.add_stream("parquet", tmp_path / "t.parquet", history=4)
        session.add_stream("csv", tmp_path / "t.csv", history=4, columns=zoned)
        session.add_stream("json", tmp_path / "t.jsonl", history=4, columns=zoned)
        session.add_stream("numbers", millis, history=4, columns={"at": "timestamptz ms"})
        session.add_stream("texts", tmp_path / "t.csv", history=4)
        for name in ("pandas", "arrow", "parquet", "csv", "json", "numbers"):
            assert dict(session.streams[name].columns)["at"] == INSTANT, name
            found = session.register(f"SELECT at FROM {name} ORDER BY id", name=f"of_{name}").result()["at"]
            assert found.tolist() == AT.tolist() and str(found[0]) == "2023-10-29 04:15:00+05:45", name
        guess = session.streams["texts"].guesses["at"]
        assert (guess.type, guess.why) == (TIMESTAMP, "times, in UTC")


@rare
def test_no_answer_depends_on_the_zone_of_the_machine(tmp_path: Path) -> None:
    """Neither of Python's nor of the JVM's."""
    program = """
import pandas as pd
from workbench import Session
rows = pd.DataFrame({"id": [0, 1], "at": pd.to_datetime(["2023-10-29 00:30", "2023-10-29 23:30"], utc=True),
                     "s": ["2023-10-29 02:30:00", "2023-10-29 02:30:00+01:00"]})
with Session(timezone="Europe/Berlin") as session:
    session.add_stream("t", rows, history=2)
    asked = "DATE_TRUNC('day', at) AS d, HOUR(at) AS h, CAST(s AS TIMESTAMP_LTZ) AS s, UNIX_MICROS(at) AS u"
    print(session.register(f"SELECT {asked} FROM t ORDER BY id").result().astype(str).values.tolist())
    print(session.query("q1").dataframe().selectExpr("unix_micros(d)").toPandas().values.tolist())
"""
    zone = {**os.environ, "TZ": "America/New_York", "JAVA_TOOL_OPTIONS": "-Duser.timezone=Pacific/Apia"}
    run = subprocess.run([sys.executable, "-c", program], env=zone, capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout.splitlines() == [
        "[['2023-10-29 00:00:00+02:00', '2', '2023-10-29 02:30:00+02:00', '1698539400000000'], "
        "['2023-10-30 00:00:00+01:00', '0', '2023-10-29 02:30:00+01:00', '1698622200000000']]",
        "[[1698530400000000], [1698620400000000]]",
    ], run.stderr[-2000:]
