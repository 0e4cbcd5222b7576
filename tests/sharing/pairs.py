"""Pairs of queries: what the second shares with the first, once the first is registered.

``reads`` says how the node the second query reads stands to the one the first reads:

* ``SAME``: it is the same node.
* ``BELOW``: it is a selection below it, which tests the rest.
* ``ABOVE``: the first query's selection is now computed from the second's.
* ``BESIDE``: another node of the same local tree; the tree's root is shared.
* ``FROM``: another tree, computed from the first query's nodes.
* ``GIVES``: another tree, from which the first query's nodes are computed now.
* ``APART``: neither is computed from the other.

``new`` is the number of nodes made for the second query, ``rule`` a rule its explanation names for one of its nodes,
``says`` a text that stands in the explanation.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sharing.decisions import Rule

SAME, BELOW, ABOVE, BESIDE, FROM, GIVES, APART = "same", "below", "above", "beside", "from", "gives", "apart"


@dataclass(frozen=True)
class Pair:
    """Two queries and what the second shares with the first; see above."""

    title: str
    first: str
    second: str
    reads: str
    new: int
    rule: Rule | None = None
    says: str = ""


def same(title: str, first: str, second: str, says: str = "") -> Pair:
    """The second query needs no node of its own."""
    return Pair(title, first, second, SAME, 0, Rule.EQUAL, says)


def conditions(title: str, first: str, second: str, says: str = "") -> Pair:
    """Two conditions on F that are one node."""
    return same(title, f"SELECT id FROM F WHERE {first}", f"SELECT src FROM F WHERE {second}", says)


def within(title: str, first: str, second: str) -> Pair:
    """Two conditions on F: the second is a selection below the first."""
    return Pair(title, f"SELECT id FROM F WHERE {first}", f"SELECT id FROM F WHERE {second}", BELOW, 1, Rule.EQUAL)


def apart(title: str, first: str, second: str, says: str = "") -> Pair:
    """Two conditions on F that have nothing in common but the stream."""
    return Pair(title, f"SELECT id FROM F WHERE {first}", f"SELECT id FROM F WHERE {second}", BESIDE, 1, Rule.NEW, says)


PATH = "SELECT a.id, b.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"
BOTH = "SELECT a.id FROM F a, F b WHERE a.dst = b.src"
CHAIN = "SELECT c.id FROM F a, F b, G c WHERE a.dst = b.src AND b.code = c.id AND a.amount > 5"
A, B, C = "SELECT src FROM F", "SELECT dst FROM F", "SELECT name FROM G"

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
    conditions("a date as text", "day >= DATE '2002-01-02'", "day >= '2002-01-02'"),
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
    within("dates", "day >= DATE '2002-01-02'", "day - 1 > DATE '2002-01-02'"),
    Pair("weaker after tighter", "SELECT id FROM F WHERE amount > 9", "SELECT id FROM F WHERE amount > 5", ABOVE, 1,
         Rule.NEW, "rerouted: "),
    Pair("no condition after one", "SELECT id FROM F WHERE amount > 9", "SELECT id FROM F", ABOVE, 0, Rule.EQUAL),
]  # fmt: skip

JOINS = [
    same("aliases of a self-join swapped", PATH,
         "SELECT b.id, a.id FROM F b, F a WHERE b.dst = a.src AND b.amount > 5"),
    same("inputs in other order", PATH, "SELECT b.id FROM F b, F a WHERE a.dst = b.src AND a.amount > 5"),
    same("join written otherwise", PATH, "SELECT y.day FROM F x JOIN F y ON y.src = x.dst WHERE 5 < x.amount"),
    same("equality turned round", PATH, "SELECT a.day FROM F a, F b WHERE b.src = a.dst AND a.amount > 5"),
    same(
        "joins re-associated",
        CHAIN,
        "SELECT v.id FROM (SELECT g.id, f.src FROM G g, F f WHERE f.code = g.id) v, F y"
        " WHERE v.src = y.dst AND y.amount > 5",
    ),
    same("inputs of a 3-way join in other order", CHAIN,
         "SELECT c.id FROM G c, F b, F a WHERE a.dst = b.src AND b.code = c.id AND a.amount > 5"),
    same("a bound carried over an equality", BOTH.replace(".dst = b.src", ".code = b.code") + " AND a.code > 2",
         BOTH.replace(".dst = b.src", ".code = b.code") + " AND b.code > 2", "inferred: "),
    same("equality through a third column",
         "SELECT 1 AS n FROM F a, F b, G c WHERE a.code = b.code AND b.code = c.id",
         "SELECT 1 AS n FROM F a, F b, G c WHERE a.code = b.code AND a.code = c.id", "inferred: "),
    same("a difference of both sides", BOTH + " AND a.amount > b.amount", BOTH + " AND b.amount - a.amount < 0"),
    Pair("one more condition on a side: the rest is tested below the join", PATH, PATH + " AND b.amount > 5", BELOW, 1,
         Rule.SUBSUMES, "amount > 5"),
    Pair("a tighter range on a side", PATH, PATH.replace("> 5", "> 9"), BELOW, 1, Rule.SUBSUMES, "amount > 9"),
    Pair("one more condition over both sides", BOTH, BOTH + " AND a.amount > b.amount", BELOW, 1, Rule.SUBSUMES,
         "still to be tested: "),
    Pair("a weaker join after a tighter one", PATH + " AND b.amount > 5", PATH, ABOVE, 0, Rule.WEAKER,
         "restructured: "),
    Pair("no residual after one", BOTH + " AND a.amount > b.amount", BOTH, ABOVE, 0, Rule.WEAKER, "restructured: "),
    Pair("other residuals: one join by the common key", BOTH + " AND a.amount > b.amount", BOTH + " AND a.day <= b.day",
         BESIDE, 1, Rule.COVER, "restructured: "),
    Pair("other sides tested: one join by the common key", PATH, PATH.replace("a.amount", "b.amount"), BESIDE, 1,
         Rule.COVER),
    Pair("disjoint ranges: the join tests their union", BOTH + " AND a.amount < 1", BOTH + " AND a.amount > 9",
         BESIDE, 2,
         Rule.COVER, "amount"),
    Pair("a 3-way join begins with a join that is there", PATH, CHAIN, FROM, 2, Rule.EQUAL),
    Pair("a join that is there stands in a 3-way join", CHAIN, PATH, GIVES, 0, Rule.EQUAL),
    Pair("two 3-way joins begin alike", CHAIN, CHAIN.replace("G c", "H c"), APART, 2, Rule.EQUAL),
    Pair("a selection a join reads is a query's, too", PATH, "SELECT id FROM F WHERE amount > 5", GIVES, 0, Rule.EQUAL),
    Pair("join on other columns", BOTH, "SELECT a.id FROM F a, F b WHERE a.code = b.id",
         APART, 1, Rule.NEW, "near miss"),
    Pair("other pairs of the same columns", BOTH, "SELECT a.id FROM F a, F b WHERE a.src = b.src", APART, 1, Rule.NEW),
    Pair("another stream of the same schema", BOTH, BOTH.replace("F b", "H b"), APART, 2, Rule.NEW),
    Pair("two keys joined by OR", BOTH + " AND a.code = b.id", BOTH.replace("a.dst", "(a.code = b.id OR a.dst") + ")",
         ABOVE, 0, Rule.WEAKER),
    Pair("a condition that is not symmetric, sides swapped",
         "SELECT a.id FROM F a, F b WHERE a.day = b.day AND a.code > 3",
         "SELECT b.id FROM F a, F b WHERE a.day = b.day AND a.code > 3", SAME, 0, Rule.EQUAL),
    Pair("an order turned round is another order", "SELECT a.id FROM F a, G b WHERE a.id = b.id AND a.day < b.until",
         "SELECT a.id FROM F a, G b WHERE a.id = b.id AND a.day > b.until", BESIDE, 1, Rule.COVER),
]  # fmt: skip

GROUPS = [
    same("groups in other order", "SELECT src, dst, COUNT(*) FROM F GROUP BY src, dst",
         "SELECT dst, src, COUNT(1) FROM F GROUP BY dst, src"),
    same("DISTINCT is grouping", "SELECT DISTINCT src FROM F", "SELECT src FROM F GROUP BY src"),
    same("AVG is SUM and COUNT", "SELECT src, SUM(amount), COUNT(amount) FROM F GROUP BY src",
         "SELECT src, AVG(amount) FROM F GROUP BY src"),
    Pair("SUM and MAX of the same groups", "SELECT src, SUM(amount) FROM F GROUP BY src",
         "SELECT src, MAX(day) FROM F GROUP BY src", SAME, 0, Rule.STATISTICS, "now also max(day)"),
    Pair("MEDIAN of the same groups", "SELECT src, SUM(amount) FROM F GROUP BY src",
         "SELECT src, MEDIAN(amount) FROM F GROUP BY src", SAME, 0, Rule.STATISTICS),
    Pair("SUM and SUM of DISTINCT values are two statistics", "SELECT src, SUM(code) FROM F GROUP BY src",
         "SELECT src, SUM(DISTINCT code) FROM F GROUP BY src", SAME, 0, Rule.STATISTICS, "sum(distinct code)"),
    Pair("COUNT of rows and of values are two statistics", "SELECT src, COUNT(*) FROM F GROUP BY src",
         "SELECT src, COUNT(code) FROM F GROUP BY src", SAME, 0, Rule.STATISTICS, "count(code)"),
    Pair("HAVING is a selection below the groups", "SELECT src, COUNT(*) FROM F GROUP BY src",
         "SELECT src FROM F GROUP BY src HAVING COUNT(*) > 2", BELOW, 1, Rule.EQUAL),
    Pair("a tighter HAVING", "SELECT src FROM F GROUP BY src HAVING COUNT(*) > 2",
         "SELECT src FROM F GROUP BY src HAVING COUNT(*) > 3", BELOW, 1, Rule.EQUAL),
    Pair("a weaker HAVING after a tighter one", "SELECT src FROM F GROUP BY src HAVING SUM(amount) > 9",
         "SELECT src FROM F GROUP BY src HAVING SUM(amount) > 5", ABOVE, 1, Rule.NEW, "rerouted: "),
    Pair("coarser groups", "SELECT src, dst, SUM(amount) FROM F GROUP BY src, dst",
         "SELECT src, SUM(amount) FROM F GROUP BY src", FROM, 1, Rule.DIMENSIONS),
    Pair("COUNT of coarser groups", "SELECT src, dst, COUNT(*) FROM F GROUP BY src, dst",
         "SELECT dst, COUNT(*) FROM F GROUP BY dst", FROM, 1, Rule.DIMENSIONS),
    Pair("a statistic the finer groups do not have yet", "SELECT src, dst, COUNT(*) FROM F GROUP BY src, dst",
         "SELECT dst, MIN(amount), AVG(amount) FROM F GROUP BY dst", FROM, 1, Rule.DIMENSIONS),
    Pair("DISTINCT of fewer columns", "SELECT DISTINCT src, dst FROM F", "SELECT DISTINCT src FROM F", FROM, 1,
         Rule.DIMENSIONS),
    Pair("no groups from groups", "SELECT src, COUNT(*) FROM F GROUP BY src", "SELECT COUNT(*) FROM F", FROM, 1,
         Rule.DIMENSIONS),
    Pair("groups by a function of groups", "SELECT code, COUNT(*) FROM F GROUP BY code",
         "SELECT code + 1, COUNT(*) FROM F GROUP BY code + 1", FROM, 1, Rule.DIMENSIONS),
    Pair("finer groups come later", "SELECT src, COUNT(*) FROM F GROUP BY src",
         "SELECT src, dst, COUNT(*) FROM F GROUP BY src, dst", GIVES, 1, Rule.NEW, "rerouted: "),
    Pair("AVG of DOUBLE does not follow from finer groups", "SELECT src, dst, AVG(x) FROM F GROUP BY src, dst",
         "SELECT src, AVG(x) FROM F GROUP BY src", APART, 1, Rule.NEW),
    Pair("nor does MEDIAN", "SELECT src, dst, MEDIAN(amount) FROM F GROUP BY src, dst",
         "SELECT src, MEDIAN(amount) FROM F GROUP BY src", APART, 1, Rule.NEW),
    Pair("nor COUNT of DISTINCT values", "SELECT src, dst, COUNT(DISTINCT code) FROM F GROUP BY src, dst",
         "SELECT src, COUNT(DISTINCT code) FROM F GROUP BY src", APART, 1, Rule.NEW),
    Pair("groups by other expressions", "SELECT code + 1, COUNT(*) FROM F GROUP BY code + 1",
         "SELECT code + 2, COUNT(*) FROM F GROUP BY code + 2", APART, 1, Rule.NEW),
    Pair("before and after grouping", "SELECT src, COUNT(*) FROM F WHERE src > 'a' GROUP BY src",
         "SELECT src, COUNT(*) FROM F GROUP BY src HAVING src > 'a'", APART, 2, Rule.NEW),
    Pair("MIN over other rows", "SELECT src, MIN(amount) FROM F WHERE code > 1 GROUP BY src",
         "SELECT src, MIN(amount) FROM F WHERE code > 2 GROUP BY src", APART, 2, Rule.NEW),
    Pair("two counts over two conditions do not share their state", "SELECT COUNT(*) FROM F WHERE code = 1",
         "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM F WHERE code = 1) a,"
         " (SELECT COUNT(*) AS n FROM F WHERE code = 2) b",
         FROM, 3, Rule.EQUAL),
    Pair("DISTINCT is not the rows themselves", "SELECT src FROM F", "SELECT DISTINCT src FROM F", FROM, 1, Rule.NEW),
]  # fmt: skip

SETS = [
    same("UNION in other order", f"{A} UNION {B}", f"{B} UNION {A}"),
    same("INTERSECT in other order", f"{A} INTERSECT {B}", f"{B} INTERSECT {A}"),
    same("what is taken away, in other order", f"{A} EXCEPT {B} EXCEPT {C}", f"{A} EXCEPT {C} EXCEPT {B}"),
    same("EXCEPT in parentheses", f"{A} EXCEPT {B} EXCEPT {C}", f"({A} EXCEPT {B}) EXCEPT {C}"),
    Pair("a UNION of some of the branches", f"{A} UNION {B}", f"{C} UNION {A} UNION {B}", FROM, 2, Rule.BRANCHES),
    Pair("UNION of more from UNION ALL", f"{A} UNION ALL {B}", f"{A} UNION {B} UNION {C}", FROM, 2, Rule.BRANCHES),
    Pair("UNION of fewer columns", "SELECT src, code FROM F UNION SELECT dst, id FROM F",
         f"{A} UNION {B} UNION {C}", FROM, 2, Rule.BRANCHES),
    Pair("INTERSECT of more", f"{A} INTERSECT {B}", f"{A} INTERSECT {B} INTERSECT {C}", FROM, 2, Rule.BRANCHES),
    Pair("A - B - C from A - B", f"{A} EXCEPT {B}", f"{A} EXCEPT {B} EXCEPT {C}", FROM, 2, Rule.BRANCHES),
    Pair("A - B - C from A - C", f"{A} EXCEPT {C}", f"{A} EXCEPT {B} EXCEPT {C}", FROM, 1, Rule.BRANCHES),
    Pair("A - B - C from B union C", f"{B} UNION {C}", f"{A} EXCEPT {B} EXCEPT {C}", FROM, 1, Rule.BRANCHES),
    Pair("A - B ALL - C ALL from B union all C", f"{B} UNION ALL {C}", f"{A} EXCEPT ALL {B} EXCEPT ALL {C}", FROM, 1,
         Rule.BRANCHES),
    Pair("the larger UNION is there first", f"{A} UNION {B} UNION {C}", f"{A} UNION {B}",
         GIVES, 1, Rule.NEW, "rerouted: "),
    Pair("a selection on a UNION", f"{A} UNION {B}", f"SELECT u.src FROM ({A} UNION {B}) u WHERE u.src > 'a'", BELOW, 1,
         Rule.EQUAL),
    Pair("EXCEPT swapped", f"{A} EXCEPT {B}", f"{B} EXCEPT {A}", APART, 1, Rule.NEW),
    Pair("A - (B - C) is not A - B - C", f"{A} EXCEPT {B} EXCEPT {C}", f"{A} EXCEPT ({B} EXCEPT {C})",
         APART, 2, Rule.NEW),
    Pair("UNION and UNION ALL", f"{A} UNION {B}", f"{A} UNION ALL {B}", GIVES, 1, Rule.NEW),
    Pair("UNION ALL of more from UNION", f"{A} UNION {B}", f"{A} UNION ALL {B} UNION ALL {C}", APART, 2, Rule.NEW),
    Pair("INTERSECT and INTERSECT ALL", f"{A} INTERSECT {B}", f"{A} INTERSECT ALL {B}", APART, 1, Rule.NEW),
    Pair("A minus all of B and minus B ALL", f"{A} EXCEPT {B}", f"{A} EXCEPT ALL {B}", APART, 1, Rule.NEW),
    Pair("A - B - C ALL from B union C", f"{B} UNION {C}", f"{A} EXCEPT ALL {B} EXCEPT ALL {C}", APART, 1, Rule.NEW),
    Pair("columns of the branches swapped", "SELECT src, dst FROM F INTERSECT SELECT dst, src FROM F",
         "SELECT src, dst FROM F INTERSECT SELECT src, dst FROM H", APART, 2, Rule.NEW),
    Pair("columns in another order in one branch only", "SELECT src, dst FROM F UNION SELECT src, dst FROM H",
         "SELECT src, dst FROM F UNION SELECT dst, src FROM H UNION SELECT name, name FROM G", APART, 2, Rule.NEW),
    Pair("a branch is filtered otherwise", f"{A} WHERE code = 1 UNION {B}", f"{A} WHERE code = 2 UNION {B}", APART, 2,
         Rule.NEW),
]  # fmt: skip

TEXTS = [
    same("sub-query and inlined text", "SELECT id FROM (SELECT id, amount FROM F WHERE code = 1) v WHERE amount > 5",
         "SELECT id FROM F WHERE amount > 5 AND code = 1"),
    same("WITH and inlined text", "WITH big AS (SELECT * FROM F WHERE amount > 5) SELECT id FROM big",
         "SELECT id FROM F WHERE amount > 5"),
    same("view and inlined text", "SELECT id FROM big", "SELECT id FROM F WHERE amount > 5"),
    same("a view of groups and inlined text", "SELECT src FROM per_src WHERE n > 2",
         "SELECT src FROM F GROUP BY src HAVING COUNT(*) > 2"),
    same("a view joined and inlined text", "SELECT a.id FROM big a, F b WHERE a.dst = b.src", PATH),
    same("comments that are no hints", PATH,
         "SELECT /* ORDERED USE_NL(a b) */ a.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"),
    same("names in other case", "SELECT ID FROM f WHERE AMOUNT > 5", "select Id from F where Amount > 5"),
    Pair("below a view", "SELECT id FROM big", "SELECT id FROM big WHERE code = 1", BELOW, 1, Rule.EQUAL),
    Pair("the same condition on another stream", "SELECT id FROM F WHERE amount > 5",
         "SELECT id FROM H WHERE amount > 5",
         APART, 2, Rule.NEW),
]  # fmt: skip

NOT_SHARED = [
    apart("other alternatives", "code = 1 OR amount > 5", "code = 2 OR amount > 5"),
    apart("text and number", "src = '1'", "code = 1"),
    apart("texts that look like one number", "src = '1'", "src = '1.0'"),
    apart("text order is not number order", "src > '5'", "src > '10' AND src < '2'"),
    apart("DOUBLE and DECIMAL", "amount > 5", "x > 5"),
    apart(
        "DOUBLE arithmetic", "x > 10", "x * 0.1 > 1", "near miss: `x * 0.1` is DOUBLE and cannot be inverted exactly"
    ),
    apart("NULL and not NULL", "src IS NULL", "src IS NOT NULL"),
    apart("NULL and empty", "src IS NULL", "src = ''"),
    apart("LIKE and other case", "src LIKE 'a%'", "src LIKE 'A%'"),
    apart("LIKE and ILIKE", "src LIKE 'a%'", "src ILIKE 'a%'"),
    apart("LIKE and NOT LIKE", "src LIKE 'a%'", "src NOT LIKE 'a%'"),
    apart("NOT of AND is no AND of NOT", "code <> 1 OR id <> 1", "amount = 0 AND (code = 2 OR code IS NULL)"),
    apart("a value and its opposite", "code = 1", "code <> 1"),
    apart("products of columns", "code * id > 2", "code > 2"),
    apart("overlapping ranges", "amount BETWEEN 1 AND 5", "amount BETWEEN 4 AND 9"),
]

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
]  # fmt: skip

OUTER_JOINS = [
    Pair(
        "a left join is computed from the inner join",
        "SELECT a.id, b.id FROM F a JOIN F b ON a.dst = b.src",
        "SELECT a.id, b.id FROM F a LEFT JOIN F b ON a.dst = b.src",
        FROM,
        2,
    ),
    Pair(
        "an inner join reads that of a left join",
        "SELECT a.id, b.id FROM F a LEFT JOIN F b ON a.dst = b.src",
        "SELECT a.id, b.id FROM F a JOIN F b ON a.dst = b.src",
        GIVES,
        0,
    ),
    Pair(
        "a right join with the sides exchanged",
        "SELECT a.id, b.id FROM F a LEFT JOIN G b ON a.code = b.id",
        "SELECT a.id, b.id FROM G b RIGHT JOIN F a ON a.code = b.id",
        APART,
        1,
    ),
    Pair(
        "a condition that rejects NULL makes a left join an inner one",
        "SELECT a.id FROM F a JOIN G b ON a.code = b.id WHERE b.rate > 0",
        "SELECT a.id FROM F a LEFT JOIN G b ON a.code = b.id WHERE b.rate > 0",
        SAME,
        0,
    ),
    Pair(
        "a left join beside another inner join",
        "SELECT a.id, b.name FROM F a LEFT JOIN G b ON a.code = b.id",
        "SELECT a.id, b.name FROM F c JOIN F a ON c.dst = a.src LEFT JOIN G b ON a.code = b.id",
        APART,
        3,
    ),
    Pair(
        "IN is a semijoin",
        "SELECT a.id FROM F a SEMI JOIN G b ON a.code = b.id",
        "SELECT id FROM F WHERE code IN (SELECT id FROM G)",
        SAME,
        0,
    ),
    Pair(
        "EXISTS is IN",
        "SELECT id FROM F WHERE code IN (SELECT id FROM G)",
        "SELECT id FROM F WHERE EXISTS (SELECT 1 FROM G WHERE G.id = F.code)",
        SAME,
        0,
    ),
    Pair(
        "NOT EXISTS is an antijoin",
        "SELECT a.id FROM F a ANTI JOIN G b ON a.code = b.id",
        "SELECT id FROM F WHERE NOT EXISTS (SELECT 1 FROM G WHERE G.id = F.code)",
        SAME,
        0,
    ),
    same(
        "LATERAL that is plain is a join",
        "SELECT a.id, b.id FROM F a JOIN G b ON a.code = b.id",
        "SELECT a.id, x.id FROM F a, LATERAL (SELECT id FROM G WHERE G.id = a.code) x",
    ),
    same(
        "LATERAL by other names",
        "SELECT a.id, n FROM F a LEFT JOIN LATERAL (SELECT MIN(name) AS n FROM G WHERE G.id = a.code) x ON TRUE",
        "SELECT b.id, m FROM F b LEFT JOIN LATERAL (SELECT MIN(name) AS m FROM G c WHERE c.id = b.code) x ON TRUE",
    ),
    same(
        "windows in Flink's words and in Spark's",
        "SELECT COUNT(*) FROM F GROUP BY window(day, '2 days')",
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE F, DESCRIPTOR(day), INTERVAL '2' DAY)) GROUP BY window_start",
    ),
    Pair(
        "IN reads the DISTINCT values",
        "SELECT DISTINCT id FROM G",
        "SELECT id FROM F WHERE code IN (SELECT id FROM G)",
        FROM,
        2,
    ),
    Pair(
        "a value of a subquery is the aggregate",
        "SELECT src, AVG(amount) AS a FROM F GROUP BY src",
        "SELECT id FROM F t WHERE amount > (SELECT AVG(amount) FROM F u WHERE u.src = t.src)",
        FROM,
        4,
    ),
    Pair(
        "a semijoin and an antijoin",
        "SELECT a.id FROM F a SEMI JOIN F b ON a.dst < b.src",
        "SELECT a.id FROM F a ANTI JOIN F b ON a.dst < b.src",
        APART,
        1,
    ),
    Pair(
        "a left join and a right join",
        "SELECT a.id, b.id FROM F a LEFT JOIN G b ON a.code = b.id",
        "SELECT a.id, b.id FROM F a RIGHT JOIN G b ON a.code = b.id",
        APART,
        2,
    ),
    Pair(
        "NOT IN, which minds NULLs, and NOT EXISTS",
        "SELECT id FROM F WHERE code NOT IN (SELECT id FROM G)",
        "SELECT id FROM F WHERE NOT EXISTS (SELECT 1 FROM G WHERE G.id = F.code)",
        GIVES,
        1,
    ),
    Pair(
        "a condition in ON and in WHERE",
        "SELECT a.id, b.id FROM F a LEFT JOIN G b ON a.code = b.id AND b.rate > 0",
        "SELECT a.id, b.id FROM F a LEFT JOIN G b ON a.code = b.id WHERE b.rate > 0 OR b.rate IS NULL",
        APART,
        3,
    ),
    Pair(
        "values of subqueries over other keys",
        "SELECT id FROM F t WHERE amount > (SELECT AVG(amount) FROM F u WHERE u.src = t.src)",
        "SELECT id FROM F t WHERE amount > (SELECT AVG(amount) FROM F u WHERE u.dst = t.dst)",
        APART,
        5,
    ),
]

PAIRS = [*ORDERS, *SELECTIONS, *JOINS, *OUTER_JOINS, *GROUPS, *SETS, *TEXTS, *NOT_SHARED]
