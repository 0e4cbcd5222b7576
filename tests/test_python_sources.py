"""Modules are parsed whole while other objects are collected."""

from __future__ import annotations

import ast
import gc
import inspect
from pathlib import Path

from python_sources import parsed


class Parses:
    """An object in a cycle whose finalizer parses from a deeper frame, as the display of a traceback may.

    It leaves the next one behind, so that each collection finds one.
    """

    def __init__(self, left: int) -> None:
        self.itself, self.left = self, left

    def __del__(self) -> None:
        parse_below(12)
        if self.left:
            Parses(self.left - 1)


def parse_below(frames: int) -> None:
    if frames:
        parse_below(frames - 1)
    else:
        ast.parse("x + 1")


def test_a_module_is_parsed_while_finalizers_parse() -> None:
    thresholds = gc.get_threshold()
    Parses(200)
    try:
        gc.set_threshold(50, 5, 5)
        assert ast.get_docstring(parsed(Path(ast.__file__))) == inspect.getdoc(ast)
    finally:
        gc.set_threshold(*thresholds)
    assert gc.isenabled()
