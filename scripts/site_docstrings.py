"""An extension of Griffe, which reads docstrings for the site: headings and roles as our docstrings write them."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Docstrings(griffe.Extension):
    """Makes an ``Example:`` a section of examples, and a Sphinx role plain code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object before it is parsed."""
        if obj.docstring is not None:
            text = re.sub(r"^(\s*)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r":(?:class|func|meth|mod):`~?([^`]*)`", r"``\1``", text)
