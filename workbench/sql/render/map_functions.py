"""The Spark SQL of the functions of ``algebra/array_functions``: a map is the array of its entries, structs (f0, f1).

As all texts of functions they are total: entries that are no map are NULL. Variables of lambdas have names that no
column has, since an argument may stand in a lambda.
"""

from __future__ import annotations

from workbench.sql.algebra.array_functions import MAP_FROM_ENTRIES, MAP_OF, NO_MAP

_KEYS = "transform({0}, `->k` -> `->k`.f0)"
_NO_KEYS = "(exists({0}, `->k` -> `->k` is null) or size(array_distinct({0})) < size({0}))"
_IS_NONE = f"transform(array({_KEYS}), `->n` -> {_NO_KEYS.format('`->n`')})[0]"

MAP_SQL: dict[str, str] = {
    MAP_OF: "{0}",
    # An entry that is NULL is none, but the whole is NULL.
    NO_MAP: "(not exists({0}, `->m` -> `->m` is null) and " + _IS_NONE + ")",
    MAP_FROM_ENTRIES: "transform(array({0}), `->m` -> if(exists(`->m`, `->e` -> `->e` is null) or "
    + _IS_NONE.format("`->m`")
    + ", null, `->m`))[0]",
    "map_entries": "{0}",
    "map_keys": _KEYS,
    "map_values": "transform({0}, `->k` -> `->k`.f1)",
    "map_value": "(get(filter({0}, `->k` -> `->k`.f0 = {1}), 0)).f1",
    "map_contains_key": f"array_contains({_KEYS}, {{1}})",
}
"""Function -> a format string over the texts of its arguments."""
