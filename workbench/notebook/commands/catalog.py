"""The command that looks into the system catalog (T3.6): all that is known of the network, as relations."""

from __future__ import annotations

import argparse

from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.desk import Desk
from workbench.notebook.display import Shown, rows_table, show, table


def catalog(desk: Desk, arguments: argparse.Namespace) -> None:
    """Rows of a query over the catalog; without one, the relations there are.

    Raises:
        MagicError: the query is not in quotes.
        CatalogError: it is no SELECT, or names what is not there.
    """
    match arguments.sql:
        case []:
            show(relations(desk))
        case [sql]:
            rows = desk.session.catalog(sql)
            if arguments.output is not None:
                desk.variables[arguments.output] = rows
            show(rows_table(rows.head(max(0, arguments.limit)), len(rows)))
        case words:
            raise MagicError("the query must be in quotes", hint=f'%argus catalog "{" ".join(words)}"')


def relations(desk: Desk) -> Shown:
    """The relations of the catalog, each with how many rows it has and its columns."""
    rows = [[name, f"{count:,}", ", ".join(columns)] for name, columns, count in desk.session.catalog_tables()]
    return table(["relation", "rows", "columns"], rows, "system catalog")


COMMANDS = (
    Command(
        "catalog",
        "Query the system catalog, which holds all that is known of the network; without SQL, list its relations.",
        catalog,
        (
            argument("sql", nargs="*", metavar="SQL", help="a SELECT, in double quotes"),
            argument("--limit", type=int, default=20, metavar="N", help="rows to show (default: 20)"),
            argument("-o", "--output", metavar="VAR", help="variable that gets all rows"),
        ),
        (
            "%argus catalog",
            "%argus catalog \"SELECT id FROM nodes WHERE kind = 'join'\"",
            '%argus catalog "SELECT node, count(*) AS queries FROM serves GROUP BY node" -o shared',
        ),
    ),
)
