"""Numbers under formats have the texts, and texts the numbers, of PostgreSQL and of Spark, for random formats."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import servers
from pyspark.sql import SparkSession
from pyspark.sql.utils import AnalysisException

from workbench.sql.functions.number_formats import number_in_format, number_of_format, read_format
from workbench.sql.functions.number_models import ModelError, number_in_model, number_of_model, read_model

SIGNS = ("", "", "", "S", "MI", "PL", "SG", "PR")


def model(random: Random) -> str:
    """A model that mostly is one."""
    if random.random() < 0.2:
        keys = [*"990.,DGL ", *SIGNS, "FM", "TH", "th", "V", "B", "EEEE", "RN", '"b"', "a"]
        return "".join(random.choice(keys) for _ in range(random.randrange(1, 8)))
    front = random.choice(["", "", "FM"]) + random.choice([*SIGNS[:6], "L", "$"])
    whole = "".join(random.choice("9990,G") for _ in range(random.randrange(1, 9)))
    rest = random.choice(".D") + "990"[: random.randrange(4)] if random.random() < 0.6 else ""
    return front + whole + rest + random.choice([*SIGNS, "th", "TH", "EEEE", ' "x"'])


def number(random: Random) -> Decimal:
    digits = 10 ** random.randrange(1, 10)
    return random.choice([Decimal(0), Decimal("0.5"), Decimal("-0.05"), Decimal("9.99"), Decimal(
        random.randrange(-digits, digits)).scaleb(-random.randrange(4))])  # fmt: skip


def text(random: Random, format_: str) -> str:
    """A text that mostly is of a format."""
    if random.random() < 0.4:
        return "".join(random.choice("0123456789.,+-<> $a") for _ in range(random.randrange(9)))
    signs = {"D": ".", "G": ",", "S": random.choice("+-"), "V": ""}
    for key in ("EEEE", "FM", "th", "TH", "MI", "PL", "SG", "PR"):
        format_ = format_.replace(key, random.choice(["", "-", " "]))
    written = "".join(random.choice("0157") if sign in "90" else signs.get(sign, sign) for sign in format_)
    return f"<{written}>" if random.random() < 0.1 else written


def written(kind: str, value: Any, format_: str) -> str | None:
    return number_in_model(value, format_, 32 if kind == "integer" else 64)


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    psycopg = pytest.importorskip("psycopg")
    with servers.postgres() as address, psycopg.connect(address, autocommit=True) as connected:
        yield connected


def of_postgres(connection: Any, sql: str) -> object:
    """The value that PostgreSQL gives; its error where it gives none."""
    import psycopg

    try:
        return connection.execute(sql).fetchone()[0]
    except psycopg.Error as error:
        return error


KINDS: dict[str, Any] = {"numeric": Decimal, "integer": int, "bigint": int, "double precision": float}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_written_as_in_postgres(connection: Any, kind: str) -> None:
    random, wrong = Random(kind), []
    for _ in range(400):
        value, format_ = KINDS[kind](number(random)), model(random)
        expected = of_postgres(connection, f"SELECT to_char('{value}'::{kind}, '{format_}')")
        try:
            found = written(kind, value, format_)
        except ModelError:
            continue
        if found != (None if isinstance(expected, Exception) else expected):
            wrong.append(f"{value!r} by {format_} is {found!r}, in PostgreSQL {expected!r}")
    assert not wrong


def test_numbers_are_read_as_in_postgres(connection: Any) -> None:
    random, wrong = Random(6), []
    for _ in range(600):
        format_ = model(random)
        value = text(random, format_)
        expected = of_postgres(connection, f"SELECT to_number('{value}', '{format_}')")
        try:
            found = number_of_model(value, format_)
        except ModelError:
            continue
        if found != (None if isinstance(expected, Exception) else expected):
            wrong.append(f"{value!r} by {format_} is {found!r}, in PostgreSQL {expected!r}")
    assert not wrong


def test_most_random_models_are_read() -> None:
    random, read = Random(1), 0
    for _ in range(300):
        try:
            read += bool(read_model(model(random)))
        except ModelError:
            continue
    assert read > 150


def format_of_spark(random: Random) -> str:
    """A format that mostly is one."""
    if random.random() < 0.15:
        return "".join(random.choice([*"9900.,DG$S", "MI", "PR"]) for _ in range(random.randrange(1, 7)))
    front = random.choice(["", "", "S", "MI"]) + random.choice(["", "", "$"])
    whole = "".join(random.choice("99990,G") for _ in range(random.randrange(1, 7)))
    rest = random.choice(".D") + "909"[: random.randrange(4)] if random.random() < 0.6 else ""
    return front + whole + rest + random.choice(["", "", "S", "MI", "PR", "PR"])


def test_numbers_are_written_and_read_as_in_spark(spark: SparkSession) -> None:
    of_spark, random, wrong = spark.newSession(), Random(2), list[str]()
    of_spark.conf.set("spark.sql.ansi.enabled", "false")
    for _ in range(60):
        format_ = format_of_spark(random)
        values = [number(random).quantize(Decimal("0.0001")) for _ in range(6)]
        texts = [text(random, format_) for _ in range(6)]
        calls = [
            f"to_char({v}BD, '{format_}'), try_to_number('{t}', '{format_}')"
            for v, t in zip(values, texts, strict=True)
        ]
        try:
            expected = list(of_spark.sql(f"SELECT {', '.join(calls)}").first() or ())
        except AnalysisException:
            expected = []
        if not expected or read_format(format_) is None:
            wrong += [f"{format_} is read here or there"] * (bool(expected) or read_format(format_) is not None)
            continue
        read = [number_of_format(each, format_) for each in texts]
        found = [x for v, t in zip(values, read, strict=True) for x in (number_in_format(v, format_), t and Decimal(t))]
        if found != expected:
            wrong.append(f"{format_} of {values} and {texts} is {found}, in Spark {expected}")
    assert not wrong
