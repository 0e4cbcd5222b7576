"""What a verification has found, and how far one is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import pandas as pd

from workbench.errors.unknown_attributes import TellsNames
from workbench.explain.cells import frame_text
from workbench.explain.text import counted

SPARK, ANEW = "Spark SQL", "the workbench, computed anew from all stored rows"
"""What an answer is compared with."""
ORDER_OF_ADDITIONS = (
    "the order in which a SUM or AVG of DOUBLE adds, where its last bits decide what is rounded or tested"
)
"""What SQL leaves open of a sum at a jump."""


class Outcome(StrEnum):
    """The result of a verification."""

    SAME = "same"
    DIFFERS = "differs"
    LEFT_OPEN = "left open"
    NOT_VERIFIABLE = "not verifiable"


@dataclass(frozen=True)
class Verification(TellsNames):
    """The result of verifying one answer.

    Attributes:
        query: its name.
        batch: after which the answer was compared.
        outcome: ``LEFT_OPEN`` where rows differ and SQL leaves open which are right, as of equal rows.
        rows: of the kept answer that were compared.
        part: of its groups that was compared, of 1.
        missing, unexpected: how many rows the kept answer lacks, and how many it should not have.
        differing: the first of them, the column ``side`` saying which: ``"Spark SQL"`` or ``"kept"``.
        reasons: why it cannot be verified, or what SQL leaves open.
        notes: what was changed in the text for Spark, or evaluated in its place, and how it was compared.
        sql: what Spark evaluated.
        by: what the answer was compared with: what Spark SQL gives, or the workbench where Spark SQL cannot.
        seconds: how long it took.
    """

    query: str
    batch: int
    outcome: Outcome
    rows: int = 0
    part: float = 1.0
    missing: int = 0
    unexpected: int = 0
    differing: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sql: str = ""
    by: str = SPARK
    seconds: float = 0.0

    def __str__(self) -> str:
        compared = counted(self.rows, "row")
        if self.part < 1:
            compared += f" of a sample of {self.part:.2%} of its groups"
        match self.outcome:
            case Outcome.SAME:
                head = (
                    f"{compared} after batch {self.batch} {'is that' if self.rows == 1 else 'are those'} of {self.by}"
                )
            case Outcome.NOT_VERIFIABLE:
                head = f"not verifiable: {'; '.join(self.reasons)}"
            case _:
                found = f"{counted(self.missing, 'row')} missing, {counted(self.unexpected, 'row')} too many"
                head = f"{self.outcome.upper()} from {self.by} after batch {self.batch}: {found} in {compared}"
                if self.outcome is Outcome.LEFT_OPEN:
                    head = f"after batch {self.batch} {found} in {compared}, where SQL leaves it open"
        lines = [f"{self.query}: {head} ({self.seconds:.1f} s)"]
        if self.outcome is Outcome.LEFT_OPEN:
            lines += [f"  open: {reason}" for reason in self.reasons]
        lines += [f"  note: {note}" for note in self.notes]
        if len(self.differing):
            lines += ["  " + line for line in frame_text(self.differing).splitlines()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Verifying:
    """The progress of a verification: its step, and the share that is done; 0 where that is unknown."""

    doing: str
    share: float


class NotVerifiable(Exception):
    """Spark SQL cannot say what the answer is."""
