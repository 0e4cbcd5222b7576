"""What planning does grows with a text about as the text does: work is counted, and not timed.

Each construct is written *n* times, beside or inside itself. Twice as many may cost a little more than twice as much,
since joins are ordered and a condition is compared with others; what doubles with each further one is found at once.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import calls
from long import some
from sharing.nested_texts import SCHEMA
from sharing.planned import planned

from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import listing, parts_of
from workbench.sql.predicates.normal_form import MAX_OR_PREDS

VALUES = {
    "a count": "(SELECT COUNT(*) FROM u WHERE u.k < t.b + {i})",
    "a maximum by key": "(SELECT MAX(v) FROM u WHERE u.k = t.b + {i})",
    "a single value": "(SELECT u.v FROM u WHERE u.k = t.b + {i})",
    "a total": "(SELECT COUNT(*) FROM u WHERE u.k < {i})",
}
CONDITIONS = {
    "IN a count": "a + {i} IN (SELECT COUNT(*) FROM u WHERE u.k < t.b + {i})",
    "IN": "a + {i} IN (SELECT u.k FROM u WHERE u.v < t.b + {i})",
    "NOT IN": "a + {i} NOT IN (SELECT u.k FROM u WHERE u.v < t.b + {i})",
    "EXISTS": "EXISTS (SELECT 1 FROM u WHERE u.k < t.b + {i})",
    "NOT EXISTS": "NOT EXISTS (SELECT 1 FROM u WHERE u.k < t.b + {i} AND u.v = t.a)",
    "ANY": "a < ANY (SELECT u.k FROM u WHERE u.v < t.b + {i})",
    "ALL": "a >= ALL (SELECT u.k + {i} FROM u WHERE u.v = t.b)",
    "rows": "(a, b) NOT IN (SELECT u.k, u.v FROM u WHERE u.v > t.a + {i})",
}
VIEWS = {
    "groups": "SELECT a, SUM(b) AS b, MAX(s) AS s FROM {p} GROUP BY a",
    "unions": "SELECT a, b, s FROM {p} UNION SELECT b, a, s FROM {p}",
    "distinct joins": "SELECT DISTINCT x.a, y.b, x.s FROM {p} x JOIN {p} y ON x.a = y.b",
    "EXISTS": "SELECT a, b, s FROM {p} x WHERE EXISTS (SELECT 1 FROM {p} y WHERE y.a = x.b)",
    "NOT IN": "SELECT a, b, s FROM {p} x WHERE a NOT IN (SELECT y.b FROM {p} y WHERE y.a < x.b)",
    "LEFT": "SELECT x.a, y.b, x.s FROM {p} x LEFT JOIN t y ON x.a = y.b + {i}",
    "values": "SELECT x.a, (SELECT MAX(y.a) FROM {p} y WHERE y.b < x.b) AS b, s FROM {p} x",
    "OVER": "SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY b) AS b, s FROM {p}",
    "LIMIT": "SELECT a, b, s FROM {p} ORDER BY a LIMIT {i}",
}
BESIDE = {
    "selected": ("SELECT ", "{f} AS c{i}", ", ", " FROM t"),
    "in CASE": ("SELECT ", "CASE WHEN {f} > {i} THEN {f} ELSE 0 END AS c{i}", ", ", " FROM t"),
    "under OR": ("SELECT a FROM t WHERE ", "{f} > {i}", " OR ", ""),
    "under AND": ("SELECT a FROM t WHERE ", "{f} > {i}", " AND ", ""),
    "in HAVING": ("SELECT b FROM t GROUP BY b HAVING ", "{f} > COUNT(*)", " OR ", ""),
}
UNDER = {
    "OR": ("SELECT a FROM t WHERE ", "{f}", " OR ", ""),
    "AND": ("SELECT a FROM t WHERE ", "{f}", " AND ", ""),
    "OR of AND": ("SELECT a FROM t WHERE ", "({f} AND a <> {i})", " OR ", ""),
    "CASE": ("SELECT ", "CASE WHEN {f} THEN 1 ELSE 2 END AS c{i}", ", ", " FROM t"),
}
OFTEN = ("IN a count under OR", "a total in CASE", "NOT IN under AND", "views with NOT IN", "correlated inside")
"""Of these the work is counted in every run."""
Text = Callable[[int], str]


def _beside(place: tuple[str, str, str, str], part: str) -> Text:
    begin, item, separator, end = place
    return lambda n: begin + separator.join(item.replace("{f}", part).format(i=i) for i in range(n)) + end


def _views(body: str) -> Text:
    def text(n: int) -> str:
        bodies = (f"CREATE VIEW w{i} AS {body.format(p=f'w{i - 1}', i=i)};" for i in range(1, n + 1))
        return f"CREATE VIEW w0 AS SELECT * FROM t; {' '.join(bodies)} SELECT * FROM w{n}"

    return text


def _inside(body: str, last: str) -> Text:
    def text(n: int, i: int = 0) -> str:
        return last.format(i=i, o=i - 1) if i == n else body.format(i=i, o=max(0, i - 1), q=text(n, i + 1))

    return text


def _chain(begin: str, item: str) -> Text:
    return lambda n: " ".join([begin, *(item.format(i=i, p=i - 1) for i in range(1, n + 1))])


TEXTS: dict[str, Text] = {
    **{f"{name} {where}": _beside(place, part) for name, part in VALUES.items() for where, place in BESIDE.items()},
    **{f"{name} under {where}": _beside(p, part) for name, part in CONDITIONS.items() for where, p in UNDER.items()},
    **{f"views with {name}": _views(body) for name, body in VIEWS.items()},
    "IN inside IN": _inside("SELECT k FROM u u{i} WHERE v IN ({q})", "SELECT k FROM u"),
    "NOT IN inside NOT IN": _inside("SELECT k FROM u u{i} WHERE v NOT IN ({q})", "SELECT k FROM u"),
    "NOT IN under OR inside": _inside("SELECT k FROM u u{i} WHERE v NOT IN ({q}) OR v < 2", "SELECT k FROM u"),
    "correlated inside": _inside(
        "SELECT MAX(k) FROM u u{i} WHERE v > 3 OR k < u{o}.v OR v > ({q})", "SELECT MAX(k) FROM u WHERE v < u{o}.k"
    ),
    "LEFT JOIN": _chain("SELECT t.a FROM t", "LEFT JOIN u u{i} ON u{i}.k = t.a + {i}"),
    "a chain of LEFT JOIN": _chain("SELECT t.a FROM t LEFT JOIN u u0 ON k = a", "LEFT JOIN u u{i} ON u{i}.k = u{p}.v"),
    "a chain of FULL JOIN": _chain("SELECT t.a FROM t FULL JOIN u u0 ON k = a", "FULL JOIN u u{i} ON u{i}.k = u{p}.v"),
    "LATERAL": _chain("SELECT t.a FROM t", ", LATERAL (SELECT COUNT(*) AS c FROM u WHERE u.k < t.a + {i}) l{i}"),
    "UNION": _chain("SELECT a FROM t", "UNION SELECT a + {i} FROM t"),
    "CASE inside CASE": lambda n: (
        f"SELECT {''.join(f'CASE WHEN a > {i} THEN b + ' for i in range(n))}0{' ELSE 1 END' * n} AS c FROM t"
    ),
}


def _grown(measure: Callable[[str], dict[str, int]], what: str, number: int = 3) -> dict[str, float]:
    few, many = measure(TEXTS[what](number)), measure(TEXTS[what](2 * number))
    return {name: round(many[name] / few[name], 1) for name in few}


def _size(sql: str) -> dict[str, int]:
    """How much there is of a logical query."""
    query = bind(sql, "spark", SCHEMA).named("q")["q"]
    return {"parts": len(parts_of(query)), "inputs": sum(len(part.children()) for part in parts_of(query))}


def _work(sql: str) -> dict[str, int]:
    """How much there is of a plan, and how many calls of Python it takes."""
    result, called = calls(lambda: planned(sql, SCHEMA))
    return {"calls": called, "nodes": len(result.network.nodes), "listing": len(listing(result.logical))}


@pytest.mark.slow
def test_a_logical_query_grows_as_its_text() -> None:
    grown = {what: _grown(_size, what) for what in TEXTS}
    assert not {what: sizes for what, sizes in grown.items() if max(sizes.values()) > 3}


@pytest.mark.slow
@pytest.mark.parametrize("what", some(sorted(TEXTS, key=lambda what: what not in OFTEN), len(OFTEN)))
def test_a_plan_grows_about_as_its_text(what: str) -> None:
    # As ANDs of ORs, an OR of n ANDs of two doubles with each, until it has as many as it may have and stays as it is.
    distributed = MAX_OR_PREDS.bit_length() - 1 if what.endswith("OR of AND") else 3
    grown = _grown(_work, what, distributed)
    assert grown["nodes"] <= 2.7 and grown["listing"] <= 4.5 and grown["calls"] <= 6, grown
