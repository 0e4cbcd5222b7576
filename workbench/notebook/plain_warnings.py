"""Warnings of the workbench as a notebook shows them."""

from __future__ import annotations

import warnings

from workbench.errors import ConstraintWarning, SqlWarning, StreamWarning


def show_plain_warnings() -> None:
    """Show warnings of the workbench by their text alone: the line of code that gave one is not the analyst's."""
    usual = warnings.formatwarning

    def one_line(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if issubclass(category, (ConstraintWarning, SqlWarning, StreamWarning)):
            return f"warning: {message}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = one_line
