"""Regular expressions of PostgreSQL, which Java's engine evaluates where both find the same.

Both know the same languages, so ``s ~ 'a|b'`` needs nothing but other letters: ``.`` is a line end, too, ``$`` the end
of the text alone. They choose matches otherwise: PostgreSQL takes the longest, Java the first that it comes upon, of
``a|ab`` the a. So a function that gives a match, or replaces it, is read of patterns that have no choice:
*deterministic* ones, in which the next character says which part of the pattern it is (Glushkov's automaton has one way
for each text), and those with one quantifier and no alternatives. Whatever else differs is refused by its sign.

Letters, digits and blanks are those of ASCII, as with COLLATE "C"; so is the case that flag i makes no difference of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_ASCII = range(128)
_OTHER = 128
"""Stands for every character beyond ASCII."""
_ALL = frozenset((*_ASCII, _OTHER))
_WORD = frozenset(c for c in _ASCII if chr(c).isalnum() or chr(c) == "_")
_CLASSES = {
    "alpha": frozenset(c for c in _ASCII if chr(c).isalpha()), "digit": frozenset(map(ord, "0123456789")),
    "alnum": _WORD - {ord("_")}, "upper": frozenset(c for c in _ASCII if chr(c).isupper()),
    "lower": frozenset(c for c in _ASCII if chr(c).islower()), "space": frozenset(map(ord, " \t\n\r\f\v")),
    "punct": frozenset(c for c in _ASCII if chr(c).isprintable() and not chr(c).isalnum() and chr(c) != " "),
    "xdigit": frozenset(map(ord, "0123456789abcdefABCDEF")), "blank": frozenset(map(ord, " \t")), "word": _WORD,
}  # fmt: skip
_LETTERS = {"d": "digit", "s": "space", "w": "word"}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "e": "\x1b"}
_MOST_POSITIONS = 400
_MOST_REPEATS = 255


class _RefusedError(Exception):
    """A pattern has a part that engines read differently; the argument is what to call it."""


@dataclass
class _Part:
    """A part of a pattern: what Java writes, and the positions of Glushkov's automaton in it.

    Attributes:
        java: the part in Java's letters.
        nullable: whether it matches nothing, too.
        first, last: the positions with which a match may begin and end.
        fixed: whether all its matches have one length.
        always: the groups that are part of every match.
    """

    java: str
    nullable: bool = True
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    fixed: bool = True
    always: frozenset[int] = frozenset()


@dataclass
class _Automaton:
    sets: list[frozenset[int]] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)

    def position(self, characters: frozenset[int]) -> int:
        if len(self.sets) >= _MOST_POSITIONS:
            raise _RefusedError("so long a regular expression")
        self.sets.append(characters)
        self.follow.append(set())
        return len(self.sets) - 1

    def joined(self, left: _Part, right: _Part) -> _Part:
        for position in left.last:
            self.follow[position] |= right.first
        return _Part(
            left.java + right.java, left.nullable and right.nullable,
            left.first | right.first if left.nullable else left.first,
            right.last | left.last if right.nullable else right.last,
            left.fixed and right.fixed, left.always | right.always,
        )  # fmt: skip

    def one_way(self, whole: _Part) -> bool:
        """Whether the next character always says at which position it is."""
        return all(self._apart(positions) for positions in (whole.first, *self.follow))

    def _apart(self, positions: Iterable[int]) -> bool:
        seen: set[int] = set()
        for position in positions:
            if seen & self.sets[position]:
                return False
            seen |= self.sets[position]
        return True


@dataclass(frozen=True)
class Pattern:
    """A pattern of PostgreSQL, translated to Java.

    Attributes:
        java: the pattern.
        groups: how many groups it has.
        always: the groups that are part of every match.
        nullable: whether it matches nothing, too.
        anchored: whether it names an end of the text.
        one_match: whether both engines choose the same match.
    """

    java: str
    groups: int
    always: frozenset[int]
    nullable: bool
    anchored: bool
    one_match: bool


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str, ignores_case: bool) -> None:
        if found := re.match(r"\*\*\*|\(\?([a-z]+)\)", text):
            if found[1] != "i":
                raise _RefusedError(f"{found[0]} at the beginning of a regular expression")
            text, ignores_case = text[found.end() :], True
        self.text, self.at, self.ignores_case = text, 0, ignores_case
        self.automaton, self.groups, self.anchored = _Automaton(), 0, False
        self.variable, self.greedy, self.alternatives, self.refers = 0, set[bool](), False, False
        self.chooses = False

    def read(self) -> Pattern:
        whole = self._alternatives()
        if self.at < len(self.text):
            raise _RefusedError("a parenthesis that closes nothing, in a regular expression")
        lazy = False in self.greedy
        chosen = not self.chooses and len(self.greedy) < 2 and not (lazy and self.alternatives)
        chosen &= self.automaton.one_way(whole) or (self.variable < 2 and not self.alternatives and not self.refers)
        flags = "(?si)" if self.ignores_case else "(?s)"
        return Pattern(flags + whole.java, self.groups, whole.always, whole.nullable, self.anchored, chosen)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _alternatives(self) -> _Part:
        parts = [self._sequence()]
        while self._next() == "|":
            self.at += 1
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        self.alternatives = True
        self.chooses |= any(part.nullable for part in parts[:-1])  # Java takes nothing, and asks no other
        first, last = (frozenset[int]().union(*(getattr(part, end) for part in parts)) for end in ("first", "last"))
        nullable = any(part.nullable for part in parts)
        return _Part("|".join(part.java for part in parts), nullable, first, last, False)

    def _sequence(self) -> _Part:
        whole = _Part("")
        while self._next() not in ("", "|", ")"):
            whole = self.automaton.joined(whole, self._quantified())
        return whole

    def _quantified(self) -> _Part:
        start, groups = self.at, self.groups
        part = self._atom()
        match = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})(\?)?").match(self.text, self.at)
        if match is None:
            return part
        if not part.first:
            raise _RefusedError(f"{match[0]} behind what matches nothing, in a regular expression")
        sign, few, several, many, lazy = match.groups()
        least = int(few) if few else int(sign == "+")
        most = (None if several and not many else int(many or few)) if few else (1 if sign == "?" else None)
        if least > _MOST_REPEATS or (most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise _RefusedError(f"{match[0]} in a regular expression")
        self.at = match.end()
        if re.match(r"[*+?]|\{[0-9]", self.text[self.at :]):
            raise _RefusedError("a quantifier behind a quantifier, in a regular expression")
        if least != most:
            self.variable += 1 if part.fixed else 2
            self.greedy.add(not lazy)
        end = self.at
        repeated = self._repeated(part, start, groups, least, most)
        self.at = end
        written = (
            f"(?:{part.java})"
            if not part.java.startswith("(") and len(part.java) > 2 and part.java[0] != "["
            else part.java
        )
        repeated.java = written + match[0]
        return repeated

    def _repeated(self, part: _Part, start: int, groups: int, least: int, most: int | None) -> _Part:
        """The part again and again, each time with positions of its own, optional ones within each other."""
        copies = [part]
        state = (self.variable, self.greedy.copy(), self.groups)
        while len(copies) < max(least, most or 1, 1):
            self.at, self.groups = start, groups
            copies.append(self._atom())
        self.variable, self.greedy, self.groups = state
        if most is None:  # the last one goes on
            for position in copies[-1].last:
                self.automaton.follow[position] |= copies[-1].first
        optional: _Part | None = None
        needed = max(least, 1) if most is None else least
        for copy in reversed(copies[needed:]):
            optional = copy if optional is None else self.automaton.joined(copy, optional)
            optional.nullable = True
        whole = _Part("")
        for copy in copies[:needed]:
            whole = self.automaton.joined(whole, copy)
        if optional is not None:
            whole = self.automaton.joined(whole, optional)
        always = part.always if least else frozenset[int]()
        nullable = least == 0 or whole.nullable
        return _Part("", nullable, whole.first, whole.last, least == most and part.fixed, always)

    def _atom(self) -> _Part:
        sign = self._next()
        self.at += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._one(*self._bracket())
        if sign == ".":
            return self._one(".", _ALL)
        if sign in "^$":
            self.anchored = True
            return _Part("\\A" if sign == "^" else "\\z")
        if sign == "\\":
            return self._escaped()
        if sign in "*+?" or (sign == "{" and self._next().isdigit()):
            raise _RefusedError(f"{sign} behind nothing, in a regular expression")
        return self._one(re.sub(r"([{}\]])", r"\\\1", sign), self._folded({sign}))

    def _one(self, java: str, characters: frozenset[int]) -> _Part:
        only = frozenset({self.automaton.position(characters)})
        return _Part(java, False, only, only)

    def _folded(self, signs: set[str]) -> frozenset[int]:
        if self.ignores_case:
            signs = signs | {s.upper() for s in signs if s.isascii()} | {s.lower() for s in signs if s.isascii()}
        return frozenset(min(ord(sign), _OTHER) for sign in signs)

    def _group(self) -> _Part:
        kind = re.compile(r"\?(:|=|!|<=|<!)").match(self.text, self.at)
        if kind is None and self._next() == "?":
            raise _RefusedError(f"(?{self.text[self.at + 1 : self.at + 2]} in a regular expression")
        number = 0
        if kind is None:
            self.groups += 1
            number = self.groups
        else:
            self.at = kind.end()
        part = self._alternatives()
        if self._next() != ")":
            raise _RefusedError("a parenthesis that is not closed, in a regular expression")
        self.at += 1
        if kind is not None and kind[1] != ":":  # it looks, and takes nothing
            self.greedy |= {True, False}
            return _Part(f"({kind[0]}{part.java})")
        part.java = f"({'?:' if kind else ''}{part.java})"
        part.always |= {number} if number else frozenset()
        return part

    def _escaped(self) -> _Part:
        sign = self._next()
        self.at += 1
        if sign.lower() in _LETTERS and sign:
            known = _CLASSES[_LETTERS[sign.lower()]]
            return self._one("\\" + sign, known if sign.islower() else _ALL - known)
        if sign in ("A", "Z"):
            self.anchored = True
            return _Part("\\A" if sign == "A" else "\\z")
        if sign in _CONTROLS:
            return self._one(re.escape(_CONTROLS[sign]), frozenset({ord(_CONTROLS[sign])}))
        if sign.isdigit() and 0 < int(sign) <= self.groups and not self._next().isdigit():
            self.refers = True
            return self._one("\\" + sign, _ALL)
        if not sign or sign.isalnum():
            raise _RefusedError(f"\\{sign} in a regular expression")
        return self._one("\\" + sign if sign.isascii() else sign, self._folded({sign}))

    def _bracket(self) -> tuple[str, frozenset[int]]:
        """``[a-z[:digit:]]``: what Java writes, and the characters."""
        negated = self._next() == "^"
        self.at += negated
        java, characters, is_first = "", frozenset[int](), True
        while is_first or self._next() != "]":
            is_first = False
            if named := re.compile(r"\[:(\w+):\]").match(self.text, self.at):
                if named[1] not in _CLASSES:
                    raise _RefusedError(f"{named[0]} in a regular expression")
                self.at = named.end()
                java += "".join(map(_in_brackets, map(chr, sorted(_CLASSES[named[1]]))))
                characters |= self._folded({chr(c) for c in _CLASSES[named[1]]})
                continue
            letter = re.compile(r"\\([dsw])").match(self.text, self.at)
            if letter is not None:
                self.at = letter.end()
                java += letter[0]
                characters |= _CLASSES[_LETTERS[letter[1]]]
                continue
            low = self._sign_in_brackets()
            if self._next() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._sign_in_brackets()
                if high < low:
                    raise _RefusedError(f"the range {low}-{high} in a regular expression")
                java += f"{_in_brackets(low)}-{_in_brackets(high)}"
                characters |= self._folded({chr(c) for c in range(ord(low), min(ord(high), _OTHER) + 1)} | {high})
            else:
                java += _in_brackets(low)
                characters |= self._folded({low})
        self.at += 1
        return f"[{'^' * negated}{java}]", (_ALL - (characters - {_OTHER}) if negated else characters)

    def _sign_in_brackets(self) -> str:
        sign = self._next()
        self.at += 1
        if sign == "\\":
            sign = self._next()
            self.at += 1
            sign = _CONTROLS.get(sign, sign)
            if sign.isalnum():
                raise _RefusedError(f"\\{sign} in brackets of a regular expression")
        if not sign or (sign == "[" and self._next() in ("=", ".")):
            raise _RefusedError("a bracket that is not closed, or names an element, in a regular expression")
        return sign


def _in_brackets(sign: str) -> str:
    return "\\" + sign if sign.isascii() and not sign.isalnum() and sign.isprintable() else sign


def read_pattern(text: str, ignores_case: bool = False) -> Pattern:
    """What a regular expression of PostgreSQL is to Java.

    Raises:
        ValueError: it has a part that engines read differently, which the message calls.

    Example:
        >>> read_pattern("^[[:digit:]-]+$").java
        '(?s)\\\\A[0123456789\\\\-]+\\\\z'
        >>> [read_pattern(p).one_match for p in ("a|b", "a|ab", "x*y", ".*y", "(a|b)*c", "a?(ab)?")]
        [True, False, True, True, True, False]
    """
    try:
        return _Reader(text, ignores_case).read()
    except _RefusedError as refused:
        raise ValueError(str(refused)) from None


def similar_pattern(text: str, escape: str) -> str:
    """The Java pattern of ``SIMILAR TO``.

    Raises:
        ValueError: it is no such pattern.

    Example:
        >>> similar_pattern("_bc%|(x.)*", "")
        '(?s)\\\\A(?:.bc.*|(x\\\\.)*)\\\\z'
    """
    result, rest = "", iter(text)
    for sign in rest:
        if sign == escape:
            escaped = next(rest, None)
            if escaped is None or escaped == '"':
                raise ValueError("this escape in SIMILAR TO")
            result += re.escape(escaped)
        elif sign == "[":
            inside = ""
            for sign_ in rest:
                if sign_ == "]" and inside.removeprefix("^"):
                    break
                inside += sign_
            if not re.fullmatch(r"\^?[A-Za-z0-9_ .,:;/-]+", inside):
                raise ValueError(f"[{inside}] in SIMILAR TO")
            result += f"[{inside}]"
        else:
            result += {"%": ".*", "_": "."}.get(sign, sign if sign in "|*+?{}(),0123456789" else re.escape(sign))
    java = f"(?s)\\A(?:{result})\\z"
    try:
        re.compile(java.replace("\\z", "\\Z"))
    except re.error:
        raise ValueError(f"the pattern {text} of SIMILAR TO") from None
    return java
