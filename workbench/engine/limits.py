"""Limits: the sizes at which the engine takes another path or refuses, as one immutable value that tests replace."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Thresholds between the paths of evaluation, and bounds of the work that is done at all.

    No limit changes an answer. A name says the unit and the place.

    Attributes:
        rows_scanned_in_process: stored rows at most whose lineage the driver tests for an answer, which takes 10 ms a
            word; of more a Spark job does, which needs a hundred times that before its first row.
        rows_found_in_process: an answer of more rows is computed by Spark's tasks side by side, which pays for the job.
        values_evaluated_in_process: of more values that Spark evaluates over rows that were read here, a job that
            reads the rows itself is faster.
        bytes_fetched: of what functions make of rows, estimated, no more is fetched, since all of it is in the JVM's
            heap at a time.
        rows_filtered_in_process: the driver filters this number in a quarter of a second; a job of two tasks would be
            no faster.
        rows_stepped_in_process: changed rows at most of an operator whose step the driver runs, since a job for it
            would take longer; of more, Spark's workers run it side by side.
        bytes_stepped_in_process: bytes of such rows at most; a worker has a bound of its memory, and the driver none.
        milliseconds_stepped_in_process: of the processor at most for such a step; one that takes longer is begun again
            by Spark's workers, which also run it in the next batch.
        bytes_indexed_in_process: of the indexes of small segments at most, in the memory of the driver, and in that of
            each Python worker.
        pairs_compared_by_index: pairs without a key that Spark tests are made by a plan that is kept; of more, a join
            that Spark plans anew is faster.
        pairs_tested_by_index: the same where stored values decide, which takes some tens of nanoseconds a pair.
        pairs_found_per_changed_row: where many rows find more pairs each, Spark's own join makes them ten times as
            fast.
        pairs_compared_per_batch: comparing them takes minutes, and no batch waits longer for one join; its queries are
            disabled.
        pairs_compared_per_registration: comparing them takes a minute or two; a query of more is refused unless
            forced.
    """

    rows_scanned_in_process: int = 1_000_000
    rows_found_in_process: int = 100_000
    values_evaluated_in_process: int = 20_000
    bytes_fetched: int = 500_000_000
    rows_filtered_in_process: int = 250_000
    rows_stepped_in_process: int = 20_000
    bytes_stepped_in_process: int = 64_000_000
    milliseconds_stepped_in_process: int = 500
    bytes_indexed_in_process: int = 64_000_000
    pairs_compared_by_index: int = 50_000
    pairs_tested_by_index: int = 20_000_000
    pairs_found_per_changed_row: int = 30
    pairs_compared_per_batch: int = 500_000_000
    pairs_compared_per_registration: int = 100_000_000

    def __str__(self) -> str:
        """One line a limit."""
        return "\n".join(f"{field.name:34}{getattr(self, field.name):>13,}" for field in fields(self))


LIMITS = Limits()
"""The limits of a session, unless it is given others."""
