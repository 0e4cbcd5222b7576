"""The 24 questions of Nexmark in Flink's words, one file each in ``nexmark/``.

They are written as the benchmark asks them (P. Tucker et al., *NEXMark*, 2002; questions 10 to 23 are those that Apache
Beam and Flink added): functions of windows in FROM, ``PROCTIME()``, joins ``FOR SYSTEM_TIME AS OF``. What DuckDB does
not read, or leaves open where rows are equal, is in other words in ``nexmark/duckdb/``. Question 14 calls
``count_char``, which the benchmark adds as a function.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

_NUMBERS = range(24)
_WORDS_OF_DUCKDB = {"DATE_FORMAT(": "strftime(", "'yyyy-MM-dd'": "'%Y-%m-%d'", "'HH:mm'": "'%H:%M'", "`": '"'}


def load() -> dict[str, str]:
    """The texts by name, ``q00`` to ``q23``, in the spark dialect.

    Example:
        >>> load()["q02"].splitlines()[0]
        'SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0'
    """
    folder = resources.files("benchmarks.query_sets").joinpath("nexmark")
    return {f"q{n:02}": folder.joinpath(f"q{n:02}.sql").read_text(encoding="utf-8") for n in _NUMBERS}


def for_duckdb() -> dict[str, str]:
    """The same questions in DuckDB's words."""
    folder = resources.files("benchmarks.query_sets").joinpath("nexmark", "duckdb")
    return {name: _in_duckdb(text, folder.joinpath(f"{name}.sql")) for name, text in load().items()}


def _in_duckdb(text: str, other: Traversable) -> str:
    """The text in other words, where there are any; else with DuckDB's names of functions and formats."""
    if other.is_file():
        return other.read_text(encoding="utf-8")
    for ours, theirs in _WORDS_OF_DUCKDB.items():
        text = text.replace(ours, theirs)
    return text


def count_char(text: str | None, char: str | None) -> int | None:
    """How often a character is in a text; question 14 calls it.

    Example:
        >>> count_char("abcabc", "c")
        2
    """
    return None if text is None or char is None else text.count(char)
