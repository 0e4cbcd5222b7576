"""What ``make check`` runs: other cases with each seed, each in some run; ``make test`` leaves out none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from few import ORACLE_TESTS, TESTS, few, starts_a_process
from worker_processes import worker_processes

PROJECT = TESTS.parent
MATRIX = {f"sql/test_{name}.py::test[{case}]" for name in "ab" for case in range(20)}
ALONE = {f"sql/test_a.py::test_{name}" for name in ("one", "two")}
ORACLE = {f"oracle/test_{number}.py::test[{case}]" for number in range(16) for case in range(3)}
IN_PROCESS = {f"oracle/test_without_spark.py::test[{case}]" for case in range(8)}


def items(names: set[str]) -> list[Any]:
    files = {name: name.partition("::")[0] for name in sorted(names)}
    return [SimpleNamespace(nodeid=name, path=TESTS / file) for name, file in files.items()]


def chosen(names: set[str], seed: int, cases: int = 3) -> set[str]:
    return {item.nodeid for item in few(items(names), seed, cases)}


@pytest.mark.parametrize("seed", range(4))
def test_a_run_has_some_cases_of_each_test_and_all_of_one_that_has_few(seed: int) -> None:
    run = chosen(MATRIX | ALONE | IN_PROCESS, seed)
    tests = Counter(name.partition("[")[0] for name in run)
    assert run >= ALONE
    assert {tests.pop(name) for name in ALONE} == {1}
    assert set(tests.values()) == {3} and len(tests) == 3


def test_a_run_has_some_tests_of_the_oracle() -> None:
    tests = {name.partition("[")[0] for name in chosen(ORACLE, 7)}
    assert len(tests) == 16 // ORACLE_TESTS


def test_a_seed_chooses_the_same_in_each_process_and_another_one_others() -> None:
    every = MATRIX | ORACLE
    assert chosen(every, 5) == chosen(every, 5)
    assert len({frozenset(chosen(every, seed)) for seed in range(10)}) == 10


def test_each_case_is_in_some_run() -> None:
    every = MATRIX | ALONE | ORACLE | IN_PROCESS
    assert set().union(*(chosen(every, seed) for seed in range(200))) == every


def test_the_tests_keep_their_order() -> None:
    names = [item.nodeid for item in few(items(MATRIX | ORACLE), 3, 2)]
    assert names == sorted(names)


def through_a_helper() -> None:
    subprocess.run([sys.executable])


class Started:
    def __init__(self) -> None:
        through_a_helper()


@pytest.fixture
def started() -> Started:
    return Started()


@pytest.mark.parametrize(
    ("called", "fixtures", "starts"),
    [
        (through_a_helper, [], True),
        (lambda: through_a_helper(), [], True),
        (lambda: [Started() for _ in range(2)], [], True),
        (lambda started: started, [started], True),
        (lambda: worker_processes(2), [], True),
        (items, [], False),
        (lambda: pytest.approx(1), [], False),
    ],
)
def test_what_starts_a_process_is_found(called: Any, fixtures: list[Any], starts: bool) -> None:
    defined = {str(number): [SimpleNamespace(func=fixture)] for number, fixture in enumerate(fixtures)}
    item: Any = SimpleNamespace(function=called, _fixtureinfo=SimpleNamespace(name2fixturedefs=defined))
    assert starts_a_process(item) == starts


def collected(folder: Path, *options: str, **environment: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(folder), *options]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ARGUS_", "PYTEST_"))}
    done = subprocess.run(command, cwd=PROJECT, env=inherited | environment, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_make_test_leaves_out_nothing() -> None:
    told = {
        verb: subprocess.run(["make", "-n", verb], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
        for verb in ("test", "check")
    }
    (line,) = [line for line in told["test"].splitlines() if "pytest" in line]
    assert "ARGUS_FEW" not in line and '-m "' not in line
    (line,) = [line for line in told["check"].splitlines() if "pytest" in line]
    assert "ARGUS_FEW=" in line and '-m "not spark and not slow"' in line
    folder = TESTS / "sql" / "predicates"
    every = collected(folder)
    runs = [collected(folder, ARGUS_FEW="2", ARGUS_SEED=seed) for seed in ("1", "2")]
    assert runs[0] != runs[1]
    assert len(every) > 5 * len(runs[0]) and set(every) > set(runs[0]) | set(runs[1])
