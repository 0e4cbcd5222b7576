"""The record of a dialect: what a text means where dialects differ, by the name of the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Preferred(Enum):
    """The meaning of an unqualified name that is a column of FROM and an alias of the select list."""

    COLUMN = "column"
    ALIAS = "alias"
    NEITHER = "neither"


class Quotient(Enum):
    """The type of the quotient, and of the average, of exact numbers of which one is a DECIMAL."""

    DECIMAL = "decimal"
    """With the digits that Spark gives it."""
    DOUBLE = "double"
    NUMERIC = "numeric"
    """With as many significant digits as PostgreSQL gives it."""


class Rounding(Enum):
    """How CAST of a number with a fraction to an INTEGER rounds."""

    TOWARDS_ZERO = "towards zero"
    HALF_AWAY = "half away from zero"
    BY_TYPE = "half away from zero of a DECIMAL, half to even of a DOUBLE"


class Formats(Enum):
    """The elements of formats of dates and times."""

    JAVA = "letters of Java's DateTimeFormatter"
    DUCKDB = "strftime as duckdb has it"
    STRFTIME = "strftime"
    MYSQL = "MySQL"
    MODEL = "format models"


@dataclass(frozen=True)
class TruthTexts:
    """The texts that are true and false as BOOLEAN; any other is NULL.

    Attributes:
        trimmed: characters that may stand around them.
        true, false: the texts in lower case, with blanks between them.
    """

    trimmed: str
    true: str
    false: str


def means(meaning: str, default: Any = False) -> Any:
    """A field of a dialect: what it says, of a truth value what holds where it is true; and what most have."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The record of a dialect, by sqlglot's name for it; the defaults hold in most dialects."""

    name: str
    exact: bool = means("it is of the first tier")
    alias_in_where: bool = means("WHERE may use the aliases of the select list")
    alias_in_select_list: bool = means("an item of the select list may use the aliases before it")
    last_alias_counts: bool = means("an alias that stands twice means the last item; else it is refused where used")
    alias_in_order: Preferred = means(
        "a name in an expression of ORDER BY that is a column and an alias", Preferred.NEITHER
    )
    alias_in_having: Preferred = means("such a name in HAVING", Preferred.NEITHER)
    keys_are_no_texts: frozenset[str] = means("clauses without constant texts, as all rows have the same", frozenset())
    lacks: frozenset[str] = means("clauses that are read though the database does not have them", frozenset())
    group_by_position: bool = means("GROUP BY 1 means the first item of the select list", True)
    names_calls: bool = means("a call without an alias is called like its function")
    with_is_recursive: bool = means("WITH may be recursive without the word")
    aliases_some_columns: bool = means("an alias in FROM may have names for the first columns alone")
    using_stays_in_place: bool = means("the columns of USING stand where the left side has them, and not before all")
    using_takes_first: bool = means("USING takes the first of several columns of that name; else they are ambiguous")
    distinct_on_begins_order: bool = means("ORDER BY must begin with the columns of DISTINCT ON")
    column_of_function: str = means('what a function in FROM calls its only column; "": as itself', "col")
    column_of_alias: bool = means("the alias of a function in FROM is the name of its only column, too")
    empty_text_is_null: bool = means("'' is NULL")
    byte_collations: frozenset[str] = means("read collations, in capitals, all by bytes", frozenset())
    notes_byte_order: bool = means("databases may order texts otherwise without COLLATE; said where it matters")
    integer_widths: bool = means("INTEGER, SMALLINT and BIGINT have 32, 16 and 64 bits; else one type has all", True)
    narrow_literals: bool = means("a whole number takes the type of what stands beside it")
    decimal_quotient: Quotient = means("of what type the quotient of a DECIMAL is", Quotient.DECIMAL)
    average: Quotient = means("of what type the average of exact numbers is", Quotient.DECIMAL)
    floor_is_integer: bool = means("FLOOR and CEIL of a DOUBLE are INTEGER")
    floor_of_integer_is_double: bool = means("they are DOUBLE of an INTEGER")
    rounds_integers_as_double: bool = means("ROUND, TRUNC and SIGN of an INTEGER are DOUBLE, and to digits DECIMAL")
    follows_ieee: bool = means("quotients, remainders and logarithms of DOUBLE may be infinite or NaN; else NULL")
    root_of_negative_is_nan: bool = means("SQRT of a negative number is NaN; else it is NULL")
    power_of_one_is_one: bool = means("POWER of 1, and of -1 to an infinite number, is 1; else it may be NaN")
    sign: str = means('the type of SIGN, "double" or "integer"; "": that of its argument', "")
    sign_of_nan_is_zero: bool = means("SIGN of NaN is 0; else NaN")
    nullif_is_widened: bool = means("NULLIF, and LAG with a default, are of the type of both; else of the first")
    second: str = means('what EXTRACT(SECOND …) is, "whole" or with a "fraction"; "": it is refused', "")
    extract_is_numeric: bool = means("EXTRACT is a DECIMAL, and DATE_PART a DOUBLE; else they are INTEGER")
    rounds_in_double: bool = means("ROUND of a DOUBLE is computed in DOUBLE; else by its digits")
    cast_to_integer: Rounding = means("what CAST of a number with a fraction to an INTEGER does", Rounding.TOWARDS_ZERO)
    casts_in_python: bool = means("texts are cast to numbers, and numbers to texts, by functions of Python")
    checks_number_texts: bool = means("a text is a number only where it is written as one of the SQL standard")
    truth_texts: TruthTexts | None = means("what is true and false as BOOLEAN; ``None``: as in Spark", None)
    decimal_digits: tuple[int, int] | None = means("those of DECIMAL without digits; ``None``: it is refused", None)
    numeric_keeps_digits: bool = means("DECIMAL without digits keeps those that a number has")
    groups_by_key: bool = means("columns of a table whose key is among the groups are, too")
    writes_values: bool = means("texts of a DECIMAL of few digits, a truth value and a TIMESTAMP are as in spark")
    remainder_by_zero_is_dividend: bool = means("MOD(x, 0) is x; else NULL")
    greatest_of_null_is_null: bool = means("GREATEST and LEAST are NULL where an argument is; else they pass over it")
    log: str | None = means("the function that LOG of one argument is; ``None``: it is refused", "ln")
    substring_from_zero: bool = means("position 0 of SUBSTR means 1")
    length_of_arrays: bool = means("LENGTH takes arrays")
    offset_in_texts: bool = means("the text of a TIMESTAMP WITH TIME ZONE has its offset")
    timestamp_is_instant: bool = means("a TIMESTAMP is what the session's clock shows at an instant")
    subtracts_instants: bool | None = means("instants differ by the time that passes; else by clocks; None: by both")
    takes_last_instant: bool = means("a time that a clock shows twice is the last of the two instants; else the first")
    date_has_time: bool = means("a DATE has a time of the day")
    times_by_setting: bool = means("texts of times, and the first day of a week, depend on the database's settings")
    formats: Formats = means("the elements of formats", Formats.JAVA)
    time_texts: str = means('whose casts read texts as times, "duckdb" or "postgres"; "": those of Spark', "")
    quotes_in_formats: bool = means("a text in double quotes stands for itself in a format")
    reads_formats_strictly: bool = means("a text must have as many digits as a format says", True)
    names_in_formats: bool = means("formats with names of months and days were compared")
    day_of_week: bool = means("EXTRACT has DOW and ISODOW")
    epoch_is_double: bool = means("EXTRACT(EPOCH …) is a DOUBLE")
    trunc_by_name: bool = means("TRUNC is of dates and DATE_TRUNC of timestamps, whatever the parser took them for")
    trunc_to_day: bool = means("TRUNC(d, 'DAY') is the day; else it is NULL", True)
    unit_is_given: bool = means("a unit that the parser has was written; else it adds one", True)
    months_keep_last_day: bool = means("ADD_MONTHS moves the last day of a month to the last day of a month")
    full_names_of_days: bool = means("DAYNAME and MONTHNAME give whole words; else three letters")
    concat_skips_nulls: bool = means("CONCAT leaves NULL out")
    substring_by_pattern: bool = means("SUBSTRING of a text in quotes is the match of a regular expression")
    has_unsigned: bool = means("UTINYINT, USMALLINT and UINTEGER are types")
    functions_follow_values: bool = means("x.f(y) is f(x, y)")
    has_rows: bool = means("ROW(a, b), ranks WITHIN GROUP and ORDER BY x USING > are read")
    names_usings: bool = means("``USING (k) AS j`` gives the columns of USING a name")
    orders_any_aggregate: bool = means("ORDER BY may stand within an aggregate whose answer depends on no order")
    has_jsonb: bool = means("the type JSONB is, with its operators")
    has_names: bool = means("the type NAME is that of texts of 63 bytes")
    texts_escape: bool = means("``E'…'`` is a text")
    bytes_have_texts: bool = means("a BINARY is cast to its digits and back; else to the text of these bytes")
    compares_rows: bool = means("``(a, b) = (c, d)`` is NULL where a part is")
    rows_are_structs: bool = means("``(a, b) = (c, d)`` compares structs, of which a NULL equals a NULL")
    reads_constant_texts: bool = means("a constant text beside a number is one, and LIKE takes numbers")
    like_escape: str | None = means("what LIKE escapes with unless ESCAPE says otherwise", None)
    escapes_any_sign: bool = means("what LIKE escapes with may stand before any sign, or be nothing")
    escapes_similar: bool = means("SIMILAR TO takes ESCAPE")
    takes_patterns_of_rows: bool = means("LIKE with a pattern of the row was compared")
    several_groupings_of_nothing: bool = means("ROLLUP, CUBE and GROUPING SETS of no rows give the grand total", True)
    ranks_need_order: bool = means("ORDER BY stands in OVER of ranks and neighbours; else they go by rows as they come")
    ranks_ignore_frames: bool = means("a frame may stand behind ranks and neighbours, which do not go by it")
    offsets_of_rows: bool = means("LAG, LEAD and NTH_VALUE take a number of the row, or a negative one")
    having_makes_group: bool = means("HAVING alone makes one group of all rows")
    operands_commute: bool = means("groups that differ in the order of operands, ``a + b`` and ``b + a``, are one")
    array_of_subquery: bool = means("ARRAY(SELECT …) is an array of the rows")
    arrays_keep_nulls: bool = means("ARRAY_AGG keeps NULL, and is NULL of no rows; else it has none, and is []", True)
    distinct_arrays_are_sorted: bool = means("ARRAY_AGG and LISTAGG of DISTINCT values are in their order")
    level_of_subqueries: bool = means("an aggregate is the outer query's where only a subquery in it reads columns")
    made_aggregates: str = means("whose aggregates are written as others (``shorthands``)", "")
    extremes_skip_nulls: bool = means("MIN_BY and MAX_BY pass over rows whose value is NULL")
    counts_rows_as: str = means('how several values are written as one for COUNT(DISTINCT …); "": it takes several', "")
    count_if_is_sum: bool = means("COUNT_IF is the sum of ones and zeros, which is NULL of no rows")
    quantiles_keep_type: bool = means("MEDIAN and QUANTILE_CONT of a DECIMAL are one, and of a DATE a TIMESTAMP")
    median_has_frames: bool = means("MEDIAN and other quantiles are computed over frames")
    separator: str = means("what STRING_AGG and its like put between texts unless they say it", "")
    null_separator_is_empty: bool = means("texts are joined without a separator that is NULL; else to NULL", True)
    variance_of_one_is_zero: bool = means("VARIANCE and STDDEV of one row are 0; else NULL")
    date_plus_interval_is_time: bool = means("a DATE plus an interval is a TIMESTAMP whatever the interval")
    clock_in_intervals: bool = means("the text of an interval may have a time of the day, and ``x::interval`` is one")
    interval_texts: bool = means("intervals of one text were compared")
    intervals_of_postgres: bool = means("texts of intervals may be of ISO 8601, ``1-2``, end with ago, have fractions")
    differs: bool = means("what is evaluated may differ there (``binder.differences``)", True)
    greatest_differs: bool = means("GREATEST and LEAST, in which NULLs differ, are refused")
    functions_without_call: frozenset[str] = means("names that are calls without parentheses", frozenset())
    trailing_commas: bool = means("a comma may end a list")
    reserves_words: bool = means("ORDER and GROUP name no tables, texts follow no texts on a line, 1_000 is a number")
    truth_is_number: bool = means("a BOOLEAN beside a number is compared as 0 or 1")
    limits_shares: bool = means("LIMIT takes a share of the rows, in percent")
    joins_have_conditions: bool = means("a JOIN has ON or USING; else it may pair all rows")
    doubles_quotes: bool = means("a quote that stands twice in a text in quotes is one")
    has_rlike: bool = means("RLIKE and its like are operators; else they may be names", True)
    exports_state: bool = means("EXPORT_STATE may stand behind an aggregate, which is refused")
    has_lambdas: bool = means("``x -> …`` is a lambda, also in arguments; else the arrow reads JSON", True)
    isnull_is_operator: bool = means("ISNULL and NOTNULL stand behind a value")
    texts_as_in_spark: bool = means("RIGHT and SPLIT_PART are read of all arguments; else of constant numbers")
    literals_have_signs: bool = means("a minus sign is part of the number behind it, which so has fewer bits")
    has_binary: bool = means("there is the type BINARY")
    fields_have_names: bool = means("every field of a struct is given a name")
    places_from_one: bool = means("places of arrays, which are constants, begin with 1; = ANY and <> ALL take arrays")
    texts_have_places: bool = means("``s[1]`` and ``s[1:2]`` are characters of a text")
    arrays_have_dimensions: bool = means("arrays of arrays have several dimensions, each with a length that is not 0")
    joined_nulls_are_null: bool = means("ARRAY_TO_STRING of an array of NULLs is NULL")
    finds_beside_nulls: bool = means("ARRAY_CONTAINS is false, and not NULL, of a value that is not among NULLs")
    explodes: bool = means("EXPLODE and SEQUENCE are as in spark, with places, maps, and steps by the ends")
    generates_series: bool = means("there is GENERATE_SERIES, and texts are steps of times")
    pivots: bool = means("PIVOT and UNPIVOT were compared")
    pivots_on: bool = means("PIVOT … ON is read; names are kept as they are spelled, and a count of no rows is 0")
    lists_any_values: bool = means("LISTAGG takes values that databases write differently")
    json_arrows: str = means("the function that ``j->>'a'`` is; \"\": it is refused", "")
    json_keys_as_they_are: bool = means("a key is all that stands behind an arrow, unless it begins with $")
    at_time_zone: bool = means("AT TIME ZONE is read")
    keeps_offset: bool = means("an instant that is moved keeps the offset of the zone")
    iso_weeks: bool = means("weeks are those of ISO 8601, and days of the week count from 0 on Sunday")
    date_diff: str = means('what DATEDIFF of a unit counts, "whole units" or "borders" of units; "": days alone', "")
    bucket_of_date_is_time: bool = means("a DATE in DATE_BIN is a TIMESTAMP")
    difference_of_dates_is_interval: bool = means("EXTRACT(DAY FROM d - e) is read")
    rounds_intervals: bool = means("intervals are multiplied and divided as in spark")
    half_days_in_times: bool = means("texts of TIME may end with AM or PM, and their digits are cut off, as in spark")
    times_begin_again: bool = means("a TIME beyond the day is one of the next, DATE plus TIME a TIMESTAMP; else NULL")
    has_age: bool = means("AGE is there, whose years and months are read")
    subtracts_times: bool = means("the difference of two TIMEs is an interval")
    intervals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Functions that make intervals, each with the units of its arguments."""
