"""How large the shared network gets, by query set and configuration (T10.4.4, Tables C.7 and C.9); planning alone.

Queries are registered in interleaved order, and the weighted size is noted at each hundred. What is known of the data
comes from the first rows of the sample streams, as if the thesis's history were there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice

from workbench.arrow.types import to_data_type
from workbench.experiments.query_sets import QUERY_SETS, query_set
from workbench.experiments.report import comparison_charts, text_table
from workbench.experiments.sample_streams.schemas import SCHEMAS, STREAM_NAMES
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import FED_DATABASE, MED_DATABASE
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.optimizer.statistics import StreamStatistics, collect
from workbench.options import Options
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DOUBLE
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema, UserFunction

SAMPLE = 20_000
"""Rows of a stream from which is taken what is known of it."""
_STEP = 100

CONFIGURATIONS: Mapping[str, Options] = {
    "NonJoinS": Options(join_sharing=False, restructure=False),
    "NonCanon": Options(canonicalize=False, restructure=False),
    "MatchPlan": Options(strategy="match-plan", restructure=False),
    "AllSharing": Options(restructure=False),
    "Restructuring": Options(),
}
"""The configurations of T Table 10.6, old nodes being rerouted in all of them, and then restructuring."""

_PRINTED = ("NonJoinS", "NonCanon", "MatchPlan", "AllSharing")

THESIS_SIZES: Mapping[str, Mapping[int, tuple[int, int, int, int]]] = {
    "fed-manual": {
        100: (1650, 188, 116, 116), 200: (3434, 574, 332, 332), 300: (5914, 2435, 688, 637),
        400: (8524, 3955, 1122, 1003), 500: (11759, 4356, 1764, 1408), 600: (15200, 4764, 2412, 1813),
        700: (19152, 4957, 2797, 2007), 768: (21836, 5081, 3057, 2138),
    },
    "med": {
        100: (2414, 1485, 1401, 1401), 200: (4760, 2807, 2591, 2591), 300: (7245, 4011, 3787, 3750),
        400: (9799, 5193, 4936, 4875), 500: (12403, 6295, 6064, 5961), 565: (14083, 7025, 6786, 6673),
    },
}  # fmt: skip
"""Tables C.7 and C.9, drawn in Figure 10.16: sizes under ``_PRINTED`` at each number of queries."""


@dataclass(frozen=True)
class Growth:
    """How one network grew.

    Attributes:
        sizes: the weighted size at each number of queries.
        nodes: how many there are at the end, by kind and join level.
        rules: how often each rule decided about a node.
        seconds: time to register each hundred.
    """

    sizes: Mapping[int, int]
    nodes: Mapping[str, int]
    rules: Mapping[str, int]
    seconds: tuple[float, ...]


def growth(name: str, options: Options, known: bool = True, most: int | None = None) -> Growth:
    """Register a query set into one network.

    Args:
        name: of ``QUERY_SETS``.
        options: how to share.
        known: whether the planner has statistics of the data.
        most: how many queries, from the first; all unless given.
    """
    queries, schema = dict(islice(query_set(name).items(), most)), sample_schema()
    planner, network = Planner(options, streams=sample_statistics() if known else {}), Network()
    sizes: dict[int, int] = {}
    rules: Counter[str] = Counter()
    seconds = []
    started = time.perf_counter()
    for number, query in enumerate(queries.values(), start=1):
        logical = bind(query.sql, query.dialect, schema).query
        assert logical is not None
        planned = planner.register(network, query.name, logical, query.sql, query.dialect)
        network = planned.network
        rules.update(decision.rule for decision in planned.explanation.decisions)
        if number % _STEP == 0 or number == len(queries):
            seconds.append(time.perf_counter() - started)
            sizes[number] = NetworkView(network).weighted_size()
            started = time.perf_counter()
    kinds = Counter(f"{node.kind}, level {node.join_level}" for node in NetworkView(network).nodes)
    return Growth(sizes, dict(sorted(kinds.items())), dict(rules.most_common()), tuple(seconds))


def sample_schema() -> Schema:
    """The sample streams, and the function their queries call."""
    streams = {
        STREAM_NAMES[name]: tuple((field.name, to_data_type(field.type)) for field in schema)
        for name, schema in SCHEMAS.items()
    }
    return Schema(streams=streams, functions={"zipdistance": UserFunction("zipdistance", DOUBLE)})


def sample_statistics() -> dict[str, StreamStatistics]:
    """Statistics of the sample streams, as if they had the thesis's sizes."""
    return {db.stream.lower(): collect(db.rows(SAMPLE), db.history) for db in (FED_DATABASE, MED_DATABASE)}


@dataclass(frozen=True)
class NetworkSize(Study):
    """The network of each query set under each configuration."""

    name, needs = "network-size", ("matplotlib",)
    summary = "weighted size of the network by configuration (T10.4.4); planning alone"

    sets: tuple[str, ...] = option((), f"of {', '.join(QUERY_SETS)}; all unless given", positional=True)
    configurations: tuple[str, ...] = option((), "all unless given", choices=CONFIGURATIONS)
    queries: int | None = option(None, "how many of a set, from the first; all unless given", of=int)

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        configurations = {name: CONFIGURATIONS[name] for name in self.configurations or CONFIGURATIONS}
        texts, figures, charts = [], {}, []
        for name in self.sets or QUERY_SETS:
            grown = {}
            for configuration, options in configurations.items():
                grown[configuration] = growth(name, options, most=self.queries)
                progress(f"{name} {configuration}: {sum(grown[configuration].seconds):.1f} s")
            rules = (f"{configuration}: {growth.rules}" for configuration, growth in grown.items())
            texts.append("\n".join([name, sizes_table(name, grown), *rules]))
            figures[name] = {configuration: asdict(growth) for configuration, growth in grown.items()}
            sizes = {configuration: growth.sizes for configuration, growth in grown.items()}
            charts += comparison_charts(name, "queries", "weighted size", sizes, _PRINTED, THESIS_SIZES.get(name, {}))
        return "\n\n".join(texts), figures, charts


def sizes_table(name: str, grown: Mapping[str, Growth]) -> str:
    """The sizes as a table, the thesis's next to ours where it has them."""
    thesis = THESIS_SIZES.get(name, {})
    columns = ["queries", *grown, *(f"T {configuration}" for configuration in _PRINTED if thesis)]
    return text_table(
        columns,
        [
            [number, *(growth.sizes[number] for growth in grown.values()), *thesis.get(number, ())]
            for number in next(iter(grown.values())).sizes
        ],
    )
