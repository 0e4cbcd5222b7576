"""Write docs/reference/functions.md: which functions of Spark's own list are read, and why the others are not.

    .venv/bin/python scripts/function_table.py > docs/reference/functions.md

A function counts as read when some call of it with columns and constants of our types is bound.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import defaultdict

from pyspark.sql import SparkSession

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {"t": (("a", INTEGER), ("m", decimal(15, 2)), ("x", DOUBLE), ("s", STRING), ("d", DATE), ("ts", TIMESTAMP),
           ("p", BOOLEAN))}
)  # fmt: skip
ARGUMENTS = ("a", "x", "s", "d", "ts", "p", "'MON'", "1", "0.5", "SPLIT(s, ',')")
LONGER = (
    "a, a, a",
    "s, s, s",
    "s, '(a)', 1",
    "s, ',', 1",
    "s, 'a', 'b'",
    "p, a, a",
    "a, a, a, a, a, a",
    "MINUTE, ts, ts",
    "SPLIT(s, ','), v -> v = s",
    "SPLIT(s, ','), 0, (n, v) -> n",
    "SPLIT(s, ','), SPLIT(s, ','), (v, w) -> v",
    "SPLIT(s, ','), 1, s",
    "SPLIT(s, ','), 1, 2",
    "ARRAY(SPLIT(s, ','))",
)
SPELLED = {
    "between": "a BETWEEN 1 AND 2",
    "case": "CASE WHEN p THEN 1 END",
    "when": "CASE WHEN p THEN 1 END",
    "in": "a IN (1, 2)",
    "div": "a DIV 2",
    "mod": "MOD(a, 2)",
    "convert_timezone": "CONVERT_TIMEZONE('UTC', 'Europe/Berlin', ts)",
    "from_utc_timestamp": "FROM_UTC_TIMESTAMP(ts, 'Europe/Berlin')",
    "to_utc_timestamp": "TO_UTC_TIMESTAMP(ts, 'Europe/Berlin')",
    "str_to_map": "STR_TO_MAP(s, ';', '=')['k']",
    "width_bucket": "WIDTH_BUCKET(x, 0, 10, 5)",
    "date_part": "DATE_PART('YEAR', d)",
    "datepart": "DATEPART('YEAR', d)",
    "bigint": "BIGINT(x)",
    "and": "p AND p",
    "or": "p OR p",
    "not": "NOT p",
    "like": "s LIKE 'a'",
    "ilike": "s ILIKE 'a'",
    "rlike": "s RLIKE 'a'",
    "extract": "EXTRACT(YEAR FROM d)",
    "position": "POSITION('a' IN s)",
    "percentile_cont": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)",
    "date_trunc": "DATE_TRUNC('MONTH', ts)",
    "percentile_disc": "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY a)",
    "trunc": "TRUNC(d, 'MM')",
    "!": "NOT p",
    "grouping": "GROUPING(a)",
    "grouping_id": "GROUPING_ID(a)",
    "to_date": "TO_DATE(s, 'yyyy-MM-dd')",
    "to_timestamp": "TO_TIMESTAMP(s, 'yyyy-MM-dd')",
    "date_format": "DATE_FORMAT(d, 'yyyy')",
    "to_char": "TO_CHAR(d, 'YYYY')",
    "get_json_object": "GET_JSON_OBJECT(s, '$.a')",
    "cast": "CAST(a AS STRING)",
    "lpad": "LPAD(s, 5)",
    "rpad": "RPAD(s, 5)",
    "date_add": "DATE_ADD(d, 1)",
    "date_sub": "DATE_SUB(d, 1)",
    "trim": "TRIM(s)",
    "count": "COUNT(*)",
    "window": "window(ts, '1 hour')",
    "session_window": "session_window(ts, '1 hour')",
    "timestampadd": "TIMESTAMPADD(MINUTE, 5, ts)",
    "overlay": "OVERLAY(s PLACING 'a' FROM 1)",
}
WINDOW = ("cume_dist", "dense_rank", "lag", "lead", "nth_value", "ntile", "percent_rank", "rank", "row_number")
REASONS = {
    "array_funcs": "not yet",
    "collection_funcs": "not yet",
    "lambda_funcs": "there are no maps",
    "map_funcs": "there are no maps",
    "struct_funcs": "there are no structs",
    "json_funcs": "there are no structs; GET_JSON_OBJECT, JSON_ARRAY_LENGTH and JSON_OBJECT_KEYS read texts",
    "csv_funcs": "there are no structs",
    "xml_funcs": "XML is not read",
    "variant_funcs": "there is no VARIANT",
    "generator_funcs": "it makes rows; in FROM, `EXPLODE` and `POSEXPLODE` of `ARRAY(a, b)` do",
    "table_funcs": "one row gives one row",
    "window_funcs": "with OVER only",
    "sketch_funcs": "there are no bytes; exact counts are there",
    "st_funcs": "there is no GEOMETRY",
    "url_funcs": "not yet",
    "agg_funcs": "it gives an array or a sketch, or depends on the order of rows",
    "vector_funcs": "no column is an array",
}
UNSTEADY = {
    "rand",
    "randn",
    "random",
    "randstr",
    "uniform",
    "uuid",
    "shuffle",
    "monotonically_increasing_id",
    "spark_partition_id",
    "input_file_name",
    "input_file_block_start",
    "input_file_block_length",
    "current_user",
    "session_user",
    "user",
    "current_catalog",
    "current_database",
    "current_schema",
    "version",
    "localtimestamp",
    "current_timezone",
    "curdate",
    "current_time",
}
NOW = {"now", "current_timestamp", "current_date"}


def is_read(name: str) -> bool:
    """Whether some call of a function is bound."""
    if name in SPELLED:
        calls = [SPELLED[name]]
    elif not name.replace("_", "a").isalnum():
        calls = [f"a {name} a", f"s {name} s", f"p {name} p", f"{name} a", f"{name} p"]
    else:
        lists = [", ".join(c) for n in range(3) for c in itertools.product(ARGUMENTS, repeat=n)]
        calls = [f"{name}({arguments})" for arguments in (*lists, *LONGER)]
    return any(_binds(call) for call in calls if call)


def _binds(call: str) -> bool:
    grouped = " GROUP BY a" if call.lower().startswith("grouping") else f" GROUP BY {call}" if "window(" in call else ""
    selected = call.split("(")[0] + ".start" if "window(" in call else call
    query = f"SELECT {selected} AS v FROM t{grouped}"
    try:
        bind(query, "spark", SCHEMA)
    except WorkbenchError as error:
        return error.message.startswith("the array v as a column")
    except Exception as problem:  # a defect: an error that is none of ours
        print(query, repr(problem), file=sys.stderr)
        return False
    return True


def main() -> None:
    """Print the page."""
    warnings.simplefilter("ignore")
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    infos = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    functions = sorted({(info.getName(), info.getGroup()) for info in infos})
    read, others = [], defaultdict(list)
    for name, group in functions:
        if name in NOW or is_read(name):
            read.append(name)
        elif name in UNSTEADY:
            others["its value differs from one replay to the next, or between sessions"].append(name)
        elif name in WINDOW:
            others["with OVER only; see [SQL](sql.md)"].append(name)
        else:
            others[REASONS.get(group, "not yet; `add_function` adds one of your own")].append(name)
    print("# Functions of Spark\n")
    print(f"Of the {len(functions)} functions that Spark {spark.version} lists {len(read)} are read.")
    print("[SQL](sql.md) says what they mean here; `scripts/function_table.py` made this page by trying them all.\n")
    print("## Read\n\n" + " ".join(f"`{name}`" for name in read) + "\n")
    print("## Not read\n\n| reason | functions |\n|---|---|")
    for reason, names in sorted(others.items(), key=lambda item: -len(item[1])):
        listed = " ".join(f"`{name}`" for name in names).replace("|", "\\|")
        print(f"| {reason} | {listed} |")


if __name__ == "__main__":
    main()
