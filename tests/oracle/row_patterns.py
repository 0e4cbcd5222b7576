"""Random patterns of rows: as MATCH_RECOGNIZE, and for the plain matcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from oracle.plain_matcher import Asked, Condition, Measure, Part, Seen


def _known(test: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison that is NULL where a value is."""
    return lambda *values: None if None in values else test(*values)


_less, _more, _sum = _known(lambda a, b: a < b), _known(lambda a, b: a > b), _known(lambda a, b: a + b)


def _here(seen: Seen, column: str = "n", shift: int = 0) -> Any:
    return seen.at("last", "", 0, shift, column)


CONDITIONS: Sequence[tuple[str, Condition]] = [
    ("TRUE", lambda m: True),
    ("n < 5", lambda m: _less(_here(m), 5)),
    ("n >= 4", lambda m: _known(lambda a: a >= 4)(_here(m))),
    ("s = 'a'", lambda m: _known(lambda a: a == "a")(_here(m, "s"))),
    ("s <> 'a' OR n IS NULL", lambda m: _here(m) is None or _known(lambda a: a != "a")(_here(m, "s"))),
    ("n > PREV(n)", lambda m: _more(_here(m), _here(m, shift=-1))),
    ("n < NEXT(n, 2)", lambda m: _less(_here(m), _here(m, shift=2))),
    ("COALESCE(PREV(s, 1), 'b') = 'b'", lambda m: (_here(m, "s", -1) or "b") == "b"),
    ("PREV(LAST({v}.n), 1) <= n", lambda m: _known(lambda a, b: a <= b)(_here(m, shift=-1), _here(m))),
    ("n <> A.n", lambda m: _known(lambda a, b: a != b)(_here(m), m.at("last", "A", column="n"))),
    ("n > FIRST(n)", lambda m: _more(_here(m), m.at("first", column="n"))),
    ("{v}.n >= FIRST(B.n, 1) OR n = 3", lambda m: _either(
        _known(lambda a, b: a >= b)(_here(m), m.at("first", "B", 1, column="n")), _known(lambda a: a == 3)(_here(m)))),
    ("COUNT(*) < 4", lambda m: m.count() < 4),
    ("COUNT({v}.*) <= 2 AND n > 1", lambda m: _both(m.count(m.name or "") <= 2, _more(_here(m), 1))),
    ("SUM({v}.n) < 12", lambda m: _less(m.sum("n", m.name or ""), 12)),
    ("SUM(n) >= 3", lambda m: _known(lambda a: a >= 3)(m.sum("n"))),
    ("n >= MAX(A.n) - 1", lambda m: _known(lambda a, b: a >= b - 1)(_here(m), max(m.all("n", "A"), default=None))),
    ("n + MIN(n) < 9", lambda m: _less(_sum(_here(m), min(m.all("n"), default=None)), 9)),
    ("AVG(n) < 5", lambda m: _less(_mean(m.all("n")), 5)),
    ("LAST({v}.n, 1) IS NULL OR n = 0", lambda m: _either(
        m.at("last", m.name or "", 1, column="n") is None, _known(lambda a: a == 0)(_here(m)))),
]  # fmt: skip


def _mean(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None


def _either(one: Any, other: Any) -> Any:
    return True if one is True or other is True else None if None in (one, other) else False


def _both(one: Any, other: Any) -> Any:
    return False if one is False or other is False else None if None in (one, other) else True


MEASURES: Sequence[tuple[str, Measure]] = [
    ("MATCH_NUMBER()", lambda m: m.number),
    ("CLASSIFIER()", lambda m: m.name),
    ("FIRST(id)", lambda m: m.at("first")),
    ("LAST(A.n)", lambda m: m.at("last", "A", column="n")),
    ("B.s", lambda m: m.at("last", "B", column="s")),
    ("PREV(FIRST(B.n), 2)", lambda m: m.at("first", "B", 0, -2, "n")),
    ("NEXT(id)", lambda m: m.at("last", "", 0, 1)),
    ("LAST(id, 1)", lambda m: m.at("last", "", 1)),
    ("FIRST(A.n + A.id, 1)", lambda m: _sum(m.at("first", "A", 1, column="n"), m.at("first", "A", 1))),
    ("COUNT(*)", lambda m: m.count()),
    ("COUNT(A.*) * 10 + COUNT(B.n)", lambda m: m.count("A") * 10 + len(m.all("n", "B"))),
    ("SUM(n)", lambda m: m.sum("n")),
    ("MAX(B.n) - MIN(A.n)", lambda m: _known(lambda a, b: a - b)(
        max(m.all("n", "B"), default=None), min(m.all("n", "A"), default=None))),
    ("AVG(A.n)", lambda m: _mean(m.all("n", "A"))),
    ("MAX(s)", lambda m: max(m.all("s"), default=None)),
]  # fmt: skip
SKIPS = {
    "PAST LAST ROW": "past",
    "TO NEXT ROW": "next",
    "TO FIRST B": "first B",
    "TO LAST A": "last A",
    "TO B": "last B",
}
ROWS = {
    "ONE ROW PER MATCH": "one",
    "ALL ROWS PER MATCH": "all",
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES": "all",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES": "omit",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS": "unmatched",
}


@dataclass(frozen=True)
class PatternCase:
    """A query, and what the plain matcher is asked."""

    sql: str
    asked: Asked
    measures: tuple[Measure, ...]
    columns: tuple[str, ...]
    final: tuple[bool, ...]


def random_pattern(chosen: Random) -> PatternCase:
    """A query with a random pattern over ``t (id, k, n, s, at)``."""
    part, text = _part(chosen, 3, hides=True)
    while not {"A", "B"} <= set(text):
        more, added = _part(chosen, 2, hides=True)
        part, text = ("seq", part, more), f"{text} {added}"
    if chosen.random() < 0.08:
        part, text = ("seq", "^", part), f"^ {text}"
    if chosen.random() < 0.08:
        part, text = ("seq", part, "$"), f"{text} $"
    # One undefined variable is met by all rows.
    defined = {name: chosen.choice(CONDITIONS) for name in "ABC" if name in text and chosen.random() < 0.9}
    define = ", ".join(f"{name} AS {sql.format(v=name)}" for name, (sql, _) in defined.items())
    rows = chosen.choice([*ROWS, *["ONE ROW PER MATCH"] * 3])
    skip = chosen.choice([*SKIPS]) if rows.startswith("ONE") else "PAST LAST ROW"
    measures = chosen.sample(MEASURES, chosen.randrange(1, 6))
    final = [chosen.random() < 0.3 and not rows.startswith("ONE") for _ in measures]
    shown = ", ".join(
        f"{'FINAL ' * end}{sql} AS m{i}" for i, ((sql, _), end) in enumerate(zip(measures, final, strict=True))
    )
    columns = ("k",) if rows.startswith("ONE") else ("k", "at", "id", "n", "s")
    read = ", ".join([*columns, *(f"m{i}" for i in range(len(measures)))])
    sql = (
        f"SELECT {read} FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY at, id MEASURES {shown} {rows}"
        f" AFTER MATCH SKIP {skip} PATTERN ({text}){f' DEFINE {define}' if define else ''}) AS m"
    )
    asked = Asked(part, {name: test for name, (_, test) in defined.items()}, SKIPS[skip], ROWS[rows])
    return PatternCase(sql, asked, tuple(test for _, test in measures), columns, tuple(final))


def _part(chosen: Random, depth: int, hides: bool) -> tuple[Part, str]:
    kind = chosen.choice(["name", "name", "seq", "seq", "or", "rep", "rep", "hide", "permute"]) if depth else "name"
    if kind == "hide" and not hides:
        kind = "name"
    if kind == "name":
        name = chosen.choice("AABBC")
        return name, name
    if kind == "hide":
        part, text = _part(chosen, depth - 1, False)
        return ("hide", part), f"{{- {text} -}}"
    if kind == "rep":
        part, text = _part(chosen, depth - 1, hides)
        sign, least, most = chosen.choice(
            [
                ("*", 0, None),
                ("+", 1, None),
                ("?", 0, 1),
                ("{2}", 2, 2),
                ("{1,2}", 1, 2),
                ("{2,}", 2, None),
                ("{,2}", 0, 2),
            ]
        )
        reluctant = chosen.random() < 0.3
        return ("rep", part, least, most, reluctant), f"({text}){sign}{'?' * reluctant}"
    inner = [_part(chosen, depth - 1, hides) for _ in range(chosen.randrange(2, 4))]
    parts, texts = [part for part, _ in inner], [text for _, text in inner]
    if kind == "permute":
        return ("permute", *parts[:2]), f"PERMUTE({', '.join(texts[:2])})"
    return (kind, *parts), f"({' | '.join(texts)})" if kind == "or" else f"({' '.join(texts)})"
