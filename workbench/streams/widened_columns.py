"""Columns of which an analyst has made the type another one, after the stream had rows.

Nothing that is stored changes: each part of a log has the types of the day on which it was written, and is read as what
the column is now. A type that would change one of the values that are there is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_column_type, to_field, type_of_field
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.types import DataType
from workbench.streams.convert import convert, is_text
from workbench.streams.declared_times import split_form
from workbench.streams.drifting_types import same_values
from workbench.streams.guessing import Guess, declared, read


@dataclass(frozen=True)
class WidenedColumn:
    """A column of another type than its source had.

    Attributes:
        name: its stored name.
        declared: its type, as it is declared; of a time maybe in a form.
    """

    name: str
    declared: str

    @property
    def type(self) -> DataType:
        """The type of its values."""
        return to_column_type(split_form(self.declared)[0])

    @property
    def field(self) -> pa.Field:
        """The field of a log."""
        return to_field(self.name, self.type)

    def guess(self, found: Guess | None) -> Guess | None:
        """How texts of its source are read from now on; ``None``: as ``convert`` does.

        Args:
            found: what they seemed to be.
        """
        if form := split_form(self.declared)[1]:
            return declared(display_name(self.name), self.type, form, found)
        return None if found is None else replace(found, type=self.type, why="declared since")

    def values(self, stored: pa.Array) -> tuple[pa.Array, Mask | None]:
        """Its values in rows that have them as another type, and a mask of those that are none of it.

        Example:
            >>> values, misfit = WidenedColumn("fee", "decimal(9,2)").values(pa.array([5, 10**8]))
            >>> values.to_pylist(), misfit.tolist()
            ([Decimal('5.00'), None], [False, True])
        """
        guess = self.guess(None)
        return read(stored, guess) if guess is not None and is_text(stored.type) else as_field(stored, self.field)


def as_field(stored: pa.Array, field: pa.Field) -> tuple[pa.Array, Mask | None]:
    """Values of a log as a column of another type, and a mask of those that are none of it."""
    if is_text(stored.type) and not is_text(field.type):
        return read(stored, Guess(field.name, type_of_field(field), ""))
    if not is_text(field.type):
        return same_values(stored, field)
    texts, misfit = convert(stored, type_of_field(field))
    # As sources write them; Arrow writes all six digits of a second.
    return (pc.replace_substring_regex(texts, r"\.0{6}$", "") if pa.types.is_timestamp(stored.type) else texts), misfit
