"""All experiments by name: what each is for, its options, how it is run. The command line and notebooks read this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from workbench.errors import WorkbenchError, nearest
from workbench.experiments.report import Report
from workbench.experiments.runs import Progress
from workbench.experiments.studies import (
    aggregates,
    benchmarks,
    corrections,
    day,
    incremental,
    live,
    peers,
    psoup,
    sharing,
    soak,
    speed,
    views,
    windows,
)
from workbench.experiments.studies.planning import network_size, order
from workbench.experiments.studies.replanning import drifts, orders, overhead
from workbench.experiments.studies.scale import scaling, workers


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: what it is asked for by.
        summary: one line.
        add_arguments: gives a parser its options.
        report: runs it with these options; tells how far it is.
    """

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    report: Callable[[argparse.Namespace, Progress], Report]


_STUDIES = {
    "speed": (speed, "time of a batch of a query set, beside DuckDB, Spark, Flink and unshared"),
    "incremental": (
        incremental, "single queries kept up or run again; inference, materialization, batch sizes (T10.2)"
    ),
    "aggregates": (aggregates, "aggregates shared or not, kept up or computed anew; vertical expansion (T10.3)"),
    "sharing": (sharing, "time of a batch by number of queries and configuration (T10.4)"),
    "scaling": (scaling, "more queries, more batches, more history; one query beside Spark by hand"),
    "psoup": (psoup, "windowed answers kept complete, without their window, or not at all (PSoup 5)"),
    "windows": (windows, "a mix of sliding windows over many batches; windowed aggregates shared or separate"),
    "soak": (soak, "hours of windowed queries that come and go: does memory, descriptors, files or threads grow"),
    "day": (day, "25 mixed queries over flights from New York: batches, jobs, registrations, operators, DuckDB again"),
    "live": (live, "rows a second that live queries keep up with, how far behind they are, and a burst"),
    "corrections": (corrections, "batches in which some rows replace earlier ones, beside batches without"),
    "adaptive": (drifts, "rows that drift or do not: never re-planned, by itself, by hand (CACQ 4)"),
    "adaptive-overhead": (overhead, "what re-planning by itself costs the sets of speed, where nothing drifts"),
    "views": (views, "1 to 768 views by threshold, small and large batches, beside DuckDB again and one Spark job"),
    "workers": (workers, "batches of a million rows on a cluster of one worker and of two, each of one core"),
    "peers": (peers, "views, a selection and a join beside Deephaven, Pathway, chDB, Flink and DuckDB"),
    "network-size": (network_size, "weighted size of the network by configuration (T10.4.4); planning alone"),
    "order": (order, "one set registered in many orders, and half of it dropped (T11.1.2); planning alone"),
    "order-batches": (orders, "time of a batch where queries came one at a time in many orders, beside together"),
}  # fmt: skip

EXPERIMENTS = {
    **{name: Experiment(name, text, study.add_arguments, study.report) for name, (study, text) in _STUDIES.items()},
    "register": Experiment(
        "register", "time to register 1,000 queries into one network; planning alone",
        network_size.add_register_arguments, network_size.register_report,
    ),
    "tpch": Experiment(
        "tpch", "a batch of TPC-H's 22 questions together, shared and not, beside DuckDB again",
        benchmarks.add_arguments, benchmarks.report_tpch,
    ),
    "nexmark": Experiment(
        "nexmark", "a batch of Nexmark's 24 questions together, shared and not, beside DuckDB again",
        benchmarks.add_arguments, benchmarks.report_nexmark,
    ),
}  # fmt: skip
"""All experiments, in the order of the command line's help."""


def find(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        WorkbenchError: there is none.
    """
    if name not in EXPERIMENTS:
        hint = nearest(name, EXPERIMENTS) or f"experiments: {', '.join(EXPERIMENTS)}"
        raise WorkbenchError(f"there is no experiment {name}", hint=hint)
    return EXPERIMENTS[name]
