"""Explanations as the catalog keeps them: they come back, and what is no explanation becomes none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from workbench.explain.explanation import ExplanationView
from workbench.sharing.decisions import Candidate, Decision, Explanation, Rule

KNOWN = Explanation(
    "q",
    (Decision("F1", "SELECT * FROM t", False, Rule.EQUAL, ("a", "b"), "", (), "t"),
     Decision("J2", "SELECT 1", True, Rule.NEW, (), "why", (Candidate("J1", "near miss", None, False, "so"),), "j")),
    ("a note",),
)  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for at, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, at))


ROWS = json.loads(json.dumps(KNOWN.rows()))


def test_an_explanation_comes_back() -> None:
    assert Explanation.from_rows("q", ROWS) == KNOWN


@pytest.mark.parametrize("path", [path for path in leaves(ROWS) if path], ids=str)
def test_what_is_no_explanation_is_refused_or_shown(path: tuple[Any, ...]) -> None:
    """Whatever stands in whatever place; the catalog's reader names what is raised while rows become objects."""
    for value in (None, 5, 2**62, -1.5, True, "", "<b>", [], {}, [[1]], {"a": 1}):
        rows = json.loads(json.dumps(ROWS))
        part = rows
        for at in path[:-1]:
            part = part[at]
        part[path[-1]] = value
        try:
            read = Explanation.from_rows("q", rows)
        except Exception:
            continue
        shown = ExplanationView.of(read)
        assert str(shown) and shown._repr_html_()
