"""Regular expressions of PostgreSQL in calls: ``s ~ p``, SIMILAR TO, REGEXP_REPLACE and its like, of constant patterns.

A pattern is what Java's engine has for it (``syntax/regular_expressions``); what gives a match needs one of which both
engines choose the same.
"""

from __future__ import annotations

import re

from sqlglot import exp

from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_POSTGRES
from workbench.sql.syntax.regular_expressions import Pattern, read_pattern, similar_pattern

_HINT = "LIKE, POSITION and SPLIT_PART find texts without a regular expression"
_ONE, _ZERO = Constant(1, INTEGER), Constant(0, INTEGER)


def _pattern(b: ExpressionBinder, node: exp.Expr, flags: str = "", one_match: bool = False) -> Pattern | None:
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
        b.source.refuse(
            what, node, "make it one in which the next character says how it goes on, as [^,]* before a comma"
        )
    return pattern


def _flags(b: ExpressionBinder, node: exp.Expr | None, known: str) -> str:
    if node is None:
        return ""
    text = node.name if isinstance(node, exp.Literal) and node.is_string else "?"
    if wrong := next((flag for flag in text if flag not in known), None):
        b.source.refuse(
            f"the flag {wrong} of a regular expression", node, f"those that are read are {', '.join(known)}"
        )
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


@reads(
    exp.RegexpReplace,
    parts="this expression replacement position occurrence modifiers single_replace",
    dialects=ONLY_POSTGRES,
)
def replaced(b: ExpressionBinder, node: exp.RegexpReplace) -> Expression:
    """REGEXP_REPLACE(s, p, r[, start[, n]][, flags]): the first match, all of them with flag g or n = 0."""
    flags = _flags(b, node.args.get("modifiers"), "gics")
    start, which = (
        _number(b, node.args.get(key), default, least)
        for key, default, least in (("position", 1, 1), ("occurrence", 1, 0))
    )
    value, pattern = b.bind(node.this), _pattern(b, node.expression, flags, one_match=True)
    by = b.bind(node.args.get("replacement"))
    if pattern is None or is_null(by):
        return Constant(None, STRING)
    if not (isinstance(by, Constant) and isinstance(by.value, str)):
        b.source.refuse("a replacement that is not a constant string", node.args["replacement"])
    every = which == 0 or ("g" in flags and node.args.get("occurrence") is None)
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
        b.source.refuse("a digit behind a group, or more than 6 groups, in a replacement", node.args["replacement"])
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
    found = call(
        "array", *(call("regexp_extract", value, _text(pattern), Constant(group, INTEGER)) for group in groups)
    )
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
