"""Limits: the sizes at which the engine takes another path or refuses, as one immutable value that tests replace."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace


@dataclass(frozen=True)
class Limits:
    """Thresholds between the paths of evaluation, sizes of what is done together, and bounds of all work.

    No limit changes an answer. A name says the unit and the place. ``Session(limits=…)`` takes others.

    Attributes:
        rows_scanned_in_process: stored rows at most whose lineage the driver tests for an answer, which takes 10 ms a
            million and word; of more a Spark job does, which needs a second before its first row.
        rows_found_in_process: of an answer at most that is read here; a million take 0.3 seconds, and a job that hands
            them over takes several. More would be too much for the memory of a small machine.
        rows_chosen_together: of small segments together at most, which are copied so that an answer's rows are chosen
            among all of them at once: to copy 4,096 rows takes as long as to choose among those of one segment more.
        rows_asked_directly: that are read at most for a question that leads back from rows of an answer; where there
            are more, what is known of the rows is looked for first, which is planned and takes up to a second.
        values_evaluated_in_process: of more values that Spark evaluates over rows that were read here, a job that
            reads the rows itself is faster.
        bytes_fetched_from_store: that an executor keeps of the files in a store, written or fetched, about; those go
            that were not used the longest.
        bytes_fetched: of what functions make of rows, estimated, no more is fetched, since all of it is in the JVM's
            heap at a time.
        rows_logged_in_process: of a stream in one batch, and in files, at most that the driver numbers and writes
            itself; of more, tasks do, each those of some row groups.
        bytes_landed_in_process: of objects that land, or messages that wait, together, below which the driver reads
            them itself; of more a task reads each object, or range of a topic. Where tasks run on this machine it
            always does.
        rows_filtered_in_process: the driver filters this number in a quarter of a second; a job of two tasks would be
            no faster.
        rows_stepped_in_process: changed rows at most of an operator whose step the driver runs, since a job for it
            would take longer; of more, Spark's workers run it side by side.
        times_stepped_by_threads: up to as many times these rows, threads of the driver run the steps of a depth side by
            side: what takes long in a step over many rows is done without Python's lock.
        bytes_stepped_in_process: bytes of such rows at most; a worker has a bound of its memory, and the driver none.
        milliseconds_stepped_in_process: of the processor at most for such a step; one that takes longer is begun again
            by Spark's workers, which also run it in the next batch.
        milliseconds_stepped_alone: of the processor at most for such steps of a depth, as they took in the last batch;
            what takes longer own workers of the driver share with it
        rows_checked_in_process: of a change at most of which the driver sees whether rows are there that it takes back.
        rows_expired_in_process, batches_between_expirations: of a tree at most, of which the driver frees those that
            have expired in every batch; of more, tasks do in one batch of some. Where tasks run on this machine the
            driver always does.
        rows_hydrated_in_process, bytes_hydrated_in_process, milliseconds_hydrated_in_process: the same for a step over
            all rows so far, once for a new operator: the driver takes a second for it, and so does Spark before its
            plans are compiled and its workers have started.
        bytes_indexed_in_process: of the indexes of small segments at most, in the memory of the driver, and in that of
            each Python worker.
        pairs_compared_per_batch: comparing them takes minutes, and no batch waits longer for one join; its queries are
            disabled.
        pairs_compared_per_registration: comparing them takes a minute or two; a query of more is refused unless
            forced.
        pairs_compared_per_question: the same for what an answer would be without some of its conditions (why_not),
            which is computed to be counted; with more it is said not to have been looked at.
        steps_per_recursion: a recursive query with rows after as many steps is disabled: one that never ends would be
            noticed too late by the rows alone.
        rows_per_recursion: changed rows of all steps in one batch, of one task; more take a minute, and gigabytes of
            memory.
        choices_per_match: that MATCH_RECOGNIZE tries from one row, where conditions depend on the match; a query with
            more is stopped, since there may be as many as subsets of the rows.
        rows_per_task: a job reads as many rows as one task; a second one costs more than it saves.
        bytes_sent_with_task: of a job's input, which Spark sends with each of its tasks; a longer one, as of some ten
            thousand segments, is a file that each machine reads once.
        rows_sent_together: between Spark and a worker, at most.
        bytes_sent_together: of what functions make of rows that come together between Spark and a worker, about.
        operators_at_a_time: threads that evaluate operators, at most; no more than there are cores.
        rows_per_segment, bytes_per_segment: both, about; a task keeps them in memory before it writes. A look-up takes
            time for each segment, so narrow rows are many in one. Of more rows runs are not merged for look-ups alone.
        bytes_per_part: of a pack, the one file of what a batch writes; for more rows a file of their own hardly counts.
        bytes_in_buckets: of what a task writes at once of rows that are looked up by key, at least, for each task that
            may read them: then these are in files by their buckets. 0: they never are, as on one machine, whose tasks
            share what any of them has read.
        bytes_looked_up_per_task: of what is in buckets, and in which more rows are looked up than the driver would do
            itself: for each task one more reads a share, where one would do for these rows. 0: none does, as on one
            machine.
        bytes_per_pack: about; it is in memory until it is written.
        bytes_read_in_process: of parts of packs and small files that a process has read, at most.
        rows_indexed_in_memory: of a segment at most; indexes of larger ones are files.
        rows_merged_in_process, bytes_merged_in_process: the driver merges a million rows in a third of a second; a job
            of Spark takes more of the processor.
        runs_per_merge: of about one size in a relation, which are then merged to one.
        runs_merged_later: a relation merges up to as many runs later, less one; with the same number for all of them,
            all would merge in the same batches.
        rows_kept_open: rows of a state at most whose groups a process keeps as one table (``open_groups``).
        runs_kept_open: of such a state for each run that another relation keeps, since none is read.
        percent_expired: of a segment at least; it is read and written again for no fewer rows.
        batches_of_changes: rows that have left a window are kept as long, to answer what the latest batches changed.
        states_kept: states after earlier batches, at most, to which a session goes back without running batches again.
        bytes_kept: of the files that only these need, at most.
        paths_per_join: access paths; readers that need more share one, by what all of them have in common.
        outputs_per_tree: expressions of answers that are computed as rows are written, each for the rows of all fused
            roots.
        terms_per_output: columns, constants and calls of such an expression; a larger one would make every batch
            dearer.
        rows_handed_on: to Spark, or to the next step, at a time. With a quarter of this, joins of all rows take a tenth
            longer: what is looked up together is in order.
        rows_looked_up_together: stored rows of groups that are looked at at a time.
        rows_grouped_together: to fragments of groups.
        rows_cancelled_together: among which those that cancel each other are found before they are written.
        rows_of_large_partition: of more, only the ranges of rows that a function with OVER reaches are read.
        ranges_per_large_partition: that are found in the time in which its rows are read.
        values_of_large_group: of more, statistics by rank are found in the index, without reading all of them.
        values_merged_together: pairs of a fragment and a reader.
        pairs_handed_on: of a join, about.
        bytes_paired_together: of rows of a join, and of rows for the places of arrays; long values make fewer rows.
        pairs_tested_together: candidates of a join that are tested before they are made pairs, about.
        pairs_tested_early: candidates of a segment from which on that pays.
        batches_between_compactions: from one look at all packs to the next, which takes a microsecond for each part.
        bytes_empty_in_packs: that are not needed, at least, before anything is moved.
        percent_needed_in_packs: of a pack; with less it is moved, once all packs together have less.
        milliseconds_until_collected: by which a file that no kept state names is older than the newest one when it is
            removed; tasks that failed, or that Spark ran twice, have written it, and may still be writing others.
        milliseconds_between_requests: of the writer's looks for what followers ask for; each is one request.
        latencies_behind: how many times the latency a row has waited when its stream counts as behind.
        batches_behind: in a row, after which a stream that is behind sheds, or queries are suspended.
        rows_caught_up_together: of those of a stream that were left out.
        percent_replanned: of what the network costs that another one must stay below, to be taken.
        batches_between_looks: at another network; what they show has to change before the outcome does.
        percent_looking: of the time of batches that looking at other networks, and hydrating them, may take.
        milliseconds_until_sent_again: to a target that has failed; the pause doubles.
        milliseconds_until_sent_again_at_most: the longest such pause.
        milliseconds_closing_sinks: the end of a session waits for its sinks, all together.
    """

    rows_scanned_in_process: int = 5_000_000
    rows_found_in_process: int = 2_000_000
    rows_chosen_together: int = 4_096
    rows_asked_directly: int = 200_000
    values_evaluated_in_process: int = 20_000
    bytes_fetched_from_store: int = 20_000_000_000
    bytes_fetched: int = 500_000_000
    rows_logged_in_process: int = 4_000_000
    bytes_landed_in_process: int = 1_000_000_000_000_000
    rows_filtered_in_process: int = 250_000
    rows_stepped_in_process: int = 20_000
    times_stepped_by_threads: int = 5
    bytes_stepped_in_process: int = 64_000_000
    milliseconds_stepped_in_process: int = 2_000
    milliseconds_stepped_alone: int = 4
    rows_checked_in_process: int = 4_000_000
    rows_expired_in_process: int = 1_000_000_000_000_000
    rows_hydrated_in_process: int = 2_000_000
    bytes_hydrated_in_process: int = 512_000_000
    milliseconds_hydrated_in_process: int = 5_000
    bytes_indexed_in_process: int = 64_000_000
    pairs_compared_per_batch: int = 500_000_000
    pairs_compared_per_registration: int = 100_000_000
    pairs_compared_per_question: int = 20_000_000
    steps_per_recursion: int = 1_000
    rows_per_recursion: int = 20_000_000
    choices_per_match: int = 200_000
    rows_per_task: int = 100_000
    bytes_sent_with_task: int = 1_000_000
    rows_sent_together: int = 32_768
    bytes_sent_together: int = 64_000_000
    operators_at_a_time: int = 8
    rows_per_segment: int = 250_000
    bytes_per_segment: int = 128_000_000
    bytes_per_part: int = 1_048_576
    bytes_in_buckets: int = 0
    bytes_looked_up_per_task: int = 0
    bytes_per_pack: int = 64_000_000
    bytes_read_in_process: int = 128_000_000
    rows_indexed_in_memory: int = 10_000
    rows_merged_in_process: int = 4_000_000
    bytes_merged_in_process: int = 512_000_000
    runs_per_merge: int = 5
    runs_merged_later: int = 4
    rows_kept_open: int = 16_384
    runs_kept_open: int = 4
    percent_expired: int = 50
    batches_of_changes: int = 4
    states_kept: int = 16
    bytes_kept: int = 1_000_000_000
    paths_per_join: int = 16
    outputs_per_tree: int = 16
    terms_per_output: int = 30
    rows_handed_on: int = 65_536
    rows_looked_up_together: int = 65_536
    rows_grouped_together: int = 250_000
    rows_cancelled_together: int = 100_000
    rows_of_large_partition: int = 32
    ranges_per_large_partition: int = 2
    values_of_large_group: int = 4_096
    values_merged_together: int = 4_000_000
    pairs_handed_on: int = 65_536
    bytes_paired_together: int = 64_000_000
    pairs_tested_together: int = 1_048_576
    pairs_tested_early: int = 4_096
    batches_between_compactions: int = 32
    batches_between_expirations: int = 16
    bytes_empty_in_packs: int = 64_000_000
    percent_needed_in_packs: int = 50
    milliseconds_until_collected: int = 3_600_000
    milliseconds_between_requests: int = 1_000
    latencies_behind: int = 3
    batches_behind: int = 3
    rows_caught_up_together: int = 50_000
    percent_replanned: int = 90
    batches_between_looks: int = 3
    percent_looking: int = 10
    milliseconds_until_sent_again: int = 500
    milliseconds_until_sent_again_at_most: int = 60_000
    milliseconds_closing_sinks: int = 5_000

    def of_cluster(self) -> Limits:
        """The limits where tasks run on other machines: rows that are many do not pass the driver."""
        few, some, part = self.rows_stepped_in_process, self.rows_per_task, min(262_144, self.bytes_per_part)
        return replace(
            self,
            times_stepped_by_threads=1,
            rows_logged_in_process=min(few, self.rows_logged_in_process),
            bytes_landed_in_process=min(4_000_000, self.bytes_landed_in_process),
            rows_filtered_in_process=min(few, self.rows_filtered_in_process),
            rows_checked_in_process=min(few, self.rows_checked_in_process),
            rows_merged_in_process=min(some, self.rows_merged_in_process),
            rows_expired_in_process=min(some, self.rows_expired_in_process),
            rows_hydrated_in_process=min(some, self.rows_hydrated_in_process),
            bytes_looked_up_per_task=self.bytes_looked_up_per_task or 1_000_000_000,
            bytes_per_part=part,
            bytes_in_buckets=self.bytes_in_buckets or part,
        )

    def __str__(self) -> str:
        """One line a limit."""
        return "\n".join(f"{own.name:34}{getattr(self, own.name):>13,}" for own in fields(self))


LIMITS = Limits()
"""The limits of a session, unless it is given others."""


@dataclass
class FolderLimits:
    """The limits of the sessions that are open in this process, by the folder in which each keeps its rows.

    Attributes:
        otherwise: those of files of no such folder, and of all in Spark's workers.
    """

    otherwise: Limits = LIMITS
    _by_folder: dict[str, Limits] = field(default_factory=dict)

    def set(self, folder: str, limits: Limits) -> None:
        """From now on these are the limits of a session's folder."""
        self._by_folder[folder] = limits

    def forget(self, folder: str) -> None:
        """A session was closed."""
        self._by_folder.pop(folder, None)

    def of(self, folder: str) -> Limits:
        """The limits of the session that keeps its rows in a folder.

        Example:
            >>> limits = FolderLimits()
            >>> limits.set("state", Limits(bytes_per_pack=1_000))
            >>> limits.of("state").bytes_per_pack, limits.of("other").bytes_per_pack
            (1000, 64000000)
        """
        return self._by_folder.get(folder, self.otherwise)


SESSION_LIMITS = FolderLimits()
"""The limits of this process's sessions."""
