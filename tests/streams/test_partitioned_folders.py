"""Files in folders whose names are values of columns: DuckDB reads the same from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from streams.odd_sources import OddSource, Reading

from workbench.errors import StreamError
from workbench.streams.files.partitions import files_in_folders
from workbench.streams.ingest import ingest
from workbench.streams.live.sources import open_live

Row = dict[str, Any]
LAYOUTS: dict[str, tuple[str, ...]] = {
    "numbers": ("year=2025/month=1", "year=2025/month=12", "year=2026/month=2"),
    "zeros": ("hour=00", "hour=07", "hour=23"),
    "days": ("day=2026-01-31", "day=2026-02-01"),
    "texts": ("city=Ulm", "city=Sankt%20Gallen", "city=a%3Db"),
    "numbers and texts": ("code=7", "code=A7"),
    "no days": ("day=2026-02-30", "day=2026-02-28"),
    "some NULL": ("shop=3", "shop=__HIVE_DEFAULT_PARTITION__"),
    "all NULL": ("shop=__HIVE_DEFAULT_PARTITION__",),
    "negative": ("t=-3", "t=4"),
    "long": ("n=123456789012345678", "n=5"),
}


class Pattern(OddSource):
    """Files that match a pattern."""

    def __init__(self, pattern: Path) -> None:
        self._pattern = str(pattern)

    def source(self) -> str:
        return self._pattern

    def put(self, record: Any) -> None:
        """The files are there."""


def as_parquet(file: Path, rows: Sequence[Row]) -> None:
    pq.write_table(pa.Table.from_pylist([*rows]), file)


def as_arrow(file: Path, rows: Sequence[Row]) -> None:
    feather.write_feather(pa.Table.from_pylist([*rows]), file, compression="uncompressed")


def as_csv(file: Path, rows: Sequence[Row]) -> None:
    file.write_text("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows), ""]))


def as_lines(file: Path, rows: Sequence[Row]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


WRITERS: dict[str, Callable[[Path, Sequence[Row]], None]] = {
    "parquet": as_parquet,
    "arrow": as_arrow,
    "csv": as_csv,
    "jsonl": as_lines,
}


def written(root: Path, layout: Sequence[str], ending: str = "parquet") -> Path:
    """A folder with one file of two rows in each of some folders, and with what is passed over."""
    for number, folder in enumerate(layout):
        (root / folder).mkdir(parents=True)
        rows = [{"id": 2 * number, "v": f"a{number}"}, {"id": 2 * number + 1, "v": "b"}]
        WRITERS[ending](root / folder / f"part-0.{ending}", rows)
    (root / "_temporary" / "0").mkdir(parents=True)
    WRITERS[ending](root / "_temporary" / "0" / f"part-0.{ending}", [{"id": -1, "v": "no"}])
    (root / layout[0] / f".part-0.{ending}.crc").write_bytes(b"crc")
    return root


def in_duckdb(root: Path) -> list[Row]:
    """The rows in the order of their numbers."""
    files = [str(path) for path in root.glob("**/*.parquet") if "_temporary" not in path.parts]
    table = duckdb.read_parquet(files, hive_partitioning=True).order("id").to_arrow_table()
    return table.to_pylist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_is_read_with_its_partitions(tmp_path: Path, layout: str) -> None:
    root = written(tmp_path / "given", LAYOUTS[layout])
    log = ingest("s", root, tmp_path / "log")
    assert sorted(log.read(0, 99).to_pylist(), key=lambda row: row["id"]) == in_duckdb(root)
    assert log.notes[0].endswith("from the names of folders")


def test_rows_are_in_the_order_of_the_paths_and_numbers_count_as_such(tmp_path: Path) -> None:
    root = written(tmp_path / "given", ("m=10", "m=9", "m=1"))
    assert ingest("s", root, tmp_path / "log").read(0, 99)["id"].to_pylist() == [4, 5, 2, 3, 0, 1]


def test_a_column_of_the_files_goes_before_one_of_the_folders(tmp_path: Path) -> None:
    root = written(tmp_path / "given", ("V=7", "V=8"))
    assert ingest("s", root, tmp_path / "log").schema.names == ["id", "v"]


def test_a_declared_column_keeps_the_texts(tmp_path: Path) -> None:
    root = written(tmp_path / "given", LAYOUTS["numbers"])
    log = ingest("s", root, tmp_path / "log", columns={"year": "string"})
    assert log.read(0, 99)["year"].to_pylist() == ["2025"] * 4 + ["2026"] * 2


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("pattern", ["**/*.{}", "*=*/*.{}", "day=2026-*/part-*.{}"])
def test_a_pattern_follows_folders_that_come(tmp_path: Path, pattern: str, ending: str) -> None:
    """Also in another process, and where a folder has no value, or one that does not fit."""
    root = written(tmp_path / "given", LAYOUTS["days"], ending)
    reading = Reading(tmp_path, Pattern(root / pattern.format(ending)))
    reading.take_in()
    assert reading.ids == [0, 1, 2, 3]
    reading.reopen()
    for day in ("2026-03-01", "__HIVE_DEFAULT_PARTITION__", "2026-later"):
        (root / f"day={day}").mkdir()
    WRITERS[ending](root / "day=2026-03-01" / f"part-0.{ending}", [{"id": 7, "v": "x"}])
    WRITERS[ending](root / "day=2026-later" / f"part-0.{ending}", [{"id": 8, "v": "x"}])
    reading.take_in()
    assert reading.ids == [0, 1, 2, 3, 7] and "later" in reading.reasons[0]
    WRITERS[ending](root / "day=__HIVE_DEFAULT_PARTITION__" / f"part-0.{ending}", [{"id": 9, "v": "x"}])
    reading.take_in()
    assert reading.ids == [0, 1, 2, 3, 7, *([] if "2026" in pattern else [9])]
    reading.close()


def test_the_types_are_those_of_all_folders_that_are_there(tmp_path: Path) -> None:
    root = written(tmp_path / "given", ("month=10", "month=01", "month=11"))
    reading = Reading(tmp_path, Pattern(root / "*" / "*.parquet"))
    reading.take_in()
    assert reading.log.read(0, 9)["month"].to_pylist() == ["10", "10", "01", "01", "11", "11"]
    reading.close()


def test_names_of_files_that_are_not_whole_are_passed_over(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv.crdownload", "c.csv~", "d.csv.part", "e.tmp", "_SUCCESS", ".f.csv.swp"):
        (tmp_path / name).write_text("id,v\n7,a\n")
    for pattern, names in (("*", ["a.csv"]), ("d*.part", ["d.csv.part"])):
        reader = open_live(str(tmp_path / pattern))
        assert reader is not None
        notes = reader.fetch({}, 9).offsets
        assert [place for place in notes if place in names] == names and len(notes) == 2 * len(names)


def test_a_pattern_of_urls_has_the_columns_of_its_folders(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    for number, day in enumerate(LAYOUTS["days"]):
        with memory.open(f"/lake/events/{day}/part-0.parquet", "wb") as file:
            pq.write_table(pa.table({"id": [number]}), file)
    for pattern in ("memory://lake/events/day=*/*.parquet", "memory://lake/events/**/*.parquet"):
        rows = ingest("s", pattern, tmp_path / f"log{len(pattern)}").read(0, 9).to_pylist()
        assert [(row["id"], str(row["day"])) for row in rows] == [(0, "2026-01-31"), (1, "2026-02-01")]
    one = ingest("s", "memory://lake/events/day=2026-02-*/*.parquet", tmp_path / "one").read(0, 9).to_pylist()
    assert [str(row["day"]) for row in one] == ["2026-02-01"]


def test_a_table_of_a_pattern(tmp_path: Path) -> None:
    root = written(tmp_path / "given", LAYOUTS["days"])
    assert ingest("t", root / "day=*" / "*.parquet", tmp_path / "log").read(0, 9).num_rows == 4
    (root / "more.csv").write_text("id\n1\n")
    with pytest.raises(StreamError, match="matches 1 files, which are not all of Parquet"):
        ingest("t", root / "*.csv", tmp_path / "other")


def test_a_table_of_iceberg_is_not_read_by_its_files(tmp_path: Path) -> None:
    root = written(tmp_path / "given" / "data", ("a=1",)).parent
    (root / "metadata").mkdir()
    (root / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(StreamError, match=r"table of Iceberg(.|\n)*pyiceberg"):
        ingest("t", root, tmp_path / "log")


def test_a_folder_with_too_much_in_it_is_refused(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).mkdir()
    with pytest.raises(StreamError, match="more than 3 files and folders are in") as refused:
        files_in_folders(tmp_path, ".parquet", most=3)
    assert "sales/*.parquet" in str(refused.value.hint)


def test_a_folder_that_leads_into_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "0.parquet").touch()
    (tmp_path / "day=1" / "again").symlink_to(tmp_path)
    assert files_in_folders(tmp_path, ".parquet") == [tmp_path / "day=1/0.parquet"]
