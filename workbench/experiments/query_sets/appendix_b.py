"""The query examples of the thesis's Appendix B, which are the seeds of its query sets (10.1.2).

The texts lie beside this module in ``appendix_b/``, one file per example, in the Oracle dialect of the thesis with the
errors of the scan mended; each begins with comments that say what it asks and what was changed. ``appendix_b/duckdb/``
answers the same questions in DuckDB's SQL, written another way on purpose: as an oracle for tests it should not share
a mistake with the text it checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from workbench.experiments.sample_streams.schemas import STREAM_NAMES

_HEADER = re.compile(r"-- Example B\.(?P<number>\d+) \((?P<label>\w+)\): (?P<title>.+)")


@dataclass(frozen=True, slots=True)
class AppendixQuery:
    """One example.

    Attributes:
        name: ``B01`` to ``B21``.
        label: the thesis's own name: ``Q_1``, ``QA_1``, ``QM_1``, …
        title: what it finds, in a few words.
        streams: the streams it reads, by the names in its text.
        oracle_sql: the whole text, comments included. B05 is two CREATE VIEW statements and a SELECT.
        duckdb_sql: one SELECT with the same columns in the same order. B15 and B16 call ``zipdistance``.
    """

    name: str
    label: str
    title: str
    streams: tuple[str, ...]
    oracle_sql: str
    duckdb_sql: str


def load() -> dict[str, AppendixQuery]:
    """All 21 examples by name, in order.

    Example:
        >>> load()["B04"].label
        'Q_4'
        >>> load()["B14"].streams
        ('MHDCFY01A',)
    """
    return {name: _read(name) for name in (f"B{number:02}" for number in range(1, 22))}


def _read(name: str) -> AppendixQuery:
    folder = resources.files("workbench.experiments.query_sets").joinpath("appendix_b")
    oracle_sql = folder.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    duckdb_sql = folder.joinpath("duckdb", f"{name}.sql").read_text(encoding="utf-8")
    header = _HEADER.match(oracle_sql)
    if header is None or int(header["number"]) != int(name[1:]):
        raise ValueError(f"{name}.sql does not begin with its header")
    streams = tuple(stream for stream in STREAM_NAMES.values() if re.search(rf"\b{stream}\b", oracle_sql))
    return AppendixQuery(name, header["label"], header["title"], streams, oracle_sql, duckdb_sql)
