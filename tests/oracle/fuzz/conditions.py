"""Random conditions over some columns: comparisons, lists, ranges, patterns and what combines them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from oracle.fuzz.columns import FLAVOURS
from oracle.fuzz.expressions import CallableFunction, Expr, alike, comparable, compared, constant

from workbench.sql.algebra.types import BOOLEAN, DataType, Kind
from workbench.sql.syntax.dialects import SPARK_FAMILY

_COMPARISONS = ("=", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM")


@dataclass
class ConditionWriter:
    """Writes conditions over some columns; what values they compare is for ``ValueWriter`` to say.

    Args:
        chosen: makes the choices.
        dialect: of the text; outside Spark's family only what means the same in every database is written.
        fields: the columns.
        functions: of the analyst.
    """

    chosen: Random
    dialect: str
    fields: Sequence[Expr]
    functions: Sequence[CallableFunction] = ()

    @property
    def spark(self) -> bool:
        """Whether Spark's own functions can be used."""
        return self.dialect in SPARK_FAMILY

    def value(self, type_: DataType, depth: int) -> Expr:
        """An expression of a kind; for decimals of any digits."""
        raise NotImplementedError

    def field(self, kind: Kind, tame: bool = False) -> Expr | None:
        """A column of a kind, if there is one."""
        fitting = [f for f in self.fields if f.type.kind is kind and (f.tame or not tame)]
        return self.chosen.choice(fitting) if fitting else None

    def near(self, expr: Expr) -> Expr:
        """A constant that an expression may meet."""
        flavours = [expr.flavour] if expr.flavour else [n for n, f in FLAVOURS.items() if f.type.kind is expr.type.kind]
        while True:
            flavour = FLAVOURS[self.chosen.choice(flavours)]
            value = flavour.value(self.chosen)
            if self._can_be_written(value):
                return replace(constant(value, flavour.type, self.dialect), tame=flavour.tame)
            flavours = ["letter"] if expr.type.kind is Kind.STRING else ["eighths"]

    def _can_be_written(self, value: object) -> bool:
        if isinstance(value, str):
            return "\0" not in value and not (value == "" and self.dialect == "oracle")
        return self.spark or not isinstance(value, float) or math.isfinite(value)

    def condition(self, depth: int = 2) -> Expr:
        """A condition over the columns."""
        chance = self.chosen.random()
        if depth > 0 and chance < 0.2:
            word = self.chosen.choice(("AND", "OR"))
            return alike(f"({{}} {word} {{}})", BOOLEAN, self.condition(depth - 1), self.condition(depth - 1))
        if depth > 0 and chance < 0.3:
            forms = ("NOT ({})", "({}) IS TRUE", "({}) IS NOT TRUE", "({}) IS NULL") if self.spark else ("NOT ({})",)
            return alike(self.chosen.choice(forms), BOOLEAN, self.condition(depth - 1))
        field = self.chosen.choice(self.fields)
        if chance < 0.4:
            return alike(self.chosen.choice(("{} IS NULL", "{} IS NOT NULL")), BOOLEAN, field)
        if chance < 0.6:
            return self._of_one(field)
        return self._compared(field, depth)

    def _of_one(self, field: Expr) -> Expr:
        """A condition on one column and constants."""
        kind = field.type.kind
        if kind is Kind.BOOLEAN:
            return alike("{}", BOOLEAN, field)
        if kind is Kind.STRING and self.chosen.random() < 0.5:
            patterns = ["a%", "%b", "_", "%", "a_", *([""] if self.dialect != "oracle" else [])]
            word = self.chosen.choice(("LIKE", "NOT LIKE"))
            return alike(f"{{}} {word} '{self.chosen.choice(patterns)}'", BOOLEAN, field)
        constants = [self.near(field) for _ in range(3)]
        if (kind is Kind.DOUBLE and not field.tame) or any(c.type != field.type for c in constants):
            return self.comparison(field, constants[0])
        negated = self.chosen.choice(("", "NOT "))
        if self.chosen.random() < 0.5:
            return alike(f"{{}} {negated}BETWEEN {{}} AND {{}}", BOOLEAN, field, *constants[:2])
        if self.spark and self.chosen.random() < 0.15:
            constants[0] = replace(constant(None, field.type), text="NULL")
        return alike(f"{{}} {negated}IN ({{}}, {{}}, {{}})", BOOLEAN, field, *constants)

    def _compared(self, field: Expr, depth: int) -> Expr:
        left = self.value(field.type, depth) if self.chosen.random() < 0.5 else field
        if not left.exact or left.type.kind is not field.type.kind:
            left = field
        right = self.near(field) if self.chosen.random() < 0.6 else self.field(field.type.kind)
        return self.comparison(left, right or field)

    def comparison(self, left: Expr, right: Expr, operator: str | None = None) -> Expr:
        """Two values compared; integers and decimals by value, whatever their digits."""
        if not comparable(left, right):
            right = left
        operator = operator or self.chosen.choice((*_COMPARISONS, *(("<=>",) if self.spark else ())))
        a, b = compared(left, right)
        asked = "IS NOT DISTINCT FROM" if operator == "<=>" else operator
        return Expr(f"{left.text} {operator} {right.text}", f"{a} {asked} {b}", BOOLEAN)
