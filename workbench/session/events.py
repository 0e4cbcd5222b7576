"""Events of a session, as records of Python's logging: batches, and queries, sources and sinks with problems.

They are written only where a program adds a handler to the logger ``workbench`` (``workbench.monitoring.batch_log``).
"""

from __future__ import annotations

import logging

from workbench.engine.reports import BatchReport
from workbench.errors.secrets import hide_secrets

LOGGER = logging.getLogger("workbench")
LOGGER.addHandler(logging.NullHandler())  # else Python writes warnings to stderr where nothing is configured


def log_batch(report: BatchReport) -> None:
    """A batch was committed."""
    about = {
        "batch": report.batch,
        "rows": report.rows,
        "seconds": round(report.seconds, 4),
        "arrived": dict(report.arrived),
        "late_rows": dict(report.late_rows),
        "changes": {query: rows for query, rows in report.changes.items() if rows},
        "operators": len(report.operators),
    }
    LOGGER.info("batch", extra={"about": about})


def log_problem(event: str, **about: object) -> None:
    """Log that something has a problem; ``event`` says what, such as ``"source"`` or ``"sink"``."""
    hidden = {name: hide_secrets(value) if isinstance(value, str) else value for name, value in about.items()}
    LOGGER.warning(event, extra={"about": hidden})
