"""Structs: STRUCT(a AS x, b), NAMED_STRUCT('x', a), and their fields, ``s.x``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER, STRING, DataType, Kind, struct_of
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Arguments, function
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.stored_values import with_names
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY


@reads(
    exp.Struct,
    parts="expressions",
    dialects=SPARK_FAMILY | ONLY_DUCKDB,
    what="a struct",
    hint="write it in spark: STRUCT(a AS x, b AS y)",
)
def struct(b: ExpressionBinder, node: exp.Struct) -> Expression:
    """A struct of named values; the parser gives names to those that have none."""
    named: list[tuple[str, Expression]] = []
    for place, part in enumerate(node.expressions, start=1):
        if isinstance(part, exp.PropertyEQ):
            named.append((part.this.name, b.bind(part.expression)))
        elif b.rules.fields_have_names:
            raise b.source.error("a field of a struct has a name", part, "write {'x': a}")
        else:
            named.append((f"col{place}", b.bind(part)))
    try:
        type_ = struct_of([(name, value.type) for name, value in named])
    except SqlError as error:
        raise b.source.error(error.message, node, error.hint) from None
    return Call("struct", tuple(value for _, value in named), type_)


@reads(exp.StructExtract, parts="this expression", dialects=ONLY_DUCKDB)
def extracted(b: ExpressionBinder, node: exp.StructExtract) -> Expression:
    """STRUCT_EXTRACT(s, 'x'), which is ``s.x``."""
    if not isinstance(node.expression, exp.Literal) or not node.expression.is_string:
        b.source.refuse("STRUCT_EXTRACT by what is no constant name", node.expression, "as in STRUCT_EXTRACT(s, 'x')")
    return field(b, b.bind(node.this), node.expression.name, node)


def fields(value: Expression) -> list[tuple[str, Expression]]:
    """The fields of a struct by their names."""
    return [(name, call("field", value, Constant(place, INTEGER))) for place, (name, _) in enumerate(value.type.fields)]


def column_before_field(node: exp.Column) -> exp.Column | None:
    """``t.s`` of ``t.s.f``, which may be a column with a field."""
    outer = [node.args[key].copy() for key in ("table", "db", "catalog") if node.args.get(key) is not None]
    return exp.Column(**dict(zip(("this", "table", "db"), outer, strict=False))) if outer else None


def field(b: ExpressionBinder, value: Expression, name: str, node: exp.Expr) -> Expression:
    """A field of a struct, by its name.

    Raises:
        SqlError: it has no such field, or is no struct.
    """
    if not value.type.fields:
        before = node.sql()[: -len(name) - 1]
        hints = {
            Kind.ARRAY: f"{before}[{name}] is an element of it"
            if name.isdigit()
            else f"CARDINALITY({before}) is how many it has"
            if name.lower() in ("length", "size", "len", "count")
            else f"TRANSFORM(x, v -> v.{name}) has those of an array",
            Kind.MAP: f"{before}['{name}'] is a value of the map",
        }
        of_json = f"{before} ->> '{name}'" if b.rules.json_arrows else f"GET_JSON_OBJECT({before}, '$.{name}')"
        if value.type.kind is Kind.STRING:
            hints[Kind.STRING] = f"it has no fields: write {before}, of JSON {of_json}"
        part = f"; EXTRACT({name.upper()} FROM {before}) is a part of a time" if value.type.temporal else ""
        if part and name.lower() in ("date", "dt"):
            part = f"; CAST({before} AS DATE) is its day, EXTRACT(YEAR FROM {before}) a part of it"
        hint = hints.get(value.type.kind, f"it has no fields: write {before}{part}")
        raise b.source.error(f"the value before .{name} is no struct, but {value.type}", node, hint)
    names = [known for known, _ in value.type.fields]
    if name.lower() not in names:
        hint = nearest(name, names) or f"it has {', '.join(names[:8])}"
        raise b.source.error(f"the struct has no field {name}", node, hint)
    return call("field", value, Constant(names.index(name.lower()), INTEGER))


def _struct_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """STRUCT; the binder names the fields."""
    return arguments, struct_of([(f"col{place}", a.type) for place, a in enumerate(arguments, start=1)])


def _field_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A field of a struct, by its place."""
    place = arguments[1]
    assert isinstance(place, Constant) and isinstance(place.value, int)
    return arguments, arguments[0].type.fields[place.value][1]


def _json_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """TO_JSON of a struct, an array or a map."""
    (value,) = arguments
    if value.type.kind not in (Kind.STRUCT, Kind.ARRAY, Kind.MAP):
        raise TypeClash(
            f"a struct, an array or a map is needed, not {value.type}", value, "as in TO_JSON(STRUCT(a, b))"
        )
    return arguments, STRING


def _struct(expression: Call, arguments: Sequence[str]) -> str:
    """STRUCT, whose fields are called by their places."""
    fields = (f"'f{place}', {argument}" for place, argument in enumerate(arguments))
    return f"named_struct({', '.join(fields)})"


DECLARED = [
    function("struct(field...)", _struct, rule=_struct_type, of_null=True),
    function("field(struct, place)", lambda call, arguments: f"({arguments[0]}).f{arguments[1].removesuffix('L')}",
             rule=_field_type),
    function("to_json(value)", rule=_json_type, nodes=[exp.JSONFormat],
             spark=lambda call, arguments: f"to_json({with_names(arguments[0], call.arguments[0].type)})"),
]  # fmt: skip
