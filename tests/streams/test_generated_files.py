"""Odd files, generated: each value is stored as what its writer meant, or as its text, or its row is quarantined.

The writer of a file remembers what each of its cells means. ``ARGUS_LONG=all`` writes 5,000 files, others with each
``ARGUS_SEED``.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from long import LONG

from workbench.errors import StreamError
from workbench.streams.files import csv_source
from workbench.streams.ingest import ingest
from workbench.streams.log import StreamLog

FILES = 5_000 if LONG else 60
SEED = int(os.environ["ARGUS_SEED"])
PARTS = 10
NULLS = ("", "NA", "N/A", "NaN", "null", "None", "-", "nan")


@dataclass(frozen=True)
class Cell:
    """What is written, and what it means: a number, a date, a time, true or false, nothing, or just this text."""

    text: str
    means: object


Maker = Callable[[random.Random], Cell]


def whole(of: random.Random) -> Cell:
    number = of.choice([of.randint(-9, 99), of.randint(-(10**6), 10**9)])
    return Cell(str(number), Decimal(number))


def long(of: random.Random) -> Cell:
    number = of.randint(10**15, 10 ** of.choice([16, 17, 18, 19, 24, 40]))
    return Cell(str(number), Decimal(number))


def fraction(of: random.Random) -> Cell:
    text = f"{of.uniform(-1000, 1000):.{of.choice([1, 2, 3, 6])}f}"
    return Cell(text, Decimal(text))


def program(of: random.Random) -> Cell:
    text = repr(of.choice([of.random(), of.random() * 1e-9, of.random() * 1e22]))
    return Cell(text, Decimal(text))


def precise(of: random.Random) -> Cell:
    text = f"{of.randint(0, 10**14)}.{of.randint(0, 10**8):08}"
    return Cell(text, Decimal(text) if not text.startswith("0") or text.startswith("0.") else text)


def zeros(of: random.Random) -> Cell:
    return _as_text(f"{of.randint(0, 99_999):05}")


def code(of: random.Random) -> Cell:
    return _as_text(of.choice(["{}E{}", "{}e{}", "{}A{}", "{}{}"]).format(of.randint(1, 9), of.randint(0, 9)))


def phone(of: random.Random) -> Cell:
    return _as_text(f"+{of.randint(10**9, 10**11)}")


def excel(of: random.Random) -> Cell:
    text = f"{of.uniform(1, 9.99):.5f}E+{of.randint(9, 16):02}"
    return Cell(text, Decimal(text))


def word(of: random.Random) -> Cell:
    return _as_text(
        of.choice(
            ["a", "Köln", "x y", "it's", 'say "so"', "a,b", "c;d", "e|f", "two\nlines", "NA", "-", "日本", "12 %"]
        )
    )


def day(of: random.Random) -> Cell:
    means = dt.date(2000, 1, 1) + dt.timedelta(of.randint(0, 9_999))
    return Cell(means.isoformat(), means)


def moment(of: random.Random) -> Cell:
    means = dt.datetime(2000, 1, 1) + dt.timedelta(
        seconds=of.randint(0, 10**9), microseconds=of.choice([0, 5, 123_000])
    )
    return Cell(means.isoformat(" "), means)


def nanosecond(of: random.Random) -> Cell:
    return _as_text(f"2024-01-01 10:00:00.{of.randint(0, 10**9 - 1):09}")


def truth(of: random.Random) -> Cell:
    means = of.random() < 0.5
    return Cell(of.choice([str(means), str(means).lower(), str(means).upper()]), means)


def nothing(of: random.Random) -> Cell:
    return Cell(of.choice(NULLS), None)


def _as_text(text: str) -> Cell:
    """A text; without zeros and letters it is the number that it says."""
    return Cell(text, Decimal(text) if text.isdecimal() and str(int(text)) == text else text)


def amount(point: str, group: str, sign: str = "") -> Maker:
    def made(of: random.Random) -> Cell:
        number = Decimal(of.randint(-(10**8), 10**8)).scaleb(-of.choice([0, 1, 2, 3]))
        text = f"{abs(number):,f}".replace(",", "#").replace(".", point).replace("#", group)
        text = sign + text
        return Cell(f"({text})" if number < 0 and of.random() < 0.5 else f"{'-' * (number < 0)}{text}", number)

    return made


KINDS: list[Maker] = [
    *(
        whole,
        long,
        fraction,
        program,
        precise,
        zeros,
        code,
        phone,
        excel,
        word,
        day,
        moment,
        nanosecond,
        truth,
        nothing,
    ),
    amount(".", ","),
    amount(".", ",", "$"),
]
OF_COMMAS: list[Maker] = [
    amount(",", "."),
    amount(",", "."),
    amount(",", ".", "€ "),
    whole,
    zeros,
    code,
    word,
    day,
    nothing,
]


def column(of: random.Random, kinds: list[Maker], rows: int) -> list[Cell]:
    """Cells of one kind, with some of others, maybe only at the end."""
    usual, odd = of.choice(kinds), of.sample(kinds, 2)
    share, begins = of.choice([0, 0, 0.02, 0.3]), of.choice([0, 0, rows // 2])
    chosen = [of.choice(odd) if row >= begins and of.random() < share else usual for row in range(rows)]
    return [nothing(of) if of.random() < 0.05 else kind(of) for kind in chosen]


def written(cells: list[list[Cell]], names: list[str], separator: str, of: random.Random) -> str:
    quotes = of.random() < 0.3

    def field(text: str) -> str:
        needs = any(sign in text for sign in (separator, '"', "\n"))
        return '"' + text.replace('"', '""') + '"' if needs or (quotes and text) else text

    lines = [separator.join(map(field, names))]
    lines += [separator.join(field(cell.text) for cell in row) for row in zip(*cells, strict=True)]
    return "\n".join(lines) + "\n"


def same(stored: object, cell: Cell) -> bool:
    if isinstance(stored, str):
        return stored == cell.text
    if stored is None:
        return cell.means is None or cell.text in NULLS
    if isinstance(stored, bool) or isinstance(cell.means, bool):
        return stored is cell.means
    if isinstance(stored, float):
        if stored != stored:
            return cell.text.lower() == "nan"
        return isinstance(cell.means, Decimal) and Decimal(repr(stored)) == cell.means
    if isinstance(stored, int | Decimal):
        return isinstance(cell.means, Decimal) and stored == cell.means
    if isinstance(stored, dt.datetime) and type(cell.means) is dt.date:
        return stored == dt.datetime.combine(cell.means, dt.time())
    return stored == cell.means


def check(log: StreamLog, cells: list[list[Cell]]) -> None:
    """Each row of the log is one of the file's, in their order, with the same values; the others are quarantined."""
    rows = [*zip(*cells, strict=True)]
    left = iter(rows)
    quarantined = {entry.line for entry in log.quarantined}
    for stored in log.read(0, log.rows).to_pylist():
        number = int(stored.pop("column_0"))
        row = next(row for row in left if row[0].text == str(number))
        wrong = [
            (name, value, cell)
            for (name, value), cell in zip(stored.items(), row[1:], strict=True)
            if not same(value, cell)
        ]
        assert not wrong, (wrong, log.guesses, log.notes)
    assert log.rows + log.misfits == len(rows), (log.rows, len(quarantined), len(rows))


@pytest.mark.parametrize("part", range(PARTS))
def test_no_value_of_a_csv_file_is_another_one(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(part, FILES, PARTS):
        of = random.Random(SEED * 1_000_003 + number)
        monkeypatch.setattr(csv_source, "_BLOCK_BYTES", of.choice([400, 2_000, 1 << 22]))
        commas = of.random() < 0.3
        separator = ";" if commas else of.choice(",,;\t|")
        rows, width = of.choice([3, 10, 40, 120]), of.randint(1, 6)
        cells = [[Cell(str(row), Decimal(row)) for row in range(1, rows + 1)]]
        cells += [column(of, OF_COMMAS if commas else KINDS, rows) for _ in range(width)]
        names = [f"column_{place}" for place in range(width + 1)]
        data = written(cells, names, separator, of).encode(of.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
        path = tmp_path / (f"{number}.csv" + ".gz" * (of.random() < 0.1))
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        try:
            log = ingest("x", path, tmp_path / f"log{number}")
        except StreamError as error:
            assert re.search("no (row|value) fits", error.message), (number, error.message)
        else:
            check(log, cells)


def json_value(of: random.Random) -> Cell:
    kind = of.choice([whole, long, fraction, program, precise, excel, truth, word, None])
    if kind is None:
        return Cell("null", None)
    cell = kind(of)
    if kind is truth:
        return Cell(cell.text.lower(), cell.means)
    return Cell(json.dumps(cell.text), cell.text) if not isinstance(cell.means, Decimal) else cell


@pytest.mark.parametrize("part", range(PARTS))
def test_no_value_of_a_file_of_json_is_another_one(part: int, tmp_path: Path) -> None:
    for number in range(part, FILES, PARTS):
        of = random.Random(SEED * 1_000_033 + number)
        rows = of.choice([3, 10, 40])
        usual = [of.choice([whole, long, fraction, program, precise, excel]) for _ in range(4)]
        odd = of.choice([0, 0.03, 0.5])
        cells = [[Cell(str(row), Decimal(row)) for row in range(1, rows + 1)]]
        cells += [[json_value(of) if of.random() < odd else kind(of) for _ in range(rows)] for kind in usual]
        for column_cells in cells:  # 007 is no JSON
            column_cells[:] = [
                cell
                if isinstance(cell.means, Decimal | bool | None) or cell.text[0] == '"'
                else Cell(json.dumps(cell.text), cell.text)
                for cell in column_cells
            ]
        lines = [
            "{" + ",".join(f'"column_{p}":{cell.text}' for p, cell in enumerate(row)) + "}"
            for row in zip(*cells, strict=True)
        ]
        path = tmp_path / f"{number}.jsonl"
        path.write_text("\n".join(lines))
        meant = [
            [Cell(str(cell.means), cell.means) if isinstance(cell.means, str) else cell for cell in one]
            for one in cells
        ]
        for declared in ({}, {f"column_{place}": "string" for place in range(1, 5)}):
            try:
                log = ingest("x", path, tmp_path / f"log{number}{len(declared)}", columns=declared)
            except StreamError as error:
                assert re.search("no (row|value) fits", error.message) and not declared, (number, error.message)
            else:
                check(log, meant)
                assert not declared or not log.misfits
