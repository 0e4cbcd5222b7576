"""Functions of maps: a map is the array of its entries, structs of a key and a value, in the order in which they came.

No map has a key twice, or NULL as a key: Spark raises there. Here ``map_from_entries`` is NULL, and a check
(``sql/checks``) stops the query as long as it has such rows. Of entries that are sure to be a map ``map_of`` makes it.

In the texts for Spark an entry is a struct (f0, f1). Variables of lambdas have names that no column has, since an
argument may stand in a lambda.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import SqlError
from workbench.sql.algebra.coercion import TypeClash, as_exactly
from workbench.sql.algebra.types import BOOLEAN, DataType, Kind, array_of, map_of
from workbench.sql.functions.declaration import Arguments, Rule, function

MAP_FROM_ENTRIES, MAP_OF, NO_MAP = "map_from_entries", "map_of", "no_map"
"""The map of an array of entries, NULL where they are none; the map of those that are one; whether they are none."""
_KEYS = "transform({0}, `->k` -> `->k`.f0)"
_NO_KEYS = "(exists({0}, `->k` -> `->k` is null) or size(array_distinct({0})) < size({0}))"
_IS_NONE = f"transform(array({_KEYS}), `->n` -> {_NO_KEYS.format('`->n`')})[0]"


def _of_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    (entries,) = arguments
    element = entries.type.element if entries.type.kind is Kind.ARRAY else None
    if element is None or len(element.fields) != 2:
        hint = "as in MAP_FROM_ENTRIES(ARRAY(STRUCT('a', 1), STRUCT('b', 2)))"
        raise TypeClash(f"an array of structs of a key and a value is needed, not {entries.type}", entries, hint)
    (_, key), (_, value) = element.fields
    try:
        return arguments, map_of(key, value)
    except SqlError as error:
        raise TypeClash(error.message, entries, error.hint) from None


def _tested_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    return _of_entries(arguments)[0], BOOLEAN


def _of_map(result: Callable[[DataType, DataType], DataType], with_key: bool = False) -> Rule:
    """A map, and maybe a key; the result from the types of keys and values."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        whole = arguments[0]
        if whole.type.kind is not Kind.MAP:
            raise TypeClash(f"a map is needed, not {whole.type}", whole, "MAP('a', 1, 'b', 2) makes one")
        key, value = whole.type.key_and_value
        return (whole, *(as_exactly(a, key) for a in arguments[1:] if with_key)), result(key, value)

    return rule


def _entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    arguments, _ = _of_map(lambda key, value: value)(arguments)
    entry = arguments[0].type.element
    assert entry is not None
    return arguments, array_of(entry)


DECLARED = [
    function(f"{MAP_OF}(entries)", "{0}", rule=_of_entries, inner=True),
    # An entry that is NULL is none, but the whole is NULL.
    function(f"{NO_MAP}(entries)", f"(not exists({{0}}, `->m` -> `->m` is null) and {_IS_NONE})",
             rule=_tested_entries, inner=True),
    function(f"{MAP_FROM_ENTRIES}(entries)",
             "transform(array({0}), `->m` -> if(exists(`->m`, `->e` -> `->e` is null) or "
             f"{_IS_NONE.format('`->m`')}, null, `->m`))[0]", rule=_of_entries),
    function("map_entries(map)", "{0}", rule=_entries),
    function("map_keys(map)", _KEYS, rule=_of_map(lambda key, value: array_of(key))),
    function("map_values(map)", "transform({0}, `->k` -> `->k`.f1)",
             rule=_of_map(lambda key, value: array_of(value))),
    function("map_value(map, key)", "(get(filter({0}, `->k` -> `->k`.f0 = {1}), 0)).f1",
             rule=_of_map(lambda key, value: value, with_key=True), inner=True),
    function("map_contains_key(map, key)", f"array_contains({_KEYS}, {{1}})",
             rule=_of_map(lambda key, value: BOOLEAN, with_key=True)),
]  # fmt: skip
