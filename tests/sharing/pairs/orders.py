"""First rows and analytic functions."""

from __future__ import annotations

from sharing.pairs.pair import ABOVE, APART, BELOW, BESIDE, FROM, SAME, Pair, same

from workbench.sharing.decisions import Rule

_BY_AMOUNT = "SELECT id, amount FROM F ORDER BY amount DESC LIMIT"
_OF_CODE = "SELECT id, code, ROW_NUMBER() OVER (PARTITION BY code ORDER BY amount) AS n"
_RANKED = "SELECT id, amount, RANK() OVER (PARTITION BY code ORDER BY amount) AS r FROM F"

ORDERS = [
    same("orders of one answer", "SELECT id, amount FROM F WHERE code = 1 ORDER BY amount",
         "SELECT id, amount FROM F WHERE code = 1 ORDER BY id DESC"),
    same("the order of a view has no meaning", "SELECT id FROM F WHERE amount > 5",
         "SELECT id FROM (SELECT id FROM F WHERE amount > 5 ORDER BY id) v"),
    same("LIMIT and FETCH", f"{_BY_AMOUNT} 3", "SELECT id, amount FROM F ORDER BY 2 DESC FETCH FIRST 3 ROWS ONLY"),
    Pair("the first of more", f"{_BY_AMOUNT} 10", f"{_BY_AMOUNT} 3", BELOW, 1, Rule.EQUAL),
    Pair("more than the first", f"{_BY_AMOUNT} 3", f"{_BY_AMOUNT} 10", ABOVE, 0, Rule.EQUAL),
    Pair("a page of the first", f"{_BY_AMOUNT} 10", f"{_BY_AMOUNT} 3 OFFSET 4", BELOW, 1, Rule.EQUAL),
    Pair("the second of each is among the first two", f"SELECT * FROM ({_OF_CODE} FROM F) v WHERE n <= 2",
         f"SELECT * FROM ({_OF_CODE} FROM F) v WHERE n = 2", BELOW, 1, Rule.EQUAL),
    same("QUALIFY and a condition on a view", f"SELECT id, code FROM ({_OF_CODE} FROM F) v WHERE n <= 2",
         f"SELECT id, code FROM ({_OF_CODE} FROM F QUALIFY n <= 2) v"),
    Pair("two functions of one order", _RANKED, _RANKED.replace("RANK", "DENSE_RANK"), SAME, 0, Rule.STATISTICS),
    Pair("other directions", f"{_BY_AMOUNT} 3", "SELECT id, amount FROM F ORDER BY amount LIMIT 3", APART, 1, Rule.NEW),
    Pair("NULLs elsewhere", f"{_BY_AMOUNT} 3",
         "SELECT id, amount FROM F ORDER BY amount DESC NULLS FIRST LIMIT 3", APART, 1, Rule.NEW),
    Pair("first rows of other rows", f"{_BY_AMOUNT} 3",
         "SELECT id, amount FROM F WHERE code = 1 ORDER BY amount DESC LIMIT 3", APART, 2, Rule.NEW),
    Pair("a condition after LIMIT is none before it", "SELECT id, amount FROM F WHERE code = 1 ORDER BY amount LIMIT 3",
         "SELECT id, amount FROM (SELECT id, amount, code FROM F ORDER BY amount LIMIT 3) v WHERE code = 1",
         APART, 2, Rule.NEW),
    Pair("other partitions", _RANKED, _RANKED.replace("PARTITION BY code", "PARTITION BY src"), APART, 1, Rule.NEW),
    Pair("peers in another order", f"{_BY_AMOUNT} 3", "SELECT src, amount FROM F ORDER BY amount DESC LIMIT 3",
         APART, 1, Rule.NEW),
    same("fewer columns of the first rows: peers may be in any order", f"{_BY_AMOUNT} 3",
         "SELECT amount FROM F ORDER BY amount DESC LIMIT 3"),
    same("LIMIT and row numbers", f"{_BY_AMOUNT} 3",
         "SELECT id, amount FROM (SELECT id, amount, ROW_NUMBER() OVER (ORDER BY amount DESC) AS n FROM F) v"
         " WHERE n <= 3"),
    Pair("peers of the last row", f"{_BY_AMOUNT} 3",
         "SELECT id, amount FROM F ORDER BY amount DESC FETCH FIRST 3 ROWS WITH TIES", ABOVE, 0, Rule.STATISTICS,
         "now also RANK() OVER"),
    Pair("the first rows do not become all rows for another reader", f"{_BY_AMOUNT} 3",
         "SELECT amount, SUM(amount) OVER (ORDER BY amount DESC) FROM F", APART, 1, Rule.NEW),
]  # fmt: skip

_PARTS = "SELECT id, RANK() OVER (PARTITION BY code ORDER BY split(dst, ',')) AS r FROM F"

SHARES_AND_PARTS = [
    same("LIMIT of a sum", f"{_BY_AMOUNT} 3", f"{_BY_AMOUNT} 1 + 2"),
    same("a share with a fraction", f"{_BY_AMOUNT} 50%", f"{_BY_AMOUNT} 50.0%", dialect="duckdb"),
    same("a share of a view", f"{_BY_AMOUNT} 50%",
         "SELECT id, amount FROM (SELECT amount, id FROM F) v ORDER BY 2 DESC LIMIT 100 / 2 %", dialect="duckdb"),
    same("an aggregate of the outer query is one of its groups", "SELECT code, MAX(amount) FROM F GROUP BY code",
         "SELECT code, (SELECT MAX(F.amount)) FROM F GROUP BY code"),
    Pair("two functions of one order of arrays", _PARTS, _PARTS.replace("RANK", "DENSE_RANK"), SAME, 0,
         Rule.STATISTICS, evaluated=False),
    Pair("a smaller share", f"{_BY_AMOUNT} 50%", f"{_BY_AMOUNT} 20%", BESIDE, 1, Rule.EQUAL, dialect="duckdb"),
    Pair("a share and a number", f"{_BY_AMOUNT} 20%", f"{_BY_AMOUNT} 20", APART, 1, Rule.NEW, dialect="duckdb"),
    Pair("a share in another order", f"{_BY_AMOUNT} 20%", "SELECT id, amount FROM F ORDER BY amount LIMIT 20%", APART,
         2, Rule.NEW, dialect="duckdb"),
    Pair("arrays and their texts are in other orders", _PARTS, _PARTS.replace("split(dst, ',')", "dst"), APART, 1,
         Rule.NEW, evaluated=False),
    Pair("arrays of other parts are in other orders", _PARTS, _PARTS.replace("','", "'-'"), APART, 1, Rule.NEW,
         evaluated=False),
    Pair("an aggregate of the subquery's own rows is none of the outer query",
         "SELECT code, MAX(amount) FROM F GROUP BY code",
         "SELECT code, (SELECT MAX(v.amount) FROM F v WHERE v.dst = 'a') FROM F GROUP BY code", FROM, 3, Rule.NEW),
]  # fmt: skip

_EARLIEST = "SELECT DISTINCT ON (code) code, amount FROM F ORDER BY code, amount"
_NUMBERED = "SELECT code, amount, ROW_NUMBER() OVER (PARTITION BY code ORDER BY amount) AS n FROM F"

DISTINCT_ON = [
    same("DISTINCT ON orders the rows of a key", _EARLIEST, "SELECT DISTINCT ON (code) code, amount FROM F ORDER BY"
         " code DESC, amount"),
    same("DISTINCT ON ordered by a column twice", _EARLIEST, f"{_EARLIEST}, amount"),
    Pair("the first by a number is DISTINCT ON", _EARLIEST, f"SELECT code, amount FROM ({_NUMBERED}) v WHERE n = 1",
         BELOW, 1, Rule.EQUAL),
    Pair("DISTINCT ON is among the first three", f"SELECT code, amount FROM ({_NUMBERED}) v WHERE n <= 3", _EARLIEST,
         BELOW, 1, Rule.EQUAL),
    Pair("the first three after DISTINCT ON", _EARLIEST, f"SELECT code, amount FROM ({_NUMBERED}) v WHERE n <= 3",
         ABOVE, 0, Rule.EQUAL, "now keeps other first rows"),
    Pair("a condition on DISTINCT ON", _EARLIEST, f"SELECT * FROM ({_EARLIEST}) v WHERE amount > 5", BELOW, 1,
         Rule.EQUAL),
    Pair("DISTINCT ON in the other direction", _EARLIEST, f"{_EARLIEST} DESC", APART, 1, Rule.NEW),
    Pair("DISTINCT ON of another key", _EARLIEST, _EARLIEST.replace("code", "src"), APART, 1, Rule.NEW),
    Pair("DISTINCT ON of two keys", _EARLIEST,
         "SELECT DISTINCT ON (code, src) code, src, amount FROM F ORDER BY code, src, amount", APART, 1, Rule.NEW),
    Pair("a condition below DISTINCT ON", _EARLIEST, _EARLIEST.replace("FROM F", "FROM F WHERE amount > 5"),
         APART, 2, Rule.NEW),
    Pair("DISTINCT ON of another stream", _EARLIEST, _EARLIEST.replace("FROM F", "FROM H"), APART, 2, Rule.NEW),
    Pair("DISTINCT ON and the least of a group", _EARLIEST, "SELECT code, MIN(amount) FROM F GROUP BY code", APART, 1,
         Rule.NEW),
]  # fmt: skip


def over(function: str, order: str = "PARTITION BY code ORDER BY id", where: str = "") -> str:
    """A function of the transfers around one."""
    return f"SELECT id, amount, {function} OVER ({order}) AS v FROM F{where}"


_BEFORE, _SUM = over("LAG(amount)"), over("SUM(amount)")

FUNCTIONS = [
    Pair("a running sum beside LAG", _BEFORE, _SUM, SAME, 0, Rule.STATISTICS, "now also SUM(amount) OVER"),
    Pair("LAG by another distance", _BEFORE, over("LAG(amount, 2)"), SAME, 0, Rule.STATISTICS,
         "now also LAG(amount, 2)"),
    Pair("a sum FILTERed", _SUM, over("SUM(amount) FILTER (WHERE amount > 5)"), SAME, 0, Rule.STATISTICS),
    same("a named window", _BEFORE, "SELECT id, amount, LAG(amount, 1) OVER w FROM F"
         " WINDOW w AS (PARTITION BY code ORDER BY id)"),
    same("the frame that is meant", _SUM, over("SUM(amount)", "PARTITION BY code ORDER BY id RANGE BETWEEN"
         " UNBOUNDED PRECEDING AND CURRENT ROW")),
    same("partitions in other order", over("LAG(amount)", "PARTITION BY code, src ORDER BY id"),
         over("LAG(amount)", "PARTITION BY src, code ORDER BY id")),
    same("an order by what is the same in a partition", _BEFORE,
         over("LAG(amount)", "PARTITION BY code ORDER BY code, id")),
    Pair("a condition on a function", _BEFORE, f"SELECT * FROM ({_BEFORE}) v WHERE v > 5", BELOW, 1, Rule.EQUAL),
    Pair("a condition below a function", _BEFORE, over("LAG(amount)", where=" WHERE amount > 5"), APART, 2, Rule.NEW),
    Pair("functions of all rows", _BEFORE, over("LAG(amount)", "ORDER BY id"), APART, 1, Rule.NEW),
    Pair("functions of another order", _BEFORE, over("LAG(amount)", "PARTITION BY code ORDER BY day"), APART, 1,
         Rule.NEW),
    Pair("LAG is LEAD in the other direction, of another node", _BEFORE,
         over("LEAD(amount)", "PARTITION BY code ORDER BY id DESC"), APART, 1, Rule.NEW),
    Pair("a sum of the partition is not the running one", _SUM, over("SUM(amount)", "PARTITION BY code"), APART, 2,
         Rule.NEW),
    Pair("a sum of the partition is the sum of a group", "SELECT code, SUM(amount) FROM F GROUP BY code",
         over("SUM(amount)", "PARTITION BY code"), FROM, 1, Rule.NEW),
    Pair("a frame of rows tells peers apart, a running sum does not", _SUM,
         over("SUM(amount)", "PARTITION BY code ORDER BY id ROWS 2 PRECEDING"), APART, 1, Rule.NEW),
]  # fmt: skip

_GAPS = "SELECT code, TIME_BUCKET_GAPFILL(INTERVAL '1' DAY, day) AS part, {} FROM F GROUP BY code, part"
_COUNTED = _GAPS.format("COUNT(*) AS n")


def _alike(title: str, first: str, second: str) -> Pair:
    return Pair(title, first, second, SAME, 0, Rule.EQUAL, evaluated=False)


GAPS = [
    _alike("a group by its number or its name", _COUNTED, _COUNTED.replace("code, part", "1, 2")),
    _alike("what is computed of filled rows", _COUNTED, _GAPS.format("COALESCE(COUNT(*), 0) + 1 AS n")),
    _alike("carried forward or not", _COUNTED, _GAPS.format("LOCF(COUNT(*)) AS n")),
    _alike("an end that WHERE or the function says", _COUNTED.replace("GROUP", "WHERE day < DATE '2002-01-09' GROUP"),
         _COUNTED.replace(", day)", ", day, NULL, DATE '2002-01-09')")),
    _alike("groups and the groups whose gaps are filled", _COUNTED,
         "SELECT code, part, n FROM (" + _COUNTED + ") v ORDER BY n"),
    Pair("another width", _COUNTED, _COUNTED.replace("'1' DAY", "'2' DAY"), APART, 5, Rule.NEW, evaluated=False),
    Pair("another key", _COUNTED, _COUNTED.replace("code", "src"), APART, 5, Rule.NEW, evaluated=False),
    Pair("from a time on", _COUNTED, _COUNTED.replace(", day)", ", day, DATE '2002-01-01')"), APART, 8, Rule.NEW,
         evaluated=False),
    Pair("up to a time", _COUNTED, _COUNTED.replace(", day)", ", day, NULL, DATE '2002-01-09')"), APART, 6, Rule.NEW,
         evaluated=False),
    Pair("groups before gaps are filled", _COUNTED, _COUNTED.replace("GROUP", "WHERE amount > 3 GROUP"), APART, 6,
         Rule.NEW, evaluated=False),
]  # fmt: skip

_MATCHES = (
    "SELECT * FROM F MATCH_RECOGNIZE (PARTITION BY code ORDER BY day, id MEASURES {} AS n ONE ROW PER MATCH"
    " PATTERN (A B+) DEFINE A AS amount > 5, B AS amount < PREV(amount)) AS m"
)
_COUNTED_MATCHES = _MATCHES.format("COUNT(B.*)")

MATCHES = [
    _alike("one pattern", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("(A B+)", "( a B + )")),
    _alike("conditions that are alike", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("amount > 5", "A.amount > 5")),
    _alike("what is said, and what is so without", _COUNTED_MATCHES,
           _COUNTED_MATCHES.replace("ONE ROW PER MATCH", "AFTER MATCH SKIP PAST LAST ROW")),
    _alike("a condition on the answer", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("COUNT(B.*)", "FINAL COUNT(B.*)")),
    _alike("a part of the measures", _MATCHES.format("COUNT(B.*) AS c, MATCH_NUMBER()"),
           _MATCHES.format("MATCH_NUMBER()")),
    Pair("other measures of one pattern", _COUNTED_MATCHES, _MATCHES.format("SUM(A.amount)"), SAME, 0, Rule.STATISTICS,
         evaluated=False),
    Pair("another pattern in one order", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("B+", "B+?"), BESIDE, 1,
         Rule.STATISTICS, evaluated=False),
    Pair("the next match at the next row", _COUNTED_MATCHES,
         _COUNTED_MATCHES.replace("ONE ROW PER MATCH", "AFTER MATCH SKIP TO NEXT ROW"), BESIDE, 1, Rule.STATISTICS,
         evaluated=False),
    Pair("all rows of matches", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("ONE ROW", "ALL ROWS"), APART, 2,
         Rule.NEW, evaluated=False),
    Pair("patterns in another order", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("day, id", "id, day"), APART, 2,
         Rule.NEW, evaluated=False),
    Pair("patterns of other partitions", _COUNTED_MATCHES, _COUNTED_MATCHES.replace("BY code", "BY src"), APART, 2,
         Rule.NEW, evaluated=False),
    Pair("patterns among other rows", _COUNTED_MATCHES,
         _COUNTED_MATCHES.replace("FROM F", "FROM (SELECT * FROM F WHERE amount > 3)"), APART, 3, Rule.NEW,
         evaluated=False),
]  # fmt: skip
