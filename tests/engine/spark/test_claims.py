"""Every number is claimed once, by whoever asks first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.engine.spark.claims import Claims, new_claims, offer

Pipes = tuple[Claims, list[int]]


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    claims, writing = new_claims(3)
    yield claims, writing
    for descriptor in (*claims.reading, *writing):
        os.close(descriptor)


def test_own_numbers_come_first_and_then_those_of_others(pipes: Pipes) -> None:
    claims, writing = pipes
    offer(writing, [[0, 1], [300, 2], [4]])
    claimed = claims.claimed(by=1)
    assert [next(claimed), next(claimed), next(claimed)] == [300, 2, 0]
    assert [*claims.claimed(by=0)] == [1, 4] and not [*claimed]


def test_threads_claim_each_number_once(pipes: Pipes) -> None:
    claims, writing = pipes
    with ThreadPoolExecutor(3) as threads:
        for _ in range(20):
            offer(writing, [range(0, 500), range(500, 700), ()])
            taken = [*threads.map(lambda by: [*claims.claimed(by)], range(3))]
            assert sorted(number for own in taken for number in own) == [*range(700)]


def test_processes_claim_each_number_once(pipes: Pipes) -> None:
    claims, writing = pipes
    offer(writing, [range(0, 900), range(900, 1_000), ()])
    code = (
        "import sys; from workbench.engine.spark.claims import Claims; "
        f"print(*Claims({[*claims.reading]}).claimed(int(sys.argv[1])))"
    )
    commands = [[sys.executable, "-c", code, str(by)] for by in range(1, 3)]
    others = [subprocess.Popen(each, pass_fds=claims.reading, stdout=subprocess.PIPE, text=True) for each in commands]
    own = [next(claims.claimed(0)) for _ in range(10)]
    taken = [int(number) for other in others for number in other.communicate()[0].split()]
    assert own == [*range(10)] and sorted([*own, *taken]) == [*range(1_000)]
