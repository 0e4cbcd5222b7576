"""Outer joins, semijoins, antijoins and subqueries."""

from __future__ import annotations

from sharing.pairs.pair import APART, BELOW, BESIDE, FROM, GIVES, SAME, Pair, same

from workbench.sharing.decisions import Rule

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
        1,
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
        2,
    ),
]

_LEFT = "SELECT a.id, b.id FROM F a LEFT JOIN G b ON a.code = b.id"
_FOUND = "SELECT id FROM F WHERE EXISTS (SELECT 1 FROM G WHERE G.id = F.code)"
_BEFORE = "SELECT id FROM F WHERE EXISTS (SELECT 1 FROM G WHERE G.until < F.day)"

OUTER = [
    same("a left join by other names", _LEFT, "SELECT x.id, y.id FROM F x LEFT JOIN G y ON y.id = x.code"),
    Pair("a full join has the rows of a left one", _LEFT, _LEFT.replace("LEFT", "FULL"), FROM, 2, Rule.BRANCHES,
         "which has some of the branches"),
    Pair("a left join after a full one", _LEFT.replace("LEFT", "FULL"), _LEFT, GIVES, 1, Rule.NEW, "rerouted: "),
    Pair("a left join beside its inner join, a side tested",
         "SELECT a.id, b.id FROM F a JOIN G b ON a.code = b.id AND b.rate > 0", f"{_LEFT} AND b.rate > 0", FROM, 2,
         Rule.EQUAL),
    same("left joins of one row with two others, in other order",
         f"{_LEFT} LEFT JOIN H c ON a.id = c.id".replace("a.id, b.id FROM", "a.id, b.id, c.id FROM"),
         "SELECT x.id, y.id, z.id FROM F x LEFT JOIN G y ON x.code = y.id LEFT JOIN H z ON z.id = x.id"),
    Pair("a left join by another column", _LEFT, _LEFT.replace("a.code", "a.id"), APART, 3, Rule.NEW, "near miss"),
    Pair("a left join of another stream", _LEFT, _LEFT.replace("F a", "H a"), APART, 4, Rule.NEW),
    Pair("the kept side is tested in ON: the inner join is shared", _LEFT, f"{_LEFT} AND a.amount > 5", APART, 3,
         Rule.SUBSUMES, "still to be tested: "),
    Pair("the padded side is tested in ON: the inner join is shared", _LEFT, f"{_LEFT} AND b.rate > 0", APART, 3,
         Rule.SUBSUMES, "still to be tested: "),
]  # fmt: skip

FOUND = [
    same("one EXISTS in two queries", _FOUND,
         "SELECT t.src FROM F t WHERE EXISTS (SELECT name FROM G u WHERE t.code = u.id)"),
    Pair("a condition beside EXISTS", _FOUND, f"{_FOUND} AND F.amount > 5", BELOW, 1, Rule.SUBSUMES,
         "still to be tested: "),
    Pair("EXISTS and NOT EXISTS", _FOUND, _FOUND.replace("EXISTS", "NOT EXISTS"), FROM, 1, Rule.EQUAL),
    Pair("EXISTS of a join that is there", "SELECT F.id, G.id FROM F, G WHERE G.until < F.day", _BEFORE, FROM, 1,
         Rule.EQUAL),
    Pair("EXISTS under OR", "SELECT id FROM F WHERE code = 1 OR EXISTS (SELECT 1 FROM G WHERE G.id = F.code)",
         "SELECT id FROM F WHERE code = 2 OR EXISTS (SELECT 1 FROM G WHERE G.id = F.code)", BESIDE, 1, Rule.EQUAL),
    Pair("the greatest of all as a value", "SELECT MAX(amount) FROM F",
         "SELECT id FROM F WHERE amount = (SELECT MAX(amount) FROM F)", FROM, 1, Rule.EQUAL),
    same("ALL by other names", "SELECT id FROM F WHERE amount >= ALL (SELECT amount FROM F)",
         "SELECT id FROM F WHERE amount >= ALL (SELECT x.amount FROM F x)"),
    Pair("EXISTS over fewer rows: the keys are others", _FOUND, _FOUND.replace("F.code", "F.code AND G.rate > 0"),
         APART, 3, Rule.NEW),
    Pair("EXISTS of a range over fewer rows: the join is shared", _BEFORE,
         _BEFORE.replace("F.day", "F.day AND G.rate > 0"), APART, 2, Rule.SUBSUMES, "still to be tested: "),
    Pair("a condition beside NOT EXISTS: the join is shared", _FOUND.replace("EXISTS", "NOT EXISTS"),
         _FOUND.replace("EXISTS", "NOT EXISTS") + " AND F.amount > 5", APART, 3, Rule.SUBSUMES),
    Pair("IN another column of the subquery", "SELECT id FROM F WHERE src IN (SELECT dst FROM H)",
         "SELECT id FROM F WHERE src IN (SELECT src FROM H)", APART, 2, Rule.NEW),
    Pair("a value of a group and one of all", "SELECT id FROM F t WHERE amount > (SELECT AVG(amount) FROM F)",
         "SELECT id FROM F t WHERE amount > (SELECT AVG(amount) FROM F u WHERE u.src = t.src)", APART, 2),
    same("LEFT SEMI JOIN whose ON asks is EXISTS in EXISTS", "SELECT F.id FROM F LEFT SEMI JOIN H ON F.src = H.src AND"
         " EXISTS (SELECT 1 FROM G WHERE G.id = H.id)", "SELECT F.id FROM F WHERE EXISTS (SELECT 1 FROM H WHERE"
         " F.src = H.src AND EXISTS (SELECT 1 FROM G WHERE G.id = H.id))"),
    same("a table behind a schema is the table", "SELECT id FROM default.F WHERE default.F.amount > 5",
         "SELECT id FROM F WHERE amount > '5'"),
]  # fmt: skip
