"""UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from sharing.pairs.pair import APART, BELOW, FROM, GIVES, Pair, same

from workbench.sharing.decisions import Rule

A, B, C = "SELECT src FROM F", "SELECT dst FROM F", "SELECT name FROM G"

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
