"""The network in the words of its queries: streams by their names, and computed columns by what computes them.

Nodes have generated names for the columns that they compute, and joins number those of their inputs. A statement that
an analyst reads says ``MAX(dep_delay) > 500``, and not ``max_dep_delay_4e8ba233 > 500``. So each column is followed to
the streams that it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from workbench.network.nodes import (
    ID_DIGITS,
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    SetOperation,
    SetOperator,
    Source,
)
from workbench.network.sql_text import (
    SIDE_NAMES,
    Names,
    Words,
    expression_sql,
    function_sql,
    part_sql,
)
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.sql.algebra.column_names import display_name, quoted
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, columns, map_columns

_LONGEST = 60
"""Characters of what a node does, in the statement of another that reads it."""
_NODE = re.compile(rf"\b[A-Z][0-9a-f]{{{ID_DIGITS}}}\b")


@dataclass(frozen=True)
class _Origin:
    """Where a column comes from.

    Attributes:
        text: its name in the stream or in a view of it, or what computes it.
        stream: the stream, if it is a column of one, or a view's of it.
        path: the sides of self-joins that lead to it, each ``l`` or ``r``.
        joined: whether it has come through a join, above which a name alone does not say whose it is.
        column: the stored name in the stream, if all rows have the value from there.
        is_place: whether it is the place of an element in an array: one of the numbers from 1.
    """

    text: str
    stream: str = ""
    path: tuple[str, ...] = ()
    joined: bool = False
    column: str = ""
    is_place: bool = False

    @property
    def within(self) -> str:
        """The column in a node whose sides are named."""
        return ".".join([*self.path, self.text])

    @property
    def shown(self) -> str:
        """The column in any other node."""
        return f"{quoted(self.stream)}.{self.text}" if self.joined and self.stream and not self.path else self.within


_PLACE = _Origin("place", is_place=True)
"""The place of an element, which no text names."""


def _is_counted(operation: SetOperation, at: int) -> bool:
    """Whether a column of a union is the numbers from 1, as places are, or steps from 0 that are added to such."""
    if operation.operator is not SetOperator.UNION_ALL:
        return False
    values = [branch.values[at] for branch in operation.branches]
    found = sorted(v.value for v in values if isinstance(v, Constant) and type(v.value) is int)
    if len(found) < len(values) or len(found) < 2:
        return False
    first, step = found[0], found[1] - found[0]
    is_even = step > 0 and found == [*range(first, first + step * len(found), step)]
    return is_even and (first == 0 or first == step == 1)


def _are_places(expression: Expression, origin_of: Callable[[Column], _Origin]) -> bool:
    read = columns(expression)
    return bool(read) and all(origin_of(column).is_place for column in read)


def _exploded(part: Column | Call, origin_of: Callable[[Column], _Origin], names: Names) -> str:
    """EXPLODE of the array of which a call has the elements, one in each row; "" for another call."""
    match part:
        case Call("element_at", (array, place)) if _are_places(place, origin_of):
            return f"EXPLODE({expression_sql(array, names)})"
    return ""


class Wording(Words):
    """Names that an analyst reads for the nodes and columns of a network.

    Args:
        nodes: by id; with each node all that it is computed from.
        views: what computes the columns of views, which are said by their names.

    Example:
        >>> fed = Source("FedWireTrans")
        >>> Wording({fed.id: fed}).node(fed.id), Wording({fed.id: fed}).phrase(fed.id)
        ('FedWireTrans', 'FedWireTrans')
    """

    def __init__(self, nodes: Mapping[NodeId, Node], views: ViewNames = UNNAMED) -> None:
        self._nodes, self._views = nodes, views
        self._origins: dict[tuple[NodeId, str], _Origin] = {}
        self._streams: dict[NodeId, frozenset[str]] = {}

    def sql(self, id_: NodeId) -> str:
        """The statement that computes a node from its parents."""
        return self._nodes[id_].sql(self)

    def node(self, id_: NodeId) -> str:
        """A stream by its name, another node in guillemets by what it does."""
        name = self.name(id_)
        if isinstance(self._nodes.get(id_), Source):
            return name
        return f"«{name if len(name) <= _LONGEST else name[: _LONGEST - 1] + '…'}»"

    def phrase(self, id_: NodeId) -> str:
        """A node in a sentence: by what it does."""
        node = self._nodes.get(id_)
        return self.name(id_) if node is None or isinstance(node, Source) else f"the {self.name(id_)}"

    def name(self, id_: NodeId) -> str:
        """A node in a few words; a stream has a name."""
        node = self._nodes.get(id_)
        return id_ if node is None else node.title(self)

    def sentence(self, text: str) -> str:
        """A text with phrases in the place of ids."""
        return _NODE.sub(lambda match: self.phrase(match[0]), text)

    def columns(self, id_: NodeId) -> Names:
        """The columns of a node."""
        return partial(self._column, id_)

    def sides(self, roots: tuple[NodeId, NodeId]) -> Names:
        """The columns of the two inputs of a join: names in a stream after the name of their side."""

        def origin_of(column: Column) -> _Origin:
            return self._origin(roots[column.source], column.name)

        def name(part: Column | Call) -> str:
            if exploded := _exploded(part, origin_of, name):
                return exploded
            origin = self._origin_of(part, origin_of)
            if origin is None:
                return ""
            (side,) = {column.source for column in columns(part)}
            return f"{SIDE_NAMES[side]}.{origin.within}" if origin.stream else origin.within

        return name

    def _column(self, id_: NodeId, part: Column | Call) -> str:
        def origin_of(column: Column) -> _Origin:
            return self._origin(id_, column.name)

        if exploded := _exploded(part, origin_of, self.columns(id_)):
            return exploded
        origin = self._origin_of(part, origin_of)
        return "" if origin is None else origin.shown

    def _origin_of(self, part: Expression | AggregateCall, origin_of: Callable[[Column], _Origin]) -> _Origin | None:
        """Where a column comes from, or what a view calls what is computed from columns."""
        if isinstance(part, Column):
            return origin_of(part)
        if not self._views.names or not isinstance(part, Call):
            return None
        read = {column: origin_of(column) for column in columns(part)}
        if len({(column.source, origin.stream, origin.path) for column, origin in read.items()}) != 1:
            return None
        (first, *_) = read.values()
        name = self._views.name(first.stream, map_columns(part, lambda c: Column(read[c].column, c.type)))
        return replace(first, text=name, column="") if name else None

    def _origin(self, id_: NodeId, name: str) -> _Origin:
        key = (id_, name)
        if key not in self._origins:
            self._origins[key] = self._found(id_, name)
        return self._origins[key]

    def _found(self, id_: NodeId, name: str) -> _Origin:
        match self._nodes.get(id_):
            case None:
                return _Origin(quoted(display_name(name)))
            case Source(stream=stream):
                return _Origin(quoted(display_name(name)), stream, column=name)
            case Join() as join:
                return self._through(join, name)
            case SetOperation() as operation:
                return self._of_first_branch(operation).get(name, _Origin(quoted(display_name(name))))
            case Aggregate(read=read, by_name=computed):
                return self._computing(read.root, computed[name]) if name in computed else _Origin(display_name(name))
            case Analytic(read=read, by_name=functions) if name in functions:
                return _Origin(function_sql(functions[name], self.columns(read.root)))
            case node:
                return self._origin(node.read.root, name)

    def _computing(self, root: NodeId, expression: Expression | AggregateCall) -> _Origin:
        if isinstance(expression, Call) and _are_places(expression, lambda column: self._origin(root, column.name)):
            return _PLACE
        known = self._origin_of(expression, lambda column: self._origin(root, column.name))
        return _Origin(part_sql(expression, self.columns(root))) if known is None else known

    def _of_first_branch(self, operation: SetOperation) -> Mapping[str, _Origin]:
        """What a set operator's columns are called in its first branch; a constant says nothing of other branches."""
        first = operation.branches[0]
        origins = [
            (_PLACE if _is_counted(operation, at) else _Origin(name))
            if isinstance(value, Constant)
            else self._computing(first.read.root, value)
            for at, (name, value) in enumerate(zip(operation.types, first.values, strict=True))
        ]
        texts = [origin.text for origin in origins]
        short = (replace(o, path=(), joined=False) if texts.count(o.text) == 1 else o for o in origins)
        # Rows of other branches may have it from elsewhere.
        own = (replace(origin, column="") for origin in short)
        return dict(zip(operation.types, own, strict=True))

    def _through(self, join: Join, name: str) -> _Origin:
        if not re.search(r"_\d+$", name):
            return _Origin(quoted(display_name(name)))
        side, inner = join.names.input_name(name)
        origin = self._origin(join.roots[side], inner)
        both = origin.stream in self._streams_of(join.roots[1 - side])
        return replace(origin, path=(SIDE_NAMES[side], *origin.path) if both else origin.path, joined=True)

    def _streams_of(self, id_: NodeId) -> frozenset[str]:
        """The streams that a node's rows come from."""
        if id_ not in self._streams:
            node = self._nodes.get(id_)
            own = {node.stream} if isinstance(node, Source) else ()
            read = () if node is None else node.reads
            streams = frozenset(own).union(*(self._streams_of(one.root) for one in read))
            self._streams[id_] = streams
        return self._streams[id_]
