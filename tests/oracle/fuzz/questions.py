"""Random questions: the text that is registered, and the text that DuckDB is asked, over the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from oracle.fuzz.expressions import Expr, alike, constant
from oracle.fuzz.names import HOSTILE_COLUMNS, PLAIN_COLUMNS, pick, quoted, written
from oracle.fuzz.parts import Field, Part, PartWriter, Source
from oracle.fuzz.statistics import condition_on_group, statistic
from oracle.fuzz.values import ValueWriter

from workbench.sql.algebra.types import BOOLEAN, DATE, INTEGER, TIMESTAMP, DataType

_SETS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
_DIALECTS = ("databricks", "hive", "postgres", "duckdb", "trino", "oracle")
_COUNT = Expr("COUNT(*)", "COUNT(*)", INTEGER)


@dataclass(frozen=True)
class Question:
    """A query and the same question for DuckDB.

    Attributes:
        sql, dialect: as registered.
        duck: for DuckDB.
        fields: the columns of the answer.
        uses: the names in FROM, which must mean what they meant when the question was written.
        calls: the functions of the analyst it calls, under their names in DuckDB.
        times: see ``Source``.
        moves: whether its answer depends on now.
        views: names that its text defines besides.
        exact: whether both sides have its answer to the last bit.
    """

    sql: str
    duck: str
    dialect: str
    fields: tuple[Field, ...]
    uses: frozenset[str]
    calls: frozenset[str] = frozenset()
    times: tuple[tuple[str, DataType], ...] = ()
    moves: bool = False
    views: tuple[str, ...] = ()
    exact: bool = True

    def source(self, name: str) -> Source:
        """The question under a name, for FROM of others."""
        return Source(name, f"({self.duck})", self.fields, times=self.times)


@dataclass
class QuestionWriter(PartWriter):
    """Writes questions over what there is; see ``PartWriter``.

    Args:
        hostile: the share of hostile names among the aliases.
        windows: whether to write windows.
    """

    hostile: float = 0.0
    windows: bool = True

    def question(self) -> Question:
        """A random question."""
        self.dialect = self.chosen.choice(_DIALECTS) if self.chosen.random() < 0.2 else "spark"
        if self.windows and self.spark and self.chosen.random() < 0.15:
            timed = [s for s in self.sources.values() if s.time is not None]
            if timed:
                return self._windowed(self.chosen.choice(timed))
        kinds = (self._select, self._select, self._joined, self._joined, self._grouped, self._grouped, self._set,
                 self._over_subquery)  # fmt: skip
        return self.chosen.choice(kinds)(exact=False)

    def exact_question(self) -> Question:
        """A question whose answer both sides have to the last bit, so that others can be asked over it."""
        return self._exact(self.chosen.choice((self._select, self._joined, self._grouped, self._set)))

    def with_view(self) -> Question:
        """A text that creates a view and selects from it."""
        self.dialect = "spark"
        inner = self.exact_question()
        name = pick(self.chosen, ("w1", "w2", "w3"), ("view", "my view", "w.1", "w`1"), self.hostile, set(self.sources))
        outer = replace(self, sources={name: inner.source(name)})
        selected = self.chosen.choice((outer._select, outer._grouped))(exact=False)
        sql = f"CREATE VIEW {quoted(name, self.dialect)} AS {inner.sql}; {selected.sql}"
        return replace(selected, sql=sql, uses=inner.uses, times=inner.times, views=(name,))

    # -- kinds of questions --------------------------------------------------------------------------------------

    def _select(self, exact: bool) -> Question:
        return self._outputs(self.part([self.source()]), exact)

    def _joined(self, exact: bool) -> Question:
        return self._outputs(self.part([self.source() for _ in range(self.chosen.choice((2, 2, 2, 3)))]), exact)

    def _outputs(self, part: Part, exact: bool) -> Question:
        """SELECT of some expressions, sometimes DISTINCT or everything."""
        if len(part.sources) == 1 and part.sources[0].name is not None and self.chosen.random() < 0.1:
            fields = tuple(replace(f, name=f.name.lower(), duck=f"c{i}") for i, f in enumerate(part.sources[0].fields))
            return self._made(f"SELECT *{part.text}", f"SELECT {_ducks(part.readable)}{part.duck}", fields, part, True)
        writer, distinct, values = self._writer(part), self.chosen.random() < 0.25, []
        for tried in count():
            if len(values) >= self.chosen.randint(1, 3):
                break
            value = writer.any_value(2) if tried < 50 else self._null_test(part)
            if value.exact or not (distinct or exact):
                values.append(value)
        if self.chosen.random() < 0.2:
            values.append(writer.value(writer.condition(0).type, 2))
        word = "SELECT DISTINCT" if distinct else "SELECT"
        fields = self._named(values)
        sql = f"{word} {self._list(values, fields)}{part.text}"
        everything = all(v.exact for v in values)
        return self._made(sql, f"{word} {_ducks(values)}{part.duck}", fields, part, everything)

    def _grouped(self, exact: bool) -> Question:
        part = self.part([self.source() for _ in range(self.chosen.choice((1, 1, 1, 2)))])
        writer = self._writer(part)
        keys = [self._key(part) for _ in range(self.chosen.choice((0, 1, 1, 2)))]
        statistics = [statistic(writer, exact) for _ in range(self.chosen.randint(1, 2))]
        values = [*keys, *(s.value for s in statistics)]
        fields = self._named(values)
        sql = f"SELECT {self._list(values, fields)}{part.text}{_group_by([k.text for k in keys])}"
        inner = [f"{k.duck} AS k{i}" for i, k in enumerate(keys)]
        inner += [f"{s.duck} AS s{i}" for i, s in enumerate(statistics)]
        outer = [f"k{i} AS c{i}" for i in range(len(keys))]
        outer += [f"{s.value.duck.format(f's{i}')} AS c{len(keys) + i}" for i, s in enumerate(statistics)]
        where = ""
        if self.chosen.random() < 0.3:
            text, duck, condition = condition_on_group(writer)
            sql += f" HAVING {text}"
            inner.append(f"{duck} AS h")
            where = f" WHERE {condition.replace('{}', 'h', 1)}"
        grouped = f"SELECT {', '.join(inner)}{part.duck}{_group_by([str(i + 1) for i in range(len(keys))])}"
        duck = f"SELECT {', '.join(outer)} FROM ({grouped}){where}"
        return self._made(sql, duck, fields, part, all(v.exact for v in values))

    def _counted(self, part: Part) -> Question:
        """How many rows there are of each value."""
        key = self._key(part)
        fields = self._named([key, _COUNT])
        sql = f"SELECT {self._list([key, _COUNT], fields)}{part.text} GROUP BY {key.text}"
        return self._made(sql, f"SELECT {_ducks([key, _COUNT])}{part.duck} GROUP BY 1", fields, part, True)

    def _set(self, exact: bool) -> Question:
        parts = [self.part([self.source()]) for _ in range(self.chosen.choice((2, 2, 3)))]
        types = [f.type for f in self.chosen.choices(parts[0].readable, k=self.chosen.randint(1, 2))]
        fields, sql, duck = (), "", ""
        for part in parts:
            writer = self._writer(part)
            values = [self._of_type(writer, type_) for type_ in types]
            fields = fields or self._named(values)
            text = f"SELECT {', '.join(v.text for v in values) if sql else self._list(values, fields)}{part.text}"
            asked = f"SELECT {_ducks(values)}{part.duck}"
            if sql:
                spoken, operator = self._operator()
                first = part is parts[1]
                sql = f"{sql if first else f'({sql})'} {spoken} {text}"
                duck = f"{duck if first else f'({duck})'} {operator} {asked}"
            else:
                sql, duck = text, asked
        together = replace(parts[0], sources=tuple(s for p in parts for s in p.sources))
        return self._made(sql, duck, fields, together, True)

    def _operator(self) -> tuple[str, str]:
        """A set operator as the dialect spells it, and for DuckDB."""
        operator = self.chosen.choice(_SETS)
        if self.dialect in ("oracle", "trino") and "UNION" not in operator:
            operator = operator.removesuffix(" ALL")
        return operator.replace("EXCEPT", "MINUS") if self.dialect == "oracle" else operator, operator

    def _over_subquery(self, exact: bool) -> Question:
        inner = self.exact_question()
        below = Source(None, f"({inner.duck})", inner.fields, f"({inner.sql})", inner.times, uses=inner.uses)
        part = self.part([below, *([self.source()] if self.chosen.random() < 0.3 else [])])
        return self._counted(part) if self.chosen.random() < 0.4 else self._outputs(part, exact)

    def _windowed(self, source: Source) -> Question:
        """A sliding window, or groups by stretches of time."""
        assert source.time is not None
        part = self.part([source])
        time = part.readable[source.fields.index(source.time)]
        if time.type == TIMESTAMP and self.chosen.random() < 0.4:
            return self._by_stretch(part, time)
        now, length = f"({source.times[0][0]})", self.chosen.choice((0, 1, 3, 10))
        back = {
            TIMESTAMP: (f"now() - INTERVAL '{length}' DAY", f"{now} - INTERVAL {length} DAY"),
            DATE: (f"now() - {length}", f"CAST({now} - INTERVAL {length} DAY AS DATE)"),
            INTEGER: (f"now() - {length}", f"CAST({now} AS HUGEINT) - {length}"),
        }[time.type]
        operator = self.chosen.choice((">", ">="))
        said = (f"{time.text} {operator} {back[0]}", f"{time.duck} {operator} {back[1]}")
        where = tuple(f"{one} AND ({other})" if other else one for one, other in zip(said, part.where, strict=True))
        part = replace(part, where=(where[0], where[1]))
        made = self._outputs(part, False) if self.chosen.random() < 0.5 else self._counted(part)
        return replace(made, moves=True)

    def _by_stretch(self, part: Part, time: Expr) -> Question:
        size, slide = self.chosen.choice(((1, 1), (24, 24), (6, 2), (3, 1), (48, 24)))
        spoken = f"'{size} hours'" + (f", '{slide} hours'" if slide != size else "")
        ends = [Expr("window.start", "", TIMESTAMP), Expr("window.end", "", TIMESTAMP), _COUNT]
        fields = self._named(ends)
        sql = f"SELECT {self._list(ends, fields)}{part.text} GROUP BY window({time.text}, {spoken})"
        where = f"{part.where[1]} AND " if part.where[1] else ""
        last = f"time_bucket(INTERVAL '{slide} hours', {time.duck}, TIMESTAMP '1970-01-01')"
        starts = (
            f"SELECT {last} - INTERVAL '{slide} hours' * n AS c0 FROM {part.from_[1]}, range({size // slide}) places(n)"
            f" WHERE {where}{time.duck} IS NOT NULL"
        )
        duck = f"SELECT c0, c0 + INTERVAL '{size} hours' AS c1, COUNT(*) AS c2 FROM ({starts}) GROUP BY 1"
        return self._made(sql, duck, fields, part, True)

    # -- what they are made of -----------------------------------------------------------------------------------

    def _exact(self, kind: Callable[..., Question]) -> Question:
        while True:
            made = kind(exact=True)
            if made.exact:
                return made

    def _key(self, part: Part) -> Expr:
        """Something to group by, which is no constant."""
        writer = self._writer(part)
        for _ in range(50):
            key = self.chosen.choice(part.readable) if self.chosen.random() < 0.7 else writer.any_value(1)
            if key.exact and any(f.text in key.text for f in part.readable):
                return key
        return self._null_test(part)

    def _null_test(self, part: Part) -> Expr:
        """Whether a column has a value, which is exact also where no column is."""
        return replace(alike("({} IS NULL)", BOOLEAN, self.chosen.choice(part.readable)), exact=True)

    def _of_type(self, writer: ValueWriter, type_: DataType) -> Expr:
        """A value of exactly a type."""
        fitting = [f for f in writer.fields if f.type == type_]
        if fitting and self.chosen.random() < 0.85:
            return self.chosen.choice(fitting)
        for _ in range(5):
            value = writer.near(fitting[0] if fitting else Expr("", "", type_))
            if value.type == type_:
                return value
        return constant(None, type_, self.dialect)

    def _writer(self, part: Part) -> ValueWriter:
        return ValueWriter(self.chosen, self.dialect, part.readable, self.functions)

    def _named(self, values: Sequence[Expr]) -> tuple[Field, ...]:
        """The columns of an answer, each with a name that the text gives it."""
        taken: set[str] = set()
        names = [pick(self.chosen, PLAIN_COLUMNS, HOSTILE_COLUMNS, self.hostile, taken) for _ in values]
        pairs = enumerate(zip(names, values, strict=True))
        return tuple(Field(name, f"c{i}", v.type, v.tame, v.flavour, v.exact) for i, (name, v) in pairs)

    def _list(self, values: Sequence[Expr], fields: Sequence[Field]) -> str:
        pairs = zip(values, fields, strict=True)
        return ", ".join(f"{v.text} AS {written(self.chosen, f.name, self.dialect, exactly=True)}" for v, f in pairs)

    def _made(self, sql: str, duck: str, fields: tuple[Field, ...], part: Part, exact: bool) -> Question:
        uses = frozenset(s.name for s in part.sources if s.name is not None).union(*(s.uses for s in part.sources))
        times = tuple(dict.fromkeys(t for s in part.sources for t in s.times))
        calls = frozenset(f.duck for f in self.functions if f"{f.duck}(" in duck)
        return Question(sql, duck, self.dialect, fields, uses, calls, times, exact=exact)


def _ducks(values: Sequence[Expr]) -> str:
    return ", ".join(f"{v.duck} AS c{i}" for i, v in enumerate(values))


def _group_by(keys: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""
