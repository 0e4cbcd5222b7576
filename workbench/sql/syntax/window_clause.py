"""The window clauses that SQL does not have: PSoup's ``BEGIN ... END ...``, and TelegraphCQ's loops of ``WindowIs``.

They stand at the end of a statement. ``split_statements`` takes their tokens out of the statement and parses them; what
stands between their key words is parsed as SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError
from workbench.sql.syntax.arguments import parser_of
from workbench.sql.syntax.dialects import is_loop
from workbench.sql.syntax.limits import refuse_height
from workbench.sql.syntax.source_text import Place, SourceText

_CHANGES: dict[str, type[exp.Binary] | None] = {
    "++": exp.Add, "--": exp.Sub, "+=": exp.Add, "-=": exp.Sub, "*=": exp.Mul, "=": None,
}  # fmt: skip
"""How a loop changes its variable -> the operator between the variable and what follows; ``None``: what follows."""


@dataclass(frozen=True)
class ClausePart:
    """An expression of a clause, and its place."""

    tree: exp.Expr
    place: Place


@dataclass(frozen=True)
class BeginEnd:
    """``BEGIN begin END end``: every stream of the statement from one time to another, both included (PSoup 3.1).

    ``counted``: with ROWS behind BEGIN, the time of every stream is the number of the row.
    """

    place: Place
    begin: ClausePart
    end: ClausePart
    counted: bool = False


@dataclass(frozen=True)
class WindowIs:
    """``WindowIs(stream, left, right)``: a stream or its alias, and the ends of its window, both included.

    ``counted``: with ROWS before the stream, its time is the number of the row.
    """

    stream: str
    place: Place
    left: ClausePart
    right: ClausePart
    counted: bool = False


@dataclass(frozen=True)
class ForLoop:
    """``for (variable = start; condition; change) { WindowIs(...); ... }`` (TelegraphCQ 4.1.1).

    ``condition`` is ``None`` for a loop without one; ``change`` gives the variable's next value: that of ``t++`` is
    ``t + 1``.
    """

    place: Place
    variable: str
    start: ClausePart
    condition: ClausePart | None
    change: ClausePart
    windows: tuple[WindowIs, ...]


@dataclass(frozen=True)
class ForLoops:
    """The loops of a statement, one for each group of streams that move alike (TelegraphCQ 4.1.1)."""

    loops: tuple[ForLoop, ...]

    @property
    def place(self) -> Place:
        """The place of the first one in the text."""
        return self.loops[0].place


WindowClause = BeginEnd | ForLoops
BEFORE_VALUE = frozenset({
    TokenType.COMMA, TokenType.DOT, TokenType.SELECT, TokenType.DISTINCT, TokenType.WHERE, TokenType.ON,
    TokenType.HAVING, TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.EQ, TokenType.NEQ, TokenType.LT,
    TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.PLUS, TokenType.DASH, TokenType.SLASH, TokenType.BETWEEN,
    TokenType.ORDER_BY, TokenType.GROUP_BY, TokenType.PARTITION_BY, TokenType.QUALIFY, TokenType.WHEN, TokenType.THEN,
    TokenType.ELSE, TokenType.L_PAREN, TokenType.ALIAS, TokenType.WITH, TokenType.FROM, TokenType.JOIN,
})  # fmt: skip
"""What a name, a column or a value follows, and no sign between two of them."""

AFTER_NAME = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT, TokenType.L_BRACKET, TokenType.ALIAS, TokenType.FROM),
        *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.IS),
        *(TokenType.IN, TokenType.AND, TokenType.OR, TokenType.ORDER_BY, TokenType.HAVING, TokenType.LIMIT),
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.BETWEEN, TokenType.LIKE),
        *(TokenType.DESC, TokenType.ASC, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.WHERE),
        *(TokenType.GROUP_BY, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.QUALIFY),
        *(TokenType.ROWS, TokenType.RANGE, TokenType.MOD),
    }
)
"""What a name is followed by, and no row of VALUES begins with."""
_IN_CLAUSE = {TokenType.PLUS, TokenType.DASH, TokenType.ROWS, TokenType.RANGE}


def split_statements(source: SourceText) -> list[tuple[list[Token], WindowClause | None]]:
    """The statements of a text, which semicolons separate: of each the tokens of its SQL, and its window clause.

    Raises:
        SqlError: a clause is not complete or stands alone, or a statement has two.

    Example:
        >>> ((tokens, clause),) = split_statements(SourceText("SELECT a FROM s BEGIN NOW - 5 END NOW"))
        >>> [token.text for token in tokens], clause.begin.tree.sql()
        (['SELECT', 'a', 'FROM', 's'], 'NOW - 5')
    """
    tokens, statements = source.tokens, []
    statement: list[Token] = []
    clause: WindowClause | None = None
    at = depth = 0
    while at < len(tokens):
        token = tokens[at]
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        loop = is_loop(token, following)
        if token.token_type is TokenType.SEMICOLON:
            statements.append((statement, clause))
            statement, clause, depth = [], None, 0
        elif depth == 0 and (loop or _begins_clause(statement, token, following)):
            before = clause.loops if isinstance(clause, ForLoops) else ()
            if clause is not None and not (loop and before):
                raise SqlError("a statement has one window clause", **source.span(token.start),
                               hint="leave one of them out")  # fmt: skip
            parser = _ClauseParser(source, at)
            clause = ForLoops((*before, parser.for_loop())) if loop else parser.begin_end()
            at = parser.at
            continue
        else:
            statement += _as_of_batch(tokens, at) or [token]
        at += 1
    statements.append((statement, clause))
    alone = next((window for sql, window in statements if window is not None and not sql), None)
    if alone is not None:
        raise SqlError("a window clause stands behind a query", **alone.place, hint="write SELECT ... before it")
    return [(sql, window) for sql, window in statements if sql]


def _as_of_batch(tokens: Sequence[Token], at: int) -> list[Token]:
    """The number of AS OF BATCH k in parentheses, as a call, which the parser understands; else nothing."""
    if tokens[at].token_type is not TokenType.NUMBER or at < 3:
        return []
    if not all(map(is_word, tokens[at - 3 : at], ("AS", "OF", "BATCH"))):
        return []
    number = tokens[at]
    place = number.line, number.col, number.start, number.end
    return [Token(TokenType.L_PAREN, "(", *place), number, Token(TokenType.R_PAREN, ")", *place)]


def _begins_clause(statement: Sequence[Token], word: Token, following: Token | None) -> bool:
    """Whether a word is the BEGIN of a clause, and no name."""
    if not is_word(word, "BEGIN") or (statement and statement[-1].token_type in BEFORE_VALUE):
        return False
    return following is not None and following.token_type not in AFTER_NAME - _IN_CLAUSE


def is_word(token: Token, word: str) -> bool:
    """Whether a token is a word, in capitals, and no text or quoted name."""
    return token.text.upper() == word and token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)


class _ClauseParser:
    """Parses one clause of a text from the token at ``at``, and moves ``at`` behind it."""

    def __init__(self, source: SourceText, at: int) -> None:
        self.source, self.at = source, at
        self._first = source.tokens[at]

    def begin_end(self) -> BeginEnd:
        tokens, start = self.source.tokens, self.at + 1
        counted = start < len(tokens) and is_word(tokens[start], "ROWS")
        start += counted
        stop = next((i for i in range(start, len(tokens)) if tokens[i].token_type is TokenType.SEMICOLON), len(tokens))
        depth = 0
        for i in range(start, stop):
            if is_word(tokens[i], "CASE"):
                depth += 1
            elif is_word(tokens[i], "END"):
                if depth == 0:
                    self.at = stop
                    place = self.source.span(self._first.start, self._first.end + 1)
                    return BeginEnd(place, self._part(start, i), self._part(i + 1, stop), counted)
                depth -= 1
        raise self._error("BEGIN without END", self._first, "write BEGIN NOW - 5 END NOW")

    def for_loop(self) -> ForLoop:
        opening = self.at + 1
        closing = self._closing(opening)
        head = self._separated(opening + 1, closing, TokenType.SEMICOLON)
        if len(head) != 3:
            raise self._incomplete("a loop has a start, a condition and a change")
        if self._kind(closing + 1) is not TokenType.L_BRACE:
            raise self._incomplete("a loop has its windows in braces")
        end = self._closing(closing + 1)
        body = [p for p in self._separated(closing + 2, end, TokenType.SEMICOLON) if p[0] < p[1]]
        windows = tuple(self._window_is(*part) for part in body)
        if not windows:
            raise self._incomplete("a loop has at least one WindowIs(stream, left, right)")
        (start, start_end), condition, (changed, change_end) = head
        variable, operator, operand = self._assignment(changed, change_end)
        if start == start_end:
            first = ClausePart(exp.Literal.number(0), self._place(start, start_end))
        else:
            _, sign, value = self._assignment(start, start_end)
            if sign != "=":
                raise self._incomplete("write for (t = ST; t < ST + 50; t += 5)")
            first = self._part(value, start_end)
        self.at = end + 1
        place = self.source.span(self._first.start, self._first.end + 1)
        test = self._part(*condition) if condition[0] < condition[1] else None
        return ForLoop(place, variable, first, test, self._change(variable, operator, operand, change_end), windows)

    def _assignment(self, start: int, stop: int) -> tuple[str, str, int]:
        """The variable, how it changes, and the index of what follows."""
        tokens = self.source.tokens
        for length in (2, 1):
            operator = "".join(token.text for token in tokens[start + 1 : min(stop, start + 1 + length)])
            if operator in _CHANGES and tokens[start].text.isidentifier():
                return tokens[start].text, operator, start + 1 + len(operator)
        raise self._incomplete("write for (t = ST; t < ST + 50; t += 5)")

    def _change(self, variable: str, operator: str, start: int, stop: int) -> ClausePart:
        binary = _CHANGES[operator]
        if operator in ("++", "--"):
            if start < stop:
                raise self._incomplete(f"nothing stands behind {variable}{operator}")
            operand = ClausePart(exp.Literal.number(1), self._place(start - 2, stop))
        else:
            operand = self._part(start, stop)
        return (
            operand
            if binary is None
            else ClausePart(binary(this=exp.column(variable), expression=operand.tree), operand.place)
        )

    def _window_is(self, start: int, stop: int) -> WindowIs:
        word = self.source.tokens[start]
        if word.text.lower() not in ("windowis", "windows") or self._kind(start + 1) is not TokenType.L_PAREN:
            raise self._error("only windows stand in a loop", word, "write WindowIs(stream, left, right)")
        parts = self._separated(start + 2, self._closing(start + 1), TokenType.COMMA)
        place = self.source.span(word.start, word.end + 1)
        if len(parts) != 3:
            message = f"{word.text} takes a stream and two ends, not {len(parts)} arguments"
            raise SqlError(message, **place)
        first, behind = parts[0]
        counted = behind - first > 1 and is_word(self.source.tokens[first], "ROWS")
        named = self._place(first + counted, behind)
        name = self.source.sql[named["position"] or 0 :][: named["length"]]
        return WindowIs(name, named, self._part(*parts[1]), self._part(*parts[2]), counted)

    # ---- tokens ------------------------------------------------------------------------------------------------------

    def _kind(self, at: int) -> TokenType | None:
        return self.source.tokens[at].token_type if at < len(self.source.tokens) else None

    def _closing(self, opening: int) -> int:
        """The index of the token that closes the parenthesis or brace at an index."""
        pairs = {TokenType.L_PAREN: TokenType.R_PAREN, TokenType.L_BRACE: TokenType.R_BRACE}
        tokens, opens = self.source.tokens, self.source.tokens[opening].token_type
        depth = 0
        for at in range(opening, len(tokens)):
            depth += (tokens[at].token_type is opens) - (tokens[at].token_type is pairs[opens])
            if depth == 0:
                return at
        what = "parenthesis" if opens is TokenType.L_PAREN else "brace"
        raise self._error(f"a {what} is not closed", tokens[opening])

    def _separated(self, start: int, stop: int, separator: TokenType) -> list[tuple[int, int]]:
        """The ranges of tokens that separators outside of parentheses separate."""
        parts, depth, first = [], 0, start
        for at in range(start, stop):
            kind = self._kind(at)
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if kind is separator and depth == 0:
                parts.append((first, at))
                first = at + 1
        return [*parts, (first, stop)]

    def _place(self, start: int, stop: int) -> Place:
        """The place of a range of tokens; of an empty range, where it would be."""
        tokens = self.source.tokens
        if start < stop:
            return self.source.span(tokens[start].start, tokens[stop - 1].end + 1)
        return self.source.span(tokens[start - 1].end + 1)

    def _part(self, start: int, stop: int) -> ClausePart:
        place = self._place(start, stop)
        if start == stop:
            raise SqlError("syntax error: an expression is missing in the window", **place)
        tree = parse_tokens(self.source, self.source.tokens[start:stop])
        if tree is None:
            raise SqlError("syntax error: this is no expression", **place)
        return ClausePart(tree, place)

    def _error(self, message: str, token: Token, hint: str | None = None) -> SqlError:
        return SqlError(f"syntax error: {message}", **self.source.span(token.start, token.end + 1), hint=hint)

    def _incomplete(self, hint: str) -> SqlError:
        return self._error("the loop is not complete", self._first, hint)


def parse_tokens(source: SourceText, tokens: Sequence[Token]) -> exp.Expr | None:
    """The expression of some tokens; ``None`` when they are no expression."""
    parser = parser_of(source.dialect)
    try:
        (tree,) = parser.parse(list(tokens), source.sql)
    except Exception:  # the parser stumbles over some texts instead of saying what is wrong with them
        return None
    if tree is not None:
        refuse_height(tree, source)
    return tree
