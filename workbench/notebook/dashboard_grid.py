"""The positions of a dashboard's sections: rows of names, as CSS writes the areas of a grid.

The line of the cell is what keeps a grid. A kernel cannot write a notebook's metadata, and the line is saved, compared
and repeated with the notebook; ``argus serve`` takes the same words.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import MagicError
from workbench.notebook.chart import WIDTH

if TYPE_CHECKING:
    from workbench.session.session import Session

_PAGE, _AROUND_CHART, _LEAST_CHART = 880, 150, 150
"""Pixels of a notebook beside JupyterLab's files, of those around the chart of a section, and of the least chart."""
LEFT_EMPTY = "."
"""A place with nothing in it."""
_HINT = (
    'each --grid is a row of names of one width: --grid "big big fees" --grid "rows rows fees"; a point is left empty'
)


@dataclass(frozen=True)
class DashboardGrid:
    """Rows of as many names each; a name has a rectangle of places.

    Example:
        >>> grid = DashboardGrid.parsed(["big big fees", "rows . fees"])
        >>> grid.names, grid.area("fees")
        (('big', 'fees', 'rows'), '1 / 3 / 3 / 4')
    """

    rows: tuple[tuple[str, ...], ...]

    @staticmethod
    def parsed(texts: Sequence[str]) -> DashboardGrid:
        """The grid whose rows are words with blanks between them.

        Raises:
            MagicError: rows of different widths, or a name whose places are no rectangle.
        """
        grid = DashboardGrid(tuple(tuple(text.split()) for text in texts))
        widths = {len(row) for row in grid.rows}
        if len(widths) != 1 or 0 in widths:
            raise MagicError("the rows of the grid are not of one width", hint=_HINT)
        for name in grid.names:
            top, left, bottom, right = grid._corners(name)
            if any(place != name for row in grid.rows[top:bottom] for place in row[left:right]):
                raise MagicError(f"the places of {name} in the grid are no rectangle", hint=_HINT)
        return grid

    def check(self, session: Session, others: Collection[str] = ()) -> None:
        """Check that each name is that of a query, or one of some others.

        Raises:
            QueryError: there is no such query.
            MagicError: it has other capital letters.
        """
        for name in self.names:
            if name not in others and (there := session.query(name).name) != name:
                raise MagicError(f"the query {name} of the grid is called {there}", hint="write it as it is there")

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the grid, in the order of reading."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row if name != LEFT_EMPTY))

    @property
    def columns(self) -> str:
        """The CSS of its columns, all of one width."""
        return f"repeat({len(self.rows[0])}, minmax(0, 1fr))"

    def area(self, name: str) -> str:
        """The CSS of a name's place: its lines above, on the left, below and on the right."""
        return " / ".join(str(line + 1) for line in self._corners(name))

    def chart_width(self, name: str) -> int:
        """Pixels for the chart of a name, so that its letters can be read in a window of 1,280."""
        _, left, _, right = self._corners(name)
        return max(_LEAST_CHART, min(WIDTH, _PAGE * (right - left) // len(self.rows[0]) - _AROUND_CHART))

    def _corners(self, name: str) -> tuple[int, int, int, int]:
        places = [(top, left) for top, row in enumerate(self.rows) for left, own in enumerate(row) if own == name]
        tops, lefts = zip(*places, strict=True)
        return min(tops), min(lefts), max(tops) + 1, max(lefts) + 1
