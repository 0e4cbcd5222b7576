"""Fifty windowed queries on one stream, against DuckDB over the window of each prefix.

Windows slide, hop, stand still, begin before the first row and end after the last, and are empty; times are late, equal
and NULL. ``ARGUS_LONG=all`` runs all of them, over more batches; otherwise some of each kind are run.
"""

from __future__ import annotations

import re

from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.test_windows import asked, events

ALL = LONG
HISTORY, BATCH, BATCHES = 40, 15, 6 if ALL else 3
F = events(HISTORY + 10 * BATCH, 11)
START = max(d for d in F.slice(0, HISTORY)["d"].to_pylist() if d is not None)
STATISTICS = "COUNT(*) n, SUM(amount) s, MIN(amount) a, MAX(amount) b, AVG(amount) m"


def of_now(sql: str) -> Case:
    """A query whose windows are told from now."""
    return Case(sql, asked(sql, "f"))


def between(select: str, begin: str, end: str, group: str = "") -> Case:
    """PSoup's clause; ends are days back from now, or dates."""
    ends = [f"NOW - {e}" if e.isdigit() else f"'{e}'" for e in (begin, end)]
    days = [f"now() - {e}" if e.isdigit() else f"DATE '{e}'" for e in (begin, end)]
    window = asked(f"d >= {days[0]} AND d <= {days[1]}", "f")
    return Case(f"{select} FROM f{group} BEGIN {ends[0]} END {ends[1]}", f"{select} FROM f WHERE {window}{group}")


def hopping(select: str, size: int, hop: int, group: str = "") -> Case:
    """A loop that begins when it is registered, and its last instant that is due, worked out by DuckDB."""
    clause = f" for (t = ST; ; t += {hop}) {{ WindowIs(f, t - {size - 1}, t); }}"
    start = f"DATE '{START}'"
    instant = asked(f"({start} + CAST({hop} * ((now() - {start}) // {hop}) AS INTEGER))", "f")
    window = f"d BETWEEN {instant} - {size - 1} AND {instant}"
    return Case(f"{select} FROM f{group}{clause}", f"{select} FROM f WHERE {window}{group}")


PAIRS = "SELECT a.id, b.id other FROM f a JOIN f b ON a.bank = b.bank AND a.amount > b.amount WHERE a.d > now() - {}"
KINDS: dict[str, list[Case]] = {
    "sliding": [of_now(f"SELECT id, amount FROM f WHERE d > now() - {w}") for w in (1, 2, 3, 5, 8, 13, 21, 400)],
    "some of them": [
        of_now(f"SELECT id, bank FROM f WHERE d >= now() - {w} AND amount {test}")
        for w, test in ((0, "> 3"), (2, "> 6"), (4, "< 4"), (9, "= 5"), (9, "BETWEEN 2 AND 8"), (60, "IS NULL"))
    ],
    "of earlier days": [
        of_now(f"SELECT id FROM f WHERE d BETWEEN now() - {a} AND now() - {b}")
        for a, b in ((2, 1), (7, 3), (40, 12), (30, 30), (400, 300))
    ],
    "after the last": [of_now("SELECT id FROM f WHERE d > now()"), of_now("SELECT id FROM f WHERE d >= now() + 2")],
    "begin and end": [between("SELECT id, d", a, b) for a, b in (("3", "0"), ("6", "2"), ("30", "5"), ("1", "1"))],
    "standing": [
        between("SELECT id, d", "2002-01-03", "0"),
        between("SELECT id, d", "2002-01-03", "2002-01-06"),
        between("SELECT id, d", "2030-01-01", "2030-12-31"),
    ],
    "by bank": [
        of_now(f"SELECT bank, {STATISTICS} FROM f WHERE d > now() - {w} GROUP BY bank") for w in (1, 3, 6, 20, 90)
    ],
    "whole": [of_now(f"SELECT {STATISTICS} FROM f WHERE d < now() - {w}") for w in (1, 5, 300)],
    "medians": [of_now(f"SELECT bank, MEDIAN(amount) m FROM f WHERE d > now() - {w} GROUP BY bank") for w in (2, 11)],
    "distinct amounts": [of_now("SELECT COUNT(DISTINCT amount) n FROM f WHERE d > now() - 5")],
    "distinct": [of_now(f"SELECT DISTINCT bank, amount FROM f WHERE d >= now() - {w}") for w in (1, 6)],
    "hopping": [hopping("SELECT id, d", size, hop) for size, hop in ((5, 5), (7, 3), (2, 7))],
    "hopping groups": [
        hopping(f"SELECT bank, {STATISTICS}", size, hop, " GROUP BY bank") for size, hop in ((4, 2), (1, 3))
    ],
    "pairs": [
        of_now(PAIRS.format(2)),
        of_now(PAIRS.format(3) + " AND b.d > now() - 6"),
        of_now(PAIRS.format(9) + " AND a.d = b.d"),
    ],
    "silent": [of_now("SELECT bank, MAX(d) last FROM f GROUP BY bank HAVING MAX(d) < now() - 1")],
}
CASES = {f"{kind} {i}": case for kind, cases in KINDS.items() for i, case in enumerate(cases)}
EAGER = re.compile(r".* [02]")
SOME = (
    "sliding 0", "some of them 1", "of earlier days 4", "after the last 1", "begin and end 1", "standing 1",
    "by bank 1", "whole 1", "hopping 2", "hopping groups 1", "pairs 1",
)  # fmt: skip


def test_they_are_fifty() -> None:
    assert len(CASES) == 50


def test_fifty_windows_on_one_stream(spark: object) -> None:
    chosen = CASES if ALL else {name: CASES[name] for name in SOME}
    with Oracle(spark, {"f": Feed(F, HISTORY, BATCH, time="d")}) as oracle:
        for results in ("lazy", "eager"):
            kept = {n: c for n, c in chosen.items() if ("eager" if EAGER.fullmatch(n) else "lazy") == results}
            if kept:
                oracle.register(kept, check=False, results=results)
        oracle.run(BATCHES, check=False)
        oracle.check_changes()
        assert sum(node.kind == "source" for node in oracle.session.network.nodes) == 1
