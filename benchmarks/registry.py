"""All benchmarks by name: what each measures, its options, how it is run."""

from __future__ import annotations

from benchmarks.studies import corrections, day, live, overhead, peers, questions, soak, views, workers
from workbench.experiments.registry import EXPERIMENTS, Experiment

_STUDIES = {
    "soak": (soak, "hours of windowed queries that come and go: does memory, descriptors, files or threads grow"),
    "day": (day, "25 mixed queries over flights from New York: batches, jobs, registrations, operators, DuckDB again"),
    "live": (live, "rows a second that live queries keep up with, how far behind they are, and a burst"),
    "corrections": (corrections, "batches in which some rows replace earlier ones, beside batches without"),
    "adaptive-overhead": (overhead, "what re-planning by itself costs the sets of speed, where nothing drifts"),
    "views": (views, "1 to 768 views by threshold, small and large batches, beside DuckDB again and one Spark job"),
    "workers": (workers, "batches of a million rows on a cluster of one worker and of two, each of one core"),
    "peers": (peers, "views, a selection and a join beside Deephaven, Pathway, chDB, Flink and DuckDB"),
}

BENCHMARKS = {
    "speed": EXPERIMENTS["speed"],
    **{name: Experiment(name, text, study.add_arguments, study.report) for name, (study, text) in _STUDIES.items()},
    "tpch": Experiment(
        "tpch", "a batch of TPC-H's 22 questions together, shared and not, beside DuckDB again",
        questions.add_arguments, questions.report_tpch,
    ),
    "nexmark": Experiment(
        "nexmark", "a batch of Nexmark's 24 questions together, shared and not, beside DuckDB again",
        questions.add_arguments, questions.report_nexmark,
    ),
}  # fmt: skip
"""All benchmarks, in the order of the command line's help. ``speed`` is the experiment of that name, too."""
