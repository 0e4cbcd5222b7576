"""Intervals in SQL text: their parts, by which a date or a timestamp is moved.

``t + INTERVAL '3' DAY``, ``t - n * INTERVAL '1' HOUR`` and ``t + make_interval(0, 0, 0, n)`` are times again. An
interval that stands alone is a value (``interval_arithmetic``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra import coercion
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DATE, INSTANT, INTEGER, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.functions.calls import call, cast, instant_of_micros
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.times.zoned import at_clock
from workbench.sql.syntax.interval_texts import written_in_units

_UNITS = {
    "YEAR": ("months", 12), "QUARTER": ("months", 3), "MONTH": ("months", 1), "WEEK": ("days", 7), "DAY": ("days", 1),
    "HOUR": ("seconds", 3600), "MINUTE": ("seconds", 60), "SECOND": ("seconds", 1), "MILLISECOND": ("micros", 1_000),
    "MICROSECOND": ("micros", 1),
}  # fmt: skip
"""Unit -> what it counts, and how many of these it is; a time is moved in this order, as Spark does."""
_SECONDS_OF_DAY = 86_400
_SHORT = {
    "Y": "YEAR", "YR": "YEAR", "MON": "MONTH", "W": "WEEK", "D": "DAY", "H": "HOUR", "HR": "HOUR", "M": "MINUTE",
    "MIN": "MINUTE", "SEC": "SECOND", "S": "SECOND", "MS": "MILLISECOND", "MSEC": "MILLISECOND", "US": "MICROSECOND",
    "USEC": "MICROSECOND",
}  # fmt: skip
"""Short names of units in postgres and duckdb, without an s at their end."""
_SECOND = 1_000_000
_DIVIDED = {"DAY": _SECONDS_OF_DAY, "HOUR": 3_600, "MINUTE": 60}
"""Units of which PostgreSQL takes fractions, and their seconds."""
_OF_UNIT = re.compile(r"([+-]?)\s*([0-9]{1,19})(?:\.([0-9]{0,9}))?\s*([a-z]+)(?:\s+|$)", re.IGNORECASE)
_OF_CLOCK = re.compile(r"([+-]?)([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?(?:\s+|$)")
"""Parts of the text of an interval: ``2 hours``, ``01:30:00``."""
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_FIRST = {"DAY": "[0-9]{1,9}", "HOUR": "[0-9]{1,10}", "MINUTE": "[0-9]{1,12}"}
_NEXT = {"HOUR": "(?:[01]?[0-9]|2[0-3])", "MINUTE": "[0-5]?[0-9]", "SECOND": r"[0-5]?[0-9](?:\.[0-9]{1,9})?"}
_YEAR_TO_MONTH = re.compile(r"([+-]?)([0-9]{1,9})-(0?[0-9]|1[01])")


@dataclass(frozen=True)
class IntervalPart:
    """A number of months, days, seconds or microseconds.

    Attributes:
        counts: ``"months"``, ``"days"``, ``"seconds"`` or ``"micros"``.
        many: how many, an INTEGER.
        passes: whether seconds are those that pass, whatever clocks show; else an interval of spark may have days.
    """

    counts: str
    many: Expression
    passes: bool = False

    def times(self, factor: Expression) -> IntervalPart:
        """The number of units."""
        one = self.many == Constant(1, INTEGER)
        return replace(self, many=factor if one else call("*", factor, self.many))


def interval_parts(b: ExpressionBinder, node: exp.Expr) -> list[IntervalPart] | None:
    """The parts of an interval; ``None`` for any other expression.

    Raises:
        UnsupportedError: it is of a unit that is not supported, or its numbers are not whole.
        SqlError: its number is no INTEGER.
    """
    node = node.unnest()
    if isinstance(node, exp.Interval):
        return _of_text(b, node, node.this) if node.args.get("unit") is None else _literal(b, node)
    if isinstance(node, exp.Neg) and isinstance(node.this.unnest(), exp.Interval | exp.Add):
        parts = interval_parts(b, node.this)
        return None if parts is None else [part.times(Constant(-1, INTEGER)) for part in parts]
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Interval) and _is_interval(node.expression):
        # So the parser reads INTERVAL 1 YEAR 2 MONTHS.
        return _summed([*(interval_parts(b, node.this) or ()), *(interval_parts(b, node.expression) or ())])
    if isinstance(node, exp.Cast) and node.args["to"].this == exp.DType.INTERVAL and b.rules.clock_in_intervals:
        return _of_amount(b, node.this) or _of_text(b, node, node.this)
    if isinstance(node, exp.Mul):
        for interval, many in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(interval.unnest(), exp.Interval):
                factor = _integer(b, many)
                return [part.times(factor) for part in interval_parts(b, interval) or ()]
    if isinstance(node, exp.MakeInterval):
        given = {unit: node.args.get(unit.lower()) for unit in _UNITS}
        return _summed([_part(b, unit, _value(many)) for unit, many in given.items() if many])
    if isinstance(node, exp.ToDays) and "to_days" in b.rules.intervals:
        return [_part(b, "DAY", node.this)]
    if isinstance(node, exp.Anonymous) and (units := b.rules.intervals.get(node.name.lower())):
        if len(node.expressions) > len(units):
            raise b.source.error(f"{node.name} takes {len(units)} values", node, ", ".join(units).lower())
        return _summed([_part(b, unit, many) for unit, many in zip(units, node.expressions, strict=False)])
    return None


def _of_amount(b: ExpressionBinder, text: exp.Expr) -> list[IntervalPart] | None:
    """The parts of ``n || ' days'``, a number of the row and a unit; ``None`` of another text."""
    text = text.unnest()
    joined = text.expressions if isinstance(text, exp.Concat) else [text.this, text.args.get("expression")]
    if not isinstance(text, exp.Concat | exp.DPipe) or len(joined) != 2:
        return None
    many, unit = joined
    name = unit_called(b, unit.name.strip()) if isinstance(unit, exp.Literal) and unit.is_string else None
    is_written = isinstance(many, exp.Literal | exp.DPipe)
    return None if name is None or is_written else [_part(b, name, many)]


def _is_interval(node: exp.Expr) -> bool:
    """Whether a node is an interval as it is written, of one unit or of several."""
    while isinstance(node, exp.Add) and isinstance(node.this, exp.Interval):
        node = node.expression
    return isinstance(node, exp.Interval)


def _summed(parts: Sequence[IntervalPart]) -> list[IntervalPart]:
    """Parts of which each kind is there once: a year and a month are 13 months, which are added in one step."""
    sums = dict[str, Expression]()
    for part in parts:
        before = sums.get(part.counts)
        sums[part.counts] = part.many if before is None else _added(before, part.many)
    constants = {kind: many.value for kind, many in sums.items() if isinstance(many, Constant)}
    whole = {kind: value for kind, value in constants.items() if isinstance(value, int)}
    return _constant_parts(whole) if len(whole) == len(sums) else [IntervalPart(*item) for item in sums.items()]


def _added(one: Expression, other: Expression) -> Expression:
    match one, other:
        case Constant(int(first)), Constant(int(second)):
            return Constant(first + second, INTEGER)
    return call("+", one, other)


def _constant_parts(counted: dict[str, int]) -> list[IntervalPart]:
    """Constant parts, of which those of no length are left out; microseconds that are whole seconds are these."""
    seconds, micros = divmod(counted.get("seconds", 0) * _SECOND + counted.get("micros", 0), _SECOND)
    exact = {"seconds": seconds} if not micros else {"micros": seconds * _SECOND + micros}
    of_kinds = {"months": counted.get("months", 0), "days": counted.get("days", 0), **exact}
    kinds = [kind for kind, many in of_kinds.items() if many] or list(counted)[:1]
    return [IntervalPart(kind, Constant(of_kinds.get(kind, 0), INTEGER)) for kind in kinds]


def add_interval(
    b: ExpressionBinder, time: Expression, parts: Sequence[IntervalPart], sign: int, node: exp.Expr
) -> Expression:
    """A date or timestamp plus (``sign`` 1) or minus (-1) an interval; ``node`` is it in the text."""
    time = coercion.as_time(time)
    if time.type == INSTANT and b.rules.timestamp_is_instant:
        parts = _of_days_and_seconds(parts)
    for part in parts:
        if part.many == Constant(0, INTEGER):
            continue
        if len(parts) > 1 and time.type == DATE and part.counts == "seconds" and not b.rules.date_plus_interval_is_time:
            b.source.refuse("a DATE plus days and hours at once", node, "CAST(d AS TIMESTAMP) + …")
        time = _plus(b, time, part if sign == 1 else part.times(Constant(-1, INTEGER)))
    # Of whole days, too, it is a TIMESTAMP there.
    return cast(time, TIMESTAMP) if time.type == DATE and b.rules.date_plus_interval_is_time else time


def _plus(b: ExpressionBinder, time: Expression, part: IntervalPart) -> Expression:
    if time.type == INSTANT and zoning().zone != UTC:
        return _plus_on_clock(b, time, part)
    if time.type == INSTANT and part.counts == "months":
        return cast(call("add_months_to_timestamp", time, part.many), INSTANT)
    if part.counts == "months":
        return call("add_months" if time.type == DATE else "add_months_to_timestamp", time, part.many)
    if part.counts == "days" and time.type == DATE:
        return call("+", time, part.many)
    if part.counts == "micros":
        return cast(call("timestamp_micros", call("+", call("unix_micros", time), part.many)), _moved(time))
    seconds = part.many
    if part.counts == "days":
        seconds = call("*", seconds, Constant(_SECONDS_OF_DAY, INTEGER))
    return call("add_seconds", time, seconds)


def _of_days_and_seconds(parts: Sequence[IntervalPart]) -> list[IntervalPart]:
    """The parts of an interval of spark, whose days and seconds are one number."""
    units = {"days": Constant(_SECONDS_OF_DAY, INTEGER), "seconds": Constant(1, INTEGER)}
    seconds = [part.times(units[part.counts]) for part in parts if part.counts in units]
    months = [part for part in parts if part.counts == "months"]
    if len(seconds) < 2:
        return list(parts)
    total = reduce(lambda left, right: call("+", left, right), (part.many for part in seconds))
    return [*months, replace(seconds[0], counts="seconds", many=total)]


def _plus_on_clock(b: ExpressionBinder, instant: Expression, part: IntervalPart) -> Expression:
    """An instant moved by months and days of the clock of the session, or by seconds that pass.

    An interval of spark has days, and less than a day of seconds.
    """
    many, clock = part.many, coercion.coerce(instant, TIMESTAMP)
    if part.counts == "micros":
        return instant_of_micros(call("+", call("unix_micros", instant), many))
    if part.counts == "months":
        return at_clock(b, instant, call("add_months_to_timestamp", clock, many))
    day = Constant(_SECONDS_OF_DAY, INTEGER)
    if part.counts == "days":
        return at_clock(b, instant, call("add_seconds", clock, call("*", many, day)))
    rest: Expression = many
    if b.rules.timestamp_is_instant and not part.passes:
        rest = call("%", many, day)
        if isinstance(many, Constant) and isinstance(many.value, int):
            rest = Constant(many.value - int(many.value / _SECONDS_OF_DAY) * _SECONDS_OF_DAY, INTEGER)
        days = call("-", many, rest)
        if days != Constant(0, INTEGER):
            instant = at_clock(b, instant, call("add_seconds", clock, days))
    return instant if rest == Constant(0, INTEGER) else call("add_seconds", instant, rest)


def _moved(time: Expression) -> DataType:
    return INSTANT if time.type == INSTANT else TIMESTAMP


def _of_text(b: ExpressionBinder, interval: exp.Expr, text: exp.Expr | None) -> list[IntervalPart]:
    """INTERVAL '1 day -2 hours', and in postgres and duckdb '01:30:00' and '2 days'::interval."""
    b.source.refuse_others(interval, {"this", "to"}, "INTERVAL")
    literal, sign = _signed(text)
    parts = parts_of_text(b, literal.name) if isinstance(literal, exp.Literal) and literal.is_string else None
    if parts is None or not b.rules.interval_texts:
        hint = "write INTERVAL '3' DAY, or INTERVAL '1 day 2 hours', with whole numbers"
        b.source.refuse("this interval", interval, hint)
    return parts if sign == 1 else [part.times(Constant(-1, INTEGER)) for part in parts]


def parts_of_text(b: ExpressionBinder, text: str) -> list[IntervalPart] | None:
    """The parts of the text of an interval, as ``1 day -2 hours``; ``None`` where it is none."""
    rest, counted = re.sub(r"^interval\s+", "", text.strip(), flags=re.IGNORECASE), dict[str, int]()
    if b.rules.intervals_of_postgres:
        rest, turned = re.subn(r"\s+ago$", "", written_in_units(rest), flags=re.IGNORECASE)
        if turned:
            parts = parts_of_text(b, rest)
            return None if parts is None else [part.times(Constant(-1, INTEGER)) for part in parts]
    while rest and (found := _OF_UNIT.match(rest) or (b.rules.clock_in_intervals and _OF_CLOCK.match(rest))):
        sign = -1 if found[1] == "-" else 1
        if found.re is _OF_UNIT:
            amounts = [(found[2], found[3], unit_called(b, found[4]))]
        else:
            _, hours, minutes, seconds, fraction = found.groups("0")
            amounts = [(hours, "", "HOUR"), (minutes, "", "MINUTE"), (seconds, fraction, "SECOND")]
        for whole, fraction, unit in amounts:
            exact = b.rules.intervals_of_postgres
            if unit is None or not _count(counted, sign, whole, fraction or "", unit, exact):
                return None
        rest = rest[found.end() :]
    return None if rest or not counted else _constant_parts(counted)


def parts_of_fields(b: ExpressionBinder, text: str, first: str, last: str) -> list[IntervalPart] | None:
    """The parts of a text of fields, as ``1 02:03:04`` of DAY TO SECOND; ``None`` where it is none."""
    counted, text = dict[str, int](), text.strip()
    if (first, last) == ("YEAR", "MONTH"):
        match = _YEAR_TO_MONTH.fullmatch(text)
        named = [] if match is None else [(match[2], "YEAR"), (match[3], "MONTH")]
    else:
        if first not in _FIELDS or last not in _FIELDS:
            return None
        fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
        shape = "".join(
            f"({_FIRST[f] if f == first else _NEXT[f]}){'' if f == last else ' ' if f == 'DAY' else ':'}"
            for f in fields
        )
        match = re.fullmatch(f"([+-]?){shape}", text)
        named = [] if match is None else list(zip(match.groups()[1:], fields, strict=True))
    # The sign of days is not that of hours in PostgreSQL.
    if match is None or (match[1] == "-" and b.rules.clock_in_intervals and first != last):
        return None
    for digits, unit in named:
        whole, _, fraction = digits.partition(".")
        _count(counted, -1 if match[1] == "-" else 1, whole, fraction, unit)
    return _constant_parts(counted)


def _count(counted: dict[str, int], sign: int, whole: str, fraction: str, unit: str, divides: bool = False) -> bool:
    """Add an amount of a unit; ``False`` where the unit has no such fraction.

    ``divides``: whether a fraction of a day, an hour or a minute is one of microseconds.
    """
    counts, size = _UNITS[unit]
    counted[counts] = counted.get(counts, 0) + sign * int(whole) * size
    if fraction.strip("0"):
        if unit in _DIVIDED and divides:
            micros = int(fraction) * _DIVIDED[unit] * _SECOND
            if micros % 10 ** len(fraction):
                return False
            counted["micros"] = counted.get("micros", 0) + sign * (micros // 10 ** len(fraction))
            return True
        if unit != "SECOND":
            return False
        counted["micros"] = counted.get("micros", 0) + sign * int(f"{fraction}000000"[:6])
    return True


def unit_called(b: ExpressionBinder, name: str) -> str | None:
    """The unit of a name; some have short names in databases.

    Args:
        b: of the text.
        name: as it is written, as days.
    """
    unit = name.upper()
    for known in (unit, unit.removesuffix("S")):
        if known in _UNITS:
            return known
        if b.rules.clock_in_intervals and known in _SHORT:
            return _SHORT[known]
    return None


def _literal(b: ExpressionBinder, interval: exp.Interval) -> list[IntervalPart]:
    """INTERVAL '3' DAY, INTERVAL n DAY, or INTERVAL '1 02:03' DAY TO MINUTE."""
    b.source.refuse_others(interval, {"this", "unit"}, "INTERVAL")
    unit, (amount, sign) = interval.args["unit"], _signed(interval.this)
    if isinstance(unit, exp.IntervalSpan):
        fields = unit.this.name.upper(), unit.expression.name.upper()
        parts = parts_of_fields(b, amount.name, *fields) if isinstance(amount, exp.Literal) else None
        if parts is None:
            b.source.refuse(
                "this interval", interval, "as in INTERVAL '1-2' YEAR TO MONTH and '1 02:03:04' DAY TO SECOND"
            )
    else:
        name = unit_called(b, unit.name) or ""
        if name and amount is not None and not isinstance(amount, exp.Literal):
            return [_part(b, name, interval.this)]
        of_fraction = amount is not None and name != "SECOND" and "." in amount.name  # cut off, in postgres
        parts = parts_of_text(b, f"{amount.name} {name}") if name and amount is not None and not of_fraction else None
        if parts is None:
            near = None if name else nearest(unit.name, _UNITS)
            units = "units are SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER and YEAR"
            whole = "write INTERVAL '3' DAY, with a whole number of one unit"
            hint = near or (whole if name else f"there is no unit {unit.name}: {units}")
            b.source.refuse("this interval", interval, hint)
    return parts if sign == 1 else [part.times(Constant(-1, INTEGER)) for part in parts]


def _signed(amount: exp.Expr | None) -> tuple[exp.Expr | None, int]:
    """The amount behind a minus sign, and the sign."""
    return (amount.this, -1) if isinstance(amount, exp.Neg) else (amount, 1)


def _part(b: ExpressionBinder, unit: str, many: exp.Expr) -> IntervalPart:
    counts, factor = _UNITS[unit]
    if unit == "SECOND" and (seconds := b.bind(many)).type.kind in (Kind.DECIMAL, Kind.DOUBLE):
        micros = call("*", cast(seconds, decimal(18, 6)), Constant(_SECOND, INTEGER))
        return IntervalPart("micros", cast(micros, INTEGER))
    return IntervalPart(counts, Constant(factor, INTEGER)).times(_integer(b, many))


def _value(argument: exp.Expr) -> exp.Expr:
    """An argument without its name, as in ``make_interval(mins => n)``."""
    value: exp.Expr = argument.expression if isinstance(argument, exp.Kwarg) else argument
    return value


def _integer(b: ExpressionBinder, many: exp.Expr) -> Expression:
    bound = b.bind(many)
    if bound.type.kind is not Kind.INTEGER:
        b.source.refuse("an interval times what is no INTEGER", many, "CAST(x AS INTEGER)")
    return bound
