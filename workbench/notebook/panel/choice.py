"""What an analyst has chosen, for all views of one panel."""

from __future__ import annotations

import traitlets


class Choice(traitlets.HasTraits):
    """The query that is looked at, and up to which batch each query's results were looked at."""

    query = traitlets.Unicode()

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, int] = {}
