"""What databases differ in, of the SQL that a network is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.errors import UnsupportedError, nearest
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.dialect import means

_TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.DOUBLE: "DOUBLE PRECISION",
    Kind.STRING: "TEXT",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


_EPOCH = "CAST(EXTRACT(EPOCH FROM {}) * 1000000 AS BIGINT)"


@dataclass(frozen=True)
class PortableDialect:
    """A database that a network can be written for."""

    name: str
    create: str = means("begins the statement that makes a view; the name follows", "CREATE VIEW")
    quote: str = means("stands around a name", '"')
    types: Mapping[Kind, str] = field(default_factory=lambda: _TYPES)
    """Its types of kinds of values."""
    decimal: str = means("its type of decimals", "NUMERIC")
    bytewise: str = means("makes a text compare by its bytes", "")
    wide: str = means('its type of integers in which arithmetic does not overflow; "" where that is an error of it', "")
    whole_quotient: str = means("the operator of the quotient of integers that cuts off its fraction", "/")
    quotient: str = means(
        "the operator by which decimals are divided: / where it gives all digits, one of whole numbers where it does "
        'not; "" where neither is there',
        "/",
    )
    try_cast: str = means('gives NULL where a type has no such value, of a value and a type; "": nothing does', "")
    micros: str = means('gives the microseconds of a time since 1970, of the time; "" where nothing does', "")
    total: str = means(
        "the sum of integers, of DISTINCT or nothing, and of the integer: NULL where it is too large, or wider",
        "SUM({}{})",
    )
    truncated: str = means("cuts off the fraction of a number", "TRUNC({})")
    days_between: str = means("the days from the second of two dates to the first", "({} - {})")
    days_later: str = means("a date moved by a number of days", "({0} {2} CAST({1} AS INTEGER))")
    seconds_later: str = means("a time moved by a number of seconds", "({0} {2} INTERVAL '{1}' SECOND)")
    skips_nulls: bool = means("GREATEST and LEAST leave NULLs out", True)
    finds_nulls: bool = means("NULL is not distinct from NULL in EXISTS, too", True)
    counts_copies: bool = means("EXCEPT ALL and INTERSECT ALL compare the columns that are not read, too", True)
    recursive: bool = means("it has recursive queries", True)
    bool_aggregates: bool = means("it has BOOL_AND and BOOL_OR", True)

    def type_name(self, type_: DataType) -> str:
        """Its name of a type.

        Raises:
            UnsupportedError: values of that type cannot be written.
        """
        if type_.kind is Kind.DECIMAL:
            return f"{self.decimal}({type_.precision}, {type_.scale})"
        known = self.types.get(type_.kind)
        if known is None or type_.zoned or (type_.kind is Kind.INTEGER and type_.precision):
            raise UnsupportedError(f"values of type {type_} cannot be written for {self.name}")
        return known

    def quoted(self, name: str) -> str:
        """A name in its quotation marks."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote


PORTABLE = {
    dialect.name: dialect
    for dialect in (
        PortableDialect(
            "duckdb",
            types=_TYPES | {Kind.DOUBLE: "DOUBLE"},
            decimal="DECIMAL",
            wide="HUGEINT",
            whole_quotient="//",
            quotient="//",
            try_cast="TRY_CAST({} AS {})",
            micros="EPOCH_US({})",
        ),
        PortableDialect("postgres", bytewise=' COLLATE "C"', micros=_EPOCH),
        PortableDialect("materialize", create="CREATE MATERIALIZED VIEW", micros=_EPOCH),
        PortableDialect(
            "spark",
            create="CREATE MATERIALIZED VIEW",
            quote="`",
            types=_TYPES | {Kind.DOUBLE: "DOUBLE", Kind.STRING: "STRING", Kind.TIMESTAMP: "TIMESTAMP_NTZ"},
            decimal="DECIMAL",
            try_cast="TRY_CAST({} AS {})",
            total="TRY_SUM({}{})",
        ),
        PortableDialect(
            "flink",
            quote="`",
            types=_TYPES | {Kind.DOUBLE: "DOUBLE", Kind.STRING: "STRING", Kind.TIMESTAMP: "TIMESTAMP(6)"},
            decimal="DECIMAL",
            wide="DECIMAL(19, 0)",
            quotient="",
            # A cast of a number that is too large wraps, that of its text gives NULL.
            try_cast="TRY_CAST(CAST({} AS STRING) AS {})",
            total="SUM({}CAST({} AS DECIMAL(19, 0)))",
            truncated="TRUNCATE({})",
            days_between="TIMESTAMPDIFF(DAY, {1}, {0})",
            days_later="TIMESTAMPADD(DAY, {2}CAST({1} AS INTEGER), {0})",
            seconds_later="TIMESTAMPADD(SECOND, {2}{1}, {0})",
            skips_nulls=False,
            finds_nulls=False,
            counts_copies=False,
            recursive=False,
            bool_aggregates=False,
        ),
    )
}
"""The databases by name; ``spark`` is for its declarative pipelines."""


def portable_dialect(name: str) -> PortableDialect:
    """The database of a name.

    Raises:
        UnsupportedError: networks are not written for it.

    Example:
        >>> portable_dialect("duckdb").quoted("a")
        '"a"'
    """
    known = {"postgresql": "postgres"}.get(name.lower(), name.lower())
    if known not in PORTABLE:
        hint = nearest(known, PORTABLE) or f"there are {', '.join(PORTABLE)}"
        raise UnsupportedError(f"a network is not written for {name}", hint=hint)
    return PORTABLE[known]
