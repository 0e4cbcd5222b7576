"""Random aggregates and conditions on groups, in both texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from oracle.fuzz.expressions import Expr, as_decimal
from oracle.fuzz.values import ValueWriter

from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, Kind, decimal


@dataclass(frozen=True)
class Statistic:
    """An aggregate.

    Attributes:
        value: as it is registered, and what DuckDB makes of its statistic, which stands in for ``{}``.
        duck: DuckDB's statistic.
    """

    value: Expr
    duck: str


def statistic(writer: ValueWriter, exact: bool) -> Statistic:
    """An aggregate of a column; with ``exact`` one that both sides have to the last bit."""
    chosen, test = writer.chosen, None
    if writer.spark and chosen.random() < 0.15:
        test = writer.condition(1)
    made = _statistic(writer, exact)
    if test is None:
        return made
    value = replace(made.value, text=f"{made.value.text} FILTER (WHERE {test.text})")
    return Statistic(value, f"{made.duck} FILTER (WHERE {test.duck})")


def _statistic(writer: ValueWriter, exact: bool) -> Statistic:
    chosen, choice = writer.chosen, writer.chosen.randrange(12)
    if choice == 0:
        return _counted("*", "*")
    field = chosen.choice(writer.fields)
    kind = field.type.kind
    if choice in (1, 2) and not (kind is Kind.STRING and writer.dialect == "postgres"):
        return _of_values(chosen.choice(("MIN({})", "MAX({})")), field)
    if choice == 3:
        # DuckDB takes the two zeros of DOUBLE for two values.
        return _counted(f"DISTINCT {field.text}", f"DISTINCT {field.duck}{' + 0' if kind is Kind.DOUBLE else ''}")
    if choice == 4 and writer.spark and kind is not Kind.DOUBLE:
        return Statistic(_of_values("MODE({})", field).value, f"mode({field.duck} ORDER BY {field.duck})")
    if choice in (5, 6) and writer.spark and not exact and field.tame and field.type.numeric:
        found = _rounded(writer, field)
        if found is not None:
            return found
    if choice == 7 and writer.spark:
        return _by_another(writer, field)
    if choice == 8 and writer.spark:
        return _at_place(writer, field)
    if choice == 9 and writer.spark:
        return _pairs(writer, field)
    if kind is Kind.INTEGER:
        word = chosen.choice(("", "", "DISTINCT "))
        value = Expr(f"SUM({word}{field.text})", "TRY_CAST({} AS BIGINT)", INTEGER, field.tame)
        return Statistic(value, f"SUM({word}{field.wide})")
    if field.tame and kind is Kind.DECIMAL and field.type.precision <= 30:
        grown = decimal(field.type.precision + 10, field.type.scale)
        return Statistic(Expr(f"SUM({field.text})", "{}", grown), f"SUM({as_decimal(field, field.type.scale)})")
    if field.tame and kind is Kind.DOUBLE:
        return Statistic(Expr(f"SUM({field.text})", "{}", DOUBLE), f"SUM({field.duck})")
    return _counted(field.text, field.duck)


def _counted(text: str, duck: str) -> Statistic:
    return Statistic(Expr(f"COUNT({text})", "{}", INTEGER), f"COUNT({duck})")


def _of_values(form: str, field: Expr) -> Statistic:
    """An aggregate that is one of the values."""
    value = replace(field, text=form.format(field.text), duck="{}", wide=None)
    return Statistic(value, form.format(field.duck))


def _by_another(writer: ValueWriter, field: Expr) -> Statistic:
    """MAX_BY and MIN_BY; of rows with equal keys that with the largest or smallest value, NULL being the smallest."""
    key, name = writer.chosen.choice(writer.fields), writer.chosen.choice(("MAX_BY", "MIN_BY"))
    way, ties = ("DESC", "LAST") if name == "MAX_BY" else ("ASC", "FIRST")
    value = f"CASE WHEN {key.duck} IS NOT NULL THEN {field.duck} END"
    values = f"list({value} ORDER BY {key.duck} {way} NULLS LAST, {field.duck} {way} NULLS {ties})"
    return Statistic(replace(field, text=f"{name}({field.text}, {key.text})", duck="{}[1]", wide=None), values)


def _at_place(writer: ValueWriter, field: Expr) -> Statistic:
    """PERCENTILE_DISC, of a fraction that no two numbers of rows meet in the same place."""
    share, descending = writer.chosen.choice(("0.0", "0.31", "0.77", "1.0")), writer.chosen.choice(("", " DESC"))
    text = f"PERCENTILE_DISC({share}) WITHIN GROUP (ORDER BY {{}}{descending})"
    values = f"list({field.duck} ORDER BY {field.duck}{descending} NULLS LAST)"
    place = f"{{0}}[greatest(1, ceil({share} * list_count({{0}})))::BIGINT]"
    return Statistic(replace(field, text=text.format(field.text), duck=place, wide=None), values)


def _pairs(writer: ValueWriter, field: Expr) -> Statistic:
    """COUNT(DISTINCT a, b): the pairs without NULL."""
    other = writer.chosen.choice(writer.fields)
    pair = ", ".join(each.duck + " + 0" * (each.type.kind is Kind.DOUBLE) for each in (field, other))
    known = f"{field.duck} IS NOT NULL AND {other.duck} IS NOT NULL"
    return _counted(f"DISTINCT {field.text}, {other.text}", f"DISTINCT CASE WHEN {known} THEN ({pair}) END")


def _rounded(writer: ValueWriter, field: Expr) -> Statistic | None:
    """Averages and spreads, which the sides round differently; spreads only of values that are near each other."""
    name = writer.chosen.choice(("AVG", "MEDIAN", "STDDEV_POP", "VAR_SAMP"))
    if name in ("STDDEV_POP", "VAR_SAMP") and field.flavour not in ("key", "small", "eighths", "share", "rate"):
        return None
    argument = field.duck if name == "AVG" else f"CAST({field.duck} AS DOUBLE)"
    duck = f"quantile_cont({argument}, 0.5)" if name == "MEDIAN" else f"{name}({argument})"
    type_ = DOUBLE
    if name == "AVG" and field.type.kind is Kind.DECIMAL:
        type_ = decimal(field.type.precision + 4, field.type.scale + 4)
    return Statistic(Expr(f"{name}({field.text})", "{}", type_, exact=False), duck)


def condition_on_group(writer: ValueWriter) -> tuple[str, str, str]:
    """A condition on a group: as registered, DuckDB's statistic, and DuckDB's condition on that."""
    chosen, number = writer.chosen, writer.chosen.randint(0, 2)
    field = chosen.choice(writer.fields)
    if chosen.random() < 0.5 or (field.type == STRING and writer.dialect == "postgres"):
        return f"COUNT(*) > {number}", "COUNT(*)", f"{{}} > {number}"
    if field.type == INTEGER and chosen.random() < 0.5:
        return f"SUM({field.text}) >= {number}", f"SUM({field.wide})", f"TRY_CAST({{}} AS BIGINT) >= {number}"
    near = writer.near(field)
    if near.type != field.type:
        return f"COUNT({field.text}) > {number}", f"COUNT({field.duck})", f"{{}} > {number}"
    return f"MAX({field.text}) <= {near.text}", f"MAX({field.duck})", f"{{}} <= {near.duck}"
