"""The Spark SQL of reading JSON by a path, as ``jsonb`` of PostgreSQL reads it.

Spark parses a text into a VARIANT, which knows the kind and the value of everything, but no zeros at the end of a
number: PostgreSQL writes 12.50 as 12.50. The digits are found in the text itself: they are those of the one number
there that has the value.

What cannot surely be read as PostgreSQL does is NULL here: as texts objects, arrays, numbers with exponents, and
numbers that stand in the text with more and with fewer zeros; and all of a text in which a key stands twice in an
object. A check of the query tells these from NULL (``sql/checks.py``). Text that is no JSON is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Call
from workbench.sql.functions.declaration import Function, Render, function, let

FIRST = "[00]"
"""The step of ``j->0`` in PostgreSQL, where it is a scalar itself, too; in Spark's paths it is the first element."""
JSON_AT = "json_at"
"""An element of an array of JSON in FROM, of which only arrows and functions of JSON can read something."""
UNREAD = {
    **{name: f"{name}_unread" for name in ("json_text", "json_is", "json_has_element")},
    **dict.fromkeys(("json_type", "json_length", "json_has", "json_elements"), "json_repeats_key"),
}
"""A function that cannot read all JSON -> the one of the same text, and path, that says whether it does not."""

_KIND = "regexp_extract(schema_of_variant({}), '^[A-Z]+', 0)"
_REPEATS_KEY = "(get_json_object({text}, '$') is not null and try_parse_json({text}) is null)"
_ELEMENTS = "try_variant_get(try_parse_json({text}), {path}, 'array<variant>')"
_FRACTIONS = "regexp_extract_all(x.text, '-?[0-9]+\\\\.[0-9]+', 0)"
_IS_WHOLE = "(x.digits = y.plain and x.digits rlike '^-?[0-9]+$')"
_ENDS_FIRST = re.compile(re.escape(FIRST) + r"('\)?)$")
"""The end of a path, which is a text or, below an element in FROM, one behind another."""
_AS_JSON = "to_json(parse_json({compared}))"


def _value(text: str, path: str) -> str:
    """What is at a path; the first element of what is no array and no object is that itself."""
    value = f"try_variant_get(try_parse_json({text}), {path}, 'variant')"
    if not _ENDS_FIRST.search(path):
        return value
    whole = _value(text, _before_first(path))
    scalar = let("w", whole, f"if({_KIND.format('w')} in ('ARRAY', 'OBJECT'), null, w)")
    return f"coalesce({value}, {scalar})"


def _digits(text: str, path: str) -> str:
    """What is there as Spark writes it."""
    digits = f"get_json_object({text}, {path})"
    return f"coalesce({digits}, {_digits(text, _before_first(path))})" if _ENDS_FIRST.search(path) else digits


def _before_first(path: str) -> str:
    return _ENDS_FIRST.sub(r"\1", path)


def _read(fraction: str, body: str) -> str:
    """SQL over ``x.value``, what is at the path, ``y.kind``, and ``z``, the digits of a number if they are sure.

    ``fraction``: the digits of a number that is not whole, over ``x.text`` and ``y.plain``.
    """
    value = "named_struct('text', {text}, 'value', {value}, 'digits', {digits})"
    kind = f"named_struct('kind', {_KIND.format('x.value')}, 'plain', cast(x.value as string))"
    return let("x", value, let("y", kind, let("z", f"if({_IS_WHOLE}, y.plain, {fraction})", body)))


def _rendered(template: str) -> Render:
    def render(call: Call, arguments: Sequence[str]) -> str:
        text, path, compared = (*arguments, "", "")[:3]
        return template.format(
            text=text, path=path, compared=compared, value=_value(text, path), digits=_digits(text, path)
        )

    return render


_WITH_VALUE = f"array_distinct(filter({_FRACTIONS}, n -> regexp_replace(n, '\\\\.?0+$', '') = y.plain))"
_OF_POSTGRES = let("n", _WITH_VALUE, "if(size(n) = 1, n[0], null)")
_TEXT = "(case when y.kind in ('STRING', 'BOOLEAN') then y.plain when y.kind in ('BIGINT', 'DECIMAL') then z end)"
_IS_UNREAD = (
    "(case when x.value is null or y.kind in ('STRING', 'BOOLEAN', 'VOID') then false"
    " when y.kind in ('BIGINT', 'DECIMAL') then z is null else true end)"
)


def _refused(call: Call, arguments: Sequence[str]) -> str:
    what = "a value of JSON as a whole is not supported"
    raise UnsupportedError(what, hint="write ->> for the text of a part, or JSONB_ARRAY_ELEMENTS_TEXT")


def _reads(signature: str, template: str, unread: str = "") -> list[Function]:
    """A function of a text of JSON, a constant path such as ``$['a'][0]``, and what is compared; SQL has operators.

    Args:
        signature: of the function.
        template: over the text, the path, what is at the path, and what is compared.
        unread: whether the function cannot read what is at the path.
    """
    # A condition is false of what is not there, and of NULL.
    reads = function(signature, _rendered(template), inner=True, of_null=signature.endswith("boolean"))
    if not unread:
        return [reads]
    cannot = _rendered(f"({_REPEATS_KEY} or {unread})")
    return [reads, function(f"{UNREAD[reads.name]}(string, string): boolean", cannot, inner=True, of_null=True)]


_KIND_OF_VALUE = let(
    "x",
    _KIND.format("{value}"),
    "(case when x = 'VOID' then 'null' when x in ('BIGINT', 'DECIMAL', 'DOUBLE') then 'number' else lower(x) end)",
)
_AS_TEXTS = f"transform({_ELEMENTS}, x -> to_json(x))"
_IS_DOUBLE = f"coalesce({_KIND.format('{value}')} = 'DOUBLE', false)"
_HAS_DOUBLE = f"coalesce(exists({_ELEMENTS}, x -> {_KIND.format('x')} = 'DOUBLE'), false)"

DECLARED = [
    *_reads("json_text(string, string): string", _read(_OF_POSTGRES, _TEXT), _read(_OF_POSTGRES, _IS_UNREAD)),
    # Networks of earlier versions ask it.
    function("json_text_in_duckdb_unread(string, string): boolean", "false", inner=True, of_null=True),
    *_reads("json_type(string, string): string", _KIND_OF_VALUE),
    *_reads("json_length(string, string): integer", f"cast(array_size({_ELEMENTS}) as bigint)"),
    *_reads("json_elements(string, string): array<string>", _AS_TEXTS),
    *_reads("json_has(string, string): boolean", "({value} is not null)"),
    *_reads("json_is(string, string, string): boolean",
            f"coalesce(to_json({{value}}) = {_AS_JSON}, false)", _IS_DOUBLE),
    *_reads("json_has_element(string, string, string): boolean",
            f"coalesce(array_contains({_AS_TEXTS}, {_AS_JSON}), false)", _HAS_DOUBLE),
    *_reads("json_repeats_key(string): boolean", _REPEATS_KEY),
    function(f"{JSON_AT}(string, string): string", _refused, inner=True),
]  # fmt: skip
