"""The table of functions agrees with the binder and with the page of functions."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import warnings
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from long import some

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import TABLE, all_help, functions
from workbench.sql.functions import DECLARED
from workbench.sql.functions.reading import NAMED
from workbench.sql.syntax.dialects import EXAMINED

ROOT = Path(__file__).parents[2]
SEED = int(os.environ["ARGUS_SEED"])


@pytest.fixture(scope="module")
def trials() -> ModuleType:
    """The script that tries functions."""
    spec = importlib.util.spec_from_file_location("function_trials", ROOT / "scripts" / "function_trials.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_every_function_of_the_table_is_read(trials, dialect):
    refused = {n: trials.refusal(known.call, dialect) for n, known in functions(dialect).items()}
    assert not {name: reason for name, reason in refused.items() if reason}


@pytest.mark.slow
def test_every_name_that_is_bound_is_in_the_table(trials):
    known = {entry.name for entry in all_help()}
    missing = NAMED.keys() - known
    missing = some(Random(SEED).sample(sorted(missing), len(missing)), always=4)  # each is tried in 1,300 calls
    assert not {name for name in missing for dialect in sorted(EXAMINED) if trials.reading(name, dialect)}


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_what_is_listed_as_an_aggregate_makes_groups(trials, dialect):
    known = {entry.name: (entry.kind, trials.is_grouped(entry.call, dialect)) for entry in functions(dialect).values()}
    assert not {name: kind for name, (kind, grouped) in known.items() if grouped is not (kind == "aggregate")}


def test_every_function_says_what_it_does():
    assert not [known.name for known in all_help() if not known.purpose]
    assert all(known.signature for known in all_help())


def test_what_a_dialect_lacks_is_not_offered():
    assert not [dialect for dialect in EXAMINED if "split_index" in functions(dialect)]
    assert {dialect for dialect in EXAMINED if "decode" in functions(dialect)} == {"databricks", "oracle", "spark"}


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_no_argument_is_passed_over(trials, dialect):
    calls = {known.call: f"{known.call[:-1]}, zz)" for known in functions(dialect).values() if known.call.endswith(")")}
    accepted = [longer for call, longer in calls.items() if "(" in call[:-1] and not trials.refusal(longer, dialect)]
    assert not [call for call in accepted if "(, " not in call]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["spark", "postgres", "duckdb"])
def test_a_call_of_too_few_arguments_is_refused_and_nothing_fails(trials, dialect):
    for name in functions(dialect):
        for arguments in ("", "*", "s"):
            trials.refusal(f"{name}({arguments})", dialect)


def test_what_a_declaration_says_is_not_in_the_table():
    declared = {function.name for function in DECLARED if function.help}
    assert "jaro_winkler_similarity" in declared and "jaro_winkler_similarity" in functions("spark")
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert not declared & {json.loads(line)["name"] for line in lines}


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_a_call_without_its_last_argument_says_how_it_is_called(trials, dialect):
    unclear = []
    for name, known in functions(dialect).items():
        call = re.fullmatch(rf"{name}\((.*), ([^,()]+)\)", known.call, re.IGNORECASE)
        if known.kind == "analytic" or call is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bind(f"SELECT {name}({call[1]}) FROM t", dialect, trials.SCHEMA)
        except SqlError as error:
            if not error.hint or "write it into the parentheses" in error.hint:
                unclear.append(str(error))
    assert not unclear, "\n".join(unclear)
