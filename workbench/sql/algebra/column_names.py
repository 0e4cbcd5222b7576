"""Stored names: what columns are called in nodes, files and Spark's texts, whatever the analyst calls them.

A column of a CSV file may have any name: with dots, quotes or line ends, or one that the engine uses itself. Its stored
name has lower-case letters, digits and underscores, begins with a letter, and writes every other character by its code
between dollar signs. So it never needs more than backticks, and is never one of the engine's own names, which begin
with an underscore. Names are translated when a stream is added, a name is looked up, or a column is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSAFE = re.compile(r"^[0-9_]|[^a-z0-9_]")
_CODE = re.compile(r"\$([0-9a-f]+)\$")
_BARE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def stored_name(name: str) -> str:
    """The internal name of a column; upper and lower case are one.

    Example:
        >>> stored_name("Tran_Date"), stored_name("a.b"), stored_name("_batch")
        ('tran_date', 'a$2e$b', '$5f$batch')
    """
    return _UNSAFE.sub(lambda match: f"${ord(match[0]):x}$", name.lower())


def display_name(stored: str) -> str:
    """The analyst's name of a column: the inverse of ``stored_name``, also within a longer name made of it.

    Example:
        >>> display_name("a$2e$b"), display_name("a$2e$b_2")
        ('a.b', 'a.b_2')
    """
    return _CODE.sub(lambda match: chr(int(match[1], 16)), stored)


def quoted(name: str) -> str:
    """A name as SQL writes it: in backticks unless it is a plain word.

    Example:
        >>> quoted("tran_date"), quoted("a.b")
        ('tran_date', '`a.b`')
    """
    return name if _BARE.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def unique_names(names: Sequence[str]) -> list[str]:
    """Make names unique by suffixes _2, _3, …; upper and lower case are the same.

    Example:
        >>> unique_names(["batch", "Batch", "n"])
        ['batch', 'Batch_2', 'n']
    """
    seen: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 1
        while candidate.lower() in seen:
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate.lower())
        result.append(candidate)
    return result
