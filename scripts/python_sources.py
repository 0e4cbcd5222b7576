"""The syntax trees of the project's own modules, for the scripts and tests that read them."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module, built while no garbage is collected.

    Up to Python 3.11.7, `ast.parse` fails ("AST constructor recursion depth mismatch") where a finalizer of a
    collected object parses, too, as the display of a traceback does (https://github.com/python/cpython/issues/106905).
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if collects:
            gc.enable()
