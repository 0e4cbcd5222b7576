"""The network in the words of its queries: streams by their names, and computed columns by what computes them.

Nodes have generated names for the columns that they compute, and joins number those of their inputs. A statement that
an analyst reads says ``MAX(dep_delay) > 500``, and not ``max_dep_delay_4e8ba233 > 500``. So each column is followed to
the streams that it comes from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_

from workbench.network.nodes import (
    ID_DIGITS,
    Aggregate,
    Analytic,
    Branch,
    Join,
    Node,
    NodeId,
    Read,
    Recursion,
    Selection,
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
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Value,
    columns,
    map_columns,
)
from workbench.sql.predicates.cnf import FALSE, PredSet, map_predicates
from workbench.sql.predicates.null_safe import equal_sides

_LONGEST = 60
"""Characters of what a node does, in the statement of another that reads it."""
_NODE = re.compile(rf"\b[A-Z][0-9a-f]{{{ID_DIGITS}}}\b")


@dataclass(frozen=True)
class _Origin:
    """Where a column comes from.

    Attributes:
        text: its name in the stream or in a view of it, or what computes it.
        stream: the stream, if it is a column of one, or a view's of it.
        reading: the number of the reading of the stream that it is from, where joins read the stream several times.
        joined: whether it has come through a join, above which a name alone does not say whose it is.
        column: the stored name in the stream, if all rows have the value from there.
        is_place: whether it is the place of an element in an array: one of the numbers from 1.
        is_made: whether it has constants, for which there is no name.
    """

    text: str
    stream: str = ""
    reading: int = 0
    joined: bool = False
    column: str = ""
    is_place: bool = False
    is_made: bool = False

    @property
    def shown(self) -> str:
        """The column, above a join with the stream's name, whose second reading is called ``t_1``, as in PostgreSQL."""
        if not self.joined or not self.stream:
            return self.text
        return f"{quoted(self.stream + (f'_{self.reading}' if self.reading else ''))}.{self.text}"


_PLACE = _Origin("value", is_place=True, is_made=True)
"""The place of an element, or one of VALUES or a series, which no text names."""


def _is_counted(operation: SetOperation, values: Sequence[Value]) -> bool:
    """Whether a union's constants are the numbers from 1, as places are, or steps from 0 that are added to such."""
    found = sorted(value for value in values if type(value) is int)
    if operation.operator is not SetOperator.UNION_ALL or len(found) < max(len(values), 2):
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
        self._read: dict[NodeId, Counter[str]] = {}
        self._constant: dict[NodeId, bool] = {}

    def sql(self, id_: NodeId) -> str:
        """The statement that computes a node from its parents."""
        return self._nodes[id_].sql(self)

    def node(self, id_: NodeId) -> str:
        """A stream by its name, another node in guillemets by its operation."""
        name = self.name(id_)
        if isinstance(self._nodes.get(id_), Source):
            return name
        return f"«{name if len(name) <= _LONGEST else name[: _LONGEST - 1] + '…'}»"

    def phrase(self, id_: NodeId) -> str:
        """A node in a sentence, by its operation."""
        node = self._nodes.get(id_)
        return self.name(id_) if node is None or isinstance(node, Source) else f"the {self.name(id_)}"

    def name(self, id_: NodeId) -> str:
        """A node in a few words; a stream has a name, and what VALUES, a series or EXPLODE looks at are constants."""
        node = self._nodes.get(id_)
        if node is None:
            return id_
        return "constants" if self._is_constant(id_) else node.title(self)

    def _is_constant(self, id_: NodeId) -> bool:
        """Whether its rows are constants: it is made of no rows of a stream."""
        if id_ not in self._constant:
            node = self._nodes.get(id_)
            is_empty = isinstance(node, Selection) and node.read.required == FALSE
            read = (Read(node.read.root),) if isinstance(node, Selection) else () if node is None else node.reads
            of_constants = all(one.required == FALSE or self._is_constant(one.root) for one in read)
            self._constant[id_] = is_empty or (len(read) > 0 and of_constants)
        return self._constant[id_]

    def sentence(self, text: str) -> str:
        """Replace the ids in a text by phrases."""
        return _NODE.sub(lambda match: self.phrase(match[0]), text)

    def columns(self, id_: NodeId) -> Names:
        """The columns of a node."""
        return partial(self._column, id_)

    def sides(self, roots: tuple[NodeId, NodeId]) -> Names:
        """The columns of the two inputs of a join: names in a stream after the name of their side.

        Where a side itself joins a stream with itself, its columns are called as they are above the join.
        """
        left, right = map(self._readings, roots)

        def origin_of(column: Column) -> _Origin:
            return self._origin(roots[column.source], column.name)

        def name(part: Column | Call) -> str:
            if exploded := _exploded(part, origin_of, name):
                return exploded
            origin = self._origin_of(part, origin_of)
            if origin is None:
                return ""
            (side,) = {column.source for column in columns(part)}
            if origin.joined and (left, right)[side][origin.stream] > 1:
                return _after(left, side, origin).shown
            return f"{SIDE_NAMES[side]}.{origin.text}" if origin.stream else origin.text

        return name

    def tested(self, predicates: PredSet, roots: tuple[NodeId, NodeId]) -> PredSet:
        """What a join tests, over the values by which and by whose being NULL its sides are grouped."""

        def value(column: Column) -> Expression:
            node = self._nodes.get(roots[column.source])
            group = node.by_name.get(column.name) if isinstance(node, Aggregate) else None
            if isinstance(group, Call) and group.function in ("coalesce", "is_null"):
                return map_columns(group, lambda inner: replace(inner, source=column.source))
            return column

        over_values = map_predicates(predicates, value)
        return over_values if equal_sides(over_values) else predicates

    def _column(self, id_: NodeId, part: Column | Call) -> str:
        def origin_of(column: Column) -> _Origin:
            return self._origin(id_, column.name)

        if exploded := _exploded(part, origin_of, self.columns(id_)):
            return exploded
        origin = self._origin_of(part, origin_of)
        if origin is None:
            return ""
        if origin.joined and self._readings(id_)[origin.stream] == 2:
            return f"{SIDE_NAMES[origin.reading]}.{origin.text}"
        return origin.shown

    def _origin_of(self, part: Expression | AggregateCall, origin_of: Callable[[Column], _Origin]) -> _Origin | None:
        """The origin of a column, or the name that a view gives to an expression over columns."""
        if isinstance(part, Column):
            return origin_of(part)
        if not self._views.names or not isinstance(part, Call):
            return None
        read = {column: origin_of(column) for column in columns(part)}
        if len({(column.source, origin.stream, origin.reading) for column, origin in read.items()}) != 1:
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
                return self._of_branches(operation).get(name, _Origin(quoted(display_name(name))))
            case Aggregate(read=read, by_name=computed):
                return self._computing(read.root, computed[name]) if name in computed else self._origin(read.root, name)
            case Analytic(read=read, by_name=functions) if name in functions:
                return _Origin(function_sql(functions[name], self.columns(read.root)))
            case node:
                return self._origin(node.read.root, name)

    def _computing(self, root: NodeId, expression: Expression | AggregateCall) -> _Origin:
        if isinstance(expression, Call) and _are_places(expression, lambda column: self._origin(root, column.name)):
            return _PLACE
        known = self._origin_of(expression, lambda column: self._origin(root, column.name))
        return _Origin(part_sql(expression, self.columns(root))) if known is None else known

    def _of_branches(self, operation: SetOperation) -> Mapping[str, _Origin]:
        """What a set operator's columns are called in the first branch where they are no constants."""
        of_rows = operation.branches[:1] if isinstance(operation, Recursion) else operation.branches
        origins = [self._in_branches(operation, of_rows, at) for at in range(len(operation.types))]
        texts = [origin.text for origin in origins]
        own = dict[str, _Origin]()
        for at, (name, origin) in enumerate(zip(operation.types, origins, strict=True)):
            again = texts.count(origin.text) > 1
            text = f"{origin.text}_{texts[: at + 1].count(origin.text)}" if again and origin.is_made else origin.text
            # Rows of other branches may have it from elsewhere.
            own[name] = replace(origin, text=text, column="", joined=origin.joined and again)
        return own

    def _in_branches(self, operation: SetOperation, branches: Sequence[Branch], at: int) -> _Origin:
        """A column in the first branch where it is no constant; true beside NULL marks the rows of an outer join."""
        constants = list[Value]()
        for branch in branches:
            if not isinstance(value := branch.values[at], Constant):
                return self._computing(branch.read.root, value)
            constants.append(value.value)
        if _is_counted(operation, constants):
            return _PLACE
        return _Origin("matched" if {*constants} == {True, None} else "value", is_made=True)

    def _through(self, join: Join, name: str) -> _Origin:
        if not re.search(r"_\d+$", name):
            return _Origin(quoted(display_name(name)))
        side, inner = join.names.input_name(name)
        origin = self._origin(join.roots[side], inner)
        return replace(_after(self._readings(join.roots[0]), side, origin), joined=True)

    def _readings(self, id_: NodeId) -> Counter[str]:
        """How often a row of a node has columns of a row of each stream."""
        if id_ not in self._read:
            node = self._nodes.get(id_)
            match node:
                case Source(stream=stream):
                    own = Counter([stream])
                case Join(roots=(left, right)):
                    own = self._readings(left) + self._readings(right)
                case Selection(read=read):
                    own = self._readings(read.root)
                case _:
                    below = () if node is None else (self._readings(read.root) for read in node.reads)
                    own = reduce(or_, below, Counter[str]())
            self._read[id_] = own
        return self._read[id_]


def _after(left: Counter[str], side: int, origin: _Origin) -> _Origin:
    """A column of a side of a join, in it: readings of the right side come after those of the left one."""
    return replace(origin, reading=origin.reading + left[origin.stream]) if side else origin
