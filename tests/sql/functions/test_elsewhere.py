"""Functions of other systems: what a hint names is accepted where it is named."""

from __future__ import annotations

import pytest

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.schema import Schema

SCHEMA = Schema({"T": (("x", INTEGER), ("y", INTEGER), ("s", STRING), ("t", TIMESTAMP))}, times={"T": "t"})
BROUGHT = """
    strftime date_format formatdatetime format_date epoch unixepoch unix_timestamp to_unixtime getdate sysdatetime
    today time_bucket date_bin tostartofhour datetrunc eomonth weeknum todate datefromparts list collect_list
    grouparray textjoin nunique uniq count_distinct countifs sumif averageif stdevp varp quantile_cont
    ratio_to_report choose switch iferror square tostring to_int tofloat64 find patindex indexof strlen mid
    regexp_contains json_value string_split splitbychar unnest regexp_split_to_table list_contains has
    total running_total cumsum cumulative_sum running_sum rolling_mean moving_average rolling_avg moving_avg shift
    diff pct_change p50 p90 p95 p99 percentile_90 percentile_95 value_counts topk approx_top_k weighted_avg
    avgweighted wavg geomean geomean_agg harmean stddeviation std_dev correlation correl covar covariance maxif
    minif anyif countdistinctif latest last_non_null any_last earliest first_non_null bucket cut histogram_bins qcut
    fillna coalesce_null default_if_null zeroifnull nvl3 nullifzero dropna notna isna isempty isblank switch_case
    div0 div0null safe_div int_div quotient modulo rounddown truncate roundup ceil_div mround str_replace substitute
    replace_regex regex_replace regexreplace regexmatch like_regex replicate repeat_string strcmp zerofill proper
    leftstr rightstr charcode concatenate join_strings contains_ignore_case contains_any substr_count
    count_substring occurrences isnumeric isdate try_cast_int parse_int str_to_int to_integer to_float to_string
    to_text to_bool string_split_regex arraylength arraymap arrayfilter json_extract_path json_query lateral_flatten
    flatten_json subdate adddate addtime subtime startofmonth start_of_month beginning_of_month first_day
    tostartofmonth datetime_trunc trunc_date hour_of_day dow isodow day_name weekday_name datename month_name
    days_between datediff_big hours_between hours_diff hour_diff minutes_between minutes_diff seconds_between
    seconds_diff years_between age_in_years from_epoch from_unix unix_to_timestamp epoch_seconds to_epoch convert_tz
    tz_convert at_time_zone convert_timezone now_utc utc_now edit_distance editdist levenshtein_distance
    dateadd date_sub datediff parse_date
    make_list make_set set_agg group_concat dcount hyperloglog assumenotnull nvl2 decode iff strcmp str_len tolower
    toupper strip lstrip rstrip isin isnotempty rept capitalize zfill strcat contains_substr replaceall substringutf8
    isnumber
    row_cumsum cummax cummin cumcount avg_over_time laginframe leadinframe runningdifference spread growth sumproduct
    stdev maxifs minifs anylast earliest take_any clip countblank intdiv ieee_divide edate ago bin tomonday toyyyymm
    toyyyymmdd from_unixtime jsonextractstring startofweek toStartOfMinute endofmonth addDays add_hours subtractDays
    days_add toYear getMonth hourofday toDayOfMonth toDayOfWeek quantileExact quantiles percentiles approx_percentile
    quantileTDigestIf uniqCombined64 toUInt8 tolong to_number toFloat32 todouble toDecimal64 try_to_number try_parse
    toDateTime64 groupBitAnd bit_or_agg
"""


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres", "databricks", "oracle"])
def test_what_a_hint_names_is_accepted(dialect: str) -> None:
    refused = []
    for name in BROUGHT.split():
        form = (usual_call(name, dialect) or "").removeprefix("the same is written as in ")
        try:
            bind(
                f"SELECT x FROM T WHERE {form}" if "CURRENT_" in form else f"SELECT {form or 'x'} FROM T",
                dialect,
                SCHEMA,
            )
        except WorkbenchError as error:
            refused.append(f"{name}: {error}")
    assert not refused, "\n".join(refused)


@pytest.mark.parametrize("call", ["STRFTIME(t, '%Y')", "LIST(x)", "GETDATE()", "nunique(x)", "TextJoin(',', s)"])
def test_an_unknown_function_is_refused_with_the_call_that_is_meant(call: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        bind(f"SELECT {call} FROM T", "spark", SCHEMA)
    assert refused.value.hint == usual_call(call.split("(")[0], "spark")


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("RANK_DENSE(x)", "dense_rank"),
        ("UPPERCASE(s)", "upper"),
        ("STRING_AGG_DISTINCT(s)", "string_agg"),
        ("REGEXP_EXTRACT_FIRST(s, 'a')", "regexp_extract"),
        ("POWER_OF(x)", "power"),
    ],
)
def test_an_unknown_function_is_known_by_the_parts_of_its_name(call: str, meant: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        bind(f"SELECT {call} FROM T", "spark", SCHEMA)
    assert refused.value.hint == f"did you mean {meant}?"
