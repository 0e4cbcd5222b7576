"""Inputs of FROM that read those before them: ASOF, LATERAL; and windows as tables."""

from __future__ import annotations

from sharing.pairs.pair import ABOVE, APART, BELOW, FROM, GIVES, SAME, Pair, same

from workbench.sharing.decisions import Rule

_ASOF = "SELECT a.id, b.id FROM F a ASOF JOIN G b ON a.code = b.id AND a.day >= b.until"

ASOF = [
    same("ASOF by other names", _ASOF,
         "SELECT x.id, y.id FROM F x ASOF JOIN G y ON y.until <= x.day AND y.id = x.code"),
    same("ASOF is the latest of LATERAL", _ASOF, "SELECT a.id, b.id FROM F a, LATERAL (SELECT id FROM G b"
         " WHERE b.id = a.code AND b.until <= a.day ORDER BY until DESC LIMIT 1) b"),
    same("other columns of the row that goes with it", _ASOF, _ASOF.replace("b.id FROM", "b.name FROM")),
    Pair("a condition on ASOF", _ASOF, f"{_ASOF} WHERE a.amount > 5", BELOW, 1, Rule.SUBSUMES, "still to be tested: "),
    Pair("ASOF LEFT after ASOF", _ASOF, _ASOF.replace("ASOF", "ASOF LEFT"), FROM, 2, Rule.EQUAL),
    Pair("ASOF after ASOF LEFT", _ASOF.replace("ASOF", "ASOF LEFT"), _ASOF, GIVES, 0, Rule.EQUAL),
    Pair("ASOF of earlier times only", _ASOF, _ASOF.replace(">=", ">"), APART, 6, Rule.EQUAL),
    Pair("ASOF of the time after: both times are of one union", _ASOF, _ASOF.replace(">=", "<="), APART, 5, Rule.EQUAL),
    Pair("ASOF of fewer rows is no condition on ASOF", _ASOF, _ASOF.replace("JOIN G", "JOIN (SELECT * FROM G"
         " WHERE rate > 0)"), APART, 7, Rule.EQUAL),
    Pair("ASOF by another column", _ASOF, _ASOF.replace("a.code", "a.id"), APART, 7, Rule.NEW),
    Pair("ASOF of another stream", _ASOF, _ASOF.replace("F a", "H a"), APART, 8, Rule.NEW),
    Pair("ASOF by time alone", _ASOF, _ASOF.replace("a.code = b.id AND ", ""), APART, 7, Rule.NEW),
]  # fmt: skip

_FIRST = "SELECT a.id, x.id FROM F a, LATERAL (SELECT id FROM G WHERE G.until < a.day ORDER BY rate LIMIT 3) x"
_LEAST = "SELECT a.id, n FROM F a LEFT JOIN LATERAL (SELECT MIN(name) AS n FROM G WHERE G.id = a.code) x ON TRUE"

LATERAL = [
    same("LATERAL that is plain is a join", "SELECT a.id, b.id FROM F a JOIN G b ON a.code = b.id",
         "SELECT a.id, x.id FROM F a, LATERAL (SELECT id FROM G WHERE G.id = a.code) x"),
    same("LATERAL by other names", _LEAST,
         "SELECT b.id, m FROM F b LEFT JOIN LATERAL (SELECT MIN(name) AS m FROM G c WHERE c.id = b.code) x ON TRUE"),
    same("a comma and CROSS JOIN", _FIRST, _FIRST.replace("F a,", "F a CROSS JOIN")),
    Pair("the first of the first three for each row", _FIRST, _FIRST.replace("LIMIT 3", "LIMIT 1"), BELOW, 1,
         Rule.SUBSUMES, "still to be tested: "),
    Pair("a condition on the rows around LATERAL", _FIRST, f"{_FIRST} WHERE a.amount > 5", BELOW, 1, Rule.SUBSUMES),
    Pair("the first rows in the other direction: pairs are shared", _FIRST,
         _FIRST.replace("rate LIMIT", "rate DESC LIMIT"),
         APART, 2, Rule.EQUAL),
    Pair("another statistic: groups are shared, rows with it are not", _LEAST, _LEAST.replace("MIN", "MAX"), APART, 4,
         Rule.STATISTICS, "now also MAX(G.name)"),
    Pair("LATERAL by another column", _LEAST, _LEAST.replace("a.code", "a.id"), APART, 9, Rule.NEW),
    Pair("LATERAL beside another stream", _LEAST, _LEAST.replace("F a", "H a"), APART, 10, Rule.NEW),
    Pair("LATERAL of fewer rows: pairs are shared", _LEAST, _LEAST.replace("a.code)", "a.code AND rate > 0)"), APART, 8,
         Rule.SUBSUMES),
]  # fmt: skip

_EXPLODE = "SELECT a.id, v FROM F a LATERAL VIEW EXPLODE(ARRAY(code, id)) e AS v"


_PARTS = "SELECT a.id, v FROM F a LATERAL VIEW EXPLODE(SPLIT(src, ',', 3)) e AS v"


def _parts(title: str, second: str, reads: str, new: int, rule: Rule) -> Pair:
    """What shares with the parts of a text; plain Python does not evaluate arrays."""
    return Pair(title, _PARTS, second, reads, new, rule, evaluated=False)


_TAGS = "SELECT a.id, v FROM F a LATERAL VIEW EXPLODE(SPLIT(src, ',')) e AS v"


def _tags(title: str, second: str, reads: str, new: int, rule: Rule) -> Pair:
    """What shares with the elements of an array of any length."""
    return Pair(title, _TAGS, second, reads, new, rule, evaluated=False)


def _elements(title: str, second: str, reads: str, new: int, rule: Rule) -> Pair:
    """What shares with the elements of an array; plain Python does not evaluate arrays."""
    return Pair(title, _EXPLODE, second, reads, new, rule, evaluated=False)


ELEMENTS = [
    _elements("EXPLODE as LATERAL, by other names", "SELECT a.id, w FROM F a, LATERAL EXPLODE(ARRAY(code, id)) x(w)",
              SAME, 0, Rule.EQUAL),
    _elements("POSEXPLODE whose places are not read", _EXPLODE.replace("EXPLODE", "OUTER POSEXPLODE").replace("AS v",
              "AS p, v"), SAME, 0, Rule.EQUAL),
    _elements("as many other elements: pairs are shared", _EXPLODE.replace("code, id", "id + 1, 7"), SAME, 0,
              Rule.EQUAL),
    _elements("a condition on elements", f"{_EXPLODE} WHERE v > 3", BELOW, 1, Rule.SUBSUMES),
    _elements("a condition on the rows of arrays", f"{_EXPLODE} WHERE amount > 5", BELOW, 1, Rule.SUBSUMES),
    _elements("groups of elements", _EXPLODE.replace("a.id, v", "v, COUNT(*)") + " GROUP BY v", FROM, 1, Rule.EQUAL),
    _elements("more elements", _EXPLODE.replace("code, id", "code, id, 1"), APART, 2, Rule.BRANCHES),
    _elements("elements of another stream", _EXPLODE.replace("F a", "H a"), APART, 5, Rule.NEW),
    _parts("parts by other names", "SELECT b.id, w FROM F b CROSS JOIN UNNEST(SPLIT(b.src, ',', 3)) AS x(w)", SAME, 0,
           Rule.EQUAL),
    _parts("places of parts, too", _PARTS.replace("id, v", "id, p, v").replace("EXPLODE", "POSEXPLODE").replace("AS v",
           "AS p, v"), SAME, 0, Rule.EQUAL),
    _parts("parts that the select list has", "SELECT id, EXPLODE(SPLIT(src, ',', 3)) FROM F", SAME, 0, Rule.EQUAL),
    _parts("a condition on parts", f"{_PARTS} WHERE v > 'x'", BELOW, 1, Rule.SUBSUMES),
    _parts("groups of parts", _PARTS.replace("a.id, v", "v, COUNT(*)") + " GROUP BY v", FROM, 1, Rule.EQUAL),
    _parts("OUTER has the rows with parts, too", _PARTS.replace("VIEW", "VIEW OUTER"), ABOVE, 0, Rule.WEAKER),
    _parts("parts of another text: places are shared", _PARTS.replace("src", "dst"), APART, 1, Rule.NEW),
    _tags("tags by other names", "SELECT b.id, w FROM F b CROSS JOIN UNNEST(SPLIT(b.src, ',')) AS x(w)", SAME, 0,
          Rule.EQUAL),
    _tags("a condition on tags", f"{_TAGS} WHERE v > 'x'", BELOW, 1, Rule.SUBSUMES),
    _tags("as many parts as places: parts are cut", _TAGS.replace("','", "',', 100"), APART, 1, Rule.NEW),
    _parts("more parts", _PARTS.replace("3", "4"), APART, 2, Rule.BRANCHES),
]  # fmt: skip

_TUMBLE = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE F, DESCRIPTOR(day), INTERVAL '2' DAY)) GROUP BY window_start"
_HOP = (
    "SELECT COUNT(*) FROM TABLE(HOP(TABLE F, DESCRIPTOR(day), INTERVAL '2' DAY, INTERVAL '4' DAY))"
    " GROUP BY window_start"
)
_SESSION = (
    "SELECT src, COUNT(*) FROM TABLE(SESSION(TABLE F PARTITION BY src, DESCRIPTOR(day), INTERVAL '2' DAY))"
    " GROUP BY src, window_start"
)

WINDOW_TABLES = [
    same("windows in Flink's words and in Spark's", "SELECT COUNT(*) FROM F GROUP BY window(day, '2 days')", _TUMBLE),
    same("HOP in Flink's words and in Spark's", _HOP,
         "SELECT COUNT(*) FROM F GROUP BY window(day, '4 days', '2 days')"),
    Pair("SESSION in Flink's words and in Spark's", _SESSION,
         "SELECT src, COUNT(*) FROM F GROUP BY src, session_window(day, '2 days')", SAME, 0, Rule.EQUAL,
         evaluated=False),
    same("the end of a window follows from its start", _TUMBLE, f"{_TUMBLE}, window_end"),
    Pair("another statistic of TUMBLE", _TUMBLE, _TUMBLE.replace("COUNT(*)", "SUM(amount)"), SAME, 0, Rule.STATISTICS),
    Pair("HAVING of TUMBLE", _TUMBLE, f"{_TUMBLE} HAVING COUNT(*) > 2", BELOW, 1, Rule.EQUAL),
    Pair("TUMBLE of coarser groups", _TUMBLE.replace("GROUP BY", "GROUP BY src,"), _TUMBLE, FROM, 1, Rule.DIMENSIONS),
    Pair("four days are twice two", _TUMBLE, _TUMBLE.replace("'2'", "'4'"), FROM, 1, Rule.DIMENSIONS),
    Pair("HOP is made of slices that are there", _TUMBLE, _HOP, FROM, 2, Rule.EQUAL),
    Pair("slices that HOP has", _HOP, _TUMBLE, GIVES, 0, Rule.EQUAL),
    Pair("three days are not made of two", _TUMBLE, _TUMBLE.replace("'2'", "'3'"), APART, 1, Rule.NEW),
    Pair("TUMBLE of fewer rows", _TUMBLE, _TUMBLE.replace("GROUP BY", "WHERE code = 1 GROUP BY"), APART, 2, Rule.NEW),
    Pair("TUMBLE of another stream", _TUMBLE, _TUMBLE.replace("TABLE F", "TABLE H"), APART, 3, Rule.NEW),
    Pair("a longer HOP: slices are shared", _HOP, _HOP.replace("'4'", "'6'"), APART, 2, Rule.BRANCHES),
    Pair("SESSION with another gap", _SESSION, _SESSION.replace("'2'", "'3'"), APART, 1, Rule.NEW, evaluated=False),
    Pair("SESSION of other keys", _SESSION, _SESSION.replace("src", "dst"), APART, 1, Rule.NEW, evaluated=False),
    Pair("SESSION is not TUMBLE", _TUMBLE, "SELECT COUNT(*) FROM F GROUP BY session_window(day, '2 days')", APART, 1,
         Rule.NEW, evaluated=False),
]  # fmt: skip


def path(steps: int, first: str = "amount > 5", follows: str = "f.amount > 0") -> str:
    """Transfers that follow transfers, in a number of steps."""
    return (
        f"WITH RECURSIVE p AS (SELECT src, dst, 1 AS depth FROM F WHERE {first} UNION ALL SELECT p.src, f.dst,"
        f" p.depth + 1 FROM p JOIN F f ON p.dst = f.src AND {follows} WHERE p.depth < {steps}) SELECT * FROM p"
    )


REACHED = (
    "WITH RECURSIVE p AS (SELECT src, dst FROM F WHERE amount > 5 UNION SELECT p.src, f.dst FROM p JOIN F f"
    " ON p.dst = f.src) SELECT * FROM p"
)
"""All that is reached, in any number of steps."""

NARROWEST = (
    "WITH RECURSIVE p (a, b, c) USING KEY (a, b, MIN(c)) AS (SELECT src, dst, amount FROM F WHERE amount > 5 UNION"
    " SELECT p.a, f.dst, GREATEST(p.c, f.amount) FROM p JOIN F f ON p.b = f.src) SELECT * FROM p"
)
"""The least of the greatest amounts of all ways."""

RECURSIVE = [
    same("least values by other names, the value first", NARROWEST,
         NARROWEST.replace("p (a, b, c) USING KEY (a, b, MIN(c))", "p (x, y, z) USING KEY (min(z), y, x)")
         .replace("p.a", "p.x").replace("p.b", "p.y").replace("p.c", "p.z")),
    Pair("a selection above least values", NARROWEST, f"{NARROWEST} WHERE c < 9", BELOW, 1, Rule.EQUAL),
    Pair("groups above least values", NARROWEST,
         NARROWEST.replace("SELECT * FROM p", "SELECT a, MIN(c) FROM p GROUP BY a"), FROM, 1, Rule.EQUAL),
    Pair("greatest and least values", NARROWEST, NARROWEST.replace("MIN", "MAX"), APART, 1),
    Pair("least values and all of them", NARROWEST, NARROWEST.replace(" USING KEY (a, b, MIN(c))", ""), APART, 1),
    Pair("least values of other ways", NARROWEST, NARROWEST.replace("p.b = f.src", "p.a = f.src"), APART, 1),
    Pair("least values with a bound", NARROWEST, NARROWEST.replace("p.b = f.src", "p.b = f.src AND p.c < 9"), APART, 1),
    Pair("least values from other rows", NARROWEST, NARROWEST.replace("> 5", "> 6"), APART, 2),
    Pair("a path of three steps begins with one of two", path(2), path(3), FROM, 2, Rule.BRANCHES,
         "which has some of the branches"),
    Pair("a path of two steps is the begin of one of three", path(3), path(2), GIVES, 1, Rule.EQUAL, "rerouted: "),
    Pair("a step that is there as a join", "SELECT a.src FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"
         " AND b.amount > 0", path(2), FROM, 1, Rule.EQUAL),
    Pair("paths from one sender", path(3), f"{path(3)} WHERE src = 'a'", BELOW, 1, Rule.EQUAL),
    Pair("groups of paths", path(3), path(3).replace("SELECT * FROM p", "SELECT src, MIN(depth) FROM p GROUP BY src"),
         FROM, 1, Rule.EQUAL),
    same("paths by other names", path(3), path(3).replace("p.", "q.").replace("FROM p", "FROM q")
         .replace("RECURSIVE p", "RECURSIVE q")),
    Pair("UNION of the same steps: the steps are shared", path(3), path(3).replace("UNION ALL", "UNION"), FROM, 1,
         Rule.BRANCHES),
    Pair("paths that begin otherwise", path(2), path(2, "amount < 5"), APART, 4),
    Pair("paths that go on otherwise", path(2), path(2, follows="f.code = 1"), APART, 2),
    Pair("paths back", path(2), path(2).replace("p.dst = f.src", "p.src = f.dst"), APART, 2, Rule.NEW),
    Pair("paths in another stream", path(2), path(2).replace("FROM F", "FROM H").replace("JOIN F", "JOIN H"), APART, 5,
         Rule.NEW),
    same("a recursion by other names, its FROM the other way round", path(9),
         path(9).replace("p.", "q.").replace("RECURSIVE p", "RECURSIVE q").replace("* FROM p", "* FROM q")
         .replace("FROM p JOIN F f ON", "FROM F f JOIN q ON")),
    same("a recursion in a subquery", REACHED, f"SELECT * FROM ({REACHED}) r"),
    Pair("a selection above a recursion", REACHED, f"{REACHED} WHERE src = 'a'", BELOW, 1, Rule.EQUAL),
    Pair("groups above a recursion", REACHED, REACHED.replace("SELECT * FROM p", "SELECT src, COUNT(*) FROM p GROUP BY"
         " src"), FROM, 1, Rule.EQUAL),
    Pair("a join of a recursion with itself", REACHED, REACHED.replace("SELECT * FROM p",
         "SELECT x.src FROM p x JOIN p y ON x.dst = y.src"), FROM, 1, Rule.EQUAL),
    Pair("a branch of a recursion is a selection that is there", "SELECT * FROM F WHERE amount > 5", path(9), FROM, 2,
         Rule.EQUAL),
    Pair("UNION of the same recursion", path(9), path(9).replace("UNION ALL", "UNION"), APART, 1),
    Pair("a recursion from other rows", REACHED, REACHED.replace("> 5", "> 6"), APART, 2),
    Pair("a recursion by another condition", REACHED, REACHED.replace("p.dst = f.src", "p.src = f.dst"), APART, 1),
    Pair("a recursion through other rows", REACHED, REACHED.replace("p.dst = f.src", "p.dst = f.src AND f.code = 1"),
         APART, 2),
    Pair("a recursion of other columns", REACHED, REACHED.replace("N SELECT p.src", "N SELECT f.src"), APART, 1),
    Pair("a recursion in another stream", REACHED, REACHED.replace("FROM F", "FROM H").replace("JOIN F", "JOIN H"),
         APART, 3, Rule.NEW),
    Pair("steps that are counted from zero", path(2), path(1).replace("1 AS depth", "0 AS depth"), APART, 1),
]  # fmt: skip
