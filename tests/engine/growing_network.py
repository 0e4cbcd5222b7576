"""A network that grows and shrinks, and the operators that run it, for tests without Spark."""

from __future__ import annotations

from workbench.engine.physical.analyses import mergeable_aggregates
from workbench.engine.physical.fusion import fused_operators
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, NodeId
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(streams={"F": (("g", STRING), ("h", STRING), ("d", DATE), ("a", INTEGER))}, functions={})


class Planning:
    """A network that grows, and the operators it runs in."""

    def __init__(self) -> None:
        self.planner, self.network = Planner(), Network()
        self.operators: dict[str, tuple[NodeId, ...]] = {}

    def register(self, name: str, sql: str) -> None:
        logical = bind(sql, "spark", SCHEMA).query
        assert logical is not None
        self.network = self.planner.register(self.network, name, logical).network
        self.settle()

    def drop(self, name: str) -> None:
        self.network = self.planner.drop(self.network, [name])
        self.settle()

    def settle(self) -> None:
        before = {root: name for name, roots in self.operators.items() for root in roots}
        mergeable = mergeable_aggregates(self.network)
        self.operators = fused_operators(self.network, before, mergeable)
        assert sorted(r for roots in self.operators.values() for r in roots) == sorted(self.network.trees)

    def of(self, query: str) -> str:
        """The operator of a query's root."""
        root = self.network.queries[query].read.root
        return next(name for name, roots in self.operators.items() if root in roots)

    def sizes(self) -> list[int]:
        """How many aggregates each operator has that has any."""
        kinds = [
            [r for r in roots if isinstance(self.network.nodes[r], Aggregate)] for roots in self.operators.values()
        ]
        return sorted(len(roots) for roots in kinds if roots)


def total(above: int, statistic: str = "SUM(a)", group: str = "g", having: int = 0) -> str:
    return f"SELECT {group}, {statistic} AS s FROM F WHERE a > {above} GROUP BY {group} HAVING {statistic} > {having}"
