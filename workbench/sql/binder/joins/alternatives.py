"""Conditions of which one alternative reads the kept side of an outer join alone.

Such a row passes whatever its partner is, so it needs none, and the others pass by their partner alone::

    σ(b OR a) (l LEFT JOIN r)   is   σ(b) (l LEFT JOIN r)  UNION ALL  σ((b) IS NOT TRUE) l ⋈ r ON … AND a

where ``b`` reads ``l`` alone, and ``a`` is never true without a partner. No row is in both, so it holds for bags. With
``r`` the averages by player, ``gold > 3 * average OR gold > 500`` looks at the rows between the old average and the new
one, where the outer join has all rows of each player whose average moves. Each row must have one partner at most: where
nothing else of it is read, the first branch is a selection. Whether there is a partner at all, as EXISTS
asks, changes seldom, and is left to the outer join, which other queries share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Set
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.null_rejection import rejects_nulls
from workbench.sql.binder.joins.trees import OuterJoin, Rows, own_sources
from workbench.sql.binder.protocols import is_subquery
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.predicates.cnf import Operator, ORPred, PredSet, conjunction, or_pred, pred_set, predicate_columns
from workbench.sql.predicates.normal_form import normal_form, predicates_expression
from workbench.sql.predicates.null_safe import with_null_safe_keys

MOST_SPLIT = 2
"""Subqueries that rows have values of, at most, where alternatives are split: each branch has the joins of most."""


def split(join: OuterJoin, where: PredSet) -> tuple[PredSet, PredSet, PredSet] | None:
    """The conditions on the rows of an outer join of which one alternative reads its kept side alone.

    Args:
        join: where each row has one partner at most.
        where: what must hold of its rows.

    Returns:
        What of the kept side is enough, what must hold of a pair where it is not, and the other conditions; ``None``
        where there are no such ones. ``(b OR a) AND (b OR c)`` is ``b OR a AND c``, and ``(b OR a) AND (c OR a)`` is
        ``b AND c OR a``.
    """
    if not join.single or len(join.kept) != 1 or _values(join) > MOST_SPLIT:
        return None
    (side,) = join.kept
    kept, other = (rows.positions for rows in join.sides[:: 1 - 2 * side])
    alone: defaultdict[ORPred, list[ORPred]] = defaultdict(list)
    of: dict[ORPred, list[ORPred]] = defaultdict(list)
    for predicate in where:
        if not own_sources(predicate) <= kept | other:
            continue
        own = [x for x in predicate.literals if own_sources(or_pred([x])) <= kept]
        pairs = [x for x in predicate.literals if x not in own]
        compared = any(literal.operator is not Operator.IS_NOT_NULL for literal in pairs)
        if own and compared and rejects_nulls(or_pred(pairs), other):
            alone[or_pred(pairs)].append(or_pred(own))
            of[or_pred(pairs)].append(predicate)
    if not alone:
        return None
    enough = pred_set(next(iter(alone.values())))
    chosen = [pairs for pairs, own in alone.items() if pred_set(own) == enough]
    done = {predicate for pairs in chosen for predicate in of[pairs]}
    return enough, pred_set(chosen), pred_set(p for p in where if p not in done)


def branches(join: OuterJoin, enough: PredSet, pairs: PredSet, read: Collection[Column]) -> tuple[Rows, Rows]:
    """The rows that need no partner, and those that pass by it.

    Args:
        join, enough, pairs: see ``split``.
        read: the columns that are read of the rows.
    """
    (side,) = join.kept
    left, right = join.sides[:: 1 - 2 * side]
    first = left.and_(Rows((), enough))
    if any(column.source in right.positions for column in read):
        first = Rows((replace(join, sides=(first, right) if side == 0 else (right, first)),))
    others = normal_form(_is_not_true(predicates_expression(enough)))
    return first, _joined(left, right, conjunction(join.on.where, pairs)).and_(Rows((), others, join.on.window))


def _joined(left: Rows, right: Rows, on: PredSet) -> Rows:
    """Two sides joined, below the outer joins of the left one of whose other side the condition reads nothing."""
    match left:
        case Rows((OuterJoin(kept=kept) as join,)) if kept == {0} and not _reads(on, join.sides[1].positions):
            inner = _joined(join.sides[0], right, on)
            return replace(left, trees=(replace(join, sides=(inner, join.sides[1])),))
    return left.and_(right).and_(Rows((), on))


def _values(join: OuterJoin) -> int:
    """How many outer joins are within one, itself among them."""
    return 1 + sum(_values(tree) for rows in join.sides for tree in rows.trees if isinstance(tree, OuterJoin))


def _reads(predicates: PredSet, positions: Set[int]) -> bool:
    return any(column.source in positions for column in predicate_columns(predicates))


def conjunct_of(node: exp.Expr, b: ExpressionBinder) -> PredSet:
    """A conjunct of WHERE in normal form; with subqueries, of which some alternatives read none."""
    condition = b.condition(node)
    with_subqueries = any(map(is_subquery, node.walk()))
    return with_null_safe_keys(normal_form(case_as_alternatives(condition) if with_subqueries else condition))


def case_as_alternatives(condition: Expression) -> Expression:
    """A condition in which each CASE that must hold is an OR of its branches, of which some may read no subquery.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> a, b, c = (Column(name, BOOLEAN) for name in "abc")
        >>> text(case_as_alternatives(call("case", a, b, c)))
        'or(and(a, b), and(not((a <=> true)), c))'
    """
    match condition:
        case Call("and" | "or" as name, parts):
            return call(name, *map(case_as_alternatives, parts))
        case Call("case", parts):
            passed, alternatives = list[Expression](), list[Expression]()
            *whens, last = parts if len(parts) % 2 else (*parts, Constant(None, BOOLEAN))
            for test, value in zip(whens[::2], whens[1::2], strict=True):
                alternatives.append(call("and", *passed, test, case_as_alternatives(value)))
                passed.append(_is_not_true(test))
            return call("or", *alternatives, call("and", *passed, case_as_alternatives(last)))
    return condition


def _is_not_true(condition: Expression) -> Expression:
    return call("not", call("<=>", condition, Constant(True, BOOLEAN)))
