"""What an agent may ask of a session: the same few things that other programs read, and what a query would cost.

Each verb gives plain values that JSON has. Nothing is changed but by ``register``, which the analyst has to allow, with
her limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

import pandas as pd
import pyarrow as pa

from workbench.arrow.stored_values import as_rows, json_value
from workbench.engine.fetching import fetch_first, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.errors import QueryError, SessionError
from workbench.session.query import Query
from workbench.session.session import Session
from workbench.sql.algebra.types import DataType

ROWS_GIVEN = 1_000
"""Rows that a verb gives at most."""
_NEW = "agents' query"

Reply = dict[str, object]


@dataclass(frozen=True)
class Allowance:
    """What agents may register.

    Attributes:
        queries: how many at most, as long as the session is served.
        rows: that a batch of the session would look at more, for each of them.
    """

    queries: int
    rows: float


class Verbs:
    """The verbs of one session.

    Args:
        session: that is asked.
        allowance: what may be registered; ``None``: nothing.
    """

    def __init__(self, session: Session, allowance: Allowance | None = None) -> None:
        self._session, self._allowance = session, allowance
        self._registered = 0
        self._registering = Lock()

    def list_queries(self) -> Reply:
        """List the continuous queries, with their SQL, their columns and the batch that their answers are of."""
        queries = self._session.queries.values()
        return {"queries": [{**_about(query), "sql": query.sql, "status": query.status} for query in queries]}

    def schema(self) -> Reply:
        """List the streams and tables that a query may read, with their columns and types."""
        streams = [
            {"stream": name, "rows": stream.rows, "columns": _columns(stream.columns)}
            for name, stream in self._session.streams.items()
        ]
        return {"dialect": self._session.dialect, "batch": self._session.batch, "streams": streams}

    def ask(
        self, query: str, where: str | None = None, sort: str | None = None, descending: bool = False, limit: int = 100
    ) -> Reply:
        """Read rows of a query's answer: those that satisfy a condition over its columns, in an order."""
        found, most = self._session.query(query), _most(limit)
        refinement = found.refinement(where, sort, descending)
        with translate_errors(f"read the answer of {query}"), found.answers() as answers:
            rows = to_shown_table(fetch_first(answers, 0, most, refinement), answers.plan, found.timezone)
        return {**_about(found), "total": found.count(where=where), "rows": _rows(rows)}

    def changes_since(self, query: str, batch: int, limit: int = 100) -> Reply:
        """Read what later batches than one changed in a query's answer; weight -1 is a row that went."""
        found = self._session.query(query)
        changes = found.arrow_changes(batch)
        return {**_about(found), "total": changes.num_rows, "changes": _rows(changes.slice(0, _most(limit)))}

    def explain(self, query: str) -> Reply:
        """What a query shares with others, and the nodes that only it needs."""
        found = self._session.query(query)
        return {**_about(found), "explanation": str(found.explain())}

    def why(self, query: str, where: str | None = None, limit: int = 10) -> Reply:
        """Find the rows of the streams that rows of an answer are computed from, with the batch that brought each."""
        found = self._session.query(query).why(where, _most(limit))
        return {"title": found.title, "rows": _of_frame(found.rows), **_behind(found.tables)}

    def why_not(self, query: str, where: str) -> Reply:
        """Find the conditions that keep rows out of an answer, and the stored rows that would be in it without them."""
        found = self._session.query(query).why_not(where)
        causes = [
            {"title": cause.title, "rows": _of_frame(cause.rows), **_behind(cause.tables)} for cause in found.causes
        ]
        return {"title": found.title, "causes": causes}

    def preview(self, sql: str) -> Reply:
        """What a query would share and cost without registering it, with the additional rows that each batch would
        read.
        """
        network, explanation = self._session.preview(sql, _NEW)
        memory = [str(kept) for kept in self._session.memory(_NEW, network)]
        rows = self._session.batch_cost(network) - self._session.batch_cost(self._session.network)
        return {"rows_per_batch": round(max(0.0, rows)), "memory": memory, "explanation": str(explanation)}

    def register(self, name: str, sql: str) -> Reply:
        """Register a continuous query under a new name, within the limits that the analyst has set."""
        allowance = self._allowance
        if allowance is None:
            hint = "the analyst allows it: %argus agents --may-register N --rows-per-batch N"
            raise SessionError("agents may not register queries here", hint=hint)
        with self._registering:
            if self._registered >= allowance.queries:
                raise SessionError(
                    f"agents may register {allowance.queries} queries here, and have", hint="ask the analyst"
                )
            if name.lower() in (other.lower() for other in self._session.queries):
                raise QueryError(f"there is a query {name}", hint="agents replace none: take another name")
            cost = self.preview(sql)["rows_per_batch"]
            if not isinstance(cost, int) or cost > allowance.rows:
                message = f"{name} would look at {cost:,} rows more each batch, and {allowance.rows:,.0f} are allowed"
                raise QueryError(message, hint="read fewer rows, or what another query has computed already")
            found = self._session.register(sql, name=name)
            self._registered += 1
        return {**_about(found), "explanation": str(found.explain())}


def _about(query: Query) -> Reply:
    return {"query": query.name, "batch": query.batch, "columns": _columns(query.columns)}


def _columns(columns: Iterable[tuple[str, DataType]]) -> list[dict[str, str]]:
    return [{"name": name, "type": str(type_)} for name, type_ in columns]


def _most(limit: int) -> int:
    if not 0 <= limit <= ROWS_GIVEN:
        raise QueryError(f"cannot give {limit} rows", hint=f"ask for 0 to {ROWS_GIVEN:,} rows, with a condition")
    return limit


def _rows(rows: pa.Table) -> list[object]:
    return [json_value(row) for row in as_rows(rows)]


def _of_frame(rows: pd.DataFrame) -> list[object]:
    return _rows(pa.Table.from_pandas(rows, preserve_index=False))


def _behind(tables: Mapping[str, pa.Table]) -> Reply:
    streams = {name: {"total": rows.num_rows, "rows": _rows(rows.slice(0, 100))} for name, rows in tables.items()}
    return {"streams": streams}
