"""The error of an operator that would take too long, or too much memory, in a batch."""

from __future__ import annotations

from workbench.errors import EngineError
from workbench.network.nodes import NodeId


class TooMuchWork(EngineError):
    """An operator would take too long, or too much memory, in a batch.

    Attributes:
        root: of the operator.
        reason: what its queries are told.
    """

    def __init__(self, root: NodeId, reason: str, hint: str | None = None) -> None:
        self.root, self.reason = root, reason
        super().__init__(reason, hint=hint)
