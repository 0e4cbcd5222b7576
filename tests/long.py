"""What takes long: cases that find little that others do not, and files that are to be run first.

Of such cases all run where ``ARGUS_LONG=all`` is set, and only there what is ``rare``. A file is run by one process
from its begin to its end, so the whole run would end with one process waiting for the other if a long file came last.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

LONG = os.environ.get("ARGUS_LONG") == "all"

PATIENCE = 3_600
"""Seconds for a test where all cases run."""

rare = pytest.mark.skipif(not LONG, reason="ARGUS_LONG=all runs what takes long and hardly ever fails alone")
"""Marks a test that runs only where all cases do."""


def some(cases: Sequence[T], always: int = 1) -> Sequence[T]:
    """The cases to run: all of them, or the first ones."""
    return cases if LONG else cases[:always]


def one_of(cases: Sequence[T]) -> Sequence[T]:
    """All cases, or one by the run's seed."""
    return cases if LONG else [cases[int(os.environ["ARGUS_SEED"]) % len(cases)]]


def one_in(every: int, cases: Sequence[T]) -> Sequence[T]:
    """All cases, or every n-th, beginning where the run's seed says."""
    return cases if LONG else cases[int(os.environ["ARGUS_SEED"]) % every :: every]


FIRST = (
    "browser/test_quickstart.py",
    "session/directory/test_spark_dies.py",
    "notebook/test_notebook.py",
    "oracle/test_by_tasks.py",
    "browser/test_buttons.py",
    "oracle/test_options.py",
    "oracle/test_corrections.py",
    "oracle/test_analytic.py",
    "oracle/test_first_rows.py",
    "oracle/test_tpch.py",
    "oracle/test_nexmark.py",
    "experiments/test_experiments.py",
    "oracle/test_query_classes.py",
    "oracle/test_shortcuts.py",
    "oracle/test_dear_functions.py",
    "engine/physical/stored/test_kernel_table.py",
    "engine/spark/test_connect.py",
    "engine/spark/test_local_session.py",
    "oracle/test_postgres_json.py",
    "browser/test_cells.py",
    "oracle/test_windows.py",
    "oracle/test_suspended.py",
    "oracle/test_pruning.py",
    "session/directory/test_kill.py",
    "oracle/test_window_clauses.py",
    "oracle/test_appendix_b.py",
    "session/directory/test_crash_points.py",
    "engine/operators/test_evaluate.py",
    "engine/physical/test_sums_of_decimals.py",
    "docs/test_samples.py",
    "docs/test_site.py",
)
"""The longest files, below ``tests``, longest first; the time of each is at least 30 s."""


def place(file: str) -> int:
    """Where a file, below ``tests``, stands among those to run; the others follow the long ones in their own order."""
    return FIRST.index(file) if file in FIRST else len(FIRST)
