"""What databases differ in, of the SQL that a network is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.errors import UnsupportedError, nearest
from workbench.sql.algebra.types import DataType, Kind

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
    """A database that a network can be written for.

    Attributes:
        name: what it is called.
        create: begins the statement that makes a view; the name follows.
        quote: stands around a name.
        types: its types of kinds of values.
        decimal: its type of decimals.
        bytewise: makes a text compare by its bytes.
        whole_quotient: the operator of the quotient of integers that cuts off its fraction.
        exact_quotients: whether the quotient of decimals has all digits, instead of being binary.
        try_cast: the function that gives NULL where a type has no such value; "" where there is none.
        micros: gives the microseconds of a time since 1970; ``{}`` stands for the time.
        try_sum: the function that gives NULL where a sum of integers is too large; "" where it is wider by itself.
    """

    name: str
    create: str = "CREATE VIEW"
    quote: str = '"'
    types: Mapping[Kind, str] = field(default_factory=lambda: _TYPES)
    decimal: str = "NUMERIC"
    bytewise: str = ""
    whole_quotient: str = "/"
    exact_quotients: bool = True
    try_cast: str = ""
    micros: str = ""
    try_sum: str = ""

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
            whole_quotient="//",
            exact_quotients=False,
            try_cast="TRY_CAST",
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
            try_cast="TRY_CAST",
            try_sum="TRY_SUM",
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
