"""PARSE_URL: parts of addresses as Spark gives them, right ones and wrong ones."""

from __future__ import annotations

import itertools

from pyspark.sql import SparkSession

from workbench.engine.physical.stored.kernels.addresses import part_of_address

HOSTS = (
    *(
        "a",
        "b.c",
        "A.COM.",
        "-a",
        "a-",
        "a--b",
        "1",
        "1.2.3.4",
        "256.1.1.1",
        "1.2.3",
        "01.2.3.004",
        "a.1",
        "é.com",
        "a_b",
    ),
    *("[::1]", "[1:2:3:4:5:6:7:8]", "[1::8]", "[::1.2.3.4]", "[fe80::1%25e]", "[fe80::1%]", "[::1", "[g::1]", "[1:2]"),
    *("a%41", "a%4", "a..b", "", "u@h", "u@@h", "@h", "h:80", "h:", "h:2147483648", "h:8a", ":80", "日本"),
)
PATHS = (
    "",
    "/",
    "/a b",
    "/%41",
    "/%4",
    "/é;b",
    "/[a]",
    "/\u00a0",
    "/😀",
    "//x",
    "/a?k=1&b=2#f",
    "?kk=1&k=",
    "#a b",
    "?a|b",
)
TEXTS = [
    *(f"{scheme}//{host}{path}" for scheme, host, path in itertools.product(("https:", ""), HOSTS, PATHS)),
    *(
        "mailto:a@b",
        "jdbc:mysql://h/d",
        ":a",
        "1a:b",
        "a:",
        "a:/b",
        "é:b",
        "a b",
        "",
        "#",
        "?k=v",
        "//",
        "///",
        "a+.-:b",
    ),
]
PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")


def test_parts_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(text,) for text in TEXTS], "s string").coalesce(1)
    asked = [*((part, None) for part in PARTS), ("QUERY", "k"), ("HOST", "k")]
    calls = [f"try_parse_url(s, '{part}'{f', {key!r}' if key else ''})" for part, key in asked]
    found = frame.selectExpr(*calls).collect()
    for text, row in zip(TEXTS, found, strict=True):
        assert [part_of_address(text, part, key) for part, key in asked] == [*row], text
