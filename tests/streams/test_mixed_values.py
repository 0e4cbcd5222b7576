"""Columns with values of several kinds: what is guessed loses none of them, and says how they are read."""

from __future__ import annotations

import json
import random
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.notebook.commands.add import describe_rows
from workbench.session.session import Session

CODES: dict[str, list[Any]] = {
    "a code among numbers": [*range(300), "E7"],
    "texts and numbers": [205, "E7"] * 20,
    "two values": [1, "x"],
    "a number among texts": [*["a", "b"] * 50, 3],
    "texts and truth values": [True, "x"] * 9,
    "texts and fractions": ["x", 1.5, 2, 0.1] * 9,
    "NULL, too": [None, 7, "x", None] * 9,
}


def lines_of(values: list[Any]) -> str:
    return "".join(json.dumps({"id": n, "code": value, "s": {"code": value}}) + "\n" for n, value in enumerate(values))


@pytest.mark.parametrize("source", ["jsonl", "rows", "folder"])
@pytest.mark.parametrize("case", CODES)
def test_texts_beside_numbers_are_kept_as_they_stand(source: str, case: str, tmp_path: Path) -> None:
    values = CODES[case]
    (tmp_path / "a.jsonl").write_text(lines_of(values))
    rows = [json.loads(line) for line in lines_of(values).splitlines()]
    given: object = {"jsonl": tmp_path / "a.jsonl", "rows": rows, "folder": str(tmp_path / "*.jsonl")}[source]
    with Session(InProcess()) as session:
        stream = session.add_stream("A", given, history=1_000)
        assert stream.quarantined_rows == 0
        session.run(1)
        answer = session.register("SELECT id, code, s.code AS inner FROM A", name="q").result().sort_values("id")
    texts = [None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values]
    assert answer["code"].where(answer["code"].notna(), None).tolist() == texts
    assert answer["inner"].where(answer["inner"].notna(), None).tolist() == texts


@pytest.mark.parametrize("odd", ["oops", "?"])
def test_a_few_texts_among_numbers_are_quarantined(odd: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines_of([*range(50), odd]))
    with Session(InProcess()) as session:
        stream = session.add_stream("A", tmp_path / "a.jsonl", history=60)
        assert str(dict(stream.columns)["code"]) == "integer" and stream.quarantined_rows == 1


FORMS = ["%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%d %b %Y", "%Y/%m/%d %H:%M:%S", "%d %B %Y %H:%M"]


@pytest.mark.parametrize("seed", range(8))
def test_times_in_several_forms_are_read_as_is_said(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    forms = chosen.sample(FORMS, chosen.choice([2, 3]))
    blank = chosen.choice(["", " "])
    times = [datetime(2026, chosen.randint(1, 12), chosen.randint(1, 28), chosen.randint(0, 23)) for _ in range(40)]
    texts = [time.strftime(forms[n % len(forms)]) for n, time in enumerate(times)]
    pd.DataFrame({"id": range(40), "at": [f"{blank}{text}" for text in texts]}).to_csv(tmp_path / "a.csv", index=False)
    with Session(spark) as session:
        stream = session.add_table("A", tmp_path / "a.csv")
        said = re.search(r"several forms: (.*) in a query", stream.guesses["at"].why)
        assert said or stream.guesses["at"].why.startswith("times as "), stream.guesses["at"].why
        read = session.register(f"SELECT id, {said[1] if said else 'at'} AS at FROM A", name="q")
        read = read.result().sort_values("id")["at"]
    expected = [datetime.strptime(text, forms[n % len(forms)]) for n, text in enumerate(texts)]
    assert read.tolist() == expected


TIMES = {"date": ("%d.%m.%Y", "%d %b %Y", "%Y/%m/%d"), "timestamp": ("%d.%m.%Y %H:%M", "%d %b %Y %H:%M:%S")}


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(("kind", "form"), [(kind, form) for kind, forms in TIMES.items() for form in forms])
def test_iso_among_others_is_read_in_every_proportion(
    kind: str, form: str, share: float, declared: bool, tmp_path: Path
) -> None:
    """Also where it comes first; declared by the pattern that was guessed it is the same."""
    chosen = random.Random(share)
    iso = "%Y-%m-%d" if kind == "date" else "%Y-%m-%d %H:%M"
    times = [datetime(2026, chosen.randint(1, 12), chosen.randint(1, 28)) for _ in range(200)]
    forms = [iso, form, *(iso if chosen.random() < share else form for _ in times[2:])]
    texts = [time.strftime(one) for time, one in zip(times, forms, strict=True)]
    (tmp_path / "a.csv").write_text("id;at\n" + "".join(f"{n};{text}\n" for n, text in enumerate(texts)))
    with Session(InProcess()) as session:
        stream = session.add_table("A", tmp_path / "a.csv")
        if declared:
            columns = {"at": f"{kind} {stream.guesses['at'].form}"}
            stream = session.add_table("B", tmp_path / "a.csv", columns=columns)
        assert stream.quarantined_rows == 0, stream.guesses["at"].why
        read = session.register(f"SELECT id, CAST(at AS TIMESTAMP) AS at FROM {stream.name}", name="q").result()
    assert read.sort_values("id")["at"].tolist() == times


@pytest.mark.parametrize(
    "texts", [["2026-01-31 10:00", "soon"], ["3/4/2026", "2026-01-31"], ["31.01.26", "5 Jan 2026"]]
)
def test_what_may_be_another_time_is_not_said(texts: list[str], tmp_path: Path) -> None:
    pd.DataFrame({"at": texts * 9}).to_csv(tmp_path / "a.csv", index=False)
    with Session(InProcess()) as session:
        assert "several forms" not in session.add_table("A", tmp_path / "a.csv").guesses["at"].why


def test_quarantined_rows_are_said_by_their_reasons(tmp_path: Path) -> None:
    """A common reason does not hide another one; what was declared is said of no other column."""
    rows = [
        "id,v,at",
        *(f"{n},open,2026-01-01" for n in range(9)),
        "9,1,never",
        *(f"{n},2,2026-01-02" for n in range(9)),
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    with Session(InProcess()) as session:
        said = describe_rows(session.add_table("A", tmp_path / "a.csv", {"v": "integer", "AT": "date"}), ["v", "AT"])
        assert "v: … is no integer, 9 rows:" in said and "at: … is no date, 1 row:" in said
        many = ["id,v", *(f"{n},open" for n in range(1_200)), "1,1"]
        (tmp_path / "b.csv").write_text("\n".join(many) + "\n")
        assert "and 200 rows after these" in describe_rows(
            session.add_table("B", tmp_path / "b.csv", {"v": "integer", "id": "integer"}), ["v"]
        )
        records = session.add_stream("C", [{"n": 1, "code": 1}, {"n": 2, "code": "E7"}], history=2)
        assert "declared" not in describe_rows(records).replace("declares", "")


def test_points_between_thousands_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("turbine;kW\nWT01;3.050\nWT02;2.000\n")
    with Session(InProcess()) as session:
        with pytest.raises(StreamError, match=r"'3\.050' is no integer(.|\n)*--decimal , says"):
            session.add_table("A", tmp_path / "a.csv", {"kW": "integer"})
        table = session.add_table("A", tmp_path / "a.csv", {"kW": "integer"}, decimal=",")
        assert table.log.read(0, 9)["kw"].to_pylist() == [3050, 2000]
