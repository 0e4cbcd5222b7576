"""Refuses what sqlglot's parser ignores: a comma after nothing, a WITH without AS, half a frame.

The parser is lenient: it takes an optional word for granted, and drops one that belongs to nothing. Each method here
parses as the one that it overrides, and looks at the words that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest
from typing import Any, NoReturn, cast

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.dialect import Dialect
from workbench.sql.syntax.foreign_syntax import TIME_UNITS
from workbench.sql.syntax.source_text import SourceText, error_at

_OF_FRAMES = "a frame says in which direction its rows are"
_BOTH_ENDS = {"UNBOUNDED", "CURRENT ROW"}
_OF_CLAUSES = {"ORDER", "GROUP"}
_QUERIES = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES, TokenType.FROM}


class Strict:
    """A mixin for parsers, whose errors have a hint beside sqlglot's place and description."""

    RULES: Dialect
    _tokens: list[Token]
    _index: int
    _curr: Token
    _prev: Token
    _next: Token
    _match: Any
    _retreat: Any

    def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
        """Parse a list; refuse one with nothing before its first comma, or between two."""

        def parse() -> Any:
            self._refuse_lone(sep)
            return parse_method()

        return cast(list[Any], cast(Any, super())._parse_csv(parse, sep))

    def _refuse_lone(self, sep: TokenType = TokenType.COMMA) -> None:
        """Refuse a comma where a value begins."""
        if self._curr.token_type is sep and self._prev.token_type is not TokenType.ALL:
            hint = "leave the comma out, or write what belongs before it"
            _refuse(self._curr, "nothing stands before the comma", hint)

    def _parse_cte(self) -> exp.Expr | None:
        """A query of WITH: a name, AS, and the query in parentheses."""
        begin = self._index
        if self._curr.token_type is TokenType.ALIAS:
            _refuse(self._curr, "WITH names no query", "write WITH name AS (SELECT …)")
        node = cast(exp.Expr | None, cast(Any, super())._parse_cte())
        if node is not None or self.RULES.explodes:
            return node
        opens = (at for at in range(begin + 1, len(self._tokens) - 1) if self._tokens[at].text == "(")
        at = next((at for at in opens if self._tokens[at + 1].token_type in _QUERIES), begin + 1)
        name = self._tokens[begin].text
        _refuse(self._tokens[at], f"AS is missing before {self._tokens[at].text}", f"write WITH {name} AS (SELECT …)")

    def _parse_alias(self, this: exp.Expr | None, *given: Any, **flags: Any) -> exp.Expr | None:
        """Parse a value and its name; refuse a name with the sign of a variable."""
        begin = self._index
        node = cast(exp.Expr | None, cast(Any, super())._parse_alias(this, *given, **flags))
        self._refuse_sign(node.args.get("alias") if isinstance(node, exp.Alias) else None, begin)
        return node

    def _refuse_sign(self, name: object, begin: int) -> None:
        """Refuse a variable as a name."""
        if not isinstance(name, exp.Parameter | exp.Placeholder):
            return
        first = self._tokens[begin + (self._tokens[begin].token_type is TokenType.ALIAS)]
        if first.text != ":":
            _refuse(first, f"a name has no {first.text}", "a name begins with a letter: leave the sign out")

    def _parse_table_alias(self, *given: Any, **flags: Any) -> exp.Expr | None:
        """The name of a table; in databases that reserve them the words of clauses are none."""
        begin, first = self._index, self._curr
        node = cast(exp.Expr | None, cast(Any, super())._parse_table_alias(*given, **flags))
        self._refuse_sign(node.this if node is not None else None, begin)
        if node is not None and self.RULES.reserves_words and first.text.upper() in _OF_CLAUSES:
            _refuse(first, f"{first.text.upper()} begins a clause", f"write {first.text.upper()} BY and a column")
        return node

    def _parse_interval(self, *given: Any, **flags: Any) -> exp.Expr | None:
        """Parse INTERVAL with a number or a text; anything else must be in parentheses."""
        begin = self._index
        node = cast(exp.Expr | None, cast(Any, super())._parse_interval(*given, **flags))
        length = node.this if isinstance(node, exp.Interval) else None
        first = self._tokens[min(begin + 1, len(self._tokens) - 1)]
        if self.RULES.intervals_of_postgres and length is not None and first.token_type is TokenType.NUMBER:
            unit = self._prev.text.upper().removesuffix("S")
            meant = unit if unit in TIME_UNITS else "DAY"
            _refuse(first, "the length of an interval is a text", f"write INTERVAL '{first.text}' {meant}")
        if self.RULES.exact and isinstance(length, exp.Binary):
            _refuse(first, "the length of an interval is a number", "as in INTERVAL '3' DAY, or 3 * INTERVAL '1' DAY")
        return node

    def _parse_partition_by(self) -> list[exp.Expr]:
        """PARTITION BY and what it names."""
        begins = self._curr.token_type is TokenType.PARTITION_BY
        found = cast(list[exp.Expr], cast(Any, super())._parse_partition_by())
        if begins and not found:
            _refuse(self._curr, "nothing follows PARTITION BY", "write a column, or leave PARTITION BY out")
        return found

    def _parse_window_spec(self) -> dict[str, Any]:
        """Parse an end of a frame, which must have a direction; a second end needs BETWEEN."""
        kind, first = self._prev, self._next if self._next.token_type is TokenType.NUMBER else self._curr
        ends = cast(dict[str, Any], cast(Any, super())._parse_window_spec())
        if ends["side"] is None and ends["value"] not in _BOTH_ENDS:
            of = "BETWEEN" if kind.token_type in (TokenType.BETWEEN, TokenType.AND) else kind.text.upper()
            if (unit := self._curr.text.upper().removesuffix("S")) in TIME_UNITS:
                hint = f"write RANGE BETWEEN INTERVAL '{first.text}' {unit} PRECEDING AND CURRENT ROW"
                _refuse(first, "a length of time in a frame is an INTERVAL, of RANGE", hint)
            _refuse(first, _OF_FRAMES, f"write {of} {first.text} PRECEDING{' AND CURRENT ROW' * (of == 'BETWEEN')}")
        if self._curr.token_type is TokenType.AND and kind.token_type not in (TokenType.BETWEEN, TokenType.AND):
            hint = f"write {kind.text.upper()} BETWEEN {self._text_from(first)} AND …"
            _refuse(self._curr, "a frame with two ends begins with BETWEEN", hint)
        return ends

    def _parse_is(self, operand: exp.Expr | None) -> exp.Expr | None:
        """Parse IS, which NOT may follow."""
        if self._index > 1 and self._tokens[self._index - 2].token_type is TokenType.NOT:
            _refuse(self._prev, "NOT stands behind IS", "write IS NOT")
        return cast(exp.Expr | None, cast(Any, super())._parse_is(operand))

    def _parse_in(self, operand: exp.Expr | None, *given: Any, **flags: Any) -> exp.Expr | None:
        """IN with values, or one query."""
        begin = self._index
        node = cast(exp.In | None, cast(Any, super())._parse_in(operand, *given, **flags))
        values = node.expressions if node is not None else []
        if len(values) > 1 and any(isinstance(value, exp.Select | exp.SetOperation) for value in values):
            query = next(token for token in self._tokens[begin:] if token.token_type is TokenType.SELECT)
            _refuse(query, "a list has values or one query, not both", "write IN (SELECT …), and OR between two IN")
        return node

    def _parse_using_identifiers(self) -> list[exp.Expr]:
        """The columns of USING, in parentheses."""
        opening = self._curr
        if opening.token_type is not TokenType.L_PAREN:
            _refuse(opening, "USING has its columns in parentheses", f"write USING ({opening.text})")
        names = cast(list[exp.Expr], cast(Any, super())._parse_using_identifiers())
        if not names:
            _refuse(opening, "USING names no column", "write USING (name), or ON a.x = b.x")
        return names

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """OVER and its window; before it FILTER, whose condition stands behind WHERE but in duckdb."""
        at = self._index
        filters = self._curr.token_type is TokenType.FILTER and self._next.token_type is TokenType.L_PAREN
        if filters and self.RULES.name != "duckdb" and self._tokens[at + 2].token_type is not TokenType.WHERE:
            _refuse(self._curr, "the condition of FILTER stands behind WHERE", "write FILTER (WHERE …)")
        node = cast(exp.Expr | None, cast(Any, super())._parse_window(this, alias))
        is_bare = isinstance(node, exp.Window) and not (alias or node.alias or "partition_by" in node.args)
        if is_bare and self._curr.token_type not in (TokenType.PARTITION_BY, TokenType.ORDER_BY):
            hint = "write OVER () for all rows, OVER (ORDER BY …) for those before"
            _refuse(self._prev, f"{self._prev.text.upper()} says what it is of", hint)
        return node

    def _parse_join(self, *given: Any, **flags: Any) -> exp.Join | None:
        """A join, with the parts that belong to its kind."""
        begin, first = self._index, self._curr
        node = cast(exp.Join | None, cast(Any, super())._parse_join(*given, **flags))
        if node is None:
            if first.token_type is self._curr.token_type is TokenType.COMMA:
                self._refuse_lone()
            return None
        has_condition = node.args.get("on") is not None or bool(node.args.get("using"))
        conditions = (token for token in self._tokens[begin:] if token.token_type in (TokenType.ON, TokenType.USING))
        if node.method == "NATURAL" and has_condition:
            _refuse(next(conditions), "NATURAL JOIN has no condition", "leave NATURAL or the condition out")
        if node.kind == "CROSS" and has_condition and not self.RULES.explodes:
            _refuse(next(conditions), "CROSS JOIN has no condition", "leave CROSS out")
        if node.kind == "OUTER" and not (node.side or node.method):
            hint = "LEFT, RIGHT or FULL says of which side rows are kept: LEFT OUTER JOIN"
            _refuse(first, "OUTER JOIN has no side", hint)
        return node

    def _parse_if(self) -> exp.Expr | None:
        """IF as a function; no database reads IF … THEN as a value."""
        if self._curr.token_type is TokenType.L_PAREN:
            return cast(exp.Expr | None, cast(Any, super())._parse_if())
        self._retreat(self._index - 1)
        return None

    def _parse_limit(self, *given: Any, **flags: Any) -> exp.Expr | None:
        """LIMIT with a number alone, or FETCH with ROWS ONLY."""
        begin, has_word = self._index, self._next.text.upper() in ("FIRST", "NEXT")
        node = cast(exp.Expr | None, cast(Any, super())._parse_limit(*given, **flags))
        options = node.args.get("limit_options") if isinstance(node, exp.Limit | exp.Fetch) else None
        has_rows = options is not None and bool(options.args.get("rows"))
        if isinstance(node, exp.Limit) and (has_rows or (options is not None and options.args.get("with_ties"))):
            _refuse(self._prev, "LIMIT has a number alone", f"leave {self._prev.text} out")
        last = self._prev.text.upper()
        if isinstance(node, exp.Fetch) and has_word and not (has_rows and last in ("ONLY", "TIES")):
            number = next((token.text for token in self._tokens[begin : self._index] if token.text.isdigit()), "1")
            _refuse(self._tokens[begin], "FETCH ends with ROWS ONLY", f"write FETCH FIRST {number} ROWS ONLY")
        return node

    def _text_from(self, first: Token) -> str:
        """The words from one to the one before the next."""
        begin = next(at for at, token in enumerate(self._tokens) if token is first)
        return " ".join(token.text for token in self._tokens[begin : self._index])


def _refuse(token: Token, what: str, hint: str) -> NoReturn:
    place = {"description": what, "hint": hint, "line": token.line, "col": token.col}
    raise ParseError(what, errors=[place])


_ENDING = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.ORDER_BY,
    TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.R_PAREN, TokenType.SEMICOLON,
    TokenType.COMMA,
}  # fmt: skip
"""What ends a part of a clause."""
_BEHIND_BETWEEN = _ENDING | {TokenType.OR, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.WHEN}
_WITHOUT_CONDITION = {TokenType.CROSS, TokenType.NATURAL, TokenType.POSITIONAL}
_CONDITIONS = {TokenType.ON, TokenType.USING}


def refuse_lacking_then(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a WHEN without THEN, which the parser would read over.

    Raises:
        SqlError: there is one, with the place where THEN is missing.
    """
    waiting: list[bool] = [False]  # of each open parenthesis and CASE whether a WHEN is without its THEN
    opened: list[TokenType] = []
    for token, following in zip_longest(statement, statement[1:]):
        kind, after = token.token_type, None if following is None else following.token_type
        in_case = opened[-1:] == [TokenType.CASE]
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            opened.append(kind)
            waiting.append(False)
        elif waiting[-1] and (kind in (TokenType.WHEN, TokenType.ELSE) or (kind is TokenType.END and after in _ENDING)):
            hint = "as in CASE WHEN a > 3 THEN 1 ELSE 0 END"
            raise error_at(token, "THEN is missing before it", source, hint)
        elif opened and (kind is TokenType.R_PAREN or (kind is TokenType.END and in_case)):
            opened.pop()
            waiting.pop()
        elif kind in (TokenType.WHEN, TokenType.THEN):
            waiting[-1] = kind is TokenType.WHEN


def refuse_lacking_and(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a BETWEEN with one end.

    Raises:
        SqlError: there is one, with the place where AND is missing.
    """
    open_ones: list[bool] = [False]  # of each open parenthesis and CASE whether a BETWEEN is without its AND
    for before, token in pairwise([statement[0], *statement]):
        kind = token.token_type if before.token_type is not TokenType.DOT else TokenType.VAR
        if open_ones[-1] and kind in _BEHIND_BETWEEN:
            break
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            open_ones.append(False)
        elif kind in (TokenType.R_PAREN, TokenType.END) and len(open_ones) > 1:
            open_ones.pop()
        elif kind in (TokenType.BETWEEN, TokenType.AND):
            open_ones[-1] = kind is TokenType.BETWEEN
    else:
        if not open_ones[-1]:
            return
        token = statement[-1]
    raise error_at(token, "BETWEEN has two ends", source, "write AND between them: BETWEEN a AND b")


def refuse_lacking_on(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a JOIN without a condition, where the database of the dialect does.

    Raises:
        SqlError: there is one, with its place.
    """
    if not source.rules.joins_have_conditions:
        return
    waiting: list[list[Token]] = [[]]  # of each open parenthesis the joins without their conditions
    before: list[TokenType] = []
    for token in [*statement, None]:
        kind = TokenType.SEMICOLON if token is None else token.token_type
        if kind in _ENDING and waiting[-1] and before[-1] is not TokenType.DISTINCT:  # IS DISTINCT FROM ends nothing
            hint = "say how rows belong together, as in ON a.key = b.key; CROSS JOIN pairs each with each"
            raise error_at(waiting[-1][-1], "JOIN has no condition", source, hint)
        if kind is TokenType.L_PAREN:
            waiting.append([])
        elif kind is TokenType.R_PAREN and len(waiting) > 1:
            waiting.pop()
        elif kind is TokenType.JOIN and token is not None and not _WITHOUT_CONDITION & set(before[-3:]):
            waiting[-1].append(token)
        elif kind in _CONDITIONS and waiting[-1]:
            waiting[-1].pop()
        before.append(kind)
