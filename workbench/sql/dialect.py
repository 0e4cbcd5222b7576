"""The record of a dialect: what a text means where dialects differ, by the name of the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


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


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The record of a dialect; the defaults are those of most.

    Attributes:
        name, exact: sqlglot's name; whether it is of the first tier.
        alias_in_where: whether WHERE may use the aliases of the select list.
        alias_in_select_list: whether an item of the select list may use the aliases before it.
        last_alias_counts: whether an alias that stands twice means the last item; else it is refused where it is used.
        alias_in_order: what a name inside an expression of ORDER BY means that is a column and an alias.
        alias_in_having: what it means in HAVING.
        keys_are_no_texts: the clauses in which a constant text is refused, since it has the same value in all rows.
        lacks: clauses that are read though the database does not have them.
        group_by_position: whether GROUP BY 1 means the first item of the select list.
        names_calls: whether a call without an alias is called like its function.
        with_is_recursive: whether WITH may be recursive without the word.
        aliases_some_columns: whether an alias in FROM may have names for the first columns alone.
        using_stays_in_place: whether the columns of USING stand where the left side has them, and not before all.
        using_takes_first: whether USING takes the first of several columns of that name; else they are ambiguous.
        distinct_on_begins_order: whether ORDER BY must begin with the columns of DISTINCT ON.
        column_of_function: what a function in FROM calls its only column: this, or "" for what the function is called.
        column_of_alias: whether the alias of a function in FROM is the name of its only column, too.
        empty_text_is_null: whether '' is NULL.
        byte_collations: the collations, in capitals, by which texts are ordered here, by bytes; others are refused.
        notes_byte_order: whether databases may order texts otherwise without COLLATE, which is said where it matters.
        integer_widths: whether INTEGER, SMALLINT and BIGINT have 32, 16 and 64 bits; else one type has all.
        narrow_literals: whether a whole number takes the type of what stands beside it.
        decimal_quotient: of what type the quotient of a DECIMAL is.
        average: of what type the average of exact numbers is.
        floor_is_integer: whether FLOOR and CEIL of a DOUBLE are INTEGER.
        floor_of_integer_is_double: whether they are DOUBLE of an INTEGER.
        rounds_integers_as_double: whether ROUND, TRUNC and SIGN of an INTEGER are DOUBLE, and to digits DECIMAL.
        follows_ieee: whether quotients, remainders and logarithms of DOUBLE may be infinite or NaN; else they are NULL.
        root_of_negative_is_nan: whether SQRT of a negative number is NaN; else it is NULL.
        power_of_one_is_one: whether POWER of 1, and of -1 to an infinite number, is 1; else it may be NaN.
        sign: the type of SIGN, "double" or "integer"; "": that of its argument.
        sign_of_nan_is_zero: whether SIGN of NaN is 0; else NaN.
        nullif_is_widened: whether NULLIF, and LAG with a default, are of the type of both; else of that of the first.
        second: what EXTRACT(SECOND …) is, "whole" or with a "fraction"; "": it is refused.
        extract_is_numeric: whether EXTRACT is a DECIMAL, and DATE_PART a DOUBLE; else they are INTEGER.
        rounds_in_double: whether ROUND of a DOUBLE is computed in DOUBLE; else by its digits.
        cast_to_integer: what CAST of a number with a fraction to an INTEGER does.
        casts_in_python: whether texts are cast to numbers, and numbers to texts, by functions of Python.
        checks_number_texts: whether a text is a number only where it is written as one of the SQL standard.
        truth_texts: what is true and false as BOOLEAN; ``None``: as in Spark.
        decimal_digits: those of DECIMAL without digits; ``None``: it is refused.
        numeric_keeps_digits: whether DECIMAL without digits keeps those that a number has.
        groups_by_key: whether columns of a table whose key is among the groups are, too.
        writes_values: whether the text of a DECIMAL of few digits, of a truth value and of a TIMESTAMP is as in spark.
        remainder_by_zero_is_dividend: whether MOD(x, 0) is x; else NULL.
        greatest_of_null_is_null: whether GREATEST and LEAST are NULL where an argument is; else they pass over it.
        log: the function that LOG of one argument is; ``None``: it is refused.
        substring_from_zero: whether position 0 of SUBSTR means 1.
        substring_by_pattern: whether SUBSTRING of a text in quotes is the match of a regular expression.
        length_of_arrays: whether LENGTH takes arrays.
        offset_in_texts: whether the text of a TIMESTAMP WITH TIME ZONE has its offset.
        timestamp_is_instant: whether a TIMESTAMP is what the session's clock shows at an instant.
        subtracts_instants: whether instants differ by the time that passes; else by clocks; ``None``: some of both.
        takes_last_instant: whether a time that a clock shows twice is the last of the two instants; else the first.
        date_has_time: whether a DATE has a time of the day.
        times_by_setting: whether texts of times, and the first day of a week, depend on the database's settings.
        formats: the elements of formats.
        quotes_in_formats: whether a text in double quotes stands for itself in a format.
        reads_formats_strictly: whether a text must have as many digits as a format says.
        names_in_formats: whether formats with names of months and days were compared.
        day_of_week: whether EXTRACT has DOW and ISODOW.
        epoch_is_double: whether EXTRACT(EPOCH …) is a DOUBLE.
        trunc_by_name: whether TRUNC is of dates and DATE_TRUNC of timestamps, whatever the parser took them for.
        trunc_to_day: whether TRUNC(d, 'DAY') is the day; else it is NULL.
        unit_is_given: whether a unit that the parser has was written; else it adds one.
        months_keep_last_day: whether ADD_MONTHS moves the last day of a month to the last day of a month.
        full_names_of_days: whether DAYNAME and MONTHNAME give whole words; else three letters.
        concat_skips_nulls: whether CONCAT leaves NULL out.
        has_rows: whether ROW(a, b), ranks WITHIN GROUP and ORDER BY x USING > are read.
        names_usings: whether ``USING (k) AS j`` gives the columns of USING a name.
        orders_any_aggregate: whether ORDER BY may stand within an aggregate whose answer depends on no order.
        has_jsonb: whether the type JSONB is, with its operators.
        has_names: whether the type NAME is that of texts of 63 bytes.
        texts_escape: whether ``E'…'`` is a text.
        bytes_have_texts: whether a BINARY is cast to its digits and back; else to the text of these bytes.
        compares_rows: whether ``(a, b) = (c, d)`` is NULL where a part is; else rows are structs with equal NULLs.
        reads_constant_texts: whether a constant text beside a number is one, and LIKE takes numbers.
        like_escape: what LIKE escapes with unless ESCAPE says otherwise.
        escapes_any_sign: whether what LIKE escapes with may stand before any sign, or be nothing.
        escapes_similar: whether SIMILAR TO takes ESCAPE.
        takes_patterns_of_rows: whether LIKE with a pattern of the row was compared.
        several_groupings_of_nothing: whether ROLLUP, CUBE and GROUPING SETS of no rows have the row of the grand total.
        ranks_need_order: whether ORDER BY stands in OVER of ranks and neighbours; else they go by rows as they come.
        ranks_ignore_frames: whether a frame may stand behind ranks and neighbours, which do not go by it.
        offsets_of_rows: whether LAG, LEAD and NTH_VALUE take a number of the row, or a negative one.
        having_makes_group: whether HAVING alone makes one group of all rows.
        operands_commute: whether groups that differ in the order of operands alone, ``a + b`` and ``b + a``, are one.
        array_of_subquery: whether ARRAY(SELECT …) is an array of the rows.
        arrays_keep_nulls: whether ARRAY_AGG keeps NULL, and is NULL of no rows; else it has none, and no rows are [].
        distinct_arrays_are_sorted: whether ARRAY_AGG and LISTAGG of DISTINCT values are in their order.
        level_of_subqueries: whether an aggregate is one of the outer query where only a subquery in it reads columns.
        made_aggregates: whose aggregates are written as others, and as functions of a group's list (``shorthands``).
        extremes_skip_nulls: whether MIN_BY and MAX_BY pass over rows whose value is NULL.
        counts_rows_as: how several values are written as one for COUNT(DISTINCT …); "": it takes several.
        count_if_is_sum: whether COUNT_IF is the sum of ones and zeros, which is NULL of no rows.
        median_cuts_decimals: whether MEDIAN of a DECIMAL loses digits.
        median_has_frames: whether MEDIAN and other quantiles are computed over frames.
        null_separator_is_empty: whether texts are joined without a separator where it is NULL; else they give NULL.
        separator: what STRING_AGG, LISTAGG and GROUP_CONCAT put between two texts where they name no separator.
        variance_of_one_is_zero: whether VARIANCE and STDDEV of one row are 0; else NULL.
        date_plus_interval_is_time: whether a DATE plus an interval is a TIMESTAMP whatever the interval.
        clock_in_intervals: whether the text of an interval may have a time of the day, and ``x::interval`` is one.
        interval_texts: whether intervals of one text were compared.
        intervals_of_postgres: whether texts of intervals may be of ISO 8601, ``1-2``, end with ago, have fractions.
        differs: whether what is evaluated may mean something else there, which is refused by ``binder.differences``.
        greatest_differs: whether GREATEST and LEAST, in which NULLs differ, are refused.
        functions_without_call: names that are functions without parentheses, whatever columns there are.
        trailing_commas: whether a comma may end a list.
        reserves_words: whether it reads as PostgreSQL does: ORDER and GROUP are no names of tables, a text follows no
            text on its line, and 1_000 is a number.
        truth_is_number: whether a BOOLEAN beside a number is compared as 0 or 1.
        limits_shares: whether LIMIT takes a share of the rows, in percent.
        joins_have_conditions: whether a JOIN has ON or USING; else it may pair all rows.
        doubles_quotes: whether a quote that stands twice in a text in quotes is one.
        has_rlike: whether RLIKE and its like are operators; else they may be names.
        exports_state: whether EXPORT_STATE may stand behind an aggregate, which is refused.
        has_lambdas: whether ``x -> …`` is a lambda, also in arguments; else the arrow reads JSON.
        isnull_is_operator: whether ISNULL and NOTNULL stand behind a value.
        texts_as_in_spark: whether RIGHT and SPLIT_PART are read of all arguments; else of constant numbers.
        literals_have_signs: whether a minus sign is part of the number behind it, which so has fewer bits.
        has_binary: whether there is the type BINARY.
        fields_have_names: whether every field of a struct is given a name.
        places_from_one: whether places of arrays, which are constants, begin with 1; = ANY and <> ALL take arrays.
        texts_have_places: whether ``s[1]`` and ``s[1:2]`` are characters of a text.
        arrays_have_dimensions: whether arrays of arrays are of several dimensions, each with a length; no length is 0.
        joined_nulls_are_null: whether ARRAY_TO_STRING of an array of NULLs is NULL.
        finds_beside_nulls: whether ARRAY_CONTAINS is false, and not NULL, of a value that is not among NULLs.
        explodes: whether EXPLODE and SEQUENCE are as in spark, with places, maps, and steps by the ends.
        generates_series: whether there is GENERATE_SERIES, and texts are steps of times.
        pivots: whether PIVOT and UNPIVOT were compared.
        pivots_on: whether PIVOT … ON is read; names are kept as they are spelled, and a count of no rows is 0.
        lists_any_values: whether LISTAGG takes values that databases write differently.
        json_arrows: the function that ``j->>'a'`` is; "": it is refused.
        json_keys_as_they_are: whether a key is all that stands behind an arrow, unless it begins with $.
        at_time_zone: whether AT TIME ZONE is read.
        keeps_offset: whether an instant that is moved keeps the offset of the zone.
        iso_weeks: whether weeks are those of ISO 8601, and days of the week count from 0 on Sunday.
        date_diff: what DATEDIFF of a unit counts, "whole units" or "borders" of units; "": days alone.
        bucket_of_date_is_time: whether a DATE in DATE_BIN is a TIMESTAMP.
        difference_of_dates_is_interval: whether EXTRACT(DAY FROM d - e) is read.
        rounds_intervals: whether intervals are multiplied and divided as in spark.
        half_days_in_times: whether the text of a TIME may end with AM or PM, and its digits are cut off, as in spark.
        times_begin_again: whether a TIME beyond the day is one of the next, DATE plus TIME a TIMESTAMP; else NULL.
        has_age: whether AGE is there, whose years and months are read.
        subtracts_times: whether the difference of two TIMEs is an interval.
        intervals: functions that make intervals, each with the units of its arguments.
    """

    name: str
    exact: bool = False
    alias_in_where: bool = False
    alias_in_select_list: bool = False
    last_alias_counts: bool = False
    alias_in_order: Preferred = Preferred.NEITHER
    alias_in_having: Preferred = Preferred.NEITHER
    keys_are_no_texts: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    group_by_position: bool = True
    names_calls: bool = False
    with_is_recursive: bool = False
    aliases_some_columns: bool = False
    using_stays_in_place: bool = False
    using_takes_first: bool = False
    distinct_on_begins_order: bool = False
    column_of_function: str = "col"
    column_of_alias: bool = False
    empty_text_is_null: bool = False
    byte_collations: frozenset[str] = frozenset()
    notes_byte_order: bool = False
    integer_widths: bool = True
    narrow_literals: bool = False
    decimal_quotient: Quotient = Quotient.DECIMAL
    average: Quotient = Quotient.DECIMAL
    floor_is_integer: bool = False
    floor_of_integer_is_double: bool = False
    rounds_integers_as_double: bool = False
    follows_ieee: bool = False
    root_of_negative_is_nan: bool = False
    power_of_one_is_one: bool = False
    sign: str = ""
    sign_of_nan_is_zero: bool = False
    nullif_is_widened: bool = False
    second: str = ""
    extract_is_numeric: bool = False
    rounds_in_double: bool = False
    cast_to_integer: Rounding = Rounding.TOWARDS_ZERO
    casts_in_python: bool = False
    checks_number_texts: bool = False
    truth_texts: TruthTexts | None = None
    decimal_digits: tuple[int, int] | None = None
    numeric_keeps_digits: bool = False
    groups_by_key: bool = False
    writes_values: bool = False
    remainder_by_zero_is_dividend: bool = False
    greatest_of_null_is_null: bool = False
    log: str | None = "ln"
    substring_from_zero: bool = False
    length_of_arrays: bool = False
    offset_in_texts: bool = False
    timestamp_is_instant: bool = False
    subtracts_instants: bool | None = False
    takes_last_instant: bool = False
    date_has_time: bool = False
    times_by_setting: bool = False
    formats: Formats = Formats.JAVA
    quotes_in_formats: bool = False
    reads_formats_strictly: bool = True
    names_in_formats: bool = False
    day_of_week: bool = False
    epoch_is_double: bool = False
    trunc_by_name: bool = False
    trunc_to_day: bool = True
    unit_is_given: bool = True
    months_keep_last_day: bool = False
    full_names_of_days: bool = False
    concat_skips_nulls: bool = False
    substring_by_pattern: bool = False
    has_rows: bool = False
    names_usings: bool = False
    orders_any_aggregate: bool = False
    has_jsonb: bool = False
    has_names: bool = False
    texts_escape: bool = False
    bytes_have_texts: bool = False
    compares_rows: bool = False
    reads_constant_texts: bool = False
    like_escape: str | None = None
    escapes_any_sign: bool = False
    escapes_similar: bool = False
    takes_patterns_of_rows: bool = False
    several_groupings_of_nothing: bool = True
    ranks_need_order: bool = False
    ranks_ignore_frames: bool = False
    offsets_of_rows: bool = False
    having_makes_group: bool = False
    operands_commute: bool = False
    array_of_subquery: bool = False
    arrays_keep_nulls: bool = True
    distinct_arrays_are_sorted: bool = False
    level_of_subqueries: bool = False
    made_aggregates: str = ""
    extremes_skip_nulls: bool = False
    counts_rows_as: str = ""
    count_if_is_sum: bool = False
    median_cuts_decimals: bool = False
    median_has_frames: bool = False
    separator: str = ""
    null_separator_is_empty: bool = True
    variance_of_one_is_zero: bool = False
    date_plus_interval_is_time: bool = False
    clock_in_intervals: bool = False
    interval_texts: bool = False
    intervals_of_postgres: bool = False
    differs: bool = True
    greatest_differs: bool = False
    functions_without_call: frozenset[str] = frozenset()
    trailing_commas: bool = False
    reserves_words: bool = False
    truth_is_number: bool = False
    limits_shares: bool = False
    joins_have_conditions: bool = False
    doubles_quotes: bool = False
    has_rlike: bool = True
    exports_state: bool = False
    has_lambdas: bool = True
    isnull_is_operator: bool = False
    texts_as_in_spark: bool = False
    literals_have_signs: bool = False
    has_binary: bool = False
    fields_have_names: bool = False
    places_from_one: bool = False
    texts_have_places: bool = False
    arrays_have_dimensions: bool = False
    joined_nulls_are_null: bool = False
    finds_beside_nulls: bool = False
    explodes: bool = False
    generates_series: bool = False
    pivots: bool = False
    pivots_on: bool = False
    lists_any_values: bool = False
    json_arrows: str = ""
    json_keys_as_they_are: bool = False
    at_time_zone: bool = False
    keeps_offset: bool = False
    iso_weeks: bool = False
    date_diff: str = ""
    bucket_of_date_is_time: bool = False
    difference_of_dates_is_interval: bool = False
    rounds_intervals: bool = False
    half_days_in_times: bool = False
    times_begin_again: bool = False
    has_age: bool = False
    subtracts_times: bool = False
    intervals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
