"""Regular expressions of PostgreSQL, which Java's engine evaluates where both find the same.

Both know the same languages, so ``s ~ 'a|b'`` needs nothing but other letters: ``.`` is a line end, too, ``$`` the end
of the text alone. They choose matches otherwise: PostgreSQL takes the longest, Java the first that it comes upon, of
``a|ab`` the a. So a function that gives a match, or replaces it, is read of patterns that have no choice: *deterministic*
ones, in which the next character says which part of the pattern it is (Glushkov's automaton has one way for each text),
and those with one quantifier and no alternatives. Whatever else differs is refused by its sign.

Letters, digits and blanks are those of ASCII, as with COLLATE "C"; so is the case that flag i makes no difference of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sqlglot import exp

from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_POSTGRES

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
_HINT = "LIKE, POSITION and SPLIT_PART find texts without a regular expression"


class _Refused(Exception):
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
            raise _Refused("so long a regular expression")
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

    def _apart(self, positions: frozenset[int] | set[int]) -> bool:
        seen: set[int] = set()
        for position in positions:
            if seen & self.sets[position]:
                return False
            seen |= self.sets[position]
        return True


@dataclass(frozen=True)
class Pattern:
    """A pattern of PostgreSQL as Java has it.

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
                raise _Refused(f"{found[0]} at the beginning of a regular expression")
            text, ignores_case = text[found.end() :], True
        self.text, self.at, self.ignores_case = text, 0, ignores_case
        self.automaton, self.groups, self.anchored = _Automaton(), 0, False
        self.variable, self.greedy, self.alternatives, self.refers = 0, set[bool](), False, False

    def read(self) -> Pattern:
        whole = self._alternatives()
        if self.at < len(self.text):
            raise _Refused("a parenthesis that closes nothing, in a regular expression")
        lazy = False in self.greedy
        chosen = len(self.greedy) < 2 and not (lazy and self.alternatives)
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
            raise _Refused(f"{match[0]} behind what matches nothing, in a regular expression")
        sign, few, several, many, lazy = match.groups()
        least = int(few) if few else int(sign == "+")
        most = (None if several and not many else int(many or few)) if few else (1 if sign == "?" else None)
        if least > _MOST_REPEATS or (most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise _Refused(f"{match[0]} in a regular expression")
        self.at = match.end()
        if re.match(r"[*+?]|\{[0-9]", self.text[self.at :]):
            raise _Refused("a quantifier behind a quantifier, in a regular expression")
        if least != most:
            self.variable += 1 if part.fixed else 2
            self.greedy.add(not lazy)
        end = self.at
        repeated = self._repeated(part, start, groups, least, most)
        self.at = end
        written = f"(?:{part.java})" if not part.java.startswith("(") and len(part.java) > 2 and part.java[0] != "[" else part.java
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
            raise _Refused(f"{sign} behind nothing, in a regular expression")
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
            raise _Refused(f"(?{self.text[self.at + 1 : self.at + 2]} in a regular expression")
        number = 0
        if kind is None:
            self.groups += 1
            number = self.groups
        else:
            self.at = kind.end()
        part = self._alternatives()
        if self._next() != ")":
            raise _Refused("a parenthesis that is not closed, in a regular expression")
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
            raise _Refused(f"\\{sign} in a regular expression")
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
                    raise _Refused(f"{named[0]} in a regular expression")
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
                    raise _Refused(f"the range {low}-{high} in a regular expression")
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
                raise _Refused(f"\\{sign} in brackets of a regular expression")
        if not sign or (sign == "[" and self._next() in ("=", ".")):
            raise _Refused("a bracket that is not closed, or names an element, in a regular expression")
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
    except _Refused as refused:
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


# ---- calls -----------------------------------------------------------------------------------------------------------

_ONE, _ZERO = Constant(1, INTEGER), Constant(0, INTEGER)


def _pattern(b: ExpressionBinder, node: exp.Expr | None, flags: str = "", one_match: bool = False) -> Pattern | None:
    """The constant pattern of a call; ``None`` of NULL.

    Raises:
        UnsupportedError: it is none, or engines choose other matches of it.
    """
    value = b.bind(node)
    if is_null(value):
        return None
    if not (isinstance(value, Constant) and isinstance(value.value, str)):
        b.source.refuse("a pattern that is not a constant string", node, _HINT)
    try:
        pattern = read_pattern(value.value, "i" in flags)
    except ValueError as error:
        b.source.refuse(str(error), node, _HINT)
    if one_match and not pattern.one_match:
        what = "a regular expression of which databases choose different matches"
        b.source.refuse(what, node, "make it one in which the next character says how it goes on, as [^,]* before a comma")
    return pattern


def _flags(b: ExpressionBinder, node: exp.Expr | None, known: str) -> str:
    if node is None:
        return ""
    text = node.name if isinstance(node, exp.Literal) and node.is_string else "?"
    if wrong := next((flag for flag in text if flag not in known), None):
        b.source.refuse(f"the flag {wrong} of a regular expression", node, f"those that are read are {', '.join(known)}")
    return text.rpartition("c")[2]  # c takes i back


def _number(b: ExpressionBinder, node: exp.Expr | None, default: int, least: int) -> int:
    if node is None:
        return default
    value = b.bind(node)
    if not isinstance(value, Constant) or not isinstance(value.value, int) or value.value < least:
        b.source.refuse(f"such a number in {b.source.called(node.parent or node)}", node, "write a constant number")
    return value.value


def _text(pattern: Pattern | str) -> Constant:
    return Constant(pattern if isinstance(pattern, str) else pattern.java, STRING)


@reads(exp.RegexpLike, exp.RegexpILike, parts="this expression flag negate", dialects=ONLY_POSTGRES)
def matches(b: ExpressionBinder, node: exp.RegexpLike | exp.RegexpILike) -> Expression:
    """``s ~ p``, ``s ~* p`` and REGEXP_LIKE(s, p[, flags])."""
    flags = "i" if isinstance(node, exp.RegexpILike) else _flags(b, node.args.get("flag"), "ics")
    value, pattern = b.bind(node.this), _pattern(b, node.expression, flags)
    found = Constant(None, BOOLEAN) if pattern is None else call("rlike", value, _text(pattern))
    return call("not", found) if node.args.get("negate") else found


@reads(exp.SimilarTo, parts="this expression negate", dialects=ONLY_POSTGRES)
def similar(b: ExpressionBinder, node: exp.SimilarTo, escape: str = "\\") -> Expression:
    """``s SIMILAR TO p``, of the whole text."""
    value, pattern = b.bind(node.this), b.bind(node.expression)
    if is_null(pattern):
        return Constant(None, BOOLEAN)
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression, _HINT)
    try:
        found = call("rlike", value, _text(similar_pattern(pattern.value, escape)))
    except ValueError as error:
        b.source.refuse(str(error), node.expression, _HINT)
    return call("not", found) if node.args.get("negate") else found


@reads(exp.RegexpReplace, parts="this expression replacement position occurrence modifiers single_replace", dialects=ONLY_POSTGRES)
def replaced(b: ExpressionBinder, node: exp.RegexpReplace) -> Expression:
    """REGEXP_REPLACE(s, p, r[, start[, n]][, flags]): the first match, all of them with flag g or n = 0."""
    flags = _flags(b, node.args.get("modifiers"), "gics")
    start, which = (_number(b, node.args.get(key), default, least) for key, default, least in (("position", 1, 1), ("occurrence", 1, 0)))
    value, pattern = b.bind(node.this), _pattern(b, node.expression, flags, one_match=True)
    by = b.bind(node.args["replacement"])
    if pattern is None or is_null(by):
        return Constant(None, STRING)
    if not (isinstance(by, Constant) and isinstance(by.value, str)):
        b.source.refuse("a replacement that is not a constant string", node.args["replacement"])
    every = "g" in flags or which == 0
    if which > 1 or (every and pattern.nullable) or (start > 1 and pattern.anchored):
        what = "REGEXP_REPLACE of a later match, of matches of nothing, or of ends behind a start"
        b.source.refuse(what, node, "it replaces the first match, and with flag g all")
    first = 0 if every else 1
    written = "" if every else "$1"
    for part in re.finditer(r"\\([1-9&\\])|(\\)|([^\\]+)", by.value, re.DOTALL):
        if part[1] in ("&", None) or part[1].isdigit():
            number = {"&": 0}.get(part[1] or "", int(part[1]) if (part[1] or "").isdigit() else -1)
            if number > pattern.groups or (number > 0 and number not in pattern.always):
                b.source.refuse("a group that is not in every match", node.args["replacement"])
            if number >= 0:
                written += f"${number + (2 if first else 0)}" if number or first else "$0"
                continue
        written += re.sub(r"([\\$])", r"\\\1", "\\" if part[1] == "\\" or part[2] else part[3] or "")
    if re.search(r"\$\d\d", re.sub(r"\\.", "", written)) or pattern.groups > 6:
        b.source.refuse("a digit behind a group, or so many groups, in a replacement", node.args["replacement"])
    java = pattern.java if every else _from_the_beginning(pattern)
    rest = value if start == 1 else call("substr", value, Constant(start, INTEGER))
    result = call("regexp_replace", rest, _text(java), Constant(written, STRING))
    return result if start == 1 else call("||", call("substr", value, _ONE, Constant(start - 1, INTEGER)), result)


def _from_the_beginning(pattern: Pattern) -> str:
    """A pattern of the text up to the first match, group 1, and this, group 2: there is but one."""
    flags, _, java = pattern.java.partition(")")
    shifted = re.sub(r"(?<!\\)((?:\\\\)*)\\([1-9])", lambda m: f"{m[1]}\\{int(m[2]) + 2}", java)
    return f"{flags})\\A(.*?)({shifted})"


@reads(exp.RegexpCount, parts="this expression position parameters", dialects=ONLY_POSTGRES)
def counted(b: ExpressionBinder, node: exp.RegexpCount) -> Expression:
    """REGEXP_COUNT(s, p[, start[, flags]])."""
    found = _all(b, node, _flags(b, node.args.get("parameters"), "ics"), 0)
    return Constant(None, INTEGER) if found is None else call("array_size", found)


@reads(exp.RegexpSubstr, parts="this expression position occurrence parameters group", dialects=ONLY_POSTGRES)
def part_of(b: ExpressionBinder, node: exp.RegexpSubstr) -> Expression:
    """REGEXP_SUBSTR(s, p[, start[, n[, flags[, group]]]])."""
    flags, group = _flags(b, node.args.get("parameters"), "ics"), _number(b, node.args.get("group"), 0, 0)
    found = _all(b, node, flags, group)
    which = Constant(_number(b, node.args.get("occurrence"), 1, 1), INTEGER)
    return Constant(None, STRING) if found is None else call("element_at", found, which)


def _all(b: ExpressionBinder, node: exp.Expr, flags: str, group: int) -> Expression | None:
    """All matches from a start on, or a group of each."""
    pattern = _pattern(b, node.expression, flags, one_match=True)
    if pattern is None:
        return None
    start = _number(b, node.args.get("position"), 1, 1)
    if pattern.nullable or (start > 1 and pattern.anchored):
        b.source.refuse("matches of nothing, or of ends behind a start", node, _HINT)
    if group > pattern.groups or (group and group not in pattern.always):
        b.source.refuse("a group that is not in every match", node)
    value = b.bind(node.this)
    rest = value if start == 1 else call("substr", value, Constant(start, INTEGER))
    return call("regexp_extract_all", rest, _text(pattern), Constant(group, INTEGER))


@reads(exp.RegexpInstr, parts="this expression position occurrence option parameters group", dialects=ONLY_POSTGRES)
def place_of(b: ExpressionBinder, node: exp.RegexpInstr) -> Expression:
    """REGEXP_INSTR(s, p[, start[, n[, end[, flags[, group]]]]]): the place of the first match, or that behind it."""
    numbers = [_number(b, node.args.get(key), default, least) for key, default, least in
               (("position", 1, 1), ("occurrence", 1, 1), ("option", 0, 0), ("group", 0, 0))]  # fmt: skip
    start, which, end, group = numbers
    if which > 1 or group or end > 1:
        b.source.refuse("REGEXP_INSTR of a later match, or of a group", node, "REGEXP_SUBSTR gives these")
    pattern = _pattern(b, node.expression, _flags(b, node.args.get("parameters"), "ics"), one_match=True)
    if pattern is None:
        return Constant(None, INTEGER)
    if pattern.nullable or (start > 1 and pattern.anchored):
        b.source.refuse("matches of nothing, or of ends behind a start", node, _HINT)
    value = b.bind(node.this)
    rest = value if start == 1 else call("substr", value, Constant(start, INTEGER))
    ahead = call("regexp_extract", rest, _text(_from_the_beginning(pattern)), _ONE)
    behind = call("length", ahead)
    if end:
        behind = call("+", behind, call("length", call("regexp_extract", rest, _text(pattern), _ZERO)))
    found = call("rlike", rest, _text(pattern))
    unknown = call("case", call("is_null", found), Constant(None, INTEGER), _ZERO)
    return call("case", found, call("+", behind, Constant(start, INTEGER)), unknown)


@reads_call("regexp_match", dialects=ONLY_POSTGRES)
def first_match(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """REGEXP_MATCH(s, p[, flags]): the groups of the first match, or the whole one, as an array."""
    value, pattern = _value_and_pattern(b, node)
    if pattern is None or pattern.always != frozenset(range(1, pattern.groups + 1)):
        b.source.refuse("a group that is not in every match", node)
    groups = range(1, pattern.groups + 1) if pattern.groups else [0]
    found = call("array", *(call("regexp_extract", value, _text(pattern), Constant(group, INTEGER)) for group in groups))
    return call("case", call("rlike", value, _text(pattern)), found, Constant(None, found.type))


@reads_call("regexp_split_to_array", dialects=ONLY_POSTGRES)
def split(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """REGEXP_SPLIT_TO_ARRAY(s, p[, flags])."""
    value, pattern = _value_and_pattern(b, node)
    if pattern is None or pattern.nullable:
        b.source.refuse("a separator that is nothing", node, "STRING_TO_ARRAY(s, NULL) has the characters")
    return call("split", value, _text(pattern), Constant(-1, INTEGER))


def _value_and_pattern(b: ExpressionBinder, node: exp.Anonymous) -> tuple[Expression, Pattern | None]:
    if not 2 <= len(node.expressions) <= 3:
        raise b.source.error(f"{node.name.upper()} takes 2 to 3 arguments, not {len(node.expressions)}", node)
    text, pattern, *flags = node.expressions
    return b.bind(text), _pattern(b, pattern, _flags(b, flags[0] if flags else None, "ics"), one_match=True)


def part_by_pattern(b: ExpressionBinder, node: exp.Substring) -> Expression | None:
    """``SUBSTRING(s FROM 'pattern')``: the first group of the first match, or the whole one; ``None`` of places."""
    start = node.args.get("start")
    if not isinstance(start, exp.Literal) or not start.is_string or node.args.get("length") is not None:
        return None
    pattern = _pattern(b, start, one_match=True)
    assert pattern is not None
    if pattern.groups and 1 not in pattern.always:
        b.source.refuse("a group that is not in every match", start)
    value = b.bind(node.this)
    found = call("regexp_extract", value, _text(pattern), Constant(min(pattern.groups, 1), INTEGER))
    return call("case", call("rlike", value, _text(pattern)), found, Constant(None, STRING))
