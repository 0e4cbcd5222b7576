"""The pattern of MATCH_RECOGNIZE: a text with variables, quantifiers and alternatives as a program.

::

    A B+? (C | D){2,5} ^ $ PERMUTE(E, F) {- G* -}

Quantifiers are greedy; with ``?`` behind they are reluctant. Rows between ``{-`` and ``-}`` match, and are not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import permutations

from workbench.sql.algebra.patterns import PatternStep

MOST_PATTERN_STEPS = 2_000
"""Steps of a program: ``A{1000}`` has a thousand."""
MOST_PERMUTED = 6
"""Parts of PERMUTE, of which 720 sequences are alternatives."""

_TOO_LONG = f"it has more than {MOST_PATTERN_STEPS:,} steps"
_TOKEN = re.compile(r'\s*("(?:[^"]|"")+"|`[^`]+`|\{-|-\}|\w+|[(){}|*+?,^$])')
_UNBOUNDED = {"*": 0, "+": 1}


class PatternSyntaxError(Exception):
    """The text is no pattern; ``hint`` says what to write."""

    def __init__(self, message: str, hint: str = "as in PATTERN (A B+ (C | D){2,5})") -> None:
        super().__init__(message)
        self.hint = hint


def pattern_variable(text: str, quoted: bool | None = False) -> str:
    """The name of a variable: in upper case, unless it is in quotes.

    Example:
        >>> pattern_variable("up"), pattern_variable('"Up"'), pattern_variable("Up", quoted=True)
        ('UP', 'Up', 'Up')
    """
    if text[:1] in '"`':
        return text[1:-1].replace('""', '"')
    return text if quoted else text.upper()


@dataclass(frozen=True)
class RowPattern:
    """A pattern.

    Attributes:
        variables: their names, in the order in which they stand there first.
        steps: the program, which is at its end behind the last step.
    """

    variables: tuple[str, ...]
    steps: tuple[PatternStep, ...]

    @staticmethod
    def of(text: str) -> RowPattern:
        """The pattern of a text.

        Raises:
            PatternSyntaxError: it is none, or too long.

        Example:
            >>> [f"{step.operation} {step.to} {step.other}" for step in RowPattern.of("A B*").steps]
            ['row 0 0', 'split 2 4', 'row 1 0', 'jump 1 0']
        """
        reader = _Reader(_tokens(text))
        steps = reader.alternatives(False)
        if reader.at < len(reader.tokens):
            raise PatternSyntaxError(f"{reader.tokens[reader.at]} is not expected there")
        if not reader.variables:
            raise PatternSyntaxError("it has no variable")
        return RowPattern(tuple(reader.variables), tuple(steps))


def _tokens(text: str) -> list[str]:
    tokens, at = list[str](), 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise PatternSyntaxError(f"{text[at:].strip()[:1]} is not expected there")
        tokens.append(token[1])
        at = token.end()
    return tokens


@dataclass
class _Reader:
    """Reads tokens; programs are pieces, whose places count from 0."""

    tokens: list[str]
    at: int = 0
    variables: list[str] = field(default_factory=list)

    def alternatives(self, excluded: bool) -> list[PatternStep]:
        """Parse ``A B | C``: alternatives are tried in their order."""
        steps = self._sequence(excluded)
        parts = [steps]
        while self._next("|"):
            parts.append(self._sequence(excluded))
        return _any_of(parts)

    def _sequence(self, excluded: bool) -> list[PatternStep]:
        steps: list[PatternStep] = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in ("|", ")", "-}", ","):
            steps += _moved(self._quantified(excluded), len(steps))
            if len(steps) > MOST_PATTERN_STEPS:
                raise PatternSyntaxError(
                    f"it has more than {MOST_PATTERN_STEPS:,} steps", "give quantifiers smaller bounds"
                )
        return steps

    def _quantified(self, excluded: bool) -> list[PatternStep]:
        steps = self._part(excluded)
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        least, most = 0, None
        if token in _UNBOUNDED:
            self.at += 1
            least = _UNBOUNDED[token]
        elif token == "?":
            self.at += 1
            most = 1
        elif token == "{":
            least, most = self._bounds()
        else:
            return steps
        return _repeated(steps, least, most, reluctant=self._next("?"))

    def _bounds(self) -> tuple[int, int | None]:
        """``{n}``, ``{n,}``, ``{,m}`` and ``{n,m}``."""
        self.at += 1
        least = self._number()
        exact = not self._next(",")
        most = least if exact else self._number()
        if not self._next("}") or (exact and least is None):
            raise PatternSyntaxError("a quantifier needs numbers", "as in A{3}, A{2,5} and A{2,}")
        if most is not None and (most < (least or 0) or most == 0):
            raise PatternSyntaxError("a quantifier of no rows, or that ends before it begins", "as in A{2,5}")
        return least or 0, most

    def _number(self) -> int | None:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if not token.isdecimal():
            return None
        if len(token) > 6:
            raise PatternSyntaxError(f"{token} rows are too many", "give quantifiers smaller bounds")
        self.at += 1
        return int(token)

    def _part(self, excluded: bool) -> list[PatternStep]:
        if self.at == len(self.tokens):
            raise PatternSyntaxError("it ends too early")
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            return self._until(")", excluded)
        if token == "{-":
            if excluded:
                raise PatternSyntaxError("an exclusion stands in another")
            return self._until("-}", True)
        if token in "^$":
            return [PatternStep("first" if token == "^" else "last")]
        if token.upper() == "PERMUTE" and self._next("("):
            return self._permuted(excluded)
        if not (token[0] in '"`_' or token[0].isalpha()):
            raise PatternSyntaxError(f"{token} is not expected there")
        name = pattern_variable(token)
        if name not in self.variables:
            self.variables.append(name)
        return [PatternStep("row", self.variables.index(name), int(excluded))]

    def _until(self, end: str, excluded: bool) -> list[PatternStep]:
        steps = self.alternatives(excluded)
        if not self._next(end):
            raise PatternSyntaxError(f"{end} is missing")
        return steps

    def _permuted(self, excluded: bool) -> list[PatternStep]:
        parts = [self.alternatives(excluded)]
        while self._next(","):
            parts.append(self.alternatives(excluded))
        if not self._next(")"):
            raise PatternSyntaxError(") is missing")
        if len(parts) > MOST_PERMUTED:
            raise PatternSyntaxError(f"PERMUTE of more than {MOST_PERMUTED} parts", "write the sequences that matter")
        return _any_of([_joined(some) for some in permutations(parts)])

    def _next(self, token: str) -> bool:
        found = self.at < len(self.tokens) and self.tokens[self.at] == token
        self.at += found
        return found


def _moved(steps: list[PatternStep], by: int) -> list[PatternStep]:
    """A piece of a program that begins at another place."""
    return [
        PatternStep(step.operation, step.to + by, step.other + by * (step.operation == "split"))
        if step.operation in ("split", "jump")
        else step
        for step in steps
    ]


def _joined(parts: tuple[list[PatternStep], ...] | list[list[PatternStep]]) -> list[PatternStep]:
    steps: list[PatternStep] = []
    for part in parts:
        steps += _moved(part, len(steps))
    return steps


def _any_of(parts: list[list[PatternStep]]) -> list[PatternStep]:
    """The first of some pieces that leads to a match."""
    *before, steps = parts
    for part in reversed(before):
        behind = len(part) + 2
        end = behind + len(steps)
        if end > MOST_PATTERN_STEPS:
            raise PatternSyntaxError(_TOO_LONG, "write fewer alternatives")
        steps = [PatternStep("split", 1, behind), *_moved(part, 1), PatternStep("jump", end), *_moved(steps, behind)]
    return steps


def _repeated(part: list[PatternStep], least: int, most: int | None, reluctant: bool) -> list[PatternStep]:
    """A piece several times: as often as it can be, or as rarely where it is reluctant."""
    if len(part) * max(least, most or 0) > MOST_PATTERN_STEPS:
        raise PatternSyntaxError(_TOO_LONG, "give quantifiers smaller bounds")
    steps = _joined([part] * least)

    def choice(inside: int, behind: int) -> PatternStep:
        return PatternStep("split", behind, inside) if reluctant else PatternStep("split", inside, behind)

    if most is None:
        begin = len(steps)
        behind = begin + len(part) + 2
        return [*steps, choice(begin + 1, behind), *_moved(part, begin + 1), PatternStep("jump", begin)]
    end = len(steps) + (most - least) * (len(part) + 1)
    for _ in range(most - least):
        at = len(steps)
        steps += [choice(at + 1, end), *_moved(part, at + 1)]
    return steps
