"""Warnings of the workbench are shown without a line of its code."""

from __future__ import annotations

import warnings

import pytest

from workbench.errors import ConstraintWarning, SqlWarning
from workbench.notebook.extension import show_plain_warnings


def test_a_warning_is_its_text_and_others_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    show_plain_warnings()
    for category in (SqlWarning, ConstraintWarning):
        assert warnings.formatwarning("no such row", category, "transitions.py", 404) == "warning: no such row\n"
    other = warnings.formatwarning("old", DeprecationWarning, "mine.py", 3, line="f()")
    assert other == "mine.py:3: DeprecationWarning: old\n  f()\n"
