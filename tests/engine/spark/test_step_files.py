"""Files of steps, which workers read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from workbench.engine.spark.python_steps import StepFile


@dataclass
class Kept:
    """A part of a plan; while its first value is pickled, another thread keeps one more."""

    first: Shared
    second: int = 2


class Shared:
    """A value during whose pickling the part that has it gets a further one."""

    part: Kept

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        vars(self.part).setdefault("kept", 3)
        return int, (1,)


def test_a_part_of_a_plan_may_grow_while_it_is_pickled(tmp_path: Path) -> None:
    shared = Shared()
    part = shared.part = Kept(shared)

    def step(task: int) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"sum": [vars(part)["first"] + part.second + vars(part)["kept"] + task]})

    (answer,) = StepFile.write(tmp_path, step).load()(4)
    assert answer.to_pydict() == {"sum": [10]}
