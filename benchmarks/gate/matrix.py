"""Which rows of the cost matrix are off the fast path: Spark plans or evaluates something for them in every batch.

A session without Spark refuses these when they are registered. The limits below make few rows as many as a batch has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from benchmarks.query_sets.kinds import KindOfQuery, kinds
from benchmarks.sample_streams import kinds as sample
from workbench.engine.limits import Limits
from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.options import Options
from workbench.session.session import Session

FILE = Path(str(resources.files("benchmarks.gate"))) / "off_the_fast_path.json"
ROWS, TABLE_ROWS = 1_000, 200
"""Of the stream and of tables."""
PAIRS, TESTED = 500, 200_000
"""Most pairs without a key that Spark tests, and that are tested here: a hundredth of a session's, as the rows are."""


def off_the_fast_path(chosen: Iterable[KindOfQuery] | None = None) -> list[str]:
    """The names of the rows off the fast path, of some or of all; takes 5 seconds for all."""
    found = []
    with Session(InProcess(), options=Options(sharing=False)) as session:
        session.parts.engine.runner.limits = Limits(pairs_compared_by_index=PAIRS, pairs_tested_by_index=TESTED)
        session.add_stream("t", sample.rows(ROWS), history=ROWS, batch=1, time="ts")
        for name, table in sample.tables().items():
            session.add_table(name, table.slice(0, TABLE_ROWS))
        for kind in kinds() if chosen is None else chosen:
            try:
                session.register(kind.sql, name="q")
                session.drop("q")
            except NeedsSparkError:
                found.append(kind.name)
    return found


def load(file: Path = FILE) -> list[str]:
    """The rows that are known to be off it. The list may only become shorter."""
    return list(json.loads(file.read_text()))


def write(names: Iterable[str], file: Path = FILE) -> None:
    """Make these the known ones."""
    file.write_text(json.dumps(list(names), indent=2) + "\n")
