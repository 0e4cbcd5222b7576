"""Random sequences of what an analyst does, against DuckDB: a sample here, many with ``ARGUS_FUZZ=2000``.

More of them, with scripts for those that fail: ``python -m oracle.fuzz``.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from long import LONG
from oracle.fuzz.__main__ import report
from oracle.fuzz.columns import InputColumn
from oracle.fuzz.comparing import Wrong
from oracle.fuzz.model import Model
from oracle.fuzz.playing import Outcome, Player
from oracle.fuzz.script import script
from oracle.fuzz.sequences import Switches, random_sequence
from oracle.fuzz.shrinking import shrink
from oracle.fuzz.steps import AddFunction, AddInput, Register, Run, Sequence_
from pyspark.sql import SparkSession

SEED = int(os.environ["ARGUS_SEED"])
"""A fresh one in every run."""
SEQUENCES = int(os.environ.get("ARGUS_FUZZ", "8" if LONG else "4"))
SEEDS = (0, 1, *range(SEED, SEED + SEQUENCES - 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_sequence(spark: SparkSession, seed: int) -> None:
    outcome = Player(spark, random_sequence(seed, Switches())).play()
    assert outcome.failure is None, report(outcome)


def test_duckdb_answers_every_question() -> None:
    dialects: Counter[str] = Counter()
    for seed in range(60):
        model = Model()
        for step in random_sequence(seed, Switches()).steps:
            if isinstance(step, AddInput):
                model.add_input(step)
            elif isinstance(step, AddFunction):
                model.add_function(step)
            elif isinstance(step, Register):
                for _, question in step.questions:
                    assert all(len(row) == len(question.fields) for row in model.answer(question))
                    dialects[question.dialect] += 1
        model.close()
    assert {"spark", "oracle", "postgres"} <= set(dialects) and dialects.most_common(1)[0][0] == "spark"


def test_the_same_seed_gives_the_same_sequence_and_a_script_of_it() -> None:
    for seed in range(20):
        one, other = (random_sequence(seed, Switches()) for _ in range(2))
        assert repr(one) == repr(other)
        compile(script(one), f"seed {seed}", "exec")


def test_a_failing_sequence_becomes_small() -> None:
    rows = tuple((number,) for number in range(20))
    added = AddInput("t", "t0", (InputColumn("a", "small"),), rows, False, 0, 1, None, "arrow")
    sequence = Sequence_(0, (("sharing", False),), (added, Run(1), added, Run(3), Run(1)))

    def play(tried: Sequence_) -> Outcome:
        there = any((7,) in step.rows for step in tried.steps if isinstance(step, AddInput))
        ran = any(isinstance(step, Run) for step in tried.steps)
        failure = Wrong("result differs") if there and ran else None
        return Outcome(tried, step=len(tried.steps) - 1, failure=failure)

    small = shrink(play(sequence), play, tries=200).sequence
    assert [type(step) for step in small.steps] in ([AddInput, Run], [Run, AddInput])
    assert [s.rows for s in small.steps if isinstance(s, AddInput)] == [((7,),)] and not small.options


def test_the_folder_of_a_sequence_goes(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Player(spark, Sequence_(1, (), ())).play()
    assert not list(tmp_path.iterdir())
