"""The page of Spark's functions: which of them are read, and why the others are not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from workbench.sql.function_help import functions

LISTED = Path(__file__).with_name("spark_functions.txt")
"""Spark's own list, each function with its group, below the version; ``function_table.py`` writes it."""
_REASONS = {
    "array_funcs": "not yet",
    "collection_funcs": "not yet",
    "lambda_funcs": "not yet",
    "map_funcs": "not yet",
    "struct_funcs": "not yet",
    "json_funcs": "not yet; GET_JSON_OBJECT, JSON_ARRAY_LENGTH and JSON_OBJECT_KEYS read texts, TO_JSON writes them",
    "csv_funcs": "CSV in texts is not read",
    "xml_funcs": "XML is not read",
    "variant_funcs": "there is no VARIANT",
    "generator_funcs": "it makes rows; in FROM, `EXPLODE` and `POSEXPLODE` of arrays with a bound of elements do",
    "table_funcs": "one row gives one row",
    "sketch_funcs": "there are no sketches; exact counts are there",
    "st_funcs": "there is no GEOMETRY",
    "url_funcs": "not yet",
    "agg_funcs": "it gives a sketch, or depends on the order of rows",
    "vector_funcs": "not yet",
}
_UNSTEADY = {
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
WORDS = (
    *("and", "or", "not", "in", "like", "ilike", "rlike", "between", "when", "case", "div", "exists", "some"),
    *("!", "%", "&", "*", "+", "-", "/", "<", "<<", "<=", "<=>", "=", "==", ">", ">=", ">>", "^", "|", "~"),
)
"""Functions of Spark's list that are words and signs of the language."""


def functions_page() -> str:
    """The page, from the help of the functions that are read."""
    version, *lines = LISTED.read_text(encoding="utf-8").splitlines()
    groups, known = dict(line.split() for line in lines), functions("spark")
    read, others = [], defaultdict[str, list[str]](list)
    for name, group in groups.items():
        if name in known and known[name].kind == "analytic":
            others["with OVER only; see [SQL](sql.md)"].append(name)
        elif name in known or name in WORDS:
            read.append(name)
        elif name in _UNSTEADY:
            others["its value differs from one replay to the next, or between sessions"].append(name)
        else:
            others[_REASONS.get(group, "not yet; `add_function` adds one of your own")].append(name)
    page = [
        "# Functions of Spark\n",
        f"Of the {len(groups)} functions that Spark {version.split()[0]} lists {len(read)} are read."
        " [SQL](sql.md) says what they mean here.\n",
        "## Read\n\n" + " ".join(f"`{name}`" for name in read) + "\n",
        "## Not read\n\n| reason | functions |\n|---|---|",
    ]
    for reason, names in sorted(others.items(), key=lambda item: -len(item[1])):
        listed = " ".join(f"`{name}`" for name in names).replace("|", "\\|")
        page.append(f"| {reason} | {listed} |")
    return "\n".join(page) + "\n"
