"""Sources as an analyst names them: a file, a variable of the notebook, or the address of a live source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import MagicError, nearest
from workbench.streams.files.partitions import is_pattern
from workbench.streams.live.delta_feed import DELTA_SCHEME
from workbench.streams.readers import nearest_file

_ADDRESS = re.compile(r"([a-z][a-z0-9+]+):/?([^/].*)")
"""An address that lacks slashes."""


def find_source(word: str, variables: Mapping[str, Any]) -> Any:
    """The source that a word names: a variable that holds data, a file, or a live source by its address or pattern.

    Args:
        word: as it was typed.
        variables: those that the analyst made.

    Raises:
        MagicError: it is none of these.
    """
    if "://" in word or word.startswith(DELTA_SCHEME):
        return word
    path, part = Path(word).expanduser(), re.match(r"(\w+)[.\[(]", word)
    is_part = part is not None and part[1] in variables
    if path.exists() or (is_pattern(word) and not is_part):
        return str(path)
    if word in variables:
        return variables[word]
    if typed := _ADDRESS.fullmatch(word):
        raise MagicError(f"{word} is neither a file nor an address", hint=f"did you mean {typed[1]}://{typed[2]}?")
    if is_part or re.search(r"\w\(|\w\[", word):
        raise MagicError(f"{word} is no file", hint=f"give a value a name in a cell before: rows = {word}")
    what = f"there is no file {word}" + (" and no variable of this name" if word.isidentifier() else "")
    hint = nearest_file(path) or nearest(word, variables if word.isidentifier() else ())
    raise MagicError(what, hint=hint or f"paths are seen from {Path.cwd()}")
