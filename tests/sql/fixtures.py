"""Cases as data: files of statements that end with a semicolon, in pairs of input and expected text.

A line ``# title: ...`` before a pair names it. An odd number of statements is an error, so that no case is lost.
"""

from __future__ import annotations

import re
from pathlib import Path

CASES = Path(__file__).parent / "cases"


def pairs(name: str) -> list[tuple[str, str, str]]:
    """Title, input and expected text of every pair of a file."""
    return parse_pairs((CASES / name).read_text(encoding="utf-8"), name)


def parse_pairs(text: str, name: str) -> list[tuple[str, str, str]]:
    """As ``pairs``, of a text."""
    statements: list[tuple[str, str]] = []
    title = ""
    for chunk in re.split(r";[ \t]*(?:\n|$)", text):
        lines = chunk.strip("\n").split("\n")
        titles = [line for line in lines if line.startswith("# title:")]
        title = titles[-1].removeprefix("# title:").strip() if titles else title
        body = "\n".join(line for line in lines if not line.startswith("#")).strip("\n")
        if body:
            statements.append((title, body))
    if len(statements) % 2:
        raise ValueError(f"{name} has an odd number of statements: {statements[-1][1]!r} has no partner")
    return [(t, sql, wanted) for (t, sql), (_, wanted) in zip(statements[0::2], statements[1::2], strict=True)]
