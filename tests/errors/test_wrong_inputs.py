"""Sixty inputs that are wrong: each message says what is wrong, where in the text, and what to try."""

from __future__ import annotations

import pytest

from workbench.errors import MagicError, SqlError
from workbench.notebook.command_line import condition
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
    "SELECT PERCENTILE(delay) FROM flights": "delay",
    "SELECT PERCENTILE_APPROX(delay), carrier FROM flights": "delay",
    "SELECT carrier, PERCENTILE_CONT(0.5) FROM flights": "PERCENTILE_CONT(0.5)",
    "SELECT LISTAGG(carrier, 3) FROM flights": "",
    "SELECT UPPER(SPLIT(carrier)) FROM flights": "SPLIT(carrier)",
    "SELECT LAG() OVER (ORDER BY day) FROM flights": "LAG()",
    "SELECT NTILE() OVER (ORDER BY day) FROM flights": "",
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
    "plot": "%argus results NAME --chart",
    "delete q": "%argus drop NAME",
    "remove q": "%argus drop NAME",
    "SELECT * FROM s": "%%argus NAME",
    "register q SELECT 1": "%%argus NAME",
    "describe q": "%argus queries",
    "head q": "%argus results NAME",
    "graph": "%argus plan",
    "next": "%argus run 1",
    "stop": "%argus pause",
    "load folder": "%argus open FOLDER",
    "history q": "--changes",
    "run 2.5": "as in %argus run",
    "play 1h": "as in %argus play",
    "subscribe q --port http": "as in %argus subscribe big_transfers --port",
    "diff q": "as in %argus diff",
    "explain": "as in %argus explain",
    "windows q --as-of 3": "it has --limit",
    "stream f f.csv --type at=date d.M.yyyy": 'if "at=date d.M.yyyy" is one value, it stands in quotes',
    "results q --limit -3": "%argus help results",
    "why q --limit -1": "%argus help why",
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


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("SELECT delay flights", "FROM says which stream"),
        ("SELECT RANK() FROM flights", "RANK(…) OVER (ORDER BY"),
        ("hello", "a query is a SELECT"),
        ("SELECT delay FROM flights WHERE carrier < DATE '2025-03-01'", "--type column=date"),
        ("SELECT delay FROM flights WHERE day > carrier", "TO_DATE(s, 'dd.MM.yyyy')"),
        ("SELECT LAG(delay, 'a') OVER (ORDER BY day) FROM flights", "write the number itself, as 3"),
        ("SELECT day + 'a day' FROM flights", "day + INTERVAL '3' DAY"),
        ("SELECT CAST(delay AS DECIMAL(3, 5)) FROM flights", "as in DECIMAL(9, 2)"),
        (
            "SELECT SUM(delay) OVER (ORDER BY day ROWS BETWEEN 3 FOLLOWING AND 1 PRECEDING) FROM flights",
            "ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING",
        ),
        ("SELECT REGEXP_EXTRACT(carrier, '(') FROM flights", "behind a backslash"),
        ("SELECT delay FROM flights WHERE carrier RLIKE '('", "behind a backslash"),
        ("SELECT carrier LIKE '%x' ESCAPE 'ab' FROM flights", "ESCAPE '!'"),
        ("SELECT delay FROM flights FETCH 3 ROWS", "FETCH FIRST 3 ROWS ONLY"),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM flights) SELECT * FROM a", "before what reads it"),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", "WITH RECURSIVE"),
        ("MERGE INTO flights USING planes ON 1 = 1", "a query is a SELECT"),
        ("EXPLAIN SELECT delay FROM flights", "%argus explain NAME"),
        ("SHOW TABLES", "%argus streams"),
        ("SELECT ‘late’ FROM flights", "write 'late'"),
        ("SELECT CASE delay WHEN > 3 THEN 1 END FROM flights", "CASE WHEN a > 3 THEN"),
        ("SELECT UPPER(SPLIT(carrier)) FROM flights", "write split(str, regex, limit)"),
        ("SELECT UPPER(delay + ) FROM flights", "write a column or a value there"),
        ("SELECT UPPER(carrier, 3) FROM flights", "write upper(str)"),
        ("SELECT delay FROM flights WHERE delay BETWEEN 3, 9", "write AND between the two"),
        ("SELECT delay FROM flights WHERE delay BETWEEN 3 TO 9", "BETWEEN a AND b"),
        ("SELECT delay FROM flights WHERE delay > 3 AND day BETWEEN '2024-01-01'", "BETWEEN a AND b"),
        ("SELECT carrier COUNT(*) FROM flights GROUP BY carrier", "is a comma missing before COUNT?"),
        ("SELECT carrier, delay SUM(delay) FROM flights", "is a comma missing before SUM?"),
        ("SELECT * EXCEPT (weight) FROM flights", "it has carrier, delay, day, distance"),
        ("SELECT DATE_TRUNC(carrier, 'MONTH') FROM flights", "the unit stands first: DATE_TRUNC('MONTH', carrier)"),
        ("SELECT DATE_FORMAT('yyyy', carrier) FROM flights", "then its format"),
        ("SELECT MEDAIN(delay) FROM flights", "did you mean median?"),
        ("SELECT STRPTIME(carrier, '%Y') FROM flights", "TO_TIMESTAMP(s, "),
        ("SELECT delay FROM flights WHERE delay IN 3", "IN (3)"),
        ("SELECT delay FROM flights WHERE 'x' IN carrier", "ARRAY_CONTAINS(carrier, 'x') asks an array"),
        ("SELECT delay FROM flights WHERE carrier NOT 'AA'", "<>, NOT IN, NOT LIKE"),
        ("SELECT day AT TIMEZONE 'Europe/Berlin' FROM flights", "t AT TIME ZONE 'Europe/Berlin'"),
        ("SELECT delay, AS FROM flights", "a column that is called so stands in quotes: `AS`"),
        ("SELECT delay + AS FROM flights", "a column that is called so stands in quotes: `AS`"),
        ("SELECT delay FROM flights WHERE carrier = 'O'Hare'", "a quote inside of a text is doubled: 'it''s'"),
        ("SELECT delay FROM flights WHERE (delay > 3 AND)", "write a column or a value there"),
        ("SELECT delay FROM flights WHERE delay > {least}", "write :name"),
        ("SELECT delay FROM flights WHERE day > 2024-01-31", "without quotes it is a subtraction"),
        ("SELECT delay FROM flights WHERE day > day - 1h", "INTERVAL '1' HOUR"),
        ("SELECT delay FROM flights WHERE day > day - INTERVAL '1' WEKE", "did you mean WEEK?"),
        ("SELECT delay FROM flights WHERE carrier = true", "boolean yes/no"),
        ("SELECT delay FROM flights WHERE carrier = 1067", "or '01067' if the column has that"),
        ("SELECT * FROM 'in/flights.parquet'", "%argus stream NAME in/flights.parquet"),
        ("SELECT gross FROM flights", "did you mean `gross (eur)`?"),
        ("SELECT gate FROM flights", "%argus stream flights --add gate makes it a column"),
    ],
)
def test_what_to_try_is_what_was_meant(text, tried):
    flights = (*SCHEMA.streams["flights"], ("gross (eur)", DOUBLE))
    with pytest.raises(SqlError) as caught:
        bind(text, "spark", Schema({"flights": flights}, members={"flights": {"gate"}}))
    assert tried in (caught.value.hint or "")


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "oracle"])
@pytest.mark.parametrize("text", ["SELECT `delay` FROM flights", "SELECT delay FROM flights WHERE `carrier` = 'x'"])
def test_backticks_are_of_other_dialects(dialect, text):
    with pytest.raises(SqlError) as caught:
        bind(text, dialect, SCHEMA)
    assert 'double quotes in this dialect: "name"' in (caught.value.hint or "")


def test_the_name_of_a_query_is_no_command():
    with pytest.raises(MagicError) as caught:
        find_command("q", {"q": None})
    assert caught.value.hint == "%argus results q shows its answer"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT delay FROM flights WHERE delay = carrier", "integer cannot be compared with string"),
        ("SELECT delay FROM flights WHERE carrier = delay", "string cannot be compared with integer"),
        ("SELECT delay FROM flights JOIN planes ON seats = flights.carrier", "integer cannot be compared with string"),
    ],
)
def test_a_clash_names_both_types(text, said):
    with pytest.raises(SqlError, match=said):
        bind(text, "spark", SCHEMA)


@pytest.mark.parametrize(
    ("line", "said", "tried"),
    [
        ("stream f f.csv --every 10s", "there is no option --every", "did you mean --batch?"),
        ("results q -o 9x", "is the name of a variable, not '9x'", "%argus help results"),
        ("snapshot", "required: FILE", "%argus help snapshot"),
        ("help strem", "no help on strem", "did you mean stream?"),
        ("stream f f.csv --separator ;", "there is no option --separator", "did you mean --sep?"),
        ("stream f my file.csv", "file.csv is not understood", 'if "my file.csv" is one value, it stands in quotes'),
    ],
)
def test_a_line_says_what_is_meant(line, said, tried):
    name, _, rest = line.partition(" ")
    with pytest.raises(MagicError) as caught:
        command = find_command(name)
        command.run(None, command.parse(rest))
    assert said in caught.value.message and not caught.value.message.endswith("QUERY")
    assert tried in (caught.value.hint or "")


def test_words_that_are_several():
    stream = find_command("stream").parse("f f.csv --key a,b --key c --add x,y")
    assert (stream.key, stream.add) == (["a", "b", "c"], ["x", "y"])
    assert condition(find_command("results").parse("q --where n > 5 --limit 3").where) == "n > 5"
    assert condition(find_command("notify").parse("q when n > 5").condition) == "n > 5"
    assert condition(["when", ">", "5"]) == "when > 5"


def test_there_are_eighty():
    assert len(TEXTS) + len(LINES) + 19 >= 80


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("costs nothing", "%argus costs"),
        ("back 2 1", "%argus back 2"),
        ("run --batches 3", "%argus run 3, without --batches"),
        ("sink best to out", "%argus sink best out"),
        ("suspend best total", "one at a time: %argus suspend best, then %argus suspend total"),
        ("stream s f.csv --time Booked at", 'if "Booked at" is one value, it stands in quotes'),
        ("stream s f.csv --skip 2", "it has --history, --batch,"),
    ],
)
def test_a_word_too_many_and_the_line_that_is_meant(line, meant):
    name, _, rest = line.partition(" ")
    with pytest.raises(MagicError) as caught:
        find_command(name).parse(rest)
    assert caught.value.hint.startswith(meant) and caught.value.hint.endswith(f"; %argus help {name}")


def test_what_the_parser_takes_for_a_command_is_said_once(caplog):
    with pytest.raises(SqlError):
        bind("SHOW TABLES", "spark", SCHEMA)
    assert caplog.records == []
