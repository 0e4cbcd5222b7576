"""One record a dialect.

A module asks for what it must know (``source.rules.decimal_quotient``), never which dialect it is. Dialects of the
first tier (``exact``) were compared with the systems that speak them. A text in another one is evaluated where it
means the same there as in Spark, and refused else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.sql.dialect import Dialect, Formats, Preferred, Quotient, Rounding, TruthTexts


def _dialect(name: str, flags: str, **fields: Any) -> Dialect:
    """A record; ``flags``: the fields that are true."""
    given: dict[str, Any] = dict.fromkeys(flags.split(), True) | fields
    return Dialect(name=name, **given)


_ORACLES_OWN = frozenset({"user", "uid", "rownum", "rowid", "level", "ora_rowscn", "sessiontimezone", "dbtimezone"})
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_SPARK = _dialect(
    "spark",
    "exact alias_in_select_list floor_is_integer root_of_negative_is_nan substring_from_zero timestamp_is_instant "
    "names_in_formats takes_patterns_of_rows trunc_by_name interval_texts texts_as_in_spark literals_have_signs "
    "has_binary explodes pivots lists_any_values difference_of_dates_is_interval rounds_intervals half_days_in_times "
    "rows_are_structs ranks_need_order subtracts_times using_takes_first "
    "doubles_quotes operands_commute reads_constant_texts",
    alias_in_order=Preferred.ALIAS,
    byte_collations=frozenset({"UTF8_BINARY"}),
    lacks=frozenset({"DISTINCT ON", "REPLACE behind *"}),
    sign="double",
    second="fraction",
    decimal_digits=(10, 0),
    trunc_to_day=False,
    unit_is_given=False,
    like_escape="\\",
    several_groupings_of_nothing=False,
    arrays_keep_nulls=False,
    differs=False,
    date_diff="whole units",
    intervals={"make_dt_interval": ("DAY", "HOUR", "MINUTE", "SECOND"), "make_ym_interval": ("YEAR", "MONTH")},
)
DUCKDB = _dialect(
    "duckdb",
    "exact aliases_some_columns alias_in_where alias_in_select_list last_alias_counts using_stays_in_place "
    "narrow_literals follows_ieee root_of_negative_is_nan power_of_one_is_one sign_of_nan_is_zero rounds_in_double "
    "length_of_arrays takes_patterns_of_rows offset_in_texts takes_last_instant names_in_formats day_of_week "
    "epoch_is_double full_names_of_days floor_of_integer_is_double concat_skips_nulls array_of_subquery "
    "extremes_skip_nulls count_if_is_sum quantiles_keep_type median_has_frames clock_in_intervals "
    "date_plus_interval_is_time interval_texts isnull_is_operator fields_have_names places_from_one texts_have_places "
    "joined_nulls_are_null finds_beside_nulls generates_series pivots pivots_on json_keys_as_they_are at_time_zone "
    "keeps_offset iso_weeks trailing_commas limits_shares exports_state times_begin_again casts_in_python "
    "rows_are_structs offsets_of_rows joins_have_conditions reserves_words truth_is_number has_age "
    "orders_any_aggregate lists_any_values functions_follow_values has_unsigned",
    counts_rows_as="(a, b)",
    alias_in_order=Preferred.COLUMN,
    column_of_function="",
    byte_collations=frozenset({"BINARY", "C", "POSIX"}),
    keys_are_no_texts=frozenset({"ORDER BY"}),
    decimal_quotient=Quotient.DOUBLE,
    average=Quotient.DOUBLE,
    sign="integer",
    second="whole",
    cast_to_integer=Rounding.BY_TYPE,
    truth_texts=TruthTexts("", "t true y yes 1", "f false n no 0"),
    log="log10",
    separator=",",
    null_separator_is_empty=False,
    time_texts="duckdb",
    made_aggregates="duckdb",
    subtracts_instants=None,
    json_arrows="json_text_in_duckdb",
    date_diff="borders",
    intervals={f"to_{unit.lower()}s": (unit,) for unit in _UNITS},
    formats=Formats.DUCKDB,
    reads_formats_strictly=False,
)
_POSTGRES = _dialect(
    "postgres",
    "intervals_of_postgres joins_have_conditions having_makes_group offsets_of_rows exact names_calls column_of_alias "
    "rounds_integers_as_double power_of_one_is_one sign_of_nan_is_zero nullif_is_widened extract_is_numeric "
    "checks_number_texts offset_in_texts subtracts_instants takes_last_instant names_in_formats quotes_in_formats "
    "day_of_week floor_of_integer_is_double concat_skips_nulls escapes_any_sign aliases_some_columns "
    "substring_by_pattern has_rows has_jsonb has_names texts_escape bytes_have_texts compares_rows "
    "names_usings orders_any_aggregate numeric_keeps_digits writes_values ranks_ignore_frames "
    "array_of_subquery distinct_arrays_are_sorted level_of_subqueries date_plus_interval_is_time clock_in_intervals "
    "interval_texts isnull_is_operator places_from_one arrays_have_dimensions generates_series at_time_zone iso_weeks "
    "bucket_of_date_is_time times_begin_again subtracts_times has_binary groups_by_key reserves_words has_age "
    "distinct_on_begins_order escapes_similar",
    counts_rows_as="(a, b)",
    alias_in_order=Preferred.COLUMN,
    alias_in_having=Preferred.COLUMN,
    column_of_function="",
    second="fraction",
    byte_collations=frozenset({"C", "POSIX", "C.UTF-8", "C.UTF8", "UCS_BASIC", "PG_C_UTF8"}),
    notes_byte_order=True,
    keys_are_no_texts=frozenset({"GROUP BY", "ORDER BY"}),
    lacks=frozenset({"QUALIFY", "alias in HAVING", "EXCEPT behind *", "REPLACE behind *"}),
    decimal_quotient=Quotient.NUMERIC,
    average=Quotient.NUMERIC,
    cast_to_integer=Rounding.BY_TYPE,
    truth_texts=TruthTexts(" \t\n\r\f\v", "t tr tru true y ye yes on 1", "f fa fal fals false n no of off 0"),
    log="log10",
    like_escape="\\",
    has_lambdas=False,
    json_arrows="json_text",
    has_rlike=False,
    formats=Formats.MODEL,
    made_aggregates="postgres",
    time_texts="postgres",
    functions_without_call=frozenset({"user", "current_role", "system_user"}),
)
ORACLE = _dialect(
    "oracle",
    "with_is_recursive empty_text_is_null remainder_by_zero_is_dividend greatest_of_null_is_null substring_from_zero "
    "date_has_time times_by_setting months_keep_last_day compares_rows variance_of_one_is_zero lists_any_values "
    "rounds_intervals",
    sign="double",
    alias_in_having=Preferred.COLUMN,
    group_by_position=False,
    cast_to_integer=Rounding.HALF_AWAY,
    decimal_digits=(38, 10),
    log=None,
    integer_widths=False,
    differs=False,
    formats=Formats.MODEL,
    functions_without_call=_ORACLES_OWN,
)
BIGQUERY = _dialect(
    "bigquery",
    formats=Formats.STRFTIME,
    separator=",",
    null_separator_is_empty=False,
    flags="timestamp_is_instant floor_of_integer_is_double array_of_subquery trailing_commas",
    truth_texts=TruthTexts("", "true", "false"),
    integer_widths=False,
    like_escape="\\",
)
TRINO = _dialect(
    "trino",
    "follows_ieee root_of_negative_is_nan compares_rows",
    truth_texts=TruthTexts("", "t true 1", "f false 0"),
    formats=Formats.MYSQL,
)

DIALECTS: Mapping[str, Dialect] = {
    record.name: record
    for record in (
        *(_SPARK, replace(_SPARK, name="databricks")),
        replace(_SPARK, name="spark2", doubles_quotes=False, reads_constant_texts=False),
        replace(_SPARK, name="hive", doubles_quotes=False, reads_constant_texts=False, greatest_differs=True),
        *(DUCKDB, _POSTGRES, ORACLE, BIGQUERY, TRINO, replace(TRINO, name="presto")),
    )
}
"""The dialects that are read, by their names."""
