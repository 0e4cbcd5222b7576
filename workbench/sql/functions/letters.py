"""UPPER, LOWER and INITCAP of DuckDB and PostgreSQL: each letter is one letter again, whatever stands beside it.

Spark has more than one for some, SS for ß, and another small sigma at the end of a word. DuckDB has a capital ß.
PostgreSQL is one whose letters are those of the C library, or its own ones (``C.UTF-8``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import STRING
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.syntax.dialects import ONLY_DUCKDB, ONLY_POSTGRES

SINCE_UNICODE_15 = dict(
    [
        *((0x019B, 0xA7DC), (0x0264, 0xA7CB), (0x1C8A, 0x1C89)),
        *((lower, lower - 1) for lower in (0xA7CD, 0xA7CF, 0xA7D3, 0xA7D5, 0xA7DB)),
        *((0x10D70 + at, 0x10D50 + at) for at in range(22)),
        *((0x16EBB + at, 0x16EA0 + at) for at in range(25)),
    ]
)
"""Letters that Spark has in both cases, and some databases do not yet: the code of each in lower and in upper case."""


@lru_cache(maxsize=4_096)
def capital(letter: str) -> str:
    """The capital of a letter; itself where that would be several letters.

    Example:
        >>> [capital(letter) for letter in "aßᾀ"]
        ['A', 'ß', 'ᾈ']
    """
    return next((one for one in (letter.upper(), letter.title()) if len(one) == 1), letter)


@lru_cache(maxsize=4_096)
def small(letter: str) -> str:
    """The small form of a letter.

    Example:
        >>> [small(letter) for letter in "AİΣ"]
        ['a', 'i', 'σ']
    """
    return letter.lower()[0]


def _capital_in_duckdb(letter: str) -> str:
    return "ẞ" if letter == "ß" else capital(letter)


def _of_texts(ascii_: str, change: Callable[[str], str]) -> Callable[[pa.Array], pa.Array]:
    """A function of texts that changes each of their letters by itself."""

    def changed(texts: pa.Array) -> pa.Array:
        if pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
            return pc.call_function(ascii_, [texts])
        encoded = texts.dictionary_encode()
        different = ["".join(map(change, text)) for text in encoded.dictionary.to_pylist()]
        return pa.array(different, pa.string()).take(encoded.indices)

    return changed


_CHANGES: dict[str, Callable[[pa.Array], pa.Array]] = {
    "upper_in_duckdb": _of_texts("ascii_upper", _capital_in_duckdb),
    "upper_in_postgres": _of_texts("ascii_upper", capital),
    "lower_in_duckdb": _of_texts("ascii_lower", small),
    "lower_in_postgres": _of_texts("ascii_lower", small),
}


def _reads(node: type[exp.Func], database: str, dialects: frozenset[str]) -> None:
    name = f"{node.__name__.lower()}_in_{database}"

    @reads(node, dialects=dialects)
    def changed(b: ExpressionBinder, called: exp.Func) -> Expression:
        text = b.bind(called.this)
        if isinstance(text, Constant) and isinstance(text.value, str):
            (value,) = _CHANGES[name](pa.array([text.value], pa.string())).to_pylist()
            return Constant(value, STRING)
        return call(name, text)


for _node in (exp.Upper, exp.Lower):
    _reads(_node, "duckdb", ONLY_DUCKDB)
    _reads(_node, "postgres", ONLY_POSTGRES)
_SIGNS = [chr(0x10FF00 + place) for place in range(0xFF)]
"""What stands for letters that Spark changes in another way, while it changes the others: signs for private use."""
_CAPITALS = [*(one for one in map(chr, range(0x80, 0xFFFF)) if len(one.upper()) > 1), *map(chr, SINCE_UNICODE_15)]
_SMALL = ["İ", "Σ", *map(chr, SINCE_UNICODE_15.values())]


def _in_spark(case: str, others: list[str], change: Callable[[str], str]) -> str:
    """A text for Spark, in which some letters are changed by their own rule."""
    letters, signs = "".join(others), "".join(_SIGNS[: len(others)])
    return f"translate({case}(translate({{0}}, '{letters}', '{signs}')), '{signs}', '{''.join(map(change, others))}')"


_IN_SPARK = {
    "upper_in_duckdb": _in_spark("upper", _CAPITALS, _capital_in_duckdb),
    "upper_in_postgres": _in_spark("upper", _CAPITALS, capital),
    **dict.fromkeys(("lower_in_duckdb", "lower_in_postgres"), _in_spark("lower", _SMALL, small)),
}
DECLARED = [
    function(f"{name}(string): string", _IN_SPARK[name], python=change, vectorized=True)
    for name, change in _CHANGES.items()
]
