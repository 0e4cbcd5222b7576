"""Text to statements: sqlglot's tokenizers and parsers, and errors in the analyst's words.

No optimizer of sqlglot is used: several of its rewrites are not exact under NULLs or change types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import MOST_WORD, SqlError, UnsupportedError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.arguments import DroppedArgumentError, parser_of
from workbench.sql.syntax.clause_order import refuse_order_of_clauses
from workbench.sql.syntax.foreign_syntax import TIME_UNITS
from workbench.sql.syntax.forms_of_spark import with_forms_of_spark
from workbench.sql.syntax.forms_refused import explained_form, refuse_forms
from workbench.sql.syntax.limited_lists import with_limited_lists
from workbench.sql.syntax.limits import refuse_height, refuse_nesting
from workbench.sql.syntax.methods import with_plain_calls
from workbench.sql.syntax.pasted import pasted
from workbench.sql.syntax.read_over import refuse_lacking_and, refuse_lacking_on, refuse_lacking_then
from workbench.sql.syntax.schema_names import without_schemas
from workbench.sql.syntax.shorthands import as_written_out, with_derived_aggregates, with_named_joins
from workbench.sql.syntax.source_text import SourceText
from workbench.sql.syntax.sql_functions import SqlFunction, inlined, is_function, sql_function
from workbench.sql.syntax.syntax_errors import (
    dropped_argument,
    look_at_lists,
    refuse_gaps,
    stumbled,
    syntax_error,
)
from workbench.sql.syntax.window_clause import AFTER_NAME, BEFORE_VALUE, WindowClause, split_statements

_LISTS = "%argus queries and %argus streams list what there is"
_ASKED = {
    **dict.fromkeys(
        ("DECLARE", "SET"), "a query has no variables; in a cell :name is the value of a variable of Python"
    ),
    "DROP": "%argus drop NAME drops a query, a stream or a table",
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE"), "a query only reads: rows come from the source of a stream"),
    "COPY": "%argus sink NAME FOLDER sends an answer on, and query.save('rows.csv') writes it once",
    "EXPLAIN": "%argus explain NAME says how a query is computed, and %%argus NAME --dry-run what one would be",
    **dict.fromkeys(("SHOW", "DESCRIBE", "DESC"), _LISTS),
}
"""What answers statements that ask no rows of streams."""
_OF_STATEMENTS = {TokenType.INSERT, TokenType.ROLLBACK, TokenType.LOCK, TokenType.ATTACH, TokenType.DETACH}
"""Words that mean something at the beginning of a statement alone."""
_BETWEEN_VALUES = {TokenType.RLIKE, TokenType.EXCEPT}
"""Words between two values, or queries."""
_SIGNS = {TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD}
_UNIT = re.compile(rf"(?:{'|'.join(TIME_UNITS)})S?", re.IGNORECASE)
_NOT_LIKE = (TokenType.NOT, TokenType.RLIKE)
_BEFORE_CALLS = {TokenType.SELECT, TokenType.COMMA}
_OF_GROUPS = {TokenType.CUBE, TokenType.ROLLUP}
_OF_A_MAP = {TokenType.L_PAREN, TokenType.L_BRACE, TokenType.LT}
"""What the entries of a map begin with, and the types of its keys and values."""
_BEGINNING = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES}
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Pivot)


@dataclass(frozen=True)
class ViewName:
    """CREATE VIEW name (columns) AS ...; no columns means those of the query."""

    name: str
    columns: tuple[str, ...]
    replace: bool


@dataclass(frozen=True)
class Statement:
    """A query (a SELECT, a set operation, or one in parentheses), the tokens of its statement as written, its window
    clause, and the view it defines."""

    query: exp.Expr
    tokens: tuple[Token, ...]
    clause: WindowClause | None = None
    view: ViewName | None = None


def parse(source: SourceText) -> list[Statement]:
    """The statements of a text, which semicolons separate, with the functions that it declares written out.

    Raises:
        SqlError: the text is not SQL of the dialect, with the place.
        UnsupportedError: a statement is neither a query nor CREATE VIEW.

    Example:
        >>> statements = parse(SourceText("CREATE VIEW v AS SELECT a FROM t; SELECT a FROM v"))
        >>> [statement.view.name if statement.view else None for statement in statements]
        ['v', None]
    """
    try:
        # Before parsing, which recurses as deep as the text nests.
        refuse_nesting(source)
        # The parser would take window clauses for parts of the SELECT before them.
        split = [(_with_names(tokens), clause) for tokens, clause in split_statements(source)]
    except SqlError as error:
        raise pasted(source) or error from None
    try:
        return _statements(source, split)
    except SqlError as error:
        raise pasted(source) or explained_form(source) or error from None


def _statements(source: SourceText, split: Sequence[tuple[list[Token], WindowClause | None]]) -> list[Statement]:
    """The statements of a text that was split into them.

    Raises:
        SqlError, UnsupportedError: as ``parse``.
    """
    for tokens, _ in split:
        refuse_forms(source, tokens)
    trees = [_parse_statement(source, tokens) for tokens, _ in split]
    # After parsing, whose errors say more where both find one.
    for tokens, _ in split:
        refuse_gaps(source, tokens)
        refuse_order_of_clauses(source, tokens)
        refuse_lacking_then(source, tokens)
        refuse_lacking_and(source, tokens)
        refuse_lacking_on(source, tokens)
        look_at_lists(source, tokens)
    for tree in trees:
        refuse_height(tree, source)
    # Functions before what calls them, which is so written out before it is bound.
    functions: dict[str, SqlFunction] = {}
    statements = list[Statement]()
    for tree, (tokens, clause) in zip(trees, split, strict=True):
        if is_function(tree):
            function = sql_function(tree, source, functions)
            functions[function.name] = function
        else:
            query = without_schemas(inlined(tree, functions, source), source.dialect)
            statements.append(_statement(query, tuple(tokens), clause, source))
    return statements


@lru_cache(10_000)
def makes_view(sql: str, dialect: str) -> bool:
    """Whether a text makes views and asks nothing: its last statement is CREATE VIEW.

    Example:
        >>> makes_view("CREATE VIEW v AS SELECT a FROM t", "spark"), makes_view("SELECT created FROM t", "spark")
        (True, False)
    """
    return (
        "create" in sql.lower() and split_statements(SourceText(sql, dialect))[-1][0][0].token_type == TokenType.CREATE
    )


def _parse_statement(source: SourceText, tokens: Sequence[Token]) -> exp.Expr:
    parser = parser_of(source.dialect)
    try:
        (tree,) = parser.parse(list(tokens), source.sql)
    except sqlglot.ParseError as error:
        raise syntax_error(source, tokens, error) from None
    except DroppedArgumentError as error:
        raise dropped_argument(source, error) from None
    except Exception:  # the parser stumbles over some calls that lack an argument
        raise stumbled(source, tokens, lambda part: parser.parse(list(part), source.sql)) from None
    assert tree is not None
    rules = DIALECTS[source.dialect]
    tree = with_forms_of_spark(tree) if rules.explodes else tree
    tree = with_plain_calls(tree) if rules.functions_follow_values else tree
    tree = as_written_out(tree) if rules.has_rows else with_named_joins(tree)
    tree = with_derived_aggregates(tree, rules.made_aggregates) if rules.made_aggregates else tree
    return with_limited_lists(tree)


def _with_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, in which key words in places where no key word can be are names, in every dialect."""
    return [
        Token(_name(tokens, at) or one.token_type, one.text, one.line, one.col, one.start, one.end, one.comments)
        for at, one in enumerate(tokens)
    ]


def _name(tokens: Sequence[Token], at: int) -> TokenType | None:
    """What kind of name a word of SQL is; ``None`` where it is none. To the parser of duckdb only a name in quotes is
    not the word MAP."""
    word, first = tokens[at], tokens[at - 1].token_type if at else None
    behind = tokens[at + 1].token_type if at + 1 < len(tokens) else None
    unit = tokens[at + 3].text if at + 3 < len(tokens) else ""
    kind, awaits_value = word.token_type, first in BEFORE_VALUE
    is_word = word.text.isalpha() and behind is not TokenType.L_PAREN  # the sign ~ of postgres is RLIKE, too
    if kind is TokenType.MAP:
        return TokenType.IDENTIFIER if behind not in _OF_A_MAP else None
    is_name = (
        (kind is TokenType.VALUES and (behind is None or behind in AFTER_NAME))
        or (kind in _OF_STATEMENTS and first is not None and behind is not TokenType.L_PAREN)
        or (kind in _BETWEEN_VALUES and is_word and awaits_value and (first, kind) != _NOT_LIKE)
        or (kind is TokenType.RLIKE and is_word and (behind is None or behind in AFTER_NAME))
        or (kind is TokenType.INTERVAL and behind in _SIGNS and not _UNIT.fullmatch(unit))
        or (kind is TokenType.PERCENT and behind is TokenType.L_PAREN)
        or (kind is TokenType.PIVOT and first in _BEFORE_CALLS and behind is TokenType.L_PAREN)
        or (kind in _OF_GROUPS and awaits_value and first is not TokenType.WITH and behind is not TokenType.L_PAREN)
    )
    return TokenType.VAR if is_name else None


def _statement(tree: exp.Expr, tokens: tuple[Token, ...], clause: WindowClause | None, source: SourceText) -> Statement:
    if isinstance(tree, _QUERIES):
        return Statement(tree, tokens, clause)
    if not isinstance(tree, exp.Create) or tree.kind != "VIEW":
        word = str(tree.this).split()[0].upper() if isinstance(tree, exp.Command) else tree.key.upper()
        what = f"{word} {tree.kind}" if isinstance(tree, exp.Create) else word
        hint = _ASKED.get(word, "a query is a SELECT, with views by CREATE VIEW")
        place = source.keyword(word)
        if place["position"] is None:
            is_name = isinstance(tree, exp.Column) and len(tree.name) < MOST_WORD
            whole = f"{hint}: SELECT * FROM {tree.name}" if is_name else hint
            raise SqlError("this is no query", **source.of(tree), hint=whole)
        raise UnsupportedError(f"{what} is not supported", **place, hint=hint)
    source.refuse_others(tree, {"this", "kind", "expression", "replace"}, "CREATE VIEW")
    first = next((t for t in tokens if t.token_type is TokenType.ALIAS or t.token_type in _BEGINNING), None)
    if first is not None and first.token_type is not TokenType.ALIAS:
        raise SqlError("AS is missing before the query", **source.span(first.start, first.end + 1),
                       hint=f"write CREATE VIEW {tree.this.name} AS {first.text} …")  # fmt: skip
    if not isinstance(tree.expression, _QUERIES):
        raise SqlError("CREATE VIEW needs AS and a SELECT", **source.keyword("VIEW"))
    named, columns = tree.this, ()
    if isinstance(named, exp.Schema):
        for part in named.expressions:
            for comment in part.find_all(exp.CommentColumnConstraint):
                source.refuse("COMMENT of a view's column", comment, "leave it out")
            source.refuse_others(part, {"this", "quoted", "constraints"}, "a view's column")
        columns = tuple(part.name for part in named.expressions)
        named = named.this
    source.refuse_others(named, {"this"}, "a view name")
    return Statement(tree.expression, tokens, clause, ViewName(named.name, columns, bool(tree.args.get("replace"))))
