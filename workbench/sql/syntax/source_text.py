"""The text of a statement: its tokens, the places of syntax nodes, and errors that point to them."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NoReturn, TypedDict

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError, SqlWarning, UnsupportedError
from workbench.sql.dialect import Dialect
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.dialects import tokenize
from workbench.sql.syntax.foreign_syntax import usual_form

_LABELS = {
    "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET", "windows": "WINDOW", "qualify": "QUALIFY",
    "locks": "FOR UPDATE", "connect": "CONNECT BY", "pivots": "PIVOT",
    "sample": "TABLESAMPLE", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY", "sort": "SORT BY", "into": "INTO",
    "all": "ALL", "totals": "WITH TOTALS", "count": "such a second argument",
    "version": "time travel", "when": "time travel", "join_mark": "an outer join by (+)", "by_name": "BY NAME",
    "except_": "EXCEPT in *", "replace": "REPLACE", "rename": "RENAME",
    "partition": "PARTITION", "hints": "a hint", "joins": "a join there", "properties": "a view property",
    "match": "MATCH_RECOGNIZE", "prewhere": "PREWHERE", "settings": "SETTINGS",
    "with_": "WITH there", "operation_modifiers": "a SELECT modifier", "symmetric": "SYMMETRIC",
    "exists": "IF NOT EXISTS", "db": "a column name of three parts",
    "format": "a format here", "flag": "a flag of a regular expression",
    "fraction_in_string": "an interval of a fraction", "zero_start": "a fourth argument of SUBSTR",
}  # fmt: skip
_HINTS = {
    "sort": "write ORDER BY",
    "fraction_in_string": "write a whole number of a smaller unit, as in INTERVAL '90' MINUTE",
    **dict.fromkeys(("qualify", "windows"), "group in a subquery and join it"),
    "locks": "a query only reads; leave it out",
    "hints": "leave it out; the plan is chosen from all queries together",
    "connect": "write WITH RECURSIVE with a column that counts the steps, and a condition that bounds it",
    "join_mark": "write t LEFT JOIN u ON t.k = u.k, which keeps the rows of t without a partner",
    "totals": "GROUP BY ... WITH ROLLUP has them",
    "all": "name the columns",
    "count": "it is how many values are kept, a number; MAX_BY(x, t) is the x where t is the greatest",
    "sample": "write a condition on a column",
    "pivots": "write SUM(CASE WHEN ... THEN ... END) for each column",
    **dict.fromkeys(("version", "when"), "a query sees the whole of a stream"),
    **dict.fromkeys(("cluster", "distribute"), "rows have no places here; leave it out"),
    "db": "streams have names of one part: write stream.column",
    "exists": "write CREATE OR REPLACE VIEW, or another name",
    "properties": "write CREATE VIEW or CREATE OR REPLACE VIEW",
    "symmetric": "write the smaller bound first",
    "into": "a result is read by result(); leave it out",
    "ignore_nulls": "every aggregate skips NULLs; leave it out",
    "zero_start": "write SUBSTR(s, 2, 3): a text, where its part begins, and how long it is",
    "deterministic": "MODE takes one value; of those that are equally frequent it has the smallest",
    "match": "join the stream with itself, once for each event of the pattern",
}
_KEY_WORDS = {"hint": ("/*+",), "join_mark": ("(+)",), "limit": ("LIMIT", "FETCH", "TOP"),
              "sample": ("TABLESAMPLE", "SAMPLE"), "hints": ("WITH (", "USE INDEX", "FORCE INDEX", "IGNORE INDEX"),
              "properties": ("TEMPORARY", "TEMP", "COMMENT", "TBLPROPERTIES", "MATERIALIZED", "OPTIONS", "SECURE",
                             "RECURSIVE", "SCHEMA", "DEFINER", "SQL SECURITY", "WITH")}  # fmt: skip
"""Parts of a syntax node that stand in the text under other words than their label."""
_ENDS_ITEM = (TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN, TokenType.SEMICOLON)


Streams = Mapping[str, Iterable[tuple[str, object]]]
"""Streams by their names, with the names and types of their columns."""


class Place(TypedDict):
    """The fields of an error that say where it is; ``position`` counts from 0 and is ``None`` when unknown."""

    sql: str
    position: int | None
    length: int


class SourceText:
    """A text in a dialect, tokenized once.

    Example:
        >>> import sqlglot
        >>> source = SourceText("SELECT amout FROM f")
        >>> source.of(sqlglot.parse_one(source.sql).expressions[0])["position"]
        7

    Args:
        sql: the text.
        dialect: of the text.
        streams: those that it may name, with their columns.
    """

    def __init__(self, sql: str, dialect: str = "spark", streams: Streams | None = None) -> None:
        self.sql, self.dialect, self._streams = sql, dialect, streams or {}
        self._noted: set[str] = set()

    @property
    def rules(self) -> Dialect:
        """The record of the dialect."""
        return DIALECTS[self.dialect]

    @cached_property
    def names(self) -> list[str]:
        """The names of streams and columns: a word that is one is no misspelled key word."""
        return [*self._streams, *(name for columns in self._streams.values() for name, _ in columns)]

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens; see ``dialects.tokenize``, which may raise SqlError."""
        return tokenize(self.sql, self.dialect)

    @cached_property
    def _words(self) -> list[tuple[str, int, int]]:
        """The words and signs outside of strings and comments, in upper case, each with the span of its token."""
        words: list[tuple[str, int, int]] = []
        for token in self.tokens:
            if token.token_type is TokenType.HINT:
                words.append(("/*+", token.start, token.start + 3))
            elif token.token_type is not TokenType.STRING:
                words += [(word, token.start, token.end + 1) for word in token.text.upper().split()]
        return words

    # ---- places ------------------------------------------------------------------------------------------------------

    def span(self, start: int | None, stop: int = 0) -> Place:
        """The place from ``start`` up to ``stop``; an unknown one without a start."""
        return Place(sql=self.sql, position=start, length=1 if start is None else max(1, stop - start))

    def of(self, node: exp.Expr) -> Place:
        """The place of a node: from its first to its last token that the parser noted, else of its key word."""
        spans = [(n.meta["start"], n.meta["end"]) for n in node.walk() if "start" in n.meta]
        if not spans:
            return self.keyword(f": {node.name}" if isinstance(node, exp.Placeholder) and node.name else node.key)
        start, stop = min(s for s, _ in spans), max(e for _, e in spans) + 1
        # The last token noted is often inside parentheses that close after it.
        depth = 0
        for token in self.tokens[self._index(start) :]:
            if token.start >= stop and depth <= 0:
                break
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if token.start >= stop and token.token_type is TokenType.R_PAREN:
                stop = token.end + 1
        return self.span(start, stop)

    def keyword(self, *phrases: str) -> Place:
        """The first place of one of some phrases outside of strings and comments."""
        wanted = [words for phrase in phrases if (words := phrase.upper().split())]
        for i in range(len(self._words)):
            for words in wanted:
                candidates = self._words[i : i + len(words)]
                if [word for word, _, _ in candidates] == words:
                    return self.span(candidates[0][1], candidates[-1][2])
        return self.span(None)

    def joined_by(self, item: exp.Expr) -> str:
        """The words that join an item of FROM to those before it: ``","``, ``"CROSS JOIN"`` or ``"JOIN"``.

        For the parser a comma is a CROSS JOIN in some dialects, and a JOIN without a condition in the others.
        """
        position = self.of(item)["position"] or 0
        before = [word for word, start, _ in self._words if start < position]
        joined = max((at for at, word in enumerate(before) if word in ("JOIN", ",")), default=0)
        is_crossed = before[joined - 1 : joined + 1] == ["CROSS", "JOIN"]
        return "CROSS JOIN" if is_crossed else "".join(before[joined : joined + 1])

    def _index(self, position: int) -> int:
        """The index of the first token at or after a position."""
        return bisect_left(self.tokens, position, key=lambda token: token.start)

    # ---- texts -------------------------------------------------------------------------------------------------------

    def select_item(self, node: exp.Expr) -> str | None:
        """The text of the select item that ``node`` is, as the analyst wrote it, without comments.

        ``None`` when its place is unknown.
        """
        position = self.of(node)["position"]
        if position is None:
            return None
        at = self._index(position)
        # For each open parenthesis where the current item of a select list inside it starts, if one does.
        starts: list[int | None] = [None]
        for token in self.tokens[:at]:
            if token.token_type is TokenType.L_PAREN:
                starts.append(None)
            elif token.token_type is TokenType.R_PAREN:
                starts.pop()
            elif token.text.upper() in ("SELECT", "DISTINCT", "ALL") or (token.text == "," and starts[-1] is not None):
                starts[-1] = token.end + 1
        start = next((start for start in reversed(starts) if start is not None), None)
        if start is None:
            return None
        depth = 0
        for token in self.tokens[self._index(start) :]:
            if token.token_type in _ENDS_ITEM and depth == 0 and token.start > position:
                return self._without_comments(start, token.start)
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        return None

    def _without_comments(self, start: int, stop: int) -> str:
        """A part of the text, with one blank for blanks and comments."""
        text, end = "", start
        for token in self.tokens[self._index(start) : self._index(stop)]:
            text += (" " if token.start > end else "") + self.sql[token.start : token.end + 1]
            end = token.end + 1
        return " ".join(text.split())

    def called(self, node: exp.Expr) -> str | None:
        """The word by which the text calls a function; ``None`` when its place is unknown."""
        position = self.of(node)["position"]
        if position is None:
            return None
        at = self._index(position)
        itself = at + 1 < len(self.tokens) and self.tokens[at + 1].token_type is TokenType.L_PAREN
        if "start" not in node.meta and not itself:
            # The parser notes no place of some functions: the word before the parenthesis their argument stands in.
            depth = 0
            while at > 0 and depth <= 0:
                at -= 1
                kind = self.tokens[at].token_type
                depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            at -= 1
        word = self.tokens[at].text if 0 <= at < len(self.tokens) else ""
        return word if word.replace("_", "a").isalnum() else None

    def usual_form(self, node: exp.Expr) -> str | None:
        """How to write a node here if it is syntax of another language."""
        position = self.of(node)["position"]
        return None if position is None else usual_form(self.tokens, self._index(position))[0]

    def token_text(self, token: Token) -> str:
        """A token as written in the text."""
        return self.sql[token.start : token.end + 1]

    def operator(self, node: exp.Expr) -> str | None:
        """The sign or words between the sides of an operator; ``None`` when they have no places."""
        left, right = self.of(node.this), self.of(node.expression)
        if left["position"] is None or right["position"] is None:
            return None
        between = self.sql[left["position"] + left["length"] : right["position"]].strip(" \n\t('\"")
        return between if between and not set(between) & set(",()") else None

    # ---- errors ------------------------------------------------------------------------------------------------------

    def error(self, message: str, node: exp.Expr | None, hint: str | None = None) -> SqlError:
        """An error that points at a node."""
        place = self._around(node) if node is not None else self.span(None)
        return SqlError(message, **place, hint=hint)

    def warn(self, message: str, at: exp.Expr | Token, hint: str) -> None:
        """Warn of what is valid, and hardly meant; of a text at its token, since the parser notes no place of it."""
        place = self.span(at.start, at.end + 1) if isinstance(at, Token) else self._around(at)
        warnings.warn(str(SqlError(message, **place, hint=hint)), SqlWarning, stacklevel=2)

    def note(self, message: str, node: exp.Expr, hint: str) -> None:
        """Warn where ``node`` is the first of the text to which ``message`` applies."""
        if message not in self._noted:
            self._noted.add(message)
            self.warn(message, node, hint)

    def refuse(self, what: str, node: exp.Expr, hint: str | None = None) -> NoReturn:
        """Raise that the construct ``what`` is not supported."""
        raise UnsupportedError(f"{what} is not supported", **self._around(node, what), hint=hint)

    def _around(self, node: exp.Expr, *words: str) -> Place:
        """The place of a node or of some words; where the parser notes none, as of TRUE, of what is around the node."""
        place = self.of(node)
        if place["position"] is None and words:
            place = self.keyword(*words)
        return place if place["position"] is not None or node.parent is None else self._around(node.parent)

    def refuse_others(self, node: exp.Expr, handled: Collection[str], where: str) -> None:
        """Raise when the node carries anything but ``handled``, so that no part of a query is ever ignored.

        Raises:
            UnsupportedError: by name of the first such part.
        """
        for key, value in node.args.items():
            if not value or key in handled:
                continue
            name = key.strip("_")
            place = self.keyword(*_KEY_WORDS.get(key, (_LABELS.get(key, name),)))
            is_argument = place["position"] is None and isinstance(node, exp.Func)
            if place["position"] is None:
                parts = value if isinstance(value, list) else [value]
                place = self.of(next((part for part in parts if isinstance(part, exp.Expr)), node))
            if key == "properties" and place["position"] is not None:
                label = f"{self.sql[place['position'] :][: place['length']].upper()} of a view"
                raise UnsupportedError(f"{label} is not supported", **place, hint=_HINTS[key])
            part = "this argument of" if is_argument else f"{name.replace('_', ' ').upper()} in"
            label = _LABELS.get(key, f"{part} {where}")
            meant = f"is an argument of {where} one too many?" if isinstance(node, exp.Func) else "leave it out"
            raise UnsupportedError(f"{label} is not supported", **place, hint=_HINTS.get(key, meant))


def error_at(token: Token, what: str, source: SourceText, hint: str | None = None) -> SqlError:
    """A syntax error that points at a word.

    Example:
        >>> source = SourceText("SELECT a, FROM t")
        >>> print(error_at(source.tokens[2], "nothing follows", source))
        syntax error: nothing follows
          SELECT a, FROM t
                  ^
    """
    return SqlError(f"syntax error: {what}", **source.span(token.start, token.end + 1), hint=hint)
