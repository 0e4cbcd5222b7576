"""An extension of Griffe, which reads docstrings for the site: headings and roles as our docstrings write them."""

from __future__ import annotations

import re
from typing import Any

import griffe

SEVERAL = re.compile(r"^( +)(\w+(?:, \w+)+): (.*)$", re.MULTILINE)
"""An entry of a section that says the same of several attributes."""


class Docstrings(griffe.Extension):
    """Makes an ``Example:`` a section of examples, a Sphinx role plain code, and an entry for each of several names."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object before it is parsed."""
        if obj.docstring is not None:
            text = re.sub(r"^(\s*)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)
            text = SEVERAL.sub(lambda m: "\n".join(f"{m[1]}{name}: {m[3]}" for name in m[2].split(", ")), text)
            obj.docstring.value = re.sub(r":(?:class|func|meth|mod):`~?([^`]*)`", r"``\1``", text)
