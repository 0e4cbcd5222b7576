"""The codec of all that a catalog stores: immutable dataclasses as JSON text and back, exactly.

One ``cattrs`` converter follows the annotations of the classes, so a class needs no code here. The rules of its own:

- An object of a union of classes says its class under ``"is"``: ``{"is":"Column","name":"a","type":"integer"}``.
- A type is its name: ``"decimal(15,2)"``. An enumeration is its value.
- A query inside a query that stands in several places is written once, and then as ``{"again":3}``: the fourth that is
  complete. So outer joins in chains, of which each is in the next one three times, do not make texts as long.
- A value says its Python type where JSON has none for it: ``{"decimal":"1.50"}``, ``{"float":"nan"}``,
  ``{"date":"2002-11-29"}``. So spelling and type of a constant come back as they were.

One object has one text.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Set
from contextvars import ContextVar
from dataclasses import is_dataclass
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn

from workbench.sql.algebra.analytic import ANALYTIC_FUNCTIONS, AnalyticCall
from workbench.sql.algebra.expressions import AggregateCall, Column, Value
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType, Kind, parse_expression_type
from workbench.sql.functions.aggregate_rules import RULES
from workbench.sql.logical import Block, SetQuery

_MANY = 1 << 16
"""How many decode_once texts are cached."""
_WRITTEN: ContextVar[dict[int, int]] = ContextVar("written")
"""The numbers of the queries that are written, by their identity as objects."""
_READ: ContextVar[list[Block | SetQuery]] = ContextVar("read")
"""The queries that are read, by their numbers."""
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def encode(value: object, annotation: Any) -> str:
    """A value as JSON text.

    Args:
        value: what is stored.
        annotation: its class, or the union or container of classes that it is of.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, Expression
        >>> from workbench.sql.algebra.types import INTEGER
        >>> encode(Column("a", INTEGER), Expression)
        '{"is":"Column","name":"a","type":"integer","source":0}'
    """
    before = _WRITTEN.set({})
    try:
        return _JSON.encode(CONVERTER.unstructure(value, unstructure_as=annotation))
    finally:
        _WRITTEN.reset(before)


def decode(stored: str, annotation: Any) -> Any:
    """The inverse of ``encode``.

    Raises:
        Exception: the text is not what ``encode`` writes for the annotation; cattrs and Python have several classes.
    """
    before = _READ.set([])
    try:
        return CONVERTER.structure(json.loads(stored), annotation)
    finally:
        _READ.reset(before)


@cached(_MANY)
def decode_once(stored: str, annotation: Any) -> Any:
    """The same as ``decode``; results are cached."""
    return decode(stored, annotation)


@cached(_MANY)
def type_of(name: str) -> DataType:
    """The type of that name."""
    return parse_expression_type(name)


def present_json(stored: str) -> str:
    """The JSON of a logical query as versions 2 to 5 of the catalog wrote it, in the present form.

    They wrote every class, also those of types and enumerations, the first ones with its module before a dot.
    """

    def present(part: dict[str, Any]) -> object:
        match part:
            case {"is": str(name), **members}:
                name = name.rpartition(".")[2]
                if name == "DataType":
                    return str(DataType(Kind(members["kind"]), members["precision"], members["scale"]))
                return members["value"] if members.keys() == {"value"} else {"is": name, **members}
        return part

    return _JSON.encode(json.loads(stored, object_hook=present))


def _plain_value(value: Value) -> object:
    match value:
        case Decimal():
            return {"decimal": str(value)}
        case float():
            return {"float": repr(value)}
        case dt.datetime():
            return {"timestamp": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case _:
            return value


def _value(plain: Any, _: Any) -> Value:
    match plain:
        case {"decimal": digits}:
            return Decimal(digits)
        case {"float": "nan"}:
            return math.nan  # the one NaN object of the process: a NaN equals nothing else
        case {"float": digits}:
            return float(digits)
        case {"timestamp": text}:
            return dt.datetime.fromisoformat(text)
        case {"date": text}:
            return dt.date.fromisoformat(text)
        case str() | int() | None:
            return plain
        case _:
            raise ValueError(f"{plain!r:.50} is no value")


def _column(plain: Any, _: Any) -> Column:
    """A column; its name would be SQL of Spark, where nothing but backticks ends it."""
    if not isinstance(plain["name"], str) or "`" in plain["name"]:
        raise ValueError(f"{plain['name']!r:.50} is no stored name of a column")
    return Column(plain["name"], type_of(plain["type"]), int(plain.get("source", 0)))


def _register_call(converter: Converter, class_: type, known: Set[str]) -> None:
    """Read calls of the functions that the workbench knows: the name would become SQL of Spark."""
    structure: Callable[[Any, Any], Any] = make_dict_structure_fn(class_, converter)

    def checked(plain: Any, annotation: Any) -> Any:
        if plain["function"] not in known:
            raise ValueError(f"{plain['function']!r:.50} is no function of an {class_.__name__}")
        return structure(plain, annotation)

    converter.register_structure_hook(class_, checked)


def _is_union_of_classes(annotation: Any) -> bool:
    """Whether an annotation is a union of at least two dataclasses, and perhaps ``None``."""
    if get_origin(annotation) not in (Union, UnionType):
        return False
    classes = [part for part in get_args(annotation) if part is not NoneType]
    return len(classes) > 1 and all(map(is_dataclass, classes))


def _stored_name(class_: type) -> str:
    """The name of a class in stored values: its own, or the one that it had when it was first stored."""
    return "SetOperation" if class_ is SetQuery else class_.__name__


def _tagged(union: Any, converter: Converter) -> Callable[[Any], Any]:
    def unstructure(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, (Block, SetQuery)) and id(value) in _WRITTEN.get():
            return {"again": _WRITTEN.get()[id(value)]}
        written = {"is": _stored_name(type(value)), **converter.unstructure(value, unstructure_as=type(value))}
        if isinstance(value, (Block, SetQuery)):
            _WRITTEN.get()[id(value)] = len(_WRITTEN.get())
        return written

    return unstructure


def _untagged(union: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    classes = {_stored_name(part): part for part in get_args(union)}

    def structure(plain: Any, _: Any) -> Any:
        if plain is None:
            return None
        if "again" in plain:
            return _READ.get()[plain["again"]]
        value = converter.structure(plain, classes[plain["is"]])
        if isinstance(value, (Block, SetQuery)):
            _READ.get().append(value)
        return value

    return structure


def _converter() -> Converter:
    converter = Converter(unstruct_collection_overrides={Set: sorted})  # one set has one text
    converter.register_unstructure_hook(DataType, str)
    converter.register_structure_hook(DataType, lambda name, _: type_of(name))
    converter.register_unstructure_hook(Value, _plain_value)
    converter.register_structure_hook(Value, _value)
    converter.register_structure_hook(Column, _column)
    _register_call(converter, AggregateCall, RULES.keys())
    _register_call(converter, AnalyticCall, ANALYTIC_FUNCTIONS | RULES.keys())
    converter.register_unstructure_hook_factory(_is_union_of_classes, _tagged)
    converter.register_structure_hook_factory(_is_union_of_classes, _untagged)
    return converter


CONVERTER = _converter()
