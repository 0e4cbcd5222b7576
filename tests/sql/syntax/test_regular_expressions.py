"""Regular expressions of PostgreSQL: where a match is taken to be the same, the first one found is the longest."""

from __future__ import annotations

import re
from random import Random

import pytest

from workbench.sql.syntax.regular_expressions import read_pattern

ATOMS = ("a", "b", ".", "[ab]", "[^a]", "\\d", "c")
QUANTIFIERS = ("", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?")


def drawn_pattern(random: Random, depth: int = 2) -> str:
    """A pattern of a few parts, each maybe repeated, and maybe a group with alternatives."""
    parts = []
    for _ in range(random.randint(1, 3)):
        nested = depth and random.random() < 0.3
        part = f"({drawn_pattern(random, depth - 1)})" if nested else random.choice(ATOMS)
        parts.append(part + random.choice(QUANTIFIERS))
    text = "".join(parts)
    return f"{text}|{drawn_pattern(random, 0)}" if random.random() < 0.15 else text


def longest(java: str, text: str) -> str | None:
    """The longest of the matches that begin first."""
    for start in range(len(text) + 1):
        for end in range(len(text), start - 1, -1):
            if re.compile(java).fullmatch(text, start, end):
                return text[start:end]
    return None


def shortest(java: str, text: str) -> str | None:
    """The shortest of the matches that begin first."""
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            if re.compile(java).fullmatch(text, start, end):
                return text[start:end]
    return None


def test_one_match_is_the_longest_or_of_lazy_patterns_the_shortest() -> None:
    random, known = Random(9), 0
    for _ in range(700):
        text = drawn_pattern(random)
        try:
            pattern = read_pattern(text)
        except ValueError:
            continue
        if not pattern.one_match:
            continue
        known += 1
        wanted = shortest if "?" in re.sub(r"(?<![*+?}])\?", "", text) else longest
        for _ in range(6):
            subject = "".join(random.choice("abc1") for _ in range(random.randint(0, 6)))
            found = re.search(pattern.java, subject)
            assert (found and found[0]) == wanted(pattern.java, subject), (text, subject)
    assert known > 150


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("\\mword", "\\m"),
        ("a**", "quantifier behind a quantifier"),
        ("(?x)a", "at the beginning"),
        ("[[.a.]]", "names an element"),
        ("(a", "not closed"),
        ("a)", "closes nothing"),
        ("*a", "behind nothing"),
        ("\\2(a)", "\\2"),
    ],
)
def test_what_engines_read_differently_is_refused_by_its_sign(text: str, what: str) -> None:
    with pytest.raises(ValueError, match=re.escape(what)):
        read_pattern(text)


@pytest.mark.parametrize("text", ["a|ab", "a?(ab)?", ".*b.*", "(a|b)*b?", "a*?b*", "(a*)(a*)"])
def test_patterns_with_a_choice_have_no_one_match(text: str) -> None:
    assert not read_pattern(text).one_match
