"""Texts of DuckDB that are spelled in another way: links, accents, paths of files, sizes and bars.

URL_ENCODE(s)   STRIP_ACCENTS(s)   NFC_NORMALIZE(s)   SPLIT_PART(s, ',', -1)   PARSE_FILENAME(s)
FORMAT_BYTES(n)   BAR(x, 0, 100)
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from functools import partial
from urllib.parse import quote, unquote_to_bytes

from sqlglot import exp

from workbench.sql.algebra.expressions import Expression
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Function, function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("bytes", "kB", "MB", "GB", "TB", "PB")
_BLOCKS = " ▏▎▍▌▋▊▉█"
_MOST_BARS = 1000
"""Characters of a bar at most."""
_SEPARATOR = re.compile(r"[/\\]")


def _unquoted(text: str) -> str | None:
    """NULL of what is no text in UTF-8, where DuckDB has an error."""
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return None


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if unicodedata.category(c)[0] != "M"))


def _split_part(text: str, separator: str, place: int) -> str:
    """The part at a place, below 0 from the end; an empty text where there is none, also at 0."""
    parts = text.split(separator) if separator else list(text)
    at = place - 1 if place > 0 else place
    return parts[at] if place and -len(parts) <= at < len(parts) else ""


def _size(units: tuple[str, ...], base: int) -> Callable[[int], str]:
    def spelled(size: int) -> str:
        """A number of bytes with one digit behind the point; the rest is cut off."""
        sign, rest, power = "-" if size < 0 else "", abs(size), 0
        while power < len(units) - 1 and rest >= base ** (power + 1):
            power += 1
        if not power:
            return f"{sign}{rest} {'byte' if rest == 1 else 'bytes'}"
        tenths = rest * 10 // base**power
        return f"{sign}{tenths // 10}.{tenths % 10} {units[power]}"

    return spelled


def _bar(value: float, least: float, most: float, width: float = 80.0) -> str | None:
    """A bar whose length shows the place of a value between two others, with a width in characters."""
    if not 1 <= width <= _MOST_BARS:
        return None
    if any(map(math.isnan, (value, least, most))) or value <= least:
        length = 0.0
    else:
        length = width if value >= most else width * (value - least) / (most - least)
    if not math.isfinite(length):
        return None
    eighths = int(length * 8)
    drawn = "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")
    return drawn.ljust(int(width))


def _parts_of_path(path: str) -> list[str]:
    """The folders of a path and its file; of a path from the root its sign is the first one."""
    return [*path[:1]] * bool(_SEPARATOR.match(path)) + [part for part in _SEPARATOR.split(path) if part]


def _file_name(path: str) -> str:
    return _SEPARATOR.split(path)[-1]


def _first_folder(path: str) -> str:
    return _parts_of_path(path)[0] if _SEPARATOR.search(path) else ""


def _folder(path: str) -> str:
    return path if path in ("/", "\\") else path[: max(path.rfind("/"), path.rfind("\\"), 0)]


@reads(exp.SplitPart, parts="this delimiter part_index", dialects=ONLY_DUCKDB)
def split_part(b: ExpressionBinder, node: exp.SplitPart) -> Expression:
    """SPLIT_PART(s, separator, n), of any separator and place."""
    place = node.args.get("part_index")
    separator = node.args.get("delimiter")
    is_plain = isinstance(separator, exp.Literal) and bool(separator.name) and isinstance(place, exp.Literal)
    name = "split_part" if is_plain and place is not None and place.name != "0" else "split_part_in_duckdb"
    return call(name, *b.parts(node, "this", "delimiter", "part_index"))


for _name in ("url_encode", "url_decode"):
    reads_name(_name, takes=1, dialects=ONLY_DUCKDB)(
        lambda b, arguments, name=_name: call(f"{name}_in_duckdb", *arguments)
    )


def _of_text(name: str, python: Callable[[str], object], does: str, example: str, returns: str = "string") -> Function:
    help = f"{name}(text) Returns {does}."
    return function(f"{name}(string): {returns}", python=python, names=name, dialects=ONLY_DUCKDB, help=help,
                    example=f"SELECT {name}({example}")  # fmt: skip


DECLARED = [
    function("split_part_in_duckdb(string, string, integer): string", python=_split_part),
    function("url_encode_in_duckdb(string): string", python=lambda text: quote(text, safe="")),
    function("url_decode_in_duckdb(string): string", python=_unquoted),
    _of_text("strip_accents", _without_accents, "the letters without accents", "'Åre') → Are"),
    _of_text("nfc_normalize", partial(unicodedata.normalize, "NFC"), "the text in the normal form C", "'é') → é"),
    _of_text("parse_filename", _file_name, "the file of a path", "'/a/b.txt') → b.txt"),
    _of_text("parse_dirname", _first_folder, "the first folder of a path", "'a/b/c.txt') → a"),
    _of_text("parse_dirpath", _folder, "the folders of a path", "'/a/b/c.txt') → /a/b"),
    _of_text("parse_path", _parts_of_path, "the folders of a path and its file", "'/a/b.txt') → [/, a, b.txt]",
             "array<string>"),
    *(function(f"{name}(integer): string", python=_size(units, base), names=names, dialects=ONLY_DUCKDB,
               help=f"{name}(n) Returns a number of bytes in a unit of {base}.", example=f"SELECT {name}({shown}")
      for name, names, units, base, shown in (
          ("format_bytes", "format_bytes formatreadablesize", _BINARY, 1024, "16000) → 15.6 KiB"),
          ("formatreadabledecimalsize", "formatreadabledecimalsize", _DECIMAL, 1000, "16000) → 16.0 kB"))),
    function("bar(double, double, double[, double]): string", python=_bar, names="bar", dialects=ONLY_DUCKDB,
             help="bar(x, min, max[, width]) Returns a bar as long as x stands between min and max.",
             example="SELECT bar(5, 0, 10, 4) → ██"),
]  # fmt: skip
