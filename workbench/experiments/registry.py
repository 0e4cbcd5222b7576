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
    incremental,
    network_size,
    psoup,
    scaling,
    sharing,
    soak,
    speed,
    windows,
)


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


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "speed", "time of a batch of a query set, beside DuckDB, Spark, Flink and unshared",
            speed.add_arguments, speed.report,
        ),
        Experiment(
            "incremental", "single queries kept up or run again; inference, materialization, batch sizes (T10.2)",
            incremental.add_arguments, incremental.report,
        ),
        Experiment(
            "aggregates", "aggregates shared or not, kept up or computed anew; vertical expansion (T10.3)",
            aggregates.add_arguments, aggregates.report,
        ),
        Experiment(
            "sharing", "time of a batch by number of queries and configuration (T10.4)",
            sharing.add_arguments, sharing.report,
        ),
        Experiment(
            "scaling", "more queries, more batches, more history; one query beside Spark by hand",
            scaling.add_arguments, scaling.report,
        ),
        Experiment(
            "psoup", "windowed answers kept complete, without their window, or not at all (PSoup 5)",
            psoup.add_arguments, psoup.report,
        ),
        Experiment(
            "windows", "a mix of sliding windows over many batches; windowed aggregates shared or separate",
            windows.add_arguments, windows.report,
        ),
        Experiment(
            "soak", "hours of windowed queries that come and go: does memory, descriptors, files or threads grow",
            soak.add_arguments, soak.report,
        ),
        Experiment(
            "network-size", "weighted size of the network by configuration (T10.4.4); planning alone",
            network_size.add_arguments, network_size.report,
        ),
        Experiment(
            "register", "time to register 1,000 queries into one network; planning alone",
            network_size.add_register_arguments, network_size.register_report,
        ),
    )
}  # fmt: skip


def find(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        WorkbenchError: there is none.
    """
    if name not in EXPERIMENTS:
        hint = nearest(name, EXPERIMENTS) or f"experiments: {', '.join(EXPERIMENTS)}"
        raise WorkbenchError(f"there is no experiment {name}", hint=hint)
    return EXPERIMENTS[name]
