"""Functions of SQL text that are not one for one with ours: CASE and its kin, CAST, and text functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.functions import call, cast
from workbench.sql.algebra.types import INTEGER, STRING, DataType, Kind, parse_type
from workbench.sql.binder import temporal
from workbench.sql.syntax.dialects import SPARK_FAMILY

if TYPE_CHECKING:
    from workbench.sql.binder.scalar import ScalarBinder

_SAME_TYPE = {
    "timestamptz": "timestamp",
    "timestampltz": "timestamp",
    "timestampntz": "timestamp",
    "nvarchar": "varchar",
}


def cases(b: ScalarBinder, node: exp.Case) -> Expression:
    """CASE of both forms."""
    subject = b.bind(node.this) if node.this else None
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        tested = call("=", subject, b.bind(branch.this)) if subject else b.condition(branch.this)
        parts += [tested, b.bind(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, b.bind(default) if default is not None else Constant(None, STRING))


def if_(b: ScalarBinder, node: exp.If) -> Expression:
    """IF(condition, then, else)."""
    otherwise = node.args.get("false")
    return call("case", b.condition(node.this), b.bind(node.args["true"]),
                b.bind(otherwise) if otherwise is not None else Constant(None, STRING))  # fmt: skip


def decode(b: ScalarBinder, node: exp.DecodeCase) -> Expression:
    """DECODE finds NULL by NULL."""
    subject, *rest = (b.bind(e) for e in node.expressions)
    default = rest.pop() if len(rest) % 2 else Constant(None, STRING)
    parts: list[Expression] = []
    for search, value in zip(rest[0::2], rest[1::2], strict=True):
        parts += [call("<=>", subject, search), value]
    return call("case", *parts, default)


def nvl2(b: ScalarBinder, node: exp.Nvl2) -> Expression:
    """NVL2(x, if not null, if null)."""
    this, present, absent = b.parts(node, ["this", "true", "false"])
    return call("case", call("is_null", this), absent, present)


def extreme(b: ScalarBinder, node: exp.Greatest | exp.Least) -> Expression:
    """Spark skips NULLs; Oracle gives NULL as soon as one argument is."""
    parts = b.parts(node, ["this", "expressions"])
    made = call("greatest" if isinstance(node, exp.Greatest) else "least", *parts)
    if b.dialect != "oracle":
        return made
    absent = [call("is_null", p) for p in parts]
    return call("case", call("or", *absent), Constant(None, STRING), made)


def converted(b: ScalarBinder, node: exp.Cast | exp.TryCast) -> Expression:
    """CAST, which gives NULL for a value that does not convert."""
    to = node.args["to"]
    if isinstance(node.this, exp.Literal) and to.this == exp.DType.TIMESTAMP and _holds_fraction(to, node.this):
        # Some dialects give a TIMESTAMP constant a number of digits, which it has no use for.
        to = exp.DataType(this=to.this)
    type_ = _type(b, to)
    value = b.bind(node.this)
    limit = node.args["to"].expressions
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP):
        return temporal.converted(b, value, type_, node)
    if type_ == INTEGER and b.dialect == "oracle" and value.type.kind in (Kind.DECIMAL, Kind.DOUBLE):
        value = call("round", value)  # Oracle's INTEGER is a NUMBER, to which it rounds
    result = b.written(value, node) if type_ == STRING else cast(value, type_)
    if type_ == STRING and limit:
        return call("substr", result, Constant(1, INTEGER), Constant(int(limit[0].name), INTEGER))
    return result


def _holds_fraction(to: exp.DataType, constant: exp.Literal) -> bool:
    """Whether a TIMESTAMP with a number of digits holds all fractional digits of a constant."""
    digits = constant.name.partition(".")[2]
    return all(len(digits) <= int(parameter.name) for parameter in to.expressions)


def _type(b: ScalarBinder, node: exp.DataType) -> DataType:
    name = str(node.this.value if hasattr(node.this, "value") else node.this).lower()
    name = _SAME_TYPE.get(name, name)
    if name in ("decimal", "numeric"):
        digits = [p.name for p in node.expressions]
        # Oracle's NUMBER without digits holds any number; Spark's decimal is decimal(10,0).
        if not digits and b.dialect not in (*SPARK_FAMILY, "oracle"):
            b.source.refuse(
                f"{name.upper()} without digits",
                node.parent or node,
                "databases differ in how many it keeps: DECIMAL(p,s)",
            )
        default = "(38,10)" if b.dialect == "oracle" else "(10,0)"
        name += f"({','.join(digits)})" if digits else default
    elif name == "char" or (node.expressions and name != "varchar"):  # CHAR pads with blanks
        b.source.refuse(f"the type {node.sql()}", node.parent or node)
    try:
        return parse_type(name)
    except SqlError:
        b.source.refuse(f"the type {node.sql()}", node.parent or node)


def substring(b: ScalarBinder, node: exp.Substring) -> Expression:
    """SUBSTR, where position 0 means 1."""
    parts = b.parts(node, ["this", "start", "length"])
    if len(parts) > 1 and parts[1] == Constant(0, INTEGER) and b.dialect in (*SPARK_FAMILY, "oracle"):
        parts[1] = Constant(1, INTEGER)
    part = call("substr", *parts)
    if b.dialect != "oracle":
        return part
    start, *length = parts[1:]
    if parts[1] == Constant(1, INTEGER) and all(_positive(n) for n in length):
        return part
    if not _positive(start):
        # Before the first character there is nothing in Oracle, where Spark begins with what is there.
        outside = call("<", call("length", parts[0]), call("neg", start))
        part = call("case", outside, Constant(None, STRING), part)
    return not_empty(b, part)


def _positive(expression: Expression) -> bool:
    return isinstance(expression, Constant) and isinstance(expression.value, int) and expression.value > 0


def not_empty(b: ScalarBinder, result: Expression) -> Expression:
    """A text that a function made; an empty one is NULL in Oracle."""
    return call("nullif", result, Constant("", STRING)) if b.dialect == "oracle" else result


def left(b: ScalarBinder, node: exp.Left) -> Expression:
    """LEFT(text, n)."""
    return call("substr", b.bind(node.this), Constant(1, INTEGER), b.bind(node.expression))


def position(b: ScalarBinder, node: exp.StrPosition) -> Expression:
    """INSTR, POSITION and their like: the first occurrence, counted from 1."""
    for key in ("position", "occurrence"):
        if node.args.get(key) is not None and b.bind(node.args[key]) != Constant(1, INTEGER):
            b.source.refuse(f"{b.source.called(node)} of another place than the first", node, "it finds the first")
    return call("instr", *b.parts(node, ["this", "substr"]))


def trim(b: ScalarBinder, node: exp.Trim) -> Expression:
    """TRIM, LTRIM and RTRIM, of blanks or of a set of characters."""
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
    return not_empty(b, call(name, *b.parts(node, ["this", "expression"])))


def pad(b: ScalarBinder, node: exp.Pad) -> Expression:
    """LPAD and RPAD to a constant length."""
    length = b.bind(node.expression)
    if not (isinstance(length, Constant) and isinstance(length.value, int) and length.value <= 65_535):
        b.source.refuse("padding to a length that is not a constant below 65536", node.expression)
    fill = b.bind(node.args["fill_pattern"]) if node.args.get("fill_pattern") else Constant(" ", STRING)
    return call("lpad" if node.args.get("is_left") else "rpad", b.bind(node.this), length, fill)


def replaced(b: ScalarBinder, node: exp.Replace) -> Expression:
    """REPLACE, with nothing when no replacement is given."""
    subject, searched, *by = b.parts(node, ["this", "expression", "replacement"])
    if b.dialect == "oracle" and is_null(searched):
        return subject
    # In Oracle '' is NULL, and stands for nothing here.
    replacement = by[0] if by and not (b.dialect == "oracle" and is_null(by[0])) else Constant("", STRING)
    made = call("replace", subject, searched, replacement)
    return not_empty(b, made) if replacement == Constant("", STRING) else made


def remainder(b: ScalarBinder, node: exp.Mod) -> Expression:
    """MOD and %; Oracle's MOD by zero is its first argument."""
    value, divisor = b.parts(node, ["this", "expression"])
    made = call("%", value, divisor)
    if b.dialect != "oracle" or (isinstance(divisor, Constant) and divisor.value):
        return made
    return call("case", call("=", divisor, Constant(0, INTEGER)), value, made)


def log(b: ScalarBinder, node: exp.Log) -> Expression:
    """LOG(x) and LOG(base, x)."""
    if node.expression is None:
        if b.dialect == "oracle":
            b.source.refuse("LOG without a base", node, "write LN(x), or LOG(10, x)")
        return call("ln", b.bind(node.this))
    base, value = b.bind(node.this), b.bind(node.expression)
    if base == Constant(10, INTEGER):
        return call("log10", value)
    return call("/", call("ln", value), call("ln", base))


def rounded(b: ScalarBinder, node: exp.Round) -> Expression:
    """ROUND to a constant number of digits, halves away from zero."""
    return call("round", *b.parts(node, ["this", "decimals"]))


HANDLERS: dict[str, tuple[str, Callable[[ScalarBinder, Any], Expression]]] = {
    "Case": ("this ifs default", cases),
    "If": ("this true false", if_),
    "DecodeCase": ("expressions", decode),
    "Nvl2": ("this true false", nvl2),
    "Greatest": ("this expressions", extreme),
    "Least": ("this expressions", extreme),
    "Cast": ("this to", converted),
    "TryCast": ("this to", converted),
    "Substring": ("this start length", substring),
    "Left": ("this expression", left),
    "StrPosition": ("this substr position occurrence", position),
    "Trim": ("this expression position", trim),
    "Pad": ("this expression fill_pattern", pad),
    "Replace": ("this expression replacement", replaced),
    "Mod": ("this expression", remainder),
    "Log": ("this expression", log),
    "Round": ("this decimals", rounded),
}
