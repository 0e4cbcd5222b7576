"""Functions of other systems that a dialect does not have, and how the same is written in it.

Analysts bring names along from SQL Server, MySQL, BigQuery, ClickHouse, spreadsheets and pandas. The function with the
closest spelling is hardly ever the one that they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from workbench.sql.dialects import DIALECTS

_Forms = Mapping[str, str]
"""Dialect -> a call of columns t (a time), s (a text), x and y (numbers); "" stands for those of
the first tier that are not named."""

_SAME: tuple[tuple[str, _Forms], ...] = (
    ("strftime date_format formatdatetime format_date format_timestamp format to_char",
     {"spark": "DATE_FORMAT(t, 'yyyy-MM-dd')", "duckdb": "STRFTIME(t, '%Y-%m-%d')",
      "postgres": "TO_CHAR(t, 'YYYY-MM-DD')"}),
    ("dateadd date_add timestampadd datetime_add timestamp_add", {"": "t + INTERVAL '1' DAY"}),
    ("date_sub datetime_sub timestamp_sub", {"": "t - INTERVAL '1' DAY"}),
    ("datediff date_diff timestampdiff datedif datetime_diff timestamp_diff",
     {"spark": "TIMESTAMPDIFF(DAY, t, t)", "duckdb": "DATE_DIFF('day', t, t)",
      "postgres": "CAST(t AS DATE) - CAST(t AS DATE)"}),
    ("parse_date",
     {"spark": "TO_DATE(s, 'yyyy-MM-dd')", "duckdb": "CAST(STRPTIME(s, '%Y-%m-%d') AS DATE)",
      "postgres": "TO_DATE(s, 'YYYY-MM-DD')"}),
    ("strptime parse_timestamp parse_datetime str_to_date todatetime parsedatetime",
     {"spark": "TO_TIMESTAMP(s, 'yyyy-MM-dd')", "duckdb": "STRPTIME(s, '%Y-%m-%d')",
      "postgres": "TO_TIMESTAMP(s, 'YYYY-MM-DD')"}),
    ("to_date", {"duckdb": "CAST(s AS DATE)"}),
    ("to_timestamp", {"duckdb": "STRPTIME(s, '%Y-%m-%d')"}),
    ("epoch unixepoch unix_timestamp to_unixtime tounixtimestamp",
     {"spark": "UNIX_TIMESTAMP(t)", "duckdb": "EPOCH(t)", "postgres": "EXTRACT(EPOCH FROM t)"}),
    ("getdate getutcdate sysdatetime sysutcdatetime localtime", {"": "t > CURRENT_TIMESTAMP - INTERVAL '1' DAY"}),
    ("today curdate", {"": "t >= CURRENT_DATE"}),
    ("time_bucket date_bin tostartofhour tostartofday tostartofinterval datetrunc", {"": "DATE_TRUNC('hour', t)"}),
    ("eomonth end_of_month", {"": "LAST_DAY(t)"}),
    ("weeknum isoweek toisoweek", {"": "EXTRACT(WEEK FROM t)"}),
    ("todate datevalue", {"": "CAST(t AS DATE)"}),
    ("datefromparts date_from_parts makedate", {"spark": "MAKE_DATE(x, y, 31)"}),
    ("list collect collect_list grouparray make_list", {"": "ARRAY_AGG(x)"}),
    ("groupuniqarray make_set set_agg collect_set array_agg_distinct", {"": "ARRAY_AGG(DISTINCT x)"}),
    ("textjoin listagg wm_concat group_concat groupconcat strings_agg", {"": "STRING_AGG(s, ',')"}),
    ("nunique count_distinct countdistinct distinct_count dcount dcountif countunique count_unique",
     {"": "COUNT(DISTINCT x)"}),
    ("hll approx_uniq approximate_count_distinct hyperloglog", {"": "APPROX_COUNT_DISTINCT(x)"}),
    ("countifs counta size", {"": "COUNT(*) FILTER (WHERE x > 1)"}),
    ("sumif sumifs crosstab pivot_table pivot", {"": "SUM(x) FILTER (WHERE s = 'a')"}),
    ("averageif averageifs avgif", {"": "AVG(x) FILTER (WHERE s = 'a')"}),
    ("stdevp", {"": "STDDEV_POP(x)"}),
    ("var vars", {"": "VAR_SAMP(x)"}),
    ("varp", {"": "VAR_POP(x)"}),
    ("quantile quantile_cont quantileexact", {"": "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"}),
    ("median percentile", {"": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)"}),
    ("mean", {"": "AVG(x)"}),
    ("std", {"": "STDDEV(x)"}),
    ("max_by", {"postgres": "(ARRAY_AGG(x ORDER BY y DESC))[1]"}),
    ("min_by", {"postgres": "(ARRAY_AGG(x ORDER BY y))[1]"}),
    ("count_if", {"postgres": "COUNT(*) FILTER (WHERE x > 1)"}),
    ("nvl ifnull", {"": "COALESCE(x, 0)"}),
    ("if", {"postgres": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END"}),
    ("instr locate", {"": "POSITION('a' IN s)"}),
    ("len", {"postgres": "LENGTH(s)"}),
    ("startswith", {"": "STARTS_WITH(s, 'a')"}),
    ("endswith", {"": "RIGHT(s, 1) = 'a'"}),
    ("regexp_like", {"duckdb": "REGEXP_MATCHES(s, '^a')"}),
    ("ratio_to_report share", {"": "x / SUM(x) OVER ()"}),
    ("percent pct percent_of_total percentage", {"": "100.0 * x / SUM(x) OVER ()"}),
    ("rownum row_num rownumberinallblocks", {"": "ROW_NUMBER() OVER (ORDER BY t)"}),
    ("choose ifs switch multiif", {"": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END"}),
    ("iferror ifna assumenotnull tonullable", {"": "COALESCE(x, 0)"}),
    ("try_divide", {"": "x / NULLIF(y, 0)"}),
    ("square", {"": "x * x"}),
    ("tostring str to_varchar",
     {"": "CAST(x AS STRING)", "duckdb": "CAST(x AS VARCHAR)", "postgres": "CAST(x AS TEXT)"}),
    ("int int64 to_int toint32 toint64", {"": "CAST(x AS BIGINT)"}),
    ("float float64 to_double tofloat64 numbervalue",
     {"": "CAST(x AS DOUBLE)", "postgres": "CAST(x AS DOUBLE PRECISION)"}),
    ("find patindex indexof", {"": "POSITION('a' IN s)"}),
    ("datalength strlen str_len textlen char_count", {"": "LENGTH(s)"}),
    ("tolower lowerutf8 lcase to_lower", {"": "LOWER(s)"}),
    ("toupper upperutf8 ucase to_upper", {"": "UPPER(s)"}),
    ("strip trimboth clean", {"": "TRIM(s)"}),
    ("lstrip trimleft", {"": "LTRIM(s)"}),
    ("rstrip trimright", {"": "RTRIM(s)"}),
    ("isin", {"": "s IN ('a', 'b')"}),
    ("isnotempty notempty", {"": "s <> ''"}),
    ("rept", {"": "REPEAT(s, 3)"}),
    ("mid", {"": "SUBSTRING(s, 2, 3)"}),
    ("regexp_contains match", {"spark": "s RLIKE '^a'", "postgres": "s ~ '^a'", "": "s LIKE 'a%'"}),
    ("regexp_matches", {"spark": "s RLIKE '^a'", "postgres": "(REGEXP_MATCH(s, '^a'))[1]", "": "s LIKE 'a%'"}),
    ("json_value json_extract_string get_json_object jsonextractstring jsonextractraw visitparamextractstring"
     " json_unquote json_extract_scalar",
     {"spark": "GET_JSON_OBJECT(s, '$.a')", "duckdb": "s ->> '$.a'", "postgres": "s ->> 'a'"}),
    ("str_split string_split splitbychar textsplit",
     {"spark": "SPLIT(s, ',')", "duckdb": "STRING_SPLIT(s, ',')", "postgres": "STRING_TO_ARRAY(s, ',')"}),
    ("isnull", {"": "COALESCE(x, 0)"}),
    ("unnest", {"spark": "EXPLODE(ARRAY(x, y))"}),
    ("regexp_split_to_table", {"spark": "EXPLODE(SPLIT(s, ','))", "duckdb": "UNNEST(STRING_SPLIT(s, ','))"}),
    ("all", {"": "x > GREATEST(x, y)"}),
    ("total running_total", {"": "SUM(x)"}),
    ("cumsum cum_sum cumulative_sum running_sum row_cumsum", {"": "SUM(x) OVER (ORDER BY t)"}),
    ("cummax cum_max running_max", {"": "MAX(x) OVER (ORDER BY t)"}),
    ("cummin cum_min running_min", {"": "MIN(x) OVER (ORDER BY t)"}),
    ("cumcount row_index", {"": "ROW_NUMBER() OVER (ORDER BY t)"}),
    ("rolling_mean moving_average rolling_avg moving_avg rolling ewm ewma exponentialmovingaverage grouparraymovingavg"
     " avg_over_time movingaverage sma",
     {"": "AVG(x) OVER (ORDER BY t ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)"}),
    ("shift laginframe neighbor prev previous", {"": "LAG(x) OVER (ORDER BY t)"}),
    ("leadinframe next_value", {"": "LEAD(x) OVER (ORDER BY t)"}),
    ("diff deltasum runningdifference delta derivative non_negative_derivative increase rate irate",
     {"": "x - LAG(x) OVER (ORDER BY t)"}),
    ("spread", {"": "MAX(x) - MIN(x)"}),
    ("pct_change percent_change growth", {"": "x / LAG(x) OVER (ORDER BY t) - 1"}),
    ("p50 p90 p95 p99 percentile_90 percentile_95", {"": "PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY x)"}),
    ("value_counts topk approx_top_k", {"": "COUNT(*)"}),
    ("sumproduct", {"": "SUM(x * y)"}),
    ("weighted_avg avgweighted wavg average_weighted", {"": "SUM(x * y) / SUM(y)"}),
    ("geomean geomean_agg", {"": "EXP(AVG(LN(x)))"}),
    ("harmean", {"": "COUNT(x) / SUM(1 / x)"}),
    ("stdev stdevs", {"": "STDDEV_SAMP(x)"}),
    ("stddeviation std_dev", {"": "STDDEV(x)"}),
    ("correlation correl", {"": "CORR(x, y)"}),
    ("covar covariance", {"": "COVAR_SAMP(x, y)"}),
    ("maxif maxifs", {"": "MAX(x) FILTER (WHERE s = 'a')"}),
    ("minif minifs", {"": "MIN(x) FILTER (WHERE s = 'a')"}),
    ("anyif", {"": "BOOL_OR(x > 1)"}),
    ("countdistinctif", {"": "COUNT(DISTINCT x) FILTER (WHERE s = 'a')"}),
    ("latest last_non_null any_last anylast idxmax last_by",
     {"": "MAX_BY(x, t)", "postgres": "(ARRAY_AGG(x ORDER BY t DESC))[1]"}),
    ("earliest first_non_null anyfirst idxmin first_by",
     {"": "MIN_BY(x, t)", "postgres": "(ARRAY_AGG(x ORDER BY t))[1]"}),
    ("bucket cut histogram_bins", {"": "FLOOR(x / 10) * 10"}),
    ("qcut", {"": "NTILE(4) OVER (ORDER BY x)"}),
    ("fillna coalesce_null default_if_null zeroifnull nvl3", {"": "COALESCE(x, 0)"}),
    ("take_any anyheavy any_heavy", {"": "MIN(x)"}),
    ("clip", {"": "LEAST(GREATEST(x, 1), 9)"}),
    ("countblank", {"": "COUNT(*) - COUNT(x)"}),
    ("nullifzero", {"": "NULLIF(x, 0)"}),
    ("dropna notna", {"": "x IS NOT NULL"}),
    ("isna", {"": "x IS NULL"}),
    ("isempty isblank", {"": "s IS NULL OR s = ''"}),
    ("switch_case", {"": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END"}),
    ("div0 div0null safe_div ieee_divide", {"": "x / NULLIF(y, 0)"}),
    ("int_div intdiv quotient", {"spark": "x DIV y", "duckdb": "x // y", "postgres": "DIV(x, y)"}),
    ("modulo", {"": "x % y"}),
    ("rounddown truncate", {"": "FLOOR(x)", "postgres": "TRUNC(x)"}),
    ("roundup ceil_div", {"": "CEIL(x)"}),
    ("mround", {"": "ROUND(x / 5) * 5"}),
    ("str_replace substitute", {"": "REPLACE(s, 'a', 'b')"}),
    ("replace_regex regex_replace regexreplace", {"": "REGEXP_REPLACE(s, '[0-9]+', '')"}),
    ("replace_string replaceall replaceone label_replace", {"": "REPLACE(s, 'a', 'b')"}),
    ("substringutf8", {"": "SUBSTRING(s, 2, 3)"}),
    ("regexmatch like_regex", {"spark": "s RLIKE '^a'", "postgres": "s ~ '^a'", "": "s LIKE 'a%'"}),
    ("replicate repeat_string", {"": "REPEAT(s, 3)"}),
    ("nvl2", {"": "CASE WHEN x IS NOT NULL THEN 'a' ELSE 'b' END"}),
    ("decode", {"": "CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END"}),
    ("iff field elt", {"": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END"}),
    ("strcmp", {"": "s < 'a'"}),
    ("zerofill zfill", {"": "LPAD(s, 5, '0')"}),
    ("proper capitalize title", {"spark": "INITCAP(s)", "postgres": "INITCAP(s)"}),
    ("stuff insert_str", {"": "OVERLAY(s PLACING 'a' FROM 2 FOR 1)", "duckdb": "LEFT(s, 1) || 'a' || SUBSTRING(s, 3)"}),
    ("leftstr", {"": "LEFT(s, 3)"}),
    ("rightstr", {"": "RIGHT(s, 3)"}),
    ("charcode", {"": "ASCII(s)"}),
    ("concatenate join_strings strcat str_concat", {"": "CONCAT(s, '-', s)"}),
    ("contains_ignore_case contains_any positioncaseinsensitive contains_substr", {"": "LOWER(s) LIKE '%a%'"}),
    ("substr_count count_substring occurrences", {"": "LENGTH(s) - LENGTH(REPLACE(s, 'a', ''))"}),
    ("isnumeric isnumber", {"": "TRY_CAST(s AS INT) IS NOT NULL", "postgres": "s ~ '^[0-9]+$'"}),
    ("isdate", {"": "TRY_CAST(s AS DATE) IS NOT NULL", "postgres": "s ~ '^[0-9-]+$'"}),
    ("try_cast_int parse_int str_to_int", {"": "TRY_CAST(s AS INT)", "postgres": "CAST(s AS INT)"}),
    ("to_integer", {"": "CAST(x AS BIGINT)"}),
    ("to_float", {"": "CAST(x AS DOUBLE)", "postgres": "CAST(x AS DOUBLE PRECISION)"}),
    ("to_string to_text", {"": "CAST(x AS STRING)", "duckdb": "CAST(x AS VARCHAR)", "postgres": "CAST(x AS TEXT)"}),
    ("to_bool", {"": "CAST(s AS BOOLEAN)"}),
    ("string_split_regex", {"spark": "SPLIT(s, '[,;]')", "postgres": "REGEXP_SPLIT_TO_ARRAY(s, '[,;]')"}),
    ("arraylength", {"spark": "SIZE(SPLIT(s, ','))", "duckdb": "LEN(STRING_SPLIT(s, ','))",
                     "postgres": "CARDINALITY(STRING_TO_ARRAY(s, ','))"}),
    ("arraymap", {"spark": "TRANSFORM(SPLIT(s, ','), e -> UPPER(e))",
                  "duckdb": "LIST_TRANSFORM(STRING_SPLIT(s, ','), e -> UPPER(e))"}),
    ("arrayfilter", {"spark": "FILTER(SPLIT(s, ','), e -> e > 'a')",
                     "duckdb": "LIST_FILTER(STRING_SPLIT(s, ','), e -> e > 'a')"}),
    ("json_extract_path json_query", {"spark": "GET_JSON_OBJECT(s, '$.a')", "duckdb": "s -> '$.a'"}),
    ("lateral_flatten flatten_json", {"spark": "EXPLODE(SPLIT(s, ','))", "duckdb": "UNNEST(STRING_SPLIT(s, ','))"}),
    ("subdate", {"": "t - INTERVAL '1' DAY"}),
    ("edate addmonths add_months months_add", {"": "t + INTERVAL '1' MONTH"}),
    ("ago", {"": "t > CURRENT_TIMESTAMP - INTERVAL '1' DAY"}),
    ("bin time_slice date_bucket resample datetime_bin", {"": "DATE_TRUNC('hour', t)"}),
    ("tomonday", {"": "DATE_TRUNC('week', t)"}),
    ("toyyyymm", {"spark": "DATE_FORMAT(t, 'yyyyMM')", "duckdb": "STRFTIME(t, '%Y%m')",
                  "postgres": "TO_CHAR(t, 'YYYYMM')"}),
    ("toyyyymmdd", {"spark": "DATE_FORMAT(t, 'yyyyMMdd')", "duckdb": "STRFTIME(t, '%Y%m%d')",
                    "postgres": "TO_CHAR(t, 'YYYYMMDD')"}),
    ("adddate addtime", {"": "t + INTERVAL '1' DAY"}),
    ("subtime", {"": "t - INTERVAL '1' HOUR"}),
    ("startofmonth start_of_month beginning_of_month first_day tostartofmonth", {"": "DATE_TRUNC('month', t)"}),
    ("datetime_trunc trunc_date", {"": "DATE_TRUNC('day', t)"}),
    ("hour_of_day", {"": "EXTRACT(HOUR FROM t)"}),
    ("dow isodow", {"": "EXTRACT(DOW FROM t)"}),
    ("day_name weekday_name datename", {"spark": "DATE_FORMAT(t, 'EEEE')", "duckdb": "DAYNAME(t)",
                                        "postgres": "TO_CHAR(t, 'FMDay')"}),
    ("month_name", {"spark": "DATE_FORMAT(t, 'MMMM')", "duckdb": "MONTHNAME(t)", "postgres": "TO_CHAR(t, 'FMMonth')"}),
    ("days_between datediff_big", {"spark": "DATEDIFF(t, t - INTERVAL '1' DAY)",
                                   "duckdb": "DATE_DIFF('day', t - INTERVAL '1' DAY, t)",
                                   "postgres": "CAST(t AS DATE) - CAST(t AS DATE)"}),
    ("hours_between hours_diff hour_diff",
     {"spark": "TIMESTAMPDIFF(HOUR, t - INTERVAL '1' DAY, t)", "duckdb": "DATE_DIFF('hour', t - INTERVAL '1' DAY, t)",
      "postgres": "EXTRACT(EPOCH FROM t - t) / 3600"}),
    ("minutes_between minutes_diff",
     {"spark": "TIMESTAMPDIFF(MINUTE, t - INTERVAL '1' DAY, t)", "postgres": "EXTRACT(EPOCH FROM t - t) / 60",
      "duckdb": "DATE_DIFF('minute', t - INTERVAL '1' DAY, t)"}),
    ("seconds_between seconds_diff",
     {"spark": "TIMESTAMPDIFF(SECOND, t - INTERVAL '1' DAY, t)", "postgres": "EXTRACT(EPOCH FROM t - t)",
      "duckdb": "DATE_DIFF('second', t - INTERVAL '1' DAY, t)"}),
    ("years_between age_in_years",
     {"spark": "TIMESTAMPDIFF(YEAR, t - INTERVAL '1' DAY, t)", "postgres": "EXTRACT(YEAR FROM AGE(t, t))",
      "duckdb": "DATE_DIFF('year', t - INTERVAL '1' DAY, t)"}),
    ("from_epoch from_unix unix_to_timestamp from_unixtime from_posix_time",
     {"spark": "TIMESTAMP_SECONDS(x)", "postgres": "TO_TIMESTAMP(x)"}),
    ("epoch_seconds to_epoch",
     {"spark": "UNIX_TIMESTAMP(t)", "duckdb": "EPOCH(t)", "postgres": "EXTRACT(EPOCH FROM t)"}),
    ("convert_tz tz_convert at_time_zone convert_timezone",
     {"spark": "FROM_UTC_TIMESTAMP(t, 'Europe/Berlin')", "duckdb": "t AT TIME ZONE 'Europe/Berlin'",
      "postgres": "t AT TIME ZONE 'Europe/Berlin'"}),
    ("now_utc utc_now", {"": "t > CURRENT_TIMESTAMP - INTERVAL '1' DAY"}),
    ("edit_distance editdist levenshtein_distance", {"spark": "LEVENSHTEIN(s, 'a')", "duckdb": "LEVENSHTEIN(s, 'a')"}),
    ("list_contains list_has array_has has",
     {"spark": "ARRAY_CONTAINS(SPLIT(s, ','), 'a')", "duckdb": "LIST_CONTAINS(STRING_SPLIT(s, ','), 'a')"}),
)  # fmt: skip
_FAMILIES: tuple[tuple[str, _Forms], ...] = (
    (
        r"(?:to)?startof(?:the)?(?P<unit>year|quarter|month|week|day|hour|minute|second)",
        {"": "DATE_TRUNC('{unit}', t)"},
    ),
    (
        r"(?:to)?endof(?:the)?(?P<unit>year|quarter|month|week|day|hour)",
        {"": "DATE_TRUNC('{unit}', t) + INTERVAL '1' {UNIT}"},
    ),
    (r"(?:date_?)?add_?(?P<unit>year|month|week|day|hour|minute|second)s", {"": "t + INTERVAL '1' {UNIT}"}),
    (r"(?:subtract|sub)_?(?P<unit>year|month|week|day|hour|minute|second)s", {"": "t - INTERVAL '1' {UNIT}"}),
    (r"(?P<unit>year|month|week|day|hour|minute|second)s_(?P<way>add)", {"": "t + INTERVAL '1' {UNIT}"}),
    (r"(?:to|get|extract)_?(?P<unit>year|quarter|month|week|hour|minute|second)", {"": "EXTRACT({UNIT} FROM t)"}),
    (r"(?P<unit>year|quarter|month|day|hour|minute|second)", {"postgres": "EXTRACT({UNIT} FROM t)"}),
    (r"(?P<unit>month|hour|minute)of(?:year|day|hour)", {"": "EXTRACT({UNIT} FROM t)"}),
    (r"to_?dayofmonth|getday", {"": "EXTRACT(DAY FROM t)"}),
    (r"to_?dayofweek|dayofweekiso", {"": "EXTRACT(DOW FROM t)"}),
    (
        r"(?:approx_?)?(?:quantiles?|percentiles?|quartile)"
        r"(?:exact|tdigest|timing|gk|bfloat16|deterministic|cont|inc|exc|approx)?"
        r"(?:low|high|inclusive|exclusive|weighted|inc)?(?:if)?",
        {"": "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"},
    ),
    (r"uniq(?:exact|combined(?:64)?|hll12|theta|upto)?(?:if)?", {"": "COUNT(DISTINCT x)"}),
    (r"to_?u?int\d*|to_?long|to_?number", {"": "CAST(x AS BIGINT)"}),
    (r"to_?(?:float\d*|double|real)", {"": "CAST(x AS DOUBLE)", "postgres": "CAST(x AS DOUBLE PRECISION)"}),
    (r"to_?(?:decimal\d*|numeric)", {"": "CAST(x AS DECIMAL(15, 2))"}),
    (
        r"try_(?:to_(?:number|numeric|decimal|double|int)|parse)",
        {"": "TRY_CAST(s AS DOUBLE)", "postgres": "CAST(s AS DOUBLE PRECISION)"},
    ),
    (r"to_?datetime(?:64|offset)?", {"": "CAST(s AS TIMESTAMP)"}),
    (r"group_?bit_?(?P<op>and|or|xor)|bit_?(?P<op_>and|or|xor)_?agg", {"": "BIT_AND(x)"}),
)
"""Functions whose names are made of parts, as patterns; a part in braces is that of the name."""
_ADVICE = {
    **dict.fromkeys(("vlookup", "xlookup", "hlookup", "lookup", "merge", "dictget", "joinget"),
                    "a JOIN looks up what another table has: FROM t JOIN u ON t.k = u.k"),
    **dict.fromkeys(("groupby", "group_by"),
                    "GROUP BY stands behind FROM and WHERE: SELECT s, SUM(x) FROM t GROUP BY s"),
    **dict.fromkeys(("sort_values", "sortby", "orderby", "nlargest", "nsmallest", "large", "small", "head", "top"),
                    "ORDER BY and LIMIT stand at the end: SELECT s, x FROM t ORDER BY x DESC LIMIT 3"),
}  # fmt: skip
"""Functions of other systems that are clauses here."""
_SHORTEST = 4
"""Letters of a function's name by which a longer one is known."""
_BY_NAME = {name: forms for names, forms in _SAME for name in names.split()}
_PATTERNS = {re.compile(pattern, re.IGNORECASE): forms for pattern, forms in _FAMILIES}


def of_its_parts(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known function whose name has the same parts, or begins or is a part of the name given.

    Example:
        >>> of_its_parts("RANK_DENSE", ["rank", "dense_rank"]), of_its_parts("UPPERCASE", ["upper", "up"])
        ('did you mean dense_rank?', 'did you mean upper?')
    """
    parts = name.lower().split("_")
    names = sorted({one.lower() for one in known}, key=len, reverse=True)
    same = (one for one in names if sorted(one.split("_")) == sorted(parts))
    joined = "".join(parts)
    within = (
        one for one in names if len(one) >= _SHORTEST and (one in parts or joined.startswith(one.replace("_", "")))
    )
    found = next(same, None) or next(within, None)
    return f"did you mean {found}?" if found else None


def usual_call(name: str, dialect: str) -> str | None:
    """How a dialect writes a function that it does not have by that name, as a hint; ``None`` where none is known.

    Example:
        >>> usual_call("STRFTIME", "spark")
        "the same is written as in DATE_FORMAT(t, 'yyyy-MM-dd')"
    """
    form = _forms(name).get(dialect, _forms(name).get("") if DIALECTS[dialect].exact else None)
    return f"the same is written as in {form}" if form else _ADVICE.get(name.lower())


def _forms(name: str) -> _Forms:
    """The calls that do what a function of that name does elsewhere; none where it is not known."""
    if (forms := _BY_NAME.get(name.lower())) is not None:
        return forms
    found = next(filter(None, (pattern.fullmatch(name) for pattern in _PATTERNS)), None)
    if found is None:
        return {}
    unit = found.groupdict().get("unit", "")
    return {dialect: form.format(unit=unit.lower(), UNIT=unit.upper()) for dialect, form in _PATTERNS[found.re].items()}
