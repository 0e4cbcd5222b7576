"""Grouping sets, and aggregates beside the basic statistics."""

from __future__ import annotations

from sharing.pairs.pair import APART, BELOW, FROM, GIVES, SAME, Pair, same

from workbench.sharing.decisions import Rule

_ROLLUP = "SELECT src, code, SUM(amount) FROM F GROUP BY ROLLUP (src, code)"
_CUBE = _ROLLUP.replace("ROLLUP", "CUBE")
_TWO = "SELECT src, dst, COUNT(*) FROM F GROUP BY GROUPING SETS ((src), (dst))"

# The total among several groupings has no row of no rows in Spark: a selection stands on it, one node more.
GROUPING_SETS = [
    same("ROLLUP and GROUPING SETS", _ROLLUP, _ROLLUP.replace("ROLLUP (src, code)",
         "GROUPING SETS ((src, code), (src), ())")),
    same("CUBE in other order", _CUBE, _CUBE.replace("(src, code)", "(code, src)")),
    same("grouping__id is GROUPING_ID()", _CUBE.replace("SUM(amount)", "grouping__id"),
         _CUBE.replace("SUM(amount)", "GROUPING_ID()")),
    same("GROUPING SETS in other order", _TWO, _TWO.replace("((src), (dst))", "((dst), (src))")),
    Pair("ROLLUP of groups that are there", "SELECT src, code, SUM(amount) FROM F GROUP BY src, code", _ROLLUP, FROM,
         4, Rule.DIMENSIONS),
    Pair("groups that ROLLUP has", _ROLLUP, "SELECT src, SUM(amount) FROM F GROUP BY src", GIVES, 0, Rule.DIMENSIONS),
    Pair("the total that ROLLUP has", _ROLLUP, "SELECT SUM(amount) FROM F", GIVES, 0, Rule.DIMENSIONS),
    Pair("CUBE has the rows of ROLLUP", _ROLLUP, _CUBE, FROM, 2, Rule.BRANCHES, "which has some of the branches"),
    Pair("a condition on the groups of ROLLUP", _ROLLUP,
         f"SELECT * FROM ({_ROLLUP.replace('SUM(amount)', 'SUM(amount) AS s')}) v WHERE src = 'a'", BELOW, 1,
         Rule.EQUAL),
    Pair("ROLLUP in other order: the groups of one column differ", _ROLLUP,
         _ROLLUP.replace("(src, code)", "(code, src)"),
         APART, 2, Rule.DIMENSIONS),
    Pair("another statistic: groups are shared, rows of the answer are not", _ROLLUP,
         _ROLLUP.replace("SUM(amount)", "MIN(amount)"), APART, 1, Rule.STATISTICS, "now also MIN(amount)"),
    Pair("GROUPING is another column", _ROLLUP, _ROLLUP.replace("SUM(amount)", "GROUPING(src)"), APART, 1),
    Pair("ROLLUP of other rows", _ROLLUP, _ROLLUP.replace("FROM F", "FROM F WHERE code = 1"), APART, 6, Rule.NEW),
    Pair("ROLLUP of another stream", _ROLLUP, _ROLLUP.replace("FROM F", "FROM H"), APART, 6, Rule.NEW),
    Pair("places among groups of ROLLUP that are there", _ROLLUP,
         "SELECT src, code, SUM(amount), RANK() OVER (ORDER BY SUM(amount)) FROM F GROUP BY ROLLUP (src, code)",
         FROM, 1),
    Pair("GROUPING SETS of other columns", _TWO,
         "SELECT code, day, COUNT(*) FROM F GROUP BY GROUPING SETS ((code), (day))", APART, 3, Rule.NEW),
]  # fmt: skip


def by_src(statistic: str) -> str:
    """A statistic of the transfers of a sender."""
    return f"SELECT src, {statistic} FROM F GROUP BY src"


def by_both(statistic: str) -> str:
    """A statistic of finer groups."""
    return f"SELECT src, dst, {statistic} FROM F GROUP BY src, dst"


def finer(title: str, statistic: str) -> Pair:
    """A statistic that does not follow from those of finer groups."""
    return Pair(title, by_both(statistic), by_src(statistic), APART, 1, Rule.NEW, evaluated="bit" in statistic.lower())


_MIDDLE = "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY amount)"
_LIST = "LISTAGG(dst, ',') WITHIN GROUP (ORDER BY dst)"

AGGREGATES = [
    same("EVERY is BOOL_AND", by_src("BOOL_AND(code = 1)"), by_src("EVERY(code = 1)")),
    same("COUNT_IF is COUNT with FILTER", by_src("COUNT_IF(code = 1)"), by_src("COUNT(*) FILTER (WHERE code = 1)")),
    same("FILTER is CASE", by_src("SUM(amount) FILTER (WHERE code = 1)"),
         by_src("SUM(CASE WHEN code = 1 THEN amount END)")),
    same("ANY_VALUE is the least", by_src("ANY_VALUE(code)"), by_src("MIN(code)")),
    Pair("ARG_MAX is MAX_BY", by_src("MAX_BY(id, amount)"), by_src("ARG_MAX(id, amount)"), SAME, 0, Rule.EQUAL,
         evaluated=False),
    Pair("STRING_AGG is LISTAGG", by_src(_LIST), by_src(_LIST.replace("LISTAGG", "STRING_AGG")), SAME, 0, Rule.EQUAL,
         evaluated=False),
    Pair("two sets of bits", by_src("BIT_AND(code)"), by_src("BIT_OR(code)"), SAME, 0, Rule.STATISTICS,
         "now also BIT_OR(code)"),
    Pair("CORR and COVAR_POP of one group", by_src("CORR(code, id)"), by_src("COVAR_POP(code, id)"), SAME, 0,
         Rule.STATISTICS, evaluated=False),
    Pair("MEDIAN and PERCENTILE_DISC of one group", by_src("MEDIAN(amount)"), by_src(_MIDDLE), SAME, 0, Rule.STATISTICS,
         evaluated=False),
    Pair("COUNT_IF of coarser groups", by_both("COUNT_IF(code = 1)"), by_src("COUNT_IF(code = 1)"), FROM, 1,
         Rule.DIMENSIONS),
    Pair("BOOL_AND of coarser groups", by_both("BOOL_AND(code = 1)"), by_src("BOOL_AND(code = 1)"), FROM, 1,
         Rule.DIMENSIONS),
    finer("BIT_OR does not follow from finer groups", "BIT_OR(code)"),
    finer("nor does BIT_XOR", "BIT_XOR(code)"),
    finer("nor does MAX_BY", "MAX_BY(id, amount)"),
    finer("nor does LISTAGG", _LIST),
    finer("nor does COVAR_POP", "COVAR_POP(code, id)"),
    finer("nor does SKEWNESS", "SKEWNESS(x)"),
    finer("nor does PERCENTILE_DISC", _MIDDLE),
]  # fmt: skip
