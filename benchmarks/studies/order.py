"""Does the order of registration matter, and do queries that are dropped leave a trace (T11.1.2)? Planning alone.

The queries of a set are registered one at a time in random orders, and together: planned in the order that planning
anew takes. Then half of them are dropped at random, beside a network that never had those. Each network is planned anew
too.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from workbench.experiments.query_sets import QUERY_SETS, query_set
from workbench.experiments.report import Chart, text_table
from workbench.experiments.studies.network_size import CONFIGURATIONS, growth, sample_schema, sample_statistics
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.options import Options
from workbench.session.learning.replan import Asked, replan
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind

ORDERS = 10
SEED = 21


@dataclass(frozen=True)
class _Measured:
    """A network as it came to be, and planned anew.

    Attributes:
        title: how it came to be.
        size, trees: its weighted size (T10.4.4), and how many operators above the streams' rows it has.
        size_anew, trees_anew: when it was planned anew.
    """

    title: str
    size: int
    trees: int
    size_anew: int
    trees_anew: int


class _Growing:
    """A network into which queries are registered one at a time.

    Args:
        asked: the queries by name, in the order of registration.
    """

    def __init__(self, asked: Mapping[str, Asked]) -> None:
        self._planner = Planner(Options(), streams=sample_statistics())
        self._asked = dict(asked)
        self.network = Network()
        for name, one in asked.items():
            self.network = self._planner.register(self.network, name, one.query, one.sql, one.dialect).network

    def drop(self, names: Iterable[str]) -> None:
        """Drop some queries together."""
        gone = list(names)
        self.network = self._planner.drop(self.network, gone)
        for name in gone:
            del self._asked[name]

    def measured(self, title: str) -> _Measured:
        """The network as it is, and planned anew; it stays as it is."""
        anew = replan(self._planner, self.network, self._asked, lambda other: False).network
        return _Measured(title, *_size(self.network), *_size(anew))


def _size(network: Network) -> tuple[int, int]:
    return NetworkView(network).weighted_size(), len(network.trees)


def asked_of(name: str, number: int | None = None) -> dict[str, Asked]:
    """The first queries of a set, or all, in its order."""
    schema, asked = sample_schema(), {}
    for one in [*query_set(name).values()][:number]:
        logical = bind(one.sql, one.dialect, schema).query
        assert logical is not None
        asked[one.name] = Asked(logical, one.sql, one.dialect, False)
    return asked


def orders(asked: Mapping[str, Asked], number: int, progress: StudyProgress = print) -> list[_Measured]:
    """The network of a set's own order, and of a number of orders at random."""
    out = []
    for i in range(number + 1):
        names = list(asked)
        if i:
            random.Random(SEED + i).shuffle(names)
        out.append(_Growing({name: asked[name] for name in names}).measured(f"order {i}" if i else "the set's order"))
        progress(str(out[-1]))
    return out


def halves(asked: Mapping[str, Asked], progress: StudyProgress = print) -> list[_Measured]:
    """What is left when half of the queries are dropped at random, and the network that never had them."""
    gone = set(random.Random(SEED).sample(sorted(asked), len(asked) // 2))
    network = _Growing(asked)
    network.drop(name for name in asked if name in gone)
    dropped = network.measured("half dropped")
    progress(str(dropped))
    never = _Growing({name: one for name, one in asked.items() if name not in gone}).measured("never there")
    progress(str(never))
    return [dropped, never]


@dataclass(frozen=True)
class OrderOfRegistration(Study):
    """A set registered in many orders, and half of it dropped."""

    name, needs = "order", ()
    summary = "one set registered in many orders, and half of it dropped (T11.1.2); planning alone"

    set: str = option("fed-manual", "query set", choices=QUERY_SETS)
    queries: int | None = option(None, "how many queries of the set, from the first; all unless given", of=int)
    orders: int = option(ORDERS, "orders at random")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        asked = asked_of(self.set, self.queries)
        ordered, halved = orders(asked, self.orders, progress), halves(asked, progress)
        sizes = [one.size for one in ordered]
        best = min(one.size_anew for one in ordered)
        rows = [[one.title, one.size, one.trees, one.size_anew, one.trees_anew] for one in (*ordered, *halved)]
        lines = [
            f"{self.set}, {len(asked)} queries",
            text_table(["network", "size", "trees", "anew: size", "trees"], rows),
            f"one at a time {min(sizes)} to {max(sizes)}, median {statistics.median(sizes):g}: "
            f"at most {max(sizes) / best - 1:+.1%} beside the best that was planned anew ({best})",
            f"planned anew at most {max(one.size_anew for one in ordered) / best - 1:+.1%}",
            f"half dropped: {halved[0].size / halved[1].size - 1:+.1%} beside never there, "
            f"planned anew {halved[0].size_anew / halved[1].size_anew - 1:+.1%}",
        ]
        figures = {"orders": [asdict(one) for one in ordered], "halves": [asdict(one) for one in halved]}
        return "\n".join(lines), figures, ()


@dataclass(frozen=True)
class Register(Study):
    """One query registered after the other, and the time of each hundred."""

    name, needs = "register", ("matplotlib",)
    summary = "time to register 1,000 queries into one network; planning alone"

    set: str = option("fed-uniform", "query set", choices=QUERY_SETS)

    @property
    def stem(self) -> str:
        """With the set that was chosen."""
        return f"{self.name}-{self.set}"

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        grown = growth(self.set, CONFIGURATIONS["Restructuring"], known=False)
        seconds = dict(zip(grown.sizes, grown.seconds, strict=True))
        rows = [[number, seconds[number], size] for number, size in grown.sizes.items()]
        ratio = grown.seconds[-1] / grown.seconds[0]
        last = f"{sum(grown.seconds):.1f} s in all; last hundred / first hundred {ratio:.2f}"
        chart = Chart(f"registering {self.set}", "queries", "seconds for a hundred", {"ours": seconds}, log_y=False)
        columns = ["queries", "s for the last hundred", "weighted size"]
        return f"{text_table(columns, rows)}\n{last}", asdict(grown), (chart,)
