"""EXPLODE, UNNEST and GENERATE_SERIES in FROM or a select list: a row for each element of an array.

::

    FROM t LATERAL VIEW EXPLODE(ARRAY(a, b)) x AS v             spark; POSEXPLODE gives the places too, from 0
    FROM t CROSS JOIN UNNEST(ARRAY[a, b]) WITH ORDINALITY AS x(v, n)         the places from 1
    SELECT EXPLODE(ARRAY(a, b)) AS v FROM t                                  a LATERAL VIEW whose columns only it names
    FROM t LATERAL VIEW EXPLODE(m) x AS k, v                    the entries of a map, MAP_ENTRIES(m), as columns
    FROM t LATERAL VIEW INLINE(ARRAY(STRUCT(a, b))) x AS v, w                the fields of structs as columns
    FROM t, JSONB_ARRAY_ELEMENTS(j->'a') AS x(v)                             postgres; v->>'b' reads the text of the row
    FROM t, GENERATE_SERIES(1, a) AS g                          the array SEQUENCE(1, a, 1)
    FROM t, (VALUES (1), (2)) AS p(n)                           what all are, with v = ELEMENT_AT(ARRAY(a, b), n)

So it is a join with places that never change, and is shared, corrected and explained as joins are. Its condition is
that the array has the place, ``HAS_PLACE(x, n)``, which the place 1 need not meet where the row is kept without
elements (OUTER). An array that is written out has all its places, and needs no condition. One of any length, such as
``SPLIT(s, ',')``, has ``MOST_ELEMENTS_IN_FROM`` places, and a check stops the query where there are more elements
(``sql/checks``). A row finds as many places as it has elements, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import INTEGER, Kind
from workbench.sql.binder.joins.semijoins import JoinClause
from workbench.sql.binder.joins.series import ConstantSeries, constant_series, name_of_series
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Scope
from workbench.sql.dialect import Dialect
from workbench.sql.functions.arrays.arrays import HAS_PLACE, element_of
from workbench.sql.functions.arrays.databases import entries_of
from workbench.sql.functions.arrays.lengths import ended, longest
from workbench.sql.functions.calls import call
from workbench.sql.functions.json_paths import elements, is_elements
from workbench.sql.functions.structs import fields
from workbench.sql.functions.times.time_series import series_of_times
from workbench.sql.logical import Block, LogicalQuery, Output, SetQuery, output_columns
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.query_limits import MOST_ELEMENTS_IN_FROM, MOST_ROWS
from workbench.sql.syntax.arguments import InlineOuter
from workbench.sql.syntax.source_text import SourceText

_ONES = range(1, MOST_ROWS + 1)
_ALWAYS = (exp.true(), exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(1)))
"""Conditions of a join that keeps all pairs."""


def function_of(node: exp.Expr) -> exp.Explode | exp.Inline | exp.Unnest | exp.GenerateSeries | exp.Anonymous | None:
    """The function of arrays that an item of FROM is, if it is one."""
    function = node.this if isinstance(node, (exp.Lateral, exp.Table)) else node
    if isinstance(function, (exp.Explode, exp.Inline, exp.Unnest, exp.GenerateSeries)):
        return function
    return function if isinstance(function, exp.Anonymous) and is_elements(function) else None


def item_name(node: exp.Expr) -> str:
    """The name of an item of FROM that ``function_of`` finds to be a function of arrays."""
    function = function_of(node)
    if isinstance(function, exp.Anonymous):
        return node.alias or function.name.lower()
    return node.alias or (name_of_series(function) if isinstance(function, exp.GenerateSeries) else "")


def keeps_rows(join: exp.Join) -> bool:
    """Whether a LEFT JOIN ON TRUE adds the elements of an array; if so, they are marked as OUTER."""
    on, item = join.args.get("on"), join.this
    tests = join.args.get("using") or join.args.get("method") or (on is not None and on.unnest() not in _ALWAYS)
    if join.side != "LEFT" or join.kind not in ("", "OUTER") or tests or function_of(item) is None:
        return False
    item.set("outer", True)
    return True


def with_test_inside(join: exp.Join) -> exp.Join:
    """A LEFT JOIN that adds the elements of an array of a row under a condition, as one of a subquery that has it."""
    function, on = function_of(join.this), join.args.get("on")
    of_row = function is not None and function.find(exp.Column) is not None
    is_left = join.side == "LEFT" and join.kind not in ("SEMI", "ANTI")
    if not of_row or not is_left or on is None or on.unnest() in _ALWAYS:
        return join
    rows = exp.select("*").from_(join.this.copy()).where(on.copy())
    named = exp.TableAlias(this=exp.to_identifier(join.this.alias)) if join.this.alias else None
    lateral = exp.Lateral(this=exp.Subquery(this=rows), view=False, alias=named)
    return exp.Join(this=lateral, side="LEFT", on=exp.true())


def add_elements(
    clause: JoinClause, node: exp.Expr, context: QueryContext, scope: Scope
) -> tuple[list[str], list[Expression]]:
    """Join a clause with the elements of an array.

    Args:
        clause: gets an input with the places of the elements, and the condition that the array has them.
        node: the item of FROM, whose function is ``function_of`` it.
        context: the statement.
        scope: the names that the elements may read.

    Returns:
        The names and values of the columns.

    Raises:
        SqlError: the elements have no common type, or it is no array.
        UnsupportedError: there are too many elements.
    """
    function, source = function_of(node), context.source
    assert function is not None
    if not isinstance(node, exp.GenerateSeries):
        source.refuse_others(node, {"this", "expressions", "alias", "view", "outer", "offset", "ordinality"}, "FROM")
    arrays = function.expressions if isinstance(function, exp.Unnest) else [function.this, *function.expressions]
    if isinstance(function, (exp.GenerateSeries, exp.Anonymous)):
        arrays = [function]
    if len(arrays) != 1:
        if not isinstance(function, exp.Unnest) or source.rules.explodes or node.args.get("outer"):
            source.refuse(f"{function.key.upper()} of several arrays", function, "join one UNNEST for each")
        place, values = add_together(clause, arrays, context, scope)
        last = _named(node, function, place, place, source.rules)[0][1:]  # of ORDINALITY
        return ["unnest"] * len(values) + last, values + [place] * len(last)
    outer = node.args.get("outer") or isinstance(function, (exp.ExplodeOuter, InlineOuter))
    b = ScalarBinder(scope, context.schema, now_at=context.now_at)
    try:
        series = constant_series(arrays[0], b)
    except TypeClash as clash:
        raise source.error(clash.message, arrays[0], clash.hint) from None
    if series is not None and (series.count or not outer):
        there = _add_places(clause, series.count, context)
        return _named(node, function, series.at(there, b), there, source.rules)
    of_json: Callable[[Expression], Expression] | None = None
    if isinstance(function, exp.Anonymous):
        array, of_json = elements(b, function)
    else:
        array = _array(arrays[0], context, scope)
    if not source.rules.explodes and isinstance(function, (exp.Posexplode, exp.ExplodeOuter)):
        source.refuse(f"{function.key.upper()} in {source.dialect}", function, "UNNEST(x) WITH ORDINALITY has places")
    is_map = array.type.kind is Kind.MAP
    if is_map and (isinstance(function, exp.Inline) or not source.rules.explodes):
        hint = "EXPLODE(m) has the entries of a map in spark, and UNNEST(MAP_ENTRIES(m)) elsewhere"
        raise source.error("rows of a map by this function", function, hint)
    array = entries_of(array)
    place = _add_places_of(clause, array, arrays[0], context)
    there = _place(clause, array, place, outer)
    element = call("element_at", array, place) if of_json is None else of_json(there)
    if isinstance(function, exp.Inline):
        if not element.type.fields:
            hint = "EXPLODE(x) has its elements as they are"
            raise source.error(f"INLINE needs an array of structs, not {array.type}", function, hint)
        return [name for name, _ in fields(element)], [value for _, value in fields(element)]
    if is_map:
        named = fields(element)
        if isinstance(function, exp.Posexplode):
            named.insert(0, ("pos", call("-", there, Constant(1, INTEGER))))
        return [name for name, _ in named], [value for _, value in named]
    return _named(node, function, element, there, source.rules)


def add_together(
    clause: JoinClause, arrays: Sequence[exp.Expr], context: QueryContext, scope: Scope
) -> tuple[Expression, list[Expression]]:
    """Join a clause with the elements of several arrays side by side, NULL behind the end of those that are shorter.

    Returns:
        The place of a row, and its element of each array.

    Raises:
        SqlError: elements have no common type, or one is no array.
        UnsupportedError: there are too many elements, or rows of maps.
    """
    b = ScalarBinder(scope, context.schema, now_at=context.now_at)
    read: list[tuple[int, Expression | None, ConstantSeries | None]] = []
    for node in arrays:
        if (series := constant_series(node, b)) is not None:
            read.append((series.count, None, series))
            continue
        known = _array(node, context, scope, MOST_ROWS)
        if known.type.kind is Kind.MAP:
            context.source.refuse("rows of a map beside others", node, "let a subquery in FROM select them")
        read.append((_most(known, node, MOST_ROWS, context.source), known, None))
    most = max(count for count, *_ in read)
    place = _add_places(clause, most, context)
    tests, values = list[Expression](), list[Expression]()
    for count, array, series in read:
        if series is not None:
            tests.append(call("<=", place, Constant(count, INTEGER)))
            values.append(call("case", tests[-1], element := series.at(place, b), Constant(None, element.type)))
        elif array is not None:
            tests.append(_has(array, place, MOST_ROWS))
            values.append(call("element_at", array, place))
    if most and not any(count == most and _has_all(array) for count, array, *_ in read):
        clause.conditions.append(normal_form(tests[0] if len(tests) == 1 else call("or", *tests)))
    return place, values


def _has_all(array: Expression | None) -> bool:
    """Whether there are as many elements in every row: of a constant series, or an array that is written out."""
    return array is None or (isinstance(array, Call) and array.function == "array")


def _has(array: Expression, place: Expression, most: int = MOST_ELEMENTS_IN_FROM) -> Expression:
    """Whether an array has a place."""
    return call(HAS_PLACE, array, place, *(() if longest(array) is not None else (Constant(most, INTEGER),)))


def _array(node: exp.Expr, context: QueryContext, scope: Scope, most: int = MOST_ELEMENTS_IN_FROM) -> Expression:
    """An array of which ``most`` elements are read; those that are written out mean the same in all dialects."""
    b = ScalarBinder(scope, context.schema, now_at=context.now_at)
    try:
        if isinstance(node, exp.Array):
            context.source.refuse_others(node, {"expressions", "bracket_notation"}, "an array")
            array = call("array", *map(b.bind, node.expressions))
        elif isinstance(node, exp.GenerateSeries) and not context.source.rules.explodes:
            array = _series(node, b, context.source)
        else:
            array = b.bind(node)
        array = ended(array, most)
        element = element_of(entries_of(array))
    except TypeClash as clash:
        raise context.source.error(clash.message, node, clash.hint) from None
    if array == empty_array(array.type):
        context.source.refuse("an array without elements in FROM", node, "name a column of arrays, or write values")
    if element.kind is Kind.ARRAY:
        context.source.refuse("an array of arrays in FROM", node, "write the elements of one array")
    return array


def _series(node: exp.GenerateSeries, b: ScalarBinder, source: SourceText) -> Expression:
    """Numbers from one to another, none where the step leads away; SEQUENCE without a step would go down by itself."""
    if (times := series_of_times(b, node)) is not None:
        return times
    start, end, *steps = b.parts(node, "start", "end", "step")
    if any(part.type.kind is not Kind.INTEGER and not is_null(part) for part in (start, end, *steps)):
        source.refuse("GENERATE_SERIES of other values than integers", node, "CAST them AS INTEGER")
    step = steps[0] if steps else Constant(1, INTEGER)
    if not isinstance(step, Constant) or not isinstance(step.value, int) or step.value == 0:
        source.refuse("a step that is no constant, or 0,", node, "as in GENERATE_SERIES(1, 9, 2)")
    if node.args.get("is_end_exclusive"):
        end = call("-", end, Constant(1 if step.value > 0 else -1, INTEGER))
    return call("sequence", start, end, step)


def _most(array: Expression, node: exp.Expr, most: int, source: SourceText) -> int:
    """The number of places that an array may have; one at least, since there are no VALUES of no rows."""
    length = longest(array)
    if length is not None and length > most:
        source.refuse(f"rows of more than {most:,} elements", node, "add_table adds a table of your own")
    return most if length is None else max(length, 1)


def _add_places_of(clause: JoinClause, array: Expression, node: exp.Expr, context: QueryContext) -> Column:
    """Join a clause with the places that an array may have, of which a row finds its own.

    More than VALUES may have rows are those of two, each once: rows of their own, not a join with two inputs more.
    """
    most = _most(array, node, MOST_ELEMENTS_IN_FROM, context.source)
    if most <= MOST_ROWS:
        return _add_numbers(clause, range(1, most + 1), context)
    hundreds, ones = (_numbers(some, context) for some in (range(0, MOST_ELEMENTS_IN_FROM, MOST_ROWS), _ONES))
    first, second = (_number(query, position) for position, query in enumerate((hundreds, ones)))
    place = call("+", first, second)
    rows = Block((hundreds, ones), TRUE, (Output("place", place),), distinct=True)
    return Column("place", place.type, clause.add_input(rows))


def _add_places(clause: JoinClause, count: int, context: QueryContext) -> Expression:
    """Join a clause with the places 1 to ``count``, and give the place of a row; of none, the condition is false.

    More places than VALUES may have rows are those of two, ``hundreds + ones``, which never change.
    """
    places = max(count, 1)  # there are no VALUES of no rows
    place: Expression = _add_numbers(clause, _ONES[:places], context)
    if places > MOST_ROWS:
        hundreds = range(0, places, MOST_ROWS)
        place, places = call("+", _add_numbers(clause, hundreds, context), place), len(hundreds) * MOST_ROWS
    if places != count:
        clause.conditions.append(normal_form(call("<=", place, Constant(count, INTEGER))))
    return place


def _add_numbers(clause: JoinClause, numbers: range, context: QueryContext) -> Column:
    """Join a clause with the rows of some numbers."""
    query = _numbers(numbers, context)
    return _number(query, clause.add_input(query))


def _numbers(numbers: range, context: QueryContext) -> LogicalQuery:
    """VALUES of some numbers; the rows differ from the first one by their numbers alone."""
    first = context.query(exp.Values(expressions=[exp.Tuple(expressions=[exp.Literal.number(numbers[0])])]))
    assert isinstance(first, Block)
    ((name, type_),) = output_columns(first)
    rows = tuple(replace(first, outputs=(Output(name, Constant(number, type_)),)) for number in numbers)
    return first if len(rows) == 1 else SetQuery("union", True, rows, (name,), (type_,))


def _number(query: LogicalQuery, position: int) -> Column:
    """The number of a row of ``_numbers`` that is the input at a position."""
    ((name, type_),) = output_columns(query)
    return Column(stored_name(name), type_, position)


def _place(clause: JoinClause, array: Expression, place: Column, outer: bool) -> Expression:
    """The place of an element; the clause gets the condition that the array has it, unless it has all of them."""
    if isinstance(array, Call) and array.function == "array" and len(array.arguments) <= MOST_ROWS:
        return place
    there = _has(array, place)
    if not outer:
        clause.conditions.append(normal_form(there))
        return place
    clause.conditions.append(normal_form(call("or", call("=", place, Constant(1, INTEGER)), there)))
    return call("case", there, place, Constant(None, INTEGER))


def _named(
    node: exp.Expr, function: exp.Expr, value: Expression, place: Expression, rules: Dialect
) -> tuple[list[str], list[Expression]]:
    """The columns as the dialect calls them; the names after AS are not here."""
    if isinstance(function, exp.Posexplode):
        return ["pos", "col"], [call("-", place, Constant(1, INTEGER)), value]
    unnamed = name_of_series(function) if isinstance(function, exp.GenerateSeries) else "unnest"
    unnamed = "value" if isinstance(function, exp.Anonymous) else unnamed
    if rules.explodes and isinstance(function, exp.GenerateSeries) and function.args.get("is_end_exclusive"):
        return ["id"], [value]
    alone = rules.column_of_function or (node.alias if rules.column_of_alias else "") or unnamed
    offset = function.args.get("offset")
    if isinstance(offset, exp.Identifier):  # the parser takes it off the names after AS
        node.args["alias"].append("columns", offset)
    if offset or node.args.get("ordinality"):
        return [alone, "ordinality"], [value, place]
    return [alone], [value]
