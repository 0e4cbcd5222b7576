"""Functions of other systems that a dialect does not have, and how the same is written in it.

Analysts bring names along from SQL Server, MySQL, BigQuery, ClickHouse, spreadsheets and pandas. The function with the
closest spelling is hardly ever the one that they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.sql.dialects import DIALECTS

_Forms = Mapping[str, str]
"""Dialect -> a call of columns t (a time), s (a text), x and y (numbers); "" stands for those of
the first tier that are not named."""

_SAME: tuple[tuple[str, _Forms], ...] = (
    ("strftime date_format formatdatetime format_date format_timestamp format",
     {"spark": "DATE_FORMAT(t, 'yyyy-MM-dd')", "duckdb": "STRFTIME(t, '%Y-%m-%d')",
      "postgres": "TO_CHAR(t, 'YYYY-MM-DD')"}),
    ("strptime parse_timestamp parse_datetime str_to_date todatetime parsedatetime",
     {"spark": "TO_TIMESTAMP(s, 'yyyy-MM-dd')", "duckdb": "STRPTIME(s, '%Y-%m-%d')",
      "postgres": "TO_TIMESTAMP(s, 'YYYY-MM-DD')"}),
    ("epoch unixepoch unix_timestamp to_unixtime tounixtimestamp",
     {"spark": "UNIX_TIMESTAMP(t)", "duckdb": "EPOCH(t)", "postgres": "EXTRACT(EPOCH FROM t)"}),
    ("getdate getutcdate sysdatetime sysutcdatetime localtime", {"": "t > CURRENT_TIMESTAMP - INTERVAL '1' DAY"}),
    ("today curdate", {"": "t >= CURRENT_DATE"}),
    ("time_bucket date_bin tostartofhour tostartofday tostartofinterval datetrunc", {"": "DATE_TRUNC('hour', t)"}),
    ("eomonth end_of_month", {"": "LAST_DAY(t)"}),
    ("weeknum isoweek toisoweek", {"": "EXTRACT(WEEK FROM t)"}),
    ("todate datevalue", {"": "CAST(t AS DATE)"}),
    ("datefromparts date_from_parts makedate", {"spark": "MAKE_DATE(x, y, 31)"}),
    ("list collect collect_list grouparray", {"": "ARRAY_AGG(x)"}),
    ("textjoin listagg wm_concat", {"": "STRING_AGG(s, ',')"}),
    ("nunique uniq uniqexact count_distinct countdistinct", {"": "COUNT(DISTINCT x)"}),
    ("hll approx_uniq", {"": "APPROX_COUNT_DISTINCT(x)"}),
    ("countifs counta size", {"": "COUNT(*) FILTER (WHERE x > 1)"}),
    ("sumif sumifs", {"": "SUM(x) FILTER (WHERE s = 'a')"}),
    ("averageif averageifs avgif", {"": "AVG(x) FILTER (WHERE s = 'a')"}),
    ("stdevp", {"": "STDDEV_POP(x)"}),
    ("var vars", {"": "VAR_SAMP(x)"}),
    ("varp", {"": "VAR_POP(x)"}),
    ("quantile quantile_cont quantileexact", {"": "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"}),
    ("ratio_to_report", {"": "x / SUM(x) OVER ()"}),
    ("rownum row_num rownumberinallblocks", {"": "ROW_NUMBER() OVER (ORDER BY t)"}),
    ("choose ifs switch multiif", {"": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END"}),
    ("iferror ifna", {"": "COALESCE(x, 0)"}),
    ("try_divide", {"": "x / NULLIF(y, 0)"}),
    ("square", {"": "x * x"}),
    ("tostring str to_varchar",
     {"": "CAST(x AS STRING)", "duckdb": "CAST(x AS VARCHAR)", "postgres": "CAST(x AS TEXT)"}),
    ("int int64 to_int toint32 toint64", {"": "CAST(x AS BIGINT)"}),
    ("float float64 to_double tofloat64 numbervalue",
     {"": "CAST(x AS DOUBLE)", "postgres": "CAST(x AS DOUBLE PRECISION)"}),
    ("find patindex indexof", {"": "POSITION('a' IN s)"}),
    ("datalength strlen", {"": "LENGTH(s)"}),
    ("mid", {"": "SUBSTRING(s, 2, 3)"}),
    ("regexp_contains match", {"spark": "s RLIKE '^a'", "postgres": "s ~ '^a'", "": "s LIKE 'a%'"}),
    ("regexp_matches", {"spark": "s RLIKE '^a'", "postgres": "(REGEXP_MATCH(s, '^a'))[1]", "": "s LIKE 'a%'"}),
    ("json_value json_extract_string get_json_object",
     {"spark": "GET_JSON_OBJECT(s, '$.a')", "duckdb": "s ->> '$.a'", "postgres": "s ->> 'a'"}),
    ("str_split string_split splitbychar textsplit",
     {"spark": "SPLIT(s, ',')", "duckdb": "STRING_SPLIT(s, ',')", "postgres": "STRING_TO_ARRAY(s, ',')"}),
    ("isnull", {"": "COALESCE(x, 0)"}),
    ("unnest", {"spark": "EXPLODE(ARRAY(x, y))"}),
    ("regexp_split_to_table", {"spark": "EXPLODE(SPLIT(s, ','))", "duckdb": "UNNEST(STRING_SPLIT(s, ','))"}),
    ("list_contains list_has array_has has",
     {"spark": "ARRAY_CONTAINS(SPLIT(s, ','), 'a')", "duckdb": "LIST_CONTAINS(STRING_SPLIT(s, ','), 'a')"}),
)  # fmt: skip
_BY_NAME = {name: forms for names, forms in _SAME for name in names.split()}


def usual_call(name: str, dialect: str) -> str | None:
    """How a dialect writes a function that it does not have by that name, as a hint; ``None`` where none is known.

    Example:
        >>> usual_call("STRFTIME", "spark")
        "the same is written as in DATE_FORMAT(t, 'yyyy-MM-dd')"
    """
    forms = _BY_NAME.get(name.lower(), {})
    form = forms.get(dialect, forms.get("") if DIALECTS[dialect].exact else None)
    return f"the same is written as in {form}" if form else None
