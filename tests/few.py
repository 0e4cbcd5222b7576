"""What ``make check`` runs: of the tests that start no process some cases, others in each run.

``ARGUS_FEW=1`` says how many of each test. Of the tests of the oracle, which take some seconds, a run has some.
Each fast case is in some run, and ``make test`` has all.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parent
FEW = int(os.environ.get("ARGUS_FEW", "0"))
"""Cases of each test in a run, or 0 for all."""
ORACLE_TESTS = 16
"""One in this many tests of the oracle is run, and all of ``EVERY_RUN``, whose queries need no Spark."""
STARTERS = frozenset({"subprocess", "multiprocessing", "executable", "get_server", "sync_playwright"})
"""What a function names that starts Python, another program, PostgreSQL or a browser."""
EVERY_RUN = "oracle/test_without_spark.py"


def few(items: Sequence[pytest.Item], seed: int, cases: int = FEW) -> list[pytest.Item]:
    """The tests of a run, in their order: ``cases`` of each, and of the oracle's some.

    Args:
        items: all tests.
        seed: decides which, so processes of one run have the same.
        cases: most cases of a test.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    dear = [name for name, (item, *_) in tests.items() if _of_oracle(item)]
    left_out = set(dear) - set(Random(seed).sample(dear, -(-len(dear) // ORACLE_TESTS)))
    chosen = set[str]()
    for name in tests.keys() - left_out:
        every = tests[name]
        chosen |= {item.nodeid for item in Random(f"{seed} {name}").sample(every, min(cases, len(every)))}
    return [item for item in items if item.nodeid in chosen]


def starts_a_process(item: pytest.Item) -> bool:
    """Whether a test, its fixtures, or what they call in ``tests`` starts a process, a server or a browser."""
    fixtures = getattr(item, "_fixtureinfo", None)
    used = [each.func for known in fixtures.name2fixturedefs.values() for each in known] if fixtures else []
    return any(map(_starts, [getattr(item, "function", None), *used]))


def _of_oracle(item: pytest.Item) -> bool:
    file = os.path.relpath(item.path, TESTS)
    return file.startswith("oracle") and file != EVERY_RUN


@cache
def _starts(made: object) -> bool:
    reached, left = set[object](), [made]
    while left:
        each = left.pop()
        if each not in reached:
            reached.add(each)
            functions = filter(inspect.isfunction, vars(each).values()) if isinstance(each, type) else [each]
            for function in map(inspect.unwrap, functions):
                if not STARTERS.isdisjoint(names := _names(function)):
                    return True
                left += _known(function, names)
    return False


def _names(function: Any) -> set[str]:
    """What the code of a function of the tests names."""
    if not inspect.isfunction(function) or not _of_tests(function.__code__.co_filename):
        return set()
    return {name for code in _codes(function.__code__) for name in code.co_names}


def _known(function: Any, names: set[str]) -> Iterator[object]:
    """Functions and classes of the tests that have one of the names."""
    for name in names & getattr(function, "__globals__", {}).keys():
        known = function.__globals__[name]
        if isinstance(known, ModuleType) and _of_tests(getattr(known, "__file__", None)):
            yield from (vars(known)[each] for each in names & vars(known).keys())
        elif isinstance(known, FunctionType | type):
            yield known


def _of_tests(file: str | None) -> bool:
    return file is not None and file.startswith(str(TESTS))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
