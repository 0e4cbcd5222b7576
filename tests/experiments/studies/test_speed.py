"""The speed experiment and its competitors: they run, say what was scaled, and give no figure for a wrong answer."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal as D
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.errors import WorkbenchError
from workbench.experiments import reruns
from workbench.experiments.__main__ import main
from workbench.experiments.digests import check_digests, digest_of
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.workload import Workload, spread, workload

SMALL = ["--queries", "4", "--history", "2000", "--batch", "500", "--batches", "1", "--sample", "3", "--slow", "1"]


def never_ending() -> Workload:
    """A query that does not end, and one that is done at once."""
    rows = pa.table({"a": np.arange(2_000_000)})
    pairs = "SELECT count(*) n FROM t x, t y WHERE x.a % 10 = y.a % 10 AND x.a * y.a % 7 > 5"
    asked = (GeneratedQuery("long", "", pairs, "long", {}), GeneratedQuery("short", "", "SELECT 1", "short", {}))
    return Workload("endless", "t", rows, 2_000_000, 1, asked)


def test_a_small_run_from_the_command_line(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-o", str(tmp_path), "speed", *SMALL]) == 0
    printed = capsys.readouterr().out
    assert "3 answers compared with DuckDB's" in printed
    figures = json.loads((tmp_path / "speed-fed-manual.json").read_text())
    assert figures["machine"]["pyspark"]
    assert figures["fed-manual"]["sampled"] == {"unshared": 1, "DuckDB": 3, "Spark": 1}
    assert all(seconds > 0 for seconds in figures["fed-manual"]["seconds"].values())
    assert (tmp_path / "speed-fed-manual.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "speed-fed-manual.svg").read_text().count("seconds")


def test_a_wrong_answer_gives_no_figure(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = reruns.answer_digest

    def wrong(*arguments: object) -> object:
        rows, digest = right(*arguments)  # type: ignore[arg-type]
        return rows, digest + 1

    monkeypatch.setattr(reruns, "answer_digest", wrong)
    assert main(["-o", str(tmp_path), "speed", *SMALL[:-1], "0"]) == 1
    assert "shared: 3 answers differ from DuckDB's" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("who", "patience"), [(reruns.in_duckdb, 3.0), pytest.param(reruns.in_spark, 10.0, marks=rare)]
)
def test_what_does_not_end_is_stopped_and_said_to_be(spark: SparkSession, who, patience: float) -> None:
    work = never_ending()
    found = who(work, work.queries, work.history, patience=patience)
    assert found.stopped == ["long"]
    assert found.seconds["long"] == patience
    assert found.digests["short"][0] == 1
    assert found.whole(10) == pytest.approx(5 * (patience + found.seconds["short"]))


def test_a_sample_has_every_variant_and_not_always_the_same_constants() -> None:
    work = workload("fed-manual", batches=0, history=6)
    sample = spread(work.queries, 48)
    assert set(Counter(query.variant for query in sample).values()) == {3}
    for constant, least in (("amount", 2), ("window", 5), ("ratio", 4)):
        assert len({query.parameters[constant] for query in sample}) >= least, constant
    assert spread(work.queries, 48) == sample
    assert len(spread(work.queries[:5], 100)) == 5
    assert spread(work.queries, 0) == ()


def test_a_digest_is_of_a_bag_of_rows() -> None:
    rows = pa.table({"a": [1, 1, None], "b": ["x", "x", ""]})
    assert digest_of(rows) == digest_of(rows.take([2, 0, 1]).rename_columns(["p", "q"]))
    for other in ({"a": [1, None], "b": ["x", ""]}, {"a": [1, 1, None], "b": ["x", "x", None]}):
        assert digest_of(rows) != digest_of(pa.table(other))


def test_a_digest_tells_values_and_not_their_types() -> None:
    values = ["4860255.44", "0.00", "-10.00", "1200.50", None]
    exact, average = (pa.array([None if v is None else D(v) for v in values], pa.decimal128(21, s)) for s in (2, 6))
    assert digest_of(pa.table([exact], names=["a"])) == digest_of(pa.table([average], names=["a"]))
    ten, hundred = (pa.table([pa.array([D(v)], pa.decimal128(9, 0))], names=["a"]) for v in ("10", "100"))
    assert digest_of(ten) != digest_of(hundred)


def test_answers_are_compared_where_both_have_one() -> None:
    assert check_digests("ours", {"a": (1, 5), "b": (2, 6)}, {"a": (1, 5)}) == 1
    with pytest.raises(WorkbenchError, match=r"ours: 1 answer differ.* b \(2 rows, not 3\)"):
        check_digests("ours", {"a": (1, 5), "b": (2, 6)}, {"a": (1, 5), "b": (3, 6)})


def test_an_unknown_set_names_the_nearest() -> None:
    with pytest.raises(WorkbenchError) as caught:
        workload("fed-manuel", batches=1)
    assert caught.value.hint == "did you mean fed-manual?"


def test_the_examples_are_a_set() -> None:
    work = workload("examples-med", batches=1, history=300, batch=5)
    assert [query.name for query in work.queries] == [f"B{n}" for n in range(14, 22)]
    assert (work.stream, work.history, work.table.num_rows) == ("MHDCFY01A", 300, 305)


def test_no_time_without_answers_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["speed", "--sample", "0"])
    assert "at least 1" in capsys.readouterr().err
