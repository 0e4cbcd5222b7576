"""Inner joins, and queries written with views and subqueries."""

from __future__ import annotations

from sharing.pairs.pair import ABOVE, APART, BELOW, BESIDE, FROM, GIVES, SAME, Pair, same

from workbench.sharing.decisions import Rule

PATH = "SELECT a.id, b.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"
BOTH = "SELECT a.id FROM F a, F b WHERE a.dst = b.src"
CHAIN = "SELECT c.id FROM F a, F b, G c WHERE a.dst = b.src AND b.code = c.id AND a.amount > 5"

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
