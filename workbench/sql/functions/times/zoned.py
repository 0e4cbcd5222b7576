"""Instants on clocks of zones: AT TIME ZONE and its like, and an instant that is moved by what its clock shows."""

from __future__ import annotations

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import INSTANT, STRING, TIMESTAMP
from workbench.sql.algebra.zones import BY_OFFSET_OF, KEPT_INSTANT_OF, UTC, clock_of, instant_of, known_zone, zoning
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name, unwrapped
from workbench.sql.syntax.dialects import DATABASES, SPARK_FAMILY

_TYPED = "CAST it AS TIMESTAMP, the time on a clock, or AS TIMESTAMP WITH TIME ZONE, an instant"


@reads(exp.AtTimeZone, exp.FromTimeZone, parts="this zone")
def at_timezone_of(b: ExpressionBinder, node: exp.AtTimeZone | exp.FromTimeZone) -> Expression:
    """AT TIME ZONE: what the clock of a zone shows at an instant, or the instant at which it shows a time.

    The parser takes FROM_UTC_TIMESTAMP(t, zone) and TO_UTC_TIMESTAMP(t, zone) of spark for it.
    """
    called = (b.source.called(node) or "").lower()
    if called in ("from_utc_timestamp", "to_utc_timestamp"):
        zones = [Constant(UTC, STRING), Constant(zone_of(b, node.args["zone"]), STRING)]
        utc = coercion.coerce(in_utc(b, coercion.as_time(b.bind(unwrapped(node.this)))), TIMESTAMP)
        return of_utc(b, call("convert_timezone", *(zones if called.startswith("from") else reversed(zones)), utc))
    if not b.rules.at_time_zone:
        zone, time = (part.sql(b.source.dialect) for part in (node.args["zone"], node.this))
        b.source.refuse(
            "AT TIME ZONE", node, f"in spark CONVERT_TIMEZONE('UTC', {zone}, {time}) converts what is in UTC"
        )
    return _at(b.bind(node.this), zone_of(b, node.args["zone"]))


@reads_name("timezone", takes=2, dialects=DATABASES, hint="CONVERT_TIMEZONE in spark")
def timezone(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TIMEZONE(zone, t) of postgres and duckdb, as t AT TIME ZONE zone."""
    zone = arguments[0].value if isinstance(arguments[0], Constant) else None
    try:
        return _at(arguments[1], known_zone(str(zone)))
    except SqlError as error:
        raise TypeClash(error.message, arguments[0], error.hint) from None


def _at(time: Expression, zone: str) -> Expression:
    if time.type.kind is not TIMESTAMP.kind:
        raise TypeClash(f"AT TIME ZONE of {time.type}", time, _TYPED)
    return clock_of(time, zone) if time.type == INSTANT else instant_of(time, zone, zoning().takes_last)


@reads(
    exp.ConvertTimezone,
    parts="source_tz target_tz timestamp",
    dialects=SPARK_FAMILY,
    hint="t AT TIME ZONE 'Europe/Berlin' converts",
)
def convert_timezone(b: ExpressionBinder, node: exp.ConvertTimezone) -> Expression:
    """CONVERT_TIMEZONE([from,] to, timestamp), both zones constants; from that of the session if it is left out."""
    source, target = node.args.get("source_tz"), zone_of(b, node.args["target_tz"])
    zones = (zoning().zone if source is None else zone_of(b, source), target)
    time = coercion.coerce(b.bind(unwrapped(node.args["timestamp"])), TIMESTAMP)
    return call("convert_timezone", *(Constant(zone, STRING) for zone in zones), time)


def zone_of(b: ExpressionBinder, node: exp.Expr) -> str:
    """The constant name of a time zone."""
    zone = b.bind(node)
    if not isinstance(zone, Constant) or not isinstance(zone.value, str):
        raise b.source.error("a time zone is needed", node, "a constant name, as in 'UTC' and 'Europe/Berlin'")
    try:
        return known_zone(zone.value)
    except SqlError as error:
        raise b.source.error(error.message, node, error.hint) from None


def in_utc(b: ExpressionBinder, time: Expression) -> Expression:
    """The time on the clock of UTC at an instant, or at spark's TIMESTAMP, which is one in the zone of the session."""
    if zoning().zone == UTC or not b.rules.timestamp_is_instant:
        return time
    return clock_of(coercion.coerce(time, INSTANT), UTC)


def of_utc(b: ExpressionBinder, clock: Expression) -> Expression:
    """The inverse: a time of the clock of UTC as spark's TIMESTAMP."""
    return session_timestamp(instant_of(clock, UTC, False)) if b.rules.timestamp_is_instant else clock


def session_timestamp(instant: Expression) -> Expression:
    """An instant as spark's TIMESTAMP: itself, and in UTC the time of the clock, as long as no session had a zone."""
    return instant if zoning().zone != UTC else clock_of(instant, UTC)


for _name in ("timestamp_seconds", "timestamp_millis", "timestamp_micros"):
    reads_name(_name, dialects=SPARK_FAMILY)(lambda b, arguments, name=_name: of_utc(b, call(name, *arguments)))


def epoch_units(function: str, b: ExpressionBinder, node: exp.Expr) -> Expression:
    """UNIX_SECONDS(t) and its like."""
    return call(function, in_utc(b, coercion.as_time(b.bind(unwrapped(node.this)))))


def at_clock(b: ExpressionBinder, instant: Expression, clock: Expression, unit: str = "") -> Expression:
    """The instant when the clock of the session shows ``clock``, to which it is moved from ``instant``.

    Of two instants Spark takes the one with the offset of before, and databases the last. But DuckDB keeps the offset
    where an interval is added, and both where the clock is truncated to a small ``unit``.
    """
    here, last, keeps = zoning(), zoning().takes_last, b.rules.keeps_offset
    by_offset = last and (unit in ("MINUTE", "SECOND") or (unit == "HOUR" and not keeps))
    if here.zone == UTC or (last and not by_offset and (unit or not keeps)):
        return instant_of(clock, here.zone, last)
    function = BY_OFFSET_OF if by_offset else KEPT_INSTANT_OF
    return call(function, clock, Constant(here.zone, STRING), instant)
