"""A query's own text as Spark SQL evaluates it, so that its answer can be verified without what the engine makes of it.

A text of Spark stays as it is, but for what the reference says of it: ``now()`` is a time of the streams, first rows
that are equal are told apart by the columns shown, and what is approximate there is exact here. Texts of other dialects
are translated by sqlglot. What Spark cannot evaluate is refused, or fails in Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import UnsupportedError
from workbench.sql.algebra.column_names import quoted
from workbench.sql.binder.pipeline import Bound
from workbench.sql.logical import LogicalQuery, output_columns
from workbench.sql.syntax.dialects import SPARK_FAMILY
from workbench.sql.syntax.limited_lists import with_slices
from workbench.sql.syntax.parse import Statement, parse
from workbench.sql.syntax.source_text import SourceText
from workbench.sql.syntax.window_clause import is_word, split_statements

NOW_WORDS = frozenset({"NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "SYSDATE"})
_EXACT = 1_000_000_000
"""An accuracy by which Spark's approximate percentiles are exact."""
_PERCENTILES = frozenset({"APPROX_PERCENTILE", "PERCENTILE_APPROX"})
_BY_PLACE = frozenset({"ROW_NUMBER", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"})
_OF_ORDER: Mapping[type[exp.Expr], str] = {
    exp.ArrayAgg: "the order of a list",
    exp.GroupConcat: "the order of a list",
    exp.First: "which row is the first",
    exp.Last: "which row is the last",
    exp.AnyValue: "which value it is",
    exp.Mode: "which of equally frequent values it is",
    exp.ArgMax: "which of equal rows it is",
    exp.ArgMin: "which of equal rows it is",
    exp.Distinct: "which of equal rows is kept",
}
"""Calls whose values SQL leaves open, and what of them; of DISTINCT that with ON alone."""


@dataclass(frozen=True)
class SparkStatement:
    """A statement: the view that it makes, if it makes one, its SQL, and the names in it that may be tables."""

    view: str | None
    sql: str
    tables: frozenset[str]


@dataclass(frozen=True)
class SparkText:
    """A text for Spark.

    Attributes:
        statements: views in order, then the query, if there is one.
        words: the names in it in lower case, among them those of all columns that it names.
        stars: whether it has a ``*``, which names columns, too.
        left_open: what SQL leaves open of its answer, so that another one may be right, too, or Spark SQL gets wrong.
        notes: what was changed in the text.
    """

    statements: tuple[SparkStatement, ...]
    words: frozenset[str]
    stars: bool
    left_open: tuple[str, ...]
    notes: tuple[str, ...]


def spark_text(sql: str, dialect: str, bound: Bound, now: Callable[[LogicalQuery], str | None]) -> SparkText:
    """The text of a query for Spark.

    Args:
        sql: that was bound.
        dialect: of it.
        bound: what it means.
        now: what now is in a statement, as a literal of Spark; ``None`` where it is none.

    Raises:
        UnsupportedError: Spark SQL has nothing for a part of it.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.binder.pipeline import bind
        >>> from workbench.sql.schema import Schema
        >>> text = "SELECT a FROM t ORDER BY a LIMIT 3"
        >>> bound = bind(text, "spark", Schema({"t": (("a", INTEGER),)}))
        >>> spark_text(text, "spark", bound, lambda query: None).statements[0].sql
        'SELECT a FROM t ORDER BY a, 1 ASC NULLS FIRST LIMIT 3'
    """
    source = SourceText(sql, dialect)
    means = [query for _, query in bound.views] + ([] if bound.query is None else [bound.query])
    statements = parse(source)
    functions = len(split_statements(source)) - len(statements)
    made, left_open, notes = list[SparkStatement](), dict[str, None](), dict[str, None]()
    if dialect not in SPARK_FAMILY:
        notes[f"translated from {dialect} by sqlglot"] = None
        left_open[f"the meaning of {dialect} that the translation lacks"] = None
    elif functions:
        notes["the functions that it declares are written out by sqlglot"] = None
    translated = dialect not in SPARK_FAMILY or functions > 0
    for statement, query in zip(statements, means, strict=True):
        if statement.clause is not None:
            raise UnsupportedError("Spark SQL has no window clause (BEGIN, END, for)")
        text = _translated(statement, dialect) if translated else _own(statement, sql)
        edits = [*_edits(text, query, now, notes)]
        for start, stop, replaced in sorted(edits, reverse=True):
            text = text[:start] + replaced + text[stop:]
        tables = frozenset(table.name.lower() for table in statement.query.find_all(exp.Table))
        made.append(SparkStatement(statement.view.name if statement.view else None, text, tables))
        left_open |= dict.fromkeys(_left_open(statement.query))
    words = frozenset(token.text.lower() for token in source.tokens)
    stars = any(token.token_type is TokenType.STAR for token in source.tokens)
    return SparkText(tuple(made), words, stars, tuple(left_open), tuple(notes))


def _own(statement: Statement, sql: str) -> str:
    """The text of a statement's query."""
    tokens, first = statement.tokens, 0
    if statement.view is not None:
        # CREATE VIEW name (columns) AS query: the first AS outside of parentheses.
        depths = _depths(tokens)
        first = 1 + next(i for i, token in enumerate(tokens) if is_word(token, "AS") and not depths[i])
    text = sql[tokens[first].start : tokens[-1].end + 1]
    return _with_columns(text, statement)


def _translated(statement: Statement, dialect: str) -> str:
    try:
        text = with_slices(statement.query).sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except Exception as error:  # sqlglot refuses some parts, and stumbles over others
        raise UnsupportedError(f"sqlglot cannot translate it from {dialect}: {error}") from None
    return _with_columns(text, statement)


def _with_columns(text: str, statement: Statement) -> str:
    if statement.view is None or not statement.view.columns:
        return text
    return f"SELECT * FROM ({text}) AS _named({', '.join(map(quoted, statement.view.columns))})"


def _edits(
    sql: str, query: LogicalQuery, now: Callable[[LogicalQuery], str | None], notes: dict[str, None]
) -> Iterator[tuple[int, int, str]]:
    """The replacements in a text of Spark, each from a position to another, and notes that describe them."""
    tokens = SourceText(sql, "spark").tokens
    depths, ordered = _depths(tokens), False
    for i, token in enumerate(tokens):
        word = token.text.upper()
        called = i + 1 < len(tokens) and tokens[i + 1].token_type is TokenType.L_PAREN
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        if word in NOW_WORDS and (called or word not in ("NOW", "SYSDATE")):
            if (time := now(query)) is None:
                raise UnsupportedError("now is a time of the streams, and none has come yet")
            stop = tokens[i + 2] if called else token
            yield token.start, stop.end + 1, f"CAST({time} AS DATE)" if word == "CURRENT_DATE" else time
            notes[f"now is {time}"] = None
        elif word == "APPROX_COUNT_DISTINCT" and called:
            yield token.start, tokens[i + 1].end + 1, "COUNT(DISTINCT "
            notes["APPROX_COUNT_DISTINCT is exact: COUNT(DISTINCT)"] = None
        elif word in _PERCENTILES and called:
            close = next(j for j in range(i + 2, len(tokens)) if depths[j] == depths[i])
            commas = [t for j, t in enumerate(tokens[i:close], i) if is_word(t, ",") and depths[j] == depths[i] + 1]
            if len(commas) == 1:
                yield tokens[close].start, tokens[close].start, f", {_EXACT}"
                notes["approximate percentiles are exact"] = None
        elif not depths[i] and word in ("LIMIT", "OFFSET", "FETCH") and not ordered:
            ordered = True
            sorts = any(is_word(t, "ORDER BY") and not depths[j] for j, t in enumerate(tokens))
            types = enumerate((type_ for _, type_ in output_columns(query)), 1)
            keys = ", ".join(f"{place} ASC NULLS FIRST" for place, type_ in types if type_.ordered)
            before = tokens[i - 1].end + 1
            yield before, before, f", {keys}" if sorts else f" ORDER BY {keys}"
            notes["of equal rows the first by the columns shown are kept"] = None


def _left_open(query: exp.Expr) -> Iterator[str]:
    """What SQL leaves open of the answer of a query, and what Spark SQL gets wrong."""
    for node in query.walk():
        if (what := _OF_ORDER.get(type(node))) and (not isinstance(node, exp.Distinct) or node.args.get("on")):
            yield f"{node.sql_name() if isinstance(node, exp.Func) else 'DISTINCT ON'}: {what}"
        elif isinstance(node, exp.Window):
            spec = node.args.get("spec")
            by_rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
            name = node.this.sql_name() if isinstance(node.this, exp.Func) else str(node.this.this)
            if by_rows or name.upper() in _BY_PLACE:
                yield f"{name.upper()} OVER: the order of equal rows"
        elif isinstance(node, exp.In) and node.args.get("query") and _is_value(node):
            yield "IN of a subquery as a value: Spark says false where SQL says NULL"
        elif isinstance(node, exp.Limit | exp.Fetch) and node.parent is not query:
            yield "LIMIT in a subquery: which of equal rows are kept"


def _is_value(condition: exp.Expr) -> bool:
    """Whether a condition is used as a value, and not only in WHERE."""
    parent = condition.parent
    while isinstance(parent, exp.And | exp.Not | exp.Paren):
        parent = parent.parent
    return not isinstance(parent, exp.Where)


def _depths(tokens: Sequence[Token]) -> list[int]:
    """How many parentheses each token is in; those themselves are outside."""
    depths, depth = [], 0
    for token in tokens:
        depth -= token.token_type is TokenType.R_PAREN
        depths.append(depth)
        depth += token.token_type is TokenType.L_PAREN
    return depths
