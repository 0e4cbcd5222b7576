"""A file is read by what is in it: formats, compressions, names that say something else or nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.streams.ingest import ingest
from workbench.streams.readers import open_source

ROWS = [{"id": number, "name": f"n{number}"} for number in range(300)]
TABLE = pa.Table.from_pylist(ROWS)


def zipped(data: bytes, *names: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return written.getvalue()


def zstd(data: bytes) -> bytes:
    written = pa.BufferOutputStream()
    with pa.CompressedOutputStream(written, "zstd") as stream:
        stream.write(data)
    return bytes(written.getvalue())


def csv(separator: str) -> bytes:
    return "".join(f"{a}{separator}{b}\n" for a, b in [("id", "name"), *(row.values() for row in ROWS)]).encode()


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    write(data := io.BytesIO())
    return data.getvalue()


def streamed(data: io.BytesIO) -> None:
    with pa.ipc.new_stream(data, TABLE.schema) as writer:
        writer.write_table(TABLE, 100)


LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
TEXTS = {
    **{"csv": csv(","), "tsv": csv("\t"), "psv": csv("|"), "txt": csv(";"), "tab": csv("\t")},
    **{"jsonl": LINES, "ndjson": LINES, "json": json.dumps(ROWS).encode()},
}
BINARY = {
    "parquet": written(lambda data: pq.write_table(TABLE, data, row_group_size=100)),
    "arrow": written(streamed),
    "feather": written(lambda data: feather.write_feather(TABLE, data, chunksize=100)),
    "orc": written(lambda data: orc.write_table(TABLE, data)),
}
PACKED = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd,
    "zip": lambda data: zipped(data, "data"),
}  # fmt: skip


def rows_of(path: Path) -> list[dict[str, object]]:
    with ExitStack() as stack:
        found = [
            row for chunk in open_source(path, path.parent / "scratch", stack).chunks for row in chunk.rows.to_pylist()
        ]
    return [{"id": int(str(row["id"])), "name": row["name"]} for row in found]


@pytest.mark.parametrize("packed", ["", *PACKED])
@pytest.mark.parametrize("ending", TEXTS)
def test_texts_with_every_compression(tmp_path: Path, ending: str, packed: str) -> None:
    data = PACKED[packed](TEXTS[ending]) if packed else TEXTS[ending]
    file = tmp_path / f"rows.{ending}{'.' * bool(packed)}{packed}"
    file.write_bytes(data)
    assert rows_of(file) == ROWS
    (called_otherwise := tmp_path / f"other.{ending}").write_bytes(data)
    assert rows_of(called_otherwise) == ROWS, "what it is compressed by is in it, not in its name"


@pytest.mark.parametrize("ending", BINARY)
def test_columns_in_files(tmp_path: Path, ending: str) -> None:
    for name in (f"rows.{ending}", f"ROWS.{ending.upper()}"):
        (tmp_path / name).write_bytes(BINARY[ending])
        assert rows_of(tmp_path / name) == ROWS


@pytest.mark.parametrize("kind", ["parquet", "feather", "orc"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.json", "rows", "rows.dat"])
def test_what_is_called_a_text_and_is_none(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / name).write_bytes(BINARY[kind])
    assert rows_of(tmp_path / name) == ROWS


@pytest.mark.parametrize("name", ["rows", "rows.dat", "rows.csv.1", "part-00000", "rows.out.gz"])
@pytest.mark.parametrize("text", ["csv", "txt", "psv", "jsonl", "json"])
def test_a_name_that_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(TEXTS[text])
    assert rows_of(tmp_path / name) == ROWS


def test_the_only_file_of_an_archive_has_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(LINES, "__MACOSX/._rows.jsonl", ".DS_Store", "in/rows.jsonl"))
    with pytest.raises(StreamError, match="archive of 0 files"):
        (tmp_path / "none.zip").write_bytes(zipped(LINES, ".DS_Store"))
        rows_of(tmp_path / "none.zip")
    assert rows_of(tmp_path / "export.zip") == ROWS


@pytest.mark.parametrize(
    ("name", "data", "reason", "hint"),
    [
        ("two.zip", zipped(csv(","), "a.csv", "b.csv"), "is an archive of 2 files", "unpack it"),
        ("cut.zip", zipped(csv(","), "a.csv")[:500], "cannot be read: File is not a zip file", "unpack it"),
        ("sheet.xlsx", zipped(b"<x/>", "xl/a.xml", "b.xml"), "is of a kind that is not read", "pandas.read_excel"),
        (
            "sheet.csv",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "a document of an old office program",
            "Parquet, CSV",
        ),
        ("page.html", b"<table></table>", "is of a kind that is not read", "pandas.read_html('page.html')[0]"),
        ("rows.duckdb", bytes(600), "is of a kind that is not read", "duckdb.connect('rows.duckdb')"),
        ("rows.csv", b"SQLite format 3\0" + bytes(600), "is a database of SQLite", "Parquet, CSV"),
        ("rows.dat", b"one column\nof words\n", "is of a kind that is not read", "the first line names the columns"),
        ("rows.dat", bytes(range(200)), "is of a kind that is not read", "Parquet, CSV"),
        ("rows.arrow", BINARY["arrow"][:40], "is cut short or damaged", "copy or write"),
        ("rows.orc", BINARY["orc"][:-20], "is cut short or damaged", "copy or write"),
        ("rows.parquet", csv(","), "is not a Parquet file", "Parquet, CSV"),
        ("rows.parquet.gz", gzip.compress(BINARY["parquet"]), "is compressed, which is read of texts", "unpack it"),
        ("rows.zip", zipped(BINARY["orc"], "rows.orc"), "is compressed, which is read of texts", "unpack it"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes, reason: str, hint: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(StreamError) as refused:
        rows_of(tmp_path / name)
    assert reason in refused.value.message and hint in (refused.value.hint or "")


@pytest.mark.parametrize("header", ["ORC,name", "PAR1,name", "ARROW1,name", "BZh,name", "PK,name", "Obj,name"])
def test_a_header_that_begins_as_another_format_does(tmp_path: Path, header: str) -> None:
    (tmp_path / "rows.csv").write_text(f"{header}\n1,a\n")
    with ExitStack() as stack:
        opened = open_source(tmp_path / "rows.csv", tmp_path / "scratch", stack)
        assert next(iter(opened.chunks)).rows.to_pylist() == [{header.partition(",")[0]: "1", "name": "a"}]


@pytest.mark.slow
@pytest.mark.parametrize("packed", ["gz", "bz2", "xz"])
def test_rows_before_a_cut_are_read(tmp_path: Path, packed: str) -> None:
    many = b"id,name\n" + b"".join(b"%d,%d\n" % (n, n * 7919 % 1_000_003) for n in range(200_000))
    data = PACKED[packed](many)
    (tmp_path / f"rows.csv.{packed}").write_bytes(data[: len(data) * 3 // 4])
    with ExitStack() as stack:
        chunks = [*open_source(tmp_path / f"rows.csv.{packed}", tmp_path / "scratch", stack).chunks]
    ids = [int(one) for chunk in chunks for one in chunk.rows["id"].to_pylist()]
    assert len(ids) > 1_000 and ids == [*range(len(ids))], "what was whole is there, and nothing else"
    assert sum(len(chunk.quarantined) for chunk in chunks) == 1


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"meta": {"n": 3}, "data": [{"id": 1}, {"id": 2}]}, "data has 2 objects"),
        ({"id": [1, 2, 3], "name": ["a", "b", "c"]}, "2 columns of 3 values each"),
        ({"id": {"0": 1, "1": 2}, "name": {"0": "a", "1": "b"}}, "2 columns of 2 values each"),
        ({"id": 1, "name": "a"}, None),
        ({"id": 1, "tags": ["a", "b"]}, None),
    ],
)
def test_one_record_that_has_the_rows_within_it(tmp_path: Path, record: object, said: str | None) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(record))
    with ExitStack() as stack:
        notes = open_source(tmp_path / "rows.json", tmp_path / "scratch", stack).notes
    assert [said in note for note in notes if said] == [True] * bool(said)


@pytest.mark.parametrize("ending", ["csv.bz2", "jsonl.zip", "json.xz", "psv", "dat", "feather", "orc"])
def test_a_folder_in_which_files_come(tmp_path: Path, ending: str) -> None:
    data = BINARY.get(ending) or TEXTS[ending.partition(".")[0] if ending != "dat" else "csv"]
    if "." in ending:
        data = PACKED[ending.partition(".")[2]](data)
    with Session(InProcess()) as session:
        for name in ("a", "b"):
            file = tmp_path / f"{name}.{ending}"
            file.write_bytes(data)
            os.utime(file, (file.stat().st_mtime - 60,) * 2)
            if name == "a":
                session.add_stream("t", str(tmp_path / f"*.{ending}"), batch=1_000)
                query = session.register("SELECT COUNT(*) AS n, SUM(id) AS ids FROM t", "q")
            session.run(1)
        assert query.result().iloc[0].tolist() == [2 * len(ROWS), 2 * sum(int(str(row["id"])) for row in ROWS)]


def test_rows_within_one_record_are_rows_by_the_query_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps({"n": 2, "data": ROWS[:2]}))
    with Session(InProcess()) as session:
        stream = session.add_stream("t", str(tmp_path / "rows.json"), history=1)
        query = next(note for note in stream.notes if "UNNEST" in note).partition(" in SELECT ")[2]
        session.register(f"SELECT {query}".replace("NAME", "t"), "q")
        assert sorted(session.query("q").result()["id"]) == [0, 1]


ALIGNED = {
    "id   name   amount\n001  Anna    10.50\n002  Bob      7.25\n": True,
    "note\nhello  there\nfoo bar\n": False,
    "first name  of all\nAnna\nBob\n": False,
    "a  b\n1  2\n": True,
    "a  b\n": False,
}


@pytest.mark.parametrize("text", ALIGNED)
def test_columns_between_blanks_are_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.txt").write_text(text)
    log = ingest("s", tmp_path / "rows.txt", tmp_path / "log")
    assert any("pandas.read_fwf" in note for note in log.notes) == ALIGNED[text]


def test_a_folder_of_other_files_says_the_pattern_of_them(tmp_path: Path) -> None:
    (tmp_path / "in" / "2026").mkdir(parents=True)
    (tmp_path / "in" / "2026" / "a.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(StreamError, match=r"no Parquet files(.|\n)*in/\*\*/\*\.jsonl"):
        ingest("s", tmp_path / "in", tmp_path / "log")
    (tmp_path / "in" / "a.csv").write_text("a\n1\n")
    with pytest.raises(StreamError, match=r"no Parquet files(.|\n)*in/\*\.csv"):
        ingest("s", tmp_path / "in", tmp_path / "log")
