"""ASOF JOIN: of the rows of the right side that go with a row the one whose time is nearest, as a LATERAL subquery.

``t ASOF JOIN u ON t.k = u.k AND t.ts >= u.ts`` is a join with
``LATERAL (SELECT * FROM u WHERE t.k = u.k AND t.ts >= u.ts ORDER BY u.ts DESC LIMIT 1)``. Of rows of one time the first
one in the order of its columns is taken. USING has equalities, and ``>=`` of its last column.

Where rows of the right side are kept a row of it goes with those up to the time of the next: a RIGHT or FULL JOIN with
``(SELECT *, LEAD(ts) OVER (PARTITION BY k ORDER BY ts) AS next FROM u) ON t.k = u.k AND t.ts >= u.ts AND t.ts < next``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.syntax.source_text import SourceText

_LATER = (exp.GT, exp.GTE)
NEXT = "\x00next"
"""The column of the time of the next row, which no text names."""
_HINT = "write ON t.k = u.k AND t.ts >= u.ts, with the names of both tables"


def as_plain(join: exp.Join, before: str, source: SourceText) -> exp.Join:
    """An ASOF join as a join with a subquery of one row at most, or with rows that know the time of the next.

    Args:
        join: it, with ON or USING.
        before: what the left side is called, which USING reads; "" of several items.
        source: the text.

    Raises:
        SqlError: ON has not one comparison of times, or beside it more than equalities where rows of the right side
            are kept.
        UnsupportedError: USING after several items.
    """
    side, on = str(join.args.get("side") or ""), join.args.get("on")
    if names := join.args.get("using"):
        on = _of_names(join, names, before, source)
    source.refuse_others(join, {"this", "on", "using", "kind", "side", "method"}, "ASOF JOIN")
    tests = [test.unnest() for test in on.unnest().flatten()] if isinstance(on, exp.And) else [on]
    compared = [test for test in tests if isinstance(test, (*_LATER, exp.LT, exp.LTE))]
    plain = all(_is_key(test, join.this.alias_or_name) for test in tests if test not in compared)
    if on is None or len(compared) != 1 or (side in ("RIGHT", "FULL") and not plain):
        raise source.error("ASOF JOIN needs equalities and one comparison of times", on or join, _HINT)
    (test,) = compared
    alias = join.this.alias_or_name
    right_is_first, right_is_second = (_is_of(part, alias) for part in (test.this, test.expression))
    if right_is_first == right_is_second:
        raise source.error(f"one side of the comparison is of {alias}, and the other is not", test, _HINT)
    newest = isinstance(test, _LATER) == right_is_second
    time = test.expression if right_is_second else test.this
    if side in ("RIGHT", "FULL"):
        equal = [other for other in tests if isinstance(other, exp.EQ)]
        return _with_next(join, side, on, test, equal, time, newest)
    key = exp.Ordered(this=time.copy(), desc=newest, nulls_first=False)
    nearest = exp.select("*").from_(join.this.copy()).where(on.copy()).order_by(key).limit(1)
    named = exp.TableAlias(this=exp.to_identifier(alias))
    lateral = exp.Lateral(this=exp.Subquery(this=nearest), view=False, alias=named)
    return exp.Join(this=lateral, side=side, on=exp.true()) if side else exp.Join(this=lateral)


def _with_next(
    join: exp.Join, side: str, on: exp.Expr, test: exp.Expr, equal: Sequence[exp.Expr], time: exp.Expr, newest: bool
) -> exp.Join:
    """The join whose right side has the time of the next row in the direction of the comparison."""
    alias = join.this.alias_or_name
    keys = [part.copy() for t in equal for part in (t.this, t.expression) if _is_of(part, alias)]
    order = exp.Order(expressions=[exp.Ordered(this=time.copy(), desc=not newest, nulls_first=False)])
    following = exp.Window(this=exp.Lead(this=time.copy()), partition_by=keys, order=order)
    rows = exp.select("*", exp.alias_(following, NEXT, quoted=True)).from_(join.this.copy())
    named = exp.TableAlias(this=exp.to_identifier(alias))
    next_ = exp.column(NEXT, table=alias, quoted=True)
    other = test.expression if time is test.this else test.this
    # The time itself goes with the row before where the comparison leaves it out.
    strict = isinstance(test, (exp.GT, exp.LT))
    signs: dict[tuple[bool, bool], type[exp.Binary]]
    signs = {(True, False): exp.LT, (True, True): exp.LTE, (False, False): exp.GT, (False, True): exp.GTE}
    before = signs[newest, strict]
    last = exp.or_(exp.Is(this=next_, expression=exp.Null()), before(this=other.copy(), expression=next_.copy()))
    return exp.Join(this=exp.Subquery(this=rows, alias=named), side=side, on=exp.and_(on.copy(), last))


def _of_names(join: exp.Join, names: list[exp.Expr], before: str, source: SourceText) -> exp.Expr:
    """The condition of USING: equalities, and of the last name the comparison of times."""
    if not before:
        source.refuse("USING in an ASOF JOIN after several items", join, _HINT)
    sides = [(exp.column(n.name, before), exp.column(n.name, join.this.alias_or_name)) for n in names]
    tests = [exp.EQ(this=left, expression=right) for left, right in sides[:-1]]
    return exp.and_(*tests, exp.GTE(this=sides[-1][0], expression=sides[-1][1]))


def _is_key(test: exp.Expr | None, alias: str) -> bool:
    """Whether it is an equality of expressions of the two sides of the join."""
    if not isinstance(test, exp.EQ):
        return False
    tables = [{column.table.lower() for column in part.find_all(exp.Column)} for part in (test.this, test.expression)]
    return {alias.lower()} in tables and alias.lower() not in tables[tables[0] == {alias.lower()}]


def _is_of(part: exp.Expr, alias: str) -> bool:
    """Whether all columns of an expression are named with an alias."""
    tables = [column.table.lower() for column in part.find_all(exp.Column)]
    return bool(tables) and all(table == alias.lower() for table in tables)
