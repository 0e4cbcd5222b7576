"""What holds for every generated stream: schema, order, determinism, keys, and the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from workbench.errors import StreamError
from workbench.experiments.sample_streams.generate import GENERATORS, main
from workbench.experiments.sample_streams.schemas import SCHEMAS

KEYS = {"fed": "tranid", "med": "recid", "visits": "visit_id"}
STREAMS = sorted(GENERATORS)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("rows", [250, 1_000, 3_333])
def test_the_table_has_the_rows_and_the_schema(stream: str, rows: int) -> None:
    table = GENERATORS[stream](rows=rows, seed=3)
    table.validate(full=True)
    assert table.num_rows == rows
    assert table.schema.equals(SCHEMAS[stream])


@pytest.mark.parametrize("stream", STREAMS)
def test_the_seed_decides_the_table(stream: str) -> None:
    first, again, other = (GENERATORS[stream](rows=2_000, seed=seed) for seed in (7, 7, 8))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize(
    ("stream", "time"), [("fed", "tran_date"), ("med", "adate"), ("visits", "visit_date"), ("prices", "timestamp")]
)
def test_event_time_never_goes_back(stream: str, time: str) -> None:
    times = GENERATORS[stream](rows=5_000, seed=1).column(time).to_numpy()
    assert np.all(times[1:] >= times[:-1])
    assert times[0] < times[-1]


@pytest.mark.parametrize("stream", KEYS)
def test_keys_count_from_one(stream: str) -> None:
    keys = GENERATORS[stream](rows=500, seed=1).column(KEYS[stream]).to_pylist()
    assert keys == list(range(1, 501))


@pytest.mark.parametrize(("stream", "least"), [("fed", 6), ("med", 200), ("visits", 1), ("prices", 1)])
def test_the_least_size(stream: str, least: int) -> None:
    assert GENERATORS[stream](rows=least).num_rows == least
    for too_few in (least - 1, 0, -1):
        with pytest.raises(StreamError, match="too few"):
            GENERATORS[stream](rows=too_few)


def test_the_command_writes_parquet_as_generated(tmp_path: Path) -> None:
    path = tmp_path / "fed.parquet"
    assert main(["fed", "--rows", "300", "--seed", "4", "-o", str(path)]) == 0
    assert parquet.read_table(path).equals(GENERATORS["fed"](rows=300, seed=4))


def test_the_command_writes_csv_with_nulls_as_empty_fields(tmp_path: Path) -> None:
    path = tmp_path / "med.csv"
    assert main(["med", "--rows", "300", "--seed", "4", "-o", str(path)]) == 0
    options = csv.ConvertOptions(column_types=SCHEMAS["med"], strings_can_be_null=True)
    expected = GENERATORS["med"](rows=300, seed=4)
    written = csv.read_csv(path, convert_options=options)
    assert written.to_pylist() == expected.to_pylist()
    assert pa.compute.sum(pa.compute.is_null(written.column("ops_01"))).as_py() > 0


@pytest.mark.parametrize(
    ("path", "message"), [("fed.txt", "unknown format"), ("fed", "unknown format"), ("no/fed.csv", "cannot write")]
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, path: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fed", "--rows", "10", "-o", str(tmp_path / path)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_reports_too_few_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fed", "--rows", "5", "-o", str(tmp_path / "fed.csv")]) == 2
    assert "hint: ask for at least 6" in capsys.readouterr().err
