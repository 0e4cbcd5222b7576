"""Where in the text a syntax node stands, and refusals that point there."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn, TypedDict

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from workbench.errors import SqlError, UnsupportedError

_LABELS = {
    "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET", "windows": "WINDOW", "qualify": "QUALIFY",
    "laterals": "LATERAL VIEW", "locks": "FOR UPDATE", "hint": "a hint", "connect": "CONNECT BY", "pivots": "PIVOT",
    "sample": "TABLESAMPLE", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY", "sort": "SORT BY", "into": "INTO",
    "all": "ALL", "rollup": "ROLLUP", "cube": "CUBE", "grouping_sets": "GROUPING SETS", "totals": "WITH TOTALS",
    "version": "time travel", "when": "time travel", "join_mark": "an outer join by (+)", "by_name": "BY NAME",
    "except_": "EXCEPT in *", "replace": "REPLACE", "rename": "RENAME", "recursive": "a recursive CTE",
    "partition": "PARTITION", "hints": "a hint", "joins": "a join there", "properties": "a view property",
    "match": "MATCH_RECOGNIZE", "prewhere": "PREWHERE", "settings": "SETTINGS",
    "with_": "WITH there", "operation_modifiers": "a SELECT modifier", "symmetric": "SYMMETRIC",
    "exists": "IF NOT EXISTS", "db": "a column name of three parts",
    "format": "a format here", "flag": "a flag of a regular expression",
}  # fmt: skip
_HINTS = {
    "order": "results have no order: %%argus NAME -o rows, then rows.sort_values(…)",
    "sort": "results have no order: %%argus NAME -o rows, then rows.sort_values(…)",
    "limit": "%%argus NAME --limit N, or result().head(n), shows so many rows",
    "offset": "use result() and take the rows you want",
    "qualify": "group in a subquery and join it",
    "windows": "group in a subquery and join it",
    "laterals": "one row gives one row here; prepare such rows before they enter the stream",
    "locks": "a query only reads; leave it out",
    "hint": "leave it out; the plan is chosen from all queries together",
    "hints": "leave it out; the plan is chosen from all queries together",
    "connect": "a hierarchy of unknown depth is not followed; join once for each level",
    "recursive": "a hierarchy of unknown depth is not followed; join once for each level",
    "join_mark": "rows that match nothing are not kept; leave out (+)",
    "rollup": "UNION ALL one GROUP BY for each grouping",
    "cube": "UNION ALL one GROUP BY for each grouping",
    "grouping_sets": "UNION ALL one GROUP BY for each grouping",
    "totals": "UNION ALL one GROUP BY for each grouping",
    "all": "name the columns",
    "except_": "name the columns",
    "replace": "name the columns",
    "rename": "name the columns",
    "sample": "write a condition on a column",
    "pivots": "write SUM(CASE WHEN ... THEN ... END) for each column",
    "by_name": "put the columns of both sides in one order",
    "version": "a query sees the whole of a stream",
    "when": "a query sees the whole of a stream",
    "cluster": "rows have no places here; leave it out",
    "distribute": "rows have no places here; leave it out",
    "db": "streams have names of one part: write stream.column",
    "exists": "write CREATE OR REPLACE VIEW, or another name",
    "properties": "write CREATE VIEW or CREATE OR REPLACE VIEW",
    "symmetric": "write the smaller bound first",
    "into": "a result is read by result(); leave it out",
    "ignore_nulls": "every aggregate skips NULLs; leave it out",
    "match": "join the stream with itself, once for each event of the pattern",
}
_QUIET = re.compile(r"'(?:[^'\\]|\\.|'')*'|--[^\n]*|/\*(?!\+).*?\*/", re.S)
_WORDS = {"hint": r"/\*\+", "join_mark": r"\(\s*\+\s*\)", "limit": r"LIMIT|FETCH|TOP", "sample": "TABLESAMPLE|SAMPLE"}


class Place(TypedDict):
    """The fields of an error that say where it is."""

    sql: str
    position: int | None
    length: int


class SourceText:
    """The text of a statement, to find nodes in.

    Example:
        >>> import sqlglot
        >>> source = SourceText("SELECT amout FROM f")
        >>> source.of(sqlglot.parse_one(source.sql).expressions[0])["position"]
        7
    """

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def of(self, node: exp.Expr) -> Place:
        """The place of a node: from its first to its last token that the parser noted, else of its key word."""
        spans = [(n.meta["start"], n.meta["end"]) for n in node.walk() if "start" in n.meta]
        if not spans:
            return self.word(node.key)
        start, end = min(s for s, _ in spans), max(e for _, e in spans) + 1
        # The last token noted is often inside parentheses that close after it.
        while self.sql[start:end].count("(") > self.sql[start:end].count(")") and ")" in self.sql[end:]:
            end = self.sql.index(")", end) + 1
        return Place(sql=self.sql, position=start, length=end - start)

    def item(self, node: exp.Expr, dialect: str) -> str | None:
        """The text of the select item that ``node`` is, as it was written; ``None`` when it cannot be told."""
        position = self.of(node)["position"]
        if position is None:
            return None
        tokens = sqlglot.tokenize(self.sql, dialect=dialect)
        open_: list[int | None] = [None]
        for token in tokens:
            word = token.text.upper()
            if token.start >= position:
                break
            if word == "(" and token.token_type is TokenType.L_PAREN:
                open_.append(None)
            elif token.token_type is TokenType.R_PAREN:
                open_.pop()
            elif word in ("SELECT", "DISTINCT", "ALL") or (word == "," and open_[-1] is not None):
                open_[-1] = token.end + 1
        starts = [start for start in open_ if start is not None]
        if not starts:
            return None
        depth = 0
        for token in tokens:
            if token.start < starts[-1]:
                continue
            ends = token.token_type in (TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN, TokenType.SEMICOLON)
            if ends and depth == 0 and token.start > position:
                return " ".join(self.sql[starts[-1] : token.start].split())
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        return None

    def word(self, pattern: str, after: int = 0) -> Place:
        """The place of the first word that matches outside quotes and comments; unknown when there is none."""
        quiet = _QUIET.sub(lambda m: " " * len(m[0]), self.sql)
        bounded = rf"(?<!\w)(?:{pattern})(?!\w)" if pattern[-1:].isalnum() else pattern
        match = re.compile(bounded, re.I).search(quiet, after)
        return Place(sql=self.sql, position=match.start() if match else None, length=len(match[0]) if match else 1)

    def error(self, message: str, node: exp.Expr | None, hint: str | None = None) -> SqlError:
        """An error that points at a node."""
        place = self.of(node) if node is not None else Place(sql=self.sql, position=None, length=1)
        return SqlError(message, **place, hint=hint)

    def called(self, node: exp.Expr) -> str | None:
        """The word by which a function was called in the text; ``None`` when it cannot be told."""
        place = self.of(node)
        if place["position"] is None:
            return None
        start = place["position"]
        found = re.compile(r"\w+").match(self.sql, start) if "start" in node.meta else None
        if found is None:
            # Some functions have no place of their own: the word before the parenthesis their argument stands in.
            found = re.search(r"(\w+)\s*\((?:[^()]|\([^()]*\))*$", self.sql[:start])
            return found[1] if found else None
        return found[0]

    def refuse(self, what: str, node: exp.Expr, hint: str | None = None) -> NoReturn:
        """Raise that the construct ``what`` is not supported."""
        place = self.of(node)
        if place["position"] is None:
            place = self.word(re.escape(what))
        raise UnsupportedError(f"{what} is not supported", **place, hint=hint)

    def refuse_others(self, node: exp.Expr, handled: Collection[str], where: str) -> None:
        """Raise when the node carries anything but ``handled``, so that no part of a query is ever ignored.

        Raises:
            UnsupportedError: by name of the first such part.
        """
        for key, value in node.args.items():
            if not value or key in handled:
                continue
            label = _LABELS.get(key, f"{key.strip('_').replace('_', ' ').upper()} in {where}")
            raise UnsupportedError(f"{label} is not supported", **self._of_part(node, key, value), hint=_HINTS.get(key))

    def _of_part(self, node: exp.Expr, key: str, value: object) -> Place:
        label = _LABELS.get(key, key.strip("_"))
        words = _WORDS.get(key, r"\s+".join(map(re.escape, label.split())))
        found = self.word(words)
        if found["position"] is not None:
            return found
        parts = value if isinstance(value, list) else [value]
        return self.of(next((part for part in parts if isinstance(part, exp.Expr)), node))
