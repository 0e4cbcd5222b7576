"""Warnings of what is valid in a SELECT, and hardly meant: one sign less, and it says something else."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from workbench.sql.binder.scope import Scope
from workbench.sql.syntax.foreign_syntax import TIME_UNITS
from workbench.sql.syntax.misspelled import similar_key_words
from workbench.sql.syntax.source_text import SourceText

_CONDITIONS = (exp.Connector, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In, exp.Between, exp.Is)
_ELSEWHERE = {
    "DISTINCT ON": "there it is QUALIFY ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) = 1 at the end",
    "QUALIFY": "there the condition stands in WHERE of a query around it",
    "EXCEPT behind *": "there the columns are listed",
    "REPLACE behind *": "there the columns are listed",
    "alias in HAVING": "there HAVING repeats what the alias stands for",
}
"""Clauses that some dialects lack, and how they are written there."""
_OF_JOINS = {"LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS"}


def warn_of_slips(select: exp.Select, scope: Scope, source: SourceText) -> None:
    """Warn of a column in the quotes of a text, a comma that may be missing, a misspelled kind of join, and of what
    counts, leaves out or finds other rows than it seems to.

    Args:
        select: bound with this scope.
        scope: its FROM.
        source: the text.
    """
    columns = dict(scope.columns)
    _look_at_keys(select, columns, source)
    _note_clauses(select, columns, source)
    _warn_of_quotes(select, columns, source)
    _warn_of_rows(select, source)
    for item in select.expressions:
        if isinstance(item, exp.Alias):
            _warn_of_comma(item, columns, source)
            _warn_of_unit(item, source)
    for joined in (select.args.get("from_"), *(select.args.get("joins") or ())):
        if joined is not None:
            _warn_of_join(joined.this, source)


def _look_at_keys(select: exp.Select, columns: Collection[str], source: SourceText) -> None:
    """``GROUP BY 'shop'`` makes one group of all rows, and ``ORDER BY 'at'`` orders none.

    Raises:
        SqlError: the dialect refuses a text there.
    """
    named = {*columns, *(item.alias.lower() for item in select.expressions)}
    for clause in select.find_all(exp.Group, exp.Order, exp.Window):
        keys = clause.args.get("partition_by") if isinstance(clause, exp.Window) else clause.expressions
        for key in (node.this if isinstance(node, exp.Ordered) else node for node in keys or ()):
            if not (isinstance(key, exp.Literal) and key.is_string):
                continue
            where = {exp.Group: "GROUP BY", exp.Order: "ORDER BY"}.get(type(clause))
            hint = f"the column is {key.name}, without quotes" if key.name.lower() in named else "name a column"
            what = f"'{key.name}' is a text, which is the same in all rows, and no column"
            if clause.parent is select and where in source.rules.keys_are_no_texts:
                raise source.error(what, key, hint)
            if key.name.lower() in named:
                source.warn(what, key, hint)


def _note_clauses(select: exp.Select, columns: Collection[str], source: SourceText) -> None:
    """Clauses that the database of the dialect does not have."""
    distinct, having = select.args.get("distinct"), select.args.get("having")
    aliases = {item.alias.lower() for item in select.expressions if item.alias} - {*columns}
    names = having.find_all(exp.Column) if having is not None else ()
    stars = [star for item in select.expressions for star in item.find_all(exp.Star)]
    found = {
        "EXCEPT behind *": next((star for star in stars if star.args.get("except_")), None),
        "REPLACE behind *": next((star for star in stars if star.args.get("replace")), None),
        "DISTINCT ON": distinct.args.get("on") if distinct is not None else None,
        "QUALIFY": select.args.get("qualify"),
        "alias in HAVING": next((name for name in names if not name.table and name.name.lower() in aliases), None),
    }
    for clause, node in found.items():
        if node is not None and clause in source.rules.lacks:
            source.note(f"{source.dialect} has no {clause}, which is read all the same", node, _ELSEWHERE[clause])


def _warn_of_quotes(select: exp.Select, columns: Collection[str], source: SourceText) -> None:
    """``"name"`` is a text in some dialects, and a column in others."""
    texts = {node.name for node in select.find_all(exp.Literal) if node.is_string and node.name.lower() in columns}
    for token in source.tokens if texts else ():
        if token.token_type is TokenType.STRING and source.sql[token.start] == '"' and token.text in texts:
            meant = f"write `{token.text}` for the column and '{token.text}' for the text"
            source.warn(f'"{token.text}" is a text here, and no column', token, f"{meant}; in duckdb it is the column")


def _warn_of_rows(select: exp.Select, source: SourceText) -> None:
    """``COUNT(x > 3)`` counts all rows, ``DISTINCT(a), b`` is of both columns, and ``LIKE '*a*'`` is of stars."""
    for count in select.find_all(exp.Count):
        counted = count.this
        or_null = isinstance(counted, exp.Or) and any(isinstance(side, exp.Null) for side in counted.iter_expressions())
        if isinstance(counted, _CONDITIONS) and not or_null:
            what = "COUNT counts the rows for which a condition is false, too"
            source.note(what, count, "SUM(CASE WHEN … THEN 1 ELSE 0 END) counts those for which it is true")
    for listed in select.find_all(exp.In):
        only = listed.expressions[0] if len(listed.expressions) == 1 else None
        if isinstance(only, exp.Literal) and only.is_string and "," in only.name:
            texts = ", ".join(f"'{part.strip()}'" for part in only.name.split(","))
            source.note("the list has one text, with a comma in it", only, f"if several are meant, IN ({texts})")
    for between in select.find_all(exp.Between):
        low, high = between.args["low"], between.args["high"]
        are_numbers = all(isinstance(end, exp.Literal) and end.is_int for end in (low, high))
        if are_numbers and int(low.name) > int(high.name):
            what = f"no number is at least {low.name} and at most {high.name}"
            source.note(what, between, f"write BETWEEN {high.name} AND {low.name}")
    for like in select.find_all(exp.Like):
        pattern = like.expression
        if isinstance(pattern, exp.Literal) and "*" in pattern.name and not {"%", "_"} & {*pattern.name}:
            source.note("LIKE takes * for itself", like, "% stands for any text, and _ for one sign")
    first, *others = select.expressions or [None]
    if select.args.get("distinct") and others and isinstance(first, exp.Paren):
        hint = "leave the parentheses out; GROUP BY has one row for each value"
        source.note("DISTINCT is of all columns, and not of the one in parentheses", first, hint)


def _warn_of_comma(item: exp.Alias, columns: Collection[str], source: SourceText) -> None:
    """``SELECT name amount`` shows one column, which is called amount."""
    alias, column = item.args["alias"], item.this
    if not isinstance(column, exp.Column) or alias.name.lower() not in {*columns} - {column.name.lower()}:
        return
    if _lacks_as(alias, source):
        message = f"{column.name} is shown under the name {alias.name}, which is a column, too"
        source.warn(message, alias, f"is a comma missing? else write {column.name} AS {alias.name}")


def _warn_of_unit(item: exp.Alias, source: SourceText) -> None:
    """``SELECT at - 1 HOUR`` is a day earlier, and called HOUR."""
    alias, last = item.args["alias"], item.this.args.get("expression")
    unit = alias.name.upper().removesuffix("S")
    of_number = isinstance(last, exp.Literal) and isinstance(item.this, (exp.Add, exp.Sub))
    if unit in TIME_UNITS and of_number and _lacks_as(alias, source):
        message = f"{alias.name} is taken for the name of the column"
        source.warn(message, alias, f"a length of time is written INTERVAL '{last.name}' {unit}")


def _lacks_as(alias: exp.Expr, source: SourceText) -> bool:
    """Whether a column's name follows it without AS."""
    return "start" in alias.meta and source.sql[: alias.meta["start"]].split()[-1].upper() != "AS"


def _warn_of_join(relation: exp.Expr, source: SourceText) -> None:
    """``FROM a LEFTT JOIN b`` calls a so, and keeps no row that has no partner."""
    named = relation.args.get("alias")
    alias = named.this if isinstance(named, exp.TableAlias) else None
    meant = [word for word in similar_key_words(alias.name) if word in _OF_JOINS] if alias is not None else []
    if alias is None or not meant or "start" not in alias.meta:
        return
    after = next((token for token in source.tokens if token.start > alias.meta["end"]), None)
    if after is not None and after.token_type is TokenType.JOIN:
        message = f"{alias.name} is taken for another name of the table before it, and the join for an inner one"
        source.warn(message, alias, f"did you mean {meant[0]} JOIN?")
