"""The table of functions agrees with the binder and with the page of functions."""

from __future__ import annotations

import json
import os
import re
import warnings
from random import Random

import function_table
import pytest
from function_trials import SCHEMA, is_grouped, reading, refusal, shown
from function_words import ELSEWHERE, IN_PATTERNS, OFFERED_IN, OURS
from functions_page import LISTED
from long import some
from pyspark.sql import SparkSession

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import TABLE, all_help, functions
from workbench.sql.functions import DECLARED
from workbench.sql.functions.reading import NAMED
from workbench.sql.syntax.dialects import EXAMINED

SEED = int(os.environ["ARGUS_SEED"])


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_every_function_of_the_table_is_read(dialect):
    refused = {n: refusal(known.call, dialect) for n, known in functions(dialect).items()}
    assert not {name: reason for name, reason in refused.items() if reason}


@pytest.mark.slow
def test_every_name_that_is_bound_is_in_the_table():
    known = {entry.name for entry in all_help()}
    missing = NAMED.keys() - known
    missing = some(Random(SEED).sample(sorted(missing), len(missing)), always=4)  # each is tried in 1,300 calls
    assert not {name for name in missing for dialect in sorted(EXAMINED) if reading(name, dialect)}


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_what_is_listed_as_an_aggregate_makes_groups(dialect):
    known = {entry.name: (entry.kind, is_grouped(entry.call, dialect)) for entry in functions(dialect).values()}
    assert not {name: kind for name, (kind, grouped) in known.items() if grouped is not (kind == "aggregate")}


def test_every_function_says_what_it_does():
    assert not [known.name for known in all_help() if not known.purpose]
    assert all(known.signature for known in all_help())


def test_what_a_dialect_lacks_is_not_offered():
    assert not [dialect for dialect in EXAMINED if "split_index" in functions(dialect)]
    assert {dialect for dialect in EXAMINED if "decode" in functions(dialect)} == {"databricks", "oracle", "spark"}


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_no_argument_is_passed_over(dialect):
    calls = {known.call: f"{known.call[:-1]}, zz)" for known in functions(dialect).values() if known.call.endswith(")")}
    accepted = [longer for call, longer in calls.items() if "(" in call[:-1] and not refusal(longer, dialect)]
    assert not [call for call in accepted if "(, " not in call]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["spark", "postgres", "duckdb"])
def test_a_call_of_too_few_arguments_is_refused_and_nothing_fails(dialect):
    for name in functions(dialect):
        for arguments in ("", "*", "s"):
            refusal(f"{name}({arguments})", dialect)


def test_what_a_declaration_says_is_not_in_the_table():
    declared = {function.name for function in DECLARED if function.help}
    assert "jaro_winkler_similarity" in declared and "jaro_winkler_similarity" in functions("spark")
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert not declared & {json.loads(line)["name"] for line in lines}


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_a_call_without_its_last_argument_says_how_it_is_called(dialect):
    unclear = []
    for name, known in functions(dialect).items():
        call = re.fullmatch(rf"{name}\((.*), ([^,()]+)\)", known.call, re.IGNORECASE)
        if known.kind == "analytic" or call is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bind(f"SELECT {name}({call[1]}) FROM t", dialect, SCHEMA)
        except SqlError as error:
            if not error.hint or "write it into the parentheses" in error.hint:
                unclear.append(str(error))
    assert not unclear, "\n".join(unclear)


@pytest.mark.slow
def test_the_table_has_the_calls_that_the_script_finds() -> None:
    listed = [line.split()[0] for line in LISTED.read_text(encoding="utf-8").splitlines()[1:]]
    rows = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    written = {(row["name"], dialect): (row["call"], row["kind"]) for row in rows for dialect in row["dialects"]}
    declared = {function.name for function in DECLARED if function.help} | IN_PATTERNS.keys()
    names = {dialect: {*function_table.names_in(dialect, listed)} - declared for dialect in EXAMINED}
    tried = {name for of in names.values() for name in of} | {name for name, _ in written} - declared
    parted = {}
    for name in some(Random(SEED).sample(sorted(tried), len(tried)), always=8):
        for dialect in OFFERED_IN.get(name, EXAMINED):
            call = shown(name, dialect) if name in names[dialect] else ""
            found = (call, function_table.kind(call, dialect)) if call else None
            if found != written.get((name, dialect)):
                parted[name, dialect] = (found, written.get((name, dialect)))
    assert not parted, "run scripts/function_table.py"


def test_what_is_said_of_functions_is_in_the_table() -> None:
    said = {(entry.name, entry.purpose) for entry in all_help()}
    ours = {**ELSEWHERE, **{name: purpose for name, (_, purpose) in IN_PATTERNS.items()}}
    assert not ours.items() - said, "run scripts/function_table.py"
    assert not {*OURS.items()} - said, "run scripts/function_table.py"


def test_what_else_is_said_is_sparks_own_description(spark: SparkSession) -> None:
    described = {known.purpose for known in function_table.descriptions(spark).values()}
    ours = {*ELSEWHERE.values(), *OURS.values(), *(purpose for _, purpose in IN_PATTERNS.values())}
    said = {json.loads(line)["purpose"] for line in TABLE.read_text(encoding="utf-8").splitlines()}
    assert not said - described - ours, "run scripts/function_table.py"
