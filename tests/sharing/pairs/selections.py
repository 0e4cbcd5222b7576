"""Conditions on one stream."""

from __future__ import annotations

from dataclasses import replace

from sharing.pairs.pair import ABOVE, BELOW, BESIDE, Pair, same

from workbench.sharing.decisions import Rule


def conditions(title: str, first: str, second: str, says: str = "") -> Pair:
    """Two conditions on F that are one node."""
    return same(title, f"SELECT id FROM F WHERE {first}", f"SELECT src FROM F WHERE {second}", says)


def within(title: str, first: str, second: str) -> Pair:
    """Two conditions on F: the second is a selection below the first."""
    return Pair(title, f"SELECT id FROM F WHERE {first}", f"SELECT id FROM F WHERE {second}", BELOW, 1, Rule.EQUAL)


def apart(title: str, first: str, second: str, says: str = "") -> Pair:
    """Two conditions on F that have nothing in common but the stream."""
    return Pair(title, f"SELECT id FROM F WHERE {first}", f"SELECT id FROM F WHERE {second}", BESIDE, 1, Rule.NEW, says)


_AFTER = "(CAST(day AS TIMESTAMP) - TIMESTAMP '2002-01-01 00:00:00')"

_DAY, _MONTH = "CAST(day AS TIMESTAMP)", "DATE_TRUNC('MONTH', day)"
_HOUR, _90_MINUTES, _2_DAYS = "INTERVAL '1' HOUR", "INTERVAL '90' MINUTE", "INTERVAL '2' DAY"

_MONTHS, _TIME = "INTERVAL '1' MONTH * code", f"CAST({_DAY} AS TIME)"

SELECTIONS = [
    conditions("swapped conjuncts", "code = 1 AND amount > 5", "amount > 5 AND code = 1"),
    conditions("flipped comparison", "amount > 5", "5 < amount"),
    conditions("scaled comparison", "amount > 5", "amount * 2 > 10"),
    conditions("divided by a negative number", "code < 3", "-2 * code > -6"),
    conditions("shifted comparison", "code > 2", "code + 1 > 3"),
    conditions("whole numbers have no value between", "code > 2", "code >= 3"),
    conditions("nor do amounts between two cents", "amount > 5", "amount >= 5.01"),
    conditions("an end between two values is rounded to the next one", "code > 2", "code > 2.5"),
    conditions("arithmetic over two columns", "code - id > 1", "id + 1 < code"),
    conditions("a common factor", "2 * code - 2 * id > 2", "code - id > 1"),
    conditions("date arithmetic", "day > DATE '2002-01-02'", "day + 3 > DATE '2002-01-05'"),
    conditions("a number as text", "code = 3", "code = '3'"),
    conditions("an amount as text", "amount >= 10.5", "amount >= '10.50'"),
    conditions("a date as text", "day >= DATE '2002-01-02'", "day >= '2002-01-02'"),
    conditions("an interval in other units", f"{_AFTER} > INTERVAL '1' DAY", f"{_AFTER} > INTERVAL '24' HOUR"),
    conditions("an interval that is moved", f"{_DAY} - {_MONTH} > INTERVAL '1' DAY",
               f"({_DAY} - {_MONTH}) + INTERVAL '60' MINUTE > INTERVAL '25' HOUR"),
    conditions("a time moved in other units", f"{_DAY} < {_MONTH} + {_2_DAYS}",
               f"{_DAY} < {_MONTH} + INTERVAL '48' HOUR"),
    conditions("a difference of times, and a time moved back", f"{_DAY} - {_MONTH} < {_2_DAYS}",
               f"{_DAY} - {_2_DAYS} < {_MONTH}"),
    conditions("a difference of times the other way round", f"{_DAY} - {_MONTH} <= {_2_DAYS}",
               f"{_MONTH} - {_DAY} >= INTERVAL '-2' DAY"),
    conditions("a time moved twice", f"{_DAY} < {_MONTH} + {_2_DAYS}",
               f"{_DAY} - {_HOUR} < {_MONTH} + INTERVAL '47' HOUR"),
    conditions("a moved time beside a constant", f"{_DAY} > TIMESTAMP '2002-01-02 00:00:00'",
               f"{_DAY} + {_HOUR} > TIMESTAMP '2002-01-02 01:00:00'"),
    conditions("an interval of months in other units", f"{_MONTHS} > INTERVAL '1' YEAR",
               f"{_MONTHS} > INTERVAL '12' MONTH"),
    conditions("months with a year and without", f"{_MONTHS} >= INTERVAL '1-2' YEAR TO MONTH",
               f"NOT {_MONTHS} < INTERVAL '14' MONTH"),
    conditions("a time of day by its hour alone", f"{_TIME} >= TIME '10:00'", f"{_TIME} >= TIME '10:00:00.000'"),
    conditions("a time of day as a text", f"{_TIME} < TIME '10:30:00'", f"{_TIME} < '10:30'"),
    conditions("times of day and the interval between them", f"{_TIME} - TIME '10:00' > INTERVAL '1' HOUR",
               f"{_TIME} - TIME '10:00' > INTERVAL '60' MINUTE"),
    conditions("DOUBLE by a constant, which is solved", "x > 10", "x * 0.1 > 1"),
    conditions("a size as two bounds", "ABS(code - id) < 5", "code < id + 5 AND id - 5 < code"),
    conditions("constants that functions give", "src = 'ab'", "src = LOWER('A') || 'b'"),
    conditions("LIKE without a wildcard", "src = 'ab'", "src LIKE 'ab'"),
    conditions("any text is LIKE", "src LIKE '%'", "src IS NOT NULL"),
    conditions("how a text begins", "src LIKE 'ab%'", "STARTSWITH(src, 'ab')"),
    conditions("how a text ends", "src LIKE '%ab'", "ENDSWITH(src, 'ab')"),
    conditions("what a text has in it", "src LIKE '%ab%'", "CONTAINS(src, 'ab')"),
    conditions("a condition that is true", "(code > 2) IS TRUE", "code > 2"),
    conditions("a condition that is not false", "NOT ((code > 2) IS FALSE)", "code > 2 OR code IS NULL"),
    conditions("a condition as a value", "CASE WHEN code > 2 THEN 1 ELSE 0 END = 1", "code > 2"),
    conditions("a condition without NULL", "COALESCE(code > 2, FALSE)", "code > 2"),
    conditions("LIKE ANY is OR", "src LIKE ANY ('a%', '%b')", "src LIKE '%b' OR src LIKE 'a%'"),
    conditions("NOT LIKE ALL is AND", "src NOT LIKE ALL ('a%', '%b')", "src NOT LIKE '%b' AND src NOT LIKE 'a%'"),
    conditions("a format in elements of Oracle", "TO_CHAR(day, 'YYYY/MM') = 'x'", "DATE_FORMAT(day, 'yyyy/MM') = 'x'"),
    conditions("a text read as a day under one format", "TO_DATE(src, 'd.M.yyyy') > DATE '2002-01-01'",
               "TRY_TO_DATE(src, 'd.M.yyyy') >= DATE '2002-01-02'"),
    conditions("a day as a text in a constant", "DATE_FORMAT(day, 'yyyy') = DATE_FORMAT(DATE '2002-03-04', 'yyyy')",
               "DATE_FORMAT(day, 'yyyy') = '2002'"),
    within("one of the patterns", "src LIKE ANY ('a%', '%b')", "src LIKE '%b'"),
    apart("a month is not 30 days", "day + INTERVAL '1' MONTH > DATE '2002-03-01'",
          "day + INTERVAL '30' DAY > DATE '2002-03-01'"),
    apart("months and days of one number", f"{_MONTHS} > INTERVAL '5' MONTH",
          "INTERVAL '1' DAY * code > INTERVAL '5' DAY"),
    apart("a time of day and the time", f"{_TIME} > TIME '10:00'", f"{_DAY} > TIMESTAMP '1970-01-01 10:00:00'"),
    apart("times of day of two units", f"TIME_TRUNC('HOUR', {_TIME}) = TIME '10:00'",
          f"TIME_TRUNC('MINUTE', {_TIME}) = TIME '10:00'"),
    apart("months moved there and back again", "day - INTERVAL '1' MONTH + INTERVAL '1' MONTH > DATE '2002-03-01'",
          "day > DATE '2002-03-01'"),
    apart("months and minutes", "DATE_FORMAT(day, 'MM') = '01'", "DATE_FORMAT(day, 'mm') = '01'"),
    apart("a day with and without a fraction of a second", "DATE_FORMAT(day, 'ss') = '00'",
          "DATE_FORMAT(day, 'ss.S') = '00'"),
    apart("a text read under two formats", "TO_DATE(src, 'd.M.yyyy') > DATE '2002-01-01'",
          "TO_DATE(src, 'M.d.yyyy') > DATE '2002-01-01'"),
    apart("patterns of rows", "src LIKE src || '%'", "src LIKE '%' || src"),
    apart("LIKE and ILIKE of several", "src LIKE ALL ('a%', '%b')", "src ILIKE ALL ('a%', '%b')"),
    conditions("negated comparison", "amount > 5", "NOT (amount <= 5)"),
    conditions("NOT of OR", "amount > 5 AND code <> 1", "NOT (amount <= 5 OR code = 1)"),
    conditions("NOT of AND", "amount <= 5 OR code <> 1", "NOT (amount > 5 AND code = 1)"),
    conditions("BETWEEN", "code BETWEEN 1 AND 3", "code <= 3 AND code >= 1"),
    conditions("NOT BETWEEN", "code NOT BETWEEN 1 AND 3", "code > 3 OR code < 1"),
    conditions("IN is OR of equalities", "code IN (3, 1)", "code = 1 OR code = 3"),
    conditions("IN of neighbours is a range", "code IN (3, 1, 2)", "code BETWEEN 1 AND 3"),
    conditions("IN of one value", "src IN ('a')", "src = 'a'"),
    conditions("a value twice", "src IN ('a', 'b', 'a')", "src IN ('b', 'a')"),
    conditions("NOT IN", "code NOT IN (1, 3)", "code <> 3 AND code <> 1"),
    conditions("a range of one value", "code = 2", "code >= 2 AND code <= 2"),
    conditions("redundant bound", "amount > 5", "amount > 5 AND amount > 3"),
    conditions("redundant alternative", "code >= 1", "code >= 1 OR code = 3"),
    conditions("redundant null test", "amount > 5", "amount > 5 AND amount IS NOT NULL"),
    conditions("null test of an operand", "code + id > 5", "code IS NOT NULL AND code + id > 5"),
    conditions("OR in other order", "code = 1 OR src = 'a'", "src = 'a' OR code = 1"),
    conditions("OR distributed", "code = 1 OR (src = 'a' AND id = 2)",
         "(code = 1 OR src = 'a') AND (id = 2 OR code = 1)"),
    conditions("LIKE twice", "src LIKE 'a%' AND code = 1", "code = 1 AND src LIKE 'a%' AND src LIKE 'a%'"),
    conditions("hints and comments", "amount > 5", "/* cheap */ amount > 5 -- or so"),
    conditions("what contradicts itself", "code > 3 AND code < 2", "amount > 5 AND amount < 1"),
    conditions("two columns compared", "src < dst", "dst > src"),
    same("no condition", "SELECT id FROM F", "SELECT src, dst FROM F"),
    same("a condition that always holds", "SELECT id FROM F", "SELECT id FROM F WHERE 1 = 1"),
    within("a smaller range", "amount > 5", "amount > 9"),
    within("a range within a range", "amount BETWEEN 1 AND 9", "amount BETWEEN 5 AND 6"),
    within("a narrower end: > 5 of >= 5", "amount >= 5", "amount > 5"),
    within("a point of a range", "code BETWEEN 1 AND 3", "code = 2"),
    within("a point of a list", "code IN (1, 3)", "code = 3"),
    within("a shorter list", "src IN ('a', 'b', 'ab')", "src IN ('ab', 'b')"),
    within("a list within a range", "code >= 1", "code IN (1, 3)"),
    within("one value less", "code <> 1", "code > 1"),
    within("one more condition", "code = 1", "code = 1 AND amount > 5"),
    within("LIKE and one more", "src LIKE 'a%'", "src LIKE 'a%' AND amount > 5"),
    within("one of the alternatives", "code = 1 OR amount > 5", "amount > 5"),
    within("AND below OR", "code = 1 OR amount > 5", "code = 1 AND amount > 5"),
    within("an alternative that is narrower", "code = 1 OR amount > 5", "code = 1 OR amount > 9"),
    within("a comparison is not NULL", "amount IS NOT NULL", "amount > 5"),
    within("a sum is not NULL", "code IS NOT NULL", "code + id > 3"),
    within("LIKE is not NULL", "src IS NOT NULL", "src LIKE 'a%'"),
    within("two columns, a narrower bound", "code - id > 1", "2 * code > 2 * id + 6"),
    within("an equality within an order", "code <= id", "code = id"),
    within("a larger multiple of what is positive", "id * 5 >= code", "id * 2 >= code AND id > 0"),
    within("an order by way of a third column", "code <= amount", "code <= id AND id <= amount"),
    within("a bound of a sum", "code + id > 3", "code > 1 AND id > 2"),
    within("a shorter interval between two times", f"{_DAY} - {_MONTH} < {_2_DAYS}",
           f"{_DAY} - {_MONTH} < INTERVAL '90' MINUTE"),
    within("a range of differences of times", f"{_DAY} - {_MONTH} > {_HOUR}",
           f"{_DAY} - {_MONTH} BETWEEN {_90_MINUTES} AND {_2_DAYS}"),
    within("a time moved less far", f"{_DAY} <= {_MONTH} + {_90_MINUTES}", f"{_MONTH} + {_HOUR} >= {_DAY}"),
    within("a moved time beside a constant that is later", f"{_DAY} > TIMESTAMP '2002-01-02 00:00:00'",
           f"{_DAY} + {_HOUR} > TIMESTAMP '2002-01-03 05:00:00'"),
    within("a moved time is not NULL", f"{_DAY} IS NOT NULL", f"{_DAY} < {_MONTH} + {_HOUR}"),
    within("more months", f"{_MONTHS} > INTERVAL '1' YEAR", f"{_MONTHS} > INTERVAL '14' MONTH"),
    within("a shorter stretch of the day", f"{_TIME} > TIME '10:00'", f"{_TIME} BETWEEN TIME '11:00' AND TIME '12:00'"),
    within("dates", "day >= DATE '2002-01-02'", "day - 1 > DATE '2002-01-02'"),
    Pair("weaker after tighter", "SELECT id FROM F WHERE amount > 9", "SELECT id FROM F WHERE amount > 5", ABOVE, 1,
         Rule.NEW, "rerouted: "),
    Pair("no condition after one", "SELECT id FROM F WHERE amount > 9", "SELECT id FROM F", ABOVE, 0, Rule.EQUAL),
]  # fmt: skip

_BASES, _PRINTED, _NUMBER = (
    "CONV(src, 16, 10) = '5'",
    "FORMAT_STRING('%d', code) = '1'",
    "FORMAT_NUMBER(amount, 2) = '1.00'",
)
_BYTES = "TO_BINARY(src, 'hex') = X'0A'"
NUMBERS_AS_TEXTS = [
    replace(pair, evaluated=False)
    for pair in (
        conditions("a number in another base", _BASES, "'5' = CONV(src, 16, 10)"),
        conditions("a number that is not in another base", f"NOT {_BASES}", "CONV(src, 16, 10) <> '5'"),
        conditions("a format by its other name", _PRINTED, _PRINTED.replace("FORMAT_STRING", "PRINTF")),
        conditions("a written amount beside another test", f"{_NUMBER} AND code = 1", f"code = 1 AND {_NUMBER}"),
        conditions("digits of bytes by another name", _BYTES, "TRY_TO_BINARY(src) = X'0A'"),
        apart("numbers of another base", _BASES, _BASES.replace("16", "36")),
        apart("another format", _PRINTED, _PRINTED.replace("%d", "%2d")),
        apart("another number of digits", _NUMBER, _NUMBER.replace("2)", "1)")),
        apart("bytes of texts and of digits", _BYTES, _BYTES.replace("hex", "utf-8")),
        apart("a text and its number", _PRINTED, "CAST(code AS STRING) = '1'"),
    )
]

NOT_SHARED = [
    apart("other alternatives", "code = 1 OR amount > 5", "code = 2 OR amount > 5"),
    apart("text and number", "src = '1'", "code = 1"),
    apart("texts that look like one number", "src = '1'", "src = '1.0'"),
    apart("text order is not number order", "src > '5'", "src > '10' AND src < '2'"),
    apart("DOUBLE and DECIMAL", "amount > 5", "x > 5"),
    apart(
        "DOUBLE that falls",
        "x > 10",
        "-x * 0.1 < -1",
        "near miss: `neg(x) * 0.1` is DOUBLE and cannot be inverted exactly",
    ),
    apart("NULL and not NULL", "src IS NULL", "src IS NOT NULL"),
    apart("NULL and empty", "src IS NULL", "src = ''"),
    apart("LIKE and other case", "src LIKE 'a%'", "src LIKE 'A%'"),
    apart("LIKE and ILIKE", "src LIKE 'a%'", "src ILIKE 'a%'"),
    apart("LIKE and NOT LIKE", "src LIKE 'a%'", "src NOT LIKE 'a%'"),
    apart("NOT of AND is no AND of NOT", "code <> 1 OR id <> 1", "amount = 0 AND (code = 2 OR code IS NULL)"),
    apart("a value and its opposite", "code = 1", "code <> 1"),
    apart("a larger multiple of what may be negative", "id * 5 >= code", "id * 2 >= code"),
    apart("products of columns", "code * id > 2", "code > 2"),
    apart(
        "differences of times in opposite directions",
        f"{_DAY} - {_MONTH} < {_90_MINUTES}",
        f"{_MONTH} - {_DAY} < {_HOUR}",
    ),
    apart("a month is no number of days", f"{_DAY} < ADD_MONTHS(day, 1)", f"{_DAY} < {_MONTH} + INTERVAL '30' DAY"),
    apart(
        "overlapping ranges of differences",
        f"{_DAY} - {_MONTH} BETWEEN {_HOUR} AND {_2_DAYS}",
        f"{_DAY} - {_MONTH} BETWEEN {_90_MINUTES} AND INTERVAL '3' DAY",
    ),
    apart(
        "a difference from a constant",
        f"{_DAY} - {_MONTH} < {_2_DAYS}",
        f"{_DAY} - TIMESTAMP '2002-01-01 00:00:00' < {_HOUR}",
    ),
    apart("no difference of times", f"{_DAY} < {_MONTH} + {_HOUR}", "day IS NULL"),
    apart("a moved DOUBLE is no moved time", "x + 3600 > 7200", f"{_DAY} + {_HOUR} > TIMESTAMP '1970-01-01 02:00:00'"),
    apart("overlapping ranges", "amount BETWEEN 1 AND 5", "amount BETWEEN 4 AND 9"),
]
