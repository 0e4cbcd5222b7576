"""Sixty inputs that are wrong: each message says what is wrong, where in the text, and what to try."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.notebook.command_line import MagicError
from workbench.notebook.commands.registry import find_command
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {
        "flights": (("carrier", STRING), ("delay", INTEGER), ("day", DATE), ("distance", DOUBLE)),
        "planes": (("carrier", STRING), ("seats", INTEGER)),
    }
)

TEXTS = {
    "SELECT carier FROM flights": "carier",
    "SELECT delay FROM flight": "flight",
    "SELECT delay FORM flights": "FORM",
    "SELECT f.delay FROM flights g": "f",
    "SELECT carrier FROM flights, planes": "carrier",
    "SELECT delay FROM flights WHERE": "WHERE",
    "SELECT delay FROM flights WHERE delay > ": "",
    "SELECT delay, FROM flights WHERE (delay > 3": "(",
    "SELECT delay FROM flights WHERE carrier > 3": "",
    "SELECT delay FROM flights WHERE delay = 'late'": "",
    "SELECT delay FROM flights WHERE delay + carrier > 3": "delay + carrier",
    "SELECT delay FROM flights WHERE day > '2024-13-45'": "",
    "SELECT delay FROM flights WHERE delay": "delay",
    "SELECT SUM(carrier) FROM flights": "SUM(carrier)",
    "SELECT carrier, SUM(delay) FROM flights": "carrier",
    "SELECT carrier, delay FROM flights GROUP BY carrier": "delay",
    "SELECT carrier FROM flights WHERE SUM(delay) > 3": "SUM(delay)",
    "SELECT carrier FROM flights HAVING delay > 3": "",
    "SELECT SUM(SUM(delay)) FROM flights": "",
    "SELECT SUM(*) FROM flights": "",
    "SELECT ROUNDD(distance) FROM flights": "ROUNDD(distance)",
    "SELECT UPPER(carrier, 3) FROM flights": "",
    "SELECT UPPER() FROM flights": "",
    "SELECT delay FROM flights ORDER BY 7": "7",
    "SELECT delay FROM flights GROUP BY 7": "7",
    "SELECT delay FROM flights LIMIT -1": "",
    "SELECT delay FROM flights UNION SELECT carrier, seats FROM planes": "",
    "SELECT delay FROM flights UNION ALL SELECT carrier FROM planes": "",
    "SELECT delay FROM flights JOIN planes ON carrier": "",
    "SELECT delay FROM flights f JOIN planes f ON f.delay = f.seats": "planes f",
    "SELECT delay FROM flights WHERE delay IN (SELECT carrier, seats FROM planes)": "",
    "SELECT (SELECT carrier, seats FROM planes) FROM flights": "",
    "SELECT CAST(delay AS INTEGR) FROM flights": "INTEGR",
    "SELECT CAST(day AS BOOLEAN) FROM flights": "",
    "SELECT CASE WHEN delay THEN 1 END FROM flights": "",
    "SELECT CASE WHEN delay > 1 THEN 1 ELSE day END FROM flights": "",
    "SELECT RANK() FROM flights": "",
    "SELECT RANDOM() FROM flights": "",
    "DELETE FROM flights": "DELETE",
    "UPDATE flights SET delay = 0": "UPDATE",
    "INSERT INTO flights VALUES (1)": "INSERT",
    "DROP TABLE flights": "DROP",
    "SELECT delay FROM flights; SELECT seats FROM planes": "",
    "SELECT delay flights": "delay",
    "SELECT delay FROM flights WHERE carrier LIKE 5": "5",
    "SELECT PERCENTILE_CONT(90) WITHIN GROUP (ORDER BY delay) FROM flights": "90",
    "SELECT 'late FROM flights": "'",
    "hello": "hello",
}
"""Texts, each with the word that the caret is below where there is just one that it can be."""

LINES = {
    "rnu 3": "did you mean run",
    "run three": "",
    "run --profil": "did you mean --profile",
    "run 3 4": "",
    "speed": "",
    "play --bach 3": "did you mean --batch",
    "costs --limit many": "%argus help costs",
    "timings --batches": "",
    "results": "%argus help results",
    "results --limit ten q": "",
    "play --speed": "",
    "stream": "%argus help stream",
    "stream flights": "%argus help stream",
    "stream flights f.csv --history many": "",
    "stream flights f.csv --chnages upsert": "did you mean --changes",
    "table planes": "%argus help table",
    "drop": "%argus help drop",
    "back one": "%argus help back",
    "plot": "%argus help",
    "undo": "%argus drop NAME",
    "export q q.parquet": "-o frame",
    "sink q out --nam topic": "--name",
    "list": "%argus queries",
    "alert q 'n > 5'": "%argus notify",
}
"""Lines after ``%argus``, each with a part of what to try."""


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_is_wrong(text):
    with pytest.raises(SqlError) as caught:
        bind(text, "spark", SCHEMA)
    lines = str(caught.value).splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() and set(line.strip()) == {"^"})
    assert lines[0] and caught.value.hint
    marked = lines[at - 1][lines[at].index("^") : lines[at].rindex("^") + 1]
    assert TEXTS[text] in ("", marked.strip())


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_wrong(line):
    with pytest.raises(MagicError) as caught:
        name, _, rest = line.partition(" ")
        command = find_command(name)
        command.run(None, command.parse(rest))  # what is found out before anything is asked of a session
    assert caught.value.message and LINES[line] in (caught.value.hint or "")
    assert caught.value.hint


def test_there_are_sixty():
    assert len(TEXTS) + len(LINES) >= 60


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("SELECT delay flights", "FROM says which stream"),
        ("SELECT RANK() FROM flights", "RANK(…) OVER (ORDER BY"),
        ("hello", "a query is a SELECT"),
    ],
)
def test_what_to_try_fits_what_is_wrong(text, tried):
    with pytest.raises(SqlError) as caught:
        bind(text, "spark", SCHEMA)
    assert tried in (caught.value.hint or "")
