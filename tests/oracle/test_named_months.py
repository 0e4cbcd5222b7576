"""STRPTIME of duckdb by names of months and by lists of formats, against DuckDB over texts well and badly written."""

from __future__ import annotations

import random

import duckdb
import pandas as pd
from pyspark.sql import SparkSession

from workbench import Session

FORMATS = [
    "'%d %b %Y'", "'%d. %B %Y %H:%M'", "'%b %d, %Y'", "'%d%b%Y'", "'%B/%d/%Y %I:%M %p'",
    "['%Y-%m-%d %H:%M', '%d.%m.%Y %H:%M', '%d %b %Y']", "['%B %d, %Y', '%d%b%Y', '%Y-%m-%d']", "['%d.%m.%Y']",
]  # fmt: skip
MONTHS = ["Jan", "FEB", "mar", "May", "Sept", "Sep", "June", "january", "DECEMBER", "Octo", "03", "13", ""]


def some_texts(count: int) -> list[str | None]:
    """Dates with names and numbers of months, blanks, and what is none."""
    chosen = random.Random(5)
    made: list[str | None] = [None, "", " ", "x", "31 Feb 2026", "0 Jan 2026"]
    for _ in range(count):
        day, month, year = chosen.randint(1, 32), chosen.choice(MONTHS), chosen.choice(["2026", "1999", "26"])
        form = chosen.choice(
            ["{d} {m} {y}", "{d}. {m} {y} 10:05", "{m} {d}, {y}", "{d:02}{m}{y}", "{m}/{d}/{y} 1:05 pm", "{y}-{m}-{d}"]
        )
        text = form.format(d=day, m=month, y=year)
        made.append(chosen.choice(["{}", " {}", "{}  ", "{} x"]).format(text) if chosen.random() < 0.3 else text)
    return made


def test_times_by_names_and_by_lists_of_formats(spark: SparkSession) -> None:
    texts = some_texts(400)
    rows = pd.DataFrame({"i": range(len(texts)), "s": texts})
    shown = ", ".join(f"try_strptime(s, {form}) AS v{place}" for place, form in enumerate(FORMATS))
    with Session(spark, dialect="duckdb") as session:
        session.add_stream("t", rows, history=100, batch=150)
        query = session.register(f"SELECT i, {shown} FROM t", name="q")
        session.run(5)
        found = query.result().sort_values("i")
    expected = duckdb.sql(f"SELECT i, {shown} FROM rows ORDER BY i").df()
    for place, form in enumerate(FORMATS):
        ours, theirs = found[f"v{place}"].tolist(), expected[f"v{place}"].tolist()
        wrong = [
            (t, a, b) for t, a, b in zip(texts, ours, theirs, strict=True) if a != b and not (pd.isna(a) and pd.isna(b))
        ]
        assert not wrong, (form, wrong[:5])
        assert sum(not pd.isna(b) for b in theirs) > 0 or form == "['%d.%m.%Y']"
