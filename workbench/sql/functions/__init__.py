"""Every SQL function, declared once; see ``declaration``, and ``reading`` for what text means it.

An import of any part of the package has all functions: they are put together here.
"""

from workbench.sql.functions import (
    binary,
    calls,
    calls_of_postgres,
    conditions,
    conversions,
    distances,
    formatted,
    formatted_numbers,
    json_of_postgres,
    json_paths,
    json_schemas,
    json_values,
    json_written,
    jsonb_of_postgres,
    matches,
    matches_of_duckdb,
    mathematics,
    number_texts,
    numbers,
    numbers_of_duckdb,
    numeric_casts,
    operators,
    reading,
    results,
    spellings_of_duckdb,
    structs,
    texts,
    texts_of_duckdb,
    texts_of_postgres,
)
from workbench.sql.functions.arrays import (
    arrays,
    databases,
    lambdas,
    list_statistics,
    lists,
    made_lists,
    maps,
    postgres,
)
from workbench.sql.functions.times import (
    formats,
    interval_arithmetic,
    temporal,
    time_differences,
    times,
    times_of_day,
    times_of_duckdb,
    times_of_postgres,
)

TEXT_ONLY = (
    databases,
    formats,
    interval_arithmetic,
    json_paths,
    lists,
    operators,
    matches,
    postgres,
    results,
    temporal,
    time_differences,
    times_of_day,
    texts_of_postgres,
)
"""Modules that declare only what text means, in ways of its own."""
DECLARED = [
    *conditions.DECLARED,
    *conversions.DECLARED,
    *structs.DECLARED,
    *numbers.DECLARED,
    *numbers_of_duckdb.DECLARED,
    *numeric_casts.DECLARED,
    *number_texts.DECLARED,
    *mathematics.DECLARED,
    *texts.DECLARED,
    *matches_of_duckdb.DECLARED,
    *texts_of_duckdb.DECLARED,
    *calls_of_postgres.DECLARED,
    *spellings_of_duckdb.DECLARED,
    *distances.DECLARED,
    *formatted.DECLARED,
    *formatted_numbers.DECLARED,
    *binary.DECLARED,
    *times.DECLARED,
    *times_of_postgres.DECLARED,
    *times_of_duckdb.DECLARED,
    *arrays.DECLARED,
    *lambdas.DECLARED,
    *list_statistics.DECLARED,
    *made_lists.DECLARED,
    *maps.DECLARED,
    *json_of_postgres.DECLARED,
    *jsonb_of_postgres.DECLARED,
    *json_schemas.DECLARED,
    *json_values.DECLARED,
    *json_written.DECLARED,
]
"""All functions that an expression may call, but for those of the analyst."""
calls.FUNCTIONS.update((function.name, function) for function in DECLARED)
for _function in DECLARED:
    reading.read_as(_function)
