"""Addresses of tables that are followed: ``postgresql://user@host/database?table=orders&publication=shop``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.errors import StreamError
from workbench.errors.extras import optional_module
from workbench.errors.secrets import hide_secrets, without_secrets
from workbench.streams.addresses.address import Address, kept_address
from workbench.streams.live.postgres.texts import TEXT_STYLE

POSTGRES_SCHEMES = ("postgresql://", "postgres://")
_OWN = ("table", "publication", "slot")
"""Options that are not libpq's."""
_EXAMPLE = "it is like postgresql://user@host/database?table=orders&publication=shop"
_ANSWER_SECONDS = 10


@dataclass(frozen=True)
class TableAddress:
    """Where a table is that is followed.

    Attributes:
        address: as it was given.
        table: its name, maybe with its schema.
        publication: in which it is.
        slot: the name of the slot that remembers what was read; "" where one is to be made up.
    """

    address: Address
    table: str
    publication: str
    slot: str

    def connected(self, replication: bool = False) -> Any:
        """A connection, which commits each statement.

        Args:
            replication: whether it is for the statements of replication.

        Raises:
            StreamError: psycopg is not installed, a variable is not set, or there is no connection.
        """
        psycopg = postgres_client()
        settings = psycopg.conninfo.conninfo_to_dict(self.address.with_environment().text(*_OWN))
        settings |= {"options": f"{TEXT_STYLE} {settings.get('options', '')}", "client_encoding": "UTF8"}
        settings |= {"connect_timeout": _ANSWER_SECONDS, "replication": "database"} if replication else {}
        try:
            # A connection for replication knows no prepared statements, which psycopg makes of what is repeated.
            return psycopg.connect(**settings, autocommit=True, prepare_threshold=None if replication else 5)
        except psycopg.Error as error:
            hint = "check the address and the server; a stream that was added asks again"
            if replication and "permission" in str(error):
                hint = "ALTER ROLE … REPLICATION lets a user follow tables"
            raise StreamError(f"{self.where} cannot be reached: {message_of(error)}", hint=hint) from without_secrets(
                error
            )

    @property
    def where(self) -> str:
        """The table and its database, to show."""
        return f"table {self.table} of {self.address.without_secrets().text(*_OWN, user=False)}"


def parse_table(text: str) -> TableAddress:
    """The parts of an address.

    Raises:
        StreamError: it names no table or publication, has an unknown option, or a secret.

    Example:
        >>> parse_table("postgresql://me@localhost/shop?table=orders&publication=all").publication
        'all'
    """
    address = kept_address(text)
    if "key" in address.options:
        raise StreamError("the address of a table that is followed has no key", hint="say key=[…], --key in a cell")
    for name in ("table", "publication"):
        if not address.options.get(name):
            hint = _EXAMPLE
            if name == "publication":
                hint += "; CREATE PUBLICATION shop FOR TABLE orders makes one"
            raise StreamError(f"{address.without_secrets().text(user=False)} names no {name}", hint=hint)
    return TableAddress(address, *(address.options.get(name, "") for name in _OWN))


def postgres_client() -> Any:
    """The module ``psycopg``.

    Raises:
        StreamError: it is not installed.
    """
    return optional_module("psycopg", "postgres", "PostgreSQL needs psycopg", "conninfo", "sql", "types.json")


def message_of(error: BaseException) -> str:
    """The message of a server or libpq, in one line."""
    return hide_secrets(" ".join(str(error).split()))
