"""Times are read from texts by kernels, and in constants, as Spark reads them under each pattern."""

from __future__ import annotations

import re
from random import Random

import pyarrow as pa
from engine.physical.stored.test_kernel_table import compared, plain
from pyspark.sql import SparkSession

from workbench.engine.physical.stored.values import computed_value
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.algebra.types import DATE, STRING, TIMESTAMP
from workbench.sql.functions.calls import call

PATTERNS = [
    *("yyyy-MM-dd", "y-M-d", "yy-MM-dd", "yyyyMMddHHmmssSSS", "yyy-M-d", "yyyyy-MM-dd", "d MMM yyyy", "MMMM d, yyyy"),
    *("yyyy-MM-dd'T'HH:mm:ss.SSS", "HH:mm", "MM-dd", "y", "yyyyMM", "'S'yyyy-MM-dd", "yyyy''MM", "ss", "MM yyyy MM"),
    *("ss.SSSSyyyy-MM-dd'S'HH:mm", "yMM", "LL/yyyy", "yyyy.MM.dd 'at' HH"),
]
FIELDS = {
    "y": ("2024", "1", "0001", "-0001", "+10000", "0000", "9999", "+2024", "+294247", "300000", "-44", "1234567890123"),
    "M": ("1", "01", "12", "13", "02", "00", "+1", "-1", "001"),
    "d": ("1", "01", "31", "29", "30", "00", "5"),
    "S": ("", "1", "123", "123456", "1234567", "1234567890"),
    "MMM": ("Jan", "JAN", "feb", "March", "may", "Sept", "December"),
    **dict.fromkeys("Hms", ("0", "00", "23", "24", "7", "59", "60")),
}


def a_text(random: Random, pattern: str) -> str:
    """A text that has the form of a pattern, or nearly."""
    parts = []
    for match in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", pattern):
        letter = match[2]
        if letter is None:
            parts.append(match[0] if match[1] is None else match[1] or "'")
            continue
        value = random.choice(FIELDS["MMM" if match[0].startswith("MMM") else letter.replace("L", "M")])
        parts.append(value.zfill(len(match[0])) if value.isdigit() and random.random() < 0.7 else value)
    text = "".join(parts)
    return random.choice([text] * 8 + [text + " ", text.lower(), text[:-1], "x" + text])


def test_texts_are_read_as_by_spark(spark: SparkSession) -> None:
    random = Random(5)
    texts = sorted({a_text(random, pattern) for pattern in PATTERNS for _ in range(100)} | {"", " "})
    batch = pa.RecordBatch.from_pydict({"s": texts})
    asked = [
        Call(name, (Column("s", STRING), Constant(pattern, STRING)), type_)
        for pattern in PATTERNS
        for name, type_ in (("to_timestamp", TIMESTAMP), ("to_date", DATE))
    ]
    assert all(pattern_of(pattern).readers is not None for pattern in PATTERNS)
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])
    for one in asked:  # of a constant it is the same, or left to Spark
        computed = computed_value(one)
        assert computed is not None
        values = computed.values(batch)
        for text, value in list(zip(texts, plain(values), strict=True))[::7]:
            folded = call(one.function, Constant(text, STRING), one.arguments[1])
            if isinstance(folded, Constant):
                assert plain(pa.array([folded.value], values.type)) == [value], (one, text)
