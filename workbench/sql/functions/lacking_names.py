"""Functions and types that are read in a dialect though its database does not have them.

They mean what they mean elsewhere; a warning says it, since a text that goes to the database needs another word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.syntax.source_text import SourceText

LACKING_FUNCTIONS = {
    "duckdb": "add_months array_count array_join array_max array_min array_size btrim e endswith equal_null every"
    " explode forall isnotnull isnull locate make_interval nullifzero nvl nvl2 parse_json percentile positive"
    " regexp_like sha sha2 signum sort_array startswith std to_char transform try_avg try_sum zeroifnull zip_with",
    "postgres": "add_months approx_count_distinct char count_if date_sub day dayofmonth dayofyear e equal_null first"
    " grouping_id hex hour if ifnull instr isnotnull isnull last last_day lcase len locate log2 max_by mean median"
    " min_by minute month nullifzero nvl nvl2 percentile positive quarter regexp second signum startswith std try_avg"
    " try_sum ucase year zeroifnull",
}
"""Dialect -> functions."""
LACKING_TYPES = {
    "spark": {
        "VARCHAR": "STRING, or VARCHAR(20)", "TEXT": "STRING", "STR": "STRING", "NVARCHAR": "STRING",
        "DATETIME": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP", "BOOL": "BOOLEAN", "INT2": "SMALLINT", "INT4": "INT",
        "INT8": "BIGINT", "INT16": "SMALLINT", "INT32": "INT", "INT64": "BIGINT", "FLOAT4": "FLOAT", "FLOAT8": "DOUBLE",
        "VARBINARY": "BINARY", "BYTEA": "BINARY", "BLOB": "BINARY",
    },
    "duckdb": {"STR": "VARCHAR", "TIMESTAMP_NTZ": "TIMESTAMP", "TIMESTAMP_LTZ": "TIMESTAMPTZ", "BYTE": "TINYINT"},
    "postgres": {
        "DATETIME": "TIMESTAMP", "DOUBLE": "DOUBLE PRECISION", "TINYINT": "SMALLINT", "SHORT": "SMALLINT",
        "BYTE": "SMALLINT", "INT16": "SMALLINT", "INT32": "INTEGER", "INT64": "BIGINT", "LONG": "BIGINT",
        "STRING": "TEXT", "STR": "TEXT", "NVARCHAR": "TEXT", "TIMESTAMP_NTZ": "TIMESTAMP",
        "TIMESTAMP_LTZ": "TIMESTAMPTZ", "BINARY": "BYTEA", "VARBINARY": "BYTEA", "BLOB": "BYTEA",
    },
}  # fmt: skip
"""Dialect -> types without a length, and what they are called there."""
_NO_CALLS = {"WITH", "AS", ".", "FUNCTION", "MACRO"}
"""Words before a name that is no call of a function, though a parenthesis follows."""
_CASTS = {"CAST", "TRY_CAST"}


def note_lacking_names(source: SourceText, own: Collection[str]) -> None:
    """Warn of the functions and types of a text that the database of its dialect does not have.

    Args:
        source: a text that is read.
        own: the analyst's functions, in lower case.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     note_lacking_names(SourceText("SELECT MEDIAN(a) FROM t", "postgres"), [])
        >>> print(told[0].message)
        MEDIAN is no function of postgres, and is read all the same
          SELECT MEDIAN(a) FROM t
                 ^^^^^^
        hint: there the same is written as in PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)
    """
    noted = {name.upper() for name in own}
    for token, kind, hint in _lacking(source):
        if (name := token.text.upper()) not in noted:
            noted.add(name)
            source.warn(f"{name} is no {kind} of {source.dialect}, and is read all the same", token, hint)


def _lacking(source: SourceText) -> Iterator[tuple[Token, str, str]]:
    """The words, what they are, and how they are written there."""
    functions, types = LACKING_FUNCTIONS.get(source.dialect, "").split(), LACKING_TYPES.get(source.dialect, {})
    if not types:
        return
    is_cast = [False]  # of each parenthesis that is open
    tokens = source.tokens
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        word = before.text.upper() if before is not None else ""
        opens = after is not None and after.token_type is TokenType.L_PAREN
        if token.token_type is TokenType.L_PAREN:
            is_cast.append(word in _CASTS)
        elif token.token_type is TokenType.R_PAREN:
            is_cast.pop()
        elif (word == "::" or (word == "AS" and is_cast[-1])) and not opens and token.text.upper() in types:
            yield token, "type", f"there it is {types[token.text.upper()]}"
        elif opens and word not in _NO_CALLS and token.text.lower() in functions:
            usual = usual_call(token.text, source.dialect)
            yield token, "function", f"there {usual}" if usual else "a text that goes there needs another one"
