"""A stream or table, from which all rows of a network come."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.network.nodes.base import BaseNode, NodeId
from workbench.network.sql_text import Words
from workbench.sql.algebra.column_names import quoted
from workbench.sql.constraints import Constraint


@dataclass(frozen=True)
class Source(BaseNode):
    """A stream or table.

    Attributes:
        stream: its name.
        owner: set when nothing may be shared with other queries (``Options.sharing``).
        append_only: whether the stream takes no row back. A fact of the stream, so it is no part of the identity.
        constraints: those of its rows that hold, a fact of the stream, too.
    """

    stream: str
    owner: str = ""
    append_only: bool = True
    constraints: tuple[Constraint, ...] = ()

    kind = "source"
    _letter = "F"

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from: none."""
        return ()

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input: none."""
        return ()

    def _computation(self) -> str:
        return f"source {json.dumps([self.stream.lower(), self.owner])}"

    def is_monotone(self, inputs: bool) -> bool:
        """Whether the stream is append-only."""
        return self.append_only

    def sql(self, words: Words) -> str:
        """All rows of the stream."""
        return f"SELECT * FROM {quoted(self.stream)}"

    def title(self, words: Words) -> str:
        """The stream's name."""
        return quoted(self.stream)

    def label(self, words: Words) -> Iterable[str]:
        """The stream's name, whether it takes rows back, and its constraints."""
        facts = [] if self.append_only else ["takes rows back"]
        return [self.stream, *facts, *(str(c) for c in self.constraints if c.declared)]
