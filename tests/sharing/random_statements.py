"""Random statements over any streams and views, that overlap: each draws from a few conditions, values and links."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.sql.algebra.types import Kind
from workbench.sql.logical import LogicalQuery, output_columns
from workbench.sql.schema import Schema

Columns = Sequence[tuple[str, Kind]]
"""Columns as SQL texts, with their kinds."""

_ORDERS = ("<", "<=", ">", ">=")
_COMPARISONS = ("=", "=", "<>", "<=>", *_ORDERS)
_CONSTANTS: Mapping[Kind, tuple[str, ...]] = {
    Kind.BOOLEAN: ("TRUE", "FALSE"),
    Kind.INTEGER: ("0", "1", "2", "3", "-1", "4", "9223372036854775807", "-9223372036854775807"),
    Kind.DECIMAL: ("0.5", "1.00", "2.", "-0.01", "9999999.99"),
    Kind.DOUBLE: ("0.5e0", "0e0", "-0.5e0", "2e0", "1e308", "CAST('NaN' AS DOUBLE)"),
    Kind.STRING: ("'a'", "''", "'A'", "'ab'", "'é'", "'it''s'"),
    Kind.DATE: (
        "DATE '2002-01-01'",
        "DATE '2002-01-03'",
        "DATE '2002-01-05'",
        "DATE '9999-12-31'",
        "DATE '0001-01-01'",
    ),
    Kind.TIMESTAMP: ("TIMESTAMP '2002-01-01 01:00:00'", "TIMESTAMP '2002-01-04 00:00:00'"),
}
_MADE: Mapping[Kind, tuple[str, ...]] = {
    Kind.BOOLEAN: ("NOT {boolean}", "{integer} > {integer}", "{string} IS NULL", "COALESCE({boolean}, FALSE)"),
    Kind.INTEGER: (
        "{integer} + 1", "{integer} + {integer}", "{integer} - {integer}", "{integer} * 2", "-{integer}",
        "{integer} * {integer}",
        "ABS({integer})", "{integer} % 3", "{integer} DIV 2", "LENGTH({string})", "YEAR({date})", "{date} - {date}",
        "COALESCE({integer}, 0)", "CASE WHEN {integer} > 1 THEN {integer} ELSE 0 END", "CAST({decimal} AS BIGINT)",
        "user_f({integer})", "user_g({integer})", "NULLIF({integer}, 1)", "GREATEST({integer}, {integer})",
        "MONTH({timestamp})", "CAST({integer} AS BIGINT)",
    ),
    Kind.DECIMAL: (
        "{decimal} + 1", "{decimal} * 2", "{decimal} + {decimal}", "{integer} * 2.", "{integer} + 1.",
        "ROUND({decimal}, 1)", "CAST({integer} AS DECIMAL(12,2))", "{decimal} - {integer}", "-{decimal}",
        "{decimal} / 4", "{decimal} * {decimal}",
    ),
    Kind.DOUBLE: (
        "{double} * 2", "{double} + {double}", "{integer} / 2", "CAST({integer} AS DOUBLE)", "SQRT({double})",
        "{double} - 1",
    ),
    Kind.STRING: (
        "UPPER({string})", "LOWER({string})", "{string} || 'x'", "SUBSTR({string}, 1, 1)", "TRIM({string})",
        "CAST({integer} AS STRING)", "COALESCE({string}, 'a')", "{string} || {string}",
    ),
    Kind.DATE: (
        "{date} + 1", "{date} - 2", "LAST_DAY({date})", "TRUNC({date}, 'MONTH')", "CAST({timestamp} AS DATE)",
        "{date} + {integer}",
    ),
    Kind.TIMESTAMP: ("CAST({date} AS TIMESTAMP)", "DATE_TRUNC('HOUR', {timestamp})", "DATE_TRUNC('DAY', {timestamp})"),
}  # fmt: skip
_STATISTICS: Mapping[Kind, tuple[str, ...]] = {
    Kind.BOOLEAN: ("COUNT({})", "MAX({})"),
    Kind.INTEGER: (
        "SUM({})", "MIN({})", "MAX({})", "COUNT({})", "AVG({})", "COUNT(DISTINCT {})", "VAR_POP({})", "MEDIAN({})",
    ),
    Kind.DECIMAL: ("SUM({})", "MIN({})", "AVG({})", "COUNT({})"),
    Kind.DOUBLE: ("SUM({})", "MIN({})", "MAX({})", "AVG({})"),
    Kind.STRING: ("MIN({})", "MAX({})", "COUNT({})", "COUNT(DISTINCT {})", "MODE({})"),
    Kind.DATE: ("MIN({})", "MAX({})", "COUNT({})"),
    Kind.TIMESTAMP: ("MIN({})", "MAX({})"),
}  # fmt: skip
_SETS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
_JOINS = ("JOIN", "JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_TITLES = ("k", "a", "n", "c1", "c2", "s", "amount_2", "two words", "x_1")
_LIKE_EXPRESSIONS = ("upper(s)", "(k + 1)", "count(*)")
_COLUMN = r"(?<=\.)`[^`]+`"
_CHANGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?<![\w.'`-])\d+(?![\w.'`-])", ("0", "1", "2", "3", "&.", "&e0", "9223372036854775807")),
    (r"(?<= )(<|<=|>|>=|=|<>)(?= )", ("<", "<=", ">", ">=", "=", "<>")),
    (r"(?<= )(AND|OR)(?= )", ("AND", "OR")),
    (r"(SUM|MIN|MAX|COUNT|AVG)(?=\()", ("SUM", "MIN", "MAX", "COUNT", "AVG", "COUNT")),
    (r"(UNION|INTERSECT|EXCEPT)( ALL)?", _SETS),
    (r"IS NULL", ("IS NOT NULL",)),
    (r"SELECT (?!DISTINCT)", ("SELECT DISTINCT ",)),
    (r"(?<= )[-+*](?= )", ("+", "-", "*")),
    (r"'a'|'A'|'ab'", ("'a'", "'A'", "'ab'")),
    (_COLUMN, ()),
    (_COLUMN, ()),
)
"""What in a statement may be changed to what; ``&`` is what stands there."""
_HERE = "\x00"
"""Stands in a template for the alias."""


@dataclass
class Statements:
    """Writes statements over what is in a schema.

    Args:
        chosen: the source of chance.
        schema: streams and views; ``add_view`` adds more.
        expressions: whether columns of views may be called like expressions.
        windows: whether times are compared with now.
        focused: whether statements are of one kind, over one or two streams, with few conditions: those share most.
    """

    chosen: random.Random
    schema: Schema
    expressions: bool = True
    windows: bool = True
    focused: bool = False
    _templates: dict[tuple[object, ...], list[str]] = field(default_factory=dict)
    _sources: list[tuple[str, Columns]] = field(default_factory=list)
    _written: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, columns in self.schema.streams.items():
            self._sources.append((name, [(_quoted(c), type_.kind) for c, type_ in columns]))
        # Few kinds of statements in one sequence, so that many of one kind meet.
        kinds = (self._select, self._joined, self._joined, self._joined, self._grouped, self._grouped, self._distinct,
                 self._set_operation, self._set_operation, self._first, self._ranked, self._subquery,
                 self._subquery)  # fmt: skip
        number = 1 if self.focused else self._pick((1, 2, 4))
        self._kinds: list[Callable[[], str]] = [self._pick(kinds) for _ in range(number)]
        if self.focused:
            self._sources = self.chosen.sample(self._sources, self._pick((1, 1, 2)))
        self._operators = self.chosen.sample(_SETS, self._pick((1, 2, 6)))

    def add_view(self, name: str, query: LogicalQuery) -> None:
        """From now on statements also read a view."""
        columns = [(_quoted(c.lower()), type_.kind) for c, type_ in output_columns(query)]
        self._sources = [(n, c) for n, c in self._sources if n != name] + [(name, columns)]

    def remove_view(self, name: str) -> None:
        """From now on no statement reads a view."""
        self._sources = [(n, c) for n, c in self._sources if n != name]

    def statement(self) -> str:
        """A new statement, or one of those before with something changed."""
        if self._written and self.chosen.random() < 0.4:
            made = self._changed(self._pick(self._written))
        else:
            made = self._pick(self._kinds)()
        self._written.append(made)
        return made

    def _changed(self, sql: str) -> str:
        """A statement that differs a little: such ones share most, and are the easiest to take for each other."""
        pattern, others = self._pick(_CHANGES)
        found = list(re.finditer(pattern, sql))
        if not found:
            return sql
        place = self._pick(found)
        if pattern == _COLUMN:
            others = tuple(name for _, columns in self._sources for name, _ in columns)
        by = self._pick(others).replace("&", place[0])
        return sql[: place.start()] + by + sql[place.end() :]

    # -- statements --------------------------------------------------------------------------------------------------

    def _select(self) -> str:
        source, columns = self._source()
        where = self._conditions(source, columns, "t", 3)
        return f"SELECT {self._outputs(source, columns, 't')} FROM {source} t{_where(where)}"

    def _joined(self, grouped: bool = False) -> str:
        from_, where, source, columns, alias = self._from()
        if grouped or self.chosen.random() < 0.2:
            return self._grouping(from_, where, source, columns, alias)
        return f"SELECT {self._outputs(source, columns, alias)} FROM {from_}{_where(where)}"

    def _grouped(self) -> str:
        if self.chosen.random() < 0.15:
            return self._joined(grouped=True)
        source, columns = self._source()
        where = self._conditions(source, columns, "t", 1)
        return self._grouping(f"{source} t", where, source, columns, "t")

    def _grouping(self, from_: str, where: Sequence[str], source: str, columns: Columns, alias: str) -> str:
        groups = [self._value(source, columns, alias, "group") for _ in range(self._pick((0, 1, 1, 2, 2, 3)))]
        statistics = [self._statistic(source, columns, alias) for _ in range(self._pick((1, 1, 2)))]
        having = [f"COUNT(*) > {self._pick('012')}"] if self.chosen.random() < 0.3 else []
        if self.chosen.random() < 0.1:
            having.append(f"{self._statistic(source, columns, alias)} IS NOT NULL")
        by = f" GROUP BY {', '.join(groups)}" if groups else ""
        some = f" HAVING {' AND '.join(having)}" if having else ""
        return f"SELECT {self._titled([*groups, *statistics])} FROM {from_}{_where(where)}{by}{some}"

    def _distinct(self) -> str:
        source, columns = self._source()
        values = [self._value(source, columns, "t", "group") for _ in range(self._pick((1, 1, 2, 3)))]
        where = self._conditions(source, columns, "t", 1)
        return f"SELECT DISTINCT {self._titled(values)} FROM {source} t{_where(where)}"

    def _set_operation(self) -> str:
        def some() -> str:
            have = [kind for _, kind in self._source()[1]]
            return ",".join(self._pick(have) for _ in range(self._pick((1, 2, 2))))

        kinds = self._recalled(("kinds",), some, 2)
        branches = [self._branch([Kind(k) for k in kinds.split(",")]) for _ in range(self._pick((2, 2, 3, 4)))]
        operator = self._pick(self._operators)
        if len(branches) > 2 and self.chosen.random() < 0.2:
            return f"{branches[0]} {operator} ({f' {self._pick(self._operators)} '.join(branches[1:])})"
        return f" {operator} ".join(branches)

    def _first(self) -> str:
        """The first rows of a statement, in the order of all of its columns: which ones they are is told by SQL."""
        made = self._pick((self._select, self._joined, self._grouped, self._distinct))()
        order = f"ORDER BY {self._pick(('ALL', 'ALL DESC', 'ALL DESC NULLS FIRST'))}"
        return f"{made} {order} LIMIT {self._pick('0123')}{self._pick(('', '', ' OFFSET 1'))}"

    def _ranked(self) -> str:
        """Rows that are the first of their partition, or all with their ranks."""
        source, columns = self._source()
        where = self._conditions(source, columns, "t", 2)
        by = [self._value(source, columns, "t", "group") for _ in range(self._pick((0, 1, 1)))]
        order = [f"t.{text}{self._pick(('', ' DESC', ' NULLS LAST'))}" for text, _ in self._shuffled(columns)]
        rank = self._pick(("ROW_NUMBER", "RANK", "DENSE_RANK"))
        few = order if rank == "ROW_NUMBER" else order[:1]
        partition = f"PARTITION BY {by[0]} " if by else ""
        over = f"{rank}() OVER ({partition}ORDER BY {', '.join(few)})"
        rows = f"{source} t{_where(where)}"
        if self.chosen.random() < 0.4:
            return f"SELECT {self._outputs(source, columns, 't')} FROM {rows} QUALIFY {over} <= {self._pick('123')}"
        values = [self._value(source, columns, "t", "output") for _ in range(2)]
        return f"SELECT {self._titled([*values, over])} FROM {rows}"

    def _subquery(self) -> str:
        """Rows, or groups of them, for which a subquery finds some, none, or a value."""
        source, columns = self._source()
        where = self._conditions(source, columns, "t", 1)
        where += [self._found(source, columns) for _ in range(self._pick((1, 1, 2)))]
        if self.chosen.random() < 0.25:
            return self._grouping(f"{source} t", where, source, columns, "t")
        return f"SELECT {self._outputs(source, columns, 't')} FROM {source} t{_where(where)}"

    def _found(self, source: str, columns: Columns) -> str:
        """A condition with a subquery: on its own, or on the outer row."""
        other, others = self._source()
        inner = self._conditions(other, others, "p", 1)
        if self.chosen.random() < 0.6:
            inner.append(self._link((source, columns, source), "t", (other, others, other), "p"))
        rows = f"FROM {other} p{_where(inner)}"
        kinds = sorted({kind for _, kind in columns} & {kind for _, kind in others})
        if not kinds or self.chosen.random() < 0.4:
            return f"{self._pick(('', 'NOT '))}EXISTS (SELECT 1 {rows})"
        kind = self._pick(kinds)
        left = f"t.{self._pick([text for text, k in columns if k is kind])}"
        right = f"p.{self._pick([text for text, k in others if k is kind])}"
        chance = self.chosen.random()
        if chance < 0.7:
            return f"{left} {self._pick(('', 'NOT '))}IN (SELECT {right} {rows})"
        if chance < 0.8:
            return f"({left} IN (SELECT {right} {rows}) OR {self._condition(source, columns, 't')})"
        return f"{left} {self._pick(_COMPARISONS)} (SELECT {self._pick(('MIN', 'MAX'))}({right}) {rows})"

    def _shuffled(self, columns: Columns) -> list[tuple[str, Kind]]:
        return self.chosen.sample(list(columns), len(columns))

    def _branch(self, kinds: Sequence[Kind]) -> str:
        """Some values of few rows: branches of the same rows may have other columns, or the same in another order."""
        split = "\x02"

        def rows() -> str:
            source, columns = self._source()
            return f"{source}{split} FROM {source} t{_where(self._conditions(source, columns, 't', 1))}"

        source, from_ = self._recalled(("rows",), rows, 5).split(split)
        columns = dict(self._sources).get(source, ())
        values = [
            self._recalled(("value", source, kind), lambda k=kind: self._of_kind(k, columns, "t", 0.8), 4)  # type: ignore[misc]
            for kind in kinds
        ]
        return f"SELECT {', '.join(f'{v} AS c{i}' for i, v in enumerate(values))}{from_}"

    # -- FROM --------------------------------------------------------------------------------------------------------

    def _source(self) -> tuple[str, Columns]:
        return self._pick(self._sources)

    def _input(self) -> tuple[str, Columns, str]:
        """Something to join: a stream, a view, or a query in parentheses; its name, columns and text."""
        source, columns = self._source()
        if self.chosen.random() > (0.02 if self.focused else 0.15):
            return source, columns, source
        group = self._value(source, columns, "t", "group")
        kind = next((k for text, k in columns if group == f"t.{text}"), None)
        if kind is None:
            return source, columns, source
        if self.chosen.random() < 0.3:
            return f"distinct {source} {group}", [("g", kind)], f"(SELECT DISTINCT {group} AS g FROM {source} t)"
        text = f"(SELECT {group} AS g, COUNT(*) AS n FROM {source} t GROUP BY {group})"
        return f"groups {source} {group}", [("g", kind), ("n", Kind.INTEGER)], text

    def _from(self) -> tuple[str, list[str], str, Columns, str]:
        """FROM and WHERE of a join of two to four inputs, and one of these."""
        number = self._pick((2, 2, 2, 2, 3, 3, 3, 4))
        aliases = self.chosen.sample(("a", "b", "c", "y", "w"), number)
        inputs = [self._input() for _ in aliases]
        if self.chosen.random() < 0.3:
            inputs[-1] = inputs[0]
        where = [
            c for (s, cols, _), alias in zip(inputs, aliases, strict=True) for c in self._conditions(s, cols, alias, 1)
        ]
        text = f"{inputs[0][2]} {aliases[0]}"
        for i in range(1, number):
            other = self.chosen.randrange(i)
            links = [
                self._link(inputs[other], aliases[other], inputs[i], aliases[i]) for _ in range(self._pick((1, 1, 2)))
            ]
            if self.chosen.random() < 0.8:
                how = self._pick(_JOINS)
                text += f" {how} {inputs[i][2]} {aliases[i]} ON {' AND '.join(links)}"
            else:
                text += f", {inputs[i][2]} {aliases[i]}"
                where += links
        if self.chosen.random() < 0.15:
            one, other = self.chosen.sample(range(number), 2)
            tests = [self._condition(inputs[i][0], inputs[i][1], aliases[i]) for i in (one, other)]
            where.append(f"({' OR '.join(tests)})")
        self.chosen.shuffle(where)
        shown = self.chosen.randrange(number)
        return text, where, inputs[shown][0], inputs[shown][1], aliases[shown]

    def _link(self, one: tuple[str, Columns, str], alias: str, other: tuple[str, Columns, str], its: str) -> str:
        """What ties two inputs."""
        mark = "\x01"

        def made() -> str:
            kinds = [k for k in {kind for _, kind in one[1]} if k in {kind for _, kind in other[1]}]
            if not kinds:
                return "1 = 1"
            kind = self._pick(sorted(kinds))
            left = self._pick([text for text, k in one[1] if k is kind])
            right = self._pick([text for text, k in other[1] if k is kind])
            left, right = f"{_HERE}.{left}", f"{mark}.{right}"
            chance = self.chosen.random()
            if chance < 0.6:
                return f"{left} = {right}"
            if chance < 0.7 and kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DATE):
                return f"{left} {self._pick(('=', *_ORDERS))} {right} + {self._pick('12')}"
            if chance < 0.75 and kind in (Kind.INTEGER, Kind.DATE):
                return f"{left} BETWEEN {right} - 1 AND {right} + 2"
            if chance < 0.8 and kind is Kind.INTEGER:
                return f"{left} + {right} > 2"
            if chance < 0.9:
                return f"({left} = {right} OR {left} IS NULL)"
            return f"{left} {self._pick(_COMPARISONS)} {right}"

        template = self._recalled(("link", one[0], other[0]), made, 2)
        return template.replace(_HERE, alias).replace(mark, its)

    # -- values and conditions -----------------------------------------------------------------------------------------

    def _outputs(self, source: str, columns: Columns, alias: str) -> str:
        if self.chosen.random() < 0.1:
            return f"{alias}.*"
        return self._titled([self._value(source, columns, alias, "output") for _ in range(self._pick((1, 2, 3)))])

    def _titled(self, values: Sequence[str]) -> str:
        titles = [*_TITLES, *(_LIKE_EXPRESSIONS if self.expressions else ())]
        names = (
            self.chosen.sample(titles, len(values))
            if self.chosen.random() < 0.3
            else [f"o{i}" for i in range(len(values))]
        )
        return ", ".join(f"{value} AS {_quoted(name)}" for value, name in zip(values, names, strict=True))

    def _statistic(self, source: str, columns: Columns, alias: str) -> str:
        def made() -> str:
            if self.chosen.random() < 0.25:
                return "COUNT(*)"
            kind = self._pick(columns)[1]
            return self._pick(_STATISTICS[kind]).format(self._of_kind(kind, columns, _HERE, 0.8))

        return self._recalled(("statistic", source), made, 4).replace(_HERE, alias)

    def _value(self, source: str, columns: Columns, alias: str, use: str) -> str:
        def made() -> str:
            return self._of_kind(self._pick(columns)[1], columns, _HERE, 0.9 if self.focused else 0.6)

        return self._recalled((use, source), made, 4).replace(_HERE, alias)

    def _conditions(self, source: str, columns: Columns, alias: str, most: int) -> list[str]:
        found = [self._condition(source, columns, alias) for _ in range(self.chosen.randint(0, most))]
        time = self.schema.times.get(source)
        if self.windows and time is not None and self.chosen.random() < 0.15:
            kind = next(kind for text, kind in columns if text == _quoted(time))
            ends = (f"now() - {self._pick('123')}",) if kind is Kind.DATE else (
                "now() - INTERVAL '30' HOUR", "DATE_TRUNC('HOUR', now()) - INTERVAL '26' HOUR")  # fmt: skip
            found.append(f"{alias}.{_quoted(time)} {self._pick(('>', '>='))} {self._pick(ends)}")
        return found

    def _condition(self, source: str, columns: Columns, alias: str) -> str:
        return self._recalled(("condition", source), lambda: self._tested(columns, 0), 5).replace(_HERE, alias)

    def _tested(self, columns: Columns, depth: int) -> str:
        if self.focused and self.chosen.random() < 0.6:
            text, kind = self._pick(columns)
            return f"{_HERE}.{text} {self._pick(('=', *_ORDERS))} {self._pick(_CONSTANTS[kind][:4])}"
        chance = self.chosen.random()
        if chance < 0.25 and depth < 2:
            parts = [self._tested(columns, depth + 1) for _ in range(2)]
            return f"({self._pick((' AND ', ' OR ', ' OR ')).join(parts)})"
        if chance < 0.32 and depth < 2:
            return f"NOT ({self._tested(columns, depth + 1)})"
        kind = self._pick(columns)[1]
        left = self._of_kind(kind, columns, _HERE, 0.7)
        if kind is Kind.BOOLEAN and self.chosen.random() < 0.5:
            return left
        if chance < 0.4:
            return f"{left} IS {self._pick(('', 'NOT '))}NULL"
        if chance < 0.5 and kind is Kind.STRING:
            return f"{left} {self._pick(('', 'NOT '))}LIKE '{self._pick(('a%', '%', '_', '%b'))}'"
        constants = _CONSTANTS[kind]
        if chance < 0.6 and kind is not Kind.BOOLEAN:
            return f"{left} {self._pick(('', '', 'NOT '))}BETWEEN {self._pick(constants)} AND {self._pick(constants)}"
        if chance < 0.7:
            return f"{left} {self._pick(('', '', 'NOT '))}IN ({', '.join(self.chosen.sample(constants, 2))})"
        numeric = kind in (Kind.INTEGER, Kind.DECIMAL)
        right = self._of_kind(self._pick((Kind.INTEGER, Kind.DECIMAL)) if numeric else kind, columns, _HERE, 0.3)
        return f"{left} {self._pick(_COMPARISONS)} {right if self.chosen.random() < 0.3 else self._pick(constants)}"

    def _of_kind(self, kind: Kind, columns: Columns, alias: str, plainly: float = 0.5, depth: int = 0) -> str:
        """A value of a kind: a column (with that probability, where there is one), a constant, or computed."""
        own = [text for text, k in columns if k is kind]
        if own and (depth > 1 or self.chosen.random() < plainly):
            return f"{alias}.{self._pick(own)}"
        if depth > 1 or self.chosen.random() < 0.1:
            return self._pick(_CONSTANTS[kind])
        have = {k for _, k in columns}
        fit = [m for m in _MADE[kind] if all(f"{{{k}}}" not in m for k in Kind if k not in have)]
        if not fit:
            return f"{alias}.{self._pick(own)}" if own else self._pick(_CONSTANTS[kind])
        made = self._pick(fit)
        for k in Kind:
            while f"{{{k}}}" in made:
                made = made.replace(f"{{{k}}}", self._of_kind(k, columns, alias, 0.85, depth + 1), 1)
        return f"({made})" if depth else made

    # -- chance --------------------------------------------------------------------------------------------------------

    def _pick(self, choices: Sequence):  # type: ignore[type-arg, no-untyped-def]
        return self.chosen.choice(choices)

    def _recalled(self, key: tuple[object, ...], make: Callable[[], str], most: int) -> str:
        """One of the few texts that this sequence has for something; statements that share must overlap."""
        most = max(1, most - 2) if self.focused else most
        known = self._templates.setdefault(key, [])
        if (len(known) < most and self.chosen.random() < 0.7) or not known:
            known.append(make())
            return known[-1]
        return self._pick(known)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
