"""Files of JSON and of raw lines as people have them: compressed, in other encodings, with members that change."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.files import json_lines
from workbench.streams.ingest import ingest
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog
from workbench.streams.source import OpenedSource

ROWS = [{"id": 1, "s": "Zoë €"}, {"id": 2, "s": None}, {"id": 3, "s": "a\nb"}]
FORMS = {
    "jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS),
    "ndjson": "\r\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\r\n",
    "json": json.dumps(ROWS, ensure_ascii=False, indent=1),
    "csv": 'id,s\n1,Zoë €\n2,\n3,"a\nb"\n',
}


def packed(data: bytes, packing: str) -> bytes:
    match packing:
        case ".gz":
            return gzip.compress(data)
        case ".zst":
            return pa.compress(data, "zstd", asbytes=True)
    return data


def rows(log: StreamLog) -> list[dict[str, object]]:
    found: list[dict[str, object]] = log.read(0, log.rows).to_pylist()
    return found


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("form", FORMS)
def test_files_are_compressed_or_in_other_encodings(tmp_path: Path, form: str, packing: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        file = tmp_path / f"{encoding}.{form}{packing}"
        file.write_bytes(packed(FORMS[form].encode(encoding), packing))
        log = ingest("t", file, tmp_path / f"log-{encoding}")
        assert rows(log) == ROWS and not log.quarantined, encoding


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_raw_lines(tmp_path: Path, packing: str) -> None:
    lines = ['GET /a "x', "", "  Zoë, 7 ", "last"]
    for encoding, ending in (("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\n"), ("cp1252", "\n")):
        file = tmp_path / f"{encoding}.log{packing}"
        file.write_bytes(packed(ending.join(lines).encode(encoding), packing))
        log = ingest("t", file, tmp_path / f"log-{encoding}")
        assert [row["line"] for row in rows(log)] == lines
        assert log.notes == (() if "utf-8" in encoding else (f"it is no UTF-8, and is read as {encoding}",))
    (tmp_path / "odd.log").write_bytes(b"a\n\xff\xfe\xfd \xc3\xa9\nb\n")
    log = ingest("t", tmp_path / "odd.log", tmp_path / "log")
    assert [row["line"] for row in rows(log)] == ["a", "b"]
    assert [(entry.line, entry.reason) for entry in log.quarantined] == [(2, "not UTF-8 text")]


def test_a_record_of_utf_16_that_is_no_text_is_quarantined(tmp_path: Path) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_bytes('{"s": "a"}\n{"s": "\ud800"}\n{"s": "b"}\n'.encode("utf-16-le", errors="surrogatepass"))
    log = ingest("t", file, tmp_path / "log")
    assert [row["s"] for row in rows(log)] == ["a", "b"] and log.quarantined[0].line == 2


def test_a_folder_of_logs_grows(tmp_path: Path) -> None:
    (tmp_path / "1.log").write_text("a\nb\n")
    reader = open_live(str(tmp_path / "*.log"))
    assert reader is not None
    log = ingest("t", OpenedSource(reader.schema, iter(())), tmp_path / "log").growing(durable=False)
    take_in(log, reader, 10)
    with (tmp_path / "1.log").open("a") as file:
        file.write("c\nhalf of a li")
    with pytest.raises(StreamError, match="its last line has no end"):
        take_in(log, reader, 10)
    assert [row["line"] for row in rows(log)] == ["a", "b", "c"]


def test_objects_with_changing_members_are_maps_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    attrs = [
        *('{"a": 1.50, "b": "x"}', "{}", "null", '{"c": {"d": [true]}, "a": null}', '"none"'),
        '{"e": 12345678901234567890}',
    ]
    file.write_text("\n".join(f'{{"id": {at}, "attrs": {text}}}' for at, text in enumerate(attrs)))
    log = ingest("t", file, tmp_path / "log", columns={"attrs": "map<string, string>"})
    entries = [None if row["attrs"] is None else json.loads(str(row["attrs"])) for row in rows(log)]
    found = [None if some is None else {entry["f0"]: entry.get("f1") for entry in some} for some in entries]
    big = {"e": "12345678901234567890"}
    assert found == [{"a": "1.50", "b": "x"}, {}, None, {"c": '{"d": [true]}', "a": None}, big]
    assert [entry.line for entry in log.quarantined] == [5] and not log.drifts
    log = ingest("t", file, tmp_path / "numbers", columns={"attrs": "map<string, double>"})
    assert [entry.line for entry in log.quarantined] == [1, 4, 5, 6]


def test_a_declared_column_that_the_first_records_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "SAMPLE_LINES", 2)
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1}\n{"id": 2}\n{"id": 3, "Fee": 12345678901234567.89}\n{"id": 4, "fee": "x"}\n')
    log = ingest("t", file, tmp_path / "log", columns={"Fee": "decimal(20,2)"})
    assert [str(row["fee"]) for row in rows(log)] == ["None", "None", "12345678901234567.89"]
    assert [entry.line for entry in log.quarantined] == [4] and "none of the first 2 records has it" in log.notes[0]
    file.write_text('{"id": 1}\n{"id": 2}\n')
    with pytest.raises(StreamError, match="no column fee in the source"):
        ingest("t", file, tmp_path / "whole", columns={"fee": "double"})
