"""JSON in postgres, read as ``jsonb``, and in duckdb: operators on texts of JSON, with constant keys and places.

j->'a'->>'b'   j->>0   j#>'{a,0}'->>'b'   j#>>'{a,0}'   JSONB_EXTRACT_PATH_TEXT(j, 'a')   JSONB_TYPEOF(j->'a')
JSONB_ARRAY_LENGTH(j->'a')   j ? 'a'   j ?| ARRAY['a', 'b']   j @> '{"a": 1}'
in duckdb: j->'a'->>'b'   j->>'$.a[0]'

Of the type json arrows read the same, since what it writes otherwise, as 1e3 or -0, disables the query.

A chain of arrows is one path into the text it begins with. An element of a path in braces that is a number is a place
in an array or a key of an object, so such a path is several.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.hints import fields_hint
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, Kind
from workbench.sql.functions.arrays.postgres import contains_all, is_array
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import COMPARED
from workbench.sql.functions.json_values import FIRST, JSON_AT
from workbench.sql.functions.reading import ExpressionBinder, hint_of_parts, reads, reads_call, refuse_elsewhere
from workbench.sql.syntax.dialects import DATABASES, ONLY_POSTGRES

_Step = str | int
ELEMENTS = ("jsonb_array_elements", "jsonb_array_elements_text")
"""Functions that give a row for each element of an array."""
_MOST_PATHS = 8
_CONSTANTS = (TokenType.STRING, TokenType.NUMBER)
_ELEMENT = re.compile(r'"[^"\\]+"|[^\s",{}\\]+')
_ELSEWHERE = "write GET_JSON_OBJECT(s, '$.a') in spark, and j->>'a' in duckdb"
_reads = partial(reads, dialects=ONLY_POSTGRES, hint=_ELSEWHERE)
_reads_call = partial(reads_call, dialects=ONLY_POSTGRES, hint=_ELSEWHERE)
_HINT = "write a constant key or place: j->'a', j->0, j#>'{a,0}'"
_IN_PARENTHESES = "a sign is stronger than an arrow: CAST(j ->> 'a' AS INT) + 1"


@dataclass(frozen=True)
class _Place:
    """Where in texts of JSON a value is: the text, and the paths, of which it has one at most.

    Attributes:
        before: what all paths begin with, where that is no constant: the element of an array.
    """

    text: Expression
    paths: tuple[tuple[_Step, ...], ...] = ((),)
    before: Expression | None = None

    def then(self, *steps: Sequence[_Step]) -> _Place:
        """The value at one of some steps in it."""
        paths = tuple((*path, *more) for path in self.paths for more in itertools.product(*steps))
        return replace(self, paths=paths)

    def call(self, function: str, *arguments: Expression) -> Expression:
        """A function of the value at the path."""
        calls = self._calls(function, arguments)
        return calls[0] if len(calls) == 1 else call("coalesce", *calls)

    def holds(self, function: str, *arguments: Expression) -> Expression:
        """A condition on the value at the path, false where there is none."""
        calls = self._calls(function, arguments)
        return calls[0] if len(calls) == 1 else call("or", *calls)

    def _calls(self, function: str, arguments: Sequence[Expression]) -> list[Expression]:
        return [call(function, self.text, self._path(path), *arguments) for path in self.paths]

    @property
    def path(self) -> Expression:
        """The first of its paths."""
        return self._path(self.paths[0])

    def _path(self, path: tuple[_Step, ...]) -> Expression:
        if self.before is None:
            return Constant(f"${_path_text(path)}", STRING)
        return call("||", self.before, Constant(_path_text(path), STRING)) if path else self.before


@reads(exp.JSONExtractScalar, parts="this expression only_json_types json_type", dialects=COMPARED)
@_reads(exp.JSONBExtractScalar, parts="this expression", dialects=DATABASES)
@_reads_call("jsonb_extract_path_text")
def text(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """The text of what is at a path, ``j->>'a'``; in spark GET_JSON_OBJECT(j, '$.a')."""
    if not b.rules.json_arrows and isinstance(node, exp.JSONExtractScalar):
        if (called := b.source.called(node) or "->>").upper() not in ("GET_JSON_OBJECT", "JSON_TUPLE"):
            hint = hint_of_parts(b, node) or "write GET_JSON_OBJECT(s, '$.a')"
            b.source.refuse(f"{called.upper()} in {b.dialect}", node, hint)
        if not isinstance(node.expression, exp.JSONPath):
            b.source.refuse("a JSON path that is not constant", node)
        try:
            path = node.expression.sql("spark").strip("'")
        except ValueError:  # the parser reads more of JSONPath than Spark
            b.source.refuse("this JSON path", node, "Spark reads keys, places and *, as in '$.a[0].b'")
        return call("get_json_object", b.bind(node.this), Constant(path, STRING))
    return _below(b, node).call(b.rules.json_arrows)


@_reads(exp.JSONExtract, exp.JSONBExtract, parts="this expression only_json_types", dialects=DATABASES)
@_reads_call("jsonb_extract_path", dialects=DATABASES)
def value(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """``j->'a'`` as a value, which is JSON in duckdb, and jsonb in postgres."""
    return _below(b, node).call("json_part" if b.rules.json_keys_as_they_are else "jsonb_at")


def call_of_json(function: str) -> Callable[[ExpressionBinder, exp.Anonymous], Expression]:
    """A function of one value of JSON."""

    def bind(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
        if len(node.expressions) != 1:
            raise b.source.error(f"{node.name.upper()} takes 1 argument, not {len(node.expressions)}", node)
        return _place(b, node.expressions[0]).call(function)

    return bind


@_reads(exp.JSONBContainsTopKey, parts="this expression")
def has_key(b: ExpressionBinder, node: exp.JSONBContainsTopKey) -> Expression:
    """``j ? 'a'``: a key of an object, a text in an array, or the text itself."""
    if not node.expression.is_string:
        b.source.refuse("a key of JSON that is not constant", node.expression, "as in j ? 'a'")
    place = _jsonb_place(b, node.this)
    return _where_there(place, _has(b, place, node.expression.name, node))


def has_keys(function: str) -> Callable[[ExpressionBinder, exp.Binary], Expression]:
    """``j ?| ARRAY['a', 'b']`` and ``j ?& ARRAY['a', 'b']``: one of the keys, or all of them."""

    def bind(b: ExpressionBinder, node: exp.Binary) -> Expression:
        keys = node.expression
        if (
            not isinstance(keys, exp.Array)
            or not keys.expressions
            or not all(key.is_string for key in keys.expressions)
        ):
            b.source.refuse("keys of JSON that are not constant", keys, "as in j ?| ARRAY['a', 'b']")
        place = _jsonb_place(b, node.this)
        found = [_has(b, place, key.name, node) for key in keys.expressions]
        return _where_there(place, reduce(lambda x, y: call(function, x, y), found))

    return bind


def _has(b: ExpressionBinder, place: _Place, key: str, node: exp.Expr) -> Expression:
    """Whether what is at a place has a key, or a text as an element, or is the text."""
    as_json = Constant(json.dumps(key, ensure_ascii=False), STRING)
    found = [place.then([_checked(b, key, node)]).holds("json_has")]
    found += [place.holds(function, as_json) for function in ("json_is", "json_has_element")]
    return call("or", *found)


@_reads(exp.ArrayContainsAll, exp.ArrayContainedBy, parts="this expression")
def contains(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """``j @> '{"a": 1}'``, of a constant, and ``'{"a": 1}' <@ j``."""
    whole, part = node.this, node.expression
    if is_array(b, whole) or is_array(b, part):
        return contains_all(b, node.this, node.expression, isinstance(node, exp.ArrayContainedBy))
    if isinstance(node, exp.ArrayContainedBy):
        whole, part = part, whole
    constant = part.this if _is_jsonb(part) else part
    try:
        wanted = json.loads(constant.name if constant.is_string else "", parse_float=Decimal)
    except ValueError:
        b.source.refuse("@> or <@ of a part that is no constant JSON", part, "as in j @> '{\"a\": 1}'")
    place = _jsonb_place(b, whole)
    conditions = list(_contained(b, place, wanted, node.expression))
    if not isinstance(wanted, (dict, list)):
        conditions = [call("or", *conditions, place.holds("json_has_element", _constant(wanted)))]
    return _where_there(place, reduce(lambda x, y: call("and", x, y), conditions))


def _contained(b: ExpressionBinder, place: _Place, wanted: Any, node: exp.Expr) -> Iterable[Expression]:
    """What must hold for a constant to be contained in what is at a place."""
    if not isinstance(wanted, (dict, list)):
        yield place.holds("json_is", _constant(wanted))
        return
    kind = "object" if isinstance(wanted, dict) else "array"
    is_kind = call("=", place.call("json_type"), Constant(kind, STRING))
    yield call("coalesce", is_kind, Constant(False, BOOLEAN))
    if isinstance(wanted, dict):
        for key, value_ in wanted.items():
            yield from _contained(b, place.then([_checked(b, key, node)]), value_, node)
        return
    for element in wanted:
        if isinstance(element, (dict, list)):
            b.source.refuse("@> of an array of objects or arrays", node, "compare a part of it: j->'a'->0 @> …")
        yield place.holds("json_has_element", _constant(element))


def _where_there(place: _Place, condition: Expression) -> Expression:
    """A condition on the value at a path, NULL where there is none."""
    return call("case", call("is_null", place.call("json_type")), Constant(None, STRING), condition)


def _constant(value_: object) -> Constant:
    """A number, text, truth value or null as JSON."""
    if isinstance(value_, Decimal):
        return Constant(f"{value_:f}", STRING)
    return Constant(json.dumps(value_, ensure_ascii=False), STRING)


# ---- elements in FROM ------------------------------------------------------------------------------------------------


def is_elements(node: exp.Expr) -> bool:
    """Whether it is JSONB_ARRAY_ELEMENTS(j) or JSONB_ARRAY_ELEMENTS_TEXT(j)."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in ELEMENTS


def elements(b: ExpressionBinder, node: exp.Anonymous) -> tuple[Expression, Callable[[Expression], Expression]]:
    """An array with as many elements, and what gives the element of a place from 1 on."""
    refuse_elsewhere(b, ONLY_POSTGRES, node, hint=_ELSEWHERE)
    if len(node.expressions) != 1:
        raise b.source.error(f"{node.name.upper()} takes 1 argument, not {len(node.expressions)}", node)
    whole = _place(b, node.expressions[0])
    if len(whole.paths) != 1:
        b.source.refuse("elements of JSON at a path with numbers", node, "j->'a'->0 says that 0 is a place")

    def element(place: Expression) -> Expression:
        number = cast(call("-", place, Constant(1, INTEGER)), STRING)
        begins = call("||", whole.path, Constant("[", STRING))
        path = call("||", call("||", begins, number), Constant("]", STRING))
        return call("json_text" if node.name.lower().endswith("_text") else JSON_AT, whole.text, path)

    return whole.call("json_elements"), element


@_reads_call(*ELEMENTS)
def refuse_elements(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """JSONB_ARRAY_ELEMENTS outside of FROM."""
    b.source.refuse(f"{node.name.upper()} there", node, "write FROM t, jsonb_array_elements(j->'a') AS x(v)")


# ---- places ----------------------------------------------------------------------------------------------------------


def _place(b: ExpressionBinder, node: exp.Expr) -> _Place:
    """The path of a chain of arrows; any text is JSON itself."""
    node = node.unnest()
    if _is_jsonb(node) and _is_arrow(node.this.unnest()):
        node = node.this.unnest()
    if _is_arrow(node):
        return _below(b, node)
    read = b.bind(node.this if _is_jsonb(node) else node)
    if read.type.kind is not Kind.STRING:
        hint = fields_hint(read.type) if read.type.kind is Kind.STRUCT else "JSON is read of a column of texts"
        hint = "it is an array, of which x[1] is an element" if read.type.kind is Kind.ARRAY else hint
        raise b.source.error(f"JSON is a text here, not {read.type}", node, hint)
    if isinstance(read, Call) and read.function == JSON_AT:
        return _Place(read.arguments[0], before=read.arguments[1])
    return _Place(read)


def _jsonb_place(b: ExpressionBinder, node: exp.Expr) -> _Place:
    """A place for an operator that the type json has not."""
    cast_ = next((part for part in node.walk() if _is_jsonb(part) and part.args["to"].this == exp.DType.JSON), None)
    if cast_ is not None:
        b.source.refuse("this operator of the type JSON", cast_, "write ::jsonb")
    return _place(b, node)


def _is_arrow(node: exp.Expr) -> bool:
    """Whether it means a value of JSON within another."""
    return isinstance(node, (exp.JSONExtract, exp.JSONBExtract)) or node.name.lower() == "jsonb_extract_path"


def _below(b: ExpressionBinder, node: exp.Expr) -> _Place:
    """What an arrow, or a function with a path, points to in the value before it."""
    if isinstance(node, exp.Anonymous):
        refuse_elsewhere(b, ONLY_POSTGRES, node, hint=_ELSEWHERE)
        if not all(each.is_string for each in node.expressions[1:]) or len(node.expressions) < 2:
            b.source.refuse("a path of JSON that is not constant", node, _HINT)
        steps = [_either(b, each.name, node) for each in node.expressions[1:]]
        place = _place(b, node.expressions[0]).then(*steps)
    else:
        place = _place(b, node.this).then(*_steps(b, node))
    if len(place.paths) > _MOST_PATHS:
        b.source.refuse("a path of JSON with that many numbers", node, "j->'a'->0 says that 0 is a place")
    return place


def _steps(b: ExpressionBinder, node: exp.Expr) -> list[list[_Step]]:
    """The steps of an arrow, each with what it may mean."""
    path = node.expression
    if isinstance(node, (exp.JSONBExtract, exp.JSONBExtractScalar)):
        return [_either(b, each, path) for each in _in_braces(b, path)]
    if b.rules.json_keys_as_they_are:
        path = _of_duckdb(b, node)
    if not isinstance(path, exp.JSONPath):
        is_sum = isinstance(path, (exp.Add, exp.Sub, exp.Mul, exp.Div))
        b.source.refuse("this path of JSON", path, _IN_PARENTHESES if is_sum else _HINT)
    ambiguous = not node.args.get("only_json_types") and not b.rules.json_keys_as_they_are  # JSON_EXTRACT_PATH(j, '0')
    steps: list[list[_Step]] = []
    for part in path.expressions[1:]:
        if not isinstance(part, (exp.JSONPathKey, exp.JSONPathSubscript)) or not isinstance(part.this, (str, int)):
            b.source.refuse("this path of JSON", node, _HINT)
        if isinstance(part, exp.JSONPathSubscript):
            is_first = not b.rules.json_keys_as_they_are and not ambiguous and part.this == 0
            steps.append([part.this, str(part.this)] if ambiguous else [FIRST if is_first else part.this])
        else:
            if str(part.this)[:1] == "$" and not b.rules.json_keys_as_they_are:
                b.source.note("a key begins with $ here, and is no path", node, "write j #>> '{a,b}' for the path a.b")
            steps.append([_checked(b, str(part.this), node)])
    if not steps and not b.rules.json_keys_as_they_are:
        b.source.refuse("this path of JSON", node, _HINT)
    return steps


def _of_duckdb(b: ExpressionBinder, node: exp.Expr) -> exp.Expr:
    """The path of an arrow in duckdb: a key as it is, unless it begins with ``$``; sqlglot divides keys at dots."""
    depth, base = 0, node.this.unnest()
    while _is_arrow(base):
        depth, base = depth + 1, base.this.unnest()
    place = b.source.of(base)
    end = (place["position"] or 0) + place["length"]
    constants = (token for token in b.source.tokens if token.start >= end and token.token_type in _CONSTANTS)
    word = next(itertools.islice(constants, depth, None), None)
    path: exp.Expr = node.expression
    if word is None or not isinstance(path, (exp.JSONPath, exp.Literal)):
        return path
    if word.text[:1] == "$" or (
        isinstance(path, exp.JSONPath) and isinstance(path.expressions[-1], exp.JSONPathSubscript)
    ):
        return path
    if word.text[:1] == "/" or word.text.isdigit():  # where a number in quotes is a key or a place
        b.source.refuse("this path of JSON", node, _HINT)
    return exp.JSONPath(expressions=[exp.JSONPathRoot(), exp.JSONPathKey(this=word.text)])


def _in_braces(b: ExpressionBinder, node: exp.Expr) -> list[str]:
    """The elements of ``'{a,0}'`` or of ``ARRAY['a', '0']``."""
    if isinstance(node, exp.Array) and all(each.is_string for each in node.expressions):
        return [each.name for each in node.expressions]
    text = node.name.strip() if node.is_string else ""
    elements = [each.strip() for each in text[1:-1].split(",")] if text[:1] == "{" and text[-1:] == "}" else []
    plain = all(_ELEMENT.fullmatch(each) and each.upper() != "NULL" for each in elements)
    if not elements or not plain:
        b.source.refuse("this path of JSON", node, _HINT)
    return [each.strip('"') for each in elements]


def _either(b: ExpressionBinder, element: str, node: exp.Expr) -> list[_Step]:
    """What an element of a path in braces may mean."""
    if re.fullmatch(r"-\d+", element):
        b.source.refuse("a place of JSON from the end", node, "places count from 0")
    key = _checked(b, element, node)
    return [int(element), key] if element.isdigit() else [key]


def _checked(b: ExpressionBinder, key: str, node: exp.Expr) -> str:
    if not key or set(key) & set("'\"\\"):
        b.source.refuse("a key of JSON that is empty or has quotes", node, "write a key without them")
    return key


def _path_text(path: Iterable[_Step]) -> str:
    return "".join(step if step == FIRST else f"['{step}']" if isinstance(step, str) else f"[{step}]" for step in path)


def _is_jsonb(node: exp.Expr) -> bool:
    """Whether it is ``j::jsonb``; JSON is a text in duckdb, too."""
    return isinstance(node, exp.Cast) and node.args["to"].this in (exp.DType.JSONB, exp.DType.JSON)


_reads(exp.JSONBContainsAnyTopKeys, parts="this expression")(has_keys("or"))
_reads(exp.JSONBContainsAllTopKeys, parts="this expression")(has_keys("and"))
_reads_call("json_typeof", "jsonb_typeof")(call_of_json("json_type"))
_reads_call("jsonb_array_length", "json_array_length")(call_of_json("json_length"))
