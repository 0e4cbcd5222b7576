"""Random values over some columns: arithmetic, functions, casts and choices, of every type."""

from __future__ import annotations

from dataclasses import replace

from oracle.fuzz.conditions import ConditionWriter
from oracle.fuzz.expressions import Expr, alike, as_decimal, constant

from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal


class ValueWriter(ConditionWriter):
    """Writes values over some columns, and conditions on them; see ``ConditionWriter``."""

    def any_value(self, depth: int = 2) -> Expr:
        """An expression of any type over the columns."""
        if self.functions and self.chosen.random() < 0.4:
            called = self._called(self.chosen.choice(self.functions).returns, depth)
            if called is not None:
                return called
        field = self.chosen.choice(self.fields)
        return field if self.chosen.random() < 0.4 else self.value(field.type, depth)

    def value(self, type_: DataType, depth: int) -> Expr:
        """An expression of a kind; for decimals of any digits."""
        column = self.field(type_.kind)
        if column is None:
            column = (
                constant(None, type_, self.dialect) if self.chosen.random() < 0.1 else self.near(Expr("", "", type_))
            )
        if depth <= 0 or self.chosen.random() < 0.25:
            return column
        if self.functions and self.chosen.random() < 0.35:
            called = self._called(type_, depth)
            if called is not None:
                return called
        if self.chosen.random() < 0.2:
            return self._chosen_value(column, depth)
        makers = {
            Kind.INTEGER: self._integer, Kind.DECIMAL: self._decimal, Kind.DOUBLE: self._double,
            Kind.STRING: self._string, Kind.DATE: self._date, Kind.TIMESTAMP: self._timestamp,
        }  # fmt: skip
        if type_ == BOOLEAN:
            return alike("({})", BOOLEAN, self.condition(depth - 1))
        return makers[type_.kind](column)

    def _called(self, type_: DataType, depth: int) -> Expr | None:
        """A call of a function of the analyst."""
        fitting = [f for f in self.functions if f.returns == type_]
        if not fitting:
            return None
        function = self.chosen.choice(fitting)
        arguments = [self.value(parameter, depth - 2) for parameter in function.parameters]
        made = alike(f"({', '.join('{}' for _ in arguments)})", type_, *arguments)
        return replace(made, text=function.name + made.text, duck=function.duck + made.duck)

    def _chosen_value(self, column: Expr, depth: int) -> Expr:
        """CASE, COALESCE or NULLIF of a column and another value of its type."""
        other = self.near(column) if column.flavour else column
        if other.type != column.type:
            return column
        tame, form = column.tame and other.tame, self.chosen.randrange(3)
        if form == 0:
            test = self.condition(depth - 1)
            return alike("CASE WHEN {} THEN {} ELSE {} END", column.type, test, column, other, tame=tame)
        return alike(("COALESCE({}, {})", "NULLIF({}, {})")[form - 1], column.type, column, other, tame=tame)

    def _integer(self, column: Expr) -> Expr:
        choice = self.chosen.randrange(9 if self.spark else 4)
        other = self.field(Kind.INTEGER) or column
        if choice < 3:
            return self.linear(column, self.chosen.choice((1, 2, 3, -1, 5)))
        if choice == 3:
            duck = f"CASE WHEN {column.duck} <> -9223372036854775808 THEN abs({column.duck}) END"
            return Expr(f"ABS({column.text})", duck, INTEGER, column.tame)
        if choice == 4:
            # The remainder by -1 is 0, also where the quotient overflows.
            whole = f"CASE WHEN {column.duck} IS NOT NULL THEN 0 END"
            rest = f"WHEN {other.duck} <> 0 THEN {column.duck} % {other.duck}"
            duck = f"CASE WHEN {other.duck} = -1 THEN {whole} {rest} END"
            return Expr(f"{column.text} % {other.text}", duck, INTEGER, column.tame)
        if choice == 5:
            duck = f"CASE WHEN {other.duck} <> 0 THEN TRY({column.duck} // {other.duck}) END"
            return Expr(f"{column.text} DIV {other.text}", duck, INTEGER, column.tame)
        if choice == 6 and (moment := self.field(Kind.DATE) or self.field(Kind.TIMESTAMP)):
            part = self.chosen.choice(("YEAR", "MONTH", "DAY", "QUARTER", "DAYOFYEAR"))
            return alike(f"{part}({{}})", INTEGER, moment)
        if choice == 7 and (word := self.field(Kind.STRING)):
            if word.flavour in ("letter", "written") and self.chosen.random() < 0.5:
                return Expr(f"CAST({word.text} AS BIGINT)", f"TRY_CAST({word.duck} AS BIGINT)", INTEGER, tame=False)
            return alike("LENGTH({})", INTEGER, word)
        if choice == 8 and (number := self.field(Kind.DECIMAL) or self.field(Kind.DOUBLE)):
            duck = f"TRY_CAST(trunc({number.duck}) AS BIGINT)"
            return Expr(f"CAST({number.text} AS BIGINT)", duck, INTEGER, tame=number.tame)
        day = self.field(Kind.DATE)
        return alike("({} - {})", INTEGER, day, self.field(Kind.DATE) or day) if day else column

    def linear(self, column: Expr, number: int) -> Expr:
        """A sum, difference or multiple of INTEGER columns and constants: exact in comparisons, else 64 bits."""
        if column.wide is None:
            return column
        other = self.field(Kind.INTEGER)
        forms = ["({} * {number})", "({} + {number})"]
        if other is not None and other.wide is not None:
            forms += ["({} - {})", "({} + {})"]
        form, pair = self.chosen.choice(forms), [column, other or column]
        text = form.format(*(p.text for p in pair), number=number)
        wide = form.format(*(p.wide for p in pair), number=number)
        return Expr(text, f"TRY_CAST({wide} AS BIGINT)", INTEGER, all(p.tame for p in pair), wide)

    def _decimal(self, column: Expr) -> Expr:
        type_, choice = column.type, self.chosen.randrange(5 if self.spark else 3)
        if choice == 0:
            return alike("(- {})", type_, column, tame=column.tame)
        if choice == 1:
            return alike("ABS({})", type_, column, tame=column.tame)
        if choice == 2 and type_.precision <= 25 and column.exact:
            grown = decimal(type_.precision + 2, type_.scale)
            return Expr(f"({column.text} * 3)", f"({as_decimal(column, type_.scale)} * 3)", grown, column.tame)
        if choice == 3 and column.tame:
            return alike("ROUND({}, 1)", decimal(type_.precision + 1, 1), column)
        if choice == 4 and (number := self.field(Kind.INTEGER)):
            duck = f"TRY_CAST({number.duck} AS DECIMAL(15,2))"
            return Expr(f"CAST({number.text} AS DECIMAL(15,2))", duck, decimal(15, 2))
        return column

    def _double(self, column: Expr) -> Expr:
        choice = self.chosen.randrange(6 if self.spark else 2)
        if choice == 0:
            return alike("({} * 0.5E0)", DOUBLE, column, tame=column.tame)
        if choice == 1:
            return alike("(- {})", DOUBLE, column, tame=column.tame)
        if choice == 2 and (number := self.field(Kind.INTEGER)):
            other = self.field(Kind.INTEGER) or number
            duck = f"(CAST({number.duck} AS DOUBLE) / NULLIF(CAST({other.duck} AS DOUBLE), 0))"
            return Expr(f"({number.text} / {other.text})", duck, DOUBLE, tame=False)
        if choice == 3:
            return alike("SQRT({})", DOUBLE, column, tame=False)
        if choice == 4 and (money := self.field(Kind.DECIMAL, tame=True)):
            return replace(alike("CAST({} AS DOUBLE)", DOUBLE, money, tame=False), exact=False)
        if choice == 5 and column.tame:
            duck = f"CASE WHEN {column.duck} > 0 THEN ln({column.duck}) END"
            return Expr(f"LN({column.text})", duck, DOUBLE, tame=False, exact=False)
        return column

    def _string(self, column: Expr) -> Expr:
        if self.dialect == "oracle":
            return column
        choice = self.chosen.randrange(8 if self.spark else 1)
        if choice == 0 and column.flavour in ("letter", "written"):
            made = alike(self.chosen.choice(("UPPER({})", "LOWER({})")), STRING, column)
            return replace(made, flavour=column.flavour)
        if choice == 1:
            return alike(f"SUBSTR({{}}, {self.chosen.randint(1, 3)}, {self.chosen.randint(0, 3)})", STRING, column)
        if choice == 2:
            return alike("({} || '-' || {})", STRING, column, self.field(Kind.STRING) or column)
        if choice == 3:
            return Expr(f"TRIM({column.text})", f"trim({column.duck}, ' ')", STRING)
        if choice == 4:
            return alike("REPLACE({}, 'a', 'zz')", STRING, column)
        written = {5: Kind.INTEGER, 6: self.chosen.choice((Kind.DATE, Kind.TIMESTAMP)), 7: Kind.BOOLEAN}
        if choice in written and (other := self.field(written[choice])):
            return Expr(f"CAST({other.text} AS STRING)", f"CAST({other.duck} AS VARCHAR)", STRING)
        return column

    def _date(self, column: Expr) -> Expr:
        choice = self.chosen.randrange(5) if self.spark else 5
        if choice == 0 and column.tame:
            return alike(f"({{}} + {self.chosen.choice((1, 7, 30, 365))})", DATE, column)
        if choice == 1 and column.tame:
            return alike("LAST_DAY({})", DATE, column)
        if choice == 2:
            units = (("MM", "month"), ("YEAR", "year"), ("QUARTER", "quarter"), *([("WEEK", "week")] * column.tame))
            unit, asked = self.chosen.choice(units)
            duck = f"CAST(date_trunc('{asked}', {column.duck}) AS DATE)"
            return Expr(f"TRUNC({column.text}, '{unit}')", duck, DATE)
        if choice == 3 and (moment := self.field(Kind.TIMESTAMP)):
            return alike("CAST({} AS DATE)", DATE, moment)
        if choice == 4 and column.tame:
            months = self.chosen.choice((1, -1, 12))
            duck = f"CAST({column.duck} + INTERVAL ({months}) MONTH AS DATE)"
            return Expr(f"ADD_MONTHS({column.text}, {months})", duck, DATE)
        return column

    def _timestamp(self, column: Expr) -> Expr:
        choice = self.chosen.randrange(3) if self.spark else 3
        if choice == 0:
            unit = self.chosen.choice(("hour", "day", "month", "year", "minute"))
            duck = f"CAST(date_trunc('{unit}', {column.duck}) AS TIMESTAMP)"
            return Expr(f"DATE_TRUNC('{unit}', {column.text})", duck, TIMESTAMP)
        if choice == 1 and (day := self.field(Kind.DATE)):
            return alike("CAST({} AS TIMESTAMP)", TIMESTAMP, day)
        if choice == 2 and column.tame:
            return alike(f"({{}} + INTERVAL '{self.chosen.choice((1, 25, 1000))}' HOUR)", TIMESTAMP, column)
        return column
