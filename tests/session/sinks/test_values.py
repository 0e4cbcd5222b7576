"""The values of every type at the ends of their ranges, written to every target and read back: each as it was."""

from __future__ import annotations

import datetime as dt
import json
import math
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from servers import Broker
from sink_targets import Webhook
from typed_values import TYPES, Values, in_json

from workbench import Session
from workbench.arrow.types import to_shown
from workbench.errors import SessionError
from workbench.session.sinks.targets import target_of
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, array_of


def in_delta(value: Any) -> Any:
    """Delta has no intervals and no times of the day: microseconds, and months."""
    match value:
        case dict():
            return {name: in_delta(each) for name, each in value.items()}
        case list():
            return [in_delta(each) for each in value]
        case dt.timedelta():
            return value // dt.timedelta(microseconds=1)
        case dt.time():
            return (dt.datetime.combine(dt.date.min, value) - dt.datetime.min) // dt.timedelta(microseconds=1)
    return in_parquet(value)


def in_parquet(value: Any) -> Any:
    """Parquet has no intervals of months: their number."""
    match value:
        case dict():
            return {name: in_parquet(each) for name, each in value.items()}
        case list():
            return [in_parquet(each) for each in value]
        case pa.MonthDayNano():
            return value.months
    return value


def in_postgres(value: Any) -> Any:
    """Structs and maps are JSON, in which NaN is a text."""
    match value:
        case dict():
            return in_jsonb(value)
        case list():
            return [in_postgres(each) for each in value]
        case pa.MonthDayNano():  # psycopg has 30 days for a month
            years, months = divmod(abs(value.months), 12)
            return dt.timedelta(days=(365 * years + 30 * months) * (-1 if value.months < 0 else 1))
    return value


def of_pandas(value: Any) -> Any:
    """A time of pandas as one of Python."""
    match value:
        case pd.Timestamp():
            return value.to_pydatetime()
        case pd.Timedelta():
            return value.to_pytimedelta()
        case pd.DateOffset():
            return pa.MonthDayNano([value.kwds["months"], 0, 0])
    return None if value is pd.NaT else value


def same(wanted: Any, found: Any) -> bool:
    """Whether values are alike to the last bit; members have no order."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(same(wanted[name], found[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(same, wanted, found))
    if isinstance(wanted, dt.datetime) and isinstance(found, dt.datetime) and wanted.tzinfo and found.tzinfo:
        wanted, found = wanted.astimezone(dt.UTC), found.astimezone(dt.UTC)  # UTC has several names
    return repr(wanted) == repr(found)


def unsigned(value: Any) -> Any:
    """A value in which no zero has a sign."""
    if isinstance(value, list):
        return [unsigned(each) for each in value]
    if isinstance(value, dict):
        return {name: unsigned(each) for name, each in value.items()}
    return 0.0 if isinstance(value, float) and value == 0 else value


def in_jsonb(value: Any) -> Any:
    match value:
        case dict():
            return {name if isinstance(name, str) else str(in_json(name)): in_jsonb(v) for name, v in value.items()}
        case list():
            return [in_jsonb(each) for each in value]
        case float() if math.isnan(value):
            return "nan"
        case float() if math.isfinite(value):  # its numbers have no exponent, and 0 no sign
            return json.loads(format(Decimal(repr(value or 0.0)), "f"))
    return in_json(value)


def test_every_value_of_every_type_at_every_target(
    tmp_path: Path, hook: Webhook, broker: Broker, postgres: str
) -> None:
    import psycopg
    from deltalake import DeltaTable
    from psycopg.rows import dict_row

    called: list[pd.DataFrame] = []

    def of_table() -> list[dict[str, Any]]:
        with psycopg.connect(postgres, row_factory=dict_row) as connection:
            return connection.execute("SELECT * FROM every").fetchall()

    def of_call() -> list[dict[str, Any]]:
        return [{name: of_pandas(value) for name, value in row.items()} for row in called[0].to_dict("records")]

    rows = max(len(values) for _, values in TYPES) + 1
    columns = {f"c{i}": [*values, *[None] * (rows - len(values))] for i, (_, values) in enumerate(TYPES)}
    arrays = [pa.array(columns[f"c{i}"], to_shown(type_)) for i, (type_, _) in enumerate(TYPES)]
    changes = pa.table({"weight": [1] * rows, "i": range(rows), **dict(zip(columns, arrays, strict=True))})
    types = [INTEGER, *(type_ for type_, _ in TYPES)]
    files, delta = tmp_path / "files", tmp_path / "delta"
    arrow: Callable[[Any], Any] = lambda table: table.to_pylist(maps_as_pydicts="strict")  # noqa: E731
    targets: dict[str, tuple[object, Callable[[], Sequence[dict[str, Any]]], Callable[[Any], Any]]] = {
        "folder": (str(files), lambda: arrow(pq.read_table(files)), in_parquet),
        "delta": (f"delta:{delta}", lambda: arrow(DeltaTable(delta).to_pyarrow_table()), in_delta),
        "hook": (hook.url("every"), lambda: hook.taken("every")[7], in_json),
        "topic": (broker.url("every"), lambda: [json.loads(m.value()) for m in broker.read("every")], in_json),
        "table": (f"{postgres}&table=every", of_table, in_postgres),
        "called": (lambda _, frame: called.append(frame), of_call, lambda value: value),
    }
    wrong = []
    for target_name, (given, read, expected) in targets.items():
        target = target_of(given)
        target.begin("every", types)
        target.write("q", 7, changes)
        found = sorted(read(), key=lambda row: row["i"])
        assert len(found) == rows
        for i, (type_, _) in enumerate(TYPES):
            values = [row[f"c{i}"] for row in found]
            wanted = [expected(value) for value in columns[f"c{i}"]]
            if target_name == "called" and type_ == DOUBLE:  # NULL and NaN are one in a DataFrame
                wanted = [math.nan if value is None else value for value in wanted]
            pairs = zip(wanted, values, strict=True)
            wrong += [(target_name, str(type_), w, v) for w, v in pairs if not same(w, v)]
        target.close()
    print(len(targets) * sum(len(values) for _, values in TYPES), "values")
    assert wrong == [], "\n".join(map(str, wrong[:20]))


def caught_up(session: Session) -> None:
    until = time.monotonic() + 60
    while any(status.behind for status in session.sinks.values()) and time.monotonic() < until:
        time.sleep(0.02)


def test_every_value_of_a_stream(spark: SparkSession, tmp_path: Path, hook: Webhook) -> None:
    """From a source through the network to two targets: of each type what a source can have."""
    # A session does not keep the sign of a zero, which is equal to the other.
    of_sources = [(type_, unsigned(values)) for type_, values in TYPES if "interval" not in str(type_)]
    rows = max(len(values) for _, values in of_sources) + 1
    columns = {f"c{i}": [*values, *[None] * (rows - len(values))] for i, (_, values) in enumerate(of_sources)}
    arrays = [pa.array(columns[f"c{i}"], to_shown(type_)) for i, (type_, _) in enumerate(of_sources)]
    source = pa.table({"i": range(rows), **dict(zip(columns, arrays, strict=True))})
    with Session(spark) as session:
        session.add_stream("t", source, history=rows // 2, batch=2)
        session.register(f"SELECT i, {', '.join(columns)} FROM t", name="q")
        session.add_sink("q", tmp_path / "files", name="files")
        session.add_sink("q", hook.url("all"), name="hook")
        session.run(rows)
        caught_up(session)
        session.seek(1)
        caught_up(session)
        left = len(session.query("q").result())
    files = pq.read_table(tmp_path / "files").to_pylist(maps_as_pydicts="strict")
    posted = [row for changes in hook.taken("all").values() for row in changes]
    for found, expected in ((files, lambda value: value), (posted, in_json)):
        came = {row["i"]: row for row in found if row["weight"] == 1}
        went = {row["i"]: row for row in found if row["weight"] == -1}
        assert len(came) == rows and len(went) == rows - left
        for i in range(rows):
            wanted = {name: expected(values[i]) for name, values in columns.items()}
            for row in [came[i], *([went[i]] if i in went else [])]:
                assert not [(name, w, row[name]) for name, w in wanted.items() if not same(w, unsigned(row[name]))]


RAGGED: list[Values] = [[[]], [[1], []], [[1], [2, 3]], [[1], None]]


@pytest.mark.parametrize("value", RAGGED, ids=repr)
def test_arrays_of_arrays_that_differ(tmp_path: Path, hook: Webhook, postgres: str, value: Values) -> None:
    """PostgreSQL has no such arrays, and says so; other targets have them."""
    changes = pa.table({"weight": [1], "v": pa.array([value], pa.list_(pa.list_(pa.int64())))})
    table = f"{postgres}&table=ragged"
    for given in (table, str(tmp_path / "files"), f"delta:{tmp_path / 'delta'}", hook.url("ragged")):
        target = target_of(given)
        target.begin("ragged", [array_of(array_of(INTEGER))])
        if given == table:
            with pytest.raises(SessionError, match="no arrays of arrays that differ in length, are empty or NULL"):
                target.write("q", 1, changes)
        else:
            target.write("q", 1, changes)
        target.close()
    assert pq.read_table(tmp_path / "files")["v"].to_pylist() == [value]
    assert hook.taken("ragged")[1] == [{"weight": 1, "v": value}]


def test_a_text_with_a_character_0(postgres: str) -> None:
    """PostgreSQL has none, and says so."""
    target = target_of(f"{postgres}&table=zeros")
    target.begin("zeros", [STRING])
    with pytest.raises(Exception, match="cannot contain NUL"):
        target.write("q", 1, pa.table({"weight": [1], "v": ["a\x00b"]}))
    target.close()
