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
from function_trials import ARRAY, SCHEMA, is_grouped, readings, refusal, shown
from function_words import ELSEWHERE, IN_PATTERNS, OFFERED_IN, OURS, SIGNATURES, TRIED_IN, TYPES
from functions_page import LISTED, WORDS
from pyspark.sql import SparkSession
from sqlglot import exp

from workbench.errors import WorkbenchError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import TABLE
from workbench.sql.functions import DECLARED
from workbench.sql.functions.reading import NAMED
from workbench.sql.syntax.dialects import EXAMINED, SPARK_FAMILY


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


def descriptions(spark: SparkSession) -> dict[str, Described]:
    """What Spark says of each of its functions."""
    return {info.getName(): described(info.getUsage(), info.getExamples()) for info in _infos(spark)}


def _infos(spark: SparkSession) -> list[Any]:
    assert spark._jvm is not None
    infos = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    return sorted(infos, key=lambda info: info.getName())


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
    """Names of functions that a dialect may have: Spark's, the parser's own for the dialect, ours."""
    parser, base = sqlglot.Dialect.get_or_raise(dialect).parser_class, sqlglot.parser.Parser
    own = {name.lower() for name, build in parser.FUNCTIONS.items() if base.FUNCTIONS.get(name) is not build}
    if dialect in SPARK_FAMILY:
        own = set()
    if dialect == "duckdb":
        own |= {
            name.lower() for (name,) in duckdb.sql("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
        }
    names = {*spark_names, *own, *NAMED, *TRIED_IN.get(dialect, ())} - {*WORDS}
    return sorted(name for name in names if name.isidentifier())


def meanings(names: Iterable[str]) -> dict[str, frozenset[str]]:
    """What the calls of functions are bound to in Spark, but for calls that give back their argument."""
    found = {name: (meaning for _, meaning in readings(name)) for name in names}
    return {name: frozenset(meaning for meaning in own if _COLUMN not in meaning) for name, own in found.items()}


_COLUMN = "outputs=(Output(name='v', expression=Column(name='a', type"
_CONSTANT = "outputs=(Output(name='v', expression=Constant("


def helps(dialect: str, spark: Mapping[str, Described], bound: Mapping[str, frozenset[str]]) -> list[dict[str, str]]:
    """What is known of each function that a dialect reads."""
    found = (_help(name, dialect, spark, bound) for name in names_in(dialect, spark))
    return [row for row in found if row is not None]


def _help(
    name: str, dialect: str, spark: Mapping[str, Described], bound: Mapping[str, frozenset[str]]
) -> dict[str, str] | None:
    """What is known of a function, from Spark's function that some call of it is bound to the same as."""
    call, other = shown(name, dialect), ""
    if not call:
        return None
    for _, meaning in readings(name, dialect):
        if meaning in bound.get(name, ()):
            known = spark[name]
            row = {
                "signature": SIGNATURES.get((name, dialect), known.signature),
                "purpose": OURS.get(name, known.purpose),
                "example": "" if name in OURS else example_in(dialect, known),
            }
            break
        if not other and meaning != ARRAY and _CONSTANT not in meaning:
            other = next((one for one in bound if meaning in bound[one]), "")
    else:
        like = OURS.get(other, spark[other].purpose) if other else ""
        purpose = like if like and dialect in SPARK_FAMILY else ELSEWHERE.get(name, like)
        row = {"signature": SIGNATURES.get((name, dialect), _signature(call)), "purpose": purpose, "example": ""}
    return {"name": name, "kind": kind(call, dialect), **row, "call": call}


def kind(call: str, dialect: str) -> str:
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
    rows = table(descriptions(spark))
    declared = {function.name for function in DECLARED if function.help}
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row["name"] not in declared]
    TABLE.write_text("".join(lines), encoding="utf-8")
    groups = (f"{info.getName()} {info.getGroup()}" for info in _infos(spark))
    listed = [f"{spark.version} is the version of Spark.", *groups]
    LISTED.write_text("\n".join(listed) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
