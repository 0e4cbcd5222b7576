"""Syntax errors in the analyst's words: where, what was expected, and a hint for a misspelled key word.

The parser passes over some mistakes, such as a comma that ends a list; these are refused here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.arguments import DroppedArgumentError
from workbench.sql.syntax.clause_order import misplaced_clause
from workbench.sql.syntax.foreign_syntax import usual_form
from workbench.sql.syntax.misspelled import meant_key_word
from workbench.sql.syntax.repairs import clause_at, repair
from workbench.sql.syntax.source_text import SourceText, error_at

_SHARES = "{} has one share, or a list of them", "as in {}(x, [0.5, 0.9])"
_OTHERWISE = {
    "DECODE": ("{} is no choice of values here", "write CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END"),
    "EXTRACT": ("{} has FROM between the part and the time", "as in {}(YEAR FROM t)"),
    **dict.fromkeys(("DATE_PART", "DATEPART"), ("the part stands first in {}", "as in {}('year', t)")),
    **dict.fromkeys(("QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC"), _SHARES),
}
"""Functions that take other arguments in other systems, and what is said of those, and how it is written."""
_TYPES = ("INTEGER", "DECIMAL", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")
"""Types as every dialect calls them."""
_TWO_ENDS = "write AND between them: BETWEEN a AND b"
_SIMILARITY = 0.65
"""How alike a word must be to the name of a type to be taken for a misspelling of it."""
_ENDING = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.UNION,
    TokenType.INTERSECT, TokenType.EXCEPT, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.COMMA,
}  # fmt: skip
_STATEMENTS = {TokenType.SELECT, TokenType.WITH, TokenType.CREATE, TokenType.L_PAREN, TokenType.VALUES, TokenType.FROM}
"""What a statement begins with."""
_SIGNS = {TokenType.PLUS, TokenType.DASH}
_OF_OPERATORS = "sqlglot.expressions.core."
"""Where the parser has what is no call of a function."""
_OPENING = {TokenType.L_PAREN, TokenType.COMMA}
_COMPARISONS = {
    TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.LIKE,
    TokenType.ILIKE, TokenType.IN, TokenType.BETWEEN,
}  # fmt: skip
_BEFORE_CONDITIONS = {
    TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY, TokenType.AND, TokenType.OR,
}  # fmt: skip
_OF_NO_LIST = {TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY, TokenType.LIMIT}
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}
_OPERANDS = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.NUMBER, TokenType.STRING}


def syntax_error(source: SourceText, statement: Sequence[Token], error: ParseError) -> SqlError:
    """The parser's error about a statement, with a place and a hint.

    Example:
        >>> import sqlglot
        >>> source = SourceText("SELECT a FORM T", "oracle")
        >>> try:
        ...     sqlglot.parse(source.sql, dialect="oracle")
        ... except ParseError as error:
        ...     print(syntax_error(source, source.tokens, error))
        syntax error: unexpected FORM
          SELECT a FORM T
                   ^^^^
        hint: did you mean FROM?
    """
    if statement and statement[0].token_type is TokenType.MERGE:
        raise UnsupportedError("MERGE is not supported", **source.span(statement[0].start, statement[0].end + 1),
                               hint="a query is a SELECT, with views by CREATE VIEW")  # fmt: skip
    if (lacking := _comparison_without_value(source, statement)) is not None:
        return lacking
    details = error.errors[0] if error.errors else {}
    line_and_column = (details.get("line"), details.get("col"))
    at = next((i for i, token in enumerate(statement) if (token.line, token.col) == line_and_column), None)
    if at is None:
        end = len(source.sql.rstrip())
        more = _go_on(statement[-1]) if statement else "write SELECT …"
        return SqlError("syntax error: unexpected end", sql=source.sql, position=end, hint=more)
    description, token = str(details.get("description") or ""), statement[at]
    if "hint" in details:
        return error_at(token, description, source, str(details["hint"]))
    unclosed = _unclosed_parenthesis(statement)
    if (alias := _alias_of_nothing(statement)) is not None:
        quoted = exp.to_identifier(alias.text, quoted=True).sql(source.dialect)
        what = f"nothing that {alias.text.upper()} belongs to stands before it"
        return error_at(alias, what, source, f"a column that is called so stands in quotes: {quoted}")
    if [word.text.upper() for word in statement[at - 2 : at + 1]] == [")", ",", "SELECT"]:
        return error_at(statement[at - 1], "a comma before SELECT", source, "leave the comma out")
    if (clause := next((word for word in statement if word.text.upper() == "MATCH_CONDITION"), None)) is not None:
        return error_at(clause, "unexpected MATCH_CONDITION", source, "the comparison of times stands in ON, with AND")
    if description in ("Expected TYPE after CAST", "Expected type") and token.token_type in _ENDING:
        return error_at(token, "a type is missing", source, f"types are {', '.join(_TYPES)}")
    if description in ("Expected TYPE after CAST", "Expected type") and token.text.upper() not in _TYPES:
        return error_at(token, f"there is no type {token.text}", source, _type_hint(token.text))
    after = next((word for word in source.tokens if word.start > statement[-1].start), None)
    if unclosed is not None and after is not None and after.token_type is TokenType.SEMICOLON:
        return error_at(after, "; ends a statement", source, "write a comma in its place, or ) before it")
    others = any(word.text in "[]{}" for word in statement)
    hint, at = usual_form(statement, at)
    token = statement[at]
    if hint is None and (misplaced := misplaced_clause(source, statement, at)) is not None:
        return misplaced
    if _closes_nothing(statement[: at + 1]):
        change = repair(source, statement, at) if others else None
        hint = hint or change or "it closes nothing: leave it out, or one before it"
    is_type = "AS after CAST" in description
    if hint is None and not is_type and (misspelled := meant_key_word(source, statement, at)) is not None:
        word, meant = misspelled
        return error_at(word, f"unexpected {word.text}", source, f"did you mean {meant}?")
    if re.match(r"Expect\w* \)", description) and unclosed is not None:
        closed = (repair(source, statement, at) if others else None) or "write ) where it ends"
        return error_at(unclosed, "a parenthesis is not closed", source, closed)
    expected = re.match(r"Expect\w* (\)|\w[\w ()]*?)(?= but got|$)", description)
    if expected:
        message = f"expected {expected[1]}"
        lacks = expected[1].split()[0]
        side = "after" if lacks == "END" else "before"  # of CASE, the word is its last one
        if expected[1] == "table name":
            hint = hint or "name a stream, table or query there"
        hint = hint or (None if is_type else repair(source, statement, at)) or f"write {lacks} {side} {token.text}"
    elif description.startswith("Required") and hint is None and _lacks_second_end(statement[: at + 1]):
        return error_at(token, "BETWEEN has two ends", source, _TWO_ENDS)
    elif description.startswith("Required") and at + 1 == len(statement) and token.token_type is not TokenType.R_PAREN:
        return error_at(token, f"the text ends after {token.text}", source, hint or _go_on(token))
    elif description.startswith("Required") and token.token_type is TokenType.R_PAREN:
        trunc = "TRUNC takes a date and a unit, as in TRUNC(d, 'MM'); of numbers there are FLOOR and CEIL"
        what = trunc if "DateTrunc" in description else "write a column or a value there, as in UPPER(name)"
        what = hint or what
        called = None if hint or what is trunc else _called(statement[:at])
        if called is not None and _OF_OPERATORS in description and not _makes_operator(called.text, description):
            called = None
        if called is not None:  # the binder, which knows functions, hints how it is called
            needed = _needed(called.text, description)
            return SqlError(f"{called.text.upper()} takes more arguments", **source.span(called.start, token.end + 1),
                            hint=needed or what)  # fmt: skip
        return error_at(token, "something is missing before )", source, what)
    else:
        message = f"unexpected {source.token_text(token)}"
    if hint is None and message.startswith("unexpected"):
        # COUNT of "dep COUNT(*)" is taken for an alias, and found out by its parenthesis.
        second = at - 1 if token.token_type is TokenType.L_PAREN and not _is_twice(statement, at - 1) else at
        hint = f"is a comma missing before {statement[second].text}?" if _lacks_comma(statement, second) else None
        hint = _TWO_ENDS if _lacks_second_end(statement[:at]) else hint
    hint = hint or _what_may_lack(statement, at) or _another_sign(source, statement) or repair(source, statement, at)
    between = f"between {source.token_text(statement[at - 1])} and {source.token_text(token)}"
    return error_at(token, message, source, hint or f"something is missing, or too much, {between}")


def look_at_lists(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse IN before a value outside of parentheses, and warn of texts that the parser puts together, and of 1,000.

    Raises:
        SqlError: IN has no list, with its place.
    """
    for before, token, after in zip(statement, statement[1:], [*statement[2:], None], strict=False):
        if before.token_type is TokenType.IN and after is not None and after.token_type is TokenType.COMMA:
            raise error_at(token, "a list stands in parentheses", source, f"IN ({source.token_text(token)}, …)")
        if before.token_type is TokenType.LIMIT and after is not None and after.token_type is TokenType.COMMA:
            raise error_at(
                after, "LIMIT has one number", source, f"of LIMIT {token.text}, n write LIMIT n OFFSET {token.text}"
            )
        if _is_thousand(before, token, after) and not source.sql[: token.start].count("("):
            what = f"{before.text},{after.text if after else ''} are two values"
            source.warn(what, token, "a number has nothing between its thousands")
        if before.token_type is token.token_type is TokenType.STRING:
            if source.rules.reserves_words and "\n" not in source.sql[before.end : token.start]:
                raise error_at(token, "a text follows a text", source, "write a comma, or || between them")
            what = f"two texts without a comma between them are one, '{before.text}{token.text}'"
            source.warn(what, token, "write a comma before it; if one text is meant, || puts two together")


def _alias_of_nothing(statement: Sequence[Token]) -> Token | None:
    """An AS in a select list behind a comma or a sign, which is the name of a column there."""
    for before, word in pairwise(statement):
        if word.token_type is TokenType.ALIAS and (before.token_type is TokenType.COMMA or before.token_type in _SIGNS):
            return word
    return None


def _what_may_lack(statement: Sequence[Token], at: int) -> str | None:
    """A hint for a word that is not allowed in its place, from the words before it."""
    word, before = statement[at], statement[max(0, at - 2) : at]
    if not before:
        return "a query begins with SELECT or WITH"
    if before[-1].token_type is TokenType.ALIAS and word.token_type is TokenType.SELECT:
        return f"a query stands in parentheses: {before[-1].text} (SELECT …)"
    if word.token_type is TokenType.NOT:
        return "what follows a value is <>, NOT IN, NOT LIKE, NOT BETWEEN or IS NOT NULL"
    if before[-1].token_type is TokenType.LATERAL and before[0].token_type is TokenType.COMMA:
        return "tables and LATERAL (SELECT …) stand before all LATERAL VIEW"
    if before[0].token_type is TokenType.ALIAS and before[-1].token_type in _ENDING:
        return f"a name is missing between {before[0].text} and {before[-1].text}"
    return None


def _another_sign(source: SourceText, statement: Sequence[Token]) -> str | None:
    """A hint for a semicolon before what is no statement of its own."""
    first = statement[0]
    before = next((token for token in reversed(source.tokens) if token.start < first.start), None)
    if before is None or before.token_type is not TokenType.SEMICOLON or first.token_type in _STATEMENTS:
        return None
    return "; ends a statement: leave it out, or write a comma in its place"


def stumbled(source: SourceText, statement: Sequence[Token], parse: Callable[[Sequence[Token]], object]) -> SqlError:
    """The error for a statement over which the parser stumbles: at the innermost call over which it does."""
    opened: list[int] = []
    for at, token in enumerate(statement):
        if token.token_type is TokenType.L_PAREN:
            opened.append(at)
        elif token.token_type is TokenType.R_PAREN and opened:
            start = opened.pop() - 1
            try:
                parse(statement[max(0, start) : at + 1])
            except ParseError:
                continue
            except Exception:
                hint = "something may be missing in the parentheses, or be one too many"
                return SqlError(f"syntax error: this {statement[start].text.upper()}(…) cannot be read",
                                **source.span(statement[start].start, token.end + 1), hint=hint)  # fmt: skip
    place = source.span(statement[0].start, statement[-1].end + 1)
    return SqlError("syntax error: this statement cannot be read", **place, hint="try it part by part")


def refuse_gaps(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse what the parser passes over: an open parenthesis, a comma that ends a list, ON without a condition.

    Columns that are called as key words are refused, too.

    Of ``SELECT all, city`` it would make SELECT ALL, and of ``x as, city`` no alias.

    Raises:
        SqlError: something is missing after such a word.
    """
    if (unclosed := _unclosed_parenthesis(statement)) is not None:
        raise error_at(unclosed, "a parenthesis is not closed", source, "write ) where it ends")
    for before, word, after in zip([None, *statement], statement, [*statement[1:], None], strict=False):
        if _is_passed_over(before, word, after, source.dialect):
            quoted = exp.to_identifier(word.text, quoted=True).sql(source.dialect)
            what = f"nothing that {word.text.upper()} belongs to stands after it"
            meant = f"a column that is called so stands in quotes: {quoted}"
            if word.token_type is TokenType.FETCH and after is not None and after.token_type is TokenType.NUMBER:
                meant = f"as in FETCH FIRST {after.text} ROWS ONLY"
            raise error_at(word, what, source, meant)
        if source.rules.exports_state and word.text.upper() == "EXPORT_STATE":
            what = "EXPORT_STATE is not supported"
            raise UnsupportedError(what, **source.span(word.start, word.end + 1), hint="leave it out: it is no alias")
    for place, (token, following) in enumerate(zip(statement, [*statement[1:], None], strict=True)):
        comma = token.token_type is TokenType.COMMA
        if comma and source.rules.trailing_commas:  # of lists, which no condition and no number of rows is
            ends = following is None or following.token_type in _ENDING
            comma = ends and clause_at(statement, place) in _OF_NO_LIST
        if not (comma or token.token_type is TokenType.ON):
            continue
        if following is None:
            raise error_at(token, f"the text ends after {token.text}", source, _go_on(token))
        if following.token_type in _ENDING:
            hint = f"leave the comma out, or write what belongs before {following.text}" if comma else None
            raise error_at(token, f"nothing stands between {token.text} and {following.text}", source, hint)


def _is_passed_over(before: Token | None, word: Token, after: Token | None, dialect: str) -> bool:
    """Whether the parser takes a word for a key word and drops it, since nothing follows that would belong to it."""
    first, last = (token.token_type if token is not None else None for token in (before, after))
    if first is TokenType.DOT:
        return False
    match word.token_type:
        case TokenType.ALIAS:
            return last in _ENDING or last in _SIGNS
        case TokenType.SELECT:
            return last in (TokenType.COMMA, TokenType.R_PAREN)
        case TokenType.ALL:
            return last is TokenType.COMMA or (last is TokenType.R_PAREN and first in _OPENING)
        case TokenType.DISTINCT:
            return first not in (TokenType.IS, TokenType.NOT) and (last is None or last in _ENDING)
        case TokenType.UNIQUE:  # DISTINCT in oracle
            return first is TokenType.SELECT and last is TokenType.COMMA
        case TokenType.FETCH:
            return first is not TokenType.ALIAS and (after is None or after.text.upper() not in ("FIRST", "NEXT"))
        case TokenType.FOR:  # of SUBSTRING
            return last is TokenType.R_PAREN and first not in _OPENING
        case TokenType.ISNULL | TokenType.NOTNULL:  # of few databases, to which it says IS NULL
            return not DIALECTS[dialect].isnull_is_operator and first in _OPERANDS and last is not TokenType.L_PAREN
    return False


def dropped_argument(source: SourceText, error: DroppedArgumentError) -> SqlError:
    """The error for an argument that a function does not take."""
    argument = error.argument
    place = source.span(argument.start, argument.end + 1) if isinstance(argument, Token) else source.of(argument)
    if place["position"] is None:  # the parser notes no place of constants
        place = source.keyword(error.function)
    count = error.place
    if error.function == "NAMED_STRUCT":
        hint = "as in NAMED_STRUCT('x', a, 'y', b)"
        return SqlError("NAMED_STRUCT takes constant names and values by turns", **place, hint=hint)
    if error.function in _OTHERWISE:
        message, hint = (text.format(error.function) for text in _OTHERWISE[error.function])
        return SqlError(message, **place, hint=hint)
    takes = f"at most {count} argument{'s' * (count > 1)}" if count else "no arguments"
    return SqlError(f"{error.function} takes {takes}", **place, hint=_shortened(source, place["position"]))


def _comparison_without_value(source: SourceText, statement: Sequence[Token]) -> SqlError | None:
    """The error for a sign of comparison with nothing before it; the value compared before may be meant."""
    words = [token for token in statement if token.token_type is not TokenType.NOT]
    for at, (before, sign) in enumerate(pairwise(words), 1):
        if before.token_type not in _BEFORE_CONDITIONS or sign.token_type not in _COMPARISONS:
            continue
        compared = next((i for i in range(at - 2, 0, -1) if words[i].token_type in _COMPARISONS), 0)
        value = source.token_text(words[compared - 1]) if compared else "x"
        is_plain = words[compared - 1].token_type in _NAMES
        hint = f"as in {before.text.upper()} {value if is_plain else 'x'} {source.token_text(sign)} …"
        return error_at(sign, f"nothing is compared before {source.token_text(sign)}", source, hint)
    return None


def _shortened(source: SourceText, at: int | None) -> str:
    """A hint for an argument at a place that is too much: the call without it."""
    before = [token for token in source.tokens if at is not None and token.start < at]
    called = _called(before)
    if called is None or before[-1].token_type not in _OPENING:
        return "leave out what is too much"
    end = before[-1].start if before[-1].token_type is TokenType.COMMA else before[-1].end + 1
    return f"write {source.sql[called.start : end].rstrip()})"


def _go_on(token: Token) -> str:
    return f"go on after {token.text}, or leave it out"


def _type_hint(word: str) -> str:
    """What a word that names no type may mean."""
    close = difflib.get_close_matches(word.upper(), _TYPES, n=1, cutoff=_SIMILARITY)
    return f"did you mean {close[0]}?" if close else f"types are {', '.join(_TYPES)}"


def _called(before: Sequence[Token]) -> Token | None:
    """The function whose parenthesis opens last, and does not close; ``None`` where no word stands before that."""
    depth = 0
    for word, token in reversed([*pairwise(before)]):
        depth += (token.token_type is TokenType.R_PAREN) - (token.token_type is TokenType.L_PAREN)
        if depth < 0:
            return word if word.text.replace("_", "a").isalnum() else None
    return None


def _needed(name: str, description: str) -> str | None:
    """A hint with the arguments without which a function of the parser's cannot be called."""
    function = exp.FUNCTION_BY_NAME.get(name.upper())
    if function is None or not description.startswith("Required"):
        return None
    needed = sum(function.arg_types.values())
    return (
        f"it takes {needed}, as in {name.upper()}({', '.join('xyzuvw'[:needed])})" if needed <= len("xyzuvw") else None
    )


def _makes_operator(name: str, description: str) -> bool:
    """Whether the parser makes the operator, that lacks something, of a function, as POWER(x, y)."""
    function = exp.FUNCTION_BY_NAME.get(name.upper())
    return function is not None and f".{function.__name__}'" in description


def _unclosed_parenthesis(tokens: Sequence[Token]) -> Token | None:
    """The last parenthesis that opens and never closes."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
    return opened[-1] if opened else None


def _closes_nothing(statement: Sequence[Token]) -> bool:
    """Whether the last word is a parenthesis that closes none."""
    kinds = [token.token_type for token in statement]
    return kinds[-1] is TokenType.R_PAREN and kinds.count(TokenType.R_PAREN) > kinds.count(TokenType.L_PAREN)


def _lacks_second_end(statement: Sequence[Token]) -> bool:
    """Whether no AND follows the last BETWEEN."""
    kinds = [token.token_type for token in statement]
    at = len(kinds) - kinds[::-1].index(TokenType.BETWEEN) if TokenType.BETWEEN in kinds else len(kinds)
    return at < len(kinds) and TokenType.AND not in kinds[at:]


def _is_thousand(before: Token, token: Token, after: Token | None) -> bool:
    """Whether a comma is between a number and three digits, with no blank around it."""
    if token.token_type is not TokenType.COMMA or after is None or after.start != before.end + 2:
        return False
    return before.token_type is after.token_type is TokenType.NUMBER and len(after.text) == 3 and after.text.isdecimal()


def _is_twice(statement: Sequence[Token], at: int) -> bool:
    return at > 0 and statement[at].text.upper() == statement[at - 1].text.upper()


def _lacks_comma(statement: Sequence[Token], at: int) -> bool:
    """Whether a third word follows two in a select list: an expression and its alias, or one and the next."""
    words = (TokenType.VAR, TokenType.IDENTIFIER)
    clauses = [t.token_type for t in statement[:at] if t.token_type in (TokenType.SELECT, TokenType.FROM)]
    in_list = bool(clauses) and clauses[-1] is TokenType.SELECT
    return in_list and statement[at].token_type in words and statement[at - 1].token_type in words
