"""Makes a failing sequence smaller: steps and rows go as long as it fails in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from oracle.fuzz.playing import Outcome
from oracle.fuzz.script import without_rows
from oracle.fuzz.steps import AddInput, Register, Run, Sequence_


def shrink(failed: Outcome, play: Callable[[Sequence_], Outcome], tries: int = 60) -> Outcome:
    """The smallest failing sequence that was found in a number of tries."""
    best = dataclasses.replace(failed, sequence=_with_steps(failed.sequence, failed.sequence.steps[: failed.step + 1]))
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _smaller(best.sequence):
            tries -= 1
            if tries < 0:
                break
            outcome = play(smaller)
            if outcome.failure is not None and _alike(outcome, failed):
                best, progress = outcome, True
                break
    return best


def _alike(one: Outcome, other: Outcome) -> bool:
    return type(one.failure) is type(other.failure) and (
        str(one.failure)[:25] == str(other.failure)[:25] or one.kind == other.kind
    )


def _smaller(sequence: Sequence_) -> Iterator[Sequence_]:
    """Sequences with something less."""
    if sequence.options:
        yield dataclasses.replace(sequence, options=())
    steps = sequence.steps
    for place in reversed(range(len(steps))):
        yield _with_steps(sequence, steps[:place] + steps[place + 1 :])
    for place, step in enumerate(steps):
        if isinstance(step, Register) and len(step.questions) > 1:
            for i in range(len(step.questions)):
                less = dataclasses.replace(step, questions=step.questions[:i] + step.questions[i + 1 :])
                yield _with_steps(sequence, (*steps[:place], less, *steps[place + 1 :]))
        if isinstance(step, Run) and step.batches > 1:
            yield _with_steps(sequence, (*steps[:place], Run(step.batches - 1), *steps[place + 1 :]))
    for size in (16, 8, 4, 2, 1):
        for place, step in enumerate(steps):
            if isinstance(step, AddInput):
                for start in range(0, len(step.rows), size):
                    if len(step.rows) - start >= size:
                        yield _with_steps(
                            sequence, (*steps[:place], without_rows(step, start, size), *steps[place + 1 :])
                        )


def _with_steps(sequence: Sequence_, steps: tuple) -> Sequence_:  # type: ignore[type-arg]
    return dataclasses.replace(sequence, steps=tuple(steps))
