"""Forms of PostgreSQL, Oracle and DuckDB that stand for others, written as these before anything is bound.

| form | written as |
|---|---|
| ``RANK(3) WITHIN GROUP (ORDER BY x)`` and its like | counts of the rows before a row of that value |
| ``(a JOIN b ON …) AS j (x, y)`` | a subquery of all columns |
| ``ROW(a, b)`` beside another row, in IN and before IS NULL | ``(a, b)`` |
| ``COUNT(t.*)`` | COUNT(*), or of a column by which t is joined where it may lack a row |
| ``v = SOME(n)`` | ``v = ANY(n)`` |
| ``ORDER BY x USING >`` | ``ORDER BY x DESC`` |
| ``HISTOGRAM(x)``, ``MAD(x)``, ``ENTROPY(x)`` of duckdb, maybe with FILTER or OVER | ``LIST_HISTOGRAM(LIST(x))``, … |
| ``STRING_TO_TABLE(s, ',')``, ``REGEXP_SPLIT_TO_TABLE(s, p)`` | ``UNNEST(STRING_TO_ARRAY(s, ','))``, … |
| ``JSON_AGG(x)`` of postgres | ``JSON_OF_GROUP(ARRAY_AGG(x))`` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_WITH_ROWS = (*_COMPARISONS, exp.In, exp.Between, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_OF_ARRAYS = {"string_to_table": "string_to_array", "regexp_split_to_table": "regexp_split_to_array"}
"""Functions of rows that are the elements of the array of another function."""
_DIRECTIONS = {TokenType.LT: TokenType.ASC, TokenType.GT: TokenType.DESC}


def with_directions(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a text, in which ``USING <`` is ASC and ``USING >`` DESC.

    Example:
        >>> from sqlglot.dialects.postgres import Postgres
        >>> [token.text for token in with_directions(Postgres().tokenize("ORDER BY x USING >"))]
        ['ORDER BY', 'x', 'DESC']
    """
    result: list[Token] = []
    for token in tokens:
        if result and result[-1].token_type is TokenType.USING and token.token_type in _DIRECTIONS:
            word = _DIRECTIONS[token.token_type]
            token = Token(word, word.name, token.line, token.col, result.pop().start, token.end)
        result.append(token)
    return result


def as_written_out(tree: exp.Expr) -> exp.Expr:
    """A tree in which these forms are written as what they stand for.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT RANK(3) WITHIN GROUP (ORDER BY x) FROM t", read="postgres")
        >>> as_written_out(tree).sql("postgres")
        'SELECT (1 + COUNT(CASE WHEN x < 3 THEN 1 END)) FROM t'
    """
    for node in list(tree.find_all(exp.WithinGroup, exp.Subquery, exp.Count, exp.Anonymous, *_WITH_ROWS)):
        match node:
            case exp.Anonymous() if node.name.lower() in _OF_ARRAYS:
                _replace_by_elements(node)
            case exp.Count(this=exp.Column(this=exp.Star(), args=args)) if args.get("table") is not None:
                counted = _counted_rows(node, node.this.table)
                if counted is not None:
                    node.set("this", counted)
            case exp.WithinGroup(this=exp.Rank() | exp.DenseRank() | exp.PercentRank() | exp.CumeDist() as rank):
                if len(rank.expressions) == 1 and len(node.expression.expressions) == 1:
                    _replace(tree, node, _of_value(rank, node.expression.expressions[0]))
            case exp.Subquery(this=exp.Table() | exp.Subquery() as inner) if node.alias and inner.args.get("joins"):
                joined = exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
                node.set("this", joined)
            case _ if isinstance(node, _WITH_ROWS):
                for side in list(node.iter_expressions()):
                    _plain_row(side)
    return tree


def with_lists_of_groups(tree: exp.Expr, functions: Mapping[str, str]) -> exp.Expr:
    """A tree in which aggregates that are ``functions`` of the list of a group's values say so.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT MAD(x) FILTER (WHERE x > 0) FROM t", read="duckdb")
        >>> with_lists_of_groups(tree, {"mad": "LIST_MAD"}).sql("duckdb")
        'SELECT LIST_MAD(ARRAY_AGG(x) FILTER(WHERE x > 0)) FROM t'
    """
    for node in list(tree.find_all(exp.Anonymous, exp.JSONArrayAgg)):
        given = [node.this] if isinstance(node, exp.JSONArrayAgg) else node.expressions
        name = "json_agg" if isinstance(node, exp.JSONArrayAgg) else node.name.lower()
        if name not in functions or len(given) != 1:
            continue
        listed = exp.ArrayAgg(this=given[0].copy())
        listed.meta.update(node.meta)
        whole: exp.Expr = node
        while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.arg_key == "this":
            whole = whole.parent
        called = exp.Anonymous(this=functions[name], expressions=[])
        called.meta.update(node.meta)
        node.replace(listed)
        whole = listed if whole is node else whole
        nothing = exp.cast(exp.Literal.number(0), exp.DType.DOUBLE)
        of_nothing = name == "entropy"  # of no rows it is 0
        whole.replace(exp.Coalesce(this=called, expressions=[nothing]) if of_nothing else called)
        called.set("expressions", [whole])
    return tree


def _replace_by_elements(node: exp.Anonymous) -> None:
    """Put UNNEST of an array in the place of a function of rows, with the name that its column has."""
    name = node.name.lower()
    array = exp.func(_OF_ARRAYS[name], *(argument.copy() for argument in node.expressions), dialect="postgres")
    array.meta.update(node.meta)
    table = node.parent
    if isinstance(table, exp.Table):
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
        table.replace(exp.Unnest(expressions=[array], alias=alias, offset=bool(table.args.get("ordinality"))))
        return
    elements = exp.Explode(this=array)
    elements.meta.update(node.meta)
    node.replace(exp.alias_(elements, name) if isinstance(table, exp.Select) else elements)


def _counted_rows(node: exp.Expr, name: str) -> exp.Expr | None:
    """What counts the rows of an item of FROM; ``None`` where an outer join may lack them, and no equality tells."""
    select = node.find_ancestor(exp.Select)
    joins = select.args.get("joins") or [] if select is not None else []
    sides = [str(join.args.get("side") or "") for join in joins]
    found = [at for at, join in enumerate(joins) if join.this.alias_or_name.lower() == name.lower()]
    after = sides[found[0] + 1 :] if found else sides
    if {"RIGHT", "FULL"} & set(after) or (found and sides[found[0]] == "FULL"):
        return None
    if not found or sides[found[0]] != "LEFT":
        return exp.Star()
    condition = joins[found[0]].args.get("on")
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        part = part.unnest() if part is not None else None
        for side in (part.this, part.expression) if isinstance(part, exp.EQ) else ():
            if isinstance(side, exp.Column) and side.table.lower() == name.lower():
                return side.copy()
    return None


def _replace(tree: exp.Expr, node: exp.Expr, by: exp.Expr) -> None:
    assert node is not tree
    node.replace(exp.Paren(this=by))


def _plain_row(side: exp.Expr | None) -> None:
    """A row by its word as a list in parentheses, and SOME as ANY."""
    if isinstance(side, exp.Anonymous) and side.name.upper() == "ROW" and len(side.expressions) > 1:
        row = exp.Tuple(expressions=[part.copy() for part in side.expressions])
        row.meta.update(side.meta)
        side.replace(row)
    elif isinstance(side, exp.Anonymous) and side.name.upper() == "SOME" and len(side.expressions) == 1:
        side.replace(exp.Any(this=exp.Paren(this=side.expressions[0].copy())))


def _of_value(rank: exp.Expr, key: exp.Ordered) -> exp.Expr:
    """The rank that a row of a value would have among others."""
    value, by, descends = rank.expressions[0], key.this, bool(key.args.get("desc"))
    sign, same = (exp.GT, exp.GTE) if descends else (exp.LT, exp.LTE)
    nulls_first = bool(key.args.get("nulls_first"))

    def before(comparison: type[exp.Binary]) -> exp.Expr:
        test: exp.Expr = comparison(this=by.copy(), expression=value.copy())
        return exp.or_(test, exp.Is(this=by.copy(), expression=exp.Null())) if nulls_first else test

    def count(condition: exp.Expr, counted: exp.Expr | None = None, distinct: bool = False) -> exp.Expr:
        one = exp.Case(ifs=[exp.If(this=condition, true=counted or exp.Literal.number(1))])
        return exp.Count(this=exp.Distinct(expressions=[one]) if distinct else one, big_int=True)

    def one_more(number: exp.Expr) -> exp.Expr:
        return exp.Add(this=exp.Literal.number(1), expression=number)

    rows = exp.Count(this=exp.Star(), big_int=True)
    match rank:
        case exp.Rank():
            return one_more(count(before(sign)))
        case exp.DenseRank():
            values = count(sign(this=by.copy(), expression=value.copy()), by.copy(), distinct=True)
            if not nulls_first:
                return one_more(values)
            is_null = exp.Is(this=by.copy(), expression=exp.Null())
            has_null = exp.GT(this=count(is_null), expression=exp.Literal.number(0))
            one = exp.If(this=has_null, true=exp.Literal.number(1))
            some = exp.Case(ifs=[one], default=exp.Literal.number(0))
            return one_more(exp.Add(this=values, expression=some))
        case exp.PercentRank():
            share = _share(count(before(sign)), exp.Nullif(this=rows, expression=exp.Literal.number(0)))
            return exp.Coalesce(this=share, expressions=[exp.cast(exp.Literal.number(0), "double")])
    return _share(exp.Paren(this=one_more(count(before(same)))), exp.Paren(this=one_more(rows)))


def _share(part: exp.Expr, whole: exp.Expr) -> exp.Expr:
    return exp.Div(this=exp.cast(part, "double"), expression=whole)
