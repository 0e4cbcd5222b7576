"""Workers that do not reach the session's folder have its files through an object store, and the driver theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from servers import object_store
from session.directory.test_written_once import BY_SPARK, QUERIES, rows

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EnvironmentProblem
from workbench.files.store import store_at

pytestmark = pytest.mark.usefixtures("spark_soundex")

NAMES = ("join", "groups", "function", "outputs")
LARGE_FILES = replace(BY_SPARK, bytes_per_part=3_000, milliseconds_until_collected=0, rows_indexed_in_memory=20)
"""Some segments are files of their own, with indexes, and others are in packs."""


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with object_store(tmp_path_factory.mktemp("objects")) as address:
        yield address


@pytest.fixture
def machines(spark: SparkSession, bucket: str) -> Iterator[SparkSession]:
    """A Spark whose workers know the object store, as machines do by their role."""
    environment, known = spark.sparkContext.environment, {n: v for n, v in os.environ.items() if n.startswith("AWS_")}
    environment.update(known)
    yield spark
    for name in known:
        del environment[name]


def state_of(session: Session) -> set[str]:
    """The names of the files that the session's states need."""
    store = session.parts.store
    return {str(Path(file).relative_to(session.path)) for file in store.last.engine.files | store.kept.files}


def stored(address: str) -> set[str]:
    """The names of the files of rows in a store."""
    return {each.name for each in store_at(address).names() if each.name.endswith(".arrow")}


def test_workers_have_no_folder_but_the_store(machines: SparkSession, tmp_path: Path, bucket: str) -> None:
    spark, address = machines, f"{bucket}/session"
    with Session(spark, address, limits=LARGE_FILES) as session:
        session.add_stream("t", rows(700), history=300, batch=100)
        session.add_function("twice", lambda value: 2 * value, returns="bigint")
        session.register_many({name: QUERIES[name] for name in NAMES})
        session.run(2)
        there = {each.name for each in store_at(address).names()}
        # A worker fetched the steps: no other way leads to it but through the store.
        (local,) = spark.sparkContext.parallelize([0], 1).map(lambda _: os.environ["SPARK_LOCAL_DIRS"]).collect()
        fetched = {file.relative_to(here).as_posix() for here in Path(local.partition(",")[0]).glob("argus-*")
                   for file in here.rglob("*.step")}  # fmt: skip
        assert fetched and fetched & there
        assert stored(address) == state_of(session)
        assert session.verify("outputs").outcome == "same"
    # Another machine, whose disk is empty, goes on from there alone; and so does one with a folder of its own.
    with Session.open(address, spark, limits=LARGE_FILES) as session:
        assert session.read_only is None and stored(address) == state_of(session)
        session.run(1)
        assert stored(address) == state_of(session)
        copy = session.save(tmp_path / "copy")
    with Session.open(copy, spark, limits=LARGE_FILES) as session:
        session.run(1)
        assert session.check().whole
        join = session.query("join").result()
    with Session(InProcess()) as alone:
        alone.add_stream("t", rows(700), history=700, batch=100)
        expected = alone.register(QUERIES["join"]).result()
    assert sorted(map(tuple, join.to_numpy())) == sorted(map(tuple, expected.to_numpy()))


def test_a_store_that_cannot_be_used_is_refused(bucket: str) -> None:
    not_there = f"{bucket}-that-is-not-there"
    for address, said in (
        *(("nothing://bucket", "no object store"), (not_there, "cannot be used")),
        ("hdfs://host:8020/argus", "by HDFS a commit cannot be made only if there is none of its number"),
    ):
        with pytest.raises(EnvironmentProblem, match=said):
            Session(InProcess(), address)
