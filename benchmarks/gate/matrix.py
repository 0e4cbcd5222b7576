"""Which rows of the cost matrix are off the fast path: Spark plans or evaluates something for them in every batch.

A session without Spark refuses these when they are registered. The limits below make few rows as many as a batch has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from benchmarks.query_sets.kinds import KindOfQuery, kinds
from benchmarks.sample_streams import kinds as sample
from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.errors import QueryError
from workbench.limits import Limits
from workbench.options import Options
from workbench.session.session import Session

OFF_THE_FAST_PATH = Path(str(resources.files("benchmarks.gate"))) / "off_the_fast_path.json"
ROWS, TABLE_ROWS = 1_000, 200
"""Of the stream and of tables."""
MATRIX_LIMITS = Limits(pairs_compared_per_registration=200_000)
"""Most pairs that a query may look at as it is registered: few rows stand for a hundred times as many."""


def off_the_fast_path(chosen: Iterable[KindOfQuery] | None = None) -> list[str]:
    """The names of the rows off the fast path, of some or of all; takes 5 seconds for all."""
    with matrix_session(Options(sharing=False)) as session:
        return [kind.name for kind in (kinds() if chosen is None else chosen) if needs_spark(session, kind)]


@contextmanager
def matrix_session(options: Options) -> Iterator[Session]:
    """A session without Spark over few rows."""
    with Session(InProcess(), options=options) as session:
        session.parts.jobs.limits = MATRIX_LIMITS
        session.add_stream("t", sample.rows(ROWS), history=ROWS, batch=1, time="ts")
        for name, table in sample.tables().items():
            session.add_table(name, table.slice(0, TABLE_ROWS))
        yield session


def needs_spark(session: Session, kind: KindOfQuery) -> bool:
    """Whether a query cannot be registered or read without Spark, or looks at too many pairs."""
    try:
        try:
            session.register(kind.sql, name="q").head(1)
        finally:
            if "q" in session.queries:
                session.drop("q")
    except (NeedsSparkError, QueryError):
        return True
    return False


def load(file: Path = OFF_THE_FAST_PATH) -> list[str]:
    """The rows that are known to be off it. The list may only become shorter."""
    return list(json.loads(file.read_text()))


def write(names: Iterable[str], file: Path = OFF_THE_FAST_PATH) -> None:
    """Make these the known ones."""
    file.write_text(json.dumps(list(names), indent=2) + "\n")
