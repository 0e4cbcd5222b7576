"""Rewrites forms of PostgreSQL, Oracle and DuckDB as plain SQL before anything is bound.

| form | written as |
|---|---|
| ``RANK(3, 'a') WITHIN GROUP (ORDER BY x, s)`` and its like | counts of the rows before a row of these values |
| ``(a JOIN b ON …) AS j (x, y)`` | a subquery of all columns |
| ``ROW(a, b)`` beside another row, in IN and before IS NULL | ``(a, b)`` |
| ``EXISTS (SELECT FROM t)`` | ``EXISTS (SELECT 1 FROM t)`` |
| ``COUNT(t.*)`` | COUNT(*), or of a column by which t is joined where it may lack a row |
| ``v = SOME(n)`` | ``v = ANY(n)`` |
| ``ORDER BY x USING >`` | ``ORDER BY x DESC`` |
| ``STRING_TO_TABLE(s, ',')``, ``REGEXP_SPLIT_TO_TABLE(s, p)`` | ``UNNEST(STRING_TO_ARRAY(s, ','))``, … |
| ``SKEWNESS(x)``, ``ENTROPY(x)`` … of duckdb | aggregates with nodes of their own |
| ``HISTOGRAM(x)`` of duckdb, maybe with FILTER | ``MAP(LIST(DISTINCT x ORDER BY x) FILTER (…), …)`` |
| ``SKEWNESS(DISTINCT x)`` of duckdb and its like, maybe with FILTER | ``LIST_SKEWNESS(LIST(DISTINCT x))``, … |
| ``MAX(x, 3)``, ``ARG_MAX(x, y, 3)`` of duckdb | ``LIST(x ORDER BY y DESC) FILTER (…)[1:3]`` |
| ``ANY_VALUE(x ORDER BY y)`` of duckdb | ``FIRST(x ORDER BY y) FILTER (WHERE x IS NOT NULL)`` |
| ``WEIGHTED_AVG(x, w)``, ``FSUM(x)``, ``QUANTILE(x, p)`` of duckdb | quotients of SUMs, SUM, QUANTILE_DISC |
| ``JSON_AGG(x)`` of postgres | ``JSON_OF_GROUP(ARRAY_AGG(x))`` |
| ``JSON_OBJECT_AGG(k, x)``, ``JSON_GROUP_OBJECT(k, x)`` | ``JSON_OF_MEMBERS(ARRAY_AGG(JSON_BUILD_OBJECT(k, x)))`` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.syntax.statistics_of_duckdb import (
    Correlation,
    Entropy,
    Frequencies,
    GeometricMean,
    Intercept,
    MedianDeviation,
    PopulationKurtosis,
    Product,
    SampleKurtosis,
    SampleSkewness,
    Slope,
    StandardError,
)

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_WITH_ROWS = (*_COMPARISONS, exp.In, exp.Between, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_OF_ARRAYS = {"string_to_table": "string_to_array", "regexp_split_to_table": "regexp_split_to_array"}
"""Functions of rows that are the elements of the array of another function."""
_KNOWN: Mapping[type[exp.Expr], str] = {
    exp.JSONArrayAgg: "json_agg",
    exp.JSONObjectAgg: "json_object_agg",
    exp.JSONBObjectAgg: "jsonb_object_agg",
    exp.Skewness: "skewness",
    exp.Kurtosis: "kurtosis",
}
"""Nodes of aggregates that are functions of a list; the parser leaves others as plain names."""
_OF_LISTS = {"json_agg": "JSON_OF_GROUP", "jsonb_agg": "JSONB_OF_GROUP", "json_group_array": "TO_JSON",
             "json_object_agg": "JSON_OF_MEMBERS", "jsonb_object_agg": "JSONB_OF_MEMBERS",
             "json_group_object": "JSON_OF_MEMBERS"}  # fmt: skip
"""Functions of lists whose name is not that of the aggregate behind LIST_."""
_BEST: Mapping[type[exp.Expr], bool] = {exp.Min: False, exp.Max: True, exp.ArgMin: False, exp.ArgMax: True}
"""Aggregates that give several values, and whether the greatest ones."""
_SUMS = {"fsum": exp.Sum, "kahan_sum": exp.Sum, "sumkahan": exp.Sum, "favg": exp.Avg}
"""Sums of DOUBLEs that lose fewer digits: SUM and AVG lose none."""
_OF_PAIRS: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.Corr: Correlation,
    exp.RegrSlope: Slope,
    exp.RegrIntercept: Intercept,
}
_STATISTICS: Mapping[str, type[exp.Expr]] = {
    "mad": MedianDeviation,
    "entropy": Entropy,
    "product": Product,
    "geomean": GeometricMean,
    "geometric_mean": GeometricMean,
    "sem": StandardError,
    "skewness": SampleSkewness,
    "kurtosis": SampleKurtosis,
    "kurtosis_pop": PopulationKurtosis,
}
"""Aggregates of duckdb that have a node of their own; of DISTINCT values they are functions of a list."""
_LISTED = {"duckdb": ("histogram", "json_group_array", "json_group_object", *_STATISTICS),
           "postgres": ("json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg")}  # fmt: skip
"""Aggregates that are functions of the list of a group's values."""

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
    """A tree in which these forms are rewritten.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT RANK(3) WITHIN GROUP (ORDER BY x) FROM t", read="postgres")
        >>> as_written_out(tree).sql("postgres")
        'SELECT (1 + COUNT(CASE WHEN x < 3 OR (3 IS NULL AND NOT x IS NULL) THEN 1 END)) FROM t'
    """
    tree = with_named_joins(tree)
    for node in list(tree.find_all(exp.Exists, exp.WithinGroup, exp.Count, exp.Anonymous, *_WITH_ROWS)):
        match node:
            case exp.Exists(this=exp.Select(expressions=[]) as rows):
                rows.set("expressions", [exp.Literal.number(1)])
            case exp.Anonymous() if node.name.lower() in _OF_ARRAYS:
                _replace_by_elements(node)
            case exp.Count(this=exp.Column(this=exp.Star(), args=args)) if args.get("table") is not None:
                counted = _counted_rows(node, node.this.table)
                if counted is not None:
                    node.set("this", counted)
            case exp.WithinGroup(this=exp.Rank() | exp.DenseRank() | exp.PercentRank() | exp.CumeDist() as rank):
                keys = node.expression.expressions
                if len(rank.expressions) == len(keys) and (written := _of_values(rank, keys)) is not None:
                    _replace(tree, node, written)
            case _ if isinstance(node, _WITH_ROWS):
                for side in list(node.iter_expressions()):
                    _plain_row(side)
    return tree


def with_named_joins(tree: exp.Expr) -> exp.Expr:
    """A tree in which joins in parentheses with an alias are subqueries of all columns.

    Example:
        >>> import sqlglot
        >>> with_named_joins(sqlglot.parse_one("SELECT j.x FROM (a CROSS JOIN b) AS j (x, y)", read="spark")).sql()
        'SELECT j.x FROM (SELECT * FROM a CROSS JOIN b) AS j(x, y)'
    """
    for node in list(tree.find_all(exp.Subquery)):
        inner = node.this
        if isinstance(inner, (exp.Table, exp.Subquery)) and node.alias and inner.args.get("joins"):
            node.set("this", exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner)))
    return tree


def with_derived_aggregates(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A tree in which aggregates that are functions of the list of a group's values, or made of others, say so.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT PRODUCT(DISTINCT x) FILTER (WHERE x > 0) FROM t", read="duckdb")
        >>> with_derived_aggregates(tree, "duckdb").sql("duckdb")
        'SELECT LIST_PRODUCT(ARRAY_AGG(DISTINCT x) FILTER(WHERE x > 0)) FROM t'
    """
    tree = with_plain_aggregates(tree) if dialect == "duckdb" else tree
    for node in list(tree.find_all(exp.Func)):
        name = node.name.lower() if isinstance(node, exp.Anonymous) else _KNOWN.get(type(node), "")
        given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
        if name not in _LISTED[dialect]:
            continue
        if "object" in name:
            given = _members(node, dialect)
            if not given:
                continue  # it is refused by its name
        function = _OF_LISTS.get(name, f"LIST_{name.upper()}")
        if len(given) != 1:
            put_in_place(node, exp.Anonymous(this=function, expressions=[part.copy() for part in given]))
            continue
        listed = exp.ArrayAgg(this=given[0].copy())
        listed.meta.update(node.meta)
        whole: exp.Expr = node
        while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.arg_key == "this":
            whole = whole.parent
        called = exp.Anonymous(this=function, expressions=[])
        called.meta.update(node.meta)
        node.replace(listed)
        whole = listed if whole is node else whole
        nothing = exp.cast(exp.Literal.number(0), exp.DType.DOUBLE)
        of_nothing = name == "entropy"  # of no rows it is 0
        whole.replace(exp.Coalesce(this=called, expressions=[nothing]) if of_nothing else called)
        called.set("expressions", [whole])
    return tree


def _members(node: exp.Func, dialect: str) -> list[exp.Expr]:
    """The objects of one member each of which an aggregate of keys and values makes one, in their order.

    Without exactly a key and a value there are none.
    """
    given = node.expressions or [node.args.get("this"), node.args.get("expression")]
    if len(given) != 2 or not all(isinstance(part, exp.Expr) for part in given):
        return []
    key, value = (part.copy() for part in given)
    order = value if isinstance(value, exp.Order) else None
    value = value.this if order is not None else value
    if dialect == "duckdb":
        pair = exp.JSONKeyValue(this=exp.cast(key, exp.DType.VARCHAR), expression=value)
        made: exp.Expr = exp.JSONObject(expressions=[pair])
    else:
        made = exp.Anonymous(this="JSON_BUILD_OBJECT", expressions=[key, value])
    made.meta.update(node.meta)
    if order is not None:
        made = exp.Order(this=made, expressions=order.expressions)
    return [made]


def _replace_by_elements(node: exp.Anonymous) -> None:
    """Replace a function of rows by UNNEST of an array, with the name that its column has."""
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


def with_plain_aggregates(tree: exp.Expr) -> exp.Expr:
    """A tree in which aggregates of duckdb that are made of others are written so.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT MAX(x, 3), FSUM(x)", read="duckdb")
        >>> with_plain_aggregates(tree).sql("duckdb")
        'SELECT LIST_SLICE(ARRAY_AGG(x ORDER BY x DESC) FILTER(WHERE NOT x IS NULL), 1, 3), SUM(CAST(x AS DOUBLE))'
    """
    for node in list(tree.find_all(*_BEST, *_KNOWN, *_OF_PAIRS, exp.AnyValue, exp.Quantile, exp.Anonymous)):
        name = node.name.lower() if isinstance(node, exp.Anonymous) else _KNOWN.get(type(node), "")
        given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
        of_each = len(given) == 1 and not isinstance(given[0], exp.Distinct)
        match node:
            case _ if name in _STATISTICS and of_each:
                put_in_place(node, _STATISTICS[name](this=given[0].copy()))
            case exp.Anonymous() if name == "histogram" and of_each and not _is_over(node):
                _put_histogram(node, given[0])
            case exp.AnyValue(this=exp.Order(this=value)) if not _is_over(node):
                _put_first_known(node, value)
            case _ if (type_ := _OF_PAIRS.get(type(node))) and node.args.keys() == {"this", "expression"}:
                put_in_place(node, type_(this=node.this.copy(), expression=node.expression.copy()))
            case exp.Quantile(this=value, args={"quantile": share}) if type(node) is exp.Quantile:
                put_in_place(node, exp.PercentileDisc(this=value.copy(), expression=share.copy()))
            case exp.Anonymous() if name in _SUMS and len(given) == 1:
                put_in_place(node, _SUMS[name](this=exp.cast(given[0].copy(), exp.DType.DOUBLE)))
            case exp.Anonymous() if name in ("weighted_avg", "wavg") and len(given) == 2:
                put_in_place(node, _weighted(*given))
            case exp.Min() | exp.Max() | exp.ArgMin() | exp.ArgMax() if (count := node.args.get("count")) is not None:
                if not isinstance(count, exp.Column):
                    _put_best(node, count)
    return tree


def put_in_place(node: exp.Expr, by: exp.Expr) -> None:
    """Replace a node of the tree, and keep its place in the text."""
    by.meta.update(node.meta)
    node.replace(by)


def _weighted(value: exp.Expr, weight: exp.Expr) -> exp.Expr:
    """A sum of products, divided by the weights of the values that are no NULL."""
    known = exp.If(this=exp.not_(exp.Is(this=value.copy(), expression=exp.Null())), true=weight.copy())
    products = exp.Mul(this=exp.paren(value.copy()), expression=exp.paren(weight.copy()))
    weights = exp.Case(ifs=[known], default=exp.Literal.number(0))
    return exp.Paren(this=exp.Div(this=exp.Sum(this=products), expression=exp.Sum(this=weights)))


def _is_over(node: exp.Expr) -> bool:
    parent = node.parent if not isinstance(node.parent, exp.Filter) else node.parent.parent
    return isinstance(parent, exp.Window)


def _filtered(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """An aggregate with its FILTER, and the condition of that."""
    whole = node.parent if isinstance(node.parent, exp.Filter) and node.arg_key == "this" else node
    return whole, [whole.expression.this.copy()] if isinstance(whole, exp.Filter) else []


def _put_histogram(node: exp.Expr, value: exp.Expr) -> None:
    """HISTOGRAM(x): a map from the values to how often each is there."""
    key = exp.Ordered(this=value.copy(), desc=False, nulls_first=False)
    listed = exp.ArrayAgg(this=exp.Order(this=exp.Distinct(expressions=[value.copy()]), expressions=[key]))
    counts = Frequencies(this=value.copy())
    whole, given = _filtered(node)
    for part in (listed, counts):
        part.meta.update(node.meta)
    known = exp.not_(exp.Is(this=value.copy(), expression=exp.Null()))
    parts = [exp.Filter(this=part, expression=exp.Where(this=exp.and_(*given, known))) for part in (listed, counts)]
    put_in_place(whole, exp.Map(keys=parts[0], values=parts[1]))


def _put_first_known(node: exp.AnyValue, value: exp.Expr) -> None:
    """ANY_VALUE(x ORDER BY y): the first value that is no NULL."""
    first = exp.First(this=node.this.copy())
    first.meta.update(node.meta)
    whole, given = _filtered(node.parent if isinstance(node.parent, exp.IgnoreNulls) else node)
    known = exp.not_(exp.Is(this=value.copy(), expression=exp.Null()))
    put_in_place(whole, exp.Filter(this=first, expression=exp.Where(this=exp.and_(*given, known))))


def _put_best(node: exp.Expr, count: exp.Expr) -> None:
    """MAX(x, n), and MAX_BY(x, y, n): the first n of a list in order, without NULLs."""
    by = node.args.get("expression") or node.this
    key = exp.Ordered(this=by.copy(), desc=_BEST[type(node)], nulls_first=False)
    listed = exp.ArrayAgg(this=exp.Order(this=node.this.copy(), expressions=[key]))
    listed.meta.update(node.meta)
    tests = [exp.not_(exp.Is(this=part.copy(), expression=exp.Null())) for part in dict.fromkeys((node.this, by))]
    whole, given = _filtered(node)
    filtered = exp.Filter(this=listed, expression=exp.Where(this=exp.and_(*given, *tests)))
    called = exp.Anonymous(this="LIST_SLICE", expressions=[filtered, exp.Literal.number(1), count.copy()])
    put_in_place(whole, called)


def may_lack_rows(node: exp.Expr, name: str) -> bool:
    """Whether an outer join of the SELECT around an expression may lack rows of an item of FROM."""
    own, after = _join_of(node, name)
    return bool({"RIGHT", "FULL"} & set(after)) or (own is not None and own.side in ("LEFT", "FULL"))


def _join_of(node: exp.Expr, name: str) -> tuple[exp.Join | None, list[str]]:
    """The join of an item of FROM, which the first one has none of, and the sides of those behind it."""
    select = node.find_ancestor(exp.Select)
    joins = select.args.get("joins") or [] if select is not None else []
    at = next((at for at, join in enumerate(joins) if join.this.alias_or_name.lower() == name.lower()), -1)
    return joins[at] if at >= 0 else None, [join.side for join in joins[at + 1 :]]


def _counted_rows(node: exp.Expr, name: str) -> exp.Expr | None:
    """What counts the rows of an item of FROM; ``None`` where an outer join may lack them, and no equality tells."""
    own, after = _join_of(node, name)
    if not may_lack_rows(node, name):
        return exp.Star()
    if own is None or own.side != "LEFT" or {"RIGHT", "FULL"} & set(after):
        return None
    condition = own.args.get("on")
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


def _of_values(rank: exp.Expr, keys: Sequence[exp.Ordered]) -> exp.Expr | None:
    """The rank that a row of some values would have among others; ``None`` of DENSE_RANK by several keys."""
    pairs = list(zip(keys, rank.expressions, strict=True))
    rows = exp.Count(this=exp.Star(), big_int=True)
    match rank:
        case exp.DenseRank():
            return _dense_rank(*pairs[0]) if len(pairs) == 1 else None
        case exp.Rank():
            return _one_more(_counted(_before(pairs)))
        case exp.PercentRank():
            share = _share(_counted(_before(pairs)), exp.Nullif(this=rows, expression=exp.Literal.number(0)))
            return exp.Coalesce(this=share, expressions=[exp.cast(exp.Literal.number(0), "double")])
    behind = _counted(_before(pairs, or_same=True))
    return _share(exp.Paren(this=_one_more(behind)), exp.Paren(this=_one_more(rows)))


def _before(pairs: Sequence[tuple[exp.Ordered, exp.Expr]], or_same: bool = False) -> exp.Expr:
    """Whether a row comes before one of some values, or is equal to it, in an order."""
    (key, value), *rest = pairs
    by, nulls_first = key.this, bool(key.args.get("nulls_first"))
    first, last = (by, value) if nulls_first else (value, by)
    is_null = exp.Is(this=first.copy(), expression=exp.Null())
    some = exp.not_(exp.Is(this=last.copy(), expression=exp.Null()))
    sign = exp.GT if key.args.get("desc") else exp.LT
    test = exp.or_(sign(this=by.copy(), expression=value.copy()), exp.and_(is_null, some))
    if not rest and not or_same:
        return test
    same = exp.NullSafeEQ(this=by.copy(), expression=value.copy())
    return exp.or_(test, exp.and_(same, _before(rest, or_same)) if rest else same)


def _dense_rank(key: exp.Ordered, value: exp.Expr) -> exp.Expr:
    before = _before([(key, value)])
    different = _one_more(_counted(before, key.this))
    of_null = _counted(exp.and_(before.copy(), exp.Is(this=key.this.copy(), expression=exp.Null())))
    has_null = exp.If(this=exp.GT(this=of_null, expression=exp.Literal.number(0)), true=exp.Literal.number(1))
    return exp.Add(this=different, expression=exp.Case(ifs=[has_null], default=exp.Literal.number(0)))


def _counted(condition: exp.Expr, different: exp.Expr | None = None) -> exp.Expr:
    """How many rows a condition holds for, or how many different values they have."""
    counted = exp.Literal.number(1) if different is None else different.copy()
    one = exp.Case(ifs=[exp.If(this=condition, true=counted)])
    return exp.Count(this=one if different is None else exp.Distinct(expressions=[one]), big_int=True)


def _one_more(number: exp.Expr) -> exp.Expr:
    return exp.Add(this=exp.Literal.number(1), expression=number)


def _share(part: exp.Expr, whole: exp.Expr) -> exp.Expr:
    return exp.Div(this=exp.cast(part, "double"), expression=whole)
