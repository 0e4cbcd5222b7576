"""Every SQL function, declared once; see ``declaration``.

Whoever imports a part of the package has all functions: they are put together here.
"""

from workbench.sql.functions import (
    arrays,
    calls,
    conditions,
    conversions,
    json_values,
    maps,
    mathematics,
    numbers,
    texts,
    times,
)

DECLARED = [
    *conditions.DECLARED,
    *conversions.DECLARED,
    *numbers.DECLARED,
    *mathematics.DECLARED,
    *texts.DECLARED,
    *times.DECLARED,
    *arrays.DECLARED,
    *maps.DECLARED,
    *json_values.DECLARED,
]
"""All functions that an expression may call, but for those of the analyst."""
calls.FUNCTIONS.update((function.name, function) for function in DECLARED)
