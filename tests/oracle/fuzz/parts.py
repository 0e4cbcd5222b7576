"""Parts of random questions: what stands in FROM, and FROM with WHERE in both texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from oracle.fuzz.expressions import CallableFunction, Expr, comparable
from oracle.fuzz.names import written
from oracle.fuzz.values import ValueWriter

from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.syntax.dialects import SPARK_FAMILY


@dataclass(frozen=True)
class Field:
    """A column of something in FROM: its name, its name in DuckDB, its type, and what its values are like; ``exact``:
    whether both sides have them to the last bit."""

    name: str
    duck: str
    type: DataType
    tame: bool = True
    flavour: str | None = None
    exact: bool = True


@dataclass(frozen=True)
class Source:
    """What can stand in FROM.

    Attributes:
        name: of a stream, table, view or query; ``None`` for a subquery.
        duck: for DuckDB, a table or a query in parentheses.
        text: the subquery, when it is one.
        times: the event times of the streams below it, as DuckDB's queries of their latest, and their type.
        time: the column with the event times, when it is a stream that has them.
        uses: the names that a subquery reads.
    """

    name: str | None
    duck: str
    fields: tuple[Field, ...]
    text: str | None = None
    times: tuple[tuple[str, DataType], ...] = ()
    time: Field | None = None
    uses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Part:
    """FROM and WHERE, each as it is registered and for DuckDB, and the columns that can be read."""

    from_: tuple[str, str]
    where: tuple[str, str]
    readable: tuple[Expr, ...]
    sources: tuple[Source, ...]

    @property
    def text(self) -> str:
        """As it is registered."""
        return self._body(0)

    @property
    def duck(self) -> str:
        """For DuckDB."""
        return self._body(1)

    def _body(self, side: int) -> str:
        return f" FROM {self.from_[side]}{f' WHERE {self.where[side]}' if self.where[side] else ''}"


@dataclass
class PartWriter:
    """Writes FROM and WHERE.

    Args:
        chosen: makes the choices.
        sources: what can stand in FROM, by name.
        functions: of the analyst.
        dialect: of the text.
    """

    chosen: Random
    sources: Mapping[str, Source]
    functions: Sequence[CallableFunction] = ()
    dialect: str = "spark"

    @property
    def spark(self) -> bool:
        """Whether the text may say what only Spark says."""
        return self.dialect in SPARK_FAMILY

    def source(self) -> Source:
        """Something that can stand in FROM."""
        return self.chosen.choice(list(self.sources.values()))

    def part(self, sources: Sequence[Source]) -> Part:
        """FROM these, joined by conditions, mostly with more conditions."""
        texts, ducks, readable = [], [], []
        aliases = self.chosen.sample(["a", "b", "p", "z", "T1"], len(sources))
        for i, (source, alias) in enumerate(zip(sources, aliases, strict=True)):
            spoken = source.text or written(self.chosen, str(source.name), self.dialect)
            bare = len(sources) == 1 and source.name is not None and self.chosen.random() < 0.4
            texts.append(spoken if bare else f"{spoken} {alias}")
            ducks.append(f"{source.duck} f{i}")
            for field in source.fields:
                name, duck = written(self.chosen, field.name, self.dialect), f"f{i}.{field.duck}"
                wide = f"CAST({duck} AS HUGEINT)" if field.type == INTEGER else None
                text = name if len(sources) == 1 and (bare or self.chosen.random() < 0.5) else f"{alias}.{name}"
                readable.append(Expr(text, duck, field.type, field.tame, wide, field.flavour, field.exact))
        conditions = self._between(sources, readable)
        if self.chosen.random() < 0.6:
            conditions.append(ValueWriter(self.chosen, self.dialect, readable, self.functions).condition(2))
        said = [(c.text, c.duck) for c in conditions]
        if len(sources) == 2 and said and self.chosen.random() < 0.4:
            from_ = (f"{texts[0]} JOIN {texts[1]} ON {said[0][0]}", f"{ducks[0]} JOIN {ducks[1]} ON {said[0][1]}")
            said = said[1:]
        else:
            from_ = (", ".join(texts), ", ".join(ducks))
        where = (" AND ".join(text for text, _ in said), " AND ".join(duck for _, duck in said))
        return Part(from_, where, tuple(readable), tuple(sources))

    def _between(self, sources: Sequence[Source], readable: list[Expr]) -> list[Expr]:
        """Conditions that join each input to one before it."""
        starts = [sum(len(s.fields) for s in sources[:i]) for i in range(len(sources) + 1)]
        found = []
        for i in range(1, len(sources)):
            mine, others = readable[starts[i] : starts[i + 1]], readable[: starts[i]]
            pairs = [(a, b) for a in others for b in mine if comparable(a, b)]
            alike = [(a, b) for a, b in pairs if a.type == b.type]
            if not pairs or self.chosen.random() < 0.04:
                continue
            writer = ValueWriter(self.chosen, self.dialect, [*mine, *others])
            for _ in range(self.chosen.choice((1, 1, 2))):
                left, right = self.chosen.choice(alike if alike and self.chosen.random() < 0.8 else pairs)
                if left.type == INTEGER and right.type == INTEGER and self.chosen.random() < 0.2:
                    left = writer.linear(left, self.chosen.choice((1, 2)))
                test = writer.comparison(left, right, "=" if self.chosen.random() < 0.75 else None)
                if self.chosen.random() < 0.1:
                    more = writer.comparison(*self.chosen.choice(pairs))
                    test = Expr(f"({test.text} OR {more.text})", f"({test.duck} OR {more.duck})", test.type)
                found.append(test)
        return found
