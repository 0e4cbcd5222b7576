"""What a file is written in: found from its first bytes, from its name, and where that says nothing from its text."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from workbench.errors import StreamError
from workbench.streams.files.encodings import utf_16_of
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.urls import UrlFile

_COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""How the names of compressed files end."""
_LOOKED_AT = 1 << 12
_SEPARATORS = ",;\t|"


class FileFormat(Enum):
    """A format of files that are read; its value lists the endings of their names."""

    PARQUET = (".parquet", ".pq")
    ARROW = (".arrow", ".feather")
    ORC = (".orc",)
    CSV = (".csv", ".tsv", ".txt", ".tab", ".psv")
    JSON = (".jsonl", ".ndjson", ".json")
    LOG = (".log",)

    @classmethod
    def named(cls, name: str) -> FileFormat | None:
        """The format of files with such a name; ``None`` where it tells none.

        Example:
            >>> FileFormat.named("in/*.CSV.gz"), FileFormat.named("sheet.xlsx")
            (<FileFormat.CSV: ('.csv', '.tsv', '.txt', '.tab', '.psv')>, None)
        """
        ending = Path(without_compression(name)).suffix
        return next((kind for kind in cls if ending in kind.value), None)


_SIGNATURES = {
    b"PAR1": FileFormat.PARQUET,
    b"ARROW1": FileFormat.ARROW,
    b"ORC": FileFormat.ORC,
    b"SQLite format 3\0": "a database of SQLite",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a document of an old office program",
    b"Obj\x01": "an Avro file",
    b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF",
    b"\x80\x04": "a pickle",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"{\\rtf": "a document of a word processor",
}
"""The formats, and other kinds of files, by their first bytes."""
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)
_READ_BY_PANDAS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), "read_excel"),
    **{".xml": "read_xml", ".html": "read_html", ".dta": "read_stata", ".sav": "read_spss", ".sas7bdat": "read_sas"},
    **{".h5": "read_hdf", ".hdf5": "read_hdf", ".pkl": "read_pickle", ".pickle": "read_pickle"},
}
_DATABASES, _ARCHIVES = (".db", ".sqlite", ".sqlite3"), (".tar", ".tgz", ".7z", ".rar")


def without_compression(name: str) -> str:
    """A name in small letters without the ending that says how the file is compressed."""
    name = name.lower()
    return next((name.removesuffix(end) for end in _COMPRESSED if name.endswith(end)), name)


def is_compressed(name: str) -> bool:
    """Whether a file's name says that it is compressed."""
    return name.lower().endswith(_COMPRESSED)


def format_of(file: Path | UrlFile) -> FileFormat:
    """The format of a file.

    The first bytes of what is no text are believed before its name, as a file is often called what it is not. Where
    neither says it, a text that begins with a brace or bracket is JSON, and one whose first line has a separator CSV.

    Raises:
        StreamError: it is of no kind that is read.
        OSError: it cannot be read.
    """
    named = FileFormat.named(file.name)
    if named is FileFormat.PARQUET and not is_compressed(file.name):  # its reader looks at the first bytes itself
        return named
    if hint := _how_to_convert(file.name):
        raise StreamError(f"{file} is of a kind that is not read", hint=hint)
    with SourceFile(file) as opened:
        named, first = named or FileFormat.named(opened.inner_name), opened.peek(_LOOKED_AT)[:_LOOKED_AT]
        compressed = opened.compressed
    is_text = b"\0" not in first or utf_16_of(first) != ""
    signed = next((kind for magic, kind in _SIGNATURES.items() if first.startswith(magic)), None)
    signed = None if is_text and isinstance(signed, FileFormat) else signed
    if is_text and _PAGE.match(first):
        hint = "a page that asks to log in is often kept so; pandas.read_html and read_xml read such files"
        raise StreamError(f"{file} is a page, with tags as <html>", hint=hint)
    found = signed or named or (_of_text(first) if is_text else None)
    if compressed and found in (FileFormat.PARQUET, FileFormat.ARROW, FileFormat.ORC):
        raise StreamError(f"{file} is compressed, which is read of texts alone", hint="unpack it, and give the file")
    if isinstance(found, FileFormat):
        return found
    raise StreamError(f"{file} is {found or 'of a kind that is not read'}", hint=what_is_read())


def what_is_read() -> str:
    """A hint for a file that is of no kind that is read."""
    kinds = "Parquet, CSV (.csv, .tsv, .txt), JSON lines (.jsonl or .ndjson), Arrow and ORC are read"
    return f"{kinds}; of a text with a separator the first line names the columns"


def _of_text(first: bytes) -> FileFormat | None:
    text = first.decode(utf_16_of(first) or "utf-8-sig", errors="replace").lstrip()
    if text.startswith(("{", "[")):
        return FileFormat.JSON
    return FileFormat.CSV if any(sign in text.partition("\n")[0] for sign in _SEPARATORS) else None


def _how_to_convert(name: str) -> str | None:
    """How to convert a file whose name says that other programs read it."""
    ending = Path(name.lower()).suffix
    if by_pandas := _READ_BY_PANDAS.get(ending):
        first = "[0]" if by_pandas == "read_html" else ""
        return f"pandas reads it: frame = pandas.{by_pandas}({name!r}){first}, and frame is the source"
    if ending == ".duckdb":
        return (
            f"DuckDB reads it: rows = duckdb.connect({name!r}).sql('FROM …').to_arrow_table(), and rows is the source"
        )
    if ending in _DATABASES:
        frame = f"frame = pandas.read_sql('SELECT * FROM …', sqlite3.connect({name!r}))"
        return f"pandas reads it: {frame}, and frame is the source; a PolledQuery follows it"
    return "unpack it, and give the file that is in it" if ending in _ARCHIVES else None
