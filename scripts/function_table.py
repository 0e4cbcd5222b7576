"""Try all functions and write down what is known of those that are read: workbench/sql/function_help.jsonl.

    .venv/bin/python scripts/function_table.py

The table is what completion and hints show in each dialect, but for functions that say it in their declarations. A
function counts as read when some call of it with columns and constants of our types is bound. What it does is Spark's
own description of the function that is bound to the same. Spark's list of functions is written, too
(``functions_page.LISTED``), of which the site makes a page.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import sqlglot
from function_trials import ARRAY, SCHEMA, is_grouped, readings, refusal
from functions_page import LISTED, WORDS
from pyspark.sql import SparkSession
from sqlglot import exp

from workbench.errors import WorkbenchError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import TABLE
from workbench.sql.functions import DECLARED
from workbench.sql.functions.reading import NAMED
from workbench.sql.syntax.dialects import EXAMINED, SPARK_FAMILY

_FORMAT = "Returns the timestamp that a text says, read by a format."
_TRIMMED = "Returns the text without blanks at its {}; an empty text is NULL."
OURS = {
    "any_value": "Returns the smallest value, so that it is the same on every replay.",
    "approx_count_distinct": "Returns the number of different values, exactly.",
    **dict.fromkeys(
        ("approx_percentile", "percentile_approx"), "Returns the value at a share of the ordered values, exactly."
    ),
    "mode": "Returns the most frequent value, of several the smallest.",
    **dict.fromkeys(("now", "current_timestamp"), "Returns the time of the stream."),
    "current_date": "Returns the day of the time of the stream.",
    "decode": "Returns the result after the value that the first argument equals, else the default.",
}
"""What functions do that have another meaning here than Spark's description says."""
ELSEWHERE = {
    **dict.fromkeys(("array_append", "list_append"), "Returns the list with an element at its end."),
    **dict.fromkeys(("array_prepend", "list_prepend"), "Returns the list with an element at its beginning."),
    **{f"sha{n}": f"Returns the SHA-{n} digest of a text or of bytes, as bytes." for n in (224, 384)},
    "histogram": "Returns how often each value of a group is there, as a map.",
    "mad": "Returns the median of what the values of a group are away from their median.",
    "quantile": "Returns the value at a share of the ordered values.",
    "skewness": "Returns the skewness of a group.",
    "kurtosis": "Returns the excess kurtosis of a group.",
    "try": "Returns the value, NULL where it would be an error.",
    "url_encode": "Returns the text as a part of a link.",
    "url_decode": "Returns the text of a part of a link.",
    "make_timestamp": "Returns the timestamp of a year, a month, a day, an hour, a minute and seconds.",
    "array_pop_back": "Returns the list without its last element.",
    "array_pop_front": "Returns the list without its first element.",
    "array_push_back": "Returns the list with an element at its end.",
    "array_push_front": "Returns the list with an element at its beginning.",
    "array_resize": "Returns the list with that many elements, NULLs or a value at its end.",
    "chr": "Returns the character of a number in Unicode.",
    "initcap": "Returns the text with a capital at the beginning of each word of letters and digits.",
    **dict.fromkeys(("lpad", "rpad"), "Returns the text filled, or cut, to a length."),
    "json_array_length": "Returns how many elements an array of JSON has.",
    "jsonb_agg": "Returns an array of jsonb of the values of a group.",
    "jsonb_object_agg": "Returns an object of jsonb with a member of each key and value of a group.",
    "jsonb_build_array": "Returns an array of jsonb of the arguments.",
    "jsonb_build_object": "Returns an object of jsonb of names and values.",
    "jsonb_extract_path": "Returns what is at a path in a value of JSON, as jsonb.",
    "jsonb_of_group": "Returns an array of jsonb of a list, as JSONB_AGG has it.",
    "jsonb_pretty": "Returns a value of JSON as a text of several lines.",
    "jsonb_set": "Returns a value of JSON with another at a path.",
    "jsonb_strip_nulls": "Returns a value of JSON without members that are null.",
    "min_scale": "Returns how many digits behind the point a number needs.",
    "overlay": "Returns the text with another one in the place of some of its characters.",
    "quote_literal": "Returns the text in quotes, as a constant of SQL.",
    "quote_nullable": "Returns the text in quotes, as a constant of SQL, and NULL as the word.",
    "scale": "Returns how many digits behind the point a NUMERIC has.",
    "split_part": "Returns a part of the text between separators, from the end below 0.",
    "to_hex": "Returns the digits of a number to the base 16.",
    "to_jsonb": "Returns the value as jsonb.",
    "bit_count": "Returns how many bits of a number are set.",
    "century": "Returns the century of a time.",
    "char": "Returns the character of a number in Unicode.",
    "dayofweek": "Returns the day of the week, 0 for Sunday.",
    "decade": "Returns the decade of a time, its year divided by 10.",
    "flatten": "Returns the elements of the lists in a list.",
    "greatest_common_divisor": "Returns the greatest common divisor.",
    "isinf": "Returns whether a number is infinite.",
    "isodow": "Returns the day of the week, 1 for Monday and 7 for Sunday.",
    "isoyear": "Returns the year of the week of ISO 8601.",
    "json_build_array": "Returns a JSON array of the arguments.",
    "json_build_object": "Returns a JSON object of names and values.",
    "json_of_group": "Returns a JSON array of a list, as JSON_AGG has it.",
    "least_common_multiple": "Returns the least common multiple.",
    "list_entropy": "Returns the entropy of the elements.",
    **dict.fromkeys(("list_has_all", "array_has_all"), "Returns whether the list has all elements of another."),
    "list_histogram": "Returns how often each element is in the list.",
    "list_mode": "Returns the element that is in the list most often, of several the smallest.",
    "list_resize": "Returns the list with that many elements, NULLs or a value at its end.",
    "microsecond": "Returns the microseconds of a time since its minute.",
    "millennium": "Returns the millennium of a time.",
    "millisecond": "Returns the milliseconds of a time since its minute.",
    "ord": "Returns the number of the first character in Unicode.",
    "range": "Returns the numbers from 0, or a start, up to an end that is not among them.",
    "regexp_extract": "Returns a group of the first match of a regular expression, an empty text without one.",
    "regexp_extract_all": "Returns a group of every match of a regular expression.",
    "regexp_full_match": "Returns whether the whole text matches a regular expression.",
    "regexp_matches": "Returns whether a part of the text matches a regular expression.",
    "str_split_regex": "Returns the parts of the text between matches of a regular expression.",
    "string_split_regex": "Returns the parts of the text between matches of a regular expression.",
    "to_number": "Returns the number of a text.",
    "yearweek": "Returns the year and the week of ISO 8601, as 202401.",
    **dict.fromkeys(("array_to_json", "json_quote", "to_json"), "Returns the value as JSON."),
    **dict.fromkeys(("json", "parse_json"), "Returns a text as JSON, without blanks between its parts."),
    "json_array": "Returns an array of JSON of the values.",
    "json_object": "Returns an object of JSON of names and values.",
    "json_exists": "Returns whether a value of JSON has something at a path.",
    **dict.fromkeys(("json_extract", "json_extract_path"), "Returns what is at a path in a value of JSON, as JSON."),
    "json_keys": "Returns the names in an object of JSON as an array.",
    "json_type": "Returns the kind of a value of JSON: OBJECT, ARRAY, VARCHAR, a number's, BOOLEAN or NULL.",
    "json_value": "Returns the number, text or truth value at a path in a value of JSON, as JSON.",
    "editdist3": "Returns how many bytes must be put in, left out or replaced to make one text of the other.",
    "mismatches": "Returns at how many places two texts of one length differ.",
    **dict.fromkeys(("format", "printf"), "Returns the values in a text, where a format says."),
    "sha256": "Returns the SHA-256 digest of a text or of bytes, in hexadecimal.",
    "left": "Returns the first characters of the text; of a number below 0 all but the last ones.",
    "regexp_like": "Returns whether a regular expression finds something in the text.",
    **dict.fromkeys(("substr", "substring"), "Returns the part of a text from a place, counted from 1, on."),
    "locf": "Of filled groups returns the last value before; see TIME_BUCKET_GAPFILL.",
    "interpolate": "Of filled groups returns a value on the line between both neighbours; see TIME_BUCKET_GAPFILL.",
    "num_nulls": "Returns how many of its arguments are NULL.",
    "num_nonnulls": "Returns how many of its arguments are not NULL.",
    "regexp_count": "Returns how often a regular expression finds something in the text.",
    "regexp_instr": "Returns the place of the first match of a regular expression; 0 where there is none.",
    "regexp_match": "Returns the groups of the first match of a regular expression as an array; NULL without one.",
    "regexp_replace": "Returns the text with the first match of a regular expression replaced, with flag g all.",
    "regexp_split_to_array": "Returns the parts of a text between matches of a regular expression.",
    "regexp_substr": "Returns the first match of a regular expression; NULL where there is none.",
    **dict.fromkeys(
        ("date_format", "format_date", "format_timestamp", "strftime"), "Returns a time as a text under a format."
    ),
    **dict.fromkeys(
        ("to_microseconds", "to_milliseconds", "to_months", "to_quarters", "to_years"),
        "Returns an interval of so many of the unit.",
    ),
    "add_months": "Returns the date a number of months later; of the last day of a month the last day.",
    **dict.fromkeys(
        ("arg_max", "argmax", "max_by"), "Returns the first argument, where it is not NULL, at the largest second one."
    ),
    **dict.fromkeys(
        ("arg_min", "argmin", "min_by"), "Returns the first argument, where it is not NULL, at the smallest second one."
    ),
    **dict.fromkeys(("date_diff", "datediff"), "Returns how many bounds of the unit lie between two times."),
    **dict.fromkeys(("date_parse", "strptime"), _FORMAT),
    "concat": "Returns the texts one after the other; NULLs are left out.",
    "date_trunc": "Returns the time cut to the unit.",
    "epoch": "Returns the seconds since 1970.",
    "generate_series": "Makes a row of each integer from one to another.",
    "greatest": "Returns the greatest argument; NULL if one is NULL.",
    "least": "Returns the least argument; NULL if one is NULL.",
    "ltrim": _TRIMMED.format("start"),
    "rtrim": _TRIMMED.format("end"),
    "trim": _TRIMMED.format("start and end"),
    "split_index": "Returns the part of a text at a place, counted from 0.",
    **dict.fromkeys(("array_agg", "list"), "Returns the values of the group's rows as an array."),
    "set_agg": "Returns the distinct values of the group's rows as an array.",
    **dict.fromkeys(("explode", "unnest"), "Makes a row of each element of the array."),
    **dict.fromkeys(
        ("array_contains", "array_has", "list_contains", "list_has"), "Returns whether the array has the value."
    ),
    **dict.fromkeys(("array_join", "array_to_string"), "Returns the elements as one text; NULLs are left out."),
    "array_size": "Returns the number of elements; of none NULL.",
    "dayname": "Returns the English name of the day of the week.",
    "monthname": "Returns the English name of the month.",
    "json_typeof": "Returns the kind of a value of JSON: object, array, string, number, boolean or null.",
    "explode_outer": "Makes a row of each element of the array, and one row with NULL where it has none.",
    **dict.fromkeys(
        ("jsonb_extract_path_text", "json_extract_path_text", "json_extract_string", "get_json_object"),
        "Returns the text of what is at a path in a text of JSON.",
    ),
    "jsonb_array_elements": "Makes a row of each element of an array of JSON.",
    "jsonb_array_elements_text": "Makes a row of the text of each element of an array of JSON.",
    "jsonb_typeof": "Returns the kind of a value of JSON: object, array, string, number, boolean or null.",
    "jsonb_array_length": "Returns the number of elements of an array of JSON.",
    **dict.fromkeys(
        ("array_cat", "array_concat", "list_concat", "list_cat"),
        "Returns the elements of the arrays one after the other; a NULL has none.",
    ),
    **dict.fromkeys(("array_count", "list_count"), "Returns the number of elements that are not NULL."),
    **dict.fromkeys(
        ("array_indexof", "list_indexof", "list_position", "array_position"),
        "Returns the place of a value in the array, from 1; NULL where it is not there.",
    ),
    **dict.fromkeys(("array_unique", "list_unique"), "Returns the number of different elements, without NULL."),
    "list_any_value": "Returns the first element that is not NULL.",
    **dict.fromkeys(("list_has_any", "array_has_any"), "Returns whether a value is in both arrays."),
    **dict.fromkeys(("list_last", "array_last"), "Returns the last element of the array."),
    **dict.fromkeys(("list_first", "array_first"), "Returns the first element of the array."),
    **dict.fromkeys(
        ("list_slice", "array_slice"),
        "Returns the elements from a place to another; places below 0 count from the end.",
    ),
    "list_pack": "Returns an array of the values.",
    "square": "Returns the number times itself.",
    **dict.fromkeys(
        ("array_reverse_sort", "list_reverse_sort"), "Returns the elements of the array in descending order."
    ),
    **dict.fromkeys(
        ("count_if", "countif"), "Returns the number of rows for which the condition is true; of no rows NULL."
    ),
    **dict.fromkeys(("date_part", "extract"), "Returns a part of a date or a time."),
    "log2": "Returns the logarithm with base 2.",
    **dict.fromkeys(("sign", "signum"), "Returns -1, 0 or 1, as an INTEGER."),
    "sqrt": "Returns the square root; of a number below 0 it is NULL.",
    "timezone": "Returns the time on the clock of a zone at an instant, or the instant at which it shows a time.",
    "stddev": "Returns the standard deviation of a sample; of one value 0.",
    "variance": "Returns the variance of a sample; of one value 0.",
    **{
        f"to_{unit}": f"Returns an interval of a number of {unit}." for unit in ("weeks", "hours", "minutes", "seconds")
    },
    "add": "Returns the sum.",
    "array_cat": "Returns the elements of several lists, one behind the other.",
    "array_select": "Returns the elements at places from 1.",
    "constant_or_null": "Returns the first argument, NULL where another one is.",
    "divide": "Returns the quotient, of whole numbers a whole number.",
    "entropy": "Returns the entropy in bits of a group.",
    "epoch_ns": "Returns the nanoseconds since 1970.",
    "era": "Returns 1, since all years are those after Christ.",
    "favg": "Returns the mean as a DOUBLE, exactly rounded.",
    "fdiv": "Returns the whole quotient, rounded down, as a DOUBLE.",
    "fmod": "Returns what is left of a number after the whole quotient, as a DOUBLE.",
    "fsum": "Returns the sum as a DOUBLE, exactly rounded.",
    "geomean": "Returns the geometric mean of a group.",
    "geometric_mean": "Returns the geometric mean of a group.",
    "json_group_array": "Returns an array of JSON of the values of a group.",
    "json_group_object": "Returns an object of JSON with a member of each key and value of a group.",
    "json_object_agg": "Returns an object of JSON with a member of each key and value of a group.",
    "julian": "Returns the days since the start of the Julian period.",
    "kahan_sum": "Returns the sum as a DOUBLE, exactly rounded.",
    "kurtosis_pop": "Returns the excess kurtosis of a population of a group.",
    "list_approx_count_distinct": "Returns how many different values a list has, exactly.",
    "list_bit_and": "Returns the bits of all numbers of a list, joined by AND.",
    "list_bit_or": "Returns the bits of all numbers of a list, joined by OR.",
    "list_bit_xor": "Returns the bits of all numbers of a list, joined by XOR.",
    "list_bool_and": "Returns the truth values of a list, joined by AND.",
    "list_bool_or": "Returns the truth values of a list, joined by OR.",
    "list_cat": "Returns the elements of several lists, one behind the other.",
    "list_cosine_similarity": "Returns the cosine of the angle between two lists of numbers.",
    "list_dot_product": "Returns the sum of products of two lists.",
    "list_geomean": "Returns the geometric mean of a list of numbers.",
    "list_geometric_mean": "Returns the geometric mean of a list of numbers.",
    "list_inner_product": "Returns the sum of products of two lists.",
    "list_kurtosis": "Returns the excess kurtosis of a list of numbers.",
    "list_kurtosis_pop": "Returns the excess kurtosis of a population of a list of numbers.",
    "list_product": "Returns the product of a list of numbers.",
    "list_select": "Returns the elements at places from 1.",
    "list_sem": "Returns the standard error of the mean of a list of numbers.",
    "list_skewness": "Returns the skewness of a list of numbers.",
    "list_stddev_pop": "Returns the deviation of a population of a list of numbers.",
    "list_stddev_samp": "Returns the deviation of a sample of a list of numbers.",
    "list_string_agg": "Returns the texts of a list with commas between them.",
    "list_var_pop": "Returns the variance of a population of a list of numbers.",
    "list_var_samp": "Returns the variance of a sample of a list of numbers.",
    "make_timestamp_ms": "Returns the timestamp of milliseconds since 1970.",
    "multiply": "Returns the product.",
    "nanosecond": "Returns the nanoseconds since the minute.",
    "product": "Returns the product of a group.",
    "sem": "Returns the standard error of the mean of a group.",
    "subtract": "Returns the difference.",
    "sumkahan": "Returns the sum as a DOUBLE, exactly rounded.",
    "wavg": "Returns the mean of values that count by a weight.",
    "weighted_avg": "Returns the mean of values that count by a weight.",
}
"""What functions do that are bound to the same as none of Spark's."""
IN_PATTERNS = {
    "prev": ("prev(value[, n])", "In MATCH_RECOGNIZE the value n rows before, in the partition; one row without n."),
    "next": ("next(value[, n])", "In MATCH_RECOGNIZE the value n rows behind, in the partition; one row without n."),
    "classifier": ("classifier()", "In MATCH_RECOGNIZE the name of the variable of the pattern that the row matches."),
    "match_number": ("match_number()", "In MATCH_RECOGNIZE the number of the match in its partition, from 1 on."),
}
"""Functions of MATCH_RECOGNIZE alone, which no trial calls: signature and what they do."""
SIGNATURES = {"decode": "decode(expr, value, result[, value, result …][, default])"}
"""Of functions whose first signature in Spark is not read."""
OFFERED_IN = {"decode": ("databricks", "oracle", "spark"), "split_index": ()}
"""Functions that are read in every dialect, and that only these have: completion offers them there alone."""
TYPES = {
    "a": "number",
    "x": "number",
    "s": "text",
    "d": "date",
    "ts": "timestamp",
    "p": "condition",
}
"""What the columns of the trials stand for."""


@dataclass(frozen=True)
class Described:
    """What Spark says of a function: how it is called, what it does, and queries that call it with their answers."""

    signature: str
    purpose: str
    examples: tuple[tuple[str, str], ...]


def described(usage: str, examples: str) -> Described:
    """The parts of Spark's texts about a function: of several signatures the first, examples that have one row."""
    signature, _, purpose = " ".join(usage.split()).partition(" - ")
    sentence = re.match(r".*?[^.]\.(?=\s|$)(?<!e\.g\.)|.*", purpose)
    parts = [part.strip().splitlines() for part in re.split(r"^\s*> ", examples, flags=re.MULTILINE)[1:]]
    calls = tuple((query.rstrip(";"), "".join(value).strip()) for query, *value in parts if len(value) == 1)
    return Described(signature, sentence[0] if sentence else "", calls)


def example_in(dialect: str, known: Described) -> str:
    """The first example that means the same in a dialect as in Spark; empty when there is none."""
    queries = ((query, value) for query, value in known.examples if query.startswith("SELECT "))
    same = (f"{q} → {v}" for q, v in queries if (m := _meaning(q, dialect)) and m == _meaning(q, "spark"))
    return next(same, "")


def _meaning(query: str, dialect: str) -> str:
    try:
        return repr(bind(query, dialect, SCHEMA))
    except WorkbenchError:
        return ""


def names_in(dialect: str, spark_names: Iterable[str]) -> list[str]:
    """Names of functions that a dialect may have: Spark's, the parser's own for the dialect, and what we bind."""
    parser, base = sqlglot.Dialect.get_or_raise(dialect).parser_class, sqlglot.parser.Parser
    own = {name.lower() for name, build in parser.FUNCTIONS.items() if base.FUNCTIONS.get(name) is not build}
    if dialect in SPARK_FAMILY:
        own = set()
    if dialect == "duckdb":
        own |= {name for (name,) in duckdb.sql("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()}
    names = {*spark_names, *own, *NAMED} - {*WORDS}
    return sorted(name for name in names if name.isidentifier())


def meanings(names: Iterable[str]) -> dict[str, frozenset[str]]:
    """What the calls of functions are bound to in Spark, but for calls that give back their argument."""
    found = {name: (meaning for _, meaning in readings(name)) for name in names}
    return {name: frozenset(meaning for meaning in own if _COLUMN not in meaning) for name, own in found.items()}


_COLUMN = "outputs=(Output(name='v', expression=Column(name='a', type"


def helps(dialect: str, spark: Mapping[str, Described], bound: Mapping[str, frozenset[str]]) -> list[dict[str, str]]:
    """What is known of each function that a dialect reads."""
    found = (_help(name, dialect, spark, bound) for name in names_in(dialect, spark))
    return [row for row in found if row is not None]


def _help(
    name: str, dialect: str, spark: Mapping[str, Described], bound: Mapping[str, frozenset[str]]
) -> dict[str, str] | None:
    """What is known of a function, from Spark's function that some call of it is bound to the same as."""
    calls, other = [], ""
    for call, meaning in readings(name, dialect):
        calls.append(call)
        if meaning in bound.get(name, ()):
            known = spark[name]
            row = {
                "signature": SIGNATURES.get(name, known.signature),
                "purpose": OURS.get(name, known.purpose),
                "example": "" if name in OURS else example_in(dialect, known),
            }
            break
        if not other and meaning != ARRAY:
            other = next((one for one in bound if meaning in bound[one]), "")
    else:
        if not calls:
            return None
        purpose = OURS.get(other, spark[other].purpose) if other else ELSEWHERE.get(name, "")
        row = {"signature": _signature(calls[0]), "purpose": purpose, "example": ""}
    return {"name": name, "kind": _kind(calls[0], dialect), **row, "call": calls[0]}


def _kind(call: str, dialect: str) -> str:
    """Whether a call is of a function of one row, an aggregate, or an analytic function."""
    if isinstance(sqlglot.parse_one(call, read=dialect), exp.Window):
        return "analytic"
    return "aggregate" if is_grouped(call, dialect) else "function"


def _signature(call: str) -> str:
    """A call with the types of its columns in their places.

    Example:
        >>> _signature("strpos(s, s)")
        'strpos(text, text)'
        >>> _signature("list_extract(SPLIT(s, ','), 'MON')")
        "list_extract(array, 'text')"
    """
    call = call.replace("SPLIT(s, ',')", "array").replace("'MON'", "'text'")
    return re.sub(r"(?<=[( ])(\w+)(?=[,)])", lambda word: TYPES.get(word[1], word[1]), call)


def table(spark: Mapping[str, Described]) -> list[dict[str, Any]]:
    """The rows of the table, each a function with the dialects in which it is that."""
    dialects = defaultdict(list)
    bound = meanings(spark)
    with ProcessPoolExecutor() as pool:
        tried = pool.map(partial(helps, spark=spark, bound=bound), sorted(EXAMINED))
        for dialect, rows in zip(sorted(EXAMINED), tried, strict=True):
            for row in rows:
                dialects[json.dumps(row)].append(dialect)
    rows = [{**json.loads(row), "dialects": where} for row, where in sorted(dialects.items())]
    rows += [_in_patterns(name, *known) for name, known in IN_PATTERNS.items()]
    return [{**row, "dialects": _offered(row["name"], row["dialects"])} for row in sorted(rows, key=json.dumps)]


def _in_patterns(name: str, signature: str, purpose: str) -> dict[str, Any]:
    call = f"{name}(a)" if "value" in signature else signature
    where = sorted(dialect for dialect in EXAMINED if not refusal(call, dialect))
    row = {"name": name, "kind": "function", "signature": signature, "purpose": purpose, "example": "", "call": call}
    return {**row, "dialects": where}


def _offered(name: str, dialects: Sequence[str]) -> list[str]:
    """Those of the dialects that have a function."""
    return [dialect for dialect in dialects if dialect in OFFERED_IN.get(name, dialects)]


def main() -> None:
    """Write the table, and the list."""
    warnings.simplefilter("ignore")
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    assert spark._jvm is not None
    infos = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    infos = sorted(infos, key=lambda info: info.getName())
    known = {info.getName(): described(info.getUsage(), info.getExamples()) for info in infos}
    rows = table(known)
    declared = {function.name for function in DECLARED if function.help}
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row["name"] not in declared]
    TABLE.write_text("".join(lines), encoding="utf-8")
    listed = [f"{spark.version} is the version of Spark.", *(f"{info.getName()} {info.getGroup()}" for info in infos)]
    LISTED.write_text("\n".join(listed) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
