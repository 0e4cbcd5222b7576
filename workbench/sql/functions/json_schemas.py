"""FROM_JSON(s, 'a INT, b ARRAY<STRING>') in spark: texts as structs and arrays of a constant schema.

Spark itself reads them, so a text that is no JSON is a struct of NULLs, and a value of another type is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from workbench.sql.algebra.coercion import as_string
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    DataType,
    array_of,
    decimal,
    integer,
    struct_of,
)
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.syntax.dialects import SPARK_FAMILY

_HINT = "a constant schema, as in FROM_JSON(s, 'a INT, b ARRAY<STRING>')"
_PLAIN = {
    exp.DType.TINYINT: integer(8),
    exp.DType.SMALLINT: integer(16),
    exp.DType.INT: integer(32),
    exp.DType.BIGINT: integer(64),
    exp.DType.DOUBLE: DOUBLE,
    exp.DType.TEXT: STRING,
    exp.DType.VARCHAR: STRING,
    exp.DType.BOOLEAN: BOOLEAN,
    exp.DType.DATE: DATE,
}


class _NotReadError(ValueError):
    """A type of a schema is not read."""


@reads(exp.FromJson, parts="this expression", dialects=SPARK_FAMILY)
def from_json(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """FROM_JSON(s, schema)."""
    text, schema = b.bind(node.this), node.expression
    if not isinstance(schema, exp.Literal) or not schema.is_string:
        b.source.refuse("a schema of JSON that is not constant", schema, _HINT)
    try:
        type_ = _type(read := _parsed(schema.name))
    except _NotReadError as error:
        b.source.refuse(f"{error} in a schema of JSON", schema, _HINT)
    return Call("from_json", (as_string(text), Constant(_schema(read), STRING)), type_)


def _parsed(schema: str) -> exp.DataType:
    for text in (schema, f"STRUCT<{schema}>"):
        try:
            return exp.DataType.build(text, dialect="spark")
        except (sqlglot.ParseError, ValueError):
            continue
    raise _NotReadError(schema)


def _type(of: exp.DataType) -> DataType:
    match of.this:
        case exp.DType.ARRAY if len(of.expressions) == 1:
            return array_of(_type(of.expressions[0]))
        case exp.DType.STRUCT if of.expressions and all(isinstance(part, exp.ColumnDef) for part in of.expressions):
            names = [part.name for part in of.expressions]
            if len({name.lower() for name in names}) < len(names) or "_corrupt_record" in names:
                raise _NotReadError("a field that stands twice, or _corrupt_record,")
            return struct_of([(part.name, _type(part.args["kind"])) for part in of.expressions])
        case exp.DType.DECIMAL:
            digits = [int(part.name) for part in of.expressions] or [10]
            return decimal(digits[0], digits[1] if len(digits) > 1 else 0)
    if of.expressions or of.this not in _PLAIN:
        raise _NotReadError(of.sql("spark"))
    return _PLAIN[of.this]


def _schema(of: exp.DataType) -> str:
    """The schema as Spark reads it, with the bits of its numbers."""
    if of.this == exp.DType.ARRAY:
        return f"array<{_schema(of.expressions[0])}>"
    if of.this == exp.DType.STRUCT:
        return "struct<" + ",".join(f"`{part.name}`:{_schema(part.args['kind'])}" for part in of.expressions) + ">"
    return of.sql("spark")


def _from_json_sql(expression: Call, arguments: Sequence[str]) -> str:
    return f"cast(from_json({arguments[0]}, {arguments[1]}) as {expression.type.spark})"


DECLARED = [
    function("from_json(string, schema)", _from_json_sql, rule=lambda arguments: (arguments, STRING), costly=True),
]  # fmt: skip
