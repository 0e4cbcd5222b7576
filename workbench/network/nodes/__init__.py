"""The nodes of the query network: immutable, closed, identified by what they compute.

A node's id is a digest of what it computes, in canonical form (``sql.algebra.expressions.identity``), so equal
computations *are* one node. *How* it is computed, from which direct parents by which tests, is not part of its
identity: it may change when other queries come and go (rerouting and restructuring, T6.3), and readers of the node need
not know. Every node so has two forms (T6.2.5): the *very original* one, over the roots of local trees, which is
searched, and the *direct* one, over its direct parents, which is evaluated. Which columns a node must carry is not part
of it either: that follows from its readers (``projection``, T8.2).

Columns of a node. A source has its stream's columns; a selection or window those of its root; an analytic node these
and its functions; an aggregate its group expressions and statistics under ``column_name``; a set operator ``c1 … cn``.
A join has those of all its leaves: the column ``amount`` of the second leaf is ``amount_2``; leaves count from 1, left
to right.
"""

from __future__ import annotations

from workbench.network.nodes.aggregate import Aggregate
from workbench.network.nodes.analytic import Analytic
from workbench.network.nodes.base import ID_DIGITS, Columns, NodeId, Read, StoredColumns, columns_of
from workbench.network.nodes.join import Join
from workbench.network.nodes.recursion import Recursion
from workbench.network.nodes.selection import Selection
from workbench.network.nodes.set_operation import FIRST_IS_APART, Branch, SetOperation, SetOperator
from workbench.network.nodes.source import Source
from workbench.network.nodes.window import Window
from workbench.network.sides import SIDES

__all__ = [
    "FIRST_IS_APART",
    "ID_DIGITS",
    "SIDES",
    "Aggregate",
    "Analytic",
    "Branch",
    "Columns",
    "Join",
    "Node",
    "NodeId",
    "Read",
    "Recursion",
    "Selection",
    "SetOperation",
    "SetOperator",
    "Source",
    "StoredColumns",
    "Window",
    "columns_of",
]

Node = Source | Selection | Join | Aggregate | SetOperation | Window | Analytic
