"""ASOF JOIN: of the rows of the right side that go with a row the one whose time is nearest, as a LATERAL subquery.

``t ASOF JOIN u ON t.k = u.k AND t.ts >= u.ts`` is a join with
``LATERAL (SELECT * FROM u WHERE t.k = u.k AND t.ts >= u.ts ORDER BY u.ts DESC LIMIT 1)``. Of rows of one time the first
one in the order of its columns is taken. USING has equalities, and ``>=`` of its last column.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.syntax.source_text import SourceText

_LATER = (exp.GT, exp.GTE)
_HINT = "write ON t.k = u.k AND t.ts >= u.ts, with the names of both tables"


def as_lateral(join: exp.Join, before: str, source: SourceText) -> exp.Join:
    """An ASOF join as a join with a subquery of one row at most.

    Args:
        join: it, with ON or USING.
        before: what the left side is called, which USING reads; "" of several items.
        source: the text.

    Raises:
        SqlError: ON is not one comparison of times and equalities.
        UnsupportedError: a RIGHT or FULL one, or USING after several items.
    """
    side, on = str(join.args.get("side") or ""), join.args.get("on")
    if names := join.args.get("using"):
        on = _of_names(join, names, before, source)
    if side not in ("", "LEFT"):
        source.refuse(f"ASOF {side} JOIN", join, "ASOF JOIN and ASOF LEFT JOIN are")
    source.refuse_others(join, {"this", "on", "using", "kind", "side", "method"}, "ASOF JOIN")
    tests = [test.unnest() for test in on.unnest().flatten()] if isinstance(on, exp.And) else [on]
    compared = [test for test in tests if isinstance(test, (*_LATER, exp.LT, exp.LTE))]
    if (
        on is None
        or len(compared) != 1
        or not all(isinstance(test, exp.EQ) for test in tests if test is not compared[0])
    ):
        raise source.error("ASOF JOIN needs equalities and one comparison of times", on or join, _HINT)
    (test,) = compared
    alias = join.this.alias_or_name
    right_is_first, right_is_second = (_is_of(part, alias) for part in (test.this, test.expression))
    if right_is_first == right_is_second:
        raise source.error(f"one side of the comparison is of {alias}, and the other is not", test, _HINT)
    newest = isinstance(test, _LATER) == right_is_second
    time = test.expression if right_is_second else test.this
    key = exp.Ordered(this=time.copy(), desc=newest, nulls_first=False)
    nearest = exp.select("*").from_(join.this.copy()).where(on.copy()).order_by(key).limit(1)
    named = exp.TableAlias(this=exp.to_identifier(alias))
    lateral = exp.Lateral(this=exp.Subquery(this=nearest), view=False, alias=named)
    return exp.Join(this=lateral, side=side, on=exp.true()) if side else exp.Join(this=lateral)


def _of_names(join: exp.Join, names: list[exp.Expr], before: str, source: SourceText) -> exp.Expr:
    """The condition of USING: equalities, and of the last name the comparison of times."""
    if not before:
        source.refuse("USING in an ASOF JOIN after several items", join, _HINT)
    sides = [(exp.column(n.name, before), exp.column(n.name, join.this.alias_or_name)) for n in names]
    tests = [exp.EQ(this=left, expression=right) for left, right in sides[:-1]]
    return exp.and_(*tests, exp.GTE(this=sides[-1][0], expression=sides[-1][1]))


def _is_of(part: exp.Expr, alias: str) -> bool:
    """Whether all columns of an expression are named with an alias."""
    tables = [column.table.lower() for column in part.find_all(exp.Column)]
    return bool(tables) and all(table == alias.lower() for table in tables)
