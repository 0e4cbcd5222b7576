"""The logical query that text becomes: merging, grouping, aggregates as rules, set operations, names and types."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.arrow.types import to_data_type
from workbench.errors import SqlError, UnsupportedError
from workbench.experiments.query_sets import appendix_b
from workbench.experiments.sample_streams.schemas import SCHEMAS, STREAM_NAMES
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery, SetQuery, StreamInput
from workbench.sql.schema import Schema, UserFunction

APPENDIX = Schema(
    streams={STREAM_NAMES[k]: tuple((f.name, to_data_type(f.type)) for f in s) for k, s in SCHEMAS.items()},
    functions={"zipdistance": UserFunction("zipdistance", DOUBLE), "cat": UserFunction("cat", STRING)},
)


def block(sql: str, dialect: str = "spark") -> Block:
    query = bind(sql, dialect, SCHEMA).query
    assert isinstance(query, Block)
    return query


def outputs(query: Block) -> list[str]:
    return [f"{o.name}: {text(o.expression)} {o.type}" for o in query.outputs]


def statistics(query: Block) -> list[str]:
    assert query.grouping is not None
    return [f"{text(s)} {s.type}" for s in query.grouping.statistics]


@pytest.mark.parametrize("name", list(appendix_b.load()))
def test_every_example_of_appendix_b_binds(name: str) -> None:
    example = appendix_b.load()[name]
    bound = bind(example.oracle_sql, "oracle", APPENDIX)
    assert bound.query is not None
    assert len(bound.views) == (2 if name == "B05" else 0)


def test_plain_subqueries_views_and_ctes_are_merged() -> None:
    factored = [
        "select q.a, U.k from (select a, b c from T where b > 1) q, U where q.c = U.k",
        "with q as (select a, b from T where b > 1) select q.a, k from q join U on q.b = U.k",
        "create view q as select b, a from T where b > 1; select q.a, U.k from q, U where U.k = q.b",
        "select x.a, k from (select * from (select a, b from T) i where b > 1) x(a, e) cross join U where e = k",
    ]
    flat = block("select T.a, U.k from T, U where T.b > 1 and T.b = U.k")
    assert flat.inputs == (StreamInput("T"), StreamInput("U"))
    assert all(block(sql) == flat for sql in factored)


def test_grouped_distinct_and_set_subqueries_stay_inputs() -> None:
    for sub in ("select a from T group by a", "select distinct a from T", "select a from T union all select k from U"):
        query = block(f"select q.a from ({sub}) q where q.a > 1")
        assert not isinstance(query.inputs[0], StreamInput)
        assert str(query.where) == "a > 1"


def test_ctes_shadow_views_and_streams_and_see_earlier_ones() -> None:
    query = block("with U as (select a from T), V as (select a from U) select V.a from V where V.a = 1")
    assert query.inputs == (StreamInput("T"),)


def test_grouping_by_expression_alias_and_position_is_the_same() -> None:
    queries = [
        block("select substr(s, 1, 1) k, count(*) from T group by substr(s, 0, 1)"),
        block("select substr(s, 1, 1) k, count(*) from T group by k"),
        block("select substr(s, 1, 1) k, count(*) from T group by 1"),
    ]
    assert queries[0] == queries[1] == queries[2]


def _query(sql: str, dialect: str = "spark") -> LogicalQuery | None:
    return bind(sql, dialect, SCHEMA).query


def test_a_position_counts_the_columns_of_a_star() -> None:
    assert _query("SELECT U.*, COUNT(*) AS n FROM U GROUP BY 1, 2, 3, 4, 2") == _query(
        "SELECT U.*, COUNT(*) AS n FROM U GROUP BY a, k, d, s"
    )
    with pytest.raises(SqlError, match="GROUP BY 6 is not a position"):
        _query("SELECT U.*, COUNT(*) AS n FROM U GROUP BY 6")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM T WHERE b IN (SELECT SUM(T.a) FROM U WHERE U.k = T.a)",
        "SELECT most FROM T, LATERAL (SELECT MAX(T.a) AS most FROM U) x",
    ],
)
def test_an_aggregate_of_the_query_around_does_not_stand_before_its_groups(sql: str) -> None:
    with pytest.raises(UnsupportedError, match="an aggregate of nothing but columns of the outer query"):
        _query(sql)
    assert _query(sql.replace("(T.a", "(U.k + T.a").replace("WHERE T.a >", "WHERE U.k > T.a +"))


def test_postgres_calls_an_item_by_its_function() -> None:
    for sql, order in (
        ("SELECT a, COUNT(*) FROM T GROUP BY a", "count"),
        ("SELECT a, SUM(b) FILTER (WHERE b > 1) FROM T GROUP BY a", "Sum"),
        ("SELECT a, RANK() OVER (ORDER BY b) FROM T", "rank"),
        ("SELECT k AS n, ROW_NUMBER() OVER (ORDER BY k) FROM (SELECT a AS k, b AS row_number FROM T) q", "row_number"),
    ):
        assert _query(f"{sql} ORDER BY {order} DESC", "postgres") == _query(f"{sql} ORDER BY 2 DESC", "postgres")
    with pytest.raises(SqlError, match="lag stands twice in the select list"):
        _query("SELECT LAG(a) OVER (ORDER BY b), LAG(b) OVER (ORDER BY a) FROM T ORDER BY lag", "postgres")
    for dialect, sql in (("duckdb", "COUNT(*)"), ("postgres", "COUNT(*) + 1"), ("postgres", "COUNT(*) AS n")):
        with pytest.raises(SqlError, match="unknown column count"):
            _query(f"SELECT a, {sql} FROM T GROUP BY a ORDER BY count", dialect)


def test_a_column_comes_before_an_alias_in_group_by() -> None:
    query = block("select a + 1 as b, count(*) from T group by b, a")
    assert query.grouping is not None and [text(g) for g in query.grouping.groups] == ["a", "b"]


def test_averages_share_sums_and_counts() -> None:
    query = block("select avg(m) v, sum(m), count(m), avg(a), avg(x) from T")
    assert statistics(query) == [
        "count(a) integer", "count(m) integer", "count(x) integer",
        "sum(a) decimal(38,0)", "sum(m) decimal(25,2)", "sum(x) double",
    ]  # fmt: skip
    assert [str(o.type) for o in query.outputs] == ["decimal(19,6)", "decimal(25,2)", "integer", "double", "double"]


def test_statistics_of_over_are_in_the_order_of_the_text() -> None:
    columns = ("a", "b", "x", "a + 1", "b + 2", "x * 3")
    items = ", ".join(f"AVG({column}) OVER (ORDER BY a) AS v{place}" for place, column in enumerate(columns))
    query = bind(f"SELECT {items} FROM T", "spark", SCHEMA).query
    assert isinstance(query, Block)
    functions = [analyzed.call.function for analyzed in query.analytics]
    assert functions == ["sum", "count"] * 6


def test_variances_of_exact_numbers_are_rules_and_of_doubles_holistic() -> None:
    assert statistics(block("select variance(m), stddev(m) from T")) == [
        "count(m) integer", "sum((m * m)) decimal(38,4)", "sum(m) decimal(25,2)",
    ]  # fmt: skip
    assert statistics(block("select variance(x) from T")) == ["var_samp(x) double"]


def test_user_aggregate_by_its_statistics() -> None:
    query = block("select rms(m) r, sum(m * m) from T")
    assert statistics(query) == ["count(m) integer", "sum((m * m)) decimal(38,4)"]
    assert text(query.outputs[0].expression).startswith("sqrt(cast((sum_m_m_")
    with pytest.raises(SqlError, match="rms takes 1 arguments, not 2"):
        block("select rms(a, b) from T")


def test_having_over_statistics_not_selected() -> None:
    query = block("select a from T group by a having count(*) > 1 and max(b) < a")
    assert [str(p)[:6] for p in query.having] == ["a > ma", "count_"]


def test_having_may_use_an_alias() -> None:
    assert block("select a, sum(m) t from T group by a having t > 1") == block(
        "select a, sum(m) t from T group by a having sum(m) > 1"
    )


def test_stars_using_and_duplicate_names() -> None:
    assert [o.name for o in block("select * from U x, U y").outputs] == [
        "a", "k", "d", "s", "a_2", "k_2", "d_2", "s_2",
    ]  # fmt: skip
    query = block("select * from T join U using (a, d)")
    assert [o.name for o in query.outputs][:3] == ["a", "d", "b"] and len(query.outputs) == 12
    assert str(query.where) == "1:a = a and 1:d = d"
    assert [o.name for o in block("select U.*, T.b from T, U").outputs] == ["a", "k", "d", "s", "b"]


def test_unaliased_names_are_the_text() -> None:
    assert [o.name for o in block("select T.a, (a + b)  * 2, count(*), AVG(x) from T group by a, b").outputs] == [
        "a", "(a + b) * 2", "count(*)", "AVG(x)",
    ]  # fmt: skip


def test_unions_are_flattened_and_types_are_common() -> None:
    query = bind(
        "select a, null from T union all select m, 'x' from T union all (select 1.5, s from T)", "spark", SCHEMA
    ).query
    assert isinstance(query, SetQuery)
    assert len(query.branches) == 3 and query.all and query.names[0] == "a"
    assert query.types == (decimal(21, 2), STRING)


def test_intersect_binds_tighter_in_spark_but_not_in_oracle() -> None:
    sql = "select a from T union select a from U intersect select k from U"
    assert [getattr(bind(sql, d, SCHEMA).query, "operator", "") for d in ("spark", "oracle")] == ["union", "intersect"]


def test_the_same_in_two_dialects() -> None:
    oracle = block("select a from T where to_char(d, 'YYYYMMDD') = '20021127' and nvl(b, 0) != 1", "oracle")
    assert oracle == block("select a from T where date_format(d, 'yyyyMMdd') = '20021127' and coalesce(b, 0) <> 1")


@pytest.mark.parametrize(
    ("number", "type_"),
    [
        ("9223372036854775807", "integer"),
        ("-9223372036854775808", "integer"),
        ("9223372036854775808", "decimal(19,0)"),
        ("-9223372036854775809", "decimal(19,0)"),
    ],
)
def test_whole_numbers_are_integers_as_far_as_these_reach(number: str, type_: str) -> None:
    """As in Spark, where the minus sign belongs to the number (``typeof(-9223372036854775808)`` is BIGINT)."""
    (output,) = block(f"SELECT {number} AS n FROM t").outputs
    assert str(output.expression.type) == type_


@pytest.mark.parametrize(
    ("from_", "names"),
    [
        ("T t join U u using (a)", "a b c m w x s d ts p k d_2 s_2"),
        ("T t join U u using (d, a)", "d a b c m w x s ts p k s_2"),
        (
            "(select a, b from T) t join (select a, c from T) u using (a) join (select c, 1 as e from T) v using (c)",
            "c a b e",
        ),
        (
            "(select a, b from T) t join ((select a, c from T) u join (select c, 1 as e from T) v using (c)) using (a)",
            "a b c e",
        ),
        (
            "(select a, b from T) t cross join ((select b, c from T) u join (select b, 1 as e from T) v using (b))",
            "a b b_2 c e",
        ),
    ],
)
def test_the_columns_of_using_stand_once_and_first(from_: str, names: str) -> None:
    query = block(f"select * from {from_}")
    assert [output.name for output in query.outputs] == names.split()


def test_on_inside_brackets_sees_what_is_inside() -> None:
    with pytest.raises(SqlError, match="t is not in FROM"):
        block("select 1 from T t join (U u join U v on u.a = t.a) on t.a = u.a")


def test_text_as_boolean_by_the_words_of_the_dialect() -> None:
    (output,) = block("select s::bool from T", "postgres").outputs
    assert "'tr'" in text(output.expression) and "'on'" in text(output.expression)


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("count_if(p)", "count(case(p, 1, null::integer)) integer"),
        ("any_value(s)", "min(s) string"),
        ("approx_count_distinct(s, 0.05)", "count(distinct s) integer"),
        ("approx_percentile(a, 0.50, 100)", "percentile_disc(a, 0.5) integer"),
        ("percentile_disc(0.5) within group (order by d desc)", "percentile_disc_desc(d, 0.5) date"),
        ("mode() within group (order by s)", "mode(s) string"),
        ("corr(a, m)", "corr(cast(a as double), cast(m as double)) double"),
        ("min_by(s, d) filter (where p)", "min_by(s, case(p, d, null::date)) string"),
        ("bit_and(distinct a)", "bit_and(distinct a) integer"),
        ("listagg(s)", "listagg(s, '') string"),
        ("string_agg(a, ',' order by d desc, s desc)", "listagg_desc(cast(a as string), ',', d, s) string"),
        ("listagg(s, ',') within group (order by d, s, a)", "listagg(s, ',', d) string"),
        ("listagg(distinct a, ',') within group (order by a, s)", "listagg(distinct cast(a as string), ',', a) string"),
        ("listagg(distinct s, ',') within group (order by s)", "listagg(distinct s, ',') string"),
        ("listagg(s, ',') within group (order by a nulls last)", "listagg(s, ',', is_null(a), a) string"),
    ],
)
def test_an_aggregate_is_these_statistics(aggregate: str, expected: str) -> None:
    assert statistics(block(f"select {aggregate} from T")) == [expected]


@pytest.mark.parametrize("aggregate", ["bool_and(p)", "every(p)", "bool_or(p)", "some(p)"])
def test_truth_of_all_and_some_follows_from_counts(aggregate: str) -> None:
    assert all(statistic.startswith("count(") for statistic in statistics(block(f"select {aggregate} from T")))


@pytest.mark.parametrize(("dialect", "word"), [("spark", "EXCEPT"), ("duckdb", "EXCLUDE")])
def test_an_answer_has_a_column(dialect: str, word: str) -> None:
    """A frame without columns has no rows, whatever the number of those of the answer."""
    schema = Schema({"t": (("a", INTEGER), ("b", INTEGER))})
    with pytest.raises(SqlError, match="no column is left to select"):
        bind(f"SELECT * {word} (a, b) FROM t", dialect, schema)
    assert bind(f"SELECT COUNT(*) AS n FROM (SELECT * {word} (a, b) FROM t) AS u", dialect, schema).query
