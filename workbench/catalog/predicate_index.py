"""Literals, ORPreds and PredSets in the catalog (PredIndex and PSetIndex of T6.2.7).

The thesis merges literals and ORPreds into one relation; here each layer has its own, so that a predicate is stored
once however many nodes use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.catalog.codec import decode_once, encode
from workbench.catalog.database import Database
from workbench.catalog.ranges import admitted_ranges, stated_ranges
from workbench.catalog.schema import PREDICATE_USES
from workbench.sql.algebra.expressions import Expression, digest, text
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet

_DIGITS = 16
_UNUSED = "DELETE FROM predicate_sets WHERE id = ?" + "".join(
    f" AND NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = predicate_sets.id)" for table, column in PREDICATE_USES
)


@dataclass(frozen=True, slots=True)
class _Layer:
    """Two relations: the wholes, and their members in order."""

    wholes: str
    members: str
    whole: str
    member: str


_SETS = _Layer("predicate_sets", "predicate_set_members", "predicate_set", "or_predicate")
_ORS = _Layer("or_predicates", "or_predicate_literals", "or_predicate", "literal")


class Predicates:
    """PredSets by id. An id is a digest of the content, so it is never used for another PredSet.

    Decoded ones are remembered.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sets: dict[str, PredSet] = {}
        self._ors: dict[str, ORPred] = {}

    def put(self, predicates: PredSet) -> str:
        """Store a PredSet, if it is not there; its id."""
        id_ = predicate_id(predicates)
        if self._database.first("SELECT 1 FROM predicate_sets WHERE id = ?", id_):
            return id_
        members = list(map(predicate_id, predicates))
        for member, predicate in zip(members, predicates, strict=True):
            self._put_or(member, predicate)
        self._put_whole(_SETS, id_, str(predicates), members)
        self._database.insert("predicate_set_ranges", ((*r, id_) for r in stated_ranges(predicates)))
        self._sets[id_] = predicates
        return id_

    def predicate_set(self, id_: str) -> PredSet:
        """The PredSet of an id that is in the catalog."""
        if id_ not in self._sets:
            self._sets[id_] = PredSet(tuple(map(self.or_predicate, self._members(_SETS, id_))))
        return self._sets[id_]

    def or_predicate(self, id_: str) -> ORPred:
        """The ORPred of an id that is in the catalog."""
        if id_ not in self._ors:
            self._ors[id_] = ORPred(tuple(map(self._literal, self._members(_ORS, id_))))
        return self._ors[id_]

    def sweep(self, ids: Iterable[str]) -> None:
        """Remove those of the given PredSets to which nothing refers, and the predicates that no other has."""
        for id_ in set(ids):
            if self._database.run(_UNUSED, [id_]):
                self._sets.pop(id_, None)
                self._database.run("DELETE FROM predicate_set_ranges WHERE predicate_set = ?", [id_])
                self._drop_members(_SETS, id_, self._sweep_or)

    def _put_or(self, id_: str, predicate: ORPred) -> None:
        if self._database.first("SELECT 1 FROM or_predicates WHERE id = ?", id_):
            return
        self._database.insert("literals", map(_literal_row, predicate.literals), missing=True)
        self._put_whole(_ORS, id_, str(predicate), list(map(predicate_id, predicate.literals)))
        self._database.insert("or_predicate_ranges", ((*r, id_) for r in admitted_ranges(predicate)))
        self._ors[id_] = predicate

    def _put_whole(self, layer: _Layer, id_: str, readable: str, members: list[str]) -> None:
        self._database.insert(layer.wholes, [(id_, readable, len(members))])
        self._database.insert(layer.members, ((id_, position, member) for position, member in enumerate(members)))

    def _members(self, layer: _Layer, id_: str) -> list[str]:
        return self._database.column(
            f"SELECT {layer.member} FROM {layer.members} WHERE {layer.whole} = ? ORDER BY position", id_
        )

    def _literal(self, id_: str) -> Literal:
        row = self._database.first("SELECT left_json, operator, right_json FROM literals WHERE id = ?", id_)
        assert row is not None
        left, operator, right = row
        return Literal(
            decode_once(left, Expression), Operator(operator), None if right is None else decode_once(right, Expression)
        )

    def _drop_members(self, layer: _Layer, id_: str, sweep: Callable[[str], None]) -> None:
        """Remove the list of members of a whole, and then those that nothing else has."""
        members = self._members(layer, id_)
        self._database.run(f"DELETE FROM {layer.members} WHERE {layer.whole} = ?", [id_])
        for member in members:
            if not self._database.first(f"SELECT 1 FROM {layer.members} WHERE {layer.member} = ?", member):
                sweep(member)

    def _sweep_or(self, id_: str) -> None:
        self._ors.pop(id_, None)
        self._database.run("DELETE FROM or_predicates WHERE id = ?", [id_])
        self._database.run("DELETE FROM or_predicate_ranges WHERE or_predicate = ?", [id_])
        self._drop_members(_ORS, id_, self._sweep_literal)

    def _sweep_literal(self, id_: str) -> None:
        self._database.run("DELETE FROM literals WHERE id = ?", [id_])


def predicate_id(part: Literal | ORPred | PredSet) -> str:
    """Digest of a literal, a disjunction or a conjunction in canonical form, with all its types.

    Example:
        >>> predicate_id(PredSet())
        '44136fa355b3678a'
    """
    return digest(part.identity, _DIGITS)


def _literal_row(literal: Literal) -> tuple[object, ...]:
    right = literal.right
    return (
        predicate_id(literal),
        text(literal.left),
        str(literal.operator),
        None if right is None else text(right),
        str(literal.left.type),
        encode(literal.left, Expression),
        None if right is None else encode(right, Expression),
    )
