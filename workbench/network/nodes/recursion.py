"""Recursive queries: rows that follow from rows by rules, step by step, until a step has none."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cached_property

from workbench.network.nodes.base import Columns, NodeId, columns_of
from workbench.network.nodes.set_operation import SetOperation, SetOperator
from workbench.network.sql_text import Names, Words, as_columns, expression_sql, part_sql, predicates_sql
from workbench.sql.algebra.expressions import Call, Column, Expression, identity
from workbench.sql.algebra.types import of_any_bits
from workbench.sql.logical import RecursionRule


@dataclass(frozen=True)
class Recursion(SetOperation):
    """A recursion: the rows of the first branch, and the rows that rules make of each step's rows and of the other
    branches.

    Of RECURSION a row is in the first step that makes it and in no later one, as SQL evaluates UNION; of RECURSION_ALL
    it is in every step that makes it, as often as it does. RECURSION_LEAST and RECURSION_GREATEST keep of the rows that
    are alike but for the last column the one with the least or greatest value; a step has those that are better than
    all of the steps before it. Its columns are those of the first branch.

    Attributes:
        rules: over the columns c1 … cn of the branches.
    """

    rules: tuple[RecursionRule, ...] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns c1 … cn that it makes; an integer may grow beyond the width of the first ones."""
        return tuple(
            Column(f"c{i}", of_any_bits(value.type)) for i, value in enumerate(self.branches[0].values, start=1)
        )

    @property
    def best(self) -> str | None:
        """Which value of the last column it keeps of each key: MIN or MAX; ``None``: all rows."""
        return {SetOperator.RECURSION_LEAST: "MIN", SetOperator.RECURSION_GREATEST: "MAX"}.get(self.operator)

    def _computation(self) -> str:
        rules = ";".join(
            f"{rule.inputs}{rule.where.identity}({','.join(map(identity, rule.values))})" for rule in self.rules
        )
        return f"{super()._computation()} by {rules}"

    @property
    def retraction_columns(self) -> tuple[Column, ...]:
        """All: a step is made of the rows of the step before."""
        return self.columns

    def is_monotone(self, inputs: bool) -> bool:
        """A row that comes earlier than before leaves the later step, and what follows from it there may leave."""
        return False

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The values of all branches, and what the rules compute."""
        yield from (value for _, values in self.direct for value in values)
        yield from (expression for rule in self.rules for expression in rule.expressions())

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns that each branch reads."""
        yield from ((parent, column) for parent, values in self.direct for column in columns_of(values))

    def sql(self, words: Words) -> str:
        """WITH RECURSIVE: the first rows, and the rules."""
        own, all_ = words.columns(self.id), self.operator is SetOperator.RECURSION_ALL
        names = words.columns(self.direct[0][0])
        parent, values = self.direct[0]
        named = [(value, own(column)) for value, column in zip(values, self.columns, strict=True)]
        first = f"SELECT {as_columns(named, names)} FROM {words.node(parent)}"
        parts = [first, *(self._rule_sql(rule, words) for rule in self.rules)]
        union = " UNION ALL " if all_ else " UNION "
        return f"WITH RECURSIVE step{self._key_sql(own)} AS ({union.join(parts)}) SELECT * FROM step"

    def _key_sql(self, name: Callable[[Column], str]) -> str:
        """USING KEY, where it keeps the best value of each key."""
        if self.best is None:
            return ""
        *key, value = map(name, self.columns)
        return f" USING KEY ({', '.join([*key, f'{self.best}({value})'])})"

    def title(self, words: Words) -> str:
        """A recursion, with its join conditions."""
        return f"recursion by {' and '.join(self._conditions(words)) or 'its own rows'}"

    def label(self, words: Words) -> Iterable[str]:
        """The conditions of its rules."""
        return [self.operator.upper(), *self._conditions(words)]

    def _conditions(self, words: Words) -> list[str]:
        return [predicates_sql(rule.where, self._names(rule, words)) for rule in self.rules if rule.where.or_preds]

    def _rule_sql(self, rule: RecursionRule, words: Words) -> str:
        names = self._names(rule, words)
        shown = ", ".join(expression_sql(value, names) for value in rule.values)
        read = (
            f"{'step' if not branch else words.node(self.direct[branch][0])} {_input_name(rule, source)}"
            for source, branch in enumerate(rule.inputs)
        )
        where = f" WHERE {predicates_sql(rule.where, names)}" if rule.where.or_preds else ""
        return f"SELECT {shown} FROM {', '.join(read)}{where}"

    def _names(self, rule: RecursionRule, words: Words) -> Names:
        own = words.columns(self.id)

        def name(part: Column | Call) -> str:
            if isinstance(part, Call) or part.level or part.source >= len(rule.inputs):
                return ""
            branch, owner = rule.inputs[part.source], _input_name(rule, part.source)
            if not branch:
                return f"{owner}.{own(Column(part.name, part.type))}"
            parent, values = self.direct[branch]
            value, of_parent = values[int(part.name[1:]) - 1], words.columns(parent)
            return part_sql(value, lambda inner: f"{owner}.{of_parent(inner)}" if isinstance(inner, Column) else "")

        return name


def _input_name(rule: RecursionRule, source: int) -> str:
    """The name of an input of a rule in SQL."""
    return f"i{source + 1}"
