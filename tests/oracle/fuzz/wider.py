"""Random questions that take rows back: outer joins, subqueries, first rows, analytic functions, grouping sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from oracle.fuzz.expressions import Expr, comparable, compared
from oracle.fuzz.names import written
from oracle.fuzz.parts import Field, Part
from oracle.fuzz.questions import Question, QuestionWriter

from workbench.sql.algebra.types import BOOLEAN, INTEGER

_JOINS = {"LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL", "LEFT SEMI": "SEMI", "LEFT ANTI": "ANTI"}
"""Joins, and how DuckDB calls them."""
_ORDERS = ("NULLS FIRST", "NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")
_SETS = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")
_FUNCTIONS = ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "COUNT(*)", "COUNT({})", "MIN({})", "MAX({})")


class WiderWriter(QuestionWriter):
    """Writes such questions beside those of ``QuestionWriter``, in the words of Spark."""

    def question(self) -> Question:
        """A random question."""
        if self.chosen.random() < 0.5:
            return super().question()
        self.dialect = "spark"
        kinds: tuple[Callable[[], Question], ...] = (
            self._outer, self._outer, self._filtered, self._filtered, self._filtered, self._first, self._analytic,
            self._analytic, self._grouping_sets)  # fmt: skip
        return self.chosen.choice(kinds)()

    def _outer(self) -> Question:
        """A join that keeps rows without a partner, or keeps only those; sometimes counted."""
        one, other, join = self._one("a", 0), self._one("b", 1), self.chosen.choice(list(_JOINS))
        pairs = _pairs(one, other)
        if not pairs:
            return self._outputs(one, False)
        links = [self.chosen.choice(pairs) for _ in range(self.chosen.choice((1, 1, 2)))]
        tests = [self._writer(one).comparison(*link, "=") for link in links]
        if join != "FULL" and self.chosen.random() < 0.3:
            tests.append(self._writer(other).condition(1))
        on = [" AND ".join(said) for said in zip(*((t.text, f"({t.duck})") for t in tests), strict=True)]
        froms = (
            f"{one.from_[0]} {join} JOIN {other.from_[0]} ON {on[0]}",
            f"{one.from_[1]} {_JOINS[join]} JOIN {other.from_[1]} ON {on[1]}",
        )
        readable = one.readable if join in ("LEFT SEMI", "LEFT ANTI") else (*one.readable, *other.readable)
        made = Part(froms, ("", ""), readable, (*one.sources, *other.sources))
        if self.chosen.random() < 0.3:
            made = _also(made, self._writer(made).condition(1))
        return self._counted(made) if self.chosen.random() < 0.3 else self._outputs(made, False)

    def _filtered(self) -> Question:
        """Rows that a subquery tests, which often reads the rows around it."""
        part = self._one("a", 0)
        test, inner = self._test(part)
        part = replace(_also(part, test), sources=(*part.sources, *inner.sources))
        if self.chosen.random() < 0.3:
            part = _also(part, self._writer(part).condition(1))
        return self._counted(part) if self.chosen.random() < 0.3 else self._outputs(part, False)

    def _test(self, outer: Part) -> tuple[Expr, Part]:
        """IN, EXISTS or a comparison with the largest value, each of a subquery; and the subquery's FROM."""
        inner = self._one("q", 1)
        writer, pairs = self._writer(inner), [p for p in _pairs(outer, inner) if p[0].type == p[1].type]
        if self.chosen.random() < 0.5:
            inner = _also(inner, writer.condition(1))
        if pairs and self.chosen.random() < 0.5:
            inner = _also(inner, writer.comparison(*self.chosen.choice(pairs), self.chosen.choice(("=", "=", "<"))))
        no, form = self.chosen.choice(("", "NOT ")), self.chosen.randrange(4)
        if form == 0 or not pairs:
            return Expr(f"{no}EXISTS (SELECT 1{inner.text})", f"{no}EXISTS (SELECT 1{inner.duck})", BOOLEAN), inner
        left, right = self.chosen.choice(pairs)
        if form == 1:
            a, b = compared(left, right)
            operator = self.chosen.choice(("=", "<", ">=", "<>"))
            most = self.chosen.choice(("MIN", "MAX"))
            # What is compared in DuckDB is cast alike on both sides, and a cast does not change which is largest.
            text = f"{left.text} {operator} (SELECT {most}({right.text}){inner.text})"
            return Expr(text, f"{a} {operator} (SELECT {most}({b}){inner.duck})", BOOLEAN), inner
        chosen = [self.chosen.choice(pairs) for _ in range(form - 1)]
        lefts, rights = (", ".join(pair[side].text for pair in chosen) for side in (0, 1))
        text = f"{f'({lefts})' if len(chosen) > 1 else lefts} {no}IN (SELECT {rights}{inner.text})"
        # DuckDB takes NULLs in rows for equal, so it is asked for what IN means.
        same = " AND ".join(f"{a} = {b}" for a, b in (compared(*pair) for pair in chosen))
        meant = _also(inner, Expr("", f"({same}) IS NOT FALSE" if no else same, BOOLEAN))
        return Expr(text, f"{no}EXISTS (SELECT 1{meant.duck})", BOOLEAN), inner

    def _first(self) -> Question:
        """The first rows in an order of all that is shown, since SQL leaves open which peers these are."""
        part = self._some()
        values = [self.chosen.choice(part.readable) for _ in range(self.chosen.randint(1, 3))]
        fields = self._named(values)
        places = self.chosen.sample(range(1, len(values) + 1), len(values))
        order = ", ".join(f"{place} {self.chosen.choice(_ORDERS)}" for place in places)
        last = f" ORDER BY {order} LIMIT {self.chosen.choice((1, 2, 5))}{self.chosen.choice(('', '', ' OFFSET 1'))}"
        sql = f"SELECT {self._list(values, fields)}{part.text}{last}"
        duck = f"SELECT {', '.join(f'{v.duck} AS c{i}' for i, v in enumerate(values))}{part.duck}{last}"
        return self._made(sql, duck, fields, part, True)

    def _analytic(self) -> Question:
        """An analytic function that is the same for peers, or of an order without any; sometimes in QUALIFY."""
        part = self._some()
        keys = [self.chosen.choice(part.readable) for _ in range(self.chosen.choice((1, 1, 2)))]
        function = self.chosen.choice(_FUNCTIONS)
        shown = [self.chosen.choice(part.readable) for _ in range(self.chosen.choice((1, 2)))]
        if function == "ROW_NUMBER()":
            keys = [*keys, *(f for f in shown if f not in keys)]
        argument, orders = self.chosen.choice(part.readable), [self.chosen.choice(_ORDERS) for _ in keys]
        parted = [self.chosen.choice(part.readable)] if self.chosen.random() < 0.7 else []
        said = []
        for side in ("text", "duck"):
            by = f"PARTITION BY {getattr(parted[0], side)} " if parted else ""
            order = ", ".join(f"{getattr(k, side)} {o}" for k, o in zip(keys, orders, strict=True))
            said.append(f"{function.format(getattr(argument, side))} OVER ({by}ORDER BY {order})")
        made = Expr(said[0], said[1], argument.type if function[:3] in ("MIN", "MAX") else INTEGER, argument.tame)
        if made.type == INTEGER and self.chosen.random() < 0.5:
            fields = self._named(shown)
            rest = [f" QUALIFY {side} <= 2" for side in said]
            values = shown
        else:
            values, rest = [*shown, made], ["", ""]
            fields = self._named(values)
        sql = f"SELECT {self._list(values, fields)}{part.text}{rest[0]}"
        duck = f"SELECT {', '.join(f'{v.duck} AS c{i}' for i, v in enumerate(values))}{part.duck}{rest[1]}"
        return self._made(sql, duck, fields, part, True)

    def _grouping_sets(self) -> Question:
        part = self._some()
        keys = self.chosen.sample(part.readable, min(len(part.readable), self.chosen.choice((1, 2, 2))))
        count = Expr("COUNT(*)", "COUNT(*)", INTEGER)
        fields, sets = self._named([*keys, count]), self.chosen.choice(_SETS)
        by = sets.format(", ".join(k.text for k in keys))
        sql = f"SELECT {self._list([*keys, count], fields)}{part.text} GROUP BY {by}"
        inner = f"SELECT {', '.join(f'{k.duck} AS g{i}' for i, k in enumerate(keys))}{part.duck}"
        names = ", ".join(f"g{i}" for i in range(len(keys)))
        shown = ", ".join(f"g{i} AS c{i}" for i in range(len(keys)))
        duck = f"SELECT {shown}, COUNT(*) AS c{len(keys)} FROM ({inner}) GROUP BY {sets.format(names)}"
        duck += " HAVING COUNT(*) > 0"  # in Spark the total has no row of no rows, as one of several groupings
        return self._made(sql, duck, fields, part, True)

    # -- what they are made of -----------------------------------------------------------------------------------

    def _some(self) -> Part:
        """FROM one input, mostly with a condition."""
        part = self._one("a", 0)
        return _also(part, self._writer(part).condition(1)) if self.chosen.random() < 0.6 else part

    def _one(self, alias: str, place: int) -> Part:
        """FROM one input, its columns always under its alias, so that a subquery can read them."""
        source = self.source()
        readable = tuple(self._column(alias, place, field) for field in source.fields)
        spoken = written(self.chosen, str(source.name), self.dialect)
        return Part((f"{spoken} {alias}", f"{source.duck} f{place}"), ("", ""), readable, (source,))

    def _column(self, alias: str, place: int, field: Field) -> Expr:
        duck = f"f{place}.{field.duck}"
        wide = f"CAST({duck} AS HUGEINT)" if field.type == INTEGER else None
        text = f"{alias}.{written(self.chosen, field.name, self.dialect)}"
        return Expr(text, duck, field.type, field.tame, wide, field.flavour, field.exact)


def _pairs(one: Part, other: Part) -> list[tuple[Expr, Expr]]:
    """Columns of two inputs that can be compared."""
    return [(a, b) for a in one.readable for b in other.readable if comparable(a, b)]


def _also(part: Part, condition: Expr) -> Part:
    """The rows that satisfy one more condition."""
    said = (f"({condition.text})", f"({condition.duck})")
    where = tuple(" AND ".join(filter(None, both)) for both in zip(part.where, said, strict=True))
    return replace(part, where=(where[0], where[1]))
