"""The change of an operator's state, which a step of a task writes and hands over to the step that writes its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.spark.handed_over import hand_over, handed_over
from workbench.engine.storage.segments import Segment, SegmentFields, segment_fields


@dataclass(frozen=True)
class StateFiles:
    """The files that a step hands over.

    Attributes:
        segments: those that it wrote.
        too_much: why it gave up: the fields of ``TooMuchWork``.
    """

    segments: list[SegmentFields]
    too_much: tuple[str, str, str | None] | None = None


def hand_over_state(tree: str, segments: Iterable[Segment], apart: bool, too_much: TooMuchWork | None = None) -> None:
    """Hand over the segments of a change of a state, or why there are none.

    Args:
        tree: the name of the tree.
        segments: those that were written.
        apart: whether the rows are written by another process.
        too_much: why the step gave up.
    """
    given_up = None if too_much is None else (too_much.root, too_much.reason, too_much.hint)
    hand_over(tree, json.dumps([[*map(segment_fields, segments)], given_up]).encode(), apart)


def state_files(tree: str) -> StateFiles:
    """The files that an earlier step of this task has handed over for a tree."""
    return StateFiles(*json.loads(handed_over(tree)))
